//! The result as a table or as JSON.

use crate::cli::args::ExploreArguments;
use crate::cli::measured::Times;
use crate::cli::terminal;
use console::style;
use looptree::cost_model::CostModel;
use looptree::driver::{Explored, ExploredRegion};
use looptree::explore::{Reason, StopReason};
use looptree::tree::text;
use serde::Serialize;
use std::fmt::Write;

/// One region.
#[derive(Serialize, Debug)]
pub struct RegionSummary {
    /// `function#number`
    pub region: String,
    /// `file:line` where it begins.
    pub location: Option<String>,
    /// Values of the parameters.
    pub params: Vec<(String, i64)>,
    /// Predicted cycles of the original.
    pub original_cycles: f64,
    /// Measured seconds of one call of it, median.
    pub original_seconds: Option<f64>,
    /// Cheapest first.
    pub variants: Vec<VariantSummary>,
    /// Refused variants, where asked for.
    pub refused: Vec<RefusedSummary>,
    /// Moves enumerated.
    pub moves: usize,
    /// Moves that led to a tree met before.
    pub duplicates: usize,
    /// Distinct variants tried.
    pub tried: usize,
    /// Of these, judged: those that were promising.
    pub judged: usize,
    /// Of these, legal.
    pub legal: usize,
    /// Refused for want of an answer within the oracle's bounds.
    pub undecided: usize,
    /// Why the search ended.
    pub stopped: &'static str,
    /// Why nothing was measured, where that was asked for.
    pub not_measured: Option<String>,
}

/// One variant.
#[derive(Serialize, Debug)]
pub struct VariantSummary {
    /// From 0.
    pub rank: usize,
    /// Recipe text; empty for the original.
    pub recipe: String,
    /// The sketch that drew it, where one did.
    pub sketch: Option<String>,
    /// Predicted cycles.
    pub cycles: f64,
    /// Predicted speed-up over the original.
    pub predicted_ratio: f64,
    /// What is checked at run time.
    pub conditions: Vec<String>,
    /// Measured speed-up over the original.
    pub measured_ratio: Option<f64>,
    /// Measured seconds of one call, median.
    pub seconds: Option<f64>,
    /// Terms of the predicted cost, where asked for.
    pub explanation: Option<String>,
}

/// One refused variant.
#[derive(Serialize, Debug)]
pub struct RefusedSummary {
    /// Recipe text.
    pub recipe: String,
    /// Stable short name of the reason.
    pub code: String,
    /// The reason, with its witness.
    pub reason: String,
}

/// What is shown of a region.
pub fn summary(
    region: &ExploredRegion,
    shown: usize,
    times: Option<&Times>,
    arguments: &ExploreArguments,
    model: &dyn CostModel,
) -> RegionSummary {
    let exploration = &region.exploration;
    let kernel = &region.kernel;
    let variants = exploration.variants.iter().take(shown).enumerate().map(|(rank, v)| VariantSummary {
        rank,
        recipe: v.recipe.to_string(),
        sketch: v.sketch.as_ref().map(|s| s.to_string()),
        cycles: v.cost.cycles,
        predicted_ratio: exploration.ratio(v),
        conditions: v.conditions.iter().map(|c| text::print_runtime_condition(kernel, c)).collect(),
        measured_ratio: times.and_then(|t| t.ratio(rank)),
        seconds: times.and_then(|t| t.seconds(rank)),
        explanation: arguments.explain.then(|| match v.recipe.0.is_empty() {
            true => exploration.original.explain().to_string(),
            false => model.cost(kernel, &v.root, &region.params).explain().to_string(),
        }),
    });
    let refused = exploration.refused.iter().filter(|_| arguments.why_not).map(|r| {
        let (code, reason) = match &r.reason {
            Reason::Refusal(refusal) => (refusal.code.to_string(), refusal.to_string()),
            Reason::Illegal(witness) => (witness.category().to_string(), witness.to_string()),
        };
        RefusedSummary { recipe: r.recipe.to_string(), code, reason }
    });
    RegionSummary {
        region: region.label(),
        location: region.location.as_ref().map(|l| l.to_string()),
        params: kernel.params.iter().map(|p| p.name.to_string()).zip(region.params.iter().copied()).collect(),
        original_cycles: exploration.original.cycles,
        original_seconds: times.and_then(Times::original),
        variants: variants.collect(),
        refused: refused.collect(),
        moves: exploration.statistics.moves,
        duplicates: exploration.statistics.duplicates,
        tried: exploration.statistics.tried,
        judged: exploration.statistics.judged,
        legal: exploration.statistics.legal,
        undecided: exploration.statistics.undecided,
        stopped: match exploration.stop {
            StopReason::Exhausted => "exhausted",
            StopReason::VariantLimit => "variant limit",
        },
        not_measured: times.and_then(Times::why_not),
    }
}

/// For programs.
pub fn json(summaries: &[RegionSummary], explored: &Explored, machine: &str) -> String {
    let remarks: Vec<_> = explored
        .remarks
        .iter()
        .map(|(function, r)| {
            serde_json::json!({
                "function": &**function,
                "location": r.location.as_ref().map(|l| l.to_string()),
                "code": r.code,
                "message": r.message,
                "help": r.help,
            })
        })
        .collect();
    let skipped: Vec<_> =
        explored.skipped.iter().map(|s| serde_json::json!({ "region": s.label(), "why": s.why })).collect();
    let all = serde_json::json!({ "machine": machine, "regions": summaries, "skipped": skipped, "remarks": remarks });
    format!("{all:#}\n")
}

