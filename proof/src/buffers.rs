//! Random buffers around random subtrees: packed, contracted, expanded, single, of what is computed, one in the other; most of
//! them nearly right.
//!
//! Windows and extents come from the ranges of the subscripts below a node, which are found by putting bounds in the place of
//! variables; some are changed by a little afterwards. Nothing is looked at beyond that: what is right is for the oracle and
//! for enumeration to say.

use fastrand::Rng;
use loop_tree::{
    Affine, ArrayId, Bounds, Buffer, BufferDim, Derived, Green, GuardCondition, Home, Kernel, Node, Path,
    Red, StmtId, VarId, Window, WindowRange, canonical, validate_tree,
};

/// A random buffer around a random subtree; `None` where none fits.
pub fn with_random_buffer(kernel: &Kernel, root: &Green, rng: &mut Rng) -> Option<Green> {
    for _ in 0..8 {
        let found = attempt(kernel, root, rng);
        if found.is_some() {
            return found;
        }
    }
    None
}

fn attempt(kernel: &Kernel, root: &Green, rng: &mut Rng) -> Option<Green> {
    let mut paths = Vec::new();
    collect_paths(root, &mut Path::root(), &mut paths);
    let path = paths[rng.usize(0..paths.len())].clone();
    let (mut binders, mut node) = (Vec::new(), root);
    for index in &path.0 {
        binders.extend(binder(node));
        node = node.child(*index as usize)?;
    }
    let outer = binders.len();
    let mut uses = Vec::new();
    collect_uses(kernel, node, &mut binders, &mut uses);
    let arrays: Vec<ArrayId> = uses.iter().map(|u| u.array).collect();
    let array = *arrays.get(rng.usize(0..arrays.len().max(1)))?;
    uses.retain(|u| u.array == array);
    let buffer = random_buffer(kernel, array, &uses, &binders[..outer], rng)?;
    let new = Red::at(root, &path)?.replace_with(Green::alloc(buffer, node.clone()));
    let new = canonical(kernel, &new);
    (validate_tree(kernel, &new).is_empty() && new != *root).then_some(new)
}

fn collect_paths(node: &Green, path: &mut Path, paths: &mut Vec<Path>) {
    // Statements and guards by themselves are rarely worth a buffer.
    let weight = match node.node() {
        Node::Loop(..) | Node::Seq(..) => 3,
        _ => 1,
    };
    paths.extend(std::iter::repeat_n(path.clone(), weight));
    for (index, child) in node.children().enumerate() {
        path.0.push(index as u32);
        collect_paths(child, path, paths);
        path.0.pop();
    }
}

/// What binds a variable.
#[derive(Clone)]
enum Binder {
    Loop(VarId, Vec<Affine>, Vec<Affine>),
    Let(VarId, Affine),
}

fn binder(node: &Green) -> Option<Binder> {
    match node.node() {
        Node::Loop(h, _) => match &h.bounds {
            Bounds::Affine { lower, upper } => Some(Binder::Loop(h.var, lower.clone(), upper.clone())),
            Bounds::Unbounded { .. } => None,
        },
        Node::Let(var, value, _) => Some(Binder::Let(*var, Affine::clone(value))),
        _ => None,
    }
}

/// An access, or a predicate that is read.
struct Use {
    array: ArrayId,
    /// Subscripts, then dims of the instance; none for a predicate.
    index: Option<Vec<Affine>>,
    /// None for a predicate.
    statement: Option<StmtId>,
    writes: bool,
    binders: Vec<Binder>,
}

fn collect_uses(kernel: &Kernel, node: &Green, binders: &mut Vec<Binder>, uses: &mut Vec<Use>) {
    match node.node() {
        Node::Stmt(id, _) => {
            let statement = kernel.statement(*id);
            for access in &statement.accesses {
                let index = access.subscripts.as_ref().map(|s| {
                    s.iter().cloned().chain(statement.dims.iter().map(|v| Affine::var(*v))).collect()
                });
                let writes = access.kind != loop_tree::AccessKind::Read;
                let binders = binders.clone();
                uses.push(Use { array: access.array, index, statement: Some(*id), writes, binders });
            }
        }
        Node::Guard(condition, _) => {
            if let GuardCondition::Predicate { array, .. } = &**condition {
                let binders = binders.clone();
                uses.push(Use { array: *array, index: None, statement: None, writes: false, binders });
            }
        }
        _ => {}
    }
    let depth = binders.len();
    binders.extend(binder(node));
    node.children().for_each(|child| collect_uses(kernel, child, binders, uses));
    binders.truncate(depth);
}

