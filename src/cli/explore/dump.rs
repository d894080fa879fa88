//! Variants as files: `REGION/NUMBER.{lt,ll,c,recipe}` and `REGION/summary.json`.

use super::document::RegionSummary;
use crate::cli::error::CliError;
use crate::cli::input::{self, Input};
use crate::cli::output;
use looptree::driver::{self, ExploredRegion, Session};
use looptree::tree::text::{self, Program};
use std::collections::BTreeMap;
use std::path::Path;

/// Writes the variants of one region that are shown.
pub fn write(
    session: &Session<'_>,
    read: &Input,
    region: &ExploredRegion,
    summary: &RegionSummary,
    directory: &Path,
    file: &Path,
) -> Result<(), CliError> {
    let directory =
        directory.join(format!("{}#{}", region.function, region.number).replace(['/', '\\', '#'], "-"));
    std::fs::create_dir_all(&directory)
        .map_err(|source| CliError::Write { file: directory.clone(), source })?;
    for shown in summary.shown() {
        let Some(variant) = region.exploration.variants.get(shown.rank) else { continue };
        let place = |extension: &str| directory.join(format!("{}.{extension}", shown.rank));
        let program = Program { kernel: region.kernel.clone(), variant: Some(variant.root.clone()) };
        output::write(&place("lt"), text::print(&program).as_bytes())?;
        output::write(&place("recipe"), format!("{}\n", variant.recipe).as_bytes())?;
        let failed = |e| input::from_driver(e, file);
        let chosen = session.optimizer.choose(region, variant).map_err(failed)?;
        let choices = BTreeMap::from([((region.function.clone(), region.number), chosen.clone())]);
        match driver::emit_c(&choices, matches!(read, Input::Ir(_))) {
            Ok(c) => output::write(&place("c"), c.as_bytes())?,
            // Not everything that has IR can be said in C.
            Err(e) => output::say(format_args!("{}: no C: {e}", place("c").display())),
        }
        let ir = match read {
            Input::Ir(_) => session.emit(&choices, |m| m.to_string()).map_err(failed)?,
            Input::Text(_) => session.optimizer.emit(&region.kernel, &chosen).map_err(failed)?,
        };
        output::write(&place("ll"), ir.as_bytes())?;
    }
    let json = serde_json::to_string_pretty(summary).map_err(|e| CliError::Write {
        file: directory.join("summary.json"),
        source: std::io::Error::other(e),
    })?;
    output::write(&directory.join("summary.json"), json.as_bytes())
}
