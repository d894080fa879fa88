//! Variants of a batch against the original.

use super::asked;
use super::batch::{Batch, BatchError, Level, execute};
use super::calls::TAKEN;
use super::isolate::Outcome;
use super::plan::{Choice, PlanTally, PlannedRegion, plan, vector_bits};
use crate::c_programs::{Fitted, shrink, text};
use crate::legality::has_buffers;
use crate::soak::{add_counts, processor_micros};
use analyses::idioms::Idioms;
use fastrand::Rng;
use irgen::emit::{Variant, emit_region, tell_owners_apart};
use irgen::lift::{LiftOptions, canonicalise, lift_function_with};
use irgen::llvm::{Builder, CodeModel, Context, LlvmError, Module, OptLevel, TargetMachine};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of a run.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Functions.
    pub programs: u64,
    /// Functions on which clang's levels disagree; not used.
    pub unstable: u64,
    /// Variants that ran: functions in which some region was replaced.
    pub variants: u64,
    /// Of these, with another order than the original's.
    pub reordered: u64,
    /// Of these, with buffers.
    pub buffered: u64,
    /// Calls compared.
    pub calls: u64,
    /// Of these, new code ran.
    pub taken: u64,
    /// Of these, the run-time check sent to the original code.
    pub declined: u64,
    /// Variants that emission refused, by cause.
    pub not_emitted: BTreeMap<String, u64>,
    /// About lifting and the oracle.
    pub plan: PlanTally,
    /// Where the time goes, in microseconds.
    pub times: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds the counts of another one.
    pub fn add(&mut self, other: &Tally) {
        self.programs += other.programs;
        self.unstable += other.unstable;
        self.variants += other.variants;
        self.reordered += other.reordered;
        self.buffered += other.buffered;
        self.calls += other.calls;
        self.taken += other.taken;
        self.declined += other.declined;
        add_counts(&mut self.not_emitted, &other.not_emitted);
        self.plan.add(&other.plan);
        add_counts(&mut self.times, &other.times);
    }

    fn time<T>(&mut self, phase: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = processor_micros();
        let result = work(self);
        *self.times.entry(phase.to_owned()).or_default() += processor_micros().saturating_sub(start);
        result
    }
}

/// A variant that computes something else, or a failure of the compiler itself.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Number in the batch.
    pub function: usize,
    /// Form of the input.
    pub level: Level,
    /// The recipe of each region.
    pub recipes: Vec<String>,
    /// What happened.
    pub what: String,
}

/// How variants are compiled after emission. The whole of `-O3` takes ten times as long as the rest together, so that
/// most variants have only the passes that would make use of a wrong promise: of aliasing, wrapping, or a loop's iterations.
fn pipeline(number: usize, seed: u64) -> Option<&'static str> {
    match (number as u64).wrapping_add(seed) % 16 {
        0 => Some("default<O3>"),
        8 => Some("default<O1>"),
        n if n.is_multiple_of(3) => Some(PROMISES),
        _ => None,
    }
}

/// Passes that make use of promises, and little else. LLVM 22 crashes where loops are vectorised with what `indvars` remembers of
/// them (`for (k = 2 * j; k < j; k++)`, unsigned, has a trip count no more); in its own pipelines other passes lie between.
pub const PROMISES: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),gvn,indvars,\
     invalidate<scalar-evolution>,loop-vectorize,dse,simplifycfg)";

