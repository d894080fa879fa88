//! Loops that pass a pivot, a row or column that what is computed elsewhere reads: split before and behind it, so that the
//! parts carry no dependence and run as vectors, and, of the loops around, on threads. Elimination, shortest paths.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{Affine, Green, Kernel, Path, VarId, occurrences};
use transforms::{Expression, IndexSetSplit};

/// Splits innermost loops where a write meets an element that other iterations read; for threads, those around them as well.
pub struct PivotSplit;

impl Sketch for PivotSplit {
    fn name(&self) -> &str {
        "pivot split"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let columns = split_all(desk, start.into(), region, 1);
        let rows = (desk.threads() > 1).then(|| split_all(desk, start.into(), region, 2));
        let rows = rows.filter(|draft| draft.root != start.root);
        let both = rows.map(|rows| split_all(desk, rows, region, 1));
        let drafts = [Some(columns), both].into_iter().flatten().filter(|draft| draft.root != start.root);
        desk.judge(drafts.collect()).into_iter().flatten().collect()
    }
}

/// All loops of a region that hold so many loops, themselves included, split around their pivots.
fn split_all(desk: &Desk<'_, '_, '_>, mut draft: Draft, region: &Region, depth: u32) -> Draft {
    let kernel = desk.kernel();
    let members = region.members(&draft.root);
    let loops = members.into_iter().flat_map(|m| loops_of_depth(&draft.root, &m, depth));
    // Last first: paths of the loops in front stay what they are.
    for path in loops.collect::<Vec<_>>().into_iter().rev() {
        let [pivot] = &pivots(&kernel, &draft.root, &path)[..] else { continue };
        let Some(split) = around_pivot(desk, &kernel, &draft, &path, pivot) else { continue };
        draft = split;
    }
    draft
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

/// Values of a loop's variable in which a write touches what another access touches in every iteration, along one
/// dimension; other dimensions may tell them apart.
fn pivots(kernel: &Kernel, root: &Green, path: &Path) -> Vec<Affine> {
    let Some((header, _)) = root.at(path).and_then(Green::as_loop) else { return vec![] };
    let var: VarId = header.var;
    let mut result: Vec<Affine> = Vec::new();
    for occurrence in occurrences(root).iter().filter(|o| path.contains(&o.path)) {
        let accesses = &kernel.statement(occurrence.statement).accesses;
        let resolved = |e: &Affine| occurrence.resolve(e);
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
