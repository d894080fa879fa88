//! Positions in a tree, made on demand, and the walk that visits them.

use crate::{Bounds, Green, LoopHeader, Node, StmtId, VarId};
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

    /// The path of what is at `below` from here.
    pub fn join(&self, below: &Path) -> Self {
        Path(self.0.iter().chain(&below.0).copied().collect())
    }

    /// The path of what contains it, so deep.
    pub fn prefix(&self, depth: usize) -> Self {
        Path(self.0[..depth].into())
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

    /// The innermost node that holds both.
    pub fn shared(&self, other: &Path) -> Path {
        self.prefix(self.shared_len(other))
    }

    /// How deep [`Path::shared`] is.
    pub fn shared_len(&self, other: &Path) -> usize {
        self.0.iter().zip(&other.0).take_while(|(a, b)| a == b).count()
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

/// A position in a tree: a node, and the nodes around it.
#[derive(Clone)]
pub struct Red<'t> {
    green: &'t Green,
    /// Outermost first, each with the number of the child that is entered.
    around: SmallVec<[(&'t Green, u32); 8]>,
}

impl<'t> Red<'t> {
    /// The root of a tree.
    pub fn root(green: &'t Green) -> Self {
        Red { green, around: SmallVec::new() }
    }

    /// The node at a path.
    pub fn at(root: &'t Green, path: &Path) -> Option<Self> {
        path.0.iter().try_fold(Red::root(root), |mut node, index| {
            let child = node.green.child(*index as usize)?;
            node.around.push((node.green, *index));
            Some(Red { green: child, ..node })
        })
    }

    /// The green node here.
    pub fn green(&self) -> &'t Green {
        self.green
    }

    /// The nodes around it, outermost first, each with the number of the child that it is in.
    pub fn around(&self) -> &[(&'t Green, u32)] {
        &self.around
    }

    /// The path from the root.
    pub fn path(&self) -> Path {
        Path(self.around.iter().map(|(_, index)| *index).collect())
    }

    /// Variables bound around it, outermost first.
    pub fn scope(&self) -> impl DoubleEndedIterator<Item = VarId> {
        self.around.iter().filter_map(|(node, _)| node.binds())
    }

    /// The root of the tree with this node replaced. Rebuilds the spine: O(depth) nodes.
    pub fn replace_with(&self, green: Green) -> Green {
        let around = self.around.iter().rev();
        around.fold(green, |child, (parent, index)| parent.with_child(*index as usize, child))
    }
}

impl fmt::Debug for Red<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.path(), self.green)
    }
}

/// Nodes, parents before children. Depth costs no stack.
///
/// ```
/// # let program = loop_tree::text::parse("nest @k[N] { array A: f64[N] for i in 0..N { S: A[i] = 0.0 } }")?;
/// let mut walk = program.tree().walk();
/// while let Some(node) = walk.next() {
///     if node.as_loop().is_some() {
///         println!("{}", walk.path());
///         walk.prune(); // what is inside
///     }
/// }
/// # Ok::<(), loop_tree::text::TextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Walk<'t> {
    /// The node that `next` gave last, or is to give first.
    here: Red<'t>,
    state: State,
    /// Of the nodes around it, how many are outside of what is walked.
    outside: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Start,
    Descend,
    Prune,
    Done,
}

impl<'t> Walk<'t> {
    /// The node at a path and all below it, if there is one. Paths and scopes are those of the whole tree.
    pub fn at(root: &'t Green, path: &Path) -> Option<Self> {
        Red::at(root, path).map(Walk::of)
    }

    fn of(here: Red<'t>) -> Self {
        Walk { state: State::Start, outside: here.around.len(), here }
    }

    /// Leaves out what is below the node that came last.
    pub fn prune(&mut self) {
        self.state = State::Prune;
    }

    /// The next loop. Parts without loops cost nothing.
    pub fn next_loop(&mut self) -> Option<(&'t Arc<LoopHeader>, &'t Green)> {
        while let Some(node) = self.next() {
            if node.summary().loop_depth == 0 {
                self.prune();
            } else if let Some(found) = node.as_loop() {
                return Some(found);
            }
        }
        None
    }

    /// The next loop with affine bounds.
    pub fn next_counted(&mut self) -> Option<(&'t Arc<LoopHeader>, &'t Green)> {
        loop {
            match self.next_loop() {
                Some((header, _)) if matches!(header.bounds, Bounds::Unbounded { .. }) => {}
                found => return found,
            }
        }
    }

