//! Accesses: which element of which array loads and stores touch, from byte offsets.
//!
//! What is asked sees polynomials and element sizes only, no compiler. Implementations: [`Linear`] has one dimension,
//! [`Delinearised`] finds the rows of several in the strides, [`FromTypes`] takes the rows that types spell out.

mod delinearise;
mod linear;
mod types;

use crate::closed_forms::{Fact, Poly};

pub use delinearise::Delinearised;
pub use linear::Linear;
pub use types::FromTypes;

/// A load or store of one array: everything with the same base and element.
#[derive(Clone, Debug)]
pub struct ByteAccess {
    /// From the base, in bytes; `None` where it is not exact.
    pub offset: Option<Poly>,
    /// Candidates for strides in bytes, from products in the offset.
    pub factors: Vec<Poly>,
    /// Sizes in bytes of the types that its address steps over.
    pub sizes: Vec<i128>,
}

/// An array and what its accesses touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes from the base to the element with all subscripts zero.
    pub offset: i64,
    /// The outermost is unknown. As many as each access has subscripts.
    pub extents: Vec<Option<Poly>>,
    /// Of each access, in the order of the question; `None` where it may touch any element. Every subscript but the
    /// outermost is proved to be within its extent, or taken for granted to be in the scope's conditions.
    pub subscripts: Vec<Option<Vec<Poly>>>,
}

/// What is known where accesses stand, and what may be taken for granted.
pub trait Scope {
    /// Whether it has one value during all of the code that is described.
    fn is_invariant(&self, p: &Poly) -> bool;
    /// Whether it is affine in loop counters and values from outside.
    fn is_affine(&mut self, p: &Poly) -> bool;
    /// Proves `goal >= 0` where an access stands, or takes a condition for granted that implies it.
    fn require(&mut self, access: usize, goal: &Poly) -> bool;
    /// Whether two accesses stand at one place, so that the same holds for both; where that is not known, they do not.
    fn stand_together(&self, _: usize, _: usize) -> bool {
        false
    }
    /// What is taken for granted so far: a try that fails puts back what was there.
    fn conditions(&mut self) -> &mut Vec<Fact>;
}

/// Describes the accesses of one array. Never guesses: an access that is not understood touches any element.
pub trait Accesses: Send + Sync + std::fmt::Debug {
    /// The shape of an array whose elements have so many bytes.
    fn describe(&self, scope: &mut dyn Scope, accesses: &[ByteAccess], element: u32) -> Shape;
}

/// Names that [`accesses_by_name`] knows.
pub const ACCESSES: [&str; 3] = ["linear", "delinearised", "types"];

/// The implementation of that name.
pub fn accesses_by_name(name: &str) -> Option<Box<dyn Accesses>> {
    match name {
        "linear" => Some(Box::new(Linear)),
        "delinearised" => Some(Box::new(Delinearised)),
        "types" => Some(Box::new(FromTypes)),
        _ => None,
    }
}

/// Accesses on one grid of elements: offsets that have the remainder of the first one, in elements beyond it.
struct Grid {
    remainder: i64,
    elements: Vec<Option<Poly>>,
}

impl Grid {
    fn new(accesses: &[ByteAccess], element: u32) -> Grid {
        let size = i128::from(element.max(1));
        let mut remainder = None;
        let mut elements = Vec::new();
        for access in accesses {
            elements.push(access.offset.as_ref().and_then(|p| {
                let r = p.constant_term().rem_euclid(size);
                let on_grid = *remainder.get_or_insert(r) == r;
                if on_grid { p.offset(-r)?.divide_exact(size) } else { None }
            }));
        }
        Grid { remainder: i64::try_from(remainder.unwrap_or(0)).unwrap_or(0), elements }
    }
}
