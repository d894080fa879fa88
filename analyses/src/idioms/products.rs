//! Sums of products: of matrices, of a matrix and a vector, of two vectors.

use super::{Element, Found, Idiom, Term, View};
use loop_tree::VarId;

/// `W += scale * A * B`. A loop in which `W` and `A` move, but `B` does not, walks rows of the result; one in which `W` and `B` do, columns; one
/// in which both operands do, but not the result, is summed over.
pub(super) struct Products;

/// Loops by what moves in them.
#[derive(Default, Debug)]
struct Roles {
    rows: Vec<VarId>,
    columns: Vec<VarId>,
    summed: Vec<VarId>,
    /// Everything moves: one product for each.
    each: Vec<VarId>,
}

impl Idiom for Products {
    fn recognise(&self, view: &View<'_>) -> Option<Found> {
        let [term] = view.added()?[..] else { return None };
        let (scale, moving): (Vec<_>, Vec<_>) = term.factors.iter().partition(|f| !view.moves(f));
        let [a, b] = moving[..] else { return None };
        let (a, b) = (a.element()?, b.element()?);
        let roles = roles(view, a, b)?;
        // Where the result moves with the second operand first, the operands change places.
        let count = |list: &[VarId]| list.len().min(1);
        let found = match [count(&roles.rows), count(&roles.columns), count(&roles.summed)] {
            [1, 1, 1] => {
                let (a, b, rows, columns) = oriented(view, a, b, &roles)?;
                Found::new("matrix product")
                    .noting(transposed(view, a, rows, &roles.summed))
                    .noting(transposed(view, b, &roles.summed, columns))
            }
            [1, 0, 1] => {
                Found::new("matrix-vector product").noting(transposed(view, a, &roles.rows, &roles.summed))
            }
            [0, 1, 1] => {
                Found::new("matrix-vector product").noting(transposed(view, b, &roles.columns, &roles.summed))
            }
            [0, 0, 1] => Found::new("dot product"),
            [1, 1, 0] => Found::new("outer product"),
            _ => return None,
        };
        let scaled = scaled(view, term, !scale.is_empty());
        let each = (!roles.each.is_empty()).then(|| {
            let names: Vec<String> = roles.each.iter().map(|v| view.kernel.variable_name(*v)).collect();
            format!("one for each {}", names.join(", "))
        });
        let own = [a, b].iter().any(|e| e.array == view.written.array);
        let in_place = own.then(|| "in place".to_string());
        Some(found.noting(scaled).noting(each).noting(in_place).noting(view.range()))
    }
}

fn scaled(view: &View<'_>, term: &Term, is_scaled: bool) -> Option<String> {
    let factors = term.factors.iter().filter(|f| !view.moves(f)).map(|f| f.text(view.kernel));
    is_scaled.then(|| format!("scaled by {}", factors.collect::<Vec<_>>().join(" * ")))
}

/// `None` where a loop has no role, or an element moves in another way than along one subscript for each loop.
fn roles(view: &View<'_>, a: &Element, b: &Element) -> Option<Roles> {
    let mut roles = Roles::default();
    for l in &view.loops {
        let along = |e: &Element| match e.uses(l.var) {
            false => Some(false),
            true => e.position(view, l.var).map(|_| true),
        };
        match (along(&view.written)?, along(a)?, along(b)?) {
            (true, true, false) => roles.rows.push(l.var),
            (true, false, true) => roles.columns.push(l.var),
            (false, true, true) => roles.summed.push(l.var),
            (true, true, true) => roles.each.push(l.var),
            _ => return None,
        }
    }
    Some(roles)
}

/// Operands and their loops, so that the last loop of the second operand is the one along the result's rows.
type Oriented<'a> = (&'a Element, &'a Element, &'a [VarId], &'a [VarId]);

fn oriented<'a>(view: &View<'_>, a: &'a Element, b: &'a Element, roles: &'a Roles) -> Option<Oriented<'a>> {
    let last = |list: &[VarId]| list.iter().filter_map(|v| view.written.position(view, *v)).max();
    Some(match last(&roles.rows)? < last(&roles.columns)? {
        true => (a, b, &roles.rows, &roles.columns),
        false => (b, a, &roles.columns, &roles.rows),
    })
}

/// Whether a matrix is stored the other way round: what should walk its rows walks its columns.
fn transposed(view: &View<'_>, e: &Element, first: &[VarId], second: &[VarId]) -> Option<String> {
    let last = |list: &[VarId]| list.iter().filter_map(|v| e.position(view, *v)).max();
    (last(first)? > last(second)?).then(|| format!("{} transposed", view.kernel.array(e.array).name))
}
