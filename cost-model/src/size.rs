//! Instructions of a body as LLVM counts them before it unrolls a loop: what is computed alike once, loads of what is known already not
//! at all, nor loads and stores of places that stay the same while the loop runs, which are in registers.

use crate::numbering::without_operands;
use loop_tree::{
    Access, AccessKind, Affine, ArrayId, Green, Kernel, Occurrence, Op, OpKind, ScalarType, Statement,
    Storage, VarId, occurrences,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Instructions of a loop inside: its variable, its end, and the question whether it runs.
const OF_A_LOOP: i64 = 5;

/// Instructions at most, of each operation by itself; private scalars are values to LLVM.
pub(crate) fn at_most(kernel: &Kernel, body: &Green) -> i64 {
    let counted = |statement: &Statement, op: &Op| match op.kind {
        OpKind::Load(access) | OpKind::Store(access, _) => {
            let array = kernel.array(statement.accesses[access.index()].array);
            !(array.is_scalar() && array.storage == Storage::Local)
        }
        ref kind => !is_operand(kind),
    };
    let of = |statement: &Statement| statement.ops.iter().filter(|op| counted(statement, op)).count() as i64;
    body.leaves().map(|id| of(kernel.statement(id))).sum::<i64>() + OF_A_LOOP * loops(body)
}

/// Instructions of the body of an innermost loop, which binds a variable.
pub(crate) fn size(kernel: &Kernel, var: VarId, body: &Green) -> i64 {
    let all = occurrences(body);
    let mut count = Count {
        kernel,
        held: FxHashSet::default(),
        known: FxHashMap::default(),
        alike: FxHashMap::default(),
        stored: FxHashSet::default(),
        last: 0,
        size: 0,
    };
    count.hold(var, &all);
    all.iter().for_each(|o| count.statement(o));
    count.size + count.stored.len() as i64
}

/// What needs no instruction.
fn is_operand(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Const(_) | OpKind::Affine(_))
}

fn loops(node: &Green) -> i64 {
    if node.summary().loop_depth == 0 {
        return 0;
    }
    i64::from(node.as_loop().is_some()) + node.children().map(loops).sum::<i64>()
}

/// An element, in terms of what is bound outside of the body.
type Place = (ArrayId, SmallVec<[Affine; 3]>);

fn place(o: &Occurrence, access: &Access) -> Option<Place> {
    let subscripts = access.subscripts.as_ref()?;
    Some((access.array, subscripts.iter().map(|e| o.resolve(e)).collect()))
}

struct Count<'k> {
    kernel: &'k Kernel,
    /// Places that are in registers.
    held: FxHashSet<Place>,
    /// Numbers of the values in places.
    known: FxHashMap<Place, u32>,
    /// Numbers of what was computed of values with such numbers.
    alike: FxHashMap<(OpKind, ScalarType, SmallVec<[u32; 3]>), u32>,
    stored: FxHashSet<Place>,
    last: u32,
    size: i64,
}

impl Count<'_> {
    /// Whether one may be the other.
    fn may_meet(&self, a: &Place, b: &Place) -> bool {
        let apart =
            || a.0 == b.0 && a.1.iter().zip(&b.1).any(|(a, b)| (a - b).as_constant().is_some_and(|d| d != 0));
        self.kernel.may_overlap(a.0, b.0) && !apart()
    }

    /// Finds the places that the loop leaves where they are, and that nothing else may be.
    fn hold(&mut self, var: VarId, all: &[Occurrence]) {
        let mut loads: FxHashSet<Place> = FxHashSet::default();
        let mut stores: FxHashSet<Place> = FxHashSet::default();
        for o in all {
            for access in &self.kernel.statement(o.statement).accesses {
                let Some(place) = place(o, access) else { return };
                match access.kind {
                    AccessKind::Read => loads.insert(place),
                    _ => stores.insert(place),
                };
            }
        }
        let private = |p: &Place| {
            let array = self.kernel.array(p.0);
            array.is_scalar() && array.storage == Storage::Local
        };
        let moves = |p: &Place| {
            let meets = |q: &Place| q != p && self.may_meet(p, q);
            let is_stored = stores.contains(p);
            p.1.iter().any(|e| e.uses(var))
                || stores.iter().any(meets)
                || is_stored && loads.iter().any(meets)
        };
        self.held = loads.union(&stores).filter(|p| private(p) || !moves(p)).cloned().collect();
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    fn statement(&mut self, o: &Occurrence) {
        let statement = self.kernel.statement(o.statement);
        let mut numbers: SmallVec<[u32; 16]> = SmallVec::new();
        for op in &statement.ops {
            let access = op.kind.access().map(|a| place(o, &statement.accesses[a.index()]));
            let number = match (&op.kind, access) {
                (OpKind::Load(_), Some(Some(place))) => match self.known.get(&place) {
                    Some(number) => *number,
                    None => {
                        self.size += i64::from(!self.held.contains(&place));
                        let number = self.next();
                        self.known.insert(place, number);
                        number
                    }
                },
                (OpKind::Store(_, value), Some(Some(place))) => {
                    let mut known = std::mem::take(&mut self.known);
                    known.retain(|q, _| !self.may_meet(&place, q));
                    self.known = known;
                    self.known.insert(place.clone(), numbers[value.index()]);
                    if !self.held.contains(&place) {
                        self.stored.insert(place);
                    }
                    numbers[value.index()]
                }
                (kind, None) => {
                    let operands = kind.operands().iter().map(|a| numbers[a.index()]).collect();
                    let kind = match kind {
                        OpKind::Affine(e) => Some(OpKind::Affine(o.resolve(e))),
                        OpKind::Const(_) => Some(kind.clone()),
                        _ => without_operands(kind),
                    };
                    let next = self.last + 1;
                    let number =
                        kind.map_or(next, |kind| *self.alike.entry((kind, op.ty, operands)).or_insert(next));
                    if number == next {
                        self.last = next;
                        self.size += i64::from(!is_operand(&op.kind));
                    }
                    number
                }
                _ => {
                    self.known.clear();
                    self.size += 1;
                    self.next()
                }
            };
            numbers.push(number);
        }
    }
}
