//! Chosen variants as C.

use super::{Choices, Chosen, DriverError};
use crate::names;
use cgen::{File, Variant};
use loop_tree::text::print_runtime_condition;

/// A function of C for each region, called `FUNCTION_NUMBER`; of a kernel that comes from no function of a module, its name.
///
/// # Errors
/// Where a variant cannot be said in C.
pub fn emit_c(choices: &Choices, from_module: bool) -> Result<String, DriverError> {
    let mut file = File::new();
    for ((function, number), chosen) in choices {
        let region = names::label(function, *number);
        let name = if from_module { format!("{function}_{number}") } else { function.to_string() };
        let comment = comment(&region, chosen);
        let Chosen { kernel, root, conditions, calls, .. } = chosen;
        file.add(&name, &Variant { kernel, root, conditions, calls, comment: &comment })
            .map_err(|source| DriverError::C { region, source })?;
    }
    Ok(file.text())
}

/// Where the region is, and when its variant is valid.
fn comment(region: &str, chosen: &Chosen) -> String {
    let kernel = &*chosen.kernel;
    let location = kernel.statements.iter().find_map(|s| s.location.as_ref());
    let location = location.map_or_else(String::new, |l| format!(", {l}"));
    let conditions: Vec<String> =
        chosen.conditions.iter().map(|c| print_runtime_condition(kernel, c)).collect();
    let valid = if conditions.is_empty() { "always".to_string() } else { conditions.join(", ") };
    format!("{region}{location}; valid under: {valid}")
}
