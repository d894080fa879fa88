//! C to LLVM IR, by clang-22.

use super::DriverError;
use std::path::Path;
use std::process::Command;

/// Bitcode of a C file as it is before any optimisation, for `-O3`. `flags` are passed on.
///
/// Names of values are kept and line tables are made, so that reports speak in the words of the source.
/// `LOOPTREE_CLANG` names another clang.
pub fn compile_c(file: &Path, flags: &[String]) -> Result<Vec<u8>, DriverError> {
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    // A file that is not there is our own error, not clang's.
    std::fs::metadata(file)
        .map_err(|source| DriverError::Read { file: file.display().to_string(), source })?;
    let mut command = Command::new(&clang);
    command.args(["-O3", "-gline-tables-only", "-fno-discard-value-names"]).args(flags);
    command.args(["-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o", "-"]);
    command.arg("-Wno-unused-command-line-argument").arg(file);
    let output = command.output().map_err(|source| DriverError::Run { program: clang, source })?;
    if !output.status.success() {
        return Err(DriverError::Clang {
            file: file.display().to_string(),
            message: String::from_utf8_lossy(&output.stderr).trim_end().to_string(),
        });
    }
    Ok(output.stdout)
}