/// Values from the maximum of the first to the minimum of the second list, inclusive.
#[derive(Clone)]
struct Range(Vec<Affine>, Vec<Affine>);

/// The range of an expression, with the bounds of the innermost binders in the place of their variables.
fn range(e: &Affine, binders: &[Binder]) -> Option<Range> {
    let mut range = Range(vec![e.clone()], vec![e.clone()]);
    for binder in binders.iter().rev() {
        match binder {
            Binder::Let(var, value) => {
                let put =
                    |list: &mut Vec<Affine>| list.iter_mut().for_each(|e| *e = put_value(e, *var, value));
                put(&mut range.0);
                put(&mut range.1);
            }
            Binder::Loop(var, lower, upper) => {
                let last: Vec<Affine> = upper.iter().map(|u| u.offset(-1)).collect();
                range.0 = replaced(&range.0, *var, lower, &last)?;
                range.1 = replaced(&range.1, *var, &last, lower)?;
            }
        }
    }
    Some(range)
}

fn put_value(e: &Affine, var: VarId, value: &Affine) -> Affine {
    e.substitute(&|v| (v == var).then(|| value.clone()))
}

/// Bounds with a variable replaced by one list where it counts positive, by another where negative.
fn replaced(list: &[Affine], var: VarId, positive: &[Affine], negative: &[Affine]) -> Option<Vec<Affine>> {
    let mut result = Vec::new();
    for e in list {
        // Rounded down, an expression is as monotonous as inside of the rounding.
        let sign = match e.coefficient(var) {
            0 if e.uses(var) => {
                let at = |value| put_value(e, var, &Affine::constant(value));
                (at(1000) - at(-1000)).as_constant()?.signum()
            }
            c => c.signum(),
        };
        match sign {
            0 => result.push(e.clone()),
            1 => result.extend(positive.iter().map(|b| put_value(e, var, b))),
            _ => result.extend(negative.iter().map(|b| put_value(e, var, b))),
        }
        if result.len() > 4 {
            return None;
        }
    }
    Some(result)
}

/// The range of all of some ranges, or of one of them where they cannot be compared.
fn joined(ranges: &[Range], rng: &mut Rng) -> Option<Range> {
    let chosen = ranges.get(rng.usize(0..ranges.len().max(1)))?;
    let mut result = chosen.clone();
    for other in ranges {
        let ([a], [b], [c], [d]) = (&result.0[..], &other.0[..], &result.1[..], &other.1[..]) else {
            continue;
        };
        let (Some(below), Some(above)) = ((b - a).as_constant(), (d - c).as_constant()) else { continue };
        result = Range(vec![a.offset(below.min(0))], vec![c.offset(above.max(0))]);
    }
    Some(result)
}

