//! Elements that loops hold in registers, those of lanes among them: the same bytes as the interpreter computes for the original.

use super::harness::Compiled;
use super::random::agree;
use loop_tree::text::{self, Program};

fn program(nest: &str, variant: &str) -> Program {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    text::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn same(nest: &str, params: &[&[i64]], variant: &str) {
    let p = program(nest, variant);
    for params in params {
        for passes in [None, Some("default<O1>"), Some("default<O3>")] {
            for order in [&p.kernel.original, p.tree()] {
                let ran = agree(&p.kernel, order, p.tree(), params, 5, (passes, 1));
                assert_eq!(ran, Ok(true), "{params:?} {passes:?} {variant}");
            }
        }
    }
}

/// Vectors that loops of the optimised code carry.
fn carried(nest: &str, variant: &str) -> usize {
    let p = program(nest, variant);
    let ir = Compiled::of(&p.kernel, p.tree(), &[], &Default::default(), Some("default<O3>"), 1).ir;
    ir.matches("phi <4 x double>").count()
}

const PRODUCT: &str = "nest @product[N, M, K] {
    array C: f64[N, M]
    array A: f64[N, K]
    array B: f64[K, M]
    for i in 0..N { for j in 0..M { for k in 0..K { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
    VARIANT
}";

const SIZES: &[&[i64]] = &[&[1, 8, 3], &[2, 9, 4], &[5, 19, 2], &[4, 16, 0], &[4, 16, 1]];

/// Two rows of vectors, in the sum; and what is left over.
fn tile(sum: &str) -> String {
    format!(
        "for t0 in 0..N/2 {{ for t1 in 0..M/8 {{ {sum} }}
            for j in 8*(M/8)..M {{ for k in 0..K {{ let i = 2*t0 {{ S }} let i = 2*t0 + 1 {{ S }} }} }} }}
         for i in 2*(N/2)..N {{ for j in 0..M {{ for k in 0..K {{ S }} }} }}"
    )
}

#[test]
fn a_tile_of_vectors_in_rows_of_any_length() {
    let rows = "{ let i = 2*t0 { S } let i = 2*t0 + 1 { S } }";
    let vectors = format!("vector for j in 8*t1..8*t1 + 4 {rows} vector for j in 8*t1 + 4..8*t1 + 8 {rows}");
    let inside = tile(&format!("for k in 0..K {{ {vectors} }}"));
    same(PRODUCT, SIZES, &inside);
    assert!(carried(PRODUCT, &inside) >= 4, "{inside}");
    // Steps of the sum side by side.
    let steps = format!(
        "for t2 in 0..K/2 {{ let k = 2*t2 {{ {vectors} }} let k = 2*t2 + 1 {{ {vectors} }} }}
         for k in 2*(K/2)..K {{ {vectors} }}"
    );
    same(PRODUCT, SIZES, &tile(&steps));
    assert!(carried(PRODUCT, &tile(&steps)) >= 4);
    // The loop inside of the lanes.
    let around = tile(&format!(
        "vector for j in 8*t1..8*t1 + 4 {{ for k in 0..K {rows} }}
         vector for j in 8*t1 + 4..8*t1 + 8 {{ for k in 0..K {rows} }}"
    ));
    same(PRODUCT, SIZES, &around);
    assert!(carried(PRODUCT, &around) >= 4, "{around}");
}

#[test]
fn lanes_against_the_order_of_elements_and_in_steps() {
    let back = "{ let j = 8*t1 + 7 - u { let i = 2*t0 { S } let i = 2*t0 + 1 { S } } }";
    let back = tile(&format!("for k in 0..K {{ vector for u in 0..4 {back} vector for u in 4..8 {back} }}"));
    same(PRODUCT, SIZES, &back);
    assert!(carried(PRODUCT, &back) >= 4);
    let every_second = "{ let j = 8*t1 + 2*u { let i = 2*t0 { S } let i = 2*t0 + 1 { S } } }";
    let odd = "{ let j = 8*t1 + 2*u + 1 { let i = 2*t0 { S } let i = 2*t0 + 1 { S } } }";
    let steps =
        tile(&format!("for k in 0..K {{ vector for u in 0..4 {every_second} vector for u in 0..4 {odd} }}"));
    same(PRODUCT, SIZES, &steps);
    // Down a column: a row each, of which another column is in the same loop.
    let column = PRODUCT.replace("C: f64[N, M]", "C: f64[M, N]").replace("C[i, j]", "C[j, i]");
    let rows = "{ let i = 2*t0 { S } let i = 2*t0 + 1 { S } }";
    let down = tile(&format!(
        "for k in 0..K {{ vector for j in 8*t1..8*t1 + 4 {rows} vector for j in 8*t1 + 4..8*t1 + 8 {rows} }}"
    ));
    same(&column, SIZES, &down);
}

/// Each loop runs one vector, of which other lanes may be those of another one.
const CROSSED: &str = "nest @crossed[N, K] {
    array A: f64[N]
    array X: f64[4]
    for k in 0..K { for j in 0..4 { BODY } }
    VARIANT
}";

