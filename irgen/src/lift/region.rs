//! From a run of items to nodes: sections, loops and conditions, and what is known at each of them.

use std::rc::Rc;
use std::sync::Arc;

use loop_tree::{Kept, Kernel, ScalarType, VarId};
use rustc_hash::FxHashMap;

use super::body::Bodies;
use super::called::stands_for_itself;
use super::context::{Context, Counter, Place};
use super::fronts::{Cell, settle};
use super::leaves::{Carried, Data, Merge, Refusal, Root, Section, impure, refuse};
use super::memory::scalar_type;
use super::names::Names;
use super::ops::error_number;
use super::select::has_loop;
use super::shape::{Branch, Cycle, Item, Piece, has_effect};
use super::values::{MAX_DISJUNCTS, Values};
use super::{Apart, ArrayBinding, CallBinding, ParamBinding};
use crate::llvm::{Effects, Inst, Opcode, Value};
use crate::mutation::{self, Rule};
use analyses::closed_forms::{Fact, Poly, TripCount};

/// A region before its blocks are cut out.
pub(super) struct Draft<'m> {
    pub(super) kernel: Arc<Kernel>,
    pub(super) params: Vec<ParamBinding<'m>>,
    pub(super) arrays: Vec<ArrayBinding<'m>>,
    pub(super) origins: Vec<Inst<'m>>,
    pub(super) apart: Apart<'m>,
    pub(super) calls: Vec<CallBinding<'m>>,
    /// Header and latch of each variable's loop.
    pub(super) loops: Vec<(usize, usize)>,
    pub(super) invented: Vec<VarId>,
    pub(super) place: Cut<'m>,
}

/// Where a region is cut out of its function.
pub(super) struct Cut<'m> {
    /// Its blocks, without the one behind its last item.
    pub(super) blocks: Vec<usize>,
    /// The instruction that it begins before: the terminator of the block in front.
    pub(super) begin: Inst<'m>,
    /// The block behind, whose phis belong to it.
    pub(super) behind: usize,
}

pub(super) enum Node {
    Section(usize),
    /// Where one of the conjunctions holds.
    Guard {
        disjuncts: Vec<Vec<Fact>>,
        place: Place,
        body: Vec<Node>,
    },
    /// Where a scalar of one bit has a value.
    Predicate {
        slot: usize,
        value: bool,
        body: Vec<Node>,
    },
    Loop(usize, Vec<Node>),
}

pub(super) struct Builder<'v, 'a, 'm> {
    pub(super) data: Data<'v, 'a, 'm>,
    /// What is taken for what was read in front.
    pub(super) cells: Vec<Cell<'m>>,
    variables: Vec<usize>,
    pub(super) names: Names,
    /// Header and latch of each variable's loop.
    pub(super) latches: Vec<(usize, usize)>,
    /// What the source says of the loops of variables.
    pub(super) kept: Vec<Option<Kept>>,
}

/// Loads and stores of a region at most. Proofs about each may use what was assumed for all others; dependences of so many
/// that may overlap are not analysed anyway.
const MAX_ACCESSES: usize = 1000;

pub(super) const UNKNOWN_BOUNDS: &str =
    "the number of iterations follows from what the loops around read or compute";

const UNKNOWN_CONDITION: &str = "loops run under a condition that is not understood";

/// Describes a run of items that begins and ends with a loop, or a condition around loops: with what was read in front of it, else
/// without.
pub(super) fn draft<'m>(
    values: &mut Values<'_, 'm>,
    name: &str,
    items: &[Item<'m>],
) -> Result<Draft<'m>, Refusal<'m>> {
    let mut in_front = true;
    match attempt(values, name, items, &mut in_front, false) {
        Err(refused) if in_front => {
            in_front = false;
            attempt(values, name, items, &mut in_front, false).map_err(|_| refused)
        }
        done => done,
    }
}

/// The same with calls of which nothing is known as statements. Nothing is taken for what was read in front, as they may overwrite it.
pub(super) fn draft_around_calls<'m>(
    values: &mut Values<'_, 'm>,
    name: &str,
    item: &Item<'m>,
) -> Result<Draft<'m>, Refusal<'m>> {
    attempt(values, name, std::slice::from_ref(item), &mut false, true)
}

