//! Statements of a section: which effects belong together, and their operations.

use loop_tree::{
    Access, AccessId, AccessKind, ArrayId, BinaryOp, CastOp, Constant, Intrinsic, Mask, Op, OpFlags, OpId,
    OpKind, Reduction, ReductionOp, ScalarType, Statement, StmtFlags, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use super::leaves::{Data, Leaf, Refusal, Root, Spot, impure, refuse};
use super::memory::scalar_type;
use super::numbered::Number;
use super::ops::{binary_op, cast_op, error_number, flags_of, int_compare, intrinsic_of, real_compare};
use crate::llvm::{Inst, Opcode, Value};
use crate::mutation::{self, Rule};

/// Roots of a section that form one statement, in order.
pub(super) type Group = Vec<usize>;

type Reads<'m> = Vec<(Spot<'m>, usize)>;

impl<'m> Data<'_, '_, 'm> {
    /// Finds all scalars that the roots need, until nothing new turns up.
    pub(super) fn discover(&mut self) -> Result<(), Refusal<'m>> {
        while let Some((section, root)) = self.fresh.pop() {
            self.reads(section, root)?;
        }
        Ok(())
    }

    fn position(&self, section: usize, root: usize) -> usize {
        match self.sections[section].roots[root] {
            Root::Store(i) | Root::Call(i) => self.order.get(&i).copied().unwrap_or(0),
            Root::Set { .. } => (usize::MAX >> 1) + root,
        }
    }

    /// What a root reads and where in the order of its section; scalars are read at its beginning.
    fn reads(&mut self, section: usize, root: Root<'m>) -> Result<Reads<'m>, Refusal<'m>> {
        let mut reads = Vec::new();
        let mut seen = FxHashSet::default();
        let value = match root {
            Root::Store(i) => {
                if let Some(block) = self.cx.values.cfg.home(i) {
                    self.control_reads(block, section, &mut reads, &mut seen)?;
                }
                self.number_reads(i, section, &mut reads, &mut seen)?;
                i.operand(0).ok_or_else(|| refuse(Some(i), "store", "a store without a value"))?
            }
            Root::Call(i) => {
                if let Some(block) = self.cx.values.cfg.home(i) {
                    self.control_reads(block, section, &mut reads, &mut seen)?;
                }
                for value in self.argument_values(i) {
                    self.value_reads(value, section, &mut reads, &mut seen)?;
                }
                return Ok(reads);
            }
            Root::Set { value, .. } => value,
        };
        self.value_reads(value, section, &mut reads, &mut seen)?;
        Ok(reads)
    }

    fn value_reads(
        &mut self,
        v: Value<'m>,
        section: usize,
        reads: &mut Reads<'m>,
        seen: &mut FxHashSet<Value<'m>>,
    ) -> Result<(), Refusal<'m>> {
        if !seen.insert(v) {
            return Ok(());
        }
        if seen.len() > 2000 {
            return Err(refuse(v.as_inst(), "size", "an expression of too many operations"));
        }
        match self.leaf(v, section)? {
            Leaf::Const(_) | Leaf::Affine(_) => {}
            Leaf::Slot(slot) => reads.push((Spot::Slot(slot), 0)),
            Leaf::Load(i) => {
                let here = self.section_of.get(&i) == Some(&section);
                let at = if here { self.order.get(&i).copied().unwrap_or(0) } else { 0 };
                reads.push((Spot::Memory(i), at));
                self.number_reads(i, section, reads, seen)?;
                if here && let Some(block) = self.cx.values.cfg.home(i) {
                    self.control_reads(block, section, reads, seen)?;
                }
            }
            Leaf::Held(store) => reads.push((Spot::Held(store), 0)),
            Leaf::Called(i) => reads.push((Spot::Called(i), self.order.get(&i).copied().unwrap_or(0))),
            Leaf::Part(i) => {
                let (call, _) =
                    self.part(i).ok_or_else(|| refuse(Some(i), "value", "a part of what is not known"))?;
                if self.section_of.get(&call) != Some(&section) {
                    return Err(refuse(Some(i), "type", "a result of a type that statements do not have"));
                }
                reads.push((Spot::Called(call), self.order.get(&call).copied().unwrap_or(0)));
                if let Some(block) = self.cx.values.cfg.home(i) {
                    self.control_reads(block, section, reads, seen)?;
                }
            }
            Leaf::Same(w) => self.value_reads(w, section, reads, seen)?,
            Leaf::Op(i) => {
                // Its choice would have to be the same in all statements that use it.
                if i.opcode() == Opcode::Freeze
                    && !i.operands().into_iter().all(|o| self.is_definite(o, section, &mut 0))
                {
                    return Err(refuse(Some(i), "freeze", "a value that may be poison, and is fixed"));
                }
                for o in computed_from(i)? {
                    self.value_reads(o, section, reads, seen)?;
                }
                if self.section_of.get(&i) == Some(&section)
                    && let Some(block) = self.cx.values.cfg.home(i)
                {
                    self.control_reads(block, section, reads, seen)?;
                }
            }
            Leaf::Join(phi) => {
                for (w, _) in phi.incoming() {
                    self.value_reads(w, section, reads, seen)?;
                }
                if let Some(block) = self.cx.values.cfg.home(phi) {
                    for u in self.deciders(block, section) {
                        self.condition_reads(u, section, reads, seen)?;
                    }
                    self.control_reads(block, section, reads, seen)?;
                }
            }
        }
        Ok(())
    }

    /// What the number of an element that is not described is computed from.
    fn number_reads(
        &mut self,
        access: Inst<'m>,
        section: usize,
        reads: &mut Reads<'m>,
        seen: &mut FxHashSet<Value<'m>>,
    ) -> Result<(), Refusal<'m>> {
        let number = self.touches.get(&access).and_then(|t| t.number.clone());
        number.iter().flat_map(|n| &n.terms).try_for_each(|(v, _)| self.value_reads(*v, section, reads, seen))
    }

    /// Whether what a statement computes for a value is never poison: exact integers, and operations on them that cannot
    /// go wrong.
    fn is_definite(&mut self, v: Value<'m>, section: usize, spent: &mut usize) -> bool {
        const MOST: usize = 50;
        use Opcode::*;
        *spent += 1;
        match self.leaf(v, section) {
            Ok(Leaf::Const(_) | Leaf::Affine(_)) => true,
            Ok(Leaf::Same(w)) => *spent < MOST && self.is_definite(w, section, spent),
            Ok(Leaf::Op(i)) => {
                let sound = matches!(
                    i.opcode(),
                    Add | Sub | Mul | And | Or | Xor | ICmp | Select | Trunc | ZExt | SExt | Freeze
                );
                sound
                    && *spent < MOST
                    && flags_of(i).is_empty()
                    && i.operands().into_iter().all(|o| self.is_definite(o, section, spent))
            }
            _ => false,
        }
    }

    /// What decides whether a block of the section runs.
    fn control_reads(
        &mut self,
        block: usize,
        section: usize,
        reads: &mut Reads<'m>,
        seen: &mut FxHashSet<Value<'m>>,
    ) -> Result<(), Refusal<'m>> {
        if self.always_runs(block, section) {
            return Ok(());
        }
        for u in self.deciders(block, section) {
            self.condition_reads(u, section, reads, seen)?;
        }
        let above = self.cx.values.cfg.idom[block];
        self.control_reads(above, section, reads, seen)
    }

    fn condition_reads(
        &mut self,
        block: usize,
        section: usize,
        reads: &mut Reads<'m>,
        seen: &mut FxHashSet<Value<'m>>,
    ) -> Result<(), Refusal<'m>> {
        match self.cx.values.cfg.insts[block].last().and_then(|t| t.condition()) {
            Some(c) => self.value_reads(c, section, reads, seen),
            None => Ok(()),
        }
    }

    /// Blocks of the section between a block's immediate dominator, included, and the block, where ways part.
    fn deciders(&self, block: usize, section: usize) -> Vec<usize> {
        let cfg = self.cx.values.cfg;
        let (from, test) = (cfg.idom[block], self.sections[section].test);
        let is_here = |end: &Inst<'m>| self.section_of.get(end) == Some(&section);
        (from..block)
            .filter(|&u| Some(u) != test && cfg.succs[u].len() == 2)
            .filter(|&u| cfg.insts[u].last().is_some_and(is_here) && cfg.dominates(from, u))
            .collect()
    }

    /// Roots that must be one statement: a read that would otherwise move behind a write to the same place.
    pub(super) fn groups(&mut self, section: usize) -> Result<Vec<Group>, Refusal<'m>> {
        let mut order: Vec<usize> = (0..self.sections[section].roots.len()).collect();
        order.sort_by_key(|&r| self.position(section, r));
        let mut first: Vec<usize> = (0..order.len()).collect();
        for late in 0..order.len() {
            let root = self.sections[section].roots[order[late]];
            let reads = self.reads(section, root)?;
            for (early, &other) in order.iter().enumerate().take(late) {
                let at = self.position(section, other);
                let spot = match self.sections[section].roots[other] {
                    Root::Store(i) => Spot::Memory(i),
                    Root::Call(i) => Spot::Called(i),
                    Root::Set { slot, .. } => Spot::Slot(slot),
                };
                if reads.iter().any(|(r, from)| {
                    // Only its own statement knows what a call returned.
                    *r == spot && matches!(r, Spot::Called(_))
                        || *from < at && self.may_touch(r, &spot) && !self.excludes(r, &spot, section)
                }) {
                    first[late] = first[late].min(early);
                    break;
                }
            }
        }
        let mut groups: Vec<(usize, Group)> = Vec::new();
        for at in 0..order.len() {
            let mut group = vec![order[at]];
            let mut begin = at;
            while groups.last().is_some_and(|(start, g)| first[at] < start + g.len()) {
                if let Some((start, mut before)) = groups.pop() {
                    before.append(&mut group);
                    (begin, group) = (start, before);
                }
            }
            groups.push((begin, group));
        }
        Ok(groups.into_iter().map(|g| g.1).collect())
    }
}

