//! Threads on top of what was found: of variants that are predicted to take least, the outermost loops that threads may share are
//! marked where that is predicted to pay, also such that come outermost only when two loops change places.

use super::expand::Engine;
use super::sketch::{Desk, Draft};
use super::variant::Variant;
use loop_tree::{Bounds, LoopKind, Path};
use std::collections::BTreeSet;
use transforms::{Interchange, LoopRef, Mark};

/// Variants on which threads are tried, and how many of these are the cheapest whatever they are made by: which order is best for
/// one thread is not always best for several, so that of each kind one is tried.
const TRIED: usize = 24;
const CHEAPEST: usize = 6;
/// Trees that are judged for it, of all variants together.
const MOST: usize = 200;
/// Of the time of a tree, what threads have to save.
const WORTH: f64 = 0.01;

/// Marks loops of the best variants.
pub(super) fn share(engine: &mut Engine<'_, '_>) {
    let threads = f64::from(engine.threads());
    if threads <= 1.0 {
        return;
    }
    let all = engine.cheapest(usize::MAX);
    let most = all.first().map_or(0.0, |best| threads * best.cost.cycles);
    let mut kinds: BTreeSet<Vec<&'static str>> = BTreeSet::new();
    let candidates = all.into_iter().enumerate().filter(|(rank, variant)| {
        let new = kinds.insert(variant.recipe.0.iter().map(|s| s.name()).collect());
        *rank < CHEAPEST || new && variant.cost.cycles < most
    });
    let candidates: Vec<Variant> = candidates.map(|(_, variant)| variant).take(TRIED).collect();
    engine.with_more(MOST, |engine| {
        for variant in candidates {
            below(engine, variant, &Path::root());
        }
    });
}

/// The variant with the outermost loops at and below a place marked for which that pays.
fn below(engine: &mut Engine<'_, '_>, mut variant: Variant, path: &Path) -> Variant {
    let Some(node) = variant.root.at(path).filter(|n| n.summary().loop_depth > 0).cloned() else {
        return variant;
    };
    let mut swapped = None;
    if let Some((header, _)) = node.as_loop() {
        if header.kind != LoopKind::Sequential {
            return variant;
        }
        if matches!(header.bounds, Bounds::Affine { .. }) {
            let draft = Draft::from(&variant);
            if let Some(marked) = marked(engine, &variant, draft.clone(), path) {
                return marked;
            }
            let swap = Interchange { outer: LoopRef::Path(path.clone()), inner: None };
            let inside = Desk::new(engine, NAME).apply(&draft, swap).ok();
            swapped = inside.and_then(|inside| marked(engine, &variant, inside, path));
        }
    }
    for index in 0..node.children().count() {
        variant = below(engine, variant, &path.child(index));
    }
    match swapped {
        Some(swapped) if swapped.cost.cycles < variant.cost.cycles => swapped,
        _ => variant,
    }
}

/// Who draws it.
const NAME: &str = "threads";

/// A draft made of a variant with a loop marked, where it is legal and predicted to take less.
fn marked(engine: &mut Engine<'_, '_>, variant: &Variant, draft: Draft, path: &Path) -> Option<Variant> {
    let mark = Mark { target: LoopRef::Path(path.clone()), kind: LoopKind::Parallel };
    let desk = &mut Desk::new(engine, NAME);
    let draft = desk.apply(&draft, mark).ok()?;
    (desk.price(&draft) < (1.0 - WORTH) * variant.cost.cycles).then(|| desk.judge_one(draft)).flatten()
}
