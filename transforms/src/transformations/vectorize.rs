//! Vectorize: the iterations of a loop become the lanes of vectors, in blocks.
//! Elsewhere: `vectorize` (Halide, TVM, after `split`), `#pragma omp simd`; outer-loop vectorisation where the loop is not innermost.
//!
//! ```lt before
//! for i in 0..N { for k in 0..M { S(i, k) } }
//! ```
//! ```recipe
//! vectorize(i; 8)
//! ```
//! ```lt after
//! for t0 in 0..floor(N/8) { vector for i in 8*t0..8*t0 + 8 { for k in 0..M { S(i, k) } } }
//! for i in max(0, 8*floor(N/8))..N { for k in 0..M { S(i, k) } }
//! ```
//! Keeps the statement instances; lanes run in lock step, operation by operation, loops inside included.
//! Applies to every loop with affine bounds. What is left over is an ordinary loop.

use super::tile::blocks;
use super::unroll::Grouped;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, nest};
use loop_tree::{Green, LoopKind};
use std::fmt;

/// Makes lanes of blocks of iterations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vectorize {
    /// The loop.
    pub target: LoopRef,
    /// Iterations per vector, at least 2.
    pub lanes: i64,
}

impl Transform for Vectorize {
    fn name(&self) -> &'static str {
        "vectorize"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        nest::check_factor(&site, self.lanes, 2)?;
        if site.header.kind == LoopKind::Vector {
            return Err(Refusal::new("lanes", &site.path, "its iterations are lanes already"));
        }
        if site.header.single_bounds().is_none() {
            let tree = blocks(cx, &site, self.lanes, LoopKind::Vector);
            return cx.replace(&site.path, tree.map_err(|m| Refusal::new("bounds", &site.path, m))?);
        }
        let grouped = Grouped::new(cx, &site, self.lanes)?;
        let (first, step) = (grouped.values[0].clone(), site.header.step);
        let end = first.offset(self.lanes.saturating_mul(step));
        let lanes = nest::header(site.header.var, vec![first], vec![end], step, LoopKind::Vector);
        let block = Green::for_loop(lanes, site.body.clone());
        cx.replace(&site.path, grouped.build(&site, block))
    }
}

impl BuiltIn for Vectorize {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let lanes = arguments.one_integer()?;
        Ok(Vectorize { target, lanes })
    }

    /// Loops neither inside nor around of vector loops. How many lanes pay depends on the target.
    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let sites = cx.sites();
        let vectors: Vec<_> = sites.iter().filter(|s| s.header.kind == LoopKind::Vector).collect();
        let mut result = Vec::new();
        for site in &sites {
            if vectors.iter().any(|v| v.path.contains(&site.path) || site.path.contains(&v.path)) {
                continue;
            }
            let fits = |lanes: &&i64| site.header.constant_trip_count().is_none_or(|count| count >= **lanes);
            let moves = options.lanes.iter().filter(fits);
            result.extend(moves.map(|lanes| Vectorize { target: site.path.clone().into(), lanes: *lanes }));
        }
        result
    }
}

impl fmt::Display for Vectorize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vectorize({}; {})", self.target, self.lanes)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn full_blocks_are_lanes() {
        let k = kernel(&[("S", "i")]);
        check(&k, "for i in 0..8 { S }", "vectorize(i; 8)", "vector for i in 0..8 { S }");
        refuse(&k, "vector for i in 0..8 { S }", "vectorize(i; 8)", "lanes");
        refuse(&k, "for i in 0..N { S }", "vectorize(i; 1)", "factor");
    }
}
