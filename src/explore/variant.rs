//! Variants and the result of a search.

use analyses::Witness;
use cost_model::Cost;
use loop_tree::{Green, RuntimeCondition};
use transforms::{Recipe, Refusal};

/// One order in which the kernel may be computed.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The tree, canonical.
    pub root: Green,
    /// The steps that lead to it from the original; replaying them gives the same tree.
    pub recipe: Recipe,
    /// What must hold at run time.
    pub conditions: Vec<RuntimeCondition>,
    /// Predicted cost, without its terms but for the original: a model explains the tree again where that is asked for.
    pub cost: Cost,
}

impl Variant {
    /// Cheaper first, then shorter recipe.
    pub(super) fn by_cost(a: &Self, b: &Self) -> std::cmp::Ordering {
        a.cost.cycles.total_cmp(&b.cost.cycles).then(a.recipe.0.len().cmp(&b.recipe.0.len()))
    }
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
    /// Distinct variants judged.
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
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Legal variants, cheapest first; the original among them. Equal costs: shorter recipe first, then text order.
    pub variants: Vec<Variant>,
    /// Predicted cost of the original.
    pub original: Cost,
    /// Variants refused, in the order of enumeration; bounded by [`Limits::refused`](super::Limits::refused).
    pub refused: Vec<Refused>,
    /// Counts.
    pub statistics: Statistics,
    /// Why it ended.
    pub stop: StopReason,
}

impl Exploration {
    /// The cheapest variant; the original where nothing is cheaper.
    pub fn best(&self) -> &Variant {
        // The original is always a variant.
        &self.variants[0]
    }

    /// The cheapest variant, if it is predicted to be faster than the original by the factor.
    pub fn worthwhile(&self, min_gain: f64) -> Option<&Variant> {
        Some(self.best()).filter(|v| !v.recipe.0.is_empty() && self.ratio(v) >= min_gain)
    }

    /// Predicted cost of the original over that of a variant. Nothing takes less than a cycle, also where no loop runs.
    pub fn ratio(&self, variant: &Variant) -> f64 {
        self.original.cycles.max(1.0) / variant.cost.cycles.max(1.0)
    }
}
