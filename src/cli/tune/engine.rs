//! What engines have in common.

use crate::cli::error::CliError;
use looptree::tune::{Item, Report};

/// What is to be measured.
pub struct Planned {
    /// The item.
    pub item: Item,
    /// What its code is compiled for here.
    pub target: String,
}

/// What came of an item.
pub enum Done {
    /// A report.
    Report(Box<Report>),
    /// None: the item is still to be measured.
    Lost {
        /// The region.
        label: String,
        /// Why.
        why: String,
    },
}

/// Told of everything that comes back, as it comes.
pub type Each<'a> = &'a mut dyn FnMut(Done) -> Result<(), CliError>;

/// The message of an error, without its help.
pub fn first_words(stderr: &str) -> String {
    let lines = stderr.lines().map(|l| l.trim_start_matches([' ', '×', '│', '├', '╰', '─', '▶']).trim());
    let words: Vec<&str> = lines
        .filter(|l| !l.is_empty() && !l.contains("::"))
        .take_while(|l| !l.starts_with("help:"))
        .collect();
    if words.is_empty() { "it ended without a word".to_string() } else { words.join(" ") }
}