/// Runs up to `count` variants of every function at one level.
pub fn check(
    batch: &Batch,
    level: Level,
    count: usize,
    seed: u64,
    tally: &mut Tally,
) -> Result<Vec<Mismatch>, BatchError> {
    let (plain, optimised) = tally.time("original", |_| batch.reference())?;
    let calls = batch.calls();
    let owners: Vec<usize> = calls.list().map(|(number, _)| number).collect();
    let mut unstable = vec![false; batch.functions.len()];
    for ((a, b), owner) in plain.iter().zip(&optimised).zip(&owners) {
        unstable[*owner] |= a != b || !matches!(a, Outcome::Value(_));
    }
    tally.programs += batch.functions.len() as u64;
    tally.unstable += unstable.iter().filter(|u| **u).count() as u64;

    let (options, canonical) = {
        let context = Context::new();
        let mut module = batch.module(&context, level)?;
        let options = asked(seed).knowing(&module);
        canonicalise(&mut module)?;
        (options, module.to_bitcode())
    };
    let planned = {
        let context = Context::new();
        let module = context.parse(&canonical, "canonical")?;
        tally.time("oracle", |t| {
            plan(&module, batch.functions.len(), &options, count, &mut Rng::with_seed(seed), &mut t.plan)
        })
    };
    let mut mismatches = Vec::new();
    let most = planned.iter().flatten().map(|r| r.choices.len()).max().unwrap_or(0);
    for number in 0..most {
        let context = Context::new();
        let mut module = context.parse(&canonical, "variant")?;
        let mut kept = vec![false; batch.functions.len()];
        for (function, regions) in planned.iter().enumerate() {
            if unstable[function] {
                continue;
            }
            match tally.time("emit", |_| emit(&module, &options, function, regions, number)) {
                Ok(Emission::Nothing) => {}
                Ok(Emission::Replaced { reordered, buffered }) => {
                    kept[function] = true;
                    tally.variants += 1;
                    tally.buffered += u64::from(buffered);
                    tally.reordered += u64::from(reordered);
                }
                Err(error) => *tally.not_emitted.entry(error).or_default() += 1,
            }
        }
        for function in (0..kept.len()).filter(|f| !kept[*f]) {
            let test = format!("test_{function}");
            // What was outlined before emission failed is as unusable as the rest; it is used there if at all.
            let part = |name: &str| name.strip_prefix(&test).is_some_and(|rest| rest.starts_with('.'));
            let parts: Vec<String> =
                module.functions().into_iter().map(|f| f.name()).filter(|n| part(n)).collect();
            for name in [format!("run_{function}"), test].iter().chain(&parts) {
                if module.function(name).is_some() {
                    module.delete_function(name)?;
                }
            }
        }
        let describe = |function: usize, what: String| {
            let recipes = planned[function]
                .iter()
                .map(|r| {
                    choice(r, number).map_or("-".to_owned(), |c| format!("{} {:?}", c.recipe, c.conditions))
                })
                .collect();
            Mismatch { function, level, recipes, what }
        };
        tell_owners_apart(&module, &options.owned)?;
        if let Err(error) = module.verify() {
            let wrong = |function: &usize| module.verify_function(&format!("test_{function}")).is_err();
            // Where it is none of these, something was outlined of any of them.
            let function = (0..kept.len()).filter(|f| kept[*f]).find(wrong).unwrap_or(0);
            let error = error.to_string().replace('\n', ";");
            mismatches.push(describe(function, format!("does not verify: {error}")));
            continue;
        }
        let pipeline = pipeline(number, seed);
        if let Some(pipeline) = pipeline {
            let target = TargetMachine::host(OptLevel::Default, CodeModel::Jit)?;
            tally.time("optimise", |_| module.run_passes(pipeline, Some(&target)))?;
        }
        let outcomes = tally
            .time("compile and run", |_| execute(&module, batch.functions.len(), OptLevel::None, &calls))?;
        let mut reported = vec![false; batch.functions.len()];
        for (at, ((outcome, expected), owner)) in outcomes.iter().zip(&plain).zip(&owners).enumerate() {
            if !kept[*owner] {
                continue;
            }
            tally.calls += 1;
            let same = match (outcome, expected) {
                (Outcome::Value(a), Outcome::Value(b)) => {
                    let taken = a & TAKEN != 0;
                    tally.taken += u64::from(taken);
                    tally.declined += u64::from(!taken);
                    a & !TAKEN == b & !TAKEN
                }
                _ => false,
            };
            // The original ran, and LLVM's passes get it as wrong without us: it takes stores for dead in front of calls that do not
            // return, though `longjmp` leads to who reads them.
            let ran = matches!(outcome, Outcome::Value(a) if a & TAKEN == 0);
            if !same
                && ran
                && let Some(passes) = pipeline
                && &batch.behind(level, passes, OptLevel::None)?[at] == outcome
            {
                tally.unstable += u64::from(!std::mem::replace(&mut unstable[*owner], true));
                continue;
            }
            if !same && !reported[*owner] {
                reported[*owner] = true;
                let pipeline = pipeline.unwrap_or("no passes");
                mismatches.push(describe(
                    *owner,
                    format!("call {at}: {outcome:?}, expected {expected:?}; {pipeline}"),
                ));
            }
        }
    }
    Ok(mismatches)
}

enum Emission {
    Nothing,
    Replaced { reordered: bool, buffered: bool },
}

fn choice(region: &PlannedRegion, number: usize) -> Option<&Choice> {
    (!region.choices.is_empty()).then(|| &region.choices[number % region.choices.len()])
}

