//! Original `clang-22 -O3` against our variants and against other compilers, whole programs.

mod candidates;
mod chart;
mod peers;
mod report;

use crate::programs::Build;
use crate::statistics::{median, ratio};
use crate::suite::{self, Program, Suite};
use crate::timing::{self, Quiet, Times};
use crate::written;
use anyhow::{Result, bail, ensure};
use candidates::Optimized;
use looptree::driver::{Optimizer, Settings};
use peers::Peer;
use rayon::prelude::*;
use report::{PeerResult, Report, Row, Without};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    suites: suite::Arguments,
    #[command(flatten)]
    timing: timing::Arguments,
    #[command(flatten)]
    search: suite::Search,
    /// Variants measured of the region that costs most, the one ranked first among them.
    #[arg(long, default_value_t = 1)]
    top: usize,
    /// Another compiler: `gcc=gcc -O3 -march=native`, or any command in which {sources}, {flags} and {out} are replaced.
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    peers: Vec<Peer>,
    /// The size at which results are dumped and compared, where that takes another build.
    #[arg(long, default_value = "SMALL", value_name = "SIZE")]
    check_size: String,
    /// Results are not compared where that takes another build.
    #[arg(long)]
    unchecked: bool,
    /// Also without each sketch in turn.
    #[arg(long)]
    ablate: bool,
    /// Times include what programs do besides calling their kernel; else that is left out where they have REPS.
    #[arg(long)]
    whole: bool,
    /// Where programs and IR go.
    #[arg(long, default_value = "target/compare")]
    build: PathBuf,
    /// The table as JSON.
    #[arg(long, default_value = "target/compare/compare.json")]
    json: PathBuf,
    /// The table as a chart.
    #[arg(long, default_value = "target/compare/compare.svg")]
    svg: PathBuf,
}

/// Runs the comparison; true if nothing failed.
pub fn run(arguments: &Arguments) -> Result<bool> {
    std::fs::create_dir_all(&arguments.build)?;
    rayon::ThreadPoolBuilder::new().num_threads(arguments.search.threads).build_global()?;
    let suites = suite::suites(&arguments.suites, &["bench/kernels"], &["LARGE"])?;
    let mut rows = Vec::new();
    for (suite, program) in suites.iter().flat_map(|s| s.programs.iter().map(move |p| (s, p))) {
        let row = Comparison { suite, program, arguments }.row();
        let row = row.unwrap_or_else(|error| Row::failed(&program.name, format!("{error:#}")));
        eprintln!("{}", row.line());
        rows.push(row);
    }
    let flags = suites.iter().flat_map(|s| s.flags.iter().chain(s.sizes.first()).cloned()).collect();
    let report = Report::new(flags, arguments.timing.rounds, rows);
    report.print();
    written::write(&arguments.json, serde_json::to_string_pretty(&report)?)?;
    written::write(&arguments.svg, chart::svg(&report))?;
    Ok(report.rows.iter().all(|r| r.failure.is_none()))
}

/// What is chosen without a sketch.
struct Ablation {
    sketch: String,
    prediction: f64,
    /// Which executable that is.
    program: usize,
}

/// One program.
struct Comparison<'a> {
    suite: &'a Suite,
    program: &'a Program,
    arguments: &'a Arguments,
}

