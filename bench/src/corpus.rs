//! Whole source trees, compiled with and without looptree: loops described, reasons why others are not, compile time, and, where a
//! command runs the program, its output and time.

mod profile;
mod report;
pub mod shares;
mod units;

use crate::programs;
use crate::statistics::ratio;
use crate::timing;
use crate::written;
use anyhow::{Result, bail};
use looptree::driver::{self, LiftedKernels, MIN_GAIN, Optimizer, Purpose, Session};
use looptree::irgen::lift::Fate;
use rayon::prelude::*;
use report::{Outcome, Ran, Report};
use shares::{Became, Shares, Written};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use units::Unit;

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The source tree.
    directory: PathBuf,
    /// Compile commands; default: `compile_commands.json` in the tree or its `build` directory, where there is one.
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,
    /// Only files whose path below the tree contains one of these.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Not these.
    #[arg(long, value_name = "TEXT")]
    except: Vec<String>,
    /// Flags for every file, behind those of its compile command; default: -march=native.
    #[arg(long = "flag", allow_hyphen_values = true, value_name = "FLAG")]
    flags: Vec<String>,
    /// Lifts and nothing else.
    #[arg(long, conflicts_with = "run")]
    lift: bool,
    /// A command that runs the program that all files make, with `{program}` for its name; in the tree.
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// Samples the original while it runs, and sums up reasons by time.
    #[arg(long, requires = "run")]
    profile: bool,
    /// Flags for the linker.
    #[arg(long, allow_hyphen_values = true, value_name = "FLAG", default_values = ["-lstdc++", "-lm"])]
    link: Vec<String>,
    /// Lines of the program's output that contain this are not compared.
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,
    #[command(flatten)]
    timing: timing::Arguments,
    #[command(flatten)]
    search: crate::suite::Search,
    /// Where objects and programs go.
    #[arg(long, default_value = "target/corpus")]
    build: PathBuf,
    /// The report as JSON.
    #[arg(long, default_value = "target/corpus/corpus.json")]
    json: PathBuf,
    /// Every part that is left alone, with its place.
    #[arg(long)]
    remarks: bool,
}

/// Compiles the tree; true unless a file fails that clang compiles, or the program computes something else.
pub fn run(arguments: &Arguments) -> Result<bool> {
    std::fs::create_dir_all(&arguments.build)?;
    rayon::ThreadPoolBuilder::new().num_threads(arguments.search.threads).build_global()?;
    let mut settings = arguments.search.settings()?;
    // Files are what threads share.
    settings.limits.threads = 1;
    let directory = std::path::absolute(&arguments.directory)?;
    let units = units::units(&directory, arguments)?;
    if units.is_empty() {
        bail!("there is no C or C++ file to compile below {}", directory.display());
    }
    let corpus = Corpus { arguments, optimizer: Optimizer::new(settings)? };
    let outcomes: Vec<Outcome> = units.par_iter().enumerate().map(|(at, u)| corpus.unit(at, u)).collect();
    let ran = match &arguments.run {
        Some(command) => Some(corpus.program(command, &directory, &outcomes)?),
        None => None,
    };
    let time = match &arguments.run {
        Some(command) if arguments.profile => Some(corpus.profile(command, &directory, &outcomes)?),
        _ => None,
    };
    let report = Report { files: outcomes, ran, time };
    report.print(arguments.remarks);
    written::write(&arguments.json, serde_json::to_string_pretty(&report)?)?;
    Ok(report.is_sound())
}

/// Of regions that are searched in vain, or of which that is plain before, or of which new code would not pay where sizes are other ones.
const NO_GAIN: &str = "no gain predicted";

struct Corpus<'a> {
    arguments: &'a Arguments,
    optimizer: Optimizer,
}

