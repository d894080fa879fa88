//! What the core takes: operations, chains of them, registers, and how often all of it runs.

use super::{copies, cycles_on, gain, gain_on, model, of_target};
use cost_model::targets::{self, StaticTarget, Vectors};
use cost_model::{AnalyticModel, CostModel};
use loop_tree::text::parse;

#[test]
fn an_operand_from_long_ago_does_not_hide_one_from_just_now() {
    let text = |operands: &str| {
        format!(
            "nest @sweep[N] {{ array A: f64[200, 200]
               for i in 1..199 {{ for j in 1..199 {{ S: A[i, j] = ({operands}) * 0.2 }} }} }}"
        )
    };
    let cycles = |operands: &str| {
        let program = parse(&text(operands)).expect("it parses");
        model().cost(&program.kernel, program.tree(), &[]).cycles
    };
    let near = cycles("A[i, j-1] + A[i, j+1]");
    assert!(cycles("A[i-1, j] + A[i, j-1] + A[i, j+1]") >= near);
    assert!(near > 3.0 * cycles("A[i-1, j] + A[i-1, j+1]"));
}

#[test]
fn jammed_chains_run_side_by_side_without_anything_used_again() {
    // The horizontal pass of a recursive filter.
    let text = format!(
        "nest @filter[N] {{ array A: f64[4096, 2160] array B: f64[4096, 2160]
           for i in 0..4096 {{ for j in 1..2160 {{ S: B[i, j] = A[i, j] + B[i, j-1] * 0.5 }} }}
           variant {{ for t in 0..1024 {{ for j in 1..2160 {{ {} }} }} }} }}",
        copies("i", "t", 4, "S")
    );
    let gain = gain(&text, &[]);
    assert!((1.2..4.0).contains(&gain), "{gain}");
}

/// Accumulation over `k` with `i` jammed by one factor and `k` by another, vectors along `j`.
fn product(rows: i64, depth: i64) -> f64 {
    let body = copies("i", "ii", rows, &copies("k", "kk", depth, "S"));
    let text = format!(
        "nest @gemm[] {{ array A: f64[960, 960] array B: f64[960, 960] array C: f64[960, 960]
           for i in 0..960 {{ for k in 0..960 {{ for j in 0..960 {{ S: C[i, j] = fmuladd(A[i, k], B[k, j], C[i, j]) }} }} }}
           variant {{ for ii in 0..{} {{ for kk in 0..{} {{ for j in 0..960 {{ {body} }} }} }} }} }}",
        960 / rows,
        960 / depth
    );
    gain(&text, &[])
}

#[test]
fn four_rows_and_eight_steps_are_the_best_register_tile_of_a_product() {
    let best = product(4, 8);
    for (rows, depth) in [(1, 1), (1, 8), (8, 1), (4, 4), (2, 4)] {
        assert!(best > product(rows, depth), "{rows} x {depth}: {} against {best}", product(rows, depth));
    }
    assert!((1.5..4.0).contains(&best), "{best}");
}

#[test]
fn tiles_of_a_small_triangle_do_not_pay() {
    // In the second level of cache from one call to the next; each short row is a loop of its own.
    let rows = (0..8)
        .map(|u| format!("let j = 64*t + 8*v + {u} {{ for i in max(j + 1, 64*u)..64*u + 64 {{ S }} }} "))
        .collect::<String>();
    let text = format!(
        "nest @solve[] {{ array a: f64[256] array M: f64[256, 256]
           for j in 0..256 {{ for i in j + 1..256 {{ S: a[i] = a[i] - M[j, i] * a[j] }} }}
           variant {{ for t in 0..4 {{ for u in t..4 {{ for v in 0..8 {{ {rows} }} }} }} }} }}"
    );
    assert!(gain(&text, &[]) < 0.9, "{}", gain(&text, &[]));
}

/// Loops that are empty in all samples make nothing cheap.
#[test]
fn what_no_sample_reaches_at_all_costs_what_the_original_costs() {
    let text = "nest @corner[N] { array A: f64[N, N]
        for i in 0..N { for j in 0..N { S: A[i, j] = A[i, j] + 1.0 } }
        variant { for t in 0..floor(N/1000) - 1 { for i in 0..N { for j in 0..N { S } } } } }";
    assert!(gain(text, &[1000]) <= 1.001, "{}", gain(text, &[1000]));
}

#[test]
fn short_rows_of_a_register_tile_pay_for_what_is_loaded_before_them() {
    let text = |row: i64| {
        let copies = copies("i", "t0", 8, &copies("k", "t1", 4, "S"));
        format!(
            "nest @product[N] {{ array C: f64[1024, 1024] array A: f64[1024, 1024] alias 1 array B: f64[1024, 1024] alias 2
               for i in 0..1024 {{ for k in 0..1024 {{ for j in 0..1024 {{ S: C[i, j] = C[i, j] + A[i, k] * B[k, j] }} }} }}
               variant {{ for t0 in 0..128 {{ for t2 in 0..{} {{ for t1 in 0..256 {{
                 for j in {row}*t2..{row}*t2 + {row} {{ {copies} }} }} }} }} }} }}",
            1024 / row
        )
    };
    // 1.5 measured on Zen 5.
    let (short, long) = (gain(&text(32), &[]), gain(&text(256), &[]));
    assert!(long > 1.15 * short, "{long} {short}");
}

