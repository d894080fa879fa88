//! How true the predictions are: many variants of each kernel, of all kinds, measured, beside what was said of them.

mod choice;
mod report;

use crate::programs::Build;
use crate::suite::{self, Program, Suite};
use crate::timing::{self, Times};
use crate::written;
use anyhow::{Context, Result, anyhow};
use looptree::driver::{self, Explored, ExploredRegion, Optimizer, Session, Settings};
use looptree::explore::{Variant, by_cost};
use looptree::transforms::Recipe;
use looptree::tree::canonical;
use rayon::prelude::*;
use report::{KernelReport, Measured, Report};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    suites: suite::Arguments,
    #[command(flatten)]
    timing: timing::Arguments,
    #[command(flatten)]
    search: suite::Search,
    /// Variants measured of each kernel, besides the original.
    #[arg(long, default_value_t = 30)]
    variants: usize,
    /// Judge again: the recipes and times of an earlier report, predicted anew; nothing is searched or measured.
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Results are not dumped and compared where that takes another build.
    #[arg(long)]
    unchecked: bool,
    /// Print every variant.
    #[arg(long)]
    all: bool,
    /// With --again: print the terms of what is predicted of the original and of each variant.
    #[arg(long, requires = "again")]
    explain: bool,
    /// Where programs and IR go.
    #[arg(long, default_value = "target/fidelity")]
    build: PathBuf,
    /// The table as JSON, with all variants.
    #[arg(long, default_value = "target/fidelity/fidelity.json")]
    json: PathBuf,
}

/// So many of those that were fastest are measured once more.
const AGAIN: usize = 6;
/// The largest size first; see --longest.
const SIZES: [&str; 2] = ["LARGE", "MEDIUM"];
const SUITES: [&str; 2] = ["bench/kernels", "bench/shapes"];

/// Measures or judges again; true if nothing failed.
pub fn run(arguments: &Arguments) -> Result<bool> {
    std::fs::create_dir_all(&arguments.build)?;
    rayon::ThreadPoolBuilder::new().num_threads(arguments.search.threads).build_global()?;
    let earlier = arguments.again.as_deref().map(Report::read).transpose()?;
    let mut kernels = Vec::new();
    for suite in suite::suites(&arguments.suites, &SUITES, &SIZES)? {
        for program in &suite.programs {
            let old = earlier.as_ref().map(|e| e.kernel(&suite.name, &program.name));
            let kernel = match old {
                None => measured(&suite, program, arguments),
                // What failed to be measured, or was not asked for then.
                Some(None) => continue,
                Some(Some(old)) => judged_again(&suite, program, old, arguments),
            };
            let kernel =
                kernel.unwrap_or_else(|e| KernelReport::failed(&suite.name, &program.name, format!("{e:#}")));
            eprintln!("{}", kernel.line());
            kernels.push(kernel);
        }
    }
    let report = Report::new(kernels);
    report.print(arguments.all);
    written::write(&arguments.json, serde_json::to_string_pretty(&report)?)?;
    Ok(report.kernels.iter().all(|k| k.failure.is_none()))
}

/// The function that is measured, explored, and what emission needs.
struct Subject {
    /// Which of the program's sources it is in.
    source: usize,
    file: String,
    bitcode: Vec<u8>,
    explored: Explored,
    /// Index of the region that costs most.
    main: usize,
}

impl Subject {
    fn region(&self) -> &ExploredRegion {
        &self.explored.regions[self.main]
    }

    /// Cycles said of the function with a variant of the main region; of the original without.
    fn cycles(&self, variant: Option<f64>) -> f64 {
        let regions = self.explored.regions.iter().enumerate();
        let cycles = regions.map(|(index, r)| match variant {
            Some(cycles) if index == self.main => cycles,
            _ => r.exploration.original.cycles,
        });
        cycles.sum::<f64>().max(1.0)
    }

    /// IR of the whole file with the variant in place.
    fn emit(&self, variant: &Variant, optimizer: &Optimizer) -> Result<String> {
        let session = Session::new(&self.bitcode, &self.file, optimizer);
        let region = self.region();
        let choice = optimizer.choose(region, variant)?;
        Ok(session
            .emit(&BTreeMap::from([((region.function.clone(), region.number), choice)]), |m| m.to_string())?)
    }
}

