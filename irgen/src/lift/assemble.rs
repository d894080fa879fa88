//! From the nodes of a region to a kernel with its bindings.

use std::sync::Arc;

use loop_tree::{
    AliasClass, Array, ArrayId, Bounds, Condition, Green, GuardCondition, Kernel, LoopHeader, LoopKind,
    Param, RuntimeCondition, ScalarType, Statement, StmtId, Storage, VarId, Variable, canonical,
};

use super::alias::{alias_classes, may_be_errno, may_overlap};
use super::context::Place;
use super::leaves::{Leaf, Refusal, impure, refuse};
use super::local::Extent;
use super::memory::{Memory, Site, Touch, describe, scalar_type};
use super::owned::OwnedGlobals;
use super::region::{Builder, Cut, Draft, Node, UNKNOWN_BOUNDS};
use super::statements::Maker;
use super::{Apart, ArrayBinding, FrontRead, ParamBinding};
use crate::llvm::{Inst, Opcode};
use crate::mutation::{self, Rule};
use analyses::closed_forms::Fact;
use rustc_hash::FxHashMap;

const ENDS_TOGETHER: &str =
    "what it computes is used where the function ends, to which it leads itself, and code behind it too";

/// Statements, the loads, stores and calls that their accesses stand for, and the statements of each section.
type Statements<'m> = (Vec<Arc<Statement>>, Vec<Inst<'m>>, Vec<Vec<StmtId>>);

impl<'m> Builder<'_, '_, 'm> {
    /// `last`: the section of what happens behind the last node.
    pub(super) fn finish(
        mut self,
        name: &str,
        nodes: &[Node],
        place: Cut<'m>,
        last: usize,
    ) -> Result<Draft<'m>, Refusal<'m>> {
        let owned = self.data.cx.values.options.owned.clone();
        let sites = self.sites(place.behind);
        let (mut memories, touches) =
            describe(&mut self.data.cx, &sites).map_err(|u| refuse(Some(u.inst), "access", u.message))?;
        let errno = self.seen_as_errno(&sites, &memories, &touches, &owned)?;
        let extent = Extent { cfg: self.data.cx.values.cfg, blocks: &place.blocks, behind: place.behind };
        for m in 0..memories.len() {
            let base = memories[m].base;
            // Of two arrays in one object, each may see the other's values.
            let object = base.underlying_object();
            let shared = memories.iter().filter(|o| o.base.underlying_object() == object).count() > 1;
            memories[m].local = !shared && extent.owns(base);
        }
        self.data.classes = alias_classes(&memories, &owned);
        self.data.memories = memories;
        self.data.touches = touches;
        let apart = Apart { reads: self.reads(&owned)?, errno };
        // A call may look at the element that a scalar stands for.
        if self.data.called.is_empty() {
            self.data.accumulate();
        }
        self.data.describe_calls()?;
        self.results(&place, last)?;
        self.data.discover()?;
        let (statements, origins, leaves) = self.statements()?;
        let dims: Vec<Arc<[VarId]>> = statements.iter().map(|s| s.dims.clone()).collect();
        let original = self.tree(nodes, &leaves, &dims)?;
        let assumptions = self.assumptions()?;
        let (params, values) = self.params();
        let (arrays, bindings) = self.arrays();
        let invented = self.names.take_invented();
        let names = self.names.take_variables().into_iter();
        let variables = names.zip(self.kept).map(|(name, kept)| Variable { name, kept }).collect();
        let mut kernel = Kernel {
            name: name.into(),
            params,
            variables,
            arrays,
            statements,
            context: Vec::new(),
            assumptions,
            no_calls: self.data.cx.values.no_calls.clone(),
            original: Green::empty(),
        };
        kernel.original = canonical(&kernel, &original);
        let (kernel, loops, calls) = (Arc::new(kernel), self.latches, self.data.bindings);
        Ok(Draft { kernel, params: values, arrays: bindings, origins, apart, calls, loops, invented, place })
    }

