//! Green nodes: persistent, position-free, structurally hashed.
//!
//! **Invariants.** A green node knows neither its parent nor its position, is `Send + Sync`, and is never changed. Equal
//! trees have equal hashes (128 bits; equality compares hashes, then structure is not looked at again).

use crate::types::names;
use crate::{Affine, ArrayId, Buffer, Condition, FloorDiv, GuardCondition, RuntimeCondition, StmtId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
use std::sync::Arc;
use triomphe::Arc as Shared;

mod children;
mod summary;
pub use children::Children;
pub use summary::Summary;
use summary::{Facts, Packed};

/// A shared immutable tree. Cloning is a reference count.
#[derive(Clone)]
pub struct Green(Shared<Data>);

struct Data {
    /// Upper and lower half: with a `u128` every node would be larger by its alignment.
    hash: [u64; 2],
    facts: Packed,
    node: Node,
}

/// One node of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Children in order.
    Seq(Children),
    /// Binds a variable over a range.
    Loop(Arc<LoopHeader>, Green),
    /// Binds a variable to an affine expression of variables in scope.
    Let(VarId, Arc<Affine>, Green),
    /// Runs its child only where the condition holds.
    Guard(Arc<GuardCondition>, Green),
    /// One statement instance; its dims are looked up in the scope around it.
    Stmt(StmtId, Arc<[VarId]>),
    /// Binds an array to storage that lives for one execution of the child.
    Alloc(Arc<Buffer>, Green),
    /// The first alternative whose conditions hold; the last has none.
    Version(Arc<[Alternative]>),
}

/// One alternative of a [`Node::Version`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alternative {
    /// Conditions, all of which must hold.
    pub conditions: Vec<RuntimeCondition>,
    /// What runs then.
    pub body: Green,
}

names!(
    /// How the iterations of a loop may be executed.
    #[derive(Default)]
    LoopKind {
        /// One after the other.
        #[default]
        Sequential = "sequential",
        /// In any order, also at once; proved free of carried dependences.
        Parallel = "parallel",
        /// As lanes of a vector, in lock step: all of them execute an operation before the next one. Their number is a constant.
        Vector = "vector",
        /// All of them by one call of a library's function, which whoever emits the tree is told ([`Calls`](crate::Calls)).
        Library = "library",
    }
);

/// The range of a loop.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bounds {
    /// From the maximum of `lower` up to, and not including, the minimum of `upper`. Neither list is empty.
    Affine {
        /// Lower bounds.
        lower: Vec<Affine>,
        /// Upper bounds, exclusive.
        upper: Vec<Affine>,
    },
    /// From zero on, until the scalar (dimension zero, `i1`) is true when an iteration ends; `None`: the loop ends
    /// in a way that only its owner knows.
    Unbounded {
        /// The exit condition.
        exit: Option<ArrayId>,
    },
}

/// Variable, range and kind of a loop.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopHeader {
    /// The variable bound.
    pub var: VarId,
    /// Its range.
    pub bounds: Bounds,
    /// Distance of consecutive values, at least 1; greater than 1 only with a single lower bound.
    pub step: i64,
    /// How iterations may be executed.
    pub kind: LoopKind,
}

impl LoopHeader {
    /// A sequential loop of step 1 from `lower` up to, not including, `upper`.
    pub fn range(var: VarId, lower: impl Into<Affine>, upper: impl Into<Affine>) -> Self {
        LoopHeader {
            var,
            bounds: Bounds::Affine { lower: vec![lower.into()], upper: vec![upper.into()] },
            step: 1,
            kind: LoopKind::Sequential,
        }
    }

    /// Lower bounds; empty for an unbounded loop.
    pub fn lower(&self) -> &[Affine] {
        match &self.bounds {
            Bounds::Affine { lower, .. } => lower,
            Bounds::Unbounded { .. } => &[],
        }
    }

    /// Upper bounds, exclusive; empty for an unbounded loop.
    pub fn upper(&self) -> &[Affine] {
        match &self.bounds {
            Bounds::Affine { upper, .. } => upper,
            Bounds::Unbounded { .. } => &[],
        }
    }

