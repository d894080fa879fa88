//! Which analyses, which model, which bounds; by name where a user chooses.

use super::Likely;
use super::agreed::agreed;
use super::llvm_target::{LlvmTarget, TargetError};
use crate::explore::{Limits, Sketches, Strategy};
use crate::names;
use analyses::OracleOptions;
use analyses::accesses::{ACCESSES, accesses_by_name};
use analyses::control_flow::{CONTROL_FLOW, control_flow_by_name};
use analyses::dependences::{DEPENDENCES, dependences_by_name};
use cost_model::targets::Vectors;
use cost_model::{CostModel, Target, TargetFileError, targets};
use irgen::lift::{CLOSED_FORMS, LiftOptions, closed_forms_by_name};
use loop_tree::{Affine, Kernel, LoopHeader, Param, ParamId, ScalarType};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use transforms::MoveOptions;

/// Sizes below are those of vectors and matrices within an element, and say nothing of others.
const SMALL: i64 = 10;
/// How far the neighbours are that a filter of unknown size reads.
const RADIUS: i64 = 4;
/// A tile of a size that nobody tells: two of doubles fit into any first level.
const TILE: i64 = 32;

/// How a session works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Values of parameters by name, for ranking.
    pub params: BTreeMap<String, i64>,
    /// Value of the other parameters, where the kernel's conditions allow it.
    pub default_param: i64,
    /// Target by name; `native` is this machine, calibrated where it was; `llvm` this machine as LLVM sees it, `llvm:znver4` a
    /// processor; what ends in `.json` is the file of a calibration.
    pub target: String,
    /// Cost model by name: `analytic` or `instructions`.
    pub cost_model: String,
    /// Dependence analysis by name.
    pub dependences: String,
    /// Closed forms by name.
    pub closed_forms: String,
    /// Analysis of accesses by name.
    pub accesses: String,
    /// Analysis of control flow by name.
    pub control_flow: String,
    /// How the oracle works.
    pub oracle: OracleOptions,
    /// Bounds of the search.
    pub limits: Limits,
    /// Order of the search.
    pub strategy: Strategy,
    /// Which moves are tried.
    pub moves: MoveOptions,
    /// Which sketches are drawn.
    pub sketches: Sketches,
    /// Threads that may share the iterations of a loop in the code that is made, which then needs an OpenMP runtime; 1: none do.
    pub threads: u32,
    /// Libraries whose functions may be called in the place of nests, beside the C library: `cblas`.
    pub libraries: Vec<String>,
    /// Whether libraries may round in another order also where the flags of operations do not allow it.
    pub reorders: bool,
    /// Whether the compiler unrolls loops where no pragma forbids it; what is not known is told from the module.
    pub unrolls: Option<bool>,
    /// Only this function: by any of its names ([`names::find`]).
    pub function: Option<String>,
    /// Only this region of the function.
    pub region: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            params: BTreeMap::new(),
            default_param: 1000,
            target: "native".to_string(),
            cost_model: "analytic".to_string(),
            dependences: "polyhedral".to_string(),
            closed_forms: "recurrences".to_string(),
            accesses: "delinearised".to_string(),
            control_flow: "cfg".to_string(),
            // A search asks thousands of questions; one that is harder than this is not worth its answer.
            oracle: OracleOptions { quota: 4000, work: 300_000 },
            limits: Limits::default(),
            strategy: Strategy::default(),
            moves: MoveOptions { tile_sizes: vec![32, 64, 128], ..MoveOptions::default() },
            sketches: Sketches::standard(),
            threads: 1,
            libraries: Vec::new(),
            reorders: false,
            unrolls: None,
            function: None,
            region: None,
        }
    }
}

/// A name that nothing has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model has this name.
    #[error("there is no {kind} called `{name}`; there are: {available}")]
    Unknown {
        /// What was looked for.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names that exist.
        available: String,
    },
    /// LLVM does not know the machine.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A target's file cannot be used.
    #[error(transparent)]
    File(#[from] TargetFileError),
    /// No kernel has this parameter.
    #[error("no region has a parameter `{name}`; there are: {available}")]
    Parameter {
        /// The name.
        name: String,
        /// The parameters that exist.
        available: String,
    },
}

