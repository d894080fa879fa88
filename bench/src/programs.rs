//! From C or IR to a program.

use crate::suite::{Program, Suite};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler; `LOOPTREE_CLANG` names another one.
pub fn clang() -> String {
    std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string())
}

/// Compiles C or IR, to a program unless the flags say otherwise; without names, so that equal code gives equal files.
pub fn compile(inputs: &[PathBuf], output: &Path, flags: &[String]) -> Result<()> {
    let mut command = Command::new(clang());
    command.arg("-O3").args(flags);
    // Flags for the preprocessor mean nothing where the input is IR.
    command.arg("-Wno-unused-command-line-argument").args(["-s", "-Wl,--build-id=none"]);
    command.args(inputs).arg("-o").arg(output).arg("-lm");
    let out = command.output().with_context(|| format!("cannot run {}", clang()))?;
    if !out.status.success() {
        let names: Vec<String> = inputs.iter().map(|i| i.display().to_string()).collect();
        bail!("clang does not compile {}:\n{}", names.join(" "), String::from_utf8_lossy(&out.stderr));
    }
    Ok(())
}

/// How one build of a program is made: which suite, which flags besides its own.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    pub suite: &'a Suite,
    pub program: &'a Program,
    /// Size, time and dump.
    pub variant: &'a [String],
}

impl Build<'_> {
    /// Macros and directories of headers.
    pub fn preprocessor(&self) -> Vec<String> {
        let own = format!("-I{}", self.program.directory().display());
        self.suite.preprocessor.iter().cloned().chain([own]).chain(self.variant.iter().cloned()).collect()
    }

    /// All flags of a file.
    pub fn flags(&self) -> Vec<String> {
        self.suite.flags.iter().cloned().chain(self.preprocessor()).collect()
    }

    /// Compiles and links the program, with IR in the place of the sources that are named.
    pub fn program(&self, output: &Path, replaced: &[(usize, PathBuf)]) -> Result<()> {
        let source = |(at, file): (usize, &PathBuf)| {
            replaced.iter().find(|(r, _)| *r == at).map_or_else(|| file.clone(), |(_, ir)| ir.clone())
        };
        let mut inputs: Vec<PathBuf> = self.program.sources.iter().enumerate().map(source).collect();
        inputs.extend(self.suite.shared.iter().cloned());
        compile(&inputs, output, &self.flags())
    }
}
