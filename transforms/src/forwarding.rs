//! Where the parts of an old tree are in the new one.

use crate::{Context, Refusal};
use loop_tree::{Green, Kernel, Node, Path, StmtId, VarId, Walk, canonical};
use std::sync::Arc;

/// Old paths to new ones.
///
/// Statements are followed exactly. Any other node is followed through its statements: to the topmost new nodes that
/// hold copies of them and nothing else, and for a loop over an original variable, to the loops of that variable among
/// these and below, where there are such.
#[derive(Clone, Debug)]
pub struct Forwarding {
    before: Green,
    after: Green,
    /// Old leaves in order: label = position.
    old: Vec<Path>,
    /// Label of each new leaf, with its path, in order.
    new: Vec<(usize, Path)>,
}

impl Forwarding {
    /// Labels every leaf of the tree by a statement of its own, and sees where the labels go.
    pub(crate) fn of(
        cx: &Context<'_>,
        rewrite: &dyn Fn(&Context<'_>) -> Result<Green, Refusal>,
    ) -> Result<Forwarding, Refusal> {
        let mut statements = Vec::new();
        let before = labelled(cx.kernel, cx.root, &mut statements);
        let kernel = Kernel { statements, ..cx.kernel.clone() };
        let after = rewrite(&Context { kernel: &kernel, root: &before })?;
        let after = canonical(&kernel, &after);
        let old = leaves(&before).into_iter().map(|(_, path)| path).collect();
        let new = leaves(&after);
        Ok(Forwarding { before, after, old, new })
    }

    /// The nodes of the new tree that an old one became, in order; none if it is gone or was not there.
    pub fn forward(&self, old: &Path) -> Vec<Path> {
        let Some(node) = self.before.at(old) else {
            return vec![];
        };
        let wanted: Vec<bool> = self.old.iter().map(|leaf| old.contains(leaf)).collect();
        if matches!(node.node(), Node::Stmt(..)) {
            let copies = self.new.iter().filter(|(label, _)| wanted.get(*label) == Some(&true));
            return copies.map(|(_, path)| path.clone()).collect();
        }
        let regions = regions_of(&self.after, &wanted);
        // Fresh variables are renumbered, so only variables that leaves look up are followed by name.
        let looked_up = |var: VarId| {
            let dims = |n: &Green| matches!(n.node(), Node::Stmt(_, dims) if dims.iter().any(|d| *d >= var));
            self.before.walk().any(dims)
        };
        if let Some((header, _)) = node.as_loop()
            && looked_up(header.var)
        {
            let mut loops = Vec::new();
            for mut walk in regions.iter().filter_map(|region| Walk::at(&self.after, region)) {
                while let Some((found, _)) = walk.next_loop() {
                    if found.var == header.var {
                        loops.push(walk.path());
                        walk.prune();
                    }
                }
            }
            if !loops.is_empty() {
                return loops;
            }
        }
        regions
    }
}

fn labelled(kernel: &Kernel, node: &Green, statements: &mut Vec<Arc<loop_tree::Statement>>) -> Green {
    if let Node::Stmt(id, dims) = node.node() {
        let Some(statement) = kernel.statements.get(id.index()) else { return node.clone() };
        statements.push(statement.clone());
        return Green::stmt(StmtId::new(statements.len() - 1), dims.clone());
    }
    node.map_children(|child| labelled(kernel, child, statements))
}

fn leaves(root: &Green) -> Vec<(usize, Path)> {
    let mut result = Vec::new();
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        if let Node::Stmt(id, _) = node.node() {
            result.push((id.index(), walk.path()));
        }
    }
    result
}

/// The topmost nodes all leaves of which are wanted.
fn regions_of(root: &Green, wanted: &[bool]) -> Vec<Path> {
    let mut result = Vec::new();
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        let is_wanted = |id: StmtId| wanted.get(id.index()) == Some(&true);
        if !node.leaves().any(is_wanted) {
            walk.prune();
        } else if node.leaves().all(is_wanted) {
            result.push(walk.path());
            walk.prune();
        }
    }
    result
}
