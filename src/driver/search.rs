//! Searches of all regions of a module: which are worth one, how far it goes, and what came of it.

use super::lifted::{LiftedKernel, LiftedKernels, Likely};
use super::optimizer::{Optimizer, Progress};
use super::settings::{Models, Settings};
use super::warnings::{self, Doubt, Warning};
use super::{Asked, DriverError, Explored, ExploredRegion, Functions, Purpose, Session, SkippedRegion};
use crate::explore::{Exploration, Limits, Problem, Team, Variant, WORTHWHILE};
use crate::names;
use cost_model::targets::Vectors;
use cost_model::{CostModel, InstructionCount, Prepared};
use emission::conditions::checked;
use irgen::lift::Remark;
use loop_tree::{
    Affine, Constraint, Green, Home, Kernel, Node, ParamId, RuntimeCondition, StmtFlags, StmtId, text,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use transforms::Recipe;

/// Of the time of the region that takes longest, what a region takes that is searched less thoroughly: mostly code that
/// runs once, such as initialisation.
const NEGLIGIBLE: f64 = 0.01;
/// By how much fewer variants are tried there.
const SMALLER_SEARCH: usize = 8;
/// Accesses of a kernel from which on fewer variants are tried, as each takes longer to judge; and how many are tried in any case.
const ACCESSES: usize = 48;
const FEWEST: usize = 48;
/// What sizes may be that are only guessed; and tiles, which programs make as short as a line.
const SHORT: i64 = 32;
const SHORT_TILE: i64 = 8;
/// Lengths from one of which on a variant is to gain, as one size, the others being as guessed, and as all of them; below it, the
/// original runs.
const SHORTEST: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Variants of which one is done that gains at small sizes, too.
const INSTEAD: usize = 32;
/// Odd and even ones, of which a condition should accept some.
const SIZES: [i64; 12] = [2, 3, 4, 7, 8, 15, 16, 64, 100, 255, 1000, 1001];
/// Cycles of a check, but for the pairs of arrays that it compares, and of each of these: on Zen 4, 22 pairs took 110 and 70 pairs 350.
const CHECK: f64 = 50.0;
const COMPARED: f64 = 5.0;
/// Why a region is left alone of whose function that is plain before lifting.
const ONE_ORDER: &str = "no other order improves the loops of its function: straight ones by themselves, or such around which nothing is read or written";

/// Why a region is left alone in which nothing can move.
const CALLS: &str = "each of its loops calls what nothing is known of, to which all keeps its order";

/// Whether each loop has such a call in it.
fn each_loop_calls(kernel: &Kernel, tree: &Green) -> bool {
    fn calls(kernel: &Kernel, tree: &Green) -> bool {
        match tree.node() {
            Node::Stmt(id, _) => kernel.statement(*id).flags.contains(StmtFlags::OPAQUE),
            _ => tree.children().any(|c| calls(kernel, c)),
        }
    }
    let here = !matches!(tree.node(), Node::Loop(..)) || calls(kernel, tree);
    here && tree.children().all(|c| each_loop_calls(kernel, c))
}

/// Why a region is left alone whose predictions are about loops that have no iteration.
const NOTHING_RUNS: &str =
    "at the sizes that are guessed nothing in its loops runs, so that nothing is known of what gains";

/// Whether anything in loops is executed with these parameters.
fn loops_run(kernel: &Kernel, params: &[i64]) -> bool {
    fn in_loops(tree: &Green, id: StmtId) -> bool {
        match tree.as_loop() {
            Some((_, body)) => body.leaves().any(|leaf| leaf == id),
            None => tree.children().any(|child| in_loops(child, id)),
        }
    }
    let costs = InstructionCount.cost(kernel, &kernel.original, params);
    let executed = costs.terms.iter().filter(|term| term.cycles > 0.0);
    let mut statements =
        executed.filter_map(|term| kernel.find_statement(term.name.strip_prefix("statement ")?));
    statements.any(|id| in_loops(&kernel.original, id))
}

/// A region that somebody may want to be faster.
struct Wanted {
    function: Arc<str>,
    vectors: Option<Vectors>,
    number: usize,
    region: LiftedKernel,
}

/// What became of it.
type Outcome = Result<ExploredRegion, SkippedRegion>;

impl Wanted {
    fn label(&self) -> String {
        names::label(&self.function, self.number)
    }

    fn left_alone(&self, why: String) -> SkippedRegion {
        let (function, location) = (self.function.clone(), self.region.location.clone());
        SkippedRegion { function, number: self.number, location, why, asked: false }
    }

    fn warning(&self, asked: &Asked, doubt: Doubt) -> Warning {
        let location = self.region.location.as_ref().or(asked.location.as_ref()).cloned();
        let function = self.function.clone();
        Warning { function, number: Some(self.number), location, doubt }
    }

    fn explored(&self, problem: Problem, exploration: Exploration) -> ExploredRegion {
        ExploredRegion {
            function: self.function.clone(),
            vectors: self.vectors,
            number: self.number,
            location: self.region.location.clone(),
            kernel: problem.kernel,
            params: problem.params,
            dependences: problem.dependences,
            exploration,
            if_short: None,
            instead: None,
        }
    }
}

impl Session<'_> {
    /// Searches every region asked for.
    pub fn explore(&self) -> Result<Explored, DriverError> {
        self.search(self.kernels_of(Functions::Looping)?)
    }

    fn search(&self, functions: Vec<LiftedKernels>) -> Result<Explored, DriverError> {
        let mut explored = Explored::default();
        let mut searched = Vec::new();
        self.require_names(&functions)?;
        let all = All { optimizer: self.optimizer, purpose: self.purpose, min_gain: self.min_gain };
        for function in functions {
            // What is not understood of a loop is not of those around it, which is one thing to tell.
            let mut told: Vec<Remark> = Vec::new();
            for remark in function.remarks {
                if !told.contains(&remark) {
                    told.push(remark);
                }
            }
            explored.warnings.extend(function.warnings);
            let count = function.regions.len();
            for (asked, why) in function.asked.iter().filter_map(|a| Some((a, a.for_none(count, &told)?))) {
                let (function, number) = (function.name.clone(), asked.region.unwrap_or(0));
                let location = asked.location.clone();
                explored.skipped.push(SkippedRegion { function, number, location, why, asked: true });
            }
            explored.remarks.extend(told.into_iter().map(|r| (function.name.clone(), r)));
            for (number, region) in function.regions.into_iter().enumerate() {
                if self.optimizer.settings.region.is_some_and(|r| r != number) {
                    continue;
                }
                let wanted =
                    Wanted { function: function.name.clone(), vectors: function.vectors, number, region };
                match function.asked.iter().find(|a| a.is_for(number, count)) {
                    Some(asked) if self.purpose != Purpose::Explore => {
                        let outcome = all.as_asked(&wanted, asked, &mut explored.warnings);
                        explored.add(outcome);
                    }
                    _ if !function.may_gain => {
                        explored.skipped.push(wanted.left_alone(ONE_ORDER.to_string()))
                    }
                    _ => searched.push(wanted),
                }
            }
        }
        for outcome in all.search(&searched, self.progress) {
            explored.add(outcome?);
        }
        Ok(explored)
    }
}

