//! Kernels: searched, judged, emitted, one at a time.

use super::{DriverError, ExploredRegion, Likely, ModelError, Models, Settings};
use crate::explore::{
    Exploration, Explorer, Limits, MoveSource, Problem, RegistryMoves, Statistics, Variant,
};
use analyses::idioms::Idioms;
use analyses::{Oracle, OracleOptions, Verdict};
use cost_model::targets::Vectors;
use emission::conditions::checked;
use irgen::emit::{self, emit_function};
use irgen::lift::LiftOptions;
use irgen::llvm::Context;
use loop_tree::{Calls, Green, Kernel, Path, RuntimeCondition};
use std::collections::BTreeSet;
use std::sync::Arc;
use transforms::{Recipe, Registry};

/// Analyses, models, transformations and sketches, with the bounds of the search. [`Optimizer::new`] finds them by their names;
/// each can be replaced by a value of one's own.
///
/// ```
/// use looptree::analyses::dependences::Flat;
/// use looptree::driver::{Optimizer, Settings};
///
/// let mut optimizer = Optimizer::new(Settings::default())?;
/// optimizer.models.dependences = std::sync::Arc::new(Flat);
/// # Ok::<(), looptree::driver::ModelError>(())
/// ```
pub struct Optimizer {
    /// Parameters, bounds of the search, sketches; names count when this is made only.
    pub settings: Settings,
    /// What lifting asks.
    pub lifting: LiftOptions,
    /// What ranks, for which machine, and what finds dependences.
    pub models: Models,
    /// Transformations.
    pub registry: Registry,
    /// What nests are known as, and which libraries may be called for them.
    pub idioms: Arc<Idioms>,
}

/// What is to be emitted for a region.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What the tree is an order of.
    pub kernel: Arc<Kernel>,
    /// The tree.
    pub root: Green,
    /// Conditions under which it is valid.
    pub conditions: Vec<RuntimeCondition>,
    /// Loops that carry no dependence under these conditions.
    pub parallel: BTreeSet<Path>,
    /// Threads that share the iterations of loops marked parallel, at most.
    pub threads: u32,
    /// Calls in the place of loops that are marked for a library.
    pub calls: Calls,
    /// Bits of the vectors that it is compiled for, where the compiler takes narrower ones by itself.
    pub vector_bits: Option<u32>,
}

impl Chosen {
    /// What emission is handed.
    pub fn variant(&self) -> emit::Variant<'_> {
        let Chosen { root, conditions, parallel, threads, calls, vector_bits, .. } = self;
        emit::Variant { root, conditions, parallel, threads: *threads, calls, vector_bits: *vector_bits }
    }
}

/// Told which region is searched, and how far the search is.
pub type Progress<'a> = &'a (dyn Fn(&str, &Statistics) + Sync);

impl Optimizer {
    /// What the settings name, with the standard transformations.
    ///
    /// # Errors
    /// A name that nothing has, or a target that cannot be read.
    pub fn new(settings: Settings) -> Result<Optimizer, ModelError> {
        let (lifting, models) = (settings.lift_options()?, settings.models()?);
        let mut idioms = Idioms::standard();
        settings.libraries.iter().for_each(|library| idioms.allow(library));
        if settings.reorders {
            idioms.allow_reordering();
        }
        let (registry, idioms) = (Registry::standard(), Arc::new(idioms));
        Ok(Optimizer { settings, lifting, models, registry, idioms })
    }

    /// Whether loops may gain that have but one order: by settings, or by transformations of one's own.
    pub fn gains_without_order(&self) -> bool {
        self.settings.gains_without_order()
            || self.registry.iter().count() > Registry::standard().iter().count()
    }

