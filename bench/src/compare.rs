//! Original `clang-22 -O3` against our variants, whole programs.

use crate::programs::Build;
use crate::statistics;
use crate::suite::{self, Program, Suite};
use crate::timing;
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use looptree::driver::{self, Chosen, Explored, Session, Settings};
use looptree::transforms::Registry;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    suites: suite::Arguments,
    #[command(flatten)]
    timing: timing::Arguments,
    /// Candidates measured besides the best predicted one; 1 measures only that.
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// Where programs and IR go.
    #[arg(long, default_value = "target/compare")]
    build: PathBuf,
    /// The table as JSON.
    #[arg(long, default_value = "target/compare/compare.json")]
    json: PathBuf,
}

/// One line of the table.
#[derive(Serialize, Debug)]
struct Row {
    kernel: String,
    /// Seconds of the original, median.
    original: f64,
    /// Original over best predicted.
    predicted_best: Option<f64>,
    /// What the model said of the kernel's own regions together: cycles of the originals over those of what was chosen.
    prediction: f64,
    /// The program with the best predicted variants is, byte for byte, the original program: any ratio is noise.
    same_program: bool,
    /// Original over the best of the top variants, as measured.
    measured_best: Option<f64>,
    /// Seconds for lifting, searching and emitting.
    optimize: f64,
    /// Recipes of the best predicted variant, one per changed region.
    recipe: Vec<String>,
    /// Recipe of the best measured one, of the region that costs most.
    measured_recipe: Option<String>,
    /// What went wrong, where something did.
    failure: Option<String>,
}

#[derive(Serialize, Debug)]
struct Report {
    flags: Vec<String>,
    rounds: usize,
    rows: Vec<Row>,
    geometric_mean_predicted: f64,
    geometric_mean_measured: f64,
    /// Over the programs that differ from the original.
    worst_predicted: f64,
    programs_changed: usize,
    slowest_optimize: f64,
}

/// Runs the comparison; true if nothing failed.
pub fn run(arguments: &Arguments) -> Result<bool> {
    std::fs::create_dir_all(&arguments.build)?;
    let suites = suite::suites(&arguments.suites, &["bench/kernels"], &["LARGE"])?;
    let mut rows = Vec::new();
    for (suite, program) in suites.iter().flat_map(|s| s.programs.iter().map(move |p| (s, p))) {
        eprint!("{:24}", program.name);
        let row = row(suite, program, arguments).unwrap_or_else(|error| Row {
            kernel: program.name.clone(),
            original: 0.0,
            predicted_best: None,
            prediction: 1.0,
            same_program: false,
            measured_best: None,
            optimize: 0.0,
            recipe: Vec::new(),
            measured_recipe: None,
            failure: Some(format!("{error:#}")),
        });
        eprintln!(
            "{:>8} {:>8}  {}",
            ratio_text(row.predicted_best),
            ratio_text(row.measured_best),
            row.failure.as_deref().unwrap_or("")
        );
        rows.push(row);
    }
    let predicted = || rows.iter().filter_map(|r| r.predicted_best);
    let changed = || rows.iter().filter(|r| !r.same_program && r.failure.is_none());
    let report = Report {
        flags: suites.iter().flat_map(|s| s.flags.clone()).collect(),
        rounds: arguments.timing.rounds,
        geometric_mean_predicted: statistics::geometric_mean(predicted()),
        geometric_mean_measured: statistics::geometric_mean(rows.iter().filter_map(|r| r.measured_best)),
        worst_predicted: changed().filter_map(|r| r.predicted_best).fold(f64::INFINITY, f64::min),
        programs_changed: changed().count(),
        slowest_optimize: rows.iter().map(|r| r.optimize).fold(0.0, f64::max),
        rows,
    };
    print(&report);
    std::fs::write(&arguments.json, serde_json::to_string_pretty(&report)?)
        .with_context(|| format!("cannot write {}", arguments.json.display()))?;
    Ok(report.rows.iter().all(|r| r.failure.is_none()))
}

