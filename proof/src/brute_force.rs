//! Legality by enumeration, for given values of the parameters and given places of the arrays. No sets, no isl, nothing
//! shared with the oracle but the description of the kernel.
//!
//! [`enumerate`] lists the statement instances of a tree in order; [`violation`] says whether another tree runs the same
//! ones and keeps the order of those that touch the same byte. What is under a predicate is taken to run.

use loop_tree::{
    AccessKind, Affine, ArrayId, Bounds, Condition, Constraint, Green, GuardCondition, Kernel, LoopKind,
    Node, Path, PrivateElement, Privates, RuntimeCondition, StmtFlags, StmtId, VarId, occurrences,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

/// Instances listed, at most.
pub const MAX_INSTANCES: usize = 20_000;

/// What cannot be enumerated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Beyond {
    /// Too many instances.
    #[error("more than {MAX_INSTANCES} instances")]
    TooMany,
    /// An expression has no value.
    #[error("an expression has no value")]
    NoValue,
    /// A loop without bounds, an access without subscripts, or a version.
    #[error("something is unbounded")]
    Unbounded,
    /// A subscript is outside of its array's extent.
    #[error("a subscript is outside of the array")]
    Outside,
}

/// One execution of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The statement.
    pub statement: StmtId,
    /// Values of its dims.
    pub dims: Vec<i64>,
    /// Which leaf of the tree, and the value of the loop variable (or position) at each element of its path.
    pub leaf: usize,
    /// See `leaf`.
    pub time: Vec<i64>,
}

/// What a tree executes.
#[derive(Clone, Debug)]
pub struct Execution {
    /// In order.
    pub instances: Vec<Instance>,
    /// Paths of the leaves, by [`Instance::leaf`].
    pub leaves: Vec<Path>,
    /// Scalars that decide about each leaf.
    pub predicates: Vec<Vec<ArrayId>>,
    /// Loops marked parallel or vector.
    pub marked: BTreeSet<Path>,
    /// Scalars of which iterations have their own.
    pub privates: Privates,
    /// Slots of those that each leaf touches.
    pub slots: Vec<Vec<PrivateElement>>,
}

/// Lists the instances of a tree for given parameters.
pub fn enumerate(kernel: &Kernel, root: &Green, params: &[i64]) -> Result<Execution, Beyond> {
    let mut walk = Walk {
        params,
        scope: Vec::new(),
        path: Path::root(),
        time: Vec::new(),
        predicates: Vec::new(),
        known: BTreeMap::new(),
        result: Execution {
            instances: vec![],
            leaves: vec![],
            predicates: vec![],
            marked: BTreeSet::new(),
            privates: Privates::of(kernel),
            slots: vec![],
        },
    };
    walk.node(root)?;
    let mut result = walk.result;
    if !result.privates.is_empty() {
        let mut slots = HashMap::new();
        for leaf in occurrences(root) {
            let touched = result.privates.touched(kernel, &leaf).unwrap_or_default();
            slots.insert(leaf.path, touched.into_iter().map(|(_, slot)| slot).collect::<Vec<_>>());
        }
        result.slots = result.leaves.iter().map(|l| slots.get(l).cloned().unwrap_or_default()).collect();
    }
    Ok(result)
}

struct Walk<'a> {
    params: &'a [i64],
    scope: Vec<(VarId, i64)>,
    path: Path,
    time: Vec<i64>,
    predicates: Vec<ArrayId>,
    known: BTreeMap<Path, usize>,
    result: Execution,
}

