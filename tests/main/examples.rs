//! The examples run as they are shown.

use std::path::PathBuf;
use std::process::Command;

/// Cargo builds examples beside the test executables.
#[track_caller]
fn example(name: &str) -> String {
    let test = std::env::current_exe().expect("this test has a path");
    let directory: PathBuf =
        test.parent().and_then(|p| p.parent()).expect("target directory").join("examples");
    let output = Command::new(directory.join(name)).output().expect("the example starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_transformation_and_a_model_of_ones_own() {
    let out = example("own_transformation");
    let said = ["columns: 0 dependences", "interchange(@)", "for j in 0..M"];
    assert!(said.iter().all(|s| out.contains(s)), "{out}");
}

#[test]
fn a_module_in_memory() {
    let out = example("lift_module");
    assert!(out.contains("multiply#0") && out.contains("lines of IR with both versions"), "{out}");
}
