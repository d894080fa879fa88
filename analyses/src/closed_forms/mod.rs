//! Closed forms: integers and addresses as polynomials over loop counters and values that are not looked into, and how
//! often loops run.
//!
//! What asks is generic in the type `V` of a value, so that the interface knows no compiler. Implementations that read
//! an intermediate representation live beside it and are handed in; [`NoClosedForms`] is here.

mod monomial;
mod poly;

use std::hash::Hash;
use std::rc::Rc;

pub use monomial::Monomial;
pub use poly::{Fact, Meaning, Poly, Sym, Symbols};

/// A condition under which a description is exact: the polynomial stays within the inclusive bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    /// What has to stay within.
    pub poly: Poly,
    /// The least value.
    pub low: i128,
    /// The greatest value; `i128::MAX` where there is no bound.
    pub high: i128,
}

/// An integer, read as signed: exact wherever the needs hold, or the value is poison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClosedForm {
    /// The value.
    pub poly: Poly,
    /// What has to be proved, or checked at run time, before the value may be relied on.
    pub needs: Vec<Rc<Need>>,
    /// Factors of products inside: candidates for the strides of an array.
    pub factors: Vec<Poly>,
}

/// A pointer: `base` plus so many bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address<V> {
    /// A pointer that is not looked into.
    pub base: V,
    /// The distance in bytes, with strides in bytes as its factors.
    pub offset: ClosedForm,
    /// Sizes in bytes of the types that the address steps over: what the types say of strides.
    pub sizes: Vec<i128>,
}

/// A loop that is left from one block only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopExit {
    /// The loop, as in [`Meaning::Iteration`].
    pub id: usize,
    /// The block with the test.
    pub from: usize,
    /// Whether the test comes before the body: the body may then run not even once.
    pub test_first: bool,
}

/// Iteration `k = 0, 1, ...` of the body runs where `room - step * k >= 0`: exact where the needs hold when the loop is
/// entered. `room` does not change while the loop runs, except that it may speak of what the loop reads again and again from a place that
/// does not change: who asks then has to know that nothing is written there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TripCount {
    /// How far the loop may go.
    pub room: Poly,
    /// How far each iteration goes; positive.
    pub step: i128,
    /// When the count is exact.
    pub needs: Vec<Rc<Need>>,
}

/// Finds closed forms in one function, and remembers them.
///
/// Answers are never guesses: a form is exact under its own needs, and `None` and `Err` mean "not known". Nothing is
/// taken for granted; who asks proves needs, or has them checked at run time.
pub trait ClosedForms<V: Copy + Eq + Hash> {
    /// What the symbols of the answers stand for.
    fn symbols(&self) -> &Symbols<V>;
    /// The symbol that counts the complete iterations of a loop.
    fn iteration(&mut self, l: usize) -> Sym;
    /// An integer of at most 64 bits. What is not looked into is a symbol of its own; `None` for other types.
    fn integer(&mut self, v: V) -> Option<ClosedForm>;
    /// Base and distance of a pointer.
    fn address(&mut self, v: V) -> Option<Address<V>>;
    /// The same from a pointer that it is computed from, which is not looked into; `None` where that is not known.
    fn address_from(&mut self, base: V, v: V) -> Option<Address<V>> {
        let _ = (base, v);
        None
    }
    /// How far one pointer is behind another in bytes, in a block by its number; `None` where that is not known. Pointers are equal
    /// exactly where the distance is zero.
    fn distance(&mut self, from: V, to: V, at: usize) -> Option<ClosedForm> {
        let _ = (from, to, at);
        None
    }
    /// How often a loop runs, or why that is not known.
    fn trip_count(&mut self, l: LoopExit) -> Result<TripCount, &'static str>;
}

impl ClosedForm {
    /// Without any need.
    pub fn exact(poly: Poly) -> ClosedForm {
        ClosedForm { poly, needs: Vec::new(), factors: Vec::new() }
    }

    /// Takes over needs and factors.
    pub fn with(mut self, other: &ClosedForm) -> ClosedForm {
        merge(&mut self.needs, &other.needs);
        for f in &other.factors {
            if !self.factors.contains(f) {
                self.factors.push(f.clone());
            }
        }
        self
    }

    /// Exact only where a polynomial stays in a range. A range that a constant is in needs nothing.
    pub fn need(mut self, poly: &Poly, low: i128, high: i128) -> ClosedForm {
        if poly.as_constant().is_none_or(|c| c < low || c > high) {
            merge(&mut self.needs, &[Rc::new(Need { poly: poly.clone(), low, high })]);
        }
        self
    }
}

/// Adds needs that are not there yet.
pub fn merge(needs: &mut Vec<Rc<Need>>, more: &[Rc<Need>]) {
    for need in more {
        if !needs.contains(need) {
            needs.push(need.clone());
        }
    }
}

/// Knows nothing: no value is affine, no loop has a count.
pub struct NoClosedForms<V>(Symbols<V>);

impl<V> Default for NoClosedForms<V> {
    fn default() -> Self {
        NoClosedForms(Symbols::default())
    }
}

impl<V: Copy + Eq + Hash> ClosedForms<V> for NoClosedForms<V> {
    fn symbols(&self) -> &Symbols<V> {
        &self.0
    }

    fn iteration(&mut self, l: usize) -> Sym {
        self.0.get(Meaning::Iteration(l))
    }

    fn integer(&mut self, _: V) -> Option<ClosedForm> {
        None
    }

    fn address(&mut self, _: V) -> Option<Address<V>> {
        None
    }

    fn trip_count(&mut self, _: LoopExit) -> Result<TripCount, &'static str> {
        Err("closed forms are switched off, so no loop has a count")
    }
}
