//! What lifting and emission make of a file, for people who look at a failing case.

use super::asked;
use super::batch::{BatchError, front_end};
use analyses::dependences::Polyhedral;
use analyses::idioms::Idioms;
use analyses::{Oracle, OracleOptions, Verdict};
use irgen::emit::{Variant, emit_region};
use irgen::lift::{canonicalise, lift_function_with};
use irgen::llvm::Context;
use loop_tree::text::print_kernel;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use transforms::{Recipe, Registry};

/// Applies a recipe to every region of `test_0` of a C file, as for a seed; kernels, verdicts and the module as text.
pub fn show(file: &Path, before: &str, recipe: &str, seed: u64) -> Result<String, BatchError> {
    let source = std::fs::read_to_string(file)?;
    let context = Context::new();
    let mut module = context.parse(&front_end(&source, seed)?, "shown")?;
    if !before.is_empty() {
        module.run_passes(before, None)?;
    }
    let options = asked(seed).knowing(&module);
    canonicalise(&mut module)?;
    let mut out = String::new();
    let Some(function) = module.function("test_0") else {
        return Err(BatchError::Clang("there is no function test_0".to_owned()));
    };
    let _ = writeln!(out, "; ---- canonical\n{module}");
    let lifted = lift_function_with(&module, function, &options);
    for remark in &lifted.remarks {
        let _ = writeln!(out, "; remark {}: {}", remark.code, remark.message);
    }
    for region in &lifted.regions {
        let _ = writeln!(out, "; ---- region\n{}", print_kernel(&region.kernel));
        let root = Recipe::parse(recipe, &Registry::standard())
            .map_err(|e| e.to_string())
            .and_then(|r| r.replay(&region.kernel, &region.kernel.original).map_err(|e| e.to_string()));
        let root = match root {
            Ok(root) => root,
            Err(error) => {
                let _ = writeln!(out, "; recipe: {error}");
                continue;
            }
        };
        let oracle = Oracle::new(region.kernel.clone(), &Polyhedral::default(), OracleOptions::default());
        let (verdict, parallel) = match &oracle {
            Ok(oracle) => {
                let facts = oracle.loop_facts(&root).into_iter();
                (oracle.judge(&root), facts.filter(|(_, f)| f.parallel).map(|(path, _)| path).collect())
            }
            Err(error) => {
                let _ = writeln!(out, "; oracle: {error}");
                (Verdict::Always, BTreeSet::new())
            }
        };
        let _ = writeln!(out, "; verdict {verdict:?}, parallel {parallel:?}");
        let Some(conditions) = verdict.conditions() else { continue };
        let calls = Idioms::standard().calls(&region.kernel, &root);
        let variant = Variant { conditions, parallel: &parallel, calls: &calls, ..Variant::of(&root) };
        if let Err(error) = emit_region(&module, region, variant) {
            let _ = writeln!(out, "; emission: {error}");
        }
    }
    let _ = writeln!(out, "; ---- emitted\n{module}");
    Ok(out)
}
