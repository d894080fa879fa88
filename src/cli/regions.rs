//! Regions of an input: searched, or one of them with a recipe.

use super::error::CliError;
use super::input::{self, Input};
use super::opt::say;
use looptree::cost_model::Cost;
use looptree::cost_model::targets::Vectors;
use looptree::driver::{Chosen, Doubt, DriverError, Explored, ExploredRegion, Optimizer, Purpose, Session};
use looptree::names;
use looptree::tree::{Kernel, SourceLocation};
use std::path::Path;
use std::sync::Arc;

/// Searches every region asked for.
pub fn explore(session: &Session<'_>, read: &Input, file: &Path) -> Result<Explored, CliError> {
    let failed = |e| input::from_driver(e, file);
    let program = match read {
        Input::Ir(_) => return session.explore().map_err(failed),
        Input::Text(program) => program,
    };
    let optimizer = session.optimizer;
    optimizer
        .settings
        .require_parameters(std::iter::once(&*program.kernel))
        .map_err(|e| failed(DriverError::Model(e)))?;
    let function = program.kernel.name.clone();
    let (problem, exploration) =
        optimizer.explore(&function, &program.kernel, &[], session.progress).map_err(failed)?;
    let region = ExploredRegion {
        function,
        vectors: None,
        number: 0,
        location: None,
        kernel: program.kernel.clone(),
        params: problem.params,
        dependences: problem.dependences,
        exploration,
        if_short: None,
        instead: None,
    };
    Ok(Explored { regions: vec![region], ..Explored::default() })
}

/// A region with what a recipe makes of it.
pub struct Picked {
    /// The function.
    pub function: Arc<str>,
    /// Number of the region in it.
    pub number: usize,
    /// What the region computes.
    pub kernel: Arc<Kernel>,
    /// Vectors of its code, where the function's attributes say so.
    pub vectors: Option<Vectors>,
    /// Values of the parameters, by which it is ranked.
    pub params: Vec<i64>,
    /// The variant.
    pub chosen: Chosen,
}

impl Picked {
    /// Predicted cost of the original and of the variant.
    pub fn costs(&self, optimizer: &Optimizer) -> (Cost, Cost) {
        let models = optimizer.models.for_code(self.vectors);
        let prepared = models.cost.prepare(&self.kernel, &self.params);
        (prepared.cost_of_original(), prepared.cost(&self.chosen.root))
    }

    /// Says where it is meant for threads, and there are none.
    pub fn warn_of_threads(&self) {
        if let Some(doubt) = Doubt::of_threads(&self.chosen.root, self.chosen.threads) {
            warn(&names::label(&self.function, self.number), None, &doubt);
        }
    }
}

/// Applies a recipe to the only region; `#3` is the variant that `explore` shows under that number.
pub fn pick(session: &Session<'_>, read: &Input, recipe: &str, file: &Path) -> Result<Picked, CliError> {
    let failed = |e: DriverError| input::from_driver(e, file);
    // A comment of a recipe has lines behind it.
    if let Some(rank) = recipe.strip_prefix('#').filter(|rank| !rank.trim_end().contains('\n')) {
        return ranked(session, read, rank, file);
    }
    let recipe = input::recipe(recipe, &session.optimizer.registry)?;
    let (function, number, kernel, likely, vectors) = match read {
        Input::Text(program) => (program.kernel.name.clone(), 0, program.kernel.clone(), Vec::new(), None),
        Input::Ir(_) => {
            let (function, number, region) = session.only_region().map_err(failed)?;
            if let Some(doubt) = Doubt::of_names(&region.kernel, &region.invented, &recipe) {
                warn(&names::label(&function, number), region.location.as_ref(), &doubt);
            }
            (function, number, region.kernel, region.likely, region.vectors)
        }
    };
    let optimizer = session.optimizer;
    let params = optimizer.settings.parameter_values(&kernel, &likely);
    let chosen =
        optimizer.apply(&names::label(&function, number), &kernel, &recipe, vectors).map_err(failed)?;
    Ok(Picked { function, number, kernel, vectors, params, chosen })
}

/// Says what a recipe is perhaps not meant to do.
pub fn warn(label: &str, location: Option<&SourceLocation>, doubt: &Doubt) {
    say("warning", location, format_args!("{label}: {}", doubt.message));
}

fn ranked(session: &Session<'_>, read: &Input, rank: &str, file: &Path) -> Result<Picked, CliError> {
    let failed = |e: DriverError| input::from_driver(e, file);
    let wanted: usize = rank.trim().parse().map_err(|_| CliError::Usage {
        message: format!("--recipe '#{rank}': a variant has a number"),
        help: "`looptree explore` shows them: --recipe '#3'".to_string(),
    })?;
    // Its numbers are those of `explore`.
    let session = Session { purpose: Purpose::Explore, ..*session };
    if let Input::Ir(_) = read {
        session.only_region().map_err(failed)?;
    }
    let explored = explore(&session, read, file)?;
    let Some(region) = explored.regions.first() else {
        let why = explored.skipped.first().map_or("there is no region", |s| &s.why);
        return Err(CliError::Failed {
            message: format!("--recipe '#{wanted}': {why}"),
            help: "`looptree explore FILE` shows what was searched".to_string(),
        });
    };
    let variants = &region.exploration.variants;
    let variant = variants.get(wanted).ok_or_else(|| CliError::Usage {
        message: format!("--recipe '#{wanted}': {} has {} variants", region.label(), variants.len()),
        help: "`looptree explore FILE --top N` shows the first N, counted from 0".to_string(),
    })?;
    let chosen = session.optimizer.choose(region, variant).map_err(failed)?;
    Ok(Picked {
        function: region.function.clone(),
        number: region.number,
        kernel: region.kernel.clone(),
        vectors: region.vectors,
        params: region.params.clone(),
        chosen,
    })
}
