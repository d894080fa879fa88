//! Fusion for memory space: which temporary arrays of a kernel need no memory when nests are fused, how, and what that saves
//! (Fraboulet, Kodary and Mignotte: Loop Fusion for Memory Space Optimization, ISSS 2001).
//!
//! The graph is the paper's ([`analyses::fusion_graph`]): nests and isolated statements of one sequence, the dependences between
//! them, those that prevent fusion found by fusing each pair by itself, with shifts. What the plan removes is then really done, by
//! `fuse` and `contract` steps that the oracle proves, down to scalars or windows of a power of two.
//!
//! ```
//! use looptree::driver::{Optimizer, Settings};
//!
//! let program = looptree::tree::text::parse(
//!     "nest @two[N] {
//!        array A: f64[N]
//!        array B: f64[N]
//!        array T: f64[N] local
//!        for i in 0..N { S: T[i] = A[i] + 1.0 }
//!        for j in 0..N { R: B[j] = T[j] * 2.0 }
//!      }",
//! )?;
//! let optimizer = Optimizer::new(Settings::default())?;
//! let memory = optimizer.memory("two", &program.kernel, &[])?.expect("a sequence of two nests");
//! assert_eq!(memory.bytes, [8000, 8]);
//! assert_eq!(memory.recipe.to_string(), "fuse(@0, @1); contract(@0; T)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::driver::{DriverError, Likely, Optimizer};
use analyses::fusion_graph::{Edge, FusionGraph, Nest, Plan, Temporary};
use analyses::{DependenceKind, DependenceSet, Oracle, Witness};
use loop_tree::{ArrayId, Green, Kernel, Node, Path, SourceLocation, StmtId, Storage, canonical};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use transforms::{Context, Contract, Fuse, LoopRef, Recipe, Step};

/// Branchings of the exact search for a plan, after which it is good but perhaps not the best.
const BRANCHINGS: usize = 100_000;
/// Nests of a sequence that are looked at: each pair with a dependence is judged.
const MOST_NESTS: usize = 200;
/// Largest window that is tried, in places.
const LARGEST_WINDOW: i64 = 64;

/// What memory the temporary arrays of a kernel take, and may take.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The sequence.
    pub sequence: Path,
    /// What stands in it.
    pub nests: Vec<Part>,
    /// Arrays that no value enters or leaves.
    pub arrays: Vec<Array>,
    /// The dependences between nests.
    pub graph: FusionGraph,
    /// What prevents the fusion of two nests, where something does.
    pub prevented: BTreeMap<(Nest, Nest), Prevention>,
    /// What to fuse.
    pub plan: Plan,
    /// What was done of it.
    pub recipe: Recipe,
    /// The tree that this makes.
    pub root: Green,
    /// What was not done, and why.
    pub left: Vec<String>,
    /// Bytes of the arrays: before and after.
    pub bytes: [u64; 2],
    /// The most bytes in use at a time: before, and when fused.
    pub alive: [u64; 2],
    /// Predicted cycles of the original, and of the result: memory may be saved at the expense of time.
    pub cycles: [f64; 2],
}

/// A nest, or an isolated statement.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its loops' variables, outermost first; the statement's name where it has none.
    pub name: String,
    /// Where its first statement stands in the source.
    pub location: Option<SourceLocation>,
    statements: BTreeSet<StmtId>,
}

/// A temporary array.
#[derive(Clone, Debug)]
pub struct Array {
    /// The array.
    pub id: ArrayId,
    /// Its name.
    pub name: Arc<str>,
    /// Bytes at the sizes that are assumed.
    pub bytes: u64,
    /// Nests that write it.
    pub written: BTreeSet<Nest>,
    /// Nests that read it.
    pub read: BTreeSet<Nest>,
    /// Bytes when contracted; `None`: it stays as it is.
    pub contracted: Option<u64>,
}

/// Why two nests stay apart.
#[derive(Clone, Debug)]
pub enum Prevention {
    /// One of them has no loop that could be fused, or none like the other's.
    Structure(String),
    /// A dependence would be turned round, whatever the shift.
    Dependence(Box<Witness>),
}

