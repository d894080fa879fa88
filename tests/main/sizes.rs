//! Inputs far larger than programs have: the command ends in time, within memory, with a result or an error that says why;
//! what it writes verifies and computes the same.
//!
//! Bounds are several times what is needed on a slow machine in a debug build: they catch what grows faster than the input,
//! and what does not end.

use std::fmt::Write;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time of one run of the command.
const TIME: Duration = Duration::from_secs(90);
/// Peak of its memory in use, in MiB; of these, 60 are LLVM's library.
const MEMORY: i64 = 512;
/// Addresses that it may map, in bytes: a guard for the machine, not what is tested.
const ADDRESSES: u64 = 16 << 30;

struct Ended {
    code: Option<i32>,
    stderr: String,
    time: Duration,
}

/// Runs a program within the bounds.
#[track_caller]
fn bounded(mut command: Command) -> Ended {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    command.env("NO_COLOR", "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // SAFETY: between fork and exec there is only the one system call.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: ADDRESSES, rlim_max: ADDRESSES };
            match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let begin = Instant::now();
    #[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
    let mut child = command.spawn().expect("the command starts");
    let id = i32::try_from(child.id()).expect("a process");
    let mut stream = child.stderr.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).map(|_| text)
    });
    let (mut status, mut late) = (0, false);
    // SAFETY: plain data.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: the child is waited for here only; both places are live.
        match unsafe { libc::wait4(id, &raw mut status, libc::WNOHANG, &raw mut usage) } {
            0 if begin.elapsed() > TIME && !late => {
                late = true;
                child.kill().expect("a process that runs");
            }
            0 => std::thread::sleep(Duration::from_millis(2)),
            ended => {
                assert_eq!(ended, id);
                break;
            }
        }
    }
    let time = begin.elapsed();
    let stderr = reader.join().expect("no panic").expect("UTF-8");
    let said = stderr.chars().take(2000).collect::<String>();
    assert!(!late, "{command:?} takes more than {TIME:?}: {said}");
    let status = std::process::ExitStatus::from_raw(status);
    assert!(status.code().is_some(), "{command:?} dies: {status}: {said}");
    assert!(!stderr.contains("panicked"), "{said}");
    let memory = usage.ru_maxrss >> 10;
    println!("{time:.1?}, {memory} MiB: {command:?}");
    assert!(memory <= MEMORY, "{command:?} takes {memory} MiB");
    Ended { code: status.code(), stderr, time }
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Files(tempfile::tempdir().expect("a temporary directory"))
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn with(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).expect("a file");
        self.path(name)
    }
}

fn looptree(arguments: &[&str], file: &PathBuf) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_looptree"));
    command.arg(arguments[0]).arg(file).args(&arguments[1..]);
    command
}

