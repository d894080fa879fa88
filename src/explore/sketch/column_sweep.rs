//! Sweeps over columns become sweeps over rows: a sum of products of earlier elements of a row and a column, element by element, as in
//! triangular recurrences. What an element needs besides goes into an iteration of its own at the end of the sum, or, where the sum
//! starts from it, into the first one; then each element, once it is complete, is added to all behind it. Triangles that are
//! walked along their diagonals are walked by rows first, the last one first.

use super::{Desk, Draft, Sketch, Stage, passes};
use crate::explore::region::{Region, loops_below, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{Affine, Green, Node, Path};
use transforms::{Distribute, Expression, IndexSetSplit, Interchange, Move, Reverse, Sink};

/// Sinks what stands beside a loop that ends at the row, interchanges, and splits at the diagonal.
pub struct ColumnSweep;

impl Sketch for ColumnSweep {
    fn name(&self) -> &str {
        "column sweep"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let mut result = Vec::new();
        for member in region.members(&start.root) {
            for elements in loops_of_depth(&start.root, &member, 2) {
                let by_rows = rows(desk, start, &elements);
                let orders = [Some((start.into(), elements)), by_rows].into_iter().flatten();
                let drawn = orders.into_iter().find_map(|(draft, elements)| {
                    let worthwhile = walks_columns(desk, &draft, &elements);
                    [together, apart, initialised].iter().filter(|_| worthwhile).find_map(|swept| {
                        let draft = swept(desk, &draft, &elements)?;
                        desk.judge_one(draft)
                    })
                });
                result.extend(drawn);
            }
        }
        result
    }
}

/// Whether the sum would walk more rows if it were outside of the elements.
fn walks_columns(desk: &Desk<'_, '_, '_>, draft: &Draft, elements: &Path) -> bool {
    passes::walks(&desk.kernel(), &draft.root, elements).is_some_and(|[outer, inner]| outer < inner)
}

/// A triangle by diagonals, of which each is shorter than the one before, by rows from the last to the first; and the loop over a row's elements.
fn rows(desk: &Desk<'_, '_, '_>, start: &Variant, elements: &Path) -> Option<(Draft, Path)> {
    let diagonals = elements.split_last()?.0;
    let (outer, _) = start.root.at(&diagonals)?.as_loop()?;
    let (inner, _) = start.root.at(elements)?.as_loop()?;
    if !inner.upper().iter().any(|end| end.coefficient(outer.var) < 0) {
        return None;
    }
    let draft =
        desk.apply(&start.into(), Interchange { outer: diagonals.clone().into(), inner: None }).ok()?;
    let draft = desk.apply(&draft, Reverse { target: diagonals.clone().into() }).ok()?;
    let [elements] = &loops_below(&draft.root, &diagonals)[..] else { return None };
    let elements = elements.clone();
    Some((draft, elements))
}

/// Of the parts of a loop's body, the position of the only loop, and their number.
fn parts(root: &Green, elements: &Path) -> Option<(usize, usize)> {
    let (_, body) = root.at(elements)?.as_loop()?;
    let Node::Seq(children) = body.node() else { return None };
    let mut loops = children.iter().enumerate().filter(|(_, c)| c.summary().loop_depth > 0);
    let (at, sum) = loops.next()?;
    (loops.next().is_none() && sum.as_loop().is_some()).then_some((at, children.len()))
}

/// The sum in front of what stands beside it: where all of it updates one accumulator.
fn together(desk: &Desk<'_, '_, '_>, start: &Draft, elements: &Path) -> Option<Draft> {
    let (at, _) = parts(&start.root, elements)?;
    let draft = match at {
        0 => start.clone(),
        _ => desk.apply(start, Move { part: elements.child(0).child(at).into(), to: 0 }).ok()?,
    };
    ended(desk, draft, elements)
}

/// What stands in front of the sum in a loop of its own.
fn apart(desk: &Desk<'_, '_, '_>, start: &Draft, elements: &Path) -> Option<Draft> {
    let (at, count) = parts(&start.root, elements)?;
    if at == 0 || at + 1 == count {
        return None;
    }
    let draft = desk.apply(start, Distribute { target: elements.clone().into(), at: Some(at) }).ok()?;
    let behind = match elements.split_last() {
        Some((parent, index)) if matches!(start.root.at(&parent)?.node(), Node::Seq(_)) => {
            parent.child(index + 1)
        }
        _ => elements.child(1),
    };
    ended(desk, draft, &behind)
}

/// What stands in front of the sum in its first iteration.
fn initialised(desk: &Desk<'_, '_, '_>, start: &Draft, elements: &Path) -> Option<Draft> {
    let (at, count) = parts(&start.root, elements)?;
    if at == 0 || at + 1 != count {
        return None;
    }
    let mut draft = start.clone();
    for number in (0..at).rev() {
        let part = elements.child(0).child(number).into();
        draft = desk.apply(&draft, Sink { part, extend: false }).ok()?;
    }
    desk.apply(&draft, Interchange { outer: elements.clone().into(), inner: None }).ok()
}

/// What stands behind the sum in an iteration at its end.
fn ended(desk: &Desk<'_, '_, '_>, mut draft: Draft, elements: &Path) -> Option<Draft> {
    let (0, count) = parts(&draft.root, elements)? else { return None };
    let element = draft.root.at(elements)?.as_loop()?.0.var;
    let sum = elements.child(0).child(0);
    let (header, _) = draft.root.at(&sum)?.as_loop()?;
    let [end] = header.upper() else { return None };
    if end.coefficient(element) != 1 || count < 2 {
        return None;
    }
    let beyond = end - &Affine::var(element);
    for number in 1..count {
        let part = elements.child(0).child(1).into();
        draft = desk.apply(&draft, Sink { part, extend: number == 1 }).ok()?;
    }
    draft = desk.apply(&draft, Interchange { outer: elements.clone().into(), inner: None }).ok()?;
    let step = draft.root.at(elements)?.as_loop()?.0.var;
    let [inner] = &loops_below(&draft.root, elements)[..] else { return None };
    let diagonal = (&Affine::var(step) - &beyond).offset(1);
    let point = Expression::of(&desk.kernel(), &diagonal);
    desk.apply(&draft, IndexSetSplit { target: inner.clone().into(), point }).ok()
}
