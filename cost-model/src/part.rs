//! A part of a tree with the prices of all that does not depend on what else is in the tree: computation, control, and what its
//! references move by themselves.

use crate::alike::{Execution, depends};
use crate::body::body;
use crate::clang::{Circumstances, Packing, Plan, hand_on, hand_to_calls, hold_rows, keep, plan, weaken};
use crate::explain::Words;
use crate::lanes::Lanes;
use crate::library::{self, Call};
use crate::lower::{Loop, Lowered};
use crate::threads::Threads;
use crate::throughput::price;
use crate::traffic::{Moved, moved};
use crate::trip_counts::LARGEST;
use crate::unroll::repeat;
use crate::unseen::work;
use crate::{OpClass, Target};
use loop_tree::{Kept, ScalarType, StmtId};
use smallvec::SmallVec;
use std::ops::Range;

/// Nodes below a root, priced.
pub(crate) struct Part {
    /// Loops that execute statements, and calls in the place of loops.
    pub loops: Vec<Priced>,
    /// Cycles of what stands outside of loops, but for transfers.
    pub straight: f64,
    /// Loops around loops, guards, and threads.
    pub control: Vec<Control>,
    pub moved: Vec<Moved>,
    /// By what is moved: the loop that executes it, and the array's name.
    pub homes: Vec<Option<usize>>,
    pub names: Vec<String>,
    /// By leaf: the statement and the operations executed.
    pub work: Vec<(StmtId, f64)>,
    /// Whether copies of a short loop are in vectors.
    pub short_in_vectors: bool,
}

/// A loop that executes statements directly.
pub(crate) struct Priced {
    /// Its number in the part.
    pub at: usize,
    pub name: String,
    pub detail: String,
    /// The leaves in it.
    pub leaves: Range<usize>,
    pub takes: Takes,
}

/// What a loop takes.
pub(crate) enum Takes {
    /// As the compiler leaves it, and that in words.
    Code(Execution, String),
    /// A library's function.
    Call(Call),
}

/// What a loop costs beside what it executes.
pub(crate) struct Control {
    pub name: String,
    pub detail: String,
    pub leaves: Range<usize>,
    pub cycles: f64,
    /// Those of starting threads, and of lines that go from one to another.
    pub shared: f64,
}

/// Lanes from which on what is left over of a vectorised loop is a vectorised loop of its own.
const SHORTEST_WITH_EPILOGUE: u32 = 16;

/// How a part is priced.
pub(crate) struct Pricing<'a> {
    pub target: &'a dyn Target,
    pub threads: u32,
    /// Whether it is the program as written, of which the compiler does not know that references are apart.
    pub original: bool,
    pub words: Words,
}

