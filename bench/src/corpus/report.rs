//! What came out.

use super::shares::{Shares, Written};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::collections::BTreeMap;

/// How often each reason, and of these how often for a nest of two loops or more.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Reasons(pub BTreeMap<String, (usize, usize)>);

impl Reasons {
    pub fn count(&mut self, reason: &str, depth: usize) {
        let (all, nests) = self.0.entry(reason.to_string()).or_default();
        *all += 1;
        *nests += usize::from(depth > 1);
    }

    fn add(&mut self, other: &Reasons) {
        for (reason, (all, nests)) in &other.0 {
            let mine = self.0.entry(reason.clone()).or_default();
            *mine = (mine.0 + all, mine.1 + nests);
        }
    }
}

/// One file.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    pub file: String,
    pub functions: usize,
    pub loops: usize,
    /// Of the loops, those in regions.
    pub described: usize,
    pub regions: usize,
    /// What is emitted for each region that changes.
    pub changed: Vec<String>,
    /// Why loops are not described.
    pub left: Reasons,
    /// Why regions do not change.
    pub kept: Reasons,
    pub remarks: Vec<String>,
    /// What became of its loops.
    #[serde(skip)]
    pub written: Vec<Written>,
    /// Seconds of clang -O3.
    pub clang: f64,
    /// Seconds of reading, searching and emitting.
    pub looptree: f64,
    /// Why clang does not compile it.
    pub skipped: Option<String>,
    pub failure: Option<String>,
}

/// The program.
#[derive(Debug, Serialize)]
pub struct Ran {
    /// Seconds of the original.
    pub original: f64,
    pub ratio: f64,
    pub equal: bool,
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub files: Vec<Outcome>,
    pub ran: Option<Ran>,
    /// Reasons by time.
    pub time: Option<Shares>,
}

impl Outcome {
    pub fn line(&self) -> String {
        let Outcome { file, loops, described, regions, .. } = self;
        match (&self.failure, &self.skipped) {
            (Some(why), _) => format!("{file}: FAILED: {why}"),
            (_, Some(why)) => format!("{file}: not compiled: {why}"),
            _ => {
                let time = format!("clang {:.2} s, looptree {:.2} s", self.clang, self.looptree);
                let changed = self.changed.len();
                format!(
                    "{file}: {described} of {loops} loops in {regions} regions, {changed} changed; {time}"
                )
            }
        }
    }
}

impl Report {
    /// Whether nothing went wrong.
    pub fn is_sound(&self) -> bool {
        self.files.iter().all(|f| f.failure.is_none()) && self.ran.as_ref().is_none_or(|r| r.equal)
    }

    pub fn print(&self, remarks: bool) {
        let (mut left, mut kept) = (Reasons::default(), Reasons::default());
        for file in &self.files {
            left.add(&file.left);
            kept.add(&file.kept);
            if remarks {
                file.remarks.iter().chain(&file.changed).for_each(|r| println!("{r}"));
            }
        }
        table("left alone", &left);
        table("described, not changed", &kept);
        if let Some(shares) = &self.time {
            shares.print();
        }
        let sum = |of: &dyn Fn(&Outcome) -> usize| self.files.iter().map(of).sum::<usize>();
        let seconds = |of: &dyn Fn(&Outcome) -> f64| self.files.iter().map(of).sum::<f64>();
        let compiled = sum(&|f| usize::from(f.skipped.is_none() && f.failure.is_none()));
        println!(
            "{compiled} of {} files; {} of {} loops in {} regions, {} changed",
            self.files.len(),
            sum(&|f| f.described),
            sum(&|f| f.loops),
            sum(&|f| f.regions),
            sum(&|f| f.changed.len()),
        );
        let (clang, ours) = (seconds(&|f| f.clang), seconds(&|f| f.looptree));
        if clang > 0.0 {
            println!("clang {clang:.2} s, looptree {ours:.2} s: {:.0} %", 100.0 * ours / clang);
        }
        for failure in self.files.iter().filter(|f| f.failure.is_some()) {
            println!("{}", failure.line());
        }
        if let Some(Ran { original, ratio, equal }) = &self.ran {
            let output = if *equal { "equal" } else { "DIFFERS" };
            println!("program: {original:.2} s, {ratio:.3}x, output {output}");
        }
    }
}

fn table(title: &str, reasons: &Reasons) {
    if reasons.0.is_empty() {
        return;
    }
    let mut sorted: Vec<_> = reasons.0.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header([title, "parts", "of these nests"]);
    for (reason, (all, nests)) in sorted {
        table.add_row([reason.clone(), all.to_string(), nests.to_string()]);
    }
    for column in 1..3 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!("{table}\n");
}
