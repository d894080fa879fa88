//! Which variants of each region are tried: random recipes that the oracle allows, and what sketches draw.

use crate::buffers::with_random_buffer;
use crate::legality::{has_buffers, random_step, small_moves};
use crate::soak::{add_counts, processor_micros};
use analyses::dependences::Polyhedral;
use analyses::{DependenceSet, Oracle, OracleOptions, Verdict, Witness};
use fastrand::Rng;
use irgen::lift::{LiftOptions, lift_function_with};
use irgen::llvm::Module;
use loop_tree::text::print_tree;
use loop_tree::{Green, Kernel, LoopKind, Path, Privates, RuntimeCondition};
use looptree::driver::{Optimizer, Settings};
use looptree::explore::{Explorer, Limits, Problem, RegistryMoves, Variant};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use transforms::{Context, Mark, Recipe, Registry, Step};

/// Less than usual: many simple questions are worth more here than a hard one. Units of about 50 ns, per question and
/// per tree.
const QUOTA: u64 = 10_000;
const WORK: u64 = 200_000;
/// Nodes of a tree beyond which a region has fewer variants: judging them takes longer than running them.
const MAX_NODES: u32 = 60;
/// Of so many variants one says which loops are parallel.
const FACTS_EVERY: usize = 4;
/// Of so many regions one is searched for what sketches draw.
const SKETCHES_EVERY: usize = 4;
/// Variants that such a search judges, and how many of those drawn are tried.
const SEARCHED: usize = 60;
const DRAWN: usize = 3;
/// Random buffers that are tried in the place of a step, until one is allowed.
const BUFFERS: usize = 4;
/// Trees without an answer within the quota, after which a region has enough variants.
const MAX_UNKNOWN: u32 = 2;

/// Threads that share loops, in turns; and where loops are marked for them.
const THREADS: [u32; 3] = [1, 2, 4];

/// Bits of the vectors that a variant is compiled for, by its number: every third one asks for wide ones, in a function of its own.
pub fn vector_bits(number: usize) -> Option<u32> {
    (number % 3 == 1).then_some(512)
}
const SEVERAL: [u32; 2] = [2, 4];

/// What replaces a region.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The tree.
    pub root: Green,
    /// When it may.
    pub conditions: Vec<RuntimeCondition>,
    /// Its loops that carry no dependence.
    pub parallel: BTreeSet<Path>,
    /// Threads that share loops.
    pub threads: u32,
    /// How it was made; the tree itself where a recipe does not say it.
    pub recipe: String,
}

/// A region with its variants, the identity first.
#[derive(Clone, Debug)]
pub struct PlannedRegion {
    /// The region.
    pub kernel: Arc<Kernel>,
    /// What may replace it.
    pub choices: Vec<Choice>,
}

/// Counts of planning.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct PlanTally {
    /// Functions in which something was lifted.
    pub lifted: u64,
    /// Regions.
    pub regions: u64,
    /// Of these, such with private scalars.
    pub private: u64,
    /// Variants of these that are allowed, the original order not counted.
    pub private_variants: u64,
    /// Variants with buffers that are allowed.
    pub buffered: u64,
    /// Variants with loops that were marked for threads in the end.
    pub shared: u64,
    /// Variants that sketches have drawn.
    pub drawn: u64,
    /// Variants allowed always.
    pub always: u64,
    /// Variants allowed under conditions.
    pub under: u64,
    /// Variants refused.
    pub never: u64,
    /// Regions without an oracle, by cause.
    pub failed: BTreeMap<String, u64>,
    /// Refused because no answer was found within the quota; counted in `never`, too.
    pub unknown: u64,
    /// What lifting did not understand, by code.
    pub remarks: BTreeMap<String, u64>,
    /// Where the time goes, in microseconds.
    pub times: BTreeMap<String, u64>,
}

impl PlanTally {
    /// Adds the counts of another one.
    pub fn add(&mut self, other: &PlanTally) {
        self.lifted += other.lifted;
        self.regions += other.regions;
        self.private += other.private;
        self.private_variants += other.private_variants;
        self.buffered += other.buffered;
        self.shared += other.shared;
        self.drawn += other.drawn;
        self.always += other.always;
        self.under += other.under;
        self.never += other.never;
        self.unknown += other.unknown;
        add_counts(&mut self.failed, &other.failed);
        add_counts(&mut self.remarks, &other.remarks);
        add_counts(&mut self.times, &other.times);
    }

