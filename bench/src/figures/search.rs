//! Transformations and searches of a three-deep nest with two statements: time, memory, and where time goes.

use super::Figure;
use crate::statistics;
use anyhow::{Context as _, Result, anyhow};
use looptree::analyses::{Oracle, Verdict};
use looptree::driver::{Optimizer, Settings};
use looptree::explore::{Exploration, Explorer, Limits, MoveSource, Problem, RegistryMoves, Strategy};
use looptree::transforms::{self, Context, Recipe, Registry, Step};
use looptree::tree::{Green, Kernel, canonical, text};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Counts what the program's own code allocates; libraries in C have their own.
#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const GEMM: &str = include_str!("../../figures/gemm.lt");

/// A fixed machine, so that everybody searches the same variants.
const TARGET: &str = "x86_64_avx2";

fn kernel() -> Result<Arc<Kernel>> {
    let mut kernel = (*text::parse(GEMM).context("gemm.lt")?.kernel).clone();
    kernel.original = canonical(&kernel, &kernel.original);
    Ok(Arc::new(kernel))
}

/// Bytes that go when a value goes.
fn bytes_of<T>(value: T) -> f64 {
    let region = Region::new(MEMORY);
    drop(value);
    let change = region.change();
    change.bytes_deallocated as f64 - change.bytes_allocated as f64
}

