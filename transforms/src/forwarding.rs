//! Where the parts of an old tree are in the new one.

use crate::{Context, Refusal};
use loop_tree::{Green, Kernel, Node, Path, StmtId, canonical};
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
        let Some(node) = old.0.iter().try_fold(&self.before, |n, i| n.child(*i as usize)) else {
            return vec![];
        };
        let wanted: Vec<bool> = self.old.iter().map(|leaf| old.contains(leaf)).collect();
        if matches!(node.node(), Node::Stmt(..)) {
            let copies = self.new.iter().filter(|(label, _)| wanted.get(*label) == Some(&true));
            return copies.map(|(_, path)| path.clone()).collect();
        }
        let mut regions = Vec::new();
        regions_of(&self.after, &wanted, &mut Path::root(), &mut regions);
        if let Some((header, _)) = node.as_loop() {
            let mut loops = Vec::new();
            for region in &regions {
                let green = region.0.iter().try_fold(&self.after, |n, i| n.child(*i as usize));
                if let Some(green) = green {
                    loops_of(green, header.var, &mut region.clone(), &mut loops);
                }
            }
            let is_original = header.var.0 < self.before_var_count();
            if is_original && !loops.is_empty() {
                return loops;
            }
        }
        regions
    }

    /// Fresh variables are renumbered, so only variables that leaves look up are followed by name.
    fn before_var_count(&self) -> u32 {
        let mut bound = 0;
        dims_bound(&self.before, &mut bound);
        bound
    }
}

fn dims_bound(node: &Green, bound: &mut u32) {
    match node.node() {
        Node::Stmt(_, dims) => dims.iter().for_each(|v| *bound = (*bound).max(v.0.saturating_add(1))),
        _ => node.children().for_each(|c| dims_bound(c, bound)),
    }
}

fn labelled(kernel: &Kernel, node: &Green, statements: &mut Vec<Arc<loop_tree::Statement>>) -> Green {
    if let Node::Stmt(id, dims) = node.node() {
        let Some(statement) = kernel.statements.get(id.index()) else { return node.clone() };
        statements.push(statement.clone());
        return Green::stmt(StmtId::new(statements.len() - 1), dims.clone());
    }
    (0..node.child_count()).fold(node.clone(), |result, index| match node.child(index) {
        Some(child) => result.with_child(index, labelled(kernel, child, statements)),
        None => result,
    })
}

fn leaves(root: &Green) -> Vec<(usize, Path)> {
    fn walk(node: &Green, path: &mut Path, result: &mut Vec<(usize, Path)>) {
        if let Node::Stmt(id, _) = node.node() {
            result.push((id.index(), path.clone()));
        }
        for (index, child) in node.children().enumerate() {
            path.0.push(index as u32);
            walk(child, path, result);
            path.0.pop();
        }
    }
    let mut result = Vec::new();
    walk(root, &mut Path::root(), &mut result);
    result
}

fn regions_of(node: &Green, wanted: &[bool], path: &mut Path, result: &mut Vec<Path>) {
    let (mut some, mut all) = (false, true);
    node.for_each_leaf(&mut |id| match wanted.get(id.index()) {
        Some(true) => some = true,
        _ => all = false,
    });
    if some && all {
        result.push(path.clone());
    } else if some {
        for (index, child) in node.children().enumerate() {
            path.0.push(index as u32);
            regions_of(child, wanted, path, result);
            path.0.pop();
        }
    }
}

fn loops_of(node: &Green, var: loop_tree::VarId, path: &mut Path, result: &mut Vec<Path>) {
    if node.as_loop().is_some_and(|(h, _)| h.var == var) {
        result.push(path.clone());
        return;
    }
    for (index, child) in node.children().enumerate() {
        path.0.push(index as u32);
        loops_of(child, var, path, result);
        path.0.pop();
    }
}
