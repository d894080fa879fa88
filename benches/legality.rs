//! The oracle on known shapes, each new to it, and over a search of 10,000 variants of a three-deep nest with two
//! statements (design figure: a median of 100 us or less).

#[path = "../analyses/tests/main/common.rs"]
mod common;

use analyses::{Dependences, Oracle, OracleOptions, Verdict, dependences::Polyhedral};
use common::*;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loop_tree::*;
use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `C[i,j] *= beta; for k: C[i,j] += A[i,k] * B[k,j]`
fn gemm() -> Kernel {
    let c2 = [v(0), v(1)];
    let s0 = statement("S0", &[0, 1], vec![read(0, &c2), write(0, &c2)]);
    let s1 = statement(
        "S1",
        &[0, 1, 2],
        vec![read(1, &[v(0), v(2)]), read(2, &[v(2), v(1)]), read(0, &c2), write(0, &c2)],
    );
    let inner = Green::seq([leaf(0, &[0, 1]), range(2, c(0), p(2), leaf(1, &[0, 1, 2]))]);
    let tree = range(0, c(0), p(0), range(1, c(0), p(1), inner));
    let mut kernel = kernel(3, 3, &[2, 2, 2], vec![s0, s1], tree);
    kernel.context.clear();
    kernel
}

/// `for t: { for i, j: B = A(5 points) ; for i, j: A = B }`
fn jacobi() -> Kernel {
    let at = |a: u32, i: u32, j: u32, x: i64, y: i64| read(a, &[v(i).offset(x), v(j).offset(y)]);
    let reads = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)];
    let mut first: Vec<Access> = reads.iter().map(|(x, y)| at(0, 1, 2, *x, *y)).collect();
    first.push(write(1, &[v(1), v(2)]));
    let s0 = statement("S0", &[0, 1, 2], first);
    let s1 = statement("S1", &[0, 3, 4], vec![read(1, &[v(3), v(4)]), write(0, &[v(3), v(4)])]);
    let n = || p(1).offset(-1);
    let a = range(1, c(1), n(), range(2, c(1), n(), leaf(0, &[0, 1, 2])));
    let b = range(3, c(1), n(), range(4, c(1), n(), leaf(1, &[0, 3, 4])));
    let mut kernel = kernel(2, 5, &[2, 2], vec![s0, s1], range(0, c(0), p(0), Green::seq([a, b])));
    kernel.context.clear();
    kernel
}

fn distributed() -> Green {
    let a = range(0, c(0), p(0), range(1, c(0), p(1), leaf(0, &[0, 1])));
    let b = range(0, c(0), p(0), range(1, c(0), p(1), range(2, c(0), p(2), leaf(1, &[0, 1, 2]))));
    Green::seq([a, b])
}

/// `levels` of tiles around the three loops of the second statement.
fn tiled(levels: u32) -> Green {
    let first = range(0, c(0), p(0), range(1, c(0), p(1), leaf(0, &[0, 1])));
    let fresh = |level: u32, k: u32| VarId(3 + level * 3 + k);
    let mut nest = leaf(1, &[0, 1, 2]);
    for k in (0..3).rev() {
        let start = Affine::var(fresh(levels - 1, k)).scale(32);
        nest = Green::for_loop(
            LoopHeader {
                bounds: Bounds::Affine { lower: vec![start.clone()], upper: vec![start.offset(32), p(k)] },
                ..LoopHeader::range(VarId(k), 0, 0)
            },
            nest,
        );
    }
    for level in (0..levels).rev() {
        for k in (0..3).rev() {
            let tiles = p(k).ceil_div(32);
            let header = if level == 0 {
                LoopHeader::range(fresh(0, k), 0, if levels == 1 { tiles } else { tiles.ceil_div(4) })
            } else {
                let start = Affine::var(fresh(level - 1, k)).scale(4);
                LoopHeader {
                    bounds: Bounds::Affine {
                        lower: vec![start.clone()],
                        upper: vec![start.offset(4), tiles],
                    },
                    ..LoopHeader::range(fresh(level, k), 0, 0)
                }
            };
            nest = Green::for_loop(header, nest);
        }
    }
    Green::seq([first, nest])
}

/// The second statement's `i` and `j` loops unrolled by four and jammed: sixteen copies, and what is left over.
fn jammed() -> Green {
    let first = range(0, c(0), p(0), range(1, c(0), p(1), leaf(0, &[0, 1])));
    let (s, t) = (VarId(3), VarId(4));
    // The pieces of a loop: its variable, header and the values of the old variable in the body.
    let pieces = |old: u32, new: VarId| {
        let groups = p(old).floor_div(4);
        let values = (0..4).map(|k| Affine::var(new).scale(4).offset(k)).collect::<Vec<_>>();
        let bounds = Bounds::Affine { lower: vec![c(0), groups.scale(4)], upper: vec![p(old)] };
        let rest = LoopHeader { bounds, ..LoopHeader::range(VarId(old), 0, 0) };
        [(LoopHeader::range(new, 0, groups), values), (rest, vec![v(old)])]
    };
    let mut nests = Vec::new();
    for (outer, is) in pieces(0, s) {
        for (inner, js) in pieces(1, t) {
            let copies = is.iter().map(|i| {
                let row = js.iter().map(|j| Green::bind(VarId(1), j.clone(), leaf(1, &[0, 1, 2])));
                Green::bind(VarId(0), i.clone(), Green::seq(row))
            });
            let body = range(2, c(0), p(2), Green::seq(copies));
            nests.push(Green::for_loop(outer.clone(), Green::for_loop(inner, body)));
        }
    }
    Green::seq([first].into_iter().chain(nests))
}