fn clang(arguments: &[&str], input: &PathBuf, output: &PathBuf) {
    let done = Command::new("clang-22").args(arguments).arg("-w").arg(input).arg("-o").arg(output).output();
    let done = done.expect("clang-22");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn output(program: &PathBuf) -> Vec<u8> {
    let done = Command::new(program).output().expect("a program");
    assert!(done.status.success(), "{program:?}: {}", done.status);
    assert!(!done.stdout.is_empty());
    done.stdout
}

/// Optimizes IR; the remarks. What is written verifies.
#[track_caller]
fn optimize(files: &Files, ir: &PathBuf) -> String {
    let out = files.path("out.ll");
    let out_name = out.display().to_string();
    // Any gain is enough, so that there is something to be wrong.
    let ended = bounded(looptree(&["opt", "-o", &out_name, "--remarks", "--min-gain", "1.01"], ir));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // Verified by another process than the one that wrote it.
    clang(&["-c", "-O0", "-emit-llvm"], &out, &files.path("out.bc"));
    ended.stderr
}

/// Optimizes C with a `main` that prints what was computed; the remarks. The program prints the same.
#[track_caller]
fn computes_the_same(c: &str) -> String {
    let files = Files::new();
    let source = files.with("in.c", c);
    let ir = files.path("in.ll");
    clang(&["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"], &source, &ir);
    let remarks = optimize(&files, &ir);
    let (before, after) = (files.path("before"), files.path("after"));
    clang(&["-O0"], &ir, &before);
    clang(&["-O0"], &files.path("out.ll"), &after);
    assert_eq!(output(&before), output(&after), "{remarks}");
    remarks
}

/// The same for IR, which is not executed.
#[track_caller]
fn ir(text: &str) -> String {
    let files = Files::new();
    let file = files.with("in.ll", text);
    optimize(&files, &file)
}

/// A tree that is refused with these words by all that read it.
#[track_caller]
fn refused(text: &str, word: &str) {
    let files = Files::new();
    let file = files.with("in.lt", text);
    for command in ["show", "explore", "run"] {
        let ended = bounded(looptree(&[command], &file));
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
        assert!(ended.stderr.len() < 20_000, "the message has {} bytes", ended.stderr.len());
    }
}

/// One line for each number.
fn lines(numbers: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    numbers.map(|k| line(k) + "\n").collect()
}

const CHECKSUM: &str = "#include <stdio.h>\n\
    static double sum(const double *x, long n) { double s = 0; for (long i = 0; i < n; i++) s = s * 0.5 + x[i]; return s; }\n";

/// A nest that computes; subscripts are sums of up to ten variables.
fn nest(depth: usize, n: usize) -> String {
    let mut c = format!("{CHECKSUM}void f(int n, double *a, const double *b) {{\n");
    c += &lines(0..depth, |k| format!("for (int i{k} = 0; i{k} < n; i{k}++)"));
    let sum = |from: usize| {
        (from..depth).step_by(2).take(10).map(|k| format!("i{k}")).collect::<Vec<_>>().join("+")
    };
    let _ = writeln!(c, "a[{}] += b[{}];\n}}", sum(0), sum(1));
    c + &format!(
        "double a[500], b[500];\nint main(void) {{ for (int i = 0; i < 500; i++) b[i] = i + 1; f({n}, a, b); \
         printf(\"%a\\n\", sum(a, 500)); }}\n"
    )
}

#[test]
fn a_nest_of_depth_20() {
    let remarks = computes_the_same(&nest(20, 2));
    assert!(remarks.contains("f#0"), "{remarks}");
}

#[test]
fn a_nest_of_depth_100() {
    // Nothing says that it is over in no time.
    let program = nest(100, 1).replace("f(1, a, b)", "volatile int n = 1; f(n, a, b)");
    let remarks = computes_the_same(&program);
    assert!(remarks.contains("100 deep"), "{remarks}");
}

#[test]
fn a_tree_of_depth_190() {
    let files = Files::new();
    let loops: String = (0..190).map(|k| format!("for i{k} in 0..N {{ ")).collect();
    let text =
        format!("nest @f[N] {{\n array A: f64[N]\n {loops} S: A[i1] = A[i0] + 1.0 {} }}\n", "}".repeat(190));
    let file = files.with("in.lt", &text);
    assert_eq!(bounded(looptree(&["show"], &file)).code, Some(0));
    assert_eq!(bounded(looptree(&["run", "--default-param", "1"], &file)).code, Some(0));
    let ended = bounded(looptree(&["explore"], &file));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("190 deep"), "{}", ended.stderr);
}

#[test]
fn a_loop_around_10_000_statements() {
    let mut c = format!("{CHECKSUM}void f(int n, double *restrict a, const double *restrict b) {{\n");
    c += "for (int i = 0; i < n; i++) {\n";
    c += &lines(0..10_000, |k| format!("a[{k} * (long)n + i] = b[i] * {k}.5;"));
    c += "}}\nstatic double a[20000], b[2] = {3, 5};\n\
          int main(void) { f(2, a, b); printf(\"%a\\n\", sum(a, 20000)); }\n";
    let remarks = computes_the_same(&c);
    assert!(remarks.contains("more than 1000 loads and stores"), "{remarks}");
}

#[test]
fn a_tree_of_10_000_statements() {
    let files = Files::new();
    let statements: String =
        (0..10_000).map(|k| format!("S{k}: A[{k}, i] = A[{}, i] + 1.0\n", k + 1)).collect();
    let text = format!("nest @f[N] {{\n array A: f64[10001, N]\n for i in 0..N {{\n{statements}}} }}\n");
    let file = files.with("in.lt", &text);
    assert_eq!(bounded(looptree(&["show"], &file)).code, Some(0));
    assert_eq!(bounded(looptree(&["run"], &file)).code, Some(0));
    let ended = bounded(looptree(&["explore"], &file));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("pairs of accesses"), "{}", ended.stderr);
}

#[test]
fn straight_line_code_of_10_000_statements() {
    let mut c = format!("{CHECKSUM}void f(double *a, const double *b) {{\n");
    c += &lines(0..10_000, |k| format!("a[{k}] = b[{}] * {k}.5;", k * 7 % 10_000));
    c += "}\nstatic double a[10000], b[10000];\n\
          int main(void) { for (int i = 0; i < 10000; i++) b[i] = i; f(a, b); printf(\"%a\\n\", sum(a, 10000)); }\n";
    computes_the_same(&c);
}

