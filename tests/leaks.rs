//! Nothing of isl or LLVM stays behind: the heap in use does not grow from one search to the next, nor where one ends in an
//! error. One test, in a process of its own: the heap is the whole process's.

use looptree::analyses::OracleOptions;
use looptree::driver::{self, Optimizer, Session, Settings};
use looptree::explore::Limits;
use looptree::transforms::{Recipe, Registry};
use looptree::tree::text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes by which the heap may grow with each run. An isl context that was used and an LLVM context take several times more
/// when they are left behind.
const GROWTH: i64 = 2048;
/// Runs before the heap is looked at: what is made once is made then.
const WARM_UP: usize = 4;
/// Runs between two looks.
const RUNS: usize = 8;
/// Looks, until one finds no growth: over the first fifty runs the process comes to hold some 60 KB, then no more; what is
/// left behind grows between any two.
const LOOKS: usize = 4;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Bytes in use, of all arenas and of blocks that are mapped on their own. Threads of a search end some time after it;
/// until then their stacks and oracles count.
fn heap() -> i64 {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    // The test's own, and that of the harness.
    for _ in 0..10_000 {
        if threads() <= 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // SAFETY: no preconditions.
    let info = unsafe { libc::mallinfo2() };
    i64::try_from(info.uordblks + info.hblkhd).expect("a size")
}

/// Growth per run.
fn growth(mut run: impl FnMut()) -> i64 {
    (0..WARM_UP).for_each(|_| run());
    let mut before = heap();
    let mut least = i64::MAX;
    for _ in 0..LOOKS {
        (0..RUNS).for_each(|_| run());
        let now = heap();
        least = least.min((now - before) / RUNS as i64);
        if least <= GROWTH {
            break;
        }
        before = now;
    }
    least
}

fn settings() -> Settings {
    let limits = Limits { variants: 40, threads: 2, ..Limits::default() };
    Settings { limits, target: "x86_64_avx2".into(), ..Settings::default() }
}

fn optimizer(settings: &Settings) -> Optimizer {
    Optimizer::new(settings.clone()).expect("models that exist")
}

/// Searches all regions, and emits the best variant of each that has one.
fn explore_and_emit(input: &[u8], settings: &Settings) -> usize {
    let optimizer = optimizer(settings);
    let session = Session::new(input, "test", &optimizer);
    let explored = session.explore().expect("a module that can be searched");
    let mut chosen = BTreeMap::new();
    for region in &explored.regions {
        if let Some(best) = region.exploration.variants.iter().find(|v| !v.recipe.0.is_empty()) {
            let choice = optimizer.choose(region, best).expect("a legal variant");
            chosen.insert((region.function.clone(), region.number), choice);
        }
    }
    let emitted = session.emit(&chosen, |m| m.to_bitcode()).expect("IR of what is legal");
    assert!(!emitted.is_empty());
    chosen.len()
}

/// The error of a session.
fn fails(input: &[u8], settings: &Settings) {
    let optimizer = optimizer(settings);
    let session = Session::new(input, "test", &optimizer);
    assert!(session.explore().is_err());
    assert!(session.emit(&BTreeMap::new(), |m| m.to_bitcode()).is_err());
}

fn hostile() -> Vec<PathBuf> {
    let directory = std::fs::read_dir(root().join("proof/cases")).expect("the cases");
    let mut files: Vec<PathBuf> = directory.map(|e| e.expect("a file").path()).collect();
    files.retain(|f| f.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("hostile_")));
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

#[test]
fn the_heap_does_not_grow() {
    let registry = Registry::standard();
    let settings = settings();
    let gemm =
        driver::compile_source(&root().join("bench/kernels/gemm_ijk.c"), &[]).expect("clang-22 compiles it");
    let tile = std::fs::read_to_string(root().join("tests/lt/tile.lt")).expect("a test");
    let quota = OracleOptions { quota: 1, work: 1 };
    let exhausted = Settings { oracle: quota, ..self::settings() };
    let some = Settings { oracle: OracleOptions { quota: 60, work: 2000 }, ..self::settings() };
    let one = Settings { function: Some("kernel_gemm_ijk".into()), ..self::settings() };
    let one = optimizer(&one);
    let session = Session::new(&gemm, "test", &one);
    let lt = |settings: &Settings| {
        let program = text::parse(&tile).expect("a program");
        optimizer(settings).explore("test", &program.kernel, &[], None).map(|(_, found)| found.statistics)
    };
    let apply = |recipe: &str| {
        let (_, _, region) = session.only_region().expect("one region");
        one.apply(
            "test",
            &region.kernel,
            &Recipe::parse(recipe, &registry).expect("a recipe"),
            region.vectors,
        )
        .map(|_| ())
    };

    let mut runs: Vec<(String, Box<dyn FnMut() + '_>)> = vec![
        ("C".into(), Box::new(|| assert!(explore_and_emit(&gemm, &settings) > 0))),
        ("a tree".into(), Box::new(|| assert!(lt(&settings).expect("a search").legal > 10))),
        (
            "a tree, emitted".into(),
            Box::new(|| {
                let program = text::parse(&tile).expect("a program");
                let recipe = Recipe::parse("interchange(i)", &registry).expect("a recipe");
                let chosen = one.apply("test", &program.kernel, &recipe, None).expect("a legal recipe");
                assert!(one.emit(&program.kernel, &chosen).expect("IR").contains("define"));
            }),
        ),
        (
            "IR that does not parse".into(),
            Box::new(|| {
                fails(b"define void @f() {\n  ret i32 nonsense\n}\n", &settings);
                fails(b"BC\xc0\xde not bitcode", &settings);
                fails(&gemm[..gemm.len() / 2], &settings);
            }),
        ),
        (
            "IR that does not verify".into(),
            Box::new(|| {
                let cycle =
                    b"define i32 @f() {\na:\n  %x = add i32 %y, 1\n  %y = add i32 %x, 1\n  ret i32 %x\n}\n";
                fails(cycle, &settings);
            }),
        ),
        ("a recipe that does not apply".into(), Box::new(|| assert!(apply("interchange(@0.9)").is_err()))),
        ("a recipe that is not legal".into(), Box::new(|| assert!(apply("mark(k; parallel)").is_err()))),
        (
            "text that is no recipe".into(),
            Box::new(|| assert!(Recipe::parse("tile(i; ", &registry).is_err())),
        ),
        ("text that is no program".into(), Box::new(|| assert!(text::parse(&tile[..400]).is_err()))),
        (
            "a quota that only what needs no question passes".into(),
            Box::new(|| {
                assert!(lt(&exhausted).is_err() || lt(&exhausted).is_ok_and(|s| s.undecided > s.legal));
                explore_and_emit(&gemm, &exhausted);
            }),
        ),
        (
            "a quota that some pass".into(),
            Box::new(|| {
                assert!(lt(&some).expect("a search").undecided > 0);
                explore_and_emit(&gemm, &some);
            }),
        ),
    ];
    for file in hostile() {
        let text = std::fs::read(&file).expect("a case");
        let settings = &settings;
        runs.push((
            file.display().to_string(),
            Box::new(move || {
                explore_and_emit(&text, settings);
            }),
        ));
    }
    let grown: Vec<String> = runs
        .into_iter()
        .map(|(name, run)| (name, growth(run)))
        .inspect(|(name, bytes)| println!("{name}: {bytes} bytes per run"))
        .filter(|(_, bytes)| *bytes > GROWTH)
        .map(|(name, bytes)| format!("{name}: {bytes} bytes per run"))
        .collect();
    assert!(grown.is_empty(), "the heap grows: {grown:#?}");
}
