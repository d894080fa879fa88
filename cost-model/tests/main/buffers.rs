//! What storage of a tree costs: small arrays, registers, and the copies around them.

use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::parse;

fn cycles(nest: &str, variant: &str, n: i64) -> f64 {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    let program = parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let model = AnalyticModel::new(targets::by_name("x86_64_avx2").expect("a target"));
    let cost = model.cost(&program.kernel, program.tree(), &[n]);
    assert!(cost.cycles.is_finite() && cost.cycles > 0.0, "{variant}");
    cost.cycles
}

const CHAIN: &str = "nest @chain[N] {
    array A: f64[N]
    array T: f64[N] local
    array B: f64[N]
    for i in 0..N { S: T[i] = A[i] * 2.0 }
    for j in 0..N { R: B[j] = T[j] + 1.0 }
    VARIANT
}";

#[test]
fn a_contracted_temporary_is_no_memory() {
    let n = 4_000_000;
    let fused = "for t in 0..N { let i = t { S } let j = t { R } }";
    let contracted = format!("alloc T[x] in [] on registers {{ {fused} }}");
    let inside = fused.replacen("{ let", "{ alloc T[x] in [] on registers { let", 1) + " }";
    let window = format!("alloc T[x] in [x mod 4 : 4] on stack {{ {fused} }}");
    let (fused, contracted, inside) =
        (cycles(CHAIN, fused, n), cycles(CHAIN, &contracted, n), cycles(CHAIN, &inside, n));
    assert!(contracted < 0.8 * fused && inside < 0.8 * fused, "{fused} {contracted} {inside}");
    // Walking around a window is not vectorised.
    assert!(cycles(CHAIN, &window, n) > contracted);
    // Strips of a buffer that stays in the cache are better than all of it, in memory.
    let strip = |length: i64| {
        format!(
            "for t in 0..N/{length} {{ alloc T[x] in [x - {length}*t : {length}] on stack {{
               for i in {length}*t..{length}*t + {length} {{ S }}
               for j in {length}*t..{length}*t + {length} {{ R }} }} }}"
        )
    };
    let whole = "for i in 0..N { S } for j in 0..N { R }";
    assert!(cycles(CHAIN, &strip(1000), n) < 0.8 * cycles(CHAIN, whole, n));
}

const COLUMNS: &str = "nest @columns[N] {
    array A: f64[2048, 2048]
    array B: f64[2048]
    for r in 0..N { for j in 0..64 { for k in 0..2048 { S: B[j] = B[j] + A[k, j] * A[k, j] } } }
    VARIANT
}";

#[test]
fn a_pack_costs_its_copy_and_gains_by_its_strides() {
    // 64 columns of 16 KiB rows, N times: the copy is worth it the second time.
    let nest = "for r in 0..N { for j in 0..64 { for k in 0..2048 { S } } }";
    let packed =
        format!("alloc A[x, y] in [y : 64, x : 2048] on heap align 64 fill [0..2048, 0..64] {{ {nest} }}");
    assert!(cycles(COLUMNS, &packed, 100) < 0.7 * cycles(COLUMNS, nest, 100));
    // Filled again and again, it is not.
    let again = "for r in 0..N { for j in 0..64 {
        alloc A[x, y] in [y : 64, x : 2048] on heap align 64 fill [0..2048, 0..64] { for k in 0..2048 { S } } } }";
    assert!(cycles(COLUMNS, again, 100) > 5.0 * cycles(COLUMNS, &packed, 100));
}

const GEMM: &str = "nest @gemm[N] {
    array A: f64[512, 512]
    array B: f64[512, 512]
    array C: f64[512, 512]
    for i in 0..512 { for j in 0..512 { for k in 0..512 { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
    VARIANT
}";

#[test]
fn a_register_tile_is_loaded_and_stored_around_its_loop() {
    let tile = |alloc: &str, end: &str| {
        let copies: Vec<String> = (0..4).map(|i| format!("let i = 4*t + {i} {{ S }}")).collect();
        format!(
            "for t in 0..128 {{ for u in 0..32 {{ {alloc} for k in 0..512 {{
               for j in 16*u..16*u + 16 {{ {} }} }} {end} }} }}",
            copies.join(" ")
        )
    };
    let window = "[4*t..4*t + 4, 16*u..16*u + 16]";
    let alloc =
        format!("alloc C[x, y] in [x - 4*t : 4, y - 16*u : 16] on registers fill {window} write {window} {{");
    let memory = alloc.replace("registers", "stack");
    let (registers, stack) = (cycles(GEMM, &tile(&alloc, "}"), 1), cycles(GEMM, &tile(&memory, "}"), 1));
    assert!(registers <= stack, "{registers} {stack}");
    assert!(registers <= 1.1 * cycles(GEMM, &tile("", ""), 1));
}
