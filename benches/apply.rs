//! Applying each transformation once: microseconds, and nodes that are not shared with the tree it was applied to.

use criterion::{Criterion, criterion_group, criterion_main};
use loop_tree::{Affine, Green, LoopHeader, ParamId, StmtId, VarId, canonical, text};
use std::collections::HashSet;
use std::hint::black_box;
use std::time::Duration;
use transforms::{Context, MoveOptions, Recipe, Registry, moves};

/// One use of each transformation.
const STEPS: [&str; 32] = [
    "fuse(@2, @3)",
    "fuse(@2, @3; guard)",
    "distribute(j)",
    "interchange(u)",
    "permute(v, u)",
    "peel(k; first=1)",
    "strip_mine(k; 32)",
    "tile(u, v; 32, 32)",
    "tile(u, v; 32, 32; full)",
    "tile(u, v; 64, 64; 8, 8)",
    "morton(u, v; 8, 32)",
    "hilbert(u, v; 8, 32)",
    "unroll(k; 4)",
    "unroll_and_jam(u; 4)",
    "reverse(k)",
    "skew(i, j; 1)",
    "split(k; 8)",
    "reorder(@; 0, 2, 1, 3, 4, 5, 6, 7, 8, 9)",
    "move(@2; 0)",
    "sink(@0.0.0.0)",
    "unswitch(x)",
    "concatenate(@5)",
    "contract(@8.0; F)",
    "forward(@8; F)",
    "merge(d)",
    "expand(a; s)",
    "pack(i; B)",
    "replace(k; C)",
    "transpose(i; B)",
    "mark(k; parallel)",
    "vectorize(k; 8)",
    "version()",
];

/// Nodes of a tree that another one does not hold, equal ones counted once.
fn new_nodes(old: &Green, new: &Green) -> usize {
    let hashes = |tree: &Green| tree.walk().map(Green::structural_hash).collect::<HashSet<_>>();
    hashes(new).difference(&hashes(old)).count()
}

fn apply(c: &mut Criterion) {
    let kernel = text::parse(include_str!("nests.lt")).expect("nests.lt").kernel;
    let registry = Registry::standard();
    let root = canonical(&kernel, &kernel.original);
    let context = Context { kernel: &kernel, root: &root };
    for text in STEPS {
        let recipe = Recipe::parse(text, &registry).unwrap_or_else(|e| panic!("{text}: {e}"));
        let step = &recipe.0[0];
        let after = step.apply(&context).unwrap_or_else(|e| panic!("{text}: {e}")).root;
        println!("{text}: {} new nodes, {} before", new_nodes(&root, &after), root.summary().nodes);
        c.bench_function(&format!("apply/{text}"), |b| b.iter(|| step.apply(black_box(&context))));
    }
    for name in registry.iter().map(|r| r.name()) {
        assert!(STEPS.iter().any(|s| s.starts_with(&format!("{name}("))), "{name} is not measured");
    }
    let options = MoveOptions::default();
    let count = moves(&context, &registry, &options).len();
    c.bench_function(&format!("enumerate {count} moves"), |b| {
        b.iter(|| moves(black_box(&context), &registry, &options));
    });
}

/// One loop of many in a sequence.
fn wide(c: &mut Criterion) {
    let kernel = text::parse("nest @wide[N] { array A: f64[N] for i in 0..N { S: A[i] = 0.0 } }")
        .expect("it parses")
        .kernel;
    for count in [64, 4096, 65536] {
        let nest = |n: i64| {
            let leaf = kernel.leaf(StmtId(0));
            Green::for_loop(LoopHeader::range(VarId(0), n, Affine::param(ParamId(0)).offset(n)), leaf)
        };
        let root = canonical(&kernel, &Green::seq((0..count).map(nest)));
        let context = Context { kernel: &kernel, root: &root };
        for step in ["strip_mine({}; 8)", "peel({}; first=1)", "fuse({})"] {
            let text = step.replace("{}", &format!("@{}", count / 2));
            let step = &Recipe::parse(&text, &Registry::standard()).expect("it is read").0[0];
            step.apply(&context).unwrap_or_else(|e| panic!("{text}: {e}"));
            c.bench_function(&format!("apply/{text} of {count}"), |b| {
                b.iter(|| step.apply(black_box(&context)))
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500));
    targets = apply, wide
}
criterion_main!(benches);
