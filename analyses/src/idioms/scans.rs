//! Scans: each element is the one before with something more.

use super::{Element, Factor, Found, Idiom, View};
use loop_tree::{ArrayId, OpKind, VarId};

/// `y[i] = y[i-1] + x[i]`, also with `y[i]` itself for `x[i]`, or `s += x[i]; y[i] = s`.
pub(super) struct Scans;

impl Idiom for Scans {
    fn recognise(&self, view: &View<'_>) -> Option<Found> {
        let [along] = &view.loops[..] else { return None };
        view.written.position(view, along.var)?;
        let terms = view.terms().filter(|_| view.update.is_none())?;
        let elements = || terms.iter().flat_map(|t| &t.factors).filter_map(Factor::element);
        let own: Vec<&Element> = elements().filter(|e| e.array == view.written.array).collect();
        let opaque = terms.iter().flat_map(|t| &t.factors).any(|f| matches!(f, Factor::Other(_)));
        if opaque {
            return None;
        }
        let found = match own[..] {
            [a, b] if (*a == view.written) != (*b == view.written) => {
                is_before(view, if *a == view.written { b } else { a }, along.var)
            }
            [before] => is_before(view, before, along.var) && terms.len() > 1,
            [] => elements().any(|e| is_running_sum(view, e, along.var)),
            _ => false,
        };
        found.then(|| Found::new("scan"))
    }
}

/// Whether an element is the one written in the iteration before.
fn is_before(view: &View<'_>, e: &Element, var: VarId) -> bool {
    let Some(along) = view.written.position(view, var) else { return false };
    let step = view.loops.first().map_or(1, |l| l.step);
    let differences = e.subscripts.iter().zip(&view.written.subscripts).map(|(e, w)| (e - w).as_constant());
    differences.enumerate().all(|(n, d)| d == Some(if n == along { -step } else { 0 }))
}

/// Whether a scalar goes through the loop and is added to in each iteration, here or in another statement.
fn is_running_sum(view: &View<'_>, e: &Element, var: VarId) -> bool {
    let kernel = view.kernel;
    let is_scalar = |a: ArrayId| kernel.array(a).is_scalar();
    if !is_scalar(e.array) || e.uses(var) {
        return false;
    }
    kernel.statements.iter().any(|s| {
        let inside = s.dims.last() == Some(&var);
        let reads = s.ops.iter().any(|op| matches!(op.kind, OpKind::Load(a) if s.access(a).array == e.array));
        let writes =
            s.ops.iter().any(|op| matches!(op.kind, OpKind::Store(a, _) if s.access(a).array == e.array));
        inside && reads && writes
    })
}
