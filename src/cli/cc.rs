//! `looptree cc` and `looptree c++`: clang with the plugin, as a compiler command.

use super::error::CliError;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The plugin's file name.
const PLUGIN: &str = "liblooptree_plugin.so";

/// Becomes clang, with these arguments and the plugin. Where the first one names a compiler, as CMake's launchers are called,
/// becomes that one. Returns only if there is nothing to become.
pub fn run(command: &OsStr, arguments: &[OsString]) -> CliError {
    let (compiler, arguments) = match arguments {
        [first, rest @ ..] if is_compiler(first) => (first.clone(), rest),
        _ => (default_compiler(command), arguments),
    };
    if !is_clang(Path::new(&compiler)) {
        return CliError::Usage {
            message: format!("the plugin is for clang 22, and {} is another compiler", compiler.display()),
            help: "set the compiler to clang-22 and clang++-22, or use `looptree cc` itself as the compiler"
                .to_string(),
        };
    }
    let mut process = Command::new(&compiler);
    // What clang runs itself is not for us.
    if !arguments.first().is_some_and(|a| a.as_encoded_bytes().starts_with(b"-cc1")) {
        let plugin = match plugin() {
            Ok(plugin) => plugin,
            Err(error) => return error,
        };
        let mut load = OsString::from("-fpass-plugin=");
        load.push(plugin);
        // Linking and preprocessing do not use it.
        process.arg("--start-no-unused-arguments").arg(load).arg("--end-no-unused-arguments");
    }
    process.args(arguments);
    if shares_loops(arguments) && links(arguments) {
        let runtime = runtime(&compiler);
        process.args(["--start-no-unused-arguments", runtime, "--end-no-unused-arguments"]);
    }
    let source = process.exec();
    CliError::Run { program: compiler.display().to_string(), source }
}

/// Whether the plugin is told that threads may share loops.
fn shares_loops(arguments: &[OsString]) -> bool {
    let environment = std::env::var("LOOPTREE").unwrap_or_default();
    let arguments: Vec<_> = arguments.iter().map(|a| a.to_string_lossy()).collect();
    let given = arguments.iter().filter_map(|a| a.strip_prefix("-looptree="));
    let options = std::iter::once(environment.as_str()).chain(given).flat_map(|list| list.split(','));
    let counts = options.filter_map(|o| o.trim().strip_prefix("threads="));
    counts.filter_map(|c| c.trim().parse::<u32>().ok()).next_back().is_some_and(|count| count > 1)
}

/// Whether it may come to linking: there is an input, and nothing ends compilation before.
fn links(arguments: &[OsString]) -> bool {
    let is = |a: &OsString, names: &[&str]| names.iter().any(|n| a == n);
    let ends = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "-nostdlib", "-nodefaultlibs"];
    arguments.iter().any(|a| !a.as_encoded_bytes().starts_with(b"-"))
        && !arguments.iter().any(|a| is(a, &ends))
}

/// The OpenMP runtime that the compiler finds: LLVM's, else GCC's.
fn runtime(compiler: &OsStr) -> &'static str {
    let found = Command::new(compiler).arg("-print-file-name=libomp.so").output();
    match found.is_ok_and(|o| o.stdout.starts_with(b"/")) {
        true => "-lomp",
        false => "-lgomp",
    }
}

/// Whether these are the arguments of a compiler command; returns its name and its own arguments.
pub fn is_asked_for(arguments: &[OsString]) -> Option<(&OsStr, &[OsString])> {
    match arguments {
        [_, command, rest @ ..] if command == "cc" || command == "c++" => Some((command, rest)),
        _ => None,
    }
}

/// `LOOPTREE_CLANG` names another clang; for C++ it is the one beside it.
fn default_compiler(command: &OsStr) -> OsString {
    let named = std::env::var_os("LOOPTREE_CLANG").filter(|c| !c.is_empty());
    let mut compiler = named.unwrap_or_else(|| "clang-22".into());
    if command == "c++" {
        let text = compiler.to_string_lossy().into_owned();
        if let Some(at) = text.rfind("clang").filter(|at| !text[*at..].starts_with("clang++")) {
            let (before, behind) = text.split_at(at + "clang".len());
            compiler = format!("{before}++{behind}").into();
        }
    }
    compiler
}

/// Whether an argument is the name of a compiler, and no flag or input.
fn is_compiler(argument: &OsStr) -> bool {
    let name = Path::new(argument).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    // `x.cc` is a source.
    let is_file = name.ends_with(".cc") || name.ends_with(".c++");
    !argument.as_encoded_bytes().starts_with(b"-")
        && !is_file
        && ["cc", "c++", "g++", "clang", "clang++"].iter().any(|c| name.ends_with(c))
}

fn is_clang(compiler: &Path) -> bool {
    let is = |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().contains("clang"));
    is(compiler) || std::fs::canonicalize(compiler).is_ok_and(|real| is(&real))
}

/// `LOOPTREE_PLUGIN`, else the one beside this executable, else in `lib` beside its directory.
fn plugin() -> Result<PathBuf, CliError> {
    let missing = |places: &[PathBuf]| CliError::Failed {
        message: format!(
            "the plugin is not there: {}",
            places.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
        ),
        help: format!(
            "`cargo build --release --workspace` makes {PLUGIN}; name its place in LOOPTREE_PLUGIN"
        ),
    };
    if let Some(named) = std::env::var_os("LOOPTREE_PLUGIN").filter(|p| !p.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_file() { Ok(named) } else { Err(missing(&[named])) };
    }
    let own = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
    let beside = own.parent().unwrap_or(Path::new("."));
    let places = [beside.join(PLUGIN), beside.join("../lib").join(PLUGIN)];
    places.iter().find(|p| p.is_file()).cloned().ok_or_else(|| missing(&places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_told_from_flags_and_inputs() {
        for name in
            ["/usr/bin/clang-22", "clang++", "cc", "/usr/bin/c++", "x86_64-linux-gnu-gcc-12", "g++-13.2"]
        {
            assert!(is_compiler(OsStr::new(name)), "{name}");
        }
        for name in ["-c", "--version", "main.c", "main.cc", "x.o", "--driver-mode=g++", "a.out"] {
            assert!(!is_compiler(OsStr::new(name)), "{name}");
        }
    }
}
