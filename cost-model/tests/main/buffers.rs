//! What storage of a tree costs: small arrays, registers, and the copies around them.

use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::parse;

fn cycles(nest: &str, variant: &str, n: i64) -> f64 {
    cycles_on("x86_64_avx2", nest, variant, n)
}

fn cycles_on(target: &str, nest: &str, variant: &str, n: i64) -> f64 {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    let program = parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let model = AnalyticModel::new(targets::by_name(target).expect("a target"));
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

const SCALED: &str = "nest @scaled[N] {
    array C: f64[960, 960]
    array A: f64[960, 960]
    array B: f64[960, 960]
    scalar alpha: f64 in
    for i in 0..960 { for k in 0..960 { for j in 0..960 {
      S: C[i, j] = C[i, j] + alpha * A[i, k] * B[k, j]
    } } }
    VARIANT
}";

/// A target, its lanes, and what it computes.
type Machine<'a> = (&'a str, i64, &'a str);

const ZEN_5: Machine<'_> = ("znver5", 8, SCALED);

/// A tile of rows and vectors, over panels of 120 terms: how these are filled, if they are packed.
fn tile((target, lanes, nest): Machine, rows: i64, vectors: i64, packs: [Option<&str>; 2]) -> f64 {
    let width = lanes * vectors;
    let copies: String = (0..rows).map(|i| format!("let i = {rows}*v + {i} {{ S }} ")).collect();
    let vector = |n| format!("vector for j in {width}*u + {n}..{width}*u + {n} + {lanes} {{ {copies} }} ");
    let row: String = (0..vectors).map(|n| vector(lanes * n)).collect();
    let across = "A[x, y] in [x : 960, y - 120*t : 120] on heap align 64 fill [0..960, 120*t..120*t + 120]";
    let along = format!(
        "B[x, y] in [x - 120*t : 120, y - {width}*u : {width}] on stack align 64
           fill [120*t..120*t + 120, {width}*u..{width}*u + {width}]"
    );
    let pack = |buffer: &str, how: Option<&str>, body: String| match how {
        Some(how) => format!("alloc {buffer} {how} {{ {body} }}"),
        None => body,
    };
    let rows = format!("for v in 0..{} {{ for k in 120*t..120*t + 120 {{ {row} }} }}", 960 / rows);
    let panels = format!("for u in 0..{} {{ {} }}", 960 / width, pack(&along, packs[1], rows));
    cycles_on(target, nest, &format!("for t in 0..8 {{ {} }}", pack(across, packs[0], panels)), 1)
}

#[test]
fn packed_panels_spare_a_product_and_transfers() {
    let [plain, along, both, computed] =
        [[None, None], [None, Some("")], [Some(""), Some("")], [Some("by S"), Some("")]]
            .map(|packs| tile(ZEN_5, 4, 4, packs));
    // On Zen 5, of 1000 x 1100 x 1200: 0.040, 0.033 and, computed, 0.026 s.
    assert!(along < 0.97 * plain, "{along} {plain}");
    assert!(computed < 0.9 * along && computed < 0.95 * both, "{computed} {both} {along}");
}

#[test]
fn broadcasts_take_registers_of_a_tile() {
    // 24 accumulators, 8 broadcasts and a vector are one more than there are registers. On Zen 5: 0.037 s, and 0.030 of 6 rows.
    let [many, fewer] =
        [[8, 3], [6, 4]].map(|[rows, vectors]| tile(ZEN_5, rows, vectors, [Some("by S"), Some("")]));
    assert!(many > 1.02 * fewer, "{many} {fewer}");
}

#[test]
fn what_scales_broadcasts_takes_a_register_of_a_tile() {
    // 12 accumulators, 3 broadcasts, a vector and alpha are one more than there are registers, and two accumulators go to the stack.
    // On Zen 4 with AVX2, of 680 x 700 x 720: 0.036 s, and 0.017 with alpha * A packed.
    let nest =
        SCALED.replace("C[i, j] + alpha * A[i, k] * B[k, j]", "fmuladd(alpha * A[i, k], B[k, j], C[i, j])");
    let zen_4 = ("znver3", 4, &*nest);
    let [scaled, computed] =
        [[None, Some("")], [Some("by S"), Some("")]].map(|packs| tile(zen_4, 3, 4, packs));
    assert!(scaled > 1.6 * computed && scaled < 2.6 * computed, "{scaled} {computed}");
}
