//! One level of a search: from some variants to all their successors.

use super::Explorer;
use super::sketch::{Draft, Sketch, Stage};
use super::strategy::Strategy;
use super::team::Team;
use super::variant::{
    Exploration, Reason, Refused, Statistics, StopReason, Variant, by_cost, different_in_kind,
};
use analyses::{AnalysisError, Case, Oracle, Verdict, Witness};
use cost_model::{Cost, Prepared};
use loop_tree::{Green, Interner, Kernel, RuntimeCondition};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
use std::sync::Arc;
use transforms::{Context, MoveOptions, Recipe, Registry, Step};

/// Where moves come from.
pub trait MoveSource: Sync {
    /// Steps of the transformations wanted, by name, that could be tried on a tree, in a fixed order.
    fn moves(&self, context: &Context<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<Step>;
}

/// The moves of a registry of transformations.
pub struct RegistryMoves<'a> {
    /// Transformations.
    pub registry: &'a Registry,
    /// Which sizes, factors and shifts.
    pub options: MoveOptions,
}

impl MoveSource for RegistryMoves<'_> {
    fn moves(&self, context: &Context<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<Step> {
        transforms::moves_of(context, self.registry, &self.options, wanted)
    }
}

/// What a worker thread finds out about a tree.
type Judged = Result<Vec<RuntimeCondition>, Box<Witness>>;

/// What became of a tree.
#[derive(Clone, Copy)]
enum Met {
    /// A variant, by its place among them.
    Legal(usize),
    Refused,
    /// Ranked, and not judged.
    PassedOver,
}

/// Which successors a level of the search looks at.
pub struct Admit<'f> {
    /// By name, before steps are made.
    pub kind: &'f (dyn Fn(&str) -> bool + Sync),
    /// Before the step is applied.
    pub step: &'f (dyn Fn(&Step) -> bool + Sync),
    /// After it: the tree it was applied to, and the new one.
    pub change: &'f (dyn Fn(&Green, &Green) -> bool + Sync),
}

impl Admit<'_> {
    /// All successors.
    pub const ALL: Admit<'static> = Admit { kind: &|_| true, step: &|_| true, change: &|_, _| true };
}

/// What worker threads share.
struct Worker<'e> {
    kernel: &'e Kernel,
    moves: &'e dyn MoveSource,
    cost: &'e dyn Prepared,
    /// Without one every variant is refused.
    case: Result<Arc<Case>, Witness>,
}

/// What is equal in variants, once.
#[derive(Default)]
struct Shared {
    trees: Interner,
    /// By their texts.
    steps: FxHashMap<String, Step>,
    conditions: FxHashSet<Arc<[RuntimeCondition]>>,
    /// Of sketches.
    names: FxHashSet<Arc<str>>,
}

impl Shared {
    fn recipe(&mut self, recipe: Recipe) -> Recipe {
        Recipe(
            recipe
                .0
                .into_iter()
                .map(|step| self.steps.entry(step.to_string()).or_insert(step).clone())
                .collect(),
        )
    }
}

/// The first of equal values.
fn first<T: ?Sized + Eq + Hash>(known: &mut FxHashSet<Arc<T>>, value: Arc<T>) -> Arc<T> {
    match known.get(&value) {
        Some(known) => known.clone(),
        None => {
            known.insert(value.clone());
            value
        }
    }
}

/// State of one search.
pub struct Engine<'e, 'a> {
    explorer: &'e Explorer<'a>,
    worker: Worker<'e>,
    team: Team,
    /// What became of each tree met, by its hash.
    known: FxHashMap<u128, Met>,
    variants: Vec<Variant>,
    /// Cycles of the cheapest of them.
    least: f64,
    shared: Shared,
    /// Predicted cost of the original, with its terms.
    cost_of_original: Cost,
    refused: Vec<Refused>,
    statistics: Statistics,
    /// Variants that may be tried before the phase at hand ends; at most the limit.
    ceiling: usize,
    /// Dependences that may be asked about where nothing gains.
    questions: usize,
    /// Trees that may still take more work than others.
    patient: usize,
}

