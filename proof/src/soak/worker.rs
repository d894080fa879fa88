//! One seed after the other.

use super::{Part, Report};
use crate::c_programs::{Fitted, Profile, generate};
use crate::differential::{Batch, Level, check, shrink_mismatch};
use crate::ir_loops::KINDS;
use crate::{kernels, legality};
use clap::ValueEnum;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Functions per translation unit.
const FUNCTIONS: u64 = 40;
/// Variants of each function.
const VARIANTS: usize = 32;
/// Kernels per seed, and variants of each.
const KERNELS: (u64, usize) = (2, 12);

/// Random loops of each kind per seed, and variants of each.
const LOOPS: (u64, usize) = (10, 6);

/// Works through seeds until the process is ended.
pub fn work(first: u64, stride: u64, only: Option<Part>, failures: &Path) -> ExitCode {
    let mut out = std::io::stdout();
    let mut seed = first;
    loop {
        let mut say = |text: &str| writeln!(out, "{text}").and_then(|()| out.flush());
        if say(&format!("seed {seed}")).is_err() {
            return ExitCode::SUCCESS;
        }
        let report = one(seed, only, failures);
        let text = serde_json::to_string(&report).unwrap_or_default();
        if say(&text).is_err() {
            return ExitCode::SUCCESS;
        }
        seed = seed.wrapping_add(stride.max(1));
    }
}

/// Everything of one seed, or `only` a part of it. What is wrong is shrunk and written to the directory.
pub fn one(seed: u64, only: Option<Part>, failures: &Path) -> Report {
    let mut report = Report::default();
    for part in Part::value_variants().iter().filter(|part| only.is_none_or(|only| only == **part)) {
        match part {
            Part::Kernels => kernels(seed, failures, &mut report),
            Part::Loops => loops(seed, failures, &mut report),
            Part::Programs => programs(seed, failures, &mut report),
        }
    }
    report
}

/// Writes what is wrong into a file of its own.
fn file(report: &mut Report, seed: u64, failures: &Path, name: &str, text: String) {
    let path = failures.join(name);
    let written = std::fs::create_dir_all(failures).and_then(|()| std::fs::write(&path, text));
    let note = written.err().map(|e| format!(" ({e})")).unwrap_or_default();
    report.failures.push(format!("seed {seed}: {}{note}", path.display()));
}

fn kernels(seed: u64, failures: &Path, report: &mut Report) {
    for number in 0..KERNELS.0 {
        let kernel = seed * KERNELS.0 + number;
        for (kind, source) in
            [("oracle", kernels::generate(kernel, 3)), ("storage", kernels::storage::generate(kernel))]
        {
            if let Err(unsound) = legality::check_source(&source, kernel, KERNELS.1, &mut report.kernels) {
                file(report, seed, failures, &format!("{kind}-{kernel}.lt"), unsound.to_string());
            }
        }
    }
}

fn loops(seed: u64, failures: &Path, report: &mut Report) {
    for number in seed * LOOPS.0..(seed + 1) * LOOPS.0 {
        for kind in KINDS {
            match kind.check(number, LOOPS.1) {
                Ok(done) => report.loops.entry(kind.name.to_string()).or_default().add(done),
                Err(what) => file(report, seed, failures, &format!("{}-{number}.ll", kind.name), what),
            }
        }
    }
}

fn programs(seed: u64, failures: &Path, report: &mut Report) {
    let profile = if seed.is_multiple_of(3) { Profile::affine() } else { Profile::default() };
    // Three quarters of them small: what goes wrong with two statements is found sooner there.
    let profile =
        if seed.is_multiple_of(4) { profile } else { Profile { statements: 3, depth: 3, ..profile } };
    let own_scalars = if seed % 5 < 3 { 40 } else { 0 };
    let temporaries = if seed.is_multiple_of(2) { 60 } else { 0 };
    let profile = Profile { own_scalars, temporaries, ..profile };
    let numbers = seed * FUNCTIONS..(seed + 1) * FUNCTIONS;
    let functions: Vec<Fitted> = numbers.filter_map(|s| generate(s, &profile)).collect();
    let level = [Level::Raw, Level::O1, Level::O2][(seed / 3 % 3) as usize];
    let checked = Batch::new(functions, seed).and_then(|batch| {
        check(&batch, level, VARIANTS, seed, &mut report.programs).map(|found| (batch, found))
    });
    match checked {
        Err(error) => report.failures.push(format!("seed {seed}: {error}")),
        Ok((batch, mismatches)) => {
            let mut seen = std::collections::BTreeSet::new();
            for mismatch in mismatches {
                // One variant of a function is enough, and a few functions.
                if !seen.insert(mismatch.function) || seen.len() > 3 {
                    continue;
                }
                let text = shrink_mismatch(&batch.functions[mismatch.function], level, seed);
                let text = text.unwrap_or_else(|| {
                    format!("// {mismatch:?}\n// Not seen on the function alone:\n{}", batch.source)
                });
                file(report, seed, failures, &format!("program-{seed}-{}.c", mismatch.function), text);
            }
        }
    }
}

/// Runs one function with `tries` placings of its arrays. What is wrong first, shrunk.
pub fn function(fitted: &Fitted, tries: u64) -> Option<String> {
    for seed in 0..tries {
        let Ok(batch) = Batch::new(vec![fitted.clone()], seed) else { continue };
        for level in [Level::Raw, Level::O1, Level::O2] {
            let found = check(&batch, level, VARIANTS, seed, &mut Default::default());
            if found.is_ok_and(|list| !list.is_empty()) {
                return Some(shrink_mismatch(fitted, level, seed).unwrap_or_default());
            }
        }
    }
    None
}
