//! One level of a search: from some variants to all their successors.

use super::sketch::{Draft, Sketch, Stage};
use super::strategy::Strategy;
use super::variant::{Exploration, Reason, Refused, Statistics, StopReason, Variant, different_in_kind};
use super::{Explorer, Problem};
use analyses::{AnalysisError, Oracle, Verdict, Witness};
use cost_model::Prepared;
use loop_tree::{Green, RuntimeCondition};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use transforms::{Context, MoveOptions, Recipe, Registry, Step};

/// Where moves come from.
pub trait MoveSource: Sync {
    /// Steps that could be tried on a tree, in a fixed order.
    fn moves(&self, context: &Context<'_>) -> Vec<Step>;
}

/// The moves of a registry of transformations.
pub struct RegistryMoves<'a> {
    /// Transformations.
    pub registry: &'a Registry,
    /// Which sizes, factors and shifts.
    pub options: MoveOptions,
}

impl MoveSource for RegistryMoves<'_> {
    fn moves(&self, context: &Context<'_>) -> Vec<Step> {
        transforms::moves(context, self.registry, &self.options)
    }
}

/// What a worker thread finds out about a tree.
enum Judged {
    Legal(Vec<RuntimeCondition>, cost_model::Cost),
    Illegal(Box<Witness>),
}

/// Which successors a level of the search looks at.
pub struct Admit<'f> {
    /// Before the step is applied.
    pub step: &'f (dyn Fn(&Step) -> bool + Sync),
    /// After it: the tree it was applied to, and the new one.
    pub change: &'f (dyn Fn(&Green, &Green) -> bool + Sync),
}

impl Admit<'_> {
    /// All successors.
    pub const ALL: Admit<'static> = Admit { step: &|_| true, change: &|_, _| true };
}

/// What worker threads share.
#[derive(Clone, Copy)]
struct Worker<'e> {
    problem: &'e Problem,
    moves: &'e dyn MoveSource,
    cost: &'e dyn Prepared,
    search: u64,
}

/// State of one search.
pub struct Engine<'e, 'a> {
    explorer: &'e Explorer<'a>,
    worker: Worker<'e>,
    pool: Option<rayon::ThreadPool>,
    /// What became of each tree met: its place among the variants, or `None` where it was refused.
    known: FxHashMap<u128, Option<usize>>,
    variants: Vec<Variant>,
    refused: Vec<Refused>,
    statistics: Statistics,
    /// Variants that may be judged before the phase at hand ends; at most the limit.
    ceiling: usize,
}

/// Variants whose moves are applied before it is asked whether there are enough: a fixed number, whatever the number of
/// threads, because which moves are enumerated must not depend on it.
const EXPANDED_AT_ONCE: usize = 32;

thread_local! {
    /// The oracle of this thread, with the search it belongs to: oracles cannot cross threads.
    static ORACLE: RefCell<Option<(u64, Result<Oracle, Witness>)>> = const { RefCell::new(None) };
}
static SEARCHES: AtomicU64 = AtomicU64::new(0);

