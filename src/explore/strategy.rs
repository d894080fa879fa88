//! In which order the space is searched.

use super::expand::{Admit, Engine};
use super::region::Region;
use super::share;
use super::sizes;
use super::sketch::{Desk, Stage};
use super::variant::{StopReason, Variant, by_cost};
use loop_tree::{Affine, Green, Kernel, LoopKind, Path, VarId, occurrences};
use std::collections::BTreeMap;
use transforms::{Registry, Step};

/// How the next variants to expand are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Every sequence of moves up to the depth.
    Exhaustive,
    /// The cheapest few of each depth, and the cheapest of each kind of last step, go on.
    Beam,
    /// Specific before general: sketches of which loops there are, then of each nest by itself, refined by moves; in the
    /// end moves that no sketch makes, those of a user's own transformations among them.
    #[default]
    Guided,
}

/// One phase of the guided search.
struct Phase {
    steps: &'static [&'static str],
    sizes: &'static [i64],
    depth: usize,
    /// Which nests it is for.
    suits: fn(&Traits) -> bool,
}

/// What moves add to the best of what sketches have drawn of a nest.
const PHASES: [Phase; 2] = [
    Phase { steps: &["tile"], sizes: &[32, 128], depth: 1, suits: |t| t.reuse || t.columns },
    Phase { steps: &["unroll_and_jam"], sizes: &[4], depth: 1, suits: |t| t.reuse },
];
/// What is tried where no sketch knows of anything better.
const UNKNOWN: [Phase; 1] =
    [Phase { steps: &["distribute", "interchange", "permute"], sizes: &[], depth: 3, suits: |_| true }];

impl Strategy {
    pub(super) fn run(self, engine: &mut Engine<'_, '_>) -> StopReason {
        match self {
            Strategy::Exhaustive => exhaustive(engine),
            Strategy::Beam => {
                let start = engine.original().clone();
                let depth = engine.limits().depth;
                beam(engine, vec![start], depth, |engine, from| engine.expand(from, &Admit::ALL));
            }
            Strategy::Guided => guided(engine),
        }
        let stop = match (engine.is_hopeless(), engine.is_full()) {
            (true, _) => StopReason::Hopeless,
            (false, true) => StopReason::VariantLimit,
            (false, false) => StopReason::Exhausted,
        };
        share::share(engine);
        stop
    }
}

fn exhaustive(engine: &mut Engine<'_, '_>) {
    let mut frontier = vec![engine.original().clone()];
    for _ in 0..engine.limits().depth {
        if engine.is_full() || frontier.is_empty() {
            return;
        }
        frontier = engine.expand(&frontier, &Admit::ALL);
    }
}

/// Returns the variants that were on the beam at any depth, the given ones included, cheapest first.
fn beam<'e, 'a>(
    engine: &mut Engine<'e, 'a>,
    start: Vec<Variant>,
    depth: usize,
    expand: impl Fn(&mut Engine<'e, 'a>, &[Variant]) -> Vec<Variant>,
) -> Vec<Variant> {
    let width = engine.limits().beam;
    let mut kept = start.clone();
    let mut frontier = start;
    for _ in 0..depth {
        if engine.is_full() || frontier.is_empty() {
            break;
        }
        frontier = select(expand(engine, &frontier), width);
        kept.extend(frontier.iter().cloned());
    }
    select(kept, width)
}

/// The cheapest `width` variants, and the cheapest after each kind of last step: an enabling step (distribute, skew)
/// seldom pays by itself.
fn select(mut variants: Vec<Variant>, width: usize) -> Vec<Variant> {
    variants.sort_by(Variant::by_cost);
    let mut per_kind: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut rank = 0;
    variants.retain(|v| {
        rank += 1;
        let seen = per_kind.entry(v.recipe.0.last().map_or("", |s| s.name())).or_default();
        *seen += 1;
        rank <= width || *seen <= 2
    });
    variants
}

fn guided(engine: &mut Engine<'_, '_>) {
    let start = engine.original().clone();
    let whole = Region::node(Path::root());
    let several = whole.inner(&start.root).is_some() || whole.nests(&start.root).len() > 1;
    let best = engine.with_share_of(0.75, |engine| improve(engine, start.clone(), &whole));
    // What is left is for what no sketch draws: loops that came together in others, also transformations that this crate does
    // not know.
    let standard = Registry::standard();
    let kind = |name: &str| several && name == "fuse" || standard.get(name).is_none();
    let admit = Admit { kind: &kind, ..Admit::ALL };
    let best = sizes::descend(engine, best, 0);
    beam(engine, vec![best, start], 2, |engine, from| engine.expand_promising(from, &admit));
}