/// Every move on the nest, once: time to apply, new nodes, bytes of the result beside the original.
pub fn transformations() -> Result<Vec<Figure>> {
    const ROUNDS: u32 = 50;
    let kernel = kernel()?;
    let root = &kernel.original;
    let context = Context { kernel: &kernel, root };
    let known = hashes(root);
    let (mut times, mut nodes, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for step in transforms::moves(&context, &Registry::standard(), &Settings::default().moves) {
        let Ok(result) = step.apply(&context) else { continue };
        nodes.push(hashes(&result.root).difference(&known).count() as f64);
        bytes.push(bytes_of(result));
        let start = Instant::now();
        for _ in 0..ROUNDS {
            black_box(step.apply(black_box(&context)).is_ok());
        }
        times.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    Ok(vec![
        Figure::at_most("apply a transformation, median", statistics::median(&times), 10.0, "us"),
        Figure::plain("apply a transformation, slowest", greatest(&times), "us"),
        Figure::plain(format!("new nodes, median (of {})", known.len()), statistics::median(&nodes), "nodes"),
        Figure::plain("new nodes, most", greatest(&nodes), "nodes"),
        Figure::at_most("bytes of a new tree, median", statistics::median(&bytes), 2048.0, "bytes"),
    ])
}

/// Different nodes of a tree.
fn hashes(tree: &Green) -> HashSet<u128> {
    tree.walk().map(Green::structural_hash).collect()
}

/// All moves but marks, which are legal or not by one question and would be most of the variants.
struct Unmarked<'a>(RegistryMoves<'a>);

impl MoveSource for Unmarked<'_> {
    fn moves(&self, context: &Context<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<Step> {
        self.0.moves(context, &|name| name != "mark" && wanted(name))
    }
}

/// The search on one and two threads, and its parts one by one.
pub fn searches(variants: usize) -> Result<Vec<Figure>> {
    let kernel = kernel()?;
    let settings = Settings { target: TARGET.to_string(), ..Settings::default() };
    let optimizer = Optimizer::new(settings)?;
    let problem = optimizer.problem("gemm", &kernel, &[])?;
    let moves = Unmarked(optimizer.moves());
    // Seconds by the clock and by the processors: the second is what counts where other work runs beside it.
    let search = |threads: usize| -> (f64, f64, Exploration) {
        let limits = Limits { depth: 8, variants, refused: usize::MAX, threads, ..Limits::default() };
        let explorer = Explorer {
            limits,
            strategy: Strategy::Exhaustive,
            ..optimizer.explorer(problem.clone(), &moves)
        };
        let (start, before) = (Instant::now(), processor_seconds());
        let exploration = explorer.explore();
        (start.elapsed().as_secs_f64(), processor_seconds() - before, exploration)
    };
    let mut figures = Vec::new();
    let mut found = None;
    for threads in [1_usize, 2] {
        let (seconds, busy, exploration) = search(threads);
        let judged = exploration.statistics.judged.max(1) as f64;
        let name = format!("search: {judged} variants, {threads} threads");
        figures.push(match threads {
            1 => Figure::plain(name, seconds, "s"),
            _ => Figure::at_most(name, seconds * 1e4 / judged, 10.0, "s per 10,000"),
        });
        let rate = format!("search: rate, {threads} threads");
        figures.push(Figure::plain(rate, judged / seconds, "variants/s"));
        let busy_name = format!("search: processor time, {threads} threads");
        figures.push(Figure::plain(busy_name, busy * 1e4 / judged, "s per 10,000"));
        found = Some(exploration);
    }
    let mut exploration = found.ok_or_else(|| anyhow!("no search ran"))?;
    figures.extend(parts(&problem, &exploration, &*optimizer.models.cost)?);
    let (kept, refused) = (exploration.variants.len() as f64, exploration.refused.len() as f64);
    let reasons = bytes_of(std::mem::take(&mut exploration.refused));
    let total = bytes_of(std::mem::take(&mut exploration.variants));
    figures.push(Figure::at_most("bytes per variant kept", total / kept, 2048.0, "bytes"));
    figures.push(Figure::plain(
        "bytes per variant refused, with recipe and witness",
        reasons / refused,
        "bytes",
    ));
    // A few variants of the default search share less with each other.
    let mut exploration = optimizer.explorer(problem.clone(), &optimizer.moves()).explore();
    let kept = exploration.variants.len() as f64;
    exploration.refused.clear();
    let total = bytes_of(std::mem::take(&mut exploration.variants));
    let name = format!("bytes per variant kept, default search ({kept} variants)");
    figures.push(Figure::at_most(name, total / kept, 2048.0, "bytes"));
    Ok(figures)
}

/// The steps of a search on one thread, on what it found.
fn parts(
    problem: &Problem,
    exploration: &Exploration,
    cost: &dyn looptree::cost_model::CostModel,
) -> Result<Vec<Figure>> {
    let original = &problem.kernel.original;
    let kernel = &problem.kernel;
    let replay = |recipe: &Recipe| recipe.replay(kernel, original).ok();
    let legal = exploration.variants.iter().map(|v| v.root.clone());
    let refused = exploration.refused.iter().filter_map(|r| match r.reason {
        looptree::explore::Reason::Illegal(_) => replay(&r.recipe),
        looptree::explore::Reason::Refusal(_) => None,
    });
    let mut seen = HashSet::new();
    let trees: Vec<Green> = legal.chain(refused).filter(|t| seen.insert(t.structural_hash())).collect();
    let oracle = Oracle::of(Arc::new(problem.case()?));
    let mut unknown = 0;
    let judged = microseconds(&trees, |tree| {
        if let Verdict::Never(witness) = oracle.judge(tree) {
            unknown += usize::from(witness.category() == "quota");
        }
    });
    let prepared = cost.prepare(kernel, &problem.params);
    let costs = microseconds(&trees, |tree| {
        black_box(prepared.cost(tree));
    });
    let texts = microseconds(&trees, |tree| {
        black_box(canonical(kernel, tree));
    });
    Ok(vec![
        Figure::at_most("legality, median", statistics::median(&judged), 100.0, "us"),
        Figure::plain("legality, mean", mean(&judged), "us"),
        Figure::plain("legality, 99 of 100", percentile(&judged, 0.99), "us"),
        Figure::plain("legality, refused for the quota", unknown as f64, "variants"),
        Figure::plain("legality, questions to isl", oracle.isl_calls() as f64, ""),
        Figure::plain("predicted cost, median", statistics::median(&costs), "us"),
        Figure::plain("predicted cost, mean", mean(&costs), "us"),
        Figure::plain("canonical form of what is canonical, mean", mean(&texts), "us"),
    ])
}

/// Of all threads of this process.
fn processor_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn microseconds(trees: &[Green], mut f: impl FnMut(&Green)) -> Vec<f64> {
    trees
        .iter()
        .map(|tree| {
            let start = Instant::now();
            f(tree);
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect()
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The value that `share` of the values do not exceed; zero for none.
fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}
