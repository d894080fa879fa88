//! Programs to measure: any directory tree of C programs, and how they are built.
//!
//! In a directory, one file with a `main` makes a program of all files there; of several files with a `main`, each is a program
//! of its own, and where some have a header of the same name only these. `utilities/polybench.c` marks the layout of
//! PolyBench, whose macros then choose sizes, print times and dump results; all of that can be said by options for other suites.

use crate::programs::Build;
use crate::timing;
use anyhow::{Context, Result, bail};
use looptree::driver::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which programs, and how they are compiled.
#[derive(clap::Args, Debug, Clone)]
#[group(skip)]
pub struct Arguments {
    /// Only these programs, by name.
    pub kernels: Vec<String>,
    /// A directory of programs; may be given several times.
    #[arg(long = "suite", value_name = "DIR")]
    pub suites: Vec<PathBuf>,
    /// Sizes, as -DSIZE_DATASET in the layout of PolyBench, else as -DSIZE. Of several, the first at which the original
    /// takes no longer than --longest, else the last.
    #[arg(long, value_delimiter = ',', value_name = "SIZE")]
    pub size: Vec<String>,
    /// Seconds that an original may take, where there are smaller sizes.
    #[arg(long, default_value_t = 0.5, value_name = "SECONDS")]
    pub longest: f64,
    /// Macros for all files.
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Directories of headers.
    #[arg(long, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Sources that all programs need; they are compiled alike for all candidates.
    #[arg(long = "source", value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// Flags for clang, for all candidates alike; default: -march=native, and -ffp-contract=off outside of PolyBench.
    #[arg(long = "flag", allow_hyphen_values = true, value_name = "FLAG")]
    pub flags: Vec<String>,
    /// The programs print their seconds, as the last word.
    #[arg(long)]
    pub printed_time: bool,
}

/// How programs are optimized.
#[derive(clap::Args, Debug, Clone)]
pub struct Search {
    /// The machine costs are predicted for; as in `looptree explore`.
    #[arg(long, default_value = "native")]
    pub target: String,
    /// Leave this sketch out; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub without_sketch: Vec<String>,
    /// Threads of the search and of compiling; 0: one per core.
    #[arg(long, short = 'j', default_value_t = 0)]
    pub threads: usize,
}

impl Search {
    /// The settings of a session.
    pub fn settings(&self) -> Result<Settings> {
        let mut settings = Settings { target: self.target.clone(), ..Settings::default() };
        settings.limits.threads = self.threads;
        for name in &self.without_sketch {
            if !settings.sketches.remove(name) {
                let names: Vec<&str> = settings.sketches.names().collect();
                bail!("there is no sketch called {name}; there are: {}", names.join(", "));
            }
        }
        Ok(settings)
    }
}

/// A directory of programs.
#[derive(Debug)]
pub struct Suite {
    pub name: String,
    pub programs: Vec<Program>,
    /// Flags for every file of every program.
    pub flags: Vec<String>,
    /// Macros and directories of headers, which every compiler needs.
    pub preprocessor: Vec<String>,
    /// Sources of all programs.
    pub shared: Vec<PathBuf>,
    /// Sizes as preprocessor flags, the largest first; empty: programs have one size.
    pub sizes: Vec<String>,
    /// What follows the name of a size in its macro.
    suffix: &'static str,
    /// Flags of timed builds alone.
    pub timed_flags: Vec<String>,
    /// Flags that make any build dump its results.
    pub dump_flags: Vec<String>,
    /// Flags of a build that does everything but what is measured; empty: there is none.
    pub idle_flags: Vec<String>,
    pub printed_time: bool,
}

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    pub name: String,
    /// The file with `main` first.
    pub sources: Vec<PathBuf>,
}

impl Program {
    /// The directory of its headers.
    pub fn directory(&self) -> &Path {
        self.sources[0].parent().unwrap_or(Path::new("."))
    }
}

/// The suites asked for, with the programs asked for; `defaults` where none is named.
pub fn suites(arguments: &Arguments, defaults: &[&str], sizes: &[&str]) -> Result<Vec<Suite>> {
    let directories = match arguments.suites.is_empty() {
        true => defaults.iter().map(PathBuf::from).collect(),
        false => arguments.suites.clone(),
    };
    let mut suites =
        directories.iter().map(|d| suite(d, arguments, sizes)).collect::<Result<Vec<Suite>>>()?;
    for name in &arguments.kernels {
        if !suites.iter().any(|s| s.programs.iter().any(|p| p.name == *name)) {
            bail!("no program is called {name}");
        }
    }
    for suite in &mut suites {
        suite.programs.retain(|p| arguments.kernels.is_empty() || arguments.kernels.contains(&p.name));
    }
    suites.retain(|s| !s.programs.is_empty());
    Ok(suites)
}

