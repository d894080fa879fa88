//! What LLVM makes of the emitted code.

use super::harness::Compiled;

fn o3(text: &str, variant: bool, parallel: &[&[u32]]) -> String {
    Compiled::new(text, variant, parallel, Some("default<O3>")).ir
}

/// The loops are vectorised, and no check for overlap stands in front but ours.
fn assert_vectorised(ir: &str) {
    assert!(ir.contains("x double>"), "{ir}");
    assert!(!ir.contains("vector.memcheck"), "{ir}");
    assert!(!ir.contains("vector.scevcheck"), "{ir}");
}

#[test]
fn axpy_of_arrays_that_may_overlap() {
    let ir = o3(
        "nest @axpy[N] {
          array X: f64[N] alias 1
          array Y: f64[N] alias 1
          scalar a: f64 in
          for i in 0..N { S0: Y[i] = Y[i] + a * X[i] }
        }",
        false,
        &[&[]],
    );
    assert_vectorised(&ir);
}

#[test]
fn jacobi_with_rows_of_unknown_length() {
    let ir = o3(
        "nest @jacobi[N, M] {
          array A: f64[N, M] alias 1
          array B: f64[N, M] alias 1
          for i in 1..N - 1 { for j in 1..M - 1 {
            S0: B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
          } }
        }",
        false,
        &[&[], &[0]],
    );
    assert_vectorised(&ir);
}

#[test]
fn tiles_have_unit_stride_and_no_checks() {
    let text = "nest @gemm[N, M, K] {
      array C: f64[N, M] alias 1
      array A: f64[N, K] alias 1
      array B: f64[K, M] alias 1
      for i in 0..N { for j in 0..M { for k in 0..K { S0 [reduction fadd]: C[i, j] += A[i, k] * B[k, j] } } }
      variant {
        for jt in 0..floor((M + 31)/32) { for i in 0..N { for k in 0..K {
          for j in 32*jt..min(32*jt + 32, M) { S0 }
        } } }
      }
    }";
    assert_vectorised(&o3(text, true, &[&[], &[0], &[0, 0, 0]]));
}
