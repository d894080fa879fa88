//! Why a transformation does not apply.

use loop_tree::Path;
use std::fmt;

/// The tree does not have the structure that a transformation needs. Says nothing about legality.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Refusal {
    /// What is missing, for programs: a word such as `not-a-loop`, `not-adjacent`, `imperfect`.
    pub code: &'static str,
    /// The loops, or other nodes, that it is about.
    pub loops: Vec<Path>,
    /// What is missing, for people.
    pub message: String,
    /// What could be done first.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal about one node.
    pub fn new(code: &'static str, node: &Path, message: impl Into<String>) -> Self {
        Refusal { code, loops: vec![node.clone()], message: message.into(), help: None }
    }

    /// Also about this node.
    pub fn and(mut self, node: &Path) -> Self {
        self.loops.push(node.clone());
        self
    }

    /// With advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (i, path) in self.loops.iter().enumerate() {
            write!(f, "{}{path}", if i == 0 { " (" } else { ", " })?;
        }
        if !self.loops.is_empty() {
            f.write_str(")")?;
        }
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}