impl Corpus<'_> {
    fn place(&self, at: usize, suffix: &str) -> PathBuf {
        self.arguments.build.join(format!("{at}{suffix}"))
    }

    fn unit(&self, at: usize, unit: &Unit) -> Outcome {
        let mut outcome = Outcome { file: unit.name.clone(), ..Outcome::default() };
        if let Err(error) = self.compile(at, unit, &mut outcome) {
            outcome.failure = Some(format!("{error:#}"));
        }
        eprintln!("{}", outcome.line());
        outcome
    }

    fn compile(&self, at: usize, unit: &Unit, outcome: &mut Outcome) -> Result<()> {
        let object = |name: &str| self.place(at, name);
        let bytes = driver::compile_source(&unit.file, &unit.flags);
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                // What clang does not compile says nothing about looptree.
                outcome.skipped = Some(error.to_string().lines().nth(1).unwrap_or_default().to_string());
                return Ok(());
            }
        };
        let flags: Vec<String> = unit.flags.iter().cloned().chain(["-c".to_string()]).collect();
        let session =
            Session { purpose: Purpose::Explain, ..Session::new(&bytes, &unit.name, &self.optimizer) };
        let functions = session.kernels()?;
        for function in &functions {
            outcome.functions += 1;
            outcome.loops += function.loops.len();
            outcome.regions += function.regions.len();
            outcome.described += function.regions.iter().map(|r| r.kernel.variables.len()).sum::<usize>();
            for remark in &function.remarks {
                outcome.left.count(remark.code, remark.depth);
                let place =
                    remark.location.as_ref().map_or_else(|| function.name.to_string(), ToString::to_string);
                outcome.remarks.push(format!("{place}: {} [{}]", remark.message, remark.code));
            }
        }
        if self.arguments.lift {
            return Ok(());
        }
        let start = Instant::now();
        programs::compile(std::slice::from_ref(&unit.file), &object(".original.o"), &flags)?;
        outcome.clang = start.elapsed().as_secs_f64();
        if self.arguments.profile {
            let flags: Vec<String> = flags.iter().cloned().chain(["-g".to_string()]).collect();
            programs::compile(std::slice::from_ref(&unit.file), &object(".sampled.o"), &flags)?;
        }
        let start = Instant::now();
        let explored = session.explore()?;
        let mut became = BTreeMap::new();
        for region in &explored.regions {
            let of = (region.function.clone(), region.number);
            let exploration = &region.exploration;
            let Some(variant) = exploration.worthwhile(MIN_GAIN) else {
                let why = if exploration.statistics.legal > 0 { NO_GAIN } else { "no variant is legal" };
                outcome.kept.count(why, 1);
                became.insert(of, Became::Described(why));
                continue;
            };
            became.insert(of, Became::Changed);
            let place = region.location.as_ref().map_or_else(String::new, |l| format!("{l}: "));
            let ratio = exploration.ratio(variant);
            outcome.changed.push(format!("{place}{}: {} ({ratio:.2}x said)", region.label(), variant.recipe));
        }
        for skipped in &explored.skipped {
            outcome.kept.count(NO_GAIN, 1);
            became.insert((skipped.function.clone(), skipped.number), Became::Described(NO_GAIN));
        }
        outcome.written = functions.iter().flat_map(|f| written_loops(f, &became)).collect();
        let chosen = session.best(&explored, MIN_GAIN)?;
        if chosen.is_empty() {
            outcome.looptree = start.elapsed().as_secs_f64();
            std::fs::copy(object(".original.o"), object(".looptree.o"))?;
            return Ok(());
        }
        let written = session.emit(&chosen, |m| m.to_bitcode())?;
        outcome.looptree = start.elapsed().as_secs_f64();
        let bitcode = object(".bc");
        std::fs::write(&bitcode, written)?;
        programs::compile(&[bitcode], &object(".looptree.o"), &flags)?;
        Ok(())
    }

    /// Objects of the files that are compiled.
    fn objects(&self, outcomes: &[Outcome], suffix: &str) -> Vec<PathBuf> {
        let compiled = |(_, o): &(usize, &Outcome)| o.skipped.is_none() && o.failure.is_none();
        outcomes.iter().enumerate().filter(compiled).map(|(at, _)| self.place(at, suffix)).collect()
    }

    /// Links and runs the program both ways.
    fn program(&self, command: &str, directory: &Path, outcomes: &[Outcome]) -> Result<Ran> {
        let link = |suffix: &str, name: &str| -> Result<PathBuf> {
            let program = std::path::absolute(self.arguments.build.join(name))?;
            programs::compile(&self.objects(outcomes, suffix), &program, &self.arguments.link)?;
            Ok(program)
        };
        let original = link(".original.o", "original")?;
        let ours = link(".looptree.o", "looptree")?;
        let run = |program: &Path| -> Result<(f64, String)> {
            let command = command.replace("{program}", &program.display().to_string());
            self.shell(&command, directory)
        };
        let quiet = self.arguments.timing.quiet()?;
        let (mut before, mut after, mut equal) = (Vec::new(), Vec::new(), true);
        for _ in 0..self.arguments.timing.rounds.max(1) {
            let (seconds, expected) = run(&original)?;
            before.push(seconds);
            let (seconds, found) = run(&ours)?;
            after.push(seconds);
            equal &= expected == found;
        }
        drop(quiet);
        Ok(Ran { original: crate::statistics::median(&before), ratio: ratio(&before, &after), equal })
    }

    /// Samples the original, and sums up what became of the loops that it was in.
    fn profile(&self, command: &str, directory: &Path, outcomes: &[Outcome]) -> Result<Shares> {
        let program = std::path::absolute(self.arguments.build.join("sampled"))?;
        profile::link(&self.objects(outcomes, ".sampled.o"), &program, &self.arguments.link)?;
        let samples = program.with_extension("samples");
        if samples.exists() {
            std::fs::remove_file(&samples)?;
        }
        let name = shlex::try_quote(&samples.display().to_string())?.into_owned();
        let command = command.replace("{program}", &program.display().to_string());
        for _ in 0..self.arguments.timing.rounds.max(1) {
            self.shell(&format!("env {}={name} {command}", profile::VARIABLE), directory)?;
        }
        let stacks = profile::stacks(&program, &samples)?;
        let loops: Vec<Written> = outcomes.iter().flat_map(|o| &o.written).cloned().collect();
        Ok(shares::shares(&loops, &stacks))
    }

    /// Processor seconds of a shell command, and the lines of its output that are compared.
    fn shell(&self, command: &str, directory: &Path) -> Result<(f64, String)> {
        let place = shlex::try_quote(&directory.display().to_string())?.into_owned();
        let run = self
            .arguments
            .timing
            .run(Path::new("/bin/sh"), &["-c", &format!("cd {place} && exec {command}")])?;
        if run.timed_out() || !run.status.success() {
            bail!("`{command}` fails: {}\n{}", run.status, String::from_utf8_lossy(&run.stderr));
        }
        let text = String::from_utf8_lossy(&run.stdout);
        let compared = |line: &&str| !self.arguments.ignore.iter().any(|i| line.contains(i.as_str()));
        Ok((run.processor_seconds, text.lines().filter(compared).collect::<Vec<_>>().join("\n")))
    }
}

/// The loops of a function of which the source's lines are known.
fn written_loops(
    function: &LiftedKernels,
    became: &BTreeMap<(Arc<str>, usize), Became>,
) -> impl Iterator<Item = Written> {
    function.loops.iter().filter_map(|l| {
        let begin = l.begin.as_ref()?;
        Some(Written {
            function: function.name.to_string(),
            file: Path::new(&*begin.file).file_name()?.to_string_lossy().into_owned(),
            begin: (begin.line, begin.column),
            end: l.end?,
            became: match &l.fate {
                Fate::Region(number) => {
                    let of = became.get(&(function.name.clone(), *number));
                    of.cloned().unwrap_or(Became::Described(NO_GAIN))
                }
                Fate::Left(code, message) => Became::Left((*code).to_string(), message.clone()),
            },
        })
    })
}
