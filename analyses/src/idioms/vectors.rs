//! What is done to whole vectors: a multiple added, scaled, summed up, the greatest found.

use super::calls::cblas;
use super::products::vector;
use super::{Element, Factor, Found, Idiom, Offer, Term, View};
use loop_tree::{Affine, Argument, ReductionOp};

/// `y += a * x`, `y *= a`, `s += x`, `s = max(s, x)`.
pub(super) struct Vectors;

impl Idiom for Vectors {
    fn recognise(&self, view: &View<'_>) -> Option<Found> {
        if let Some(by) = view.update {
            return updated(view, by);
        }
        if let Some(terms) = view.added() {
            let [term] = terms[..] else { return None };
            // What is added must not be what an earlier iteration has written.
            let x = only_moving(view, term).filter(|x| !is_shifted(view, x))?;
            let every = |e: &Element| view.loops.iter().all(|l| e.position(view, l.var).is_some());
            if every(&view.written) && every(x) {
                return Some(Found::new("axpy").noting(view.range()));
            }
            let walks = view.loops.iter().all(|l| {
                x.position(view, l.var).is_some()
                    && (!view.written.uses(l.var) || view.written.position(view, l.var).is_some())
            });
            let summed = view.loops.iter().any(|l| !view.written.uses(l.var));
            return (walks && summed).then(|| Found::new("sum").noting(view.range()));
        }
        None
    }

    fn call(&self, view: &View<'_>) -> Option<Offer> {
        let [along] = &view.loops[..] else { return None };
        let (length, ty) = (Argument::Int(along.length()?), view.float_type()?);
        let y = vector(view, &view.written, along.var)?;
        match (view.update, view.terms()?) {
            (Some(ReductionOp::FMul), [term]) if !term.factors.iter().any(|f| view.moves(f)) => {
                Some(cblas(view, "scal")?.with([length, view.scale(term, ty)?]).with(y))
            }
            (None, _) => {
                let [term] = view.added()?[..] else { return None };
                // BLAS wants its operands apart.
                let x = only_moving(view, term).filter(|x| !is_shifted(view, x))?;
                let x = vector(view, x, along.var)?;
                Some(cblas(view, "axpy")?.with([length, view.scale(term, ty)?]).with(x).with(y))
            }
            _ => None,
        }
    }
}

fn updated(view: &View<'_>, by: ReductionOp) -> Option<Found> {
    let [term] = view.terms()? else { return None };
    let moving = || term.factors.iter().any(|f| view.moves(f));
    if matches!(by, ReductionOp::FMul | ReductionOp::Mul)
        && view.loops.iter().all(|l| view.written.position(view, l.var).is_some())
    {
        return (!moving()).then(|| Found::new("scaling").noting(view.range()));
    }
    let summed = view.loops.iter().any(|l| !view.written.uses(l.var));
    let name = match by {
        ReductionOp::SMin | ReductionOp::UMin => "minimum",
        ReductionOp::SMax | ReductionOp::UMax => "maximum",
        ReductionOp::FMul | ReductionOp::Mul => "product of all",
        _ => return None,
    };
    (summed && moving()).then(|| Found::new(name).noting(view.range()))
}

/// Whether an element lies in the row that is written, if anywhere in the array.
fn is_shifted(view: &View<'_>, x: &Element) -> bool {
    let moves = |e: &Affine| view.loops.iter().any(|l| e.uses(l.var));
    let mut both = x.subscripts.iter().zip(&view.written.subscripts);
    x.array == view.written.array && both.all(|(x, w)| moves(x) || moves(w) || x == w)
}

/// The only factor that moves, if it is an element.
pub(super) fn only_moving<'t>(view: &View<'_>, term: &'t Term) -> Option<&'t Element> {
    let moving: Vec<&Factor> = term.factors.iter().filter(|f| view.moves(f)).collect();
    match moving[..] {
        [only] => only.element(),
        _ => None,
    }
}
