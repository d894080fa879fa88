//! What was measured with two threads on Zen 5, as relations between two trees.

use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::parse;

/// Predicted gain of the variant of a program with two threads over its original order with one.
fn gain(text: &str) -> f64 {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let one = AnalyticModel::new(targets::by_name("znver5").expect("a target"));
    let two = one.clone().with_threads(2);
    let original = one.cost(&program.kernel, &program.kernel.original, &[]).cycles;
    original / two.cost(&program.kernel, program.tree(), &[]).cycles
}

#[test]
fn rows_that_a_thread_works_on_each_time_stay_with_it() {
    // Shortest paths, before and behind the row that all others read: 1.95 to 2.1 times as fast.
    let text = "nest @paths[] { array A: i32[1024, 1024]
        for k in 0..1024 { for i in 0..1024 { for j in 0..1024 { S: A[i, j] = smin(A[i, j], A[i, k] + A[k, j]) } } }
        variant { for k in 0..1024 {
            parallel for i in 0..k { for j in 0..1024 { S } }
            let i = k { for j in 0..1024 { S } }
            parallel for i in k + 1..1024 { for j in 0..1024 { S } } } } }";
    let gain = gain(text);
    assert!((1.7..2.1).contains(&gain), "{gain}");
}

/// Two sweeps over an array, in turn, the first as given.
fn sweeps(first: &str) -> f64 {
    gain(&format!(
        "nest @sweeps[] {{ array A: f64[256, 256]
           for t in 0..100 {{
             for i in 0..256 {{ for j in 0..256 {{ S: A[i, j] = A[i, j] * 0.5 }} }}
             for k in 0..256 {{ for l in 0..256 {{ T: A[k, l] = A[k, l] + 0.5 }} }} }}
           variant {{ for t in 0..100 {{
             {first}
             parallel for k in 0..256 {{ for l in 0..256 {{ T }} }} }} }} }}"
    ))
}

#[test]
fn what_another_thread_wrote_comes_from_there() {
    // A line of another core takes twice what one of the second level does, or more.
    let rows = sweeps("parallel for i in 0..256 { for j in 0..256 { S } }");
    let one = sweeps("for i in 0..256 { for j in 0..256 { S } }");
    let columns = sweeps("parallel for a in 0..2 { for i in 0..256 { for j in 128*a..128*a + 128 { S } } }");
    assert!(rows > 1.1 * columns, "{rows} {columns}");
    assert!(rows > 1.1 * one, "{rows} {one}");
}

#[test]
fn a_few_iterations_more_or_less_are_shared_evenly_in_the_mean() {
    // Tiles along a wavefront: as many as fit into it at the time, one to eight.
    let wave = |bounds: &str| {
        let body = "for j in 0..16384 { S";
        gain(&format!(
            "nest @wave[] {{ array A: f64[8, 15, 16384]
               for r in 0..100 {{ for w in 0..15 {{ for t in {bounds} {{
                 {body}: A[t, w, j] = A[t, w, j] * 0.5 + 0.25 / A[t, w, j] }} }} }} }}
               variant {{ for r in 0..100 {{ for w in 0..15 {{ parallel for t in {bounds} {{ {body} }} }} }} }} }} }}"
        ))
    };
    let (even, uneven) = (wave("0..4"), wave("max(0, w - 7)..min(8, w + 1)"));
    assert!(uneven > 0.7 * even && uneven < even, "{uneven} {even}");
}