#[test]
fn copies_that_wait_for_each_other_in_an_iteration_overlap_as_far_as_the_schedulers_reach() {
    // Gauss-Seidel with the rows jammed: skewed by one, each row waits for the one above in the same iteration.
    let rows = |skew: i64, rows: i64| {
        let copies: String = (0..rows)
            .map(|u| format!("let i = {rows}*t + 1 + {u} {{ let j = w - {skew}*i {{ S }} }} "))
            .collect();
        let text = format!(
            "nest @sweep[] {{ array A: f64[802, 802]
               for i in 1..801 {{ for j in 1..801 {{
                 S: A[i, j] = (A[i-1, j-1] + A[i-1, j] + A[i-1, j+1] + A[i, j-1] + A[i, j] + A[i, j+1]
                           + A[i+1, j-1] + A[i+1, j] + A[i+1, j+1]) / 9.0 }} }}
               variant {{ for t in 0..{} {{ for w in {skew}*{rows}*t + {}..{skew}*{rows}*t + {} {{ {copies} }} }} }} }}",
            800 / rows,
            skew * rows + 1,
            skew * rows + 790,
        );
        gain(&text, &[])
    };
    // 5.4 and 3.7 measured on Zen 5 with a skew of two, 2.3 and 3.0 with one.
    assert!(rows(2, 8) > 1.25 * rows(2, 4), "{} {}", rows(2, 8), rows(2, 4));
    assert!(rows(2, 8) > 1.5 * rows(1, 8), "{} {}", rows(2, 8), rows(1, 8));
    assert!(rows(2, 4) > 1.05 * rows(1, 4), "{} {}", rows(2, 4), rows(1, 4));
}

#[test]
fn tiles_of_a_triangle_are_as_much_work_as_the_triangle() {
    let text = "nest @pairs[N] { array T: i32[2500, 2500]
        for i in 0..N { for j in 0..N - i { for k in j..N - i { S: T[i, j] = smax(T[i, j], T[i, k] + T[k, j]) } } }
        variant { for a in 0..floor((N + 127)/128) { for b in 0..floor((N + 127 - 128*a)/128) {
          for i in 128*a..min(128*a + 128, N) { for j in 128*b..min(128*b + 128, N - i) { for k in j..N - i { S } } } } } } }";
    // 1.5 and more measured on Zen 5.
    assert!(gain(text, &[2500]) > 0.97, "{}", gain(text, &[2500]));
}

#[test]
fn a_short_row_that_is_unrolled_stays_in_registers() {
    let text = |row: i64| {
        format!(
            "nest @product[] {{ array A: f64[1024, 1032] array B: f64[1024, 1032] alias 1 array C: f64[1024, 1032] alias 2
               for i in 0..1024 {{ for k in 0..1024 {{ for j in 0..1024 {{ S: C[i, j] = C[i, j] + A[i, k] * B[k, j] }} }} }}
               variant {{ for a in 0..{n} {{ for b in 0..{} {{ for i in 0..1024 {{
                 for k in 64*b..64*b + 64 {{ for j in {row}*a..{row}*a + {row} {{ S }} }} }} }} }} }} }}",
            1024 / 64,
            n = 1024 / row
        )
    };
    assert!(
        gain(&text(64), &[]) > 1.1 * gain(&text(512), &[]),
        "{} {}",
        gain(&text(64), &[]),
        gain(&text(512), &[])
    );
}

#[test]
fn ports_that_are_used_alike_do_not_run_at_once() {
    // A register tile whose operands stay in the first level: rows times steps.
    let cycles = |rows: i64, steps: i64| {
        let body = copies("i", "a", rows, &copies("k", "b", steps, "S"));
        let text = format!(
            "nest @tile[] {{ array C: f64[8, 128] array B: f64[8, 128] alias 1 array A: f64[8, 8] alias 2
               for r in 0..1000 {{ for i in 0..{rows} {{ for k in 0..{steps} {{ for j in 0..128 {{
                 S: C[i, j] = fmuladd(A[i, k], B[k, j], C[i, j]) }} }} }} }}
               variant {{ for r in 0..1000 {{ for a in 0..1 {{ for b in 0..1 {{ for j in 0..128 {{ {body} }} }} }} }} }} }}"
        );
        let program = parse(&text).expect("it parses");
        let cycles = model().cost(&program.kernel, program.tree(), &[]).cycles;
        cycles / (1000.0 * 16.0 * (rows * steps) as f64)
    };
    // Cycles for each multiplication on Zen 5: 0.49 in 4 x 8, 0.74 in 4 x 2, 0.84 in 2 x 2.
    assert!(cycles(4, 2) > 1.2 * cycles(4, 8), "{} {}", cycles(4, 2), cycles(4, 8));
    assert!(cycles(2, 2) > 1.2 * cycles(4, 8), "{} {}", cycles(2, 2), cycles(4, 8));
}

