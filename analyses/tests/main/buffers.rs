//! Buffers: which ones keep every value where it is looked for, and why others do not.

use analyses::dependences::Polyhedral;
use analyses::legality::StorageProblem;
use analyses::{Oracle, OracleOptions, Verdict, Witness};
use loop_tree::text::parse;

fn verdict(nest: &str, variant: &str) -> Verdict {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    let program = parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let oracle = Oracle::new(program.kernel.clone(), &Polyhedral::default(), OracleOptions::default());
    oracle.expect("it can be analysed").judge(program.tree())
}

fn legal(nest: &str, variant: &str) {
    let verdict = verdict(nest, variant);
    assert_eq!(verdict, Verdict::Always, "{variant}: {}", text(&verdict));
}

fn refused(nest: &str, variant: &str, problem: StorageProblem) {
    let verdict = verdict(nest, variant);
    match &verdict {
        Verdict::Never(Witness::Storage(found)) if found.problem == problem => {}
        _ => panic!("{variant}: {problem:?} expected, {}", text(&verdict)),
    }
}

fn text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Never(witness) => witness.to_string(),
        other => format!("{other:?}"),
    }
}

const GEMM: &str = "nest @gemm[N] {
    assume N >= 1
    array A: f64[N, N]
    array B: f64[N, N]
    array C: f64[N, N]
    for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
    VARIANT
}";

/// The panel of B of four columns, packed into these dimensions.
fn panel(dims: &str) -> String {
    format!(
        "for t0 in 0..(N + 3)/4 {{ alloc B[x, y] in [{dims} {{
           for i in 0..N {{ for k in 0..N {{ for j in 4*t0..min(N, 4*t0 + 4) {{ S }} }} }} }} }}"
    )
}

#[test]
fn panels_are_packed() {
    use StorageProblem::{Filled, Outside, Shared, Unfilled};
    legal(GEMM, &panel("x : N, y - 4*t0 : 4] on heap fill [0..N, 4*t0..min(N, 4*t0 + 4)]"));
    legal(GEMM, &panel("y - 4*t0 : 4, x : N + 8] on heap align 64 fill [0..N, 4*t0..min(N, 4*t0 + 4)]"));
    refused(GEMM, &panel("x : N, y - 4*t0 : 3] on heap fill [0..N, 4*t0..min(N, 4*t0 + 4)]"), Outside);
    refused(GEMM, &panel("x : N - 1, y - 4*t0 : 4] on heap fill [0..N, 4*t0..min(N, 4*t0 + 4)]"), Outside);
    refused(GEMM, &panel("x : N, y - 4*t0 : 4] on heap fill [0..N, 4*t0..min(N, 4*t0 + 3)]"), Unfilled);
    refused(GEMM, &panel("x : N, y - 4*t0 : 4] on heap"), Unfilled);
    // The last panel would read beyond the rows.
    refused(GEMM, &panel("x : N, y - 4*t0 : 4] on heap fill [0..N, 4*t0..4*t0 + 4]"), Filled);
    refused(GEMM, &panel("x : N, y mod 2 : 2] on heap fill [0..N, 4*t0..min(N, 4*t0 + 4)]"), Shared);
}

fn tile(copies: &str) -> String {
    format!(
        "for t0 in 0..(N + 2)/3 {{ for t1 in 0..(N + 1)/2 {{
           alloc C[x, y] in [x - 3*t0 : 3, y - 2*t1 : 2] on registers {copies} {{
             for k in 0..N {{ for i in 3*t0..min(N, 3*t0 + 3) {{ for j in 2*t1..min(N, 2*t1 + 2) {{ S }} }} }}
           }} }} }}"
    )
}

#[test]
fn tiles_live_in_registers() {
    use StorageProblem::{Lost, Written};
    let window = "[3*t0..min(N, 3*t0 + 3), 2*t1..min(N, 2*t1 + 2)]";
    legal(GEMM, &tile(&format!("fill {window} write {window}")));
    refused(GEMM, &tile(&format!("fill {window}")), Lost);
    let small = "[3*t0..min(N, 3*t0 + 3), 2*t1..min(N, 2*t1 + 1)]";
    refused(GEMM, &tile(&format!("fill {window} write {small}")), Lost);
    let large = "[3*t0..min(N, 3*t0 + 3), 2*t1..2*t1 + 2]";
    refused(GEMM, &tile(&format!("fill {window} write {large}")), Written);
    // A part of the sum in each buffer.
    let scattered = "for k in 0..N { alloc C[x, y] in [x : N, y : N] on heap
        fill [0..N, 0..N] write [0..N, 0..N] { for i in 0..N { for j in 0..N { S } } } }";
    legal(GEMM, scattered);
}

