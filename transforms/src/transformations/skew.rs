//! Skew: shift each run of an inner loop by a multiple of an outer variable.
//! Elsewhere: wavefront transformation; unimodular skewing.
//!
//! ```lt before
//! for i in 0..N { for j in 0..M { S(i, j) } }
//! ```
//! ```recipe
//! skew(i, j; 1)
//! ```
//! ```lt after
//! for i in 0..N { for t0 in i..M + i { let j = t0 - i { S(i, j) } } }
//! ```
//! Keeps the statement instances and their order. A negative factor undoes a positive one. What follows is usually an
//! interchange or a tiling, to which the new bounds make a difference.
//! Applies to every loop anywhere inside the outer one.

use crate::nest::{self, Link};
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform};
use loop_tree::{Affine, Green, Red};
use std::fmt;

/// Skews `inner` by `factor` times the variable of `outer`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skew {
    /// The loop whose variable is added.
    pub outer: LoopRef,
    /// The loop that is shifted.
    pub inner: LoopRef,
    /// How many iterations per iteration of the outer loop; not 0.
    pub factor: i64,
}

impl Transform for Skew {
    fn name(&self) -> &'static str {
        "skew"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let outer = cx.site(&self.outer)?;
        let inner = cx.site(&self.inner)?;
        nest::check_factor(&inner, self.factor.saturating_abs(), 1)?;
        if outer.path == inner.path || !outer.path.contains(&inner.path) {
            return Err(
                Refusal::new("not-inside", &inner.path, "the loop is not inside the other").and(&outer.path)
            );
        }
        let var = outer.header.var;
        let between = Red::at(cx.root, &inner.path).is_some_and(|node| {
            node.around()[outer.path.0.len() + 1..].iter().any(|(node, _)| node.binds() == Some(var))
        });
        if between || inner.header.var == var {
            return Err(Refusal::new(
                "shadowed",
                &inner.path,
                "the outer variable is bound again around the inner loop",
            ));
        }
        let header = inner.header;
        let by = Affine::var(var).scale(self.factor);
        let shifted = |bounds: &[Affine]| bounds.iter().map(|e| e + &by).collect();
        let fresh = cx.fresh(0);
        let body = Green::bind(header.var, &Affine::var(fresh) - &by, inner.body.clone());
        let header =
            nest::header(fresh, shifted(header.lower()), shifted(header.upper()), header.step, header.kind);
        cx.replace(&inner.path, Green::for_loop(header, body))
    }
}

impl BuiltIn for Skew {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let loops = arguments.loops(2..=2)?;
        let factor = arguments.one_integer()?;
        match <[LoopRef; 2]>::try_from(loops) {
            Ok([outer, inner]) => Ok(Skew { outer, inner, factor }),
            Err(loops) => Err(RecipeError { message: format!("2 loops, not {}", loops.len()), span: 0..0 }),
        }
    }

    /// Directly nested loops whose bounds do not depend on each other: where they do, the loop is skewed already.
    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            let Ok((links, inner)) = nest::inner(&site) else { continue };
            let var = site.header.var;
            let depends = |e: &Affine| {
                nest::resolve(&links, e).uses(var)
                    || links.iter().any(|l| matches!(l, Link::Let(v, _) if *v == var))
            };
            if inner.header.lower().iter().chain(inner.header.upper()).any(depends) {
                continue;
            }
            for factor in options.skew_factors.iter().filter(|f| **f != 0) {
                let (outer, inner) = (site.path.clone().into(), inner.path.clone().into());
                result.push(Skew { outer, inner, factor: *factor });
            }
        }
        result
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skew({}, {}; {})", self.outer, self.inner, self.factor)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn a_negative_factor_undoes_it() {
        let k = kernel(&[("S", "i j")]);
        let tree = "for i in 0..N { for j in 0..M { S } }";
        check(&k, tree, "skew(i, j; 3); skew(i, t0; -3)", tree);
        refuse(&k, tree, "skew(j, i; 1)", "not-inside");
    }

    #[test]
    fn skewed_loops_interchange_into_wavefronts() {
        let k = kernel(&[("S", "i j")]);
        check(
            &k,
            "for i in 0..N { for j in 0..M { S } }",
            "skew(i, j; 1); interchange(i)",
            "for t0 in 0..M + N - 1 { for i in max(0, t0 - M + 1)..min(N, t0 + 1) { let j = t0 - i { S } } }",
        );
    }
}
