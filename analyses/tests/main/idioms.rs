//! What nests are known as.

use analyses::idioms::Idioms;

const ARRAYS: &str = "array A: f64[N, N]\n array B: f64[N, N]\n array C: f64[N, N]\n array x: f64[N]\n array y: f64[N]\n \
    scalar a: f64 in\n scalar s: f64 out\n scalar t: f64 local\n";

/// Of each statement of a nest whose body this is.
fn known(body: &str) -> Vec<String> {
    let text = format!("nest @k[N] {{ {ARRAYS} {body} }}");
    let program = loop_tree::text::parse(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
    Idioms::standard().of_kernel(&program.kernel).iter().map(|k| k.text(&program.kernel)).collect()
}

#[track_caller]
fn check(body: &str, wanted: &[&str]) {
    assert_eq!(known(body), wanted, "{body}");
}

#[test]
fn products_are_known_whatever_the_order_of_their_loops() {
    let product = |loops: [&str; 3], statement: &str| {
        let nest = loops.iter().fold(String::new(), |text, l| format!("{text}for {l} in 0..N {{ "));
        format!("{nest} {statement} }} }} }}")
    };
    for order in [["i", "j", "k"], ["k", "i", "j"], ["j", "k", "i"]] {
        let over = order.join(", ");
        let plain = format!("matrix product over {over}: C[i, j] += A[i, k] * B[k, j]");
        check(&product(order, "S: C[i, j] = C[i, j] + A[i, k] * B[k, j]"), &[&plain]);
        let turned = format!(
            "matrix product over {over}: C[i, j] -= A[k, i] * a * B[j, k]; A transposed; B transposed; scaled by a"
        );
        check(&product(order, "S: C[i, j] = C[i, j] - A[k, i] * a * B[j, k]"), &[&turned]);
    }
    // The second operand is the one along the rows of the result.
    let swapped = "matrix product over i, j, k: C[i, j] += B[k, j] * A[i, k]";
    check(&product(["i", "j", "k"], "S: C[i, j] = C[i, j] + B[k, j] * A[i, k]"), &[swapped]);
}

#[test]
fn products_of_vectors() {
    check(
        "for i in 0..N { for j in 0..N { S: y[i] = y[i] + A[j, i] * x[j] } }",
        &["matrix-vector product over i, j: y[i] += A[j, i] * x[j]; A transposed"],
    );
    check("Z: s = 0.0 for i in 0..N { S: s = s + x[i] * y[i] }", &["dot product over i: s += x[i] * y[i]"]);
    check(
        "for i in 0..N { for j in 0..N { S: A[i, j] = A[i, j] + x[i] * y[j] } }",
        &["outer product over i, j: A[i, j] += x[i] * y[j]"],
    );
    check("for i in 0..N { S: y[i] = a * x[i] + y[i] }", &["axpy over i: y[i] += a * x[i]"]);
    check(
        "for i in 0..N { for j in 0..N { S: x[i] = x[i] + A[i, j] } }",
        &["sum over i, j: x[i] += A[i, j]"],
    );
    check("for i in 0..N { S: x[i] = x[i] * a }", &["scaling over i: x[i] *= a"]);
}

#[test]
fn a_row_is_added_to_another() {
    check("for j in 0..N { S: A[1, j] = A[1, j] + a * A[0, j] }", &["axpy over j: A[1, j] += a * A[0, j]"]);
}

#[test]
fn what_lies_further_out_does_not_hide_an_idiom() {
    // A convolution is a dot product for each of its results.
    check(
        "for i in 0..N { for k in 0..N - i { S: y[i] = y[i] + x[i + k] * A[0, k] } }",
        &["dot product over k: y[i] += x[i + k] * A[0, k]"],
    );
    // Row `i` of the triangle alone is moved by what the loop around computes.
    check("for i in 0..N { for j in 0..i { S: y[j] = y[j] + A[i, i] * x[i - j] } }", &[]);
    check(
        "for i in 0..N { for j in 0..i { S: y[j] = y[j] + A[i, i] * B[i, j] } }",
        &["axpy over j: y[j] += A[i, i] * B[i, j]"],
    );
}

#[test]
fn data_that_is_moved() {
    check("for i in 0..N { for j in 0..N { S: A[i, j] = 0.0 } }", &["fill over i, j: A[i, j] = 0.0"]);
    check("for i in 0..N { for j in 0..N { S: A[i, j] = B[i, j] } }", &["copy over i, j: A[i, j] = B[i, j]"]);
    check(
        "for i in 0..N { for j in 0..N { S: A[j, i] = B[i, j] } }",
        &["transposition over i, j: A[j, i] = B[i, j]"],
    );
    check("for i in 0..N { S: y[i] = x[i] * 2.0 }", &["copy over i: y[i] = x[i] * 2.0; scaled"]);
}

#[test]
fn scans() {
    check("for i in 1..N { S: x[i] = x[i - 1] + y[i] }", &["scan over i: x[i] = x[i - 1] + y[i]"]);
    check("for i in 1..N { S: x[i] = x[i] + x[i - 1] }", &["scan over i: x[i] += x[i - 1]"]);
    check(
        "T: s = 0.0 for i in 0..N { U: s = s + y[i] S: x[i] = s }",
        &["sum over i: s += y[i]", "scan over i: x[i] = s"],
    );
}

#[test]
fn what_only_looks_like_one_is_none() {
    // A stencil, elements picked by data, another element than the one written, and one under a condition.
    for body in [
        "for i in 1..N - 1 { S: y[i] = x[i - 1] + x[i + 1] }",
        "for i in 3..N { S: y[i] = y[i] + y[i - 3] }",
        "for i in 0..N - 1 { S: y[i] = y[i] + y[i + 1] }",
        "for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[j, i] + A[i, k] * B[k, j] } } }",
        "for i in 0..N { if i >= 3 { S: y[i] = x[i] } }",
        "for i in 0..N { S: t = x[i] U: y[i] = y[i] * t }",
    ] {
        check(body, &[]);
    }
}
