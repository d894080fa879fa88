//! Values that an array element still holds where they are used: `a[i] = v; if (c) b[i] = v + 1` reads `a[i]`, as the source
//! did before common subexpressions were eliminated, so that no scalar ties the two statements together.

use rustc_hash::FxHashSet;

use super::leaves::Data;
use crate::llvm::{Inst, Opcode, Value};
use crate::mutation::{self, Rule};

impl<'m> Data<'_, '_, 'm> {
    /// The store that has put a value of section `home` where it still is when `section` begins.
    pub(super) fn held(&self, v: Value<'m>, home: usize, section: usize) -> Option<Inst<'m>> {
        if !self.called.is_empty() && !mutation::off(Rule::CallsWrite) {
            return None;
        }
        let mut stores: Vec<Inst<'m>> = v
            .users()
            .into_iter()
            .filter_map(|u| u.as_inst())
            .filter(|s| s.opcode() == Opcode::Store && s.operand(0) == Some(v) && !s.is_relaxed_store())
            .filter(|s| self.section_of.get(s) == Some(&home) && self.keeps(*s, home, section))
            .collect();
        stores.sort_by_key(|s| self.order.get(s));
        stores.pop()
    }

    /// Whether a store of `home` runs whenever that does, and nothing changes its element until `section` begins.
    fn keeps(&self, store: Inst<'m>, home: usize, section: usize) -> bool {
        let Some(touch) = self.touches.get(&store).filter(|t| t.subscripts.is_some()) else { return false };
        let runs = self.cx.values.cfg.home(store).is_some_and(|block| self.always_runs(block, home));
        let (from, to) = (&self.sections[home].place.loops, &self.sections[section].place.loops);
        if !runs || home >= section || !to.starts_with(from) {
            return false;
        }
        if mutation::off(Rule::HeldValues) {
            return true;
        }
        // What is executed between the two: what stands between them, and what earlier iterations of loops around the later
        // one only have executed.
        let again = |loops: &[usize]| to.get(from.len()).is_some_and(|l| loops.contains(l));
        let between = |s: usize| {
            s > home && s < section && self.leads_to(s, section, home) || again(&self.sections[s].place.loops)
        };
        let changes = |i: &Inst<'m>| {
            i.opcode() == Opcode::Store && self.touches.get(i).is_none_or(|t| self.touch_meets(t, touch))
        };
        let stored = |s: usize| self.stores(s).any(|i| i != store && changes(&i));
        let behind = |i: &Inst<'m>| self.order.get(i) > self.order.get(&store);
        let shared = |i: &Inst<'m>| {
            i.is_relaxed_store() && self.touches.get(i).is_none_or(|t| t.memory == touch.memory)
        };
        let sections = 0..self.sections.len();
        // Accumulators write their elements earlier and more often than the stores that showed where.
        let accumulated = self.elements.iter().any(|(phi, e)| {
            let Some(c) = self.carried.get(phi) else { return true };
            let early = e.set_front && (c.front >= home && c.front < section || between(c.front));
            let inside = sections.clone().any(|s| {
                self.sections[s].place.loops.contains(&c.l) && (between(s) || s == section || s == home)
            });
            (early || inside) && self.touch_meets(&e.touch, touch)
        });
        !accumulated
            && !self.stores(home).any(|i| behind(&i) && changes(&i))
            && !sections.clone().any(|s| between(s) && stored(s))
            && !sections.clone().any(|s| self.stores(s).any(|i| shared(&i)))
    }

    /// Whether control may come from a section to another within one iteration of the loops around `home`.
    fn leads_to(&self, from: usize, to: usize, home: usize) -> bool {
        let cfg = self.cx.values.cfg;
        let targets = &self.sections[to].blocks;
        let mut reached = self.sections[from].blocks.clone();
        if reached.is_empty() || targets.is_empty() {
            return true;
        }
        let goes_on = |block: usize, next: usize| {
            let starts_again = next <= block
                && self.sections[home]
                    .blocks
                    .iter()
                    .any(|h| cfg.loops.iter().any(|l| l.header == next && l.contains(*h)));
            self.cx.inside[next] && !starts_again
        };
        let mut seen: FxHashSet<usize> = reached.iter().copied().collect();
        while let Some(block) = reached.pop() {
            if targets.contains(&block) {
                return true;
            }
            reached.extend(cfg.succs[block].iter().filter(|s| goes_on(block, **s) && seen.insert(**s)));
        }
        false
    }

    fn stores(&self, section: usize) -> impl Iterator<Item = Inst<'m>> {
        let cfg = self.cx.values.cfg;
        let all = self.sections[section].blocks.iter().flat_map(|&b| cfg.insts[b].iter().copied());
        all.filter(move |i| i.opcode() == Opcode::Store && self.section_of.get(i) == Some(&section))
    }
}
