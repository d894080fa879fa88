//! Every `tests/lt/*.lt` says what recipes make of a kernel, and what the oracle says to each.
//!
//! A file is a program that the command reads as well. Comments in front of it name the tests; comments behind it, from the
//! first `; ---`, hold what is expected, one section per test. `BLESS=1` rewrites them; read the difference.
//!
//! - `; test apply RECIPE`: the verdict, and the tree or why not. What is legal is executed by the reference interpreter
//!   for small parameters and must leave the same memory as the original. What is not is executed as well: the section
//!   says whether a difference shows.
//! - `; test dependences`: all dependences.
//! - `; test cheaper RECIPE`: whether the model ranks the variant before the original.
//!
//! Whatever the tests, the program must print and parse to itself.

use looptree::analyses::Verdict;
use looptree::driver::{DriverError, Optimizer, Settings};
use looptree::transforms::{Recipe, Registry};
use looptree::tree::interp::{self, InterpErrorKind, Layout, Memory, RunOptions};
use looptree::tree::{Green, Kernel, RuntimeCondition, canonical, text};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Values that every parameter takes, in all combinations of at most [`COMBINATIONS`].
const VALUES: [i64; 7] = [5, 0, 1, 2, 3, 9, 34];
const COMBINATIONS: usize = 343;
const TARGET: &str = "x86_64_avx2";