/// The cheapest variant found by changing only a region: first which loops there are, then each nest by itself.
fn improve(engine: &mut Engine<'_, '_>, start: Variant, region: &Region) -> Variant {
    let mut structures = vec![start];
    for sketch in engine.sketches(Stage::Structure) {
        let start = structures[0].clone();
        let draw = |e: &mut Engine<'_, '_>| sketch.draw(&mut Desk::new(e, sketch.name()), &start, region);
        let mut drawn = engine.with_share_of(sketch.share(), draw);
        drawn.retain(|variant| structures.iter().all(|s| s.root != variant.root));
        structures.extend(best_sizes(drawn));
    }
    // All of them by sketches first, and the best of them by moves.
    let count = structures.len();
    let mut drawn: Vec<Variant> = engine.with_share_of(DRAWN, |engine| {
        let structures = structures.into_iter().enumerate();
        let nests = structures.map(|(done, structure)| {
            engine.with_share(count - done, |engine| each_nest(engine, structure, region, &draw_nest))
        });
        nests.collect()
    });
    drawn.sort_by(Variant::by_cost);
    drawn.dedup_by(|a, b| a.root == b.root);
    drawn.truncate(REFINED);
    let count = drawn.len();
    let refined = drawn.into_iter().enumerate().map(|(done, variant)| {
        engine.with_share(count - done, |engine| each_nest(engine, variant, region, &refine_nest))
    });
    cheapest(refined.collect())
}

/// Of structures that differ in sizes only, the best, cheapest first; of those that take the same, which pays with what follows, the one
/// drawn first.
fn best_sizes(drawn: Vec<Variant>) -> Vec<Variant> {
    let kind = |v: &Variant| v.recipe.0.iter().map(|s| s.name()).collect::<Vec<_>>();
    let mut least: BTreeMap<Vec<&'static str>, f64> = BTreeMap::new();
    for v in &drawn {
        let cycles = least.entry(kind(v)).or_insert(v.cycles);
        *cycles = cycles.min(v.cycles);
    }
    let mut best: Vec<Variant> = Vec::with_capacity(least.len());
    for v in drawn {
        if least.get(&kind(&v)).is_some_and(|cycles| v.cycles <= (1.0 + EQUAL) * cycles) {
            least.remove(&kind(&v));
            best.push(v);
        }
    }
    best.sort_by(Variant::by_cost);
    best
}

/// Relative difference of predictions of sizes below which they say nothing.
const EQUAL: f64 = 0.01;
/// Share of what a search may try that sketches draw.
const DRAWN: f64 = 0.6;
/// Structures that moves refine.
const REFINED: usize = 2;
/// Shares of the time of a tree below which a nest is left as it is.
const NEGLIGIBLE: f64 = 0.01;

/// Changes the nests of a region one after the other; each may judge as many variants as its share of their time.
fn each_nest(
    engine: &mut Engine<'_, '_>,
    start: Variant,
    region: &Region,
    change: &dyn Fn(&mut Engine<'_, '_>, Variant, &Region) -> Variant,
) -> Variant {
    let whole = start.cycles;
    let weigh = |engine: &Engine<'_, '_>, nest: Region| {
        let rest = engine.price_of_part(&nest.removed(&start.root));
        (nest, (whole - rest).max(0.0))
    };
    let mut nests: Vec<(Region, f64)> =
        region.nests(&start.root).into_iter().map(|nest| weigh(engine, nest)).collect();
    nests.retain(|(_, cycles)| *cycles >= NEGLIGIBLE * whole);
    let mut left: f64 = nests.iter().map(|(_, cycles)| cycles).sum();
    // Last first: steps on a nest leave the paths of earlier ones as they are.
    nests.into_iter().rev().fold(start, |best, (nest, cycles)| {
        let share = if left > 0.0 { cycles / left } else { 1.0 };
        left -= cycles;
        engine.with_share_of(share, |engine| change(engine, best, &nest))
    })
}

/// The cheapest variant that sketches draw of one nest.
fn draw_nest(engine: &mut Engine<'_, '_>, start: Variant, nest: &Region) -> Variant {
    let steps_before = start.recipe.0.len();
    let mut found = vec![start.clone()];
    for sketch in engine.sketches(Stage::Nest) {
        let draw = |e: &mut Engine<'_, '_>| sketch.draw(&mut Desk::new(e, sketch.name()), &start, nest);
        found.extend(engine.with_share_of(sketch.share(), draw));
    }
    if let Some(inner) = nest.inner(&start.root) {
        found.push(engine.with_share(2, |engine| each_nest(engine, start.clone(), &inner, &improve)));
    }
    // What is about the same is so beside what this nest takes: others may not have been searched yet.
    let rest = engine.price_of_part(&nest.removed(&start.root));
    let mut best = cheapest_beside(found, rest);
    if best.cycles >= start.cycles {
        best = cheapest(refine(engine, vec![start], nest, steps_before, &UNKNOWN));
    }
    sizes::descend(engine, best, steps_before)
}