    /// The position of the node that came last.
    pub fn here(&self) -> &Red<'t> {
        &self.here
    }

    /// Its path.
    pub fn path(&self) -> Path {
        self.here.path()
    }
}

impl<'t> Iterator for Walk<'t> {
    type Item = &'t Green;

    fn next(&mut self) -> Option<&'t Green> {
        let Red { green, around } = &mut self.here;
        match std::mem::replace(&mut self.state, State::Descend) {
            State::Start => return Some(*green),
            State::Descend => {
                if let Some(child) = green.child(0) {
                    around.push((*green, 0));
                    *green = child;
                    return Some(child);
                }
            }
            State::Prune => {}
            State::Done => around.truncate(self.outside),
        }
        while around.len() > self.outside
            && let Some((parent, index)) = around.last_mut()
        {
            *index += 1;
            if let Some(child) = parent.child(*index as usize) {
                *green = child;
                return Some(child);
            }
            around.pop();
        }
        self.state = State::Done;
        None
    }
}

impl Green {
    /// All nodes of the tree, parents before children.
    pub fn walk(&self) -> Walk<'_> {
        Walk::of(Red::root(self))
    }

    /// The node at a path.
    pub fn at(&self, path: &Path) -> Option<&Green> {
        path.0.iter().try_fold(self, |node, index| node.child(*index as usize))
    }

    /// The statement leaves in order, with repetitions.
    pub fn leaves(&self) -> impl Iterator<Item = StmtId> {
        self.walk().filter_map(|node| match node.node() {
            Node::Stmt(id, _) => Some(*id),
            _ => None,
        })
    }

    /// The variable that the node binds in its child.
    pub fn binds(&self) -> Option<VarId> {
        match self.node() {
            Node::Loop(header, _) => Some(header.var),
            Node::Let(var, ..) => Some(*var),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_rebuilds_only_the_spine() {
        let leaf = |i| Green::stmt(StmtId(i), [].into());
        let inner = |v, s| Green::for_loop(LoopHeader::range(VarId(v), 0, 9), leaf(s));
        let root = Green::seq([inner(0, 0), Green::for_loop(LoopHeader::range(VarId(1), 0, 9), inner(2, 1))]);
        let node = Red::at(&root, &Path::parse("@1.0.0").unwrap()).unwrap();
        assert_eq!(node.path().to_string(), "@1.0.0");
        assert_eq!(node.scope().collect::<Vec<_>>(), [VarId(1), VarId(2)]);
        let changed = node.replace_with(leaf(7));
        assert!(changed.child(0).unwrap().ptr_eq(root.child(0).unwrap()));
        assert_eq!(changed.at(&node.path()), Some(&leaf(7)));
        assert_eq!(root.at(&node.path()), Some(&leaf(1)));
    }

    #[test]
    fn parents_come_before_children_and_parts_can_be_pruned() {
        let loops =
            |v, body: Vec<Green>| Green::for_loop(LoopHeader::range(VarId(v), 0, 9), Green::seq(body));
        let leaf = |n| Green::stmt(StmtId(n), [].into());
        let root = Green::seq([loops(0, vec![leaf(0), loops(1, vec![leaf(1), leaf(2)])]), leaf(3)]);
        let paths = |mut walk: Walk<'_>, skipped: &str| {
            let mut list = Vec::new();
            while walk.next().is_some() {
                list.push(walk.path().to_string());
                if walk.path().to_string() == skipped {
                    walk.prune();
                }
            }
            assert!(walk.next().is_none(), "it is over for good");
            list.join(" ")
        };
        let inner = "@0.0.1 @0.0.1.0 @0.0.1.0.0 @0.0.1.0.1";
        assert_eq!(paths(root.walk(), ""), format!("@ @0 @0.0 @0.0.0 {inner} @1"));
        assert_eq!(paths(root.walk(), "@0.0.1"), "@ @0 @0.0 @0.0.0 @0.0.1 @1");
        let at = |path: &str| Walk::at(&root, &Path::parse(path).unwrap());
        assert_eq!(paths(at("@0.0.1").unwrap(), ""), inner);
        assert_eq!(paths(at("@1").unwrap(), "@1"), "@1");
        assert!(at("@2").is_none());
        let mut walk = at("@0.0.1.0").unwrap();
        walk.next();
        assert_eq!(walk.here().scope().collect::<Vec<_>>(), [VarId(0), VarId(1)]);
        assert_eq!(root.leaves().map(|s| s.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let mut walk = root.walk();
        while walk.next_loop().is_some() {}
        assert!(walk.next_loop().is_none());
    }
}
