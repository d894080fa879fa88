//! Accumulators that stand for an array element: `s = init; for k { s += ... } C[i][j] = s` computes in `C[i][j]`
//! itself, so that no scalar ties the iterations of the loops around together; and so does `C[i][j] = s / n`, which
//! overwrites whatever is there. Values are the same bit for bit: nothing else touches the element meanwhile.

use super::context::Place;
use super::leaves::{Carried, Data, Root, Spot};
use super::memory::{Touch, scalar_type};
use crate::llvm::{Inst, Opcode, Value};

/// What may be computed of an accumulator before it is stored.
const MOST_USES: usize = 32;

/// An element in the place of a scalar.
#[derive(Clone)]
pub(super) struct Element<'m> {
    pub(super) touch: Touch<'m>,
    /// The store that showed where.
    pub(super) store: Inst<'m>,
    /// Whether the element must be set in front of the loop.
    pub(super) set_front: bool,
    /// Whether the element must be set at the end of the body: it is not stored there anyway.
    pub(super) set_latch: bool,
    /// Whether the store stores what the element then has already.
    needless: bool,
}

impl<'m> Data<'_, '_, 'm> {
    /// Finds the element that each carried value stands for, and drops the stores that become needless.
    pub(super) fn accumulate(&mut self) {
        let mut phis: Vec<(Inst<'m>, Carried<'m>)> =
            self.phis.iter().filter_map(|p| Some((*p, *self.carried.get(p)?))).collect();
        // Inner loops first: an outer value may be what an inner one ends with.
        phis.sort_by_key(|(_, c)| std::cmp::Reverse(c.l));
        // What other threads may see neither changes more often than before, nor is read again.
        let stores = self.sections.iter().flat_map(|s| &s.roots).filter_map(|r| match r {
            Root::Store(i) if i.is_relaxed_store() => self.touches.get(i),
            _ => None,
        });
        let shared: Vec<usize> = stores.map(|t| t.memory).collect();
        for (phi, c) in phis {
            let found = self.after(phi, c).or_else(|| self.within(phi, c));
            if let Some((element, overlaps)) = found.filter(|(e, _)| !shared.contains(&e.touch.memory)) {
                if element.needless {
                    let store = element.store;
                    for s in &mut self.sections {
                        s.roots.retain(|r| !matches!(r, Root::Store(i) if *i == store));
                    }
                    self.fresh.retain(|(_, r)| !matches!(r, Root::Store(i) if *i == store));
                }
                let ty = element.touch.ty;
                self.elements.insert(phi, element);
                // The dropped store was what asked for the value.
                self.carried_slot(phi, c, ty);
                for o in overlaps {
                    if !self.apart.contains(&o) {
                        self.apart.push(o);
                    }
                }
            }
        }
    }

