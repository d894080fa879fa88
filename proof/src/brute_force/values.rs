//! Legality by values: a tree is executed on tags that say who produced each byte, through its buffers.
//!
//! A variant is right if each read of each instance, and memory at the end, holds what the same instance produced in the
//! original order. What a predicate holds, and whether a write that may happen happens, is drawn from what was read, so that
//! it is the same in both orders where these are the same. Instances may run again where at most one of the runs writes to memory,
//! and never where they write to the kernel's own arrays only.

use super::order::{BARRIERS, apart};
use super::{
    Addresses, Beyond, Copy, Execution, Instance, Route, Step, Test, Violation, access_bytes, element_bytes,
    name, private_address,
};
use loop_tree::{AccessKind, ArrayId, Kernel, ReductionOp, StmtFlags, StmtId, Storage};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

/// Draws of predicates and of writes that may happen: all of them hold, none does, and random ones.
const DRAWS: u64 = 6;

/// What a predicate holds, or whether something happens, for what it comes from.
fn drawn(draw: u64, from: impl Hash) -> bool {
    match draw {
        0 => true,
        1 => false,
        _ => hash((draw, from)).is_multiple_of(2),
    }
}

/// What a byte holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Byte {
    /// What memory held before, or, with a number that is not zero, what something opaque left there.
    Initial(i64, u64),
    /// Nothing yet.
    Garbage,
    /// A byte of what an instance wrote.
    Written(u64, u8),
    /// What updates of an accumulator by one operator made of something: the two, that, the sum of the instances, the byte.
    Reduced((ReductionOp, ArrayId), u64, u64, u8),
    /// What a statement computes of an element, by the hash of that.
    Computed(StmtId, u64),
}

/// Identity of an instance.
type Name = (StmtId, Vec<i64>);

/// What one order does.
#[derive(Default)]
struct Trace {
    /// By instance: what each access and each predicate around reads.
    reads: FxHashMap<Name, Vec<Vec<Byte>>>,
    /// Visible bytes that were written.
    memory: FxHashMap<i64, Byte>,
    /// Bytes of memory that were accessed.
    touched: FxHashSet<i64>,
    /// Bytes of memory that were written.
    written: FxHashSet<i64>,
    /// Instances that others observe, in order, with the memory that they saw.
    observed: Vec<(Name, Vec<(i64, Byte)>)>,
    /// By instance: how many of these come before.
    barriers: FxHashMap<Name, usize>,
}

/// Whether each read of the variant, and the end, gets what it gets in the original.
pub fn value_violation(
    kernel: &Kernel,
    original: &Execution,
    variant: &Execution,
    params: &[i64],
    places: &Addresses,
) -> Result<Option<Violation>, Beyond> {
    let planned = |e: &Execution| -> BTreeSet<Name> { e.instances.iter().map(name).collect() };
    let (wanted, given) = (planned(original), planned(variant));
    let odd = wanted.symmetric_difference(&given).find(|i| given.contains(i) || !may_be_missing(kernel, i));
    if let Some((statement, dims)) = odd.cloned() {
        return Ok(Some(Violation::Coverage { statement, dims }));
    }
    if let Some(v) = apart(variant) {
        return Ok(Some(v));
    }
    let perhaps = |s: &loop_tree::Statement| s.accesses.iter().any(|a| a.kind == AccessKind::MayWrite);
    let uncertain = original.steps.iter().any(|s| matches!(s, Step::Test(_)))
        || kernel.statements.iter().any(|s| perhaps(s));
    for draw in 0..if uncertain { DRAWS } else { 1 } {
        let state = |execution| State::new(kernel, execution, params, places, draw);
        let reference = match state(original).run(None)? {
            Ok(trace) => trace,
            Err(_) => return Err(Beyond::Outside),
        };
        match state(variant).run(Some(&reference))? {
            Err(violation) => return Ok(Some(violation)),
            Ok(trace) => {
                if let Some(v) = ends_differ(kernel, &reference, &trace) {
                    return Ok(Some(v));
                }
            }
        }
    }
    Ok(None)
}

/// Whether nobody notices that an instance does not run, but for those who read what it writes.
fn may_be_missing(kernel: &Kernel, (statement, _): &Name) -> bool {
    let statement = kernel.statement(*statement);
    let mut writes = statement.accesses.iter().filter(|a| a.kind != AccessKind::Read);
    writes.all(|a| kernel.array(a.array).storage == Storage::Local)
        && !statement.flags.intersects(BARRIERS | StmtFlags::VOLATILE | StmtFlags::ATOMIC_RELAXED)
}

