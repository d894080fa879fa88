//! Red nodes: positions in a tree, made on demand.
//!
//! A red node is (green, parent, index). It knows its path, its scope and its siblings; replacing it rebuilds only the
//! spine to the root.

use crate::{Green, Node, VarId};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// Child indices from the root. Text: `@` for the root, `@0.2.1` below.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(pub SmallVec<[u32; 8]>);

impl Path {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of a child.
    pub fn child(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(index as u32);
        path
    }

    /// The path of the parent and the index in it; `None` for the root.
    pub fn split_last(&self) -> Option<(Path, usize)> {
        let (last, init) = self.0.split_last()?;
        Some((Path(init.into()), *last as usize))
    }

    /// Whether `self` is `other` or an ancestor of it.
    pub fn contains(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Reads `@0.2.1` or `@`.
    pub fn parse(text: &str) -> Option<Path> {
        let rest = text.strip_prefix('@')?;
        if rest.is_empty() {
            return Some(Path::root());
        }
        rest.split('.').map(|s| s.parse().ok()).collect::<Option<_>>().map(Path)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("@")?;
        for (i, index) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{index}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A position in a tree. Cloning is a reference count.
#[derive(Clone)]
pub struct Red(Arc<RedData>);

struct RedData {
    green: Green,
    parent: Option<(Red, usize)>,
}

impl Red {
    /// The root of a tree.
    pub fn root(green: Green) -> Red {
        Red(Arc::new(RedData { green, parent: None }))
    }

    /// The node at a path.
    pub fn at(root: &Green, path: &Path) -> Option<Red> {
        path.0.iter().try_fold(Red::root(root.clone()), |node, i| node.child(*i as usize))
    }

    /// The green node here.
    pub fn green(&self) -> &Green {
        &self.0.green
    }

    /// The node around it.
    pub fn parent(&self) -> Option<&Red> {
        self.0.parent.as_ref().map(|(p, _)| p)
    }

    /// Position among the children of the parent.
    pub fn index(&self) -> Option<usize> {
        self.0.parent.as_ref().map(|(_, i)| *i)
    }

    /// The child at a position.
    pub fn child(&self, index: usize) -> Option<Red> {
        let green = self.green().child(index)?.clone();
        Some(Red(Arc::new(RedData { green, parent: Some((self.clone(), index)) })))
    }

    /// Children in order.
    pub fn children(&self) -> impl Iterator<Item = Red> {
        (0..self.green().child_count()).filter_map(|i| self.child(i))
    }

    /// The next sibling of a node in a sequence.
    pub fn next_sibling(&self) -> Option<Red> {
        let (parent, index) = self.0.parent.as_ref()?;
        matches!(parent.green().node(), Node::Seq(_)).then(|| parent.child(index + 1))?
    }

    /// From this node to the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Red> {
        std::iter::successors(Some(self.clone()), |n| n.parent().cloned())
    }

    /// The path from the root.
    pub fn path(&self) -> Path {
        let mut indices: SmallVec<[u32; 8]> =
            self.ancestors().filter_map(|n| n.index()).map(|i| i as u32).collect();
        indices.reverse();
        Path(indices)
    }

    /// All nodes below and including this one, parents before children.
    pub fn descendants(&self) -> Vec<Red> {
        let mut result = vec![self.clone()];
        let mut next = 0;
        while next < result.len() {
            let children: Vec<Red> = result[next].children().collect();
            next += 1;
            result.splice(next..next, children);
        }
        result
    }

    /// Variables bound around this node, outermost first.
    pub fn variables_in_scope(&self) -> Vec<VarId> {
        let mut vars: Vec<VarId> = self
            .ancestors()
            .skip(1)
            .filter_map(|n| match n.green().node() {
                Node::Loop(h, _) => Some(h.var),
                Node::Let(v, ..) => Some(*v),
                _ => None,
            })
            .collect();
        vars.reverse();
        vars
    }

    /// The root of the tree with this node replaced. Rebuilds the spine: O(depth) nodes.
    pub fn replace_with(&self, green: Green) -> Green {
        match &self.0.parent {
            None => green,
            Some((parent, index)) => parent.replace_with(parent.green().with_child(*index, green)),
        }
    }
}

impl fmt::Debug for Red {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.path(), self.green())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoopHeader, StmtId};

    #[test]
    fn replacing_rebuilds_only_the_spine() {
        let leaf = |i| Green::stmt(StmtId(i), [].into());
        let inner = |v, s| Green::for_loop(LoopHeader::range(VarId(v), 0, 9), leaf(s));
        let root = Green::seq([inner(0, 0), Green::for_loop(LoopHeader::range(VarId(1), 0, 9), inner(2, 1))]);
        let node = Red::at(&root, &Path::parse("@1.0.0").unwrap()).unwrap();
        assert_eq!(node.path().to_string(), "@1.0.0");
        assert_eq!(node.variables_in_scope(), [VarId(1), VarId(2)]);
        let changed = node.replace_with(leaf(7));
        assert!(changed.child(0).unwrap().ptr_eq(root.child(0).unwrap()));
        assert_eq!(Red::at(&changed, &node.path()).unwrap().green(), &leaf(7));
        assert_eq!(Red::at(&root, &node.path()).unwrap().green(), &leaf(1));
    }
}