/// What ranks, for which machine, and what finds dependences.
#[derive(Clone)]
pub struct Models {
    /// What ranks.
    pub cost: Arc<dyn CostModel>,
    /// The machine that costs are predicted for.
    pub target: Arc<dyn Target>,
    /// What finds dependences.
    pub dependences: Arc<dyn analyses::Dependences>,
}

impl Models {
    /// The same for code that has such vectors; where that is not known, it asks for no wider ones than the compiler takes by itself.
    pub fn for_code(&self, code: Option<Vectors>) -> Models {
        let bits = self.target.vector_bits();
        let own = || Vectors {
            bits,
            widest: bits,
            registers: self.target.vector_registers(),
            masked: self.target.masked_memory(),
        };
        let Some(target) = self.target.for_code(code.unwrap_or_else(own)) else { return self.clone() };
        let cost = self.cost.on(&target).unwrap_or_else(|| self.cost.clone());
        Models { cost, target, dependences: self.dependences.clone() }
    }
}

fn unknown(kind: &'static str, name: &str, available: &[&str]) -> ModelError {
    ModelError::Unknown { kind, name: name.to_string(), available: available.join(", ") }
}

impl Settings {
    /// The models by their names.
    pub(super) fn models(&self) -> Result<Models, ModelError> {
        let target = self.machine()?;
        let cost: Arc<dyn CostModel> = match self.cost_model.as_str() {
            "analytic" => {
                Arc::new(cost_model::AnalyticModel::shared(target.clone()).with_threads(self.threads))
            }
            "instructions" => Arc::new(cost_model::InstructionCount),
            name => {
                return Err(unknown("cost model", name, &["analytic", "instructions"]));
            }
        };
        let dependences = dependences_by_name(&self.dependences)
            .ok_or_else(|| unknown("dependence analysis", &self.dependences, &DEPENDENCES))?;
        let models = Models { cost, target, dependences: dependences.into() };
        Ok(Models { cost: models.for_code(None).cost, ..models })
    }

    /// The target by its name.
    fn machine(&self) -> Result<Arc<dyn Target>, ModelError> {
        match self.target.as_str() {
            "native" => Ok(Arc::new(targets::native()?)),
            "llvm" => Ok(Arc::new(LlvmTarget::new(None)?)),
            file if file.ends_with(".json") => Ok(Arc::new(targets::read_target(Path::new(file))?)),
            name => match (name.strip_prefix("llvm:"), targets::by_name(name)) {
                (Some(processor), _) => Ok(Arc::new(LlvmTarget::new(Some(processor))?)),
                (None, Some(table)) => Ok(Arc::new(table)),
                (None, None) => Err(ModelError::Unknown {
                    kind: "target",
                    name: name.to_string(),
                    available: format!(
                        "native, {}, llvm, llvm: with a processor, as llvm:znver4, and files of `looptree calibrate` (.json)",
                        targets::NAMES.join(", ")
                    ),
                }),
            },
        }
    }

    /// What lifting asks, by the names.
    pub(super) fn lift_options(&self) -> Result<LiftOptions, ModelError> {
        let closed_forms = closed_forms_by_name(&self.closed_forms)
            .ok_or_else(|| unknown("source of closed forms", &self.closed_forms, &CLOSED_FORMS))?;
        let accesses = accesses_by_name(&self.accesses)
            .ok_or_else(|| unknown("analysis of accesses", &self.accesses, &ACCESSES))?;
        let control_flow = control_flow_by_name(&self.control_flow)
            .ok_or_else(|| unknown("analysis of control flow", &self.control_flow, &CONTROL_FLOW))?;
        Ok(LiftOptions {
            closed_forms: closed_forms.into(),
            accesses: accesses.into(),
            control_flow: control_flow.into(),
            unrolls: self.unrolls,
            ..LiftOptions::default()
        })
    }