/// An instance that runs in one order only, or what is different at the end.
fn ends_differ(kernel: &Kernel, reference: &Trace, trace: &Trace) -> Option<Violation> {
    let needed = |i: &&Name| !trace.reads.contains_key(*i) && !may_be_missing(kernel, i);
    let missing = reference.reads.keys().find(needed);
    if let Some((statement, dims)) = missing.cloned() {
        return Some(Violation::Coverage { statement, dims });
    }
    if let Some((wanted, given)) = reference.observed.iter().zip(&trace.observed).find(|(a, b)| a != b) {
        let instance = if wanted.0 == given.0 { wanted.0.clone() } else { given.0.clone() };
        return Some(Violation::Observed { instance });
    }
    let addresses: BTreeSet<i64> = reference.memory.keys().chain(trace.memory.keys()).copied().collect();
    let holds = |t: &Trace, a: i64| t.memory.get(&a).copied().unwrap_or(Byte::Initial(a, 0));
    let wrong = addresses.into_iter().find(|a| holds(reference, *a) != holds(trace, *a));
    wrong.map(|address| Violation::Live { address })
}

/// Whether a read may get this in the place of that: where nothing was written, anything will do.
fn does_for(wanted: &[Byte], read: &[Byte]) -> bool {
    wanted.len() == read.len() && wanted.iter().zip(read).all(|(w, r)| *w == Byte::Garbage || w == r)
}

