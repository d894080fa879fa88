//! `looptree why`: why a loop is not faster.

mod allowed;

use super::args::{InputArguments, WhyArguments};
use super::error::CliError;
use super::explore::roofline::roofline;
use super::input;
use super::output;
use super::progress::Progress;
use super::regions;
use super::terminal;
use allowed::{Allowed, What};
use console::style;
use emission::conditions::checked;
use looptree::analyses::Witness;
use looptree::cost_model::Term;
use looptree::driver::{self, Explored, ExploredRegion, MIN_GAIN, Models, Optimizer, Session};
use looptree::explore::{Reason, Statistics};
use looptree::irgen::lift::Remark;
use looptree::names::readable;
use looptree::tree::text::print_runtime_condition;
use looptree::tree::{RuntimeCondition, SourceLocation, canonical};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Share of the time from which on a part of a nest is told.
const TOLD: f64 = 0.1;
/// Times as fast from which on something that is not done is told.
const BETTER: f64 = 1.2;
/// The same of what the source could spare.
const SPARED: f64 = 1.01;
/// Dependences told of a nest.
const FORBIDDEN: usize = 3;

/// Runs the command.
pub fn run(arguments: &WhyArguments) -> Result<(), CliError> {
    let (file, line) = split_line(&arguments.file);
    let input = InputArguments {
        file: file.clone(),
        function: arguments.function.clone(),
        region: None,
        clang_flags: arguments.clang_flags.clone(),
    };
    let settings = input::settings(&input, &arguments.model, Some(&arguments.search))?;
    let optimizer = input::optimizer(settings)?;
    let progress = Progress::new();
    let tell = |region: &str, s: &Statistics| progress.of_search(region, s);
    let name = file.display().to_string();
    let session = |text| Session { progress: Some(&tell), ..Session::new(text, &name, &optimizer) };
    let read = input::read(&input)?;
    let own = session(read.module());
    let explored = regions::explore(&own, &read, &file)?;
    let allowed = allowed::allowed(&input, &read, &own, &progress)?;
    progress.finish();
    let report = Report { explored: &explored, optimizer: &optimizer, allowed, line };
    let text = report.text();
    if text.is_empty() {
        return Err(CliError::NotThere {
            message: match line {
                Some(line) => format!("there is no loop around line {line} of {name}"),
                None => format!("there is no loop in {name}"),
            },
            help: "`looptree show FILE --what regions` lists what was found".to_string(),
        });
    }
    output::print(&text)
}

/// `kernel.c:31`, or `kernel.c:31:5` as compilers write it, where there is no file of that name.
fn split_line(file: &Path) -> (PathBuf, Option<u32>) {
    fn number(text: &str) -> Option<(&str, u32)> {
        let (before, number) = text.rsplit_once(':')?;
        Some((before, number.parse().ok()?))
    }
    let split = || {
        let last = number(file.to_str()?)?;
        let (name, line) = number(last.0).unwrap_or(last);
        Some((PathBuf::from(name), Some(line)))
    };
    if file.exists() { (file.to_owned(), None) } else { split().unwrap_or_else(|| (file.to_owned(), None)) }
}