#[test]
fn one_statement_that_is_counted_too_often_makes_no_other_cheaper() {
    // Columns are dear, rows are not; as if the samples met four times the iterations over rows.
    let text = "nest @both[] { array A: f64[2000, 2000] array B: f64[2000, 2000] array C: f64[2000, 2000]
        for i in 0..2000 { for j in 0..2000 { S: A[j, i] = A[j, i] + C[j, i] } }
        for i in 0..2000 { for j in 0..2000 { T: B[i, j] = B[i, j] + 1.0 } }
        variant {
          for i in 0..2000 { for j in 0..2000 { S } }
          for r in 0..4 { for i in 0..2000 { for j in 0..2000 { T } } } } }";
    let gain = gain(text, &[]);
    assert!(gain < 1.02, "{gain}");
}

#[test]
fn sums_of_rows_stay_in_registers_where_bounds_tell_them_from_what_is_read() {
    // The blocks below the diagonal of a triangular solver, eight rows side by side: 3.1 times as fast as written, measured on Zen 5.
    let solver = |columns: &str| {
        let text = format!(
            "nest @solve[N] {{ array L: f64[?, N] array x: f64[N]
               for t in 1..46 {{ for i in 32*t..32*t + 32 {{ for j in 0..{columns} {{ S: x[i] = x[i] - L[i, j] * x[j] }} }} }}
               variant {{ for t in 1..46 {{ for q in 4*t..4*t + 4 {{ for j in 0..{columns} {{ {} }} }} }} }} }}",
            copies("i", "q", 8, "S")
        );
        gain(&text, &[1500])
    };
    let (apart, together) = (solver("32*t"), solver("N"));
    assert!((2.0..4.5).contains(&apart) && together < 0.7 * apart, "{apart} {together}");
    // The panel of a Cholesky factor: 2.6 times. Columns tell elements apart where rows do not.
    let body = copies("i", "q", 4, "S");
    let factor = format!(
        "nest @panel[N] {{ array A: f64[?, N]
           for t in 1..45 {{ for i in 32*t..32*t + 32 {{ for j in 0..32*t + 32 {{ for k in 0..j {{
             S: A[i, j] = A[i, j] - A[i, k] * A[j, k] }} }} }} }}
           variant {{ for t in 1..45 {{ for q in 8*t..8*t + 8 {{ for j in 0..32*t + 32 {{ for k in 0..j {{ {body} }} }} }} }} }} }}"
    );
    let gain = gain(&factor, &[1450]);
    assert!((2.0..4.5).contains(&gain), "{gain}");
}

#[test]
fn a_scalar_minimum_is_a_comparison_and_a_move() {
    // An edit distance with rows side by side: each copy waits for the one before it, five cycles.
    let text = format!(
        "nest @distance[] {{ array D: i32[2001, 2101]
           for i in 1..2001 {{ for j in 1..2101 {{
             S: D[i, j] = smin(smin(D[i-1, j-1] + 3, D[i-1, j] + 1), D[i, j-1] + 1) }} }}
           variant {{ for t in 0..250 {{ for j in 1..2101 {{ {} }} }} }} }}",
        copies("i", "t", 8, "S").replace("8*t + ", "8*t + 1 + ")
    );
    // 0.6 measured on Zen 5.
    assert!(gain(&text, &[]) < 1.25, "{}", gain(&text, &[]));
}

#[test]
fn integers_are_divided_one_by_one() {
    let text = |divisor: &str| {
        format!(
            "nest @mean[N] {{ array A: i32[1024, 1024] array B: i32[1024, 1024] array d: i32[1]
               for i in 0..1024 {{ for j in 0..1024 {{ S: B[i, j] = A[i, j] / {divisor} }} }}
               variant {{ for t in 0..128 {{ for j in 0..1024 {{ {} }} }} }} }}",
            copies("i", "t", 8, "S")
        )
    };
    let cycles = |text: &str| {
        let program = parse(text).expect("it parses");
        model().cost(&program.kernel, &program.kernel.original, &[]).cycles
    };
    assert!(gain(&text("d[0]"), &[]) < 1.2, "{}", gain(&text("d[0]"), &[]));
    // By a constant it is a multiplication.
    assert!(cycles(&text("d[0]")) > 4.0 * cycles(&text("81")));
}

#[test]
fn a_guard_compares_64_bits_for_each_byte() {
    let cycles = |body: &str| {
        let text = format!(
            "nest @guarded[N] {{ array A: i8[1000, 4096] array B: i8[1000, 4096]
               for i in 0..1000 {{ for j in 0..4096 {{ {body} {{ S: B[i, j] = A[i, j] }} }} }} }}"
        );
        cycles_on("znver5", &text, &[8])
    };
    assert!(
        cycles("if j >= N") > 1.3 * cycles("if i >= N"),
        "{} {}",
        cycles("if j >= N"),
        cycles("if i >= N")
    );
}

#[test]
fn a_hash_waits_for_itself_where_a_sum_does_not() {
    let cycles = |operation: &str| {
        let text = format!(
            "nest @fold[N] {{ array p: i8[4096] scalar h: i64
               for i in 0..4096 {{ S: h = {operation} }} }}"
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        model().cost(&program.kernel, program.tree(), &[]).cycles
    };
    // A product of a sum: no operation may change places with the next.
    let hash = cycles("(h ^ zext.i64(p[i])) * 1099511628211");
    assert!(hash >= 4096.0 * 4.0, "{hash}");
    assert!(cycles("h ^ zext.i64(p[i])") < hash / 4.0);
    assert!(cycles("h + zext.i64(p[i])") < hash / 4.0);
}

