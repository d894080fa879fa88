//! What is printed and kept.

use crate::statistics::{Least, geometric_mean, mean, median, spearman, told_apart};
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One variant.
#[derive(Serialize, Deserialize, Debug, Clone)]
pub struct Measured {
    /// Among the variants of the search; none for the original.
    pub rank: Option<usize>,
    pub recipe: String,
    /// Gain over the original that the model says.
    pub said: f64,
    /// The gain measured; of a variant that was ended, the one it cannot exceed.
    pub measured: f64,
    /// The gain of runs that had no part in finding the best, where there were some.
    #[serde(default)]
    pub again: Option<f64>,
    /// Of each run, in order of rounds; none of one that was ended.
    #[serde(default)]
    pub seconds: Vec<f64>,
}

impl Measured {
    pub fn new(rank: Option<usize>, recipe: &str, said: f64, measured: f64) -> Measured {
        Measured { rank, recipe: recipe.to_string(), said, measured, again: None, seconds: Vec::new() }
    }

    /// As far as is known: not what it was chosen for.
    fn fair(&self) -> f64 {
        self.again.unwrap_or(self.measured)
    }
}

/// One kernel.
#[derive(Serialize, Deserialize, Debug, Clone)]
pub struct KernelReport {
    pub suite: String,
    pub kernel: String,
    /// The flag that chose the size.
    pub size: Option<String>,
    /// Source, function and region that was varied.
    pub place: (usize, String, usize),
    /// Of the original.
    pub seconds: f64,
    /// Time of what is predicted best over time of what is best, of these variants.
    pub regret: f64,
    /// The same when both are measured again: of many that are alike the best is best by chance.
    #[serde(default)]
    pub regret_again: f64,
    /// Time of what a search would choose, which has a rule for ties, over time of what is best, when both are measured again.
    pub chosen_regret: f64,
    /// Gain of what a search would choose.
    pub chosen: f64,
    /// Rank correlation of gains said and measured.
    pub spearman: Option<f64>,
    /// The same where measured times are equal that their repetitions do not tell apart; none where no two of them differ.
    #[serde(default)]
    pub spearman_known: Option<f64>,
    /// Rank correlation of the measured times with themselves: the least of every second round, and of the others.
    #[serde(default)]
    pub repeats: Option<f64>,
    /// Median factor between gains said and measured.
    pub factor: f64,
    /// Gain measured of what is predicted best.
    pub first: f64,
    /// The greatest gain measured.
    pub best: f64,
    pub variants: Vec<Measured>,
    /// What went wrong, where something did.
    pub failure: Option<String>,
}

impl KernelReport {
    pub fn new(
        suite: &str,
        kernel: &str,
        size: Option<String>,
        place: (usize, String, usize),
        seconds: f64,
        variants: Vec<Measured>,
        chosen: usize,
    ) -> KernelReport {
        let pairs: Vec<(f64, f64)> = variants.iter().map(|v| (v.said, v.measured)).collect();
        // Of equals the one listed first.
        let first = variants.iter().rev().max_by(|a, b| a.said.total_cmp(&b.said));
        let fairly_first = first.map_or(1.0, Measured::fair);
        let first = first.map_or(1.0, |v| v.measured);
        let best = pairs.iter().map(|p| p.1).fold(0.0, f64::max);
        let fairly_best = best_of(&variants).map_or(1.0, Measured::fair);
        let chosen = variants.get(chosen).map_or(1.0, Measured::fair);
        let factors: Vec<f64> =
            pairs.iter().skip(1).map(|(said, measured)| (said / measured).max(measured / said)).collect();
        KernelReport {
            suite: suite.to_string(),
            kernel: kernel.to_string(),
            size,
            place,
            seconds,
            regret: best / first,
            regret_again: fairly_best / fairly_first,
            chosen_regret: fairly_best / chosen,
            chosen,
            spearman: spearman(&pairs),
            spearman_known: known_order(&variants),
            repeats: repeats(&variants),
            factor: if factors.is_empty() { 1.0 } else { median(&factors) },
            first,
            best,
            variants,
            failure: None,
        }
    }

    pub fn failed(suite: &str, kernel: &str, why: String) -> KernelReport {
        let place = (0, String::new(), 0);
        KernelReport {
            failure: Some(why),
            ..KernelReport::new(suite, kernel, None, place, 0.0, Vec::new(), 0)
        }
    }

    /// For who waits.
    pub fn line(&self) -> String {
        match &self.failure {
            Some(why) => format!("{:20} {why}", self.kernel),
            None => format!(
                "{:20} {:2} variants  regret {:.2}, of the choice {:.2}  spearman {}  factor {:.2}",
                self.kernel,
                self.variants.len(),
                self.regret,
                self.chosen_regret,
                correlation(self.spearman),
                self.factor
            ),
        }
    }
}

/// Means over the kernels of a suite that could be measured.
#[derive(Serialize, Deserialize, Debug)]
pub struct Group {
    pub suite: String,
    pub kernels: usize,
    /// Geometric mean.
    pub regret: f64,
    /// Geometric mean.
    #[serde(default)]
    pub regret_again: f64,
    /// Geometric mean.
    pub chosen_regret: f64,
    /// Arithmetic mean, over the kernels that have one.
    pub spearman: f64,
    /// Likewise.
    #[serde(default)]
    pub spearman_known: f64,
    /// Likewise.
    #[serde(default)]
    pub repeats: f64,
    /// Geometric mean of the kernels' medians.
    pub factor: f64,
    /// Geometric mean of the gains of what is predicted best.
    pub first: f64,
    /// Geometric mean of the gains of what a search would choose.
    pub chosen: f64,
    /// Geometric mean of the greatest gains.
    pub best: f64,
}

