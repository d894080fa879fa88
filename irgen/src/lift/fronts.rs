//! What a region reads again and again although a store might overwrite it, and was read in front of it, too: bounds, row
//! pointers, fields. The region is described as if it were read in front alone; the run-time check then has to find that the
//! region overwrites none of it.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::closed_forms::{BETWEEN, COUNT, is_between};
use super::ratios::RATIO;
use super::shape::has_effect;
use super::values::{Values, int_bits};
use crate::llvm::{Effects, Inst, Opcode, Type, TypeKind, Value};
use crate::mutation::{self, Rule};
use analyses::closed_forms::{Address, ClosedForm, Need, Poly, merge};

/// A place in memory that the region reads again and again.
#[derive(Clone, Debug)]
pub(super) struct Cell<'m> {
    /// A load of the region.
    pub(super) load: Inst<'m>,
    /// The place, in bytes from a pointer that is known before the region.
    pub(super) base: Value<'m>,
    pub(super) offset: Poly,
    pub(super) size: Poly,
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

/// A table of pointers of which it was found in front how far one row is behind the one before.
struct Table<'m> {
    base: Value<'m>,
    offset: Poly,
    /// Rows, and how many bytes a pointer is behind the one before.
    count: Poly,
    cell: i128,
    /// The first row, and the distance in bytes.
    row: Value<'m>,
    distance: Poly,
}

/// Tables of the first and the last pointers of rows, of which it was found in front how long rows are.
struct Lengths<'m> {
    base: Value<'m>,
    firsts: Poly,
    lasts: Poly,
    count: Poly,
    cell: i128,
    /// Of elements.
    size: i128,
    length: Value<'m>,
}

/// What was read and found in front.
#[derive(Default)]
struct Known<'m> {
    fronts: Vec<Front<'m>>,
    tables: Vec<Table<'m>>,
    lengths: Vec<Lengths<'m>>,
}

/// A row of a table, as a distance from the first one.
#[derive(Clone, Debug)]
pub(super) struct Row<'m> {
    pub(super) first: Value<'m>,
    pub(super) offset: Poly,
    pub(super) distance: Poly,
    /// That it is a row of the table, and rows have a distance.
    pub(super) needs: Vec<Rc<Need>>,
}

/// Blocks that are looked through for what is read in front, at most.
const MAX_BLOCKS: usize = 64;

