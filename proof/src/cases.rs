//! Small cases in files, each with what must hold of it.
//!
//! A case in IR (`.ll`) is lifted, and every variant that the oracle allows, its own recipes first, is emitted, verified and compiled. Where there
//! is a function `i64 @entry(ptr)`, which is not lifted itself, its result and the block of memory that it is given are
//! compared bit for bit with those of the original. A case of a kernel (`.lt`) is judged only. Comments say what else must hold:
//!
//! | comment | in | means |
//! |---|---|---|
//! | `; regions: 1` | `.ll` | so many regions are lifted |
//! | `; kernel: text` | `.ll` | the text of some kernel holds this |
//! | `; count 2: text` | `.ll` | so often it is in the IR in which each region was emitted in its original order, the original code included |
//! | `; emitted: text` | `.ll` | it is in there more often than in the original |
//! | `; allocations: 1` | `.ll` | so many allocations succeed, and no more; `i64 @held()` is how many are not given back |
//! | `; memory: f64` | `.ll` | the block holds numbers of this type: `i32` (if nothing is said), `f32`, `f64` |
//! | `; allowed: recipe` | both | the recipe applies, and the oracle allows the result, perhaps under conditions |
//! | `; always: recipe` | both | the same without conditions |
//! | `; under: recipe` | both | the same under some condition |
//! | `; refused: recipe` | both | the recipe applies, and the oracle refuses the result |
//! | `; refused: variant` | `.lt` | and so for the other words: the tree in the file, in the place of a recipe |
//! |  | `.lt` | where the oracle allows the tree in the file, enumeration finds nothing wrong |
//! | `; notices: Rule` | both | it does not hold without this rule: see [`mutants`](crate::mutants) |
//! | `; parallel: 0.1` | `.lt` | the loop at this path of the original carries nothing |
//! | `; carries: 0.1` | `.lt` | it is not said to carry nothing |
//! | `; no oracle` | `.lt` | the kernel cannot be analysed |
//! | `; quota: 3` | `.lt` | isl operations per question |

use crate::differential::isolate::{Outcome, isolated};
use crate::differential::load_threads;
use crate::differential::{Choice, PlannedRegion, plan_module, vector_bits};
use crate::legality::{Subject, Tally};
use analyses::dependences::Polyhedral;
use analyses::idioms::Idioms;
use analyses::{Oracle, OracleOptions, Verdict};
use fastrand::Rng;
use irgen::emit::{Variant, emit_region, tell_owners_apart};
use irgen::lift::{LiftOptions, canonicalise, lift_function_with};
use irgen::llvm::{CodeModel, Context, Jit, Module, OptLevel, TargetMachine};
use loop_tree::{Green, Kernel, Path, text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use transforms::{Recipe, Registry};

/// What a case did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Done {
    /// Regions lifted.
    pub regions: usize,
    /// Variants emitted and verified; compared with the original where the case runs.
    pub variants: usize,
    /// Recipes judged.
    pub judged: usize,
}

impl Done {
    /// Adds what another case did.
    pub fn add(&mut self, other: Done) {
        self.regions += other.regions;
        self.variants += other.variants;
        self.judged += other.judged;
    }
}

/// Checks a case by the ending of its name. The error says what is wrong.
pub fn check(name: &str, content: &str, variants: usize) -> Result<Done, String> {
    match name.rsplit('.').next() {
        Some("ll") => check_ir(content, variants),
        Some("lt") => check_kernel(content),
        _ => Err("neither .ll nor .lt".to_owned()),
    }
}

fn directives<'t>(content: &'t str, key: &str) -> Vec<&'t str> {
    let of_line = |line: &'t str| Some(line.strip_prefix(';')?.trim().strip_prefix(key)?.trim());
    content.lines().filter_map(of_line).collect()
}

/// The rules that a case is there for.
pub fn noticed(content: &str) -> impl Iterator<Item = &str> {
    directives(content, "notices:").into_iter().flat_map(|rules| rules.split(',').map(str::trim))
}

/// Whether a case is there for a rule.
pub fn notices(content: &str, rule: &str) -> bool {
    noticed(content).any(|noticed| noticed == rule)
}

fn number<T: std::str::FromStr>(content: &str, key: &str) -> Result<Option<T>, String> {
    let parse = |text: &&str| text.parse().map_err(|_| format!("{key} {text}: no number"));
    directives(content, key).first().map(parse).transpose()
}