    fn time<T>(&mut self, phase: &str, work: impl FnOnce() -> T) -> T {
        let start = processor_micros();
        let result = work();
        *self.times.entry(phase.to_owned()).or_default() += processor_micros().saturating_sub(start);
        result
    }
}

/// Lifts `test_<number>` for all numbers and collects variants of each region, at most `count`.
pub fn plan(
    module: &Module<'_>,
    functions: usize,
    options: &LiftOptions,
    count: usize,
    rng: &mut Rng,
    tally: &mut PlanTally,
) -> Vec<Vec<PlannedRegion>> {
    let names: Vec<String> = (0..functions).map(|number| format!("test_{number}")).collect();
    plan_module(module, &names, options, count, rng, tally)
}

/// The same for functions of any name.
pub fn plan_module(
    module: &Module<'_>,
    names: &[String],
    options: &LiftOptions,
    count: usize,
    rng: &mut Rng,
    tally: &mut PlanTally,
) -> Vec<Vec<PlannedRegion>> {
    let mut result = Vec::new();
    for name in names {
        let Some(function) = module.function(name) else {
            result.push(vec![]);
            continue;
        };
        let lifted = tally.time("lift", || lift_function_with(module, function, options));
        for remark in &lifted.remarks {
            *tally.remarks.entry(remark.code.to_owned()).or_default() += 1;
        }
        tally.lifted += u64::from(!lifted.regions.is_empty());
        tally.regions += lifted.regions.len() as u64;
        let regions = lifted.regions.iter().map(|r| region(&r.kernel, count, rng, tally)).collect();
        result.push(regions);
    }
    result
}

/// The tree with the outermost of these loops marked for threads; `None` without any.
fn shared(kernel: &Kernel, root: &Green, parallel: &BTreeSet<Path>) -> Option<Green> {
    let mut marked = root.clone();
    let mut last: Option<&Path> = None;
    for path in parallel {
        if last.is_some_and(|l| l.contains(path)) {
            continue;
        }
        let mark = Mark { target: path.clone().into(), kind: LoopKind::Parallel };
        marked = Step::new(mark).apply(&Context { kernel, root: &marked }).ok()?.root;
        last = Some(path);
    }
    last.map(|_| marked)
}

/// Some of what sketches draw of a kernel.
fn drawn(kernel: &Arc<Kernel>, dependences: &Arc<DependenceSet>, rng: &mut Rng) -> Vec<Variant> {
    let settings =
        Settings { target: "x86_64_avx2".to_owned(), threads: rng.u32(1..=2), ..Settings::default() };
    let optimizer = Optimizer::new(settings).expect("models that exist");
    let problem = Problem {
        kernel: kernel.clone(),
        params: optimizer.settings.parameter_values(kernel, &[]),
        dependences: dependences.clone(),
        oracle: OracleOptions { quota: QUOTA, work: WORK },
        idioms: optimizer.idioms.clone(),
    };
    let moves = RegistryMoves { options: small_moves(), ..optimizer.moves() };
    let explorer = Explorer {
        limits: Limits { variants: SEARCHED, threads: 1, ..optimizer.settings.limits },
        ..optimizer.explorer(problem, &moves)
    };
    let mut variants = explorer.explore().variants;
    variants.retain(|v| v.sketch.is_some() && v.root.summary().nodes <= MAX_NODES * 4);
    rng.shuffle(&mut variants);
    variants.truncate(DRAWN);
    variants
}

