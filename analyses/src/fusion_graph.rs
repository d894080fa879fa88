//! Fusion for memory space: which nests to fuse so that temporary arrays need no memory (Fraboulet, Kodary and Mignotte: Loop
//! Fusion for Memory Space Optimization, ISSS 2001).
//!
//! Nodes are nests in program order, edges the dependences between them. An array whose writers and readers are all fused shrinks
//! to what is alive at a time. Fusing the ends of an array's edges brings everything between them into the same nest, so a set of
//! arrays can be removed together exactly if no edge that prevents fusion has both ends in one strongly connected component of the
//! graph in which their edges go both ways. (The paper lists undirected elementary cycles instead, section 2.3.1; a cycle of its
//! proposition 1 is such a component.)
//!
//! ```
//! use analyses::fusion_graph::{Edge, FusionGraph, Nest, Temporary};
//!
//! // a: 0 -> 1, b: 1 -> 2, and 2 must not come together with 0.
//! let edge = |from, to, array: Option<usize>, prevents| Edge {
//!     from: Nest(from), to: Nest(to), array: array.map(Temporary), prevents,
//! };
//! let edges = vec![edge(0, 1, Some(0), false), edge(1, 2, Some(1), false), edge(0, 2, None, true)];
//! let plan = FusionGraph::new(3, vec![100, 40], edges)?.plan(1_000);
//! assert_eq!(plan.removed, [Temporary(0)]);
//! assert_eq!(plan.clusters, [vec![Nest(0), Nest(1)], vec![Nest(2)]]);
//! assert!(plan.is_optimal());
//! # Ok::<(), analyses::fusion_graph::FusionGraphError>(())
//! ```

mod cover;

use fixedbitset::FixedBitSet;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::VecDeque;

/// A nest, by its place in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Nest(pub usize);

/// A temporary array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Temporary(pub usize);

/// A dependence between two nests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// What comes first.
    pub from: Nest,
    /// What comes later.
    pub to: Nest,
    /// The temporary array that carries it; `None`: something that stays in memory.
    pub array: Option<Temporary>,
    /// Whether fusing both ends would turn it round.
    pub prevents: bool,
}

/// What is no graph of nests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FusionGraphError {
    /// An edge does not lead from a nest to a later one.
    #[error("edge {number} leads from nest {from} to nest {to} of {nests}; it must lead to a later one")]
    Backwards {
        /// Number of the edge.
        number: usize,
        /// Where it starts.
        from: usize,
        /// Where it ends.
        to: usize,
        /// Nests that there are.
        nests: usize,
    },
    /// An edge names an array without a size.
    #[error("edge {number} is of array {array}, of {arrays}")]
    NoArray {
        /// Number of the edge.
        number: usize,
        /// The array.
        array: usize,
        /// Arrays that there are.
        arrays: usize,
    },
}

/// Nests, temporary arrays with their sizes, and dependences.
#[derive(Clone, Debug)]
pub struct FusionGraph {
    nests: usize,
    sizes: Vec<u64>,
    edges: Vec<Edge>,
}

/// What is fused, and what that removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Arrays that need no memory of their size any more, in order.
    pub removed: Vec<Temporary>,
    /// Their size.
    pub size: u64,
    /// No plan removes more than this.
    pub bound: u64,
    /// Nests that become one, in an order in which they can run.
    pub clusters: Vec<Vec<Nest>>,
}

impl Plan {
    /// Whether nothing removes more.
    pub fn is_optimal(&self) -> bool {
        self.size == self.bound
    }
}

