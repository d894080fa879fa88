//! Whole modules: lift, explore each region, emit what was chosen.
//!
//! [`Session::explore`] searches every region and keeps plain data; [`Session::emit`] makes the module in which each region
//! is replaced by a chosen variant. Functions in which nothing changes stay as they were in the input, byte for byte.

mod clang;
mod code;
mod llvm_target;
mod settings;

pub use clang::compile_c;
pub use llvm_target::{LlvmTarget, TargetError};
pub use settings::{ModelError, Models, Settings, parameter_values};

use crate::explore::{Exploration, Explorer, Limits, Problem, RegistryMoves, Statistics, Variant};
use crate::measure::{ArgumentSpec, NotCallable, argument_specs};
use analyses::{AnalysisError, DependenceSet, Oracle, OracleOptions, Verdict};
use cost_model::targets::Vectors;
use irgen::emit::{EmitError, checked_conditions, emit_function, emit_region};
use irgen::lift::{self, Remark};
use irgen::llvm::{Context, LlvmError, Module};
use loop_tree::{Green, Kernel, Path, RuntimeCondition, SourceLocation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use transforms::{Recipe, RecipeError, Registry, ReplayError};

/// Predicted gain below which code is left alone, unless asked otherwise: predictions are not exact, and code that is not
/// improved must not be worsened. Of the programs of both suites that are said to gain 1.4x to 1.6x, half gain nothing.
pub const MIN_GAIN: f64 = 1.6;

/// Of the time of the region that takes longest, what a region takes that is searched less thoroughly: mostly code that
/// runs once, such as initialisation.
const NEGLIGIBLE: f64 = 0.01;
/// By how much fewer variants are tried there.
const SMALLER_SEARCH: usize = 8;

/// What ends a session.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// clang cannot be run.
    #[error("cannot run {program}")]
    Run {
        /// What was tried.
        program: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// clang does not accept the input.
    #[error("clang-22 does not compile {file}:\n{message}")]
    Clang {
        /// The file.
        file: String,
        /// clang's words.
        message: String,
    },
    /// LLVM does not accept the input, or what was made of it.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
    /// No such function.
    #[error("there is no function `{name}` with a body in {module}; there are: {available}")]
    NoFunction {
        /// The name asked for.
        name: String,
        /// The input.
        module: String,
        /// What there is.
        available: String,
    },
    /// No such region.
    #[error("{function} has no region {number}; regions are counted from 0, and it has {count}")]
    NoRegion {
        /// The function.
        function: String,
        /// Regions found.
        count: usize,
        /// The number asked for, from 0.
        number: usize,
    },
    /// Several regions, or none, where one is needed.
    #[error("one region is needed; selected are: {}", if regions.is_empty() { "none" } else { regions.as_str() })]
    NotOneRegion {
        /// The regions selected.
        regions: String,
    },
    /// A model is not known by this name.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Dependences cannot be had.
    #[error("{region}: {source}")]
    Analysis {
        /// Function and number.
        region: String,
        /// Why.
        source: AnalysisError,
    },
    /// Recipe text that cannot be read.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// A recipe that does not apply.
    #[error("{region}: {source}")]
    Replay {
        /// Function and number.
        region: String,
        /// Why.
        source: ReplayError,
    },
    /// A recipe that would change what is computed.
    #[error("{region}: the recipe is not valid: {witness}")]
    Illegal {
        /// Function and number.
        region: String,
        /// The dependence in the way.
        witness: Box<analyses::Witness>,
    },
    /// A variant has no IR.
    #[error("{region}: {source}")]
    Emit {
        /// Function and number.
        region: String,
        /// Why.
        source: EmitError,
    },
}

/// A region with what the search found.
#[derive(Clone, Debug)]
pub struct ExploredRegion {
    /// The function.
    pub function: Arc<str>,
    /// Vectors of its code, where its attributes say so.
    pub vectors: Option<Vectors>,
    /// Number in the function, in textual order.
    pub number: usize,
    /// Where it begins.
    pub location: Option<SourceLocation>,
    /// What was searched.
    pub kernel: Arc<Kernel>,
    /// Values of the parameters it was ranked for.
    pub params: Vec<i64>,
    /// Its dependences.
    pub dependences: Arc<DependenceSet>,
    /// What was found.
    pub exploration: Exploration,
}

impl ExploredRegion {
    /// `function#number`
    pub fn label(&self) -> String {
        label(&self.function, self.number)
    }
}

fn label(function: &str, number: usize) -> String {
    format!("{function}#{number}")
}

/// What is to be emitted for a region.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The tree.
    pub root: Green,
    /// Conditions under which it is valid.
    pub conditions: Vec<RuntimeCondition>,
    /// Loops that carry no dependence under these conditions.
    pub parallel: BTreeSet<Path>,
}

