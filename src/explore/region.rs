//! Nests of a tree: what is searched by itself.

use loop_tree::{Green, Node, Path, Red, Walk};

/// Consecutive children of a sequence, or a whole tree; counted from both ends, so that it still names what its parts have
/// become when their number changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// The sequence.
    pub parent: Path,
    /// Children in front of it.
    pub before: usize,
    /// Children behind it.
    pub after: usize,
}

impl Region {
    /// All of a node.
    pub fn node(path: Path) -> Region {
        Region { parent: path, before: 0, after: 0 }
    }

    /// One child of a region, as a region. In a node that is no sequence the only child is the node.
    fn part(root: &Green, path: &Path) -> Region {
        if let Some((parent, index)) = path.split_last()
            && let Some(sequence) = root.at(&parent)
            && matches!(sequence.node(), Node::Seq(_))
        {
            let after = sequence.child_count() - 1 - index;
            return Region { parent, before: index, after };
        }
        Region::node(path.clone())
    }

    /// Paths of what it consists of.
    pub fn members(&self, root: &Green) -> Vec<Path> {
        let Some(node) = root.at(&self.parent) else { return vec![] };
        match node.node() {
            Node::Seq(children) => (self.before..children.len().saturating_sub(self.after))
                .map(|n| self.parent.child(n))
                .collect(),
            _ => vec![self.parent.clone()],
        }
    }

    /// The members that contain loops, as regions of their own, in order.
    pub fn nests(&self, root: &Green) -> Vec<Region> {
        let members = self.members(root).into_iter();
        members
            .filter(|p| root.at(p).is_some_and(|n| n.summary().loop_depth > 0))
            .map(|p| Region::part(root, &p))
            .collect()
    }

    /// The tree without its members.
    pub fn removed(&self, root: &Green) -> Green {
        let empty = |root: Green, path: Path| {
            let without = Red::at(&root, &path).map(|node| node.replace_with(Green::empty()));
            without.unwrap_or(root)
        };
        self.members(root).into_iter().rev().fold(root.clone(), empty)
    }

    /// Where the first loop of the only member is, below bindings and guards.
    pub fn outermost(&self, root: &Green) -> Option<Path> {
        let members = self.members(root);
        let [member] = &members[..] else { return None };
        let (mut path, mut node) = (member.clone(), root.at(member)?);
        while node.as_loop().is_none() {
            if node.child_count() != 1 || matches!(node.node(), Node::Seq(_)) {
                return None;
            }
            path = path.child(0);
            node = node.child(0)?;
        }
        Some(path)
    }

    /// The sequence with several nests that the loops of the only member end in, as a region.
    pub fn inner(&self, root: &Green) -> Option<Region> {
        let mut path = self.outermost(root)?;
        loop {
            let node = root.at(&path)?;
            match node.node() {
                Node::Seq(children) => {
                    let mut loops = children.iter().enumerate().filter(|(_, c)| c.summary().loop_depth > 0);
                    let (first, _) = loops.next()?;
                    if loops.next().is_some() {
                        return Some(Region::node(path));
                    }
                    path = path.child(first);
                }
                _ if node.child_count() == 1 => path = path.child(0),
                _ => return None,
            }
        }
    }

    /// Whether two trees differ at most in this region, which may have become several members.
    pub fn is_all_that_changed(&self, old: &Green, new: &Green) -> bool {
        if self.before + self.after == 0 && self.parent == Path::root() {
            return true;
        }
        let (Some(was), Some(is)) = (Red::at(old, &self.parent), Red::at(new, &self.parent)) else {
            return false;
        };
        if was.replace_with(is.green().clone()) != *new {
            return false;
        }
        if self.before + self.after == 0 {
            return true;
        }
        let (Node::Seq(a), Node::Seq(b)) = (was.green().node(), is.green().node()) else { return false };
        let (m, n) = (a.len(), b.len());
        n >= self.before + self.after
            && (0..self.before).all(|i| a.get(i) == b.get(i))
            && (1..=self.after).all(|i| a.get(m - i) == b.get(n - i))
    }
}

/// All loops of a part of a tree that hold so many loops, themselves included, one in the other; in order.
pub fn loops_of_depth(root: &Green, top: &Path, depth: u32) -> Vec<Path> {
    let mut result = Vec::new();
    let Some(mut walk) = Walk::at(root, top) else { return result };
    while let Some(node) = walk.next() {
        let inside = node.summary().loop_depth;
        if inside < depth {
            walk.prune();
        } else if inside == depth && node.as_loop().is_some() {
            result.push(walk.path());
            walk.prune();
        }
    }
    result
}

/// Of these nodes, the one with most statement leaves; the first of several.
pub fn heaviest(root: &Green, paths: Vec<Path>) -> Option<Path> {
    let leaves = |p: &Path| root.at(p).map_or(0, |n| n.summary().leaves);
    paths.into_iter().reduce(|best, p| if leaves(&p) > leaves(&best) { p } else { best })
}

/// The loops nearest below a loop, in order.
pub fn loops_below(root: &Green, path: &Path) -> Vec<Path> {
    let mut result = Vec::new();
    let Some(mut walk) = Walk::at(root, path) else { return result };
    walk.next();
    while walk.next_loop().is_some() {
        result.push(walk.path());
        walk.prune();
    }
    result
}

/// Innermost loops, each with the loop around it that holds nothing else.
pub fn innermost_pairs(root: &Green, top: &Path) -> Vec<(Path, Path)> {
    let outer = loops_of_depth(root, top, 2).into_iter();
    outer
        .filter_map(|outer| {
            let mut inner = outer.child(0);
            loop {
                let node = root.at(&inner)?;
                if node.as_loop().is_some() {
                    return Some((outer, inner));
                }
                if node.child_count() != 1 || matches!(node.node(), Node::Seq(_)) {
                    return None;
                }
                inner = inner.child(0);
            }
        })
        .collect()
}