fn random_buffer(
    kernel: &Kernel,
    array: ArrayId,
    uses: &[Use],
    outer: &[Binder],
    rng: &mut Rng,
) -> Option<Buffer> {
    let rank = kernel.array(array).rank();
    let memory = kernel.array(array).storage != loop_tree::Storage::Local;
    let indexed: Option<Vec<(&[Affine], &[Binder])>> = uses
        .iter()
        .map(|u| match &u.index {
            Some(index) => Some((&index[..], &u.binders[outer.len()..])),
            None if rank == 0 => Some((&[][..], &[][..])),
            None => None,
        })
        .collect();
    let indexed = indexed?;
    // Local arrays are contracted and expanded, memory is packed; sometimes the other way round.
    let pack = rng.u32(0..100) < if memory { 75 } else { 15 };
    let fewest = indexed.iter().map(|(index, _)| index.len().saturating_sub(rank)).min().unwrap_or(0);
    let expand = !pack && fewest > 0 && rng.u32(0..100) < if rank == 0 { 65 } else { 15 };
    let instance_dims = if expand { rng.usize(1..=fewest) } else { 0 };
    let mut ranges = Vec::new();
    for k in 0..rank + instance_dims {
        let all: Option<Vec<Range>> = indexed.iter().map(|(index, b)| range(index.get(k)?, b)).collect();
        ranges.push(joined(&all?, rng)?);
    }
    let single = rng.u32(0..100) < 12;
    let mut dims = Vec::new();
    for (k, r) in ranges.iter().enumerate() {
        let own = Affine::var(Buffer::index(k));
        let kind = rng.u32(0..100);
        let keep = if pack {
            94
        } else if k >= rank {
            85
        } else {
            35
        };
        if single || (kind >= keep && rng.bool()) {
            continue;
        }
        if kind >= keep {
            let places = rng.i64(2..=4);
            dims.push(BufferDim { subscript: own.modulo(places), extent: places.into() });
            continue;
        }
        dims.push(relative(own, r, outer, rng)?);
    }
    rng.shuffle(&mut dims);
    let window = || Window(ranges.iter().map(window_range).collect());
    let (reads, writes) = (uses.iter().any(|u| !u.writes), uses.iter().any(|u| u.writes));
    let copied = |rng: &mut Rng, wanted: bool| {
        instance_dims == 0 && memory && rng.u32(0..100) < if wanted { 92 } else { 6 }
    };
    let (fills, writes_back) = (copied(rng, reads), copied(rng, writes));
    let mut buffer = Buffer {
        array,
        instance_dims,
        dims,
        fill: fills.then(window),
        by: None,
        write_back: writes_back.then(window),
        home: Home::Heap,
        alignment: if rng.bool() { 1 } else { 64 },
    };
    if rng.u32(0..100) < 30 {
        change(&mut buffer, rng);
    }
    if buffer.fill.is_some() && buffer.write_back.is_none() && rng.bool() {
        // Right if no other statement reads the array here.
        let mut readers: Vec<StmtId> = uses.iter().filter_map(|u| u.statement).collect();
        readers.retain(|s| Derived::of(kernel, *s, array).is_some());
        buffer.by = readers.get(rng.usize(0..readers.len().max(1))).copied();
    }
    if buffer.constant_len().is_some() {
        buffer.home = [Home::Registers, Home::Stack, Home::Heap][rng.usize(0..3)];
    }
    Some(buffer)
}

/// A dimension of places from the beginning of a range on: of the range below the buffer, or of that in the whole tree.
fn relative(own: Affine, r: &Range, outer: &[Binder], rng: &mut Rng) -> Option<BufferDim> {
    let whole = |from: &Affine, to: &Affine| -> Option<Affine> {
        let length = (to - from).offset(1);
        Some(range(&length, outer)?.1.swap_remove(0))
    };
    let (from, to) = (r.0[rng.usize(0..r.0.len())].clone(), r.1[rng.usize(0..r.1.len())].clone());
    let extent = whole(&from, &to)?;
    if rng.u32(0..100) < 70 {
        return Some(BufferDim { subscript: own - from, extent });
    }
    let from = range(&from, outer)?.0.swap_remove(0);
    let to = range(&to, outer)?.1.swap_remove(0);
    Some(BufferDim { subscript: own - from.clone(), extent: (to - from).offset(1) })
}

fn window_range(r: &Range) -> WindowRange {
    WindowRange { lower: r.0.clone(), upper: r.1.iter().map(|e| e.offset(1)).collect() }
}

/// Changes something by a little.
fn change(buffer: &mut Buffer, rng: &mut Rng) {
    let by = if rng.bool() { 1 } else { -1 };
    let dims = buffer.dims.len();
    let window = |w: &mut Option<Window>, rng: &mut Rng| {
        let Some(Window(ranges)) = w else { return };
        if ranges.is_empty() {
            return;
        }
        let at = rng.usize(0..ranges.len());
        let list = if rng.bool() { &mut ranges[at].lower } else { &mut ranges[at].upper };
        list[0] = list[0].offset(by);
    };
    match rng.u32(0..8) {
        0 => buffer.fill = None,
        1 => buffer.write_back = None,
        2 => window(&mut buffer.fill, rng),
        3 => window(&mut buffer.write_back, rng),
        4 if buffer.fill.is_some() => buffer.write_back = buffer.fill.clone(),
        5 if buffer.write_back.is_some() => buffer.fill = buffer.write_back.clone(),
        _ if dims > 0 => {
            let at = rng.usize(0..dims);
            let dim = &mut buffer.dims[at];
            if rng.bool() {
                dim.extent = dim.extent.offset(by);
            } else {
                dim.subscript = dim.subscript.offset(by);
            }
        }
        _ => {}
    }
}
