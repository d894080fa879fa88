//! What comes from memory and from its caches.

use super::{copies, cycles_on, gain, gain_on, model, of_target, original_on};
use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::parse;

#[test]
fn sums_that_go_through_memory_cost_what_forwarding_takes() {
    // Both products of bicg, where pointers may overlap.
    let text = "nest @products[N] {
        array A: f64[1900, 2100] alias 0 array s: f64[2100] alias 0 array q: f64[1900] alias 0
        array p: f64[2100] alias 0 array r: f64[1900] alias 0
        for i in 0..1900 { for j in 0..2100 {
          S: s[j] = s[j] + r[i] * A[i, j]
          T: q[i] = q[i] + A[i, j] * p[j] } } }";
    let program = parse(text).expect("it parses");
    let told = model().cost(&program.kernel, program.tree(), &[]).cycles;
    assert!(model().cost_of_original(&program.kernel, &[]).cycles > 2.0 * told);
}

#[test]
fn rows_from_the_last_cache_do_not_make_a_product_wait() {
    // Lines come while the core computes: a tile of `k` alone gains little.
    let text = "nest @gemm[] { array A: f64[1000, 1200] array B: f64[1200, 1100] array C: f64[1000, 1100]
        for i in 0..1000 { for k in 0..1200 { for j in 0..1100 { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
        variant { for t in 0..20 { for i in 0..1000 { for k in 60*t..60*t + 60 { for j in 0..1100 { S } } } } } }";
    assert!(gain(text, &[]) < 1.5);
}

#[test]
fn stores_down_a_column_are_dearer_than_loads() {
    let text = |stored: &str, loaded: &str| {
        format!(
            "nest @columns[] {{ array A: f64[1500, 1500] array B: f64[1500, 1500]
               for i in 0..1500 {{ for j in 0..1500 {{ S: A[{stored}] = B[{loaded}] + 1.0 }} }} }}"
        )
    };
    let cycles = |text: String| cycles_on("znver5", &text, &[]);
    assert!(cycles(text("j, i", "i, j")) > 1.2 * cycles(text("i, j", "j, i")));
}

#[test]
fn a_buffer_that_stays_in_the_first_level_makes_no_fusion_pay() {
    let text = |n: i64, inner: &str| {
        format!(
            "nest @pair[] {{ array a: f64[{n}] array b: f64[{n}] array c: f64[{n}] array t: f64[{n}]
               for i in 0..{n} {{ S: t[i] = a[i] * 2.0 + b[i] }}
               for i in 0..{n} {{ T: c[i] = t[i] * t[i] + a[i] }}
               variant {{ {inner} }} }}"
        )
    };
    let fused = |n: i64| gain(&text(n, &format!("for i in 0..{n} {{ S T }}")), &[]);
    assert!(fused(1000) < 1.3, "{}", fused(1000));
    // From memory each line that is not read again counts.
    assert!(fused(8_000_000) > 1.15, "{}", fused(8_000_000));
}

#[test]
fn rows_of_three_planes_are_counted_once() {
    // Smoothing in a multigrid solver: its eight rows of a cell stay in the first level. Two loops for the sums took 1.5 times as long on
    // Zen 4.
    let text = "nest @smooth[n] { array r: f64[?, n, n] array u: f64[?, n, n] array s: f64[259] array t: f64[259]
        for i in 1..n - 1 { for j in 1..n - 1 {
          for k in 0..n {
            S: s[k] = r[i, j - 1, k] + r[i, j + 1, k] + r[i - 1, j, k] + r[i + 1, j, k]
            T: t[k] = r[i - 1, j - 1, k] + r[i - 1, j + 1, k] + r[i + 1, j - 1, k] + r[i + 1, j + 1, k] }
          for k in 1..n - 1 { U: u[i, j, k] = u[i, j, k] + t[k] + s[k - 1] + s[k + 1] + r[i, j, k - 1] + r[i, j, k + 1] }
        } }
        variant { for i in 1..n - 1 { for j in 1..n - 1 {
          for k in 0..n { S } for k in 0..n { T } for k in 1..n - 1 { U } } } } }";
    let gain = gain_on("znver4", text, &[259]);
    assert!(gain < 1.0, "{gain}");
}