/// The operands that an operation computes from, if statements know it.
fn computed_from<'m>(i: Inst<'m>) -> Result<Vec<Value<'m>>, Refusal<'m>> {
    if let Some(call) = i.as_call() {
        return match intrinsic_of(i) {
            Some((_, count)) => Ok(call.args().into_iter().take(count).collect()),
            None if call.is_pure() || error_number(i).is_some() || cast_op(i).is_some() => Ok(call.args()),
            None => Err(impure(i)),
        };
    }
    let known = binary_op(i.opcode()).is_some()
        || cast_op(i).is_some()
        || matches!(i.opcode(), Opcode::ICmp | Opcode::FCmp | Opcode::Select | Opcode::FNeg | Opcode::Freeze);
    if !known {
        return Err(refuse(Some(i), "operation", "an operation that statements do not have"));
    }
    // `select(c, uitofp(sext x), y)` of neighbours becomes a vector of `uitofp x` (LLVM 22, SLPVectorizer): 4.3e9 for -1, not 1.8e19.
    if i.converts_extended_sign() {
        let message = "a signed number converted as an unsigned one, which LLVM gets wrong in vectors";
        return Err(refuse(Some(i), "operation", message));
    }
    Ok(i.operands())
}

/// Of loads that the program executes under a condition: `joins.cpp`.
const GUARDED: &str = "looptree.guarded";

