//! What goes to a buffer: accesses and predicates inside, directly or through buffers of the same array, and copies.

use super::Judge;
use crate::dependences::{by_position, unmasked};
use crate::legality::{Oracle, Witness};
use crate::mutation::{self, Rule};
use crate::places::{Place, PlacedBuffer, PlacedLoop, Test, Unsupported};
use loop_tree::{AccessKind, Affine, ArrayId, LoopKind, Occurrence, Statement, StmtFlags, VarId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What touches an element.
pub(super) struct Touch<'p> {
    pub place: &'p Place,
    /// Else it writes.
    pub reads: bool,
    /// It happens whenever the statement executes.
    pub always: bool,
    /// It goes to the buffer itself, not to one inside that is copied from or to it.
    pub own: bool,
    /// What tells elements apart: subscripts, and for a private scalar the iteration. Over the loops around.
    pub element: Vec<Affine>,
    /// Where it lies in the buffer.
    pub at: Vec<Affine>,
}

impl Touch<'_> {
    /// Whether it happens, as far as predicates go, whenever the node of this path, at so many nodes below the root, is reached.
    pub fn surely(&self, depth: usize) -> bool {
        self.always && self.place.tests.iter().all(|test| test.depth < depth)
    }
}

/// A window that is copied, as a place whose inner loops run over its elements.
pub(super) struct Copied {
    place: Place,
    element: Vec<Affine>,
    reads: bool,
}

impl Copied {
    /// The windows of a buffer; `inside` is a place in it. To the buffer, what is filled in is written; to the one around, read.
    pub fn of(buffer: &PlacedBuffer, inside: &Place) -> Vec<Copied> {
        let windows = [(&buffer.buffer.fill, true), (&buffer.buffer.write_back, false)];
        let present = windows.into_iter().filter_map(|(window, reads)| Some((window.as_ref()?, reads)));
        present
            .map(|(window, reads)| {
                let mut loops = inside.loops[..buffer.loops].to_vec();
                let (first, depth) = (loops.len(), buffer.path.0.len());
                loops.extend(window.0.iter().map(|range| {
                    Arc::new(PlacedLoop {
                        lower: range.lower.clone(),
                        upper: range.upper.clone(),
                        step: 1,
                        kind: LoopKind::Sequential,
                        depth,
                    })
                }));
                let element = (first..loops.len()).map(|k| Affine::var(VarId::new(k))).collect();
                let place = Place {
                    occurrence: Occurrence {
                        statement: inside.statement,
                        path: buffer.path.clone(),
                        around: inside.around[..depth].to_vec(),
                    },
                    loops,
                    conditions: buffer.conditions.clone(),
                    predicates: BTreeSet::new(),
                    tests: Vec::new(),
                    dims: Vec::new(),
                    buffers: Vec::new(),
                    shape: 0,
                    domain: 0,
                    bounds: Default::default(),
                };
                Copied { place, element, reads }
            })
            .collect()
    }
}

