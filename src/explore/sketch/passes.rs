//! Passes over the same data become one: every nest in the order in which it walks memory, then neighbours fused, and what they
//! hand on kept in registers where nobody else reads it; or what is handed on computed where it is read. Chains of loops over vectors; products of a matrix and its transpose with vectors.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_below};
use crate::explore::variant::Variant;
use crate::fusion::Start;
use loop_tree::{Green, Kernel, Path, occurrences};
use transforms::{Context, Fuse, Interchange, MoveOptions, Recipe, Registry, Remainder};

/// Interchanges where columns are walked, then fuses neighbours as far as dependences allow.
pub struct Passes;

/// By how many iterations the second of two fused loops may be behind, cheapest first.
const SHIFTS: [i64; 3] = [0, -1, -2];

impl Sketch for Passes {
    fn name(&self) -> &str {
        "passes"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        if region.nests(&start.root).len() < 2 {
            return vec![];
        }
        let ordered = in_order_of_memory(desk, start, region);
        let mut result: Vec<Variant> = repeated(desk, &ordered, "forward").into_iter().collect();
        let fused = fuse_neighbours(desk, ordered.clone(), &region.members(&ordered.root));
        if fused.root != ordered.root {
            let mut inner = fused.clone();
            for member in region.members(&fused.root).into_iter().rev() {
                for outer in crate::explore::region::loops_of_depth(&inner.root, &member, 2).into_iter().rev()
                {
                    let below = children_of(&inner.root, &outer);
                    inner = fuse_neighbours(desk, inner, &below);
                }
            }
            let together = [inner, fused];
            result.extend(together.iter().filter_map(|variant| repeated(desk, variant, "contract")));
            let [inner, fused] = together;
            if inner.root != fused.root {
                result.push(inner);
            }
            result.push(fused);
        }
        result.extend(fuse_across(desk, &ordered, region));
        if ordered.root != start.root {
            result.push(ordered);
        }
        result
    }
}

/// The deepest nests of a region fused where that is predicted to gain, whatever stands between, which goes out of the way: rows at
/// boundaries between two sweeps, what a loop runs before the other one begins.
fn fuse_across(desk: &mut Desk<'_, '_, '_>, from: &Variant, region: &Region) -> Option<Variant> {
    let kernel = desk.kernel();
    let options = MoveOptions::default();
    let mut current = from.clone();
    'again: loop {
        let root = current.root.clone();
        let depth = |path: &Path| root.at(path).map_or(0, |node| node.summary().loop_depth);
        let members = region.members(&root);
        let deepest = members.iter().map(depth).max()?;
        let cx = Context { kernel: &kernel, root: &root };
        let whole = |path: &Path| members.contains(path) && depth(path) == deepest;
        let pairs = Fuse::pairs(&cx, REACH).into_iter().filter(|(a, b)| whole(a) && whole(b));
        for (first, second) in pairs {
            for Start { steps, root, pair: [first, second] } in Start::all(&cx, &first, &second) {
                let started = Draft { root, recipe: Recipe([&current.recipe.0[..], &steps.0].concat()) };
                let cx = Context { kernel: &kernel, root: &started.root };
                let ways = Fuse::ways(&cx, &first, &second, &options).unwrap_or_default();
                let drafts = ways.into_iter().filter_map(|way| desk.apply(&started, way).ok());
                let gaining: Vec<Draft> =
                    drafts.filter(|draft| desk.price(draft) < GAIN * current.cycles).collect();
                if let Some(fused) = gaining.into_iter().find_map(|draft| desk.judge_one(draft)) {
                    current = fused;
                    continue 'again;
                }
            }
        }
        return (current.root != from.root).then_some(current);
    }
}

/// How far apart nests are fused.
const REACH: usize = 8;
/// Share of the time that fusing two of them leaves at most.
const GAIN: f64 = 0.98;

