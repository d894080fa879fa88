//! Children of a sequence: one allocation where they are few, a tree of blocks where they are many.
//!
//! Each block keeps what is known of all its nodes: replacing one child of many costs what the blocks around it hold. The digest of a
//! list does not depend on how it is cut into blocks, so that equal sequences are equal however they were made.

use super::Green;
use super::summary::Facts;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Nodes or blocks of one block, at most; what is made by many edits may hold twice as many.
const WIDE: usize = 64;

/// An immutable list of nodes.
#[derive(Clone)]
pub struct Children(Repr);

#[derive(Clone)]
enum Repr {
    Narrow(Arc<[Green]>),
    Wide(Arc<Block>),
}

/// Several nodes.
struct Block {
    digest: Digest,
    facts: Facts,
    parts: Parts,
}

enum Parts {
    Nodes(Box<[Green]>),
    /// Each with the number of nodes in it and before it.
    Blocks(Box<[(usize, Arc<Block>)]>),
}

impl Block {
    fn of_nodes(nodes: &[Green]) -> Arc<Block> {
        let mut facts = Facts::default();
        nodes.iter().for_each(|n| facts.include(&n.0.facts));
        Arc::new(Block { digest: Digest::of(nodes.iter()), facts, parts: Parts::Nodes(nodes.into()) })
    }

    fn of_blocks(blocks: impl IntoIterator<Item = Arc<Block>>) -> Arc<Block> {
        let (mut facts, mut digest, mut end) = (Facts::default(), Digest::EMPTY, 0);
        let parts = blocks
            .into_iter()
            .map(|block| {
                facts.include_all(&block.facts);
                digest = digest.then(&block.digest);
                end += block.len();
                (end, block)
            })
            .collect();
        Arc::new(Block { digest, facts, parts: Parts::Blocks(parts) })
    }

    /// Blocks in order as one.
    fn joined(mut blocks: Vec<Arc<Block>>) -> Arc<Block> {
        while blocks.len() > 2 * WIDE {
            blocks = blocks.chunks(WIDE).map(|c| Block::of_blocks(c.iter().cloned())).collect();
        }
        match blocks.len() {
            1 => blocks.swap_remove(0),
            _ => Block::of_blocks(blocks),
        }
    }

    fn len(&self) -> usize {
        match &self.parts {
            Parts::Nodes(nodes) => nodes.len(),
            Parts::Blocks(blocks) => blocks.last().map_or(0, |(end, _)| *end),
        }
    }

    fn get(&self, index: usize) -> Option<&Green> {
        match &self.parts {
            Parts::Nodes(nodes) => nodes.get(index),
            Parts::Blocks(blocks) => {
                let (start, block) = containing(blocks, index)?;
                block.get(index - start)
            }
        }
    }

    fn with(&self, index: usize, child: Green) -> Option<Arc<Block>> {
        match &self.parts {
            Parts::Nodes(nodes) => {
                let mut nodes = nodes.to_vec();
                *nodes.get_mut(index)? = child;
                Some(Block::of_nodes(&nodes))
            }
            Parts::Blocks(blocks) => {
                let (start, block) = containing(blocks, index)?;
                let new = block.with(index - start, child)?;
                // A block may stand in several places: only the one that holds the index changes.
                let end = start + block.len();
                let replaced =
                    |(at, b): &(usize, Arc<Block>)| if *at == end { new.clone() } else { b.clone() };
                Some(Block::of_blocks(blocks.iter().map(replaced)))
            }
        }
    }

    /// The nodes of a range as blocks, shared where they are whole.
    fn cut(self: &Arc<Self>, range: Range<usize>, into: &mut Vec<Arc<Block>>) {
        if range.is_empty() {
            return;
        }
        if range == (0..self.len()) {
            into.push(self.clone());
            return;
        }
        match &self.parts {
            Parts::Nodes(nodes) => into.push(Block::of_nodes(&nodes[range])),
            Parts::Blocks(blocks) => {
                let mut start = 0;
                for (end, block) in blocks {
                    let inside = range.start.max(start)..range.end.min(*end);
                    if inside.start < inside.end {
                        block.cut(inside.start - start..inside.end - start, into);
                    }
                    start = *end;
                }
            }
        }
    }

