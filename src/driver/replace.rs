//! Chosen variants in the place of regions.

use super::{Chosen, DriverError, Explored, ExploredRegion, Session, SkippedRegion, label};
use irgen::emit::emit_region;
use irgen::lift;
use irgen::llvm::{Context, Module};
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

    /// Does the same to a module that is the input, as far as passes can tell ([`Module::to_exact_bitcode`]).
    ///
    /// # Errors
    /// Where the module is another one after all; it is changed in part then.
    pub fn perform(&self, module: &mut Module<'_>) -> Result<(), DriverError> {
        self.session.replace(module, &self.chosen)?;
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
        let context = Context::new();
        let mut module = context.parse(self.input, self.name)?;
        self.replace(&mut module, chosen)?;
        module.verify()?;
        Ok(write(&module))
    }

    /// Puts the best variants into a copy of the input, and checks the result: what succeeds here can be done to a module that
    /// must not be left half changed. Regions of which there is no code after all are left alone, and `explored` says so.
    pub fn rehearse(&self, explored: &mut Explored, min_gain: f64) -> Result<Rehearsed<'_>, DriverError> {
        loop {
            let chosen = self.best(explored, min_gain)?;
            if chosen.is_empty() {
                return Ok(Rehearsed { session: self, chosen });
            }
            match self.emit(&chosen, |_| ()) {
                Ok(()) => return Ok(Rehearsed { session: self, chosen }),
                Err(DriverError::Emit { region, source }) => explored.give_up(&region, source.to_string()),
                Err(other) => return Err(other),
            }
        }
    }

    fn replace(&self, module: &mut Module<'_>, chosen: &Choices) -> Result<(), DriverError> {
        let mut functions: Vec<Arc<str>> = chosen.keys().map(|(f, _)| f.clone()).collect();
        functions.dedup();
        // Functions that do not change are not even canonicalised.
        for name in &functions {
            lift::canonicalise_function(module, name)?;
        }
        for name in &functions {
            let Some(function) = module.function(name) else { continue };
            let lifted = lift::lift_function_with(module, function, &self.optimizer.lifting);
            for (number, region) in lifted.regions.iter().enumerate() {
                let Some(chosen) = chosen.get(&(name.clone(), number)) else { continue };
                if region.kernel != chosen.kernel {
                    return Err(DriverError::Differs { region: label(name, number) });
                }
                emit_region(module, region, &chosen.root, &chosen.conditions, &chosen.parallel)
                    .map_err(|source| DriverError::Emit { region: label(name, number), source })?;
            }
        }
        Ok(())
    }
}

impl Explored {
    /// Takes a region out of those that were explored.
    fn give_up(&mut self, region: &str, why: String) {
        if let Some(at) = self.regions.iter().position(|r| r.label() == region) {
            let ExploredRegion { function, number, location, .. } = self.regions.remove(at);
            self.skipped.push(SkippedRegion { function, number, location, why });
        }
    }
}
