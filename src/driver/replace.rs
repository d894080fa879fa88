//! Chosen variants in the place of regions.

use super::{Chosen, DriverError, Explored, ExploredRegion, Session, SkippedRegion, Stage};
use crate::names;
use irgen::emit::{align_variables, emit_region, tell_owners_apart};
use irgen::lift::{self, LiftOptions, LiftedFunction};
use irgen::llvm::Module;
use loop_tree::Kernel;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is to be emitted, by function and number of the region.
pub type Choices = BTreeMap<(Arc<str>, usize), Chosen>;

/// Variants that were put into a copy of the input.
pub struct Rehearsed<'a> {
    session: &'a Session<'a>,
    chosen: Choices,
}

impl Rehearsed<'_> {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Does the same to a module that is the input, as far as passes can tell ([`Module::to_exact_bitcode`]). Regions that
    /// are others all the same stay as they are, and `explored` says so.
    ///
    /// # Errors
    /// Where something fails that has not failed before: the module is changed in part then.
    pub fn perform(&self, module: &mut Module<'_>, explored: &mut Explored) -> Result<(), DriverError> {
        for differs in self.session.replace(module, &self.chosen)? {
            explored.give_up(&differs.region, differs.why());
        }
        for (function, _) in self.chosen.keys() {
            module.verify_function(function)?;
        }
        Ok(())
    }
}

impl Session<'_> {
    /// The best variant of each region that is predicted to gain as much.
    pub fn best(&self, explored: &Explored, min_gain: f64) -> Result<Choices, DriverError> {
        let mut choices = Choices::new();
        for region in &explored.regions {
            if let Some(variant) = region.exploration.worthwhile(min_gain) {
                let chosen = self.optimizer.choose(region, variant)?;
                choices.insert((region.function.clone(), region.number), chosen);
            }
        }
        Ok(choices)
    }

    /// The module with the chosen variants, in place, in the form that `write` gives it: `to_bitcode`, or `to_string`. All else
    /// stays as it is.
    pub fn emit<R>(&self, chosen: &Choices, write: impl FnOnce(&Module<'_>) -> R) -> Result<R, DriverError> {
        let _span = tracing::info_span!("emit").entered();
        self.in_copy(|module| {
            if let Some(differs) = self.replace(module, chosen)?.first() {
                return Err(DriverError::Differs { region: differs.region.clone(), why: differs.why() });
            }
            module.verify()?;
            Ok(write(module))
        })
    }

    /// Puts the best variants of what was explored into a copy of the input, which is checked: what succeeds there can be done to a
    /// module that must not be left half changed. Regions of which there is no code after all are left alone, and what was explored
    /// says so.
    pub fn rehearse(&self, explored: &mut Explored, min_gain: f64) -> Result<Rehearsed<'_>, DriverError> {
        loop {
            let chosen = self.best(explored, min_gain)?;
            if chosen.is_empty() {
                return Ok(Rehearsed { session: self, chosen });
            }
            // Once something has failed in it, a copy is of no use.
            match self.emit(&chosen, |_| ()) {
                Ok(()) => return Ok(Rehearsed { session: self, chosen }),
                Err(DriverError::Emit { region, source }) => explored.give_up(&region, source.to_string()),
                Err(DriverError::Differs { region, why }) => explored.give_up(&region, why),
                Err(other) => return Err(other),
            }
        }
    }

    /// Returns the regions that read differently than when they were explored; they stay as they are.
    fn replace(&self, module: &mut Module<'_>, chosen: &Choices) -> Result<Vec<Differs>, DriverError> {
        let lifting = self.lifting(module);
        let mut functions: Vec<Arc<str>> = chosen.keys().map(|(f, _)| f.clone()).collect();
        functions.dedup();
        // Functions that do not change are not even canonicalised.
        let names: Vec<String> = functions.iter().map(|f| f.to_string()).collect();
        lift::canonicalise_functions(module, &names, self.stage == Stage::InPipeline)?;
        // All are read before any is changed: what a function means depends on others, too.
        let found = functions.iter().filter_map(|name| module.function(name));
        let lifted: Vec<_> = found.map(|f| lift::lift_function_with(module, f, &lifting)).collect();
        put(module, &lifted, &lifting, chosen)
    }
}

/// Puts variants in the place of regions of lifted functions. Returns the regions that read differently than when they were explored;
/// they stay as they are.
fn put(
    module: &Module<'_>,
    lifted: &[LiftedFunction<'_>],
    lifting: &LiftOptions,
    chosen: &Choices,
) -> Result<Vec<Differs>, DriverError> {
    let mut differ = Vec::new();
    let mut changes = false;
    for function in lifted {
        let name = &function.name;
        for ((_, number), chosen) in chosen.range((Arc::clone(name), 0)..=(Arc::clone(name), usize::MAX)) {
            let label = names::label(name, *number);
            match function.regions.get(*number).filter(|r| is_same(&chosen.kernel, &r.kernel)) {
                Some(region) => {
                    emit_region(module, region, chosen.variant())
                        .map_err(|source| DriverError::Emit { region: label, source })?;
                    changes = true;
                }
                None => {
                    let found = function.regions.get(*number).map(|r| &*r.kernel);
                    differ.push(Differs { region: label, line: first_difference(&chosen.kernel, found) });
                }
            }
        }
    }
    if changes {
        tell_owners_apart(module, &lifting.owned)?;
        align_variables(module);
    }
    Ok(differ)
}

/// A region that reads differently than when it was explored.
#[derive(Clone, Debug)]
struct Differs {
    /// Function and number.
    region: String,
    /// What was explored, where it first differs.
    line: String,
}

impl Differs {
    fn why(&self) -> String {
        format!("it reads differently than when it was explored ({}); please report this", self.line)
    }
}

/// Whether kernels are equal but for names: which of two equal names has a number depends on what a module went through.
fn is_same(explored: &Kernel, found: &Kernel) -> bool {
    let mut found = found.clone();
    for (a, b) in explored.params.iter().zip(&mut found.params) {
        b.name = a.name.clone();
    }
    for (a, b) in explored.variables.iter().zip(&mut found.variables) {
        b.name = a.name.clone();
    }
    for (a, b) in explored.arrays.iter().zip(&mut found.arrays) {
        b.name = a.name.clone();
    }
    for (a, b) in explored.statements.iter().zip(&mut found.statements) {
        Arc::make_mut(b).name = a.name.clone();
    }
    *explored == found
}

fn first_difference(explored: &Kernel, found: Option<&Kernel>) -> String {
    let (explored, found) = (format!("{explored:#?}"), format!("{found:#?}"));
    let mut lines = found.lines().skip(1).map(str::trim);
    let line = explored.lines().map(str::trim).find(|line| lines.next() != Some(line));
    line.unwrap_or_default().to_string()
}

impl Explored {
    /// Takes a region out of those that were explored; all of that name, which a class's constructors share.
    fn give_up(&mut self, region: &str, why: String) {
        while let Some(at) = self.regions.iter().position(|r| r.label() == region) {
            let ExploredRegion { function, number, location, exploration, .. } = self.regions.remove(at);
            let asked = exploration.asked;
            self.skipped.push(SkippedRegion { function, number, location, why: why.clone(), asked });
        }
    }
}