impl Optimizer {
    /// What can be saved of the memory that a kernel's temporary arrays take; `None` where no sequence has several nests.
    ///
    /// # Errors
    /// Where dependences cannot be had.
    pub fn memory(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Likely],
    ) -> Result<Option<Memory>, DriverError> {
        let problem = self.problem(label, kernel, likely)?;
        let root = canonical(kernel, &kernel.original);
        let Some(sequence) = sequence(&root) else { return Ok(None) };
        let nests = parts(kernel, &root, &sequence);
        if nests.len() > MOST_NESTS {
            return Ok(None);
        }
        let (params, dependences) = (problem.params.clone(), problem.dependences.clone());
        let arrays = temporaries(kernel, &root, &nests, &params);
        let mut prevented = BTreeMap::new();
        for pair in pairs(&dependences, &nests) {
            if let Some(why) = self.prevention(label, kernel, &root, &sequence, &nests, pair)? {
                prevented.insert(pair, why);
            }
        }
        let graph = graph(&dependences, &nests, &arrays, &prevented);
        let plan = graph.plan(BRANCHINGS);
        let apart: Vec<Vec<Nest>> = (0..nests.len()).map(|n| vec![Nest(n)]).collect();
        let alive = [graph.memory_cost(&apart, &[]), graph.memory_cost(&plan.clusters, &plan.removed)];
        let before = arrays.iter().map(|a| a.bytes).sum();
        let mut memory = Memory {
            sequence,
            nests,
            arrays,
            graph,
            prevented,
            plan,
            recipe: Recipe::default(),
            root,
            left: Vec::new(),
            bytes: [before; 2],
            alive,
            cycles: [0.0; 2],
        };
        let prepared = self.models.cost.prepare(kernel, &params);
        memory.cycles[0] = prepared.cycles(&memory.root);
        let oracle = self.patient(label, problem)?;
        Work { optimizer: self, oracle: &oracle, kernel, params: &params }.realise(&mut memory);
        memory.cycles[1] = prepared.cycles(&memory.root);
        memory.bytes[1] = memory.arrays.iter().map(|a| a.contracted.unwrap_or(a.bytes)).sum();
        Ok(Some(memory))
    }

    /// What prevents the fusion of two nests, each other nest left out.
    fn prevention(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        root: &Green,
        sequence: &Path,
        nests: &[Part],
        (a, b): (Nest, Nest),
    ) -> Result<Option<Prevention>, DriverError> {
        let node = root.at(sequence);
        let both = [a, b].map(|n| node.and_then(|node| node.child(n.0)).cloned());
        let [Some(first), Some(second)] = both else { return Ok(None) };
        let cx = Context { kernel, root };
        let alone = cx.replace(sequence, Green::seq([first, second])).unwrap_or_else(|_| root.clone());
        let alone = Arc::new(Kernel { original: canonical(kernel, &alone), ..(**kernel).clone() });
        let root = canonical(&alone, &alone.original);
        let cx = Context { kernel: &alone, root: &root };
        let is_of = |path: &Path, nest: Nest| {
            root.at(path).is_some_and(|l| l.leaves().all(|s| nests[nest.0].statements.contains(&s)))
        };
        // Outer loops come first.
        let loops =
            Fuse::pairs(&cx, 1).into_iter().find(|(first, second)| is_of(first, a) && is_of(second, b));
        let Some((first, second)) = &loops else {
            return Ok(Some(Prevention::Structure("one of them is no loop".to_string())));
        };
        let ways = match Fuse::ways(&cx, first, second, &self.settings.moves) {
            Ok(ways) => ways,
            Err(refusal) => return Ok(Some(Prevention::Structure(refusal.message))),
        };
        let problem = self.problem(label, &alone, &[])?;
        let oracle = self.patient(label, problem)?;
        let mut forbidden = None;
        for way in ways {
            let Ok(rewrite) = Step::from(way).apply(&cx) else { continue };
            match oracle.judge(&rewrite.root) {
                analyses::Verdict::Never(witness) => forbidden = forbidden.or(Some(witness)),
                _ => return Ok(None),
            }
        }
        Ok(Some(match forbidden {
            Some(witness) => Prevention::Dependence(Box::new(witness)),
            None => Prevention::Structure("their ranges cannot be made one".to_string()),
        }))
    }
}

/// The outermost sequence with several nests.
fn sequence(root: &Green) -> Option<Path> {
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        if let Node::Seq(children) = node.node()
            && children.iter().filter(|c| c.summary().loop_depth > 0).count() > 1
        {
            return Some(walk.path());
        }
    }
    None
}

