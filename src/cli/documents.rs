//! `looptree completions` and `looptree man`: what is known of the commands, in other forms.

use super::args::{Arguments, CompletionsArguments, ManArguments};
use super::error::CliError;
use super::output;
use clap::CommandFactory;
use clap_mangen::Man;

/// Completions for a shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<(), CliError> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "looptree", &mut text);
    output::write("-".as_ref(), &text)
}

/// A page for the program, and one for each command.
pub fn manual_pages(arguments: &ManArguments) -> Result<(), CliError> {
    let directory = &arguments.directory;
    let failed = |source| CliError::Write { file: directory.clone(), source };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut command = Arguments::command();
    command.build();
    let commands: Vec<_> = command.get_subcommands().cloned().chain([command.clone()]).collect();
    for command in commands {
        let name = command.get_display_name().unwrap_or("looptree").to_string();
        let mut page = Vec::new();
        Man::new(command).render(&mut page).map_err(failed)?;
        output::write(&directory.join(format!("{name}.1")), &page)?;
    }
    Ok(())
}