impl<'e, 'a> Engine<'e, 'a> {
    pub(super) fn new(explorer: &'e Explorer<'a>, cost: &'e dyn Prepared) -> Self {
        let threads = explorer.limits.threads;
        let mut engine = Engine {
            explorer,
            worker: Worker {
                problem: &explorer.problem,
                moves: explorer.moves,
                cost,
                search: SEARCHES.fetch_add(1, Ordering::Relaxed),
            },
            // Without threads of its own the search runs on the caller's.
            pool: rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok(),
            known: FxHashMap::default(),
            variants: Vec::new(),
            refused: Vec::new(),
            statistics: Statistics::default(),
            ceiling: explorer.limits.variants,
        };
        let kernel = &explorer.problem.kernel;
        let root = loop_tree::canonical(kernel, &kernel.original);
        engine.known.insert(root.structural_hash(), Some(0));
        let versioned = engine.worker.cost.cost(&root);
        let cost = engine.worker.cost.cost_of_original();
        engine.variants.push(Variant {
            root: root.clone(),
            recipe: Recipe::default(),
            conditions: vec![],
            sketch: None,
            cost,
        });
        // The same order, but with what one check has established: the compiler need not reckon with overlap.
        let recipe = Recipe(vec![Step::new(transforms::Version)]);
        engine.variants.push(Variant { root, recipe, conditions: vec![], sketch: None, cost: versioned });
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

    /// Whether the bound on variants is reached, of the phase at hand or of the whole.
    pub fn is_full(&self) -> bool {
        self.statistics.judged >= self.ceiling
    }

    /// The sketches of a stage.
    pub fn sketches(&self, stage: Stage) -> Vec<Arc<dyn Sketch>> {
        self.explorer.sketches.of(stage).cloned().collect()
    }

    /// The machine.
    pub fn target(&self) -> &dyn cost_model::Target {
        self.explorer.target
    }

    /// Runs a part of the search that may judge one of `shares` equal parts of what is left.
    pub fn with_share<R>(&mut self, shares: usize, part: impl FnOnce(&mut Self) -> R) -> R {
        self.with_share_of(1.0 / shares.max(1) as f64, part)
    }

    /// Runs a part of the search that may judge a share of what is left.
    pub fn with_share_of<R>(&mut self, share: f64, part: impl FnOnce(&mut Self) -> R) -> R {
        let whole = self.ceiling;
        let left = whole.saturating_sub(self.statistics.judged);
        self.ceiling = (self.statistics.judged + (left as f64 * share).ceil() as usize).min(whole);
        let result = part(self);
        self.ceiling = whole;
        result
    }

    /// What a part of a variant's tree is predicted to take.
    pub fn price_of_part(&self, root: &Green) -> f64 {
        self.worker.cost.cost_of_part(root).cycles
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
        let room = self.room();
        let mut drafts = Vec::new();
        // No more moves than lead to as many variants as may be judged: the last level of a search has many times more.
        for some in from.chunks(EXPANDED_AT_ONCE) {
            if drafts.len() >= room {
                break;
            }
            self.apply_moves(some, admit, &mut drafts);
        }
        self.judge_drafts(drafts, None).into_iter().flatten().collect()
    }

    /// Variants that may still be judged.
    fn room(&self) -> usize {
        self.ceiling.saturating_sub(self.statistics.judged)
    }

    /// Applies the admitted moves of some variants, in parallel per variant; the outcome keeps the order of enumeration.
    fn apply_moves(&mut self, from: &[Variant], admit: &Admit<'_>, drafts: &mut Vec<Draft>) {
        let worker = self.worker;
        type Applied = (usize, Step, Result<Green, transforms::Refusal>);
        let applied: Vec<Applied> = in_pool(self.pool.as_ref(), || {
            from.par_iter()
                .enumerate()
                .flat_map_iter(|(at, variant)| {
                    let context = Context { kernel: &worker.problem.kernel, root: &variant.root };
                    worker
                        .moves
                        .moves(&context)
                        .into_iter()
                        .filter(|step| (admit.step)(step))
                        .map(|step| {
                            let result = step.apply(&context).map(|rewrite| rewrite.root);
                            (at, step, result)
                        })
                        .filter(|(.., result)| {
                            result.as_ref().map_or(true, |root| (admit.change)(&variant.root, root))
                        })
                        .collect::<Vec<_>>()
                })
                .collect()
        });
        self.statistics.moves += applied.len();
        let mut new = FxHashSet::default();
        for (at, step, result) in applied {
            match result {
                Err(refusal) => {
                    self.statistics.not_applicable += 1;
                    self.refuse(|| from[at].recipe.with(step.clone()), Reason::Refusal(refusal));
                }
                Ok(root) => {
                    let hash = root.structural_hash();
                    if self.known.contains_key(&hash) || !new.insert(hash) {
                        self.statistics.duplicates += 1;
                    } else {
                        drafts.push(Draft { root, recipe: from[at].recipe.with(step) });
                    }
                }
            }
        }
    }

    /// Judges and ranks drafts in parallel, as many as the bounds allow; what became of each. Trees met before are not
    /// judged again.
    pub fn judge_drafts(&mut self, drafts: Vec<Draft>, sketch: Option<&Arc<str>>) -> Vec<Option<Variant>> {
        let hashes: Vec<u128> = drafts.iter().map(|d| d.root.structural_hash()).collect();
        let most = self.most_leaves();
        let mut fresh = FxHashSet::default();
        let mut to_judge: Vec<Draft> = Vec::new();
        for (draft, hash) in drafts.into_iter().zip(&hashes) {
            let wanted = draft.root.summary().leaves <= most && !self.known.contains_key(hash);
            if wanted && to_judge.len() < self.room() && fresh.insert(*hash) {
                to_judge.push(draft);
            }
        }
        self.judge(to_judge, sketch);
        let variant = |hash| self.known.get(hash).copied().flatten().map(|at| self.variants[at].clone());
        hashes.iter().map(variant).collect()
    }

    /// In batches, so that progress can be told.
    fn judge(&mut self, drafts: Vec<Draft>, sketch: Option<&Arc<str>>) {
        const BATCH: usize = 256;
        let mut rest = drafts.into_iter();
        loop {
            let batch: Vec<Draft> = rest.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return;
            }
            let worker = self.worker;
            let judged: Vec<Judged> =
                in_pool(self.pool.as_ref(), || batch.par_iter().map(|c| worker.judge(&c.root)).collect());
            for (Draft { root, recipe }, judged) in batch.into_iter().zip(judged) {
                self.statistics.judged += 1;
                let hash = root.structural_hash();
                match judged {
                    Judged::Illegal(witness) => {
                        self.statistics.undecided += usize::from(matches!(*witness, Witness::Quota));
                        self.known.insert(hash, None);
                        self.refuse(|| recipe, Reason::Illegal(witness));
                    }
                    Judged::Legal(conditions, cost) => {
                        self.statistics.legal += 1;
                        self.known.insert(hash, Some(self.variants.len()));
                        self.variants.push(Variant {
                            root,
                            recipe,
                            conditions,
                            sketch: sketch.cloned(),
                            cost,
                        });
                    }
                }
            }
            if let Some(progress) = self.explorer.progress {
                progress(&self.statistics);
            }
        }
    }

