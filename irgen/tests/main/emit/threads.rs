//! Loops that threads share: the same bytes as one thread computes, with any number of them.

use super::random::agree;
use irgen::emit::{Variant, emit_function};
use irgen::llvm::Context;
use loop_tree::text::{self, Program};

fn program(nest: &str, variant: &str) -> Program {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    text::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The variant computes, in the interpreter and with any number of threads, what the original does in the interpreter.
fn same(nest: &str, params: &[&[i64]], variant: &str) {
    let p = program(nest, variant);
    for params in params {
        for threads in [1, 2, 4] {
            for passes in [None, Some("default<O3>")] {
                for order in [&p.kernel.original, p.tree()] {
                    let ran = agree(&p.kernel, order, p.tree(), params, 5, (passes, threads));
                    assert_eq!(ran, Ok(true), "{params:?} {passes:?} {threads} threads: {variant}");
                }
            }
        }
    }
}

fn emitted(nest: &str, variant: &str, threads: u32) -> String {
    let p = program(nest, variant);
    let context = Context::new();
    let variant = Variant { threads, ..Variant::of(p.tree()) };
    let module = emit_function(&context, "kernel", &p.kernel, variant).unwrap();
    module.verify().unwrap();
    module.to_string()
}

const MAP: &str = "nest @map[N] {
    array A: f64[N]
    array B: f64[N]
    for i in 0..N { S: B[i] = A[i] * 2.0 + B[i] }
    VARIANT
}";

#[test]
fn iterations_are_shared() {
    let sizes: &[&[i64]] = &[&[0], &[1], &[3], &[100]];
    same(MAP, sizes, "parallel for i in 0..N { S }");
    same(
        MAP,
        sizes,
        "parallel for i in 0..N step 3 { let i = i { S } if i + 1 < N { let i = i + 1 { S } }
        if i + 2 < N { let i = i + 2 { S } } }",
    );
    same(MAP, sizes, "parallel for t0 in 0..N/4 { for i in 4*t0..4*t0 + 4 { S } } for i in 4*(N/4)..N { S }");
}

#[test]
fn the_runtime_is_asked_for_only_where_threads_are() {
    for (variant, threads, wanted) in [
        ("parallel for i in 0..N { S }", 2, true),
        ("parallel for i in 0..N { S }", 1, false),
        ("for i in 0..N { S }", 2, false),
        // What runs lanes together runs on one thread.
        ("for t0 in 0..N/4 { vector for t1 in 0..4 { parallel for t2 in 0..1 { let i = 4*t0 + t1 + t2 { S } } } }
          for i in 4*(N/4)..N { S }", 2, false),
    ] {
        let ir = emitted(MAP, variant, threads);
        assert_eq!(ir.contains("GOMP_parallel") || ir.contains("omp_get"), wanted, "{variant}: {ir}");
    }
    let ir = emitted(MAP, "parallel for i in 0..N { S }", 3);
    assert!(ir.contains("define internal void @kernel.threads(ptr"), "{ir}");
    assert!(ir.contains("@llvm.smin.i32(i32 %1, i32 3)") || ir.contains("i32 3)"), "{ir}");
}

const ROWS: &str = "nest @rows[N, M] {
    array A: f64[N, M]
    array B: f64[N]
    array C: f64[M]
    scalar s: f64 local
    for i in 0..N { Z: s = 0.0 for j in 0..M { S: s = s + A[i, j] * C[j] } E: B[i] = s }
    VARIANT
}";

#[test]
fn scalars_of_an_iteration_are_its_threads_own() {
    let sizes: &[&[i64]] = &[&[0, 3], &[1, 1], &[37, 20]];
    same(ROWS, sizes, "parallel for i in 0..N { Z for j in 0..M { S } E }");
    // Copies have slots of their own.
    same(
        ROWS,
        sizes,
        "parallel for t0 in 0..N/2 {
        let i = 2*t0 { Z } let i = 2*t0 + 1 { Z }
        for j in 0..M { let i = 2*t0 { S } let i = 2*t0 + 1 { S } }
        let i = 2*t0 { E } let i = 2*t0 + 1 { E } }
      for i in 2*(N/2)..N { Z for j in 0..M { S } E }",
    );
    // An array in the place of the scalar is shared.
    same(ROWS, sizes, "alloc s(x) in [x : N] on heap {
        parallel for i in 0..N { Z } parallel for i in 0..N { for j in 0..M { S } } parallel for i in 0..N { E } }");
}