impl FusionGraph {
    /// # Errors
    /// Edges must lead from a nest to a later one, and name arrays that have a size.
    pub fn new(nests: usize, sizes: Vec<u64>, edges: Vec<Edge>) -> Result<FusionGraph, FusionGraphError> {
        for (number, Edge { from, to, array, .. }) in edges.iter().enumerate() {
            if from >= to || to.0 >= nests {
                return Err(FusionGraphError::Backwards { number, from: from.0, to: to.0, nests });
            }
            if let Some(array) = array.filter(|a| a.0 >= sizes.len()) {
                return Err(FusionGraphError::NoArray { number, array: array.0, arrays: sizes.len() });
            }
        }
        Ok(FusionGraph { nests, sizes, edges })
    }

    /// Sizes of the arrays.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The dependences.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Arrays that can be removed each by itself; those that no edge carries are not among them.
    pub fn removable(&self) -> Vec<Temporary> {
        let carried = |t: &Temporary| self.edges.iter().any(|e| e.array == Some(*t));
        let all = (0..self.sizes.len()).map(Temporary).filter(carried);
        all.filter(|t| self.is_possible(&|a| a == *t)).collect()
    }

    /// Whether these arrays can be removed together.
    pub fn is_possible(&self, removed: &dyn Fn(Temporary) -> bool) -> bool {
        let component = self.components(removed);
        self.edges.iter().all(|e| !(e.prevents && component[e.from.0] == component[e.to.0]))
    }

    /// The plan that removes most. What it takes grows exponentially at worst: after `most` branchings it settles for a good plan, and
    /// [`Plan::bound`] says how good.
    pub fn plan(&self, most: usize) -> Plan {
        let candidates = self.removable();
        let weights: Vec<u64> = candidates.iter().map(|t| self.sizes[t.0]).collect();
        let number: Vec<Option<usize>> = {
            let mut number = vec![None; self.sizes.len()];
            candidates.iter().enumerate().for_each(|(n, t)| number[t.0] = Some(n));
            number
        };
        // Of each conflict, one array must stay. Conflicts are found when a choice runs into them.
        let mut conflicts: Vec<FixedBitSet> = Vec::new();
        let total: u64 = weights.iter().sum();
        let mut bound = total;
        let mut left = most;
        let stays = loop {
            let found = cover::cheapest(&weights, &conflicts, &mut left);
            bound = bound.min(total - found.bound);
            let before = conflicts.len();
            let removed = |t: Temporary| number[t.0].is_some_and(|n| !found.set.contains(n));
            self.conflicts(&removed, &mut |arrays| {
                let mut conflict = FixedBitSet::with_capacity(weights.len());
                conflict.extend(arrays.iter().filter_map(|t| number[t.0]));
                if !conflicts.contains(&conflict) {
                    conflicts.push(conflict);
                }
            });
            if conflicts.len() == before {
                break found.set;
            }
        };
        let removed: Vec<Temporary> =
            candidates.iter().enumerate().filter(|(n, _)| !stays.contains(*n)).map(|(_, t)| *t).collect();
        let size = removed.iter().map(|t| self.sizes[t.0]).sum();
        Plan { clusters: self.clusters(&removed), removed, size, bound }
    }

