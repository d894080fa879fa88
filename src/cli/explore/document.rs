//! What was found, as a document: the table, JSON and the report are made from it alone.

use super::details::{Details, Example, details, names};
use super::kinds::alike;
use super::roofline;
use crate::cli::args::{ExploreArguments, Format, InputArguments};
use crate::cli::measured::Times;
use looptree::analyses::idioms::{Idioms, Known};
use looptree::cost_model::Cost;
use looptree::driver::{Explored, ExploredRegion, Models, SkippedRegion};
use looptree::explore::{Reason, Refused, StopReason, Variant};
use looptree::irgen::terms::FunctionLoops;
use looptree::names::readable;
use looptree::tree::{Kernel, canonical, text};
use serde::Serialize;

/// All of it.
#[derive(Serialize, Debug)]
pub struct Document {
    /// Version of looptree.
    pub looptree: &'static str,
    /// Version of LLVM.
    pub llvm: String,
    /// The input.
    pub file: String,
    /// Flags for clang.
    pub flags: Vec<String>,
    /// What costs are predicted for.
    pub machine: String,
    /// Regions searched.
    pub regions: Vec<RegionSummary>,
    /// Regions that were not.
    pub skipped: Vec<SkippedSummary>,
    /// What was not understood.
    pub remarks: Vec<RemarkSummary>,
}

/// One region.
#[derive(Serialize, Debug)]
pub struct RegionSummary {
    /// `symbol#number`
    pub region: String,
    /// The same with the function's name.
    pub name: String,
    /// `file:line` where it begins.
    pub location: Option<String>,
    /// Values of the parameters.
    pub params: Vec<(String, i64)>,
    /// Whether any statement is executed with them.
    pub runs: bool,
    /// What its statements are known as.
    pub idioms: Vec<IdiomSummary>,
    /// Predicted cycles of the original.
    pub original_cycles: f64,
    /// Measured seconds of one call of it, median.
    pub original_seconds: Option<f64>,
    /// Ranks of those in the table.
    #[serde(skip)]
    pub in_table: Vec<usize>,
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
    /// What a table has no place for.
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// A statement that is known as something.
#[derive(Serialize, Debug)]
pub struct IdiomSummary {
    /// The name, such as `matrix product`.
    pub name: String,
    /// The statement.
    pub statement: String,
    /// The loops that are part of it, outermost first.
    pub loops: Vec<String>,
    /// What is stored.
    pub formula: String,
    /// What is particular about it, such as an operand that is transposed.
    pub notes: Vec<String>,
    /// All of this in a line.
    pub text: String,
}

/// One variant.
#[derive(Serialize, Debug)]
pub struct VariantSummary {
    /// From 0.
    pub rank: usize,
    /// Recipe text; empty for the original.
    pub recipe: String,
    /// How many other variants differ from it in sizes only.
    pub alike: usize,
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
    /// The predicted cost with its terms.
    pub cost: Option<Cost>,
    /// The tree, in `.lt` text.
    pub tree: Option<String>,
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
    /// Predicted speed-up over the original, had it been legal.
    pub predicted_ratio: Option<f64>,
    /// Instances of statements that show it.
    pub example: Option<Example>,
    /// The tree, where there is one, in `.lt` text.
    pub tree: Option<String>,
}

/// A region that was not searched.
#[derive(Serialize, Debug)]
pub struct SkippedSummary {
    /// `symbol#number`
    pub region: String,
    /// The same with the function's name.
    pub name: String,
    /// Why.
    pub why: String,
}

/// Something that was not understood.
#[derive(Serialize, Debug)]
pub struct RemarkSummary {
    /// The function's symbol.
    pub function: String,
    /// What it is called.
    pub name: String,
    /// `file:line`
    pub location: Option<String>,
    /// Stable short name.
    pub code: &'static str,
    /// What is in the way.
    pub message: String,
    /// What would help; may be empty.
    pub help: &'static str,
}

/// How much goes into a document.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// All variants, not only those of the table.
    pub all: bool,
    /// Terms of costs.
    pub terms: bool,
    /// Refused variants.
    pub refused: bool,
    /// Trees, dependences, source text, and what else a table has no place for.
    pub details: bool,
}

impl Extent {
    /// What the options ask for: everything for programs and for the report, and there all variants.
    pub fn of(arguments: &ExploreArguments) -> Extent {
        let drawn = arguments.html.is_some() || arguments.svg.is_some();
        let details = drawn || arguments.format == Format::Json;
        Extent {
            all: drawn,
            terms: details || arguments.explain,
            refused: details || arguments.why_not,
            details,
        }
    }
}