const STEPS: &str = "nest @steps[N, T] {
    array A: f64[N]
    array F: f64[T]
    scalar f: f64 local
    scalar last: f64 out
    for t in 0..T { L: f = F[t] * 0.5 for i in 0..N { S: A[i] = A[i] * f + F[t] } K: last = f }
    VARIANT
}";

#[test]
fn what_is_set_around_the_loop_is_handed_over() {
    let sizes: &[&[i64]] = &[&[0, 2], &[5, 3], &[64, 9]];
    same(STEPS, sizes, "for t in 0..T { L parallel for i in 0..N { S } K }");
    // Two loops of one iteration hand a scalar on, and one sets what lives on.
    same(
        STEPS,
        sizes,
        "for t in 0..T { parallel for t1 in 0..1 { L } parallel for i in 0..N { S } parallel for t2 in 0..1 { K } }",
    );
    // Inside of a loop that threads share, marks change nothing.
    same(STEPS, sizes, "for t in 0..T { parallel for t1 in 0..1 { L parallel for i in 0..N { S } K } }");
}

const TRIANGLE: &str = "nest @triangle[N] {
    array A: f64[N, N]
    array B: f64[N, N]
    for i in 0..N { for j in 0..i + 1 { for k in 0..j + 1 { S: A[i, j] = A[i, j] + B[i, k] * B[j, k] } } }
    VARIANT
}";

#[test]
fn threads_take_turns_where_iterations_differ() {
    let order = "parallel for i in 0..N { for j in 0..i + 1 { for k in 0..j + 1 { S } } }";
    same(TRIANGLE, &[&[0], &[1], &[23]], order);
    assert!(!emitted(TRIANGLE, order, 2).contains("udiv"));
}

const CHAIN: &str = "nest @chain[N, M] {
    array A: f64[N, M]
    array T: f64[M] local
    array B: f64[N, M]
    for i in 0..N {
      for j in 0..M { S: T[j] = A[i, j] * 2.0 }
      for k in 0..M { R: B[i, k] = T[k] + T[M - 1 - k] }
    }
    VARIANT
}";

#[test]
fn buffers_inside_are_its_threads_own() {
    let sizes: &[&[i64]] = &[&[0, 3], &[1, 1], &[37, 20], &[9, 5]];
    for home in ["heap", "heap align 64", "heap align 256"] {
        let variant = format!(
            "parallel for i in 0..N {{ alloc T[x] in [x : M] on {home} {{ for j in 0..M {{ S }} for k in 0..M {{ R }} }} }}"
        );
        same(CHAIN, sizes, &variant);
    }
    let small = "parallel for i in 0..N {
        alloc T[x] in [x mod 32 : 32] on stack { for j in 0..M { S } for k in 0..M { R } } }";
    same(CHAIN, sizes, small);
}

#[test]
fn lanes_and_threads() {
    let nest = "nest @product[N] {
        array A: f64[N, N]
        array B: f64[N, N]
        array C: f64[N, N]
        for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
        VARIANT
    }";
    let sizes: &[&[i64]] = &[&[1], &[8], &[21]];
    same(
        nest,
        sizes,
        "parallel for i in 0..N {
        for t0 in 0..N/8 { vector for j in 8*t0..8*t0 + 8 { for k in 0..N { S } } }
        for j in 8*(N/8)..N { for k in 0..N { S } } }",
    );
    // A buffer around the loop, and one inside of it.
    same(nest, sizes, "alloc B[x, y] in [y : N, x : N] on heap align 64 fill [0..N, 0..N] {
        parallel for i in 0..N {
          alloc A[x, y] in [y : N] on heap fill [i..i + 1, 0..N] { for j in 0..N { for k in 0..N { S } } } } }");
}
