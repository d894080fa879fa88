//! The document for people.

use super::document::{Document, RegionSummary};
use crate::cli::args::ExploreArguments;
use crate::cli::terminal;
use console::style;
use std::fmt::Write;

/// Its first variants, and why there are no others.
pub fn table(document: &Document, arguments: &ExploreArguments) -> String {
    let mut out = String::new();
    let gained = |r: &RegionSummary| r.variants.first().map_or(0.0, |best| r.original_cycles - best.cycles);
    let mut regions: Vec<&RegionSummary> = document.regions.iter().collect();
    // What brings most first; in order of the file where nothing does.
    regions.sort_by(|a, b| gained(b).total_cmp(&gained(a)));
    for summary in regions {
        region(&mut out, summary, &document.machine, arguments);
    }
    if document.regions.is_empty() {
        let _ = writeln!(out, "no loop nest that could be transformed was found");
    }
    for skipped in &document.skipped {
        terminal::words(&mut out, &format!("{}: not explored: {}", skipped.name, skipped.why));
    }
    if !document.regions.is_empty() && !arguments.why_not {
        let described = |f: &str| {
            let mut all =
                document.regions.iter().map(|r| &r.region).chain(document.skipped.iter().map(|s| &s.region));
            all.any(|region| region.rsplit_once('#').is_some_and(|(function, _)| function == f))
        };
        let mut others: Vec<&str> =
            document.remarks.iter().filter(|r| !described(&r.function)).map(|r| &*r.name).collect();
        others.dedup();
        if !others.is_empty() {
            terminal::words(&mut out, &format!("not described: {}; --why-not tells why", others.join(", ")));
        }
    }
    if document.regions.is_empty() || arguments.why_not {
        for r in &document.remarks {
            let place = r.location.as_ref().unwrap_or(&r.name);
            let help = if r.help.is_empty() { String::new() } else { format!("; {}", r.help) };
            terminal::words(&mut out, &format!("{place}: not lifted [{}]: {}{help}", r.code, r.message));
        }
    }
    out
}

fn region(out: &mut String, summary: &RegionSummary, machine: &str, arguments: &ExploreArguments) {
    let place = summary.location.as_deref().map_or_else(String::new, |l| format!(" ({l})"));
    let params: Vec<String> = summary.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let at = if params.is_empty() { String::new() } else { format!(" at {}", params.join(", ")) };
    let RegionSummary { legal, judged, tried, .. } = summary;
    let count = match tried {
        0 => format!("no transformation applies{at}; `looptree why` tells what would help"),
        _ => format!("{legal} legal of {judged} judged, of {tried} variants{at}"),
    };
    terminal::words(out, &format!("{}{place}: {count}", style(&summary.name).bold()));
    if !summary.runs || summary.original_cycles <= 0.0 {
        let _ = writeln!(out, "nothing of it runs for these parameters: there is nothing to rank");
        return;
    }
    let took = summary.original_seconds.map_or_else(String::new, |s| format!(", {} measured", time(s)));
    let original = cycles(summary.original_cycles);
    terminal::words(out, &format!("the original: {original} cycles predicted for {machine}{took}"));
    for idiom in &summary.idioms {
        terminal::words(out, &idiom.text);
    }
    let variants: Vec<_> = summary.shown().collect();
    let recipes: Vec<&str> = variants.iter().map(|v| &*v.recipe).filter(|r| !r.is_empty()).collect();
    let common = terminal::common_steps(&recipes);
    if !common.is_empty() {
        let _ = writeln!(out, "all recipes begin with");
        terminal::recipe(out, common.trim_end(), "");
    }
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
    let shared = variants.iter().filter(|v| !v.recipe.is_empty()).map(|v| &v.conditions);
    let shared = shared.clone().next().filter(|first| shared.clone().all(|c| c == *first));
    let mut above = "";
    for variant in &variants {
        let line = figures(&Figures {
            rank: &variant.rank.to_string(),
            predicted: &format!("{:.2}x", variant.predicted_ratio),
            cycles: &cycles(variant.cycles),
            measured: &variant.measured_ratio.map_or_else(|| "-".into(), |r| format!("{r:.2}x")),
            time: &variant.seconds.map_or_else(|| "-".into(), time),
            sketch: &match (variant.sketch.as_deref().unwrap_or("moves"), variant.alike) {
                (sketch, 0) => sketch.to_string(),
                (sketch, others) => format!("{sketch}; {others} more of other sizes"),
            },
        });
        if variant.recipe.is_empty() {
            let _ = writeln!(out, "{}", line.replace("moves", "(the original)").trim_end());
            continue;
        }
        let line =
            if fastest == Some(variant.rank) { style(line + ", fastest").green() } else { style(line) };
        let _ = writeln!(out, "{line}");
        let own = &variant.recipe[common.len()..];
        terminal::recipe(out, own, above);
        above = own;
        if shared != Some(&variant.conditions) && !variant.conditions.is_empty() {
            terminal::words(out, &format!("    checked at run time: {}", variant.conditions.join(", ")));
        }
    }
    if let Some(shared) = shared.filter(|s| !s.is_empty()) {
        terminal::words(out, &format!("checked at run time: {}", shared.join(", ")));
    }
    if let Some(why) = &summary.not_measured {
        terminal::words(out, &format!("not measured: {why}"));
    }
    for variant in variants.iter().filter(|_| arguments.explain) {
        if let Some(cost) = &variant.cost {
            let _ = writeln!(out, "#{}\n{}", variant.rank, cost.explain());
        }
    }
    if arguments.why_not {
        let none = if summary.refused.is_empty() { " nothing" } else { "" };
        let _ = writeln!(out, "refused:{none}");
        for r in &summary.refused {
            terminal::words(out, &format!("  {} [{}]", r.recipe, r.code));
            r.reason.lines().for_each(|line| terminal::words(out, &format!("    {line}")));
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