fn parts(kernel: &Kernel, root: &Green, sequence: &Path) -> Vec<Part> {
    let Some(node) = root.at(sequence) else { return Vec::new() };
    let children = (0..node.child_count()).filter_map(|n| node.child(n));
    children
        .map(|child| {
            let statements: BTreeSet<StmtId> = child.leaves().collect();
            let mut loops = Vec::new();
            let mut inside = child;
            while let Some(next) = inside.child(0).filter(|_| inside.child_count() == 1) {
                loops.extend(inside.as_loop().map(|(header, _)| kernel.variable_name(header.var)));
                inside = next;
            }
            let names =
                || statements.iter().map(|s| kernel.statement(*s).name.to_string()).collect::<Vec<_>>();
            let name = if loops.is_empty() { names().join(" ") } else { loops.join(" ") };
            let places = statements.iter().filter_map(|s| kernel.statement(*s).location.clone());
            Part { name, location: places.min_by_key(|l| l.line), statements }
        })
        .collect()
}

/// Arrays that no value enters or leaves, with all that is touched of them.
fn temporaries(kernel: &Kernel, root: &Green, nests: &[Part], params: &[i64]) -> Vec<Array> {
    let mut arrays = Vec::new();
    for (index, array) in kernel.arrays.iter().enumerate() {
        if array.storage != Storage::Local || array.is_scalar() {
            continue;
        }
        let id = ArrayId::new(index);
        // All that is touched of it, in one buffer.
        let target = LoopRef::Path(Path::root());
        let whole = Step::from(Contract { target, array: array.name.clone(), window: None });
        let Ok(whole) = whole.apply(&Context { kernel, root }) else { continue };
        let Some(bytes) = bytes(kernel, &whole.root, id, params) else { continue };
        let nests_that = |writes: bool| -> BTreeSet<Nest> {
            let touches = |s: &StmtId| {
                let accesses = &kernel.statement(*s).accesses;
                accesses.iter().any(|a| a.array == id && (a.kind != loop_tree::AccessKind::Read) == writes)
            };
            let found = nests.iter().enumerate().filter(|(_, n)| n.statements.iter().any(touches));
            found.map(|(n, _)| Nest(n)).collect()
        };
        let (written, read) = (nests_that(true), nests_that(false));
        if !written.is_empty() && !read.is_empty() {
            arrays.push(Array { id, name: array.name.clone(), bytes, written, read, contracted: None });
        }
    }
    arrays
}

fn home(nests: &[Part], statement: StmtId) -> Option<Nest> {
    nests.iter().position(|n| n.statements.contains(&statement)).map(Nest)
}

/// Pairs of nests that a dependence connects.
fn pairs(set: &DependenceSet, nests: &[Part]) -> BTreeSet<(Nest, Nest)> {
    let ends = set.dependences.iter().filter_map(|d| Some((home(nests, d.source)?, home(nests, d.target)?)));
    ends.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect()
}

fn graph(
    set: &DependenceSet,
    nests: &[Part],
    arrays: &[Array],
    prevented: &BTreeMap<(Nest, Nest), Prevention>,
) -> FusionGraph {
    let mut edges: Vec<Edge> = Vec::new();
    for d in &set.dependences {
        let (Some(a), Some(b)) = (home(nests, d.source), home(nests, d.target)) else { continue };
        let (from, to) = (a.min(b), a.max(b));
        if from == to {
            continue;
        }
        let flow = d.kind == DependenceKind::Flow && a < b;
        let array = arrays.iter().position(|x| flow && d.array == Some(x.id)).map(Temporary);
        let edge = Edge { from, to, array, prevents: prevented.contains_key(&(from, to)) };
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    let sizes = arrays.iter().map(|a| a.bytes).collect();
    FusionGraph::new(nests.len(), sizes, edges).expect("edges lead to later nests, and arrays have sizes")
}

/// Doing what a plan says.
struct Work<'a> {
    optimizer: &'a Optimizer,
    oracle: &'a Oracle,
    kernel: &'a Kernel,
    params: &'a [i64],
}

