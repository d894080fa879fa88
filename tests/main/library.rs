//! Nests done by calls of libraries, executed: IR and C with calls against the original program. BLAS is the few loops below, which are linked in
//! its place, and OpenBLAS where that is installed; numbers are small integers, of which any order gives the same sums.

use looptree::analyses::idioms::FUNCTIONS;
use looptree::driver::{Optimizer, Session, Settings, compile_source, emit_c};
use looptree::transforms::Recipe;
use looptree::tree::text;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What each case's body is put into.
const HEAD: &str =
    "void f(int n, double a, double C[n][n], double A[n][n], double B[n][n], double *x, double *y) { ";

/// Bodies with the recipe and the function that is called then.
const CASES: &[(&str, &str, &str)] = &[
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += a * A[i][k] * B[k][j];",
        "mark(i; library)",
        "cblas_dgemm",
    ),
    (
        "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] -= B[j][k] * A[k][i];",
        "mark(i; library)",
        "cblas_dgemm",
    ),
    (
        "for (int i = 1; i < n; i++) for (int j = 2; j < n; j++) for (int k = 0; k < n - 3; k++) C[i][j - 2] += A[i - 1][k + 3] * B[k][j];",
        "mark(i; library)",
        "cblas_dgemm",
    ),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += A[i][j] * x[j];",
        "mark(i; library)",
        "cblas_dgemv",
    ),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j] -= A[i][j] * x[i];",
        "mark(i; library)",
        "cblas_dgemv",
    ),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[j][1] += A[i][j] * x[i];",
        "mark(i; library)",
        "cblas_dgemv",
    ),
    ("for (int i = 0; i < n; i++) y[2] += A[i][1] * x[i];", "mark(i; library)", "cblas_ddot"),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] += a * x[i] * y[j];",
        "mark(i; library)",
        "cblas_dger",
    ),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[j][i] -= y[i] * x[j];",
        "mark(i; library)",
        "cblas_dger",
    ),
    ("for (int i = 1; i < n; i++) y[i - 1] += a * x[i];", "mark(i; library)", "cblas_daxpy"),
    ("for (int i = 0; i < n; i++) C[i][1] -= A[i][0];", "mark(i; library)", "cblas_daxpy"),
    ("for (int i = 0; i < n; i++) x[i] *= a;", "mark(i; library)", "cblas_dscal"),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][j];",
        "mark(i; library)",
        "memcpy",
    ),
    (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) C[i][j] = A[i - 1][j - 1];",
        "mark(j; library)",
        "memcpy",
    ),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = 0.0;", "mark(i; library)", "memset"),
    ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) C[i][j] = 0.0;", "mark(j; library)", "memset"),
];

/// Prints what `f` does to some numbers, for sizes from nothing on, and where arrays overlap.
const MAIN: &str = r#"
#include <stdio.h>
#include <string.h>
enum { N = 13 };
void f(int n, double a, double (*C)[n], double (*A)[n], double (*B)[n], double *x, double *y);
static double data[5 * N * N];
static void fresh(void) { for (int i = 0; i < 5 * N * N; i++) data[i] = (i * 7 + i / 5) % 5 - 2; }
static void told(int n, const char *how) {
    unsigned long long hash = 1;
    for (int i = 0; i < 5 * N * N; i++) {
        unsigned long long bits;
        double value = data[i] + 0.0; /* one zero */
        memcpy(&bits, &value, 8);
        hash = (hash ^ bits) * 1099511628211ull;
    }
    printf("%s %d %llx\n", how, n, hash);
}
#define PART(k) ((void *)(data + (k) * N * N))
int main(void) {
    const int sizes[] = {-1, 0, 1, 2, 3, 4, 7, N};
    for (int s = 0; s < 8; s++) {
        int n = sizes[s], row = n > 0 ? n : 1;
        (void)row;
        fresh(); f(n, 2, PART(0), PART(1), PART(2), PART(3), PART(4)); told(n, "apart");
        if (n > 4) continue;
        fresh(); f(n, 2, PART(0), PART(0), PART(2), PART(3), PART(3)); told(n, "the same");
        fresh(); f(n, 2, PART(0), (void *)(data + 1), PART(2), PART(3), (void *)(data + 3 * N * N + 1)); told(n, "shifted");
    }
    return 0;
}
"#;

