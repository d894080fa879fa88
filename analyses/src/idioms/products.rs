//! Sums of products: of matrices, of a matrix and a vector, of two vectors.

use super::calls::{cblas, only};
use super::{Element, Found, Idiom, Offer, Term, View, float};
use loop_tree::{Argument, Returned, VarId};

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

    fn call(&self, view: &View<'_>) -> Option<Offer> {
        let [term] = view.added()?[..] else { return None };
        let moving: Vec<_> = term.factors.iter().filter(|f| view.moves(f)).collect();
        let [a, b] = moving[..] else { return None };
        let (a, b) = (a.element()?, b.element()?);
        let roles = roles(view, a, b).filter(|r| r.each.is_empty())?;
        let ty = view.float_type()?;
        let (scale, one) = (view.scale(term, ty)?, Argument::Number(float(ty, 1.0)?));
        let length = |v| Some(Argument::Int(view.loops.iter().find(|l| l.var == v)?.length()?));
        match [&roles.rows[..], &roles.columns[..], &roles.summed[..]] {
            [[_], [_], [k]] => {
                let (a, b, rows, columns) = oriented(view, a, b, &roles)?;
                let (rows, columns) = (only(rows)?, only(columns)?);
                let c = matrix(view, &view.written, rows, columns).filter(|c| !c.transposed)?;
                let (a, b) = (matrix(view, a, rows, *k)?, matrix(view, b, *k, columns)?);
                let form = [ROWS, a.form(), b.form(), length(rows)?, length(columns)?, length(*k)?, scale];
                let operands = [a.first, a.lead, b.first, b.lead, one, c.first, c.lead];
                Some(cblas(view, "gemm")?.with(form).with(operands))
            }
            [[rows], [], [k]] => by_vector(view, [a, b], [*rows, *k], [scale, one], &length),
            [[], [columns], [k]] => by_vector(view, [b, a], [*columns, *k], [scale, one], &length),
            [[], [], [k]] => {
                let plain = term.factors.len() == 2 && !term.negative;
                let [x, y] = [vector(view, a, *k)?, vector(view, b, *k)?];
                let mut offer = cblas(view, "dot").filter(|_| plain)?.with([length(*k)?]).with(x).with(y);
                let subscripts = view.written.subscripts.clone();
                offer.call.returns = Returned::Added(view.written.array, subscripts);
                Some(offer)
            }
            [[_], [_], []] => {
                let (x, y, rows, columns) = oriented(view, a, b, &roles)?;
                let (rows, columns) = (only(rows)?, only(columns)?);
                let c = matrix(view, &view.written, rows, columns).filter(|c| !c.transposed)?;
                let [x, y] = [vector(view, x, rows)?, vector(view, y, columns)?];
                let form = [ROWS, length(rows)?, length(columns)?, scale];
                Some(cblas(view, "ger")?.with(form).with(x).with(y).with([c.first, c.lead]))
            }
            _ => None,
        }
    }
}

const ROWS: Argument = Argument::Word("CblasRowMajor", 101);

/// A matrix as an argument.
struct Matrix {
    first: Argument,
    /// Elements from one stored row to the next.
    lead: Argument,
    /// What should be its rows are its columns.
    transposed: bool,
}

impl Matrix {
    fn form(&self) -> Argument {
        match self.transposed {
            false => Argument::Word("CblasNoTrans", 111),
            true => Argument::Word("CblasTrans", 112),
        }
    }
}

/// The elements that two loops walk, where those of one of them lie side by side.
fn matrix(view: &View<'_>, e: &Element, rows: VarId, columns: VarId) -> Option<Matrix> {
    let (row, column) = (e.position(view, rows)?, e.position(view, columns)?);
    let last = e.subscripts.len() - 1;
    let transposed = row == last;
    if !transposed && column != last {
        return None;
    }
    let lead = Argument::Int(view.stride(e, row.min(column))?);
    Some(Matrix { first: view.pointer(e)?, lead, transposed })
}

/// The elements that a loop walks: the first, and the distance.
pub(super) fn vector(view: &View<'_>, e: &Element, along: VarId) -> Option<[Argument; 2]> {
    Some([view.pointer(e)?, Argument::Int(view.stride(e, e.position(view, along)?)?)])
}

/// A matrix, and a vector that it is multiplied by.
fn by_vector(
    view: &View<'_>,
    [a, x]: [&Element; 2],
    [rows, k]: [VarId; 2],
    [scale, one]: [Argument; 2],
    length: &dyn Fn(VarId) -> Option<Argument>,
) -> Option<Offer> {
    let matrix = matrix(view, a, rows, k)?;
    let [x, y] = [vector(view, x, k)?, vector(view, &view.written, rows)?];
    let stored = if matrix.transposed { [length(k)?, length(rows)?] } else { [length(rows)?, length(k)?] };
    let offer = cblas(view, "gemv")?.with([ROWS, matrix.form()]).with(stored);
    Some(offer.with([scale, matrix.first, matrix.lead]).with(x).with([one]).with(y))
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