#[test]
fn columns_of_vectors_that_begin_anywhere_take_two_lines_now_and_then() {
    // Four columns of a stencil that are packed, down the rows of planes from the second level: six lines for each pack, and 13.6 cycles
    // where rows take 7.3, on Zen 4.
    let value = "A[j, k, l] + A[j - 1, k, l] + A[j + 1, k, l] + A[j, k - 1, l] + A[j, k + 1, l] + A[j, k, l - 1] + A[j, k, l + 1]";
    let text = format!(
        "nest @columns[] {{ array A: f64[10, 120, 120] array B: f64[10, 120, 120]
           for r in 0..20 {{ for j in 1..9 {{ for k in 1..119 {{ for l in 1..117 {{ S: B[j, k, l] = {value} }} }} }} }}
           variant {{ for r in 0..20 {{ for j in 1..9 {{ for ll in 0..29 {{ for k in 1..119 {{ {} }} }} }} }} }} }}",
        (1..5).map(|u| format!("let l = 4*ll + {u} {{ S }} ")).collect::<String>()
    );
    let gain = gain_on("znver4", &text, &[]);
    assert!(gain < 0.75, "{gain}");
}

#[test]
fn vectors_across_lines_take_two_accesses() {
    let cycles = |shift: i64| {
        let text = format!(
            "nest @sum[] {{ array A: f64[64, 1024] array B: f64[1024]
               for t in 0..1000 {{ for j in 0..960 {{
                 S: B[j] = A[0, j+{shift}] + A[1, j+{shift}] + A[2, j+{shift}] + A[3, j+{shift}] }} }} }}"
        );
        cycles_on("znver5", &text, &[])
    };
    // 0.5 and 1.1 cycles for each vector loaded from the first level, on Zen 5.
    assert!(cycles(1) > 1.4 * cycles(0), "{} {}", cycles(1), cycles(0));
    assert_eq!(cycles(8), cycles(0));
}

#[test]
fn lines_of_a_column_come_no_faster_than_in_order() {
    // A panel that stays in the second level, by columns of lines and by rows: 2.2 cycles for each line either way on Zen 5.
    let cycles = |order: &str| {
        let text = format!(
            "nest @panel[] {{ array A: f64[400, 1208] array s: f64[1000]
               for t in 0..1000 {{ {order} {{ S: s[t] = maximum(s[t], A[i, 8*j]) }} }} }} }}"
        );
        cycles_on("znver5", &text, &[])
    };
    let columns = cycles("for j in 0..8 { for i in 0..400");
    assert!(columns >= 1000.0 * 8.0 * 400.0 * 1.9, "{columns}");
}

#[test]
fn an_array_of_unknown_length_is_as_long_as_the_program_reaches() {
    // Parts of it are no more than all of it: what stayed in the last level stays.
    let text = "nest @parts[] { array A: f64[?, 1024] array s: f64[1024]
        for i in 0..1024 { for j in 0..1024 { S: s[j] = s[j] + A[i, j] } }
        variant {
          for i in 0..256 { for j in 0..1024 { S } } for i in 256..512 { for j in 0..1024 { S } }
          for i in 512..768 { for j in 0..1024 { S } } for i in 768..1024 { for j in 0..1024 { S } } } }";
    let gain = gain(text, &[]);
    assert!((0.9..1.1).contains(&gain), "{gain}");
}

#[test]
fn rows_that_bounds_tell_apart_are_like_rows_of_two_arrays() {
    // Steps of a triangular product in place. Emission proves that the rows differ: 0.068 seconds measured on Zen 5, and 0.067.
    let cycles = |other: &str| {
        let body = copies("k", "t", 4, "S");
        let text = format!(
            "nest @rows[] {{ array A: f64[64, 64] array B: f64[128, 512] array D: f64[128, 512]
               for r in 0..1000 {{ for i in 0..8 {{ for k in 64..128 {{ for j in 0..512 {{
                 S: B[i, j] = B[i, j] + A[i, k - 64] * {other}[k, j] }} }} }} }}
               variant {{ for r in 0..1000 {{ for i in 0..8 {{ for t in 16..32 {{ for j in 0..512 {{ {body} }} }} }} }} }} }}"
        );
        cycles_on("znver5", &text, &[])
    };
    assert_eq!(cycles("B"), cycles("D"));
}

