//! Permute: put the loops of a band into another order.
//! Elsewhere: `reorder` (Halide, TVM), unimodular permutation.
//!
//! ```lt before
//! for i in 0..N { for j in 0..M { for k in 0..N { S(i, j, k) } } }
//! ```
//! ```recipe
//! permute(k, i, j)
//! ```
//! ```lt after
//! for k in 0..N { for i in 0..N { for j in 0..M { S(i, j, k) } } }
//! ```
//! Keeps the set of statement instances; changes their order. `permute(k, i, j)` lists the new order, outermost first.
//! Applies to perfectly nested loops; made of interchanges of adjacent loops, and needs what these need.

use super::interchange::move_out;
use crate::loop_ref::Listed;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, nest};
use loop_tree::{Green, Path};
use std::fmt;

/// Puts the loops of a band into the order listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permute {
    /// All loops of the band, in their new order.
    pub order: Vec<LoopRef>,
}

impl Transform for Permute {
    fn name(&self) -> &'static str {
        "permute"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let mut loops: Vec<(Path, &LoopRef)> =
            self.order.iter().map(|l| Ok((l.resolve(cx)?, l))).collect::<Result<_, Refusal>>()?;
        let new_order: Vec<Path> = loops.iter().map(|(path, _)| path.clone()).collect();
        loops.sort_by_key(|(path, _)| path.0.len());
        let in_order: Vec<LoopRef> = loops.into_iter().map(|(_, reference)| reference.clone()).collect();
        let band = nest::band(cx, &in_order)?;
        let top = band.loops[0].path.clone(); // `band` refuses an empty list
        let mut present: Vec<&Path> = band.loops.iter().map(|site| &site.path).collect();
        let mut root = cx.node(&top)?.clone();
        for (target, path) in new_order.iter().enumerate() {
            let Some(at) = present.iter().position(|p| *p == path) else {
                return Err(Refusal::new("not-a-band", path, "the loop is listed twice"));
            };
            if at < target {
                return Err(Refusal::new("not-a-band", path, "the loop is listed twice"));
            }
            root = move_out(&root, target, at).map_err(|p| p.at(path))?;
            let moved = present.remove(at);
            present.insert(target, moved);
        }
        cx.replace(&top, root)
    }
}

impl BuiltIn for Permute {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let order = arguments.loops(2..=8)?;
        Ok(Permute { order })
    }

    /// Permutations that are not one interchange of adjacent loops, which is a move of its own.
    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            let band = nest::longest_band(&site, options.band.min(4));
            for length in 3..=band.len() {
                let loops: Vec<LoopRef> = band[..length].iter().map(|s| s.path.clone().into()).collect();
                for order in permutations(length) {
                    // The ends must move, or it is a permutation of a shorter band; one inversion is an interchange.
                    if order[0] == 0 || order[length - 1] == length - 1 || inversions(&order) < 2 {
                        continue;
                    }
                    result.push(Permute { order: order.iter().map(|at| loops[*at].clone()).collect() });
                }
            }
        }
        result
    }
}

fn permutations(length: usize) -> Vec<Vec<usize>> {
    (0..length).fold(vec![vec![]], |partial, _| {
        let extend = |p: Vec<usize>| {
            let free: Vec<usize> = (0..length).filter(|n| !p.contains(n)).collect();
            free.into_iter()
                .map(move |n| p.iter().copied().chain([n]).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        partial.into_iter().flat_map(extend).collect()
    })
}

fn inversions(order: &[usize]) -> usize {
    (0..order.len()).map(|n| order[..n].iter().filter(|m| **m > order[n]).count()).sum()
}

impl fmt::Display for Permute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "permute({})", Listed(&self.order))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn any_order() {
        let k = kernel(&[("S", "i j k")]);
        let tree = "for i in 0..N { for j in 0..M { for k in 0..9 { S } } }";
        check(&k, tree, "permute(k, j, i); permute(i, j, k)", tree);
        check(
            &k,
            "for i in 0..N { for j in i..N { for k in i..M { S } } }",
            "permute(j, k, i)",
            "for j in 0..N { for k in 0..M { for i in 0..min(j + 1, k + 1) { S } } }",
        );
        refuse(&k, tree, "permute(i, k)", "not-a-band");
        refuse(&k, tree, "permute(i, i)", "not-a-band");
    }
}
