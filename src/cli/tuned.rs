//! What `looptree tune` has found, for the regions of a module.

use super::error::CliError;
use super::input;
use super::tune::store_error;
use looptree::cost_model::targets;
use looptree::driver::{Chosen, DriverError, LiftedKernel, Session};
use looptree::names;
use looptree::transforms::Recipe;
use looptree::tree::{Kernel, SourceLocation};
use looptree::tune::{Best, Store, code_name, kernel_hash};
use std::path::Path;
use std::sync::Arc;

/// What a database says of a module.
#[derive(Default)]
pub struct Tuned {
    /// Regions that it knows.
    pub regions: Vec<TunedRegion>,
    /// Whether it knows all that there are.
    pub all: bool,
}

/// A region that the database knows.
pub struct TunedRegion {
    /// The function.
    pub function: Arc<str>,
    /// Number in it.
    pub number: usize,
    /// Where it begins.
    pub location: Option<SourceLocation>,
    /// What is done; `None`: nothing measures faster than the original.
    pub chosen: Option<Chosen>,
    /// The same, in words.
    pub told: String,
}

impl TunedRegion {
    /// `function#number`, for people.
    pub fn label(&self) -> String {
        names::label(&self.function, self.number)
    }
}

/// Looks up every region. What the source asks for is not looked up.
pub fn look_up(session: &Session<'_>, database: &Path, file: &Path) -> Result<Tuned, CliError> {
    let store = Store::read(database).map_err(store_error)?;
    let failed = |e: DriverError| input::from_driver(e, file);
    let functions = session.kernels().map_err(failed)?;
    session.require_names(&functions).map_err(failed)?;
    let settings = &session.optimizer.settings;
    let processor = targets::processor();
    let mut tuned = Tuned { regions: Vec::new(), all: true };
    for function in functions {
        let target = code_name(function.vectors);
        for (number, region) in function.regions.into_iter().enumerate() {
            if settings.region.is_some_and(|r| r != number) {
                continue;
            }
            let asked = function.asked.iter().any(|a| a.region.is_none_or(|r| r == number));
            let params = settings.parameter_values(&region.kernel, &region.likely);
            let hash = kernel_hash(&region.kernel);
            let best = store.best(&hash, &params, &processor, &target).map_err(store_error)?;
            let Some(best) = best.filter(|_| !asked) else {
                tuned.all = false;
                continue;
            };
            let label = names::label(&function.name, number);
            match decide(session, &label, &region, &best) {
                Ok((chosen, told)) => {
                    let (function, location) = (function.name.clone(), region.location);
                    tuned.regions.push(TunedRegion { function, number, location, chosen, told });
                }
                Err(why) => {
                    tuned.all = false;
                    super::opt::say("warning", region.location.as_ref(), format_args!("{label}: {why}"));
                }
            }
        }
    }
    Ok(tuned)
}

/// What is done, and words for it; or why what was found cannot be done.
fn decide(
    session: &Session<'_>,
    label: &str,
    region: &LiftedKernel,
    best: &Best,
) -> Result<(Option<Chosen>, String), String> {
    let named = region.kernel.params.iter().zip(&best.params).map(|(p, v)| format!(" {}={v}", p.name));
    let sizes: String = named.collect();
    let at = if sizes.is_empty() { String::new() } else { format!(" at{sizes}") };
    let Some(recipe) = &best.recipe else {
        let told = format!("left alone: of {} variants measured{at} none is faster", best.variants);
        return Ok((None, told));
    };
    let unusable = |why: String| {
        format!("{recipe}, which measured best, is left out, so that the prediction counts: {why}")
    };
    let parsed = Recipe::parse(recipe, &session.optimizer.registry).map_err(|e| unusable(e.to_string()))?;
    let kernel = &called(&region.kernel, &best.arrays);
    let chosen = session
        .optimizer
        .apply(label, kernel, &parsed, region.vectors)
        .map_err(|e| unusable(e.to_string()))?;
    Ok((Some(chosen), format!("{recipe} (measured {:.2}x{at})", best.ratio.median)))
}

/// The kernel with the names of arrays that a recipe has been written with.
fn called(kernel: &Arc<Kernel>, arrays: &[String]) -> Arc<Kernel> {
    let mut kernel = kernel.clone();
    if kernel.arrays.len() == arrays.len() {
        for (array, name) in Arc::make_mut(&mut kernel).arrays.iter_mut().zip(arrays) {
            array.name = Arc::from(&**name);
        }
    }
    kernel
}