#[test]
fn lanes_are_added_up_behind_each_short_row() {
    // Integers may be added in any order; eight rows at once have eight sums of lanes to add up. On Zen 3 they take 1.1 times as long: a row
    // by itself is unrolled and added up as vectors.
    let text = format!(
        "nest @sums[] {{ array A: i32[64, 32] array s: i32[64]
           for i in 0..64 {{ for j in 0..32 {{ S: s[i] = s[i] + A[i, j] }} }}
           variant {{ for t in 0..8 {{ for j in 0..32 {{ {} }} }} }} }}",
        copies("i", "t", 8, "S")
    );
    assert!(gain(&text, &[]) < 3.2, "{}", gain(&text, &[]));
    assert!(gain_on("znver3", &text, &[]) < 1.0, "{}", gain_on("znver3", &text, &[]));
}

#[test]
fn a_row_of_integers_is_held_while_it_is_multiplied_with_others() {
    // Eight rows by four terms, with lanes along other rows. On Zen 3 it is 0.8 times as fast for 64 terms of 32 bits, 0.6 of 16, pairs of
    // which are multiplied and added at once; rows of 32 are unrolled before there are vectors, and it is 3.3 times as fast.
    let gain = |ty: &str, n: i64| {
        let of = |load: &str| if ty == "i32" { load.to_string() } else { format!("sext.i32({load})") };
        let tile: String =
            (0..4).map(|k| format!("let k = 4*s + {k} {{ {} }} ", copies("i", "t", 8, "S"))).collect();
        let text = format!(
            "nest @dots[] {{ array a: {ty}[{n}, {n}] array b: {ty}[{n}, {n}] array c: i32[{n}, {n}]
               for i in 0..{n} {{ for j in 0..{n} {{ Z: c[i, j] = 0 for k in 0..{n} {{ S: c[i, j] = c[i, j] + {} * {} }} }} }}
               variant {{ for i in 0..{n} {{ for j in 0..{n} {{ Z }} }}
                 for t in 0..{n}/8 {{ for s in 0..{n}/4 {{ for j in 0..{n} {{ {tile} }} }} }} }} }}",
            of("a[i, k]"),
            of("b[j, k]"),
        )
        .replace(&format!("{n}/8"), &(n / 8).to_string())
        .replace(&format!("{n}/4"), &(n / 4).to_string());
        gain_on("znver3", &text, &[])
    };
    for (ty, n, range) in [("i32", 64, 0.6..1.1), ("i16", 64, 0.4..1.0), ("i32", 32, 2.0..4.5)] {
        assert!(range.contains(&gain(ty, n)), "{ty} {n} {}", gain(ty, n));
    }
}

#[test]
fn products_of_vectors_take_as_long_as_their_elements() {
    // On Zen 3 half a cycle for eight of 32 bits, 2.1 for four of 64 (no instruction), on Zen 4 with 512 bits one for eight of 64.
    let each = |target: &str, ty: &str, lanes: u32| {
        let ty = if ty == "i32" { loop_tree::ScalarType::I32 } else { loop_tree::ScalarType::I64 };
        let target = cost_model::targets::by_name(target).expect("a table");
        cost_model::Target::op(&target, cost_model::OpClass::IntegerMul, ty, lanes).reciprocal
    };
    assert_eq!(
        (each("znver3", "i32", 8), each("znver3", "i64", 4), each("znver4", "i64", 8)),
        (0.5, 2.0, 0.5)
    );
}

#[test]
fn branches_that_depend_on_data_are_mispredicted_in_any_order() {
    // The longest common subsequence; rows side by side have as many branches.
    let text = "nest @lcs[] { array a: i8[2501] array b: i8[2501] array L: i32[2501, 2501]
           for i in 1..2501 { for j in 1..2501 { S: {
             %0 = load a[i - 1]
             %1 = load b[j - 1]
             %2 = cmp eq %0, %1
             %3 = load L[i - 1, j] if !%2
             %4 = load L[i, j - 1] if !%2
             %5 = cmp sgt %3, %4 if !%2
             store L[i, j], %4 if !%5
             store L[i, j], %3 if %5
             %8 = load L[i - 1, j - 1] if %2
             %9 = const i32 1
             %10 = add nsw i32 %8, %9 if %2
             store L[i, j], %10 if %2
           } } }
           variant { VARIANT } }";
    let side_by_side =
        |var: &str| (1..5).map(|u| format!("let {var} = 4*t + {u} {{ S }} ")).collect::<String>();
    let rows = format!("for t in 0..625 {{ for j in 1..2501 {{ {} }} }}", side_by_side("i"));
    // Neighbours, too: what is behind branches is not packed.
    let columns = format!("for t in 0..625 {{ for i in 1..2501 {{ {} }} }}", side_by_side("j"));
    for variant in [rows, columns] {
        let gain = gain(&text.replace("VARIANT", &variant), &[]);
        assert!(gain < 1.4, "{gain}");
    }
}

