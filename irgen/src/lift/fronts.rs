//! What a region reads again and again although a store might overwrite it, and was read in front of it, too: bounds, row
//! pointers, fields. The region is described as if it were read in front alone; the run-time check then has to find that the
//! region overwrites none of it.

use rustc_hash::FxHashSet;

use super::shape::has_effect;
use super::values::{Values, int_bits};
use crate::llvm::{Effects, Inst, Opcode, Type, TypeKind, Value};
use analyses::closed_forms::{Address, Poly};

/// A place in memory that the region reads again and again.
#[derive(Clone, Debug)]
pub(super) struct Cell<'m> {
    /// A load of the region.
    pub(super) load: Inst<'m>,
    /// The place, in bytes from a pointer that is known before the region.
    pub(super) base: Value<'m>,
    pub(super) offset: Poly,
    pub(super) size: u64,
    /// The condition under which it was read in front, and whether it has to hold or not to hold.
    pub(super) guard: Option<(Value<'m>, bool)>,
}

/// Something read in front.
struct Front<'m> {
    value: Value<'m>,
    ty: Type<'m>,
    base: Value<'m>,
    offset: Poly,
    guard: Option<(Value<'m>, bool)>,
}

/// Blocks that are looked through for what is read in front, at most.
const MAX_BLOCKS: usize = 64;

/// Finds what the blocks of a region read that was read in front of it, at the end of block `front`, and has [`Values`] take the one
/// for the other.
pub(super) fn settle<'m>(values: &mut Values<'_, 'm>, blocks: &[usize], front: usize) -> Vec<Cell<'m>> {
    values.read_in_front(Vec::new());
    let cfg = values.cfg;
    let within = |v: &&Inst<'m>| v.opcode() == Opcode::Load && is_cell(**v);
    let loads: Vec<Inst<'m>> = blocks.iter().flat_map(|&b| &cfg.insts[b]).filter(within).copied().collect();
    if loads.is_empty() {
        return Vec::new();
    }
    let fronts = in_front(values, front);
    if fronts.is_empty() {
        return Vec::new();
    }
    let stores: Vec<Inst<'m>> =
        blocks.iter().flat_map(|&b| &cfg.insts[b]).filter(|i| i.opcode() == Opcode::Store).copied().collect();
    let mut overwritten = FxHashSet::default();
    loop {
        let cells = cells(values, &loads, &fronts, &overwritten);
        // What a store of the region is sure to overwrite is not known in front.
        let before = overwritten.len();
        for store in &stores {
            let Some(place) = store.pointer().and_then(|p| values.address(p)) else { continue };
            let size = store.accessed_type().and_then(|ty| values.layout.size_of(ty)).unwrap_or(1);
            let size = i128::from(size);
            for cell in cells.iter().filter(|cell| cell.base == place.base) {
                let apart = place.offset.poly.sub(&cell.offset).and_then(|d| d.as_constant());
                if apart.is_some_and(|d| d < i128::from(cell.size) && -d < size) {
                    overwritten.insert(cell.load);
                }
            }
        }
        if overwritten.len() == before {
            return cells;
        }
    }
}