/// Builds one statement.
pub(super) struct Maker<'d, 'v, 'a, 'm> {
    pub(super) data: &'d mut Data<'v, 'a, 'm>,
    pub(super) section: usize,
    pub(super) origins: &'d mut Vec<Inst<'m>>,
    pub(super) dims: Arc<[VarId]>,
    ops: Vec<Op>,
    pub(super) accesses: Vec<Access>,
    pub(super) memo: FxHashMap<Value<'m>, OpId>,
    slots: FxHashMap<usize, OpId>,
    held: FxHashMap<Inst<'m>, OpId>,
    masks: FxHashMap<usize, Option<Mask>>,
    pub(super) flags: StmtFlags,
}

impl Data<'_, '_, '_> {
    /// Where a slot lives: scalars come after memories.
    fn slot_access(&self, slot: usize, kind: AccessKind) -> Access {
        if let Some(e) = self.element(slot) {
            return Access {
                array: ArrayId::new(e.touch.memory),
                subscripts: e.touch.subscripts.clone(),
                kind,
            };
        }
        Access { array: self.slot_array(slot), subscripts: Some(Vec::new()), kind }
    }

    /// The array of a slot that stands for no element.
    pub(super) fn slot_array(&self, slot: usize) -> ArrayId {
        let before = (0..slot).filter(|s| self.element(*s).is_none()).count();
        ArrayId::new(self.memories.len() + before)
    }
}

