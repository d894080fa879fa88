//! What users ask of loops by pragmas, and is not ours to overrule. What is a transformation ([`Wish`]) can be done. A loop of which something is
//! said to the compiler stays one, and hands that on ([`Kept`]). Nests of which anything else is asked stay as they are, with their hints.

use super::Region;
use super::cfg::{Cfg, reverse_postorder};
use crate::llvm::{Block, Function, HintValue, Inst, LoopHint, Module};
use loop_tree::{Kept, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Properties of loops that no user has asked for, or that a flag of the compiler puts on all of them.
const NO_WISHES: [&str; 7] = [
    "mustprogress",
    "isvectorized",
    "estimated_trip_count",
    "peeled.count",
    "unroll.runtime.disable",
    "unswitch.partial.disable",
    "parallel_accesses",
];

const UNROLL_DISABLE: &str = "unroll.disable";

/// A transformation that a pragma asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wish {
    /// `distribute(enable)`
    Distribute,
    /// `vectorize_width(N)`, so many times as `interleave_count(N)` says; `vectorize(enable)` without a width.
    Vectorize {
        /// Lanes of a vector, where they are said.
        width: Option<i64>,
        /// Vectors at once.
        interleaved: i64,
    },
    /// `unroll_and_jam(N)`
    UnrollAndJam(i64),
    /// `unroll_count(N)`, `unroll N`
    Unroll(i64),
    /// `unroll(full)`
    UnrollFully,
}

/// What one property says.
enum Says {
    /// No more than others that are there, or nothing to us.
    Nothing,
    Wish(Wish),
    Kept(Kept),
    /// What we neither do nor hand on.
    Other,
}

/// What all properties of a loop say together.
#[derive(Clone, Default)]
pub(super) struct Said {
    wishes: Vec<Wish>,
    pub kept: Option<Kept>,
    /// Why the nest stays as it is.
    pub stays: Option<String>,
}

impl Said {
    fn read(hints: &[LoopHint], by_flag: bool) -> Said {
        let mut said = Said::default();
        for hint in hints {
            let Some(name) = suffix(hint) else { continue };
            if name == UNROLL_DISABLE && by_flag {
                continue;
            }
            match says(name, &hint.value, hints) {
                Says::Nothing => {}
                Says::Wish(wish) => said.wishes.push(wish),
                Says::Kept(kept) => {
                    said.kept = Some(if said.kept == Some(Kept::Scalar) { Kept::Scalar } else { kept });
                }
                Says::Other => said.stays = said.stays.or_else(|| Some(text(hint))),
            }
        }
        // What is done to a loop by us leaves none to which the rest could be said.
        if let (Some(_), [_, ..]) = (said.kept, &said.wishes[..]) {
            let kept = |h: &&LoopHint| {
                let name = suffix(h);
                name.is_some_and(|name| matches!(says(name, &h.value, hints), Says::Kept(_)))
            };
            said.stays = said.stays.or_else(|| hints.iter().find(kept).map(text));
        }
        said
    }
}

/// What a property says beside the others of its loop.
fn says(name: &str, value: &HintValue, beside: &[LoopHint]) -> Says {
    let number = |wanted: &str| {
        beside.iter().find(|h| suffix(h) == Some(wanted)).and_then(|h| match h.value {
            HintValue::Int(n) => Some(n),
            _ => None,
        })
    };
    let has = |wanted: &str| beside.iter().any(|h| suffix(h) == Some(wanted));
    let width = number("vectorize.width").filter(|n| *n > 1);
    let enabled =
        beside.iter().any(|h| suffix(h) == Some("vectorize.enable") && h.value == HintValue::Bool(true));
    // A width of 1 forbids vectors.
    let vectors = width.is_some() || enabled && number("vectorize.width") != Some(1);
    match (name, value) {
        _ if NO_WISHES.contains(&name) => Says::Nothing,
        // That iterations are independent is said to LLVM, which believes it.
        ("vectorize.enable", HintValue::Bool(true)) if has("parallel_accesses") => Says::Other,
        ("vectorize.width", HintValue::Int(2..)) => {
            Says::Wish(Wish::Vectorize { width, interleaved: number("interleave.count").unwrap_or(1).max(1) })
        }
        ("vectorize.enable", HintValue::Bool(true)) if width.is_some() => Says::Nothing,
        ("vectorize.enable", HintValue::Bool(true)) if vectors => Says::Wish(Wish::Vectorize {
            width: None,
            interleaved: number("interleave.count").unwrap_or(1).max(1),
        }),
        ("vectorize.scalable.enable", HintValue::Bool(false)) => Says::Nothing,
        ("interleave.count", HintValue::Int(_)) if vectors => Says::Nothing,
        ("vectorize.width", HintValue::Int(1)) | ("vectorize.enable", HintValue::Bool(false)) => {
            Says::Kept(Kept::Scalar)
        }
        ("distribute.enable", HintValue::Bool(true)) => Says::Wish(Wish::Distribute),
        ("unroll_and_jam.count", HintValue::Int(n @ 2..)) => Says::Wish(Wish::UnrollAndJam(*n)),
        ("unroll.count", HintValue::Int(n @ 2..)) => Says::Wish(Wish::Unroll(*n)),
        ("unroll.full", HintValue::Flag) => Says::Wish(Wish::UnrollFully),
        ("unroll.enable", HintValue::Flag) if has("unroll.count") || has("unroll.full") => Says::Nothing,
        ("unroll_and_jam.enable", HintValue::Flag) if has("unroll_and_jam.count") => Says::Nothing,
        _ if is_handed_on(name, value) => Says::Kept(Kept::Loop),
        _ => Says::Other,
    }
}

