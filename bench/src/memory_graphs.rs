//! Fusion for memory space on random graphs, as its paper measures it (Fraboulet, Kodary, Mignotte 2001, section 3).

use crate::statistics::{mean, median};
use anyhow::{Result, bail, ensure};
use looptree::analyses::fusion_graph::{Edge, FusionGraph, Nest, Plan, Temporary};
use std::ops::RangeInclusive;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Number of graphs.
    #[arg(long, default_value_t = 21_000)]
    graphs: usize,
    /// Nests of the smallest graph.
    #[arg(long, default_value_t = 10)]
    least: usize,
    /// Nests of the largest graph.
    #[arg(long, default_value_t = 30)]
    largest: usize,
    /// Where the random numbers start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Branchings of the exact search, after which a plan is good but perhaps not the best.
    #[arg(long, default_value_t = 100_000)]
    branchings: usize,
    /// Graphs with at most so many arrays that can be removed by themselves are compared with all their subsets.
    #[arg(long, default_value_t = 14)]
    subsets: usize,
    /// What edges say of arrays.
    #[arg(long, value_enum, default_value_t = Reading::Shared)]
    reading: Reading,
}

/// What the paper's "all weights were randomly chosen" and "arrays were constrained to belong to a path" mean.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    /// Several nests may read what one writes, and each edge has a weight: an array is as large as its edges together.
    Shared,
    /// The same, and each array has a weight, however many edges it has.
    Sized,
    /// Each edge has an array of its own.
    Own,
    /// An array goes on from nest to nest, each of which writes it for the next; each edge has a weight.
    Path,
}

/// Edges for each nest, and at most so many into and out of one: as in the paper.
const EDGES: usize = 2;
const MOST_AT_A_NEST: usize = 10;
/// One edge in so many prevents fusion.
const PREVENTING: usize = 3;
const SIZES: RangeInclusive<u64> = 1..=100;

