//! Reasons by time: what became of the loop that each sample was taken in.

use super::profile::{Frame, Inlined, Stack};
use crate::statistics;
use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What became of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Became {
    Changed,
    /// It is described, and why it stays.
    Described(&'static str),
    /// It is not described: reason and message.
    Left(String, String),
}

/// A loop of a function, or of what is inlined there.
#[derive(Debug, Clone, Serialize)]
pub struct Written {
    pub function: String,
    /// Without directories.
    pub file: String,
    pub begin: (u32, u32),
    pub end: (u32, u32),
    pub became: Became,
}

impl Written {
    fn is_around(&self, frame: &Frame) -> bool {
        if self.file != frame.file {
            return false;
        }
        match frame.column {
            0 => self.begin.0 <= frame.line && frame.line <= self.end.0,
            column => self.begin <= (frame.line, column) && (frame.line, column) <= self.end,
        }
    }
}

/// The share of a reason.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Of the time, in loops that are left for it.
    pub inside: f64,
    /// Of the time, in loops that are described and stay, where a loop around them is left for it.
    pub around: f64,
}

/// A loop that takes time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hot {
    pub place: String,
    pub function: String,
    pub share: f64,
    pub reason: String,
    pub message: String,
}

/// Where one program spends its time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Shares {
    pub samples: usize,
    pub reasons: BTreeMap<String, Share>,
    /// The loops that take most of it first.
    pub loops: Vec<Hot>,
}

/// Time in no loop of the files.
const NO_LOOP: &str = "in no loop";
pub const CHANGED: &str = "changed";

/// Loops that are listed.
const LISTED: usize = 12;

/// Sums up samples.
pub fn shares(loops: &[Written], stacks: &[(Stack, usize)]) -> Shares {
    let mut by_file: BTreeMap<&str, Vec<&Written>> = BTreeMap::new();
    for l in loops {
        by_file.entry(&l.file).or_default().push(l);
    }
    let samples = stacks.iter().map(|s| s.1).sum::<usize>();
    let mut shares = Shares { samples, ..Shares::default() };
    let mut hot: BTreeMap<(&str, (u32, u32)), Hot> = BTreeMap::new();
    for (stack, count) in stacks {
        let share = *count as f64 / samples as f64;
        let Some(around) = stack.iter().find_map(|inlined| innermost(&by_file, inlined)) else {
            shares.reasons.entry(NO_LOOP.to_string()).or_default().inside += share;
            continue;
        };
        let inner = around[0];
        let (reason, message) = match &inner.became {
            Became::Changed => (CHANGED, ""),
            Became::Described(why) => (*why, ""),
            Became::Left(reason, message) => (reason.as_str(), message.as_str()),
        };
        shares.reasons.entry(reason.to_string()).or_default().inside += share;
        if matches!(inner.became, Became::Described(_))
            && let Some(Became::Left(outer, _)) = around.get(1).map(|l| &l.became)
        {
            shares.reasons.entry(outer.clone()).or_default().around += share;
        }
        let entry = hot.entry((&inner.file, inner.begin)).or_insert_with(|| Hot {
            place: format!("{}:{}", inner.file, inner.begin.0),
            function: inner.function.clone(),
            share: 0.0,
            reason: reason.to_string(),
            message: message.to_string(),
        });
        entry.share += share;
    }
    shares.loops = hot.into_values().collect();
    shares.loops.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}

/// The innermost loop around an instruction, in the function that is inlined deepest of those that have one; and the first around
/// that which is no part of the same region.
fn innermost<'a>(loops: &BTreeMap<&str, Vec<&'a Written>>, inlined: &Inlined) -> Option<Vec<&'a Written>> {
    inlined.iter().enumerate().find_map(|(at, frame)| {
        let all = loops.get(frame.file.as_str())?.iter().copied();
        let around: Vec<&Written> = all.filter(|l| l.is_around(frame)).collect();
        let begin = around.iter().map(|l| l.begin).max()?;
        // As lifted in the function itself, or where that is inlined: what is changed anywhere is run.
        let host = |l: &Written| inlined[at..].iter().position(|f| f.function == l.function);
        let best = |l: &&&Written| {
            let state = match l.became {
                Became::Changed => 0,
                Became::Described(_) => 1,
                Became::Left(..) => 2,
            };
            let host = host(l);
            (host.is_none(), state, host)
        };
        let inner = *around.iter().filter(|l| l.begin == begin).min_by_key(best)?;
        let outer = around.iter().filter(|l| {
            l.function == inner.function && l.begin < begin && matches!(l.became, Became::Left(..))
        });
        Some([inner].into_iter().chain(outer.max_by_key(|l| l.begin).copied()).collect())
    })
}

impl Shares {
    pub fn print(&self) {
        println!("{} samples", self.samples);
        print(&self.reasons);
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_header(["loop", "time", "reason", ""]);
        for hot in self.loops.iter().take(LISTED) {
            let message: String = hot.message.chars().take(100).collect();
            table.add_row([&hot.place, &format!("{:.1} %", 100.0 * hot.share), &hot.reason, &message]);
        }
        println!("{table}\n");
    }
}