impl Comparison<'_> {
    fn place(&self, suffix: &str) -> PathBuf {
        self.arguments.build.join(format!("{}-{}{suffix}", self.suite.name, self.program.name))
    }

    fn row(&self) -> Result<Row> {
        let (suite, program, arguments) = (self.suite, self.program, self.arguments);
        let mut settings = arguments.search.settings()?;
        settings.limits.promising = settings.limits.promising.max(arguments.top);
        let optimizer = Optimizer::new(settings)?;
        let original = self.place(".original");
        let size = suite.choose_size(program, &[], &arguments.timing, arguments.suites.longest, &original)?;
        let variant: Vec<String> = size.iter().chain(&suite.timed_flags).cloned().collect();
        let build = Build { suite, program, variant: &variant };
        let optimized = Optimized::new(build, &optimizer)?;
        let mut executables = vec![original];
        let ranks = optimized.ranks().min(arguments.top.max(1));
        for rank in 0..ranks {
            let output = self.place(&format!(".{rank}"));
            optimized.program(rank, &output)?;
            executables.push(output);
        }
        let without = match arguments.ablate {
            true => self.without_each(build, &optimizer.settings, &mut executables)?,
            false => Vec::new(),
        };
        let ours = executables.len();
        let peers = self.peers(build, ".")?;
        let built = |peers: &[Result<PathBuf>]| -> Vec<PathBuf> {
            peers.iter().filter_map(|p| p.as_ref().ok().cloned()).collect()
        };
        executables.extend(built(&peers));
        let wrong = match (suite.dump_flags.is_empty(), arguments.unchecked) {
            (true, _) => self.differing(&executables[0], &peers)?,
            (false, false) => self.check(&optimizer)?,
            (false, true) => vec![false; peers.len()],
        };

        let quiet = arguments.timing.quiet()?;
        let mut times = self.times(&quiet, &executables, ours)?;
        if !suite.idle_flags.is_empty() && !arguments.whole {
            let flags: Vec<String> = variant.iter().chain(&suite.idle_flags).cloned().collect();
            let build = Build { suite, program, variant: &flags };
            let mut idle = vec![self.place(".idle.original"), self.place(".idle.0")];
            build.program(&idle[0], &[])?;
            Optimized::new(build, &optimizer)?.program(0, &idle[1])?;
            idle.extend(built(&self.peers(build, ".idle.")?));
            ensure!(
                idle.len() - 2 == times.len() - ours,
                "a peer does not compile it with {}",
                suite.idle_flags.join(" ")
            );
            let idle = self.times(&quiet, &idle, 2)?;
            // All variants of ours do the rest alike.
            let besides = |at: usize| if at < ours { at.min(1) } else { at - ours + 2 };
            for (at, times) in times.iter_mut().enumerate() {
                *times = times.without(idle.get(besides(at)));
            }
        }
        drop(quiet);
        let same = |at: usize| -> Result<bool> {
            Ok(std::fs::read(&executables[0])? == std::fs::read(&executables[at])?)
        };
        let gain = |t: &Times| (!t.0.is_empty()).then(|| ratio(&times[0].0, &t.0));
        if times[0].0.is_empty() {
            bail!("the original takes too long: raise --timeout, or choose a smaller --size");
        }
        // Of the same program any other ratio is noise.
        let ratios: Vec<Option<f64>> = (1..ours)
            .map(|at| Ok(if same(at)? { Some(1.0) } else { gain(&times[at]) }))
            .collect::<Result<_>>()?;
        let without = without.into_iter().map(|w| Without {
            sketch: w.sketch,
            prediction: w.prediction,
            ratio: ratios.get(w.program.wrapping_sub(1)).copied().flatten(),
        });
        let without = without.collect();
        let best = ratios[..ranks].iter().enumerate().filter_map(|(rank, r)| Some((rank, (*r)?)));
        let best = best.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let mut measured = times[ours..].iter();
        let peers = arguments.peers.iter().zip(&peers).zip(wrong).map(|((peer, built), wrong)| PeerResult {
            name: peer.name.clone(),
            ratio: built.as_ref().ok().and_then(|_| measured.next()).and_then(gain),
            other_results: wrong,
            failure: built.as_ref().err().map(|e| format!("{e:#}")),
        });
        Ok(Row {
            kernel: program.name.clone(),
            size,
            original: median(&times[0].0),
            predicted_best: ratios.first().copied().flatten(),
            prediction: optimized.prediction(),
            same_program: same(1)?,
            measured_best: best.map(|(_, r)| r),
            peers: peers.collect(),
            without,
            optimize: optimized.seconds,
            recipe: optimized.recipes(),
            measured_recipe: best.and_then(|(rank, _)| optimized.recipe(rank)),
            rounds: times[0].0.len(),
            failure: (ratios.first() == Some(&None)).then(|| "takes too long".to_string()),
        })
    }

    /// What is chosen without each sketch; programs that differ from the one that all sketches give are added.
    fn without_each(
        &self,
        build: Build<'_>,
        settings: &Settings,
        executables: &mut Vec<PathBuf>,
    ) -> Result<Vec<Ablation>> {
        let names: Vec<String> = settings.sketches.names().map(str::to_string).collect();
        let mut known = vec![(std::fs::read(&executables[1])?, 1)];
        let mut list = Vec::new();
        for sketch in names {
            let mut settings = settings.clone();
            settings.sketches.remove(&sketch);
            let optimizer = Optimizer::new(settings)?;
            let optimized = Optimized::new(build, &optimizer)?;
            let output = self.place(&format!(".without-{sketch}"));
            optimized.program(0, &output)?;
            let bytes = std::fs::read(&output)?;
            // What is the same program is measured once.
            let program = match known.iter().find(|(known, _)| *known == bytes) {
                Some((_, at)) => *at,
                None => {
                    known.push((bytes, executables.len()));
                    executables.push(output);
                    executables.len() - 1
                }
            };
            list.push(Ablation { sketch, prediction: optimized.prediction(), program });
        }
        Ok(list)
    }

    /// The program as each peer makes it, or why it does not.
    fn peers(&self, build: Build<'_>, suffix: &str) -> Result<Vec<Result<PathBuf>>> {
        let make = |peer: &Peer| {
            let output = self.place(&format!("{suffix}{}", peer.name));
            peer.program(build, &output).map(|()| output)
        };
        Ok(self.arguments.peers.par_iter().map(make).collect())
    }

    /// Times of all; where the results are in what timed runs print, those of ours must be the original's. What peers print
    /// is theirs.
    fn times(&self, quiet: &Quiet, executables: &[PathBuf], ours: usize) -> Result<Vec<Times>> {
        quiet.interleaved(executables, ours, &self.arguments.timing, self.suite.printed_time)
    }

    /// Dumps of builds at the small size: ours must be the original's; says which peers' are not.
    fn check(&self, optimizer: &Optimizer) -> Result<Vec<bool>> {
        let (suite, program, arguments) = (self.suite, self.program, self.arguments);
        let size = suite.size_flag(&arguments.check_size);
        let variant: Vec<String> = [size].iter().chain(&suite.dump_flags).cloned().collect();
        let build = Build { suite, program, variant: &variant };
        let (original, ours) = (self.place(".check.original"), self.place(".check.0"));
        build.program(&original, &[])?;
        Optimized::new(build, optimizer)?.program(0, &ours)?;
        if arguments.timing.output(&ours)? != arguments.timing.output(&original)? {
            bail!("computes something else at {}: {}", arguments.check_size, ours.display());
        }
        self.differing(&original, &self.peers(build, ".check.")?)
    }

    /// Which peers' programs do not print what the original prints.
    fn differing(&self, original: &Path, peers: &[Result<PathBuf>]) -> Result<Vec<bool>> {
        let timing = &self.arguments.timing;
        let expected = if peers.is_empty() { Default::default() } else { timing.output(original)? };
        let differs = |built: &Result<PathBuf>| {
            built.as_ref().is_ok_and(|p| timing.output(p).is_ok_and(|found| found != expected))
        };
        Ok(peers.iter().map(differs).collect())
    }
}