/// Variants whose moves are applied before it is asked whether there are enough: a fixed number, whatever the number of
/// threads, because which moves are enumerated must not depend on it.
const EXPANDED_AT_ONCE: usize = 32;
/// Variants judged before progress is told, or it is asked whether there are enough.
const BATCH: usize = 256;
/// By how much cheaper than all before a tree is that is worth more work, if it cannot be judged with the usual one.
const OUTSTANDING: f64 = 0.9;
/// By how much more; and how many trees of a search.
const PATIENCE: u64 = 8;
const PATIENT: usize = 6;
/// What takes so much of the original's time gains nothing to speak of.
const SMALL_GAIN: f64 = 0.95;
/// What takes so many times as long as what it was made of is not promising: a later step seldom makes up for it.
const UNPROMISING: f64 = 1.25;

impl<'e, 'a> Engine<'e, 'a> {
    pub(super) fn new(explorer: &'e Explorer<'a>, cost: &'e dyn Prepared) -> Self {
        let threads = explorer.limits.threads;
        let mut engine = Engine {
            explorer,
            worker: Worker {
                kernel: &explorer.problem.kernel,
                moves: explorer.moves,
                cost,
                case: explorer.problem.case().map(Arc::new).map_err(into_witness),
            },
            team: Team::of(threads),
            known: FxHashMap::default(),
            variants: Vec::new(),
            least: f64::INFINITY,
            shared: Shared::default(),
            cost_of_original: cost.cost_of_original(),
            refused: Vec::new(),
            statistics: Statistics::default(),
            ceiling: explorer.limits.variants,
            questions: explorer.limits.questions,
            patient: PATIENT,
        };
        let kernel = &explorer.problem.kernel;
        let root = loop_tree::canonical(kernel, &kernel.original);
        engine.known.insert(root.structural_hash(), Met::Legal(0));
        let versioned = engine.worker.cost.cycles(&root);
        let cycles = engine.cost_of_original.cycles;
        engine.least = versioned.min(cycles);
        let none: Arc<[RuntimeCondition]> = Arc::new([]);
        engine.variants.push(Variant {
            root: root.clone(),
            recipe: Recipe::default(),
            conditions: none.clone(),
            sketch: None,
            cycles,
        });
        // The same order, but with what one check has established: the compiler need not reckon with overlap.
        let recipe = Recipe(vec![Step::new(transforms::Version)]);
        engine.variants.push(Variant { root, recipe, conditions: none, sketch: None, cycles: versioned });
        engine
    }

    /// The original.
    pub fn original(&self) -> &Variant {
        &self.variants[0]
    }

    /// The kernel.
    pub fn kernel(&self) -> Arc<loop_tree::Kernel> {
        self.explorer.problem.kernel.clone()
    }

    /// Whether no variants may be tried any more, in the phase at hand or in the whole.
    pub fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Dependences asked about, over all variants judged.
    fn asked(&self) -> usize {
        self.statistics.judged * self.explorer.problem.dependences.dependences.len()
    }

    /// Whether a guided search has asked so much without any gain that none is expected.
    pub(super) fn is_hopeless(&self) -> bool {
        self.explorer.strategy == Strategy::Guided
            && self.asked() >= self.questions
            && self.least > SMALL_GAIN * self.variants[0].cycles
    }

    /// The sketches of a stage.
    pub fn sketches(&self, stage: Stage) -> Vec<Arc<dyn Sketch>> {
        self.explorer.sketches.of(stage).cloned().collect()
    }

    /// What nests are known as.
    pub(super) fn idioms(&self) -> &analyses::idioms::Idioms {
        &self.explorer.problem.idioms
    }

    /// The machine.
    pub fn target(&self) -> &dyn cost_model::Target {
        self.explorer.target
    }

    /// Runs a part of the search that may try one of `shares` equal parts of what is left.
    pub fn with_share<R>(&mut self, shares: usize, part: impl FnOnce(&mut Self) -> R) -> R {
        self.with_share_of(1.0 / shares.max(1) as f64, part)
    }

    /// Runs a part of the search that may try a share of what is left.
    pub fn with_share_of<R>(&mut self, share: f64, part: impl FnOnce(&mut Self) -> R) -> R {
        let whole = self.ceiling;
        let left = whole.saturating_sub(self.statistics.tried);
        self.ceiling = (self.statistics.tried + (left as f64 * share).ceil() as usize).min(whole);
        let result = part(self);
        self.ceiling = whole;
        result
    }