/// The cheapest variant that moves make of what was drawn of one nest.
fn refine_nest(engine: &mut Engine<'_, '_>, start: Variant, nest: &Region) -> Variant {
    let steps_before = start.recipe.0.len();
    // What has lanes was drawn with its blocks and copies around them.
    let phases = if has_lanes(&start.root, nest) { &[][..] } else { &PHASES[..] };
    let best = cheapest(refine(engine, vec![start], nest, steps_before, phases));
    sizes::descend(engine, best, steps_before)
}

/// Whether a nest has vector loops.
fn has_lanes(root: &Green, nest: &Region) -> bool {
    let is_vector = |node: &Green| node.as_loop().is_some_and(|(header, _)| header.kind == LoopKind::Vector);
    nest.members(root).iter().filter_map(|path| root.at(path)).any(|member| {
        let mut walk = member.walk();
        std::iter::from_fn(|| walk.next().map(is_vector)).any(|vector| vector)
    })
}

/// What moves on a nest make of variants of it.
fn refine(
    engine: &mut Engine<'_, '_>,
    mut front: Vec<Variant>,
    nest: &Region,
    steps_before: usize,
    phases: &[Phase],
) -> Vec<Variant> {
    let traits = Traits::of(&engine.kernel(), &front[0].root, nest);
    for phase in phases.iter().filter(|p| (p.suits)(&traits)) {
        // Other sizes are tried where one of these is worth it.
        let kind = |name: &str| phase.steps.contains(&name);
        let sizes = |s: &Step| s.sizes().iter().all(|size| phase.sizes.contains(size));
        let change = |old: &Green, new: &Green| nest.is_all_that_changed(old, new);
        let used = front.iter().map(|v| v.recipe.0.len().saturating_sub(steps_before)).min().unwrap_or(0);
        let depth = phase.depth.min(engine.limits().depth.saturating_sub(used));
        let admit = Admit { kind: &kind, step: &sizes, change: &change };
        front = beam(engine, front, depth, |engine, from| engine.expand_promising(from, &admit));
        front.truncate(engine.limits().beam);
    }
    front
}

/// The cheapest of some variants; there is at least one.
fn cheapest(variants: Vec<Variant>) -> Variant {
    cheapest_beside(variants, 0.0)
}

/// The cheapest of some variants that all have something in common which takes so many cycles.
fn cheapest_beside(mut variants: Vec<Variant>, rest: f64) -> Variant {
    let apart = |v: &Variant| v.cycles - rest;
    variants.sort_by(|a, b| by_cost((apart(a), &a.recipe, &a.root), (apart(b), &b.recipe, &b.root)));
    variants.swap_remove(0)
}

/// What makes blocking worth trying. A nest that touches each element in a few neighbouring iterations only, such as one
/// sweep of a stencil, gains nothing from it, and loses long streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Traits {
    /// Some element is touched again in the iterations of a loop that its subscripts do not use.
    reuse: bool,
    /// Some array is walked along another dimension than the last by a loop that another array is walked along its last
    /// dimension by.
    columns: bool,
}

impl Traits {
    fn of(kernel: &Kernel, root: &Green, nest: &Region) -> Traits {
        let mut traits = Traits::default();
        let parts: Vec<Green> = nest.members(root).iter().filter_map(|p| Some(root.at(p)?.clone())).collect();
        for part in parts {
            for occurrence in occurrences(&part) {
                let loops: Vec<VarId> = occurrence.loops().map(|h| h.var).collect();
                let (mut last, mut outer) = (Vec::new(), Vec::new());
                for access in &kernel.statement(occurrence.statement).accesses {
                    let Some(subscripts) = &access.subscripts else { continue };
                    let Some((innermost, rest)) = subscripts.split_last() else { continue };
                    let uses = |e: &Affine, v: VarId| occurrence.resolve(e).uses(v);
                    for v in &loops {
                        let (in_last, in_rest) = (uses(innermost, *v), rest.iter().any(|e| uses(e, *v)));
                        traits.reuse |= !in_last && !in_rest;
                        if in_last {
                            last.push(*v);
                        } else if in_rest {
                            outer.push(*v);
                        }
                    }
                }
                traits.columns |= last.iter().any(|v| outer.contains(v));
            }
        }
        traits
    }
}