fn cells<'m>(
    values: &mut Values<'_, 'm>,
    loads: &[Inst<'m>],
    fronts: &[Front<'m>],
    overwritten: &FxHashSet<Inst<'m>>,
) -> Vec<Cell<'m>> {
    values.read_in_front(Vec::new());
    let (mut cells, mut known): (Vec<Cell<'m>>, Vec<(Value<'m>, Value<'m>)>) = Default::default();
    // Places that follow from other cells come behind them.
    for &load in loads.iter().filter(|load| !overwritten.contains(load)) {
        let place = load.pointer().and_then(|p| values.address(p)).filter(|a| a.offset.needs.is_empty());
        let Some(Address { base, offset, .. }) = place else { continue };
        let same = |f: &&Front<'m>| f.ty == load.ty() && f.base == base && f.offset == offset.poly;
        let (Some(found), Some(size)) = (fronts.iter().find(same), values.layout.size_of(load.ty())) else {
            continue;
        };
        known.push((load.value(), found.value));
        values.read_in_front(known.clone());
        cells.push(Cell { load, base, offset: offset.poly, size, guard: found.guard });
    }
    cells
}

/// Integers and pointers that are read on the way to the end of a block, between which and there nothing is written.
fn in_front<'m>(values: &mut Values<'_, 'm>, front: usize) -> Vec<Front<'m>> {
    let cfg = values.cfg;
    let mut fronts = Vec::new();
    let mut add = |values: &mut Values<'_, 'm>, value: Value<'m>, load: Inst<'m>, guard| {
        let place = load.pointer().and_then(|p| values.address(p)).filter(|a| a.offset.needs.is_empty());
        if let Some(Address { base, offset, .. }) = place {
            fronts.push(Front { value, ty: load.ty(), base, offset: offset.poly, guard });
        }
    };
    let mut at = front;
    for _ in 0..MAX_BLOCKS {
        let guarded = match cfg.preds[at][..] {
            [a, b] => guarded(values, at, a, b).or_else(|| guarded(values, at, b, a)),
            _ => None,
        };
        for &inst in cfg.insts[at].iter().rev() {
            if has_effect(inst) {
                return fronts;
            }
            if inst.opcode() == Opcode::Load && is_cell(inst) && promises_nothing(inst) {
                add(values, inst.value(), inst, None);
            }
            if let Some(Guarded { then, condition, .. }) = guarded.filter(|_| inst.is_phi()) {
                let from = |(v, b): (Value<'m>, _)| v.as_inst().filter(|_| b == cfg.blocks[then]);
                let read = inst.incoming().into_iter().find_map(from);
                let read = read.filter(|i| i.opcode() == Opcode::Load && is_cell(*i));
                if let Some(load) = read.filter(|i| cfg.home(*i) == Some(then) && promises_nothing(*i)) {
                    add(values, inst.value(), load, Some(condition));
                }
            }
        }
        at = match (&cfg.preds[at][..], guarded) {
            (&[only], _) if only < at => only,
            (_, Some(Guarded { before, .. })) => before,
            _ => break,
        };
    }
    fronts
}

/// A block that does nothing but read, the one in front of it, and the condition under which it is executed.
#[derive(Clone, Copy)]
struct Guarded<'m> {
    then: usize,
    before: usize,
    condition: (Value<'m>, bool),
}

/// Whether `then` is such a block, and both lead to `at`.
fn guarded<'m>(values: &Values<'_, 'm>, at: usize, then: usize, before: usize) -> Option<Guarded<'m>> {
    let cfg = values.cfg;
    let shape = then < at && before < then && cfg.preds[then] == [before] && cfg.succs[then] == [at];
    if !shape || cfg.insts[then].iter().any(|i| has_effect(*i)) || cfg.ends_if[before].is_some() {
        return None;
    }
    let end = cfg.insts[before].last()?;
    let positive = match cfg.succs[before][..] {
        [yes, no] if yes == then && no == at => true,
        [yes, no] if yes == at && no == then => false,
        _ => return None,
    };
    Some(Guarded { then, before, condition: (end.condition()?, positive) })
}

/// A plain read of an integer or a pointer.
fn is_cell(load: Inst<'_>) -> bool {
    let scalar =
        int_bits(load.value()).is_some_and(|bits| bits % 8 == 0) || load.ty().kind() == TypeKind::Pointer(0);
    scalar && !load.is_volatile() && !load.effects().intersects(Effects::ATOMIC | Effects::VOLATILE)
}

/// Whether it is not poison where another load of the same bytes is not.
fn promises_nothing(load: Inst<'_>) -> bool {
    load.metadata("noundef").is_some()
        || ["range", "nonnull", "align"].iter().all(|kind| load.metadata(kind).is_none())
}
