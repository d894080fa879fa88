//! Loops that threads share, in programs: linked with a runtime they print what the original prints, with any number of threads, and
//! under ThreadSanitizer no race is found.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn clang() -> String {
    std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string())
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shared").join(name)
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Each program, and in how many places loops are shared at least.
const PROGRAMS: [(&str, usize); 2] = [("program.c", 3), ("wavefronts.c", 5)];

/// A program as IR with loops for threads.
fn shared(place: &Path, (program, least): (&str, usize), flags: &[&str]) -> PathBuf {
    let (read, written) = (place.join("read.ll"), place.join("written.ll"));
    let early = ["-O3", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o"];
    succeeds(Command::new(clang()).args(flags).args(early).arg(&read).arg(source(program)));
    let mut optimise = Command::new(env!("CARGO_BIN_EXE_looptree"));
    optimise.arg("opt").arg(&read).arg("-o").arg(&written);
    succeeds(optimise.args(["--threads", "4", "--min-gain", "1.2", "--target", "x86_64_avx512"]));
    let text = std::fs::read_to_string(&written).expect("IR");
    let started = text.matches("call void @GOMP_parallel").count();
    assert!(started >= least, "{program}: {started} loops are shared");
    written
}

#[test]
fn results_do_not_depend_on_how_many_there_are() {
    let place = tempfile::tempdir().expect("a directory");
    let (plain, threads) = (place.path().join("plain"), place.path().join("threads"));
    for program in PROGRAMS {
        succeeds(Command::new(clang()).args(["-O3", "-o"]).arg(&plain).arg(source(program.0)));
        let expected = succeeds(&mut Command::new(&plain));
        let code = shared(place.path(), program, &["-g"]);
        succeeds(Command::new(clang()).args(["-O3", "-o"]).arg(&threads).arg(&code).arg("-lgomp"));
        for count in ["1", "2", "4", "64"] {
            let found = succeeds(Command::new(&threads).env("OMP_NUM_THREADS", count));
            assert!(found == expected, "{}: {count} threads", program.0);
        }
    }
}

#[test]
fn no_thread_meets_another() {
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join("checked");
    let sanitize = ["-fsanitize=thread", "-g", "-O1", "-o"];
    let race = place.path().join("race.c");
    let text = "void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
        static int x; static void f(void *p) { x++; } int main(void) { GOMP_parallel(f, 0, 2, 0); }";
    std::fs::write(&race, text).expect("a file");
    let mut compile = Command::new(clang());
    let output = run(compile.args(sanitize).arg(&program).arg(&race).arg(source("runtime.c")));
    if !output.status.success() {
        eprintln!("not run: clang has no ThreadSanitizer here (package libclang-rt-22-dev)");
        return;
    }
    // What it finds where there is one.
    let found = run(Command::new(&program).env("TSAN_OPTIONS", "exitcode=66"));
    assert_eq!(found.status.code(), Some(66), "{}", String::from_utf8_lossy(&found.stderr));
    for shares in PROGRAMS {
        let code = shared(place.path(), shares, &["-g", "-fsanitize=thread"]);
        succeeds(Command::new(clang()).args(sanitize).arg(&program).arg(&code).arg(source("runtime.c")));
        succeeds(Command::new(&program).env("TSAN_OPTIONS", "exitcode=66").env("OMP_NUM_THREADS", "4"));
    }
}