    /// Runs a part of the search that may try so many variants more than there is room for.
    pub fn with_more<R>(&mut self, variants: usize, part: impl FnOnce(&mut Self) -> R) -> R {
        let whole = (self.ceiling, self.questions);
        (self.ceiling, self.questions) = (self.statistics.tried + variants, usize::MAX);
        let result = part(self);
        (self.ceiling, self.questions) = whole;
        result
    }

    /// Threads that may share loops.
    pub fn threads(&self) -> u32 {
        self.explorer.threads
    }

    /// The cheapest variants so far.
    pub fn cheapest(&self, count: usize) -> Vec<Variant> {
        let mut all: Vec<&Variant> = self.variants.iter().collect();
        all.sort_by(|a, b| Variant::by_cost(a, b));
        all.into_iter().take(count).cloned().collect()
    }

    /// What a tree is predicted to take.
    pub fn price_of(&self, root: &Green) -> f64 {
        self.worker.cost.cycles(root)
    }

    /// What a part of a variant's tree is predicted to take.
    pub fn price_of_part(&self, root: &Green) -> f64 {
        self.worker.cost.cycles_of_part(root)
    }

    /// Statement leaves that a tree may have.
    pub fn most_leaves(&self) -> u32 {
        self.explorer.limits.leaves.max(self.original().root.summary().leaves.saturating_mul(2))
    }

    /// The limits.
    pub fn limits(&self) -> super::Limits {
        self.explorer.limits
    }

    /// The legal successors, by one admitted step, of the variants given; only trees not met before.
    pub fn expand(&mut self, from: &[Variant], admit: &Admit<'_>) -> Vec<Variant> {
        let drafts = self.successors(from, admit);
        self.judge_drafts(drafts, None).into_iter().flatten().collect()
    }

    /// The promising ones of these successors, each seen as a change of the cheapest of the variants given.
    pub fn expand_promising(&mut self, from: &[Variant], admit: &Admit<'_>) -> Vec<Variant> {
        let drafts = self.successors(from, admit);
        let cheapest = from.iter().map(|v| v.cycles).fold(f64::INFINITY, f64::min);
        self.judge_promising(drafts, cheapest, None)
    }

    fn successors(&mut self, from: &[Variant], admit: &Admit<'_>) -> Vec<Draft> {
        let room = self.room();
        let mut drafts = Vec::new();
        // No more moves than lead to as many variants as may be judged: the last level of a search has many times more.
        for some in from.chunks(EXPANDED_AT_ONCE) {
            if drafts.len() >= room {
                break;
            }
            self.apply_moves(some, admit, &mut drafts);
        }
        drafts
    }

    /// Variants that may still be tried.
    pub fn room(&self) -> usize {
        if self.is_hopeless() { 0 } else { self.ceiling.saturating_sub(self.statistics.tried) }
    }

    /// Applies the admitted moves of some variants, in parallel per variant; the outcome keeps the order of enumeration.
    fn apply_moves(&mut self, from: &[Variant], admit: &Admit<'_>, drafts: &mut Vec<Draft>) {
        let worker = &self.worker;
        type Applied = (Step, Result<Green, transforms::Refusal>);
        let apply = |variant: &Variant| -> Vec<Applied> {
            let context = Context { kernel: worker.kernel, root: &variant.root };
            let moves = worker.moves.moves(&context, admit.kind).into_iter();
            let admitted = moves.filter(|step| (admit.step)(step)).map(|step| {
                let result = step.apply(&context).map(|rewrite| rewrite.root);
                (step, result)
            });
            let changes = |root: &Green| (admit.change)(&variant.root, root);
            admitted.filter(|(_, result)| result.as_ref().map_or(true, changes)).collect()
        };
        let applied = self.team.map(from, apply);
        let mut new = FxHashSet::default();
        for (variant, (step, result)) in
            from.iter().zip(applied).flat_map(|(v, list)| list.into_iter().map(move |a| (v, a)))
        {
            self.statistics.moves += 1;
            match result {
                Err(refusal) => {
                    self.statistics.not_applicable += 1;
                    self.refuse(|| variant.recipe.with(step.clone()), Reason::Refusal(refusal));
                }
                Ok(root) => {
                    let hash = root.structural_hash();
                    if self.known.contains_key(&hash) || !new.insert(hash) {
                        self.statistics.duplicates += 1;
                    } else {
                        drafts.push(Draft { root, recipe: variant.recipe.with(step) });
                    }
                }
            }
        }
    }

