//! Whole modules: lift, explore each region, emit what was chosen.
//!
//! [`Session::explore`] searches every region and keeps plain data; [`Session::emit`] makes the module in which each region
//! is replaced by a chosen variant. Functions in which nothing changes stay as they were in the input, byte for byte.

mod asked;
mod c;
mod clang;
mod code;
mod error;
mod llvm_target;
mod notes;
mod optimizer;
mod replace;
mod settings;

pub use asked::Asked;
pub use c::emit_c;
pub use clang::{compile_source, is_source};
pub use error::DriverError;
pub use llvm_target::{LlvmTarget, TargetError};
pub use notes::{Note, Piece, Subject, notes};
pub use optimizer::{Chosen, Optimizer, Progress};
pub use replace::{Choices, Rehearsed};
pub use settings::{ModelError, Models, Settings};

use crate::explore::{Exploration, Problem, WORTHWHILE};
use crate::measure::{ArgumentSpec, NotCallable, argument_specs};
use crate::names::{self, Unfound};
use analyses::DependenceSet;
use cost_model::targets::Vectors;
use emission::conditions::checked;
use emission::extent::limits;
use irgen::lift::{self, LiftOptions, OwnedGlobals, Remark};
use irgen::llvm::{Context, Function, Module};
use irgen::terms::{FunctionLoops, loops_of};
use loop_tree::{ArrayId, Kernel, ParamId, RuntimeCondition, SourceLocation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Predicted gain below which code is left alone, unless asked otherwise: predictions are not exact, and code that is not
/// improved must not be worsened.
pub const MIN_GAIN: f64 = 1.35;

/// Of the time of the region that takes longest, what a region takes that is searched less thoroughly: mostly code that
/// runs once, such as initialisation.
const NEGLIGIBLE: f64 = 0.01;
/// By how much fewer variants are tried there.
const SMALLER_SEARCH: usize = 8;
/// What sizes may be that are only guessed.
const SHORT: i64 = 32;
/// Cycles of a check, but for the pairs of arrays that it compares, and of each of these: on Zen 4, 22 pairs took 110 and 70 pairs 350.
const CHECK: f64 = 50.0;
const COMPARED: f64 = 5.0;
/// Why a region is left alone of whose function that is plain before lifting.
const ONE_ORDER: &str = "no other order improves the loops of its function: straight ones by themselves, or such around which nothing is read or written";
/// Accesses of a kernel from which on fewer variants are tried, as each takes longer to judge; and how many are tried in any case.
const ACCESSES: usize = 48;
const FEWEST: usize = 48;

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
    /// What the best variant gains where sizes that are only guessed are small; below 1 it is not done. `None`: no size is a guess, or
    /// nothing is worthwhile.
    pub if_short: Option<f64>,
}

impl ExploredRegion {
    /// `function#number`, for people.
    pub fn label(&self) -> String {
        names::label(&self.function, self.number)
    }
}

/// One module, and what works on its kernels.
pub struct Session<'a> {
    /// What is explored.
    pub input: Input<'a>,
    /// Name for messages.
    pub name: &'a str,
    /// What searches and judges.
    pub optimizer: &'a Optimizer,
    /// How far a compiler has come with it.
    pub stage: Stage,
    /// What the session is for.
    pub purpose: Purpose,
    /// Predicted gain that is worth a change: where less is possible at most, nothing is searched, but to tell all that can be done.
    pub min_gain: f64,
    /// Told what is going on.
    pub progress: Option<Progress<'a>>,
}

/// A module, of which sessions make copies to work in.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// IR or bitcode, read into a context of its own.
    Text(&'a [u8]),
    /// A module, copied in its context. That is quicker, and passes may do something else to the copy than to the module, since
    /// uses come in another order.
    Module(&'a Module<'a>),
}

impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(text: &'a [u8]) -> Input<'a> {
        Input::Text(text)
    }
}

impl<'a> From<&'a Vec<u8>> for Input<'a> {
    fn from(text: &'a Vec<u8>) -> Input<'a> {
        Input::Text(text)
    }
}

impl<'a> From<&'a Module<'a>> for Input<'a> {
    fn from(module: &'a Module<'a>) -> Input<'a> {
        Input::Module(module)
    }
}