/// All kernels.
#[derive(Serialize, Deserialize, Debug)]
pub struct Report {
    pub groups: Vec<Group>,
    pub kernels: Vec<KernelReport>,
}

impl Report {
    pub fn new(kernels: Vec<KernelReport>) -> Report {
        let mut names: Vec<&String> = kernels.iter().map(|k| &k.suite).collect();
        names.dedup();
        let groups = names.into_iter().map(|suite| {
            let own = || kernels.iter().filter(|k| k.suite == *suite && k.failure.is_none());
            Group {
                suite: suite.clone(),
                kernels: own().count(),
                regret: geometric_mean(own().map(|k| k.regret)),
                regret_again: geometric_mean(own().map(|k| k.regret_again)),
                chosen_regret: geometric_mean(own().map(|k| k.chosen_regret)),
                chosen: geometric_mean(own().map(|k| k.chosen)),
                spearman: mean(own().filter_map(|k| k.spearman)),
                spearman_known: mean(own().filter_map(|k| k.spearman_known)),
                repeats: mean(own().filter_map(|k| k.repeats)),
                factor: geometric_mean(own().map(|k| k.factor)),
                first: geometric_mean(own().map(|k| k.first)),
                best: geometric_mean(own().map(|k| k.best)),
            }
        });
        Report { groups: groups.collect(), kernels }
    }

    pub fn read(file: &Path) -> Result<Report> {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not what `fidelity` writes", file.display()))
    }

    pub fn kernel(&self, suite: &str, name: &str) -> Option<&KernelReport> {
        self.kernels.iter().find(|k| k.suite == suite && k.kernel == name && k.failure.is_none())
    }

    pub fn print(&self, all: bool) {
        let mut table = Table::new();
        table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(170).set_header([
            "kernel",
            "original",
            "variants",
            "regret",
            "of the choice",
            "spearman",
            "ties",
            "repeats",
            "factor",
            "first",
            "choice",
            "best",
            "recipe of the first",
            "recipe of the best",
        ]);
        for k in self.kernels.iter().filter(|k| k.failure.is_none()) {
            let recipe = |by: fn(&Measured) -> f64| {
                let top = k.variants.iter().rev().max_by(|a, b| by(a).total_cmp(&by(b)));
                top.map_or_else(String::new, |v| v.recipe.clone())
            };
            table.add_row([
                k.kernel.clone(),
                format!(
                    "{:.2} ms{}",
                    k.seconds * 1e3,
                    k.size.as_ref().map_or_else(String::new, |s| format!(" {}", s.trim_start_matches("-D")))
                ),
                k.variants.len().to_string(),
                format!("{:.2}", k.regret),
                format!("{:.2}", k.chosen_regret),
                correlation(k.spearman),
                correlation(k.spearman_known),
                correlation(k.repeats),
                format!("{:.2}", k.factor),
                format!("{:.2}x", k.first),
                format!("{:.2}x", k.chosen),
                format!("{:.2}x", k.best),
                recipe(|v| v.said),
                recipe(|v| v.measured),
            ]);
        }
        for column in 1..=11 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        println!("{table}");
        if all {
            self.kernels.iter().for_each(variants);
        }
        for k in &self.kernels {
            if let Some(why) = &k.failure {
                println!("{}: {why}", k.kernel);
            }
        }
        for g in &self.groups {
            println!(
                "{}, {} kernels: top-1 regret {:.3}, {:.3} measured again, of the choice {:.3} (geometric means), Spearman {:.3}, {:.3} with ties, times \
                 with themselves {:.3} (means), factor said/measured {:.3} (geometric mean of medians); gain {:.2}x of the first, {:.2}x of the choice, {:.2}x of the best",
                g.suite,
                g.kernels,
                g.regret,
                g.regret_again,
                g.chosen_regret,
                g.spearman,
                g.spearman_known,
                g.repeats,
                g.factor,
                g.first,
                g.chosen,
                g.best
            );
        }
    }
}

/// Rank correlation of gains said with times, those equal that are not told apart. What has no repetitions has the one time.
fn known_order(variants: &[Measured]) -> Option<f64> {
    let original = variants.first().and_then(|v| Least::of(&v.seconds)).map_or(1.0, |l| l.time);
    let once = |v: &Measured| Least { time: original / v.measured, gap: 0.0 };
    let times: Vec<Least> =
        variants.iter().map(|v| Least::of(&v.seconds).unwrap_or_else(|| once(v))).collect();
    let times = told_apart(&times);
    spearman(&variants.iter().zip(times).map(|(v, time)| (v.said, -time)).collect::<Vec<_>>())
}

/// Rank correlation of the least times of even and odd rounds, of the programs that ran in both.
fn repeats(variants: &[Measured]) -> Option<f64> {
    let least = |v: &Measured, odd: usize| {
        Least::of(&v.seconds.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>())
    };
    let halves = variants.iter().filter_map(|v| Some((least(v, 0)?.time, least(v, 1)?.time)));
    spearman(&halves.collect::<Vec<_>>())
}

/// The greatest gain measured.
fn best_of(variants: &[Measured]) -> Option<&Measured> {
    variants.iter().rev().max_by(|a, b| a.measured.total_cmp(&b.measured))
}

fn variants(kernel: &KernelReport) {
    println!("{}: said, measured", kernel.kernel);
    for v in &kernel.variants {
        let rank = v.rank.map_or_else(|| "-".to_string(), |r| r.to_string());
        let gain = |g: f64| format!("{g:.2}x");
        println!("{rank:>5} {:>8} {:>8}  {}", gain(v.said), gain(v.measured), v.recipe);
    }
}

fn correlation(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), |v| format!("{v:.2}"))
}