impl<'p> Judge<'_, 'p> {
    /// What statements and predicates inside touch.
    pub(super) fn touches(&self) -> Result<Vec<Touch<'p>>, Witness> {
        let array = self.data().array;
        let variables = self.oracle.privates.variables(array);
        if variables.is_some() && self.data().windows().next().is_some() {
            let why = "a scalar of which each iteration has its own has no memory to be copied from";
            return Err(self.unsupported(why));
        }
        let private = variables.map_or(0, <[VarId]>::len);
        let mut result = Vec::new();
        for place in &self.inside {
            let needed = private.max(self.data().instance_dims);
            for touched in touched(self.oracle, place, array) {
                let Touched { subscripts, reads, always, depth } =
                    touched.map_err(|why| self.unsupported(why))?;
                if depth <= self.buffer.path.0.len() {
                    continue;
                }
                // The buffers that it goes through, from here on.
                let through = place.buffers.iter().filter(|b| {
                    b.buffer.array == array
                        && b.path.0.len() > self.buffer.path.0.len()
                        && b.path.0.len() < depth
                });
                let mut own = true;
                let mut arrives = true;
                for inner in through {
                    own = false;
                    arrives &= match reads {
                        true => inner.buffer.fill.is_some(),
                        false => inner.buffer.write_back.is_some(),
                    };
                }
                if !arrives {
                    continue;
                }
                if place.dims.len() < needed {
                    return Err(self.unsupported("a statement has fewer dims than tell its elements apart"));
                }
                if depth < place.path.0.len() && self.data().instance_dims > 0 {
                    return Err(self.unsupported("a predicate belongs to no instance"));
                }
                let with_dims =
                    |count| subscripts.iter().chain(&place.dims[..count]).cloned().collect::<Vec<_>>();
                let at = self.data().place_of(&with_dims(self.data().instance_dims));
                result.push(Touch { place, reads, always, own, element: with_dims(private), at });
            }
        }
        Ok(result)
    }

    /// Copies as touches of this buffer.
    pub(super) fn copied(
        &self,
        copies: impl IntoIterator<Item = &'p Copied>,
    ) -> Result<Vec<Touch<'p>>, Witness> {
        let touch = |c: &'p Copied| {
            if self.data().instance_dims > 0 {
                return Err(self.unsupported("it is copied, and elements are told apart by instances"));
            }
            let (element, at) = (c.element.clone(), self.data().place_of(&c.element));
            Ok(Touch { place: &c.place, reads: c.reads, always: true, own: true, element, at })
        };
        let left_out = mutation::off(Rule::BufferNested);
        copies.into_iter().filter(|_| !left_out).map(touch).collect()
    }

    pub(super) fn unsupported(&self, why: &'static str) -> Witness {
        Unsupported::Buffer { path: self.buffer.path.clone(), why }.into()
    }
}

/// A touch of an array that an access or a predicate of a place is.
pub(super) struct Touched {
    /// Over the loops around.
    pub subscripts: Vec<Affine>,
    pub reads: bool,
    pub always: bool,
    /// Length of the path of the leaf or guard.
    pub depth: usize,
}

/// Everything at a place that touches the array, or why that is not known.
pub(super) fn touched<'p>(
    oracle: &'p Oracle,
    place: &'p Place,
    array: ArrayId,
) -> impl Iterator<Item = Result<Touched, &'static str>> + 'p {
    let statement = oracle.kernel.statement(place.statement);
    let rank = oracle.kernel.array(array).rank();
    let tested = move |test: &&Test| test.array == array && !mutation::off(Rule::BufferPredicate);
    let tests = place
        .tests
        .iter()
        .filter(tested)
        .map(|test| Ok(Touched { subscripts: Vec::new(), reads: true, always: true, depth: test.depth }));
    let accesses = statement.accesses().filter(move |(_, a)| a.array == array).map(move |(id, access)| {
        let opaque =
            StmtFlags::OPAQUE | StmtFlags::VOLATILE | StmtFlags::ATOMIC_RELAXED | StmtFlags::ATOMIC_ORDERED;
        if statement.flags.intersects(opaque) {
            return Err("an access is opaque, volatile or atomic");
        }
        let subscripts: Option<Vec<Affine>> = access
            .subscripts
            .as_ref()
            .and_then(|s| s.iter().map(|e| over_loops(statement, place, e)).collect());
        Ok(Touched {
            subscripts: subscripts
                .filter(|s| s.len() == rank)
                .ok_or("an access does not say which element it touches")?,
            reads: access.kind == AccessKind::Read,
            always: access.kind != AccessKind::MayWrite && unmasked(statement, id),
            depth: place.path.0.len(),
        })
    });
    tests.chain(accesses)
}

/// An expression over the dims of a statement, over the loops around a place of it.
fn over_loops(statement: &Statement, place: &Place, e: &Affine) -> Option<Affine> {
    let e = by_position(statement, e)?.substitute(&|v| place.dims.get(v.index()).cloned());
    e.is_exact().then_some(e)
}
