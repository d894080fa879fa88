//! Fusion for memory space: what is saved, and that the result computes the same.

use looptree::driver::{Optimizer, Settings};
use looptree::measure::{MeasureOptions, measure_kernel};
use looptree::memory::{Memory, Prevention};
use looptree::tree::text;
use std::collections::BTreeMap;

/// Finds what is saved at a size, and runs the result beside the original.
fn saved(source: &str, n: i64) -> Memory {
    let program = text::parse(source).expect("a program");
    let params = BTreeMap::from([("N".to_string(), n)]);
    let optimizer = Optimizer::new(Settings { params, ..Settings::default() }).expect("names that are there");
    let kernel = &program.kernel;
    let memory = optimizer.memory("f", kernel, &[]).expect("dependences").expect("several nests");
    let chosen = optimizer.apply("f", kernel, &memory.recipe, None).expect("what was proved");
    assert_eq!(chosen.root, memory.root, "{}", memory.recipe);
    let options = MeasureOptions { timed: false, ..MeasureOptions::default() };
    measure_kernel(kernel, &[("fused", chosen.variant())], &[n], &options).expect("the same results");
    memory
}

#[test]
fn a_chain_keeps_scalars_and_windows() {
    let memory = saved(
        "nest @chain[N] {
           array A: f64[N]
           array B: f64[N]
           array T: f64[N] local
           array U: f64[N] local
           for i in 0..N { S: T[i] = A[i] + 1.0 }
           for j in 0..N { R: U[j] = T[j] * 2.0 }
           for k in 1..N { Q: B[k] = U[k] + U[k - 1] }
         }",
        500,
    );
    assert_eq!(memory.bytes, [8000, 8 + 16]);
    assert_eq!(memory.alive, [8000, 0]);
    assert!(memory.prevented.is_empty() && memory.left.is_empty());
}

#[test]
fn rows_stay_in_a_window_of_rows() {
    let memory = saved(
        "nest @rows[N] {
           array A: f64[N, N]
           array B: f64[N, N]
           array T: f64[N, N] local
           for i in 0..N { for j in 0..N { S: T[i, j] = A[i, j] + 1.0 } }
           for k in 1..N { for l in 0..N { R: B[k, l] = T[k - 1, l] + T[k, l] } }
         }",
        40,
    );
    assert_eq!(memory.bytes, [8 * 40 * 40, 8 * 2 * 40]);
}

#[test]
fn what_is_read_backwards_stays() {
    let memory = saved(
        "nest @back[N] {
           array A: f64[N]
           array B: f64[N]
           array T: f64[N] local
           array U: f64[N] local
           for i in 0..N { S: T[i] = A[i] + 1.0 }
           for j in 0..N { R: U[j] = T[N - 1 - j] * 2.0 }
           for k in 0..N { Q: B[k] = U[k] }
         }",
        300,
    );
    assert_eq!(memory.bytes, [4800, 2400 + 8]);
    assert!(matches!(memory.prevented.values().next(), Some(Prevention::Dependence(_))));
}

/// Fusing 0 with 1 and 1 with 2 would bring the statement between 0 and 2 into the loop.
#[test]
fn a_statement_between_keeps_nests_apart() {
    let memory = saved(
        "nest @between[N] {
           array A: f64[N]
           array B: f64[N]
           array T: f64[N] local
           scalar s: f64 local
           scalar c: f64 out
           for i in 0..N {
             S: T[i] = A[i] + 1.0
             C: c += T[i]
           }
           D: s = c * 2.0
           for j in 0..N { R: B[j] = T[j] * s }
         }",
        300,
    );
    assert_eq!(memory.plan.size, 0);
    assert_eq!(memory.bytes, [2400, 2400]);
}
