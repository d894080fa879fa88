//! Interchange: swap a loop and the only loop inside it.
//! Elsewhere: permute; `reorder` (Halide, TVM), `reorder_loops` (Exo), `-loop-interchange` (LLVM).
//!
//! ```lt before
//! for i in 0..N { for j in i..N { S(i, j) } }
//! ```
//! ```recipe
//! interchange(i)
//! ```
//! ```lt after
//! for j in 0..N { for i in 0..j+1 { S(i, j) } }
//! ```
//! Keeps the set of statement instances; changes their order. Applying it twice restores a rectangular nest; of other
//! nests the bounds may become tighter.
//! Applies to perfectly nested loops, with bindings and affine guards between them. Bounds of the inner loop may use
//! the outer variable (they are projected); then both steps must be 1.

use crate::loop_ref::Listed;
use crate::{
    Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, nest, project,
};
use loop_tree::{Green, LoopHeader};
use std::fmt;

/// Swaps `outer` and the loop inside it. `inner` is optional, and checked where it is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interchange {
    /// The outer loop.
    pub outer: LoopRef,
    /// The loop directly inside.
    pub inner: Option<LoopRef>,
}

impl Transform for Interchange {
    fn name(&self) -> &'static str {
        "interchange"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.outer)?;
        if let Some(inner) = &self.inner {
            nest::band(cx, &[self.outer.clone(), inner.clone()])?;
        }
        nest::inner(&site)?;
        let swapped = swap(cx.node(&site.path)?).map_err(|p| p.at(&site.path))?;
        cx.replace(&site.path, swapped)
    }
}

impl BuiltIn for Interchange {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let mut loops = arguments.loops(1..=2)?;
        let inner = if loops.len() == 2 { loops.pop() } else { None };
        Ok(Interchange { outer: loops.remove(0), inner })
    }

    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let sites = cx.sites().into_iter().filter(|site| {
            nest::inner(site).is_ok_and(|(_, inner)| {
                let uses =
                    inner.header.lower().iter().chain(inner.header.upper()).any(|e| e.uses(site.header.var));
                !uses || (site.header.step == 1 && inner.header.step == 1)
            })
        });
        sites.map(|site| Interchange { outer: site.path.into(), inner: None }).collect()
    }
}

impl fmt::Display for Interchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loops: Vec<&LoopRef> = std::iter::once(&self.outer).chain(&self.inner).collect();
        write!(f, "interchange({})", Listed(&loops))
    }
}

/// Why two loops cannot be swapped.
pub(crate) struct NotSwapped(&'static str, &'static str);

impl NotSwapped {
    pub(crate) fn at(&self, path: &loop_tree::Path) -> Refusal {
        Refusal::new(self.0, path, self.1)
    }
}

/// A loop over a loop, swapped. Links between them go inside.
pub(crate) fn swap(outer: &Green) -> Result<Green, NotSwapped> {
    let imperfect = || NotSwapped("imperfect", "the body is not just one loop");
    let (outer_header, body) = outer.as_loop().ok_or_else(imperfect)?;
    let (links, below) = nest::links(body);
    let (inner_header, body) = below.as_loop().ok_or_else(imperfect)?;
    let (i, j) = (outer_header.var, inner_header.var);
    let outer_uses = |v| outer_header.lower().iter().chain(outer_header.upper()).any(|e| e.uses(v));
    if i == j || outer_uses(j) || links.iter().any(|l| l.uses(j) || l.binds(j)) {
        return Err(NotSwapped("shadowed", "the inner variable hides one that is used between the loops"));
    }
    let resolved = |bounds: &[loop_tree::Affine]| bounds.iter().map(|e| nest::resolve(&links, e)).collect();
    let inner_resolved = LoopHeader {
        bounds: loop_tree::Bounds::Affine {
            lower: resolved(inner_header.lower()),
            upper: resolved(inner_header.upper()),
        },
        ..(**inner_header).clone()
    };
    let (new_outer, new_inner) =
        project::swapped(outer_header, &inner_resolved).map_err(|message| NotSwapped("bounds", message))?;
    Ok(Green::for_loop(new_outer, Green::for_loop(new_inner, nest::wrap(&links, body.clone()))))
}

/// The nest with the loop at `depth` of the band moved out to `target`.
pub(crate) fn move_out(root: &Green, target: usize, depth: usize) -> Result<Green, NotSwapped> {
    (target..depth).rev().try_fold(root.clone(), |root, at| swap_at(&root, at))
}

fn swap_at(node: &Green, depth: usize) -> Result<Green, NotSwapped> {
    if depth == 0 && node.as_loop().is_some() {
        return swap(node);
    }
    let next = if node.as_loop().is_some() { depth.saturating_sub(1) } else { depth };
    match node.child(0) {
        Some(child) if node.child_count() == 1 => Ok(node.with_child(0, swap_at(child, next)?)),
        _ => Err(NotSwapped("imperfect", "the body is not just one loop")),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn rectangles_and_triangles() {
        let k = kernel(&[("S", "i j")]);
        let tree = "for i in 0..N { for j in 0..M { S } }";
        check(&k, tree, "interchange(i)", "for j in 0..M { for i in 0..N { S } }");
        check(&k, tree, "interchange(i, j); interchange(j, i)", tree);
        check(
            &k,
            "for i in 0..N { for j in 0..i { S } }",
            "interchange(i)",
            "for j in 0..N - 1 { for i in j + 1..N { S } }",
        );
    }

    #[test]
    fn coefficients_become_divisions_and_back() {
        let k = kernel(&[("S", "i j")]);
        check(
            &k,
            "for i in 0..N { for j in 0..2*i { S } }",
            "interchange(i)",
            "for j in 0..2*N - 2 { for i in floor((j + 2)/2)..N { S } }",
        );
        check(
            &k,
            "for i in 0..N { for j in 0..floor(i/2) { S } }",
            "interchange(i)",
            "for j in 0..floor((N - 1)/2) { for i in 2*j + 2..N { S } }",
        );
    }

    #[test]
    fn structure_is_demanded() {
        let k = kernel(&[("S", "i j"), ("T", "i")]);
        refuse(&k, "for i in 0..N { T for j in 0..M { S } }", "interchange(i)", "imperfect");
        refuse(&k, "for i in 0..N step 2 { for j in 0..i { S } }", "interchange(i)", "bounds");
        refuse(&k, "for i in 0..N { T }", "interchange(k)", "unknown-loop");
        refuse(&k, "for i in 0..N { T } for i in 0..N { T }", "interchange(i)", "ambiguous-loop");
        check(
            &k,
            "for i in 0..N { if i - M >= 0 { for j in 0..M { S } } }",
            "interchange(i)",
            "for j in 0..M { for i in 0..N { if i - M >= 0 { S } } }",
        );
    }
}
