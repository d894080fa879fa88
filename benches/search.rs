//! The search over a three-deep nest with two statements, on one and two threads, and what `opt` does to one file.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use looptree::driver::{Optimizer, Settings};
use looptree::explore::{Explorer, Limits, Strategy};
use looptree::tree::text;
use std::time::Duration;

const GEMM: &str = include_str!("../bench/figures/gemm.lt");
const VARIANTS: usize = 1000;

fn search(c: &mut Criterion) {
    let kernel = text::parse(GEMM).expect("gemm.lt").kernel;
    let settings = Settings { target: "x86_64_avx2".to_string(), ..Settings::default() };
    let optimizer = Optimizer::new(settings).expect("models that exist");
    let problem = optimizer.problem("gemm", &kernel, &[]).expect("an affine kernel");
    let moves = optimizer.moves();
    let mut group = c.benchmark_group(format!("search of {VARIANTS}"));
    group.throughput(Throughput::Elements(VARIANTS as u64));
    for strategy in [Strategy::Exhaustive, Strategy::Beam, Strategy::Guided] {
        for threads in [1, 2] {
            let limits = Limits { variants: VARIANTS, threads, ..Limits::default() };
            let explorer = Explorer { limits, strategy, ..optimizer.explorer(problem.clone(), &moves) };
            group.bench_function(format!("{strategy:?}, {threads} threads"), |b| {
                b.iter(|| explorer.explore().statistics.judged);
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(3));
    targets = search
}
criterion_main!(benches);