/// How far a compiler has come with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A front end, or somebody, has written it: it is verified, and callers are brought into the form in which it shows what
    /// they pass.
    Written,
    /// A pipeline hands it over: it is valid, and early passes have been over it.
    InPipeline,
}

/// What regions are explored for. What is replaced is the same for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To tell all that can be done.
    Explore,
    /// To replace them, and to tell why others are not: what takes next to no time is not searched.
    Explain,
    /// To replace them: functions of which it is plain that nothing is described are not looked at either.
    Replace,
}

/// Regions with what the search found; plain data.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// The regions of all functions asked for, in the order of the module.
    pub regions: Vec<ExploredRegion>,
    /// Regions that could not be analysed.
    pub skipped: Vec<SkippedRegion>,
    /// What could not be lifted, by function.
    pub remarks: Vec<(Arc<str>, Remark)>,
}

/// A region that could not be analysed, or of which there is no code.
#[derive(Clone, Debug)]
pub struct SkippedRegion {
    /// The function.
    pub function: Arc<str>,
    /// Number in the function, in textual order.
    pub number: usize,
    /// Where it begins.
    pub location: Option<SourceLocation>,
    /// Why.
    pub why: String,
    /// Whether the source asks for a recipe here, which it does not get.
    pub asked: bool,
}

impl SkippedRegion {
    /// A region that nobody asks anything of.
    fn left_alone(
        function: Arc<str>,
        number: usize,
        location: Option<SourceLocation>,
        why: String,
    ) -> SkippedRegion {
        SkippedRegion { function, number, location, why, asked: false }
    }

    /// `function#number`, for people.
    pub fn label(&self) -> String {
        names::label(&self.function, self.number)
    }
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
    pub fn new(input: impl Into<Input<'a>>, name: &'a str, optimizer: &'a Optimizer) -> Session<'a> {
        let input = input.into();
        let (stage, purpose) = (Stage::Written, Purpose::Explore);
        Session { input, name, optimizer, stage, purpose, min_gain: MIN_GAIN, progress: None }
    }
}

impl Session<'_> {
    /// What lifting a module asks and knows; before any of its functions changes.
    fn lifting(&self, module: &Module<'_>) -> LiftOptions {
        LiftOptions { owned: Arc::new(OwnedGlobals::of(module)), ..self.optimizer.lifting.clone() }
    }

    /// Does something with a copy of the input.
    fn in_copy<R>(
        &self,
        work: impl FnOnce(&mut Module<'_>) -> Result<R, DriverError>,
    ) -> Result<R, DriverError> {
        let context = Context::new();
        let mut module = match self.input {
            Input::Text(text) => context.parse(text, self.name)?,
            Input::Module(original) => original.duplicate(),
        };
        if self.stage == Stage::Written {
            module.verify()?;
        }
        work(&mut module)
    }

    /// What a search needs to know of functions.
    fn kernels_of(&self, functions: Functions) -> Result<Vec<LiftedKernels>, DriverError> {
        self.in_copy(|module| {
            let span = tracing::info_span!("read").entered();
            let options = self.lifting(module);
            require_target(module)?;
            let only = self.function_asked(module)?;
            let asked = asked::asked(module);
            let alone = self.optimizer.gains_without_order();
            let mut hopeless = BTreeSet::new();
            let wanted = |function: Function<'_>| {
                if only.as_ref().is_some_and(|f| *f != function.name()) {
                    return false;
                }
                if functions == Functions::All || asked.contains_key(&function.name()) {
                    return true;
                }
                let may_gain = self.purpose == Purpose::Explore || function.may_gain(alone);
                if !may_gain && self.purpose == Purpose::Explain {
                    hopeless.insert(function.name());
                }
                may_gain || (self.purpose == Purpose::Explain && lift::has_cycle(function))
            };
            let (wanted, callers) = lift::with_callers(module, wanted);
            let mut changed: Vec<String> = wanted.iter().cloned().collect();
            if self.stage == Stage::Written {
                changed.extend(callers);
            }
            lift::canonicalise_functions(module, &changed, self.stage == Stage::InPipeline)?;
            drop(span);
            let wanted = module.functions().into_iter().filter(|f| wanted.contains(&f.name()));
            let lift = |function| {
                let _span = tracing::info_span!("lift").entered();
                let lifted = lift::lift_function_with(module, function, &options);
                let asked = asked.get(&*lifted.name).cloned().unwrap_or_default();
                let may_gain = !hopeless.contains(&*lifted.name);
                LiftedKernels::new(module, &lifted, asked, may_gain, &self.optimizer.settings)
            };
            Ok(wanted.map(lift).collect())
        })
    }

