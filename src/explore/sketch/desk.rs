//! What a sketch works with.

use crate::explore::expand::Engine;
use crate::explore::variant::Variant;
use analyses::idioms::Idioms;
use cost_model::Target;
use loop_tree::{Green, Kernel};
use std::sync::Arc;
use transforms::{Context, Recipe, Refusal, Step};

/// A tree that nobody has judged, with how it was made.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The tree, canonical.
    pub root: Green,
    /// The steps from the original.
    pub recipe: Recipe,
}

impl From<&Variant> for Draft {
    fn from(variant: &Variant) -> Self {
        Draft { root: variant.root.clone(), recipe: variant.recipe.clone() }
    }
}

/// Applies steps and has trees judged, within the bounds of the search.
pub struct Desk<'d, 'e, 'a> {
    engine: &'d mut Engine<'e, 'a>,
    name: Arc<str>,
}

impl<'d, 'e, 'a> Desk<'d, 'e, 'a> {
    pub(in crate::explore) fn new(engine: &'d mut Engine<'e, 'a>, name: &str) -> Self {
        Desk { engine, name: name.into() }
    }

    /// What is computed.
    pub fn kernel(&self) -> Arc<Kernel> {
        self.engine.kernel()
    }

    /// What nests are known as, and which libraries may be called for them.
    pub fn idioms(&self) -> &Idioms {
        self.engine.idioms()
    }

    /// The machine, where sizes follow from it.
    pub fn target(&self) -> &dyn Target {
        self.engine.target()
    }

    /// Threads that may share loops; 1: none is marked for them.
    pub fn threads(&self) -> u32 {
        self.engine.threads()
    }

    /// Statement leaves that a tree may have.
    pub fn most_leaves(&self) -> u32 {
        self.engine.most_leaves()
    }

    /// A draft with one more step.
    ///
    /// # Errors
    /// Where the step does not apply.
    pub fn apply(&self, draft: &Draft, step: impl Into<Step>) -> Result<Draft, Refusal> {
        let step = step.into();
        let kernel = self.engine.kernel();
        let rewrite = step.apply(&Context { kernel: &kernel, root: &draft.root })?;
        Ok(Draft { root: rewrite.root, recipe: draft.recipe.with(step) })
    }

    /// Predicted cycles of a draft.
    pub fn price(&self, draft: &Draft) -> f64 {
        self.engine.price_of(&draft.root)
    }

    /// Drafts that may still be tried.
    pub fn room(&self) -> usize {
        self.engine.room()
    }

    /// Whether no more drafts are judged: then nothing follows from one that is not among the legal ones.
    pub fn is_full(&self) -> bool {
        self.engine.is_full()
    }

    /// The legal ones of some drafts, priced; in their order, `None` where one is refused or the search has reached its
    /// bounds.
    pub fn judge(&mut self, drafts: Vec<Draft>) -> Vec<Option<Variant>> {
        self.engine.judge_drafts(drafts, Some(&self.name))
    }

    /// The promising ones of some drafts, which are changes of a variant and differ in sizes or order: of those that are
    /// predicted to take least, the legal ones, in the order in which they were found.
    pub fn judge_promising(&mut self, drafts: Vec<Draft>, from: &Variant) -> Vec<Variant> {
        self.engine.judge_promising(drafts, from.cycles, Some(&self.name))
    }

    /// The same as [`Desk::judge`], for one draft.
    pub fn judge_one(&mut self, draft: Draft) -> Option<Variant> {
        self.judge(vec![draft]).pop().flatten()
    }

    /// A step that is kept if it applies and what it makes is legal.
    pub fn try_step(&mut self, from: &Variant, step: impl Into<Step>) -> Option<Variant> {
        let draft = self.apply(&from.into(), step).ok()?;
        self.judge_one(draft)
    }
}