/// What all searches of a session have in common.
struct All<'a> {
    optimizer: &'a Optimizer,
    purpose: Purpose,
    min_gain: f64,
}

impl All<'_> {
    /// Side by side: a search has parts that one thread does.
    fn search(
        &self,
        searched: &[Wanted],
        progress: Option<Progress<'_>>,
    ) -> Vec<Result<Outcome, DriverError>> {
        // One set of models for each kind of vectors that functions have.
        let mut models: Vec<(Option<Vectors>, Models)> = Vec::new();
        let mut model_of = |wanted: &Wanted| {
            models.iter().position(|(of, _)| *of == wanted.vectors).unwrap_or_else(|| {
                models.push((wanted.vectors, self.optimizer.models.for_code(wanted.vectors)));
                models.len() - 1
            })
        };
        let used: Vec<usize> = searched.iter().map(&mut model_of).collect();
        let priced = searched.iter().zip(used).map(|(wanted, at)| self.price(wanted, &models[at].1));
        let priced: Vec<Priced<'_>> = priced.collect();
        let longest = priced.iter().map(|p| p.cycles).fold(0.0, f64::max);
        let limits = self.optimizer.settings.limits;
        let team = Team::of(limits.threads);
        let limits = Limits { threads: team.inside(), ..limits };
        team.map(&priced, |one| self.search_one(one, longest, limits, progress))
    }

    fn price<'s>(&self, wanted: &'s Wanted, models: &'s Models) -> Priced<'s> {
        let LiftedKernel { kernel, likely, .. } = &wanted.region;
        let params = self.optimizer.settings.parameter_values(kernel, likely);
        let prepared = models.cost.prepare(kernel, &params);
        let cycles = prepared.cost_of_original().cycles;
        Priced { wanted, models, cycles, possible: cycles.max(1.0) / prepared.least().max(1.0) }
    }

    fn search_one(
        &self,
        one: &Priced<'_>,
        longest: f64,
        mut limits: Limits,
        progress: Option<Progress<'_>>,
    ) -> Result<Outcome, DriverError> {
        let Priced { wanted, models, cycles, possible } = *one;
        let explores = self.purpose == Purpose::Explore;
        let skipped = |why| Ok(Err(wanted.left_alone(why)));
        if !explores && cycles < WORTHWHILE {
            return skipped(format!(
                "it is predicted to take {cycles:.0} cycles, too few for a change to pay"
            ));
        }
        if !explores && possible < self.min_gain {
            return skipped(format!(
                "no order of it is predicted to gain more than {possible:.2}x, and {}x is wanted (min-gain)",
                self.min_gain
            ));
        }
        let LiftedKernel { kernel, likely, .. } = &wanted.region;
        if !explores && each_loop_calls(kernel, &kernel.original) {
            return skipped(CALLS.to_string());
        }
        if !explores && !loops_run(kernel, &self.optimizer.settings.parameter_values(kernel, likely)) {
            return skipped(NOTHING_RUNS.to_string());
        }
        if let Some(condition) = for_no_size(kernel).filter(|_| !explores) {
            return skipped(format!(
                "it is described where {condition}, so that new code would hardly ever run"
            ));
        }
        if cycles < NEGLIGIBLE * longest {
            limits.variants = limits.variants.div_ceil(SMALLER_SEARCH);
        }
        let accesses: usize = kernel.statements.iter().map(|s| s.accesses.len()).sum();
        let afford = (limits.variants * ACCESSES).div_ceil(accesses.max(1)).max(FEWEST);
        limits.variants = limits.variants.min(afford);
        let found = self.optimizer.search(models, limits, &wanted.label(), kernel, likely, progress);
        let (problem, mut exploration) = match found {
            Err(DriverError::Analysis { source, .. }) => return skipped(source.to_string()),
            other => other?,
        };
        if !wanted.region.allocates {
            exploration.variants.retain(|variant| !has_heap(&variant.root));
        }
        let best = exploration.worthwhile(self.min_gain);
        let params = best.map_or_else(Vec::new, |_| self.params_if_short(likely, &problem));
        let short: Vec<_> = params.iter().map(|p| models.cost.prepare(&problem.kernel, p)).collect();
        let taken = |v: &Variant, cycles: f64| cycles + check(kernel, &v.conditions);
        let gain_if =
            |s: &dyn Prepared, v: &Variant| s.cost_of_original().cycles / taken(v, s.cycles(&v.root));
        let gain_checked = |v: &Variant| exploration.original.cycles / taken(v, v.cycles);
        let if_short = best.and_then(|b| Some(gain_if(&**short.first()?, b)));
        let checked = best.map(gain_checked);
        // It is to be as sure there as elsewhere.
        let sure = |s: &dyn Prepared, v: &Variant| gain_if(s, v) >= self.min_gain;
        let holds = |v: &Variant| gain_checked(v) >= 1.0 && short.iter().all(|s| sure(&**s, v));
        let worth = |v: &&Variant| !v.recipe.0.is_empty() && exploration.ratio(v) >= self.min_gain;
        // What gains most where loops are long need not be what is done.
        let lost = if_short.into_iter().chain(checked).any(|gain| gain < 1.0) && !exploration.asked;
        let mut others = exploration.variants.iter().take(INSTEAD).take_while(worth);
        let instead = lost.then(|| others.position(holds)).flatten();
        drop(short);
        if let Some(at) = instead.filter(|_| !explores) {
            exploration.variants[..=at].rotate_right(1);
            return Ok(Ok(self.done(one, problem, exploration)));
        }
        let loses = |gain: Option<f64>| gain.filter(|g| *g < 1.0 && !explores);
        if let Some(gain) = loses(if_short) {
            let short = shortest(likely);
            return skipped(format!(
                "sizes that nobody states are a guess, and at {short} the best variant is predicted to be {gain:.2}x"
            ));
        }
        if let Some(gain) = loses(checked) {
            return skipped(format!(
                "with the time that its run-time check takes, the best variant is predicted to be {gain:.2}x"
            ));
        }
        Ok(Ok(ExploredRegion { if_short, instead, ..self.done(one, problem, exploration) }))
    }

    /// The first of the variants, under the conditions that it takes.
    fn done(&self, one: &Priced<'_>, problem: Problem, mut exploration: Exploration) -> ExploredRegion {
        if !exploration.asked && exploration.worthwhile(self.min_gain).is_some() {
            let best = &mut exploration.variants[0];
            let long_enough = self.long_enough(one.models, &one.wanted.region.likely, &problem, best);
            best.conditions = best.conditions.iter().cloned().chain(long_enough).collect();
        }
        one.wanted.explored(problem, exploration)
    }

    /// How long loops must be for a variant to gain, of each size that is guessed.
    fn long_enough(
        &self,
        models: &Models,
        likely: &[Likely],
        problem: &Problem,
        variant: &Variant,
    ) -> Vec<RuntimeCondition> {
        let settings = &self.optimizer.settings;
        let shortest = values_if(problem, likely, &settings.params, SHORTEST[0]);
        let check = check(&problem.kernel, &variant.conditions);
        let gains = |given: &BTreeMap<String, i64>, others: i64| {
            let params = values_if(problem, likely, given, others);
            let prepared = models.cost.prepare(&problem.kernel, &params);
            prepared.cycles(&variant.root) + check <= prepared.cost_of_original().cycles
        };
        let gains_alone = |at: usize, length: i64| {
            let mut given = settings.params.clone();
            given.insert(problem.kernel.params[at].name.to_string(), length);
            gains(&given, settings.default_param)
        };
        let is_product = |at: usize| matches!(likely.get(at), Some(Likely::Product(_)));
        let guessed: Vec<usize> = (0..shortest.len())
            .filter(|at| shortest[*at] < problem.params[*at] && !is_product(*at))
            .collect();
        let at_least = |size: Affine, least: i64| {
            RuntimeCondition::Parameter(Constraint::ge(size, Affine::constant(least)))
        };
        let least = guessed.iter().filter_map(|at| {
            let least = SHORTEST.into_iter().find(|length| gains_alone(*at, *length))?;
            (least > SHORTEST[0]).then(|| at_least(Affine::param(ParamId::new(*at)), least))
        });
        let mut long: Vec<RuntimeCondition> = least.collect();
        // Each may be long enough where the others are as guessed, and all of them too short at a time.
        let lose = |length: &&i64| !gains(&settings.params, **length);
        // Lengths of rows in memory are none of loops.
        let original =
            |params: &[i64]| models.cost.prepare(&problem.kernel, params).cost_of_original().cycles;
        let whole = original(&problem.params);
        let runs = |at: &usize| {
            let mut params = problem.params.clone();
            params[*at] = SHORTEST[0];
            original(&params) < 0.5 * whole
        };
        let lengths: Vec<usize> = guessed.into_iter().filter(runs).collect();
        if lengths.len() > 1
            && let Some(longest) = SHORTEST.iter().rev().find(lose)
            && let Ok(count) = i64::try_from(lengths.len())
        {
            let sum =
                lengths.iter().fold(Affine::constant(0), |sum, at| &sum + &Affine::param(ParamId::new(*at)));
            // What is between two of these lengths is not known.
            long.push(at_least(sum, 2 * count * longest));
        }
        long
    }

    /// Parameters where sizes that are guessed are small, and where they are no multiples of a tile; none where none is guessed.
    fn params_if_short(&self, likely: &[Likely], problem: &Problem) -> Vec<Vec<i64>> {
        let settings = &self.optimizer.settings;
        let short = shortest(likely);
        let lengths = [short, short + short / 2].map(|length| length.min(settings.default_param));
        let params = lengths.map(|length| values_if(problem, likely, &settings.params, length));
        params.into_iter().filter(|params| *params != problem.params).collect()
    }

    /// What the source asks for, or why it cannot be had; and what is perhaps not meant.
    fn as_asked(&self, wanted: &Wanted, asked: &Asked, doubts: &mut Vec<Warning>) -> Outcome {
        let (label, LiftedKernel { kernel, likely, invented, .. }) = (wanted.label(), &wanted.region);
        let models = self.optimizer.models.for_code(wanted.vectors);
        // Pragmas stand at their loops.
        if !asked.by_pragmas
            && let Ok(recipe) = Recipe::parse(&asked.recipe, &self.optimizer.registry)
        {
            doubts
                .extend(Doubt::of_names(kernel, invented, &recipe).map(|doubt| wanted.warning(asked, doubt)));
        }
        let done = self.optimizer.problem(&label, kernel, likely).and_then(|problem| {
            let cost = &*models.cost;
            let exploration =
                self.optimizer.as_asked(&label, kernel, asked, problem.clone(), wanted.vectors, cost)?;
            let (root, threads) = (&exploration.best().root, self.optimizer.settings.threads);
            doubts.extend(Doubt::of_threads(root, threads).map(|doubt| wanted.warning(asked, doubt)));
            Ok(wanted.explored(problem, exploration))
        });
        done.map_err(|error| {
            let reason = match &error {
                DriverError::Replay { source, .. } => format!("{source}; {}", warnings::names(kernel)),
                DriverError::Illegal { witness, .. } => witness.to_string(),
                other => other.to_string(),
            };
            let why = format!("the source asks for `{}`, but: {reason}", asked.recipe);
            let left = wanted.left_alone(why);
            let location = left.location.clone().or_else(|| asked.location.clone());
            SkippedRegion { asked: true, location, ..left }
        })
    }
}