impl<'d, 'v, 'a, 'm> Maker<'d, 'v, 'a, 'm> {
    pub(super) fn new(
        data: &'d mut Data<'v, 'a, 'm>,
        section: usize,
        origins: &'d mut Vec<Inst<'m>>,
        dims: Arc<[VarId]>,
    ) -> Self {
        Maker {
            data,
            section,
            origins,
            dims,
            ops: Vec::new(),
            accesses: Vec::new(),
            memo: FxHashMap::default(),
            slots: FxHashMap::default(),
            held: FxHashMap::default(),
            masks: FxHashMap::default(),
            flags: StmtFlags::empty(),
        }
    }

    pub(super) fn statement(mut self, name: &str, group: &[usize]) -> Result<Statement, Refusal<'m>> {
        let roots: Vec<(Root<'m>, usize)> = group
            .iter()
            .map(|&r| (self.data.sections[self.section].roots[r], self.data.position(self.section, r)))
            .collect();
        let mut location = None;
        for (at, &(root, position)) in roots.iter().enumerate() {
            // Reads of later roots that come before this write.
            for &(later, _) in &roots[at + 1..] {
                for (spot, from) in self.data.reads(self.section, later)? {
                    if from < position {
                        match spot {
                            Spot::Slot(slot) => self.read_slot(slot)?,
                            Spot::Memory(i) => self.value(i.value())?,
                            Spot::Held(store) => self.held(store)?,
                            Spot::Called(_) => continue,
                        };
                    }
                }
            }
            let (kind, ty, mask, inst) = match root {
                Root::Store(i) => {
                    let v =
                        i.operand(0).ok_or_else(|| refuse(Some(i), "store", "a store without a value"))?;
                    let value = self.value(v)?;
                    let block = self.data.cx.values.cfg.home(i).unwrap_or(0);
                    let mask = self.mask(block)?;
                    location = location.or_else(|| super::location(i));
                    let (access, number, ty) = self.touch(i, mask.is_some(), mask)?;
                    if i.is_relaxed_store() {
                        self.flags |= StmtFlags::ATOMIC_RELAXED;
                    }
                    let kind = match number {
                        Some(at) => OpKind::StoreAt(access, at, value),
                        None => OpKind::Store(access, value),
                    };
                    (kind, ty, mask, Some(i))
                }
                Root::Call(i) => {
                    let block = self.data.cx.values.cfg.home(i).unwrap_or(0);
                    let mask = self.mask(block)?;
                    location = location.or_else(|| super::location(i));
                    let (kind, ty) = self.call(i, mask)?;
                    let op = self.push(kind, ty, mask, OpFlags::empty(), Some(i));
                    self.memo.insert(i.value(), op);
                    continue;
                }
                Root::Set { slot, value } => {
                    let inst = value.as_inst().filter(|i| self.data.section_of.get(i) == Some(&self.section));
                    location = location.or_else(|| inst.and_then(super::location));
                    let value = self.value(value)?;
                    let ty = self.data.slots[slot].ty;
                    self.accesses.push(self.data.slot_access(slot, AccessKind::Write));
                    let store = self.data.element(slot).map(|e| e.store);
                    (OpKind::Store(AccessId::new(self.accesses.len() - 1), value), ty, None, store)
                }
            };
            self.push(kind, ty, mask, OpFlags::empty(), inst);
        }
        // A store that merges several has no line of its own.
        if location.is_none() {
            let origins = self.ops.iter().filter_map(|o| self.origins.get(o.origin? as usize).copied());
            location = origins.into_iter().find_map(super::location);
        }
        // Other threads see what an atomic accumulator holds in between.
        let observed = self.flags.contains(StmtFlags::ATOMIC_RELAXED);
        let called = self.flags.contains(StmtFlags::OPAQUE);
        let reduction = if observed || called { None } else { reduction(&self.ops, &self.accesses) };
        Ok(Statement {
            name: name.into(),
            dims: self.dims,
            ops: self.ops,
            accesses: self.accesses,
            reduction,
            flags: self.flags,
            location,
        })
    }

