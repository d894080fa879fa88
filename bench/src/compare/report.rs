//! What is printed and kept.

use crate::statistics::geometric_mean;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;

/// One line of the table.
#[derive(Serialize, Debug, Default)]
pub struct Row {
    pub kernel: String,
    /// The flag that chose the size.
    pub size: Option<String>,
    /// Seconds of the original, median.
    pub original: f64,
    /// Original over best predicted.
    pub predicted_best: Option<f64>,
    /// What the model said of the kernel's own regions together: cycles of the originals over those of what was chosen.
    pub prediction: f64,
    /// The program with the best predicted variants is, byte for byte, the original program.
    pub same_program: bool,
    /// Original over the best of the top variants, as measured.
    pub measured_best: Option<f64>,
    /// Other compilers, in the order given.
    pub peers: Vec<PeerResult>,
    /// Without each sketch, where that was asked for.
    pub without: Vec<Without>,
    /// Seconds for lifting, searching and emitting.
    pub optimize: f64,
    /// Recipes of the best predicted variant, one per changed region.
    pub recipe: Vec<String>,
    /// Recipe of the best measured one, of the region that costs most.
    pub measured_recipe: Option<String>,
    /// Rounds that there was time for.
    pub rounds: usize,
    /// What went wrong, where something did.
    pub failure: Option<String>,
}

/// What is chosen without a sketch.
#[derive(Serialize, Debug)]
pub struct Without {
    pub sketch: String,
    /// What the model says of it.
    pub prediction: f64,
    /// Original over this.
    pub ratio: Option<f64>,
}

/// What another compiler makes of the program.
#[derive(Serialize, Debug)]
pub struct PeerResult {
    pub name: String,
    /// Original over this.
    pub ratio: Option<f64>,
    /// It does not print what the original prints.
    pub other_results: bool,
    /// Why there is no program.
    pub failure: Option<String>,
}

impl Row {
    pub fn failed(kernel: &str, why: String) -> Row {
        Row { kernel: kernel.to_string(), prediction: 1.0, failure: Some(why), ..Row::default() }
    }

    /// For who waits.
    pub fn line(&self) -> String {
        let peers: String = self.peers.iter().map(|p| format!(" {:>8}", peer_text(p))).collect();
        format!(
            "{:24}{:>8} {:>8}{peers}  {}",
            self.kernel,
            self.first_text(),
            ratio_text(self.measured_best),
            self.failure.as_deref().unwrap_or("")
        )
    }

    fn first_text(&self) -> String {
        if self.same_program { "same".to_string() } else { ratio_text(self.predicted_best) }
    }

    /// The best of the other compilers that compute the same.
    fn best_peer(&self) -> Option<f64> {
        let sound = self.peers.iter().filter(|p| !p.other_results);
        sound.filter_map(|p| p.ratio).max_by(f64::total_cmp)
    }
}

/// All rows.
#[derive(Serialize, Debug)]
pub struct Report {
    pub flags: Vec<String>,
    pub rounds: usize,
    pub geometric_mean_predicted: f64,
    pub geometric_mean_measured: f64,
    /// By name, over the programs that it makes.
    pub geometric_mean_peers: Vec<(String, f64)>,
    /// Of each program the best of the other compilers.
    pub geometric_mean_best_peer: Option<f64>,
    /// Of what the model says of the variants chosen.
    pub geometric_mean_said: f64,
    /// Geometric means without each sketch, as predicted and as measured.
    pub without: Vec<(String, f64, f64)>,
    /// Over the programs that differ from the original.
    pub worst_predicted: f64,
    pub programs_changed: usize,
    pub slowest_optimize: f64,
    pub rows: Vec<Row>,
}