/// `in_front`: whether to take what the run reads again and again for what was read in front, and whether there is any of it.
/// `calls`: whether calls of which nothing is known may be statements.
fn attempt<'m>(
    values: &mut Values<'_, 'm>,
    name: &str,
    items: &[Item<'m>],
    in_front: &mut bool,
    calls: bool,
) -> Result<Draft<'m>, Refusal<'m>> {
    let wanted = std::mem::take(in_front);
    let cfg = values.cfg;
    if let Some((why, at)) = items.iter().find_map(tangle) {
        return Err(refuse(cfg.insts[at].first().copied(), "control", why));
    }
    let (mut blocks, mut front, mut behind) = (Vec::new(), None, None);
    for item in items {
        match item {
            Item::Piece(p) => blocks.extend(&p.blocks),
            Item::Loop(c) => {
                blocks.extend(&cfg.loops[c.id].blocks);
                let entering =
                    cfg.preds[cfg.loops[c.id].header].iter().find(|p| !cfg.loops[c.id].contains(**p));
                front = front.or(entering.copied());
                behind = Some(c.exit);
            }
            Item::If(b) => {
                inside(&b.yes, cfg, &mut blocks);
                inside(&b.no, cfg, &mut blocks);
                front = front.or(Some(b.block));
                behind = Some(b.join);
            }
            Item::Tangle(..) | Item::Apart(..) => {
                return Err(refuse(None, "control", "control flow without structure"));
            }
        }
    }
    let missing = || refuse(None, "control", "the loop has no place of its own in the control flow");
    let (front, behind) = (front.ok_or_else(missing)?, behind.ok_or_else(missing)?);
    blocks.sort_unstable();
    blocks.dedup();
    blocks.retain(|&b| b != front && b != behind);
    // The way in is from `front`, the way out to `behind`, for every edge.
    for &b in &blocks {
        let enters = cfg.preds[b].iter().all(|p| *p == front || blocks.binary_search(p).is_ok());
        let leaves = cfg.succs[b].iter().all(|s| *s == behind || blocks.binary_search(s).is_ok());
        if !enters || !leaves {
            return Err(missing());
        }
    }
    if !cfg.preds[behind].iter().all(|p| *p == front || blocks.binary_search(p).is_ok()) {
        return Err(missing());
    }
    if accesses(cfg, &blocks) > MAX_ACCESSES {
        return Err(too_large(cfg, &blocks));
    }
    let begin = cfg.insts[front].last().copied().ok_or_else(missing)?;
    values.read_in_front(Vec::new(), Vec::new());
    let cells = if wanted { settle(values, &blocks, front) } else { Vec::new() };
    *in_front = !cells.is_empty();
    let mut in_region = vec![false; cfg.blocks.len()];
    blocks.iter().for_each(|&b| in_region[b] = true);
    let data = Data {
        cx: Context::new(values, in_region),
        sections: Vec::new(),
        section_of: FxHashMap::default(),
        order: FxHashMap::default(),
        memories: Vec::new(),
        touches: FxHashMap::default(),
        classes: Vec::new(),
        slots: Vec::new(),
        slot_of: FxHashMap::default(),
        carried: FxHashMap::default(),
        phis: Vec::new(),
        merges: FxHashMap::default(),
        elements: FxHashMap::default(),
        apart: Vec::new(),
        errno: Vec::new(),
        called: FxHashMap::default(),
        calls,
        bindings: Vec::new(),
        fresh: Vec::new(),
        tested_headers: FxHashMap::default(),
        bodies: Bodies::default(),
    };
    let mut builder = Builder {
        data,
        cells,
        variables: Vec::new(),
        names: Names::default(),
        latches: Vec::new(),
        kept: Vec::new(),
    };
    let mut nodes = builder.flatten(items, &Place::default(), None)?;
    // Phis behind the last item belong to the region, and are where its results leave it.
    let last = builder.section(Section::default());
    for phi in cfg.blocks[behind].phis() {
        builder.data.section_of.insert(phi, last);
    }
    if !cfg.blocks[behind].phis().is_empty() {
        builder.data.sections[last].blocks.push(behind);
        builder.data.cx.inside[behind] = true;
    }
    nodes.push(Node::Section(last));
    builder.finish(name, &nodes, Cut { blocks, begin, behind }, last)
}

/// Why some part of the item has no structure, and where.
fn tangle(item: &Item<'_>) -> Option<(&'static str, usize)> {
    match item {
        Item::Piece(_) => None,
        Item::Loop(c) => c.body.iter().find_map(tangle),
        Item::If(b) => b.yes.iter().chain(&b.no).find_map(tangle),
        Item::Tangle(_, why, at) | Item::Apart(_, why, at) => Some((why, *at)),
    }
}

