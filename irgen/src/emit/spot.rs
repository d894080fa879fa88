//! Elements as accesses name them: one, or one for each lane of a vector loop.

use crate::mutation::{self, Rule};
use loop_tree::{Affine, ArrayId, Known, VarId};

/// An element, or those of all lanes.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) array: ArrayId,
    /// The buffer that the array is in.
    pub(super) frame: Option<usize>,
    /// Over places; those of the first lane.
    pub(super) subscripts: Vec<Affine>,
    /// Where lanes have elements of their own.
    pub(super) lanes: Option<Span>,
}

/// How elements of lanes lie.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) count: u32,
    /// By how much each subscript differs from one lane to the next; not all by zero, so that no two lanes have the same element.
    pub(super) steps: Vec<i64>,
}

/// A vector loop, as far as it tells where elements of its lanes are.
#[derive(Clone)]
pub(super) struct Along {
    pub(super) place: VarId,
    pub(super) step: i64,
    pub(super) count: u32,
    /// What its variable is in the first lane, over the places around.
    pub(super) first: Affine,
}

impl Spot {
    /// What an access inside of a vector loop goes to, its subscripts over places; `None` where subscripts do not always differ by
    /// as much from one lane to the next.
    pub(super) fn new(
        array: ArrayId,
        frame: Option<usize>,
        subscripts: Vec<Affine>,
        along: Option<&Along>,
    ) -> Option<Spot> {
        let Some(along) = along else { return Some(Spot { array, frame, subscripts, lanes: None }) };
        let mut steps = Vec::with_capacity(subscripts.len());
        let mut first = Vec::with_capacity(subscripts.len());
        for subscript in &subscripts {
            let coefficient = subscript.coefficient(along.place);
            if (subscript - &Affine::var(along.place).scale(coefficient)).uses(along.place) {
                return None;
            }
            let step = coefficient.checked_mul(along.step)?;
            step.checked_mul(along.count.into())?;
            steps.push(step);
            first.push(subscript.substitute(&|v| (v == along.place).then(|| along.first.clone())));
        }
        let differ = along.count > 1 && steps.iter().any(|step| *step != 0);
        let lanes = differ.then_some(Span { count: along.count, steps });
        Some(Spot { array, frame, subscripts: first, lanes })
    }

    /// Whether the elements of two spots of one array are provably all different. `false` means unknown.
    pub(super) fn is_apart(&self, other: &Spot, known: &Known) -> bool {
        if self.lanes.is_none() && other.lanes.is_none() {
            return known.apart(&self.subscripts, &other.subscripts);
        }
        let below = |a: &Affine, b: &Affine| known.nonnegative(&(b - a).offset(-1));
        self.subscripts.len() == other.subscripts.len()
            && (0..self.subscripts.len()).any(|k| {
                let ([low, high], [other_low, other_high]) = (self.ends(k), other.ends(k));
                below(&high, &other_low) || below(&other_high, &low)
            })
    }

    /// The least and the greatest of a subscript, of all lanes.
    fn ends(&self, k: usize) -> [Affine; 2] {
        let first = self.subscripts[k].clone();
        let span = self.lanes.as_ref().filter(|_| !mutation::off(Rule::OtherLanes));
        let Some(span) = span else { return [first.clone(), first] };
        let reach = span.steps[k] * i64::from(span.count - 1);
        [first.clone().offset(reach.min(0)), first.offset(reach.max(0))]
    }
}