fn print(reasons: &BTreeMap<String, Share>) {
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by(|a, b| b.1.inside.total_cmp(&a.1.inside));
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["reason", "of the time", "around what is described"]);
    for (reason, share) in sorted {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        table.add_row([reason.clone(), percent(share.inside), percent(share.around)]);
    }
    for column in 1..3 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!("{table}\n");
}

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Reports of `corpus --profile`.
    #[arg(required = true)]
    reports: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Report {
    time: Option<Shares>,
}

/// The mean over programs, each of which weighs the same.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let mut programs = Vec::new();
    for file in &arguments.reports {
        let cannot = || format!("cannot read {}", file.display());
        let report: Report =
            serde_json::from_slice(&std::fs::read(file).with_context(cannot)?).with_context(cannot)?;
        let shares = report.time.with_context(|| format!("{} has no samples", file.display()))?;
        programs.push(shares.reasons);
    }
    println!("{} programs", programs.len());
    print(&means(&programs));
    Ok(true)
}

fn means(programs: &[BTreeMap<String, Share>]) -> BTreeMap<String, Share> {
    let reasons = programs.iter().flat_map(BTreeMap::keys).cloned();
    let of = |reason: &str, part: fn(&Share) -> f64| {
        statistics::mean(programs.iter().map(|p| p.get(reason).map_or(0.0, part)))
    };
    reasons
        .map(|reason| {
            let share = Share { inside: of(&reason, |s| s.inside), around: of(&reason, |s| s.around) };
            (reason, share)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, line: u32) -> Frame {
        Frame { function: function.to_string(), file: "a.c".to_string(), line, column: 9 }
    }

    fn written(function: &str, begin: u32, end: u32, became: Became) -> Written {
        Written {
            function: function.to_string(),
            file: "a.c".to_string(),
            begin: (begin, 5),
            end: (end, 30),
            became,
        }
    }

    fn left(reason: &str) -> Became {
        Became::Left(reason.to_string(), String::new())
    }

    fn share(shares: &Shares, reason: &str) -> Share {
        shares.reasons.get(reason).copied().unwrap_or_default()
    }

    #[test]
    fn samples_count_to_the_innermost_loop() {
        let loops = [
            written("f", 10, 20, left("opaque")),
            written("f", 12, 14, Became::Described("no gain predicted")),
            written("f", 16, 18, left("access")),
            written("main", 30, 40, left("trip-count")),
        ];
        let in_main = || vec![frame("main", 35)];
        let stacks = [
            (vec![vec![frame("f", 13)], in_main()], 4),
            (vec![vec![frame("f", 17)], in_main()], 2),
            (vec![vec![frame("f", 11)], in_main()], 1),
            // No loop of its own, and code without lines: who calls counts.
            (vec![vec![frame("f", 21)], in_main()], 2),
            (vec![Vec::new(), vec![frame("main", 50)]], 1),
        ];
        let shares = shares(&loops, &stacks);
        assert_eq!(shares.samples, 10);
        assert_eq!(share(&shares, "no gain predicted"), Share { inside: 0.4, around: 0.0 });
        assert_eq!(share(&shares, "opaque"), Share { inside: 0.1, around: 0.4 });
        assert_eq!(share(&shares, "access"), Share { inside: 0.2, around: 0.0 });
        assert_eq!(share(&shares, "trip-count").inside, 0.2);
        assert_eq!(share(&shares, NO_LOOP).inside, 0.1);
        assert_eq!((shares.loops[0].place.as_str(), shares.loops[0].share), ("a.c:12", 0.4));
    }

    #[test]
    fn what_is_inlined_is_what_became_of_it_there() {
        let loops = [
            written("f", 10, 20, left("subscript")),
            written("g", 10, 20, Became::Changed),
            written("h", 10, 20, left("access")),
            written("k", 10, 20, Became::Described("no gain predicted")),
            written("g", 30, 40, Became::Changed),
        ];
        let inlined = |into: &str| vec![(vec![vec![frame("f", 15), frame(into, 35)]], 1)];
        let reason = |stacks: Vec<_>| shares(&loops, &stacks).loops.remove(0).reason;
        assert_eq!(reason(inlined("g")), CHANGED);
        assert_eq!(reason(inlined("h")), "subscript");
        assert_eq!(reason(inlined("k")), "no gain predicted");
        assert_eq!(reason(inlined("other")), "subscript");
    }

    #[test]
    fn programs_weigh_the_same() {
        let one =
            |reason: &str, inside| BTreeMap::from([(reason.to_string(), Share { inside, around: 0.0 })]);
        let means = means(&[one("access", 1.0), one("access", 0.5), one("opaque", 1.0)]);
        assert_eq!((means["access"].inside, means["opaque"].inside), (0.5, 1.0 / 3.0));
    }
}
