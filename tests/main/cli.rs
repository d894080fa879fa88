//! Sessions with the command, as a user sees them: `tests/cli/*.trycmd`. `TRYCMD=overwrite` rewrites what is expected; read
//! the difference. `[..]` stands for numbers that a better model changes.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};

#[test]
fn sessions() {
    trycmd::TestCases::new().env("NO_COLOR", "1").case("tests/cli/*.trycmd");
}

/// Runs the command with a text on standard input.
fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_looptree"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that fails early does not read all of it.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the command ends")
}

const LOOP: &str = "define void @f(ptr %a, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %p = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %p
  %y = fmul double %x, 2.0
  store double %y, ptr %p
  %next = add nsw i64 %i, 1
  br label %head
done:
  ret void
}
";

#[test]
fn opt_reads_standard_input_and_writes_standard_output() {
    let output = piped(&["opt", "-", "-o", "-"], LOOP.as_bytes());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("define void @f(ptr %a, i64 %n)"), "{text}");
    // What came out goes in again.
    assert!(piped(&["opt", "-"], text.as_bytes()).status.success());
}

#[test]
fn standard_input_is_ir_or_a_tree_for_every_command() {
    let tree = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lt/skew.lt")).expect("a file");
    let ir = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/loops.ll")).expect("a file");
    for command in ["explore", "show", "why", "run"] {
        for input in [&tree, &ir] {
            let output = piped(&[command, "-"], input);
            assert!(output.status.success() && !output.stdout.is_empty(), "{command}: {output:?}");
        }
    }
}

#[test]
fn the_manual_has_each_transformation() {
    let one = piped(&["recipes", "reverse"], b"");
    let text = String::from_utf8_lossy(&one.stdout);
    assert!(text.starts_with("## Reverse: ") && text.contains("reverse(i)"), "{text}");
    for all in [&["recipes"][..], &["help", "recipes"]] {
        let all = piped(all, b"");
        let all = String::from_utf8_lossy(&all.stdout);
        assert!(all.contains(&*text) && all.contains("recipe   = step"), "{all}");
    }
    assert_eq!(piped(&["recipes", "fold"], b"").status.code(), Some(2));
}

#[test]
fn shells_and_man_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let output = piped(&["completions", shell], b"");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("explore") && text.contains("min-gain"),
            "{shell}: {text}"
        );
    }
    let place = tempfile::tempdir().expect("a directory");
    let pages = place.path().join("man1");
    assert!(piped(&["man", &pages.display().to_string()], b"").status.success());
    let page = std::fs::read_to_string(pages.join("looptree-opt.1")).expect("a page");
    assert!(page.contains(".TH looptree-opt 1") && page.contains("\\-\\-min\\-gain"), "{page}");
}

/// Of what is ranked first, the fastest is taken, and it is faster.
#[test]
fn opt_takes_what_measures_fastest() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c");
    let nest = "for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++)";
    let text =
        format!("double a[512][512], b[512][512];\nvoid columns(void) {{ {nest} a[j][i] = 2.0 * b[j][i]; }}");
    std::fs::write(&file, text).expect("a file");
    let (file, out) = (file.display().to_string(), place.path().join("x.ll").display().to_string());
    let run = |more: &[&str]| {
        let output = piped(&[&["opt", &file, "-o", &out, "--remarks"], more].concat(), b"");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text
    };
    let told = run(&["--measure", "--top", "3"]);
    assert!(
        told.contains("columns#0: ") && told.contains("interchange(") && told.contains("(measured "),
        "{told}"
    );
    assert!(!told.contains("(predicted "), "{told}");
    // The same by its number.
    let told = run(&["--recipe", "#0"]);
    assert!(told.starts_with("remark: columns#0: as asked (predicted "), "{told}");
    assert!(std::fs::read_to_string(&out).expect("IR").contains("columns"));
}

