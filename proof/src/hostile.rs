//! Arbitrary bytes into everything that reads: nothing may panic or run away. Errors are fine.
//!
//! The functions are the entry points of the coverage-guided targets in `fuzz/`; the tests here run them on stable Rust,
//! on mutations of the same corpus.

use crate::differential::{asked, plan_module};
use analyses::dependences::Polyhedral;
use analyses::{Oracle, OracleOptions};
use fastrand::Rng;
use irgen::lift::{LiftOptions, canonicalise};
use irgen::llvm::{Context as LlvmContext, try_reading};
use loop_tree::text;
use looptree::driver::{Optimizer, Session, Settings};
use looptree::explore::Limits;
use std::collections::BTreeMap;
use transforms::{Context, MoveOptions, Recipe, Registry, moves};

/// Longest input taken: what grows with the input is bounded by this.
pub const MAX_BYTES: usize = 16 << 10;

fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|t| t.len() <= MAX_BYTES)
}

/// The `.lt` text form: what parses also prints, to text that parses to the same.
pub fn lt(bytes: &[u8]) {
    let Some(input) = text_of(bytes) else { return };
    let Ok(program) = text::parse(input) else { return };
    let printed = text::print(&program);
    match text::parse(&printed) {
        Ok(again) => assert_eq!(text::print(&again), printed, "printing is not a fixpoint"),
        Err(error) => panic!("printed text does not parse: {error}\n{printed}"),
    }
}

/// Recipe text: what parses also prints, to text that parses to the same; replay on a small kernel does not panic.
pub fn recipe(bytes: &[u8]) {
    let Some(input) = text_of(bytes) else { return };
    let registry = Registry::standard();
    let Ok(recipe) = Recipe::parse(input, &registry) else { return };
    assert_eq!(Recipe::parse(&recipe.to_string(), &registry), Ok(recipe.clone()));
    if let Ok(program) = text::parse(KERNEL) {
        let steps = Recipe(recipe.0.into_iter().take(6).collect());
        let _ = steps.replay(&program.kernel, &program.kernel.original);
    }
}

/// IR, as text or bitcode: parse, canonicalise, lift every function, and judge some variants.
pub fn ir(bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    // SAFETY: targets of the fuzzer run on one thread, and the tests give no bitcode.
    if unsafe { try_reading(bytes, "hostile") }.is_err() {
        return;
    }
    let context = LlvmContext::new();
    let Ok(mut module) = context.parse(bytes, "hostile") else { return };
    if module.verify().is_err() || canonicalise(&mut module).is_err() {
        return;
    }
    let names: Vec<String> =
        module.functions().iter().filter(|f| !f.is_declaration()).map(|f| f.name()).collect();
    for options in [LiftOptions::default(), asked(8), asked(28)] {
        plan_module(&module, &names, &options, 2, &mut Rng::with_seed(1), &mut Default::default());
    }
}

/// Text into every move of every kind, judged, one step deep; then into the search.
pub fn explore(bytes: &[u8]) {
    let Some(input) = text_of(bytes) else { return };
    let Ok(program) = text::parse(input) else { return };
    let kernel = &program.kernel;
    if kernel.original.summary().nodes > 200 {
        return;
    }
    let optimizer = small_search();
    let _ = optimizer.explore("hostile", kernel, &[], None);
    let options = OracleOptions { quota: 20_000, ..OracleOptions::default() };
    let Ok(oracle) = Oracle::new(kernel.clone(), &Polyhedral::default(), options) else { return };
    let cx = Context { kernel, root: program.tree() };
    for step in moves(&cx, &Registry::standard(), &MoveOptions::default()).into_iter().take(60) {
        if let Ok(rewrite) = step.apply(&cx)
            && rewrite.root.summary().nodes < 1000
        {
            let _ = oracle.judge(&rewrite.root);
        }
    }
}