#[test]
fn sixteen_rows_from_memory_are_more_than_the_prefetcher_follows() {
    let gain = |rows: i64| {
        let text = format!(
            "nest @sums[] {{ array A: f64[32000, 1024] array s: f64[32000]
               for i in 0..32000 {{ for j in 0..1024 {{ S: s[i] = s[i] + A[i, j] }} }}
               variant {{ for t in 0..{} {{ for j in 0..1024 {{ {} }} }} }} }}",
            32000 / rows,
            copies("i", "t", rows, "S")
        );
        gain(&text, &[])
    };
    // On Zen 5 eight rows come as fast as one, sixteen at half of that.
    assert!(gain(8) > 1.15 * gain(16), "{} {}", gain(8), gain(16));
}

#[test]
fn eight_short_rows_of_many_gain_what_their_chains_gain() {
    let text = format!(
        "nest @matvec[] {{ array A: f32[32000, 288] array x: f32[288] array y: f32[32000]
           for i in 0..32000 {{ for j in 0..288 {{ S: y[i] = y[i] + A[i, j] * x[j] }} }}
           variant {{ for t in 0..4000 {{ for j in 0..288 {{ {} }} }} }} }}",
        copies("i", "t", 8, "S")
    );
    // 2.1 measured on Zen 5, 0.45 on Zen 4.
    let gain = gain(&text, &[]);
    assert!((1.4..3.2).contains(&gain), "{gain}");
}

#[test]
fn of_what_is_too_large_for_the_last_level_a_part_stays() {
    // Measured where 21 MB meet 16: fused passes over images gain 1.1, not 1.8.
    let text = "nest @passes[] { array A: f32[1800000] array B: f32[1800000] array C: f32[1800000]
        for i in 0..1800000 { S: B[i] = A[i] * 0.5 }
        for j in 0..1800000 { T: C[j] = B[j] + A[j] }
        variant { for i in 0..1800000 { S let j = i { T } } } }";
    let gain = gain(text, &[]);
    assert!((1.0..1.5).contains(&gain), "{gain}");
}

/// Cycles per point of two sweeps over a plane, each of which reads what the other wrote.
fn sweeps(rows: i64, columns: i64) -> f64 {
    sweeps_on("znver5", rows, columns)
}

/// The same on another target.
fn sweeps_on(target: &str, rows: i64, columns: i64) -> f64 {
    let text = format!(
        "nest @sweeps[] {{ array A: f64[{rows}, {columns}] array B: f64[{rows}, {columns}]
           for t in 0..100 {{
             for i in 1..{rows} - 1 {{ for j in 1..{columns} - 1 {{
               S: B[i, j] = (A[i, j] + A[i, j-1] + A[i, j+1] + A[i+1, j] + A[i-1, j]) * 0.2 }} }}
             for i in 1..{rows} - 1 {{ for j in 1..{columns} - 1 {{
               T: A[i, j] = (B[i, j] + B[i, j-1] + B[i, j+1] + B[i+1, j] + B[i-1, j]) * 0.2 }} }} }} }}"
    );
    cycles_on(target, &text, &[]) / (200 * rows * columns) as f64
}

#[test]
fn on_zen_3_sweeps_are_as_fast_in_the_last_cache_as_in_the_second() {
    // Cycles for four points of rows of 250 on Zen 3: 4.9 to 6.2 where 20 to 64 rows are swept, 5.1 to 6.1 of 96 to 250 of them.
    let (second, last) = (sweeps_on("znver3", 40, 250), sweeps_on("znver3", 250, 250));
    assert!(last < 1.2 * second, "{second} {last}");
}

#[test]
fn of_a_cache_that_others_use_too_there_is_sometimes_more() {
    // Rows of 1300 on Zen 3, cycles for four points: 6.4 of 8 MB, 7.7 of 14 MB, 11.3 of 26 MB where the others are quiet. On other days 8 MB
    // come from memory, too, and jacobi-2d in tiles of time, which has 1.2 times the speed here, gains 2.8.
    let of = |rows: i64| 4.0 * sweeps_on("znver3", rows, 1300);
    let (second, some, more, most) = (of(20), of(400), of(700), of(1300));
    assert!((1.1..2.4).contains(&(some / second)), "{some} {second}");
    assert!(some < 0.9 * more && more < 0.9 * most, "{some} {more} {most}");
    assert!((9.0..17.0).contains(&most), "{most}");
}

