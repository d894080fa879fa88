//! Building and hashing trees, canonical form, text, and the spine that a replacement rebuilds.

use criterion::{Criterion, criterion_group, criterion_main};
use loop_tree::text::{parse, print, print_tree};
use loop_tree::{
    Affine, Bounds, Green, Kernel, LoopHeader, ParamId, Path, Red, StmtId, VarId, canonical, canonical_from,
};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const MATMUL: &str = include_str!("../loop-tree/tests/lt/matmul.lt");
const SYNTAX: &str = include_str!("../loop-tree/tests/lt/gemm.lt");

fn n() -> Affine {
    Affine::param(ParamId(0))
}

/// `depth` loops around a statement.
fn nest(depth: u32) -> Green {
    let dims: Arc<[VarId]> = [VarId(0)].into();
    (0..depth).rev().fold(Green::stmt(StmtId(0), dims), |body, v| {
        Green::for_loop(LoopHeader::range(VarId(v), 0, n()), body)
    })
}

/// The nest of the second statement of a product of matrices in blocks of 32, as a transformation leaves it.
fn tiled(kernel: &Kernel) -> Green {
    let block = |k: u32| VarId(kernel.var_count() + k);
    let mut tree = Green::stmt(StmtId(1), (0..3).map(VarId).collect());
    for k in (0..3).rev() {
        let start = Affine::var(block(k)).scale(32);
        let bounds = Bounds::Affine { lower: vec![start.clone()], upper: vec![start.offset(32), n()] };
        tree = Green::for_loop(LoopHeader { bounds, ..LoopHeader::range(VarId(k), 0, 0) }, tree);
    }
    for k in (0..3).rev() {
        tree = Green::for_loop(LoopHeader::range(block(k), 0, n().ceil_div(32)), tree);
    }
    tree
}

fn trees(c: &mut Criterion) {
    let kernel = parse(MATMUL).expect("matmul.lt").kernel;
    c.bench_function("build and hash/three loops", |b| b.iter(|| nest(black_box(3))));
    c.bench_function("build and hash/tiled, six loops", |b| b.iter(|| tiled(black_box(&kernel))));
    let original = canonical(&kernel, &kernel.original);
    c.bench_function("canonical/as it is", |b| b.iter(|| canonical(&kernel, black_box(&original))));
    let tree = tiled(&kernel);
    c.bench_function("canonical/tiled", |b| b.iter(|| canonical(&kernel, black_box(&tree))));
    for depth in [3, 10, 30] {
        let root = nest(depth);
        let leaf = Red::at(&root, &Path(smallvec::smallvec![0; depth as usize])).expect("a leaf");
        let other = Green::stmt(StmtId(1), [VarId(0)].into());
        c.bench_function(&format!("replace_with/{depth} loops up"), |b| {
            b.iter(|| leaf.replace_with(black_box(other.clone())));
        });
    }
}

/// One loop of a sequence of many.
fn wide(c: &mut Criterion) {
    let kernel = parse(MATMUL).expect("matmul.lt").kernel;
    for count in [64, 4096, 65536] {
        let leaf = |n: i64| {
            Green::for_loop(LoopHeader::range(VarId(0), n, n + 9), Green::stmt(StmtId(1), [VarId(0)].into()))
        };
        let root = canonical(&kernel, &Green::seq((0..count).map(leaf)));
        let path = Path(smallvec::smallvec![count as u32 / 2]);
        let replace =
            |other: &Green| Red::at(&root, &path).map(|at| at.replace_with(other.clone())).expect("a child");
        let other = leaf(-5);
        c.bench_function(&format!("replace_with/one of {count}"), |b| b.iter(|| replace(black_box(&other))));
        c.bench_function(&format!("canonical/one of {count} replaced"), |b| {
            b.iter(|| canonical_from(&kernel, &root, &replace(black_box(&other))));
        });
        let two = Green::seq([leaf(-5), leaf(-6)]);
        c.bench_function(&format!("canonical/one of {count} by two"), |b| {
            b.iter(|| canonical_from(&kernel, &root, &replace(black_box(&two))));
        });
    }
}

fn text(c: &mut Criterion) {
    c.bench_function("parse/matmul.lt", |b| b.iter(|| parse(black_box(MATMUL))));
    c.bench_function("parse/gemm.lt", |b| b.iter(|| parse(black_box(SYNTAX))));
    let program = parse(SYNTAX).expect("gemm.lt");
    c.bench_function("print/gemm.lt", |b| b.iter(|| print(black_box(&program))));
    let tree = canonical(&program.kernel, program.tree());
    c.bench_function("print/its variant", |b| b.iter(|| print_tree(&program.kernel, black_box(&tree))));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = trees, wide, text
}
criterion_main!(benches);