    /// How many nodes at the front (`behind`: at the back) two blocks surely have in common. Costs what differs.
    fn common(a: &Arc<Block>, b: &Arc<Block>, behind: bool) -> usize {
        let open = |stack: &mut Vec<Arc<Block>>, blocks: &[(usize, Arc<Block>)]| {
            let blocks = blocks.iter().map(|(_, block)| block.clone());
            if behind { stack.extend(blocks) } else { stack.extend(blocks.rev()) }
        };
        let (mut left, mut right) = (vec![a.clone()], vec![b.clone()]);
        let mut count = 0;
        while let (Some(a), Some(b)) = (left.pop(), right.pop()) {
            if Arc::ptr_eq(&a, &b) {
                count += a.len();
                continue;
            }
            match (&a.parts, &b.parts) {
                (Parts::Nodes(x), Parts::Nodes(y)) => {
                    let same = |(x, y): &(&Green, &Green)| x == y;
                    let more = if behind {
                        x.iter().rev().zip(y.iter().rev()).take_while(same).count()
                    } else {
                        x.iter().zip(y.iter()).take_while(same).count()
                    };
                    count += more;
                    if more < x.len() || more < y.len() {
                        break;
                    }
                }
                (Parts::Blocks(x), Parts::Blocks(y)) if a.len() == b.len() => {
                    open(&mut left, x);
                    open(&mut right, y);
                }
                (Parts::Blocks(x), _) if a.len() > b.len() => {
                    open(&mut left, x);
                    right.push(b);
                }
                (_, Parts::Blocks(y)) => {
                    open(&mut right, y);
                    left.push(a);
                }
                (Parts::Blocks(x), Parts::Nodes(_)) => {
                    open(&mut left, x);
                    right.push(b);
                }
            }
        }
        count
    }
}

/// The block that holds a position, and where it starts.
fn containing(blocks: &[(usize, Arc<Block>)], index: usize) -> Option<(usize, &Arc<Block>)> {
    let at = blocks.partition_point(|(end, _)| *end <= index);
    let start = at.checked_sub(1).map_or(0, |before| blocks[before].0);
    blocks.get(at).map(|(_, block)| (start, block))
}

impl Children {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Narrow(c) => c.len(),
            Repr::Wide(c) => c.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node at a position.
    pub fn get(&self, index: usize) -> Option<&Green> {
        match &self.0 {
            Repr::Narrow(c) => c.get(index),
            Repr::Wide(c) => c.get(index),
        }
    }

    /// The nodes in order.
    pub fn iter(&self) -> impl Iterator<Item = &Green> {
        let mut iter = Iter { nodes: [].iter(), blocks: Vec::new() };
        match &self.0 {
            Repr::Narrow(c) => iter.nodes = c.iter(),
            Repr::Wide(c) => iter.enter(c),
        }
        iter
    }

    /// The list with one node replaced.
    pub fn with(&self, index: usize, child: Green) -> Option<Children> {
        match &self.0 {
            Repr::Narrow(c) => {
                let mut copy = c.to_vec();
                *copy.get_mut(index)? = child;
                Some(Children(Repr::Narrow(copy.into())))
            }
            Repr::Wide(c) => Some(Children(Repr::Wide(c.with(index, child)?))),
        }
    }

    /// The list with the nodes of a range, which lies inside, replaced by others.
    pub fn splice(&self, range: Range<usize>, nodes: Vec<Green>) -> Children {
        match &self.0 {
            Repr::Wide(c) if self.len() - range.len() + nodes.len() > WIDE => {
                let mut blocks = Vec::new();
                c.cut(0..range.start, &mut blocks);
                blocks.extend(nodes.chunks(WIDE).map(Block::of_nodes));
                c.cut(range.end..self.len(), &mut blocks);
                Children(Repr::Wide(Block::joined(blocks)))
            }
            _ => {
                let before = self.iter().take(range.start).cloned();
                before.chain(nodes).chain(self.iter().skip(range.end).cloned()).collect()
            }
        }
    }

    /// How many nodes at the front, and how many at the back, the two surely have in common; not more than the shorter list has.
    pub fn common_ends(&self, other: &Children) -> (usize, usize) {
        let least = self.len().min(other.len());
        let (front, back) = match (&self.0, &other.0) {
            (Repr::Wide(a), Repr::Wide(b)) => (Block::common(a, b, false), Block::common(a, b, true)),
            (Repr::Narrow(a), Repr::Narrow(b)) => (
                a.iter().zip(b.iter()).take_while(|(x, y)| x == y).count(),
                a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count(),
            ),
            _ => (0, 0),
        };
        (front, back.min(least - front))
    }

    /// What is known of all nodes.
    pub(super) fn include_in(&self, facts: &mut Facts) {
        match &self.0 {
            Repr::Narrow(c) => c.iter().for_each(|node| facts.include(&node.0.facts)),
            Repr::Wide(c) => facts.include_all(&c.facts),
        }
    }

    fn digest(&self) -> Digest {
        match &self.0 {
            Repr::Narrow(c) => Digest::of(c.iter()),
            Repr::Wide(c) => c.digest,
        }
    }
}

