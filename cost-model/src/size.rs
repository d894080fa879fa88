//! Instructions of a body as LLVM counts them before it unrolls a loop: what is computed alike once, loads of what is known already not
//! at all, nor loads and stores of places that stay the same while the loop runs, which are in registers.

use crate::numbering::{Numbers, Operands, Site};
use loop_tree::{
    Access, AccessKind, Affine, ArrayId, Green, Kernel, Occurrence, Op, OpKind, ScalarType, Statement, VarId,
    occurrences,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Instructions of a loop inside: its variable, its end, and the question whether it runs.
const OF_A_LOOP: i64 = 5;

/// Instructions at most, of each operation by itself; private scalars are values to LLVM.
pub(crate) fn at_most(kernel: &Kernel, body: &Green) -> i64 {
    let counted = |statement: &Statement, op: &Op| match op.kind {
        OpKind::Load(access) | OpKind::Store(access, _) => {
            !kernel.array(statement.accesses[access.index()].array).is_local_scalar()
        }
        ref kind => !is_operand(kind),
    };
    let of = |statement: &Statement| statement.ops.iter().filter(|op| counted(statement, op)).count() as i64;
    body.leaves().map(|id| of(kernel.statement(id))).sum::<i64>() + OF_A_LOOP * loops(body)
}

/// Instructions of the body of an innermost loop, which binds a variable; `may_alias`: different arrays may overlap.
pub(crate) fn size(kernel: &Kernel, var: VarId, body: &Green, may_alias: bool) -> i64 {
    let all = occurrences(body);
    let mut count = Count {
        kernel,
        var,
        may_alias,
        addresses: FxHashSet::default(),
        held: FxHashSet::default(),
        known: FxHashMap::default(),
        indices: FxHashMap::default(),
        numbers: Numbers::default(),
        stored: FxHashSet::default(),
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
    var: VarId,
    may_alias: bool,
    /// Rows whose addresses are computed.
    addresses: FxHashSet<Place>,
    /// Places that are in registers.
    held: FxHashSet<Place>,
    /// Numbers of the values in places.
    known: FxHashMap<Place, u32>,
    /// Numbers of what is computed of loop variables.
    indices: FxHashMap<Affine, u32>,
    /// Numbers of what was computed of values with numbers.
    numbers: Numbers<u32>,
    stored: FxHashSet<Place>,
    size: i64,
}

impl Count<'_> {
    /// Whether one place may be the other.
    fn may_meet(&self, a: &Place, b: &Place) -> bool {
        let same = |(a, b): (&Affine, &Affine)| (a - b).as_constant().is_none_or(|d| d == 0);
        match a.0 == b.0 {
            true => a.1.iter().zip(&b.1).all(same),
            false => self.may_alias && self.kernel.may_overlap(a.0, b.0),
        }
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
        let private = |p: &Place| self.kernel.array(p.0).is_local_scalar();
        let moves = |p: &Place| {
            let meets = |q: &Place| q != p && self.may_meet(p, q);
            let is_stored = stores.contains(p);
            p.1.iter().any(|e| e.uses(var))
                || stores.iter().any(meets)
                || is_stored && loads.iter().any(meets)
        };
        self.held = loads.union(&stores).filter(|p| private(p) || !moves(p)).cloned().collect();
    }

    /// A number that is computed of loop variables. Counters of new code have 64 bits, the program's own the type that it computes in.
    fn index(&mut self, e: Affine, ty: ScalarType) -> u32 {
        if let Some(value) = self.indices.get(&e) {
            return *value;
        }
        if e.uses(self.var) {
            let plain = e == Affine::var(self.var);
            self.size += i64::from(!plain) + i64::from(!self.may_alias && ty.bits() < 64);
        }
        let value = self.numbers.next();
        self.indices.insert(e, value);
        value
    }

    /// What goes up is an index of an access; what goes down is computed, once for neighbours.
    fn address(&mut self, place: &Place) {
        let down = |e: &Affine| e.coefficient(self.var) < 0;
        if !self.held.contains(place) && place.1.iter().any(down) {
            let row = place.1.iter().map(|e| e.offset(-e.constant_term())).collect();
            self.size += i64::from(self.addresses.insert((place.0, row)));
        }
    }

    fn statement(&mut self, o: &Occurrence) {
        let statement = self.kernel.statement(o.statement);
        let mut values: SmallVec<[u32; 16]> = SmallVec::new();
        for (index, op) in statement.ops.iter().enumerate() {
            let access = op.kind.access().map(|a| place(o, &statement.accesses[a.index()]));
            let value = match (&op.kind, access) {
                (OpKind::Const(constant), _) => self.numbers.of_constant(*constant),
                (OpKind::Affine(e), _) => self.index(o.resolve(e), op.ty),
                (OpKind::Load(_), Some(Some(place))) => match self.known.get(&place) {
                    Some(value) => *value,
                    None => {
                        self.size += i64::from(!self.held.contains(&place));
                        self.address(&place);
                        *self.known.entry(place).insert_entry(self.numbers.next()).get()
                    }
                },
                (OpKind::Store(_, value), Some(Some(place))) => {
                    let known = std::mem::take(&mut self.known);
                    self.known = known.into_iter().filter(|(q, _)| !self.may_meet(&place, q)).collect();
                    self.known.insert(place.clone(), values[value.index()]);
                    if !self.held.contains(&place) {
                        self.address(&place);
                        self.stored.insert(place);
                    }
                    values[value.index()]
                }
                (kind, None) => {
                    let operands: Operands = kind.operands().iter().map(|a| values[a.index()]).collect();
                    let site = Site { statement: o.statement, index, op, always: true };
                    self.numbers.known(&site, &operands).unwrap_or_else(|| {
                        self.size += 1;
                        let value = self.numbers.next();
                        self.numbers.remember(&site, operands, value);
                        value
                    })
                }
                _ => {
                    self.known.clear();
                    self.size += 1;
                    self.numbers.next()
                }
            };
            values.push(value);
        }
    }
}