/// What is told.
struct Report<'a> {
    explored: &'a Explored,
    optimizer: &'a Optimizer,
    /// What is found where more is allowed.
    allowed: Vec<Allowed>,
    line: Option<u32>,
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut out = String::new();
        let mut regions: Vec<&ExploredRegion> = self
            .explored
            .regions
            .iter()
            .filter(|r| self.line.is_none_or(|line| lines(r).contains(&line)))
            .collect();
        let cycles = |r: &ExploredRegion| r.exploration.original.cycles;
        regions.sort_by(|a, b| cycles(b).total_cmp(&cycles(a)));
        let whole: f64 = self.explored.regions.iter().map(cycles).sum();
        for region in &regions {
            self.region(&mut out, region, whole);
        }
        let here =
            |l: Option<&SourceLocation>| self.line.is_none_or(|line| l.is_some_and(|l| l.line == line));
        for skipped in self.explored.skipped.iter().filter(|s| here(s.location.as_ref())) {
            head(&mut out, &skipped.label(), skipped.location.as_ref(), "");
            terminal::words(&mut out, &format!("  not searched: {}", skipped.why));
        }
        let remarks: Vec<&(Arc<str>, Remark)> =
            self.explored.remarks.iter().filter(|(_, r)| here(r.location.as_ref())).collect();
        for (function, remark) in remarks {
            head(&mut out, &readable(function), remark.location.as_ref(), ", not described");
            terminal::words(&mut out, &format!("  {} [{}]", remark.message, remark.code));
            if !remark.help.is_empty() {
                terminal::words(&mut out, &format!("  {} {}", style("help:").bold(), remark.help));
            }
        }
        // What only becomes a nest when more is allowed.
        for Allowed { what, explored } in &self.allowed {
            for region in explored.regions.iter().filter(|r| self.found(self.explored, r).is_none()) {
                if here(region.location.as_ref()) && region.exploration.worthwhile(BETTER).is_some() {
                    head(&mut out, &region.label(), region.location.as_ref(), "");
                    let ratio = region.exploration.ratio(region.exploration.best());
                    let with = what.with(region);
                    let told = format!("  with {with} it is a nest, and {ratio:.1}x is predicted");
                    terminal::words(&mut out, &told);
                }
            }
        }
        out
    }

    /// The region of the same place.
    fn found<'e>(&self, explored: &'e Explored, region: &ExploredRegion) -> Option<&'e ExploredRegion> {
        let same = |r: &&ExploredRegion| r.function == region.function && r.location == region.location;
        explored.regions.iter().find(same)
    }

    fn region(&self, out: &mut String, region: &ExploredRegion, whole: f64) {
        let exploration = &region.exploration;
        let share = 100.0 * exploration.original.cycles / whole.max(1.0);
        let note = format!(", {share:.0} % of the cycles predicted for this file");
        head(out, &region.label(), region.location.as_ref(), &note);
        let _ = writeln!(out, "  where the time goes:");
        let total = exploration.original.cycles.max(1.0);
        let mut terms: Vec<&Term> =
            exploration.original.terms.iter().filter(|t| t.cycles >= TOLD * total).collect();
        terms.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
        for term in terms {
            let most = term.parts.iter().max_by(|a, b| a.cycles.total_cmp(&b.cycles));
            let why = most.map_or_else(|| term.detail.clone(), |p| format!("{}: {}", p.name, p.detail));
            let share = 100.0 * term.cycles / total;
            terminal::words(out, &format!("    {share:>3.0} %  {}: {why}", term.name));
        }
        let models = self.optimizer.models.for_code(region.vectors);
        if let Some(roofline) = roofline(&region.kernel, &region.params, &*models.target)
            && let Some((per_cycle, share)) = roofline.reached(exploration.original.cycles)
            && let Some(ceiling) = roofline.ceilings.last()
        {
            let best = roofline.reached(exploration.best().cycles).map_or(0.0, |(_, share)| share);
            let line = format!(
                "  predicted share of peak: {:.1} %, {per_cycle:.2} of {:.0} {} per cycle ({}); of the best variant {:.1} %",
                100.0 * share,
                ceiling.per_cycle,
                roofline.unit,
                ceiling.name,
                100.0 * best
            );
            terminal::words(out, &line);
        }
        let Statistics { tried, judged, legal, undecided, .. } = exploration.statistics;
        let unknown = if undecided > 0 { format!(", {undecided} undecided") } else { String::new() };
        // As `explore` says it.
        let count = match tried {
            0 => "no transformation applies of those that are searched; `show --what moves` lists steps for a --recipe, \
                  and --threads, --library and --reorder allow more"
                .to_string(),
            _ => format!("tried: {tried} variants, {judged} of them judged, {legal} legal{unknown}"),
        };
        terminal::words(out, &format!("  {count}"));
        let best = exploration.best();
        let ratio = exploration.ratio(best);
        if tried == 0 {
            // That none is faster goes without saying.
        } else if best.recipe.0.is_empty() {
            let _ = writeln!(out, "  none that is legal is predicted to be faster");
        } else {
            let small = "as sizes are a guess and it is slower where they are small";
            let other =
                region.instead.map(|at| format!("`opt` and the plugin do #{at} of `explore`, {small}"));
            let done = match (&other, exploration.worthwhile(MIN_GAIN), region.if_short) {
                (Some(other), ..) => other.as_str(),
                (_, None, _) => "too little for `opt` to rely on the prediction: --measure, or --min-gain",
                (.., Some(gain)) if gain < 1.0 => {
                    "not done, as sizes are a guess and it is slower where they are small: --param"
                }
                _ => "`opt` and the plugin do it",
            };
            terminal::words(out, &format!("  the best is predicted to be {ratio:.2}x as fast ({done}):"));
            terminal::recipe(out, &best.recipe.to_string(), "");
            self.checks(out, region);
        }
        let forbidden = self.forbidden(region);
        if !forbidden.is_empty() {
            let _ = writeln!(out, "  forbidden, and predicted to be better:");
        }
        for (gain, recipe, witness) in forbidden.iter().take(FORBIDDEN) {
            terminal::words(out, &format!("    {gain:.2}x, which {witness}"));
            terminal::recipe(out, recipe, "");
        }
        let time = |r: &ExploredRegion| {
            let best = r.exploration.best();
            let check =
                if best.recipe.0.is_empty() { 0.0 } else { driver::check(&r.kernel, &best.conditions) };
            (best.cycles + check).max(1.0)
        };
        let found = |a: &'_ Allowed| self.found(&a.explored, region).map(|other| time(region) / time(other));
        let others: Vec<(&Allowed, f64)> = self.allowed.iter().filter_map(|a| Some((a, found(a)?))).collect();
        for (Allowed { what, .. }, gain) in &others {
            if let What::Source(change) = what
                && *gain >= SPARED
            {
                terminal::words(
                    out,
                    &format!("  in the source: {}: {gain:.2}x faster than the above", change.of(region)),
                );
            }
        }
        let mut heading = Some("  with other flags:");
        for (Allowed { what, .. }, gain) in others {
            if let What::Flags(flags, says) = what
                && gain >= BETTER
            {
                if let Some(heading) = heading.take() {
                    let _ = writeln!(out, "{heading}");
                }
                terminal::words(out, &format!("    {flags}: {gain:.2}x faster than the above ({says})"));
            }
        }
    }

    /// What the best variant checks in front, and what would spare it.
    fn checks(&self, out: &mut String, region: &ExploredRegion) {
        let best = region.exploration.best();
        let tested = checked(&region.kernel, &best.conditions);
        if tested.is_empty() {
            return;
        }
        let conditions: Vec<String> =
            tested.iter().map(|c| print_runtime_condition(&region.kernel, c)).collect();
        let cycles = driver::check(&region.kernel, &best.conditions);
        terminal::words(
            out,
            &format!("  checked at run time, in {cycles:.0} cycles: {}", conditions.join(", ")),
        );
        let gain = (best.cycles + cycles) / best.cycles.max(1.0);
        if gain >= SPARED && tested.iter().any(|c| matches!(c, RuntimeCondition::NoOverlap(..))) {
            let line = format!(
                "  in the source: `restrict` where they never overlap, which spares that ({gain:.2}x)"
            );
            terminal::words(out, &line);
        }
    }

    /// What each dependence costs most: predicted gain, recipe, and the dependence, the best first.
    fn forbidden<'e>(&self, region: &'e ExploredRegion) -> Vec<(f64, String, &'e Witness)> {
        let (kernel, exploration) = (&region.kernel, &region.exploration);
        let Models { cost, .. } = self.optimizer.models.for_code(region.vectors);
        let prepared = cost.prepare(kernel, &region.params);
        let original = canonical(kernel, &kernel.original);
        let least = exploration.best().cycles / BETTER;
        let mut best: BTreeMap<String, (f64, String, &'e Witness)> = BTreeMap::new();
        for refused in &exploration.refused {
            let Reason::Illegal(witness) = &refused.reason else { continue };
            let Ok(root) = refused.recipe.replay(kernel, &original) else { continue };
            let cycles = prepared.cycles(&root);
            let about = subject(witness);
            if cycles < least && best.get(&about).is_none_or(|(known, ..)| cycles < *known) {
                best.insert(about, (cycles, refused.recipe.to_string(), witness));
            }
        }
        let mut list: Vec<_> = best.into_values().collect();
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (cycles, ..) in &mut list {
            *cycles = exploration.original.cycles / cycles.max(1.0);
        }
        list
    }
}

