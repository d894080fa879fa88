//! Sizes that nobody states: what is done must not lose where they are small.

use super::{Place, succeeds};

/// What the plugin says of a program, with these options of its own.
fn said(program: &str, options: &str) -> String {
    let place = Place::new(&[("x.c", program)]);
    let arguments = ["-O3", "-march=x86-64-v3", "-Rpass=looptree", "-Rpass-missed=looptree", "-c", "x.c"];
    let mut command = place.plugged(&arguments);
    command.env("LOOPTREE", options);
    succeeds(command.output().expect("clang starts"))
}

/// Seven short loops over fourteen arrays that may overlap: nobody says how short, and seventy pairs of them are compared in front.
fn many_pointers() -> String {
    let parameters: Vec<String> = (0..14).map(|a| format!("float *a{a}")).collect();
    let one = |a: i32| {
        format!("    for (long i = 0; i < n; i++) a{a}[i] = a{}[i] * 2 + a{}[i];\n", a + 7, (a + 8) % 14)
    };
    let loops: String = (0..7).map(one).collect();
    format!("void many(long n, {}) {{\n{loops}}}\n", parameters.join(", "))
}

#[test]
fn checks_of_many_pairs_are_not_put_in_front_of_short_loops() {
    let text = said(&many_pointers(), "min-gain=1.01,target=x86_64_avx2");
    assert!(text.contains("many#0: left alone: sizes that nobody states are a guess"), "{text}");
}

/// A product as BLAS has it, of sizes that nobody states.
const PRODUCT: &str = "
void product(long m, long n, long k, double alpha, const double *restrict a, long lda, const double *restrict b, long ldb,
             double beta, double *restrict c, long ldc) {
    for (long j = 0; j < n; j++) {
        if (beta == 0)
            for (long i = 0; i < m; i++) c[i + j * ldc] = 0;
        else if (beta != 1)
            for (long i = 0; i < m; i++) c[i + j * ldc] *= beta;
        for (long l = 0; l < k; l++) {
            double t = alpha * b[l + j * ldb];
            for (long i = 0; i < m; i++) c[i + j * ldc] += t * a[i + l * lda];
        }
    }
}
";

#[test]
fn tiles_that_small_sizes_fill_are_done() {
    // Tiles of 64, of which none is full where all sizes are 32, were no reason to leave the nest alone either.
    for target in ["znver3", "znver4"] {
        let text = said(PRODUCT, &format!("target={target}"));
        assert!(text.contains("product#0: distribute(@; 3); tile(@1.0; "), "{text}");
    }
}

#[test]
fn what_gains_at_small_sizes_too_is_done_where_the_best_does_not() {
    // Without packed panels the best has tiles of 64. Measured on Zen 3: 1.9 times as fast from 8 on.
    let place = Place::new(&[("x.c", PRODUCT)]);
    let run = |command: &[&str]| {
        let nest = ["x.c", "-f", "product", "--target", "x86_64_avx512"];
        let without = ["--without-sketch", "packed product", "--without-sketch", "transposed copy"];
        let arguments = [command, &nest, &without, &["--", "-march=x86-64-v3"]].concat();
        let output = place.command(env!("CARGO_BIN_EXE_looptree"), &arguments).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
    };
    let best = run(&["explore", "--top", "1"]);
    assert!(best.contains("tile(@1, @1.0, @1.0.0; 64, "), "{best}");
    let done = run(&["opt", "--remarks", "-o", "x.ll"]);
    assert!(done.contains("product#0: unroll_and_jam(@; 8)"), "{done}");
}

#[test]
fn sizes_that_are_small_all_at_a_time_are_told_apart_in_front() {
    // On an Emerald Rapids 0.5 times as fast as written at 8 x 8 x 8, and 4 times at 1000 x 8 x 32. Distances of rows are no sizes.
    let place = Place::new(&[("x.c", PRODUCT)]);
    let arguments = ["explore", "x.c", "-f", "product", "--target", "znver3", "--", "-march=x86-64-v3"];
    let mut run = place.command(env!("CARGO_BIN_EXE_looptree"), &arguments);
    let text = succeeds(run.output().expect("it starts"));
    let conditions: Vec<&str> = text.lines().filter(|line| line.contains("checked at run time")).collect();
    assert_eq!(conditions[0].matches(" + ").count(), 2, "{text}");
}

/// A pass of a fast Fourier transform: rows of `lk` are told apart as long as `n / 2` is no part of them.
const BUTTERFLIES: &str = "
typedef struct { double re, im; } complex;
void butterflies(int n, int li, int lk, int ny, double u, complex x[][18], complex y[][18]) {
    for (int i = 0; i < li; i++)
        for (int k = 0; k < lk; k++)
            for (int j = 0; j < ny; j++) {
                y[2 * i * lk + k][j].re = x[i * lk + k][j].re + x[i * lk + n / 2 + k][j].re;
                y[2 * i * lk + k][j].im = x[i * lk + k][j].im + x[i * lk + n / 2 + k][j].im;
                y[2 * i * lk + lk + k][j].re = u * (x[i * lk + k][j].re - x[i * lk + n / 2 + k][j].re);
                y[2 * i * lk + lk + k][j].im = u * (x[i * lk + k][j].im - x[i * lk + n / 2 + k][j].im);
            }
}
";

#[test]
fn what_no_size_allows_gets_no_new_code() {
    let place = Place::new(&[("x.c", BUTTERFLIES)]);
    let arguments =
        ["-O3", "-g", "-march=x86-64-v3", "-Rpass=looptree", "-Rpass-missed=looptree", "-c", "x.c"];
    let text = succeeds(place.plugged(&arguments).output().expect("clang starts"));
    assert!(text.contains("butterflies#0: left alone: it is described where floor(n/2) <= 0"), "{text}");
}