#[test]
fn unrolled_loops_keep_what_they_add_up_not_what_they_read() {
    // Columns of a matrix added up over a short loop: each further column is as many loads more.
    let cycles = |factor: i64| {
        let text = format!(
            "nest @columns[] {{ array A: f64[1024, 1032] array x: f64[1024] array s: f64[32]
               for j in 0..1024 {{ for i in 0..32 {{ S: s[i] = s[i] + A[i, j] * x[j] }} }}
               variant {{ for t in 0..{} {{ for i in 0..32 {{ {} }} }} }} }}",
            1024 / factor,
            copies("j", "t", factor, "S")
        );
        cycles_on("znver5", &text, &[])
    };
    assert!(cycles(2) > 0.8 * cycles(1), "{} {}", cycles(1), cycles(2));
}

#[test]
fn what_is_added_does_not_wait_for_what_is_multiplied() {
    // A product of matrices, not contracted, eight rows by four terms: 1.27 cycles for each of 42.8 M vectors of eight on Zen 4,
    // 680 x 700 x 720, for a product and a sum of two passes through two units each.
    let text = format!(
        "nest @product[N] {{ array A: f64[680, 720] array B: f64[720, 700] alias 1 array C: f64[680, 700] alias 2
           for i in 0..680 {{ for k in 0..720 {{ for j in 0..700 {{ S: C[i, j] = C[i, j] + A[i, k] * B[k, j] }} }} }}
           variant {{ for t in 0..85 {{ for u in 0..180 {{ for j in 0..700 {{ {} }} }} }} }} }}",
        copies("k", "u", 4, &copies("i", "t", 8, "S"))
    );
    let program = parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let model = AnalyticModel::new(targets::znver4());
    let vectors = 680.0 * 700.0 * 720.0 / 8.0;
    let each = model.cost(&program.kernel, program.tree(), &[]).cycles / vectors;
    assert!((1.0..1.6).contains(&each), "{each}");
}

#[test]
fn accumulators_beyond_the_registers_go_to_the_stack() {
    // Tiles of a product whose rows of 64 columns are unrolled away: eight vectors for each row. Measured 2.4 times as slow with four
    // rows as with two.
    let tile = |rows: i64| {
        let body = copies("i", "ii", rows, &copies("k", "kk", 4, "S"));
        let text = format!(
            "nest @product[] {{ array A: f64[1024, 1032] array B: f64[1024, 1032] array C: f64[1024, 1032]
               for i in 0..1024 {{ for k in 0..1024 {{ for j in 0..1024 {{ S: C[i, j] = fmuladd(A[i, k], B[k, j], C[i, j]) }} }} }}
               variant {{ for a in 0..16 {{ for b in 0..16 {{ for ii in 0..{} {{
                 for kk in 16*b..16*b + 16 {{ for j in 64*a..64*a + 64 {{ {body} }} }} }} }} }} }} }}",
            1024 / rows
        );
        gain(&text, &[])
    };
    assert!(tile(2) > 1.8 * tile(4), "{} {}", tile(2), tile(4));
}

#[test]
fn vectors_beyond_the_registers_go_to_the_stack() {
    // Four rows of a product with packed panels. Measured on Zen 4: eight vectors of each row take 1.3 times as long as four.
    let tile = |vectors: i64| {
        let width = 8 * vectors;
        let row: String = (0..vectors)
            .map(|v| format!("vector for j in {width}*p + {}..{width}*p + {} {{ S }} ", 8 * v, 8 * v + 8))
            .collect();
        let text = format!(
            "nest @product[] {{ array A: f64[1024, 96] array B: f64[96, 1024] array C: f64[1024, 1024]
               for i in 0..1024 {{ for k in 0..96 {{ for j in 0..1024 {{ S: C[i, j] = fmuladd(A[i, k], B[k, j], C[i, j]) }} }} }}
               variant {{ for p in 0..{} {{ for ii in 0..256 {{ for k in 0..96 {{ {} }} }} }} }} }}",
            1024 / width,
            copies("i", "ii", 4, &row)
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let model = AnalyticModel::new(targets::znver4());
        model.cost(&program.kernel, program.tree(), &[]).cycles
    };
    assert!(tile(8) > 1.15 * tile(4), "{} {}", tile(8), tile(4));
}

#[test]
fn divisions_are_as_fast_in_vectors_as_the_data_path_is_long() {
    // Zen 4 with AVX2: four divisions of eight floats in 12 cycles, two loads and a store beside them.
    let text = "nest @tone[] { array l: f32[2400] array g: f32[2400]
        for i in 0..2400 { S: g[i] = l[i] / 255.0 / (l[i] / 0.64 + 1.0) / (l[i] + 0.5) } }";
    let program = parse(text).expect("it parses");
    for target in [targets::znver3(), targets::znver4()] {
        let cost = AnalyticModel::new(target).cost(&program.kernel, program.tree(), &[]);
        let each = cost.cycles / 300.0;
        assert!((10.0..16.0).contains(&each), "{each}");
    }
}