    /// Lower and upper bound, where there is just one of each.
    pub fn single_bounds(&self) -> Option<(&Affine, &Affine)> {
        match (self.lower(), self.upper()) {
            ([l], [u]) => Some((l, u)),
            _ => None,
        }
    }

    /// The number of iterations, where it is a constant.
    pub fn constant_trip_count(&self) -> Option<i64> {
        let (lower, upper) = self.single_bounds()?;
        let extent = (upper - lower).as_constant()?;
        Some(if extent <= 0 { 0 } else { (extent - 1) / self.step + 1 })
    }
}

impl Green {
    fn new(node: Node, facts: Facts) -> Green {
        let hash = crate::hash128(&node);
        Green(Shared::new(Data { hash: [(hash >> 64) as u64, hash as u64], facts: Packed::of(facts), node }))
    }

    /// The same tree, whose node shares more with others.
    fn sharing(&self, node: Node) -> Green {
        Green(Shared::new(Data { hash: self.0.hash, facts: self.0.facts.clone(), node }))
    }

    /// Children in order. Nested sequences are kept; [`canonical`](crate::canonical()) flattens them.
    pub fn seq(children: impl IntoIterator<Item = Green>) -> Green {
        Self::seq_of(Children::from_iter(children))
    }

    pub(crate) fn seq_of(children: Children) -> Green {
        let mut facts = Facts::node();
        children.include_in(&mut facts);
        Green::new(Node::Seq(children), facts)
    }

    /// A loop.
    pub fn for_loop(header: impl Into<Arc<LoopHeader>>, body: Green) -> Green {
        let header = header.into();
        let mut facts = Facts::node();
        facts.include(&body.0.facts);
        facts.counts.loop_depth = facts.counts.loop_depth.saturating_add(1);
        facts.bind(header.var);
        for bound in header.lower().iter().chain(header.upper()) {
            facts.use_affine(bound);
        }
        Green::new(Node::Loop(header, body), facts)
    }

    /// Binds a variable to an expression.
    pub fn bind(var: VarId, value: impl Into<Arc<Affine>>, body: Green) -> Green {
        let value = value.into();
        let mut facts = Facts::node();
        facts.include(&body.0.facts);
        facts.bind(var);
        facts.use_affine(&value);
        Green::new(Node::Let(var, value, body), facts)
    }

    /// Runs the body where the affine condition holds.
    pub fn guard(condition: Condition, body: Green) -> Green {
        Self::guarded(Arc::new(GuardCondition::Affine(condition)), body)
    }

    /// Runs the body where the condition holds.
    pub fn guarded(condition: Arc<GuardCondition>, body: Green) -> Green {
        let mut facts = Facts::node();
        facts.include(&body.0.facts);
        if let GuardCondition::Affine(c) = &*condition {
            for constraint in c.constraints() {
                facts.use_affine(&constraint.expression);
            }
        }
        Green::new(Node::Guard(condition, body), facts)
    }

    /// A statement with its dims; see [`Kernel::leaf`](crate::Kernel::leaf).
    pub fn stmt(id: StmtId, dims: Arc<[VarId]>) -> Green {
        let mut facts = Facts::node();
        facts.counts.leaves = 1;
        for v in dims.iter() {
            facts.use_var(*v);
        }
        Green::new(Node::Stmt(id, dims), facts)
    }

    /// Storage for one execution of the body.
    pub fn alloc(buffer: impl Into<Arc<Buffer>>, body: Green) -> Green {
        let buffer = buffer.into();
        let mut facts = Facts::node();
        facts.include(&body.0.facts);
        facts.counts.has_storage_or_versions = true;
        for e in buffer.expressions() {
            e.for_each_var(&mut |v| {
                if Buffer::index_of(v).is_none() {
                    facts.use_var(v);
                }
            });
        }
        Green::new(Node::Alloc(buffer, body), facts)
    }

    /// Alternatives under run-time conditions.
    pub fn version(alternatives: impl Into<Arc<[Alternative]>>) -> Green {
        let alternatives = alternatives.into();
        let mut facts = Facts::node();
        facts.counts.has_storage_or_versions = true;
        for a in alternatives.iter() {
            facts.include(&a.body.0.facts);
        }
        Green::new(Node::Version(alternatives), facts)
    }

