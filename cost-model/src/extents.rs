//! How far arrays reach whose outermost extent nobody states: as far as the program as written goes. All trees of a kernel
//! touch the same elements.

use loop_tree::{Affine, Green, Interval, Kernel, Node, ParamId, VarId};

/// Rows that are touched, by array: one more than the greatest first subscript; `None`: not known.
pub(crate) fn rows(kernel: &Kernel, params: &[i64]) -> Vec<Option<f64>> {
    let mut walk = Walk { kernel, params, vars: vec![], rows: vec![Some(0.0); kernel.arrays.len()] };
    walk.node(&kernel.original);
    walk.rows
}

struct Walk<'k> {
    kernel: &'k Kernel,
    params: &'k [i64],
    vars: Vec<(VarId, Option<Interval>)>,
    rows: Vec<Option<f64>>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Green) {
        match node.node() {
            Node::Loop(header, body) => {
                let all = |list: &[Affine]| list.iter().map(|e| self.interval(e)).collect::<Option<Vec<_>>>();
                let ends = all(header.lower()).zip(all(header.upper()));
                let counter = ends.and_then(|(lower, upper)| Interval::counter(&lower, &upper));
                self.bound(header.var, counter, body);
            }
            Node::Let(var, value, body) => self.bound(*var, self.interval(value), body),
            Node::Stmt(id, _) => self.statement(id.index()),
            _ => node.children().for_each(|c| self.node(c)),
        }
    }

    fn bound(&mut self, var: VarId, range: Option<Interval>, body: &Green) {
        self.vars.push((var, range));
        self.node(body);
        self.vars.pop();
    }

    fn statement(&mut self, id: usize) {
        for access in &self.kernel.statements[id].accesses {
            let greatest = |e: &Affine| self.interval(e).map(|known| known.high as f64);
            let first = access.subscripts.as_ref().and_then(|s| s.first().map_or(Some(0.0), greatest));
            let known = &mut self.rows[access.array.index()];
            *known = first.zip(*known).map(|(first, rows)| rows.max(first + 1.0));
        }
    }

    fn interval(&self, e: &Affine) -> Option<Interval> {
        let known = |v| self.vars.iter().rev().find(|(var, _)| *var == v).and_then(|(_, known)| *known);
        let param = |p: ParamId| Some(Interval::point(self.params.get(p.index()).copied().unwrap_or(0)));
        e.interval(&known, &param)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::text;

    #[test]
    fn as_far_as_a_triangle_and_a_window_go() {
        let source = "nest @k[N] { array A: f64[?, 8] array B: f64[?] array C: f64[?]
            for i in 0..N { for j in 0..i { S: A[j, 3] = B[i + j] } }
            for i in 0..4 { T: C[floor(i/2)] = 0.0 } }";
        let kernel = text::parse(source).expect("it parses").kernel;
        assert_eq!(rows(&kernel, &[10]), [Some(9.0), Some(18.0), Some(2.0)]);
    }
}