    /// Nests that become one when these arrays are removed, in an order in which they can run: by the longest way to them, then by
    /// their first nest.
    pub fn clusters(&self, removed: &[Temporary]) -> Vec<Vec<Nest>> {
        let component = self.components(&|t| removed.contains(&t));
        let count = component.iter().max().map_or(0, |c| c + 1);
        let mut clusters: Vec<Vec<Nest>> = vec![Vec::new(); count];
        (0..self.nests).for_each(|n| clusters[component[n]].push(Nest(n)));
        // Components are numbered so that edges between them lead to smaller numbers.
        let mut height = vec![0_usize; count];
        for from in (0..count).rev() {
            for e in self.edges.iter().filter(|e| component[e.from.0] == from) {
                let to = component[e.to.0];
                if to != from {
                    height[to] = height[to].max(height[from] + 1);
                }
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|c| (height[*c], clusters[*c][0]));
        order.into_iter().map(|c| std::mem::take(&mut clusters[c])).collect()
    }

    /// The most memory in use at a time, when nests run in this order and these arrays have none: an array lives from the first nest
    /// that an edge of it leaves to the last that one enters.
    pub fn memory_cost(&self, order: &[Vec<Nest>], removed: &[Temporary]) -> u64 {
        let mut time = vec![0; self.nests];
        order.iter().enumerate().for_each(|(t, nests)| nests.iter().for_each(|n| time[n.0] = t));
        let mut lives: Vec<Option<(usize, usize)>> = vec![None; self.sizes.len()];
        for e in &self.edges {
            if let Some(t) = e.array.filter(|t| !removed.contains(t)) {
                let (from, to) = (time[e.from.0], time[e.to.0]);
                let life = lives[t.0].get_or_insert((from, to));
                *life = (life.0.min(from), life.1.max(to));
            }
        }
        let alive = |t: usize| {
            let now = lives.iter().zip(&self.sizes).filter(|(l, _)| l.is_some_and(|(a, b)| a <= t && t <= b));
            now.map(|(_, size)| size).sum::<u64>()
        };
        (0..order.len()).map(alive).max().unwrap_or(0)
    }

    /// For each nest, the number of its component where edges of removed arrays go both ways. Edges between components lead to
    /// smaller numbers.
    fn components(&self, removed: &dyn Fn(Temporary) -> bool) -> Vec<usize> {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(self.nests, 2 * self.edges.len());
        (0..self.nests).for_each(|_| {
            graph.add_node(());
        });
        for e in &self.edges {
            let (from, to) = (NodeIndex::new(e.from.0), NodeIndex::new(e.to.0));
            graph.add_edge(from, to, ());
            if e.array.is_some_and(removed) {
                graph.add_edge(to, from, ());
            }
        }
        let mut component = vec![0; self.nests];
        for (number, nests) in petgraph::algo::tarjan_scc(&graph).into_iter().enumerate() {
            nests.into_iter().for_each(|n| component[n.index()] = number);
        }
        component
    }

    /// Arrays of which one must stay, once for each edge that prevents fusion inside of a component: those on a way back from its
    /// end to its start that goes against the edges of as few arrays as possible.
    fn conflicts(&self, removed: &dyn Fn(Temporary) -> bool, found: &mut dyn FnMut(&[Temporary])) {
        let component = self.components(removed);
        let mut forward: Vec<Vec<(usize, Option<Temporary>)>> = vec![Vec::new(); self.nests];
        for e in self.edges.iter().filter(|e| component[e.from.0] == component[e.to.0]) {
            forward[e.from.0].push((e.to.0, None));
            if let Some(array) = e.array.filter(|t| removed(*t)) {
                forward[e.to.0].push((e.from.0, Some(array)));
            }
        }
        for e in self.edges.iter().filter(|e| e.prevents && component[e.from.0] == component[e.to.0]) {
            let mut reached: Vec<Option<(usize, usize, Option<Temporary>)>> = vec![None; self.nests];
            let mut queue = VecDeque::from([(e.to.0, 0)]);
            reached[e.to.0] = Some((0, e.to.0, None));
            while let Some((at, cost)) = queue.pop_front() {
                if reached[at].is_some_and(|(c, ..)| c < cost) {
                    continue;
                }
                for (next, array) in &forward[at] {
                    let cost = cost + usize::from(array.is_some());
                    if reached[*next].is_none_or(|(c, ..)| cost < c) {
                        reached[*next] = Some((cost, at, *array));
                        match array {
                            None => queue.push_front((*next, cost)),
                            Some(_) => queue.push_back((*next, cost)),
                        }
                    }
                }
            }
            let mut arrays = Vec::new();
            let mut at = e.from.0;
            while at != e.to.0
                && let Some((_, before, array)) = reached[at]
            {
                arrays.extend(array);
                at = before;
            }
            arrays.sort_unstable();
            arrays.dedup();
            found(&arrays);
        }
    }
}
