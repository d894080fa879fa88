//! In which order the space is searched.

use super::expand::{Admit, Engine};
use super::variant::{StopReason, Variant};
use loop_tree::{Affine, Green, Kernel, Node, Path, Red, VarId, occurrences};
use std::collections::BTreeMap;
use transforms::Step;

/// How the next variants to expand are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Every sequence of moves up to the depth.
    Exhaustive,
    /// The cheapest few of each depth, and the cheapest of each kind of last step, go on.
    Beam,
    /// Specific before general: structure (fuse, distribute), order (interchange), locality (tile), registers
    /// (unroll and jam), one nest of a sequence after the other, with a beam within each phase. Reversal, skewing and
    /// the like are left out: they seldom pay by themselves, and the other strategies have them.
    #[default]
    Guided,
}

/// One phase of the guided search.
struct Phase {
    steps: &'static [&'static str],
    depth: usize,
    /// Which nests it is for.
    suits: fn(&Traits) -> bool,
}

/// How nests come together or apart; then chains: each two nests that become one take a step for the outer loops and one
/// for the inner ones.
const STRUCTURE: [Phase; 2] = [
    Phase { steps: &["distribute", "fuse"], depth: 2, suits: |_| true },
    Phase { steps: &["fuse"], depth: 6, suits: |_| true },
];
const PHASES: [Phase; 3] = [
    Phase { steps: &["distribute", "interchange", "permute"], depth: 3, suits: |_| true },
    Phase { steps: &["tile"], depth: 1, suits: |t| t.reuse || t.columns },
    Phase { steps: &["unroll_and_jam"], depth: 2, suits: |t| t.reuse },
];