pub fn run(arguments: &Arguments) -> Result<bool> {
    ensure!(
        arguments.least >= 2 && arguments.least <= arguments.largest,
        "--least is between 2 and --largest"
    );
    ensure!(arguments.graphs > 0, "--graphs is at least 1");
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let (mut all, mut allowed, mut seconds, mut gaps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut compared = 0;
    for number in 0..arguments.graphs {
        let graph = random(rng.usize(arguments.least..=arguments.largest), arguments.reading, &mut rng);
        let start = Instant::now();
        let plan = graph.plan(arguments.branchings);
        seconds.push(start.elapsed().as_secs_f64());
        check(&graph, &plan)?;
        let candidates = graph.removable();
        if candidates.len() <= arguments.subsets {
            compared += 1;
            let best = best_of_all(&graph, &candidates);
            if best != plan.size {
                bail!("graph {number} of seed {}: {} is removed, {best} can be", arguments.seed, plan.size);
            }
        }
        let total: u64 = graph.sizes().iter().sum();
        // What no edge of the array itself prevents.
        let kept = |t: usize| graph.edges().iter().any(|e| e.prevents && e.array == Some(Temporary(t)));
        let free: Vec<u64> =
            graph.sizes().iter().enumerate().filter(|(t, _)| !kept(*t)).map(|(_, s)| *s).collect();
        let (count, arrays) = (plan.removed.len() as u64, graph.sizes().len() as u64);
        all.push((percent(plan.size, total), percent(count, arrays)));
        allowed.push((percent(plan.size, free.iter().sum()), percent(count, free.len() as u64)));
        gaps.push(percent(plan.bound - plan.size, total));
    }
    let exact = gaps.iter().filter(|g| **g == 0.0).count();
    println!("{} graphs of {} to {} nests", arguments.graphs, arguments.least, arguments.largest);
    let shares = |list: &[(f64, f64)]| {
        let (size, count) = (mean(list.iter().map(|s| s.0)), mean(list.iter().map(|s| s.1)));
        format!("{size:.1} % of the size, {count:.1} % of the arrays")
    };
    println!("removed, mean: {}", shares(&all));
    println!("  of arrays that no edge of their own keeps: {}", shares(&allowed));
    println!("  paper: 60.7 % of the size, 61.8 % of the arrays; of which it does not say");
    let worst = seconds.iter().copied().fold(0.0, f64::max);
    println!(
        "time: mean {:.3} ms, median {:.3} ms, most {:.3} ms  (paper: 50 ms)",
        1e3 * mean(seconds.iter().copied()),
        1e3 * median(&seconds),
        1e3 * worst
    );
    println!(
        "proved best: {exact}; gap of the others at most {:.2} % of the size",
        gaps.iter().copied().fold(0.0, f64::max)
    );
    println!("compared with all subsets: {compared}, all equal");
    Ok(true)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// A plan fuses nothing that must not be, loses nothing, and runs in an order that the dependences allow.
fn check(graph: &FusionGraph, plan: &Plan) -> Result<()> {
    let mut place = std::collections::BTreeMap::new();
    for (at, cluster) in plan.clusters.iter().enumerate() {
        cluster.iter().for_each(|nest| {
            place.insert(*nest, at);
        });
    }
    for e in graph.edges() {
        let (from, to) = (place[&e.from], place[&e.to]);
        ensure!(from < to || from == to && !e.prevents, "{:?} -> {:?} is turned round", e.from, e.to);
        let removed = e.array.is_some_and(|t| plan.removed.contains(&t));
        ensure!(!removed || from == to, "{:?} is removed, and has a reader elsewhere", e.array);
    }
    Ok(())
}

/// The most that any subset removes.
fn best_of_all(graph: &FusionGraph, candidates: &[Temporary]) -> u64 {
    let subsets = 0..1_usize << candidates.len();
    let sum = |bits: usize| {
        let chosen =
            |t: Temporary| candidates.iter().position(|c| *c == t).is_some_and(|n| bits >> n & 1 == 1);
        let size: u64 = candidates.iter().filter(|t| chosen(**t)).map(|t| graph.sizes()[t.0]).sum();
        graph.is_possible(&chosen).then_some(size)
    };
    subsets.filter_map(sum).max().unwrap_or(0)
}

/// Twice as many edges as nests, each between another two.
fn random(nests: usize, reading: Reading, rng: &mut fastrand::Rng) -> FusionGraph {
    let pairs = pairs(nests, rng);
    let arrays = arrays(&pairs, reading, rng);
    let mut sizes = vec![0; arrays.iter().max().map_or(0, |most| most + 1)];
    for array in &arrays {
        let weight = rng.u64(SIZES);
        match reading {
            Reading::Sized => sizes[*array] = weight,
            _ => sizes[*array] += weight,
        }
    }
    let edge = |((from, to), array): (&(usize, usize), &usize)| Edge {
        from: Nest(*from),
        to: Nest(*to),
        array: Some(Temporary(*array)),
        prevents: rng.usize(0..PREVENTING) == 0,
    };
    let edges = pairs.iter().zip(&arrays).map(edge).collect();
    FusionGraph::new(nests, sizes, edges).expect("edges lead to later nests")
}

fn pairs(nests: usize, rng: &mut fastrand::Rng) -> Vec<(usize, usize)> {
    let (mut into, mut out) = (vec![0; nests], vec![0; nests]);
    let mut pairs = Vec::new();
    let wanted = (EDGES * nests).min(nests * (nests - 1) / 2);
    while pairs.len() < wanted {
        let (a, b) = (rng.usize(0..nests), rng.usize(0..nests));
        let (from, to) = (a.min(b), a.max(b));
        let room = out[from] < MOST_AT_A_NEST && into[to] < MOST_AT_A_NEST;
        if from < to && room && !pairs.contains(&(from, to)) {
            out[from] += 1;
            into[to] += 1;
            pairs.push((from, to));
        }
    }
    // An array goes forward.
    pairs.sort_unstable();
    pairs
}

/// The array of each edge: one that may go on here, or a new one, all with the same chance.
fn arrays(pairs: &[(usize, usize)], reading: Reading, rng: &mut fastrand::Rng) -> Vec<usize> {
    // Where an array may go on.
    let mut ends: Vec<usize> = Vec::new();
    let next = |(from, to): &(usize, usize)| {
        let known: Vec<usize> = (0..ends.len()).filter(|a| ends[*a] == *from).collect();
        let array = match reading {
            Reading::Own => ends.len(),
            _ => known.get(rng.usize(0..=known.len())).copied().unwrap_or(ends.len()),
        };
        if array == ends.len() {
            ends.push(*from);
        }
        if reading == Reading::Path {
            ends[array] = *to;
        }
        array
    };
    pairs.iter().map(next).collect()
}