/// Finds what the blocks of a region read that was read in front of it, at the end of block `front`, and has [`Values`] take the one
/// for the other.
pub(super) fn settle<'m>(values: &mut Values<'_, 'm>, blocks: &[usize], front: usize) -> Vec<Cell<'m>> {
    values.read_in_front(Vec::new(), Vec::new());
    let cfg = values.cfg;
    let within = |v: &&Inst<'m>| v.opcode() == Opcode::Load && is_cell(**v);
    let loads: Vec<Inst<'m>> = blocks.iter().flat_map(|&b| &cfg.insts[b]).filter(within).copied().collect();
    if loads.is_empty() {
        return Vec::new();
    }
    let known = in_front(values, front);
    if known.fronts.is_empty() && known.tables.is_empty() {
        return Vec::new();
    }
    let counts: Vec<Inst<'m>> =
        blocks.iter().flat_map(|&b| &cfg.insts[b]).filter(|i| is_between(**i)).copied().collect();
    let stores: Vec<Inst<'m>> =
        blocks.iter().flat_map(|&b| &cfg.insts[b]).filter(|i| i.opcode() == Opcode::Store).copied().collect();
    let mut overwritten = FxHashSet::default();
    loop {
        let cells = cells(values, &loads, &counts, &known, &overwritten);
        // What a store of the region is sure to overwrite is not known in front.
        let before = overwritten.len();
        for store in &stores {
            let Some(place) = store.pointer().and_then(|p| values.address(p)) else { continue };
            let size = store.accessed_type().and_then(|ty| values.layout.size_of(ty)).unwrap_or(1);
            let size = i128::from(size);
            for cell in cells.iter().filter(|cell| cell.base == place.base) {
                let apart = place.offset.poly.sub(&cell.offset).and_then(|d| d.as_constant());
                let bytes = cell.size.as_constant();
                if apart.zip(bytes).is_some_and(|(d, bytes)| d < bytes && -d < size) {
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
    counts: &[Inst<'m>],
    in_front: &Known<'m>,
    overwritten: &FxHashSet<Inst<'m>>,
) -> Vec<Cell<'m>> {
    values.read_in_front(Vec::new(), Vec::new());
    let mut cells: Vec<Cell<'m>> = Vec::new();
    let mut known: Vec<(Value<'m>, Value<'m>, Vec<Rc<Need>>)> = Vec::new();
    let mut rows: Vec<(Value<'m>, Row<'m>)> = Vec::new();
    // Places that follow from other cells come behind them.
    for &load in loads.iter().filter(|load| !overwritten.contains(load)) {
        let Some(Address { base, offset, .. }) = load.pointer().and_then(|p| values.address(p)) else {
            continue;
        };
        let same = |f: &&Front<'m>| f.ty == load.ty() && f.base == base && f.offset == offset.poly;
        if let (Some(found), Some(size)) = (
            in_front.fronts.iter().find(same).filter(|_| offset.needs.is_empty()),
            values.layout.size_of(load.ty()),
        ) {
            known.push((load.value(), found.value, Vec::new()));
            let size = Poly::constant(size.into());
            cells.push(Cell { load, base, offset: offset.poly, size, guard: found.guard });
        } else if let Some((row, table)) = in_front.tables.iter().find_map(|t| row(load, base, &offset, t)) {
            rows.push((load.value(), row));
            let size = column(&table.count, table.cell).unwrap_or_default();
            cells.push(Cell { load, base, offset: table.offset.clone(), size, guard: None });
        } else {
            continue;
        }
        values.read_in_front(known.clone(), rows.clone());
    }
    for &count in counts {
        let read = |v: Value<'m>| v.as_inst().filter(|i| loads.contains(i) && !overwritten.contains(i));
        let args = count.as_call().map(|c| c.args()).unwrap_or_default();
        let [first, last, size] = args[..] else { continue };
        let (Some(first), Some(last), Some(size)) = (read(first), read(last), size.const_int()) else {
            continue;
        };
        let found = in_front.lengths.iter().filter(|l| l.size == size);
        let Some((lengths, needs)) = found.into_iter().find_map(|l| row_length(values, first, last, l))
        else {
            continue;
        };
        known.push((count.value(), lengths.length, needs));
        let size = column(&lengths.count, lengths.cell).unwrap_or_default();
        for (load, offset) in [(first, &lengths.firsts), (last, &lengths.lasts)] {
            let (base, offset, size) = (lengths.base, offset.clone(), size.clone());
            cells.push(Cell { load, base, offset, size, guard: None });
        }
    }
    values.read_in_front(known, rows);
    cells
}

/// Bytes of a pointer.
const POINTER: i128 = 8;

/// Bytes from the first of so many pointers to the end of the last one.
fn column(count: &Poly, cell: i128) -> Option<Poly> {
    count.scale(cell)?.offset(POINTER - cell)
}

/// Which pointer of a table a place in bytes is, and what must hold for it to be one of them.
fn index(from: &Poly, place: &ClosedForm, cell: i128, count: &Poly) -> Option<(Poly, Vec<Rc<Need>>)> {
    let index = place.poly.sub(from)?.divide_exact(cell)?;
    let need = |poly: Poly| Rc::new(Need { poly, low: 0, high: i128::MAX });
    let last = count.sub(&index)?.offset(-1)?;
    let mut needs = Vec::new();
    if !mutation::off(Rule::RowsFound) {
        needs.extend([need(index.clone()), need(last)]);
    }
    merge(&mut needs, &place.needs);
    Some((index, needs))
}

/// The row that a pointer leads to, which is read from a table at a known place.
fn row<'t, 'm>(
    load: Inst<'m>,
    base: Value<'m>,
    offset: &ClosedForm,
    table: &'t Table<'m>,
) -> Option<(Row<'m>, &'t Table<'m>)> {
    if load.ty().kind() != TypeKind::Pointer(0) || table.base != base {
        return None;
    }
    let (index, more) = index(&table.offset, offset, table.cell, &table.count)?;
    let mut needs = vec![Rc::new(Need { poly: table.distance.offset(-1)?, low: 0, high: i128::MAX })];
    merge(&mut needs, &more);
    let row = Row {
        first: table.row,
        offset: index.mul(&table.distance)?,
        distance: table.distance.clone(),
        needs,
    };
    Some((row, table))
}

/// What was found of the length of the row between two pointers, and what must hold for it to be one of these rows.
fn row_length<'l, 'm>(
    values: &mut Values<'_, 'm>,
    first: Inst<'m>,
    last: Inst<'m>,
    lengths: &'l Lengths<'m>,
) -> Option<(&'l Lengths<'m>, Vec<Rc<Need>>)> {
    let mut place = |load: Inst<'m>| load.pointer().and_then(|p| values.address(p));
    let (first, last) = (place(first)?, place(last)?);
    let apart = last.offset.poly.sub(&first.offset.poly)?;
    if first.base != lengths.base
        || last.base != lengths.base
        || apart != lengths.lasts.sub(&lengths.firsts)?
    {
        return None;
    }
    let (_, mut needs) = index(&lengths.firsts, &first.offset, lengths.cell, &lengths.count)?;
    merge(&mut needs, &last.offset.needs);
    Some((lengths, needs))
}

/// Integers and pointers that are read on the way to the end of a block, between which and there nothing is written.
fn in_front<'m>(values: &mut Values<'_, 'm>, front: usize) -> Known<'m> {
    let cfg = values.cfg;
    let mut known = Known::default();
    let add = |values: &mut Values<'_, 'm>,
               fronts: &mut Vec<Front<'m>>,
               value: Value<'m>,
               load: Inst<'m>,
               guard| {
        let place = load.pointer().and_then(|p| values.address(p)).filter(|a| a.offset.needs.is_empty());
        if let Some(Address { base, offset, .. }) = place {
            fronts.push(Front { value, ty: load.ty(), base, offset: offset.poly, guard });
        }
    };
    let mut at = front;
    for _ in 0..MAX_BLOCKS {
        // What a loop on the way reads may be another region's, whose new code does not read it.
        if cfg.loop_of[at].is_some_and(|l| !cfg.loops[l].contains(front)) {
            break;
        }
        let guarded = match cfg.preds[at][..] {
            [a, b] => guarded(values, at, a, b).or_else(|| guarded(values, at, b, a)),
            _ => None,
        };
        for &inst in cfg.insts[at].iter().rev() {
            if has_effect(inst) {
                return known;
            }
            known.tables.extend(table(values, inst));
            known.lengths.extend(lengths(values, inst));
            if inst.opcode() == Opcode::Load && is_cell(inst) && promises_nothing(inst) {
                add(values, &mut known.fronts, inst.value(), inst, None);
            }
            if let Some(Guarded { then, condition, .. }) = guarded.filter(|_| inst.is_phi()) {
                let from = |(v, b): (Value<'m>, _)| v.as_inst().filter(|_| b == cfg.blocks[then]);
                let read = inst.incoming().into_iter().find_map(from);
                let read = read.filter(|i| i.opcode() == Opcode::Load && is_cell(*i));
                if let Some(load) = read.filter(|i| cfg.home(*i) == Some(then) && promises_nothing(*i)) {
                    add(values, &mut known.fronts, inst.value(), load, Some(condition));
                }
            }
        }
        at = match (&cfg.preds[at][..], guarded) {
            (&[only], _) if only < at => only,
            (_, Some(Guarded { before, .. })) => before,
            _ => break,
        };
    }
    known
}

/// Functions of `rows.cpp`.
const DISTANCE: &str = "looptree.rows.distance";
const FIRST_ROW: &str = "looptree.rows.first";
const LENGTH: &str = "looptree.rows.length";

/// Whether a function is one that looks through tables of rows, counts elements or iterations, or divides strides.
pub(super) fn is_helper(name: &str) -> bool {
    [DISTANCE, FIRST_ROW, LENGTH, BETWEEN, COUNT, RATIO].contains(&name)
}

/// What a call found of the rows of a table, as `rows.cpp` makes it.
fn table<'m>(values: &mut Values<'_, 'm>, inst: Inst<'m>) -> Option<Table<'m>> {
    let [_, distance] = inst.as_call_of(FIRST_ROW)?.args()[..] else { return None };
    let [at, count, size, cell] = distance.as_inst()?.as_call_of(DISTANCE)?.args()[..] else { return None };
    let Address { base, offset, .. } = values.address(at).filter(|a| a.offset.needs.is_empty())?;
    let count = values.integer(count).filter(|c| c.needs.is_empty())?.poly;
    let distance = values.integer(distance)?.poly.scale(size.const_int()?)?;
    Some(Table { base, offset: offset.poly, count, cell: cell.const_int()?, row: inst.value(), distance })
}

/// What a call found of the lengths of rows, as `rows.cpp` makes it.
fn lengths<'m>(values: &mut Values<'_, 'm>, inst: Inst<'m>) -> Option<Lengths<'m>> {
    let [firsts, lasts, count, cell, size] = inst.as_call_of(LENGTH)?.args()[..] else { return None };
    let mut place = |v| values.address(v).filter(|a: &Address<_>| a.offset.needs.is_empty());
    let (first, last) = (place(firsts)?, place(lasts)?);
    let count = values.integer(count).filter(|c| c.needs.is_empty())?.poly;
    let (cell, size) = (cell.const_int()?, size.const_int()?);
    (first.base == last.base).then_some(Lengths {
        base: first.base,
        firsts: first.offset.poly,
        lasts: last.offset.poly,
        count,
        cell,
        size,
        length: inst.value(),
    })
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