#[test]
fn loops_side_by_side() {
    let mut c = format!("{CHECKSUM}void f(int n, double *a, const double *b) {{\n");
    c += &lines(0..1000, |k| format!("for (int i = 0; i < n; i++) a[{k} * (long)n + i] = b[i] * {k}.5;"));
    c += "}\nstatic double a[3000], b[3] = {3, 5, 7};\n\
          int main(void) { f(3, a, b); printf(\"%a\\n\", sum(a, 3000)); }\n";
    let remarks = computes_the_same(&c);
    assert!(remarks.contains("pairs of accesses"), "{remarks}");
}

/// What is in the way is found once, not again for each loop behind it.
#[test]
fn loops_that_cannot_be_described() {
    const VOLATILE: &str = "for (int i = 0; i < n; i++) *(volatile double *)&a[x[i]] += b[i];";
    let main = "static double a[9000], b[3] = {3, 5, 7};\nstatic int x[3] = {2, 0, 2};\n\
                int main(void) { f(3, a, b, x); printf(\"%a\\n\", sum(a, 9000)); }\n";
    let function = |body: String| {
        format!("{CHECKSUM}void f(int n, double *a, const double *b, const int *x) {{\n{body}}}\n{main}")
    };
    let remarks = computes_the_same(&function(lines(0..400, |_| VOLATILE.to_string())));
    assert!(remarks.contains("[volatile]"), "{remarks}");
    // One among others.
    let remarks = computes_the_same(&function(lines(0..400, |k| match k {
        200 => VOLATILE.to_string(),
        _ => format!("for (int i = 0; i < n; i++) a[{k} * (long)n + i] = b[i] * {k}.5;"),
    })));
    assert!(remarks.contains("[volatile]") && remarks.contains("f#1"), "{remarks}");
}

#[test]
fn functions_1_000() {
    let mut c = CHECKSUM.to_string();
    for k in 0..1000 {
        let _ = writeln!(
            c,
            "void f{k}(int n, double *a, const double *b) {{ for (int i = 0; i < n; i++) a[i] += b[i] * {k}.5; }}"
        );
    }
    c += "static double a[9], b[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\nint main(void) {\n";
    c += &lines(0..1000, |k| format!("f{k}({}, a, b);", k % 10));
    c += "printf(\"%a\\n\", sum(a, 9)); }\n";
    let remarks = computes_the_same(&c);
    assert!(remarks.contains("f999#0"), "{remarks}");
}

#[test]
fn text_nested_100_000_deep() {
    const DEPTH: usize = 100_000;
    let nested = |open: &str, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    let block = |body: String| format!("nest @f[N] {{\n array A: f64[N]\n scalar s: f64\n {body}\n}}\n");
    let too_deep = "nested more than 200 deep";
    for text in [
        block(nested("for i in 0..N { ", "S: s = 1.0", " }")),
        block(nested("if N >= 1 { ", "S: s = 1.0", " }")),
        block(format!("S: s = 1.0 variant {{ {} }}", nested("let i = N { ", "S", " }"))),
        block(format!("S: s = {}", nested("(", "1.0", ")"))),
        block(format!("S: s = {}", nested("-", "1.0", ""))),
        block(format!("S: A[{}] = 1.0", nested("(", "N", ")"))),
        block(format!("if {} {{ S: s = 1.0 }}", nested("(", "N >= 1", ")"))),
        block(format!("S: s = {}", nested("max(0.0, ", "s", ")"))),
        block(format!("for i in 0..{} {{ S: s = 1.0 }}", nested("floor((", "N", ")/2)"))),
    ] {
        refused(&text, too_deep);
    }
    refused(&block(format!("S: s = s{}", " + s".repeat(DEPTH))), "too long");
}

