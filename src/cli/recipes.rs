//! `looptree recipes`: how recipes are written, and the manual page of all transformations.

use super::args::RecipesArguments;
use super::error::CliError;
use super::output;
use looptree::transforms::{Recipe, Registry};

/// Runs the command.
pub fn run(arguments: &RecipesArguments) -> Result<(), CliError> {
    let registry = Registry::standard();
    let Some(name) = &arguments.name else { return output::print(&page()) };
    let text = registry.manual(Some(name));
    if text.is_empty() {
        let names: Vec<&str> = registry.iter().map(|r| r.name()).collect();
        return Err(CliError::Usage {
            message: format!("no transformation is called `{name}`"),
            help: format!("there are: {}", names.join(", ")),
        });
    }
    output::print(&text)
}

/// The whole manual.
pub fn page() -> String {
    format!("{}\n{}", Recipe::GRAMMAR, Registry::standard().manual(None))
}