/// The functions of BLAS that are called, as they are defined.
const BLAS: &str = r#"
#include "cblas.h"
#define AT(t, p, ld, i, j) ((t) == 112 ? (p)[(long)(j) * (ld) + (i)] : (p)[(long)(i) * (ld) + (j)])
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double al, const double *a, int lda, const double *b, int ldb, double be, double *c, int ldc) {
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
        double s = 0;
        for (int l = k - 1; l >= 0; l--) s += AT(ta, a, lda, i, l) * AT(tb, b, ldb, l, j);
        c[(long)i * ldc + j] = al * s + be * c[(long)i * ldc + j];
    }
}
void cblas_dgemv(int o, int t, int m, int n, double al, const double *a, int lda, const double *x, int ix, double be, double *y, int iy) {
    int rows = t == 112 ? n : m, columns = t == 112 ? m : n;
    for (int i = 0; i < rows; i++) {
        double s = 0;
        for (int j = 0; j < columns; j++) s += AT(t, a, lda, i, j) * x[(long)j * ix];
        y[(long)i * iy] = al * s + be * y[(long)i * iy];
    }
}
double cblas_ddot(int n, const double *x, int ix, const double *y, int iy) {
    double s = 0;
    for (int i = n - 1; i >= 0; i--) s += x[(long)i * ix] * y[(long)i * iy];
    return s;
}
void cblas_dger(int o, int m, int n, double al, const double *x, int ix, const double *y, int iy, double *a, int lda) {
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[(long)i * lda + j] += al * x[(long)i * ix] * y[(long)j * iy];
}
void cblas_daxpy(int n, double al, const double *x, int ix, double *y, int iy) {
    for (int i = 0; i < n; i++) y[(long)i * iy] += al * x[(long)i * ix];
}
void cblas_dscal(int n, double al, double *x, int ix) { for (int i = 0; i < n; i++) x[(long)i * ix] *= al; }
"#;

const HEADER: &str = "
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
double cblas_ddot(int, const double *, int, const double *, int);
void cblas_dger(int, int, int, double, const double *, int, const double *, int, double *, int);
void cblas_daxpy(int, double, const double *, int, double *, int);
void cblas_dscal(int, double, double *, int);
";

fn optimizer(libraries: &[&str], reorders: bool) -> Optimizer {
    let libraries = libraries.iter().map(|l| l.to_string()).collect();
    Optimizer::new(Settings { libraries, reorders, ..Settings::default() }).expect("models that exist")
}

fn compiled(directory: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("clang-22");
    command.current_dir(directory).args(["-O1", "-ffp-contract=off"]).args(arguments);
    let done = command.output().expect("clang starts");
    if !done.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&done.stderr));
    }
    done.status.success()
}