#[test]
fn a_phi_of_10_000_ways() {
    const WAYS: usize = 10_000;
    let ways = |value: &str| {
        let (mut cases, mut blocks, mut phi) = (String::new(), String::new(), String::new());
        for k in 0..WAYS {
            let _ = writeln!(cases, "i32 {k}, label %b{k}");
            let _ = writeln!(blocks, "b{k}:\n %v{k} = mul i32 {value}, {k}\n br label %m");
            let _ = write!(phi, ", [%v{k}, %b{k}]");
        }
        format!(
            "switch i32 {value}, label %d [\n{cases}]\n{blocks}d:\n br label %m\nm:\n %p = phi i32 [0, %d]{phi}\n"
        )
    };
    // In front of a loop, and inside of it.
    let front = format!(
        "define void @f(i32 %x, ptr %a, i64 %n) {{\nentry:\n {}br label %l\nl:\n %i = phi i64 [0, %m], [%j, %l]\n",
        ways("%x")
    );
    let body = "%q = getelementptr i32, ptr %a, i64 %i\n store i32 %p, ptr %q\n %j = add nsw i64 %i, 1\n \
                %c = icmp slt i64 %j, %n\n br i1 %c, label %l, label %e\ne:\n ret void\n}\n";
    ir(&format!("{front}{body}"));
    let inside = format!(
        "define void @f(ptr %s, ptr %a, i64 %n) {{\nentry:\n br label %l\nl:\n %i = phi i64 [0, %entry], [%j, %m]\n \
         %w = getelementptr i32, ptr %s, i64 %i\n %x = load i32, ptr %w\n {}",
        ways("%x")
    );
    ir(&format!("{inside}{body}"));
}

/// Conditions one behind the other, two blocks each.
fn diamonds(count: usize) -> String {
    let mut text = String::new();
    for k in 0..count {
        let _ = writeln!(
            text,
            "h{k}:\n %p{k} = getelementptr i64, ptr %a, i64 {k}\n %x{k} = load i64, ptr %p{k}\n \
             %c{k} = icmp sgt i64 %x{k}, %n\n br i1 %c{k}, label %t{k}, label %h{next}\nt{k}:\n \
             store i64 %n, ptr %p{k}\n br label %h{next}",
            next = k + 1
        );
    }
    text + &format!("h{count}:\n")
}

#[test]
fn a_function_of_100_000_blocks() {
    let blocks = diamonds(50_000);
    ir(&format!("define void @f(ptr %a, i64 %n) {{\nentry:\n br label %h0\n{blocks} ret void\n}}\n"));
}

#[test]
fn a_loop_of_20_000_blocks() {
    let blocks = diamonds(10_000);
    let remarks = ir(&format!(
        "define void @f(ptr %a, i64 %n) {{\nentry:\n br label %l\nl:\n %i = phi i64 [0, %entry], [%j, %h10000]\n \
         br label %h0\n{blocks} %j = add nsw i64 %i, 1\n %c = icmp slt i64 %j, %n\n br i1 %c, label %l, label %e\n\
         e:\n ret void\n}}\n"
    ));
    assert!(remarks.contains("more than 1000 loads and stores"), "{remarks}");
}

#[test]
fn an_array_of_2_to_the_62_elements() {
    ir("@g = external global [4611686018427387904 x i8]
define void @f(i64 %n) {
entry:
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %i1, %o ]
  br label %m
m:
  %j = phi i64 [ 0, %l ], [ %j1, %m ]
  %p = getelementptr inbounds [4611686018427387904 x i8], ptr @g, i64 0, i64 %j
  %q = getelementptr inbounds i8, ptr %p, i64 %i
  %v = load i8, ptr %q
  %w = add i8 %v, 1
  store i8 %w, ptr %q
  %j1 = add nsw i64 %j, 1
  %c = icmp slt i64 %j1, 4611686018427387904
  br i1 %c, label %m, label %o
o:
  %i1 = add nsw i64 %i, 1
  %c1 = icmp slt i64 %i1, %n
  br i1 %c1, label %l, label %e
e:
  ret void
}
");
    let files = Files::new();
    let file = files.with(
        "in.lt",
        "nest @f[N] {
  array A: f64[4611686018427387904, 9223372036854775807]
  for i in 0..4611686018427387904 { for j in 0..9223372036854775807 { S: A[i, j] = A[j, i] * 2.0 } }
}
",
    );
    for command in ["show", "explore"] {
        assert_eq!(bounded(looptree(&[command], &file)).code, Some(0));
    }
    let ended = bounded(looptree(&["run"], &file));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
}

