//! The corpus, random kernels and random recipes.

use super::{COMPILERS, Expected, Loaded, Outcome, Program, Source};
use crate::kernels;
use crate::legality::{random_step, small_moves};
use analyses::dependences::Polyhedral;
use analyses::{Oracle, OracleOptions};
use fastrand::Rng;
use loop_tree::arbitrary::{self, Choices};
use loop_tree::{Intrinsic, Kernel, OpFlags, OpKind, RuntimeCondition, canonical, text};
use looptree::driver::{Optimizer, Session, Settings, compile_source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use transforms::{Context, Recipe, Registry};

/// Values of parameters, in turns.
const VALUES: [i64; 6] = [5, 0, 1, 9, 34, -2];

#[derive(Default, Debug)]
struct Tally {
    same: usize,
    declined: usize,
    refused: BTreeMap<String, usize>,
}

/// Compiles all with both compilers and runs them for many parameters, arrays apart and over one another.
fn check(programs: &[Program], threads: &str, optimisation: &str) -> Tally {
    let source = Source::new(programs);
    let mut tally = Tally::default();
    for refused in source.functions().iter().filter_map(|f| f.as_ref().err()) {
        let what = refused.to_string();
        let what = what.split(": ").last().unwrap_or_default().to_string();
        *tally.refused.entry(what).or_default() += 1;
    }
    let load = |compiler| {
        // Only gcc's runtime is there for certain.
        let threads = if compiler == "gcc" { threads } else { "-fno-openmp" };
        source.load(compiler, &[threads, optimisation]).unwrap_or_else(|e| panic!("{e}"))
    };
    let loaded = COMPILERS.map(load);
    for (number, program) in programs.iter().enumerate().filter(|(n, _)| source.functions()[*n].is_ok()) {
        each_setting(&loaded, program, number, &mut tally, &source);
    }
    tally
}

fn each_setting(all: &[Loaded], program: &Program, number: usize, tally: &mut Tally, source: &Source) {
    let kernel = &*program.kernel;
    let mut overs = vec![None];
    for c in program.conditions.iter().chain(&kernel.assumptions) {
        if let RuntimeCondition::NoOverlap(a, b) = c {
            let size = i64::from(kernel.array(*a).element.size());
            overs.extend([0, size, 3 * size].map(|offset| Some((*a, *b, offset))));
        }
    }
    for (turn, over) in (0..VALUES.len()).flat_map(|t| overs.iter().map(move |o| (t, *o))) {
        let params: Vec<i64> =
            (0..kernel.params.len()).map(|p| VALUES[(turn + 2 * p) % VALUES.len()]).collect();
        let Some(expected) = Expected::of(program, params, turn as u64, over) else { continue };
        for loaded in all {
            match loaded.agrees(program, number, &expected) {
                Ok(Outcome::Same) => tally.same += 1,
                Ok(Outcome::Declined) => tally.declined += 1,
                Err(wrong) => panic!("{wrong}\n{}", source.text()),
            }
        }
    }
}

/// What the recipes of the file tests make of their kernels, where that is legal.
#[test]
fn the_corpus_computes_the_same_in_c() {
    let directory = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(name);
    let optimizer = Optimizer::new(Settings::default()).expect("models that exist");
    let mut programs = Vec::new();
    let mut files: Vec<_> = ["lt", "c"]
        .iter()
        .flat_map(|d| std::fs::read_dir(directory(d)).expect("file tests"))
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "lt"))
        .collect();
    files.sort();
    for file in files {
        let source = std::fs::read_to_string(&file).expect("a file test");
        let program = text::parse(&source).expect("a program");
        let kernel = program.kernel.clone();
        let root = canonical(&kernel, &kernel.original);
        programs.push(Program { kernel: kernel.clone(), root, conditions: vec![] });
        for line in source.lines().take_while(|l| !l.starts_with("; ---")) {
            let recipe = line.strip_prefix("; test apply ").or(line.strip_prefix("; emit "));
            let Some(recipe) = recipe else { continue };
            let Ok(recipe) = Recipe::parse(recipe, &Registry::standard()) else { continue };
            let Ok(chosen) = optimizer.apply("test", &kernel, &recipe, None) else { continue };
            let (kernel, root, conditions) = (chosen.kernel, chosen.root, chosen.conditions);
            programs.push(Program { kernel, root, conditions });
        }
    }
    let tally = check(&programs, "-fopenmp", "-O2");
    eprintln!("{} programs: {tally:?}", programs.len());
    assert!(tally.same > 500, "{tally:?}");
}