/// Replaces the regions of a function by their variants of that number.
fn emit(
    module: &Module<'_>,
    options: &LiftOptions,
    function: usize,
    planned: &[PlannedRegion],
    number: usize,
) -> Result<Emission, String> {
    if planned.iter().all(|r| number >= r.choices.len()) {
        return Ok(Emission::Nothing);
    }
    let Some(f) = module.function(&format!("test_{function}")) else { return Ok(Emission::Nothing) };
    let lifted = lift_function_with(module, f, options);
    if lifted.regions.len() != planned.len() {
        return Err("lifting the same function again gives other regions".to_owned());
    }
    let (mut replaced, mut reordered, mut buffered) = (false, false, false);
    for (region, planned) in lifted.regions.iter().zip(planned) {
        if region.kernel.original != planned.kernel.original {
            return Err("lifting the same function again gives another kernel".to_owned());
        }
        let Some(choice) = choice(planned, number) else { continue };
        let calls = Idioms::standard().calls(&region.kernel, &choice.root);
        let Choice { root, conditions, parallel, threads, .. } = choice;
        let vector_bits = vector_bits(number);
        let variant = Variant { root, conditions, parallel, threads: *threads, calls: &calls, vector_bits };
        emit_region(module, region, variant).map_err(|e| e.to_string())?;
        replaced = true;
        reordered |= choice.root != planned.kernel.original;
        buffered |= has_buffers(&choice.root);
    }
    count_entries(module, function).map_err(|e| e.to_string())?;
    Ok(if replaced { Emission::Replaced { reordered, buffered } } else { Emission::Nothing })
}

/// Counts in `taken_<number>` how often new code is entered.
fn count_entries(module: &Module<'_>, function: usize) -> Result<(), LlvmError> {
    let name = format!("taken_{function}");
    let (Some(f), Some(counter)) = (module.function(&format!("test_{function}")), module.global(&name))
    else {
        return Ok(());
    };
    let mut builder = Builder::new(module);
    for block in f.blocks().into_iter().filter(|b| b.name().starts_with("looptree.new")) {
        let Some(first) = block.first_inst() else { continue };
        builder.position_before(first)?;
        let ty = module.context().i64();
        let before = builder.load(ty, counter.value(), 8, "")?.value();
        let one = ty.const_int(1)?;
        let after =
            builder.binary(irgen::llvm::Opcode::Add, before, one, irgen::llvm::PoisonFlags::empty(), "")?;
        builder.store(after, counter.value(), 8)?;
    }
    Ok(())
}

/// Variants tried on each smaller function.
const SHRINK_VARIANTS: usize = 16;

/// A smaller function that fails too, as a C program with what is known about the failure. `None` where the failure does
/// not show again on the function alone.
pub fn shrink_mismatch(fitted: &Fitted, level: Level, seed: u64) -> Option<String> {
    let attempt = |candidate: &Fitted| -> Option<Mismatch> {
        let batch = Batch::new(vec![candidate.clone()], seed).ok()?;
        (0..3).find_map(|more| {
            let found = check(&batch, level, SHRINK_VARIANTS, seed ^ more, &mut Tally::default());
            found.ok()?.into_iter().next()
        })
    };
    attempt(fitted)?;
    let smallest = shrink::shrink(fitted, 150, &mut |candidate| attempt(candidate).is_some());
    let mismatch = attempt(&smallest)?;
    let mut out = String::new();
    let _ = writeln!(out, "// Input: {:?}. {}", mismatch.level, mismatch.what);
    for (region, recipe) in mismatch.recipes.iter().enumerate() {
        let _ = writeln!(out, "// Region {region}: {recipe}");
    }
    let scenarios = crate::c_programs::scenario::scenarios(&smallest, seed, 2);
    out.push_str(&text::program(&smallest, &scenarios));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_programs::{Profile, generate};

    #[test]
    fn variants_compute_what_the_original_does() {
        let mut tally = Tally::default();
        let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
        let first: u64 = number("PROOF_FIRST").unwrap_or(0);
        let batches: u64 = number("PROOF_BATCHES").unwrap_or(1);
        for at in first..first + batches {
            let profile = if at.is_multiple_of(2) { Profile::affine() } else { Profile::default() };
            let functions: Vec<Fitted> = (0..40).filter_map(|s| generate(at * 40 + s, &profile)).collect();
            let batch = Batch::new(functions, at).unwrap();
            let level = [Level::Raw, Level::O1, Level::O2][at as usize % 3];
            let start = std::time::Instant::now();
            let mismatches = check(&batch, level, 8, at, &mut tally).unwrap();
            eprintln!("batch {at} {:?}", start.elapsed());
            if let Some(m) = mismatches.first() {
                let text = shrink_mismatch(&batch.functions[m.function], m.level, at);
                eprintln!("{tally:#?}");
                panic!(
                    "batch {at}: {m:#?}\n{}",
                    text.unwrap_or_else(|| text::function(&batch.functions[m.function], 0))
                );
            }
        }
        eprintln!("{tally:#?}");
        assert!(tally.taken > 0);
    }
}
