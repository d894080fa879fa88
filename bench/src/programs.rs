//! From C or IR to a program, with clang-22.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler; `LOOPTREE_CLANG` names another one.
fn clang() -> String {
    std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string())
}

/// The C files of a directory, sorted by name; with names given, only these.
pub fn kernels(directory: &Path, only: &[String]) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| {
        f.extension().is_some_and(|e| e == "c")
            && (only.is_empty() || f.file_stem().is_some_and(|s| only.iter().any(|o| s == o.as_str())))
    });
    files.sort();
    if files.is_empty() {
        bail!("no kernel in {} is named so", directory.display());
    }
    Ok(files)
}

/// A kernel's name: the file's stem.
pub fn name(file: &Path) -> String {
    file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// Compiles C or IR to a program, without names, so that equal code gives equal files.
pub fn compile(input: &Path, output: &Path, flags: &[String]) -> Result<()> {
    let mut command = Command::new(clang());
    command.arg("-O3").args(flags);
    // Flags for the preprocessor mean nothing where the input is IR.
    command.arg("-Wno-unused-command-line-argument").args(["-s", "-Wl,--build-id=none"]);
    command.arg(input).arg("-o").arg(output).arg("-lm");
    let out = command.output().with_context(|| format!("cannot run {}", clang()))?;
    if !out.status.success() {
        bail!("{} does not compile:\n{}", input.display(), String::from_utf8_lossy(&out.stderr));
    }
    Ok(())
}