#[test]
fn lanes_that_meet_stay_in_memory() {
    let sizes: &[&[i64]] = &[&[9, 0], &[9, 1], &[9, 2], &[10, 7], &[14, 3]];
    for body in [
        // Partly the same elements.
        "S: A[j + 1] = A[j + 1] * 0.5 + X[j] T: A[j] = A[j] * 3.0 - X[j]",
        "S: A[j] = A[j] * 0.5 + X[j] T: A[8 - j] = A[8 - j] * 3.0 - X[j]",
        "S: A[j] = A[j] * 0.5 + X[j] T: A[7 - j] = A[7 - j] * 3.0 - X[j]",
        // Partly, all or none of them.
        "S: A[j + 1] = A[j + 1] * 0.5 + X[j] T: A[N - 9 + j] = A[N - 9 + j] * 3.0 - X[j]",
        "S: A[2*j] = A[2*j] * 0.5 + X[j] T: A[2*j + 1] = A[2*j + 1] * 3.0 - X[j]",
        // One element of all lanes, beside those of each, and among them.
        "S: A[4] = X[j] T: A[j] = A[j] * 3.0 - X[j]",
        "T: A[j] = A[j] * 3.0 - X[j] U: X[j] = A[6] + X[j] * 0.5",
        "T: A[j + 5] = A[j + 5] * 3.0 - X[j] U: X[j] = A[5] + X[j] * 0.5",
    ] {
        let nest = CROSSED.replace("BODY", body);
        let names: String =
            body.split(' ').filter_map(|w| w.strip_suffix(':')).map(|s| format!("{s} ")).collect();
        let p = program(&nest, &format!("for k in 0..K {{ vector for j in 0..4 {{ {names} }} }}"));
        for params in sizes {
            for passes in [None, Some("default<O3>")] {
                let original = &p.kernel.original;
                let ran = agree(&p.kernel, original, p.tree(), params, 5, (passes, 1));
                assert_eq!(ran, Ok(true), "{params:?} {passes:?} {body}");
            }
        }
    }
}

#[test]
fn loads_of_neighbours_in_front_of_stores_that_leave_them_alone() {
    let nest = "nest @slopes[N] {
        array x: f64[N + 4]
        array a: f64[N + 4]
        array b: f64[N + 4]
        for i in 1..N { S: a[i] = x[i] - x[i - 1]  T: b[i] = x[i + 1] * x[i] + a[i]  U: a[i + 2] = x[i + 2] + b[i - 1] }
        VARIANT
    }";
    same(nest, &[&[0], &[1], &[2], &[7], &[40]], "for t in 0..N - 1 { let i = t + 1 { S T U } }");
    // Where a store changes what is loaded behind it, that load stays.
    let nest = "nest @moved[N] {
        array x: f64[N + 4]
        array a: f64[N + 4]
        for i in 1..N { S: a[i] = x[i] - x[i - 1]  T: x[i + 1] = a[i] + 1.0  U: a[i + 1] = x[i + 1] * x[i + 2] }
        VARIANT
    }";
    same(nest, &[&[0], &[1], &[2], &[7], &[40]], "for t in 0..N - 1 { let i = t + 1 { S T U } }");
}