fn printed(program: &Path) -> String {
    let done = Command::new(program).output().expect("the program starts");
    assert!(done.status.success(), "{}: {}", program.display(), done.status);
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn calls_do_what_the_nests_do() {
    let optimizer = optimizer(&["cblas"], true);
    let files = tempfile::tempdir().expect("a directory");
    let place = |name: &str| files.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(place(name), text).expect("a file");
    write("main.c", MAIN);
    write("blas.c", BLAS);
    write("cblas.h", HEADER);
    assert!(compiled(files.path(), &["-c", "main.c", "blas.c"]));
    let mut with_openblas = 0;
    for (body, recipe, function) in CASES {
        write("f.c", &format!("{HEAD}{body} }}"));
        let ir = compile_source(&place("f.c"), &["-ffp-contract=off".to_string()]).expect("it compiles");
        let session = Session::new(&ir, "f.c", &optimizer);
        let (name, number, region) = session.only_region().expect("one region");
        let steps = Recipe::parse(recipe, &optimizer.registry).expect("a recipe");
        let chosen = optimizer
            .apply("f", &region.kernel, &steps, region.vectors)
            .unwrap_or_else(|e| panic!("{body}: {e}"));
        assert!(FUNCTIONS.contains(function), "lifting asks about {function}");
        let new = session.emit(&BTreeMap::from([((name, number), chosen)]), |m| m.to_string()).expect("IR");
        assert!(new.contains(&format!("@{function}(")), "{body}: {new}");
        write("new.ll", &new);
        assert!(compiled(files.path(), &["main.o", "f.c", "-o", "old"]), "{body}");
        assert!(compiled(files.path(), &["-c", "new.ll"]), "{body}");
        assert!(compiled(files.path(), &["main.o", "new.o", "blas.o", "-o", "new"]), "{body}");
        let wanted = printed(&place("old"));
        assert_eq!(printed(&place("new")), wanted, "{body}");
        if compiled(files.path(), &["main.o", "new.o", "-lopenblas", "-o", "new"]) {
            assert_eq!(printed(&place("new")), wanted, "{body}");
            with_openblas += 1;
        }
    }
    eprintln!("{with_openblas} of {} with OpenBLAS", CASES.len());
}

#[test]
fn calls_in_c_do_what_the_nests_do() {
    let source = "nest @f[N] {
       array C: f64[N, N]
       array A: f64[N, N]
       array B: f64[N, N]
       for i in 0..N { for j in 0..N { Z: C[i, j] = 0.0 } }
       for i2 in 0..N { for j2 in 0..N { for k in 0..N { S: C[i2, j2] = C[i2, j2] + A[k, i2] * B[k, j2] } } }
     }";
    let optimizer = optimizer(&["cblas"], true);
    let kernel = text::parse(source).expect("a program").kernel;
    let files = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(files.path().join(name), text).expect("a file");
    write("blas.c", BLAS);
    write("cblas.h", HEADER);
    let main =
        "#include <stdint.h>\n#include <stdio.h>\n#include \"f.c\"\nint main(void) { static double a[3][49];
        for (int i = 0; i < 147; i++) a[i / 49][i % 49] = i % 5 - 2;
        f(7, a[0], a[1], a[2]);
        for (int i = 0; i < 49; i++) printf(\"%g \", a[0][i]);
        return 0; }";
    write("main.c", main);
    let mut results = Vec::new();
    for recipe in ["", "mark(i; library); mark(i2; library)"] {
        let steps = Recipe::parse(recipe, &optimizer.registry).expect("a recipe");
        let chosen = optimizer.apply("f", &kernel, &steps, None).expect("it is legal");
        let c = emit_c(&BTreeMap::from([((kernel.name.clone(), 0), chosen)]), false).expect("C");
        assert_eq!(c.contains("memset(") && c.contains("cblas_dgemm("), !recipe.is_empty(), "{c}");
        write("f.c", &c);
        assert!(compiled(files.path(), &["-I.", "main.c", "blas.c", "-o", "f"]), "{c}");
        results.push(printed(&files.path().join("f")));
    }
    assert_eq!(results[0], results[1]);
}

#[track_caller]
fn refused(optimizer: &Optimizer, nest: &str, recipe: &str, why: &str) {
    let source = format!(
        "nest @f[N] {{ array A: f64[N, N] array B: f64[N, N] array x: f64[N] array y: f64[N] {nest} }}"
    );
    let kernel = text::parse(&source).unwrap_or_else(|e| panic!("{nest}: {e}")).kernel;
    let steps = Recipe::parse(recipe, &optimizer.registry).expect("a recipe");
    match optimizer.apply("f", &kernel, &steps, None) {
        Ok(chosen) => assert!(why.is_empty(), "{nest}: {chosen:?}"),
        Err(error) => {
            let told = error.to_string();
            assert!(!why.is_empty() && told.contains(why), "{nest}: {told}");
        }
    }
}