#[test]
fn on_zen_3_rows_that_all_but_touch_are_fetched_ahead_as_one() {
    // Planes with rows of 40 of which 38 are computed, on Zen 3: 6.9 to 7.4 cycles for four points where 16 by 16 rows are swept, 7.3 to 7.6
    // of 40 by 40, which come from the last cache.
    let each = |n: i64| {
        let text = format!(
            "nest @heat[] {{ array A: f64[{n}, {n}, 40] array B: f64[{n}, {n}, 40]
               for t in 0..100 {{ for i in 1..{n} - 1 {{ for j in 1..{n} - 1 {{ for k in 1..39 {{
                 S: B[i, j, k] = (A[i+1, j, k] - 2.0 * A[i, j, k] + A[i-1, j, k]) * 0.125
                    + (A[i, j+1, k] - 2.0 * A[i, j, k] + A[i, j-1, k]) * 0.125
                    + (A[i, j, k+1] - 2.0 * A[i, j, k] + A[i, j, k-1]) * 0.125 + A[i, j, k] }} }} }} }} }}"
        );
        cycles_on("znver3", &text, &[]) / ((n - 2) * (n - 2)) as f64
    };
    assert!(each(40) < 1.15 * each(16), "{} {}", each(40), each(16));
}

#[test]
fn planes_that_do_not_fit_the_last_cache_come_from_memory_each_time() {
    // 27 MB: measured 3.1 cycles a point, against 1.0 where time is tiled.
    let beyond = sweeps(1300, 1300);
    assert!((2.0..4.0).contains(&beyond), "{beyond}");
    assert!(beyond > 2.0 * sweeps(300, 1300));
}

#[test]
fn rows_used_again_stay_in_the_first_cache_as_long_as_they_fit_it() {
    // Three rows read and one written take 32 KB, and 42 KB, of 48 KB.
    let (some, most) = (sweeps(40, 1000), sweeps(30, 1300));
    assert!(most < 1.1 * some, "{some} {most}");
    assert!(sweeps(20, 2400) > 1.2 * most);
}

#[test]
fn what_fits_the_first_cache_does_not_come_from_memory_when_it_is_called_again() {
    // Measured: 280 cycles a call.
    let text = "nest @scale[] { array A: f64[1024] array B: f64[1024] array C: f64[1024]
           for i in 0..1024 { S: C[i] = A[i] * 2.0 + B[i] } }";
    let program = parse(text).expect("it parses");
    let cycles = model().cost(&program.kernel, program.tree(), &[]).cycles;
    assert!((200.0..420.0).contains(&cycles), "{cycles}");
}

#[test]
fn short_runs_are_fetched_late() {
    // A matrix row by row, and in tiles whose rows are three lines long.
    let text = "nest @sums[] { array A: f64[4000, 4000] array s: f64[4000]
        for i in 0..4000 { for j in 0..3984 { S: s[j] = s[j] + A[i, j] } }
        variant { for t in 0..166 { for i in 0..4000 { for j in 24*t..24*t + 24 { S } } } } }";
    assert!(gain(text, &[]) < 0.8, "{}", gain(text, &[]));
}

#[test]
fn rows_that_meet_in_one_set_leave_the_first_level() {
    // A matrix mirrored onto itself plus another, eight rows at once: 17 lines of rows 8 KiB apart in 12 ways (or 8). On Zen 4 four rows
    // are 2.6 times as fast as eight, at 1000 columns the same.
    let gain = |rows: i64, row: i64| {
        let text = format!(
            "nest @mirror[N] {{ array A: f64[1024, {row}] array B: f64[1024, {row}] alias 1
               for i in 0..1000 {{ for j in 0..i {{ S: A[i, j] = A[j, i] + B[i, j] }} }}
               variant {{ for t in 0..{} {{ for j in 0..{rows}*t {{ {} }} }} }} }}",
            1000 / rows,
            copies("i", "t", rows, "S")
        );
        gain(&text, &[1000])
    };
    assert!(gain(4, 1024) > 1.5 * gain(8, 1024), "{} {}", gain(4, 1024), gain(8, 1024));
    assert!(gain(4, 1000) < 1.3 * gain(8, 1000), "{} {}", gain(4, 1000), gain(8, 1000));
}