impl Walk<'_> {
    fn eval(&self, e: &Affine) -> Result<i64, Beyond> {
        let var = |v| self.scope.iter().rev().find(|(w, _)| *w == v).map(|(_, value)| *value);
        e.eval(&var, &|p| self.params.get(p.index()).copied()).ok_or(Beyond::NoValue)
    }

    fn holds(&self, constraint: &Constraint) -> Result<bool, Beyond> {
        Ok(constraint.accepts(self.eval(&constraint.expression)?))
    }

    fn condition(&self, condition: &Condition) -> Result<bool, Beyond> {
        for conjunction in &condition.disjuncts {
            let mut all = true;
            for c in conjunction {
                all &= self.holds(c)?;
            }
            if all {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn child(&mut self, index: usize, time: i64, node: &Green) -> Result<(), Beyond> {
        self.path.0.push(index as u32);
        self.time.push(time);
        let result = self.node(node);
        self.path.0.pop();
        self.time.pop();
        result
    }

    fn node(&mut self, node: &Green) -> Result<(), Beyond> {
        match node.node() {
            Node::Seq(children) => {
                children.iter().enumerate().try_for_each(|(i, c)| self.child(i, i as i64, c))
            }
            Node::Loop(header, body) => {
                let Bounds::Affine { lower, upper } = &header.bounds else { return Err(Beyond::Unbounded) };
                let (mut from, mut to) = (i64::MIN, i64::MAX);
                for e in lower {
                    from = from.max(self.eval(e)?);
                }
                for e in upper {
                    to = to.min(self.eval(e)?);
                }
                if header.kind != LoopKind::Sequential {
                    self.result.marked.insert(self.path.clone());
                }
                let mut value = from;
                let mut rounds = 0;
                while value < to {
                    rounds += 1;
                    if rounds > MAX_INSTANCES {
                        return Err(Beyond::TooMany);
                    }
                    self.scope.push((header.var, value));
                    self.child(0, value, body)?;
                    self.scope.pop();
                    value = value.checked_add(header.step.max(1)).ok_or(Beyond::NoValue)?;
                }
                Ok(())
            }
            Node::Let(var, value, body) => {
                let value = self.eval(value)?;
                self.scope.push((*var, value));
                self.child(0, 0, body)?;
                self.scope.pop();
                Ok(())
            }
            Node::Guard(condition, body) => match &**condition {
                GuardCondition::Affine(c) => {
                    if self.condition(c)? {
                        self.child(0, 0, body)
                    } else {
                        Ok(())
                    }
                }
                GuardCondition::Predicate { array, .. } => {
                    self.predicates.push(*array);
                    self.child(0, 0, body)?;
                    self.predicates.pop();
                    Ok(())
                }
            },
            Node::Stmt(statement, dims) => {
                if self.result.instances.len() >= MAX_INSTANCES {
                    return Err(Beyond::TooMany);
                }
                let dims = dims.iter().map(|v| self.eval(&Affine::var(*v))).collect::<Result<_, _>>()?;
                let next = self.result.leaves.len();
                let leaf = *self.known.entry(self.path.clone()).or_insert(next);
                if leaf == next {
                    self.result.leaves.push(self.path.clone());
                    self.result.predicates.push(self.predicates.clone());
                }
                let time = self.time.clone();
                self.result.instances.push(Instance { statement: *statement, dims, leaf, time });
                Ok(())
            }
            Node::Alloc(_, body) => self.child(0, 0, body),
            Node::Version(_) => Err(Beyond::Unbounded),
        }
    }
}

/// Where arrays lie: the address of the element with all subscripts zero. Scalars are apart from all memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places(pub Vec<i64>);

/// Bytes that lie between arrays of different [`Places::apart`].
const DISTANCE: i64 = 1 << 32;

/// Address of a value of a private scalar: one for each iteration of the loops that it belongs to.
fn private_address(array: ArrayId, element: &[i64]) -> i64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (array, element).hash(&mut hasher);
    (1 << 61) | (hasher.finish() >> 4) as i64
}

impl Places {
    /// All arrays apart.
    pub fn apart(kernel: &Kernel) -> Places {
        Places((0..kernel.arrays.len() as i64).map(|a| a * DISTANCE).collect())
    }

    /// Array `moved` at `delta` bytes from array `fixed`; only where they may overlap.
    pub fn overlapping(kernel: &Kernel, fixed: ArrayId, moved: ArrayId, delta: i64) -> Option<Places> {
        let memory = |a| !kernel.array(a).is_scalar();
        if fixed == moved || !kernel.may_overlap(fixed, moved) || !memory(fixed) || !memory(moved) {
            return None;
        }
        let mut places = Self::apart(kernel);
        places.0[moved.index()] = places.0[fixed.index()] + delta;
        Some(places)
    }
}

/// A byte that an instance touches.
#[derive(Clone, Copy)]
struct Touch {
    address: i64,
    writes: bool,
    /// On the accumulator of a reduction: reordering among its instances is allowed.
    reduction: Option<StmtId>,
}

const BARRIER: i64 = i64::MIN;
const OBSERVED: i64 = i64::MIN + 1;
/// Far beyond all places of arrays.
const COHERENCE: i64 = 1 << 62;

/// Bytes of an access: first address and length.
fn bytes(
    kernel: &Kernel,
    instance: &Instance,
    access: &loop_tree::Access,
    params: &[i64],
    places: &Places,
) -> Result<(i64, i64), Beyond> {
    let statement = kernel.statement(instance.statement);
    let array = kernel.array(access.array);
    let subscripts = access.subscripts.as_ref().ok_or(Beyond::Unbounded)?;
    let var = |v| statement.dims.iter().position(|d| *d == v).map(|at| instance.dims[at]);
    let param = |p: loop_tree::ParamId| params.get(p.index()).copied();
    let mut linear = 0i64;
    for (dim, subscript) in subscripts.iter().enumerate() {
        let value = subscript.eval(&var, &param).ok_or(Beyond::NoValue)?;
        if dim > 0 {
            let extent = array.extents[dim].as_ref().ok_or(Beyond::Unbounded)?;
            let extent = extent.eval(&|_| None, &param).ok_or(Beyond::NoValue)?;
            if !(0..extent).contains(&value) {
                return Err(Beyond::Outside);
            }
            linear = linear.checked_mul(extent).ok_or(Beyond::NoValue)?;
        }
        linear = linear.checked_add(value).ok_or(Beyond::NoValue)?;
    }
    let size = i64::from(array.element.size());
    Ok((places.0[access.array.index()] + linear * size, size))
}

fn touches(
    kernel: &Kernel,
    execution: &Execution,
    instance: &Instance,
    params: &[i64],
    places: &Places,
) -> Result<Vec<Touch>, Beyond> {
    let statement = kernel.statement(instance.statement);
    let private = |array| {
        let variables = execution.privates.variables(array)?;
        Some(private_address(array, &instance.dims[..variables.len()]))
    };
    let mut result = Vec::new();
    for (id, access) in statement.accesses() {
        let (start, length) = match private(access.array) {
            Some(address) => (address, 1),
            None => bytes(kernel, instance, access, params, places)?,
        };
        let on_accumulator = statement.reduction.as_ref().is_some_and(|r| r.read == id || r.write == id)
            && !statement.flags.contains(StmtFlags::ATOMIC_RELAXED);
        let reduction = on_accumulator.then_some(instance.statement);
        let writes = access.kind != AccessKind::Read;
        result.extend((start..start + length).map(|address| Touch { address, writes, reduction }));
    }
    let accesses = result.len();
    for array in &execution.predicates[instance.leaf] {
        let address = private(*array).unwrap_or(places.0[array.index()]);
        result.push(Touch { address, writes: false, reduction: None });
    }
    let barrier = StmtFlags::OPAQUE
        | StmtFlags::SIDE_EFFECTS
        | StmtFlags::ATOMIC_ORDERED
        | StmtFlags::MAY_THROW
        | StmtFlags::MAY_NOT_RETURN;
    let order = |address, writes| Touch { address, writes, reduction: None };
    result.push(order(BARRIER, statement.flags.intersects(barrier)));
    let volatile = statement.flags.contains(StmtFlags::VOLATILE);
    if volatile || statement.flags.contains(StmtFlags::ATOMIC_RELAXED) {
        result.push(order(OBSERVED, volatile));
    }
    if statement.flags.contains(StmtFlags::ATOMIC_RELAXED) {
        // Atomic reads of one place keep their order: as writes to a place beside it.
        let beside = |t: &Touch| order(t.address ^ COHERENCE, true);
        let reads: Vec<Touch> = result[..accesses].iter().map(beside).collect();
        result.extend(reads);
    }
    Ok(result)
}

/// What a variant does wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// An instance runs more or less often.
    Coverage {
        /// Which.
        statement: StmtId,
        /// Values of its dims.
        dims: Vec<i64>,
    },
    /// The second ran after the first and no longer does.
    Order {
        /// First in the original.
        first: (StmtId, Vec<i64>),
        /// Second in the original.
        second: (StmtId, Vec<i64>),
    },
    /// A private scalar's slot is used for another iteration in between, or one iteration has two slots.
    Storage {
        /// The scalar.
        array: ArrayId,
        /// Values of the variables of the iteration.
        element: Vec<i64>,
    },
    /// Two iterations of a loop that carries no dependence touch the same byte.
    Parallel {
        /// The loop.
        path: Path,
        /// One instance.
        first: (StmtId, Vec<i64>),
        /// The other one.
        second: (StmtId, Vec<i64>),
    },
}