    /// Judges and ranks drafts in parallel, as many as the bounds allow; what became of each. Trees met before are not
    /// judged again.
    pub fn judge_drafts(&mut self, drafts: Vec<Draft>, sketch: Option<&Arc<str>>) -> Vec<Option<Variant>> {
        let hashes: Vec<u128> = drafts.iter().map(|d| d.root.structural_hash()).collect();
        let unknown = self.unknown(drafts, |met| matches!(met, None | Some(Met::PassedOver)));
        let mut rest = unknown.into_iter();
        loop {
            // In batches, so that progress can be told.
            let batch: Vec<Draft> = rest.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            let costs = self.price(&batch);
            self.judge(batch.into_iter().zip(costs).collect(), sketch);
        }
        hashes.iter().map(|hash| self.legal(*hash).cloned()).collect()
    }

    /// The variant with a tree of that hash, if it was judged and is legal.
    fn legal(&self, hash: u128) -> Option<&Variant> {
        match self.known.get(&hash)? {
            Met::Legal(at) => self.variants.get(*at),
            _ => None,
        }
    }

    /// Ranks drafts, and judges the cheapest until enough are legal, or those that are left are not promising: they take
    /// much longer than what they were made of, or than what was found. The legal ones; to a sketch those met before, too: what was drawn of
    /// a nest as a part of another one is what it starts with by itself.
    pub fn judge_promising(
        &mut self,
        drafts: Vec<Draft>,
        origin: f64,
        sketch: Option<&Arc<str>>,
    ) -> Vec<Variant> {
        let met = |draft: &Draft| {
            let known = self.legal(draft.root.structural_hash())?.clone();
            Some(Variant { recipe: draft.recipe.clone(), ..known })
        };
        let before: Vec<Variant> = drafts.iter().filter(|_| sketch.is_some()).filter_map(met).collect();
        let drafts = self.unknown(drafts, |met| met.is_none());
        let costs = self.price(&drafts);
        let mut ranked: Vec<(Draft, f64)> = drafts.into_iter().zip(costs).collect();
        ranked.sort_by(|(a, x), (b, y)| by_cost((*x, &a.recipe, &a.root), (*y, &b.recipe, &b.root)));
        // Where the sizes are such that nothing runs, ranks tell nothing.
        let wanted = if origin > 0.0 { self.explorer.limits.promising } else { usize::MAX };
        let (first, undecided) = (self.variants.len(), self.statistics.undecided);
        let mut rest = ranked.into_iter().peekable();
        // What is too hard to judge in the best sizes is so in others.
        while self.variants.len() - first < wanted
            && self.statistics.undecided - undecided < wanted
            && rest.peek().is_some()
        {
            let batch: Vec<(Draft, f64)> = rest.by_ref().take(wanted.min(BATCH)).collect();
            let all = wanted == usize::MAX || batch.iter().any(|(_, cycles)| *cycles <= UNPROMISING * origin);
            if !all {
                self.pass_over(batch);
                break;
            }
            self.judge(batch, sketch);
        }
        self.pass_over(rest);
        [before, self.variants[first..].to_vec()].concat()
    }

    /// Of some drafts that cost less than so many cycles the cheapest legal one, if it is among the cheapest few.
    pub fn first_cheaper(
        &mut self,
        drafts: Vec<Draft>,
        cycles: f64,
        sketch: Option<&Arc<str>>,
    ) -> Option<Variant> {
        let drafts = self.unknown(drafts, |met| met.is_none());
        let costs = self.price(&drafts);
        let mut ranked: Vec<(Draft, f64)> = drafts.into_iter().zip(costs).collect();
        ranked.sort_by(|(a, x), (b, y)| by_cost((*x, &a.recipe, &a.root), (*y, &b.recipe, &b.root)));
        let first = self.variants.len();
        let mut rest = ranked.into_iter();
        for some in rest.by_ref().take(self.explorer.limits.promising) {
            if some.1.partial_cmp(&cycles) != Some(std::cmp::Ordering::Less) {
                self.pass_over([some]);
                break;
            }
            self.judge(vec![some], sketch);
            if self.variants.len() > first {
                break;
            }
        }
        self.pass_over(rest);
        self.variants.get(first).cloned()
    }

