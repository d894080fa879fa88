//! The analytic model: computation on the ports, traffic between caches, and how they overlap.

use crate::alike::Execution;
use crate::clang::Packing;
use crate::explain::{Cost, Term, Words};
use crate::facts::Facts;
use crate::least::least;
use crate::lower::lower;
use crate::part::{Part, Priced, Pricing, Takes};
use crate::remembered::Remembered;
use crate::traffic::{Moved, Traffic, together};
use crate::transfers::{Transfer, overlapped};
use crate::unroll::{Code, Unrolled, unroll_short};
use crate::unseen::{Seen, Whole};
use crate::{CostModel, Prepared, Target};
use loop_tree::{Green, Kernel, Node};
use smallvec::SmallVec;
use std::sync::Arc;

/// Predicts cycles on a target, of code that `clang -O3` makes of the tree.
#[derive(Clone)]
pub struct AnalyticModel {
    target: Arc<dyn Target>,
    /// The machine as new code uses it.
    for_new_code: Arc<dyn Target>,
    threads: u32,
}

impl AnalyticModel {
    /// A model of one thread on the target.
    pub fn new(target: impl Target + 'static) -> Self {
        Self::shared(Arc::new(target))
    }

    /// A model of one thread on a shared target.
    pub fn shared(target: Arc<dyn Target>) -> Self {
        let for_new_code = target.for_new_code().unwrap_or_else(|| target.clone());
        AnalyticModel { target, for_new_code, threads: 1 }
    }

    /// How many threads execute a parallel loop; at most as many as the target has cores.
    pub fn with_threads(mut self, threads: u32) -> Self {
        self.threads = threads.clamp(1, self.target.cores().max(1));
        self
    }

    /// The machine.
    pub fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// The program as written.
    fn price_program(&self, facts: &Facts<'_>, words: Words) -> Part {
        let program = lower(facts, &unroll_short(facts, &facts.kernel.original, Code::Program));
        self.pricing(true, words).price(&program)
    }

    /// New code: where it is doubtful what the compiler unrolls, the dearer.
    fn price_part(&self, facts: &Facts<'_>, root: &Green, words: Words) -> Arc<Part> {
        let price = |unrolled: &Unrolled| Arc::new(self.pricing(false, words).price(&lower(facts, unrolled)));
        let all = unroll_short(facts, root, Code::New { doubtful: true });
        let usual = price(&all);
        if !all.doubtful {
            return usual;
        }
        let fewer = price(&unroll_short(facts, root, Code::New { doubtful: false }));
        let cycles = |part: &Arc<Part>| {
            Cost::of(self.terms(facts.kernel, std::slice::from_ref(part), None, Words::UNSAID)).cycles
        };
        if cycles(&fewer) > cycles(&usual) { fewer } else { usual }
    }