    /// Whether the function may be the one that is asked for; which is meant is known from all of a module.
    pub fn may_want(&self, symbol: &str) -> bool {
        self.function.as_ref().is_none_or(|f| names::may_mean(f, symbol))
    }

    /// Whether loops may gain that have but one order.
    pub fn gains_without_order(&self) -> bool {
        self.threads > 1 || !self.libraries.is_empty() || self.reorders
    }

    /// Every parameter given must be known somewhere.
    pub fn require_parameters<'k>(
        &self,
        kernels: impl Iterator<Item = &'k Kernel>,
    ) -> Result<(), ModelError> {
        let mut available: Vec<String> =
            kernels.flat_map(|k| k.params.iter().map(|p| p.name.to_string())).collect();
        available.sort();
        available.dedup();
        match self.params.keys().find(|name| !available.contains(name)) {
            None => Ok(()),
            Some(name) => Err(ModelError::Parameter {
                name: name.clone(),
                available: if available.is_empty() { "none".to_string() } else { available.join(", ") },
            }),
        }
    }

    /// A value for each parameter: the given one, else the likely one, else the default, or zero where loops only begin there, or less
    /// where some loops are the shorter for it and others the longer, as for the radius of a filter; all but the given one brought into
    /// the range that single-parameter constraints of the kernel and the width of its type allow, then to what conditions of several allow where that is
    /// found. Products are those of their factors, and ratios those of their strides.
    pub fn parameter_values(&self, kernel: &Kernel, likely: &[Likely]) -> Vec<i64> {
        let constraints: Vec<_> = kernel.constraints().collect();
        let range = |id: ParamId, ty: ScalarType| {
            let (mut least, mut greatest) = match ty {
                ScalarType::I1 => (0, 1),
                ScalarType::I8 => (i8::MIN.into(), i8::MAX.into()),
                ScalarType::I16 => (i16::MIN.into(), i16::MAX.into()),
                _ => (i64::MIN, i64::MAX),
            };
            for constraint in &constraints {
                let e = &constraint.expression;
                let bound = e.constant_term();
                match (e.terms().len(), e.param_coefficient(id)) {
                    (1, c) if c > 0 => least = least.max(bound.div_euclid(c).saturating_neg()),
                    (1, c) if c < 0 => greatest = greatest.min(bound.div_euclid(c.saturating_neg())),
                    _ => {}
                }
            }
            (least, greatest)
        };
        let ranges: Vec<(i64, i64)> =
            (0..).zip(&kernel.params).map(|(n, p)| range(ParamId::new(n), p.ty)).collect();
        // Sizes of one kernel are alike: those that nothing bounds are at most the greatest of the others.
        let wide =
            |at: &usize| !matches!(kernel.params[*at].ty, ScalarType::I1 | ScalarType::I8 | ScalarType::I16);
        let product = |at: usize| match likely.get(at) {
            Some(Likely::Product(factors)) => Some(factors),
            _ => None,
        };
        let known = |at: usize| match likely.get(at) {
            Some(Likely::Value(value)) => Some(*value),
            _ => None,
        };
        let sizes = (0..ranges.len()).filter(wide).filter(|at| product(*at).is_none());
        let bounded = sizes.filter_map(|at| {
            let known = known(at).unwrap_or(i64::MAX);
            Some(known.min(ranges[at].1)).filter(|bound| *bound < self.default_param)
        });
        let default = bounded.max().filter(|bound| *bound >= SMALL).unwrap_or(self.default_param);
        let begins = |at: usize| {
            let product = |(number, l): (usize, &Likely)| match l {
                Likely::Product(factors) if factors.contains(&ParamId::new(at)) => Some(ParamId::new(number)),
                _ => None,
            };
            let mut products = likely.iter().enumerate().filter_map(product);
            begins(kernel, ParamId::new(at)) && !products.any(|p| lengthens(kernel, p))
        };
        let value = |(at, param): (usize, &Param)| {
            let (least, greatest) = ranges[at];
            let guess = match likely.get(at) {
                Some(Likely::Value(value) | Likely::Tile(Some(value))) => *value,
                Some(Likely::Tile(None)) => TILE.min(self.default_param),
                _ if begins(at) => 0,
                _ => match shortens(kernel, ParamId::new(at)) {
                    ..=0 => default,
                    // Half for those that it lengthens, half for the others.
                    1 => default / 2,
                    _ => RADIUS.min(default),
                },
            };
            self.params.get(&*param.name).copied().unwrap_or_else(|| guess.min(greatest).max(least))
        };
        let mut values: Vec<i64> = kernel.params.iter().enumerate().map(value).collect();
        let given = |p: ParamId| {
            known(p.index()).is_some() || self.params.contains_key(&*kernel.params[p.index()].name)
        };
        let ratios = likely.iter().enumerate().filter_map(|(at, l)| match l {
            Likely::Ratio(outer, inner) => Some((at, *outer, *inner)),
            _ => None,
        });
        // Once more for strides that are multiples of others that are multiples.
        for (at, outer, inner) in ratios.clone().chain(ratios) {
            match given(outer) {
                true => values[at] = values[outer.index()] / values[inner.index()].max(1),
                false => values[outer.index()] = values[at].saturating_mul(values[inner.index()]),
            }
        }
        let multiply = |values: &mut Vec<i64>| {
            for at in 0..values.len() {
                if let Some(factors) = product(at) {
                    values[at] = factors.iter().fold(1, |p: i64, f| p.saturating_mul(values[f.index()]));
                }
            }
        };
        multiply(&mut values);
        let in_ratio = |at: usize| {
            let takes_part = |(number, l): (usize, &Likely)| match l {
                Likely::Ratio(outer, inner) => at == number || at == outer.index() || at == inner.index(),
                _ => false,
            };
            likely.iter().enumerate().any(takes_part)
        };
        let is_given = |at: usize| self.params.contains_key(&*kernel.params[at].name);
        let free = (0..values.len()).filter(|at| !is_given(*at) && !in_ratio(*at) && product(*at).is_none());
        // What callers pass is changed last.
        let (passed, guessed): (Vec<usize>, Vec<usize>) = free.partition(|at| known(*at).is_some());
        let free: Vec<_> = guessed.into_iter().chain(passed).map(|at| (at, ranges[at])).collect();
        agreed(&constraints, &values, &free, multiply).unwrap_or(values)
    }
}