fn suite(directory: &Path, arguments: &Arguments, sizes: &[&str]) -> Result<Suite> {
    let own = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let driver = directory.join("utilities/polybench.c");
    let polybench = driver.is_file();
    let shared = match polybench && arguments.sources.is_empty() {
        true => vec![driver],
        false => arguments.sources.clone(),
    };
    let mut files = BTreeMap::new();
    collect(directory, &mut files)?;
    for source in &shared {
        // Beside a shared source lie tools and templates.
        files.remove(source.parent().unwrap_or(Path::new("")));
    }
    let mut programs: Vec<Program> = files.values().flat_map(|f| programs_of(f)).collect();
    if polybench {
        // Whatever else lies about has no header of its name.
        programs.retain(|p| p.sources[0].with_extension("h").is_file());
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.sources.cmp(&b.sources)));
    if programs.is_empty() {
        bail!("there is no C file with a `main` below {}", directory.display());
    }
    let mut flags = arguments.flags.clone();
    if flags.is_empty() {
        flags = own(if polybench { &["-march=native"] } else { &["-march=native", "-ffp-contract=off"] });
    }
    let mut preprocessor: Vec<String> = arguments.define.iter().map(|d| format!("-D{d}")).collect();
    let headers = shared.iter().filter_map(|s| s.parent()).chain(arguments.include.iter().map(|i| &**i));
    preprocessor.extend(headers.map(|i| format!("-I{}", i.display())));
    let sizes = match (arguments.size.is_empty(), polybench) {
        (true, true) => own(sizes),
        _ => arguments.size.clone(),
    };
    let suffix = if polybench { "_DATASET" } else { "" };
    Ok(Suite {
        name: directory.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        idle_flags: own(if repeats(&programs)? { &[IDLE] } else { &[] }),
        programs,
        flags,
        preprocessor,
        shared,
        sizes: sizes.iter().map(|s| format!("-D{s}{suffix}")).collect(),
        suffix,
        timed_flags: own(if polybench { &["-DPOLYBENCH_TIME"] } else { &[] }),
        dump_flags: own(if polybench { &["-DPOLYBENCH_DUMP_ARRAYS"] } else { &[] }),
        printed_time: polybench || arguments.printed_time,
    })
}

impl Suite {
    /// The flag for a size.
    pub fn size_flag(&self, size: &str) -> String {
        format!("-D{size}{}", self.suffix)
    }

    /// Builds the original for timing, with `more` flags, at the first size at which it takes no longer than that; says which that is.
    pub fn choose_size(
        &self,
        program: &Program,
        more: &[String],
        timing: &timing::Arguments,
        longest: f64,
        output: &Path,
    ) -> Result<Option<String>> {
        let build = |size: Option<&String>| {
            let variant: Vec<String> =
                size.into_iter().chain(&self.timed_flags).chain(more).cloned().collect();
            Build { suite: self, program, variant: &variant }.program(output, &[])
        };
        for size in &self.sizes {
            build(Some(size))?;
            if Some(size) == self.sizes.last() {
                return Ok(Some(size.clone()));
            }
            let run = timing.run(output, &[])?;
            let seconds = if self.printed_time { run.printed_seconds() } else { Some(run.processor_seconds) };
            if !run.timed_out() && seconds.is_some_and(|s| s <= longest) {
                return Ok(Some(size.clone()));
            }
        }
        build(None)?;
        Ok(None)
    }
}

/// The kernel is never called, which compilers do not see: what fills its arrays stays.
const IDLE: &str = "-DREPS=({ volatile int none = 0; none; })";

/// Whether all programs have a macro for how often the kernel is called.
fn repeats(programs: &[Program]) -> Result<bool> {
    for program in programs {
        if !read(&program.sources[0])?.contains("#ifndef REPS") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read(file: &Path) -> Result<String> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// C files by directory: whether each has a `main`.
type Files = BTreeMap<PathBuf, Vec<(PathBuf, bool)>>;

fn collect(directory: &Path, files: &mut Files) -> Result<()> {
    let entries =
        std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        // A link to a directory above would never end.
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files)?;
        } else if path.is_file() && path.extension().is_some_and(|e| e == "c") {
            let text = read(&path)?;
            let main = text.match_indices("main").any(|(at, _)| {
                let word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                word && text[at + 4..].trim_start().starts_with('(')
            });
            files.entry(directory.to_owned()).or_default().push((path, main));
        }
    }
    Ok(())
}

fn programs_of(files: &[(PathBuf, bool)]) -> Vec<Program> {
    let name = |f: &Path| f.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let mains: Vec<&PathBuf> = files.iter().filter(|(_, main)| *main).map(|(f, _)| f).collect();
    if let [main] = mains[..] {
        let others = files.iter().map(|(f, _)| f).filter(|f| *f != main);
        let sources = std::iter::once(main).chain(others).cloned().collect();
        return vec![Program { name: name(main), sources }];
    }
    let headed: Vec<&PathBuf> = mains.iter().copied().filter(|f| f.with_extension("h").is_file()).collect();
    let chosen = if headed.is_empty() { mains } else { headed };
    chosen.into_iter().map(|f| Program { name: name(f), sources: vec![f.clone()] }).collect()
}
