//! Data that is moved, and nothing computed from it: fills, copies, transpositions.

use super::vectors::only_moving;
use super::{Element, Found, Idiom, View};

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
}