    pub(super) fn push(
        &mut self,
        kind: OpKind,
        ty: ScalarType,
        mask: Option<Mask>,
        flags: OpFlags,
        from: Option<Inst<'m>>,
    ) -> OpId {
        let origin = from.map(|i| self.origin(i));
        self.ops.push(Op { kind, ty, mask, flags, origin });
        OpId::new(self.ops.len() - 1)
    }

    /// Its number among the instructions that operations come from.
    fn origin(&mut self, i: Inst<'m>) -> u32 {
        match self.origins.iter().position(|o| *o == i) {
            Some(at) => at as u32,
            None => {
                self.origins.push(i);
                self.origins.len() as u32 - 1
            }
        }
    }

    /// The access of a load or store, and the number of its element where that has no subscripts.
    fn touch(
        &mut self,
        i: Inst<'m>,
        masked: bool,
        mask: Option<Mask>,
    ) -> Result<(AccessId, Option<OpId>, ScalarType), Refusal<'m>> {
        let touch = self.data.touches.get(&i).cloned();
        let touch = touch.ok_or_else(|| refuse(Some(i), "access", "an access that was not described"))?;
        let number = match (&touch.subscripts, &touch.number) {
            (Some(_), _) => None,
            (None, Some(number)) if !i.is_relaxed_store() => Some(self.number(number, mask)?),
            _ => {
                let why = "which element is accessed is not known when the loop begins";
                return Err(refuse(Some(i), "subscript", why));
            }
        };
        let kind = match i.opcode() {
            Opcode::Load => AccessKind::Read,
            _ if masked || touch.subscripts.is_none() => AccessKind::MayWrite,
            _ => AccessKind::Write,
        };
        self.accesses.push(Access { array: ArrayId::new(touch.memory), subscripts: touch.subscripts, kind });
        Ok((AccessId::new(self.accesses.len() - 1), number, touch.ty))
    }

    /// The number of an element, under the mask of its access.
    pub(super) fn number(&mut self, number: &Number<'m>, mask: Option<Mask>) -> Result<OpId, Refusal<'m>> {
        let (i64, none) = (ScalarType::I64, OpFlags::empty());
        let constant = |this: &mut Self, c: i64| {
            this.push(OpKind::Const(Constant { ty: i64, bits: c as u64 }), i64, None, none, None)
        };
        let mut sum = None;
        for &(value, factor) in &number.terms {
            let mut term = self.value(value)?;
            if self.ops[term.index()].ty != i64 {
                term = self.push(OpKind::Cast(CastOp::SExt, term), i64, mask, none, None);
            }
            if factor != 1 {
                let factor = constant(self, factor);
                term = self.push(OpKind::Binary(BinaryOp::Mul, term, factor), i64, mask, none, None);
            }
            sum = Some(match sum {
                Some(before) => self.push(OpKind::Binary(BinaryOp::Add, before, term), i64, mask, none, None),
                None => term,
            });
        }
        if let Some(before) = sum
            && number.constant == 0
        {
            return Ok(before);
        }
        let last = constant(self, number.constant);
        Ok(match sum {
            Some(before) => self.push(OpKind::Binary(BinaryOp::Add, before, last), i64, mask, none, None),
            None => last,
        })
    }

    fn read_slot(&mut self, slot: usize) -> Result<OpId, Refusal<'m>> {
        if let Some(&op) = self.slots.get(&slot) {
            return Ok(op);
        }
        let op = self.read(self.data.slot_access(slot, AccessKind::Read), self.data.slots[slot].ty);
        self.slots.insert(slot, op);
        Ok(op)
    }

    fn read(&mut self, access: Access, ty: ScalarType) -> OpId {
        self.accesses.push(access);
        let access = AccessId::new(self.accesses.len() - 1);
        self.push(OpKind::Load(access), ty, None, OpFlags::empty(), None)
    }

    /// What a store of an earlier section has left in its element.
    fn held(&mut self, store: Inst<'m>) -> Result<OpId, Refusal<'m>> {
        if let Some(&op) = self.held.get(&store) {
            return Ok(op);
        }
        let touch = self.data.touches.get(&store).cloned();
        let touch = touch.ok_or_else(|| refuse(Some(store), "access", "an access that was not described"))?;
        let (array, subscripts, kind) = (ArrayId::new(touch.memory), touch.subscripts, AccessKind::Read);
        let op = self.read(Access { array, subscripts, kind }, touch.ty);
        self.held.insert(store, op);
        Ok(op)
    }

    /// The mask of what stands in a block: none where the block is in another section.
    fn mask(&mut self, block: usize) -> Result<Option<Mask>, Refusal<'m>> {
        if self.data.always_runs(block, self.section) {
            return Ok(None);
        }
        if let Some(m) = self.masks.get(&block) {
            return Ok(*m);
        }
        let from = self.data.cx.values.cfg.idom[block];
        let around = self.mask(from)?;
        let tree = self.ways(from, block, &mut FxHashMap::default(), &mut |_, _| Ok(Way::Yes))?;
        let mask = match tree {
            Way::Yes => around,
            Way::No => return Err(refuse(None, "control", "a block that control does not reach")),
            Way::Test(op) | Way::Value(op) => Some(Mask { op: self.under(around, op), value: true }),
            Way::Not(op) => Some(Mask { op: self.under(around, op), value: false }),
        };
        self.masks.insert(block, mask);
        Ok(mask)
    }

    /// The operation's bit, executed under this mask only: a condition may be computed far in front of its branch, where
    /// less is decided, and a mask says no more than that its operation executes and has a value.
    fn under(&mut self, around: Option<Mask>, op: OpId) -> OpId {
        if around.is_none() || self.ops[op.index()].mask == around {
            return op;
        }
        let zero = Constant { ty: ScalarType::I1, bits: 0 };
        let zero = self.push(OpKind::Const(zero), ScalarType::I1, None, OpFlags::empty(), None);
        let same = OpKind::Binary(BinaryOp::Or, op, zero);
        self.push(same, ScalarType::I1, around, OpFlags::empty(), None)
    }

    /// What is decided between `u` and `target` by the ways that control may take.
    fn ways(
        &mut self,
        u: usize,
        target: usize,
        memo: &mut FxHashMap<usize, Way>,
        arrive: &mut dyn FnMut(&mut Self, usize) -> Result<Way, Refusal<'m>>,
    ) -> Result<Way, Refusal<'m>> {
        if let Some(w) = memo.get(&u) {
            return Ok(*w);
        }
        let cfg = self.data.cx.values.cfg;
        let mut ends = Vec::new();
        for &s in &cfg.succs[u] {
            let w = if s == target {
                arrive(self, u)?
            } else if s < target && s > u && self.data.sections[self.section].blocks.contains(&s) {
                self.ways(s, target, memo, arrive)?
            } else {
                Way::No
            };
            ends.push(w);
        }
        let way = match ends[..] {
            [one] => one,
            [a, b] if a == b => a,
            [a, b] => {
                let condition = cfg.insts[u].last().and_then(|t| t.condition());
                let c = condition.ok_or_else(|| refuse(None, "control", "a branch without a condition"))?;
                let c = self.value(c)?;
                match (a, b) {
                    (Way::Yes, Way::No) => Way::Test(c),
                    (Way::No, Way::Yes) => Way::Not(c),
                    // A value on one way only: the other one does not lead here.
                    (Way::Value(x), Way::No) | (Way::No, Way::Value(x)) => Way::Value(x),
                    _ => {
                        let mask = self.mask(u)?;
                        let (x, y) = (self.way_value(a, mask), self.way_value(b, mask));
                        let ty = self.ops[x.index()].ty;
                        let op = self.push(OpKind::Select(c, x, y), ty, mask, OpFlags::empty(), None);
                        let joins = matches!(a, Way::Value(_)) || matches!(b, Way::Value(_));
                        if joins { Way::Value(op) } else { Way::Test(op) }
                    }
                }
            }
            _ => Way::No,
        };
        memo.insert(u, way);
        Ok(way)
    }

    fn way_value(&mut self, w: Way, mask: Option<Mask>) -> OpId {
        let constant = |this: &mut Self, bits| {
            let c = Constant { ty: ScalarType::I1, bits };
            this.push(OpKind::Const(c), ScalarType::I1, None, OpFlags::empty(), None)
        };
        match w {
            Way::Value(op) | Way::Test(op) => op,
            Way::Yes => constant(self, 1),
            Way::No => constant(self, 0),
            Way::Not(op) => {
                let one = constant(self, 1);
                self.push(
                    OpKind::Binary(BinaryOp::Xor, op, one),
                    ScalarType::I1,
                    mask,
                    OpFlags::empty(),
                    None,
                )
            }
        }
    }

    /// The operation that computes a value.
    pub(super) fn value(&mut self, v: Value<'m>) -> Result<OpId, Refusal<'m>> {
        if let Some(&op) = self.memo.get(&v) {
            return Ok(op);
        }
        let leaf = self.data.leaf(v, self.section)?;
        let ty = scalar_type(v.ty())
            .ok_or_else(|| refuse(v.as_inst(), "type", "a type that statements do not have"))?;
        let none = OpFlags::empty();
        let op = match leaf {
            Leaf::Const(c) => self.push(OpKind::Const(c), ty, None, none, None),
            Leaf::Affine(e) => self.push(OpKind::Affine(e), ty, None, none, None),
            Leaf::Slot(slot) => self.read_slot(slot)?,
            Leaf::Held(store) => self.held(store)?,
            Leaf::Same(w) => self.value(w)?,
            Leaf::Load(i) => {
                let mask = self.mask_of(i)?;
                let (access, number, ty) = self.touch(i, false, mask)?;
                let kind = match number {
                    Some(at) => OpKind::LoadAt(access, at),
                    None => OpKind::Load(access),
                };
                let guarded = i.metadata(GUARDED).map_or(none, |_| OpFlags::GUARDED);
                self.push(kind, ty, mask, guarded, Some(i))
            }
            Leaf::Join(phi) => self.join(phi)?,
            Leaf::Part(i) => self.take(i)?,
            Leaf::Called(i) => return Err(refuse(Some(i), "value", "what a call returns is used before it")),
            Leaf::Op(i) => self.operation(i, ty)?,
        };
        self.memo.insert(v, op);
        Ok(op)
    }

    pub(super) fn mask_of(&mut self, i: Inst<'m>) -> Result<Option<Mask>, Refusal<'m>> {
        match self.data.cx.values.cfg.home(i) {
            Some(block) if self.data.section_of.get(&i) == Some(&self.section) => self.mask(block),
            _ => Ok(None),
        }
    }

    fn join(&mut self, phi: Inst<'m>) -> Result<OpId, Refusal<'m>> {
        let cfg = self.data.cx.values.cfg;
        let unknown = || refuse(Some(phi), "control", "values meet in a way that is not understood");
        let block = cfg.home(phi).ok_or_else(unknown)?;
        let incoming = phi.incoming();
        // All ways here must be in sight.
        let section = &self.data.sections[self.section];
        let seen = |b: &usize| section.blocks.contains(b) && Some(*b) != section.test;
        if !seen(&cfg.idom[block]) || !cfg.preds[block].iter().all(seen) {
            return Err(unknown());
        }
        let mut arrive = |this: &mut Self, from: usize| {
            let (v, _) = incoming.iter().find(|(_, b)| *b == cfg.blocks[from]).ok_or_else(unknown)?;
            Ok(Way::Value(this.value(*v)?))
        };
        match self.ways(cfg.idom[block], block, &mut FxHashMap::default(), &mut arrive)? {
            Way::Value(op) => Ok(op),
            _ => Err(unknown()),
        }
    }

    fn operation(&mut self, i: Inst<'m>, ty: ScalarType) -> Result<OpId, Refusal<'m>> {
        let operands = computed_from(i)?;
        let mut ops = Vec::new();
        for o in operands {
            ops.push(self.value(o)?);
        }
        let mask = self.mask_of(i)?;
        let unknown = || refuse(Some(i), "operation", "an operation that statements do not have");
        let kind = match (i.opcode(), &ops[..]) {
            // Of a definite value: see `value_reads`.
            (Opcode::Freeze, [a]) => return Ok(*a),
            (_, [a]) if let Some(cast) = cast_op(i) => OpKind::Cast(cast, *a),
            (Opcode::FNeg, [a]) => OpKind::Call(Intrinsic::FNeg, vec![*a]),
            (Opcode::ICmp, [a, b]) => OpKind::Compare(int_compare(i).ok_or_else(unknown)?, *a, *b),
            (Opcode::FCmp, [a, b]) => OpKind::Compare(real_compare(i).ok_or_else(unknown)?, *a, *b),
            (Opcode::Select, [c, a, b]) => OpKind::Select(*c, *a, *b),
            (Opcode::Call, _) => match intrinsic_of(i) {
                Some((function, _)) => OpKind::Call(function, ops),
                None => OpKind::Pure(self.origin(i), ops),
            },
            (o, [a, b]) => {
                let op = binary_op(o).ok_or_else(unknown)?;
                if matches!(op, BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem) {
                    self.flags |= StmtFlags::MAY_TRAP;
                }
                OpKind::Binary(op, *a, *b)
            }
            _ => return Err(unknown()),
        };
        Ok(self.push(kind, ty, mask, flags_of(i), Some(i)))
    }
}

/// What the ways to a block decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Yes,
    No,
    Test(OpId),
    Not(OpId),
    Value(OpId),
}

/// The statement as a reduction, where it is one: integers, or floating point with leave to reassociate.
fn reduction(ops: &[Op], accesses: &[Access]) -> Option<Reduction> {
    let last = ops.last()?;
    let OpKind::Store(write, value) = last.kind else { return None };
    if ops.iter().any(|o| o.mask.is_some()) || ops.iter().filter(|o| o.kind.is_store()).count() != 1 {
        return None;
    }
    let target = &accesses[write.index()];
    let update = &ops[value.index()];
    let (op, a, b) = match update.kind {
        OpKind::Binary(op, a, b) => {
            let float = update.flags.contains(OpFlags::REASSOC) || mutation::off(Rule::Reassociation);
            let op = match op {
                BinaryOp::Add => ReductionOp::Add,
                BinaryOp::Mul => ReductionOp::Mul,
                BinaryOp::And => ReductionOp::And,
                BinaryOp::Or => ReductionOp::Or,
                BinaryOp::Xor => ReductionOp::Xor,
                BinaryOp::FAdd if float => ReductionOp::FAdd,
                BinaryOp::FMul if float => ReductionOp::FMul,
                _ => return None,
            };
            (op, a, b)
        }
        OpKind::Call(f, ref args) if args.len() == 2 => {
            let op = match f {
                Intrinsic::SMin => ReductionOp::SMin,
                Intrinsic::SMax => ReductionOp::SMax,
                Intrinsic::UMin => ReductionOp::UMin,
                Intrinsic::UMax => ReductionOp::UMax,
                _ => return None,
            };
            (op, args[0], args[1])
        }
        _ => return None,
    };
    let read_of = |o: OpId| match ops[o.index()].kind {
        OpKind::Load(read)
            if accesses[read.index()].array == target.array
                && accesses[read.index()].subscripts == target.subscripts =>
        {
            Some(read)
        }
        _ => None,
    };
    let (read, accumulator) = match (read_of(a), read_of(b)) {
        (Some(r), None) => (r, a),
        (None, Some(r)) => (r, b),
        _ => return None,
    };
    // The accumulator is used once. What else of its array is read has dependences of its own.
    let uses = ops.iter().flat_map(|o| o.kind.operands()).filter(|o| *o == accumulator).count();
    let writes = accesses.iter().filter(|x| x.array == target.array && x.kind != AccessKind::Read).count();
    (uses == 1 && writes == 1).then_some(Reduction { op, read, write })
}