    /// The function that the settings name, by its symbol.
    fn function_asked(&self, module: &Module<'_>) -> Result<Option<String>, DriverError> {
        let Some(name) = &self.optimizer.settings.function else { return Ok(None) };
        let defined: Vec<String> =
            module.functions().into_iter().filter(|f| !f.is_declaration()).map(|f| f.name()).collect();
        let name = name.clone();
        match names::find(&name, defined.iter().map(|f| &f[..])) {
            Ok(symbol) => Ok(Some(symbol.to_string())),
            Err(Unfound::None) => {
                let all: Vec<_> = defined.iter().map(|f| names::readable(f)).collect();
                let available = if all.is_empty() { "none".to_string() } else { all.join(", ") };
                Err(DriverError::NoFunction { name, module: self.name.to_string(), available })
            }
            Err(Unfound::Several(candidates)) => {
                Err(DriverError::SeveralFunctions { name, candidates: candidates.join("`, `") })
            }
        }
    }

    /// The functions asked for with all their regions.
    pub fn kernels(&self) -> Result<Vec<LiftedKernels>, DriverError> {
        self.kernels_of(Functions::All)
    }

    /// The loops of the functions asked for, in LLVM's terms: of IR as it stands, of what a front end has written (`early`) after
    /// the passes that lifting begins with, since before them nothing is in registers.
    pub fn loop_terms(&self, early: bool) -> Result<Vec<FunctionLoops>, DriverError> {
        self.in_copy(|module| {
            let only = self.function_asked(module)?;
            if early {
                lift::canonicalise(module)?;
            }
            let is_wanted =
                |f: &Function<'_>| !f.is_declaration() && only.as_ref().is_none_or(|o| *o == f.name());
            let wanted = module.functions().into_iter().filter(is_wanted);
            Ok(wanted.map(loops_of).collect::<Result<_, _>>()?)
        })
    }

    /// Refuses a region, or parameters, that the settings name and the functions do not have.
    pub fn require_names(&self, functions: &[LiftedKernels]) -> Result<(), DriverError> {
        if let (Some(number), Some(name)) =
            (self.optimizer.settings.region, &self.optimizer.settings.function)
        {
            let count = functions.iter().map(|f| f.regions.len()).max().unwrap_or(0);
            if number >= count {
                return Err(DriverError::NoRegion {
                    function: names::readable(name).into_owned(),
                    count,
                    number,
                });
            }
        }
        let regions = functions.iter().flat_map(|f| f.regions.iter().enumerate());
        let selected =
            regions.filter(|(number, _)| self.optimizer.settings.region.is_none_or(|r| r == *number));
        Ok(self.optimizer.settings.require_parameters(selected.map(|(_, r)| &*r.kernel))?)
    }

    /// Searches every region asked for.
    pub fn explore(&self) -> Result<Explored, DriverError> {
        self.search(self.kernels_of(Functions::Looping)?)
    }

