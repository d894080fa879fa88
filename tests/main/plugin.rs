//! The plugin inside of clang and opt, and the compiler command: programs are compiled with and without it and executed.

mod guessed;
mod programs;
mod surroundings;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Cargo builds the shared library beside the test executables, as a dependency of the tests.
fn plugin() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let plugin = test.parent().expect("a directory").join("liblooptree_plugin.so");
    assert!(plugin.is_file(), "{} was not built", plugin.display());
    plugin
}

fn clang() -> String {
    std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string())
}

/// A directory with programs in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let place = Place(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            std::fs::write(place.0.path().join(name), text).expect("a file");
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.0.path()).env_remove("LOOPTREE").env("NO_COLOR", "1");
        // The same predictions on every machine.
        command.env_remove("LOOPTREE_TARGET").env("XDG_CACHE_HOME", self.0.path());
        command
    }

    #[track_caller]
    fn run(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> String {
        succeeds(self.command(program, arguments).output().expect("the program starts"))
    }

    /// clang with the plugin.
    fn plugged(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(clang(), &[]);
        command.arg(format!("-fpass-plugin={}", plugin().display())).args(arguments);
        command
    }

    /// `looptree cc` or `looptree c++`.
    fn driver(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_looptree"), arguments);
        command.env("LOOPTREE_PLUGIN", plugin());
        command
    }
}

/// Both streams of a command that succeeds.
#[track_caller]
fn succeeds(output: Output) -> String {
    let text = both(&output);
    assert!(output.status.success(), "{}: {text}", output.status);
    text
}

fn both(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[track_caller]
fn plugged(place: &Place, arguments: &[&str]) -> String {
    succeeds(place.plugged(arguments).output().expect("clang starts"))
}

/// A product in the worst order, a walk along columns under possible overlap, and a loop that is not understood.
const PROGRAM: &str = r#"#include <stdio.h>
#define N 96
static double A[N][N], B[N][N], C[N][N];

void product(void) {
    for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                C[i][j] += A[i][k] * B[k][j];
}

void columns(int n, double *restrict to, const double *restrict from) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            to[i * N + j] = to[i * N + j] * 0.5 + from[i * N + j];
}

int length(const char *text) {
    int n = 0;
    while (text[n])
        n++;
    return n;
}

int main(int argc, char **argv) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 7 + j * 3) % 11 * 0.125;
            B[i][j] = (i + j * 5) % 13 * 0.25;
        }
    product();
    columns(N, &C[0][0], &A[0][0]);
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = sum * 0.75 + C[i][j];
    printf("%a %d\n", sum, length(argv[0]) > 0);
    return 0;
}
"#;

#[test]
fn a_program_is_changed_and_computes_the_same() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    place.run(clang(), &["-O3", "-march=x86-64-v3", "x.c", "-o", "plain"]);
    let text = plugged(
        &place,
        &[
            "-O3",
            "-march=x86-64-v3",
            "-Rpass=looptree",
            "-Rpass-missed=looptree",
            "-Rpass-analysis=looptree",
            "x.c",
            "-o",
            "changed",
        ],
    );
    for nest in ["product#0", "columns#0"] {
        assert!(
            text.lines().any(|line| {
                line.contains(&format!("remark: {nest}: "))
                    && line.contains("(predicted ")
                    && line.ends_with("[-Rpass=looptree]")
            }),
            "{nest} is changed: {text}"
        );
    }
    assert!(
        text.contains("remark: main#0: left alone: ") && text.contains("[-Rpass-missed=looptree]"),
        "{text}"
    );
    assert!(
        text.contains("x.c:20:5: remark: the number of iterations")
            && text.contains("[-Rpass-analysis=looptree]"),
        "{text}"
    );
    assert_ne!(place.read("plain"), place.read("changed"));
    assert_eq!(place.run(place.path("plain"), &[]), place.run(place.path("changed"), &[]));
}

/// clang discards names, so that nothing makes them different.
#[test]
fn text_of_changed_code_can_be_read_again() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    let text = ["-O3", "-march=x86-64-v3", "-S", "-emit-llvm", "x.c", "-o", "x.ll"];
    plugged(&place, &[&text[..], &["-fdiscard-value-names"]].concat());
    place.run(clang(), &["-O1", "-w", "x.ll", "-o", "changed"]);
    place.run(clang(), &["-O1", "x.c", "-o", "plain"]);
    assert_eq!(place.run(place.path("plain"), &[]), place.run(place.path("changed"), &[]));
}

