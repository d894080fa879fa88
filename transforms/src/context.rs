//! The tree that a transformation is applied to, and loops found in it.

use crate::{LoopRef, Refusal};
use loop_tree::{Bounds, Green, Kernel, LoopHeader, Path, Red, VarId, fresh_variable};
use std::sync::Arc;

/// What a transformation sees.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What is computed.
    pub kernel: &'a Kernel,
    /// The canonical tree to change.
    pub root: &'a Green,
}

/// A loop with affine bounds, at a position.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// Where it is.
    pub path: Path,
    /// Variable and range.
    pub header: &'a Arc<LoopHeader>,
    /// What it repeats.
    pub body: &'a Green,
}

impl<'a> Context<'a> {
    /// The node at a path.
    pub fn node(&self, path: &Path) -> Result<&'a Green, Refusal> {
        self.root.at(path).ok_or_else(|| Refusal::new("no-such-node", path, "there is no node at this path"))
    }

    /// The loop that a reference names. Refuses what is not a loop with affine bounds.
    pub fn site(&self, reference: &LoopRef) -> Result<Site<'a>, Refusal> {
        self.site_at(&reference.resolve(self)?)
    }

    /// The loop at a path. Refuses what is not a loop with affine bounds.
    pub fn site_at(&self, path: &Path) -> Result<Site<'a>, Refusal> {
        let Some((header, body)) = self.node(path)?.as_loop() else {
            return Err(Refusal::new("not-a-loop", path, "there is no loop at this path"));
        };
        match header.bounds {
            Bounds::Affine { .. } => Ok(Site { path: path.clone(), header, body }),
            Bounds::Unbounded { .. } => {
                Err(Refusal::new("unbounded", path, "the number of iterations is not known"))
            }
        }
    }

    /// All loops with affine bounds, parents before children.
    pub fn sites(&self) -> Vec<Site<'a>> {
        let mut result = Vec::new();
        let mut walk = self.root.walk();
        while let Some((header, body)) = walk.next_counted() {
            result.push(Site { path: walk.path(), header, body });
        }
        result
    }

    /// The root with the node at a path replaced.
    pub fn replace(&self, path: &Path, green: Green) -> Result<Green, Refusal> {
        Red::at(self.root, path)
            .map(|node| node.replace_with(green))
            .ok_or_else(|| Refusal::new("no-such-node", path, "there is no node at this path"))
    }

    /// The `number`-th variable that occurs nowhere in the tree.
    pub fn fresh(&self, number: u32) -> VarId {
        VarId(fresh_variable(self.kernel, self.root).0.saturating_add(number))
    }
}