/// The regions of real programs, in random orders that the oracle allows, where they need nothing of the program.
#[test]
fn regions_of_programs_compute_the_same_in_c() {
    let optimizer = Optimizer::new(Settings::default()).expect("models that exist");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<_> = ["tests/c", "tests/lift", "bench/kernels"]
        .iter()
        .flat_map(|d| std::fs::read_dir(root.join(d)).expect("inputs"))
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c") && !p.to_string_lossy().ends_with(".out.c"))
        .collect();
    files.sort();
    let mut programs = Vec::new();
    let mut rng = Rng::with_seed(3);
    for file in files {
        let Ok(ir) = compile_source(&file, &["-ffp-contract=off".to_string()]) else { continue };
        let session = Session::new(&ir, "input", &optimizer);
        for region in session.kernels().expect("it is lifted").into_iter().flat_map(|f| f.regions) {
            some_orders(&region.kernel, 1, &mut rng, &mut programs);
        }
    }
    let tally = check(&programs, "-fopenmp", "-O1");
    eprintln!("{} programs: {tally:?}", programs.len());
    assert!(tally.same > 200, "{tally:?}");
}

/// Adds what random steps make of a kernel, where the oracle allows it.
fn some_orders(kernel: &Arc<Kernel>, count: usize, rng: &mut Rng, programs: &mut Vec<Program>) {
    let (registry, options) = (Registry::standard(), small_moves());
    let oracle = Oracle::new(kernel.clone(), &Polyhedral::default(), OracleOptions::default());
    let Ok(oracle) = oracle else { return };
    for _ in 0..count {
        let mut root = canonical(kernel, &kernel.original);
        for _ in 0..rng.usize(1..=4) {
            let cx = Context { kernel, root: &root };
            let Some(step) = random_step(&cx, &registry, &options, false, rng) else { break };
            let Ok(rewrite) = step.apply(&cx) else { continue };
            if rewrite.root.summary().nodes <= 100 {
                root = rewrite.root;
            }
        }
        if let Some(conditions) = oracle.judge(&root).conditions() {
            let conditions = conditions.to_vec();
            programs.push(Program { kernel: kernel.clone(), root, conditions });
        }
    }
}

/// Kernels with all operations there are; their marks are not proved, so that no threads run.
#[test]
fn random_operations_compute_the_same_in_c() {
    let mut rng = Rng::with_seed(7);
    let programs: Vec<Program> = (0..100)
        .map(|_| {
            let tape: Vec<u16> = (0..400).map(|_| rng.u16(..)).collect();
            let mut choices = Choices::new(tape);
            let kernel = Arc::new(determined(arbitrary::kernel(&mut choices)));
            let root = arbitrary::same_order(&kernel, &mut choices);
            Program { kernel, root, conditions: vec![] }
        })
        .collect();
    let tally = check(&programs, "-fno-openmp", "-O1");
    eprintln!("{tally:?}");
    assert!(tally.same > 300, "{tally:?}");
}

/// The kernel without what LLVM leaves open: which zero `maxnum` returns of two.
fn determined(mut kernel: Kernel) -> Kernel {
    for op in kernel.statements.iter_mut().flat_map(|s| &mut Arc::make_mut(s).ops) {
        op.flags.remove(OpFlags::CONTRACT);
        match &mut op.kind {
            OpKind::Call(f @ Intrinsic::MaxNum, _) => *f = Intrinsic::Maximum,
            OpKind::Call(f @ Intrinsic::MinNum, _) => *f = Intrinsic::Minimum,
            _ => {}
        }
    }
    kernel
}

/// Random kernels under random recipes that the oracle allows.
#[test]
fn random_recipes_compute_the_same_in_c() {
    let mut programs = Vec::new();
    for seed in 0..60 {
        let Ok(program) = text::parse(&kernels::generate(seed, 3).text()) else { continue };
        some_orders(&program.kernel, 6, &mut Rng::with_seed(seed), &mut programs);
    }
    let tally = check(&programs, "-fopenmp", "-O1");
    eprintln!("{} programs: {tally:?}", programs.len());
    assert!(tally.same > 500, "{tally:?}");
}