#[test]
fn blocks_of_rows_side_by_side_in_a_tile_are_rows_of_their_own() {
    // Columns in tiles of 256 rows, by one loop or by four. Measured: no difference.
    let text = |blocks: i64| {
        let rows = 256 / blocks;
        let body: String = (0..blocks)
            .map(|b| format!("for i in 256*t + {}..256*t + {} {{ S }} ", b * rows, (b + 1) * rows))
            .collect();
        format!(
            "nest @columns[] {{ array A: f64[1280, 1300] array x: f64[1300] array y: f64[1280]
               for i in 0..1280 {{ for j in 0..1280 {{ S: y[i] = y[i] + A[i, j] * x[j] }} }}
               variant {{ for a in 0..5 {{ for t in 0..5 {{ for j in 256*a..256*a + 256 {{ {body} }} }} }} }} }}"
        )
    };
    let (one, four) = (gain(&text(1), &[]), gain(&text(4), &[]));
    assert!(four < 1.1 * one, "{four} {one}");
}

#[test]
fn on_zen_4_rows_of_the_second_level_come_while_the_core_computes() {
    // Zen 4 with AVX2: 3.0e6 cycles, a little more than the loads alone; the next row begins before the last one ends.
    let text = "nest @product[] { array A: f64[200, 240] array B: f64[240, 220] array C: f64[200, 220]
        for i in 0..200 { for k in 0..240 { for j in 0..220 { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } } }";
    let program = parse(text).expect("it parses");
    let cycles = |target| AnalyticModel::new(target).cost_of_original(&program.kernel, &[]).cycles;
    let found = cycles(targets::znver3());
    assert!((2.6e6..4.4e6).contains(&found), "{found}");
    // Where they take the ports of loads, they cost what they take.
    let mut ports = targets::znver3();
    ports.fills_take_ports = true;
    assert!(cycles(ports) > 1.3 * found);
}

#[test]
fn parameters_in_memory_drive_no_rows_out() {
    // `compute_rhs` of NAS SP: rows of several arrays, and a dozen factors that are variables of the file. Measured on Zen 4: 1.3e6 cycles,
    // where each line missed were 3.3e6.
    let cycles = |factors: usize| {
        let declared: String = (0..factors).map(|f| format!("array f{f}: f64[1] ")).collect();
        let scaled: String = (0..factors).map(|f| format!(" * f{f}[0]")).collect();
        let text = format!(
            "nest @rows[] {{ {declared} array u: f64[37, 37, 37] array r: f64[37, 37, 37]
               for i in 1..36 {{ for j in 1..36 {{ for k in 1..36 {{
                 S: r[i, j, k] = (u[i - 1, j, k] + u[i + 1, j, k] - u[i, j - 1, k] - u[i, j + 1, k]){scaled} }} }} }} }}"
        );
        original_on("znver5", &text, &[])
    };
    assert!(cycles(12) < 2.0 * cycles(0), "{} {}", cycles(12), cycles(0));
}

#[test]
fn tiles_of_which_some_are_cut_short_leave_no_gaps() {
    // 35 rows of planes in tiles of 32: all of the grid is touched before any of it again. Measured on Zen 4: as long as untiled.
    let text = "nest @scale[] { array r: f64[37, 37, 185]
        for t in 0..10 { for k in 0..35 { for j in 0..35 { for i in 0..185 { S: r[k, j, i] = r[k, j, i] * 0.5 } } } }
        variant { for t in 0..10 { for jj in 0..2 { for k in 0..35 { for j in 32*jj..min(32*jj + 32, 35) { for i in 0..185 { S } } } } } } }";
    let program = parse(text).expect("it parses");
    let model = AnalyticModel::new(targets::znver4());
    let original = model.cost_of_original(&program.kernel, &[]).cycles;
    let tiled = model.cost(&program.kernel, program.tree(), &[]).cycles;
    assert!((0.8..1.25).contains(&(original / tiled)), "{original} {tiled}");
}

