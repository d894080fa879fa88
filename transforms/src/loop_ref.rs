//! How a recipe names a node.

use crate::{Context, Refusal};
use loop_tree::{Path, text};
use std::fmt;
use std::sync::Arc;

/// A node by its path (`@0.1`), or a loop by its variable (`i`, `t0`) where only one loop binds it. Printed as it was
/// written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LoopRef {
    /// By path.
    Path(Path),
    /// By the name of its variable.
    Name(Arc<str>),
}

impl LoopRef {
    /// Reads `@0.1` or a name, in quotes where a tree has it so.
    pub fn parse(reference: &str) -> Option<LoopRef> {
        if reference.starts_with('@') {
            return Path::parse(reference).map(LoopRef::Path);
        }
        text::unquoted(reference).map(|name| LoopRef::Name(name.into()))
    }

    /// The path of the node in a tree. A path is not looked up.
    pub fn resolve(&self, cx: &Context<'_>) -> Result<Path, Refusal> {
        let name = match self {
            LoopRef::Path(path) => return Ok(path.clone()),
            LoopRef::Name(name) => name,
        };
        let mut found = Vec::new();
        let mut walk = cx.root.walk();
        while let Some((header, _)) = walk.next_loop() {
            if cx.kernel.variable_name(header.var) == **name {
                found.push(walk.path());
            }
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(Refusal {
                code: "unknown-loop",
                loops: vec![],
                message: format!("no loop binds `{name}`"),
                help: Some("loops are named by path (@0.1) or by a variable that one loop binds".into()),
            }),
            count => Err(Refusal {
                code: "ambiguous-loop",
                loops: found,
                message: format!("{count} loops bind `{name}`"),
                help: Some("name the loop by its path".into()),
            }),
        }
    }
}

impl fmt::Display for LoopRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopRef::Path(path) => path.fmt(f),
            LoopRef::Name(name) => f.write_str(&text::quoted(name)),
        }
    }
}

impl From<Path> for LoopRef {
    fn from(path: Path) -> Self {
        LoopRef::Path(path)
    }
}

/// A comma-separated list.
pub(crate) struct Listed<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        join(f, self.0, ", ")
    }
}

/// Writes items with something between them.
pub(crate) fn join<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T], between: &str) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