impl Pricing<'_> {
    /// Prices a part.
    pub fn price(&self, program: &Lowered<'_>) -> Part {
        let kernel = program.facts.kernel;
        let moved = moved(program, self.target);
        let inside = program.leaves_inside();
        let mut loops = Vec::new();
        // Loops of which none is left.
        let mut unrolled: SmallVec<[usize; 8]> = SmallVec::new();
        let mut short_in_vectors = false;
        for (at, leaves) in inside.iter().cloned().enumerate().filter(|(at, _)| !program.is_vector(*at)) {
            if let Some(call) = program.library(at) {
                if call == at {
                    let name = self.words.say(|| format!("library {}", program.loops[at].name(kernel)));
                    let call = library::call(program, &moved, at, self.target);
                    let detail = self.words.say(|| format!("{:.0} calls of a library", call.runs));
                    loops.push(Priced { at, name, detail, leaves, takes: Takes::Call(call) });
                }
                continue;
            }
            let executed = program.executed(Some(at));
            if !executed.is_empty() || program.is_innermost(at) {
                let find = || self.code(program, at, &executed);
                let (code, how) = if self.original || self.words.are_said() {
                    find()
                } else {
                    let key = depends(program, at, &executed);
                    (program.facts.executions.or_find(key, || find().0), String::new())
                };
                let plan = &code.plan;
                unrolled.extend(plan.unrolled.then_some(at));
                let statements = executed.iter().map(|leaf| program.leaves[*leaf].id);
                short_in_vectors |= plan.packing != Packing::Scalar && repeat(statements);
                let name = self.words.say(|| {
                    let some = executed.iter().take(3);
                    let names: Vec<&str> = some.map(|s| &*program.leaves[*s].statement.name).collect();
                    let more = if executed.len() > 3 { ", ..." } else { "" };
                    format!("loop {} {{{}{more}}}", program.loops[at].name(kernel), names.join(", "))
                });
                let detail = self.words.say(|| iterations(program, at));
                loops.push(Priced { at, name, detail, leaves, takes: Takes::Code(code, how) });
            }
        }
        let name = |m: &Moved| self.words.say(|| program.array_name(m.array()).to_owned());
        Part {
            loops,
            straight: self.straight(program),
            control: self.control(program, &unrolled, &inside),
            homes: moved.iter().map(|m| program.home(m.parent())).collect(),
            names: moved.iter().map(name).collect(),
            moved,
            work: work(program),
            short_in_vectors,
        }
    }

    /// Code outside of loops.
    fn straight(&self, program: &Lowered<'_>) -> f64 {
        let top = program.executed(None);
        if top.iter().all(|l| program.leaves[*l].runs <= 0.0) {
            return 0.0;
        }
        let lanes = lanes_of(program, &top);
        let b = body(program, &top, None, lanes, true, self.target);
        let once = Circumstances { trip: 1.0, constant: None, lanes, original: self.original };
        price(&b, self.target, &plan(&b, self.target, &once)).cycles
    }

    /// The statements directly inside one loop, and how they are executed in words. What this reads of a loop of new code
    /// stands in [`alike`](crate::alike), too.
    fn code(&self, program: &Lowered<'_>, index: usize, leaves: &[usize]) -> (Execution, String) {
        let (kernel, target, may_alias) = (program.facts.kernel, self.target, self.original);
        let l = &program.loops[index];
        let innermost = program.is_innermost(index);
        let lanes_told = lanes_of(program, leaves);
        let depth = innermost.then_some(l.depth);
        let mut b = body(program, leaves, depth, lanes_told, !may_alias, target);
        let scalar = kernel.kept(l.header.var) == Some(Kept::Scalar);
        if !innermost || b.checks_fail > 0.5 || scalar {
            b.vectorisable = false;
        }
        b.guards = l.varying_guards as f64;
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
        let scalar = || price(&b, target, &Plan::SCALAR).cycles;
        let control = target.control();
        let bounds = l.header.lower().len() + l.header.upper().len();
        let mut compute;
        let lanes;
        match plan.packing {
            Packing::Lanes(n) => {
                lanes = f64::from(n);
                let (rest, narrow) = if plan.folded() { (0.0, 0.0) } else { left_over(l, n) };
                let mut vectors = (l.trip - rest - narrow) / lanes;
                if plan.folded() {
                    vectors = vectors.ceil();
                }
                compute = vectors * once.cycles + rest * if rest > 0.0 { scalar().max(1.0) } else { 0.0 };
                if narrow > 0.0 {
                    let half = Plan { packing: Packing::Lanes(n / 2), ..plan };
                    compute += narrow * 2.0 / lanes * price(&b, target, &half).cycles;
                }
                compute *= runs;
                if b.checks_fail > 0.0 {
                    compute += b.checks_fail * (iterations * scalar() - compute).max(0.0);
                }
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
            entry += (plan.invariant(&b) as f64 + b.hoisted) / target.loads_per_cycle().max(0.1);
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
        let how = || match plan.packing {
            Packing::Lanes(n) => format!("{n} lanes"),
            Packing::Marked(n) => format!("vectors of {n}"),
            Packing::Adjacent(n) => format!("{n} neighbours packed"),
            Packing::Sums(n) => format!("{n} neighbours added up"),
            Packing::Scalar => "scalar".into(),
        };
        let how = || format!("{}, {:.2} cycles per iteration, bound by {}", how(), once.cycles, once.bound);
        let busy = iterations / lanes * once.accesses;
        let threads = Threads::new(program, target, self.threads).at_a_time(index);
        (Execution { compute, entry, busy, threads, plan }, self.words.say(how))
    }

    /// Loops that contain loops, guards, and threads. One in which no loop is left goes on beside what it computes.
    fn control(&self, program: &Lowered<'_>, unrolled: &[usize], inside: &[Range<usize>]) -> Vec<Control> {
        let control = self.target.control();
        let threads = Threads::new(program, self.target, self.threads);
        let mut result = Vec::new();
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
            cycles /= threads.at_a_time(index);
            let mut shared = 0.0;
            if threads.shared(Some(index)) == Some(index) {
                let (start, crossing) = threads.run(index);
                shared = runs * start + (runs - 1.0).max(0.0) * crossing;
            }
            if cycles + shared > 0.0 {
                result.push(Control {
                    name: self.words.say(|| format!("loop {}", l.name(program.facts.kernel))),
                    detail: self.words.say(|| iterations(program, index)),
                    leaves: inside[index].clone(),
                    cycles,
                    shared,
                });
            }
        }
        result
    }
}

fn iterations(program: &Lowered<'_>, index: usize) -> String {
    format!("{:.0} x {:.1} iterations", program.entered(index), program.loops[index].trip)
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