fn region(kernel: &Arc<Kernel>, count: usize, rng: &mut Rng, tally: &mut PlanTally) -> PlannedRegion {
    let mut choices = Vec::new();
    let options = OracleOptions { quota: QUOTA, work: WORK };
    let dependences = Polyhedral { quota: QUOTA };
    let oracle = tally.time("dependences", || Oracle::new(kernel.clone(), &dependences, options));
    let oracle = match oracle {
        Ok(oracle) => oracle,
        Err(error) => {
            let cause: String = error.to_string().chars().take(60).collect();
            *tally.failed.entry(cause).or_default() += 1;
            return PlannedRegion { kernel: kernel.clone(), choices };
        }
    };
    if rng.usize(..SKETCHES_EVERY) == 0 {
        let drawn = tally.time("sketches", || drawn(kernel, oracle.dependences(), rng));
        tally.drawn += drawn.len() as u64;
        for variant in drawn {
            let parallel = tally.time("loop facts", || oracle.parallel(&variant.root, |_| false));
            let Variant { root, recipe, conditions, .. } = variant;
            let conditions = conditions.to_vec();
            tally.buffered += u64::from(has_buffers(&root));
            let threads = THREADS[choices.len() % THREADS.len()];
            choices.push(Choice { root, conditions, parallel, threads, recipe: recipe.to_string() });
        }
    }
    let private = !Privates::of(kernel).is_empty();
    tally.private += u64::from(private);
    let mut seen = BTreeSet::new();
    let mut unknown = 0;
    let (registry, options) = (Registry::standard(), small_moves());
    'tries: for attempt in 0..=count {
        let (mut root, mut recipe) = (kernel.original.clone(), Recipe::default());
        let mut drawn = false;
        for _ in 0..if attempt == 0 { 1 } else { rng.usize(1..=3) } {
            // The first one is the original order.
            if attempt > 0 && rng.u8(0..3) == 0 {
                let legal = |rng: &mut Rng| {
                    with_random_buffer(kernel, &root, rng).filter(|new| oracle.judge(new).is_legal())
                };
                let found = tally.time("buffers", || (0..BUFFERS).find_map(|_| legal(rng)));
                let Some(new) = found else { continue };
                (root, drawn) = (new, true);
            } else if attempt > 0 {
                let cx = Context { kernel, root: &root };
                let step = tally.time("moves", || random_step(&cx, &registry, &options, false, rng));
                let Some(step) = step else { break };
                let Ok(rewrite) = step.apply(&cx) else { continue };
                if rewrite.root.summary().nodes > MAX_NODES {
                    break;
                }
                root = rewrite.root;
                recipe = recipe.with(step);
            }
            if !seen.insert(root.structural_hash()) {
                continue;
            }
            let verdict = tally.time("judge", || oracle.judge(&root));
            match &verdict {
                Verdict::Always => tally.always += 1,
                Verdict::Under(_) => tally.under += 1,
                Verdict::Never(_) => tally.never += 1,
            }
            if let Verdict::Never(Witness::Quota) = &verdict {
                (unknown, tally.unknown) = (unknown + 1, tally.unknown + 1);
                if unknown >= MAX_UNKNOWN {
                    break 'tries;
                }
            }
            let Some(conditions) = verdict.conditions() else {
                // An illegal tree may become a legal one.
                if rng.bool() {
                    break;
                }
                continue;
            };
            tally.private_variants += u64::from(private && attempt > 0);
            // Asking about all loops costs more than the verdict, so that not every variant says what is parallel.
            let parallel = match choices.len() % FACTS_EVERY {
                0 => tally.time("loop facts", || oracle.parallel(&root, |_| false)),
                _ => BTreeSet::new(),
            };
            tally.buffered += u64::from(has_buffers(&root));
            let recipe =
                if drawn { format!("{recipe} {}", print_tree(kernel, &root)) } else { recipe.to_string() };
            let threads = THREADS[choices.len() % THREADS.len()];
            let shared = shared(kernel, &root, &parallel);
            let (root, conditions) = (root.clone(), conditions.to_vec());
            choices.push(Choice { root, conditions, parallel, threads, recipe });
            // The same with its independent loops for threads.
            if let Some(root) = shared
                && let Some(conditions) = oracle.judge(&root).conditions()
            {
                let recipe = format!("for threads: {}", print_tree(kernel, &root));
                let (conditions, parallel) = (conditions.to_vec(), BTreeSet::new());
                let threads = SEVERAL[choices.len() % SEVERAL.len()];
                tally.shared += 1;
                choices.push(Choice { root, conditions, parallel, threads, recipe });
            }
            if choices.len() >= count {
                break 'tries;
            }
        }
    }
    PlannedRegion { kernel: kernel.clone(), choices }
}
