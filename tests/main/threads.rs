//! The result of a search does not depend on the number of threads: variants, their order, costs, conditions, and what is
//! emitted in the end.

use looptree::analyses::OracleOptions;
use looptree::driver::{self, Optimizer, Session, Settings};
use looptree::explore::{Limits, Strategy};
use looptree::tree::text;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Small enough to keep the test short, with questions that exceed their bounds.
fn settings(threads: usize, strategy: Strategy) -> Settings {
    let limits = Limits { variants: 250, threads, ..Limits::default() };
    // A quota that some questions exceed, and others only just do not.
    let oracle = OracleOptions { quota: 300, ..Settings::default().oracle };
    Settings { limits, strategy, oracle, target: "x86_64_avx2".into(), ..Settings::default() }
}

/// Everything that the search of a module finds, and the module with the best variants.
fn of_module(bitcode: &[u8], threads: usize, strategy: Strategy) -> String {
    let optimizer = Optimizer::new(settings(threads, strategy)).expect("models that exist");
    let session = Session::new(bitcode, "test", &optimizer);
    let explored = session.explore().expect("a module that can be searched");
    let mut out = String::new();
    let mut chosen = BTreeMap::new();
    for region in &explored.regions {
        let _ = writeln!(out, "{} {:?}", region.label(), region.exploration.statistics);
        for v in &region.exploration.variants {
            let conditions: Vec<String> =
                v.conditions.iter().map(|c| text::print_runtime_condition(&region.kernel, c)).collect();
            let hash = v.root.structural_hash();
            let _ = writeln!(out, "{} {:032x} {:x} {conditions:?}", v.recipe, hash, v.cycles.to_bits());
        }
        for r in &region.exploration.refused {
            let _ = writeln!(out, "not {}: {:?}", r.recipe, r.reason);
        }
        let best = region.exploration.best();
        if !best.recipe.0.is_empty() {
            let choice = optimizer.choose(region, best).expect("a legal variant");
            chosen.insert((region.function.clone(), region.number), choice);
        }
    }
    out + &session.emit(&chosen, |m| m.to_string()).expect("a legal variant has IR")
}

#[track_caller]
fn the_same_on_any_number_of_threads(kernel: &str, strategy: Strategy) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/kernels").join(kernel);
    of_file(&file, strategy);
}

#[track_caller]
fn of_file(file: &Path, strategy: Strategy) -> String {
    let bitcode = driver::compile_source(file, &[]).expect("clang-22 compiles it");
    let one = of_module(&bitcode, 1, strategy);
    assert!(one.lines().count() > 20, "{file:?}: {one}");
    for threads in [2, 8] {
        let several = of_module(&bitcode, threads, strategy);
        let differs = one.lines().zip(several.lines()).find(|(a, b)| a != b);
        assert!(one == several, "{file:?}, {threads} threads: {differs:?}");
    }
    one
}

/// Regions that are searched side by side.
const REGIONS: &str = "
void product(long n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
}
void columns(long n, double *restrict y, const double *restrict x, double a[restrict n][n]) {
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
            y[i] += a[j][i] * x[j];
}
void chain(long n, double *restrict x) {
    for (long t = 0; t < n; t++)
        for (long i = 1; i < n; i++)
            x[i] = x[i] * x[i - 1];
}
void twice(long n, double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++)
        x[i] = 2 * x[i];
    for (long i = 0; i < n; i++)
        y[i] = x[i] + y[i];
}
";

#[test]
fn several_regions() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("regions.c");
    std::fs::write(&file, REGIONS).expect("written");
    let found = of_file(&file, Strategy::Guided);
    let labels: Vec<&str> =
        found.lines().filter_map(|l| l.split_once("#0 Statistics").map(|l| l.0)).collect();
    assert_eq!(labels, ["product", "columns", "chain", "twice"]);
}

#[test]
fn guided() {
    for kernel in ["gemm_ijk.c", "jacobi_2d.c", "trmm.c"] {
        the_same_on_any_number_of_threads(kernel, Strategy::Guided);
    }
}

#[test]
fn exhaustive() {
    for kernel in ["gemm_ijk.c", "cholesky.c"] {
        the_same_on_any_number_of_threads(kernel, Strategy::Exhaustive);
    }
}

#[test]
fn beam() {
    the_same_on_any_number_of_threads("mvt.c", Strategy::Beam);
}
