//! Index-set split: one loop becomes two over the parts of its range below and from a point.
//! Elsewhere: `cut_loop` (Exo), `loop_partition` (TVM), iteration-space splitting.
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! split(i; M)
//! ```
//! ```lt after
//! for i in 0..min(N, M) { S(i) }
//! for i in max(0, M)..N { S(i) }
//! ```
//! Keeps the statement instances and their order.
//! Applies to loops of step 1. The point is affine in parameters and variables around the loop.

use crate::{
    Arguments, BuiltIn, Context, Expression, LoopRef, MoveOptions, RecipeError, Refusal, Transform, nest,
};
use loop_tree::{Affine, Bound, Green, GuardCondition, LoopHeader, Node, Red, Relation, VarId};
use std::fmt;

/// Splits a loop before the iteration `point`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexSetSplit {
    /// The loop.
    pub target: LoopRef,
    /// First iteration of the second loop.
    pub point: Expression,
}

impl Transform for IndexSetSplit {
    fn name(&self) -> &'static str {
        "split"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let scope: Vec<VarId> = Red::at(cx.root, &site.path).map(|n| n.scope().collect()).unwrap_or_default();
        let point = self.point.resolve(cx.kernel, &scope, &site.path)?;
        let header = site.header;
        if header.step != 1 {
            return Err(Refusal::new("steps", &site.path, "the step is not 1"));
        }
        let with = |bounds: &[Affine]| bounds.iter().cloned().chain([point.clone()]).collect::<Vec<_>>();
        let below = nest::header(header.var, header.lower().to_vec(), with(header.upper()), 1, header.kind);
        let above = nest::header(header.var, with(header.lower()), header.upper().to_vec(), 1, header.kind);
        let parts = [below, above].into_iter().filter_map(|h| nest::repeat(h, site.body.clone()));
        cx.replace(&site.path, Green::seq(parts))
    }
}

impl IndexSetSplit {
    /// Where affine guards inside of a loop of step 1 change: first iterations after which one of them holds, or no longer does, in
    /// ascending order of their text. What stands at the ends of the range is no change.
    ///
    /// ```
    /// use loop_tree::text;
    /// let program = text::parse("nest @border[N] {
    ///   array A: f64[N]
    ///   for i in 0..N { if i >= 1 && i <= N - 2 { S: A[i] = 0.0 } }
    /// }")
    /// .expect("it parses");
    /// let (header, body) = program.kernel.original.as_loop().expect("a loop");
    /// let points = transforms::IndexSetSplit::borders(header, body);
    /// assert_eq!(points.len(), 2);
    /// ```
    pub fn borders(header: &LoopHeader, body: &Green) -> Vec<Affine> {
        if header.step != 1 {
            return vec![];
        }
        let mut points = Vec::new();
        collect(body, header.var, false, &mut vec![], &mut points);
        points.sort();
        points.dedup();
        points.retain(|p| inside(p, header));
        points
    }
}

/// Not at or beyond an end of the range.
fn inside(point: &Affine, header: &LoopHeader) -> bool {
    let beyond = |d: Affine| d.as_constant().is_some_and(|d| d <= 0);
    !header.lower().iter().any(|l| beyond(point - l)) && !header.upper().iter().any(|u| beyond(u - point))
}

/// First values of `var` at which `e >= 0` changes, or `e == 0`, for every such comparison of guards, and of bounds if wanted, that hides
/// no variable.
fn collect(node: &Green, var: VarId, bounds: bool, bound: &mut Vec<VarId>, points: &mut Vec<Affine>) {
    let mut compare = |e: &Affine, bound: &[VarId]| {
        let point = match e.bound_on(var) {
            Some(Bound::Lower(first)) => first,
            Some(Bound::Upper(last)) => last.offset(1),
            None => return,
        };
        if !bound.iter().any(|v| point.uses(*v)) {
            points.push(point);
        }
    };
    let binds = match node.node() {
        Node::Guard(c, _) => {
            if let GuardCondition::Affine(c) = &**c {
                for c in c.constraints() {
                    compare(&c.expression, bound);
                    if c.relation == Relation::Zero {
                        compare(&c.expression.scale(-1), bound);
                    }
                }
            }
            None
        }
        Node::Loop(h, _) if !bounds => Some(h.var),
        Node::Loop(h, _) => {
            for (n, a) in h.lower().iter().enumerate() {
                h.lower()[..n].iter().for_each(|b| compare(&(a - b), bound));
            }
            for (n, a) in h.upper().iter().enumerate() {
                h.upper()[..n].iter().for_each(|b| compare(&(a - b), bound));
            }
            Some(h.var)
        }
        Node::Let(v, ..) => Some(*v),
        _ => None,
    };
    if binds == Some(var) {
        return;
    }
    bound.extend(binds);
    node.children().for_each(|child| collect(child, var, bounds, bound, points));
    if binds.is_some() {
        bound.pop();
    }
}

impl BuiltIn for IndexSetSplit {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let Some(point) = arguments.next_argument() else {
            return Err(arguments.error("`split` needs a point after the loop"));
        };
        arguments.finish()?;
        let expression = Expression::parse(&point.value).map_err(|e| point.error(e.message))?;
        if point.key.is_some() {
            return Err(point.error("a point is an affine expression"));
        }
        Ok(IndexSetSplit { target, point: expression })
    }

    /// Points where an affine guard or a bound inside the loop changes.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites().into_iter().filter(|s| s.header.step == 1) {
            let mut points = Vec::new();
            collect(site.body, site.header.var, true, &mut vec![], &mut points);
            points.sort();
            points.dedup();
            points.retain(|p| inside(p, site.header));
            points.truncate(4);
            let step = |p: &Affine| IndexSetSplit {
                target: LoopRef::Path(site.path.clone()),
                point: Expression::of(cx.kernel, p),
            };
            result.extend(points.iter().map(step));
        }
        result
    }
}

impl fmt::Display for IndexSetSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "split({}; {})", self.target, self.point)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn parts_meet_at_the_point() {
        let k = kernel(&[("S", "i j")]);
        let tree = "for i in 0..N { for j in 0..N { S } }";
        check(
            &k,
            tree,
            "split(i; 2*M - 3)",
            "for i in 0..min(N, 2*M - 3) { for j in 0..N { S } } for i in max(0, 2*M - 3)..N { for j in 0..N { S } }",
        );
        check(&k, tree, "split(i; -1)", tree);
        refuse(&k, tree, "split(i; j)", "expression");
        refuse(&k, tree, "split(i; Q)", "expression");
    }
}
