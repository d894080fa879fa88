//! Threads on top of what was found: of variants that are predicted to take least, the outermost loops that threads may share are
//! marked where that is predicted to pay, also such that come outermost only when two loops change places, or that run side by side
//! as a wavefront.

use super::expand::Engine;
use super::sketch::{Desk, Draft};
use super::variant::Variant;
use loop_tree::{Bounds, LoopKind, Path};
use std::collections::BTreeSet;
use transforms::{Interchange, LoopRef, Mark, Skew};

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
    let most = all.first().map_or(0.0, |best| threads * best.cycles);
    let mut kinds: BTreeSet<Vec<&'static str>> = BTreeSet::new();
    let candidates = all.into_iter().enumerate().filter(|(rank, variant)| {
        let new = kinds.insert(variant.recipe.0.iter().map(|s| s.name()).collect());
        *rank < CHEAPEST || new && variant.cycles < most
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
    let mut turned: Vec<Variant> = Vec::new();
    if let Some((header, _)) = node.as_loop() {
        if header.kind != LoopKind::Sequential {
            return variant;
        }
        if matches!(header.bounds, Bounds::Affine { .. }) {
            let mut drawn = |way: fn(&Desk<'_, '_, '_>, &Draft, &Path) -> Option<Draft>| {
                let desk = &mut Desk::new(engine, NAME);
                let draft = way(desk, &Draft::from(&variant), path)?;
                let pays = desk.price(&draft) < (1.0 - WORTH) * variant.cycles;
                pays.then(|| desk.judge_one(draft)).flatten()
            };
            if let Some(marked) = drawn(as_it_is) {
                return marked;
            }
            turned.extend([inside_out, wavefront].into_iter().filter_map(drawn));
        }
    }
    for index in 0..node.child_count() {
        variant = below(engine, variant, &path.child(index));
    }
    let cheaper = turned.into_iter().filter(|turned| turned.cycles < variant.cycles);
    let best = cheaper.min_by(|a, b| a.cycles.total_cmp(&b.cycles));
    best.unwrap_or(variant)
}

/// Who draws it.
const NAME: &str = "threads";

/// The loop at the path marked.
fn as_it_is(desk: &Desk<'_, '_, '_>, draft: &Draft, path: &Path) -> Option<Draft> {
    desk.apply(draft, Mark { target: LoopRef::Path(path.clone()), kind: LoopKind::Parallel }).ok()
}

/// The loop inside of the one at the path brought outside, and marked.
fn inside_out(desk: &Desk<'_, '_, '_>, draft: &Draft, path: &Path) -> Option<Draft> {
    let swap = Interchange { outer: LoopRef::Path(path.clone()), inner: None };
    as_it_is(desk, &desk.apply(draft, swap).ok()?, path)
}

/// A wavefront through tiles, of which each waits for its neighbours in front along two loops: steps of it are around, and the tiles
/// of a step are shared.
fn wavefront(desk: &Desk<'_, '_, '_>, draft: &Draft, path: &Path) -> Option<Draft> {
    let (outer, inner) = (LoopRef::Path(path.clone()), LoopRef::Path(path.child(0)));
    let skewed = desk.apply(draft, Skew { outer: outer.clone(), inner, factor: 1 }).ok()?;
    let front = desk.apply(&skewed, Interchange { outer, inner: None }).ok()?;
    as_it_is(desk, &front, &path.child(0))
}
