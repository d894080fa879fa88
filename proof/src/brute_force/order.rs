//! Legality by order: each pair of instances that touch the same byte.

use super::{
    Addresses, Beyond, Copy, Execution, Instance, Route, Step, Violation, access_bytes, element_bytes, name,
    private_address,
};
use loop_tree::{
    AccessId, AccessKind, ArrayId, Kernel, Op, Path, PrivateElement, ReductionOp, RuntimeCondition,
    StmtFlags, StmtId,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A byte that an instance touches.
#[derive(Clone, Copy)]
struct Touch {
    address: i64,
    writes: bool,
    /// On an accumulator: reordering among updates by one operator is allowed.
    reduction: Option<(ReductionOp, ArrayId)>,
    /// The access of the statement.
    access: Option<AccessId>,
}

/// What keeps its place among all others.
pub(super) const BARRIERS: StmtFlags = StmtFlags::OPAQUE
    .union(StmtFlags::SIDE_EFFECTS)
    .union(StmtFlags::ATOMIC_ORDERED)
    .union(StmtFlags::MAY_THROW)
    .union(StmtFlags::MAY_NOT_RETURN);

const BARRIER: i64 = i64::MIN;
const OBSERVED: i64 = i64::MIN + 1;
/// Far beyond all places of arrays.
const COHERENCE: i64 = 1 << 62;

/// Address of a place in a buffer, which is apart from all others. What has no place is wrong by itself.
fn buffer_address(route: Route) -> Option<i64> {
    match route {
        Route::Memory => None,
        Route::Buffer(number, place) => Some((1 << 60) + (i64::from(number) << 32) + place),
        Route::Outside => Some((1 << 60) - 1),
    }
}

fn touches(
    kernel: &Kernel,
    execution: &Execution,
    instance: &Instance,
    params: &[i64],
    places: &Addresses,
) -> Result<Vec<Touch>, Beyond> {
    let statement = kernel.statement(instance.statement);
    let private = |array| {
        let variables = execution.privates.variables(array)?;
        Some(private_address(array, &instance.dims[..variables.len()]))
    };
    let mut result = Vec::new();
    for (id, access) in statement.accesses() {
        let route = instance.routes.get(id.index()).copied().unwrap_or(Route::Memory);
        let (start, length) = match (buffer_address(route), private(access.array)) {
            (Some(address), _) | (None, Some(address)) => (address, 1),
            (None, None) => access_bytes(kernel, instance, access, params, places)?,
        };
        let on_accumulator = statement.reduction.filter(|r| {
            (r.read == id || r.write == id) && !statement.flags.contains(StmtFlags::ATOMIC_RELAXED)
        });
        let reduction = on_accumulator.map(|r| (r.op, access.array));
        let writes = access.kind != AccessKind::Read;
        let touch = |address| Touch { address, writes, reduction, access: Some(id) };
        result.extend((start..start + length).map(touch));
    }
    let accesses = result.len();
    for (array, route) in &instance.tests {
        let address = buffer_address(*route).or(private(*array)).unwrap_or(places.0[array.index()]);
        result.push(Touch { address, writes: false, reduction: None, access: None });
    }
    let order = |address, writes| Touch { address, writes, reduction: None, access: None };
    result.push(order(BARRIER, statement.flags.intersects(BARRIERS)));
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

/// Whether a variant without buffers runs the same instances and keeps the order of those that touch the same byte.
pub fn order_violation(
    kernel: &Kernel,
    original: &Execution,
    variant: &Execution,
    params: &[i64],
    places: &Addresses,
) -> Result<Option<Violation>, Beyond> {
    // Position of each instance in the variant.
    let mut position: FxHashMap<(StmtId, &[i64]), usize> = FxHashMap::default();
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

    let mut bytes: FxHashMap<i64, Vec<Latest>> = FxHashMap::default();
    for (index, instance) in original.instances.iter().enumerate() {
        let at = position[&(instance.statement, &instance.dims[..])];
        let touched = touches(kernel, original, instance, params, places)?;
        for t in &touched {
            let Some(latest) = bytes.get(&t.address) else { continue };
            for l in latest {
                let conflict = (t.writes || l.writes) && (l.class.is_none() || l.class != t.reduction);
                if conflict && l.position > at {
                    let first = name(&original.instances[l.index]);
                    return Ok(Some(Violation::Order { first, second: name(instance) }));
                }
            }
        }
        for t in touched {
            let latest = bytes.entry(t.address).or_default();
            match latest.iter_mut().find(|l| l.class == t.reduction && l.writes == t.writes) {
                Some(l) if l.position < at => (l.position, l.index) = (at, index),
                Some(_) => {}
                None => latest.push(Latest { class: t.reduction, writes: t.writes, position: at, index }),
            }
        }
    }
    if let Some(v) = apart(variant) {
        return Ok(Some(v));
    }
    marks(kernel, variant, params, places)
}

/// The access of a byte that comes last in the variant, of those that came earlier in the original.
struct Latest {
    /// Accumulator and operator, whose updates commute.
    class: Option<(ReductionOp, ArrayId)>,
    writes: bool,
    /// In the variant, and in the original.
    position: usize,
    index: usize,
}

/// What a marked loop carries.
pub(super) fn marks(
    kernel: &Kernel,
    variant: &Execution,
    params: &[i64],
    places: &Addresses,
) -> Result<Option<Violation>, Beyond> {
    for path in &variant.parallel {
        if let Some(v) = carried(kernel, variant, path, params, places)? {
            return Ok(Some(v));
        }
    }
    for path in &variant.vector {
        if let Some(v) = swapped(kernel, variant, path, params, places)? {
            return Ok(Some(v));
        }
    }
    Ok(None)
}

/// An iteration whose private scalar does not stay in one slot from its first use to its last.
pub(super) fn apart(execution: &Execution) -> Option<Violation> {
    type Element<'a> = (ArrayId, &'a [i64]);
    let mut in_slot: FxHashMap<&PrivateElement, Element<'_>> = FxHashMap::default();
    let mut known: FxHashMap<Element<'_>, &PrivateElement> = FxHashMap::default();
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
    places: &Addresses,
) -> Result<Option<Violation>, Beyond> {
    let depth = path.0.len();
    // Per execution of the loop and byte: two different iterations that write, and two that read, with an instance.
    type Seen = [Option<(i64, usize)>; 2];
    let mut seen: FxHashMap<(&[i64], i64), (Seen, Seen)> = FxHashMap::default();
    for (index, step) in execution.steps.iter().enumerate() {
        let (leaf, time) = match step {
            Step::Run(i) => (execution.instances[*i].leaf, &execution.instances[*i].time),
            Step::Copy(copy) => (copy.leaf, &copy.time),
            // As of the instances under it.
            Step::Test(_) => continue,
        };
        if !path.contains(&execution.leaves[leaf]) || time.len() <= depth {
            continue;
        }
        let (outer, iteration) = (&time[..depth], time[depth]);
        let touched = match step {
            Step::Run(i) => touches(kernel, execution, &execution.instances[*i], params, places)?,
            Step::Copy(copy) => copied(kernel, copy, params, places)?,
            Step::Test(_) => continue,
        };
        for t in touched {
            let (writes, reads) = seen.entry((outer, t.address)).or_default();
            let others = writes.iter().chain(reads.iter().filter(|_| t.writes)).flatten();
            if let Some((_, first)) = others.into_iter().find(|(at, _)| *at != iteration) {
                let name = |at: usize| match &execution.steps[at] {
                    Step::Run(i) => Some(name(&execution.instances[*i])),
                    _ => None,
                };
                let (first, second) = (name(*first), name(index));
                return Ok(Some(Violation::Parallel { path: path.clone(), first, second }));
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

/// Two touches of a byte that lanes in lock step do in another order than iterations one after the other.
fn swapped(
    kernel: &Kernel,
    execution: &Execution,
    path: &Path,
    params: &[i64],
    places: &Addresses,
) -> Result<Option<Violation>, Beyond> {
    let depth = path.0.len();
    /// When lanes do it, the operation in the text, and what; buffers are copied by each lane alone.
    type At<'a> = (Vec<i64>, usize, i64, Touch, &'a Instance);
    let mut seen: FxHashMap<i64, Vec<At<'_>>> = FxHashMap::default();
    for step in &execution.steps {
        let Step::Run(i) = step else {
            // Rare: by the stricter rule.
            if matches!(step, Step::Copy(copy) if path.contains(&execution.leaves[copy.leaf]) && copy.time.len() > depth)
            {
                return carried(kernel, execution, path, params, places);
            }
            continue;
        };
        let instance = &execution.instances[*i];
        if !path.contains(&execution.leaves[instance.leaf]) || instance.time.len() <= depth {
            continue;
        }
        let mut time = instance.time.clone();
        let lane = time.remove(depth);
        for touch in touches(kernel, execution, instance, params, places)? {
            let position = touch.access.and_then(|access| {
                let of = |op: &Op| op.kind.access() == Some(access);
                kernel.statement(instance.statement).ops.iter().position(of)
            });
            let position = position.unwrap_or(0);
            let earlier = seen.entry(touch.address).or_default();
            for (before, text, other, t, first) in earlier.iter() {
                let conflict =
                    (touch.writes || t.writes) && *other != lane && before[..depth] == time[..depth];
                let at_once = touch.reduction.is_some() && touch.reduction == t.reduction && *before == time;
                let kept = (before, *text, *other) < (&time, position, lane);
                let exempt = touch.reduction.is_some() && touch.reduction == t.reduction;
                if conflict && (at_once || !(kept || exempt)) {
                    let (first, second) = (Some(name(first)), Some(name(instance)));
                    return Ok(Some(Violation::Parallel { path: path.clone(), first, second }));
                }
            }
            earlier.push((time.clone(), position, lane, touch, instance));
        }
    }
    Ok(None)
}

/// What a copy reads and writes.
fn copied(kernel: &Kernel, copy: &Copy, params: &[i64], places: &Addresses) -> Result<Vec<Touch>, Beyond> {
    let mut result = Vec::new();
    for (route, writes) in [(copy.from, false), (copy.to, true)] {
        let (start, length) = match buffer_address(route) {
            Some(address) => (address, 1),
            None => element_bytes(kernel, copy.array, &copy.element, params, places)?,
        };
        result.extend((start..start + length).map(|address| Touch {
            address,
            writes,
            reduction: None,
            access: None,
        }));
    }
    Ok(result)
}

/// Whether a run-time condition holds.
pub fn condition_holds(
    kernel: &Kernel,
    original: &Execution,
    condition: &RuntimeCondition,
    params: &[i64],
    places: &Addresses,
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
                            let (start, length) = access_bytes(kernel, i, access, params, places)?;
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