    fn pricing(&self, original: bool, words: Words) -> Pricing<'_> {
        let target = if original { &*self.target } else { &*self.for_new_code };
        Pricing { target, threads: self.threads, original, words }
    }

    /// The terms of a tree of these parts.
    fn terms(&self, kernel: &Kernel, parts: &[Arc<Part>], seen: Option<&Seen>, words: Words) -> Vec<Term> {
        let moved: Vec<&[Moved]> = parts.iter().map(|p| &p.moved[..]).collect();
        let moved = together(&moved, kernel.arrays.len(), &*self.target);
        let of_part = |part: &Part, leaves| seen.map_or(1.0, |s| s.factor(&part.work[leaves]));
        let mut terms = Vec::new();
        for (part, moved) in parts.iter().zip(&moved) {
            for l in &part.loops {
                let mut term = self.loop_term(part, moved, l, words);
                term.scale(of_part(part, l.leaves.clone()));
                terms.push(term);
            }
        }
        let mut straight = 0.0;
        for (part, moved) in parts.iter().zip(&moved).filter(|(part, _)| part.straight > 0.0) {
            let outside = moved.iter().zip(&part.homes).filter(|(_, home)| home.is_none());
            straight +=
                part.straight + outside.flat_map(|(t, _)| &t.transfers).map(|t| t.cycles).sum::<f64>();
        }
        if straight > 0.0 {
            terms.push(Term::new("straight-line code", straight, String::new()));
        }
        let mut control = Vec::new();
        for (part, c) in parts.iter().flat_map(|p| p.control.iter().map(move |c| (p, c))) {
            let cycles = c.cycles * of_part(part, c.leaves.clone()) + c.shared;
            control.push(Term::new(c.name.clone(), cycles, c.detail.clone()));
        }
        let cycles = control.iter().map(|t| t.cycles).sum();
        if cycles > 0.0 {
            terms.push(Term { parts: control, ..Term::new("outer loops", cycles, String::new()) });
        }
        terms
    }

    /// A loop with the transfers that what it executes causes.
    fn loop_term(&self, part: &Part, moved: &[Traffic], l: &Priced, words: Words) -> Term {
        let (Execution { compute, entry, busy, threads, plan }, how) = match &l.takes {
            Takes::Code(code, how) => (code, how),
            Takes::Call(call) => {
                let memory: f64 = call
                    .moved
                    .iter()
                    .map(|m| moved[*m].transfers.iter().map(|t| t.cycles).sum::<f64>())
                    .sum();
                return Term::new(l.name.clone(), call.compute.max(memory) + call.entry, l.detail.clone());
            }
        };
        let (terms, transfers): (Vec<Term>, SmallVec<[Transfer; 6]>) = self
            .transfers(part, moved, l.at, plan.packing != Packing::Scalar, *threads, words)
            .into_iter()
            .unzip();
        let parts = [
            Term::new("computation", compute - entry, how.clone()),
            Term::new("entry and remainder", *entry, String::new()),
        ];
        Term {
            name: l.name.clone(),
            cycles: overlapped(*compute, *busy, &transfers, &*self.target) / threads,
            detail: l.detail.clone(),
            bytes: 0.0,
            parts: parts.into_iter().chain(terms).filter(|t| t.cycles > 0.0).collect(),
        }
    }

    /// The transfers that groups of one loop cause, a term for each level: of all threads that share it, one after the other, but for
    /// memory, which is slower for each the more there are.
    fn transfers(
        &self,
        part: &Part,
        moved: &[Traffic],
        at: usize,
        vectors: bool,
        threads: f64,
        words: Words,
    ) -> Vec<(Term, Transfer)> {
        let last = self.target.caches().len().saturating_sub(1);
        let crowded = (threads / self.target.memory_cores().max(1.0)).max(1.0);
        let caches = self.target.caches().iter().map(|c| (c.name, "lines", f64::from(c.line)));
        let names = caches.chain(self.target.tlbs().iter().map(|t| (t.name, "pages", 0.0)));
        let level = |(level, (name, unit, line)): (usize, (&str, &str, f64))| {
            let here = moved.iter().zip(part.homes.iter().zip(&part.names));
            let times = if level == last { crowded } else { 1.0 };
            let (mut all, mut count, mut worst) = (Transfer::default(), 0.0, (0.0, ""));
            for (t, (_, array)) in here.filter(|(_, (home, _))| **home == Some(at)) {
                let transfer = t.transfers[level];
                all.cycles += transfer.cycles * times;
                all.exposed += transfer.exposed * times;
                // Stores that wait let others wait, and lines from further on come later: about as much as half of them do.
                if vectors {
                    all.cycles += t.split * [1.0, FURTHER_WAITS].get(level).unwrap_or(&0.0);
                }
                count += t.misses[level];
                if transfer.cycles > worst.0 {
                    worst = (transfer.cycles, array);
                }
            }
            let detail = words.say(|| format!("{count:.3e} {unit}, most of {}", worst.1));
            let name = words.say(|| format!("{name} misses"));
            (Term { bytes: count * line, ..Term::new(name, all.cycles, detail) }, all)
        };
        names.enumerate().map(level).collect()
    }
}

/// Of the waits for lines in which vectors of several rows meet, those that show where the lines come from the level after next: four
/// fused loops over seven rows of 150,000 doubles wait 3 cycles for each line that they write, on Emerald Rapids.
const FURTHER_WAITS: f64 = 0.5;

impl CostModel for AnalyticModel {
    fn cost(&self, kernel: &Kernel, root: &Green, params: &[i64]) -> Cost {
        self.prepare(kernel, params).cost(root)
    }

    fn cost_of_original(&self, kernel: &Kernel, params: &[i64]) -> Cost {
        self.prepare(kernel, params).cost_of_original()
    }

    fn on(&self, target: &Arc<dyn Target>) -> Option<Arc<dyn CostModel>> {
        Some(Arc::new(AnalyticModel::shared(target.clone()).with_threads(self.threads)))
    }