    fn search(&self, functions: Vec<LiftedKernels>) -> Result<Explored, DriverError> {
        let mut explored = Explored { regions: Vec::new(), skipped: Vec::new(), remarks: Vec::new() };
        let mut kernels = Vec::new();
        self.require_names(&functions)?;
        for function in functions {
            explored.remarks.extend(function.remarks.into_iter().map(|r| (function.name.clone(), r)));
            let count = function.regions.len();
            for (asked, why) in function.asked.iter().filter_map(|a| Some((a, a.for_none(count)?))) {
                let (function, number) = (function.name.clone(), asked.region.unwrap_or(0));
                explored.skipped.push(SkippedRegion { function, number, location: None, why, asked: true });
            }
            for (number, region) in function.regions.into_iter().enumerate() {
                if self.optimizer.settings.region.is_some_and(|r| r != number) {
                    continue;
                }
                match function.asked.iter().find(|a| a.is_for(number, count)) {
                    Some(asked) if self.purpose != Purpose::Explore => {
                        self.as_asked(&mut explored, &function.name, function.vectors, number, region, asked);
                    }
                    _ if !function.may_gain => {
                        let skipped = SkippedRegion::left_alone(
                            function.name.clone(),
                            number,
                            region.location,
                            ONE_ORDER.to_string(),
                        );
                        explored.skipped.push(skipped);
                    }
                    _ => kernels.push((function.name.clone(), function.vectors, number, region)),
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
                    models.push((vectors, self.optimizer.models.for_code(vectors)));
                    models.len() - 1
                }
            };
            let params = self.optimizer.settings.parameter_values(&region.kernel, &region.likely);
            let prepared = models[at].1.cost.prepare(&region.kernel, &params);
            let cycles = prepared.cost_of_original().cycles;
            let possible = cycles.max(1.0) / prepared.least().max(1.0);
            drop(prepared);
            searches.push((function, vectors, number, region, at, (cycles, possible)));
        }
        let longest = searches.iter().map(|(.., (cycles, _))| *cycles).fold(0.0, f64::max);
        for (function, vectors, number, region, at, (cycles, possible)) in searches {
            let LiftedKernel { kernel, location, likely } = region;
            let too_little = match self.purpose {
                Purpose::Explore => None,
                _ if cycles < WORTHWHILE => {
                    Some(format!("it is predicted to take {cycles:.0} cycles, too few for a change to pay"))
                }
                _ if possible < self.min_gain => Some(format!(
                    "no order of it is predicted to gain more than {possible:.2}x, and {}x is wanted (min-gain)",
                    self.min_gain
                )),
                _ => None,
            };
            if let Some(why) = too_little {
                explored.skipped.push(SkippedRegion::left_alone(function, number, location, why));
                continue;
            }
            let mut limits = self.optimizer.settings.limits;
            if cycles < NEGLIGIBLE * longest {
                limits.variants = limits.variants.div_ceil(SMALLER_SEARCH);
            }
            let accesses: usize = kernel.statements.iter().map(|s| s.accesses.len()).sum();
            let afford = (limits.variants * ACCESSES).div_ceil(accesses.max(1)).max(FEWEST);
            limits.variants = limits.variants.min(afford);
            match self.optimizer.search(
                &models[at].1,
                limits,
                &names::label(&function, number),
                &kernel,
                &likely,
                self.progress,
            ) {
                Ok((problem, exploration)) => {
                    let if_short =
                        self.gain_if_short(&models[at].1, &kernel, &likely, &problem, &exploration);
                    if let Some(gain) = if_short.filter(|g| *g < 1.0 && self.purpose != Purpose::Explore) {
                        let why = format!(
                            "sizes that nobody states are a guess, and at {SHORT} the best variant is predicted to be {gain:.2}x"
                        );
                        explored.skipped.push(SkippedRegion::left_alone(function, number, location, why));
                        continue;
                    }
                    let gain = exploration.worthwhile(self.min_gain).map(|best| {
                        exploration.original.cycles / (best.cost.cycles + check(&kernel, &best.conditions))
                    });
                    if let Some(gain) = gain.filter(|g| *g < 1.0 && self.purpose != Purpose::Explore) {
                        let why = format!(
                            "with the time that its run-time check takes, the best variant is predicted to be {gain:.2}x"
                        );
                        let asked = false;
                        explored.skipped.push(SkippedRegion { function, number, location, why, asked });
                        continue;
                    }
                    explored.regions.push(ExploredRegion {
                        function,
                        vectors,
                        number,
                        location,
                        kernel,
                        params: problem.params,
                        dependences: problem.dependences,
                        exploration,
                        if_short,
                    });
                }
                Err(DriverError::Analysis { source, .. }) => {
                    let why = source.to_string();
                    explored.skipped.push(SkippedRegion::left_alone(function, number, location, why));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(explored)
    }

    /// The gain of the best variant where sizes that are guessed are small; `None`: none is guessed, or nothing is better.
    fn gain_if_short(
        &self,
        models: &Models,
        kernel: &Kernel,
        likely: &[Likely],
        problem: &Problem,
        exploration: &Exploration,
    ) -> Option<f64> {
        let best = exploration.worthwhile(self.min_gain)?;
        let settings = &self.optimizer.settings;
        let short = Settings {
            default_param: SHORT.min(settings.default_param),
            params: settings.params.clone(),
            ..Settings::default()
        };
        let params = short.parameter_values(kernel, likely);
        if params == problem.params {
            return None;
        }
        let prepared = models.cost.prepare(kernel, &params);
        let check = check(kernel, &best.conditions);
        Some(prepared.cost_of_original().cycles / (prepared.cost(&best.root).cycles + check))
    }

    /// Adds what the source asks for, or why it cannot be had.
    fn as_asked(
        &self,
        explored: &mut Explored,
        function: &Arc<str>,
        vectors: Option<Vectors>,
        number: usize,
        region: LiftedKernel,
        asked: &Asked,
    ) {
        let (label, function) = (names::label(function, number), function.clone());
        let LiftedKernel { kernel, location, likely } = region;
        let models = self.optimizer.models.for_code(vectors);
        let done = self.optimizer.problem(&label, &kernel, &likely).and_then(|problem| {
            let (params, dependences) = (problem.params.clone(), problem.dependences.clone());
            let exploration = self.optimizer.as_asked(&label, &kernel, asked, problem, &*models.cost)?;
            Ok((params, dependences, exploration))
        });
        match done {
            Ok((params, dependences, exploration)) => explored.regions.push(ExploredRegion {
                function,
                vectors,
                number,
                location,
                kernel,
                params,
                dependences,
                exploration,
                if_short: None,
            }),
            Err(error) => {
                let reason = match &error {
                    DriverError::Replay { source, .. } => format!("{source}; {}", loops(&kernel)),
                    DriverError::Illegal { witness, .. } => witness.to_string(),
                    other => other.to_string(),
                };
                let why = format!("the source asks for `{}`, but: {reason}", asked.recipe);
                explored.skipped.push(SkippedRegion { function, number, location, why, asked: true });
            }
        }
    }

    /// Arguments with which a function can be called so that its regions run at the values of their parameters.
    pub fn argument_specs(
        &self,
        function: &str,
    ) -> Result<Result<Vec<ArgumentSpec>, NotCallable>, DriverError> {
        self.in_copy(|module| {
            let options = &self.lifting(module);
            lift::canonicalise(module)?;
            let Some(function) = module.function(function) else {
                return Err(DriverError::NoFunction {
                    name: function.to_string(),
                    module: self.name.to_string(),
                    available: String::new(),
                });
            };
            let lifted = lift::lift_function_with(module, function, options);
            let settings = &self.optimizer.settings;
            let values = |r: &lift::Region<'_>| {
                settings.parameter_values(&r.kernel, &likely_values(module, r, settings.default_param))
            };
            let values: Vec<Vec<i64>> = lifted.regions.iter().map(values).collect();
            let list: Vec<_> = lifted.regions.iter().zip(values.iter().map(|v| &v[..])).collect();
            Ok(argument_specs(&list))
        })
    }

    /// The one region that is selected.
    ///
    /// # Errors
    /// Where none or several are.
    pub fn only_region(&self) -> Result<(Arc<str>, usize, LiftedKernel), DriverError> {
        let mut found = Vec::new();
        for function in self.kernels()? {
            for (number, region) in function.regions.into_iter().enumerate() {
                if self.optimizer.settings.region.is_none_or(|r| r == number) {
                    found.push((function.name.clone(), number, region));
                }
            }
        }
        match <[_; 1]>::try_from(found) {
            Ok([only]) => Ok(only),
            Err(found) => Err(DriverError::NotOneRegion {
                regions: found.iter().map(|(f, n, _)| names::label(f, *n)).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

/// Cycles of the run-time check in front of a variant, which is executed however short the loops are.
pub fn check(kernel: &Kernel, conditions: &[RuntimeCondition]) -> f64 {
    let tested = checked(kernel, conditions);
    let pairs = tested.iter().filter(|c| matches!(c, RuntimeCondition::NoOverlap(..))).count();
    CHECK + COMPARED * pairs as f64
}

/// What the loops of a nest are called, which without debug information is not as in the source.
fn loops(kernel: &Kernel) -> String {
    let names: Vec<&str> = kernel.variables.iter().map(|v| &*v.name).collect();
    format!(
        "its loops are called {}, from outside to inside: as in the source with -g only",
        names.join(", ")
    )
}

/// Code of other machines computes with other types and costs: it is refused. Where nothing is said, it is ours.
fn require_target(module: &Module<'_>) -> Result<(), DriverError> {
    let triple = module.triple();
    let ours =
        triple.starts_with("x86_64") && module.data_layout().pointer_size() == 8 && !triple.ends_with("x32");
    if triple.is_empty() || ours { Ok(()) } else { Err(DriverError::Target { triple }) }
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
    /// Recipes that the source asks for.
    pub asked: Vec<Asked>,
    /// Whether it is not plain before lifting that nothing gains.
    pub may_gain: bool,
    /// Its loops.
    pub loops: usize,
}

impl LiftedKernels {
    fn new(
        module: &Module<'_>,
        lifted: &lift::LiftedFunction<'_>,
        mut asked: Vec<Asked>,
        may_gain: bool,
        settings: &Settings,
    ) -> LiftedKernels {
        let region = |r: &lift::Region<'_>| LiftedKernel {
            kernel: r.kernel.clone(),
            location: r.location.clone(),
            likely: likely_values(module, r, settings.default_param),
        };
        for (number, r) in lifted.regions.iter().enumerate() {
            if !asked.iter().any(|a| a.is_for(number, lifted.regions.len()))
                && let Some(recipe) = asked::by_pragmas(r)
            {
                asked.push(Asked { region: Some(number), recipe });
            }
        }
        LiftedKernels {
            name: lifted.name.clone(),
            vectors: lifted.regions.first().and_then(|r| code::vectors(r.function)),
            whole: lifted.kernel.clone(),
            regions: lifted.regions.iter().map(region).collect(),
            remarks: lifted.remarks.clone(),
            asked,
            may_gain,
            loops: lifted.loops,
        }
    }
}

/// A region's kernel; plain data.
#[derive(Clone, Debug)]
pub struct LiftedKernel {
    /// What the region computes.
    pub kernel: Arc<Kernel>,
    /// Its place in the source.
    pub location: Option<SourceLocation>,
    /// Values that parameters are likely to have, by [`ParamId`]: constants passed by callers, or what arrays
    /// have room for.
    pub likely: Vec<Likely>,
}

/// What is known of the value that a parameter will have. Nothing is proved from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Likely {
    /// Nothing.
    Unknown,
    /// A constant that reaches it, or that it cannot exceed.
    Value(i64),
    /// The product of other parameters, for certain.
    Product(Vec<ParamId>),
}

/// What callers pass; else, where arrays have no room for the default, what they have room for.
fn likely_values(module: &Module<'_>, region: &lift::Region<'_>, default: i64) -> Vec<Likely> {
    let value = |p: &lift::ParamBinding<'_>| match &p.factors[..] {
        [single] => lift::likely_value(*single).map_or(Likely::Unknown, Likely::Value),
        factors => {
            let own = |v| region.params.iter().position(|p| p.factors == [v]).map(ParamId::new);
            let all: Option<Vec<ParamId>> = factors.iter().map(|v| own(*v)).collect();
            all.map_or(Likely::Unknown, Likely::Product)
        }
    };
    let mut likely: Vec<Likely> = region.params.iter().map(value).collect();
    let passed: Vec<bool> = likely.iter().map(|l| *l != Likely::Unknown).collect();
    for (number, binding) in region.arrays.iter().enumerate() {
        let lift::ArrayBinding::Memory { base, offset: 0, .. } = binding else { continue };
        let Some(bytes) = module.data_layout().object_size(*base) else { continue };
        let array = ArrayId::new(number);
        let elements = bytes / u64::from(region.kernel.array(array).element.size());
        for (param, limit) in limits(&region.kernel, array, i64::try_from(elements).unwrap_or(i64::MAX)) {
            let value = &mut likely[param.index()];
            let least = if let Likely::Value(value) = value { *value } else { default };
            if !passed[param.index()] && limit > 0 && limit < least {
                *value = Likely::Value(limit);
            }
        }
    }
    likely
}
