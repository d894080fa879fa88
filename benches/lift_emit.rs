//! Lifting and emitting whole kernels: bitcode as clang makes it in, the original order of every region out.

use criterion::{Criterion, criterion_group, criterion_main};
use irgen::emit::{Variant, emit_region};
use irgen::lift::{canonicalise, lift_function};
use irgen::llvm::{Context, Module};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const KERNELS: [&str; 4] = ["gemm_ijk", "jacobi_2d", "cholesky", "adi"];

/// Bitcode of a bundled kernel before any optimisation.
fn bitcode(name: &str) -> Vec<u8> {
    let source: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/kernels").join(name).with_extension("c");
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let out = Command::new(clang)
        .args(["-O3", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o", "-"])
        .arg(source)
        .output()
        .expect("clang-22 runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn parse<'c>(context: &'c Context, bytes: &[u8]) -> Module<'c> {
    let mut module = context.parse(bytes, "kernel").expect("clang's bitcode");
    canonicalise(&mut module).expect("clang's bitcode");
    module
}

fn lift_and_emit(c: &mut Criterion) {
    for name in KERNELS {
        let bytes = bitcode(name);
        c.bench_function(&format!("parse and canonicalise/{name}"), |b| {
            b.iter(|| parse(&Context::new(), &bytes).functions().len());
        });
        c.bench_function(&format!("lift/{name}"), |b| {
            let context = Context::new();
            let module = parse(&context, &bytes);
            b.iter(|| {
                let defined = module.functions().into_iter().filter(|f| !f.is_declaration());
                defined.map(|f| lift_function(&module, f).regions.len()).sum::<usize>()
            });
        });
        c.bench_function(&format!("emit/{name}"), |b| {
            b.iter_custom(|rounds| (0..rounds).map(|_| emit_all(&bytes)).sum());
        });
    }
}

/// Time of emission alone; each time into a module of its own, because emission changes it.
fn emit_all(bytes: &[u8]) -> Duration {
    let context = Context::new();
    let module = parse(&context, bytes);
    let mut time = Duration::ZERO;
    for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        let lifted = lift_function(&module, function);
        let start = Instant::now();
        for region in &lifted.regions {
            let original = Variant::of(&region.kernel.original);
            emit_region(&module, region, original).expect("the original order");
        }
        time += start.elapsed();
    }
    time
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1000));
    targets = lift_and_emit
}
criterion_main!(benches);