/// What a compiler may be told of a loop that is in another place than before, and does or leaves there.
fn is_handed_on(name: &str, value: &HintValue) -> bool {
    matches!(
        (name, value),
        ("vectorize.width", HintValue::Int(1))
            | ("vectorize.enable" | "distribute.enable", HintValue::Bool(false))
            | ("interleave.count", HintValue::Int(_))
            | ("pipeline.disable", HintValue::Bool(true))
            | (
                "unroll.disable" | "unroll.enable" | "unroll_and_jam.disable" | "unroll_and_jam.enable",
                HintValue::Flag
            )
    )
}

/// The transformations that pragmas ask for in a region, with the loops by the numbers of their variables: outer ones first.
pub fn wishes_of(region: &Region<'_>) -> Vec<(usize, Wish)> {
    let of = |(number, hints): (usize, Vec<LoopHint>)| {
        Said::read(&hints, false).wishes.into_iter().map(move |wish| (number, wish))
    };
    region.loops.iter().map(|binding| binding.hints()).enumerate().flat_map(of).collect()
}

/// What is to be said of the loops that are kept, as the source says it.
pub(crate) fn handed_on(region: &Region<'_>) -> BTreeMap<VarId, Vec<LoopHint>> {
    let loops = region.loops.iter().enumerate().map(|(number, binding)| (VarId::new(number), binding));
    let kept = loops.filter(|(var, _)| region.kernel.kept(*var).is_some());
    kept.map(|(var, binding)| {
        let mut hints = binding.hints();
        hints.retain(|h| suffix(h).is_some_and(|name| is_handed_on(name, &h.value)));
        (var, hints)
    })
    .collect()
}

/// For each loop, what a user says of it; that the nest stays, also of loops inside.
pub(super) fn wishes(cfg: &Cfg<'_>, never_unrolled: bool) -> Vec<Said> {
    let own: Vec<Vec<LoopHint>> = cfg
        .loops
        .iter()
        .map(|l| {
            l.latches.iter().filter_map(|&b| cfg.blocks[b].terminator()).flat_map(Inst::loop_hints).collect()
        })
        .collect();
    let mut all: Vec<Said> = own.iter().map(|hints| Said::read(hints, never_unrolled)).collect();
    // Outer loops come before inner ones.
    for l in 0..all.len() {
        if let (None, Some(parent)) = (&all[l].stays, cfg.loops[l].parent) {
            all[l].stays = all[parent].stays.clone();
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

/// Whether all loops of a module say something of unrolling: so `-fno-unroll-loops` does, and `-O1`, which implies it. Pragmas at all loops look the
/// same, so this is asked only where nobody knows the flags.
pub(super) fn are_never_unrolled(module: &Module<'_>) -> bool {
    let functions = module.functions();
    // Front ends say that loops end where their language promises it; what says nothing beside these is a `goto`, of which no flag speaks.
    let ends = |hint: &LoopHint| suffix(hint) == Some("mustprogress");
    let silent = functions
        .iter()
        .flat_map(|f| f.blocks())
        .filter_map(Block::terminator)
        .any(|end| end.loop_hints().iter().any(ends));
    functions.into_iter().all(|function| is_never_unrolled(function, silent))
}

/// The same of a function, where cycles without hints are loops unless `silent`.
fn is_never_unrolled(function: Function<'_>, silent: bool) -> bool {
    let Some(entry) = function.entry() else { return true };
    let order = reverse_postorder(entry, Block::successors);
    let number: FxHashMap<Block<'_>, usize> = order.iter().enumerate().map(|(at, b)| (*b, at)).collect();
    order.iter().enumerate().all(|(at, block)| {
        let hints = block.terminator().map(Inst::loop_hints).unwrap_or_default();
        if hints.is_empty() {
            // Front ends may say nothing of a loop; then no flag says so of all.
            return silent || !block.successors().iter().any(|to| number[to] <= at);
        }
        let mut names = hints.iter().filter_map(suffix);
        names.any(|name| name.starts_with("unroll.") || name.contains("followup"))
    })
}