fn row(suite: &Suite, program: &Program, arguments: &Arguments) -> Result<Row> {
    let name = program.name.clone();
    let file = &program.sources[0];
    let variant: Vec<String> =
        suite.sizes.first().iter().copied().chain(&suite.timed_flags).cloned().collect();
    let build = Build { suite, program, variant: &variant };
    let place = |suffix: &str| arguments.build.join(format!("{name}{suffix}"));
    let original = place(".original");
    build.program(&original, &[])?;

    let settings = Settings::default();
    let registry = Registry::standard();
    let bitcode = driver::compile_c(file, &build.flags())?;
    let session = Session::new(&bitcode, &name, &settings, &registry);
    let start = Instant::now();
    let explored = session.explore()?;
    let best = choices(&session, &explored, None, 0)?;
    let emitted = session.emit(&best)?;
    let optimize = start.elapsed().as_secs_f64();
    let main = main_region(&explored, &name);
    let variant = |rank: usize| main.and_then(|m| explored.regions[m].exploration.variants.get(rank));

    // Candidate 0 is the best predicted; the others differ in the region that costs most.
    let mut executables = vec![original.clone()];
    for rank in 0..arguments.top.max(1) {
        if rank > 0 && variant(rank).is_none() {
            break;
        }
        let text = match rank {
            0 => emitted.text.clone(),
            _ => session.emit(&choices(&session, &explored, main, rank)?)?.text,
        };
        let ir = place(&format!(".{rank}.ll"));
        std::fs::write(&ir, text)?;
        let program = place(&format!(".{rank}"));
        build.program(&program, &[(0, ir)])?;
        executables.push(program);
    }
    let seconds =
        arguments.timing.quiet()?.interleaved(&executables, &arguments.timing, suite.printed_time)?;
    let ratios: Vec<f64> = seconds[1..].iter().map(|s| statistics::ratio(&seconds[0].0, &s.0)).collect();
    let measured = ratios.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    let prediction = prediction(&explored, &best, &name);
    Ok(Row {
        kernel: name,
        original: statistics::median(&seconds[0].0),
        predicted_best: ratios.first().copied(),
        prediction,
        same_program: std::fs::read(&executables[0])? == std::fs::read(&executables[1])?,
        measured_best: measured.map(|(_, r)| r),
        optimize,
        recipe: explored
            .regions
            .iter()
            .filter(|r| best.contains_key(&(r.function.clone(), r.number)))
            .map(|r| format!("{}: {}", r.label(), r.exploration.best().recipe))
            .collect(),
        measured_recipe: measured.and_then(|(rank, _)| variant(rank)).map(|v| v.recipe.to_string()),
        failure: None,
    })
}

/// The function that a kernel's file is about.
fn is_kernel(function: &str, name: &str) -> bool {
    function.strip_prefix("kernel_") == Some(name)
}

/// The region that costs most, of the kernel's own function where that has any.
fn main_region(explored: &Explored, name: &str) -> Option<usize> {
    let cost = |r: usize| explored.regions[r].exploration.original.cycles;
    let own = (0..explored.regions.len()).filter(|r| is_kernel(&explored.regions[*r].function, name));
    own.max_by(|a, b| cost(*a).total_cmp(&cost(*b)).then(b.cmp(a))).or_else(|| explored.costliest())
}

/// Predicted cycles of the originals of the kernel's own regions, over those of what was chosen for them.
fn prediction(explored: &Explored, chosen: &BTreeMap<(Arc<str>, usize), Chosen>, name: &str) -> f64 {
    let (mut before, mut after) = (0.0, 0.0);
    for region in explored.regions.iter().filter(|r| is_kernel(&r.function, name)) {
        let exploration = &region.exploration;
        before += exploration.original.cycles;
        after += match chosen.contains_key(&(region.function.clone(), region.number)) {
            true => exploration.best().cost.cycles,
            false => exploration.original.cycles,
        };
    }
    if after > 0.0 { before / after } else { 1.0 }
}

/// The best variant of each region where it is worth it; for the region `varied`, the one of that rank.
fn choices(
    session: &Session<'_>,
    explored: &Explored,
    varied: Option<usize>,
    rank: usize,
) -> Result<BTreeMap<(Arc<str>, usize), Chosen>> {
    let mut result = BTreeMap::new();
    for (index, region) in explored.regions.iter().enumerate() {
        let exploration = &region.exploration;
        let variant = match varied {
            Some(v) if v == index => exploration.variants.get(rank),
            _ => exploration.worthwhile(driver::MIN_GAIN),
        };
        if let Some(variant) = variant.filter(|v| !v.recipe.0.is_empty()) {
            result.insert((region.function.clone(), region.number), session.choose(region, variant)?);
        }
    }
    Ok(result)
}

fn ratio_text(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_string(), |r| format!("{r:.2}x"))
}

fn print(report: &Report) {
    let mut table = Table::new();
    table
        .load_preset(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(160);
    table.set_header(["kernel", "clang -O3", "best predicted", "said", "best measured", "opt", "recipe"]);
    for column in 1..=5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for r in &report.rows {
        table.add_row([
            r.kernel.clone(),
            format!("{:.3} s", r.original),
            match r.same_program {
                true => "same".to_string(),
                false => ratio_text(r.predicted_best),
            },
            format!("{:.2}x", r.prediction),
            ratio_text(r.measured_best),
            format!("{:.1} s", r.optimize),
            r.failure.clone().unwrap_or_else(|| r.recipe.join(" | ")),
        ]);
    }
    println!("{table}");
    println!(
        "geometric mean of all: {:.2}x best predicted, {:.2}x best measured of the top; {} of {} programs changed, the worst \
         of them {:.2}x; slowest optimization {:.1} s",
        report.geometric_mean_predicted,
        report.geometric_mean_measured,
        report.programs_changed,
        report.rows.len(),
        report.worst_predicted,
        report.slowest_optimize
    );
}
