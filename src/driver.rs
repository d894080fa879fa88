//! Whole modules: lift, explore each region, emit what was chosen.
//!
//! [`Session::explore`] searches every region and keeps plain data; [`Session::emit`] makes the module in which each region
//! is replaced by a chosen variant. Functions in which nothing changes stay as they were in the input, byte for byte.

mod agreed;
mod asked;
mod c;
mod clang;
mod code;
mod error;
mod lifted;
mod llvm_target;
mod notes;
mod optimizer;
mod replace;
mod search;
mod settings;
mod suppose;
mod warnings;

pub use asked::{Asked, says_something};
pub use c::emit_c;
pub use clang::{compile_source, is_source, unrolls};
pub use error::{DriverError, require_ir};
pub use lifted::{LiftedKernel, LiftedKernels, Likely};
pub use llvm_target::{LlvmTarget, TargetError};
pub use notes::{Note, Piece, Subject, notes};
pub use optimizer::{Chosen, Optimizer, Progress};
pub use replace::{Choices, Rehearsed};
pub use search::check;
pub use settings::{ModelError, Models, Settings};
pub use suppose::Sizes;
pub use warnings::{Doubt, NO_THREADS, Warning};

use crate::explore::Exploration;
use crate::measure::{ArgumentSpec, NotCallable, argument_specs};
use crate::names::{self, Unfound};
use analyses::DependenceSet;
use cost_model::targets::Vectors;
use irgen::lift::{self, LiftOptions, Remark};
use irgen::llvm::{Context, Function, Module};
use irgen::terms::{FunctionLoops, loops_of};
use lifted::likely_values;
use loop_tree::{Kernel, SourceLocation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Predicted gain below which code is left alone, unless asked otherwise: predictions are not exact, and code that is not
/// improved must not be worsened.
pub const MIN_GAIN: f64 = 1.35;

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
    /// The variant that is done in its place then, by number: the best of those that do not lose there.
    pub instead: Option<usize>,
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
    /// What the source asks for, and perhaps does not mean.
    pub warnings: Vec<Warning>,
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
    /// `function#number`, for people.
    pub fn label(&self) -> String {
        names::label(&self.function, self.number)
    }
}

impl Explored {
    fn add(&mut self, outcome: Result<ExploredRegion, SkippedRegion>) {
        match outcome {
            Ok(region) => self.regions.push(region),
            Err(skipped) => self.skipped.push(skipped),
        }
    }

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
        self.optimizer.lifting.clone().knowing(module)
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
            let said = asked::said(module);
            let alone = self.optimizer.gains_without_order();
            let mut hopeless = BTreeSet::new();
            let wanted = |function: Function<'_>| {
                if only.as_ref().is_some_and(|f| *f != function.name()) {
                    return false;
                }
                if functions == Functions::All || said.contains_key(&function.name()) {
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
                let said = said.get(&*lifted.name).cloned().unwrap_or_default();
                let may_gain = !hopeless.contains(&*lifted.name);
                LiftedKernels::new(module, &lifted, said, may_gain, &self.optimizer.settings)
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

    /// Arguments with which a function can be called so that its regions run at the values of their parameters.
    pub fn argument_specs(
        &self,
        function: &str,
    ) -> Result<Result<Vec<ArgumentSpec>, NotCallable>, DriverError> {
        self.in_copy(|module| {
            let options = &self.lifting(module);
            let passed = module.function(function).map(lift::passed_constants).unwrap_or_default();
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
            let mut specs = argument_specs(&list);
            if let Ok(specs) = &mut specs {
                for (spec, constant) in specs.iter_mut().zip(passed) {
                    constant.into_iter().for_each(|value| *spec = ArgumentSpec::Int(value));
                }
            }
            Ok(specs)
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