    /// What is searched for a kernel. `likely` values of parameters, by index, count where none is given.
    ///
    /// # Errors
    /// Where its dependences cannot be had.
    pub fn problem(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Likely],
    ) -> Result<Problem, DriverError> {
        let _span = tracing::info_span!("dependences").entered();
        let dependences = self
            .models
            .dependences
            .dependences(kernel)
            .map_err(|source| DriverError::Analysis { region: label.to_string(), source })?;
        let params = self.settings.parameter_values(kernel, likely);
        let oracle = self.settings.oracle;
        let (dependences, idioms) = (Arc::new(dependences), self.idioms.clone());
        Ok(Problem { kernel: kernel.clone(), params, dependences, oracle, idioms })
    }

    /// Searches one kernel, of whose code nothing is known.
    pub fn explore(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Likely],
        progress: Option<Progress<'_>>,
    ) -> Result<(Problem, Exploration), DriverError> {
        self.search(&self.models.for_code(None), self.settings.limits, label, kernel, likely, progress)
    }

    pub(super) fn search(
        &self,
        models: &Models,
        limits: Limits,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Likely],
        progress: Option<Progress<'_>>,
    ) -> Result<(Problem, Exploration), DriverError> {
        let problem = self.problem(label, kernel, likely)?;
        let moves = self.moves();
        let tell = |s: &Statistics| {
            if let Some(progress) = progress {
                progress(label, s);
            }
        };
        let target = models.target.for_new_code().unwrap_or_else(|| models.target.clone());
        let explorer = Explorer {
            cost: &*models.cost,
            target: &*target,
            limits,
            progress: Some(&tell),
            ..self.explorer(problem.clone(), &moves)
        };
        let span = tracing::info_span!("search").entered();
        let exploration = explorer.explore();
        drop(span);
        Ok((problem, exploration))
    }

    /// The transformations as moves.
    pub fn moves(&self) -> RegistryMoves<'_> {
        RegistryMoves { registry: &self.registry, options: self.settings.moves.clone() }
    }

    /// A search of a problem with moves of any source.
    pub fn explorer<'a>(&'a self, problem: Problem, moves: &'a dyn MoveSource) -> Explorer<'a> {
        Explorer {
            problem,
            moves,
            sketches: &self.settings.sketches,
            cost: &*self.models.cost,
            target: &*self.models.target,
            limits: self.settings.limits,
            strategy: self.settings.strategy,
            threads: self.settings.threads,
            progress: None,
        }
    }

    /// What a recipe makes of a kernel, and whether it may; in code with such vectors, where that is known.
    pub fn apply(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        recipe: &Recipe,
        code: Option<Vectors>,
    ) -> Result<Chosen, DriverError> {
        let region = label.to_string();
        let root = loop_tree::canonical(kernel, &kernel.original);
        let root = recipe
            .replay(kernel, &root)
            .map_err(|source| DriverError::Replay { region: region.clone(), source })?;
        let problem = self.problem(label, kernel, &[])?;
        let params = problem.params.clone();
        let oracle = self.patient(label, problem)?;
        match oracle.judge(&root) {
            Verdict::Always => Ok(self.chosen(root, Vec::new(), &oracle, &params, code)),
            Verdict::Under(conditions) => Ok(self.chosen(root, conditions, &oracle, &params, code)),
            Verdict::Never(witness) => Err(DriverError::Illegal { region, witness: Box::new(witness) }),
        }
    }

    /// A variant of an explored region, with what emission has to know.
    pub fn choose(&self, region: &ExploredRegion, variant: &Variant) -> Result<Chosen, DriverError> {
        let problem = Problem {
            kernel: region.kernel.clone(),
            params: region.params.clone(),
            dependences: region.dependences.clone(),
            oracle: self.settings.oracle,
            idioms: self.idioms.clone(),
        };
        let oracle = self.patient(&region.label(), problem)?;
        let (root, conditions) = (variant.root.clone(), variant.conditions.to_vec());
        Ok(self.chosen(root, conditions, &oracle, &region.params, region.vectors))
    }

    /// One tree that is asked for or chosen deserves more patience than one of a search.
    pub(crate) fn patient(&self, label: &str, problem: Problem) -> Result<Oracle, DriverError> {
        let (asked, usual) = (problem.oracle, OracleOptions::default());
        let oracle = OracleOptions { quota: asked.quota.max(usual.quota), work: asked.work.max(usual.work) };
        let case = Problem { oracle, ..problem }.case();
        case.map(|case| Oracle::of(Arc::new(case)))
            .map_err(|source| DriverError::Analysis { region: label.to_string(), source })
    }

    /// A chosen tree of a kernel that does not come from IR, as a module with one function.
    pub fn emit(&self, kernel: &Kernel, chosen: &Chosen) -> Result<String, DriverError> {
        let context = Context::new();
        let name = kernel.name.to_string();
        let module = emit_function(&context, &name, kernel, chosen.variant())
            .map_err(|source| DriverError::Emit { region: name.clone(), source })?;
        module.verify()?;
        Ok(module.to_string())
    }

    fn chosen(
        &self,
        root: Green,
        conditions: Vec<RuntimeCondition>,
        oracle: &Oracle,
        params: &[i64],
        code: Option<Vectors>,
    ) -> Chosen {
        // What the check tests anyway may be relied on.
        let conditions = checked(oracle.kernel(), &conditions);
        let parallel = oracle.parallel(&root, |needed| needed.iter().all(|c| conditions.contains(c)));
        let threads = self.settings.threads;
        let calls = self.idioms.calls(oracle.kernel(), &root);
        let vector_bits = self.models.for_code(code).cost.prepare(oracle.kernel(), params).widened(&root);
        Chosen { kernel: oracle.kernel().clone(), root, conditions, parallel, threads, calls, vector_bits }
    }
}
