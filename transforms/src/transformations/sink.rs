//! Sink: what stands before or after a loop goes into its first or last iteration.
//! Elsewhere: code sinking; the inverse of peeling; how imperfect nests become perfect.
//!
//! ```lt before
//! for i in 0..N { S(i)  for j in 0..M { T(i, j) } }
//! ```
//! ```recipe
//! sink(@0.0)
//! ```
//! ```lt after
//! for i in 0..N { for j in 0..M { if j == 0 { S(i) }  T(i, j) } }
//! ```
//! Keeps the statement instances and their order, **if the loop runs at all**: otherwise they are lost, which the test of
//! coverage sees, and makes a condition of. With `extend` the loop gets one more iteration at that end, for the part alone:
//! then an empty loop that lacks no more than this iteration loses nothing.
//! Applies to a part of a sequence directly before a loop with one lower bound, or directly after a loop with one upper
//! bound and step 1.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, nest};
use loop_tree::{Affine, Bounds, Condition, Constraint, Green, Node, Path};
use std::fmt;

/// Moves a part of a sequence into the loop after it, or before it if none is after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sink {
    /// The part.
    pub part: LoopRef,
    /// Whether the loop gets an iteration of its own for it.
    pub extend: bool,
}

impl Transform for Sink {
    fn name(&self) -> &'static str {
        "sink"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let path = self.part.resolve(cx)?;
        let part = cx.node(&path)?;
        let none = || Refusal::new("not-adjacent", &path, "no loop is next to this in a sequence");
        let (sequence, index) = path.split_last().ok_or_else(none)?;
        let node = cx.node(&sequence)?;
        if !matches!(node.node(), Node::Seq(_)) {
            return Err(none());
        }
        let is_loop = |n: usize| node.child(n).is_some_and(|c| c.as_loop().is_some());
        let (target, first) = match index.checked_sub(1) {
            _ if is_loop(index + 1) => (index + 1, true),
            Some(before) if is_loop(before) => (before, false),
            _ => return Err(none()),
        };
        let sunk = sink(node, &sequence.child(target), part, target, (first, self.extend))?;
        let both = index.min(target);
        cx.replace(&sequence, node.splice(both..both + 2, vec![sunk]))
    }
}

fn sink(
    sequence: &Green,
    place: &Path,
    part: &Green,
    target: usize,
    (first, extend): (bool, bool),
) -> Result<Green, Refusal> {
    let Some((header, body)) = sequence.child(target).and_then(Green::as_loop) else {
        return Err(Refusal::new("not-a-loop", place, "there is no loop at this path"));
    };
    if matches!(header.bounds, Bounds::Unbounded { .. }) {
        return Err(Refusal::new("unbounded", place, "the number of iterations is not known"));
    }
    let further = i64::from(extend);
    let at = match (header.lower(), header.upper()) {
        ([lower], _) if first && (!extend || header.step == 1) => lower.offset(-further),
        (_, [upper]) if !first && header.step == 1 => upper.offset(further - 1),
        _ => return Err(Refusal::new("bounds", place, "which iteration is at the end is not affine")),
    };
    if part.has_free(header.var) || at.uses(header.var) {
        return Err(Refusal::new("shadowed", place, "the loop hides a variable that is used in front of it"));
    }
    let here = Affine::var(header.var);
    let condition = Condition::all(vec![Constraint::eq(here.clone(), at.clone())]);
    let guarded = Green::guard(condition, part.clone());
    if !extend {
        let list = if first { [guarded, body.clone()] } else { [body.clone(), guarded] };
        return Ok(Green::for_loop(header.clone(), Green::seq(list)));
    }
    let (lower, upper, own) = match first {
        true => (vec![at.clone()], header.upper().to_vec(), Constraint::ge(here, at.offset(1))),
        false => (header.lower().to_vec(), vec![at.offset(1)], Constraint::lt(here, at)),
    };
    let body = Green::guard(Condition::all(vec![own]), body.clone());
    let parts = if first { [guarded, body] } else { [body, guarded] };
    Ok(Green::for_loop(nest::header(header.var, lower, upper, 1, header.kind), Green::seq(parts)))
}

impl BuiltIn for Sink {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let part = arguments.one_loop()?;
        let extend = arguments.flag("extend");
        Ok(Sink { part, extend })
    }

    /// Parts without loops of their own, next to a loop.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            let Node::Seq(children) = site.body.node() else { continue };
            let sequence = site.path.child(0);
            for (index, part) in children.iter().enumerate() {
                let before = index.checked_sub(1).and_then(|n| children.get(n));
                let mut neighbours = children.get(index + 1).into_iter().chain(before);
                if part.summary().loop_depth == 0 && neighbours.any(|n| n.as_loop().is_some()) {
                    result.push(Sink { part: sequence.child(index).into(), extend: false });
                }
            }
        }
        result
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sink({}{})", self.part, if self.extend { "; extend" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn into_the_first_or_last_iteration() {
        let k = kernel(&[("S", "i"), ("T", "i j"), ("U", "i")]);
        check_tree(
            &k,
            "for i in 0..N { S for j in 0..M { T } U }",
            "sink(@0.0); sink(@0.1)",
            "for i in 0..N { for j in 0..M { if j == 0 { S } T if j == M - 1 { U } } }",
        );
        check_tree(
            &k,
            "for i in 0..N { S for j in 0..i { T } }",
            "sink(@0.0; extend)",
            "for i in 0..N { for j in -1..i { if j == -1 { S } if j >= 0 { T } } }",
        );
        check_tree(
            &k,
            "for i in 0..N { for j in 0..i { T } U }",
            "sink(@0.1; extend)",
            "for i in 0..N { for j in 0..i + 1 { if j + 1 <= i { T } if j == i { U } } }",
        );
        refuse(&k, "for i in 0..N { S }", "sink(@0)", "not-adjacent");
    }
}