/// Fields that only static pointers lead to, one function that changes, and one that clang makes vectors of for knowing that.
const FIELDS: &str = r#"#include <stdlib.h>
#define N 40
typedef double five[N][N][5];
static five *u, *v;
static double (*w)[N][N];
static int n, traced;
void trace(int);

int make(void) {
    n = N;
    u = malloc(N * sizeof *u), v = malloc(N * sizeof *v), w = malloc(N * sizeof *w);
    return u && v && w;
}

void first(void) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                w[k][j][i] = 1.0 / u[k][j][i][0];
    if (traced)
        trace(1);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            w[k][j][0] = u[k][j][0][0];
}

void second(void) {
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                for (int m = 0; m < 5; m++)
                    v[k][j][i][m] = v[k][j][i][m] + u[k][j][i][m];
}
"#;

#[test]
fn loops_that_stay_keep_what_clang_knows_of_them() {
    let place = Place::new(&[("x.c", FIELDS)]);
    let arguments = ["-O3", "-march=x86-64-v3", "-Rpass=(looptree|slp-vectorizer)", "-c", "x.c"];
    let vectors = "x.c:32:35: remark: Stores SLP vectorized";
    assert!(place.run(clang(), &arguments).contains(vectors), "clang makes no vectors there any more");
    let mut command = place.plugged(&arguments);
    command.env("LOOPTREE", "function=first,target=x86_64_avx2");
    let text = succeeds(command.output().expect("clang starts"));
    assert!(text.contains("remark: first#0: ") && text.contains(vectors), "{text}");
}

#[test]
fn debug_information_and_every_level_are_taken() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    place.run(clang(), &["-O1", "x.c", "-o", "plain"]);
    let expected = place.run(place.path("plain"), &[]);
    for flags in [
        &["-O1"][..],
        &["-O2", "-g"],
        &["-O3", "-g", "-fsanitize=undefined", "-fsanitize-trap=all"],
        &["-O3", "-gsplit-dwarf", "-fPIC"],
    ] {
        let text = plugged(&place, &[flags, &["-Rpass=looptree", "x.c", "-o", "changed"]].concat());
        // Checks in loops may end the program, which keeps everything in its place.
        let checked = flags.contains(&"-fsanitize=undefined");
        assert!(checked || text.contains("remark: product#0: "), "{flags:?}: {text}");
        assert_eq!(place.run(place.path("changed"), &[]), expected, "{flags:?}");
    }
}

/// What is done does not depend on whether anybody listens; what is left alone without a search is told of.
#[test]
fn remarks_change_nothing() {
    let more = include_str!("../lift/one_order.c");
    let place = Place::new(&[("x.c", PROGRAM), ("y.c", more)]);
    for file in ["x.c", "y.c"] {
        plugged(&place, &["-O3", "-c", file, "-o", "quiet.o"]);
        let wanted = ["-Rpass=looptree", "-Rpass-missed=looptree", "-Rpass-analysis=looptree"];
        let text = plugged(&place, &[&["-O3", "-c", file, "-o", "told.o"], &wanted[..]].concat());
        assert_eq!(place.read("quiet.o"), place.read("told.o"), "{file}: {text}");
        let told = text.contains("remark: alone_scale#0: left alone: no other order improves");
        assert_eq!(told, file == "y.c", "{text}");
    }
}

#[test]
fn what_asks_not_to_be_changed_is_not_changed() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    for flags in [&["-O0"][..], &["-O0", "-g"], &["-Os"], &["-Oz"]] {
        let flags = [flags, &["-c", "x.c", "-o"]].concat();
        place.run(clang(), &[&flags[..], &["plain.o"]].concat());
        plugged(&place, &[&flags[..], &["changed.o"]].concat());
        assert_eq!(place.read("plain.o"), place.read("changed.o"), "{flags:?}");
    }
    place.run(clang(), &["-O3", "-c", "x.c", "-o", "plain.o"]);
    let off = place.plugged(&["-O3", "-c", "x.c", "-o", "changed.o"]).env("LOOPTREE", "off").output();
    succeeds(off.expect("clang starts"));
    assert_eq!(place.read("plain.o"), place.read("changed.o"));
    // Functions in which nothing changes are the same, down to the order of their uses.
    plugged(&place, &["-O3", "-c", "x.c", "-o", "changed.o", "-mllvm", "-looptree=min-gain=1000"]);
    assert_eq!(place.read("plain.o"), place.read("changed.o"));
}

/// Of a function in LLVM IR, whether it multiplies vectors.
fn multiplies_vectors(ir: &str, function: &str) -> bool {
    let start = ir.find(&format!("@{function}(")).expect("the function is defined");
    let end = start + ir[start..].find("\n}").expect("it ends");
    ir[start..end].lines().any(|line| line.contains("fmul <"))
}

