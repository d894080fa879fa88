//! Data that is moved, and nothing computed from it: fills, copies, transpositions.

use super::vectors::only_moving;
use super::{Element, Factor, Found, Idiom, Offer, View};
use loop_tree::{Affine, Argument, Constant, Returned, ScalarType};

/// `y = c`, `y[i] = x[i]`, `y[j][i] = x[i][j]`.
pub(super) struct Moves;

impl Idiom for Moves {
    fn recognise(&self, view: &View<'_>) -> Option<Found> {
        // Of a scalar that each iteration has for itself nothing is moved.
        let scalar = view.kernel.array(view.written.array).is_scalar();
        if scalar
            || view.update.is_some()
            || !view.loops.iter().all(|l| view.written.position(view, l.var).is_some())
        {
            return None;
        }
        let [term] = view.terms()? else { return None };
        if !term.factors.iter().any(|f| view.moves(f)) {
            return Some(Found::new("fill").noting(view.range()));
        }
        let from = only_moving(view, term).filter(|e| e.array != view.written.array)?;
        let scaled = (term.factors.len() > 1 || term.negative).then(|| "scaled".to_string());
        if !view.loops.iter().all(|l| from.position(view, l.var).is_some()) {
            return None;
        }
        let order = |e: &Element| {
            let mut list: Vec<_> = view.loops.iter().map(|l| (e.position(view, l.var), l.var)).collect();
            list.sort();
            list.into_iter().map(|(_, v)| v).collect::<Vec<_>>()
        };
        let name = if order(&view.written) == order(from) { "copy" } else { "transposition" };
        Some(Found::new(name).noting(scaled).noting(view.range()))
    }
    fn call(&self, view: &View<'_>) -> Option<Offer> {
        let [term] = view.terms().filter(|_| view.update.is_none())? else { return None };
        let [only] = &term.factors[..] else { return None };
        if term.negative || !in_one_piece(view, &view.written) {
            return None;
        }
        let array = view.kernel.array(view.written.array);
        let bytes = |offer: &Offer| {
            let size = Affine::constant(array.element.size().into());
            Argument::Size(std::iter::once(size).chain(offer.call.lengths.iter().cloned()).collect())
        };
        let to = view.pointer(&view.written)?;
        let mut offer = match only {
            Factor::Element(from) if from.array != view.written.array && in_one_piece(view, from) => {
                let same = view.kernel.array(from.array).element == array.element;
                let offer = Offer::new(view, "c", "memcpy").filter(|_| same)?;
                let bytes = bytes(&offer);
                offer.with([to, view.pointer(from)?, bytes])
            }
            Factor::Constant(c) => {
                let offer = Offer::new(view, "c", "memset")?;
                let bytes = bytes(&offer);
                offer.with([to, Argument::Int(Affine::constant(byte_of(*c)?)), bytes])
            }
            _ => return None,
        };
        offer.call.returns = Returned::Pointer;
        Some(offer)
    }
}

/// Whether the loops walk elements that lie side by side, all in a row: all but the outermost one walk whole rows.
fn in_one_piece(view: &View<'_>, e: &Element) -> bool {
    let extents = &view.kernel.array(e.array).extents;
    let Some(outside) = extents.len().checked_sub(view.loops.len()) else { return false };
    view.loops.iter().enumerate().all(|(number, l)| {
        let at = outside + number;
        let whole = || {
            let all = extents[at].as_ref().is_some_and(|extent| l.upper == [extent.clone()]);
            all && l.lower == [Affine::constant(0)] && e.subscripts[at] == Affine::var(l.var)
        };
        e.position(view, l.var) == Some(at) && (number == 0 || whole())
    })
}

/// The byte that all bytes of a constant are.
fn byte_of(c: Constant) -> Option<i64> {
    let bytes = &c.bits.to_le_bytes()[..c.ty.size() as usize];
    // A bit has no other bytes than these in memory.
    let same = bytes.iter().all(|b| *b == bytes[0]) && c.ty != ScalarType::I1;
    same.then_some(bytes[0].into())
}
