//! Peel: the first or last iterations of a loop become straight code.
//! Elsewhere: loop peeling (LLVM), `cut_loop` (Exo) with a constant.
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! peel(i; first=1)
//! ```
//! ```lt after
//! if 0 < N { let i = 0 { S(i) } }
//! for i in 1..N { S(i) }
//! ```
//! Keeps the statement instances and their order.
//! Applies to loops with one lower bound (first) or one upper bound (last). Where the loop may be shorter, each
//! peeled iteration is guarded.

use crate::nest;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Site, Transform};
use loop_tree::{Affine, Green};
use std::fmt;

/// One end of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The first iterations.
    First,
    /// The last iterations.
    Last,
}

/// Peels `count` iterations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peel {
    /// The loop.
    pub target: LoopRef,
    /// Which iterations.
    pub end: End,
    /// How many: 1 to 16.
    pub count: i64,
}

const MOST: i64 = 16;

impl Transform for Peel {
    fn name(&self) -> &'static str {
        "peel"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        if !(1..=MOST).contains(&self.count) {
            let message = format!("{} is not between 1 and {MOST}", self.count);
            return Err(Refusal::new("factor", &site.path, message).help("split the loop instead"));
        }
        let parts = match self.end {
            End::First => first(&site, self.count)?,
            End::Last => last(&site, self.count)?,
        };
        cx.replace(&site.path, Green::seq(parts))
    }
}

fn copy(site: &Site<'_>, value: Affine, lower: &[Affine], upper: &[Affine]) -> Green {
    let body = Green::bind(site.header.var, value.clone(), site.body.clone());
    nest::guard_between(&value, lower, upper, body)
}

fn first(site: &Site<'_>, count: i64) -> Result<Vec<Green>, Refusal> {
    let header = site.header;
    let [lower] = header.lower() else {
        return Err(
            Refusal::new("bounds", &site.path, "the lower bound is a maximum").help("split the loop first")
        );
    };
    let value = |n: i64| lower.offset(n.saturating_mul(header.step));
    let peeled = (0..count).map(|n| copy(site, value(n), &[], header.upper()));
    let rest =
        nest::header(header.var, vec![value(count)], header.upper().to_vec(), header.step, header.kind);
    Ok(peeled.chain(nest::repeat(rest, site.body.clone())).collect())
}

fn last(site: &Site<'_>, count: i64) -> Result<Vec<Green>, Refusal> {
    let header = site.header;
    let [upper] = header.upper() else {
        return Err(
            Refusal::new("bounds", &site.path, "the upper bound is a minimum").help("split the loop first")
        );
    };
    // One past the last value that the loop takes, counted in steps from the lower bound.
    let end = match header.lower() {
        [lower] if header.step != 1 => lower + &(upper - lower).ceil_div(header.step).scale(header.step),
        _ => upper.clone(),
    };
    let value = |n: i64| end.offset(n.saturating_mul(header.step).saturating_neg());
    let rest =
        nest::header(header.var, header.lower().to_vec(), vec![value(count)], header.step, header.kind);
    let peeled = (1..=count).rev().map(|n| copy(site, value(n), header.lower(), &[]));
    Ok(nest::repeat(rest, site.body.clone()).into_iter().chain(peeled).collect())
}

impl BuiltIn for Peel {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let (end, count) = match (arguments.keyed_integer("first")?, arguments.keyed_integer("last")?) {
            (Some(count), None) => (End::First, count),
            (None, Some(count)) => (End::Last, count),
            _ => return Err(arguments.error("`peel` needs first=COUNT or last=COUNT")),
        };
        Ok(Peel { target, end, count })
    }

    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            for count in options.peel.iter().copied().filter(|c| (1..=MOST).contains(c)) {
                let target = LoopRef::Path(site.path.clone());
                if site.header.lower().len() == 1 {
                    result.push(Peel { target: target.clone(), end: End::First, count });
                }
                if site.header.upper().len() == 1 {
                    result.push(Peel { target, end: End::Last, count });
                }
            }
        }
        result
    }
}

impl fmt::Display for Peel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.end == End::First { "first" } else { "last" };
        write!(f, "peel({}; {end}={})", self.target, self.count)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn constant_ranges_need_no_guards() {
        let k = kernel(&[("S", "i")]);
        check(&k, "for i in 0..3 { S }", "peel(i; first=1)", "let i = 0 { S } for i in 1..3 { S }");
        check(
            &k,
            "for i in 0..3 { S }",
            "peel(i; last=4)",
            "let i = 0 { S } let i = 1 { S } let i = 2 { S }",
        );
        refuse(&k, "for i in max(0, M)..N { S }", "peel(i; first=1)", "bounds");
        refuse(&k, "for i in 0..N { S }", "peel(i; first=0)", "factor");
    }
}