/// The document of regions that are summarised already.
pub fn document(
    input: &InputArguments,
    machine: &str,
    regions: Vec<RegionSummary>,
    explored: &Explored,
) -> Document {
    let skipped = explored.skipped.iter();
    let remarks = explored.remarks.iter().map(|(function, r)| RemarkSummary {
        function: function.to_string(),
        name: readable(function).into_owned(),
        location: r.location.as_ref().map(|l| l.to_string()),
        code: r.code,
        message: r.message.clone(),
        help: r.help,
    });
    Document {
        looptree: env!("CARGO_PKG_VERSION"),
        llvm: looptree::irgen::llvm::version(),
        file: input.file.display().to_string(),
        flags: input.clang_flags.clone(),
        machine: machine.to_string(),
        regions,
        skipped: skipped.map(skipped_summary).collect(),
        remarks: remarks.collect(),
    }
}

fn skipped_summary(skipped: &SkippedRegion) -> SkippedSummary {
    SkippedSummary {
        region: format!("{}#{}", skipped.function, skipped.number),
        name: skipped.label(),
        why: skipped.why.clone(),
    }
}

impl RegionSummary {
    /// The variants in the table.
    pub fn shown(&self) -> impl Iterator<Item = &VariantSummary> + Clone {
        self.variants.iter().filter(|v| self.in_table.binary_search(&v.rank).is_ok())
    }
}

/// What is told of a region, and of the variants with these ranks in its table.
pub fn summary(
    region: &ExploredRegion,
    in_table: Vec<usize>,
    extent: Extent,
    times: Option<&Times>,
    models: &Models,
    idioms: &Idioms,
    loops: &[FunctionLoops],
) -> RegionSummary {
    let exploration = &region.exploration;
    let kernel = &region.kernel;
    let prepared = models.cost.prepare(kernel, &region.params);
    let original = canonical(kernel, &kernel.original);
    let alike = alike(&exploration.variants);
    let variant = |(rank, v): (usize, &Variant)| VariantSummary {
        rank,
        recipe: v.recipe.to_string(),
        alike: alike[rank],
        sketch: v.sketch.as_ref().map(|s| s.to_string()),
        cycles: v.cycles,
        predicted_ratio: exploration.ratio(v),
        conditions: v.conditions.iter().map(|c| text::print_runtime_condition(kernel, c)).collect(),
        measured_ratio: times.and_then(|t| t.ratio(rank)),
        seconds: times.and_then(|t| t.seconds(rank)),
        cost: extent.terms.then(|| match v.recipe.0.is_empty() {
            true => exploration.original.clone(),
            false => prepared.cost(&v.root),
        }),
        tree: extent.details.then(|| text::print_tree(kernel, &v.root)),
    };
    let refused = |r: &Refused| {
        let (code, reason, example) = match &r.reason {
            Reason::Refusal(refusal) => (refusal.code.to_string(), refusal.to_string(), None),
            Reason::Illegal(w) => (w.category().to_string(), w.to_string(), Example::of(w)),
        };
        let root = extent.details.then(|| r.recipe.replay(kernel, &original).ok()).flatten();
        let ratio = |cycles: f64| exploration.original.cycles.max(1.0) / cycles.max(1.0);
        RefusedSummary {
            recipe: r.recipe.to_string(),
            code,
            reason,
            predicted_ratio: root.as_ref().map(|root| ratio(prepared.cost(root).cycles)),
            example,
            tree: root.map(|root| text::print_tree(kernel, &root)),
        }
    };
    let variants = exploration.variants.iter().enumerate();
    RegionSummary {
        region: format!("{}#{}", region.function, region.number),
        name: region.label(),
        location: region.location.as_ref().map(|l| l.to_string()),
        params: kernel.params.iter().map(|p| p.name.to_string()).zip(region.params.iter().copied()).collect(),
        runs: roofline::runs(kernel, &region.params),
        idioms: idioms.of_kernel(kernel).iter().map(|known| idiom(kernel, known)).collect(),
        original_cycles: exploration.original.cycles,
        original_seconds: times.and_then(Times::original),
        variants: variants.filter(|(r, _)| extent.all || in_table.contains(r)).map(variant).collect(),
        in_table,
        refused: exploration.refused.iter().filter(|_| extent.refused).map(refused).collect(),
        moves: exploration.statistics.moves,
        duplicates: exploration.statistics.duplicates,
        tried: exploration.statistics.tried,
        judged: exploration.statistics.judged,
        legal: exploration.statistics.legal,
        undecided: exploration.statistics.undecided,
        stopped: match exploration.stop {
            StopReason::Exhausted => "exhausted",
            StopReason::VariantLimit => "variant limit",
            StopReason::Hopeless => "nothing gains",
        },
        not_measured: times.and_then(Times::why_not),
        details: extent.details.then(|| details(region, &*models.target, loops)),
    }
}

fn idiom(kernel: &Kernel, known: &Known) -> IdiomSummary {
    let statement = kernel.statement(known.statement).name.to_string();
    IdiomSummary {
        name: known.name.to_string(),
        loops: names(kernel, &known.loops),
        formula: known.formula.clone(),
        notes: known.notes.clone(),
        text: format!("{statement}: {}", known.text(kernel)),
        statement,
    }
}
