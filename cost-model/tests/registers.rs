//! What a compiler keeps in registers, and what it cannot.

use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::parse;

fn cycles(text: &str, original: bool) -> f64 {
    let program = parse(text).expect("it parses");
    let model = AnalyticModel::new(targets::by_name("x86_64_avx2").expect("a target"));
    let cost = match original {
        true => model.cost_of_original(&program.kernel, &[1000]),
        false => model.cost(&program.kernel, program.tree(), &[1000]),
    };
    cost.cycles
}

/// Sums of two rows of `A`, side by side.
fn two_rows(extent: &str) -> String {
    format!(
        "nest @rows[N] {{
           array A: f64[1000, 1000]
           array s: f64[1000, {extent}]
           for i in 0..500 {{ for j in 0..1000 {{
             S: s[2*i, 0] = s[2*i, 0] + A[2*i, j]
             T: s[2*i + 1, 0] = s[2*i + 1, 0] + A[2*i + 1, j]
           }} }}
         }}"
    )
}

#[test]
fn accumulators_in_rows_of_unknown_length_go_through_memory() {
    // Equal addresses at N = 1000, but the compiler does not know N.
    assert!(cycles(&two_rows("N"), false) > 1.5 * cycles(&two_rows("1000"), false));
}

#[test]
fn accumulators_that_may_overlap_what_is_read_go_through_memory_in_the_original() {
    let text = |class: u32| {
        format!(
            "nest @sums[N] {{
               array A: f64[1000, 1000] alias 0
               array s: f64[1000] alias {class}
               for i in 0..1000 {{ for j in 0..1000 {{ S: s[i] = s[i] + A[i, j] }} }}
             }}"
        )
    };
    assert!(cycles(&text(0), true) > 1.2 * cycles(&text(1), true));
    // What a variant checks, the compiler is told.
    assert_eq!(cycles(&text(0), false), cycles(&text(1), false));
}

#[test]
fn values_loaded_again_soon_keep_a_loop_scalar() {
    let text = |distance: i64| {
        format!(
            "nest @pipeline[N] {{
               array A: f64[10000]
               array B: f64[10000]
               array C: f64[10000]
               for r in 0..1000 {{ for i in 0..1000 {{
                 S: B[i + {distance}] = A[i] * 0.5
                 T: C[i] = B[i] * 0.5
               }} }}
             }}"
        )
    };
    let scalar = cycles(&text(5), false);
    // A whole vector is forwarded, or has long been written.
    for distance in [4, 8, 261] {
        assert!(scalar > 1.5 * cycles(&text(distance), false), "{distance}");
    }
}

#[test]
fn an_accumulator_that_may_be_read_elsewhere_goes_through_memory() {
    let text = |read: &str| {
        format!(
            "nest @sums[N] {{
               array A: f64[1000, 1000]
               array B: f64[1000, 1000]
               for i in 0..1000 {{ for k in 0..1000 {{ S: A[i, i] = A[i, i] + {read}[i, k] }} }}
             }}"
        )
    };
    assert!(cycles(&text("A"), false) > 1.5 * cycles(&text("B"), false));
}
