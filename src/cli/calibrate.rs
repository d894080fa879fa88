//! `looptree calibrate`: this machine's numbers as a target file.

use super::args::CalibrateArguments;
use super::error::CliError;
use super::output;
use super::progress::Progress;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use looptree::calibrate::{Calibration, calibrate};
use looptree::cost_model::targets;

/// Runs the command.
pub fn run(arguments: &CalibrateArguments) -> Result<(), CliError> {
    let Some(file) = arguments.output.clone().or_else(targets::calibrated_file) else {
        return Err(CliError::Usage {
            message: "there is no place for the calibration: neither XDG_CACHE_HOME nor HOME is set"
                .to_string(),
            help: "name a file with --output".to_string(),
        });
    };
    let progress = Progress::new();
    let found =
        calibrate(&|what| progress.say(format!("measuring {what}"))).map_err(|e| CliError::Failed {
            message: e.to_string(),
            help: "predictions go on with the closest table".to_string(),
        })?;
    progress.finish();
    if let Some(directory) = file.parent().filter(|d| !d.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)
            .map_err(|source| CliError::Write { file: file.clone(), source })?;
    }
    let text = targets::target_text(&found.target, &found.processor);
    output::write(&file, text.as_bytes())?;
    if file.as_os_str() == "-" {
        return Ok(());
    }
    output::print(&format!("{}: {}\n{}\n", found.processor, file.display(), table(&found)))
}

fn table(found: &Calibration) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_header(["", "calibrated", "closest table"]);
    let number = |v: f64| if v == v.trunc() { format!("{v:.0}") } else { format!("{v:.2}") };
    for (name, now, before) in found.numbers() {
        table.add_row([name, number(now), number(before)]);
    }
    for column in [1, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