impl Chosen {
    fn new(root: Green, conditions: Vec<RuntimeCondition>, oracle: &Oracle) -> Self {
        // What the check tests anyway may be relied on.
        let conditions = checked_conditions(oracle.kernel(), &conditions);
        let holds = |needed: &Vec<RuntimeCondition>| needed.iter().all(|c| conditions.contains(c));
        let facts = oracle.loop_facts(&root);
        let parallel = facts
            .into_iter()
            .filter(|(_, f)| f.parallel || f.parallel_if.as_ref().is_some_and(holds))
            .map(|(p, _)| p)
            .collect();
        Chosen { root, conditions, parallel }
    }
}

/// Told which region is searched, and how far the search is.
pub type Progress<'a> = &'a dyn Fn(&str, &Statistics);

/// One module and how to treat it.
pub struct Session<'a> {
    /// IR or bitcode.
    pub input: &'a [u8],
    /// Name for messages.
    pub name: &'a str,
    /// How.
    pub settings: &'a Settings,
    /// Transformations.
    pub registry: &'a Registry,
    /// Told what is going on.
    pub progress: Option<Progress<'a>>,
}

/// Regions with what the search found; plain data.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The regions of all functions asked for, in the order of the module.
    pub regions: Vec<ExploredRegion>,
    /// Regions that could not be analysed, and why.
    pub skipped: Vec<(String, String)>,
    /// What could not be lifted, by function.
    pub remarks: Vec<(Arc<str>, Remark)>,
}

impl Explored {
    /// The region whose original is predicted to cost most.
    pub fn costliest(&self) -> Option<usize> {
        let cost = |r: &ExploredRegion| r.exploration.original.cycles;
        (0..self.regions.len())
            .max_by(|a, b| cost(&self.regions[*a]).total_cmp(&cost(&self.regions[*b])).then(b.cmp(a)))
    }
}

impl<'a> Session<'a> {
    /// A session that tells nobody how far it is.
    pub fn new(
        input: &'a [u8],
        name: &'a str,
        settings: &'a Settings,
        registry: &'a Registry,
    ) -> Session<'a> {
        Session { input, name, settings, registry, progress: None }
    }
}

