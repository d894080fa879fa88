//! What a database says, for people and for programs.

use crate::cli::args::Format;
use crate::cli::terminal;
use looptree::names::readable;
use looptree::tune::{Item, Measured, Spread, Store, StoreError};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Variants shown of a nest.
const SHOWN: usize = 3;

/// A nest at one size, on one processor.
struct Nest {
    /// One of its items.
    item: Item,
    /// Those with reports there, the best first.
    known: Vec<Measured>,
    processor: String,
    target: String,
    /// Items without any report there.
    to_do: usize,
}

#[derive(Serialize)]
struct JsonNest<'a> {
    function: &'a str,
    name: Cow<'a, str>,
    region: usize,
    file: String,
    kernel: &'a str,
    params: &'a [(String, i64)],
    processor: &'a str,
    target: &'a str,
    to_do: usize,
    variants: Vec<JsonVariant<'a>>,
}

#[derive(Serialize)]
struct JsonVariant<'a> {
    recipe: &'a str,
    predicted: f64,
    measured: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    seconds: Option<f64>,
    original_seconds: Option<f64>,
    samples: usize,
    wrong: Option<&'a str>,
    failed: Option<&'a str>,
}

/// All items, or these.
pub fn print(store: &Store, items: Option<&[Item]>, format: Format) -> Result<String, StoreError> {
    let nests = nests(store, items)?;
    Ok(match format {
        Format::Json => json(&nests),
        Format::Table => nests.iter().map(table).collect(),
    })
}

fn nests(store: &Store, items: Option<&[Item]>) -> Result<Vec<Nest>, StoreError> {
    let mut items = match items {
        Some(items) => items.to_vec(),
        None => store.items()?,
    };
    items.sort_by(|a, b| {
        (&a.file, &a.function, a.region, &a.params).cmp(&(&b.file, &b.function, b.region, &b.params))
    });
    let mut groups: Vec<Vec<Item>> = Vec::new();
    for item in items {
        match groups.last_mut() {
            Some(last) if last[0].kernel == item.kernel && last[0].params == item.params => last.push(item),
            _ => groups.push(vec![item]),
        }
    }
    let mut nests = Vec::new();
    for group in groups {
        let mut places: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for item in &group {
            for report in store.reports_of(item)? {
                places.entry((report.processor, report.target)).or_default().insert(item.id.clone());
            }
        }
        if places.is_empty() {
            places.insert(Default::default(), BTreeSet::new());
        }
        for ((processor, target), done) in places {
            let mut known = Vec::new();
            for item in group.iter().filter(|i| done.contains(&i.id)) {
                known.push(store.measured(item, &processor, &target)?);
            }
            let low = |m: &Measured| m.ratio.filter(|_| m.wrong.is_none()).map_or(0.0, |r| r.low);
            known.sort_by(|a, b| low(b).total_cmp(&low(a)).then(a.item.id.cmp(&b.item.id)));
            let to_do = group.len() - known.len();
            nests.push(Nest { item: group[0].clone(), known, processor, target, to_do });
        }
    }
    Ok(nests)
}

impl Nest {
    fn measured(&self) -> impl Iterator<Item = (&Measured, Spread)> {
        self.known.iter().filter(|m| m.wrong.is_none()).filter_map(|m| Some((m, m.ratio?)))
    }
}

fn table(nest: &Nest) -> String {
    let item = &nest.item;
    let sizes: Vec<String> = item.params.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let mut out = format!("{} ({}){}", item.label(), item.file.display(), sizes.concat());
    if nest.processor.is_empty() {
        let _ = writeln!(out, ": {} variants to measure", nest.to_do);
        return out;
    }
    let count = |what: usize, name: &str| if what == 0 { String::new() } else { format!(", {what} {name}") };
    let wrong = nest.known.iter().filter(|m| m.wrong.is_some()).count();
    let failures = || nest.known.iter().filter(|m| m.wrong.is_none()).filter_map(|m| m.failed.as_ref());
    let _ = writeln!(
        out,
        ": {} measured{}{}{}",
        nest.measured().count(),
        count(wrong, "wrong"),
        count(failures().count(), "failed"),
        count(nest.to_do, "to do")
    );
    let _ = writeln!(out, "on {}, code for {}", nest.processor, nest.target);
    if let Some((best, _)) = nest.measured().next() {
        let (original, variant) = (best.original.unwrap_or(0.0), best.variant.unwrap_or(0.0));
        let _ = match best.ratio.is_some_and(|r| r.low > 1.0) {
            true => writeln!(out, "the original: {}, the best: {}", time(original), time(variant)),
            false => writeln!(out, "the original: {}, and nothing is surely faster", time(original)),
        };
        let _ = writeln!(out, "  measured  three quarters above  predicted  samples");
    }
    let mut above = String::new();
    for (measured, ratio) in nest.measured().take(SHOWN) {
        let (low, predicted) = (ratio.low, measured.item.predicted);
        let _ =
            writeln!(out, "  {:>7.2}x {low:>20.2}x {predicted:>9.2}x {:>8}", ratio.median, measured.samples);
        terminal::recipe(&mut out, &measured.item.recipe, &above);
        above.clone_from(&measured.item.recipe);
    }
    if let Some(why) = failures().next() {
        let _ = writeln!(out, "failed, for example: {why}");
    }
    out
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

fn json(nests: &[Nest]) -> String {
    let list: Vec<JsonNest<'_>> = nests.iter().map(JsonNest::of).collect();
    serde_json::to_string_pretty(&list).expect("plain data has text") + "\n"
}

impl<'a> JsonNest<'a> {
    fn of(nest: &'a Nest) -> Self {
        let Nest { item, known, processor, target, to_do } = nest;
        JsonNest {
            function: &item.function,
            name: readable(&item.function),
            region: item.region,
            file: item.file.display().to_string(),
            kernel: &item.kernel,
            params: &item.params,
            processor,
            target,
            to_do: *to_do,
            variants: known.iter().map(JsonVariant::of).collect(),
        }
    }
}

impl<'a> JsonVariant<'a> {
    fn of(m: &'a Measured) -> Self {
        JsonVariant {
            recipe: &m.item.recipe,
            predicted: m.item.predicted,
            measured: m.ratio.map(|r| r.median),
            low: m.ratio.map(|r| r.low),
            high: m.ratio.map(|r| r.high),
            seconds: m.variant,
            original_seconds: m.original,
            samples: m.samples,
            wrong: m.wrong.as_deref(),
            failed: m.failed.as_deref(),
        }
    }
}
