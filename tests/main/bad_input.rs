//! Whatever is wrong with the input, the command says where, why and what to do, ends with the documented code, and leaves
//! no output file behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn looptree(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_looptree"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .expect("the command starts")
}

/// Fails with this code and these words on standard error, nothing on standard output.
#[track_caller]
fn fails(arguments: &[&str], code: i32, words: &[&str]) {
    let output = looptree(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    // miette wraps lines.
    let flat =
        stderr.split_whitespace().filter(|w| !["│", "×", "help:"].contains(w)).collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(flat.contains(word), "{arguments:?}: `{word}` is not in: {flat}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(!stderr.contains("panicked"), "{stderr}");
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Files(tempfile::tempdir().expect("a temporary directory"))
    }
    fn with(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

const LOOP: &str = "void f(double *a, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * 2; }\n";

#[test]
fn missing_file() {
    for extension in ["c", "ll", "bc", "lt"] {
        let name = format!("no/such/file.{extension}");
        fails(&["explore", &name], 3, &["cannot read", &name]);
    }
}

#[test]
fn clang_that_is_missing() {
    let files = Files::new();
    let c = files.with("a.c", LOOP);
    let output = Command::new(env!("CARGO_BIN_EXE_looptree"))
        .args(["show", &c])
        .env("LOOPTREE_CLANG", "no-such-clang")
        .output()
        .expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("cannot run no-such-clang") && !stderr.contains("cannot read"), "{stderr}");
}

#[test]
fn text_that_does_not_parse() {
    let files = Files::new();
    let lt = files.with("a.lt", "nest @a[N] {\n  for i in 0.. { }\n}\n");
    fails(&["explore", &lt], 3, &["a.lt:2"]);
    let ll = files.with("a.ll", "define void @f() {\n  ret i32 nonsense\n}\n");
    fails(&["explore", &ll], 3, &["2:"]);
    let c = files.with("a.c", "void f( {");
    fails(&["explore", &c], 3, &["clang", "error"]);
    // In clang's own lines.
    let stderr = String::from_utf8_lossy(&looptree(&["explore", &c]).stderr).into_owned();
    assert!(stderr.lines().any(|l| l.starts_with(&format!("{c}:1:9: error: "))), "{stderr}");
    let bc = files.with("a.bc", "BC\u{c0}not bitcode");
    fails(&["opt", &bc], 3, &["a.bc"]);
}

/// Found by fuzzing: a count in it makes LLVM's reader ask for 32 GiB, and give up.
#[test]
fn bitcode_that_llvm_does_not_survive() {
    let files = Files::new();
    let damaged = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_input/damaged.bc");
    let out = files.path("out.ll");
    fails(&["opt", damaged, "-o", &out.display().to_string()], 3, &["damaged.bc", "is damaged"]);
    assert!(!out.exists());
    fails(&["explore", damaged], 3, &["damaged.bc", "is damaged"]);
}

#[test]
fn ir_that_does_not_verify() {
    let files = Files::new();
    let ll = files
        .with("a.ll", "define i32 @f() {\na:\n  %x = add i32 %y, 1\n  %y = add i32 %x, 1\n  ret i32 %x\n}\n");
    fails(&["opt", &ll], 3, &["verif"]);
}

#[test]
fn a_function_or_region_that_is_not_there() {
    let files = Files::new();
    let c = files.with("a.c", LOOP);
    fails(&["explore", &c, "--function", "g"], 1, &["no function `g`", "f"]);
    for command in ["explore", "show"] {
        fails(&[command, &c, "--function", "f", "--region", "7"], 1, &["no region 7"]);
    }
    let empty = files.with("empty.ll", "; nothing\n");
    fails(&["explore", &empty, "--function", "f"], 1, &["no function `f`", "none"]);
}

#[test]
fn an_empty_module_is_no_error() {
    let files = Files::new();
    let empty = files.with("empty.ll", "; nothing\n");
    let output = looptree(&["explore", &empty]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no loop nest"));
}

#[test]
fn a_recipe_that_does_not_apply() {
    let files = Files::new();
    let c = files.with("a.c", LOOP);
    fails(&["apply", &c, "--recipe", "interchange(@0.9)"], 1, &["interchange", "@0.9"]);
    fails(&["apply", &c, "--recipe", "explode(i)"], 3, &["explode"]);
    fails(&["apply", &c, "--recipe", "tile(i; "], 3, &["not closed"]);
    fails(&["apply", &c, "--recipe", "missing.recipe"], 3, &["there is no file of that name"]);
    let out = files.path("out.ll");
    let recipe = files.with("bad.recipe", "interchange(@0.9)\n");
    let target = out.display().to_string();
    for recipe in [recipe.as_str(), "interchange(@0.9)"] {
        fails(&["opt", &c, "--recipe", recipe, "-o", &target], 1, &["interchange"]);
    }
    assert!(!out.exists());
}

#[test]
fn a_parameter_that_is_unknown() {
    let files = Files::new();
    let c = files.with("a.c", LOOP);
    for command in ["explore", "show"] {
        fails(&[command, &c, "--param", "m=3"], 2, &["no region has a parameter `m`", "n"]);
    }
    fails(&["explore", &c, "--param", "n"], 2, &["--param n"]);
    fails(&["explore", &c, "-march=native"], 2, &["flags for clang follow `--`: `-- -march=native`"]);
    fails(&["explore", &c, "--target", "abacus"], 2, &["abacus", "generic", "llvm"]);
    fails(&["explore", &c, "--target", "llvm:abacus"], 2, &["abacus", "processor"]);
    fails(&["explore", &c, "--closed-forms", "guesses"], 2, &["guesses", "recurrences", "scalar-evolution"]);
    fails(&["opt", &c, "--accesses", "guesses"], 2, &["guesses", "linear", "delinearised", "types"]);
    fails(&["show", &c, "--control-flow", "guesses"], 2, &["guesses", "cfg", "predicates"]);
}

#[test]
fn sizes_for_which_no_loop_runs() {
    let files = Files::new();
    let c = files.with(
        "a.c",
        "void f(int n, int m, double *a) {\n for (int j = 0; j < m; j++)\n  for (int i = 0; i < n; i++)\n   \
         a[i * m + j] += 1;\n}\n",
    );
    let nothing = "nothing of it runs for these parameters: there is nothing to rank";
    for (name, size) in [("n", -5), ("n", 0), ("m", 0)] {
        let output = looptree(&["explore", &c, "--param", &format!("{name}={size}")]);
        assert!(output.status.success());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(nothing) && !text.contains("inf") && !text.contains("NaN"), "{text}");
    }
}

#[test]
fn quota_exceeded_is_said_and_nothing_is_claimed() {
    let files = Files::new();
    // Strides that only exact integer sets tell apart.
    let nest = "void f(int n, double *a) {\n for (int i = 1; i < n; i++)\n  for (int j = 1; j < i; j++)\n   \
                a[2 * i + 3 * j] = a[3 * i + 5 * j] + a[j];\n}\n";
    let c = files.with("a.c", nest);
    let output = looptree(&["explore", &c, "--quota", "1", "--why-not"]);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("quota"), "{text}");
}

#[test]
fn output_is_written_whole_or_not_at_all() {
    let files = Files::new();
    let c = files.with("a.c", LOOP);
    let nowhere = files.path("no/such/directory/out.ll").display().to_string();
    fails(&["opt", &c, "-o", &nowhere], 1, &["cannot write"]);
    assert!(!Path::new(&nowhere).exists());
    let kept = files.with("kept.ll", "kept");
    let bad = files.with("bad.ll", "nonsense");
    fails(&["opt", &bad, "-o", &kept], 3, &[]);
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "kept");
}

#[test]
fn wrong_usage() {
    for arguments in [&["explore"][..], &["frobnicate"], &["explore", "a.c", "--top", "many"]] {
        assert_eq!(looptree(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let files = Files::new();
    let lt = files.with("a.lt", "nest @a[N] { }");
    fails(&["opt", &lt], 2, &["loop tree"]);
}
