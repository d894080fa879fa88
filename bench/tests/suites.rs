//! Suites in the layout of PolyBench, and other trees of programs, compared and judged.

use std::path::Path;
use std::process::{Command, Output};

/// The macros of the published suite that programs and harness share, in a few lines.
const DRIVER: &str = r#"
#include <stdio.h>
#include <time.h>
#include "polybench.h"
static clock_t start;
void polybench_start(void) { start = clock(); }
void polybench_stop(void) { printf("%0.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC + 1e-6); }
"#;
const HEADER: &str = r"
void polybench_start(void);
void polybench_stop(void);
";

fn program(body: &str) -> String {
    format!(
        r#"
#include <stdio.h>
#include <polybench.h>
#include "NAME.h"
static DATA a[N][N], b[N][N], x[N];
static void kernel_NAME(int n, DATA a[N][N], DATA b[N][N], DATA x[N]) {{ {body} }}
int main(void) {{
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) a[i][j] = (i * 3 + j) % 7, b[i][j] = (i + j * 5) % 11;
#ifdef POLYBENCH_TIME
  polybench_start();
#endif
  kernel_NAME(N, a, b, x);
#ifdef POLYBENCH_TIME
  polybench_stop();
#endif
#ifdef POLYBENCH_DUMP_ARRAYS
  for (int i = 0; i < N; i++) fprintf(stderr, "%a %a\n", (double)a[i][N / 2], (double)x[i]);
#endif
  return a[1][1] > 1e30;
}}
"#
    )
}

const SIZES: &str = r"
#ifdef SMALL_DATASET
#define N 20
#endif
#ifdef MEDIUM_DATASET
#define N 200
#endif
#ifndef N
#define N 700
#endif
#ifdef DATA_TYPE_IS_FLOAT
#define DATA float
#else
#define DATA double
#endif
";

fn write(directory: &Path, file: &str, text: &str) {
    let path = directory.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Two programs in the layout of PolyBench, and what lies about in such trees.
fn polybench() -> tempfile::TempDir {
    let suite = tempfile::tempdir().unwrap();
    let root = suite.path();
    write(root, "utilities/polybench.c", DRIVER);
    write(root, "utilities/polybench.h", HEADER);
    write(root, "utilities/template.c", "int main(void) { return TEMPLATE; }");
    write(root, "utilities/template.h", "");
    // Columns, which an interchange makes rows, and a chain that nothing helps.
    let columns =
        "for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) a[i][j] = a[i][j] * 1.5 + b[i][j];";
    let chain = "for (int i = 1; i < n; i++) x[i] = x[i - 1] * 0.5 + a[i][i];";
    for (name, body) in [("columns", columns), ("chain", chain)] {
        let place = format!("group/{name}/{name}");
        write(root, &format!("{place}.c"), &program(body).replace("NAME", name));
        write(root, &format!("{place}.h"), SIZES);
    }
    write(root, "stray.c", "int main(void) { return STRAY; }");
    // An older version beside a program is no program of its own.
    write(root, "group/chain/chain.orig.c", "int main(void) { return 1; }");
    suite
}

fn bench(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(arguments).current_dir(directory).args(["--rounds", "1", "-j", "2"]);
    command.args(["--build", "out", "--json", "out/report.json"]);
    command.output().unwrap()
}

fn report(directory: &Path, output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(directory.join("out/report.json")).unwrap()).unwrap()
}

#[test]
fn a_suite_in_the_layout_of_polybench_is_compared() {
    let suite = polybench();
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let plain = format!("plain={clang} -O1");
    let shell = format!("shell={clang} {{flags}} {{sources}} -o {{out}}");
    let flags = ["--suite", ".", "--svg", "out/chart.svg", "--peer", &plain, "--peer", &shell];
    let mut arguments = vec!["compare", "--define", "DATA_TYPE_IS_FLOAT", "--peer", "none=no-such-compiler"];
    arguments.extend(flags);
    arguments.push("--ablate");
    let found = report(suite.path(), &bench(suite.path(), &arguments));
    let rows = found["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|r| r["kernel"].as_str().unwrap()).collect();
    assert_eq!(names, ["chain", "columns"]);
    assert_eq!((&rows[0]["same_program"], &rows[1]["same_program"]), (&true.into(), &false.into()));
    assert_eq!(rows[0]["predicted_best"], 1.0);
    for row in rows {
        let peers = row["peers"].as_array().unwrap();
        assert_eq!(peers[0]["name"], "none");
        assert!(peers[0]["failure"].is_string() && peers[0]["ratio"].is_null());
        assert!(peers[1..].iter().all(|p| p["ratio"].as_f64().unwrap() > 0.0 && p["other_results"] == false));
        assert_eq!(row["size"], "-DLARGE_DATASET");
        assert!(row["without"].as_array().unwrap().iter().all(|w| w["ratio"].as_f64().unwrap() > 0.0));
    }
    assert!(!found["without"].as_array().unwrap().is_empty());
    let unknown = bench(suite.path(), &["compare", "--suite", ".", "--without-sketch", "napkin"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no sketch called napkin"));
    assert!(std::fs::read_to_string(suite.path().join("out/chart.svg")).unwrap().ends_with("</svg>\n"));
}

#[test]
fn wrong_results_of_peers_are_marked() {
    let suite = polybench();
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    // Prints the format in place of the values.
    let wrong = format!("wrong={clang} -Dfprintf(f,s,...)=fputs(s,f)");
    let arguments = ["compare", "chain", "--suite", ".", "--svg", "out/c.svg", "--peer", &wrong];
    let found = report(suite.path(), &bench(suite.path(), &arguments));
    assert_eq!(found["rows"][0]["peers"][0]["other_results"], true);
}

#[test]
fn predictions_are_judged_and_judged_again() {
    let suite = polybench();
    let arguments = ["fidelity", "columns", "--suite", ".", "--size", "MEDIUM", "--variants", "5"];
    let output = bench(suite.path(), &arguments);
    let found = report(suite.path(), &output);
    let variants = found["kernels"][0]["variants"].as_array().unwrap();
    assert!((3..=6).contains(&variants.len()), "{variants:?}");
    assert_eq!((&variants[0]["rank"], &variants[0]["said"]), (&serde_json::Value::Null, &1.0.into()));
    assert!(variants.iter().all(|v| v["measured"].as_f64().unwrap() > 0.0));
    std::fs::copy(suite.path().join("out/report.json"), suite.path().join("old.json")).unwrap();
    let again =
        report(suite.path(), &bench(suite.path(), &["fidelity", "--suite", ".", "--again", "old.json"]));
    assert_eq!(again, found);
}

#[test]
fn files_of_one_program_belong_together() {
    let suite = tempfile::tempdir().unwrap();
    let root = suite.path();
    let part = "#define N 300\nextern double m[N][N], v[N];\nvoid kernel_sum(void);\n";
    write(root, "sum/part.h", part);
    let main = "#include <stdio.h>\n#include \"part.h\"\ndouble m[N][N], v[N];\n
        int main(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) m[i][j] = i + j;
        kernel_sum(); printf(\"%a\\n\", v[N / 3]); return 0; }";
    write(root, "sum/main.c", main);
    let sum = "#include \"part.h\"\nvoid kernel_sum(void) {
        for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) v[j] += m[i][j]; }";
    write(root, "sum/kernel.c", sum);
    let output = bench(root, &["compare", "--suite", ".", "--svg", "out/c.svg"]);
    let found = report(root, &output);
    assert_eq!(found["rows"][0]["kernel"], "main");
    assert_eq!(found["rows"][0]["same_program"], false);
    let missing = bench(root, &["compare", "other", "--suite", ".", "--svg", "out/c.svg"]);
    assert!(!missing.status.success());
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no program is called other"));
}
