//! Loops that pass a pivot, a row or column that what is computed elsewhere reads: split before and behind it, so that the
//! parts carry no dependence and run as vectors. Elimination, shortest paths.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{Affine, Green, Kernel, Path, VarId, occurrences};
use transforms::{Expression, IndexSetSplit};

/// Splits innermost loops where a write meets an element that other iterations read.
pub struct PivotSplit;

impl Sketch for PivotSplit {
    fn name(&self) -> &str {
        "pivot split"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let kernel = desk.kernel();
        let mut draft = Draft::from(start);
        let innermost =
            region.members(&start.root).into_iter().flat_map(|m| loops_of_depth(&start.root, &m, 1));
        // Last first: paths of the loops in front stay what they are.
        for path in innermost.collect::<Vec<_>>().into_iter().rev() {
            let [pivot] = &pivots(&kernel, &draft.root, &path)[..] else { continue };
            let Some(split) = around_pivot(desk, &kernel, &draft, &path, pivot) else { continue };
            draft = split;
        }
        if draft.root == start.root { vec![] } else { desk.judge_one(draft).into_iter().collect() }
    }
}

fn around_pivot(
    desk: &Desk<'_, '_, '_>,
    kernel: &Kernel,
    draft: &Draft,
    path: &Path,
    pivot: &Affine,
) -> Option<Draft> {
    let split = |path: &Path, at: &Affine| IndexSetSplit {
        target: path.clone().into(),
        point: Expression::of(kernel, at),
    };
    let before = desk.apply(draft, split(path, pivot)).ok()?;
    // The second part stands beside the first, or both are the parts of a new sequence.
    let second = match before.root.at(path)?.as_loop() {
        Some(_) => {
            let (parent, index) = path.split_last()?;
            parent.child(index + 1)
        }
        None => path.child(1),
    };
    desk.apply(&before, split(&second, &pivot.offset(1))).ok()
}

/// Values of an innermost loop's variable in which a write touches what another access touches in every iteration, along one
/// dimension; other dimensions may tell them apart.
fn pivots(kernel: &Kernel, root: &Green, path: &Path) -> Vec<Affine> {
    let Some((header, _)) = root.at(path).and_then(Green::as_loop) else { return vec![] };
    let var: VarId = header.var;
    let mut result: Vec<Affine> = Vec::new();
    for occurrence in occurrences(root).iter().filter(|o| path.contains(&o.path)) {
        let accesses = &kernel.statement(occurrence.statement).accesses;
        let resolved = |e: &Affine| occurrence.resolve_at(e, occurrence.around.len());
        for write in accesses.iter().filter(|a| a.kind != loop_tree::AccessKind::Read) {
            for other in accesses.iter().filter(|a| a.array == write.array) {
                let (Some(w), Some(r)) = (&write.subscripts, &other.subscripts) else { continue };
                for (w, r) in w.iter().zip(r) {
                    let (w, r) = (resolved(w), resolved(r));
                    if w.coefficient(var) != 1 || r.uses(var) {
                        continue;
                    }
                    let value = &r - &(&w - &Affine::var(var));
                    if !value.uses(var) && value.as_constant().is_none() && !result.contains(&value) {
                        result.push(value);
                    }
                }
            }
        }
    }
    result
}
