//! What users ask of loops by pragmas, and is not ours to overrule: such nests stay as they are, with their hints.

use super::cfg::Cfg;
use crate::llvm::{Function, HintValue, Inst, LoopHint, Module};

/// Properties of loops that no user has asked for, or that a flag of the compiler puts on all of them.
const NO_WISHES: [&str; 6] = [
    "mustprogress",
    "isvectorized",
    "estimated_trip_count",
    "peeled.count",
    "unroll.runtime.disable",
    "parallel_accesses",
];

const UNROLL_DISABLE: &str = "unroll.disable";

/// For each loop, what a user wants of it or of a loop around it.
pub(super) fn wishes(module: &Module<'_>, cfg: &Cfg<'_>) -> Vec<Option<String>> {
    let own: Vec<Vec<LoopHint>> = cfg
        .loops
        .iter()
        .map(|l| {
            l.latches.iter().filter_map(|&b| cfg.blocks[b].terminator()).flat_map(Inst::loop_hints).collect()
        })
        .collect();
    let disabled = own.iter().flatten().any(|h| suffix(h) == Some(UNROLL_DISABLE));
    // `-fno-unroll-loops`, and `-O1`, which implies it, say so of every loop.
    let by_flag = disabled && module.functions().into_iter().all(is_never_unrolled);
    let wish = |hints: &[LoopHint]| {
        let is_wish = |h: &&LoopHint| match suffix(h) {
            Some(UNROLL_DISABLE) => !by_flag,
            Some(name) => !NO_WISHES.contains(&name),
            None => false,
        };
        hints.iter().find(is_wish).map(text)
    };
    let mut all: Vec<Option<String>> = own.iter().map(|hints| wish(hints)).collect();
    // Outer loops come before inner ones.
    for l in 0..all.len() {
        if let (None, Some(parent)) = (&all[l], cfg.loops[l].parent) {
            all[l] = all[parent].clone();
        }
    }
    all
}

/// The name of a property, without what all of them begin with.
fn suffix(hint: &LoopHint) -> Option<&str> {
    hint.name.strip_prefix("llvm.loop.")
}

fn text(hint: &LoopHint) -> String {
    let name = suffix(hint).unwrap_or(&hint.name);
    match hint.value {
        HintValue::Bool(on) => format!("{name} = {on}"),
        HintValue::Int(n) => format!("{name} = {n}"),
        HintValue::Flag | HintValue::Other => name.to_string(),
    }
}

/// Whether all loops that say anything say something of unrolling.
fn is_never_unrolled(function: Function<'_>) -> bool {
    function.blocks().into_iter().filter_map(|b| b.terminator()).all(|end| {
        let hints = end.loop_hints();
        hints.is_empty()
            || hints
                .iter()
                .filter_map(suffix)
                .any(|name| name.starts_with("unroll.") || name.contains("followup"))
    })
}