/// Two loops, one in the other, are swapped where the outer one walks rows rather than columns. What the model says of the
/// order alone does not count: rows wait for chains of operations until they are jammed.
fn in_order_of_memory(desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Variant {
    let mut current = start.clone();
    for nest in region.nests(&start.root).into_iter().rev() {
        let Some(outer) = nest.outermost(&current.root) else { continue };
        if walks(&desk.kernel(), &current.root, &outer).is_none_or(|[outer, inner]| outer >= inner) {
            continue;
        }
        let step = Interchange { outer: outer.into(), inner: None };
        if let Some(swapped) = desk.try_step(&current, step) {
            current = swapped;
        }
    }
    current
}

/// How two loops, one in the other, walk memory if they are innermost: accesses along columns, and, negative, along rows.
pub(super) fn walks(kernel: &Kernel, root: &Green, outer: &Path) -> Option<[(usize, isize); 2]> {
    let var = |path: &Path| root.at(path).and_then(Green::as_loop).map(|(header, _)| header.var);
    let [inner] = &loops_below(root, outer)[..] else { return None };
    let mut result = [(0, 0); 2];
    for (loop_var, (columns, rows)) in [var(outer)?, var(inner)?].into_iter().zip(&mut result) {
        for occurrence in occurrences(root).iter().filter(|o| outer.contains(&o.path)) {
            let accesses = &kernel.statement(occurrence.statement).accesses;
            for subscripts in accesses.iter().filter_map(|a| a.subscripts.as_ref()) {
                let Some((last, others)) = subscripts.split_last() else { continue };
                let uses = |e| occurrence.resolve(e).uses(loop_var);
                if others.iter().any(uses) {
                    *columns += 1;
                } else if uses(last) {
                    *rows -= 1;
                }
            }
        }
    }
    Some(result)
}

/// Fuses each of some siblings with the next one where that is legal.
fn fuse_neighbours(desk: &mut Desk<'_, '_, '_>, mut current: Variant, siblings: &[Path]) -> Variant {
    for pair in siblings.windows(2).rev() {
        if let Some(fused) = fuse(desk, &current, &pair[0]) {
            current = fused;
        }
    }
    current
}

/// The loop at a path fused with its next sibling, with the least shift that is legal; else after what makes a way for it.
fn fuse(desk: &mut Desk<'_, '_, '_>, from: &Variant, first: &Path) -> Option<Variant> {
    from.root.at(first)?.as_loop()?;
    let shifted = SHIFTS.into_iter().find_map(|shift| {
        let remainder = if shift == 0 { Remainder::Split } else { Remainder::Guard };
        let step = Fuse { first: first.clone().into(), second: None, shift, remainder };
        let draft = desk.apply(&Draft::from(from), step).ok()?;
        desk.judge_one(draft)
    });
    shifted.or_else(|| {
        let kernel = desk.kernel();
        let cx = Context { kernel: &kernel, root: &from.root };
        let (_, second) = Fuse::pairs(&cx, 1).into_iter().find(|(one, _)| one == first)?;
        Start::all(&cx, first, &second).skip(1).find_map(|Start { steps, root, pair: [first, second] }| {
            let recipe = Recipe(from.recipe.0.iter().chain(&steps.0).cloned().collect());
            let (first, second) = (first.into(), Some(second.into()));
            let step = Fuse { first, second, shift: 0, remainder: Remainder::Split };
            let draft = desk.apply(&Draft { root, recipe }, step).ok()?;
            desk.judge_one(draft)
        })
    })
}

/// All loops directly inside of a loop fused into one; `None` where that is not legal.
pub(super) fn fuse_all(desk: &mut Desk<'_, '_, '_>, mut current: Variant, outer: &Path) -> Option<Variant> {
    loop {
        let inside = loops_below(&current.root, outer);
        match &inside[..] {
            [] => return None,
            [_] => return Some(current),
            [first, ..] => {
                let next = fuse(desk, &current, first)?;
                if loops_below(&next.root, outer).len() >= inside.len() {
                    return None;
                }
                current = next;
            }
        }
    }
}

/// With a step about temporary arrays made for each of them where it is legal; `None` if there is none.
fn repeated(desk: &mut Desk<'_, '_, '_>, from: &Variant, step: &str) -> Option<Variant> {
    let options = MoveOptions { only: vec![step.into()], ..MoveOptions::default() };
    let registry = Registry::standard();
    let mut current = from.clone();
    let kernel = desk.kernel();
    // Those that were refused stay first in the list.
    let mut refused = 0;
    loop {
        let steps = transforms::moves(&Context { kernel: &kernel, root: &current.root }, &registry, &options);
        let Some(step) = steps.into_iter().nth(refused) else { break };
        match desk.try_step(&current, step) {
            Some(next) => current = next,
            None => refused += 1,
        }
    }
    (current.root != from.root).then_some(current)
}

/// Paths of the parts of a loop's body.
fn children_of(root: &Green, path: &Path) -> Vec<Path> {
    let Some((_, body)) = root.at(path).and_then(Green::as_loop) else { return vec![] };
    let body_path = path.child(0);
    match body.node() {
        loop_tree::Node::Seq(children) => (0..children.len()).map(|n| body_path.child(n)).collect(),
        _ => vec![],
    }
}