/// How many loads and stores there are.
fn accesses(cfg: &super::cfg::Cfg<'_>, blocks: &[usize]) -> usize {
    let touches = |i: &&Inst<'_>| matches!(i.opcode(), Opcode::Load | Opcode::Store);
    blocks.iter().flat_map(|&b| &cfg.insts[b]).filter(touches).count()
}

/// Whether the block is part of the item, or ends in its condition.
pub(super) fn contains(item: &Item<'_>, cfg: &super::cfg::Cfg<'_>, block: usize) -> bool {
    match item {
        Item::Piece(p) => p.blocks.contains(&block),
        Item::Loop(c) => cfg.loops[c.id].contains(block),
        Item::If(b) => b.block == block || b.yes.iter().chain(&b.no).any(|i| contains(i, cfg, block)),
        Item::Tangle(..) | Item::Apart(..) => false,
    }
}

/// How many of the items may be described together.
pub(super) fn describable(cfg: &super::cfg::Cfg<'_>, items: &[Item<'_>]) -> usize {
    let mut room = MAX_ACCESSES;
    let fits = |item: &&Item<'_>| {
        let count = match item {
            Item::Loop(c) => accesses(cfg, &cfg.loops[c.id].blocks),
            other => {
                let mut blocks = Vec::new();
                inside(std::slice::from_ref(*other), cfg, &mut blocks);
                blocks.sort_unstable();
                blocks.dedup();
                accesses(cfg, &blocks)
            }
        };
        let left = room.checked_sub(count);
        room = left.unwrap_or(0);
        left.is_some()
    };
    items.iter().take_while(fits).count()
}

/// The refusal of a run that has more than [`MAX_ACCESSES`].
pub(super) fn too_large<'m>(cfg: &super::cfg::Cfg<'m>, blocks: &[usize]) -> Refusal<'m> {
    let first = blocks.first().and_then(|&b| cfg.insts[b].first()).copied();
    refuse(
        first,
        "size",
        &format!("more than {MAX_ACCESSES} loads and stores, which is as many as are described together"),
    )
}

