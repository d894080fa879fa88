//! Threads on top of what was found: of the variants that are predicted to take least, the outermost loops that threads may share
//! are marked where that is predicted to pay.

use super::expand::Engine;
use super::sketch::{Desk, Draft};
use super::variant::Variant;
use loop_tree::{Bounds, LoopKind, Path};
use transforms::{LoopRef, Mark};

/// Variants on which threads are tried: which order is best for one is not always best for several.
const TRIED: usize = 12;
/// Trees that are judged for it, of all variants together.
const MOST: usize = 200;
/// Of the time of a tree, what threads have to save.
const WORTH: f64 = 0.01;

/// Marks loops of the best variants.
pub(super) fn share(engine: &mut Engine<'_, '_>) {
    if engine.threads() <= 1 {
        return;
    }
    engine.with_more(MOST, |engine| {
        for mut variant in engine.cheapest(TRIED) {
            below(engine, &mut variant, &Path::root());
        }
    });
}

/// Marks the outermost loops at and below a place for which that pays.
fn below(engine: &mut Engine<'_, '_>, variant: &mut Variant, path: &Path) {
    let Some(node) = variant.root.at(path).filter(|n| n.summary().loop_depth > 0).cloned() else { return };
    if let Some((header, _)) = node.as_loop() {
        if header.kind != LoopKind::Sequential {
            return;
        }
        if matches!(header.bounds, Bounds::Affine { .. })
            && let Some(marked) = marked(engine, variant, path)
        {
            *variant = marked;
            return;
        }
    }
    for index in 0..node.children().count() {
        below(engine, variant, &path.child(index));
    }
}

/// The variant with a loop marked, where it is legal and predicted to take less.
fn marked(engine: &mut Engine<'_, '_>, variant: &Variant, path: &Path) -> Option<Variant> {
    let mark = Mark { target: LoopRef::Path(path.clone()), kind: LoopKind::Parallel };
    let desk = &mut Desk::new(engine, "threads");
    let draft = desk.apply(&Draft::from(variant), mark).ok()?;
    (desk.price(&draft) < (1.0 - WORTH) * variant.cost.cycles).then(|| desk.judge_one(draft)).flatten()
}
