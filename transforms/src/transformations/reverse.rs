//! Reverse: run a loop backwards.
//! Elsewhere: loop reversal; unimodular with -1.
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! reverse(i)
//! ```
//! ```lt after
//! for t0 in 0..N { let i = N - t0 - 1 { S(i) } }
//! ```
//! Keeps the set of statement instances; reverses the order of the iterations. Applying it twice restores the tree.
//! Applies to loops of step 1 with any bounds, and to other steps with one bound at each end.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, nest};
use loop_tree::{Affine, Green};
use std::fmt;

/// Runs a loop backwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reverse {
    /// The loop.
    pub target: LoopRef,
}

impl Transform for Reverse {
    fn name(&self) -> &'static str {
        "reverse"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let header = site.header;
        let fresh = cx.fresh(0);
        let mirrored = |sum: &Affine| sum - &Affine::var(fresh);
        let (value, lower, upper) = match header.single_bounds() {
            // The range stays, so that the loop still matches its neighbours.
            Some((lower, upper)) => {
                let last = (upper - lower).offset(-1).floor_div(header.step).scale(header.step);
                (mirrored(&(lower.scale(2) + last)), vec![lower.clone()], vec![upper.clone()])
            }
            None if header.step == 1 => {
                let negated = |bounds: &[Affine]| bounds.iter().map(|e| e.scale(-1).offset(1)).collect();
                (Affine::var(fresh).scale(-1), negated(header.upper()), negated(header.lower()))
            }
            None => {
                return Err(Refusal::new("steps", &site.path, "the step is not 1 and a bound is a minimum"));
            }
        };
        let body = Green::bind(header.var, value, site.body.clone());
        let header = nest::header(fresh, lower, upper, header.step, header.kind);
        cx.replace(&site.path, Green::for_loop(header, body))
    }
}

impl BuiltIn for Reverse {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        Ok(Reverse { target })
    }

    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let possible = |s: &crate::Site<'_>| s.header.step == 1 || s.header.single_bounds().is_some();
        cx.sites().into_iter().filter(possible).map(|s| Reverse { target: s.path.into() }).collect()
    }
}

impl fmt::Display for Reverse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reverse({})", self.target)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn twice_is_the_identity() {
        let k = kernel(&[("S", "i")]);
        for tree in
            ["for i in 1..N { S }", "for i in max(0, M)..min(N, 9) { S }", "for i in 1..N step 3 { S }"]
        {
            check(&k, tree, "reverse(i); reverse(t0)", tree);
        }
        check(&k, "for i in 1..N { S }", "reverse(i)", "for t0 in 1..N { let i = N - t0 { S } }");
    }
}
