//! Original `clang-22 -O3` against our variants, whole programs.

use crate::{programs, timing};
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use looptree::driver::{self, Chosen, Explored, Session, Settings};
use looptree::transforms::Registry;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Only these kernels, by name.
    kernels: Vec<String>,
    /// Where the kernels are.
    #[arg(long, default_value = "bench/kernels")]
    directory: PathBuf,
    /// Rounds of interleaved runs.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Candidates measured besides the best predicted one; 1 measures only that.
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// Where programs and IR go.
    #[arg(long, default_value = "target/compare")]
    build: PathBuf,
    /// The table as JSON.
    #[arg(long, default_value = "target/compare/compare.json")]
    json: PathBuf,
    /// Flags for clang, for all candidates alike.
    #[arg(long = "flag", allow_hyphen_values = true, default_values_t = ["-march=native".to_string(), "-ffp-contract=off".to_string()])]
    flags: Vec<String>,
}

/// One line of the table.
#[derive(Serialize, Debug)]
struct Row {
    kernel: String,
    /// Seconds of the original, median.
    original: f64,
    /// Original over best predicted.
    predicted_best: Option<f64>,
    /// What the model said that ratio would be.
    prediction: f64,
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
    worst_predicted: f64,
    slowest_optimize: f64,
}

/// Runs the comparison; true if nothing failed.
pub fn run(arguments: &Arguments) -> Result<bool> {
    std::fs::create_dir_all(&arguments.build)?;
    let files = programs::kernels(&arguments.directory, &arguments.kernels)?;
    let mut rows = Vec::new();
    for file in &files {
        eprint!("{:24}", programs::name(file));
        let row = row(file, arguments).unwrap_or_else(|error| Row {
            kernel: programs::name(file),
            original: 0.0,
            predicted_best: None,
            prediction: 1.0,
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
    let report = Report {
        flags: arguments.flags.clone(),
        rounds: arguments.rounds,
        geometric_mean_predicted: timing::geometric_mean(predicted()),
        geometric_mean_measured: timing::geometric_mean(rows.iter().filter_map(|r| r.measured_best)),
        worst_predicted: predicted().fold(f64::INFINITY, f64::min),
        slowest_optimize: rows.iter().map(|r| r.optimize).fold(0.0, f64::max),
        rows,
    };
    print(&report);
    std::fs::write(&arguments.json, serde_json::to_string_pretty(&report)?)
        .with_context(|| format!("cannot write {}", arguments.json.display()))?;
    Ok(report.rows.iter().all(|r| r.failure.is_none()))
}

fn row(file: &Path, arguments: &Arguments) -> Result<Row> {
    let name = programs::name(file);
    let place = |suffix: &str| arguments.build.join(format!("{name}{suffix}"));
    let original = place(".original");
    programs::compile(file, &original, &arguments.flags)?;

    let settings = Settings::default();
    let registry = Registry::standard();
    let bitcode = driver::compile_c(file, &arguments.flags)?;
    let session =
        Session { input: &bitcode, name: &name, settings: &settings, registry: &registry, progress: None };
    let start = Instant::now();
    let explored = session.explore()?;
    let best = choices(&session, &explored, None, 0)?;
    let emitted = session.emit(&best)?;
    let optimize = start.elapsed().as_secs_f64();
    let main = explored.costliest();
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
        programs::compile(&ir, &program, &arguments.flags)?;
        executables.push(program);
    }
    let seconds = timing::interleaved(&executables, arguments.rounds)?;
    let ratios: Vec<f64> = seconds[1..].iter().map(|s| timing::ratio(&seconds[0], s)).collect();
    let measured = ratios.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    Ok(Row {
        kernel: name,
        original: timing::median(&seconds[0]),
        predicted_best: ratios.first().copied(),
        prediction: main.map_or(1.0, |m| {
            let exploration = &explored.regions[m].exploration;
            exploration.ratio(exploration.best())
        }),
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
            ratio_text(r.predicted_best),
            format!("{:.2}x", r.prediction),
            ratio_text(r.measured_best),
            format!("{:.1} s", r.optimize),
            r.failure.clone().unwrap_or_else(|| r.recipe.join(" | ")),
        ]);
    }
    println!("{table}");
    println!(
        "geometric mean: {:.2}x best predicted, {:.2}x best measured of the top; worst best predicted {:.2}x; slowest \
         optimization {:.1} s",
        report.geometric_mean_predicted,
        report.geometric_mean_measured,
        report.worst_predicted,
        report.slowest_optimize
    );
}