impl Session<'_> {
    /// Calls `f` for each function asked for, lifted.
    fn lifted<R>(
        &self,
        functions: Functions,
        f: &mut dyn FnMut(&lift::LiftedFunction<'_>) -> Result<R, DriverError>,
    ) -> Result<Vec<R>, DriverError> {
        let options = self.settings.lift_options()?;
        let context = Context::new();
        let span = tracing::info_span!("read").entered();
        let mut module = context.parse(self.input, self.name)?;
        module.verify()?;
        self.require_function(&module)?;
        let looping = match functions {
            Functions::All => {
                lift::canonicalise(&mut module)?;
                None
            }
            Functions::Looping => Some(lift::canonicalise_loops(&mut module)?),
        };
        drop(span);
        let mut results = Vec::new();
        for function in module.functions() {
            let name = function.name();
            let wanted = looping.as_ref().is_none_or(|names| names.contains(&name));
            if function.is_declaration() || !wanted || !self.settings.wants_function(&name) {
                continue;
            }
            let span = tracing::info_span!("lift").entered();
            let lifted = lift::lift_function_with(&module, function, &options);
            drop(span);
            results.push(f(&lifted)?);
        }
        Ok(results)
    }

    fn require_function(&self, module: &Module<'_>) -> Result<(), DriverError> {
        let Some(name) = &self.settings.function else { return Ok(()) };
        let defined: Vec<String> =
            module.functions().into_iter().filter(|f| !f.is_declaration()).map(|f| f.name()).collect();
        if defined.contains(name) {
            return Ok(());
        }
        let available = if defined.is_empty() { "none".to_string() } else { defined.join(", ") };
        Err(DriverError::NoFunction { name: name.clone(), module: self.name.to_string(), available })
    }

    /// The functions asked for with all their regions.
    pub fn kernels(&self) -> Result<Vec<LiftedKernels>, DriverError> {
        self.kernels_of(Functions::All)
    }

    fn kernels_of(&self, functions: Functions) -> Result<Vec<LiftedKernels>, DriverError> {
        self.lifted(functions, &mut |lifted| {
            Ok(LiftedKernels {
                name: lifted.name.clone(),
                vectors: lifted.regions.first().and_then(|r| code::vectors(r.function)),
                whole: lifted.kernel.clone(),
                regions: lifted
                    .regions
                    .iter()
                    .map(|r| LiftedKernel {
                        kernel: r.kernel.clone(),
                        location: r.location.clone(),
                        likely: likely_values(r),
                    })
                    .collect(),
                remarks: lifted.remarks.clone(),
            })
        })
    }

    /// Refuses a region, or parameters, that the settings name and the functions do not have.
    pub fn require_names(&self, functions: &[LiftedKernels]) -> Result<(), DriverError> {
        if let (Some(number), Some(name)) = (self.settings.region, &self.settings.function) {
            let count = functions.iter().map(|f| f.regions.len()).max().unwrap_or(0);
            if number >= count {
                return Err(DriverError::NoRegion { function: name.clone(), count, number });
            }
        }
        let regions = functions.iter().flat_map(|f| f.regions.iter().enumerate());
        let selected = regions.filter(|(number, _)| self.settings.region.is_none_or(|r| r == *number));
        Ok(self.settings.require_parameters(selected.map(|(_, r)| &*r.kernel))?)
    }

    /// Searches every region asked for.
    pub fn explore(&self) -> Result<Explored, DriverError> {
        let mut explored = Explored { regions: Vec::new(), skipped: Vec::new(), remarks: Vec::new() };
        let mut kernels = Vec::new();
        let functions = self.kernels_of(Functions::Looping)?;
        self.require_names(&functions)?;
        for function in functions {
            explored.remarks.extend(function.remarks.into_iter().map(|r| (function.name.clone(), r)));
            for (number, region) in function.regions.into_iter().enumerate() {
                if self.settings.region.is_none_or(|r| r == number) {
                    kernels.push((function.name.clone(), function.vectors, number, region));
                }
            }
        }
        // One set of models for each kind of vectors that functions have.
        let mut models: Vec<(Option<Vectors>, Models)> = Vec::new();
        let mut searches = Vec::new();
        for (function, vectors, number, region) in kernels {
            let at = match models.iter().position(|(of, _)| *of == vectors) {
                Some(at) => at,
                None => {
                    models.push((vectors, self.settings.models_for(vectors)?));
                    models.len() - 1
                }
            };
            let cycles = self.cycles_of_original(&models[at].1, &region);
            searches.push((function, vectors, number, region, at, cycles));
        }
        let longest = searches.iter().map(|(.., cycles)| *cycles).fold(0.0, f64::max);
        for (function, vectors, number, region, at, cycles) in searches {
            let LiftedKernel { kernel, location, likely } = region;
            let mut limits = self.settings.limits;
            if cycles < NEGLIGIBLE * longest {
                limits.variants = limits.variants.div_ceil(SMALLER_SEARCH);
            }
            match self.search(&models[at].1, limits, &label(&function, number), &kernel, &likely) {
                Ok((problem, exploration)) => explored.regions.push(ExploredRegion {
                    function,
                    vectors,
                    number,
                    location,
                    kernel,
                    params: problem.params,
                    dependences: problem.dependences,
                    exploration,
                }),
                Err(DriverError::Analysis { region, source }) => {
                    explored.skipped.push((region, source.to_string()));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(explored)
    }

    /// Searches one kernel; `likely` values of parameters count where none is given.
    pub fn explore_kernel(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Option<i64>],
    ) -> Result<(Problem, Exploration), DriverError> {
        self.search(&self.settings.models()?, self.settings.limits, label, kernel, likely)
    }

    /// What the original of a region is predicted to take.
    fn cycles_of_original(&self, models: &Models, region: &LiftedKernel) -> f64 {
        let settings = self.settings;
        let params =
            parameter_values(&region.kernel, &settings.params, &region.likely, settings.default_param);
        models.cost.prepare(&region.kernel, &params).cost_of_original().cycles
    }

    fn search(
        &self,
        models: &Models,
        limits: Limits,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Option<i64>],
    ) -> Result<(Problem, Exploration), DriverError> {
        let problem = self
            .settings
            .problem(kernel, models, likely)
            .map_err(|source| DriverError::Analysis { region: label.to_string(), source })?;
        let moves = RegistryMoves { registry: self.registry, options: self.settings.moves.clone() };
        let tell = |s: &Statistics| {
            if let Some(progress) = self.progress {
                progress(label, s);
            }
        };
        let explorer = Explorer {
            problem: problem.clone(),
            moves: &moves,
            sketches: &self.settings.sketches,
            cost: &*models.cost,
            target: &*models.target,
            limits,
            strategy: self.settings.strategy,
            progress: Some(&tell),
        };
        let span = tracing::info_span!("search").entered();
        let exploration = explorer.explore();
        drop(span);
        Ok((problem, exploration))
    }

    /// What a recipe makes of a kernel, and whether it may.
    pub fn apply(&self, label: &str, kernel: &Arc<Kernel>, recipe: &Recipe) -> Result<Chosen, DriverError> {
        let region = label.to_string();
        let root = loop_tree::canonical(kernel, &kernel.original);
        let root = recipe
            .replay(kernel, &root)
            .map_err(|source| DriverError::Replay { region: region.clone(), source })?;
        let models = self.settings.models()?;
        let problem = self
            .settings
            .problem(kernel, &models, &[])
            .map_err(|source| DriverError::Analysis { region: region.clone(), source })?;
        let oracle = Oracle::with_dependences(kernel.clone(), problem.dependences, self.patient())
            .map_err(|source| DriverError::Analysis { region: region.clone(), source })?;
        match oracle.judge(&root) {
            Verdict::Always => Ok(Chosen::new(root, Vec::new(), &oracle)),
            Verdict::Under(conditions) => Ok(Chosen::new(root, conditions, &oracle)),
            Verdict::Never(witness) => Err(DriverError::Illegal { region, witness: Box::new(witness) }),
        }
    }

    /// One tree that is asked for or chosen deserves more patience than one of a search.
    fn patient(&self) -> OracleOptions {
        let (asked, usual) = (self.settings.oracle, OracleOptions::default());
        OracleOptions { quota: asked.quota.max(usual.quota), work: asked.work.max(usual.work) }
    }

    /// Arguments with which the function of a region can be called so that its regions run at their parameters; the other
    /// regions of the function take the default values.
    pub fn argument_specs(
        &self,
        region: &ExploredRegion,
    ) -> Result<Result<Vec<ArgumentSpec>, NotCallable>, DriverError> {
        let options = self.settings.lift_options()?;
        let context = Context::new();
        let mut module = context.parse(self.input, self.name)?;
        lift::canonicalise(&mut module)?;
        let Some(function) = module.function(&region.function) else {
            return Err(DriverError::NoFunction {
                name: region.function.to_string(),
                module: self.name.to_string(),
                available: String::new(),
            });
        };
        let lifted = lift::lift_function_with(&module, function, &options);
        let values: Vec<Vec<i64>> = lifted
            .regions
            .iter()
            .map(|r| {
                let settings = self.settings;
                parameter_values(&r.kernel, &settings.params, &likely_values(r), settings.default_param)
            })
            .collect();
        let list: Vec<_> = lifted.regions.iter().zip(values.iter().map(|v| &v[..])).collect();
        Ok(argument_specs(&list))
    }

    /// The one region that is selected.
    ///
    /// # Errors
    /// Where none or several are.
    pub fn only_region(&self) -> Result<(Arc<str>, usize, Arc<Kernel>), DriverError> {
        let mut found = Vec::new();
        for function in self.kernels()? {
            for (number, region) in function.regions.into_iter().enumerate() {
                if self.settings.region.is_none_or(|r| r == number) {
                    found.push((function.name.clone(), number, region.kernel));
                }
            }
        }
        match <[_; 1]>::try_from(found) {
            Ok([only]) => Ok(only),
            Err(found) => Err(DriverError::NotOneRegion {
                regions: found.iter().map(|(f, n, _)| label(f, *n)).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// A chosen tree of a kernel that does not come from IR, as a module with one function.
    pub fn emit_kernel(&self, kernel: &Kernel, chosen: &Chosen) -> Result<String, DriverError> {
        let context = Context::new();
        let name = kernel.name.to_string();
        let module =
            emit_function(&context, &name, kernel, &chosen.root, &chosen.conditions, &chosen.parallel)
                .map_err(|source| DriverError::Emit { region: name.clone(), source })?;
        module.verify()?;
        Ok(module.to_string())
    }

    /// A variant of an explored region, with what emission has to know.
    pub fn choose(&self, region: &ExploredRegion, variant: &Variant) -> Result<Chosen, DriverError> {
        let oracle =
            Oracle::with_dependences(region.kernel.clone(), region.dependences.clone(), self.patient())
                .map_err(|source| DriverError::Analysis { region: region.label(), source })?;
        Ok(Chosen::new(variant.root.clone(), variant.conditions.clone(), &oracle))
    }

    /// The module with the chosen variants, by function and region number, in place, in the form that `write` gives it:
    /// `to_bitcode`, or `to_string`. All else stays as it is.
    pub fn emit<R>(
        &self,
        chosen: &BTreeMap<(Arc<str>, usize), Chosen>,
        write: impl FnOnce(&Module<'_>) -> R,
    ) -> Result<R, DriverError> {
        let _span = tracing::info_span!("emit").entered();
        let options = self.settings.lift_options()?;
        let context = Context::new();
        let mut module = context.parse(self.input, self.name)?;
        let mut functions: Vec<Arc<str>> = chosen.keys().map(|(f, _)| f.clone()).collect();
        functions.dedup();
        // Functions that do not change are not even canonicalised.
        for name in &functions {
            lift::canonicalise_function(&mut module, name)?;
        }
        for name in &functions {
            let Some(function) = module.function(name) else { continue };
            let lifted = lift::lift_function_with(&module, function, &options);
            for (number, region) in lifted.regions.iter().enumerate() {
                let Some(chosen) = chosen.get(&(name.clone(), number)) else { continue };
                emit_region(&module, region, &chosen.root, &chosen.conditions, &chosen.parallel)
                    .map_err(|source| DriverError::Emit { region: label(name, number), source })?;
            }
        }
        module.verify()?;
        Ok(write(&module))
    }
}

/// Which functions are lifted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Functions {
    /// All that are asked for.
    All,
    /// Of these, those with loops.
    Looping,
}

/// A function's kernels, without the IR.
#[derive(Clone, Debug)]
pub struct LiftedKernels {
    /// The function.
    pub name: Arc<str>,
    /// Vectors of its code, where its attributes say so.
    pub vectors: Option<Vectors>,
    /// The whole function.
    pub whole: Arc<Kernel>,
    /// Its regions.
    pub regions: Vec<LiftedKernel>,
    /// What was not understood.
    pub remarks: Vec<Remark>,
}

/// A region's kernel; plain data.
#[derive(Clone, Debug)]
pub struct LiftedKernel {
    /// What the region computes.
    pub kernel: Arc<Kernel>,
    /// Its place in the source.
    pub location: Option<SourceLocation>,
    /// Values that parameters are likely to have, by [`ParamId`](loop_tree::ParamId): constants passed by callers.
    pub likely: Vec<Option<i64>>,
}

fn likely_values(region: &lift::Region<'_>) -> Vec<Option<i64>> {
    region.params.iter().map(|p| lift::likely_value(p.value)).collect()
}