    /// Its loads and stores, each with what is known there.
    fn sites(&mut self, behind: usize) -> Vec<Site<'m>> {
        let cfg = self.data.cx.values.cfg;
        let mut sites = Vec::new();
        for s in &self.data.sections {
            for &b in s.blocks.iter().filter(|b| **b != behind || cfg.insts[behind].is_empty()) {
                let mut place = None;
                for &inst in
                    cfg.insts[b].iter().filter(|i| matches!(i.opcode(), Opcode::Load | Opcode::Store))
                {
                    let again = self.cells.iter().any(|cell| cell.load == inst);
                    let used = inst.opcode() == Opcode::Store || inst.is_used() && !again;
                    if used {
                        let cx = &mut self.data.cx;
                        let place = place.get_or_insert_with(|| cx.place_of(b, &s.blocks, &s.place));
                        sites.push(Site { inst, place: place.clone() });
                    }
                }
            }
        }
        sites
    }

    /// Arrays that the error number of calls may be part of: it must not be, which is checked before the region.
    fn seen_as_errno(
        &self,
        sites: &[Site<'m>],
        memories: &[Memory<'m>],
        touches: &FxHashMap<Inst<'m>, Touch>,
        owned: &OwnedGlobals,
    ) -> Result<Vec<ArrayId>, Refusal<'m>> {
        let mut errno: Vec<ArrayId> = Vec::new();
        if let Some(&call) = self.data.errno.first()
            && !mutation::off(Rule::ErrnoMemory)
        {
            for site in sites {
                let touch = touches.get(&site.inst).ok_or_else(|| impure(call))?;
                let memory = &memories[touch.memory];
                if may_be_errno(site.inst, memory.base, memory.element, owned) {
                    // Checked before the region, where that can be.
                    if !self.data.cx.values.knows_errno || touch.subscripts.is_none() {
                        return Err(impure(call));
                    }
                    errno.push(ArrayId::new(touch.memory));
                }
            }
            errno.sort_unstable();
            errno.dedup();
            if touches.values().any(|t| t.subscripts.is_none() && errno.contains(&ArrayId::new(t.memory))) {
                return Err(impure(call));
            }
        }
        Ok(errno)
    }

    /// Values that are used behind the region.
    fn results(&mut self, place: &Cut<'m>, last: usize) -> Result<(), Refusal<'m>> {
        let (cfg, Cut { blocks, behind, .. }) = (self.data.cx.values.cfg, place);
        let all: Vec<Inst<'m>> = blocks
            .iter()
            .flat_map(|&b| cfg.insts[b].iter().copied())
            .chain(cfg.blocks[*behind].phis())
            .collect();
        let inside = |b: &usize| blocks.binary_search(b).is_ok();
        for inst in all {
            let mut leaves = false;
            for (user, _, at) in inst.value().uses() {
                leaves |= match cfg.home(user) {
                    Some(b) if b == *behind => !user.is_phi(),
                    Some(b) => !inside(&b),
                    // Where the function ends: inside of the region it has its own value.
                    None => {
                        let leading = cfg.leading_to(at);
                        let within = leading.iter().filter(|b| inside(b)).count();
                        if within > 0 && within < leading.len() {
                            return Err(refuse(Some(inst), "ends", ENDS_TOGETHER));
                        }
                        within < leading.len()
                    }
                };
            }
            if !leaves {
                continue;
            }
            let ty = scalar_type(inst.ty()).ok_or_else(|| {
                refuse(Some(inst), "type", "a result of a type that statements do not have")
            })?;
            let slot = match self.data.leaf(inst.value(), last)? {
                Leaf::Slot(slot) if self.data.slots[slot].written => slot,
                Leaf::Same(v) => match self.data.leaf(v, last)? {
                    Leaf::Slot(slot) if self.data.slots[slot].written => slot,
                    _ => self.data.set_at_end(last, inst.value(), ty),
                },
                _ => self.data.set_at_end(last, inst.value(), ty),
            };
            self.data.slots[slot].outgoing.push(inst);
        }
        Ok(())
    }

    /// The statements, what their accesses were, and which of them each section has.
    fn statements(&mut self) -> Result<Statements<'m>, Refusal<'m>> {
        let mut statements = Vec::new();
        let mut origins = Vec::new();
        let mut leaves: Vec<Vec<StmtId>> = Vec::new();
        for s in 0..self.data.sections.len() {
            let dims: Arc<[VarId]> = self.data.sections[s]
                .place
                .loops
                .iter()
                .filter_map(|l| self.data.cx.counters.get(l).map(|c| c.var))
                .collect();
            // In the order of the program, which tells what a store stands in front of.
            for b in self.data.sections[s].blocks.iter().copied() {
                let insts = self.data.cx.values.cfg.insts[b].iter();
                origins.extend(insts.filter(|i| matches!(i.opcode(), Opcode::Load | Opcode::Store)));
            }
            let mut ids = Vec::new();
            for group in self.data.groups(s)? {
                let name = format!("S{}", statements.len());
                let maker = Maker::new(&mut self.data, s, &mut origins, dims.clone());
                let statement = maker.statement(&name, &group)?;
                ids.push(StmtId::new(statements.len()));
                statements.push(Arc::new(statement));
            }
            leaves.push(ids);
        }
        if statements.is_empty() {
            return Err(refuse(None, "empty", "the loops have no effect"));
        }
        // A call whose value nobody uses is in no statement, and would not run.
        if let Some(call) = self.data.errno.iter().find(|call| !origins.contains(call))
            && !mutation::off(Rule::ErrnoCalls)
        {
            return Err(impure(*call));
        }
        Ok((statements, origins, leaves))
    }

    /// What is checked before the region.
    fn assumptions(&mut self) -> Result<Vec<RuntimeCondition>, Refusal<'m>> {
        let mut assumptions = Vec::new();
        for f in self.data.cx.assumptions.clone() {
            let c = self.data.cx.constraint(&f);
            let c = c.ok_or_else(|| refuse(None, "condition", "a condition that cannot be checked"))?;
            let condition = RuntimeCondition::Parameter(c);
            if !assumptions.contains(&condition) {
                assumptions.push(condition);
            }
        }
        self.data.apart.sort_unstable();
        for &(a, b) in self.data.apart.iter().filter(|_| !mutation::off(Rule::ApartAssumptions)) {
            assumptions.push(RuntimeCondition::NoOverlap(ArrayId::new(a), ArrayId::new(b)));
        }
        Ok(assumptions)
    }

    /// What must not be overwritten, as it was read in front.
    fn reads(&mut self, owned: &OwnedGlobals) -> Result<Vec<FrontRead<'m>>, Refusal<'m>> {
        let mut reads: Vec<FrontRead<'m>> = Vec::new();
        for cell in self.cells.clone().into_iter().filter(|cell| cell.load.is_used()) {
            let unknown = |what| refuse(Some(cell.load), "access", what);
            let integer = scalar_type(cell.load.ty());
            let errno = integer.is_some_and(|ty| may_be_errno(cell.load, cell.base, ty, owned));
            if let Some(&call) = self.data.errno.first()
                && errno
                && !mutation::off(Rule::ErrnoMemory)
            {
                return Err(impure(call));
            }
            let offset = self.data.cx.affine(&cell.offset);
            let place = offset.zip(self.data.cx.affine(&cell.size));
            let (offset, size) =
                place.ok_or_else(|| unknown("what loops read again and again is not at one place"))?;
            let mut apart = Vec::new();
            for (m, memory) in self.data.memories.iter().enumerate() {
                if !memory.written || memory.local || !may_overlap(memory.base, cell.base, owned) {
                    continue;
                }
                if self.data.touches.values().any(|t| t.memory == m && t.subscripts.is_none()) {
                    return Err(unknown("what loops read again and again may be overwritten by them"));
                }
                apart.push(ArrayId::new(m));
            }
            let read = FrontRead { base: cell.base, offset, size, guard: cell.guard, apart };
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        Ok(reads)
    }

    fn tree(
        &mut self,
        nodes: &[Node],
        leaves: &[Vec<StmtId>],
        dims: &[Arc<[VarId]>],
    ) -> Result<Green, Refusal<'m>> {
        let mut children = Vec::new();
        for node in nodes {
            match node {
                Node::Section(s) => {
                    children.extend(leaves[*s].iter().map(|id| Green::stmt(*id, dims[id.index()].clone())));
                }
                Node::Guard { disjuncts, place, body } => {
                    let only_loops = body.iter().all(|n| match n {
                        Node::Section(s) => leaves[*s].is_empty(),
                        Node::Loop(..) => true,
                        Node::Guard { .. } | Node::Predicate { .. } => false,
                    });
                    // What is checked at run time may have decided more.
                    let disjuncts = self.data.cx.possible(place, disjuncts.clone());
                    let needless = matches!(&disjuncts[..], [f] if self.is_implied(body, place, f));
                    let inner = self.tree(body, leaves, dims)?;
                    if only_loops && needless {
                        children.push(inner);
                        continue;
                    }
                    let mut condition = Condition { disjuncts: Vec::new() };
                    for d in &disjuncts {
                        let all: Option<Vec<_>> = d.iter().map(|f| self.data.cx.constraint(f)).collect();
                        let all =
                            all.ok_or_else(|| refuse(None, "condition", "a condition that is not affine"))?;
                        condition.disjuncts.push(all);
                    }
                    children.push(Green::guard(condition.simplified(), inner));
                }
                Node::Predicate { slot, value, body } => {
                    let array = self.data.slot_array(*slot);
                    let condition = GuardCondition::Predicate { array, value: *value };
                    let inner = self.tree(body, leaves, dims)?;
                    children.push(match mutation::off(Rule::DataConditions) {
                        true => inner,
                        false => Green::guarded(Arc::new(condition), inner),
                    });
                }
                Node::Loop(l, inner) => {
                    let unknown = || refuse(None, "trip-count", UNKNOWN_BOUNDS);
                    let counter = self.data.cx.counters.get(l).cloned().ok_or_else(unknown)?;
                    let lower = self.data.cx.affine(&counter.base).ok_or_else(unknown)?;
                    let room = self.data.cx.affine(&counter.room).ok_or_else(unknown)?;
                    let step = i64::try_from(counter.step).map_err(|_| unknown())?;
                    let upper = lower.clone() + room.floor_div(step).offset(1);
                    if !upper.is_exact() {
                        return Err(unknown());
                    }
                    let bounds = Bounds::Affine { lower: vec![lower], upper: vec![upper] };
                    let header = LoopHeader { var: counter.var, bounds, step: 1, kind: LoopKind::Sequential };
                    children.push(Green::for_loop(header, self.tree(inner, leaves, dims)?));
                }
            }
        }
        Ok(Green::seq(children))
    }

    /// Whether facts hold wherever one of the loops directly inside runs: the condition then says nothing of them.
    fn is_implied(&self, nodes: &[Node], place: &Place, facts: &[Fact]) -> bool {
        nodes
            .iter()
            .filter_map(|n| match n {
                Node::Loop(l, _) => Some(l),
                _ => None,
            })
            .all(|l| {
                let Some(counter) = self.data.cx.counters.get(l) else { return false };
                let mut inner = place.clone();
                inner.facts.push(Fact { poly: counter.room.clone(), equal: false });
                facts.iter().all(|f| {
                    self.data.cx.holds(&inner, &f.poly)
                        && (!f.equal || f.poly.scale(-1).is_some_and(|p| self.data.cx.holds(&inner, &p)))
                })
            })
    }

    fn arrays(&mut self) -> (Vec<Array>, Vec<ArrayBinding<'m>>) {
        let (mut arrays, mut bindings) = (Vec::new(), Vec::new());
        let mut classes = self.data.classes.iter().map(|c| c.class + 1).max().unwrap_or(0);
        for (m, class) in self.data.memories.iter().zip(&self.data.classes) {
            arrays.push(Array {
                name: self.names.value(m.base, "A"),
                element: m.element,
                extents: m.extents.clone(),
                storage: if m.local { Storage::Local } else { Storage::Memory },
                alias: *class,
            });
            bindings.push(ArrayBinding::Memory { base: m.base, offset: m.offset, alignment: m.alignment });
        }
        for (n, s) in self.data.slots.iter().enumerate() {
            if self.data.element(n).is_some() {
                continue;
            }
            let storage = match (s.outgoing.is_empty(), s.incoming) {
                (false, _) => Storage::LiveOut,
                (true, Some(_)) => Storage::LiveIn,
                (true, None) => Storage::Local,
            };
            let array = Array {
                name: self.names.value(s.of, "s"),
                element: s.ty,
                extents: Vec::new(),
                storage,
                alias: AliasClass::new(classes),
            };
            classes += 1;
            arrays.push(array);
            bindings.push(ArrayBinding::Scalar { incoming: s.incoming, outgoing: s.outgoing.clone() });
        }
        (arrays, bindings)
    }

    fn params(&mut self) -> (Vec<Param>, Vec<ParamBinding<'m>>) {
        let (mut params, mut values) = (Vec::new(), Vec::new());
        for factors in std::mem::take(&mut self.data.cx.params) {
            let (name, ty) = match factors[..] {
                [v] => (self.names.value(v, "n"), scalar_type(v.ty()).unwrap_or(ScalarType::I64)),
                _ => (self.names.product(&factors, "n"), ScalarType::I64),
            };
            params.push(Param { name, ty });
            values.push(ParamBinding { factors });
        }
        (params, values)
    }
}
