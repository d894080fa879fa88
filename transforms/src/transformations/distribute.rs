//! Distribute: one loop over a sequence becomes a sequence of loops.
//! Elsewhere: fission, loop distribution (LLVM), `fission` (Exo).
//!
//! ```lt before
//! for i in 0..N { S(i)  T(i) }
//! ```
//! ```recipe
//! distribute(i)
//! ```
//! ```lt after
//! for i in 0..N { S(i) }
//! for i in 0..N { T(i) }
//! ```
//! Keeps the set of statement instances; all of `S` now come before all of `T`. The inverse of fusion.
//! Applies to loops over a sequence, also below bindings and affine guards.

use crate::nest;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Site, Transform};
use loop_tree::{Green, Node};
use std::fmt;

/// Splits the body of a loop before child `at`, or everywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribute {
    /// The loop.
    pub target: LoopRef,
    /// First child of the second loop; `None`: each child gets a loop.
    pub at: Option<usize>,
}

impl Transform for Distribute {
    fn name(&self) -> &'static str {
        "distribute"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let (links, below) = nest::links(site.body);
        let count = children(&site)?;
        let one = |child: Green| Green::for_loop(site.header.clone(), nest::wrap(&links, child));
        let parts = match self.at {
            None => below.children().map(|child| one(child.clone())).collect::<Vec<_>>(),
            Some(at) if at > 0 && at < count => {
                let part = |wanted: &dyn Fn(usize) -> bool| {
                    let some = below.children().enumerate().filter(|(n, _)| wanted(*n));
                    one(Green::seq(some.map(|(_, child)| child.clone())))
                };
                vec![part(&|n| n < at), part(&|n| n >= at)]
            }
            Some(at) => {
                let message = format!("the body has {count} parts and cannot be split before part {at}");
                return Err(Refusal::new("position", &site.path, message));
            }
        };
        cx.replace(&site.path, Green::seq(parts))
    }
}

impl BuiltIn for Distribute {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let at = match arguments.integers().as_deref() {
            None => None,
            Some([at]) => Some(arguments.position(*at)?),
            Some(_) => return Err(arguments.error("`distribute` takes one position")),
        };
        Ok(Distribute { target, at })
    }

    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            let Ok(count) = children(&site) else { continue };
            let target = LoopRef::Path(site.path);
            result.push(Distribute { target: target.clone(), at: None });
            if (3..=8).contains(&count) {
                result.extend((1..count).map(|at| Distribute { target: target.clone(), at: Some(at) }));
            }
        }
        result
    }
}

fn children(site: &Site<'_>) -> Result<usize, Refusal> {
    match nest::links(site.body).1.node() {
        Node::Seq(children) if children.len() > 1 => Ok(children.len()),
        _ => Err(Refusal::new("not-a-sequence", &site.path, "the body of the loop is not a sequence")),
    }
}

impl fmt::Display for Distribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            None => write!(f, "distribute({})", self.target),
            Some(at) => write!(f, "distribute({}; {at})", self.target),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn everywhere_or_at_one_place() {
        let k = kernel(&[("S", "i"), ("T", "i"), ("U", "i")]);
        let tree = "for i in 0..N { S T U }";
        check(&k, tree, "distribute(i)", "for i in 0..N { S } for i in 0..N { T } for i in 0..N { U }");
        check(&k, tree, "distribute(i; 1)", "for i in 0..N { S } for i in 0..N { T U }");
        check(&k, tree, "distribute(i; 1); fuse(@0, @1)", tree);
        refuse(&k, tree, "distribute(i; 3)", "position");
        refuse(&k, tree, "distribute(i; 0)", "position");
        refuse(&k, "for i in 0..N { S }", "distribute(i)", "not-a-sequence");
    }

    #[test]
    fn guards_are_repeated() {
        let k = kernel(&[("S", "i"), ("T", "i")]);
        check(
            &k,
            "for i in 0..N { if i - M >= 0 { S T } }",
            "distribute(i)",
            "for i in 0..N { if i - M >= 0 { S } } for i in 0..N { if i - M >= 0 { T } }",
        );
    }
}