/// The verdicts that the comments ask for: how many, and the trees that are allowed.
fn check_recipes(
    content: &str,
    kernel: &Arc<Kernel>,
    variant: Option<&Green>,
    oracle: &Oracle,
) -> Result<(usize, Vec<Choice>), String> {
    let registry = Registry::standard();
    let (mut judged, mut allowed) = (0, Vec::new());
    for key in ["always:", "allowed:", "under:", "refused:"] {
        for recipe in directives(content, key) {
            let root = match variant.filter(|_| recipe == "variant") {
                Some(variant) => variant.clone(),
                None => {
                    let parsed = Recipe::parse(recipe, &registry).map_err(|e| format!("{recipe}: {e}"))?;
                    parsed.replay(kernel, &kernel.original).map_err(|e| format!("{recipe}: {e}"))?
                }
            };
            let verdict = oracle.judge(&root);
            let right = match key {
                "always:" => verdict == Verdict::Always,
                "allowed:" => verdict.is_legal(),
                "under:" => matches!(verdict, Verdict::Under(_)),
                _ => !verdict.is_legal(),
            };
            if !right {
                return Err(format!("{key} {recipe}: the oracle says {verdict:?}"));
            }
            judged += 1;
            let Some(conditions) = verdict.conditions().map(<[_]>::to_vec) else { continue };
            let (parallel, recipe) = (BTreeSet::new(), recipe.to_owned());
            allowed.push(Choice { root, conditions, parallel, threads: 1, recipe });
        }
    }
    Ok((judged, allowed))
}

fn check_kernel(content: &str) -> Result<Done, String> {
    let program = text::parse(content).map_err(|e| e.to_string())?;
    let mut options = OracleOptions::default();
    if let Some(quota) = number(content, "quota:")? {
        options.quota = quota;
    }
    let kernel = program.kernel;
    let oracle = Oracle::new(kernel.clone(), &Polyhedral::default(), options);
    let oracle = match (oracle, directives(content, "no oracle").is_empty()) {
        (Ok(oracle), true) => oracle,
        (Err(_), false) => return Ok(Done::default()),
        (Ok(_), false) => return Err("there is an oracle".to_owned()),
        (Err(error), true) => return Err(error.to_string()),
    };
    let (judged, _) = check_recipes(content, &kernel, program.variant.as_ref(), &oracle)?;
    if let Some(variant) = &program.variant
        && let Ok(subject) = Subject::new(content.to_owned(), false)
    {
        let checked = subject.check(variant, &Recipe::default(), &mut Tally::default());
        checked.map_err(|unsound| format!("enumeration: {unsound}"))?;
    }
    let facts = oracle.loop_facts(&kernel.original);
    for (key, wanted) in [("parallel:", true), ("carries:", false)] {
        for at in directives(content, key) {
            let path: Result<Vec<u32>, _> = at.split('.').filter(|c| !c.is_empty()).map(str::parse).collect();
            let path = path.map_err(|_| format!("{at}: no path"))?;
            let fact = facts.get(&Path(path.into())).ok_or_else(|| format!("no loop at {at}"))?;
            if fact.parallel != wanted {
                return Err(format!("{key} {at}: carried are {:?}", fact.carried));
            }
        }
    }
    Ok(Done { judged, ..Done::default() })
}

/// Passes after emission, in turn.
const PIPELINES: [Option<&str>; 3] = [None, Some("default<O3>"), Some(crate::differential::PROMISES)];
/// Seconds for the calls of one module.
const SECONDS: u32 = 10;
/// Bytes of the block of memory.
const BYTES: usize = 1 << 14;