#[test]
fn what_is_written_first_needs_no_filling() {
    let nest = "nest @sums[N] {
        assume N >= 1
        array A: f64[N, N]
        array B: f64[N]
        for i in 0..N { Z: B[i] = 0.0 for j in 0..N { S: B[i] = B[i] + A[i, j] } }
        VARIANT
    }";
    legal(nest, "for i in 0..N { alloc B[x] in [] on registers write [i..i + 1] { Z for j in 0..N { S } } }");
    let late = "for i in 0..N { Z alloc B[x] in [] on registers write [i..i + 1] { for j in 0..N { S } } }";
    refused(nest, late, StorageProblem::Unfilled);
}

const CHAIN: &str = "nest @chain[N] {
    assume N >= 1
    array A: f64[N + 2]
    array T: f64[N + 2] local
    array B: f64[N + 2]
    for i in 0..N + 2 { S: T[i] = A[i] * 2.0 }
    for j in 0..N { R: B[j] = T[j] + T[j + 2] }
    VARIANT
}";

#[test]
fn temporaries_are_contracted_to_what_is_alive() {
    use StorageProblem::{Crosses, Marked, Overwritten};
    let window = |w: i64| {
        format!(
            "alloc T[x] in [x mod {w} : {w}] on stack {{
               for t0 in 0..N + 2 {{ let i = t0 {{ S }} if t0 >= 2 {{ let j = t0 - 2 {{ R }} }} }} }}"
        )
    };
    legal(CHAIN, &window(3));
    legal(CHAIN, &window(4));
    refused(CHAIN, &window(2), Overwritten);
    let near = CHAIN.replace("T[j] + T[j + 2]", "T[j]");
    let one = |mark: &str| {
        format!(
            "alloc T {{ {mark} for t0 in 0..N + 2 {{ let i = t0 {{ S }} if t0 < N {{ let j = t0 {{ R }} }} }} }}"
        )
    };
    legal(&near, &one(""));
    refused(&near, &one("parallel"), Marked);
    let inside = "for t0 in 0..N + 2 { alloc T[x] in [x : N + 2] on heap {
        let i = t0 { S } if t0 >= 2 { let j = t0 - 2 { R } } } }";
    refused(CHAIN, inside, Crosses);
    let half = "alloc T[x] in [x : N + 2] on heap { for i in 0..N + 2 { S } } for j in 0..N { R }";
    refused(CHAIN, half, Crosses);
}

#[test]
fn scalars_are_expanded() {
    let sums = "nest @rows[N] {
        assume N >= 1
        array A: f64[N, N]
        array B: f64[N]
        scalar s: f64 local
        for i in 0..N { Z: s = 0.0 for j in 0..N { S: s = s + A[i, j] } E: B[i] = s }
        VARIANT
    }";
    let apart = "for i in 0..N { Z } for j in 0..N { for i in 0..N { S } } for i in 0..N { E }";
    refused(sums, apart, StorageProblem::Apart);
    legal(sums, &format!("alloc s(x) in [x : N] on heap {{ {apart} }}"));
    refused(
        sums,
        &format!("alloc s(x) in [x mod 4 : 4] on stack {{ {apart} }}"),
        StorageProblem::Overwritten,
    );
    refused(sums, &format!("alloc s {{ {apart} }}"), StorageProblem::Overwritten);
    legal(sums, "for i in 0..N { alloc s { Z for j in 0..N { S } E } }");
    // The sum passes through all iterations: it is one value.
    let total = "nest @total[N] {
        assume N >= 1
        array A: f64[N]
        array B: f64[N]
        scalar s: f64 local
        Z: s = 0.0
        for i in 0..N { S: s = s + A[i] E: B[i] = s }
        VARIANT
    }";
    refused(total, "Z alloc s(x) in [x : N] on heap { for i in 0..N { S E } }", StorageProblem::Crosses);
}

#[test]
fn others_do_not_look() {
    let nest = "nest @seen[N] {
        assume N >= 1
        array A: f64[N] alias 0
        array B: f64[N] alias 0
        for i in 0..N { S: B[i] = A[i] }
        VARIANT
    }";
    let verdict = verdict(nest, "alloc A[x] in [x : N] on heap fill [0..N] { for i in 0..N { S } }");
    assert_eq!(verdict.conditions().map(<[_]>::len), Some(1), "{}", text(&verdict));
    let effects = nest.replace("S: B", "S [side_effects]: B");
    let variant = "alloc A[x] in [x : N] on heap fill [0..N] { for i in 0..N { S } }";
    refused(&effects, variant, StorageProblem::Seen);
}
