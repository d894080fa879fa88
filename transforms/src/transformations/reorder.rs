//! Reorder and move: parts of a sequence in another order.
//! Elsewhere: `reorder_stmts` (Exo), code motion.
//!
//! ```lt before
//! for i in 0..N { S(i) }  T()  for j in 0..N { U(j) }
//! ```
//! ```recipe
//! move(@1; 0)
//! ```
//! ```lt after
//! T()  for i in 0..N { S(i) }  for j in 0..N { U(j) }
//! ```
//! Keeps the set of statement instances; changes their order. `reorder(@; 1, 0, 2)` lists the old positions in their new
//! order; `move(@1; 0)` takes one part to a position. Makes loops adjacent for fusion.
//! Applies to sequences.

use crate::loop_ref::Listed;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform};
use loop_tree::{Green, Node, Path};
use std::fmt;

/// Permutes the parts of a sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reorder {
    /// The sequence.
    pub sequence: LoopRef,
    /// The old position of each part.
    pub order: Vec<usize>,
}

/// Moves one part of a sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// The part.
    pub part: LoopRef,
    /// Its new position.
    pub to: usize,
}

fn permuted(cx: &Context<'_>, sequence: &Path, order: &[usize]) -> Result<Green, Refusal> {
    let node = cx.node(sequence)?;
    let Node::Seq(children) = node.node() else {
        return Err(not_a_sequence(sequence));
    };
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..children.len()) {
        let message = format!("this is not an order of the {} parts", children.len());
        return Err(Refusal::new("position", sequence, message));
    }
    cx.replace(sequence, Green::seq(order.iter().filter_map(|n| children.get(*n).cloned())))
}

fn not_a_sequence(path: &Path) -> Refusal {
    Refusal::new("not-a-sequence", path, "there is no sequence at this path")
}

impl Transform for Reorder {
    fn name(&self) -> &'static str {
        "reorder"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let path = self.sequence.resolve(cx)?;
        // A loop stands for the sequence that is its body.
        let path = if cx.node(&path)?.as_loop().is_some() { path.child(0) } else { path };
        permuted(cx, &path, &self.order)
    }
}

impl Transform for Move {
    fn name(&self) -> &'static str {
        "move"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let path = self.part.resolve(cx)?;
        let Some((sequence, from)) = path.split_last() else {
            return Err(Refusal::new("not-a-sequence", &path, "the root is no part of a sequence"));
        };
        let node = cx.node(&sequence)?;
        if !matches!(node.node(), Node::Seq(_)) {
            return Err(not_a_sequence(&sequence));
        }
        let count = node.child_count();
        if self.to >= count || from >= count {
            let message = format!("there is no position {} among {count}", self.to);
            return Err(Refusal::new("position", &path, message));
        }
        let range = from.min(self.to)..from.max(self.to) + 1;
        let mut parts: Vec<Green> = range.clone().filter_map(|n| node.child(n)).cloned().collect();
        if from < self.to {
            parts.rotate_left(1)
        } else {
            parts.rotate_right(1)
        }
        cx.replace(&sequence, node.splice(range, parts))
    }
}

impl BuiltIn for Reorder {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let sequence = arguments.one_loop()?;
        let Some(order) = arguments.integers() else {
            return Err(arguments.error("`reorder` needs the old positions in their new order"));
        };
        let order = order.into_iter().map(|n| arguments.position(n)).collect::<Result<_, _>>()?;
        Ok(Reorder { sequence, order })
    }

    // No moves: every order is a few moves.
}

impl BuiltIn for Move {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let part = arguments.one_loop()?;
        let to = arguments.one_integer()?;
        let to = arguments.position(to)?;
        Ok(Move { part, to })
    }

    /// Each part of a sequence that contains loops to each earlier place next to a loop, and directly after it: so
    /// that two loops become adjacent.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        let mut walk = cx.root.walk();
        while let Some(node) = walk.next() {
            if node.summary().loop_depth == 0 {
                walk.prune();
                continue;
            }
            let Node::Seq(children) = node.node() else { continue };
            if children.len() > LONGEST {
                continue;
            }
            let path = walk.path();
            let is_loop = |n: usize| children.get(n).is_some_and(|c| c.summary().loop_depth > 0);
            for from in 0..children.len() {
                // Neighbours change places once, by the later one's move.
                let earlier = (0..from).filter(|to| is_loop(from) || (*to + 1 == from && is_loop(*to)));
                let later = (from + 2..children.len()).filter(|to| is_loop(from) && is_loop(*to));
                let part = LoopRef::from(path.child(from));
                result.extend(earlier.chain(later).map(|to| Move { part: part.clone(), to }));
            }
        }
        result
    }
}

/// Longest sequence whose parts are moved by enumeration.
const LONGEST: usize = 12;

impl fmt::Display for Reorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reorder({}; {})", self.sequence, Listed(&self.order))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "move({}; {})", self.part, self.to)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn parts_change_places() {
        let k = kernel(&[("S", "i"), ("T", ""), ("U", "j")]);
        let tree = "for i in 0..N { S } T for j in 0..N { U }";
        check(&k, tree, "reorder(@; 1, 0, 2)", "T for i in 0..N { S } for j in 0..N { U }");
        check(&k, tree, "reorder(@; 2, 0, 1); move(@0; 2)", tree);
        refuse(&k, tree, "reorder(@; 0, 1)", "position");
        refuse(&k, tree, "reorder(@; 0, 1, 1)", "position");
        refuse(&k, tree, "move(@0; 3)", "position");
        refuse(&k, tree, "move(@; 0)", "not-a-sequence");
    }
}
