//! Times of the variants shown.

use crate::cli::error::CliError;
use crate::cli::input::{self, Input};
use crate::cli::output;
use looptree::driver::{Chosen, DriverError, ExploredRegion, Session};
use looptree::measure::{
    ArgumentSpec, CallSetup, MeasureError, MeasureOptions, Measurement, NoReturn, NotCallable, Part,
    measure_ir, measure_kernel,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Measured times by rank.
pub enum Times {
    /// The original's, and with their ranks those of variants.
    Measured(Measurement, Vec<(usize, Measurement)>),
    /// The function cannot be called on generated inputs.
    Not(String),
}

impl Times {
    /// Time of the original over that of the variant.
    pub fn ratio(&self, rank: usize) -> Option<f64> {
        self.of(rank).map(|m| m.ratio.median)
    }

    /// Seconds of one call.
    pub fn seconds(&self, rank: usize) -> Option<f64> {
        self.of(rank).map(|m| m.seconds.median)
    }

    /// Seconds of one call of the original.
    pub fn original(&self) -> Option<f64> {
        match self {
            Times::Measured(original, _) => Some(original.seconds.median),
            Times::Not(_) => None,
        }
    }

    /// Why there are none.
    pub fn why_not(&self) -> Option<String> {
        match self {
            Times::Measured(..) => None,
            Times::Not(why) => Some(why.clone()),
        }
    }

    /// The rank of the fastest, where three quarters of its samples are faster than the original.
    pub fn fastest(&self) -> Option<usize> {
        let Times::Measured(_, list) = self else { return None };
        let faster = list.iter().filter(|(_, m)| m.ratio.low > 1.0);
        faster.max_by(|(_, a), (_, b)| a.ratio.median.total_cmp(&b.ratio.median)).map(|(rank, _)| *rank)
    }

    fn of(&self, rank: usize) -> Option<&Measurement> {
        match self {
            Times::Measured(_, list) => list.iter().find(|(r, _)| *r == rank).map(|(_, m)| m),
            Times::Not(_) => None,
        }
    }
}

/// Measures the variants of these ranks. A variant that computes something else is an error: it must never be shown.
pub fn measure(
    session: &Session<'_>,
    read: &Input,
    region: &ExploredRegion,
    shown: &[usize],
    others: &[Part],
    limit: u32,
    file: &Path,
) -> Result<Times, CliError> {
    output::keep_for_itself()?;
    let failed = |e: DriverError| input::from_driver(e, file);
    let limit = Duration::from_secs(limit.into());
    let options = MeasureOptions { limit, ..MeasureOptions::default() };
    let variants: Vec<_> = shown.iter().map(|&rank| &region.exploration.variants[rank]).collect();
    let chosen: Vec<Chosen> = variants
        .iter()
        .map(|v| session.optimizer.choose(region, v))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let labels: Vec<String> = variants.iter().map(|v| format!("`{}`", v.recipe)).collect();
    let measured = match read {
        Input::Text(_) => {
            let labels = labels.iter().map(String::as_str);
            let list: Vec<_> = labels.zip(chosen.iter().map(Chosen::variant)).collect();
            measure_kernel(&region.kernel, &list, &region.params, &options)
        }
        Input::Ir(bytes) => {
            let arguments = match arguments(session, region) {
                Ok(arguments) => arguments,
                Err(Ok(not)) => return Ok(Times::Not(not.to_string())),
                Err(Err(error)) => return Err(failed(error)),
            };
            let mut modules = Vec::with_capacity(shown.len());
            for (variant, chosen) in variants.iter().zip(chosen) {
                // The original is measured as it is, like any other.
                modules.push(if variant.recipe.0.is_empty() {
                    bytes.clone()
                } else {
                    let choices = BTreeMap::from([((region.function.clone(), region.number), chosen)]);
                    session.emit(&choices, |m| m.to_bitcode()).map_err(failed)?
                });
            }
            let list: Vec<(&str, &[u8])> =
                labels.iter().map(String::as_str).zip(modules.iter().map(|m| &m[..])).collect();
            let setup = CallSetup { arguments, seed: 1, others: others.to_vec() };
            measure_ir(bytes, &region.function, &list, &setup, &options)
        }
    };
    match measured {
        // The first measurement is the original's.
        Ok(list) => {
            let mut list = list.into_iter();
            let original = list.next().expect("the original is always measured");
            Ok(Times::Measured(original, shown.iter().copied().zip(list).collect()))
        }
        Err(error @ (MeasureError::TooLarge { .. } | MeasureError::NoRange { .. })) => {
            Ok(Times::Not(error.to_string()))
        }
        Err(error @ (MeasureError::Mismatch { .. } | MeasureError::OutOfBounds { .. })) => {
            Err(CliError::Failed {
                message: error.to_string(),
                help: "this is a bug in looptree: please report the input and the recipe".to_string(),
            })
        }
        Err(error @ MeasureError::NoReturn { why, .. }) => Ok(Times::Not(match why {
            NoReturn::Late(_) => {
                format!("{error}: choose smaller sizes with --param, or allow more with --measure-limit")
            }
            _ => format!("{error}: choose sizes that the function accepts with --param"),
        })),
        Err(error) if error.is_incomplete() => {
            Ok(Times::Not(format!("{error}; name the files that define them after --with")))
        }
        Err(error) => Ok(Times::Not(error.to_string())),
    }
}

/// Arguments with which the function reaches the region; `Err(Ok)` where there are none.
fn arguments(
    session: &Session<'_>,
    region: &ExploredRegion,
) -> Result<Vec<ArgumentSpec>, Result<NotCallable, DriverError>> {
    session.argument_specs(&region.function).map_err(Err)?.map_err(Ok)
}