    /// The last value, or what is computed of it, is stored behind the loop, and used for nothing else.
    fn after(&mut self, phi: Inst<'m>, c: Carried<'m>) -> Option<(Element<'m>, Vec<(usize, usize)>)> {
        let after = c.after?;
        if self.sections[after].place.loops != self.sections[c.front].place.loops {
            return None;
        }
        let last = if c.test_first { phi.value() } else { c.next };
        let mut uses = Vec::new();
        for user in self.outside_uses(last, c.l)? {
            let closed = user.is_phi() && user.incoming().len() == 1;
            match closed {
                true => uses.extend(user.users().into_iter().filter_map(|u| u.as_inst())),
                false => uses.push(user),
            }
        }
        let holds = |value: Value<'m>| {
            let closed = value.as_inst().filter(|q| q.is_phi()).and_then(|q| q.incoming().first().copied());
            value == last || closed.is_some_and(|i| i.0 == last)
        };
        let (store, needless) = match uses[..] {
            [only] if only.opcode() == Opcode::Store && only.operand(0).is_some_and(holds) => (only, true),
            _ => (self.overwritten(uses, after)?, false),
        };
        if self.section_of.get(&store) != Some(&after) {
            return None;
        }
        let block = self.cx.values.cfg.home(store)?;
        if !self.always_runs(block, after) {
            return None;
        }
        let touch = self.touches.get(&store)?.clone();
        touch.subscripts.as_ref()?;
        if scalar_type(last.ty()) != Some(touch.ty) {
            return None;
        }
        let mut overlaps = self.untouched(&touch, c, None)?;
        // In front of the store, nothing of its section may see the element early.
        let before = |d: &Self, i: &Inst<'m>| d.order.get(i) < d.order.get(&store);
        for i in self.accesses(after) {
            if before(self, &i) && i != store {
                overlaps.extend(self.clash(&touch, i)?);
            }
        }
        let set_front = !self.holds_already(&touch, c);
        Some((Element { touch, store, set_front, set_latch: true, needless }, overlaps))
    }

    /// The only effect of a section, a store, if these instructions are there for nothing else.
    fn overwritten(&self, mut uses: Vec<Inst<'m>>, section: usize) -> Option<Inst<'m>> {
        let [Root::Store(store)] = self.sections[section].roots[..] else { return None };
        let mut at = 0;
        while let Some(&use_) = uses.get(at) {
            at += 1;
            if use_ == store {
                continue;
            }
            if use_.is_phi() || self.section_of.get(&use_) != Some(&section) || uses.len() > MOST_USES {
                return None;
            }
            for user in use_.value().users() {
                let user = user.as_inst()?;
                if !uses.contains(&user) {
                    uses.push(user);
                }
            }
        }
        uses.contains(&store).then_some(store)
    }

    /// Every iteration stores the value for the next one, and the element holds the first one already.
    fn within(&mut self, phi: Inst<'m>, c: Carried<'m>) -> Option<(Element<'m>, Vec<(usize, usize)>)> {
        let latch = self.sections[c.latch].place.clone();
        let store = c.next.users().into_iter().filter_map(|u| u.as_inst()).find(|s| {
            s.opcode() == Opcode::Store
                && s.operand(0) == Some(c.next)
                && self.section_of.get(s) == Some(&c.latch)
                && self.cx.values.cfg.home(*s).is_some_and(|b| self.always_runs(b, c.latch))
        })?;
        let touch = self.touches.get(&store)?.clone();
        let var = self.cx.counters.get(&c.l)?.var;
        if touch.subscripts.as_ref()?.iter().any(|e| e.uses(var)) || latch.loops.last() != Some(&c.l) {
            return None;
        }
        let last = if c.test_first { phi.value() } else { c.next };
        let unused = self.outside_uses(last, c.l)?.iter().all(|q| q.is_phi() && !q.is_used());
        if !unused || !self.holds_already(&touch, c) {
            return None;
        }
        let overlaps = self.untouched(&touch, c, Some(store))?;
        Some((Element { touch, store, set_front: false, set_latch: false, needless: false }, overlaps))
    }

    fn outside_uses(&self, v: Value<'m>, l: usize) -> Option<Vec<Inst<'m>>> {
        let cfg = self.cx.values.cfg;
        let mut found = Vec::new();
        for u in v.users() {
            let u = u.as_inst()?;
            if !cfg.loops[l].contains(cfg.home(u)?) {
                found.push(u);
            }
        }
        Some(found)
    }

    fn accesses(&self, section: usize) -> Vec<Inst<'m>> {
        let cfg = self.cx.values.cfg;
        let blocks = self.sections[section].blocks.iter();
        let all = blocks.flat_map(|&b| cfg.insts[b].iter().copied());
        all.filter(|i| self.touches.contains_key(i) && self.section_of.get(i) == Some(&section)).collect()
    }

    /// Whether the element has the first value when the loop begins: stored or loaded in front, and not changed since.
    fn holds_already(&self, touch: &Touch<'m>, c: Carried<'m>) -> bool {
        let same = |i: &Inst<'m>| {
            self.touches.get(i).is_some_and(|t| t.memory == touch.memory && t.subscripts == touch.subscripts)
        };
        let mut held = false;
        for i in self.accesses(c.front) {
            if same(&i)
                && (i.value() == c.start || (i.opcode() == Opcode::Store && i.operand(0) == Some(c.start)))
            {
                let block = self.cx.values.cfg.home(i);
                held = block.is_some_and(|b| self.always_runs(b, c.front));
            } else if i.opcode() == Opcode::Store
                && self.touches.get(&i).is_none_or(|t| self.touch_meets(t, touch))
            {
                held = false;
            }
        }
        held
    }

    /// Pairs of memories that must not overlap so that nothing in the loop but `except` touches the element.
    fn untouched(
        &mut self,
        touch: &Touch<'m>,
        c: Carried<'m>,
        except: Option<Inst<'m>>,
    ) -> Option<Vec<(usize, usize)>> {
        let mut overlaps = Vec::new();
        for s in 0..self.sections.len() {
            if !self.sections[s].place.loops.contains(&c.l) {
                continue;
            }
            for i in self.accesses(s) {
                if Some(i) != except {
                    overlaps.extend(self.clash(touch, i)?);
                }
            }
        }
        // Other accumulators around or inside.
        for (phi, e) in &self.elements {
            let Some(o) = self.carried.get(phi) else { continue };
            let cfg = self.cx.values.cfg;
            if cfg.loop_within(o.l, c.l) || cfg.loop_within(c.l, o.l) {
                let inner = if cfg.loop_within(o.l, c.l) { o.latch } else { c.latch };
                overlaps.extend(self.meeting(touch, &e.touch, &self.sections[inner].place)?);
            }
        }
        Some(overlaps)
    }

    /// `None` where the access may touch the element; else the memories that must be apart for that.
    fn clash(&self, touch: &Touch<'m>, i: Inst<'m>) -> Option<Option<(usize, usize)>> {
        let section = *self.section_of.get(&i)?;
        self.meeting(touch, self.touches.get(&i)?, &self.sections[section].place)
    }

    fn meeting(&self, touch: &Touch<'m>, other: &Touch<'m>, place: &Place) -> Option<Option<(usize, usize)>> {
        if other.memory == touch.memory {
            let (a, b) = (other.polys.as_ref()?, touch.polys.as_ref()?);
            let apart = a.iter().zip(b).any(|(a, b)| {
                let above = a.sub(b).and_then(|d| d.offset(-1));
                let below = b.sub(a).and_then(|d| d.offset(-1));
                [above, below].into_iter().flatten().any(|d| self.cx.holds(place, &d))
            });
            return apart.then_some(None);
        }
        if !self.classes[other.memory].meets(self.classes[touch.memory]) {
            return Some(None);
        }
        if self.memories[other.memory].base == self.memories[touch.memory].base {
            return None;
        }
        let (x, y) = (other.memory.min(touch.memory), other.memory.max(touch.memory));
        Some(Some((x, y)))
    }

    /// The element behind a slot, if it has one.
    pub(super) fn element(&self, slot: usize) -> Option<&Element<'m>> {
        let phi = self.slots.get(slot)?.of.as_inst()?;
        self.elements.get(&phi)
    }

    pub(super) fn spot_touch(&self, spot: &Spot<'m>) -> Option<&Touch<'m>> {
        match spot {
            Spot::Memory(i) | Spot::Held(i) => self.touches.get(i),
            Spot::Slot(s) => self.element(*s).map(|e| &e.touch),
            Spot::Called(_) => None,
        }
    }
}