fn name(instance: &Instance) -> (StmtId, Vec<i64>) {
    (instance.statement, instance.dims.clone())
}

/// Whether the variant keeps what the original does, with arrays at these places.
pub fn violation(
    kernel: &Kernel,
    original: &Execution,
    variant: &Execution,
    params: &[i64],
    places: &Places,
) -> Result<Option<Violation>, Beyond> {
    // Position of each instance in the variant.
    let mut position: HashMap<(StmtId, &[i64]), usize> = HashMap::new();
    for (at, i) in variant.instances.iter().enumerate() {
        if position.insert((i.statement, &i.dims), at).is_some() {
            return Ok(Some(Violation::Coverage { statement: i.statement, dims: i.dims.clone() }));
        }
    }
    let missing = original.instances.iter().find(|i| !position.contains_key(&(i.statement, &i.dims[..])));
    if let Some(i) = missing {
        return Ok(Some(Violation::Coverage { statement: i.statement, dims: i.dims.clone() }));
    }
    if variant.instances.len() != original.instances.len() {
        let known: BTreeSet<(StmtId, &[i64])> =
            original.instances.iter().map(|i| (i.statement, &i.dims[..])).collect();
        let extra = variant.instances.iter().find(|i| !known.contains(&(i.statement, &i.dims[..])));
        return Ok(extra.map(|i| Violation::Coverage { statement: i.statement, dims: i.dims.clone() }));
    }

    // Latest position of earlier accesses to each byte, apart by reduction, which commutes with itself.
    #[derive(Default)]
    struct Latest(Vec<(Option<StmtId>, bool, usize, usize)>); // class, writes, position, index in the original
    let mut bytes: HashMap<i64, Latest> = HashMap::new();
    for (index, instance) in original.instances.iter().enumerate() {
        let at = position[&(instance.statement, &instance.dims[..])];
        let touched = touches(kernel, original, instance, params, places)?;
        for t in &touched {
            let Some(latest) = bytes.get(&t.address) else { continue };
            for (class, writes, before, source) in &latest.0 {
                let conflict = (t.writes || *writes) && (class.is_none() || *class != t.reduction);
                if conflict && *before > at {
                    let first = name(&original.instances[*source]);
                    return Ok(Some(Violation::Order { first, second: name(instance) }));
                }
            }
        }
        for t in touched {
            let latest = bytes.entry(t.address).or_default();
            match latest.0.iter_mut().find(|(c, w, ..)| *c == t.reduction && *w == t.writes) {
                Some(entry) if entry.2 < at => (entry.2, entry.3) = (at, index),
                Some(_) => {}
                None => latest.0.push((t.reduction, t.writes, at, index)),
            }
        }
    }
    if let Some(v) = apart(variant) {
        return Ok(Some(v));
    }
    for path in &variant.marked {
        if let Some(v) = carried(kernel, variant, path, params, places)? {
            return Ok(Some(v));
        }
    }
    Ok(None)
}