struct Iter<'c> {
    nodes: std::slice::Iter<'c, Green>,
    /// Blocks still to come, outermost first.
    blocks: Vec<std::slice::Iter<'c, (usize, Arc<Block>)>>,
}

impl<'c> Iter<'c> {
    fn enter(&mut self, block: &'c Block) {
        match &block.parts {
            Parts::Nodes(nodes) => self.nodes = nodes.iter(),
            Parts::Blocks(blocks) => self.blocks.push(blocks.iter()),
        }
    }
}

impl<'c> Iterator for Iter<'c> {
    type Item = &'c Green;

    fn next(&mut self) -> Option<&'c Green> {
        loop {
            if let Some(node) = self.nodes.next() {
                return Some(node);
            }
            match self.blocks.last_mut()?.next() {
                Some((_, block)) => self.enter(block),
                None => _ = self.blocks.pop(),
            }
        }
    }
}

/// A hash of a list that joins: a polynomial over the hashes of the nodes, with two bases. Its coefficients are hashes
/// themselves, so that only chance makes two lists equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Digest {
    value: [u64; 2],
    /// The bases to the power of the length.
    power: [u64; 2],
    len: u64,
}

impl Digest {
    const EMPTY: Digest = Digest { value: [0; 2], power: [1; 2], len: 0 };
    /// 2^61 - 1.
    const MODULUS: u64 = (1 << 61) - 1;
    /// Any two numbers below the modulus of large order.
    const BASES: [u64; 2] = [0x1f3d_5b79_97b5_d3f1, 0x0a95_c6e3_17d4_82b7];

    fn of<'g>(nodes: impl Iterator<Item = &'g Green>) -> Digest {
        nodes.fold(Digest::EMPTY, |digest, node| {
            let hash = node.structural_hash();
            let value = [hash as u64 % Self::MODULUS, (hash >> 64) as u64 % Self::MODULUS];
            digest.then(&Digest { value, power: Self::BASES, len: 1 })
        })
    }

    /// Of one list and another behind it.
    fn then(&self, behind: &Digest) -> Digest {
        let mut result = Digest { len: self.len + behind.len, ..Digest::EMPTY };
        for k in 0..2 {
            let shifted = Self::product(self.value[k], behind.power[k]) + behind.value[k];
            result.value[k] = shifted % Self::MODULUS;
            result.power[k] = Self::product(self.power[k], behind.power[k]);
        }
        result
    }

    fn product(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        let sum = (product as u64 & Self::MODULUS) + (product >> 61) as u64;
        if sum >= Self::MODULUS { sum - Self::MODULUS } else { sum }
    }
}

impl FromIterator<Green> for Children {
    fn from_iter<I: IntoIterator<Item = Green>>(iter: I) -> Self {
        let list: Vec<Green> = iter.into_iter().collect();
        if list.len() <= WIDE {
            return Children(Repr::Narrow(list.into()));
        }
        Children(Repr::Wide(Block::joined(list.chunks(WIDE).map(Block::of_nodes).collect())))
    }
}

impl std::fmt::Debug for Children {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Children {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}
impl Eq for Children {}

impl Hash for Children {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StmtId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edits_are_those_of_a_list(
            length in 0usize..9000, edits in proptest::collection::vec((0usize..9000, 0usize..200, 0usize..200), 0..6),
        ) {
            let leaf = |n: usize| Green::stmt(StmtId::new(n), [].into());
            let mut list: Vec<Green> = (0..length).map(leaf).collect();
            let mut children: Children = list.iter().cloned().collect();
            for (at, old, new) in edits {
                let start = at % (list.len() + 1);
                let end = (start + old).min(list.len());
                let nodes: Vec<Green> = (0..new).map(|n| leaf(10_000 + n % 7)).collect();
                let before = children.clone();
                children = children.splice(start..end, nodes.clone());
                list.splice(start..end, nodes);
                if let Some(index) = list.len().checked_sub(1).map(|last| at % (last + 1)) {
                    children = children.with(index, leaf(at)).unwrap();
                    list[index] = leaf(at);
                }
                let (front, back) = children.common_ends(&before);
                prop_assert!(front + back <= list.len().min(before.len()));
                prop_assert!((0..front).all(|k| children.get(k) == before.get(k)));
                prop_assert!((1..=back).all(|k| children.get(list.len() - k) == before.get(before.len() - k)));
            }
            let plain: Children = list.iter().cloned().collect();
            prop_assert_eq!(children.len(), list.len());
            prop_assert!(children.iter().eq(&list) && (0..list.len()).all(|k| children.get(k) == list.get(k)));
            prop_assert!(children == plain && children.get(list.len()).is_none());
            prop_assert_eq!(Green::seq_of(children).summary().leaves, Green::seq_of(plain).summary().leaves);
        }
    }
}