/// Whether loops begin at a parameter, or are the shorter for it, and no array and no loop is the longer: between `lo` and `hi` are
/// as many iterations as in other loops, not none, and `hi - lo + 1` of them are not one.
fn begins(kernel: &Kernel, param: ParamId) -> bool {
    let longer = |e: &Affine| e.param_coefficient(param) > 0;
    let shorter = |e: &Affine| e.param_coefficient(param) < 0;
    loops(kernel).any(|h| h.lower().iter().any(longer) || h.upper().iter().any(shorter))
        && !lengthens(kernel, param)
}

/// By how much a parameter makes the loop the shorter, at one end or at both, that it shortens most.
fn shortens(kernel: &Kernel, param: ParamId) -> i64 {
    let of = |e: &Affine| e.param_coefficient(param);
    let shorter = |h: &LoopHeader| {
        let (lower, upper) = (h.lower().iter().map(of).max(), h.upper().iter().map(of).min());
        lower.unwrap_or(0).saturating_sub(upper.unwrap_or(0))
    };
    loops(kernel).map(shorter).max().unwrap_or(0)
}

/// Whether loops or arrays are the longer for a parameter.
fn lengthens(kernel: &Kernel, param: ParamId) -> bool {
    let longer = |e: &Affine| e.param_coefficient(param) > 0;
    loops(kernel).any(|h| h.upper().iter().any(longer))
        || kernel.arrays.iter().flat_map(|a| a.extents.iter().flatten()).any(longer)
}

fn loops(kernel: &Kernel) -> impl Iterator<Item = &LoopHeader> {
    kernel.original.walk().filter_map(|node| node.as_loop()).map(|(header, _)| &**header)
}
