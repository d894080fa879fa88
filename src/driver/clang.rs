//! C and C++ to LLVM IR, by clang-22.

use super::DriverError;
use std::path::Path;
use std::process::Command;

/// What clang makes of a file, by its extension: the language where clang would make something else of it, and the flags of the
/// form in which its loops are lifted best. `None` for what is no source.
///
/// C is taken as it is before any optimisation, for `-O3`. Loops of C++ go through operators that must be inlined first.
fn language(file: &Path) -> Option<(&'static [&'static str], &'static [&'static str])> {
    const C: &[&str] = &["-O3", "-Xclang", "-disable-llvm-passes"];
    const CPP: &[&str] = &["-O1", "-fno-vectorize", "-fno-slp-vectorize"];
    match file.extension()?.to_str()? {
        "c" => Some((&[], C)),
        "h" => Some((&["-x", "c"], C)),
        "cpp" | "cc" | "cxx" | "c++" | "C" => Some((&[], CPP)),
        "hpp" | "hh" | "hxx" | "H" => Some((&["-x", "c++"], CPP)),
        _ => None,
    }
}

/// Whether a file is C or C++, by its name.
pub fn is_source(file: &Path) -> bool {
    language(file).is_some()
}

/// Bitcode of a file of C or C++. `flags` are passed on.
///
/// Names of values are kept and line tables are made, so that reports speak in the words of the source.
/// `LOOPTREE_CLANG` names another clang.
pub fn compile_source(file: &Path, flags: &[String]) -> Result<Vec<u8>, DriverError> {
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let (language, form) = language(file).unwrap_or_default();
    // A file that is not there is our own error, not clang's.
    std::fs::metadata(file)
        .map_err(|source| DriverError::Read { file: file.display().to_string(), source })?;
    let mut command = Command::new(&clang);
    command.args(["-gline-tables-only", "-fno-discard-value-names"]).args(form).args(flags);
    command.args(["-emit-llvm", "-c", "-o", "-", "-Wno-unused-command-line-argument"]);
    command.args(language).arg(file);
    let output = command.output().map_err(|source| DriverError::Run { program: clang, source })?;
    if !output.status.success() {
        return Err(DriverError::Clang {
            file: file.display().to_string(),
            message: String::from_utf8_lossy(&output.stderr).trim_end().to_string(),
        });
    }
    Ok(output.stdout)
}
