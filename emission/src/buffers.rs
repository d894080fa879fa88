//! Buffers of a tree: where they are, and their memory.

use crate::lanes::lanes_of;
use loop_tree::{Buffer, Green, LoopKind, Node, Path};
use std::sync::Arc;

/// Bytes on the stack for one region: a small share of the stacks that threads have.
pub const MOST_ON_STACK: i64 = 1 << 18;

/// Bytes of a line of cache, or more: no two threads write to one.
pub const LINE: u32 = 64;

/// A buffer's node in the tree.
#[derive(Clone)]
pub struct Found {
    /// Where it is.
    pub path: Path,
    /// What it binds.
    pub buffer: Arc<Buffer>,
    /// The outermost loop marked parallel around it, whose iterations have one each.
    pub in_parallel: Option<Path>,
    /// Lanes of the vector loop around it, each of which has one of its own: as many elements stand in the place of one.
    pub lanes: u32,
}

impl Found {
    /// How many elements it has for all lanes together, where that is a constant.
    pub fn places(&self) -> Option<i64> {
        self.buffer.constant_len()?.checked_mul(self.lanes.into()).filter(|places| *places > 0)
    }
}

/// All buffers of a tree, in order.
pub fn find(root: &Green) -> Vec<Found> {
    let mut found = Vec::new();
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        if !node.summary().has_storage_or_versions {
            walk.prune();
        }
        let Node::Alloc(buffer, _) = node.node() else { continue };
        let path = walk.path();
        let (mut in_parallel, mut lanes) = (None, 1);
        for (depth, (around, _)) in walk.here().around().iter().enumerate() {
            match around.as_loop().map(|(header, _)| (header, header.kind)) {
                // Lanes share nothing between threads.
                Some((_, LoopKind::Parallel)) if lanes == 1 => {
                    in_parallel = in_parallel.or(Some(path.prefix(depth)))
                }
                // What cannot be emitted is refused where it would be.
                Some((header, LoopKind::Vector)) => lanes = lanes_of(header).unwrap_or(1).max(1),
                _ => {}
            }
        }
        found.push(Found { path, buffer: buffer.clone(), in_parallel, lanes });
    }
    found
}
