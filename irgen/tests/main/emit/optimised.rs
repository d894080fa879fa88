//! What LLVM makes of the emitted code.

use super::harness::{self, Compiled};
use irgen::emit::{Variant, emit_function};
use irgen::llvm::{CodeModel, Context, FileType, OptLevel, TargetMachine};

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

#[test]
fn vectors_lie_along_short_rows() {
    let nest = |row: usize, what: &str| {
        format!(
            "nest @rows[N] {{
              array A: f64[8, N, {row}]
              array B: f64[9, N, {row}]
              array C: f64[8, N]
              for k in 0..8 {{ for i in 0..N {{ for m in 0..{row} {{ {what} }} }} }}
              variant {{
                for i in 0..N {{ for m in 0..{row} {{
                  let k = 0 {{ S0 }} let k = 1 {{ S0 }} let k = 2 {{ S0 }} let k = 3 {{ S0 }}
                  let k = 4 {{ S0 }} let k = 5 {{ S0 }} let k = 6 {{ S0 }} let k = 7 {{ S0 }}
                }} }}
              }}
            }}"
        )
    };
    let update = "S0: A[k, i, m] = A[k, i, m] - 0.25 * (B[k, i, m] - 2.0 * B[k + 1, i, m]) * C[k, i]";
    let ir = o3(&nest(5, update), true, &[&[], &[0]]);
    // A row is four lanes and one, or some of the eight of a machine that has them.
    let along = ["<4 x double>", "@llvm.masked.load.v8f64"].iter().any(|vector| ir.contains(vector));
    assert!(along && !ir.contains("strided.vec"), "{ir}");

    // A row that is no vector, and sums of rows, are LLVM's business.
    let keeps = |text: &str| !harness::emit(text, true, &[]).unwrap().contains("llvm.loop.vectorize.enable");
    assert!(!keeps(&nest(5, update)));
    assert!(keeps(&nest(3, update)));
    assert!(keeps(&nest(5, "S0 [reduction fadd]: C[k, i] += B[k, i, m]")));
}

#[test]
fn rows_that_take_all_addresses_are_not_unrolled_further() {
    let nest = |row: &str, copies: usize| {
        let body: String = (0..copies).map(|k| format!("let i = 8*t + {k} {{ S }} ")).collect();
        format!(
            "nest @mirror[N] {{
              array A: f64[N, {row}]
              array B: f64[N, {row}]
              for i in 0..N {{ for j in 0..i {{ S: A[i, j] = A[j, i] + B[i, j] }} }}
              variant {{ for t in 0..floor(N/8) {{ for j in 0..8*t {{ {body} }} }} }}
            }}"
        )
    };
    let kept =
        |text: &str| !harness::emit(text, true, &[]).unwrap().contains("llvm.loop.unroll.runtime.disable");
    assert!(!kept(&nest("N", 8)));
    assert!(kept(&nest("N", 4)));
    assert!(kept(&nest("1000", 8)), "rows of constant length share an address");
}

#[test]
fn values_that_take_half_of_the_registers_are_not_unrolled_further() {
    let nest = |columns: &str, copies: usize| {
        let body: String = (0..copies).map(|k| format!("let s = 8*t + {k} {{ S }} ")).collect();
        format!(
            "nest @rows[N, P] {{
              array C: f32[N, 60]
              array W: f32[N]
              array sum: f32[60]
              for s in 0..N {{ for p in 0..{columns} {{ S: sum[p] = sum[p] + W[s] * C[s, p] }} }}
              variant {{ for t in 0..floor(N/8) {{ for p in 0..{columns} {{ {body} }} }} }}
            }}"
        )
    };
    let kept = |text: &str| !harness::emit(text, true, &[]).unwrap().contains("llvm.loop.unroll.disable");
    assert!(!kept(&nest("P", 8)));
    assert!(kept(&nest("P", 4)));
    assert!(kept(&nest("60", 8)), "copies of constantly many iterations have no exits between them");
}

