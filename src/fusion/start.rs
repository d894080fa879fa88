//! What is done before two loops are fused.

use loop_tree::{Atom, Green, Kernel, LoopHeader, Path};
use transforms::{Context, Expression, IndexSetSplit, LoopRef, Recipe, Reorder, Reverse, Step, StripMine};

/// Iterations of one loop to one of the other that are tried.
const LONGEST_STRIP: i64 = 16;

/// A tree in which a pair of loops is fused.
#[derive(Clone)]
pub(crate) struct Start {
    /// The steps that lead to it.
    pub steps: Recipe,
    /// The tree.
    pub root: Green,
    /// Where the loops are in it.
    pub pair: [Path; 2],
}

impl Start {
    /// Trees in which the pair may be fused, plainest first; made as they are asked for.
    pub fn all(cx: &Context<'_>, first: &Path, second: &Path) -> impl Iterator<Item = Start> {
        let pair = [first.clone(), second.clone()];
        let plain = Start { steps: Recipe::default(), root: cx.root.clone(), pair };
        let kernel = cx.kernel;
        let ways: [fn(&Start, &Kernel) -> Option<Start>; 6] = [
            |start, _| Some(start.clone()),
            Start::between_first,
            Start::first_split,
            Start::second_reversed,
            |start, kernel| start.in_strips(kernel, 0),
            |start, kernel| start.in_strips(kernel, 1),
        ];
        ways.into_iter().filter_map(move |way| way(&plain, kernel))
    }

    /// What stands between the loops in front of both. `fuse` itself leaves behind them what touches an array of the first, whichever
    /// element.
    fn between_first(&self, kernel: &Kernel) -> Option<Start> {
        let [first, second] = &self.pair;
        let sequence = first.shared(second);
        let depth = sequence.0.len();
        let (from, to) = (*first.0.get(depth)? as usize, *second.0.get(depth)? as usize);
        if to <= from + 1 {
            return None;
        }
        let parts = self.root.at(&sequence)?.child_count();
        let order = (0..from).chain(from + 1..to).chain([from]).chain(to..parts).collect();
        let (root, steps) = self.after(kernel, Reorder { sequence: sequence.into(), order })?;
        let mut moved = first.clone();
        moved.0[depth] = to as u32 - 1;
        root.at(&moved)?.as_loop()?;
        Some(Start { steps, root, pair: [moved, second.clone()] })
    }

    /// What the first loop runs before the second begins as a loop of its own, so that what stands between has its place behind that.
    fn first_split(&self, kernel: &Kernel) -> Option<Start> {
        let [first, second] = &self.pair;
        let sequence = first.shared(second);
        let depth = sequence.0.len();
        let lower = |path: &Path| {
            let (header, _) = self.root.at(path).filter(|_| path.0.len() == depth + 1)?.as_loop()?;
            header.single_bounds().map(|(lower, _)| lower.clone())
        };
        let (own, point) = (lower(first)?, lower(second)?);
        (&point - &own).as_constant().filter(|d| *d > 0)?;
        let split =
            IndexSetSplit { target: LoopRef::Path(first.clone()), point: Expression::of(kernel, &point) };
        let before = self.root.at(&sequence)?.child_count();
        let (root, steps) = self.after(kernel, split)?;
        if root.at(&sequence)?.child_count() != before + 1 {
            return None;
        }
        let next = |path: &Path| {
            let mut path = path.clone();
            path.0[depth] += 1;
            path
        };
        let pair = [next(first), next(second)];
        root.at(&pair[0])?.as_loop()?;
        Start { steps, root, pair }.between_first(kernel)
    }

    /// The second loop the other way round.
    fn second_reversed(&self, kernel: &Kernel) -> Option<Start> {
        let [first, second] = &self.pair;
        let (root, steps) = self.after(kernel, Reverse { target: second.clone().into() })?;
        root.at(second)?.as_loop()?;
        Some(Start { steps, root, pair: [first.clone(), second.clone()] })
    }

    /// One of the loops in strips of as many iterations as the other one steps over.
    fn in_strips(&self, kernel: &Kernel, which: usize) -> Option<Start> {
        let header = |path: &Path| Some(self.root.at(path)?.as_loop()?.0);
        let target = LoopRef::Path(self.pair[which].clone());
        let size = strip(header(&self.pair[which])?, header(&self.pair[1 - which])?)?;
        let (root, steps) = self.after(kernel, StripMine { target, size, absolute: false })?;
        let pair = self.pair.clone();
        pair.iter().all(|path| root.at(path).is_some_and(|node| node.as_loop().is_some())).then_some(Start {
            steps,
            root,
            pair,
        })
    }

    /// The tree and the steps with one more.
    fn after(&self, kernel: &Kernel, step: impl Into<Step>) -> Option<(Green, Recipe)> {
        let step = step.into();
        let root = step.apply(&Context { kernel, root: &self.root }).ok()?.root;
        Some((root, self.steps.with(step)))
    }
}

/// Of how many iterations strips of a loop are, where there are as many of them as iterations of the other loop, or one more or less.
fn strip(longer: &LoopHeader, other: &LoopHeader) -> Option<i64> {
    let extent = |header: &LoopHeader| {
        let (lower, upper) = header.single_bounds().filter(|_| header.step == 1)?;
        Some(upper - lower)
    };
    let (own, wanted) = (extent(longer)?, extent(other)?);
    let by_floor = wanted.terms().iter().filter_map(|(atom, _)| match atom {
        Atom::Div(floor) => Some(floor.denominator),
        _ => None,
    });
    let numbers = own.as_constant().zip(wanted.as_constant()).filter(|(_, wanted)| *wanted > 0);
    let by_number = numbers.map(|(own, wanted)| own / wanted + i64::from(own % wanted > 0));
    by_floor.chain(by_number).find(|size| {
        let strips = || own.clone().offset(size - 1).floor_div(*size);
        (2..=LONGEST_STRIP).contains(size)
            && (&strips() - &wanted).as_constant().is_some_and(|d| d.abs() <= 1)
    })
}