fn random_step(kernel: &Kernel, root: &Green, seed: &mut u64) -> Green {
    let mut below = |n: usize| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize % n.max(1)
    };
    let mut nodes: Vec<Red<'_>> = Vec::new();
    let mut walk = root.walk();
    while walk.next().is_some() {
        nodes.push(walk.here().clone());
    }
    let loops: Vec<&Red<'_>> = nodes.iter().filter(|n| n.green().as_loop().is_some()).collect();
    let at = loops[below(loops.len())];
    let Some((h, body)) = at.green().as_loop() else { return root.clone() };
    let t = fresh_variable(kernel, root);
    let new = match below(6) {
        0 | 1 => match body.as_loop() {
            Some((inner, rest)) if !inner.lower().iter().chain(inner.upper()).any(|e| e.uses(h.var)) => {
                Green::for_loop(inner.clone(), Green::for_loop(h.clone(), rest.clone()))
            }
            _ => return root.clone(),
        },
        2 | 3 => {
            let Some((l, u)) = h.single_bounds() else { return root.clone() };
            let size = [4, 8, 16, 32, 64][below(5)];
            let start = Affine::var(t).scale(size) + l.clone();
            let bounds =
                Bounds::Affine { lower: vec![start.clone()], upper: vec![start.offset(size), u.clone()] };
            let tiles = (u - l).ceil_div(size);
            Green::for_loop(
                LoopHeader::range(t, 0, tiles),
                Green::for_loop(LoopHeader { bounds, ..(**h).clone() }, body.clone()),
            )
        }
        4 => match body.node() {
            Node::Seq(children) => {
                Green::seq(children.iter().map(|c| Green::for_loop(h.clone(), c.clone())).collect::<Vec<_>>())
            }
            _ => return root.clone(),
        },
        _ => {
            let Some((l, u)) = h.single_bounds() else { return root.clone() };
            let half = (u - l).floor_div(2);
            let step = |k: i64| {
                let value = l.clone() + Affine::var(t).scale(2).offset(k);
                Green::bind(h.var, value, body.clone())
            };
            let main = Green::for_loop(LoopHeader::range(t, 0, half.clone()), Green::seq([step(0), step(1)]));
            let rest =
                Green::for_loop(LoopHeader::range(h.var, l.clone() + half.scale(2), u.clone()), body.clone());
            Green::seq([main, rest])
        }
    };
    at.replace_with(new)
}

/// Distinct trees, each some random steps away from the original.
fn variants(kernel: &Kernel, count: usize) -> Vec<Green> {
    let mut seed = 7;
    let mut seen = HashSet::new();
    let mut list = Vec::new();
    while list.len() < count {
        let mut tree = kernel.original.clone();
        for _ in 0..4 {
            tree = canonical(kernel, &random_step(kernel, &tree, &mut seed));
            if tree.summary().leaves <= 8 && seen.insert(tree.structural_hash()) && list.len() < count {
                list.push(tree.clone());
            }
        }
    }
    list
}

fn search(c: &mut Criterion) {
    for (name, mut kernel) in [("gemm", gemm()), ("jacobi-2d", jacobi())] {
        kernel.original = canonical(&kernel, &kernel.original);
        let kernel = Arc::new(kernel);
        let set = Arc::new(Polyhedral::default().dependences(&kernel).expect("affine"));
        let list = variants(&kernel, 10_000);
        let run = |list: &[Green]| {
            let oracle = Oracle::with_dependences(kernel.clone(), set.clone(), OracleOptions::default());
            let oracle = oracle.expect("affine");
            let mut legal = 0;
            let times: Vec<Duration> = (list.iter())
                .map(|tree| {
                    let start = Instant::now();
                    legal += usize::from(oracle.judge(tree).is_legal());
                    start.elapsed()
                })
                .collect();
            (times, legal, oracle.isl_calls())
        };
        let (mut times, legal, isl_calls) = run(&list);
        let total: Duration = times.iter().sum();
        times.sort();
        println!(
            "{name}: {} variants, {legal} legal, {isl_calls} questions to isl; median {:?} (design: 100 us or less), 90 % {:?}, 99 % {:?}, total {total:?}",
            times.len(),
            times[times.len() / 2],
            times[times.len() * 9 / 10],
            times[times.len() * 99 / 100],
        );
        let few = &list[..500];
        c.bench_function(&format!("search of 500/{name}"), |b| b.iter(|| black_box(run(few).1)));
    }
}

fn shapes(criterion: &mut Criterion) {
    criterion.bench_function("dependences/gemm", |b| b.iter(|| Polyhedral::default().dependences(&gemm())));
    criterion
        .bench_function("dependences/jacobi-2d", |b| b.iter(|| Polyhedral::default().dependences(&jacobi())));
    let mut kernel = gemm();
    kernel.original = canonical(&kernel, &kernel.original);
    let kernel = Arc::new(kernel);
    let set = Arc::new(Polyhedral::default().dependences(&kernel).expect("affine"));
    let shapes = [
        ("distributed", distributed()),
        ("tiled", tiled(1)),
        ("tiled twice", tiled(2)),
        ("jammed 4 x 4", jammed()),
    ];
    for (name, tree) in shapes {
        let tree = canonical(&kernel, &tree);
        let oracle = || {
            Oracle::with_dependences(kernel.clone(), set.clone(), OracleOptions::default()).expect("affine")
        };
        assert_eq!(oracle().judge(&tree), Verdict::Always, "{name}");
        criterion.bench_function(&format!("judge, new/gemm {name}"), |b| {
            b.iter_batched(oracle, |o| o.judge(&tree), BatchSize::SmallInput)
        });
        let known = oracle();
        criterion.bench_function(&format!("judge, known/gemm {name}"), |b| b.iter(|| known.judge(&tree)));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    targets = shapes, search
}
criterion_main!(benches);