#[test]
fn copies_that_wait_for_each_other_are_no_vectors_under_a_guard() {
    // Alignment of two sequences in blocks of 16 x 16, and what is copied out of a block, in one loop. Measured on Zen 3: 1.1.
    let text = "nest @align[N] {
        array l: i32[17, 17] array r: i32[16, 16] alias 1 array o: i32[16, 16] alias 2
        for t in 0..N {
          for i in 1..17 { for j in 1..17 {
            S: l[i, j] = smax(smax(l[i-1, j-1] + r[i-1, j-1], l[i, j-1] - 10), l[i-1, j] - 10) } }
          for k in 0..16 { for m in 0..16 { T: o[k, m] = l[k+1, m+1] } } }
        variant { for t in 0..N { for u in 1..18 {
          if u <= 16 { let i = u { for j in 1..17 { S } } }
          if u >= 2 { let k = u - 2 { for m in 0..16 { T } } } } } } }";
    let gain = gain_on("znver3", text, &[1000]);
    assert!((0.7..1.3).contains(&gain), "{gain}");
}

#[test]
fn what_loops_between_compute_is_not_what_was_stored_before() {
    // Distances of points, and a call for each: 16 calls for 16 sums, though all of these begin with 0.
    let text = |each: i64| {
        let along = |body: &str| copies("j", "t", each, body);
        format!(
            "nest @distances[] {{ array x: f64[300, 10] array y: f64[10, 300] array d: f64[300, 300]
               for i in 0..300 {{ for j in 0..300 {{ Z: d[i, j] = 0.0
                 for k in 0..10 {{ S: d[i, j] = d[i, j] + x[i, k] * y[k, j] }}
                 E: d[i, j] = exp(d[i, j]) }} }}
               variant {{ for i in 0..300 {{ for t in 0..{} {{ {} for k in 0..10 {{ {} }} {} }} }} }} }}",
            300 / each,
            along("Z"),
            along("S"),
            along("E"),
        )
    };
    let calls = 300.0 * 300.0 * 20.0;
    for each in [1, 4] {
        let text = text(each);
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let cycles = of_target("znver3").cost(&program.kernel, program.tree(), &[]).cycles;
        assert!(cycles > calls, "{each}: {cycles}");
    }
}

#[test]
fn rows_of_neighbours_are_held_as_vectors() {
    // Products of 5 x 5, for many matrices: what each row of the result takes of the second one is loaded once, packed. One row of all
    // results first loads it each time. Measured on Zen 3: 0.6 to 0.67.
    let text = "nest @products[] {
        array C: f32[300, 5, 5] array A: f32[300, 5, 5] array B: f32[300, 5, 5]
        for i in 0..300 { for j in 0..5 { for k in 0..5 {
          Z: C[i, j, k] = 0.0
          for l in 0..5 { S: C[i, j, k] = fmuladd(A[i, j, l], B[i, l, k], C[i, j, k]) } } } }
        variant { for j in 0..5 { for i in 0..300 { for k in 0..5 { Z for l in 0..5 { S } } } } } }";
    let gain = gain_on("znver3", text, &[]);
    assert!(gain < 0.8, "{gain}");
}

#[test]
fn what_waits_for_itself_between_loops_is_not_hidden_by_them() {
    // Eight unknowns of a triangular system, between products of eight rows and 64 numbers: each divided alone adds nothing on Zen 3,
    // each with those before it taken off adds 100 cycles.
    let cycles = |solve: String| {
        let text = format!(
            "nest @solve[] {{ array A: f64[8, 264] array L: f64[8, 8] array x: f64[264] array y: f64[2000, 8]
               for t in 0..2000 {{
                 for k in 0..64 {{ for r in 0..8 {{ S: y[t, r] = fmuladd(A[r, k], x[k], y[t, r]) }} }}
                 for r in 0..8 {{ D: y[t, r] = y[t, r] / L[r, r]
                   for q in r + 1..8 {{ E: y[t, q] = fmuladd(y[t, r], L[q, r], y[t, q]) }} }} }}
               variant {{ for t in 0..2000 {{ for k in 0..64 {{ {} }} {solve} }} }} }}",
            (0..8).map(|r| format!("let r = {r} {{ S }} ")).collect::<String>()
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        of_target("znver3").cost(&program.kernel, program.tree(), &[]).cycles / 2000.0
    };
    let solved = |r: i64, taken_off: bool| {
        let others: String =
            (r + 1..8).filter(|_| taken_off).map(|q| format!("let q = {q} {{ E }} ")).collect();
        format!("let r = {r} {{ D {others} }} ")
    };
    let of = |taken_off: bool| cycles((0..8).map(|r| solved(r, taken_off)).collect());
    let (alone, in_turn, without) = (of(false), of(true), cycles(String::new()));
    assert!(alone < without + 50.0 && in_turn > without + 60.0, "{without} {alone} {in_turn}");
}