/// Whether an order reads local storage before it is written.
pub fn reads_unset(
    kernel: &Kernel,
    execution: &Execution,
    params: &[i64],
    places: &Addresses,
) -> Result<bool, Beyond> {
    for draw in 0..DRAWS {
        let Ok(trace) = State::new(kernel, execution, params, places, draw).run(None)? else {
            return Ok(true);
        };
        if trace.reads.values().flatten().flatten().any(|byte| *byte == Byte::Garbage) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

struct State<'a> {
    kernel: &'a Kernel,
    execution: &'a Execution,
    params: &'a [i64],
    places: &'a Addresses,
    draw: u64,
    memory: FxHashMap<i64, Byte>,
    buffers: FxHashMap<(u32, i64), Vec<Byte>>,
    /// Elements of which something was computed, by their hash.
    elements: FxHashMap<u64, Vec<Byte>>,
    /// What something opaque did to memory last.
    clobbered: u64,
    /// Addresses that others see.
    visible: FxHashSet<i64>,
    /// Predicates around: where they end, and what they read.
    tests: Vec<(usize, Vec<Byte>)>,
    /// Instances of which a run wrote to memory.
    to_memory: FxHashSet<Name>,
    trace: Trace,
}

impl<'a> State<'a> {
    fn new(
        kernel: &'a Kernel,
        execution: &'a Execution,
        params: &'a [i64],
        places: &'a Addresses,
        draw: u64,
    ) -> State<'a> {
        State {
            kernel,
            execution,
            params,
            places,
            draw,
            memory: FxHashMap::default(),
            buffers: FxHashMap::default(),
            elements: FxHashMap::default(),
            clobbered: 0,
            visible: FxHashSet::default(),
            tests: Vec::new(),
            to_memory: FxHashSet::default(),
            trace: Trace::default(),
        }
    }

    /// Executes; with a reference, stops at the first thing that it does otherwise.
    fn run(mut self, reference: Option<&Trace>) -> Result<Result<Trace, Violation>, Beyond> {
        let execution = self.execution;
        let mut at = 0;
        while let Some(step) = execution.steps.get(at) {
            self.tests.retain(|(end, _)| at < *end);
            at += 1;
            let wrong = match step {
                Step::Run(i) => self.instance(&execution.instances[*i], reference)?,
                Step::Copy(copy) => self.copy(copy, reference)?,
                Step::Test(test) => match self.test(test)? {
                    Ok(true) => None,
                    Ok(false) => {
                        at = test.end;
                        None
                    }
                    Err(wrong) => Some(wrong),
                },
            };
            if let Some(wrong) = wrong {
                return Ok(Err(wrong));
            }
        }
        let visible = |a: &i64| self.visible.contains(a);
        self.trace.memory = self.memory.iter().filter(|(a, _)| visible(a)).map(|(a, b)| (*a, *b)).collect();
        Ok(Ok(self.trace))
    }

    /// What the bytes of a place hold.
    fn load(&self, array: ArrayId, route: Route, start: i64, length: i64) -> Vec<Byte> {
        let unset = |address| match self.kernel.array(array).storage {
            Storage::Local => Byte::Garbage,
            _ => Byte::Initial(address, self.clobbered),
        };
        match route {
            Route::Buffer(number, place) => {
                let garbage = || vec![Byte::Garbage; self.kernel.array(array).element.size() as usize];
                self.buffers.get(&(number, place)).cloned().unwrap_or_else(garbage)
            }
            _ => (start..start + length)
                .map(|a| self.memory.get(&a).copied().unwrap_or_else(|| unset(a)))
                .collect(),
        }
    }

    /// The element that a statement computes with: where it takes what is in a buffer for what it computes, what that was made of.
    fn read(&self, by: StmtId, array: ArrayId, route: Route, start: i64, length: i64) -> Vec<Byte> {
        let bytes = self.load(array, route, start, length);
        let taken = matches!(route, Route::Buffer(n, _) if self.execution.computed.get(&n) == Some(&by));
        match bytes.first() {
            _ if !taken => bytes,
            Some(Byte::Computed(other, of)) if *other == by => self.elements[of].clone(),
            _ => vec![Byte::Garbage; bytes.len()],
        }
    }

    fn store(&mut self, array: ArrayId, route: Route, start: i64, bytes: Vec<Byte>) {
        match route {
            Route::Buffer(number, place) => {
                self.buffers.insert((number, place), bytes);
            }
            _ => {
                let seen = matches!(self.kernel.array(array).storage, Storage::Memory | Storage::LiveOut);
                for (address, byte) in (start..).zip(bytes) {
                    self.memory.insert(address, byte);
                    self.trace.written.insert(address);
                    if seen {
                        self.visible.insert(address);
                    }
                }
            }
        }
    }

    /// Where a predicate or an access of a private scalar lies, if not in a buffer.
    fn private(&self, array: ArrayId, dims: &[i64]) -> Option<i64> {
        let count = self.execution.privates.variables(array)?.len();
        Some(private_address(array, dims.get(..count)?))
    }

    /// Whether what is under the test runs.
    fn test(&mut self, test: &Test) -> Result<Result<bool, Violation>, Beyond> {
        if test.route == Route::Outside {
            return Ok(Err(Violation::Place { array: test.array, instance: None }));
        }
        let private = self.execution.privates.variables(test.array).is_some();
        let start = match (test.route, private) {
            (Route::Memory, true) => {
                private_address(test.array, test.element.as_ref().ok_or(Beyond::NoValue)?)
            }
            _ => self.places.0[test.array.index()],
        };
        let bytes = self.load(test.array, test.route, start, 1);
        if bytes.contains(&Byte::Garbage) {
            return Err(Beyond::NoValue);
        }
        let holds = drawn(self.draw, &bytes) == test.value;
        if holds {
            self.tests.push((test.end, bytes));
        }
        Ok(Ok(holds))
    }

    fn copy(&mut self, copy: &Copy, reference: Option<&Trace>) -> Result<Option<Violation>, Beyond> {
        if copy.from == Route::Outside || copy.to == Route::Outside {
            return Ok(Some(Violation::Place { array: copy.array, instance: None }));
        }
        let array = self.kernel.array(copy.array);
        let window =
            || Violation::Window { array: copy.array, element: copy.element.clone(), fill: copy.fill };
        let mut start = 0;
        let mut length = i64::from(array.element.size());
        if copy.from == Route::Memory || copy.to == Route::Memory {
            if self.execution.privates.variables(copy.array).is_some() {
                // Nothing says whose value it is.
                return Ok(Some(window()));
            }
            let bytes = element_bytes(self.kernel, copy.array, &copy.element, self.params, self.places);
            (start, length) = match bytes {
                Err(Beyond::Outside) => return Ok(Some(window())),
                other => other?,
            };
            let allowed = reference.map(|r| if copy.fill { &r.touched } else { &r.written });
            let own = match array.storage {
                Storage::Memory => false,
                Storage::Local => !copy.fill || array.is_scalar(),
                Storage::LiveIn | Storage::LiveOut => true,
            };
            let known = |a: i64| own || allowed.is_none_or(|set| set.contains(&a));
            if !(start..start + length).all(known) {
                return Ok(Some(window()));
            }
            self.trace.touched.extend(start..start + length);
        }
        let mut bytes = self.load(copy.array, copy.from, start, length);
        if let Some(by) = copy.by {
            let of = hash(&bytes);
            let computed = vec![Byte::Computed(by, of); bytes.len()];
            self.elements.insert(of, std::mem::replace(&mut bytes, computed));
        }
        self.store(copy.array, copy.to, start, bytes);
        Ok(None)
    }

    fn instance(
        &mut self,
        instance: &Instance,
        reference: Option<&Trace>,
    ) -> Result<Option<Violation>, Beyond> {
        let kernel = self.kernel;
        let statement = kernel.statement(instance.statement);
        let own = name(instance);
        let mut reads = Vec::new();
        let mut accumulator = Vec::new();
        let mut writes = Vec::new();
        let observed = StmtFlags::VOLATILE | StmtFlags::ATOMIC_RELAXED | BARRIERS;
        let reduction =
            statement.reduction.as_ref().filter(|_| !statement.flags.contains(StmtFlags::ATOMIC_RELAXED));
        for (id, access) in statement.accesses() {
            let route = instance.routes.get(id.index()).copied().unwrap_or(Route::Memory);
            if route == Route::Outside {
                return Ok(Some(Violation::Place { array: access.array, instance: Some(own) }));
            }
            if route != Route::Memory && statement.flags.intersects(observed) {
                return Ok(Some(Violation::Observed { instance: own }));
            }
            let (start, length) = match (route, self.private(access.array, &instance.dims)) {
                (Route::Memory, None) => {
                    let (start, length) = access_bytes(kernel, instance, access, self.params, self.places)?;
                    self.trace.touched.extend(start..start + length);
                    (start, length)
                }
                (_, private) => (private.unwrap_or(0), i64::from(kernel.array(access.array).element.size())),
            };
            if reduction.is_some_and(|r| r.read == id) {
                accumulator = self.read(own.0, access.array, route, start, length);
                reads.push(Vec::new());
            } else if access.kind == AccessKind::Read {
                reads.push(self.read(own.0, access.array, route, start, length));
            } else {
                writes.push((id, access, route, start, length));
                reads.push(Vec::new());
            }
        }
        let mut around: Vec<Vec<Byte>> = self.tests.iter().map(|(_, bytes)| bytes.clone()).collect();
        around.sort_by_key(|bytes| hash(bytes));
        around.dedup();
        reads.extend(around);
        if let Some(wrong) = self.compare(&own, &reads, reference) {
            return Ok(Some(wrong));
        }
        let again = self.trace.reads.insert(own.clone(), reads.clone()).is_some();
        if again && (reference.is_none() || statement.flags.intersects(observed)) {
            return Ok(Some(Violation::Coverage { statement: own.0, dims: own.1 }));
        }
        self.observe(&own, statement.flags);
        for (id, access, route, start, length) in writes {
            if route == Route::Memory && !self.to_memory.insert(own.clone()) && again {
                return Ok(Some(Violation::Coverage { statement: own.0, dims: own.1 }));
            }
            if access.kind == AccessKind::MayWrite && !drawn(self.draw, (&own, &reads, id)) {
                continue;
            }
            let bytes = if let Some(r) = reduction.filter(|r| r.write == id) {
                let class = (r.op, access.array);
                let (base, sum) = match accumulator.first() {
                    Some(Byte::Reduced(c, base, sum, 0)) if *c == class => (*base, *sum),
                    _ => (hash(&accumulator), 0),
                };
                let sum = sum.wrapping_add(hash(&own));
                (0..length as u8).map(|at| Byte::Reduced(class, base, sum, at)).collect()
            } else {
                (0..length as u8).map(|at| Byte::Written(hash((&own, id)), at)).collect()
            };
            self.store(access.array, route, start, bytes);
        }
        Ok(None)
    }

    /// Whether the instance reads what it reads in the reference.
    fn compare(&self, own: &Name, reads: &[Vec<Byte>], reference: Option<&Trace>) -> Option<Violation> {
        let reference = reference?;
        let Some(wanted) = reference.reads.get(own) else {
            return Some(Violation::Coverage { statement: own.0, dims: own.1.clone() });
        };
        if reference.barriers.get(own) != Some(&self.trace.observed_barriers(self.kernel)) {
            return Some(Violation::Observed { instance: own.clone() });
        }
        let right = |at: &usize| match (wanted.get(*at), reads.get(*at)) {
            (Some(wanted), Some(read)) => does_for(wanted, read),
            _ => false,
        };
        let access = (0..wanted.len().max(reads.len())).find(|at| !right(at))?;
        Some(Violation::Value { reader: own.clone(), access })
    }

    /// What others see of the instance.
    fn observe(&mut self, own: &Name, flags: StmtFlags) {
        let before = self.trace.observed_barriers(self.kernel);
        self.trace.barriers.insert(own.clone(), before);
        if flags.intersects(BARRIERS) {
            let mut seen: Vec<(i64, Byte)> =
                self.memory.iter().filter(|(a, _)| self.visible.contains(a)).map(|(a, b)| (*a, *b)).collect();
            seen.sort_by_key(|(address, _)| *address);
            self.trace.observed.push((own.clone(), seen));
            self.clobbered = hash(own);
            let visible = std::mem::take(&mut self.visible);
            self.memory.retain(|a, _| !visible.contains(a));
        } else if flags.contains(StmtFlags::VOLATILE) {
            self.trace.observed.push((own.clone(), Vec::new()));
        }
    }
}

impl Trace {
    fn observed_barriers(&self, kernel: &Kernel) -> usize {
        let barrier = |name: &Name| kernel.statement(name.0).flags.intersects(BARRIERS);
        self.observed.iter().filter(|(name, _)| barrier(name)).count()
    }
}