#[test]
fn windows_of_a_wavefront_are_full_or_empty() {
    // heat-3d, skewed by time, in windows of 32 planes: two or three of eight have some at a time, and what these touch, 26 KB a plane, is
    // more than the second level of Zen 3 holds. Measured there: 1.07x, and with rows jammed, 1.6x said, 0.84x.
    let point = |a: &str, [j, k, l]: [&str; 3]| {
        let axis =
            |b: String, c: String| format!("(({a}[{b}] - 2.0 * {a}[{j}, {k}, {l}] + {a}[{c}]) * 0.125)");
        let along = [
            axis(format!("{j} + 1, {k}, {l}"), format!("{j} - 1, {k}, {l}")),
            axis(format!("{j}, {k} + 1, {l}"), format!("{j}, {k} - 1, {l}")),
            axis(format!("{j}, {k}, {l} + 1"), format!("{j}, {k}, {l} - 1")),
        ];
        along.join(" + ")
    };
    let (first, second) = (point("A", ["j", "k", "l"]), point("B", ["p", "q", "r"]));
    let text = format!(
        "nest @heat[] {{ array A: f64[40, 40, 40] array B: f64[40, 40, 40]
           for t in 0..100 {{
             for j in 1..39 {{ for k in 1..39 {{ for l in 1..39 {{ S: B[j, k, l] = {first} }} }} }}
             for p in 1..39 {{ for q in 1..39 {{ for r in 1..39 {{ R: A[p, q, r] = {second} }} }} }} }}
           variant {{ for w in 0..8 {{ for t in 0..100 {{
             for s in max(2*t + 1, 32*w)..min(2*t + 40, 32*w + 32) {{
               if 2*t + 38 >= s {{ let j = s - 2*t {{ for k in 1..39 {{ for l in 1..39 {{ S }} }} }} }}
               if s >= 2*t + 2 {{ let p = s - 2*t - 1 {{ for q in 1..39 {{ for r in 1..39 {{ R }} }} }} }} }} }} }} }} }}"
    );
    let found = gain_on("znver3", &text, &[]);
    assert!((0.85..1.1).contains(&found), "{found}");
}

#[test]
fn copies_of_a_lookup_are_lookups_of_their_own() {
    // A table of scores by two letters, rows side by side: on Zen 3 no faster, where one lookup was counted for sixteen, 10.
    let text = format!(
        "nest @scores[] {{ array R: i32[2048, 2048] array a: i32[2048] alias 1 array b: i32[2048] alias 2 array T: i32[?, 24] alias 3
           for i in 0..2048 {{ for j in 0..2048 {{ S: {{
             %0 = load a[i] %1 = sext i64 %0 %2 = const i64 24 %3 = mul i64 %1, %2
             %4 = load b[j] %5 = sext i64 %4 %6 = add i64 %3, %5
             %7 = load T[*] at %6 store R[i, j], %7 }} }} }}
           variant {{ for t in 0..128 {{ for j in 0..2048 {{ {} }} }} }} }}",
        copies("i", "t", 16, "S")
    );
    assert!(gain_on("znver3", &text, &[]) < 1.2, "{}", gain_on("znver3", &text, &[]));
}

#[test]
fn pages_of_blocks_that_are_read_and_written_are_counted_once() {
    // Blocks of 16 x 16 with one more row and column around, along a diagonal: their pages fit the second level of translation, whatever
    // is fused. Where they were counted twice, the original seemed to miss them all.
    let text = "nest @blocks[N] {
        array C: i32[?, N] array r: i32[?, 16] local array A: i32[?, N] alias 1 array l: i32[?, 17] local
        require N >= 1
        for i in 1..floor((N + 15)/16) { for j in 0..i {
          for k in 0..16 { for c in 0..16 { S0: r[k, c] = C[16*i - 16*j + k - 15, 16*j + c + 1] } }
          for m in 0..17 { for d in 0..17 { S1: l[m, d] = A[16*i - 16*j + m - 16, 16*j + d] } }
          for n in 0..16 { for e in 0..16 { S2: A[16*i - 16*j + n - 15, 16*j + e + 1] = l[n + 1, e + 1] } } } }
        variant { for i in 1..floor((N + 15)/16) { for j in 0..i {
          for t in 0..16 { let k = t { for c in 0..16 { S0 } } let m = t { for d in 0..17 { S1 } } }
          let m = 16 { for d in 0..17 { S1 } }
          for n in 0..16 { for e in 0..16 { S2 } } } } } }";
    let gain = gain_on("znver3", text, &[2049]);
    assert!((0.8..1.3).contains(&gain), "{gain}");
}

