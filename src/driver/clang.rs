//! C and C++ to LLVM IR, by clang-22.

use super::DriverError;
use std::path::Path;
use std::process::Command;

/// What clang has to be told of a file's language, by its extension; `None` for what is no source.
fn language(file: &Path) -> Option<&'static [&'static str]> {
    match file.extension()?.to_str()? {
        "c" | "cpp" | "cc" | "cxx" | "c++" | "C" => Some(&[]),
        "h" => Some(&["-x", "c"]),
        "hpp" | "hh" | "hxx" | "H" => Some(&["-x", "c++"]),
        _ => None,
    }
}

/// Code as it is before any optimisation, made for `-O3`: what is optimised twice, as by `-O1` first, ends slower than what `-O3` alone
/// makes of it.
const FORM: [&str; 3] = ["-O3", "-Xclang", "-disable-llvm-passes"];

/// Whether a file is C or C++, by its name.
pub fn is_source(file: &Path) -> bool {
    language(file).is_some()
}

/// Whether code that [`compile_source`] makes is unrolled where no pragma forbids it: at `-O1` and `-Os`, and by `-fno-unroll-loops`, it is not. `None`
/// for other files, and where flags may be in files.
pub fn unrolls(file: &Path, flags: &[String]) -> Option<bool> {
    let hidden = |f: &String| f.starts_with('@') || f.starts_with("-Xclang") || f.starts_with("--config");
    if !is_source(file) || flags.iter().any(hidden) {
        return None;
    }
    let flags = || flags.iter().map(String::as_str);
    let said = flags().rfind(|f| ["-funroll-loops", "-fno-unroll-loops"].contains(f));
    let level = flags().filter_map(|f| f.strip_prefix("-O")).next_back();
    Some(said.map_or(!matches!(level, Some("" | "0" | "1" | "g" | "s" | "z")), |f| f == "-funroll-loops"))
}

/// Bitcode of a file of C or C++. `flags` are passed on.
///
/// Names of values are kept and line tables are made, so that reports speak in the words of the source.
/// `LOOPTREE_CLANG` names another clang.
pub fn compile_source(file: &Path, flags: &[String]) -> Result<Vec<u8>, DriverError> {
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let language = language(file).unwrap_or_default();
    // A file that is not there is our own error, not clang's.
    std::fs::metadata(file)
        .map_err(|source| DriverError::Read { file: file.display().to_string(), source })?;
    let mut command = Command::new(&clang);
    command.args(["-gline-tables-only", "-fno-discard-value-names"]);
    // What lies elsewhere keeps its name, without a prefix that it shares with this directory.
    let is_below = std::env::current_dir().is_ok_and(|here| file.starts_with(here));
    if file.is_absolute() && !is_below {
        command.arg("-fdebug-compilation-dir=.");
    }
    command.args(FORM).args(flags);
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
