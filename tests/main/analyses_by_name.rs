//! Analyses chosen on the command line.

use std::process::Command;

const SUM_OF_ROWS: &str = "void f(int n, double (*a)[100], double *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 100; j++)
      b[i] += a[i][j];
}
";

/// Standard output of `looptree` on the program.
#[track_caller]
fn looptree(command: &str, options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("f.c"), SUM_OF_ROWS).expect("a file");
    let mut run = Command::new(env!("CARGO_BIN_EXE_looptree"));
    let output =
        run.current_dir(&folder).args([command, "f.c"]).args(options).output().expect("the command starts");
    assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn each_describes_as_much_as_it_knows() {
    let tree = |options: &[&str]| looptree("show", &[options, &["--what", "tree"]].concat());
    let standard = tree(&[]);
    assert!(standard.contains("f64[?, 100]") && standard.contains("[i, j]"), "{standard}");
    for options in [["--accesses", "types"], ["--control-flow", "predicates"]] {
        assert_eq!(tree(&options), standard);
    }
    let evolution = tree(&["--closed-forms", "scalar-evolution"]);
    assert!(evolution.contains("f64[?, 100]") && evolution.contains("for j in 0..100"), "{evolution}");
    let linear = tree(&["--accesses", "linear"]);
    assert!(linear.contains("[100*i + j]") && !linear.contains("100]"), "{linear}");
}

#[test]
fn without_closed_forms_a_remark_says_why_nothing_is_described() {
    let found = looptree("show", &["--closed-forms", "none", "--what", "remarks"]);
    assert!(found.contains("closed forms are switched off"), "{found}");
}

#[test]
fn costs_are_predicted_for_what_llvm_knows() {
    let cost = |target: &str| looptree("show", &["--what", "cost", "--target", target]);
    assert!(!cost("llvm").is_empty());
    assert_ne!(cost("llvm:x86-64"), cost("llvm:x86-64-v4"));
}