    /// Remembers trees that are not judged.
    fn pass_over(&mut self, drafts: impl IntoIterator<Item = (Draft, f64)>) {
        self.known
            .extend(drafts.into_iter().map(|(draft, _)| (draft.root.structural_hash(), Met::PassedOver)));
    }

    /// Of some drafts, once each, those with such a past, as many as the bounds allow; they count as tried.
    fn unknown(&mut self, drafts: Vec<Draft>, wanted: impl Fn(Option<&Met>) -> bool) -> Vec<Draft> {
        let most = self.most_leaves();
        let mut fresh = FxHashSet::default();
        let room = self.room();
        let mut result: Vec<Draft> = Vec::new();
        for draft in drafts {
            let hash = draft.root.structural_hash();
            let wanted = draft.root.summary().leaves <= most && wanted(self.known.get(&hash));
            if wanted && result.len() < room && fresh.insert(hash) {
                result.push(draft);
            }
        }
        self.statistics.tried += result.len();
        result
    }

    fn price(&self, drafts: &[Draft]) -> Vec<f64> {
        let worker = &self.worker;
        self.team.map(drafts, |draft| worker.cost.cycles(&draft.root))
    }

    fn judge(&mut self, drafts: Vec<(Draft, f64)>, sketch: Option<&Arc<str>>) {
        let worker = &self.worker;
        let mut judged: Vec<Judged> = self.team.map(&drafts, |(draft, _)| worker.judge(&draft.root, 1));
        let best = self.least;
        for ((draft, cycles), judged) in drafts.iter().zip(&mut judged) {
            let undecided = matches!(judged, Err(witness) if matches!(**witness, Witness::Quota));
            if undecided && self.patient > 0 && *cycles < OUTSTANDING * best {
                self.patient -= 1;
                *judged = worker.judge(&draft.root, PATIENCE);
            }
        }
        for ((Draft { root, recipe }, cycles), judged) in drafts.into_iter().zip(judged) {
            self.statistics.judged += 1;
            let hash = root.structural_hash();
            match judged {
                Err(witness) => {
                    self.statistics.undecided += usize::from(matches!(*witness, Witness::Quota));
                    self.known.insert(hash, Met::Refused);
                    self.refuse(|| recipe, Reason::Illegal(witness));
                }
                Ok(conditions) => {
                    self.statistics.legal += 1;
                    self.least = self.least.min(cycles);
                    self.known.insert(hash, Met::Legal(self.variants.len()));
                    let sketch = sketch.map(|name| first(&mut self.shared.names, name.clone()));
                    let root = self.shared.trees.intern(&root);
                    let recipe = self.shared.recipe(recipe);
                    let conditions = first(&mut self.shared.conditions, conditions.into());
                    self.variants.push(Variant { root, recipe, conditions, sketch, cycles });
                }
            }
        }
        if let Some(progress) = self.explorer.progress {
            progress(&self.statistics);
        }
    }

    fn refuse(&mut self, recipe: impl FnOnce() -> Recipe, reason: Reason) {
        if self.refused.len() < self.explorer.limits.refused {
            self.refused.push(Refused { recipe: recipe(), reason });
        }
    }

    pub(super) fn finish(mut self, stop: StopReason) -> Exploration {
        // Stable: equal costs keep the order of enumeration, short recipes first.
        self.variants.sort_by(Variant::by_cost);
        let all = std::mem::take(&mut self.variants);
        let mut variants =
            if self.explorer.strategy == Strategy::Guided { different_in_kind(all) } else { all };
        variants.shrink_to_fit();
        Exploration {
            variants,
            original: self.cost_of_original,
            refused: std::mem::take(&mut self.refused),
            statistics: self.statistics,
            stop,
            asked: false,
        }
    }
}

impl Worker<'_> {
    fn judge(&self, root: &Green, patience: u64) -> Judged {
        let case = self.case.clone().map_err(Box::new)?;
        match Oracle::of(case).judge_patiently(root, patience) {
            Verdict::Always => Ok(Vec::new()),
            Verdict::Under(conditions) => Ok(conditions),
            Verdict::Never(witness) => Err(Box::new(witness)),
        }
    }
}

fn into_witness(error: AnalysisError) -> Witness {
    match error {
        AnalysisError::Isl(error) => Witness::Isl(error),
        AnalysisError::Unsupported(what) => Witness::Unsupported(what),
        AnalysisError::Inexact(what) => Witness::Inexact(what),
        _ => Witness::Quota,
    }
}
