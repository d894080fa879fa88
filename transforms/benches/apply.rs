//! Applying each transformation once: microseconds, and nodes that are not shared with the tree it was applied to.

use criterion::{Criterion, criterion_group, criterion_main};
use loop_tree::{Green, canonical, text};
use std::collections::HashSet;
use std::hint::black_box;
use std::time::Duration;
use transforms::{Context, MoveOptions, Recipe, Registry, moves};

/// One use of each transformation.
const STEPS: [&str; 20] = [
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
    "unroll(k; 4)",
    "unroll_and_jam(u; 4)",
    "reverse(k)",
    "skew(i, j; 1)",
    "split(k; 8)",
    "reorder(@; 0, 2, 1, 3)",
    "move(@2; 0)",
    "sink(@0.0.0.0)",
    "mark(k; parallel)",
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

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500));
    targets = apply
}
criterion_main!(benches);