#[test]
fn constants_at_the_edges_of_64_bits() {
    let c = format!(
        "{CHECKSUM}#include <stdint.h>
void last(long n, double *a) {{ for (long i = INT64_MAX - 9; i < INT64_MAX; i++) for (long j = 0; j < n; j++)
  a[(INT64_MAX - 1 - i) + 10 * j] += j; }}
void first(long n, double *a) {{ for (long i = INT64_MIN; i < INT64_MIN + 10; i++) for (long j = 0; j < n; j++)
  a[(i - INT64_MIN) + 10 * j] *= 3; }}
void down(long n, double *a) {{ for (long i = INT64_MIN + 9; i > INT64_MIN; i--) for (long j = 0; j < n; j++)
  a[(i - INT64_MIN) + 10 * j] += 5; }}
void wraps(uint64_t n, double *a) {{ for (uint64_t i = UINT64_MAX - 3; i != 5; i++) for (uint64_t j = 0; j < n; j++)
  a[(i + 4) + 10 * j] -= 7; }}
void large(long n, double *a) {{ for (long i = 0; i < n; i++) for (long j = 0; j < 10; j++)
  a[(INT64_MAX - j) - (INT64_MAX - 10 * i - 9)] += 11; }}
void strides(long n, double *a) {{ for (uint64_t i = 0; i < (uint64_t)n; i++) for (uint64_t j = 0; j < 10; j++)
  a[i * (uint64_t)INT64_MIN * 2 + i * 10 + j] += 13; }}
void steps(long n, double *a) {{ for (long i = -INT64_MAX; i < INT64_MAX - INT64_MAX / 2; i += INT64_MAX / 2)
  for (long j = 0; j < n; j++) a[(i + INT64_MAX) / (INT64_MAX / 2) + 10 * j] += 17; }}
void values(long n, long *a) {{ for (long j = 0; j < 10; j++) for (long i = 0; i < n; i++)
  a[10 * i + j] = (a[10 * i + j] ^ INT64_MIN) + (i == 0 ? INT64_MAX : 0); }}
void none(long n, double *a) {{ for (long i = INT64_MAX; i < INT64_MIN + n; i++) a[i] = 1; }}
static double a[100];
static long b[100];
int main(void) {{
  last(10, a); first(10, a); down(10, a); wraps(10, a); large(10, a); strides(10, a); steps(10, a); none(3, a);
  last(0, a); first(-1, a); down(INT64_MIN, a); wraps(0, a); large(INT64_MIN, a);
  values(10, b); values(0, b);
  for (int i = 0; i < 100; i++) printf(\"%a %ld\\n\", a[i], b[i]);
  printf(\"%a\\n\", sum(a, 100));
}}
"
    );
    computes_the_same(&c);
    refused(
        "nest @f[N] {\n scalar s: i64\n for i in -9223372036854775809..N { S: s = 1 }\n}\n",
        "does not fit",
    );
    let files = Files::new();
    let file = files.with(
        "in.lt",
        "nest @f[N] {
  array A: i64[?, N]
  for i in 0..4611686018427387903 { for j in -4611686018427387903..N {
    S: A[4611686018427387903*i + 4611686018427387903*N, 4611686018427387903*j - 4611686018427387903] = 1
  } }
}
",
    );
    for command in ["show", "explore"] {
        assert_eq!(bounded(looptree(&[command], &file)).code, Some(0));
    }
}

/// Large files take no longer than in clang, by far: `cargo test --release --test main sizes -- --ignored --nocapture`.
#[test]
#[ignore = "minutes: clang takes long for such files"]
fn not_slower_than_clang() {
    let mut loops = "void f(int n, double *a, const double *b) {\n".to_string();
    loops += &lines(0..500, |k| format!("for (int i = 0; i < n; i++) a[{k} * (long)n + i] = b[i] * {k}.5;"));
    let mut body =
        "void f(int n, double *restrict a, const double *restrict b) {\nfor (int i = 0; i < n; i++) {\n"
            .to_string();
    body += &lines(0..2000, |k| format!("a[{k} * (long)n + i] = b[i] * {k}.5;"));
    let straight: String =
        (0..10_000).map(|k| format!("a[{k}] = b[{}] * {k}.5;\n", k * 7 % 10_000)).collect();
    let functions: String = (0..1000)
        .map(|k| format!("void f{k}(int n, double *a, double *b) {{ for (int i = 0; i < n; i++) a[i] = b[i] * {k}; }}\n"))
        .collect();
    for (name, c) in [
        ("loops", loops + "}\n"),
        ("body", body + "}}\n"),
        ("straight", format!("void f(double *a, const double *b) {{\n{straight}}}\n")),
        ("functions", functions),
    ] {
        let files = Files::new();
        let source = files.with("in.c", &c);
        let file = files.path("in.ll");
        clang(&["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"], &source, &file);
        let begin = Instant::now();
        clang(&["-O3", "-c"], &file, &files.path("out.o"));
        let theirs = begin.elapsed();
        let ours = bounded(looptree(&["opt", "-o", "/dev/null"], &file)).time;
        println!("{name}: {ours:.1?}, clang -O3 {theirs:.1?}");
        assert!(ours < theirs + Duration::from_secs(1), "{name}: {ours:.1?}, clang -O3 {theirs:.1?}");
    }
}
