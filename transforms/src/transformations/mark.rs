//! Mark: say how the iterations of a loop may be executed.
//! Elsewhere: `parallel`, `vectorize` (Halide, TVM), `parallelize_loop` (Exo), `#pragma omp`.
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! mark(i; parallel)
//! ```
//! ```lt after
//! parallel for i in 0..N { S(i) }
//! ```
//! Keeps the statement instances; their order is no longer promised. The iterations of a vector loop are lanes, in lock step:
//! it needs a constant number of them, which `vectorize` sees to. Those of a parallel loop are shared between threads, as many as
//! `--threads` allows: with one they run in order.
//! A loop marked for a library is done by one call, where it is known as something that a function of the C library or of `--library` computes.
//! Applies to every loop with affine bounds.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform};
use loop_tree::{Green, LoopHeader, LoopKind};
use std::fmt;

/// Gives a loop a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The loop.
    pub target: LoopRef,
    /// The kind.
    pub kind: LoopKind,
}

/// Iterations of a loop whose iterations could be lanes.
const MOST_LANES: i64 = 16;

impl Transform for Mark {
    fn name(&self) -> &'static str {
        "mark"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let header = LoopHeader { kind: self.kind, ..(**site.header).clone() };
        cx.replace(&site.path, Green::for_loop(header, site.body.clone()))
    }
}

impl BuiltIn for Mark {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let kind = LoopKind::ALL.iter().copied().find(|kind| arguments.flag(kind.name()));
        let kind =
            kind.ok_or_else(|| arguments.error("`mark` needs parallel, vector, library or sequential"))?;
        Ok(Mark { target, kind })
    }

    /// Parallel for loops that are not inside another marked one; vector for innermost loops of few iterations.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let sites = cx.sites();
        let mut result = Vec::new();
        for site in sites.iter().filter(|s| s.header.kind == LoopKind::Sequential) {
            let inside = |kind| {
                sites
                    .iter()
                    .any(|s| s.header.kind == kind && s.path != site.path && s.path.contains(&site.path))
            };
            let target = LoopRef::Path(site.path.clone());
            if !inside(LoopKind::Parallel) && !inside(LoopKind::Vector) {
                result.push(Mark { target: target.clone(), kind: LoopKind::Parallel });
            }
            let few =
                site.header.constant_trip_count().is_some_and(|count| (2..=MOST_LANES).contains(&count));
            if few && site.body.summary().loop_depth == 0 && !inside(LoopKind::Vector) {
                result.push(Mark { target, kind: LoopKind::Vector });
            }
        }
        result
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mark({}; {})", self.target, self.kind.name())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn only_the_kind_changes() {
        let k = kernel(&[("S", "i")]);
        let tree = "for i in 0..N { S }";
        check(&k, tree, "mark(i; vector); mark(i; sequential)", tree);
    }
}
