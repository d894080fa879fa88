//! Sections as bodies, for the analysis of control flow.

use crate::mutation::{self, Rule};
use std::cell::RefCell;
use std::rc::Rc;

use analyses::control_flow::{Block, Body, BodyFlow, Test};
use rustc_hash::FxHashMap;

use super::cfg::Cfg;
use super::leaves::{Data, Section, Spot};
use crate::llvm::{Inst, IntPredicate, Opcode, Value};

/// What was found of sections, by their numbers; of those without the shape of a body nothing.
#[derive(Default)]
pub(super) struct Bodies(RefCell<FxHashMap<usize, Option<Rc<SectionFlow>>>>);

struct SectionFlow {
    /// Ascending.
    blocks: Vec<usize>,
    flow: Box<dyn BodyFlow>,
}

impl<'m> Data<'_, '_, 'm> {
    /// Whether a block runs whenever its section does.
    pub(super) fn always_runs(&self, block: usize, section: usize) -> bool {
        if mutation::off(Rule::Conditions) {
            return true;
        }
        let Section { blocks, test, .. } = &self.sections[section];
        if Some(block) == *test || !blocks.contains(&block) {
            return true;
        }
        let flow = self.flow(section);
        flow.is_some_and(|f| f.blocks.binary_search(&block).is_ok_and(|at| f.flow.always_runs(at)))
    }

    /// Whether two reads or writes in one section never happen in the same execution of it.
    pub(super) fn excludes(&self, a: &Spot<'m>, b: &Spot<'m>, section: usize) -> bool {
        let place = |spot: &Spot<'m>, flow: &SectionFlow| match spot {
            Spot::Memory(i) | Spot::Called(i) if self.section_of.get(i) == Some(&section) => {
                flow.blocks.binary_search(&self.cx.values.cfg.home(*i)?).ok()
            }
            _ => None,
        };
        let Some(flow) = self.flow(section) else { return false };
        place(a, &flow).zip(place(b, &flow)).is_some_and(|(a, b)| flow.flow.excludes(a, b))
    }

    fn flow(&self, section: usize) -> Option<Rc<SectionFlow>> {
        if let Some(found) = self.bodies.0.borrow().get(&section) {
            return found.clone();
        }
        let made = body(self.cx.values.cfg, &self.sections[section]).map(|(blocks, body)| {
            Rc::new(SectionFlow { blocks, flow: self.cx.values.options.control_flow.analyse(&body) })
        });
        self.bodies.0.borrow_mut().insert(section, made.clone());
        made
    }
}

/// The blocks of a section without its loop's test, and how control goes through them.
fn body<'m>(cfg: &Cfg<'m>, section: &Section<'m>) -> Option<(Vec<usize>, Body)> {
    let mut blocks = section.blocks.clone();
    blocks.retain(|b| Some(*b) != section.test);
    blocks.sort_unstable();
    blocks.dedup();
    let place = |b: &usize| blocks.binary_search(b).ok();
    // Only the first may be entered from elsewhere.
    if blocks.iter().skip(1).any(|&b| !cfg.preds[b].iter().all(|p| *p < b && place(p).is_some())) {
        return None;
    }
    let mut conditions = Conditions::default();
    let described = blocks.iter().map(|&b| {
        let successors = cfg.succs[b].iter().map(|s| place(s).filter(|_| *s > b)).collect();
        let condition = cfg.insts[b].last().and_then(|t| t.condition());
        Block { successors, test: condition.map(|c| conditions.test(c)) }
    });
    let described = described.collect();
    Some((blocks.clone(), Body { blocks: described }))
}

/// Conditions that were met, by number; of integer comparisons also what they compare.
#[derive(Default)]
struct Conditions<'m> {
    met: FxHashMap<Value<'m>, u32>,
    compared: FxHashMap<(IntPredicate, Value<'m>, Value<'m>), u32>,
}

impl<'m> Conditions<'m> {
    /// The number of a condition. One that is the opposite of another has the same number. Poison does not matter: to branch on it
    /// is undefined.
    fn test(&mut self, mut condition: Value<'m>) -> Test {
        let mut positive = true;
        while let Some(inner) = condition.as_inst().and_then(negated) {
            (condition, positive) = (inner, !positive);
        }
        let comparison = condition.as_inst().and_then(comparison);
        if let Some((predicate, a, b)) = comparison
            && let Some(&condition) = self.compared.get(&(predicate.inverse(), a, b))
        {
            return Test { condition, positive: !positive };
        }
        let next = self.met.len() as u32;
        let number = *self.met.entry(condition).or_insert(next);
        if let Some(comparison) = comparison {
            self.compared.entry(comparison).or_insert(number);
        }
        Test { condition: number, positive }
    }
}

/// What an integer comparison asks of which operands.
fn comparison(inst: Inst<'_>) -> Option<(IntPredicate, Value<'_>, Value<'_>)> {
    Some((inst.int_predicate()?, inst.operand(0)?, inst.operand(1)?))
}

fn negated(inst: Inst<'_>) -> Option<Value<'_>> {
    let flips = inst.opcode() == Opcode::Xor && inst.operand(1)?.const_int().is_some_and(|c| c & 1 == 1);
    inst.operand(0).filter(|_| flips)
}
