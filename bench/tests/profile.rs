//! Reasons by time: a program whose time is known is sampled.

use std::process::Command;

/// Most time in `walk`, whose end data decides, less in `columns`, which changes, nearly none elsewhere.
const PROGRAM: &str = r#"
#include <stdio.h>
#define N 700
static double a[N][N], b[N][N];
__attribute__((noinline)) static void columns(void) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      a[i][j] = a[i][j] * 0.5 + b[i][j];
}
__attribute__((noinline)) static long walk(long n) {
  long steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}
int main(void) {
  long steps = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      b[i][j] = (i * 7 + j) % 13;
  for (int t = 0; t < 60; t++)
    columns();
  for (long n = 1; n < 2500000; n++)
    steps += walk(n);
  printf("%g %ld\n", a[5][6], steps);
  return 0;
}
"#;

#[test]
fn time_is_summed_up_by_reason() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::create_dir(path("source")).unwrap();
    std::fs::write(path("source/walk.c"), PROGRAM).unwrap();
    let report = path("report.json");
    let bench = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_bench")).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
        text
    };
    let (source, build) = (path("source"), path("build"));
    let common =
        ["corpus", &source, "--run", "{program}", "--rounds", "1", "--build", &build, "--json", &report];
    let text = bench(&[&common[..], &["--profile"]].concat());
    assert!(text.contains("walk.c:12"), "{text}");
    let read = std::fs::read_to_string(&report).unwrap();
    let read: serde_json::Value = serde_json::from_str(&read).unwrap();
    let time = &read["time"];
    let share = |reason: &str| time["reasons"][reason]["inside"].as_f64().unwrap_or(0.0);
    // A tick is a few milliseconds, and the program takes half a second.
    assert!(time["samples"].as_u64().unwrap() > 20, "{text}");
    assert!(share("trip-count") > 0.4, "{text}");
    assert!(share("changed") > 0.05, "{text}");
    assert!(share("trip-count") + share("changed") > 0.85, "{text}");
    let text = bench(&["shares", &report, &report]);
    assert!(text.starts_with("2 programs") && text.contains("trip-count"), "{text}");
    // Reports without samples are no part of a mean.
    bench(&common);
    let without = Command::new(env!("CARGO_BIN_EXE_bench")).args(["shares", &report]).output().unwrap();
    assert!(!without.status.success());
    assert!(String::from_utf8_lossy(&without.stderr).contains("has no samples"));
}