/// For people.
pub fn table(
    summaries: &[RegionSummary],
    explored: &Explored,
    machine: &str,
    arguments: &ExploreArguments,
) -> String {
    let mut out = String::new();
    for summary in summaries {
        region(&mut out, summary, machine, arguments);
    }
    if summaries.is_empty() {
        let _ = writeln!(out, "no loop nest that could be transformed was found");
    }
    for skipped in &explored.skipped {
        let _ = writeln!(out, "{}: not explored: {}", skipped.label(), skipped.why);
    }
    let many = explored.remarks.len();
    if many > 0 && (summaries.is_empty() || arguments.why_not) {
        for (function, r) in &explored.remarks {
            let place = r.location.as_ref().map_or_else(|| function.to_string(), |l| l.to_string());
            let help = if r.help.is_empty() { String::new() } else { format!("; {}", r.help) };
            let _ = writeln!(out, "{place}: not lifted [{}]: {}{help}", r.code, r.message);
        }
    }
    out
}

fn region(out: &mut String, summary: &RegionSummary, machine: &str, arguments: &ExploreArguments) {
    let place = summary.location.as_deref().map_or_else(String::new, |l| format!(" ({l})"));
    let params: Vec<String> = summary.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let at = if params.is_empty() { String::new() } else { format!(" at {}", params.join(", ")) };
    let RegionSummary { legal, judged, tried, .. } = summary;
    let _ = writeln!(
        out,
        "{}{place}: {legal} legal of {judged} judged, of {tried} variants{at}",
        style(&summary.region).bold()
    );
    let took = summary.original_seconds.map_or_else(String::new, |s| format!(", {} measured", time(s)));
    let original = cycles(summary.original_cycles);
    let _ = writeln!(out, "the original: {original} cycles predicted for {machine}{took}");
    let figures = |f: &Figures<'_>| {
        let measured = format!("{:>9} {:>10}", f.measured, f.time);
        let measured = if arguments.measure { measured } else { String::new() };
        format!("{:>3} {:>10} {:>10}{measured}  {}", f.rank, f.predicted, f.cycles, f.sketch)
    };
    let header = Figures {
        rank: "#",
        predicted: "predicted",
        cycles: "cycles",
        measured: "measured",
        time: "time",
        sketch: "drawn by",
    };
    let _ = writeln!(out, "{}", style(figures(&header)).underlined());
    let fastest = fastest(summary);
    // Of a check that all share, nothing is said beside each.
    let shared = summary.variants.iter().filter(|v| !v.recipe.is_empty()).map(|v| &v.conditions);
    let shared = shared.clone().next().filter(|first| shared.clone().all(|c| c == *first));
    let mut above = "";
    for variant in &summary.variants {
        let line = figures(&Figures {
            rank: &variant.rank.to_string(),
            predicted: &format!("{:.2}x", variant.predicted_ratio),
            cycles: &cycles(variant.cycles),
            measured: &variant.measured_ratio.map_or_else(|| "-".into(), |r| format!("{r:.2}x")),
            time: &variant.seconds.map_or_else(|| "-".into(), time),
            sketch: variant.sketch.as_deref().unwrap_or("moves"),
        });
        if variant.recipe.is_empty() {
            let _ = writeln!(out, "{}", line.replace("moves", "(the original)").trim_end());
            continue;
        }
        let line =
            if fastest == Some(variant.rank) { style(line + ", fastest").green() } else { style(line) };
        let _ = writeln!(out, "{line}");
        terminal::recipe(out, &variant.recipe, above);
        above = &variant.recipe;
        if shared != Some(&variant.conditions) && !variant.conditions.is_empty() {
            let _ = writeln!(out, "    checked at run time: {}", variant.conditions.join(", "));
        }
    }
    if let Some(shared) = shared.filter(|s| !s.is_empty()) {
        let _ = writeln!(out, "checked at run time: {}", shared.join(", "));
    }
    if let Some(why) = &summary.not_measured {
        let _ = writeln!(out, "not measured: {why}");
    }
    for variant in &summary.variants {
        if let Some(explanation) = &variant.explanation {
            let _ = writeln!(out, "#{}\n{explanation}", variant.rank);
        }
    }
    if arguments.why_not {
        let _ = writeln!(out, "refused:");
        for r in &summary.refused {
            let _ = writeln!(out, "  {} [{}]\n    {}", r.recipe, r.code, r.reason.replace('\n', "\n    "));
        }
    }
}

/// What stands in the columns.
struct Figures<'a> {
    rank: &'a str,
    predicted: &'a str,
    cycles: &'a str,
    measured: &'a str,
    time: &'a str,
    sketch: &'a str,
}

/// Rank of the variant that was measured to be fastest; `None` where that is the original.
fn fastest(summary: &RegionSummary) -> Option<usize> {
    let measured = summary.variants.iter().filter_map(|v| Some((v.measured_ratio?, v)));
    let (_, best) = measured.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (!best.recipe.is_empty()).then_some(best.rank)
}

fn cycles(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.2} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}