/// Whether a tree has buffers on the heap.
fn has_heap(tree: &Green) -> bool {
    let here = matches!(tree.node(), Node::Alloc(buffer, _) if buffer.home == Home::Heap);
    here || tree.summary().has_storage_or_versions && tree.children().any(has_heap)
}

/// A region with what it is predicted to take.
#[derive(Clone, Copy)]
struct Priced<'s> {
    wanted: &'s Wanted,
    models: &'s Models,
    cycles: f64,
    /// What could be gained at most.
    possible: f64,
}

/// A condition on one parameter under which a kernel means what its loops do, and which no size meets: rows that are told apart by a
/// distance which is longer than they are.
fn for_no_size(kernel: &Kernel) -> Option<String> {
    let alone =
        |c: &Constraint, p: ParamId, size: i64| c.expression.eval(&|_| None, &|q| (p == q).then_some(size));
    let missed = |condition: &&RuntimeCondition| {
        let RuntimeCondition::Parameter(c) = condition else { return false };
        let mut of_one = (0..kernel.params.len()).map(ParamId::new).filter(|p| alone(c, *p, 0).is_some());
        c.expression.as_constant().is_none()
            && of_one
                .next()
                .is_some_and(|p| SIZES.iter().all(|n| alone(c, p, *n).is_some_and(|v| !c.accepts(v))))
    };
    kernel.assumptions.iter().find(missed).map(|c| text::print_runtime_condition(kernel, c))
}

/// The values of parameters if these were given, and others guessed to be so large.
fn values_if(
    problem: &Problem,
    likely: &[Likely],
    given: &BTreeMap<String, i64>,
    default_param: i64,
) -> Vec<i64> {
    let settings = Settings { default_param, params: given.clone(), ..Settings::default() };
    settings.parameter_values(&problem.kernel, likely)
}

/// What guessed sizes may be, where all are short.
fn shortest(likely: &[Likely]) -> i64 {
    if likely.contains(&Likely::Tile(None)) { SHORT_TILE } else { SHORT }
}

/// Cycles of the run-time check in front of a variant, which is executed however short the loops are.
pub fn check(kernel: &Kernel, conditions: &[RuntimeCondition]) -> f64 {
    let tested = checked(kernel, conditions);
    if tested.is_empty() {
        return 0.0;
    }
    let pairs = tested.iter().filter(|c| matches!(c, RuntimeCondition::NoOverlap(..))).count();
    CHECK + COMPARED * pairs as f64
}
