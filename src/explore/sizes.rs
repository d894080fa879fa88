//! A local search over the numbers of a recipe: block sizes and factors of jamming, one at a time, larger and smaller, as long as
//! that is predicted to gain. What draws recipes need not try them all.

use super::expand::Engine;
use super::region::loops_of_depth;
use super::sketch::Draft;
use super::variant::Variant;
use loop_tree::{Green, Path};
use transforms::{Context, Recipe, Step};

/// Changes of one number after the other, at most.
const CHANGES: usize = 8;
/// Share of the cycles by which a change must be cheaper.
const WORTH: f64 = 0.005;
/// Numbers that are not exceeded by what begins below them.
const MANY: i64 = 16;
/// Copies of a body side by side: registers, and what holds decoded instructions, are few.
const COPIES: u32 = 32;

/// The variant with the sizes of its steps from a number on, each as good as the others allow.
pub fn descend(engine: &mut Engine<'_, '_>, start: Variant, steps_before: usize) -> Variant {
    let mut best = start;
    for _ in 0..CHANGES {
        let drafts = neighbours(engine, &best, steps_before);
        match engine.first_cheaper(drafts, (1.0 - WORTH) * best.cycles, best.sketch.as_ref()) {
            Some(next) => best = next,
            None => break,
        }
    }
    best
}

/// The same recipe with one size changed, where it still applies.
fn neighbours(engine: &Engine<'_, '_>, variant: &Variant, steps_before: usize) -> Vec<Draft> {
    let kernel = engine.kernel();
    let apply = |root: &Green, step: &Step| {
        step.apply(&Context { kernel: &kernel, root }).ok().map(|rewrite| rewrite.root)
    };
    let steps = &variant.recipe.0;
    let mut root = engine.original().root.clone();
    let mut result = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let sizes = if at < steps_before { vec![] } else { step.sizes() };
        for (index, size) in sizes.iter().enumerate() {
            // Factors of jamming begin small, and stay so: copies are code.
            let most = if *size <= MANY { MANY } else { i64::MAX };
            for other in [size.saturating_mul(2), size / 2].into_iter().filter(|n| (2..=most).contains(n)) {
                let mut changed = sizes.clone();
                changed[index] = other;
                let Some(changed) = step.with_sizes(&changed) else { continue };
                let few = |root: &Green| widest(root) <= COPIES * widest(&engine.original().root);
                let mut rest = [&changed].into_iter().chain(&steps[at + 1..]);
                let tree = rest.try_fold(root.clone(), |root, step| apply(&root, step));
                if let Some(root) = tree.filter(few) {
                    let recipe = steps[..at].iter().chain([&changed]).chain(&steps[at + 1..]);
                    result.push(Draft { root, recipe: Recipe(recipe.cloned().collect()) });
                }
            }
        }
        match apply(&root, step) {
            Some(next) => root = next,
            None => break,
        }
    }
    result
}

/// Statements in the largest body of an innermost loop.
fn widest(root: &Green) -> u32 {
    let bodies = loops_of_depth(root, &Path::root(), 1).into_iter();
    bodies.filter_map(|path| Some(root.at(&path)?.summary().leaves)).max().unwrap_or(0)
}
