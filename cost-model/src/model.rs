//! The analytic model: computation on the ports, traffic between caches, and how they overlap.

use crate::body::body;
use crate::clang::{Circumstances, Packing, Plan, hand_on, hand_to_calls, hold_rows, keep, plan, weaken};
use crate::explain::{Cost, Term, Words};
use crate::facts::Facts;
use crate::lanes::Lanes;
use crate::least::least;
use crate::library;
use crate::lower::{Loop, Lowered, lower};
use crate::threads::Threads;
use crate::throughput::price;
use crate::traffic::{Traffic, traffic};
use crate::trip_counts::LARGEST;
use crate::unroll::{Unrolled, unroll_short};
use crate::unseen::{Seen, Whole};
use crate::{CostModel, OpClass, Prepared, Target};
use loop_tree::{Green, Kept, Kernel, ScalarType};
use smallvec::SmallVec;
use std::sync::Arc;

/// Predicts cycles on a target, of code that `clang -O3` makes of the tree.
#[derive(Clone)]
pub struct AnalyticModel {
    target: Arc<dyn Target>,
    threads: u32,
}

/// Exponent of the norm that adds times which overlap, of core and transfers, and of transfers between levels where these do:
/// 1 would be none, infinity all.
const OVERLAP: f64 = 2.0;
/// The same of transfers from further on than the second level, where those from there take no time beside the core's.
const FURTHER: f64 = 1.5;
/// Lanes from which on what is left over of a vectorised loop is a vectorised loop of its own.
const SHORTEST_WITH_EPILOGUE: u32 = 16;

impl AnalyticModel {
    /// A model of one thread on the target.
    pub fn new(target: impl Target + 'static) -> Self {
        Self::shared(Arc::new(target))
    }