/// Pragmas at all loops are told from the flag that puts the same on all of them.
#[test]
fn a_flag_is_known_from_pragmas() {
    let source = |pragma: &str| {
        format!(
            "double A[500][500]; int f(int);
            void walk(void) {{
                {pragma} for (int i = 0; i < 500; i++)
                    {pragma} for (int j = 0; j < 500; j++) A[j][i] *= 0.5;
            }}
            int other(int n) {{ again: n = f(n); if (n > 3) goto again; return n; }}"
        )
    };
    let said = |pragma: &str, flags: &[&str]| {
        let place = Place::new(&[("x.c", &source(pragma))]);
        plugged(&place, &[flags, &["-Rpass=looptree", "-c", "x.c", "-o", "x.o"]].concat())
    };
    let pragma = "_Pragma(\"nounroll\")";
    for flags in [&["-O3"][..], &["-O1", "-funroll-loops"]] {
        assert!(!said(pragma, flags).contains("unroll_and_jam"), "{flags:?}");
    }
    for (pragma, flags) in [("", &["-O1"][..]), ("", &["-O3", "-fno-unroll-loops"]), (pragma, &["-O1"])] {
        assert!(said(pragma, flags).contains("unroll_and_jam"), "{flags:?}");
    }
}

/// A loop with `disable` stays a loop, of which LLVM is told the same; the nest around changes as others do.
#[test]
fn pragmas_are_obeyed() {
    let source = |pragma: &str| {
        format!(
            "double A[500][500];
            void walk(void) {{
                #pragma clang loop {pragma}
                for (int i = 0; i < 500; i++)
                    for (int j = 0; j < 500; j++)
                        A[j][i] = A[j][i] * 0.5;
            }}"
        )
    };
    let compiled = |pragma: &str| {
        let place = Place::new(&[("x.c", &source(pragma))]);
        let flags = ["-O3", "-Rpass=looptree", "-Rpass-missed=looptree", "-Rpass-analysis=looptree"];
        let said = plugged(&place, &[&flags[..], &["-S", "-emit-llvm", "x.c", "-o", "x.ll"]].concat());
        (said, String::from_utf8(place.read("x.ll")).expect("text"))
    };
    let (said, ir) = compiled("pipeline(disable)");
    assert!(said.contains("walk#0: ") && multiplies_vectors(&ir, "walk"), "{said}");
    for pragma in ["vectorize(disable)", "vectorize(disable) unroll(disable)"] {
        let (said, ir) = compiled(pragma);
        assert!(said.contains("walk#0: interchange("), "{said}");
        assert!(!multiplies_vectors(&ir, "walk"), "{pragma}: {ir}");
    }
    // Nor are tiles unrolled, of which LLVM would make vectors.
    let columns = "double A[100][100], B[100][100], C[100];
        void walk(void) {
            #pragma clang loop vectorize(disable)
            for (int i = 0; i < 96; i++)
                #pragma clang loop vectorize(disable)
                for (int j = 0; j < 96; j++) {
                    A[j][i] *= 0.5;
                    B[j][i] += C[i];
                }
        }";
    let recipe =
        "__attribute__((annotate(\"looptree: interchange(i); tile(@, @0; 128, 16; full)\"))) void walk";
    let place = Place::new(&[("x.c", &columns.replace("void walk", recipe))]);
    let flags = ["-O3", "-march=x86-64-v3", "-Rpass=looptree", "-S", "-emit-llvm", "x.c", "-o", "x.ll"];
    let said = plugged(&place, &flags);
    let ir = String::from_utf8(place.read("x.ll")).expect("text");
    assert!(said.contains("tile(") && !multiplies_vectors(&ir, "walk"), "{said}{ir}");
    // What has no recipe, and cannot be handed on, leaves the nest to LLVM.
    let (said, _) = compiled("vectorize_predicate(enable)");
    let stays = "a pragma asks for `vectorize.predicate.enable = true` here: the nest stays as it is [hint]";
    assert!(said.contains(stays), "{said}");
}