/// An iteration whose private scalar does not stay in one slot from its first use to its last.
fn apart(execution: &Execution) -> Option<Violation> {
    type Element<'a> = (ArrayId, &'a [i64]);
    let mut in_slot: HashMap<&PrivateElement, Element<'_>> = HashMap::new();
    let mut known: HashMap<Element<'_>, &PrivateElement> = HashMap::new();
    for instance in &execution.instances {
        for slot in execution.slots.get(instance.leaf).into_iter().flatten() {
            let count = execution.privates.variables(slot.array).map_or(0, <[_]>::len);
            let element = (slot.array, &instance.dims[..count]);
            if in_slot.get(slot) == Some(&element) {
                continue;
            }
            // It begins here, so that it may not have been before.
            if known.insert(element, slot).is_some() {
                return Some(Violation::Storage { array: element.0, element: element.1.to_vec() });
            }
            in_slot.insert(slot, element);
        }
    }
    None
}

/// A dependence that a loop of a tree carries. Reductions count.
pub fn carried(
    kernel: &Kernel,
    execution: &Execution,
    path: &Path,
    params: &[i64],
    places: &Places,
) -> Result<Option<Violation>, Beyond> {
    let depth = path.0.len();
    // Per execution of the loop and byte: two different iterations that write, and two that read, with an instance.
    type Seen = [Option<(i64, usize)>; 2];
    let mut seen: HashMap<(&[i64], i64), (Seen, Seen)> = HashMap::new();
    for (index, instance) in execution.instances.iter().enumerate() {
        if !path.contains(&execution.leaves[instance.leaf]) || instance.time.len() <= depth {
            continue;
        }
        let (outer, iteration) = (&instance.time[..depth], instance.time[depth]);
        for t in touches(kernel, execution, instance, params, places)? {
            let (writes, reads) = seen.entry((outer, t.address)).or_default();
            let others = writes.iter().chain(reads.iter().filter(|_| t.writes)).flatten();
            if let Some((_, first)) = others.into_iter().find(|(at, _)| *at != iteration) {
                let first = name(&execution.instances[*first]);
                return Ok(Some(Violation::Parallel { path: path.clone(), first, second: name(instance) }));
            }
            let list = if t.writes { writes } else { reads };
            match list {
                [Some((at, _)), _] | [_, Some((at, _))] if *at == iteration => {}
                [Some(_), second @ None] => *second = Some((iteration, index)),
                [first @ None, _] => *first = Some((iteration, index)),
                _ => {}
            }
        }
    }
    Ok(None)
}

/// Whether a run-time condition holds.
pub fn condition_holds(
    kernel: &Kernel,
    original: &Execution,
    condition: &RuntimeCondition,
    params: &[i64],
    places: &Places,
) -> Result<bool, Beyond> {
    match condition {
        RuntimeCondition::Parameter(c) => {
            let value = c.expression.eval(&|_| None, &|p| params.get(p.index()).copied());
            Ok(c.accepts(value.ok_or(Beyond::NoValue)?))
        }
        RuntimeCondition::NoOverlap(a, b) => {
            let touched = |array: &ArrayId| -> Result<BTreeSet<i64>, Beyond> {
                let mut result = BTreeSet::new();
                for i in &original.instances {
                    for access in &kernel.statement(i.statement).accesses {
                        if access.array == *array {
                            let (start, length) = bytes(kernel, i, access, params, places)?;
                            result.extend(start..start + length);
                        }
                    }
                }
                Ok(result)
            };
            Ok(touched(a)?.is_disjoint(&touched(b)?))
        }
    }
}