/// What a witness is about: of several with the same, one is told.
fn subject(witness: &Witness) -> String {
    match witness {
        Witness::Order(d) | Witness::Carried { dependence: d, .. } => {
            format!("{}{}{}{:?}", d.kind.name(), d.source.name, d.target.name, d.array)
        }
        Witness::Storage(s) => format!("{}{:?}", s.array, s.problem),
        other => other.category().to_string(),
    }
}

/// Lines of the source that a region is made from.
fn lines(region: &ExploredRegion) -> std::ops::RangeInclusive<u32> {
    let statements = region.kernel.statements.iter().filter_map(|s| s.location.as_ref());
    let all = || statements.clone().chain(&region.location).map(|l| l.line);
    all().min().unwrap_or(0)..=all().max().unwrap_or(0)
}

/// The name of a nest, and its line.
fn head(out: &mut String, label: &str, location: Option<&SourceLocation>, note: &str) {
    let blank = if out.is_empty() { "" } else { "\n" };
    let place = location.map_or_else(String::new, |l| format!(" at {l}"));
    out.push_str(blank);
    terminal::words(out, &format!("{}{place}{note}", style(label).bold()));
    if let Some(excerpt) = location.and_then(|l| terminal::excerpt(l, style("^").green())) {
        let _ = writeln!(out, "{excerpt}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_as_compilers_write_them() {
        let split = |text: &str| split_line(Path::new(text));
        let kernel = PathBuf::from("no/kernel.c");
        assert_eq!(split("no/kernel.c"), (kernel.clone(), None));
        assert_eq!(split("no/kernel.c:31"), (kernel.clone(), Some(31)));
        assert_eq!(split("no/kernel.c:31:5"), (kernel, Some(31)));
        assert_eq!(split("no/kernel.c:end"), (PathBuf::from("no/kernel.c:end"), None));
    }
}