#[test]
fn files_say_what_happens() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lt");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
        .expect("the directory of file tests")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "lt"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for file in &files {
        let source = std::fs::read_to_string(file).expect("a file test");
        let (program, expected) = source.split_once("\n; ---").unwrap_or((&source, ""));
        let found = format!("{}\n\n{}", program.trim_end(), sections(file, program));
        if found == source {
            continue;
        }
        if bless {
            std::fs::write(file, &found).expect("blessed");
        } else {
            let _ = writeln!(wrong, "{}: expected\n; ---{expected}\nfound\n{found}", file.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// At least one file per transformation, with a legal and an illegal or inapplicable use.
#[test]
fn every_transformation_has_a_file() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lt");
    for name in Registry::standard().iter().map(|r| r.name()) {
        let file = directory.join(format!("{name}.lt"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(text.contains("; valid"), "{name}: a use that is valid");
        // Versions change no order, so nothing can be wrong with them.
        let refused = text.contains("; never: ") || text.contains("; does not apply: ") || name == "version";
        assert!(refused, "{name}: a use that is refused");
    }
}

fn sections(file: &Path, program: &str) -> String {
    let parsed = text::parse(program).unwrap_or_else(|e| {
        let (line, column) = e.line_column(program);
        panic!("{}:{line}:{column}: {}", file.display(), e.message)
    });
    let printed = text::print(&parsed);
    assert_eq!(text::parse(&printed).as_ref(), Ok(&parsed), "{}: prints as\n{printed}", file.display());
    let mut out = String::new();
    let tests = program.lines().filter_map(|l| l.strip_prefix("; test "));
    for test in tests {
        let (command, argument) = test.split_once(' ').unwrap_or((test, ""));
        let section = match command {
            "apply" => apply(&parsed.kernel, argument),
            "cheaper" => cheaper(&parsed.kernel, argument),
            "dependences" => dependences(&parsed.kernel),
            _ => panic!("{}: no test is called `{command}`", file.display()),
        };
        let _ = writeln!(out, "; --- {test}");
        for line in section.lines() {
            let _ = writeln!(out, "; {line}");
        }
    }
    out
}

fn optimizer() -> Optimizer {
    Optimizer::new(Settings { target: TARGET.into(), ..Settings::default() }).expect("the default models")
}

fn recipe(text: &str) -> Recipe {
    Recipe::parse(text, &Registry::standard()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn apply(kernel: &Arc<Kernel>, argument: &str) -> String {
    let recipe = recipe(argument);
    match optimizer().apply(&kernel.name, kernel, &recipe, None) {
        Ok(chosen) => {
            let differs = difference(kernel, &chosen.root, &chosen.conditions);
            assert!(matches!(differs, Difference::None), "{}: {argument}: {differs:?}", kernel.name);
            let verdict = match &chosen.conditions[..] {
                [] => Verdict::Always,
                conditions => Verdict::Under(conditions.to_vec()),
            };
            format!("{}\n{}", verdict_text(kernel, &verdict), text::print_tree(kernel, &chosen.root))
        }
        Err(DriverError::Replay { source, .. }) => format!("does not apply: {}", source.refusal),
        Err(DriverError::Illegal { witness, .. }) => {
            let original = canonical(kernel, &kernel.original);
            let root = recipe.replay(kernel, &original).expect("it was judged");
            let shows = match difference(kernel, &root, &[]) {
                Difference::At(params) => format!("computes something else for {params}"),
                Difference::None => "no difference shows for small parameters".to_string(),
                Difference::NotExecuted(why) => format!("not executed: {why}"),
            };
            format!("never: {witness}\n{shows}")
        }
        Err(other) => panic!("{}: {argument}: {other}", kernel.name),
    }
}

fn verdict_text(kernel: &Kernel, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Under(conditions) => {
            let list: Vec<String> =
                conditions.iter().map(|c| text::print_runtime_condition(kernel, c)).collect();
            format!("valid under: {}", list.join(", "))
        }
        _ => "valid: always".to_string(),
    }
}

fn cheaper(kernel: &Arc<Kernel>, argument: &str) -> String {
    let optimizer = optimizer();
    let cost = &optimizer.models.cost;
    let original = canonical(kernel, &kernel.original);
    let root = recipe(argument).replay(kernel, &original).expect("a recipe that applies");
    let params = optimizer.settings.parameter_values(kernel, &[]);
    let (before, after) = (cost.cost_of_original(kernel, &params), cost.cost(kernel, &root, &params));
    if after.cycles < before.cycles { "yes\n" } else { "no\n" }.to_string()
}

fn dependences(kernel: &Arc<Kernel>) -> String {
    optimizer()
        .models
        .dependences
        .dependences(kernel)
        .expect("a kernel that can be analysed")
        .display(kernel)
        .to_string()
}

/// What executing a tree and the original shows.
#[derive(Debug)]
enum Difference {
    /// The same memory for all parameters tried.
    None,
    /// Another memory, or an error, for these parameters.
    At(String),
    /// The original cannot be executed.
    NotExecuted(String),
}

/// Executes both for small parameters that fulfil the kernel's and the given conditions.
fn difference(kernel: &Kernel, root: &Green, conditions: &[RuntimeCondition]) -> Difference {
    let mut executed = 0;
    let mut why = "no parameters fulfil the conditions".to_string();
    for params in combinations(kernel.params.len()) {
        if !kernel.assumptions.iter().chain(conditions).all(|c| holds(c, &params))
            || !kernel.context.iter().all(|c| holds(&RuntimeCondition::Parameter(c.clone()), &params))
        {
            continue;
        }
        // 64 elements lie behind an extent that the kernel does not know.
        let Ok(layout) = Layout::disjoint(kernel, &params, &|_| 64) else { continue };
        let mut before = Memory::new(layout);
        before.fill(7);
        let mut after = before.clone();
        let options = RunOptions { fuel: 2_000_000, ..RunOptions::default() };
        match interp::run(kernel, &kernel.original, &mut before, &options) {
            Ok(_) => executed += 1,
            Err(e) if matches!(e.kind, InterpErrorKind::Opaque(_) | InterpErrorKind::UnknownElement(_)) => {
                return Difference::NotExecuted(e.to_string());
            }
            Err(e) => {
                why = e.to_string();
                continue;
            }
        }
        let same = interp::run(kernel, root, &mut after, &options).is_ok() && before.bits() == after.bits();
        if !same {
            let names = kernel.params.iter().zip(&params);
            return Difference::At(
                names.map(|(p, v)| format!("{} = {v}", p.name)).collect::<Vec<_>>().join(", "),
            );
        }
    }
    if executed == 0 { Difference::NotExecuted(why) } else { Difference::None }
}

fn holds(condition: &RuntimeCondition, params: &[i64]) -> bool {
    match condition {
        RuntimeCondition::Parameter(c) => c
            .expression
            .eval(&|_| None, &|p| params.get(p.index()).copied())
            .is_some_and(|value| c.accepts(value)),
        // Arrays are laid out apart.
        RuntimeCondition::NoOverlap(..) => true,
    }
}

fn combinations(count: usize) -> Vec<Vec<i64>> {
    let mut list = vec![vec![]];
    for _ in 0..count {
        list = list.iter().flat_map(|p: &Vec<i64>| VALUES.map(|v| [&p[..], &[v]].concat())).collect();
    }
    list.truncate(COMBINATIONS);
    list
}