#[test]
fn options_come_from_the_environment_and_the_command_line() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    let compile = |flags: &[&str], environment: &str| {
        let mut command = place.plugged(&["-O3", "-Rpass=looptree", "-c", "x.c", "-o", "x.o"]);
        let output = command.args(flags).env("LOOPTREE", environment).output().expect("clang starts");
        (output.status.code(), both(&output))
    };
    let (code, text) = compile(&[], "function=columns");
    assert!(code == Some(0) && !text.contains("product#0") && text.contains("columns#0"), "{text}");
    let (code, text) = compile(&[], "function=elsewhere");
    assert!(code == Some(0) && !text.contains("remark"), "{text}");
    let (code, text) = compile(&[], "remarks, size=64, jobs=2");
    assert!(code == Some(0) && text.contains("main#0: left alone"), "{text}");
    let (_, text) = compile(&["-mllvm", "-looptree=min-gain=1000"], "min-gain=1");
    assert!(!text.contains("remark"), "{text}");
    let cases = [
        ("mingain=2", "there is no option `mingain`; there are: off, remarks, min-gain=FACTOR"),
        ("min-gain=nan", "`min-gain=nan`: a factor is wanted"),
        ("target=z80", "there is no target called `z80`"),
    ];
    for (options, expected) in cases {
        let _ = std::fs::remove_file(place.path("x.o"));
        let (code, text) = compile(&[], options);
        assert!(code == Some(1) && text.contains(&format!("error: looptree: {expected}")), "{text}");
        assert!(!place.path("x.o").exists());
        let (code, _) = compile(&["-mllvm", &format!("-looptree={options}")], "");
        assert_eq!(code, Some(1));
    }
}

#[test]
fn remarks_are_in_the_optimisation_record() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    plugged(&place, &["-O2", "-fsave-optimization-record", "-c", "x.c", "-o", "x.o"]);
    let record = String::from_utf8(place.read("x.opt.yaml")).expect("text");
    let entries: Vec<&str> =
        record.split("--- ").filter(|e| e.contains("\nPass:            looptree\n")).collect();
    let of = |kind: &str, function: &str| {
        let function = format!("\nFunction:        {function}\n");
        let found = entries.iter().find(|e| e.starts_with(kind) && e.contains(&function));
        found.unwrap_or_else(|| panic!("{kind} {function}: {record}"))
    };
    let changed = of("!Passed", "product");
    for part in [
        "Name:            Transformed",
        "{ File: x.c, Line: 6,",
        "Region:          'product#0'",
        "Recipe:",
        "Gain:",
    ] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    assert!(of("!Missed", "main").contains("left alone"));
    assert!(of("!Analysis", "length").contains("Name:            trip-count"));
}

/// Remarks call functions of C++ as the source does; so does the option, and linkers' names stay in the record.
#[test]
fn functions_have_their_names_of_the_source() {
    let nest = "for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++)";
    let scale = |ty: &str| format!("void scale({ty} (&a)[512][512]) {{ {nest} a[j][i] *= 2; }}\n");
    let text = format!("namespace grid {{ {} }}\n{}{}", scale("double"), scale("float"), "void none() {}");
    let place = Place::new(&[("x.cpp", &text)]);
    let said = |options: &str| {
        let mut command =
            place.plugged(&["-O2", "-Rpass=looptree", "-fsave-optimization-record", "-c", "x.cpp"]);
        succeeds(command.env("LOOPTREE", options).output().expect("clang starts"))
    };
    let all = said("");
    assert!(all.contains("remark: grid::scale(double (&) [512][512])#0: "), "{all}");
    assert!(all.contains("remark: scale(float (&) [512][512])#0: "), "{all}");
    let record = String::from_utf8(place.read("x.opt.yaml")).expect("text");
    for part in ["Function:        _ZN4grid5scaleERA512_A512_d\n", "'grid::scale(double (&) [512][512])#0'"] {
        assert!(record.contains(part), "{part}: {record}");
    }
    let one = said("function=grid::scale");
    assert!(one.contains("grid::scale(double") && !one.contains("remark: scale(float"), "{one}");
    let either = said("function=none");
    assert!(!either.contains("remark: "), "{either}");
    // A name that several have is no name.
    place.run("sed", &["-i", "s/namespace grid/extern \"C++\"/", "x.cpp"]);
    let several = said("function=scale");
    assert!(several.contains("warning: looptree: `scale` may be any of `"), "{several}");
}