/// Explores the functions named `kernel_…`, or all where there are none, and finds the region that costs most.
fn subject(build: Build<'_>, optimizer: &mut Optimizer) -> Result<Subject> {
    let mut best: Option<Subject> = None;
    for own in [true, false] {
        for (source, path) in build.program.sources.iter().enumerate() {
            let bitcode = driver::compile_source(path, &build.flags())?;
            let file = path.display().to_string();
            let functions = Session::new(&bitcode, &file, optimizer).kernels()?;
            for function in functions.iter().filter(|f| f.name.starts_with("kernel_") == own) {
                optimizer.settings.function = Some(function.name.to_string());
                let explored = Session::new(&bitcode, &file, optimizer).explore()?;
                let Some(main) = explored.costliest() else { continue };
                let cost = explored.regions[main].exploration.original.cycles;
                if best.as_ref().is_none_or(|b| b.region().exploration.original.cycles < cost) {
                    best = Some(Subject {
                        source,
                        file: file.clone(),
                        bitcode: bitcode.clone(),
                        explored,
                        main,
                    });
                }
            }
        }
        if best.is_some() {
            break;
        }
    }
    best.ok_or_else(|| anyhow!("there is no region to transform"))
}

/// The flags of a timed build at a size.
fn flags(suite: &Suite, size: Option<&String>, arguments: &Arguments) -> Vec<String> {
    let dump = (!arguments.unchecked).then_some(&suite.dump_flags);
    size.into_iter().chain(&suite.timed_flags).chain(dump.into_iter().flatten()).cloned().collect()
}

fn measured(suite: &Suite, program: &Program, arguments: &Arguments) -> Result<KernelReport> {
    let mut optimizer = Optimizer::new(arguments.search.settings()?)?;
    // Also what a search would not judge: how wrong predictions are is seen of the slow ones too.
    optimizer.settings.limits.promising = usize::MAX;
    let place = |suffix: &str| arguments.build.join(format!("{}-{}{suffix}", suite.name, program.name));
    let base = place(".original");
    let dump = if arguments.unchecked { &[][..] } else { &suite.dump_flags };
    let size = suite.choose_size(program, dump, &arguments.timing, arguments.suites.longest, &base)?;
    let variant = flags(suite, size.as_ref(), arguments);
    let build = Build { suite, program, variant: &variant };
    let subject = subject(build, &mut optimizer)?;
    let variants = &subject.region().exploration.variants;
    let ranks = choice::spread(variants, arguments.variants);
    let executables: Vec<PathBuf> = ranks
        .par_iter()
        .map(|rank| {
            let ir = place(&format!(".{rank}.ll"));
            let variant = variants.get(*rank).context("a variant of that rank")?;
            std::fs::write(&ir, subject.emit(variant, &optimizer)?)?;
            let program = place(&format!(".{rank}"));
            build.program(&program, &[(subject.source, ir)]).with_context(|| variant.recipe.to_string())?;
            Ok(program)
        })
        .collect::<Result<_>>()?;
    // Equal programs are measured once.
    let mut distinct: Vec<(PathBuf, Vec<u8>)> = vec![(base.clone(), std::fs::read(&base)?)];
    let mut which = Vec::with_capacity(ranks.len());
    for executable in executables {
        let bytes = std::fs::read(&executable)?;
        let known = distinct.iter().position(|(_, b)| *b == bytes);
        which.push(known.unwrap_or(distinct.len()));
        if known.is_none() {
            distinct.push((executable, bytes));
        }
    }
    let run: Vec<PathBuf> = distinct.into_iter().map(|(path, _)| path).collect();
    let idle = match suite.idle_flags.is_empty() {
        true => None,
        false => {
            let flags: Vec<String> = variant.iter().chain(&suite.idle_flags).cloned().collect();
            let idle = place(".idle");
            Build { suite, program, variant: &flags }.program(&idle, &[])?;
            Some(idle)
        }
    };
    let quiet = arguments.timing.quiet()?;
    let times = |programs: &[PathBuf]| {
        quiet.interleaved(programs, programs.len(), &arguments.timing, suite.printed_time)
    };
    let measured = times(&run)?;
    let idle = idle.map(|idle| times(&[idle])).transpose()?.and_then(|t| t.into_iter().next());
    let alone =
        |times: Vec<Times>| -> Vec<Times> { times.iter().map(|t| t.without(idle.as_ref())).collect() };
    let measured = alone(measured);
    let seconds = |times: &[Times], at: usize| times[at].least();
    let original = seconds(&measured, 0)
        .context("the original takes too long: raise --timeout, or choose a smaller --size")?;
    let exploration = &subject.region().exploration;
    let worthwhile = exploration.worthwhile(driver::MIN_GAIN).is_some();
    let chosen = ranks.iter().position(|rank| worthwhile && *rank == 0);
    // Runs that have no part in what they are chosen for.
    let mut once_more: Vec<usize> =
        (1..measured.len()).filter(|at| measured[*at].least().is_some()).collect();
    once_more
        .sort_by(|a, b| measured[*a].least().partial_cmp(&measured[*b].least()).unwrap_or(Ordering::Equal));
    once_more.truncate(AGAIN);
    let first =
        (0..ranks.len()).min_by(|a, b| variants[ranks[*a]].cycles.total_cmp(&variants[ranks[*b]].cycles));
    once_more.extend([0].into_iter().chain(chosen.into_iter().chain(first).map(|at| which[at])));
    once_more.sort_unstable();
    once_more.dedup();
    let programs: Vec<PathBuf> = once_more.iter().map(|at| run[*at].clone()).collect();
    let second = alone(times(&programs)?);
    drop(quiet);
    let again = |at: usize| {
        let gain = seconds(&second, 0)? / seconds(&second, once_more.binary_search(&at).ok()?)?;
        Some(gain)
    };
    let limit = arguments.timing.timeout as f64;
    let said = |v: &Variant| subject.cycles(None) / subject.cycles(Some(v.cycles));
    let mut list = vec![Measured { seconds: measured[0].0.clone(), ..Measured::new(None, "", 1.0, 1.0) }];
    for (rank, at) in ranks.iter().zip(which) {
        let v = &variants[*rank];
        let gain = original / seconds(&measured, at).unwrap_or(limit);
        let new = Measured::new(Some(*rank), &v.recipe.to_string(), said(v), gain);
        list.push(Measured { again: again(at), seconds: measured[at].0.clone(), ..new });
    }
    let region = subject.region();
    let place = (subject.source, region.function.to_string(), region.number);
    let chosen = chosen.map_or(0, |at| at + 1);
    Ok(KernelReport::new(&suite.name, &program.name, size, place, original, list, chosen))
}

