//! What any order of a kernel costs at least: what its operations take at full width, and what memory takes to bring in and
//! out, once, what is touched. Cheap, and no larger than what the model predicts for any tree.

use crate::body::body;
use crate::linear::Linear;
use crate::lower::{Leaf, Lowered};
use crate::operations::{Reordering, class_of, differences_of_bytes, products_of_shorts, reordering};
use crate::throughput::{ADJACENT_EFFICIENCY, SHARING};
use crate::traffic::compulsory;
use crate::transfers::overlapped;
use crate::{OpClass, Target};
use loop_tree::{OpId, OpKind, ScalarType, Storage};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Of what is touched and executed, what a tree is predicted to touch and execute at least.
const JUDGED: f64 = 0.85;
/// The same where trip counts vary: they are sampled, and samples of a tile may see more than there is.
const SAMPLED: f64 = 0.7;

/// Linear parts of the addresses that a value depends on.
type Rows = SmallVec<[SmallVec<[(u16, f64); 4]>; 4]>;

/// Cycles that the program's kernel takes in any order; `program` is the original.
pub(crate) fn least(program: &Lowered<'_>, target: &dyn Target) -> f64 {
    let mut work = Work::default();
    let mut carried: FxHashMap<usize, Rows> = FxHashMap::default();
    for leaf in &program.leaves {
        work.leaf(program, leaf, &mut carried, target);
    }
    work.accesses(program, target);
    let alone = work.divide.max(work.library).max(chain(program, target));
    let ports = [work.float, work.integer, work.loads, work.stores, work.instructions / target.issue_width()];
    let shared = ports.iter().map(|p| p.powi(SHARING)).sum::<f64>().powf(1.0 / f64::from(SHARING));
    let compute = shared.max(alone);
    let judged = if program.loops.iter().all(|l| l.exact && l.skipped == 0.0) { JUDGED } else { SAMPLED };
    judged * overlapped(compute, work.loads.max(work.stores), &compulsory(program, target), target)
}

/// Cycles on each kind of port.
#[derive(Default)]
struct Work {
    float: f64,
    integer: f64,
    divide: f64,
    library: f64,
    loads: f64,
    stores: f64,
    instructions: f64,
}

impl Work {
    /// The operations of a statement, each as often as it has different operands: what several instances compute of the same
    /// ones is computed once.
    fn leaf(
        &mut self,
        program: &Lowered<'_>,
        leaf: &Leaf<'_>,
        carried: &mut FxHashMap<usize, Rows>,
        target: &dyn Target,
    ) {
        let mut values: SmallVec<[Rows; 8]> = SmallVec::with_capacity(leaf.statement.ops.len());
        let ops = &leaf.statement.ops;
        let fused = differences_of_bytes(ops).or_else(|| products_of_shorts(ops));
        let fused = fused.filter(|_| target.fuses_integers());
        for (index, op) in leaf.statement.ops.iter().enumerate() {
            let mut rows = Rows::new();
            for operand in op.kind.operands() {
                rows.extend(values[operand.index()].iter().cloned());
            }
            match &op.kind {
                OpKind::Load(access) => {
                    let touch = &leaf.touches[access.index()];
                    if touch.private {
                        rows = carried.get(&touch.array).cloned().unwrap_or_default();
                    } else {
                        rows.extend(
                            touch.address.iter().flat_map(|a| subscripts(program, leaf, a, touch.bytes)),
                        );
                        rows.extend(rewritten(program, leaf, touch.array));
                    }
                }
                // Loaded again for each instance: which element it is differs.
                OpKind::LoadAt(access, _) => {
                    rows.extend(rewritten(program, leaf, leaf.touches[access.index()].array))
                }
                OpKind::Store(access, _) => {
                    let touch = &leaf.touches[access.index()];
                    if touch.private {
                        carried.insert(touch.array, rows.clone());
                    }
                }
                kind => {
                    if let Some(class) = class_of(ops, OpId::new(index)).filter(|_| !rows.is_empty()) {
                        let masked = if op.mask.is_some() { 0.5 } else { 1.0 };
                        let count = distinct(program, leaf, &rows) * masked;
                        let ty = match kind {
                            OpKind::Compare(_, a, _) => leaf.statement.ops[a.index()].ty,
                            _ => op.ty,
                        };
                        let (count, ty) = match &fused {
                            Some(d) => d.counted(OpId::new(index), count, ty),
                            None => (count, ty),
                        };
                        self.operation(class, ty, count, target);
                    }
                }
            }
            reduce(&mut rows);
            values.push(rows);
        }
    }

    fn operation(&mut self, class: OpClass, ty: ScalarType, count: f64, target: &dyn Target) {
        let lanes = target.lanes(ty);
        let wide = target.op(class, ty, lanes).reciprocal / f64::from(lanes);
        let pack = (f64::from(lanes) * ADJACENT_EFFICIENCY).max(1.0);
        let single = target.op(class, ty, 1).reciprocal;
        // Before a loop it costs what a load does.
        let cycles = match class {
            OpClass::Library | OpClass::IntegerDiv => single,
            OpClass::FloatDiv | OpClass::FloatSqrt => wide.min(single / pack.sqrt()),
            _ => wide.min(single / pack),
        };
        let cycles = count * cycles.min(1.0 / target.loads_per_cycle().max(0.1));
        match class {
            OpClass::FloatDiv | OpClass::FloatSqrt => self.divide += cycles,
            OpClass::Library | OpClass::IntegerDiv => self.library += cycles,
            OpClass::Integer | OpClass::IntegerMul | OpClass::Widen => self.integer += cycles,
            _ => self.float += cycles,
        }
        self.instructions += count / f64::from(lanes);
    }