/// What the source asks for is done where it is valid; where not, a warning says why.
#[test]
fn with_debug_information_loops_are_called_as_in_the_source() {
    let source = r#"#define N 200
double A[N][N], B[N][N];
__attribute__((annotate("looptree: interchange(column); unroll_and_jam(row; 4)"))) void columns(void) {
    for (int column = 0; column < N; column++)
        for (int row = 0; row < N; row++)
            A[row][column] = B[row][column] * 2;
}
void strided(double *restrict to, double *restrict from, int size) {
    for (int column = 0; column < size; column += 2)
        for (int row = 0; row < size; row += 2)
            to[row * size + column] += from[row * size + column];
}
void down(float *restrict x, int size) {
    while (size-- > 0) x[size] += x[2 * size];
}
"#;
    let place = Place::new(&[("x.c", source)]);
    let flags = ["-O3", "-Rpass=looptree", "-Rpass-missed=looptree", "-c", "x.c", "-o", "x.o"];
    let named = plugged(&place, &[&["-g"], &flags[..]].concat());
    assert!(named.contains("columns#0: interchange(column); unroll_and_jam(row; 4) (predicted"), "{named}");
    assert!(!named.contains("warning"), "{named}");
    let unnamed = plugged(&place, &flags);
    assert!(unnamed.contains("no loop binds `column`") && unnamed.contains("called i, j"), "{unnamed}");
    // Debug information changes nothing else.
    let strided = |text: &str| {
        let line = text.lines().find_map(|l| l.split_once("strided#0: ")).map(|(_, said)| said.to_string());
        line.unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(strided(&named), strided(&unnamed));
    // In IR too. A parameter keeps its name, by which it can be given a value.
    place.run(
        clang(),
        &["-O3", "-g", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "x.c", "-o", "x.ll"],
    );
    let shown =
        |function: &str| both(&place.driver(&["show", "x.ll", "-f", function]).output().expect("it runs"));
    let strided = shown("strided");
    assert!(strided.contains("for column in ") && strided.contains("for row in "), "{strided}");
    let down = shown("down");
    assert!(down.contains("nest @down[size: i32]") && down.contains("for size2 in "), "{down}");
}

/// Names that lifting invents may be others than those of the source, which nobody sees: a warning tells, unless the recipe goes by paths or LLVM
/// calls the loops so.
#[test]
fn recipes_by_invented_names_are_warned_of() {
    let source = |recipe: &str, outer: &str, inner: &str| {
        format!(
            "double A[200][200], B[200][200];
            __attribute__((annotate(\"looptree: {recipe}\"))) void columns(void) {{
                for (int {outer} = 0; {outer} < 200; {outer}++)
                    for (int {inner} = 0; {inner} < 200; {inner}++)
                        A[{inner}][{outer}] = B[{inner}][{outer}] * 2;
            }}"
        )
    };
    let warning = "in the recipe may be another loop than in the source: \
        without its names (-g) loops are called i, j from outside to inside; paths such as `@0` mean the same either way";
    let flags = ["-O3", "-c", "x.c", "-o", "x.o"];
    for (recipe, outer, inner, doubtful) in [
        ("interchange(i)", "j", "i", true),
        ("interchange(@); unroll_and_jam(j; 4)", "j", "i", true),
        ("interchange(@)", "j", "i", false),
        ("interchange(i)", "i", "j", false),
    ] {
        let place = Place::new(&[("x.c", &source(recipe, outer, inner))]);
        // Names of values are kept in IR, and not in clang.
        let told = |text: &str| text.contains("warning: columns#0: `") && text.contains(warning);
        let text = both(&place.driver(&["opt", "x.c", "-o", "x.ll"]).output().expect("it runs"));
        assert_eq!(told(&text), doubtful, "{recipe}: {text}");
        let asked = ["opt", "x.c", "-f", "columns", "--recipe", recipe, "-o", "x.ll"];
        let text = both(&place.driver(&asked).output().expect("it runs"));
        assert_eq!(told(&text), doubtful, "{recipe}: {text}");
        let text = plugged(&place, &flags);
        let told = text.contains("warning: looptree: x.c:2: columns#0: `") && text.contains(warning);
        assert_eq!(told, recipe != "interchange(@)", "{recipe}: {text}");
    }
}

/// What is written for us and cannot be read is not passed over, even where there is nothing to do.
#[test]
fn annotations_that_are_no_recipes_are_warned_of() {
    let place = Place::new(&[(
        "x.c",
        "__attribute__((annotate(\"looptree interchange(i)\"))) int next(int a) { return a + 1; }
        __attribute__((annotate(\"looptrees\"))) int last(int a) { return a - 1; }",
    )]);
    let warning = "x.c:1: next: nothing is done about `looptree interchange(i)`: a recipe is written `looptree: interchange(@)`, \
        for one region of several `looptree #0: ...`";
    let text = plugged(&place, &["-O2", "-c", "x.c", "-o", "x.o"]);
    assert!(text.contains(&format!("warning: looptree: {warning}")) && !text.contains("last"), "{text}");
    let text = both(&place.driver(&["opt", "x.c", "-o", "x.ll"]).output().expect("it runs"));
    let warning = warning.replacen(": ", ": warning: ", 1);
    assert!(text.contains(&warning) && !text.contains("last"), "{text}");
}

/// Where no nest is described, the warning says why.
#[test]
fn recipes_for_no_nest_are_warned_of_with_the_reason() {
    let place = Place::new(&[(
        "x.c",
        "double A[200][200];
        __attribute__((annotate(\"looptree: interchange(@)\"))) void columns(void) {
            for (int i = 0; i < 200; i++)
                for (int j = 0; j < 200; j++)
                    A[j][i] *= 2;
        }
        __attribute__((annotate(\"looptree: interchange(@)\"))) int next(int a) { return a + 1; }",
    )]);
    let text = plugged(&place, &["-Os", "-c", "x.c", "-o", "x.o"]);
    for warning in [
        "x.c:2: columns#0: left alone: the source asks for `interchange(@)`, but no nest is described here: \
            the function asks for little code, and a nest would be there twice; -O2 or -O3 in place of -Os or -Oz",
        "x.c:7: next#0: left alone: the source asks for `interchange(@)`, but no nest is described here",
    ] {
        assert!(text.contains(&format!("warning: looptree: {warning}")), "{text}");
    }
    let text = plugged(&place, &["-O2", "-c", "x.c", "-o", "x.o"]);
    assert!(text.contains("but no nest is described here, as there is no loop"), "{text}");
}

/// A loop that is marked parallel is shared only where threads are asked for.
#[test]
fn marks_for_threads_without_threads_are_warned_of() {
    let place = Place::new(&[(
        "x.c",
        "double A[200][200];
        __attribute__((annotate(\"looptree: mark(@; parallel)\"))) void rows(void) {
            for (int i = 0; i < 200; i++)
                for (int j = 0; j < 200; j++)
                    A[i][j] *= 2;
        }",
    )]);
    let warning = "rows#0: one thread runs the loop that is marked parallel, as nobody says how many there are: \
        `--threads 4`, in a build LOOPTREE=threads=4";
    for (threads, doubtful) in [("1", true), ("2", false)] {
        let mut command = place.plugged(&["-O2", "-c", "x.c", "-o", "x.o"]);
        let output = command.env("LOOPTREE", format!("threads={threads}")).output().expect("clang starts");
        let text = succeeds(output);
        assert_eq!(text.contains(&format!("warning: looptree: x.c:2: {warning}")), doubtful, "{text}");
        for more in [&[][..], &["-f", "rows", "--recipe", "mark(@; parallel)"]] {
            let arguments = [&["opt", "x.c", "-o", "x.ll", "--threads", threads], more].concat();
            let text = both(&place.driver(&arguments).output().expect("it runs"));
            assert_eq!(text.contains(&format!("warning: {warning}")), doubtful, "{text}");
            // C has a pragma for threads, whatever their number.
            let arguments = [&["opt", "x.c", "-o", "new.c", "--emit", "c"], more].concat();
            let text = both(&place.driver(&arguments).output().expect("it runs"));
            assert!(place.path("new.c").exists() && !text.contains("one thread"), "{text}");
        }
    }
}

#[test]
fn recipes_in_the_source_are_done_or_warned_of() {
    let source = r#"#include <stdio.h>
#define N 64
#define RECIPE(text) __attribute__((noinline, annotate("looptree: " text)))
static double A[N][N];
RECIPE("interchange(i); unroll_and_jam(j; 4)") void columns(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[j][i] = A[j][i] * 0.5 + i;
}
RECIPE("interchange(i)") void skewed(void) {
    for (int i = 1; i < N; i++)
        for (int j = 0; j < N - 1; j++)
            A[i][j] += A[i - 1][j + 1];
}
int main(void) {
    double sum = 0;
    columns();
    skewed();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = sum * 1.0001 + A[i][j];
    printf("%a\n", sum);
}
"#;
    let place = Place::new(&[("x.c", source)]);
    place.run(clang(), &["-O2", "x.c", "-o", "plain"]);
    let said = plugged(&place, &["-O2", "-gline-tables-only", "-Rpass=looptree", "x.c", "-o", "changed"]);
    assert!(said.contains("columns#0: interchange(i); unroll_and_jam(j; 4)"), "{said}");
    assert!(
        said.contains(
            "warning: looptree: x.c:11: skewed#0: left alone: the source asks for `interchange(i)`"
        ),
        "{said}"
    );
    assert!(said.contains("reverses the flow dependence from S0 (x.c:13)"), "{said}");
    let result = |program: &str| place.run(place.path(program), &[]);
    assert_eq!(result("plain"), result("changed"));
}

/// Pragmas that are transformations are done first, whatever is predicted; where that is not valid, a warning says why.
#[test]
fn pragmas_are_done_or_warned_of() {
    let source = r#"#include <stdio.h>
#define N 60
static double A[N][N], x[N], y[N];
static float z[N];
__attribute__((noinline)) void unrolled(void) {
    for (int i = 0; i < N; i++)
#pragma clang loop unroll_count(4)
        for (int j = 0; j < N; j++)
            A[j][i] = A[j][i] * 0.5 + i;
}
__attribute__((noinline)) void jammed(void) {
#pragma unroll_and_jam(3)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = A[i][j] * 0.25 + j;
}
__attribute__((noinline)) void eights(void) {
#pragma clang loop vectorize_width(4) interleave_count(2)
    for (int i = 0; i < N; i++)
        y[i] = y[i] * 0.5 + i;
}
__attribute__((noinline)) void widest(void) {
#pragma clang loop vectorize(enable)
    for (int i = 0; i < N; i++)
        z[i] = z[i] * 0.5f + 1;
}
__attribute__((noinline)) void lanes(void) {
#pragma clang loop vectorize_width(4)
    for (int i = 1; i < N; i++)
        x[i] = x[i - 1] * 0.5 + 1;
}
int main(void) {
    double sum = 0;
    unrolled();
    jammed();
    eights();
    widest();
    lanes();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = sum * 1.0001 + A[i][j] + x[j] + y[j] + z[j];
    printf("%a\n", sum);
}
"#;
    let place = Place::new(&[("x.c", source)]);
    place.run(clang(), &["-O2", "-Wno-pass-failed", "x.c", "-o", "plain"]);
    let flags = ["-O2", "-Wno-pass-failed", "-gline-tables-only", "-Rpass=looptree", "x.c", "-o", "changed"];
    let said = plugged(&place, &flags);
    assert!(said.contains("unrolled#0: unroll(j; 4)"), "{said}");
    assert!(said.contains("jammed#0: unroll_and_jam(i; 3)"), "{said}");
    assert!(said.contains("eights#0: vectorize(i; 8)"), "{said}");
    assert!(said.contains("widest#0: vectorize(i; 4)"), "{said}");
    let warning = "lanes#0: left alone: the source asks for `vectorize(i; 4)`, but: ";
    assert!(said.contains(warning) && said.contains("flow dependence"), "{said}");
    let result = |program: &str| place.run(place.path(program), &[]);
    assert_eq!(result("plain"), result("changed"));
}

#[test]
fn bitcode_for_a_linker_is_changed_once() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    place.run(clang(), &["-O3", "x.c", "-o", "plain"]);
    for lto in ["-flto=thin", "-flto"] {
        let text = plugged(&place, &["-O3", lto, "-Rpass=looptree", "-c", "x.c", "-o", "x.bc"]);
        assert!(text.contains("remark: product#0: "), "{text}");
        // What a linker does then.
        place.run(clang(), &["-O3", "-x", "ir", "x.bc", "-c", "-o", "x.o"]);
        place.run(clang(), &["x.o", "-o", "changed"]);
        assert_eq!(place.run(place.path("plain"), &[]), place.run(place.path("changed"), &[]));
    }
}

#[test]
fn opt_runs_the_pass_by_name() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    place.run(clang(), &["-O3", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "x.c", "-o", "x.ll"]);
    let prefix = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".to_string());
    let load = format!("--load-pass-plugin={}", plugin().display());
    let run = |passes: &str| {
        let passes = format!("-passes={passes}");
        place.run(
            Path::new(&prefix).join("bin/opt"),
            &[&load, &passes, "--pass-remarks=looptree", "-S", "x.ll", "-o", "y.ll"],
        )
    };
    let text = run("looptree");
    assert!(text.contains("product#0: ") && text.contains("columns#0: "), "{text}");
    let text = run("looptree<function=columns>,verify");
    assert!(!text.contains("product#0: ") && text.contains("columns#0: "), "{text}");
}

/// C++ with exceptions, lambdas and templates beside a nest.
const CPP: &str = r#"#include <cstdio>
#include <stdexcept>
#include <vector>
template <typename T, int N> struct Matrix { T at[N][N]; };
template <typename T, int N> void product(Matrix<T, N> &c, const Matrix<T, N> &a, const Matrix<T, N> &b) {
    for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                c.at[i][j] += a.at[i][k] * b.at[k][j];
}
static Matrix<float, 64> A, B, C;
int main() {
    std::vector<int> v(64);
    for (int i = 0; i < 64; i++) v[i] = i * i % 17;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) A.at[i][j] = v[i] + j, B.at[i][j] = v[j] - i;
    product(C, A, B);
    try {
        if (v.at(3) == 9) throw std::runtime_error("nine");
    } catch (const std::exception &e) {
        std::printf("%s %a\n", e.what(), C.at[5][7]);
    }
}
"#;

#[test]
fn the_compiler_command_stands_for_clang() {
    let place = Place::new(&[("x.c", PROGRAM), ("y.cpp", CPP), ("bad.c", "int f( { }\n")]);
    place.run(clang(), &["-O3", "x.c", "-o", "plain"]);
    let text = succeeds(
        place.driver(&["cc", "-O3", "-Rpass=looptree", "x.c", "-o", "changed"]).output().expect("it starts"),
    );
    assert!(text.contains("remark: product#0: "), "{text}");
    assert_eq!(place.run(place.path("plain"), &[]), place.run(place.path("changed"), &[]));

    let text = succeeds(
        place.driver(&["c++", "-O2", "-Rpass=looptree", "y.cpp", "-o", "y"]).output().expect("it starts"),
    );
    assert!(text.contains("product") && text.contains("remark: "), "{text}");
    assert!(place.run(place.path("y"), &[]).starts_with("nine "));

    // As a launcher in front of a compiler.
    let launched = place.driver(&["cc", &clang(), "-O3", "-c", "x.c", "-o", "launched.o"]).output();
    succeeds(launched.expect("it starts"));
    plugged(&place, &["-O3", "-c", "x.c", "-o", "direct.o"]);
    assert_eq!(place.read("launched.o"), place.read("direct.o"));

    // Nothing of ours in what clang says: not where it links, preprocesses, fails or tells of itself.
    for arguments in [
        &["launched.o", "-o", "linked", "-Werror"][..],
        &["-E", "x.c", "-Werror"],
        &["-c", "bad.c"],
        &["--version"],
        &["-cc1", "-version"],
    ] {
        let ours = place.driver(&[&["cc"], arguments].concat()).output().expect("it starts");
        let theirs = place.command(clang(), arguments).output().expect("clang starts");
        assert_eq!(ours.status.code(), theirs.status.code(), "{arguments:?}: {}", both(&ours));
        assert_eq!(both(&ours), both(&theirs), "{arguments:?}");
    }
}

#[test]
fn the_compiler_command_says_what_is_missing() {
    let place = Place::new(&[("x.c", PROGRAM)]);
    let says = |mut command: Command, code: i32, words: &str| {
        let output = command.output().expect("it starts");
        let text = both(&output).split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(words), "{text}");
    };
    let mut command = place.driver(&["cc", "-c", "x.c"]);
    command.env("LOOPTREE_PLUGIN", place.path("none.so"));
    says(command, 1, "the plugin is not there");
    let mut command = place.driver(&["cc", "-c", "x.c"]);
    command.env("LOOPTREE_CLANG", "clang-that-is-not-there");
    says(command, 3, "cannot run clang-that-is-not-there");
    says(place.driver(&["cc", "gcc-12", "-c", "x.c"]), 2, "another compiler");
}

/// A tree of several files, built by `make -j` with the command as the compiler.
#[test]
fn make_builds_with_the_command() {
    let main = PROGRAM
        .replace("#define N 96", "#define N 96\nvoid half(int n, double *a, const double *b);")
        .replace(
            "columns(N, &C[0][0], &A[0][0]);",
            "columns(N, &C[0][0], &A[0][0]);\n    half(N, &C[0][0], &B[0][0]);",
        );
    let half = "void half(int n, double *a, const double *b) {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                a[i * n + j] = a[i * n + j] * 0.5 + b[i * n + j];
    }";
    let makefile = "all: program\nprogram: x.o half.o\n\t$(CC) $(CFLAGS) $^ -o $@\n\
        %.o: %.c\n\t$(CC) $(CFLAGS) -c $< -o $@\nclean:\n\trm -f *.o program\n";
    let place = Place::new(&[("x.c", &main), ("half.c", half), ("Makefile", makefile)]);
    let mut outputs = Vec::new();
    for compiler in [clang(), format!("{} cc", env!("CARGO_BIN_EXE_looptree"))] {
        let mut make = place.command("make", &["-j4", "CFLAGS=-O3 -g -Werror"]);
        make.arg(format!("CC={compiler}")).env("LOOPTREE_PLUGIN", plugin()).env("LOOPTREE", "remarks");
        let text = succeeds(make.output().expect("make starts"));
        outputs.push((
            text.contains("half#0: ") && text.contains("product#0: "),
            place.run(place.path("program"), &[]),
        ));
        place.run("make", &["clean"]);
    }
    assert!(!outputs[0].0 && outputs[1].0);
    assert_eq!(outputs[0].1, outputs[1].1);
}