fn inside(items: &[Item<'_>], cfg: &super::cfg::Cfg<'_>, blocks: &mut Vec<usize>) {
    for item in items {
        match item {
            Item::Piece(p) => blocks.extend(&p.blocks),
            Item::Loop(c) => blocks.extend(cfg.loops[c.id].blocks.iter().copied().chain([c.exit])),
            Item::If(b) => {
                inside(&b.yes, cfg, blocks);
                inside(&b.no, cfg, blocks);
            }
            Item::Tangle(..) | Item::Apart(..) => {}
        }
    }
}

impl<'m> Builder<'_, '_, 'm> {
    fn section(&mut self, section: Section<'m>) -> usize {
        self.data.sections.push(section);
        self.data.sections.len() - 1
    }

    fn flatten(
        &mut self,
        items: &[Item<'m>],
        place: &Place,
        test: Option<usize>,
    ) -> Result<Vec<Node>, Refusal<'m>> {
        let mut nodes = Vec::new();
        let mut previous = None;
        for item in items {
            match item {
                Item::Piece(p) => {
                    let at = self.piece(p, place, test)?;
                    if let Some(Node::Loop(l, _)) = nodes.last() {
                        self.data.carried.values_mut().filter(|c| c.l == *l).for_each(|c| c.after = Some(at));
                    }
                    nodes.push(Node::Section(at));
                    previous = Some(at);
                }
                Item::Loop(c) => {
                    let front = match previous {
                        Some(at) => at,
                        None => {
                            let at = self.section(Section { place: place.clone(), ..Section::default() });
                            nodes.push(Node::Section(at));
                            at
                        }
                    };
                    nodes.push(self.cycle(c, place, front)?);
                    previous = None;
                }
                Item::If(b) => {
                    self.branch(b, place, previous, &mut nodes)?;
                    previous = None;
                }
                Item::Tangle(..) | Item::Apart(..) => {
                    return Err(refuse(None, "control", "control flow without structure"));
                }
            }
        }
        Ok(nodes)
    }

    fn piece(&mut self, p: &Piece, place: &Place, test: Option<usize>) -> Result<usize, Refusal<'m>> {
        let cfg = self.data.cx.values.cfg;
        let test = test.filter(|t| p.blocks.contains(t));
        let at =
            self.section(Section { blocks: p.blocks.clone(), test, place: place.clone(), roots: Vec::new() });
        let insts: Vec<Inst<'m>> = p.blocks.iter().flat_map(|&b| cfg.insts[b].iter().copied()).collect();
        for (n, inst) in insts.into_iter().enumerate() {
            // Only then is what defines a value on every way to its uses in the tree, as it is in the IR.
            if self.data.section_of.insert(inst, at).is_some() {
                return Err(refuse(Some(inst), "control", "code that is reached in several ways"));
            }
            self.data.order.insert(inst, n + 1);
            let effects = inst.effects();
            if effects.contains(Effects::MARKER) {
                let lifetime = inst.as_call().and_then(|c| c.intrinsic_name());
                if lifetime.is_some_and(|n| n.starts_with("llvm.lifetime")) {
                    return Err(refuse(Some(inst), "lifetime", "a local array begins or ends its life here"));
                }
                continue;
            }
            if inst.opcode() == Opcode::Store && (!has_other_effect(inst) || is_relaxed(inst)) {
                self.data.add_root(at, Root::Store(inst));
            } else if self.data.calls && stands_for_itself(inst, has_effect(inst)) {
                self.data.called.insert(inst, Rc::from([]));
                self.data.add_root(at, Root::Call(inst));
            } else if let Some(number) = error_number(inst) {
                let others = self.data.errno.first().and_then(|other| error_number(*other));
                if others.is_some_and(|other| other != number) && !mutation::off(Rule::ErrnoNumbers) {
                    return Err(impure(inst));
                }
                self.data.errno.push(inst);
            } else if !is_waved_through(inst)
                && (inst.is_volatile()
                    || effects.intersects(Effects::ATOMIC | Effects::VOLATILE)
                    || has_effect(inst))
            {
                return Err(impure(inst));
            }
        }
        for &b in &p.blocks {
            if let Some(when) = cfg.ends_if[b]
                && !mutation::off(Rule::Endings)
            {
                self.goes_on(b, when, place)?;
            }
        }
        Ok(at)
    }

    /// The way of a condition on which the program ends is not taken, wherever the condition is tested: known, or checked
    /// before the region.
    fn goes_on(&mut self, block: usize, ends_if: bool, place: &Place) -> Result<(), Refusal<'m>> {
        let test = self.data.cx.values.cfg.insts[block].last().copied();
        let ends =
            || refuse(test, "ends", "the program may end here, which is not known when the loop begins");
        let condition = test.and_then(|t| t.condition()).ok_or_else(ends)?;
        let formula = self.data.cx.values.formula(condition, !ends_if).ok_or_else(ends)?;
        if formula.disjuncts.len() > MAX_DISJUNCTS {
            return Err(ends());
        }
        let saved = self.data.cx.assumed();
        if !formula.needs.iter().all(|need| self.data.cx.need(place, need)) {
            return Err(ends());
        }
        // Of several ways not to end, one that is known; else one of long arrays: a bound that is met is one from below.
        let mut best = None;
        for facts in &formula.disjuncts {
            let before = self.data.cx.assumed();
            let known = self.data.cx.assumptions.len();
            let holds = facts.iter().all(|f| {
                let opposite = f.poly.scale(-1).filter(|_| f.equal);
                f.equal == opposite.is_some()
                    && self.data.cx.require(place, &f.poly)
                    && opposite.is_none_or(|goal| self.data.cx.require(place, &goal))
            });
            if holds {
                let assumed = &self.data.cx.assumptions[known..];
                let room = assumed.iter().map(|fact| room(&fact.poly)).min().unwrap_or(i128::MAX);
                if best.as_ref().is_none_or(|(most, _)| room > *most) {
                    best = Some((room, self.data.cx.assumed()));
                }
            }
            self.data.cx.restore(before);
        }
        match best {
            Some((_, assumed)) => {
                self.data.cx.restore(assumed);
                Ok(())
            }
            None => {
                self.data.cx.restore(saved);
                Err(ends())
            }
        }
    }

    fn cycle(&mut self, c: &Cycle<'m>, place: &Place, front: usize) -> Result<Node, Refusal<'m>> {
        let cfg = self.data.cx.values.cfg;
        let header = cfg.loops[c.id].header;
        let first = cfg.insts[header].first().copied();
        let said = &self.data.cx.values.wishes[c.id];
        let kept = said.kept;
        if let Some(wish) = &said.stays {
            return Err(Refusal {
                inst: first,
                code: "hint",
                message: format!("a pragma asks for `{wish}` here: the nest stays as it is"),
                help: "remove the pragma to have the nest transformed",
            });
        }
        let count = c.count.as_ref().map_err(|why| refuse(first, "trip-count", why))?;
        let values = &self.data.cx.values;
        let mut needs = values.needs_in_front(&count.room);
        needs.extend(count.needs.iter().map(|need| values.need_in_front(need)));
        let count = TripCount { room: values.poly_in_front(count.room.clone()), step: count.step, needs };
        for need in &count.needs {
            if !self.data.cx.need(place, need) {
                let why = "the number of iterations is exact only if an expression does not wrap, which is not proved";
                return Err(refuse(first, "trip-count", why));
            }
        }
        // The variable is the induction variable of the source where that counts up by one.
        let k = self.data.cx.values.iteration(c.id);
        let mut base = Poly::default();
        let mut counter = None;
        if count.step == 1 {
            for phi in cfg.blocks[header].phis() {
                let Some(e) = self.data.cx.values.integer(phi.value()) else { continue };
                if let Some(start) = e.poly.sub(&k).filter(|s| !k.symbols().any(|k| s.uses(k)))
                    && self.data.cx.affine(&start).is_some()
                {
                    base = start;
                    counter = Some(phi.value());
                    break;
                }
            }
        }
        let counts = |phi: &Inst<'m>| {
            let next = cfg.recurrence(*phi).and_then(|(_, _, next)| next.as_inst());
            next.is_some_and(|n| {
                matches!(n.opcode(), Opcode::Add | Opcode::Sub)
                    && n.operand(0) == Some(phi.value())
                    && n.operand(1).is_some_and(|by| by.const_int().is_some())
            })
        };
        let counter = counter.or_else(|| cfg.blocks[header].phis().into_iter().find(counts).map(Inst::value));
        let var = VarId::new(self.variables.len());
        self.variables.push(c.id);
        let latch = cfg.loops[c.id].latches.first().copied().unwrap_or(header);
        self.latches.push((header, latch));
        self.kept.push(kept);
        self.names.variable(place.loops.len(), counter);
        self.data.cx.counters.insert(c.id, Counter { var, base, room: count.room.clone(), step: count.step });
        let mut inner = place.clone();
        inner.loops.push(c.id);
        let runs = count.room.sub(&k.scale(count.step).unwrap_or_default());
        let overflow = || refuse(first, "trip-count", "a coefficient overflows");
        inner.facts.push(Fact { poly: k, equal: false });
        inner.facts.push(Fact { poly: runs.ok_or_else(overflow)?, equal: false });
        let test = c.test_first.then_some(header);
        if c.test_first {
            self.data.tested_headers.insert(header, c.id);
        }
        let mut body = self.flatten(&c.body, &inner, test)?;
        let end = match body.last() {
            Some(Node::Section(at)) => *at,
            _ => {
                let at = self.section(Section { place: inner, ..Section::default() });
                body.push(Node::Section(at));
                at
            }
        };
        for phi in cfg.blocks[header].phis() {
            if let Some((l, start, next)) = self.data.cx.values.cfg.recurrence(phi) {
                let carried =
                    Carried { l, start, next, front, latch: end, after: None, test_first: c.test_first };
                self.data.carried.insert(phi, carried);
                self.data.phis.push(phi);
            }
        }
        Ok(Node::Loop(c.id, body))
    }

    fn branch(
        &mut self,
        b: &Branch<'m>,
        place: &Place,
        front: Option<usize>,
        nodes: &mut Vec<Node>,
    ) -> Result<(), Refusal<'m>> {
        let cfg = self.data.cx.values.cfg;
        let merged = cfg.blocks[b.join].phis();
        let loops = b.yes.iter().chain(&b.no).any(has_loop);
        let front = match front {
            None if !merged.is_empty() && !loops => {
                let at = self.section(Section { place: place.clone(), ..Section::default() });
                nodes.push(Node::Section(at));
                Some(at)
            }
            front => front,
        };
        let ways: Vec<(bool, &[Item<'m>])> = [(true, &b.yes[..]), (false, &b.no[..])]
            .into_iter()
            .filter(|(_, items)| !items.is_empty() || !merged.is_empty())
            .collect();
        let saved = self.data.cx.assumed();
        let affine: Option<Vec<_>> =
            ways.iter().map(|(positive, _)| self.data.cx.affine_way(b.condition, *positive, place)).collect();
        let predicate = match affine {
            Some(_) => None,
            None => {
                self.data.cx.restore(saved);
                Some(self.predicate(b.condition, front)?)
            }
        };
        let mut ends = Vec::new();
        for (at, (positive, items)) in ways.into_iter().enumerate() {
            let mut inner = place.clone();
            let disjuncts = affine.as_ref().map(|all| all[at].clone());
            if let Some([only]) = disjuncts.as_deref() {
                inner.facts.extend(only.iter().cloned());
            }
            let mut body = self.flatten(items, &inner, None)?;
            if !merged.is_empty() {
                // Where this way ends, its values of the phis are set.
                let end = self.section(Section { place: inner, ..Section::default() });
                body.push(Node::Section(end));
                let mut blocks = Vec::new();
                inside(items, cfg, &mut blocks);
                if items.is_empty() {
                    blocks.push(b.block);
                }
                ends.push((end, blocks));
            }
            nodes.push(match (disjuncts, predicate) {
                (Some(disjuncts), _) => Node::Guard { disjuncts, place: place.clone(), body },
                (None, Some(slot)) => Node::Predicate { slot, value: positive, body },
                (None, None) => return Err(refuse(b.condition.as_inst(), "condition", UNKNOWN_CONDITION)),
            });
        }
        for phi in merged {
            let value = |at: usize| {
                let (end, blocks): &(usize, Vec<usize>) = ends.get(at)?;
                let mut from =
                    phi.incoming().into_iter().filter(|(_, f)| blocks.iter().any(|&x| cfg.blocks[x] == *f));
                let (first, none) = (from.next()?, from.next());
                none.is_none().then_some((*end, first.0))
            };
            if phi.incoming().len() == 2
                && let (Some(yes), Some(no)) = (value(0), value(1))
            {
                let first = front.filter(|_| !loops).and_then(|at| Some((at, phi.ty().poison().ok()?)));
                self.data.merges.insert(phi, Merge { yes, no, first });
            }
        }
        Ok(())
    }

    /// The scalar that holds a condition, from the end of the section in front of its branch on.
    fn predicate(&mut self, condition: Value<'m>, front: Option<usize>) -> Result<usize, Refusal<'m>> {
        if self.data.cx.is_outside(condition) {
            return Ok(self.data.live_in(condition, ScalarType::I1));
        }
        let unknown = || refuse(condition.as_inst(), "condition", UNKNOWN_CONDITION);
        Ok(self.data.set_at_end(front.ok_or_else(unknown)?, condition, ScalarType::I1))
    }
}

/// Whether a store may be described: one that is aligned is a single access on every machine.
fn is_relaxed(store: Inst<'_>) -> bool {
    let size = store.accessed_type().and_then(scalar_type).map_or(u32::MAX, |t| t.size());
    store.is_relaxed_store() && store.alignment().is_some_and(|a| a >= size)
}

fn has_other_effect(store: Inst<'_>) -> bool {
    let others = [
        (Effects::ATOMIC, !mutation::off(Rule::AtomicAccess)),
        (Effects::VOLATILE, !mutation::off(Rule::VolatileAccess)),
        (Effects::THROW, true),
    ];
    others.into_iter().any(|(effect, counts)| counts && store.effects().contains(effect))
}

/// Whether a test takes the instruction for one without effects.
fn is_waved_through(inst: Inst<'_>) -> bool {
    (mutation::off(Rule::Calls) && inst.opcode() == Opcode::Call)
        || (mutation::off(Rule::VolatileAccess) && inst.is_volatile())
        || (mutation::off(Rule::AtomicAccess) && inst.effects().contains(Effects::ATOMIC))
}

/// What an assumption leaves, where all symbols are as large as sizes of arrays are.
fn room(assumption: &Poly) -> i128 {
    const SIZE: i128 = 1000;
    let value = |degree: usize, c: i128| c.saturating_mul(SIZE.saturating_pow(degree as u32));
    assumption.terms().map(|(product, c)| value(product.degree(), c)).fold(0, i128::saturating_add)
}