fn check_ir(content: &str, variants: usize) -> Result<Done, String> {
    let llvm = |e: irgen::llvm::LlvmError| e.to_string();
    let (bitcode, names, options) = {
        let context = Context::new();
        let mut module = context.parse(content.as_bytes(), "case").map_err(llvm)?;
        module.verify().map_err(llvm)?;
        let options = LiftOptions::default().knowing(&module);
        canonicalise(&mut module).map_err(llvm)?;
        let defined = module.functions().into_iter().filter(|f| !f.is_declaration() && f.name() != "entry");
        let names: Vec<String> = defined.map(|f| f.name()).collect();
        (module.to_bitcode(), names, options)
    };
    let original = {
        let context = Context::new();
        run(&context.parse(content.as_bytes(), "original").map_err(llvm)?, content)?
    };
    if let Some(outcome) = original
        && !matches!(outcome, Outcome::Value(_))
    {
        return Err(format!("the original ends with {outcome:?}"));
    }
    let mut done = Done::default();
    let planned = {
        let context = Context::new();
        let module = context.parse(&bitcode, "case").map_err(llvm)?;
        let mut planned =
            plan_module(&module, &names, &options, variants, &mut Rng::with_seed(1), &mut Default::default());
        for region in planned.iter_mut().flatten() {
            let kernel = region.kernel.clone();
            if let Ok(oracle) = Oracle::new(kernel.clone(), &Polyhedral::default(), OracleOptions::default())
            {
                let (judged, allowed) = check_recipes(content, &kernel, None, &oracle)?;
                done.judged += judged;
                // Behind the original order.
                let first = region.choices.len().min(1);
                region.choices.splice(first..first, allowed);
            }
        }
        planned
    };
    done.regions = planned.iter().map(Vec::len).sum();
    for wanted in directives(content, "kernel:") {
        let texts = planned.iter().flatten().map(|r| text::print_kernel(&r.kernel));
        if !texts.into_iter().any(|t| t.contains(wanted)) {
            return Err(format!("no kernel says {wanted}"));
        }
    }
    if let Some(regions) = number::<usize>(content, "regions:")?
        && regions != done.regions
    {
        return Err(format!("{} regions, not {regions}", done.regions));
    }
    let most = planned.iter().flatten().map(|r| r.choices.len()).max().unwrap_or(0);
    'variants: for at in 0..most {
        let context = Context::new();
        let mut module = context.parse(&bitcode, "variant").map_err(llvm)?;
        let mut recipes = Vec::new();
        let emitted = names.iter().zip(&planned).try_for_each(|(name, regions)| {
            replace(&module, name, &options, regions, at).map(|some| recipes.extend(some))
        });
        match emitted {
            Ok(()) => {}
            // A tree that cannot be emitted is left alone.
            Err(Unreplaced::NotEmitted) => continue,
            Err(Unreplaced::Different(what)) => return Err(what),
        }
        tell_owners_apart(&module, &options.owned).map_err(llvm)?;
        let recipes = recipes.join(" | ");
        module.verify().map_err(|e| format!("{recipes}: {e}"))?;
        if at == 0 {
            check_text(content, &module.to_string())?;
        }
        for pipeline in [PIPELINES[0], PIPELINES[1 + at % 2]] {
            if let Some(pipeline) = pipeline {
                run_passes(&mut module, pipeline)?;
            }
            let outcome = run(&module, content)?;
            if outcome == original {
                continue;
            }
            // LLVM's passes may get the original as wrong without us.
            if let Some(pipeline) = pipeline
                && outcome == alone(content, pipeline)?
            {
                continue 'variants;
            }
            return Err(format!("{recipes}, {pipeline:?}: {outcome:?}, not {original:?}"));
        }
        done.variants += 1;
    }
    Ok(done)
}

/// What the original ends with behind passes of LLVM.
fn alone(content: &str, pipeline: &str) -> Result<Option<Outcome>, String> {
    let llvm = |e: irgen::llvm::LlvmError| e.to_string();
    let context = Context::new();
    let mut module = context.parse(content.as_bytes(), "original").map_err(llvm)?;
    run_passes(&mut module, pipeline)?;
    run(&module, content)
}

fn run_passes(module: &mut Module<'_>, pipeline: &str) -> Result<(), String> {
    let llvm = |e: irgen::llvm::LlvmError| e.to_string();
    let target = TargetMachine::host(OptLevel::Default, CodeModel::Jit).map_err(llvm)?;
    module.run_passes(pipeline, Some(&target)).map_err(llvm)
}

/// What the comments say about the emitted text.
fn check_text(content: &str, emitted: &str) -> Result<(), String> {
    let code = |text: &str, wanted: &str| -> usize {
        text.lines().filter(|l| !l.trim_start().starts_with(';')).map(|l| l.matches(wanted).count()).sum()
    };
    for wanted in directives(content, "emitted:") {
        if code(emitted, wanted) <= code(content, wanted) {
            return Err(format!("nothing with {wanted} is emitted:\n{emitted}"));
        }
    }
    for rule in directives(content, "count ") {
        let (number, wanted) = rule.split_once(": ").ok_or_else(|| format!("count {rule}"))?;
        if number.parse() != Ok(code(emitted, wanted)) {
            return Err(format!(
                "{wanted} is there {} times, not {number}:\n{emitted}",
                code(emitted, wanted)
            ));
        }
    }
    Ok(())
}

enum Unreplaced {
    NotEmitted,
    Different(String),
}

/// Replaces the regions of a function by their variants of this number; the recipes.
fn replace(
    module: &Module<'_>,
    name: &str,
    options: &LiftOptions,
    planned: &[PlannedRegion],
    at: usize,
) -> Result<Vec<String>, Unreplaced> {
    let Some(function) = module.function(name).filter(|_| !planned.is_empty()) else { return Ok(vec![]) };
    let lifted = lift_function_with(module, function, options);
    if lifted.regions.len() != planned.len() {
        return Err(Unreplaced::Different("lifting again gives other regions".to_owned()));
    }
    let mut recipes = Vec::new();
    for (region, planned) in lifted.regions.iter().zip(planned) {
        if region.kernel.original != planned.kernel.original {
            return Err(Unreplaced::Different("lifting again gives another kernel".to_owned()));
        }
        let count = planned.choices.len().max(1);
        let Some(choice) = planned.choices.get(at % count) else { continue };
        let Choice { root, conditions, parallel, threads, recipe } = choice;
        let calls = Idioms::standard().calls(&region.kernel, root);
        let vector_bits = vector_bits(at);
        let variant = Variant { root, conditions, parallel, threads: *threads, calls: &calls, vector_bits };
        emit_region(module, region, variant).map_err(|_| Unreplaced::NotEmitted)?;
        recipes.push(format!("[{recipe}]"));
    }
    Ok(recipes)
}

