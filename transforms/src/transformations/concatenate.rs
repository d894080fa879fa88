//! Concatenate: two loops with one body, of which the second begins where the first ends, become one.
//! Elsewhere: the inverse of index-set splitting and peeling; `join_loops` (Exo).
//!
//! ```lt before
//! for i in 0..min(N, M) { S(i) }
//! for i in max(0, M)..N { S(i) }
//! ```
//! ```recipe
//! concatenate(@0)
//! ```
//! ```lt after
//! for i in 0..N { S(i) }
//! ```
//! Keeps the statement instances and their order.
//! Applies to neighbours in a sequence, with equal steps of 1 and bodies that are equal up to names, where an upper bound of
//! the first is a lower bound of the second and the other bounds are equal, or missing where the context implies them.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Site, Transform, nest};
use loop_tree::{Affine, Green, LoopHeader, Node, Path, canonical};
use std::fmt;

/// Makes one loop of `first` and the loop after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Concatenate {
    /// The first loop.
    pub first: LoopRef,
}

impl Transform for Concatenate {
    fn name(&self) -> &'static str {
        "concatenate"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let first = cx.site(&self.first)?;
        let (sequence, index) = position(cx, &first)?;
        let second = cx.site_at(&sequence.child(index + 1))?;
        let (a, b) = (first.header, second.header);
        if a.step != 1 || b.step != 1 || a.kind != b.kind {
            return Err(Refusal::new(
                "steps",
                &first.path,
                "the loops have steps, or are of different kinds",
            )
            .and(&second.path));
        }
        let apart = || {
            let message = "the second range does not begin where the first ends";
            Err(Refusal::new("not-adjacent", &first.path, message).and(&second.path))
        };
        let Some((lower, upper, point)) = joined(a, b) else { return apart() };
        // The other bounds may be missing where the context implies them, as it does of the tree that is canonical with them.
        let with = |bounds: &[Affine]| [std::slice::from_ref(&point), bounds].concat();
        let whole_first = nest::header(a.var, lower.clone(), with(&upper), 1, a.kind);
        let whole_second = nest::header(b.var, with(&lower), upper.clone(), 1, b.kind);
        for (site, header) in [(&first, whole_first), (&second, whole_second)] {
            let whole = cx.replace(&site.path, Green::for_loop(header, site.body.clone()))?;
            if canonical(cx.kernel, &whole) != *cx.root {
                return apart();
            }
        }
        let body =
            Green::for_loop(nest::header(a.var, lower.clone(), upper.clone(), 1, a.kind), first.body.clone());
        let other = Green::for_loop(nest::header(b.var, lower, upper, 1, b.kind), second.body.clone());
        if canonical(cx.kernel, &body) != canonical(cx.kernel, &other) {
            return Err(
                Refusal::new("different", &first.path, "the loops have different bodies").and(&second.path)
            );
        }
        let children: Vec<Green> = cx.node(&sequence)?.children().cloned().collect();
        let list = [&children[..index], &[body], &children[index + 2..]].concat();
        cx.replace(&sequence, Green::seq(list))
    }
}

/// The sequence that a loop stands in, and where; another node follows.
fn position(cx: &Context<'_>, site: &Site<'_>) -> Result<(Path, usize), Refusal> {
    let none = || Refusal::new("not-adjacent", &site.path, "no loop follows in its sequence");
    let (sequence, index) = site.path.split_last().ok_or_else(none)?;
    match cx.node(&sequence)?.node() {
        Node::Seq(children) if index + 1 < children.len() => Ok((sequence, index)),
        _ => Err(none()),
    }
}

/// Bounds of the union of two ranges that meet, and the point where they do; the other bounds of either may be missing.
fn joined(a: &LoopHeader, b: &LoopHeader) -> Option<(Vec<Affine>, Vec<Affine>, Affine)> {
    let meeting = a.upper().iter().filter(|point| b.lower().contains(point));
    let without = |list: &[Affine], point: &Affine| -> Vec<Affine> {
        list.iter().filter(|e| *e != point).cloned().collect()
    };
    let same = |mut x: Vec<Affine>, y: &[Affine]| {
        let mut y = y.to_vec();
        x.sort();
        y.sort();
        x.is_empty() || x == y
    };
    meeting
        .filter(|point| {
            same(without(a.upper(), point), b.upper()) && same(without(b.lower(), point), a.lower())
        })
        .map(|point| (a.lower().to_vec(), b.upper().to_vec(), point.clone()))
        .next()
}

impl BuiltIn for Concatenate {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let first = arguments.one_loop()?;
        Ok(Concatenate { first })
    }

    /// Neighbours whose ranges meet.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let meets = |site: &Site<'_>| {
            let next =
                position(cx, site).and_then(|(sequence, index)| cx.site_at(&sequence.child(index + 1)));
            next.is_ok_and(|next| {
                site.header.step == 1 && next.header.step == 1 && joined(site.header, next.header).is_some()
            })
        };
        let sites = cx.sites().into_iter().filter(meets);
        sites.map(|site| Concatenate { first: site.path.into() }).collect()
    }
}

impl fmt::Display for Concatenate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "concatenate({})", self.first)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn missing_bounds_are_implied() {
        let k = kernel(&[("S", "i")]);
        check(&k, "for i in 0..4 { S } for i in 4..9 { S }", "concatenate(@0)", "for i in 0..9 { S }");
        // M may lie behind N, or in front of 0.
        refuse(&k, "for i in 0..M { S } for i in M..N { S }", "concatenate(@0)", "not-adjacent");
        refuse(&k, "for i in 0..min(N, M) { S } for i in M..N { S }", "concatenate(@0)", "not-adjacent");
    }
}