impl Strategy {
    pub(super) fn run(self, engine: &mut Engine<'_, '_>) -> StopReason {
        match self {
            Strategy::Exhaustive => exhaustive(engine),
            Strategy::Beam => {
                let start = engine.original().clone();
                let depth = engine.limits().depth;
                beam(engine, vec![start], depth, &Admit::ALL);
            }
            Strategy::Guided => guided(engine),
        }
        engine.begin_phase(1);
        if engine.is_full() { StopReason::VariantLimit } else { StopReason::Exhausted }
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
fn beam(engine: &mut Engine<'_, '_>, start: Vec<Variant>, depth: usize, admit: &Admit<'_>) -> Vec<Variant> {
    let width = engine.limits().beam;
    let mut kept = start.clone();
    let mut frontier = start;
    for _ in 0..depth {
        if engine.is_full() || frontier.is_empty() {
            break;
        }
        frontier = select(engine.expand(&frontier, admit), width);
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
    // Structure of the whole; then each nest by itself.
    let mut structures = vec![start.clone()];
    if components(&start.root).len() > 1 {
        engine.begin_phase(2);
        let mut found = vec![start.clone()];
        for phase in &STRUCTURE {
            let steps = |s: &Step| phase.steps.contains(&s.name());
            found = beam(engine, found, phase.depth, &Admit { step: &steps, change: &|_, _| true });
        }
        // Worth a search of its own only if it is better by itself, or has a deeper nest to block.
        let better = |v: &Variant| v.cost.cycles < 0.95 * start.cost.cycles;
        let deeper = |v: &Variant| perfect_depth(&v.root) > perfect_depth(&start.root);
        let better = found.iter().position(better);
        let deeper = found.iter().position(deeper).filter(|at| Some(*at) != better);
        structures.extend(better.into_iter().chain(deeper).map(|at| found[at].clone()));
    }
    for (done, structure) in structures.iter().enumerate() {
        let mut best = structure.clone();
        let nests = components(&best.root);
        let mut left = (structures.len() - done - 1) * nests.len() + nests.len();
        // Last first: steps on a nest leave the paths of earlier ones as they are.
        for nest in nests.into_iter().rev() {
            engine.begin_phase(left);
            left -= 1;
            best = improve(engine, best, &nest);
        }
    }
}

/// The cheapest variant found by changing only one nest.
fn improve(engine: &mut Engine<'_, '_>, start: Variant, nest: &Component) -> Variant {
    let steps_before = start.recipe.0.len();
    let limit = engine.limits().depth;
    let mut front = vec![start];
    let traits = Traits::of(&engine.kernel(), &front[0].root, nest);
    for phase in PHASES.iter().filter(|p| (p.suits)(&traits)) {
        let steps = |s: &Step| phase.steps.contains(&s.name());
        let change = |old: &Green, new: &Green| nest.is_all_that_changed(old, new);
        let used = front.iter().map(|v| v.recipe.0.len() - steps_before).min().unwrap_or(0);
        let depth = phase.depth.min(limit.saturating_sub(used));
        front = beam(engine, front, depth, &Admit { step: &steps, change: &change });
        front.truncate(engine.limits().beam);
    }
    front.swap_remove(0)
}

/// A nest that is searched by itself: consecutive children of a sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Component {
    /// The sequence.
    parent: Path,
    /// Children in front of the nest.
    before: usize,
    /// Children behind it.
    after: usize,
}

impl Component {
    /// Whether two trees differ at most in this nest, which may have become several children.
    fn is_all_that_changed(&self, old: &Green, new: &Green) -> bool {
        if self.before + self.after == 0 && self.parent == Path::root() {
            return true;
        }
        let (Some(was), Some(is)) = (Red::at(old, &self.parent), Red::at(new, &self.parent)) else {
            return false;
        };
        if was.replace_with(is.green().clone()) != *new {
            return false;
        }
        if self.before + self.after == 0 {
            return true;
        }
        let (Node::Seq(a), Node::Seq(b)) = (was.green().node(), is.green().node()) else { return false };
        let (m, n) = (a.len(), b.len());
        n >= self.before + self.after
            && (0..self.before).all(|i| a.get(i) == b.get(i))
            && (1..=self.after).all(|i| a.get(m - i) == b.get(n - i))
    }
}

/// The nests that are searched one by one: the children, with loops inside, of the outermost sequence that has several
/// such children; the whole tree where there is none.
fn components(root: &Green) -> Vec<Component> {
    let (mut node, mut path) = (root, Path::root());
    loop {
        let loops: Vec<usize> =
            node.children().enumerate().filter(|(_, c)| c.summary().loop_depth > 0).map(|(i, _)| i).collect();
        if matches!(node.node(), Node::Seq(_)) && loops.len() > 1 {
            let count = node.child_count();
            return loops
                .into_iter()
                .map(|i| Component { parent: path.clone(), before: i, after: count - 1 - i })
                .collect();
        }
        match loops.first().and_then(|i| Some((*i, node.child(*i)?))) {
            Some((index, child)) => {
                path = path.child(index);
                node = child;
            }
            None => return vec![Component { parent: Path::root(), before: 0, after: 0 }],
        }
    }
}

/// The most loops anywhere of which each has nothing but the next one in it.
fn perfect_depth(node: &Green) -> u32 {
    let below = node.children().map(perfect_depth).max().unwrap_or(0);
    match node.as_loop() {
        // A chain that begins here, or the longest that begins further in.
        Some((_, body)) => below.max(1 + chain(body)),
        None => below,
    }
}

/// Loops from this node on, each directly inside of the one before.
fn chain(node: &Green) -> u32 {
    node.as_loop().map_or(0, |(_, body)| 1 + chain(body))
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
    fn of(kernel: &Kernel, root: &Green, nest: &Component) -> Traits {
        let mut traits = Traits::default();
        let Some(parent) = Red::at(root, &nest.parent) else { return traits };
        let parts: Vec<&Green> = match parent.green().node() {
            Node::Seq(children) => {
                children.iter().take(children.len() - nest.after).skip(nest.before).collect()
            }
            _ => vec![parent.green()],
        };
        for part in parts {
            for occurrence in occurrences(part) {
                let loops: Vec<VarId> = occurrence.loops().map(|h| h.var).collect();
                let (mut last, mut outer) = (Vec::new(), Vec::new());
                for access in &kernel.statement(occurrence.statement).accesses {
                    let Some(subscripts) = &access.subscripts else { continue };
                    let Some((innermost, rest)) = subscripts.split_last() else { continue };
                    let uses =
                        |e: &Affine, v: VarId| occurrence.resolve_at(e, occurrence.around.len()).uses(v);
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
