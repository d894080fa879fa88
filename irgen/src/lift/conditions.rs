//! Conditions of branches as facts about iterations: alternatives of which at most one holds.

use super::context::{Context, Place};
use super::values::MAX_DISJUNCTS;
use crate::llvm::Value;
use crate::mutation::{self, Rule};
use analyses::closed_forms::{Fact, Meaning, Sym};

impl<'m> Context<'_, '_, 'm> {
    /// What holds exactly where a way of a condition is taken, if that is affine.
    pub(super) fn affine_way(
        &mut self,
        condition: Value<'m>,
        positive: bool,
        place: &Place,
    ) -> Option<Vec<Vec<Fact>>> {
        let formula = self.values.formula(condition, positive)?;
        if !formula.needs.iter().all(|need| self.need(place, need)) {
            return None;
        }
        let disjuncts = self.possible(place, formula.disjuncts);
        if disjuncts.len() > MAX_DISJUNCTS {
            return None;
        }
        let disjuncts = self.apart(place, &disjuncts).unwrap_or(disjuncts);
        disjuncts.iter().flatten().all(|f| self.constraint(f).is_some()).then_some(disjuncts)
    }

    /// A place in code without loops, of these blocks: what their conditions say of one of them holds there, too.
    pub(super) fn place_of(&mut self, block: usize, blocks: &[usize], around: &Place) -> Place {
        let cfg = self.values.cfg;
        let mut ways = Vec::new();
        let mut at = block;
        while cfg.idom[at] != at && blocks.contains(&cfg.idom[at]) {
            at = cfg.idom[at];
            let (Some(condition), [yes, no]) =
                (cfg.insts[at].last().and_then(|t| t.condition()), &cfg.succs[at][..])
            else {
                continue;
            };
            for (way, positive) in [(*yes, true), (*no, false)] {
                let only = yes != no && cfg.preds[way].len() == 1 && cfg.dominates(way, block);
                if only || mutation::off(Rule::ConditionFacts) && positive {
                    ways.push((condition, positive));
                }
            }
        }
        let mut place = around.clone();
        for (condition, positive) in ways.into_iter().rev() {
            let saved = self.assumed();
            let count = self.assumptions.len();
            match self.affine_way(condition, positive, &place).as_deref() {
                Some([only]) if self.assumptions.len() == count => place.facts.extend(only.iter().cloned()),
                _ => self.restore(saved),
            }
        }
        place
    }

    /// The same where no two disjuncts hold at once, if that takes no more of them than are kept: what is asked about unions that overlap
    /// takes much longer. Those that say something of outer loops only come first, and are told apart from no others.
    fn apart(&self, place: &Place, disjuncts: &[Vec<Fact>]) -> Option<Vec<Vec<Fact>>> {
        let innermost = |facts: &&Vec<Fact>| {
            let symbols = facts.iter().flat_map(|f| f.poly.symbols());
            let depth = |s: Sym| match self.values.symbols().meaning(s) {
                Meaning::Iteration(l) => place.loops.iter().position(|around| *around == l),
                _ => None,
            };
            symbols.filter_map(depth).max()
        };
        let mut ordered: Vec<&Vec<Fact>> = disjuncts.iter().collect();
        ordered.sort_by_key(innermost);
        let mut result: Vec<Vec<Fact>> = Vec::new();
        for (n, one) in ordered.iter().enumerate() {
            let mut parts = vec![one.to_vec()];
            for other in &ordered[..n] {
                let mut left = Vec::new();
                for mut known in parts {
                    for fact in other.iter() {
                        for opposite in fact.opposites()? {
                            left.push(self.with(place, &known, opposite));
                        }
                        known = self.with(place, &known, fact.clone());
                    }
                }
                parts = self.possible(place, left);
            }
            result.append(&mut parts);
            if result.len() > MAX_DISJUNCTS {
                return None;
            }
        }
        Some(result)
    }

    /// Facts and one more, where that does not follow from them.
    fn with(&self, place: &Place, facts: &[Fact], one: Fact) -> Vec<Fact> {
        let mut here = place.clone();
        here.facts.extend(facts.iter().cloned());
        let follows = !one.equal && self.holds(&here, &one.poly);
        facts.iter().cloned().chain((!follows).then_some(one)).collect()
    }

    /// The disjuncts that may hold at a place: not both halves of `i != 0` where `i` is never negative.
    pub(super) fn possible(&self, place: &Place, mut disjuncts: Vec<Vec<Fact>>) -> Vec<Vec<Fact>> {
        let never =
            |f: &Fact| f.poly.scale(-1).and_then(|p| p.offset(-1)).is_some_and(|p| self.holds(place, &p));
        disjuncts.retain(|d| !d.iter().any(never));
        disjuncts
    }
}