/// Calls `entry`, if there is one, in a child process: a hash of its result and of the memory.
fn run(module: &Module<'_>, content: &str) -> Result<Option<Outcome>, String> {
    if module.function("entry").is_none_or(|f| f.is_declaration()) {
        return Ok(None);
    }
    let jit = Jit::new(OptLevel::None).map_err(|e| e.to_string())?;
    load_threads(&jit, module).map_err(|e| e.to_string())?;
    if let Some(most) = number::<u64>(content, "allocations:")? {
        let context = Context::new();
        let short = ALLOCATOR.replace("MOST", &most.to_string());
        let short = context.parse(short.as_bytes(), "allocator").map_err(|e| e.to_string())?;
        jit.add(&short).map_err(|e| e.to_string())?;
    }
    jit.add(module).map_err(|e| e.to_string())?;
    // SAFETY: by the convention of cases; the JIT lives until the call is made.
    let entry: unsafe extern "C" fn(*mut u64) -> i64 =
        unsafe { jit.lookup("entry").map_err(|e| e.to_string())? };
    let kind = directives(content, "memory:").first().copied().unwrap_or("i32").to_owned();
    let work = |_| {
        let mut block = memory(&kind);
        // SAFETY: a case stays inside of its block; a wrong one may do anything, in a process of its own.
        let result = unsafe { entry(block.as_mut_ptr()) };
        let bytes: Vec<u8> = block.iter().flat_map(|w| w.to_le_bytes()).collect();
        xxhash_rust::xxh3::xxh3_64(&bytes).wrapping_mul(3) ^ result as u64
    };
    Ok(isolated(1, SECONDS, &work).map_err(|e| e.to_string())?.first().copied())
}

/// An allocator that has memory for some allocations only, in the place of the process's.
const ALLOCATOR: &str = "
@made = global i64 0
@open = global i64 0
declare ptr @calloc(i64, i64)
define ptr @malloc(i64 %bytes) noinline optnone {
  %n = load i64, ptr @made
  %more = icmp ult i64 %n, MOST
  br i1 %more, label %give, label %none
give:
  %next = add i64 %n, 1
  store i64 %next, ptr @made
  %o = load i64, ptr @open
  %o.more = add i64 %o, 1
  store i64 %o.more, ptr @open
  %p = call ptr @calloc(i64 1, i64 %bytes)
  ret ptr %p
none:
  ret ptr null
}
define void @free(ptr %p) noinline optnone {
  %null = icmp eq ptr %p, null
  br i1 %null, label %end, label %back
back:
  %o = load i64, ptr @open
  %o.less = sub i64 %o, 1
  store i64 %o.less, ptr @open
  br label %end
end:
  ret void
}
define i64 @held() {
  %o = load i64, ptr @open
  ret i64 %o
}";

/// Small numbers, different ones next to each other.
fn memory(kind: &str) -> Vec<u64> {
    let small = |at: usize| ((at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as i64 - 9;
    (0..BYTES / 8)
        .map(|word| match kind {
            "f64" => (small(word) as f64).to_bits(),
            "f32" => {
                let of = |at| u64::from((small(at) as f32).to_bits());
                of(2 * word) | of(2 * word + 1) << 32
            }
            _ => {
                let of = |at| u64::from(small(at) as u32);
                of(2 * word) | of(2 * word + 1) << 32
            }
        })
        .collect()
}

/// The cases that are kept with the crate: name and content, in order of their names.
pub fn kept() -> std::io::Result<Vec<(String, String)>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    files
        .into_iter()
        .map(|f| Ok((f.file_name().to_string_lossy().into_owned(), std::fs::read_to_string(f.path())?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_cases_say_holds() {
        let (mut wrong, mut total) = (Vec::new(), Done::default());
        for (name, content) in kept().expect("the folder is there") {
            match check(&name, &content, 4) {
                Ok(done) => total.add(done),
                Err(what) => wrong.push(format!("{name}: {what}")),
            }
        }
        eprintln!("{total:?}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(total.variants > 20 && total.judged > 20);
    }
}