#[test]
fn a_store_in_two_lines_takes_longer_where_other_rows_are_stored_meanwhile() {
    // Rows of floats that begin with a line, or anywhere, as vectors, on Zen 3: 1.0 and 1.15 cycles along one after the other, 1.0 and 2.0
    // along two at once.
    let cycles = |length: i64, rows: i64| {
        let body: String = (0..rows).map(|r| format!("let i = {rows}*h + {r} {{ S }} ")).collect();
        let text = format!(
            "nest @clear[] {{ array a: f32[8, {length}]
               for t in 0..1000 {{ for i in 0..8 {{ for j in 0..960 {{ S: a[i, j] = 0.0 }} }} }}
               variant {{ for t in 0..1000 {{ for h in 0..{} {{ for j in 0..960 {{ {body} }} }} }} }} }}",
            8 / rows
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        of_target("znver3").cost(&program.kernel, program.tree(), &[]).cycles / (960.0 * 1000.0)
    };
    for (rows, measured) in [(1, 1.15), (2, 2.0)] {
        let more = cycles(975, rows) / cycles(976, rows);
        assert!((more / measured - 1.0).abs() < 0.15, "{rows} rows: {more}");
    }
}

#[test]
fn what_32_rows_of_a_stencil_take_of_each_other_is_not_all_kept() {
    // A sweep over 40 or 400 elements: 4 x 8 rows side by side take 1.15 times as long for each as 4 x 4, as LLVM takes constants from
    // memory and some values from the stack. Measured on Zen 3.
    let cycles = |columns: i64| {
        let axis = |after: &str, before: &str| {
            format!("0.125 * (fmuladd(-2.0, A[j + 1, k + 1, l], A[{after}]) + A[{before}])")
        };
        let text = format!(
            "nest @sweep[] {{ array A: f64[6, 10, 44] array B: f64[6, 10, 44]
               for t in 0..100 {{ for j in 0..4 {{ for k in 0..8 {{ for l in 1..41 {{
                 S: B[j, k, l] = {} + {} + {} + A[j + 1, k + 1, l] }} }} }} }}
               variant {{ for t in 0..100 {{ for v in 0..{} {{ for l in 1..41 {{ {} }} }} }} }} }}",
            axis("j + 2, k + 1, l", "j, k + 1, l"),
            axis("j + 1, k + 2, l", "j + 1, k, l"),
            axis("j + 1, k + 1, l + 1", "j + 1, k + 1, l - 1"),
            8 / columns,
            copies("j", "0", 4, &copies("k", "v", columns, "S"))
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        of_target("znver3").cost(&program.kernel, program.tree(), &[]).cycles
    };
    let (few, many) = (cycles(4), cycles(8));
    assert!(many > 1.05 * few && many < 1.8 * few, "{few} {many}");
}

/// Eight sums of products along rows of 128 numbers side by side, per step, on Zen 3.
fn eight_sums(element: &str, sign: &str) -> f64 {
    let text = format!(
        "nest @sums[] {{ array c: f64[512] array a: f64[128] array b: f64[8, 136]
           for r in 0..1000 {{ for u in 0..8 {{ for k in 0..128 {{
             S: c[{element}] = fmuladd(a[k], {sign}b[u, k], c[{element}]) }} }} }}
           variant {{ for r in 0..1000 {{ for k in 0..128 {{ {} }} }} }} }}",
        copies("u", "0", 8, "S")
    );
    let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    of_target("znver3").cost(&program.kernel, program.tree(), &[]).cycles / 128_000.0
}

#[test]
fn rows_that_are_brought_together_once_are_packed_and_take_no_longer() {
    // clang packs the sums of neighbours, as one step brings their rows together: 4.75 cycles a step, as much as of sums that are spread.
    for element in ["u", "64*u"] {
        let cycles = eight_sums(element, "");
        assert!((4.3..5.6).contains(&cycles), "{element}: {cycles}");
    }
}

#[test]
fn signs_of_factors_are_free() {
    let (negated, plain) = (eight_sums("64*u", "-"), eight_sums("64*u", ""));
    assert!(negated < 1.01 * plain, "{negated} {plain}");
}

#[test]
fn what_a_loop_around_others_computes_anew_is_not_done_in_front_of_it() {
    // Nothing is stored to what the calls take, which is another element in each iteration all the same.
    let cycles = |taken: &str| {
        let text = format!(
            "nest @calls[] {{ array x: f64[1000] array o: f64[1000] array p: f64[1000, 500]
               for i in 0..1000 {{ C: o[i] = exp({taken}) for l in 0..500 {{ S: p[i, l] = p[i, l] + 1.0 }} }} }}"
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        of_target("znver3").cost_of_original(&program.kernel, &[]).cycles
    };
    let calls = cycles("x[i]") - cycles("x[0]");
    assert!(calls > 1000.0 * 20.0, "{calls}");
}