    fn refuse(&mut self, recipe: impl FnOnce() -> Recipe, reason: Reason) {
        if self.refused.len() < self.explorer.limits.refused {
            self.refused.push(Refused { recipe: recipe(), reason });
        }
    }

    pub(super) fn finish(mut self, stop: StopReason) -> Exploration {
        let original = self.variants[0].cost.clone();
        // Stable: equal costs keep the order of enumeration, short recipes first.
        self.variants.sort_by(Variant::by_cost);
        let all = std::mem::take(&mut self.variants);
        Exploration {
            variants: if self.explorer.strategy == Strategy::Guided { different_in_kind(all) } else { all },
            original,
            refused: std::mem::take(&mut self.refused),
            statistics: self.statistics,
            stop,
        }
    }
}

impl Worker<'_> {
    fn judge(&self, root: &Green) -> Judged {
        let problem = self.problem;
        let verdict = ORACLE.with_borrow_mut(|slot| {
            if !matches!(slot, Some((search, _)) if *search == self.search) {
                *slot = Some((self.search, new_oracle(problem).map_err(into_witness)));
            }
            match slot {
                Some((_, Ok(oracle))) => oracle.judge(root),
                Some((_, Err(witness))) => Verdict::Never(witness.clone()),
                None => Verdict::Never(Witness::Quota),
            }
        });
        let conditions = match verdict {
            Verdict::Always => Vec::new(),
            Verdict::Under(conditions) => conditions,
            Verdict::Never(witness) => return Judged::Illegal(Box::new(witness)),
        };
        let cost = self.cost.cost(root);
        // The terms are several times as large as the tree, and few variants are ever explained.
        Judged::Legal(conditions, cost_model::Cost { terms: Vec::new(), ..cost })
    }
}

fn in_pool<R: Send>(pool: Option<&rayon::ThreadPool>, f: impl FnOnce() -> R + Send) -> R {
    match pool {
        Some(pool) => pool.install(f),
        None => f(),
    }
}

fn new_oracle(problem: &Problem) -> Result<Oracle, AnalysisError> {
    Oracle::with_dependences(problem.kernel.clone(), problem.dependences.clone(), problem.oracle)
}

/// Without an oracle every variant is refused.
fn into_witness(error: AnalysisError) -> Witness {
    match error {
        AnalysisError::Isl(error) => Witness::Isl(error),
        AnalysisError::Unsupported(what) => Witness::Unsupported(what),
        AnalysisError::Inexact(what) => Witness::Inexact(what),
        _ => Witness::Quota,
    }
}

impl Drop for Engine<'_, '_> {
    fn drop(&mut self) {
        // The caller's thread outlives the search; its oracle need not.
        ORACLE.with_borrow_mut(|slot| *slot = None);
    }
}
