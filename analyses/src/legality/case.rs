//! What the oracles of several threads have in common: what they judge by, and what they have found.

use super::buffers::{self, Flows};
use super::{Fault, OracleOptions, coverage, order, rolled_places, storage};
use crate::dependences::{AnalysisError, DependenceSet};
use crate::idioms::Idioms;
use crate::places::Place;
use crate::system::{Solver, System};
use dashmap::DashMap;
use loop_tree::{ArrayId, Kernel, Privates, StmtId};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

/// A kernel and its dependences, with all answers about variants of it that were given so far. Verdicts do not depend on these, nor on
/// which thread's oracle gave them: what an answer takes is charged whenever it is given.
pub struct Case {
    pub(super) kernel: Arc<Kernel>,
    pub(super) set: Arc<DependenceSet>,
    pub(super) options: OracleOptions,
    /// What marked loops are known as.
    pub(super) idioms: Arc<Idioms>,
    pub(super) privates: Privates,
    pub(super) context: System,
    pub(super) checks: Vec<order::Check>,
    /// Numbers of the checks with this source and target.
    pub(super) by_pair: BTreeMap<(StmtId, StmtId), Vec<usize>>,
    pub(super) original: Vec<Place>,
    pub(super) orders: order::Memo,
    pub(super) coverage: coverage::Memo,
    pub(super) slots: storage::Memo,
    /// Which writes may be seen by which reads.
    pub(super) flows: Flows,
    /// Which writes are seen by which reads, by array; `None` where that is not known.
    pub(super) values: Mutex<BTreeMap<ArrayId, Option<Arc<Flows>>>>,
}

impl Case {
    /// A kernel with its dependences.
    pub fn new(
        kernel: Arc<Kernel>,
        set: Arc<DependenceSet>,
        options: OracleOptions,
    ) -> Result<Case, AnalysisError> {
        let (_, original) = rolled_places(&kernel, &kernel.original)?;
        let context = crate::dependences::context(&kernel)?;
        let checks = order::checks(&kernel, &set);
        let mut by_pair: BTreeMap<(StmtId, StmtId), Vec<usize>> = BTreeMap::new();
        for (index, check) in checks.iter().enumerate() {
            by_pair.entry((check.source, check.target)).or_default().push(index);
        }
        Ok(Case {
            privates: Privates::of(&kernel),
            options,
            idioms: Arc::new(Idioms::standard()),
            context,
            orders: order::Memo::trusting(&checks, &original),
            coverage: coverage::Memo::default(),
            slots: storage::Memo::default(),
            flows: buffers::flows(&set),
            values: Mutex::default(),
            checks,
            by_pair,
            original,
            kernel,
            set,
        })
    }

    /// The same with other idioms, and libraries that may be called.
    pub fn with_idioms(self, idioms: Arc<Idioms>) -> Case {
        Case { idioms, ..self }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// The dependences.
    pub fn dependences(&self) -> &Arc<DependenceSet> {
        &self.set
    }
}

/// Answers to questions of one kind, with the work that they took: it is charged again, so that what fits into a budget does not
/// depend on what was asked before, or by whom.
pub(super) struct Answers<Q, A> {
    known: DashMap<Q, (Result<A, Fault>, u64), FxBuildHasher>,
}

/// Threads that find their way without waiting for each other.
const SHARDS: usize = 16;
/// Answers kept before all are forgotten.
const MAX_KNOWN: usize = 1 << 19;

impl<Q: Eq + Hash, A: Clone> Default for Answers<Q, A> {
    fn default() -> Self {
        Answers { known: DashMap::with_hasher_and_shard_amount(FxBuildHasher, SHARDS) }
    }
}

impl<Q: Eq + Hash, A: Clone> Answers<Q, A> {
    /// The answer, found now unless it is known.
    pub fn ask(
        &self,
        solver: &Solver,
        question: Q,
        find: impl FnOnce() -> Result<A, Fault>,
    ) -> Result<A, Fault> {
        if let Some(known) = self.known.get(&question) {
            solver.charge(known.1)?;
            return known.0.clone();
        }
        let budget = solver.budget();
        let answer = find();
        // What came out with an exhausted budget is no answer for others.
        if solver.budget() > 0 {
            if self.known.len() >= MAX_KNOWN {
                self.known.clear();
            }
            self.known.insert(question, (answer.clone(), budget - solver.budget()));
        }
        answer
    }
}