#[test]
fn wide_vectors_are_asked_for_where_they_gain() {
    // On an Emerald Rapids a product of 1000 x 1100 x 1200 in vectors of 512 bits takes 0.66 to 0.73 of the time that those of 256 take; a copy of 64 MiB the
    // same.
    let product = "nest @product[] { array A: f64[240, 240] array B: f64[240, 240] array C: f64[240, 240]
        for i in 0..60 { for k in 0..240 { for j in 0..240 {
          let r = 4*i { S: C[r, j] = C[r, j] + A[r, k] * B[k, j] } let r = 4*i + 1 { S } let r = 4*i + 2 { S } let r = 4*i + 3 { S } } } } }";
    let copy = "nest @copy[] { array A: f64[4000, 1000] array B: f64[4000, 1000]
        for i in 0..4000 { for j in 0..1000 { S: B[i, j] = A[i, j] } } }";
    let widened = |target: StaticTarget, text: &str| {
        let program = parse(text).expect("it parses");
        AnalyticModel::new(target).prepare(&program.kernel, &[]).widened(program.tree())
    };
    let of = |name| targets::by_name(name).expect("a target");
    assert_eq!(widened(of("sapphirerapids"), product), Some(512));
    assert_eq!(widened(of("sapphirerapids"), copy), None);
    assert_eq!(widened(of("znver5"), product), None);
    let stated = Vectors { bits: 256, widest: 256, registers: 32, masked: true };
    assert_eq!(widened(of("sapphirerapids").with_vectors(stated), product), None);
}

#[test]
fn remainders_of_counters_are_computed_with_64_bits_in_new_code() {
    // Two arrays of 700 x 700 floats are filled in 0.29 ms as written, in 1.03 ms by two loops (Emerald Rapids).
    let text = "nest @fill[] { array a: f32[700, 700] array b: f32[700, 700]
        for i in 0..700 { for j in 0..700 {
          S: a[i, j] = uitofp.f32(affine.i32(3*i + j - 7*floor((3*i + j)/7)))
          T: b[i, j] = uitofp.f32(affine.i32(i + 5*j - 11*floor((i + 5*j)/11))) } }
        variant { for i in 0..700 { for j in 0..700 { S } for j in 0..700 { T } } } }";
    let gain = gain_on("sapphirerapids", text, &[]);
    assert!((0.2..0.7).contains(&gain), "{gain}");
}

#[test]
fn parts_of_a_complex_product_are_packed_as_they_lie() {
    // Sixteen numbers of a row side by side, of 660: 3.0 times as fast as written on an Emerald Rapids. Of 512 bits permutations share both
    // ports with products and sums.
    let text = format!(
        "nest @complex[N] {{ array A: f64[?, N, 2] alias 1 array B: f64[?, N, 2] alias 2 array C: f64[?, N, 2] alias 3
           for i in 0..N {{ for j in 0..N {{ for k in 0..N {{
             S: C[i, j, 1] = C[i, j, 1] + (A[i, k, 0] * B[k, j, 1] + A[i, k, 1] * B[k, j, 0])
             T: C[i, j, 0] = C[i, j, 0] + (A[i, k, 0] * B[k, j, 0] - A[i, k, 1] * B[k, j, 1]) }} }} }}
           variant {{ for jj in 0..floor(N/16) {{ for i in 0..N {{ for k in 0..N {{ {} }} }} }} }} }}",
        copies("j", "jj", 16, "S T")
    );
    let found = gain_on("sapphirerapids", &text, &[656]);
    assert!((2.3..4.4).contains(&found), "{found}");
}

#[test]
fn recurrences_side_by_side_divide_in_vectors() {
    // Rows of 198 quotients, each of the one before, four rows at once: 18.5 cycles for four and for what is computed beside them on an
    // Emerald Rapids, one row at a time 20 for one.
    let text = format!(
        "nest @sweep[] {{ array P: f64[200, 200] array Q: f64[200, 200] scalar a: f64 in scalar b: f64 in
           for i in 0..200 {{ for j in 1..199 {{
             S: P[i, j] = a / (b * P[i, j - 1] + 3.0)
             T: Q[i, j] = (Q[i, j] - b * Q[i, j - 1]) / (b * P[i, j - 1] + 3.0) }} }}
           variant {{ for ii in 0..50 {{ for j in 1..199 {{ {} }} }} }} }}",
        copies("i", "ii", 4, "S T")
    );
    let found = gain_on("sapphirerapids", &text, &[]);
    assert!((3.0..4.2).contains(&found), "{found}");
}

#[test]
fn ends_of_a_loop_that_is_no_vector_are_branches() {
    // A sweep over a row and back in one loop: as long with what is left over in the same loop, on an Emerald Rapids.
    let cycles = |sweep: &str| {
        let text = format!(
            "nest @sweeps[] {{ array A: f64[400] array B: f64[400]
               for t in 0..100 {{
                 for j in 1..399 {{ S: B[j] = 0.33333 * (A[j - 1] + A[j] + A[j + 1]) }}
                 for k in 1..399 {{ T: A[k] = 0.33333 * (B[k - 1] + B[k] + B[k + 1]) }} }}
               variant {{ for t in 0..100 {{ for j in 1..3 {{ S }} {sweep} }} }} }}"
        );
        cycles_on("sapphirerapids", &text, &[])
    };
    let both = "let j = u { S } let k = u - 2 { T }";
    let apart = cycles(&format!("for u in 3..399 {{ {both} }} for k in 397..399 {{ T }}"));
    let guarded = cycles(&format!(
        "for u in 3..400 {{ if u <= 398 {{ {both} }} if u >= 398 {{ let k = u - 1 {{ T }} }} }}"
    ));
    assert!(guarded < 1.3 * apart, "{guarded} {apart}");
}