    /// The sequence with the children of a range replaced by others; `self` if it is none, or has no such children.
    pub fn splice(&self, range: std::ops::Range<usize>, nodes: Vec<Green>) -> Green {
        match self.node() {
            Node::Seq(c) if range.start <= range.end && range.end <= c.len() => {
                Self::seq_of(c.splice(range, nodes))
            }
            _ => self.clone(),
        }
    }

    /// The empty sequence: does nothing.
    pub fn empty() -> Green {
        Self::seq([])
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.0.node
    }

    /// Structural hash; equal trees have equal hashes.
    pub fn structural_hash(&self) -> u128 {
        u128::from(self.0.hash[0]) << 64 | u128::from(self.0.hash[1])
    }

    /// Facts about the whole subtree.
    pub fn summary(&self) -> Summary {
        self.0.facts.counts()
    }

    /// Whether it is the same allocation.
    pub fn ptr_eq(&self, other: &Green) -> bool {
        Shared::ptr_eq(&self.0, &other.0)
    }

    /// Whether the variable occurs free.
    pub fn has_free(&self, var: VarId) -> bool {
        self.0.facts.is_free(var)
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self.node(), Node::Seq(c) if c.is_empty())
    }

    /// The header, if it is a loop.
    pub fn as_loop(&self) -> Option<(&Arc<LoopHeader>, &Green)> {
        match self.node() {
            Node::Loop(header, body) => Some((header, body)),
            _ => None,
        }
    }

    /// Number of children.
    pub fn child_count(&self) -> usize {
        match self.node() {
            Node::Seq(c) => c.len(),
            Node::Stmt(..) => 0,
            Node::Version(a) => a.len(),
            _ => 1,
        }
    }

    /// The child at a position.
    pub fn child(&self, index: usize) -> Option<&Green> {
        match self.node() {
            Node::Seq(c) => c.get(index),
            Node::Stmt(..) => None,
            Node::Version(a) => a.get(index).map(|a| &a.body),
            Node::Loop(_, b) | Node::Let(_, _, b) | Node::Guard(_, b) | Node::Alloc(_, b) => {
                (index == 0).then_some(b)
            }
        }
    }

    /// Children in order.
    pub fn children(&self) -> impl Iterator<Item = &Green> {
        (0..self.child_count()).filter_map(|i| self.child(i))
    }

    /// The same node with one child replaced; `self` if there is no such child. A sequence of n costs O(log n).
    pub fn with_child(&self, index: usize, child: Green) -> Green {
        match self.node() {
            Node::Seq(c) => match c.with(index, child) {
                Some(children) => Self::seq_of(children),
                None => self.clone(),
            },
            Node::Loop(h, _) if index == 0 => Self::for_loop(h.clone(), child),
            Node::Let(v, e, _) if index == 0 => Self::bind(*v, e.clone(), child),
            Node::Guard(c, _) if index == 0 => Self::guarded(c.clone(), child),
            Node::Alloc(b, _) if index == 0 => Self::alloc(b.clone(), child),
            Node::Version(a) if index < a.len() => {
                let mut alternatives = a.to_vec();
                alternatives[index].body = child;
                Self::version(alternatives)
            }
            _ => self.clone(),
        }
    }
}

impl Green {
    /// The same node over what `f` makes of its children, in order; `self` where that is what they were.
    pub fn map_children(&self, f: impl FnMut(&Green) -> Green) -> Green {
        let new: Vec<Green> = self.children().map(f).collect();
        if new.iter().zip(self.children()).all(|(new, old)| new.ptr_eq(old)) {
            return self.clone();
        }
        match self.node() {
            Node::Seq(_) => Green::seq(new),
            _ => {
                new.into_iter().enumerate().fold(self.clone(), |node, (at, child)| node.with_child(at, child))
            }
        }
    }
}

/// Equal subtrees of many trees become one, and of different ones equal heads: what a loop is over, what a variable is.
#[derive(Default)]
pub struct Interner {
    trees: FxHashMap<u128, Green>,
    headers: FxHashSet<Arc<LoopHeader>>,
    values: FxHashSet<Arc<Affine>>,
    conditions: FxHashSet<Arc<GuardCondition>>,
    floors: FxHashSet<Arc<FloorDiv>>,
}

