//! Figures beside what is wanted, in one table.
//!
//! What needs whole programs (generated code, ranking) is taken from the last `compare`, where there is one.

mod compile_time;
mod search;

use anyhow::{Context, Result};
use comfy_table::{ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Distinct variants of the searches.
    #[arg(long, default_value_t = 10_000)]
    variants: usize,
    /// The table as JSON, and what it is made from.
    #[arg(long, default_value = "target/figures")]
    output: PathBuf,
    /// What the last comparison of programs wrote.
    #[arg(long, default_value = "target/compare/compare.json")]
    compare: PathBuf,
}

/// One line of the table.
#[derive(Serialize, Debug)]
pub struct Figure {
    /// What is measured.
    name: String,
    /// What was measured, with its unit.
    measured: String,
    /// The value alone; absent where there is none.
    value: Option<f64>,
    /// What is wanted; empty where nothing is.
    wanted: String,
    /// Whether that is reached; absent where nothing is asked for, or nothing was measured.
    reached: Option<bool>,
}

impl Figure {
    /// A figure that must be at most `most`.
    fn at_most(name: impl Into<String>, value: f64, most: f64, unit: &str) -> Figure {
        Figure {
            name: name.into(),
            measured: format!("{} {unit}", short(value)),
            value: Some(value),
            wanted: format!("<= {} {unit}", short(most)),
            reached: Some(value <= most),
        }
    }

    /// A figure that must be at least `least`.
    fn at_least(name: impl Into<String>, value: f64, least: f64, unit: &str) -> Figure {
        Figure {
            name: name.into(),
            measured: format!("{} {unit}", short(value)),
            value: Some(value),
            wanted: format!(">= {} {unit}", short(least)),
            reached: Some(value >= least),
        }
    }

    /// A figure nothing is asked of.
    fn plain(name: impl Into<String>, value: f64, unit: &str) -> Figure {
        Figure {
            name: name.into(),
            measured: format!("{} {unit}", short(value)),
            value: Some(value),
            wanted: String::new(),
            reached: None,
        }
    }

    /// A figure that this command does not measure.
    fn elsewhere(name: &str, wanted: &str, how: &str) -> Figure {
        Figure { name: name.into(), measured: how.into(), value: None, wanted: wanted.into(), reached: None }
    }
}

/// Three digits.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 || v == v.trunc() => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// Measures and prints; true: figures that are not reached are no failure.
pub fn run(arguments: &Arguments) -> Result<bool> {
    std::fs::create_dir_all(&arguments.output)
        .with_context(|| format!("cannot make {}", arguments.output.display()))?;
    let mut figures = search::transformations()?;
    figures.extend(search::searches(arguments.variants)?);
    figures.extend(compile_time::measure(&arguments.output)?);
    figures.extend(programs(&arguments.compare)?);
    print(&figures);
    let json = arguments.output.join("figures.json");
    crate::written::write(&json, serde_json::to_string_pretty(&figures)?)?;
    Ok(true)
}

/// The figures that whole programs give.
fn programs(file: &Path) -> Result<Vec<Figure>> {
    let how = "run `bench compare`";
    let proof = Figure::elsewhere("validity: wrong results of random programs", "none", "run `make soak`");
    let Ok(text) = std::fs::read_to_string(file) else {
        return Ok(vec![
            proof,
            Figure::elsewhere("generated code, geometric mean against clang -O3", ">= 3 x", how),
            Figure::elsewhere("generated code, slowest", ">= 0.98 x", how),
            Figure::elsewhere("ranking: best of the top over first", "<= 1.03 x", how),
        ]);
    };
    let report: serde_json::Value = serde_json::from_str(&text)
        .with_context(|| format!("{} is not what `compare` writes", file.display()))?;
    let number = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
    let (first, best) = (number("geometric_mean_predicted"), number("geometric_mean_measured"));
    Ok(vec![
        proof,
        Figure::at_least("generated code, geometric mean against clang -O3", first, 3.0, "x"),
        Figure::at_least("generated code, slowest", number("worst_predicted"), 0.98, "x"),
        Figure::at_most("ranking: best of the top over first", best / first, 1.03, "x"),
    ])
}

fn print(figures: &[Figure]) {
    let mut table = Table::new();
    table
        .load_preset(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(130)
        .set_header(["figure", "measured", "wanted", "reached"]);
    for f in figures {
        let reached = f.reached.map_or("", |r| if r { "yes" } else { "no" });
        table.add_row([&f.name, &f.measured, &f.wanted, reached]);
    }
    println!("{table}");
}