impl Report {
    pub fn new(flags: Vec<String>, rounds: usize, rows: Vec<Row>) -> Report {
        let changed = || rows.iter().filter(|r| !r.same_program && r.failure.is_none());
        let names: Vec<String> = rows
            .iter()
            .max_by_key(|r| r.peers.len())
            .map_or_else(Vec::new, |r| r.peers.iter().map(|p| p.name.clone()).collect());
        let of = |at: usize| geometric_mean(rows.iter().filter_map(|r| r.peers.get(at)?.ratio));
        let sketches: Vec<String> = rows
            .iter()
            .max_by_key(|r| r.without.len())
            .map_or_else(Vec::new, |r| r.without.iter().map(|w| w.sketch.clone()).collect());
        let without = |at: usize, name: String| {
            let each = || rows.iter().filter_map(|r| r.without.get(at));
            (
                name,
                geometric_mean(each().map(|w| w.prediction)),
                geometric_mean(each().filter_map(|w| w.ratio)),
            )
        };
        Report {
            without: sketches.into_iter().enumerate().map(|(at, n)| without(at, n)).collect(),
            geometric_mean_said: geometric_mean(
                rows.iter().filter(|r| r.failure.is_none()).map(|r| r.prediction),
            ),
            geometric_mean_predicted: geometric_mean(rows.iter().filter_map(|r| r.predicted_best)),
            geometric_mean_measured: geometric_mean(rows.iter().filter_map(|r| r.measured_best)),
            geometric_mean_best_peer: (!names.is_empty())
                .then(|| geometric_mean(rows.iter().filter_map(Row::best_peer))),
            geometric_mean_peers: names.into_iter().enumerate().map(|(at, n)| (n, of(at))).collect(),
            worst_predicted: changed().filter_map(|r| r.predicted_best).fold(f64::INFINITY, f64::min),
            programs_changed: changed().count(),
            slowest_optimize: rows.iter().map(|r| r.optimize).fold(0.0, f64::max),
            flags,
            rounds,
            rows,
        }
    }

    pub fn print(&self) {
        let mut table = Table::new();
        table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(160);
        let peers: Vec<&str> = self.geometric_mean_peers.iter().map(|(n, _)| n.as_str()).collect();
        let mut header = vec!["kernel", "clang -O3", "best predicted", "said", "best measured", "opt"];
        header.extend(&peers);
        let numbers = header.len();
        header.push("recipe");
        table.set_header(header);
        for column in 1..numbers {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for r in &self.rows {
            let mut cells = vec![
                r.kernel.clone(),
                format!("{:.4} s", r.original),
                r.first_text(),
                format!("{:.2}x", r.prediction),
                ratio_text(r.measured_best),
                format!("{:.1} s", r.optimize),
            ];
            cells.extend((0..peers.len()).map(|at| r.peers.get(at).map_or_else(String::new, peer_text)));
            cells.push(r.failure.clone().unwrap_or_else(|| r.recipe.join(" | ")));
            table.add_row(cells);
        }
        println!("{table}");
        println!(
            "geometric mean of all: {:.2}x best predicted (said {:.2}x), {:.2}x best measured of the top; {} of {} programs \
             changed, the worst of them {:.2}x; slowest optimization {:.1} s",
            self.geometric_mean_predicted,
            self.geometric_mean_said,
            self.geometric_mean_measured,
            self.programs_changed,
            self.rows.len(),
            self.worst_predicted,
            self.slowest_optimize
        );
        for (name, predicted, measured) in &self.without {
            println!("without {name}: geometric mean {measured:.3}x, predicted {predicted:.3}x");
        }
        for (name, mean) in &self.geometric_mean_peers {
            println!("{name}: geometric mean {mean:.2}x");
        }
        if let Some(mean) = self.geometric_mean_best_peer {
            println!("the best of these on each program that computes the same: {mean:.2}x");
        }
        for peer in self.rows.iter().flat_map(|r| r.peers.iter().map(move |p| (r, p))) {
            if let (r, PeerResult { name, failure: Some(why), .. }) = peer {
                println!("{name} on {}: {}", r.kernel, why.lines().take(3).collect::<Vec<_>>().join(" "));
            }
        }
    }
}

fn ratio_text(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_string(), |r| format!("{r:.2}x"))
}

/// An exclamation mark: it computes something else.
fn peer_text(peer: &PeerResult) -> String {
    format!("{}{}", ratio_text(peer.ratio), if peer.other_results { "!" } else { "" })
}
