//! How far arrays reach whose outermost extent nobody states: as far as the program as written goes. All trees of a kernel
//! touch the same elements.

use loop_tree::{Affine, Atom, Green, Kernel, Node, VarId};

/// Least and greatest value.
type Range = (f64, f64);

/// Rows that are touched, by array: one more than the greatest first subscript; `None`: not known.
pub(crate) fn rows(kernel: &Kernel, params: &[i64]) -> Vec<Option<f64>> {
    let mut walk = Walk { kernel, params, vars: vec![], rows: vec![Some(0.0); kernel.arrays.len()] };
    walk.node(&kernel.original);
    walk.rows
}

struct Walk<'k> {
    kernel: &'k Kernel,
    params: &'k [i64],
    vars: Vec<(VarId, Range)>,
    rows: Vec<Option<f64>>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Green) {
        match node.node() {
            Node::Loop(header, body) => {
                let least = header.lower().iter().map(|e| self.range(e).0).fold(f64::MIN, f64::max);
                let greatest = header.upper().iter().map(|e| self.range(e).1).fold(f64::MAX, f64::min);
                self.bound(header.var, (least, greatest - 1.0), body);
            }
            Node::Let(var, value, body) => self.bound(*var, self.range(value), body),
            Node::Stmt(id, _) => self.statement(id.index()),
            _ => node.children().for_each(|c| self.node(c)),
        }
    }

    fn bound(&mut self, var: VarId, range: Range, body: &Green) {
        self.vars.push((var, range));
        self.node(body);
        self.vars.pop();
    }

    fn statement(&mut self, id: usize) {
        for access in &self.kernel.statements[id].accesses {
            let first = access.subscripts.as_ref().map(|s| s.first().map_or(0.0, |e| self.range(e).1));
            let known = &mut self.rows[access.array.index()];
            *known = first.zip(*known).map(|(first, rows)| rows.max(first + 1.0));
        }
    }

    fn range(&self, e: &Affine) -> Range {
        let start = e.constant_term() as f64;
        e.terms().iter().fold((start, start), |(low, high), (atom, c)| {
            let c = *c as f64;
            let (a, b) = match atom {
                Atom::Param(p) => {
                    let value = self.params.get(p.index()).map_or(0.0, |v| *v as f64);
                    (value, value)
                }
                Atom::Var(v) => {
                    let known = self.vars.iter().rev().find(|known| known.0 == *v);
                    known.map_or((f64::MIN, f64::MAX), |known| known.1)
                }
                Atom::Div(d) => {
                    let (a, b) = self.range(&d.numerator);
                    let whole = |x: f64| (x / d.denominator as f64).floor();
                    (whole(a), whole(b))
                }
            };
            (low + (c * a).min(c * b), high + (c * a).max(c * b))
        })
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