    /// Each element of an array that is only read is loaded, each that is written is stored.
    fn accesses(&mut self, program: &Lowered<'_>, target: &dyn Target) {
        let mut most: BTreeMap<usize, (f64, bool)> = BTreeMap::new();
        for leaf in &program.leaves {
            for touch in leaf.touches.iter().filter(|t| !t.private && lasts(program, t.array)) {
                let Some(address) = &touch.address else { continue };
                let elements = distinct(program, leaf, &subscripts(program, leaf, address, touch.bytes))
                    * touch.bytes
                    * 8.0
                    / f64::from(target.vector_bits().max(64));
                let (known, written) = most.entry(touch.array).or_default();
                *written |= touch.write;
                *known = known.max(if leaf.probability < 1.0 { 0.0 } else { elements });
            }
        }
        for (vectors, written) in most.into_values() {
            match written {
                true => self.stores += vectors / target.stores_per_cycle().max(0.1),
                false => self.loads += vectors / target.loads_per_cycle().max(0.1),
            }
            self.instructions += vectors;
        }
    }
}

/// Whether memory holds an array before or after.
pub(crate) fn lasts(program: &Lowered<'_>, array: usize) -> bool {
    program.facts.kernel.arrays.get(array).is_some_and(|a| a.storage == Storage::Memory && !a.is_scalar())
}

/// The loops around a load that are also around a store to its array: in each of their iterations it may find another value.
fn rewritten(program: &Lowered<'_>, leaf: &Leaf<'_>, array: usize) -> Rows {
    let own: SmallVec<[usize; 8]> = program.path(leaf.parent).collect();
    let writes = |l: &&Leaf<'_>| l.touches.iter().any(|t| t.write && t.array == array);
    let shared =
        |other: &Leaf<'_>| program.path(other.parent).filter(|l| own.contains(l)).collect::<Vec<_>>();
    let mut loops: Vec<usize> = program.leaves.iter().filter(writes).flat_map(shared).collect();
    loops.sort_unstable();
    loops.dedup();
    loops.iter().map(|l| smallvec::smallvec![(program.loops[*l].depth as u16, 1.0)]).collect()
}

/// Different values of linear forms over the loops around a statement, at least.
fn distinct(program: &Lowered<'_>, leaf: &Leaf<'_>, rows: &Rows) -> f64 {
    let mut rows = rows.clone();
    reduce(&mut rows);
    let mut trips: SmallVec<[f64; 8]> = program
        .path(leaf.parent)
        .filter(|l| {
            let depth = program.loops[*l].depth as u16;
            rows.iter().any(|r| r.iter().any(|t| t.0 == depth))
        })
        .map(|l| program.loops[l].trip.max(1.0))
        .collect();
    if trips.len() > rows.len() {
        trips.sort_by(f64::total_cmp);
    }
    trips.iter().take(rows.len()).product::<f64>().min(leaf.runs)
}

/// The loops that an address moves with, apart as far as each one's steps are longer than all that the shorter ones reach.
fn subscripts(program: &Lowered<'_>, leaf: &Leaf<'_>, address: &Linear, bytes: f64) -> Rows {
    let mut terms = address.terms.clone();
    terms.sort_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let mut rows = Rows::new();
    let mut reach = bytes;
    for term in terms {
        let apart = term.1.abs() >= reach;
        let trip =
            program.path(leaf.parent).map(|l| &program.loops[l]).find(|l| l.depth == usize::from(term.0));
        reach += term.1.abs() * trip.map_or(0.0, |l| (l.trip - 1.0).max(0.0));
        match rows.last_mut() {
            Some(row) if !apart => row.push(term),
            _ => rows.push(smallvec::smallvec![term]),
        }
    }
    rows
}

/// Leaves as many forms as are independent.
fn reduce(rows: &mut Rows) {
    let mut basis = Rows::new();
    for row in rows.iter() {
        let mut form = Linear { terms: row.clone(), constant: 0.0 };
        for known in &basis {
            let (depth, c) = known[0];
            let factor = form.coefficient(usize::from(depth)) / c;
            if factor != 0.0 {
                form.add_scaled(&Linear { terms: known.clone(), constant: 0.0 }, -factor);
                // What rounding leaves.
                form.terms.retain(|t| t.0 != depth && t.1.abs() > 1e-6);
            }
        }
        if !form.terms.is_empty() {
            basis.push(form.terms);
        }
    }
    *rows = basis;
}

/// Sums into one element, in an order that must be kept.
fn chain(program: &Lowered<'_>, target: &dyn Target) -> f64 {
    let mut longest = 0.0f64;
    for (at, leaf) in program.leaves.iter().enumerate() {
        let mut loops = program.path(leaf.parent);
        let Some(innermost) = loops.next() else { continue };
        let fixed = leaf
            .touches
            .iter()
            .any(|t| t.write && !t.private && t.address.as_ref().is_some_and(|a| a.terms.is_empty()));
        let ordered = leaf.statement.ops.iter().all(|o| {
            !matches!(o.kind, OpKind::Binary(..) | OpKind::Call(..))
                || reordering(&o.kind, o.flags) == Reordering::No
        });
        if fixed && ordered && leaf.probability >= 1.0 {
            let depth = program.loops[innermost].depth;
            longest = longest.max(body(program, &[at], Some(depth), None, true, target).chain * leaf.runs);
        }
    }
    longest
}