/// New predictions for old measurements. Recipes that no longer apply are left out.
fn judged_again(
    suite: &Suite,
    program: &Program,
    old: &KernelReport,
    arguments: &Arguments,
) -> Result<KernelReport> {
    let variant = flags(suite, old.size.as_ref(), arguments);
    let build = Build { suite, program, variant: &variant };
    let (source, function, number) = &old.place;
    let path = program.sources.get(*source).context("the program has fewer sources now")?;
    let bitcode = driver::compile_source(path, &build.flags())?;
    let file = path.display().to_string();
    let settings = Settings { function: Some(function.clone()), ..arguments.search.settings()? };
    let optimizer = Optimizer::new(settings)?;
    let functions = Session::new(&bitcode, &file, &optimizer).kernels()?;
    let models = optimizer.models.for_code(functions.first().and_then(|f| f.vectors));
    let mut others = 0.0;
    let mut main = None;
    for (index, region) in functions.iter().flat_map(|f| &f.regions).enumerate() {
        let kernel = &region.kernel;
        let params = optimizer.settings.parameter_values(kernel, &region.likely);
        let cost = models.cost.cost_of_original(kernel, &params);
        let cycles = cost.cycles;
        if index == *number {
            if arguments.explain {
                println!("{}: the original\n{}", program.name, cost.explain());
            }
            main = Some((kernel.clone(), params, cycles));
        } else {
            others += cycles;
        }
    }
    let (kernel, params, cycles) = main.context("the region is no longer there")?;
    let prepared = models.cost.prepare(&kernel, &params);
    let root = canonical(&kernel, &kernel.original);
    let original = old.variants.iter().find(|m| m.rank.is_none());
    let seconds = original.map_or_else(Vec::new, |m| m.seconds.clone());
    let mut list = vec![Measured { seconds, ..Measured::new(None, "", 1.0, 1.0) }];
    let mut first = (cycles, Recipe::default(), root.clone());
    let mut chosen = 0;
    for m in old.variants.iter().filter(|m| m.rank.is_some()) {
        let Ok(recipe) = Recipe::parse(&m.recipe, &optimizer.registry) else { continue };
        let Ok(tree) = recipe.replay(&kernel, &root) else { continue };
        let cost = prepared.cost(&tree);
        if arguments.explain {
            println!("{}: {}\n{}", program.name, m.recipe, cost.explain());
        }
        let found = cost.cycles;
        let said = (others + cycles).max(1.0) / (others + found).max(1.0);
        if by_cost((found, &recipe, &tree), (first.0, &first.1, &first.2)).is_lt() {
            first = (found, recipe, tree);
            chosen = list.len();
        }
        let new = Measured::new(m.rank, &m.recipe, said, m.measured);
        list.push(Measured { again: m.again, seconds: m.seconds.clone(), ..new });
    }
    if cycles.max(1.0) < driver::MIN_GAIN * first.0.max(1.0) {
        chosen = 0;
    }
    let place = old.place.clone();
    Ok(KernelReport::new(&suite.name, &program.name, old.size.clone(), place, old.seconds, list, chosen))
}
