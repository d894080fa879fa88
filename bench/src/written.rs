//! Reports as files.

use anyhow::{Context, Result};
use std::path::Path;

/// Writes a report, in a directory that need not be there yet.
pub fn write(file: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    let directory = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    directory
        .and_then(|()| std::fs::write(file, text))
        .with_context(|| format!("cannot write {}", file.display()))
}
