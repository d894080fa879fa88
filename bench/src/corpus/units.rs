//! What is compiled, and how.

use super::Arguments;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A file with its flags.
#[derive(Debug)]
pub struct Unit {
    /// Below the tree.
    pub name: String,
    pub file: PathBuf,
    pub flags: Vec<String>,
}

/// An entry of `compile_commands.json`.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Endings of files in C and C++.
const SOURCES: [&str; 5] = ["c", "cc", "cpp", "cxx", "C"];

/// All units of the tree that are asked for, in the order of their names.
pub fn units(directory: &Path, arguments: &Arguments) -> Result<Vec<Unit>> {
    let found = ["compile_commands.json", "build/compile_commands.json"].map(|name| directory.join(name));
    let commands = arguments.commands.clone().or_else(|| found.into_iter().find(|f| f.is_file()));
    let mut units = match commands {
        Some(file) => commanded(directory, &file)?,
        None => {
            let mut files = Vec::new();
            collect(directory, &mut files)?;
            let unit = |file: PathBuf| Unit { name: name(directory, &file), file, flags: Vec::new() };
            files.into_iter().map(unit).collect()
        }
    };
    let any = |list: &[String], name: &str| list.iter().any(|text| name.contains(text.as_str()));
    units.retain(|u| {
        (arguments.only.is_empty() || any(&arguments.only, &u.name)) && !any(&arguments.except, &u.name)
    });
    units.sort_by(|a, b| a.name.cmp(&b.name));
    units.dedup_by(|a, b| a.name == b.name && a.flags == b.flags);
    let own = match arguments.flags.is_empty() {
        true => vec!["-march=native".to_string()],
        false => arguments.flags.clone(),
    };
    units.iter_mut().for_each(|u| u.flags.extend(own.iter().cloned()));
    Ok(units)
}

fn name(directory: &Path, file: &Path) -> String {
    file.strip_prefix(directory).unwrap_or(file).display().to_string()
}

fn commanded(directory: &Path, file: &Path) -> Result<Vec<Unit>> {
    let cannot = || format!("cannot read {}", file.display());
    let entries: Vec<Entry> =
        serde_json::from_str(&std::fs::read_to_string(file).with_context(cannot)?).with_context(cannot)?;
    entries
        .into_iter()
        .map(|entry| {
            let words = match (entry.arguments, entry.command) {
                (Some(words), _) => words,
                (None, Some(line)) => shlex::split(&line).with_context(|| format!("cannot read `{line}`"))?,
                (None, None) => bail!("{}: an entry has no command", file.display()),
            };
            let source = entry.directory.join(&entry.file);
            let mut flags = flags(&words, &entry.file);
            flags.push(format!("-working-directory={}", entry.directory.display()));
            Ok(Unit { name: name(directory, &source), file: source, flags })
        })
        .collect()
}

/// The words of a command without the compiler, what is compiled, how much it is optimized and where the result goes.
fn flags(words: &[String], source: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // The dependency file's name, its target, and the output follow.
            "-o" | "-MF" | "-MT" | "-MQ" => _ = words.next(),
            "-c" | "-MD" | "-MMD" | "-MP" | "--" => {}
            other if other.starts_with("-O") || Path::new(other) == source => {}
            other => flags.push(other.to_string()),
        }
    }
    flags
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let cannot = || format!("cannot read {}", directory.display());
    for entry in std::fs::read_dir(directory).with_context(cannot)? {
        let path = entry?.path();
        // A link to a directory above would never end.
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files)?;
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| SOURCES.contains(&e)) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_what_the_front_end_needs() {
        let words = shlex::split("cc -O2 -DX='a b' -I inc -MD -MF a.d -o a.o -c src/a.c").unwrap();
        assert_eq!(flags(&words, Path::new("src/a.c")), ["-DX=a b", "-I", "inc"]);
    }
}
