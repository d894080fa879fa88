//! Variants and the result of a search.

use analyses::Witness;
use cost_model::Cost;
use loop_tree::{Green, RuntimeCondition};
use std::collections::BTreeSet;
use std::sync::Arc;
use transforms::{Recipe, Refusal};

/// One order in which the kernel may be computed.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The tree, canonical.
    pub root: Green,
    /// The steps that lead to it from the original; replaying them gives the same tree.
    pub recipe: Recipe,
    /// What must hold at run time.
    pub conditions: Arc<[RuntimeCondition]>,
    /// The sketch that drew it; `None` for what moves found.
    pub sketch: Option<Arc<str>>,
    /// Predicted cycles; a model explains them where that is asked for.
    pub cycles: f64,
}

impl Variant {
    /// As [`by_cost`].
    pub(super) fn by_cost(a: &Self, b: &Self) -> std::cmp::Ordering {
        by_cost((a.cycles, &a.recipe, &a.root), (b.cycles, &b.recipe, &b.root))
    }
}

/// In which order a search ranks, of predicted cycles, the steps and the tree: cheaper first; of those that are predicted to take
/// about as long, the one with fewer steps; of as many that differ only where no time is spent, the one with less code.
pub fn by_cost(a: (f64, &Recipe, &Green), b: (f64, &Recipe, &Green)) -> std::cmp::Ordering {
    let key = |(cycles, recipe, root): (f64, &Recipe, &Green)| {
        let rank = |apart: f64| (cycles.max(1.0).ln() / apart).floor() as i64;
        (rank(TIE), recipe.0.len(), rank(SAME), root.summary().leaves)
    };
    key(a).cmp(&key(b)).then(a.0.total_cmp(&b.0))
}

/// Relative difference of predictions below which they say nothing.
const TIE: f64 = 0.02;
/// Cycles of an original that is worth changing.
pub const WORTHWHILE: f64 = 500.0;
/// Cycles below which next to nothing runs, and predictions tell nothing apart.
const NOTHING: f64 = 100.0;
/// Relative difference below which two variants differ only where no time is spent.
const SAME: f64 = 1e-3;

/// Of variants in their order, those that differ from all before in what takes time, or, where nothing does, in their kinds
/// of steps; the original in any case.
pub(super) fn different_in_kind(variants: Vec<Variant>) -> Vec<Variant> {
    let mut costs: BTreeSet<i64> = BTreeSet::new();
    let mut kinds: BTreeSet<Vec<&'static str>> = BTreeSet::new();
    let rank = |v: &Variant| (v.cycles.max(1.0).ln() / SAME).round() as i64;
    let mut is_new = |v: &Variant| {
        if v.cycles < NOTHING {
            return kinds.insert(v.recipe.0.iter().map(|s| s.name()).collect());
        }
        let at = rank(v);
        let new = costs.range(at - 1..=at + 1).next().is_none();
        costs.insert(at);
        new || v.recipe.0.is_empty()
    };
    variants.into_iter().filter(|v| is_new(v)).collect()
}

/// Why a variant is not among the results.
#[derive(Clone, Debug)]
pub enum Reason {
    /// The transformation does not apply.
    Refusal(Refusal),
    /// It would change what is computed, or that could not be excluded.
    Illegal(Box<Witness>),
}

/// A variant that was tried and refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// What was tried.
    pub recipe: Recipe,
    /// Why not.
    pub reason: Reason,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Moves enumerated.
    pub moves: usize,
    /// Moves whose transformation did not apply.
    pub not_applicable: usize,
    /// Moves that led to a tree met before.
    pub duplicates: usize,
    /// Distinct variants tried.
    pub tried: usize,
    /// Of these, judged.
    pub judged: usize,
    /// Of these, legal.
    pub legal: usize,
    /// Of these, refused because the oracle found no answer within its bounds.
    pub undecided: usize,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing is left to try within the strategy.
    Exhausted,
    /// The bound on variants was reached.
    VariantLimit,
    /// Nothing gained, and judging took much work.
    Hopeless,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Legal variants, cheapest first; the original among them. Predictions that are about the same: shorter recipe first, then less code.
    /// The guided search keeps one of those that differ only where no time is spent.
    pub variants: Vec<Variant>,
    /// Predicted cost of the original.
    pub original: Cost,
    /// Variants refused, in the order of enumeration; bounded by [`Limits::refused`](super::Limits::refused).
    pub refused: Vec<Refused>,
    /// Counts.
    pub statistics: Statistics,
    /// Why it ended.
    pub stop: StopReason,
    /// Whether the only variant is one that was asked for: nothing was searched.
    pub asked: bool,
}

impl Exploration {
    /// The cheapest variant; the original where nothing is cheaper, but where another one was asked for.
    pub fn best(&self) -> &Variant {
        // The original is always a variant.
        &self.variants[0]
    }

    /// The cheapest variant, if it is predicted to be faster than the original by the factor. What is over in no time is left
    /// alone: a check at run time and more code are not worth it, and predictions err there. What was asked for is done.
    pub fn worthwhile(&self, min_gain: f64) -> Option<&Variant> {
        if self.asked {
            return Some(self.best());
        }
        let worth = self.original.cycles >= WORTHWHILE;
        Some(self.best()).filter(|v| worth && !v.recipe.0.is_empty() && self.ratio(v) >= min_gain)
    }

    /// Predicted cost of the original over that of a variant. Nothing takes less than a cycle, also where no loop runs.
    pub fn ratio(&self, variant: &Variant) -> f64 {
        self.original.cycles.max(1.0) / variant.cycles.max(1.0)
    }
}