/// IR, as text or bitcode, into the whole of `looptree opt`: what is emitted verifies.
pub fn optimize(bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    // SAFETY: as in `ir`.
    if unsafe { try_reading(bytes, "hostile") }.is_err() {
        return;
    }
    let optimizer = small_search();
    let session = Session::new(bytes, "hostile", &optimizer);
    let Ok(explored) = session.explore() else { return };
    let mut chosen = BTreeMap::new();
    for region in &explored.regions {
        // Not the original, which would be left alone.
        let changed = region.exploration.variants.iter().find(|v| !v.recipe.0.is_empty());
        if let Some(variant) = changed {
            let choice = optimizer.choose(region, variant).expect("a variant of the search is legal");
            chosen.insert((region.function.clone(), region.number), choice);
        }
    }
    session.emit(&chosen, |m| m.to_bitcode()).expect("a legal variant can be emitted");
}

/// A search that ends soon.
fn small_search() -> Optimizer {
    let limits = Limits { depth: 2, variants: 20, threads: 1, ..Limits::default() };
    let oracle = OracleOptions { quota: 1000, work: 20_000 };
    let settings = Settings { limits, oracle, target: "x86_64_avx2".into(), ..Settings::default() };
    Optimizer::new(settings).expect("models that exist")
}

const KERNEL: &str = "nest @k[N] {
  array A: f64[?, N]
  for i in 0..N { for j in i..N { S0: A[i, j] = A[i, j] + 1.0 } }
  for k in 0..N { S1: A[k, 0] = 2.0 }
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The corpus of a target, and the files of tests with the same ending.
    fn corpus(name: &str) -> Vec<Vec<u8>> {
        let ending = if name == "ir" { "ll" } else { name };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let seeds = root.join("fuzz/corpus").join(name);
        let others = ["proof/cases", "tests/lt", "tests/loopfuse"].map(|d| root.join(d));
        let files = |d: &Path| {
            std::fs::read_dir(d).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>().into_iter()
        };
        let others =
            others.iter().flat_map(|d| files(d)).filter(|f| f.extension().is_some_and(|e| e == ending));
        let mut all: Vec<_> = files(&seeds).chain(others).collect();
        all.sort();
        all.into_iter().map(|f| std::fs::read(f).unwrap()).collect()
    }

    /// Random edits: bytes changed, removed, doubled, and pieces of other files put in.
    fn mutated(rng: &mut Rng, all: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = all[rng.usize(0..all.len())].clone();
        for _ in 0..rng.usize(0..6) {
            if bytes.is_empty() {
                break;
            }
            let at = rng.usize(0..bytes.len());
            let end = (at + rng.usize(1..12)).min(bytes.len());
            match rng.u32(0..6) {
                0 => bytes[at] = rng.u8(32..127),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                3 => {
                    let number = ["0", "-1", "9223372036854775807", "4294967296", "1000000"][rng.usize(0..5)];
                    bytes.splice(at..at, number.bytes());
                }
                4 => bytes.truncate(at),
                _ => {
                    let other = &all[rng.usize(0..all.len())];
                    let from = rng.usize(0..other.len().max(1)).min(other.len());
                    let to = (from + rng.usize(1..40)).min(other.len());
                    bytes.splice(at..at, other[from..to].iter().copied());
                }
            }
        }
        bytes
    }

    fn run(name: &str, count: usize, target: impl Fn(&[u8])) {
        let all = corpus(name);
        assert!(!all.is_empty());
        let mut rng = Rng::with_seed(0x10_0b);
        all.iter().for_each(|file| target(file));
        for _ in 0..count {
            target(&mutated(&mut rng, &all));
        }
    }

    #[test]
    fn text_form() {
        run("lt", 2000, lt);
    }

    #[test]
    fn recipes() {
        run("recipe", 2000, recipe);
    }

    #[test]
    fn llvm_ir() {
        run("ir", 150, ir);
    }

    #[test]
    fn search() {
        run("lt", 60, explore);
    }

    #[test]
    fn optimizer() {
        run("ir", 60, optimize);
    }
}