#[test]
fn the_lines_of_the_next_tile_are_asked_for() {
    let nest = |terms: i64, vectors: i64| {
        let row = |r: i64| format!("let i = 3*t + {r} {{ S }} ");
        let rows: String = (0..3).map(row).collect();
        let tile: String =
            (0..vectors).map(|v| format!("vector for j in {}..{} {{ {rows} }} ", 8 * v, 8 * v + 8)).collect();
        format!(
            "nest @product[N] {{
              array A: f32[N, {terms}]
              array B: f32[{terms}, 64]
              array C: f32[N, 64]
              for i in 0..N {{ for j in 0..{0} {{ for k in 0..{terms} {{ S: C[i, j] = C[i, j] + A[i, k] * B[k, j] }} }} }}
              variant {{ for t in 0..floor(N/3) {{ for k in 0..{terms} {{ {tile} }} }} }}
            }}",
            8 * vectors
        )
    };
    let asks =
        |text: &str| harness::emit(text, true, &[]).unwrap().matches("call void @llvm.prefetch").count();
    assert_eq!(asks(&nest(128, 4)), 12);
    assert_eq!(asks(&nest(128, 1)), 0, "few vectors");
    assert_eq!(asks(&nest(16, 4)), 0, "few terms");
}

#[test]
fn no_vector_of_what_is_not_there_is_loaded_under_a_mask() {
    // The first of four jammed rows has no row in front of it, and the last one none behind where the second condition fails.
    let nest = |last: &str| {
        let rows: String = (1..3).map(|k| format!("let i = 4*t + {k} {{ S }} ")).collect();
        format!(
            "nest @rows[N] {{
              array A: f64[N, 1000]
              array B: f64[N, 1000]
              for i in 1..N {{ for j in 0..1000 {{ S: B[i, j] = A[i - 1, j] + A[i, j] }} }}
              variant {{
                for t in 0..floor(N/4) {{ for j in 0..1000 {{
                  if 4*t >= 1 {{ let i = 4*t {{ S }} }} {rows} {last}
                }} }}
                for i in max(1, 4*floor(N/4))..N {{ for j in 0..1000 {{ S }} }}
              }}
            }}"
        )
    };
    let last = "let i = 4*t + 3 { S }";
    let guarded = |least: i32| format!("if 4*t >= {least} {{ {last} }}");
    let ir = o3(&nest(last), true, &[&[], &[0]]);
    assert_vectorised(&ir);
    assert!(!ir.contains("masked.load"), "{ir}");
    // Two conditions would be four loops.
    let twice = |text: &str| harness::emit(text, true, &[]).unwrap().contains("settled.not");
    assert!(twice(&nest(last)) && twice(&nest(&guarded(1))) && !twice(&nest(&guarded(5))));
}

#[test]
fn a_store_between_loads_of_neighbours() {
    // LLVM would hand x[i + 1] on to the next iteration, where the store to `a` needs it before the load.
    let nest = "nest @slopes[N] {
      array x: f64[N + 1]
      array a: f64[N]
      array b: f64[N]
      for i in 1..N { S: a[i] = x[i] - x[i - 1]  T: b[i] = x[i + 1] * x[i] }
      variant { for t in 0..N - 1 { let i = t + 1 { S T } } }
    }";
    assert_vectorised(&o3(nest, false, &[]));
    assert_vectorised(&o3(nest, true, &[]));
}

#[test]
fn an_element_or_something_else_is_stored_as_one_vector() {
    // A masked store takes AMD's processors with AVX2 as long as the elements one by one.
    let nest = "nest @shortest[N] {
      array a: f32[N, N]
      array b: f32[N]
      scalar c: f32 in
      for i in 0..N { for j in 0..N { S: a[i, j] = a[i, j] < c + b[j] ? a[i, j] : c + b[j] } }
    }";
    let program = loop_tree::text::parse(nest).unwrap();
    let context = Context::new();
    let parallel = harness::parallel(&[&[], &[0]]);
    let variant = Variant { parallel: &parallel, ..Variant::of(&program.kernel.original) };
    let mut module = emit_function(&context, "kernel", &program.kernel, variant).unwrap();
    let (triple, level) = ("x86_64-unknown-linux-gnu", OptLevel::Aggressive);
    let avx2 = TargetMachine::new(triple, "znver3", "", level, CodeModel::Object).unwrap();
    module.set_target(&avx2);
    for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        function.set_string_attribute("target-cpu", "znver3");
    }
    module.run_passes("default<O3>", Some(&avx2)).unwrap();
    let code = String::from_utf8(avx2.emit(&module, FileType::Assembly).unwrap()).unwrap();
    assert!(code.contains("vminps") && !code.contains("vmaskmov"), "{code}");
}