#[test]
fn what_no_library_does_is_refused_with_the_reason() {
    let strict = optimizer(&["cblas"], false);
    let plain = optimizer(&[], true);
    let axpy = "for i in 0..N { S: y[i] = y[i] + 2.0 * x[i] }";
    refused(&strict, axpy, "mark(i; library)", "rounds in another order");
    refused(&plain, axpy, "mark(i; library)", "no function of a library");
    let loose = "for i in 0..N { S: { %0 = load x[i] %1 = load y[i] %2 = fadd reassoc contract nnan ninf nsz f64 %0, %1 store y[i], %2 } }";
    refused(&strict, loose, "mark(i; library)", "");
    for (nest, recipe, why) in [
        ("for i in 1..N { S: x[i] = x[i - 1] }", "mark(i; library)", "no function"),
        ("for i in 0..N { S: x[i] = A[i, 0] }", "mark(i; library)", "no function"),
        ("for i in 0..N { for j in 1..N { S: A[i, j] = B[i, j] } }", "mark(i; library)", "no function"),
        ("for i in 0..N { for j in 0..N { S: A[j, i] = B[i, j] } }", "mark(i; library)", "no function"),
        ("for i in 0..N { S: x[i] = x[i] + 2.0 * x[i] }", "mark(i; library)", "no function"),
        ("for i in 0..N { S: x[i] = 1.0 }", "mark(i; library)", "no function"),
        ("for i in 0..N { S: x[i] = 0.0 T: y[i] = 0.0 }", "mark(i; library)", "just one statement"),
        ("for i in 0..N { if i >= 3 { S: x[i] = 0.0 } }", "mark(i; library)", "more than loops"),
        ("nocall memcpy, memset for i in 0..N { S: x[i] = 0.0 }", "mark(i; library)", "no library's here"),
        ("nocall memcpy for i in 0..N { S: x[i] = 0.0 }", "mark(i; library)", ""),
        (
            "for i in 0..N { for j in 0..N { S: A[i, j] = B[i, j] } }",
            "mark(i; parallel); mark(j; library)",
            "is marked, too",
        ),
    ] {
        refused(&strict, nest, recipe, why);
    }
}

#[test]
fn what_is_no_library_s_function_in_its_module_is_not_called() {
    let optimizer = optimizer(&["cblas"], true);
    let files = tempfile::tempdir().expect("a directory");
    let clear = "for (int i = 0; i < n; i++) x[i] = 0.0;";
    let dot = "for (int i = 0; i < n; i++) y[2] += A[i][1] * x[i];";
    for (flag, module, body, free) in [
        ("-O2", "", clear, true),
        ("-fno-builtin", "", clear, false),
        ("-ffreestanding", "", clear, false),
        ("-fno-builtin-memset", "", clear, false),
        ("-fno-builtin-memcpy", "", clear, true),
        ("-O2", "void *memset(void *p, int c, unsigned long n) { return p; }", clear, false),
        (
            "-O2",
            "void *m(void *p, int c, unsigned long n) { return p; } void *memset(void *, int, unsigned long) __attribute__((alias(\"m\")));",
            clear,
            false,
        ),
        ("-O2", "int cblas_ddot = 1;", clear, true),
        ("-fno-builtin", "", dot, true),
        ("-O2", "int cblas_ddot = 1;", dot, false),
        (
            "-O2",
            "double cblas_ddot(int n, const double *x, int ix, const double *y, int iy) { return 0; }",
            dot,
            false,
        ),
    ] {
        let file = files.path().join("f.c");
        std::fs::write(&file, format!("{module}\n{HEAD}{body} }}")).expect("a file");
        let ir = compile_source(&file, &[flag.to_string(), "-w".to_string()]).expect("it compiles");
        let session = Session::new(&ir, "f.c", &optimizer);
        let regions = session.explore().expect("it is lifted").regions;
        let region = regions.iter().find(|r| &*r.function == "f").expect("a region");
        let steps = Recipe::parse("mark(@; library)", &optimizer.registry).expect("a recipe");
        match optimizer.apply("f", &region.kernel, &steps, region.vectors) {
            Ok(_) => assert!(free, "{flag} {module}"),
            Err(e) => assert!(!free && e.to_string().contains("no library's here"), "{flag} {module}: {e}"),
        }
    }
}