    /// A model of one thread on a shared target.
    pub fn shared(target: Arc<dyn Target>) -> Self {
        AnalyticModel { target, threads: 1 }
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

    fn terms(&self, program: &Lowered<'_>, may_alias: bool, seen: Option<&Seen>, words: Words) -> Vec<Term> {
        let factor = |index| seen.map_or(1.0, |s| s.factor(program, index));
        let kernel = program.facts.kernel;
        let moved = traffic(program, &*self.target);
        let mut terms = Vec::new();
        // Loops of which none is left.
        let mut unrolled: SmallVec<[usize; 8]> = SmallVec::new();
        for index in 0..program.loops.len() {
            if program.is_vector(index) {
                continue;
            }
            if let Some(call) = program.library(index) {
                if call == index {
                    let name = words.say(|| format!("library {}", program.loops[index].name(kernel)));
                    terms.push(library::term(program, &moved, index, name, &*self.target));
                }
                continue;
            }
            let leaves = program.executed(Some(index));
            if !leaves.is_empty() || program.is_innermost(index) {
                let (mut term, plan) = self.loop_term(program, &moved, index, &leaves, may_alias, words);
                unrolled.extend(plan.unrolled.then_some(index));
                term.scale(factor(index));
                terms.push(term);
            }
        }
        let top = program.executed(None);
        let straight: f64 = top.iter().map(|l| program.leaves[*l].runs).sum();
        if straight > 0.0 {
            let lanes = lanes_of(program, &top);
            let b = body(program, &top, None, lanes, true, &*self.target);
            let once = Circumstances { trip: 1.0, constant: None, lanes, original: may_alias };
            let once = price(&b, &*self.target, &plan(&b, &*self.target, &once)).cycles;
            let outside = |t: &&Traffic| program.home(t.group.parent).is_none();
            let memory: f64 = moved.iter().filter(outside).flat_map(|t| &t.cycles).sum();
            terms.push(Term::new("straight-line code", once + memory, String::new()));
        }
        terms.extend(self.control_term(program, &unrolled, factor, words));
        terms
    }

    /// The statements directly inside one loop, with the transfers they cause.
    fn loop_term(
        &self,
        program: &Lowered<'_>,
        moved: &[Traffic],
        index: usize,
        leaves: &[usize],
        may_alias: bool,
        words: Words,
    ) -> (Term, Plan) {
        let (kernel, target) = (program.facts.kernel, &*self.target);
        let l = &program.loops[index];
        let innermost = program.is_innermost(index);
        let lanes_told = lanes_of(program, leaves);
        let depth = innermost.then_some(l.depth);
        let mut b = body(program, leaves, depth, lanes_told, !may_alias, target);
        let scalar = kernel.kept(l.header.var) == Some(Kept::Scalar);
        if !innermost || b.checks_fail > 0.5 || scalar {
            b.vectorisable = false;
        }
        b.guards(l.varying_guards as f64);
        if may_alias && innermost {
            weaken(&mut b, program, index, leaves, target);
            hand_on(&mut b, program, leaves);
        }
        if innermost && b.accumulators > 0 {
            hand_to_calls(&mut b, program, index, leaves);
        }
        let circumstances =
            Circumstances { trip: l.trip, constant: l.constant, lanes: lanes_told, original: may_alias };
        let plan = plan(&b, target, &circumstances);
        if !may_alias && lanes_told.is_none() {
            keep(&mut b, program, index, &plan, target);
        }
        if lanes_told.is_none() {
            hold_rows(&mut b, program, index, &plan, !may_alias, target);
        }
        let once = price(&b, target, &plan);
        let runs = program.entered(index);
        let iterations = runs * l.trip;
        let scalar = price(&b, target, &Plan::SCALAR);
        let control = target.control();
        let bounds = l.header.lower().len() + l.header.upper().len();
        let mut compute;
        let lanes;
        match plan.packing {
            Packing::Lanes(n) => {
                lanes = f64::from(n);
                let (rest, narrow) = if plan.folded { (0.0, 0.0) } else { left_over(l, n) };
                let mut vectors = (l.trip - rest - narrow) / lanes;
                if plan.folded {
                    vectors = vectors.ceil();
                }
                compute = vectors * once.cycles + rest * scalar.cycles.max(1.0);
                if narrow > 0.0 {
                    let half = Plan { packing: Packing::Lanes(n / 2), ..plan };
                    compute += narrow * 2.0 / lanes * price(&b, target, &half).cycles;
                }
                compute *= runs;
                compute += b.checks_fail * (iterations * scalar.cycles - compute).max(0.0);
            }
            Packing::Scalar | Packing::Marked(_) | Packing::Adjacent(_) | Packing::Sums(_) => {
                lanes = 1.0;
                compute = iterations * once.cycles;
            }
        }
        let mut entry = 0.0;
        if innermost {
            entry = if plan.unrolled { 0.0 } else { control.entry };
            if !plan.unrolled && l.trip > 1.5 {
                // The end of a loop of constant length is predicted: on Zen 4 up to 120 vectors, four of them an iteration.
                let surprise = if l.exact && l.trip / lanes <= 128.0 { 0.25 } else { 0.6 };
                entry += control.mispredict * surprise;
            }
            if lanes > 1.0 {
                entry += b.checks as f64 * control.pointer_check;
            }
            entry += bounds.saturating_sub(2) as f64 * control.bound;
            // What does not change is loaded, and computed with, before a loop is entered: in front of a short loop of many
            // copies this is most of the work.
            entry += (b.invariant as f64 + b.hoisted) / target.loads_per_cycle().max(0.1);
            // Accumulators are loaded and stored around the loop.
            entry += b.accumulators as f64 * 0.75;
            if lanes > 1.0 {
                // In the end lanes are added up by halves, each a permutation and an addition, which wait for each other; where no loop
                // is left, beside what comes next, and permutations go through ports of their own.
                let step = match b.widest.filter(|_| plan.unrolled) {
                    Some(ty) => target.op(adds(ty), ty, lanes as u32).reciprocal,
                    None => 1.0,
                };
                entry += b.accumulators as f64 * lanes.log2() * step;
            }
        }
        let entry = entry * runs;
        compute = (compute + entry).min(LARGEST);
        let factor = Threads::new(program, target, self.threads).at_a_time(index);
        let transfers = self.transfers(program, moved, Some(index), factor, words);
        let times: SmallVec<[f64; 6]> = transfers.iter().map(|t| t.cycles).collect();
        let busy = iterations / lanes * once.accesses;
        let mut cycles = overlapped(compute, busy, &times, target);
        cycles /= factor;
        let how = || match plan.packing {
            Packing::Lanes(n) => format!("{n} lanes"),
            Packing::Marked(n) => format!("vectors of {n}"),
            Packing::Adjacent(n) => format!("{n} neighbours packed"),
            Packing::Sums(n) => format!("{n} neighbours added up"),
            Packing::Scalar => "scalar".into(),
        };
        let name = || {
            let names: Vec<&str> =
                leaves.iter().take(3).map(|s| &*program.leaves[*s].statement.name).collect();
            let more = if leaves.len() > 3 { ", ..." } else { "" };
            format!("loop {} {{{}{more}}}", l.name(kernel), names.join(", "))
        };
        let term = Term {
            name: words.say(name),
            cycles,
            detail: words.say(|| format!("{runs:.0} x {:.1} iterations", l.trip)),
            bytes: 0.0,
            parts: std::iter::once(Term::new(
                "computation",
                compute - entry,
                words.say(|| {
                    format!("{}, {:.2} cycles per iteration, bound by {}", how(), once.cycles, once.bound)
                }),
            ))
            .chain(std::iter::once(Term::new("entry and remainder", entry, String::new())))
            .chain(transfers)
            .filter(|t| t.cycles > 0.0)
            .collect(),
        };
        (term, plan)
    }

    /// The transfers that groups of one loop cause, a term for each level: of all threads that share it, one after the other, but for
    /// memory, which is slower for each the more there are.
    fn transfers(
        &self,
        program: &Lowered<'_>,
        moved: &[Traffic],
        parent: Option<usize>,
        threads: f64,
        words: Words,
    ) -> Vec<Term> {
        let last = self.target.caches().len().saturating_sub(1);
        let crowded = (threads / self.target.memory_cores().max(1.0)).max(1.0);
        let caches = self.target.caches().iter().map(|c| (c.name, "lines", f64::from(c.line)));
        let names = caches.chain(self.target.tlbs().iter().map(|t| (t.name, "pages", 0.0)));
        let level = |(level, (name, unit, line)): (usize, (&str, &str, f64))| {
            let here = moved.iter().filter(|t| program.home(t.group.parent) == parent);
            let (mut cycles, mut count, mut worst) = (0.0, 0.0, (0.0, None));
            for t in here {
                cycles += t.cycles[level] * if level == last { crowded } else { 1.0 };
                count += t.misses[level];
                if t.cycles[level] > worst.0 {
                    worst = (t.cycles[level], Some(t.group.array));
                }
            }
            let array = || worst.1.map_or("", |a| program.array_name(a));
            let detail = words.say(|| format!("{count:.3e} {unit}, most of {}", array()));
            let name = words.say(|| format!("{name} misses"));
            Term { bytes: count * line, ..Term::new(name, cycles, detail) }
        };
        names.enumerate().map(level).collect()
    }

    /// Loops that contain loops, guards, and threads. One in which no loop is left goes on beside what it computes.
    fn control_term(
        &self,
        program: &Lowered<'_>,
        unrolled: &[usize],
        factor: impl Fn(usize) -> f64,
        words: Words,
    ) -> Option<Term> {
        let kernel = program.facts.kernel;
        let control = self.target.control();
        let threads = Threads::new(program, &*self.target, self.threads);
        let mut parts = Vec::new();
        for (index, l) in program.loops.iter().enumerate() {
            if program.is_vector(index) || program.library(index).is_some() {
                continue;
            }
            let innermost = program.is_innermost(index);
            let guards = if innermost { 0.0 } else { l.guards as f64 };
            let runs = program.entered(index);
            let bounds = (l.header.lower().len() + l.header.upper().len()).saturating_sub(2) as f64;
            let asked = bounds * control.bound + 2.0;
            let mut cycles = runs * l.skipped / l.runs * asked;
            if !innermost {
                let iteration =
                    if l.inner.iter().all(|i| unrolled.contains(i)) { 0.0 } else { control.iteration };
                cycles += runs * (l.trip * (iteration + guards * 1.5) + asked);
            }
            cycles *= factor(index) / threads.at_a_time(index);
            if threads.shared(Some(index)) == Some(index) {
                let (start, crossing) = threads.run(index);
                cycles += runs * start + (runs - 1.0).max(0.0) * crossing;
            }
            if cycles > 0.0 {
                let detail = words.say(|| format!("{runs:.0} x {:.1} iterations", l.trip));
                let name = words.say(|| format!("loop {}", l.name(kernel)));
                parts.push(Term::new(name, cycles, detail));
            }
        }
        let cycles = parts.iter().map(|t| t.cycles).sum();
        (cycles > 0.0).then(|| Term { parts, ..Term::new("outer loops", cycles, String::new()) })
    }
}

/// Cycles of computation with the transfers of each level meanwhile; in `busy` of them it loads and stores.
pub(crate) fn overlapped(compute: f64, busy: f64, transfers: &[f64], target: &dyn Target) -> f64 {
    let norm = |all: &[f64], by: f64| all.iter().map(|c| c.powf(by)).sum::<f64>().powf(1.0 / by);
    let together = |all: &[f64]| {
        let total: f64 = if target.transfers_overlap() { norm(all, OVERLAP) } else { all.iter().sum() };
        total.min(LARGEST)
    };
    if let [first, further @ ..] = transfers
        && !target.fills_take_ports()
    {
        return norm(&[compute.max(*first), together(further)], FURTHER);
    }
    // Lines come and go through the ports that loads and stores use; the rest of the core goes on.
    let memory = together(transfers);
    norm(&[compute, busy + memory], OVERLAP).min(compute + memory)
}

/// What adds up values of a type.
fn adds(ty: ScalarType) -> OpClass {
    if ty.is_float() { OpClass::FloatAdd } else { OpClass::Integer }
}

/// The lanes of leaves: those of the first that has some.
fn lanes_of(program: &Lowered<'_>, leaves: &[usize]) -> Option<Lanes> {
    leaves.iter().find_map(|l| program.lanes(program.leaves[*l].parent))
}

/// Iterations of a vectorised loop that are executed alone, and in vectors of half the length: a loop behind the first one,
/// where that has enough lanes (`EpilogueVectorizationMinVF` in LLVM's LoopVectorize).
fn left_over(l: &Loop, lanes: u32) -> (f64, f64) {
    let n = f64::from(lanes);
    let rest = if l.exact { l.trip % n } else { (n - 1.0) * 0.5 }.min(l.trip);
    let half = f64::from(lanes / 2);
    let narrow = match lanes < SHORTEST_WITH_EPILOGUE {
        true => 0.0,
        false if l.exact => (rest / half).floor() * half,
        // In every second run.
        false => (half * 0.5).min(rest),
    };
    (rest - narrow, narrow)
}

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
        let facts = Facts::new(kernel, params);
        let all = |program: &Lowered<'_>| Cost::of(self.terms(program, false, None, Words::UNSAID)).cycles;
        let whole = Whole::new(&facts, all);
        Box::new(PreparedModel { model: self, facts, whole })
    }
}

/// The model of one kernel.
struct PreparedModel<'a> {
    model: &'a AnalyticModel,
    facts: Facts<'a>,
    whole: Whole,
}

impl PreparedModel<'_> {
    fn terms(&self, root: &Green, words: Words) -> Vec<Term> {
        let program = lower(&self.facts, &unroll_short(self.facts.kernel, root));
        let seen = self.whole.seen(root, &program);
        let mut terms = self.model.terms(&program, false, Some(&seen), words);
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
        let program = lower(&self.facts, &unroll_short(self.facts.kernel, root));
        Cost::of(self.model.terms(&program, false, None, Words::UNSAID)).cycles
    }

    fn cost_of_original(&self) -> Cost {
        let program = lower(&self.facts, &unroll_short(self.facts.kernel, &self.facts.kernel.original));
        Cost::of(self.model.terms(&program, true, None, Words::SAID))
    }

    fn least(&self) -> f64 {
        let program = lower(&self.facts, &Unrolled::not(&self.facts.kernel.original));
        least(&program, &*self.model.target) / f64::from(self.model.threads)
    }
}