impl Work<'_> {
    fn realise(&self, memory: &mut Memory) {
        for cluster in memory.plan.clusters.clone() {
            for other in cluster.iter().skip(1) {
                if !self.fuse(memory, cluster[0], *other) {
                    let [a, b] = [cluster[0], *other].map(|n| memory.nests[n.0].name.clone());
                    memory
                        .left
                        .push(format!("{a} and {b} are not fused: no way is proved with the nests between"));
                }
            }
        }
        for removed in memory.plan.removed.clone() {
            let Array { id, name, .. } = memory.arrays[removed.0].clone();
            match self.contract(memory, id, &name) {
                Some(bytes) => memory.arrays[removed.0].contracted = Some(bytes),
                None => memory.left.push(format!("{name} is not contracted: no buffer of at most {LARGEST_WINDOW} places in a dimension is proved")),
            }
        }
    }

    /// The child of the sequence that holds a nest's statements, below bindings and guards.
    fn outer_loop(&self, memory: &Memory, nest: Nest) -> Option<Path> {
        let node = memory.root.at(&memory.sequence)?;
        let wanted = &memory.nests[nest.0].statements;
        let holds =
            |child: &Green| child.summary().loop_depth > 0 && child.leaves().any(|s| wanted.contains(&s));
        let mut path = match node.node() {
            Node::Seq(children) => memory.sequence.child(children.iter().position(holds)?),
            _ => memory.sequence.clone(),
        };
        while memory.root.at(&path)?.as_loop().is_none() {
            path = path.child(0);
        }
        Some(path)
    }

    fn fuse(&self, memory: &mut Memory, first: Nest, second: Nest) -> bool {
        let (Some(a), Some(b)) = (self.outer_loop(memory, first), self.outer_loop(memory, second)) else {
            return false;
        };
        if a == b {
            return true;
        }
        let root = memory.root.clone();
        let cx = Context { kernel: self.kernel, root: &root };
        let Ok(ways) = Fuse::ways(&cx, &a, &b, &self.optimizer.settings.moves) else { return false };
        // Arrays would live on into what is split off: a loop over both ranges comes first.
        let parts = |step: &Step| {
            let root = step.apply(&cx).ok()?.root;
            let loops = root.walk().filter(|node| node.as_loop().is_some()).count();
            Some((loops, root.leaves().count()))
        };
        let made = ways.into_iter().map(Step::from).filter_map(|step| Some((parts(&step)?, step)));
        let mut steps: Vec<((usize, usize), Step)> = made.collect();
        steps.sort_by_key(|(parts, _)| *parts);
        steps.into_iter().any(|(_, step)| self.keep(memory, step))
    }

    /// Does a step where it is legal.
    fn keep(&self, memory: &mut Memory, step: Step) -> bool {
        let Ok(rewrite) = step.apply(&Context { kernel: self.kernel, root: &memory.root }) else {
            return false;
        };
        let legal = self.oracle.judge(&rewrite.root).is_legal();
        if legal {
            memory.root = rewrite.root;
            memory.recipe.0.push(step);
        }
        legal
    }

    /// Bytes of the smallest buffer that is proved: around what touches the array, else around loops that it lives over.
    fn contract(&self, memory: &mut Memory, id: ArrayId, name: &Arc<str>) -> Option<u64> {
        let mut path = common(&memory.root, self.kernel, id)?;
        let mut window = None;
        let own = memory.arrays.iter().find(|a| a.id == id)?.bytes;
        loop {
            let target = LoopRef::Path(path.clone());
            let step = Step::from(Contract { target, array: name.clone(), window });
            let before = memory.root.clone();
            if let Ok(rewrite) = step.apply(&Context { kernel: self.kernel, root: &before })
                && let Some(bytes) = bytes(self.kernel, &rewrite.root, id, self.params)
                && bytes < own
                && self.keep(memory, step)
            {
                return Some(bytes);
            }
            // Larger windows first around the same loops, then around more of them.
            window = match window {
                None if memory.root.at(&path)?.as_loop().is_some() => Some(1),
                Some(places) if places < LARGEST_WINDOW => Some(2 * places),
                _ => {
                    path = path.split_last()?.0;
                    None
                }
            };
        }
    }
}

/// Bytes of the buffer of an array in a tree.
fn bytes(kernel: &Kernel, root: &Green, id: ArrayId, params: &[i64]) -> Option<u64> {
    root.walk().find_map(|node| match node.node() {
        Node::Alloc(buffer, _) if buffer.array == id => {
            let value = |e: &loop_tree::Affine| e.eval(&|_| None, &|p| params.get(p.index()).copied());
            let places = buffer.dims.iter().map(|d| value(&d.extent).map(|n| n.max(0) as u64));
            let size = u64::from(kernel.array(id).element.size());
            places.collect::<Option<Vec<u64>>>().map(|p| p.into_iter().fold(size, u64::saturating_mul))
        }
        _ => None,
    })
}

/// The innermost node that holds all that touches an array.
fn common(root: &Green, kernel: &Kernel, id: ArrayId) -> Option<Path> {
    let touches = |s: StmtId| kernel.statement(s).accesses.iter().any(|a| a.array == id);
    let mut common: Option<Path> = None;
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        if let Node::Stmt(s, _) = node.node()
            && touches(*s)
        {
            let path = walk.path();
            common = Some(common.map_or(path.clone(), |other| other.shared(&path)));
        }
    }
    common
}