    fn prepare<'a>(&'a self, kernel: &'a Kernel, params: &'a [i64]) -> Box<dyn Prepared + 'a> {
        let mut facts = Facts::new(kernel, params);
        if !facts.constant_loops.is_empty() && !self.price_program(&facts, Words::UNSAID).short_in_vectors {
            // There are no vectors to lose.
            facts.constant_loops.clear();
        }
        let mut prepared = PreparedModel {
            model: self,
            facts,
            whole: Whole::default(),
            parts: Remembered::default(),
            rests: Remembered::default(),
        };
        let parts = prepared.parts(&kernel.original, Words::UNSAID);
        let cycles = Cost::of(self.terms(kernel, &parts, None, Words::UNSAID)).cycles;
        prepared.whole = Whole::new(kernel, parts.iter().flat_map(|p| &p.work), cycles);
        Box::new(prepared)
    }
}

/// Predicted gain from which on wider vectors are asked for: remainders are longer, and lines are crossed by every second one.
const WIDENED: f64 = 1.1;
/// Cycles of a call with what it is handed, and of the upper halves of registers that it clears.
const CALL: f64 = 50.0;

/// The model of one kernel.
struct PreparedModel<'a> {
    model: &'a AnalyticModel,
    facts: Facts<'a>,
    whole: Whole,
    /// Prices of nodes below roots, without words: most trees differ from others in one of them.
    parts: Remembered<Arc<Part>, 512>,
    /// Cycles of parts of trees: what is left without a nest is the same as long as nothing else changes.
    rests: Remembered<f64, 8192>,
}

impl PreparedModel<'_> {
    /// The parts of a tree: each nest by itself, and what stands between them.
    fn parts(&self, root: &Green, words: Words) -> Vec<Arc<Part>> {
        // What is all of a tree is not met again.
        let Node::Seq(children) = root.node() else {
            return vec![self.model.price_part(&self.facts, root, words)];
        };
        let nests = children.iter().filter(|c| c.summary().loop_depth > 0);
        let mut parts: Vec<Arc<Part>> = nests.map(|nest| self.part(nest, words)).collect();
        let straight: Vec<Green> = children.iter().filter(|c| c.summary().loop_depth == 0).cloned().collect();
        if !straight.is_empty() {
            parts.push(self.model.price_part(&self.facts, &Green::seq(straight), words));
        }
        parts
    }

    /// One nest.
    fn part(&self, nest: &Green, words: Words) -> Arc<Part> {
        let price = || self.model.price_part(&self.facts, nest, words);
        if words.are_said() { price() } else { self.parts.or_find(nest.structural_hash(), price) }
    }

    fn terms(&self, root: &Green, words: Words) -> Vec<Term> {
        let parts = self.parts(root, words);
        let kernel = self.facts.kernel;
        let seen = self.whole.seen(kernel, root, parts.iter().flat_map(|p| &p.work));
        let mut terms = self.model.terms(kernel, &parts, Some(&seen), words);
        terms.extend(self.whole.unseen(&seen));
        terms
    }
}

impl Prepared for PreparedModel<'_> {
    fn cost(&self, root: &Green) -> Cost {
        Cost::of(self.terms(root, Words::SAID))
    }

    fn cycles(&self, root: &Green) -> f64 {
        Cost::of(self.terms(root, Words::UNSAID)).cycles
    }

    fn cycles_of_part(&self, root: &Green) -> f64 {
        self.rests.or_find(root.structural_hash(), || {
            let parts = self.parts(root, Words::UNSAID);
            Cost::of(self.model.terms(self.facts.kernel, &parts, None, Words::UNSAID)).cycles
        })
    }

    fn cost_of_original(&self) -> Cost {
        let kernel = self.facts.kernel;
        let part = self.model.price_program(&self.facts, Words::SAID);
        Cost::of(self.model.terms(kernel, &[Arc::new(part)], None, Words::SAID))
    }

    fn widened(&self, root: &Green) -> Option<u32> {
        let AnalyticModel { target, for_new_code, .. } = self.model;
        if for_new_code.vector_bits() <= target.vector_bits() {
            return None;
        }
        let narrow = AnalyticModel { for_new_code: target.clone(), ..self.model.clone() };
        let facts = &self.facts;
        let cycles = narrow.prepare(facts.kernel, facts.params).cycles(root);
        (cycles > WIDENED * self.cycles(root) + CALL).then(|| for_new_code.vector_bits())
    }

    fn least(&self) -> f64 {
        let program = lower(&self.facts, &Unrolled::not(&self.facts.kernel.original));
        least(&program, &*self.model.for_new_code) / f64::from(self.model.threads)
    }
}