impl Interner {
    /// Children beyond which a node is taken as it is: looking at each would cost more than the change of one did.
    const MOST_CHILDREN: usize = 64;

    /// The same tree, of nodes that the trees before it share.
    pub fn intern(&mut self, tree: &Green) -> Green {
        if let Some(known) = self.trees.get(&tree.structural_hash()) {
            return known.clone();
        }
        let node = match tree.node() {
            Node::Loop(header, body) => {
                let floors = &mut self.floors;
                let header = shared(&mut self.headers, header, |header| {
                    if let Bounds::Affine { lower, upper } = &mut header.bounds {
                        lower.iter_mut().chain(upper).for_each(|bound| share_floors(floors, bound));
                    }
                });
                Some(Node::Loop(header, self.intern(body)))
            }
            Node::Let(var, value, body) => {
                let floors = &mut self.floors;
                let value = shared(&mut self.values, value, |value| share_floors(floors, value));
                Some(Node::Let(*var, value, self.intern(body)))
            }
            Node::Seq(children) if children.len() <= Self::MOST_CHILDREN => {
                Some(Node::Seq(children.iter().map(|child| self.intern(child)).collect()))
            }
            Node::Guard(condition, body) => {
                Some(Node::Guard(shared(&mut self.conditions, condition, |_| {}), self.intern(body)))
            }
            Node::Alloc(buffer, body) => Some(Node::Alloc(buffer.clone(), self.intern(body))),
            Node::Seq(_) | Node::Stmt(..) | Node::Version(_) => None,
        };
        let result = node.map_or_else(|| tree.clone(), |node| tree.sharing(node));
        self.trees.insert(tree.structural_hash(), result.clone());
        result
    }
}

/// The first of equal values, without what lists in it have room for; of a new one, what is inside is shared.
fn shared<T: Clone + Eq + Hash>(
    known: &mut FxHashSet<Arc<T>>,
    value: &Arc<T>,
    inside: impl FnOnce(&mut T),
) -> Arc<T> {
    if let Some(known) = known.get(value) {
        return known.clone();
    }
    let mut value = (**value).clone();
    inside(&mut value);
    let value = Arc::new(value);
    known.insert(value.clone());
    value
}

fn share_floors(known: &mut FxHashSet<Arc<FloorDiv>>, value: &mut Affine) {
    value.floors_mut().for_each(|floor| *floor = shared(known, floor, |_| {}));
}

impl PartialEq for Green {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}
impl Eq for Green {}

impl Hash for Green {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u128(self.structural_hash());
    }
}

impl PartialOrd for Green {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Green {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.hash.cmp(&other.0.hash)
    }
}

impl std::fmt::Debug for Green {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.node().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(id: u32, dims: &[u32]) -> Green {
        Green::stmt(StmtId(id), dims.iter().map(|v| VarId(*v)).collect())
    }

    #[test]
    fn nodes_can_cross_threads() {
        fn check<T: Send + Sync>() {}
        check::<Green>();
    }

    #[test]
    fn equal_structure_is_equal_and_free_variables_are_known() {
        let nest = |upper: i64| Green::for_loop(LoopHeader::range(VarId(0), 0, upper), leaf(0, &[0, 1]));
        assert_eq!(nest(5), nest(5));
        assert_ne!(nest(5), nest(6));
        assert!(nest(5).has_free(VarId(1)) && !nest(5).has_free(VarId(0)));
        assert_eq!(nest(5).summary().nodes, 2);
    }

    #[test]
    fn wide_sequences_share_their_children() {
        let wide = Green::seq((0..5000).map(|i| leaf(i, &[])));
        let other = wide.with_child(4321, leaf(1, &[]));
        assert_eq!(other.child_count(), 5000);
        assert_ne!(wide, other);
        assert!(other.child(17).is_some_and(|c| wide.child(17).is_some_and(|d| c.ptr_eq(d))));
        assert_eq!(other.with_child(4321, leaf(4321, &[])), wide);
    }
}
