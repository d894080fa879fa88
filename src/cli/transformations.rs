//! `looptree transformations`: the manual page of all transformations.

use super::args::TransformationsArguments;
use super::error::CliError;
use super::output;
use looptree::transforms::Registry;

/// Runs the command.
pub fn run(arguments: &TransformationsArguments) -> Result<(), CliError> {
    let registry = Registry::standard();
    let page = registry.manual(arguments.name.as_deref());
    if page.is_empty() {
        let names: Vec<&str> = registry.iter().map(|r| r.name()).collect();
        return Err(CliError::Usage {
            message: format!(
                "no transformation is called `{}`",
                arguments.name.as_deref().unwrap_or_default()
            ),
            help: format!("there are: {}", names.join(", ")),
        });
    }
    output::print(&page)
}