#[test]
fn rows_that_meet_on_average_only_are_rows_of_their_own() {
    // Rows `i` and `k` of all-pairs shortest paths, split at the pivot: the same as if row `k` was one of another array.
    let cycles = |row: &str| {
        let text = format!(
            "nest @paths[] {{ array P: i32[2800, 2800] array R: i32[2800, 2800] alias 1
               for k in 0..2800 {{ for i in 0..2800 {{
                 for j in 0..k {{ S: P[i, j] = smin(P[i, j], P[i, k] + {row}[k, j]) }}
                 let j = k {{ S }}
                 for j in k + 1..2800 {{ S }} }} }} }}"
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        of_target("znver3").cost(&program.kernel, &program.kernel.original, &[]).cycles
    };
    let share = cycles("P") / cycles("R");
    assert!((0.9..1.05).contains(&share), "{share}");
}

#[test]
fn rows_stored_in_turn_across_lines_wait_for_each_line() {
    // Four rows of doubles copied at a time, 4 MiB in all, on an Emerald Rapids with vectors of 512 bits: 6.8 cycles a line where each is one
    // vector, 13.0 where vectors begin a double later. One row at a time 6.8 and 7.2.
    let cycles = |rows: i64, shift: i64| {
        let row = super::copies("i", "ii", rows, "S");
        let text = format!(
            "nest @copy[] {{ array A: f64[1024, 256] array B: f64[1024, 256]
               for t in 0..100 {{ for i in 0..1024 {{ for j in 0..240 {{ S: B[i, j+{shift}] = A[i, j+{shift}] }} }} }}
               variant {{ for t in 0..100 {{ for ii in 0..{} {{ for j in 0..240 {{ {row} }} }} }} }} }}",
            1024 / rows
        );
        cycles_on("sapphirerapids", &text, &[])
    };
    let later = |rows| cycles(rows, 1) / cycles(rows, 0);
    assert!((1.25..2.2).contains(&later(4)), "{}", later(4));
    assert!(later(1) < 1.15, "{}", later(1));
}

#[test]
fn rows_that_loops_hand_on_wait_where_they_are_written() {
    // Four loops over seven rows of 150,000 doubles behind pointers, fused: 1.2 times as fast on an Emerald Rapids. Three of the rows are
    // read in the same iteration, behind where they are written.
    let text = "nest @chain[N] {
      array A: f64[?] alias 1 array B: f64[?] alias 1 array C: f64[?] alias 1 array D: f64[?] alias 1
      array E: f64[?] alias 1 array F: f64[?] alias 1 array G: f64[?] alias 1
      for t in 0..100 {
        for i in 0..N { S: A[i] = B[i] + C[i] } for i in 0..N { T: D[i] = A[i] * E[i] }
        for i in 0..N { U: F[i] = D[i] - B[i] } for i in 0..N { V: G[i] = F[i] * F[i] + A[i] } }
      variant { for t in 0..100 { for i in 0..N { S T U V } } } }";
    let found = gain_on("sapphirerapids", text, &[150_000]);
    assert!((1.05..1.35).contains(&found), "{found}");
}

#[test]
fn columns_that_are_copied_once_are_not_walked_down_again_and_again() {
    // Cycles of a symmetric update of rank 2 times 760 of 900 rows on an Emerald Rapids: 3.0e8 with 8 x 4 copies side by side, 1.6e8 with both
    // factors transposed before.
    let head = "nest @update[] { array C: f64[900, 900] array A: f64[900, 760] array B: f64[900, 760]
      for i in 0..900 { for k in 0..760 { for j in 0..i + 1 {
        S: C[i, j] = C[i, j] + A[j, k] * B[i, k] + B[j, k] * A[i, k] } } }";
    let rows = copies("k", "kk", 4, "S");
    let inner = format!(
        "for ii in 0..112 {{ for kk in 0..190 {{ for j in 0..8*ii + 1 {{ {} }} }} }}",
        copies("i", "ii", 8, &rows)
    );
    let walked = cycles_on("sapphirerapids", &format!("{head} variant {{ {inner} }} }}"), &[]);
    let transposed = format!(
        "{head} variant {{ alloc A[x0, x1] in [x1 : 760, x0 : 900] on heap align 64 fill [0..900, 0..760] {{
           alloc B[x0, x1] in [x1 : 760, x0 : 900] on heap align 64 fill [0..900, 0..760] {{ {inner} }} }} }} }}"
    );
    let copied = cycles_on("sapphirerapids", &transposed, &[]);
    assert!((1.2..2.4).contains(&(walked / copied)), "{walked} {copied}");
}
