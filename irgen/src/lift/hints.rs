//! What users ask of loops by pragmas, and is not ours to overrule. What is a transformation ([`Wish`]) can be done; nests of which anything else
//! is asked stay as they are, with their hints.

use super::Region;
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

/// A transformation that a pragma asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wish {
    /// `distribute(enable)`
    Distribute,
    /// `vectorize_width(N)`
    Vectorize(i64),
    /// `unroll_and_jam(N)`
    UnrollAndJam(i64),
    /// `unroll_count(N)`, `unroll N`
    Unroll(i64),
    /// `unroll(full)`
    UnrollFully,
}

impl Wish {
    /// `None` for what says nothing that has a recipe.
    fn read(name: &str, value: &HintValue) -> Option<Wish> {
        Some(match (name, value) {
            ("distribute.enable", HintValue::Bool(true)) => Wish::Distribute,
            // A width of 1 forbids vectors.
            ("vectorize.width", HintValue::Int(n @ 2..)) => Wish::Vectorize(*n),
            ("unroll_and_jam.count", HintValue::Int(n @ 2..)) => Wish::UnrollAndJam(*n),
            ("unroll.count", HintValue::Int(n @ 2..)) => Wish::Unroll(*n),
            ("unroll.full", HintValue::Flag) => Wish::UnrollFully,
            _ => return None,
        })
    }
}

/// The transformations that pragmas ask for in a region, with the loops by the numbers of their variables: outer ones first.
pub fn wishes_of(region: &Region<'_>) -> Vec<(usize, Wish)> {
    let mut result = Vec::new();
    for (number, binding) in region.loops.iter().enumerate() {
        let hints = binding.latch.terminator().map(Inst::loop_hints).unwrap_or_default();
        let wishes = hints.iter().filter_map(|h| Wish::read(suffix(h)?, &h.value));
        result.extend(wishes.map(|wish| (number, wish)));
    }
    result
}

/// What comes with a width, and says no more than that.
fn says_with_a_width(name: &str, value: &HintValue) -> bool {
    match name {
        "vectorize.enable" => *value == HintValue::Bool(true),
        "vectorize.scalable.enable" => *value == HintValue::Bool(false),
        _ => false,
    }
}

/// For each loop, what a user wants of it or of a loop around it that is no transformation.
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
        let read = |h: &LoopHint| Wish::read(suffix(h)?, &h.value);
        let wide = hints.iter().any(|h| matches!(read(h), Some(Wish::Vectorize(_))));
        let is_wish = |h: &&LoopHint| match suffix(h) {
            Some(UNROLL_DISABLE) => !by_flag,
            Some(_) if read(h).is_some() => false,
            Some(name) => !(NO_WISHES.contains(&name) || wide && says_with_a_width(name, &h.value)),
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