/// What is measured runs in the command's process, and prints; that is no part of what the command writes.
#[test]
fn what_measured_functions_print_is_not_in_the_output() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c");
    let text = "int printf(const char *, ...); long write(int, const void *, unsigned long);
        void sums(int n, double *restrict a, double *restrict b) {
            for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) b[i] += a[i * n + j];
            printf(\"done %d\\n\", n); write(1, \"done\\n\", 5); }";
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let output =
        piped(&["explore", &file, "--measure", "--top", "1", "--format", "json", "-p", "n=100"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("done"), "it was measured");
    serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("one document");
}

/// A link to an output file stays one, and to a device, too.
#[cfg(unix)]
#[test]
fn output_goes_through_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    std::fs::write(at("x.ll"), LOOP).expect("a file");
    std::fs::write(at("old.ll"), "old").expect("a file");
    std::fs::set_permissions(at("old.ll"), PermissionsExt::from_mode(0o640)).expect("permissions");
    symlink("old.ll", at("link.ll")).expect("a link");
    symlink("/proc/self/fd/1", at("out.ll")).expect("a link");
    let opt = |out: &str| {
        let (from, to) = (at("x.ll").display().to_string(), at(out).display().to_string());
        let output = piped(&["opt", &from, "-o", &to], b"");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(opt("link.ll"), "");
    assert!(at("link.ll").is_symlink() && std::fs::read_to_string(at("old.ll")).expect("IR").contains("@f"));
    assert_eq!(std::fs::metadata(at("old.ll")).expect("a file").permissions().mode() & 0o777, 0o640);
    assert!(opt("out.ll").contains("@f") && at("out.ll").is_symlink());
}

/// Words are whole on a terminal, on both streams.
#[test]
fn lines_fit_the_terminal() {
    let place = tempfile::tempdir().expect("a directory");
    let text = "double a[256], b[256][256];
void both(void) {
    for (int i = 1; i < 256; i++) a[i] += a[i - 1];
    for (int j = 0; j < 256; j++) for (int i = 0; i < 256; i++) b[i][j] *= 2;
}
__attribute__((annotate(\"looptree interchange\"))) void none(void) {}
";
    std::fs::write(place.path().join("x.c"), text).expect("a file");
    for (arguments, said) in [
        ("why x.c", "the cycles predicted for this file"),
        ("opt x.c -o x.ll --remarks", "nothing is done about"),
    ] {
        let command = format!("stty cols 50 rows 30; {} {arguments}", env!("CARGO_BIN_EXE_looptree"));
        let mut script = Command::new("script");
        script.args(["-qefc", &command, "/dev/null"]).current_dir(place.path()).env("NO_COLOR", "1");
        let Ok(output) = script.stdin(Stdio::null()).output() else {
            eprintln!("skipped: there is no `script`, which makes a terminal");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(output.status.success() && words.join(" ").contains(said), "{text}");
        // Lines of the source stay as they are; progress is wiped away.
        let lines = text.lines().filter_map(|l| l.rsplit("\x1b[2K").next());
        for line in lines.filter(|l| !l.contains(" | ")) {
            assert!(line.chars().count() <= 50, "{line}: {text}");
        }
    }
}

/// What is predicted of a recipe is the same for every command, also where code has other vectors than the machine.
#[test]
fn a_recipe_is_predicted_the_same_everywhere() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c");
    let text = "double a[256][256], b[256][256], c[256][256];
        void product(void) {
            for (int i = 0; i < 256; i++)
                for (int j = 0; j < 256; j++)
                    for (int k = 0; k < 256; k++) c[i][j] += a[i][k] * b[k][j];
        }";
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let run = |command: &str, more: &[&str]| {
        let own = [&[command, &file], more, &["--target", "znver5", "--", "-march=x86-64-v3"]].concat();
        let output = piped(&own, b"");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    let found: serde_json::Value =
        serde_json::from_str(&run("explore", &["--format", "json"])).expect("JSON");
    let region = &found["regions"][0];
    let best = &region["variants"][0];
    let recipe = best["recipe"].as_str().expect("a recipe");
    let gain = format!("predicted {:.2}x", best["predicted_ratio"].as_f64().expect("a number"));
    for recipe in ["#0", recipe] {
        let asked = ["--recipe", recipe, "--remarks", "-o", "/dev/null"];
        let told = run("opt", &asked);
        assert!(told.contains(&format!("as asked ({gain})")), "{gain}: {told}");
        let told = run("apply", &["--recipe", recipe, "--explain"]);
        assert!(told.contains(&format!("; {gain}\n")), "{gain}: {told}");
    }
    let cycles = |text: &str| text.lines().find(|l| l.contains("cycles")).map(str::to_string);
    let shown = run("show", &["--what", "cost"]);
    let explained = run("apply", &["--recipe", recipe, "--explain"]);
    let original = explained.split_once("cost of the original:\n; ").map(|(_, cost)| cost.to_string());
    assert_eq!(cycles(&shown), original.as_deref().and_then(cycles), "{shown}{explained}");
}

#[test]
fn timings_name_the_phases() {
    // With threads also a loop by itself is searched.
    let options = ["--timings", "--threads", "2", "--default-param", "100000", "--min-gain", "1"];
    let output = piped(&[&["opt", "-"][..], &options].concat(), LOOP.as_bytes());
    let text = String::from_utf8_lossy(&output.stderr);
    for phase in ["phase", "read", "lift", "dependences", "search"] {
        assert!(text.lines().any(|line| line.starts_with(phase)), "{phase}: {text}");
    }
}

#[test]
fn opt_leaves_an_empty_module_as_it_is() {
    let output = piped(&["opt", "-"], b"target triple = \"x86_64-pc-linux-gnu\"\n");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("x86_64-pc-linux-gnu"));
}

#[test]
fn opt_refuses_what_is_no_ir_and_writes_nothing() {
    for input in [&b"nonsense"[..], b"\xff\xfe\x00"] {
        let output = piped(&["opt", "-"], input);
        assert_eq!(output.status.code(), Some(3));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn another_machines_code_is_refused() {
    for triple in ["aarch64-unknown-linux-gnu", "i386-pc-linux-gnu", "x86_64-pc-linux-gnux32"] {
        let output = piped(&["opt", "-"], format!("target triple = \"{triple}\"\n{LOOP}").as_bytes());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(triple) && text.contains("x86-64"), "{text}");
        assert!(output.stdout.is_empty());
    }
}

/// Code that this machine would stop at is not executed, and LLVM's own end is told in our words.
#[test]
fn what_cannot_be_executed_here_is_not_measured() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.ll");
    let measure = |processor: &str, features: &str, body: &str| {
        let attributes = format!("\"target-cpu\"=\"{processor}\" \"target-features\"=\"{features}\"");
        let text = format!(
            "target triple = \"x86_64-pc-linux-gnu\"\n@a = global [64 x i32] zeroinitializer\n\
             declare i32 @llvm.aarch64.crc32b(i32, i32)\n\
             define void @f() {attributes} {{\nentry:\n  br label %l\nl:\n  \
             %i = phi i64 [ 0, %entry ], [ %n, %l ]\n  %p = getelementptr inbounds [64 x i32], ptr @a, i64 0, i64 %i\n  \
             %v = load i32, ptr %p\n  %w = add i32 %v, 1\n  store i32 %w, ptr %p\n  %n = add nuw nsw i64 %i, 1\n  \
             %d = icmp eq i64 %n, 64\n  br i1 %d, label %x, label %l\nx:\n{body}  ret void\n}}\n"
        );
        std::fs::write(&file, text).expect("a file");
        let output = piped(&["explore", &file.display().to_string(), "--measure"], b"");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), text)
    };
    let (code, text) = measure("x86-64", "+sse2", "");
    assert!(code == Some(0) && !text.contains("not measured"), "{text}");
    // Of an extension that was given up, there is no machine.
    for (processor, features, named) in
        [("abacus", "+sse2", "`abacus`"), ("x86-64", "+sse2,+sse4a,+amx-tile,+kl", "kl")]
    {
        let (code, text) = measure(processor, features, "");
        assert!(code == Some(0) && text.contains("not measured") && text.contains(named), "{text}");
        assert!(!text.contains("LLVM ERROR") && !text.contains("not a recognized"), "{text}");
    }
    // Nor is another system's code.
    let text = std::fs::read_to_string(&file).expect("the file").replace("pc-linux-gnu", "pc-windows-msvc");
    std::fs::write(&file, text).expect("a file");
    let output = piped(&["explore", &file.display().to_string(), "--measure"], b"");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("not measured") && text.contains("windows"), "{text}");
    let (code, text) = measure(
        "x86-64",
        "+sse2",
        "  %c = call i32 @llvm.aarch64.crc32b(i32 1, i32 2)\n  store i32 %c, ptr @a\n",
    );
    assert!(code == Some(3) && text.contains("LLVM gives up") && !text.contains("LLVM ERROR"), "{text}");
}

#[test]
fn an_object_file_is_called_what_it_is() {
    for (bytes, what) in [
        (&b"\x7fELF\x02\x01"[..], "an object file"),
        (b"!<arch>\n", "an archive"),
        (b"\x01\x00\xff", "neither text nor bitcode"),
    ] {
        let output = piped(&["opt", "-"], bytes);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn gains_are_positive_numbers() {
    for gain in ["nan", "inf", "0", "-2", "much"] {
        let output = piped(&["opt", "-", &format!("--min-gain={gain}")], LOOP.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{gain}");
    }
}

#[test]
fn the_version_names_its_libraries() {
    let text = String::from_utf8_lossy(&piped(&["--version"], b"").stdout).into_owned();
    assert!(text.starts_with("looptree 0.") && text.contains("LLVM 22."), "{text}");
    let isl = text.split("isl ").nth(1).expect("isl is named");
    assert!(isl.starts_with(|c: char| c.is_ascii_digit()) && isl.trim_end().ends_with("-IMath-32"), "{text}");
}

/// C++ and headers go through clang as their names say.
#[test]
fn sources_are_taken_by_their_names() {
    let place = tempfile::tempdir().expect("a directory");
    let nest = "for (int j = 0; j < 64; j++) for (int i = 0; i < 64; i++) a[i][j] *= 2.0;";
    let c = format!(
        "static inline void f(double a[64][64]) {{ {nest} }}\nvoid g(double a[64][64]) {{ f(a); {nest} }}"
    );
    let cpp = format!(
        "#include <vector>\ntemplate <class T> void f(T (&a)[64][64]) {{ {nest} }}\nvoid g(double (&a)[64][64]) {{ f(a); {nest} }}"
    );
    for (name, text) in [
        ("x.c", &c),
        ("x.h", &c),
        ("x.cpp", &cpp),
        ("x.cc", &cpp),
        ("x.cxx", &cpp),
        ("x.hpp", &cpp),
        ("x.C", &cpp),
    ] {
        let file = place.path().join(name);
        std::fs::write(&file, text).expect("a file");
        let output = piped(&["show", "--what", "regions", &file.display().to_string(), "--", "-Wall"], b"");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("g"),
            "{name}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn opt_applies_a_recipe_and_writes_bitcode_that_it_reads() {
    let files = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| files.path().join(name).display().to_string();
    std::fs::write(path("loop.ll"), LOOP).expect("a file");
    std::fs::write(path("recipe"), "# by four\nunroll(i; 4)\n").expect("a file");
    let (input, recipe, output) = (path("loop.ll"), path("recipe"), path("out.bc"));
    let done = piped(&["opt", &input, "--recipe", &recipe, "-o", &output], b"");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bitcode = std::fs::read(&output).expect("bitcode");
    assert!(bitcode.starts_with(b"BC"));
    let shown = piped(&["show", &output], b"");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("nest @f"));
}

/// C without loops to fuse comes out as text, not as the bitcode that clang made of it.
#[test]
fn fuse_prints_text() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c");
    std::fs::write(&file, "void f(double *a) { for (int i = 0; i < 64; i++) a[i] *= 2.0; }").expect("a file");
    let output = piped(&["fuse", &file.display().to_string()], b"");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && text.contains("define"), "{text}");
}

/// A recipe without sizes.
fn words_of(recipe: &str) -> Vec<&str> {
    recipe
        .split([' ', ',', ';', ')'])
        .filter(|word| word.parse::<i64>().is_err() && !word.is_empty())
        .collect()
}

#[test]
fn explore_writes_json_and_a_directory_of_variants() {
    let files = tempfile::tempdir().expect("a temporary directory");
    let directory = files.path().join("variants");
    let to = directory.display().to_string();
    let gemm = "loop-tree/tests/lt/matmul.lt";
    let arguments =
        ["explore", gemm, "--format", "json", "--top", "3", "--max-variants", "60", "--dump", &to];
    let output = piped(&arguments, b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let regions = json["regions"].as_array().expect("regions");
    assert_eq!(regions.len(), 1, "{json}");
    let variants = regions[0]["variants"].as_array().expect("variants");
    assert_eq!(variants.len(), 3, "{json}");
    // They differ in more than sizes, and keep their ranks.
    let number = |v: &serde_json::Value, name: &str| v[name].as_u64().expect("a number");
    assert!(variants.windows(2).all(|v| number(&v[0], "rank") < number(&v[1], "rank")), "{json}");
    let left_out: u64 = variants.iter().map(|v| number(v, "alike")).sum();
    assert!(number(&variants[2], "rank") <= 2 + left_out, "{json}");
    let kinds: BTreeSet<Vec<&str>> =
        variants.iter().map(|v| words_of(v["recipe"].as_str().expect("text"))).collect();
    assert_eq!(kinds.len(), 3, "{json}");
    let mut names: Vec<String> = Vec::new();
    let mut directories = vec![directory.clone()];
    while let Some(at) = directories.pop() {
        for entry in std::fs::read_dir(at).expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => directories.push(path),
                false => names.push(path.display().to_string()),
            }
        }
    }
    for extension in [".lt", ".ll", ".c", ".json"] {
        assert!(names.iter().any(|n| n.ends_with(extension)), "{extension}: {names:?}");
    }
    for name in names.iter().filter(|n| n.ends_with(".lt")) {
        let run = piped(&["run", name, "--compare"], b"");
        assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        assert!(String::from_utf8_lossy(&run.stdout).contains("equal to the original"), "{name}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_looptree"))
        .args(["run", "loop-tree/tests/lt/matmul.lt", "--trace", "-p", "N=40", "-p", "M=40", "-p", "L=40"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    // Nobody who listens, either.
    for (arguments, code) in [
        (
            &["opt", "bench/kernels/gemm_ijk.c", "-o", "-", "--remarks", "--max-variants", "4", "--timings"]
                [..],
            0,
        ),
        (&["opt", "no/such/file.ll"], 3),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_looptree"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stderr.take());
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

/// Every part that is left alone has a place in the user's own file, words that name what is in the way, and a remedy.
#[test]
fn what_is_left_alone_has_a_place_and_a_remedy() {
    let source = "struct image { float *px; };
static inline float *row(struct image *m, int y) { return m[y].px; }
void rows(struct image *m, int h, int w) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            row(m, y)[x] += 1;
}
int find(const int *a, int n, int what) {
    for (int i = 0; i < n; i++)
        if (a[i] == what)
            return i;
    return -1;
}
void skewed(double (*restrict a)[500]) {
    for (int i = 1; i < 500; i++)
        a[i][0] = a[i - 1][0] * 0.5 + 1;
}
";
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c");
    std::fs::write(&file, source).expect("a file");
    let output = piped(&["opt", &file.display().to_string(), "-o", "/dev/null", "--remarks"], b"");
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|l| l.contains("remark: ")).collect();
    assert!(lines.len() >= 2, "{text}");
    for line in &lines {
        let place = line.split(": remark: ").next().unwrap_or_default();
        assert!(place.contains("x.c:"), "no place: {line}");
        // A reason in words, and with an understood nest what is wanted; else what to change.
        assert!(line.contains("; ") || line.contains("left alone: "), "no remedy: {line}");
        assert!(!line.contains("statements do not have"), "{line}");
    }
    let search = lines.iter().find(|l| l.contains("[control]")).expect("the search is not described");
    assert!(search.contains("x.c:9: ") && search.contains("split the search"), "{search}");
    assert!(text.contains("    9 |     for (int i = 0; i < n; i++)\n       |     ^"), "{text}");
    assert!(lines.iter().any(|l| l.contains("skewed#0: left alone: no ")), "{text}");
}

/// `-fno-unroll-loops` is on every loop, and no wish of the source, whatever order the blocks are written in.
#[test]
fn a_flag_that_is_on_every_loop_is_no_pragma() {
    let function = |name: &str, hint: &str| {
        format!(
            "define void @{name}(ptr %a) {{\nentry:\n  br label %start\nbehind:\n  ret void\nstart:\n  br label %l\nl:\n  \
             %i = phi i64 [ 0, %start ], [ %n, %l ]\n  %p = getelementptr inbounds double, ptr %a, i64 %i\n  \
             store double 1.0, ptr %p\n  %n = add nuw nsw i64 %i, 1\n  %c = icmp eq i64 %n, 900\n  \
             br i1 %c, label %out, label %l{hint}\nout:\n  br label %behind\n}}\n"
        )
    };
    let metadata =
        "!0 = distinct !{!0, !2}\n!1 = distinct !{!1, !2}\n!2 = !{!\"llvm.loop.unroll.disable\"}\n";
    let tree = |hint: &str| {
        let text = [function("f", ", !llvm.loop !0"), function("g", hint), metadata.to_string()].concat();
        let output = piped(&["show", "-", "-f", "f", "--what", "tree"], text.as_bytes());
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let (by_flag, by_pragma) = (tree(", !llvm.loop !1"), tree(""));
    assert!(by_flag.contains("for ") && !by_flag.contains("kept"), "{by_flag}");
    assert!(by_pragma.contains("kept for "), "{by_pragma}");
}

/// What begins with `#` is a variant's number, unless it is a comment with a recipe behind it.
#[test]
fn recipes_may_begin_with_a_comment() {
    let apply = |recipe: &str| {
        let output = piped(&["apply", "tests/lt/skew.lt", "--recipe", recipe], b"");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, text) = apply("# first 2\nskew(i, j; 1)\ninterchange(i)\n");
    assert!(code == Some(0) && text.contains("valid: always"), "{text}");
    let (code, text) = apply("#first");
    assert!(code == Some(2) && text.contains("a variant has a number"), "{text}");
}

/// A function that ends the program for generated inputs is named, and what was found is shown.
#[test]
fn what_refuses_its_inputs_is_said() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c").display().to_string();
    let text = "#include <stdlib.h>
        void columns(int n, double *a) {
            if (n % 32 == 0) abort();
            for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j * n + i] *= 0.5;
        }";
    std::fs::write(&file, text).expect("written");
    let arguments = ["explore", &file, "--measure", "-k", "1", "--param", "n=64", "--target", "znver4"];
    let output = piped(&arguments, b"");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && text.contains("interchange("), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("`columns`, called with (") && words.contains(&"aborts:"), "{text}");
}

/// A cycle of `goto`s says nothing of unrolling, and is no sign that a flag does not speak.
#[test]
fn a_goto_beside_loops_is_no_pragma() {
    let place = tempfile::tempdir().expect("a directory");
    let (source, ir) = (place.path().join("x.c"), place.path().join("x.ll"));
    let text = "double A[500][500]; int f(int);
        void walk(void) { for (int i = 0; i < 500; i++) for (int j = 0; j < 500; j++) A[j][i] *= 0.5; }
        int other(int n) { again: n = f(n); if (n > 3) goto again; return n; }";
    std::fs::write(&source, text).expect("written");
    let flags = ["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o"];
    let compiled = std::process::Command::new("clang-22").args(flags).args([&ir, &source]).status();
    assert!(compiled.expect("clang starts").success());
    let tree = |file: &std::path::Path, flags: &[&str]| {
        let file = file.display().to_string();
        let output = piped(&[&["show", &file, "-f", "walk", "--what", "tree"], flags].concat(), b"");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for tree in [tree(&ir, &[]), tree(&source, &["--", "-O1"]), tree(&source, &["--", "-fno-unroll-loops"])] {
        assert!(tree.contains("for ") && !tree.contains("kept"), "{tree}");
    }
}

/// Where the flags are known, pragmas at all loops of a file are no flag.
#[test]
fn pragmas_at_all_loops_are_obeyed() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("x.c").display().to_string();
    let text = "double A[500][500];
        void walk(void) {
            _Pragma(\"nounroll\") for (int i = 0; i < 500; i++)
                _Pragma(\"nounroll\") for (int j = 0; j < 500; j++) A[j][i] *= 0.5;
        }";
    std::fs::write(&file, text).expect("written");
    let kept = |flags: &[&str]| {
        let output = piped(&[&["show", &file, "--what", "tree"], flags].concat(), b"");
        String::from_utf8_lossy(&output.stdout).matches("kept for").count()
    };
    assert_eq!([kept(&[]), kept(&["--", "-O1", "-funroll-loops"]), kept(&["--", "-O1"])], [2, 2, 0]);
}

/// A plot for each nest, with a mark for each variant.
#[test]
fn plots_are_written() {
    let place = tempfile::tempdir().expect("a directory");
    let output = piped(
        &[
            "explore",
            "loop-tree/tests/lt/matmul.lt",
            "--max-variants",
            "8",
            "--target",
            "znver4",
            "--format",
            "json",
            "--svg",
            &place.path().display().to_string(),
        ],
        b"",
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let variants = document["regions"][0]["variants"].as_array().expect("variants").len();
    let plot = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("a plot");
    let (gains, roofline) = (plot("matmul-0.gains.svg"), plot("matmul-0.roofline.svg"));
    assert_eq!(gains.matches("<rect x=").count(), variants, "{gains}");
    assert_eq!(roofline.matches("<circle").count(), variants, "{roofline}");
    assert!(
        !gains.contains("NaN") && !gains.contains("inf") && !roofline.contains("NaN"),
        "{gains}{roofline}"
    );
}

/// A function of a program in several files is measured: what only the rest needs may be missing, what it needs is given.
#[test]
fn measuring_needs_only_what_the_function_needs() {
    let place = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).expect("a file");
    write(
        "main.c",
        "double weight(double);
         void elsewhere(void);
         extern double table[64][64];
         void kernel(void) {
             for (int j = 0; j < 64; j++) for (int i = 0; i < 64; i++) table[i][j] = table[i][j] * 2.0 + 1.0;
             table[0][0] = weight(table[0][0]);
         }
         int main(void) { elsewhere(); kernel(); return 0; }",
    );
    write("table.c", "double table[64][64];");
    write("weight.c", "double weight(double x) { return SCALE * x; }");
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let mut object = Command::new(clang);
    object.args(["-c", "-O1", "-DSCALE=0.5", "weight.c"]).current_dir(place.path());
    assert!(object.status().expect("clang runs").success());
    let explore = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_looptree"));
        command.args(["explore", "main.c", "-f", "kernel", "--measure", "--top", "2"]).args(arguments);
        let output =
            command.current_dir(place.path()).env("NO_COLOR", "1").output().expect("the command runs");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, text) = explore(&[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("not measured") && text.contains("table") && text.contains("--with"), "{text}");
    assert!(!text.contains("elsewhere"), "{text}");
    for weight in ["weight.o", "weight.c"] {
        let (code, text) = explore(&["--with", "table.c", weight, "--", "-DSCALE=0.5"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(!text.contains("not measured"), "{text}");
    }
    let (code, text) = explore(&["--with", "table.h"]);
    assert_eq!(code, Some(2), "{text}");
    // Twice the same definition.
    let (_, text) = explore(&["--with", "table.c", "table.c", "weight.o"]);
    assert!(text.contains("cannot be linked") && text.contains("table"), "{text}");
}

/// A calibration is written, is what `native` then means, and is named; a damaged one is refused with its line.
#[test]
fn a_calibration_is_used_until_it_is_damaged() {
    let place = tempfile::tempdir().expect("a directory");
    let run = |arguments: &[&str], variable: &str, value: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_looptree"));
        let output =
            command.args(arguments).env("NO_COLOR", "1").env_remove("LOOPTREE_TARGET").env(variable, value);
        let output = output.output().expect("the command runs");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let kernel = "loop-tree/tests/lt/matmul.lt";
    let explore = ["explore", kernel, "--max-variants", "5", "--format", "json"];
    let machine = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).expect("JSON");
        json["machine"].as_str().expect("a name").to_string()
    };
    let cache = place.path().join("cache");
    let (code, text) = run(&explore, "XDG_CACHE_HOME", &cache);
    assert_eq!(code, Some(0), "{text}");
    assert!(machine(&text).contains("table"), "{text}");
    let (code, text) = run(&["calibrate"], "XDG_CACHE_HOME", &cache);
    // A loaded machine may give numbers that are none.
    if code == Some(1) && text.contains("measure again") {
        return;
    }
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("frequency") && text.contains("closest table"), "{text}");
    let (code, text) = run(&explore, "XDG_CACHE_HOME", &cache);
    assert_eq!(code, Some(0), "{text}");
    assert!(machine(&text).ends_with(", calibrated"), "{text}");

    let files: Vec<_> = std::fs::read_dir(cache.join("looptree")).expect("a directory").collect();
    let file = files[0].as_ref().expect("a file").path();
    let whole = std::fs::read_to_string(&file).expect("text");
    let named = ["explore", kernel, "--max-variants", "5", "--target", file.to_str().expect("a name")];
    assert_eq!(run(&named, "X", &cache).0, Some(0));
    let damaged = whole.replacen("\"issue_width\": ", "\"issue_width\": -", 1);
    let line = damaged.lines().position(|l| l.contains("issue_width")).expect("a line") + 1;
    std::fs::write(&file, damaged).expect("a file");
    for (variable, value) in [("XDG_CACHE_HOME", &cache), ("LOOPTREE_TARGET", &file)] {
        let (code, text) = run(&explore, variable, value);
        assert_eq!(code, Some(2), "{text}");
        let flat = text.split_whitespace().filter(|w| *w != "│").collect::<String>();
        assert!(flat.contains(&format!(".json:{line}:issue_width")), "{text}");
        assert!(text.contains("looptree calibrate"), "{text}");
    }
}
