//! What LLVM may be told of a loop.

use super::{EmitError, Emitter};
use loop_tree::{AccessKind, Affine, ArrayId, Green, Node, VarId};
use std::collections::{BTreeMap, BTreeSet};

impl Emitter<'_, '_> {
    /// Whether an innermost body sets a scalar more than once, as unrolling makes it.
    ///
    /// What the first ones load is dead then, and leaves gaps in groups of interleaved accesses. LLVM 22's vectoriser takes the
    /// last value of a scalar from a wrong element where groups have gaps.
    pub(super) fn sets_a_scalar_again(&self, body: &Green) -> Result<bool, EmitError> {
        if body.summary().loop_depth > 0 {
            return Ok(false);
        }
        let reached = self.reached(body, None)?;
        let mut set = BTreeSet::new();
        Ok(reached.iter().filter(|w| w.kind != AccessKind::Read).any(|write| {
            // The value in a buffer inside of the body is nobody's last.
            let lasts = match write.frame {
                None => self.kernel.array(write.array).is_scalar(),
                Some(frame) => {
                    let constant = |e: &Affine| e.as_constant().is_some();
                    frame < self.scope.frames().len()
                        && write.subscripts.as_ref().is_some_and(|s| s.iter().all(constant))
                }
            };
            let element = (write.array, write.frame, write.subscripts.clone());
            // What is read is an accumulator, and none of its values is dead.
            let read = reached.iter().any(|r| {
                r.kind == AccessKind::Read
                    && r.instance == write.instance
                    && (r.array, r.frame) == (write.array, write.frame)
            });
            lasts && !read && !set.insert(element)
        }))
    }

    /// Whether the loops of a body have few iterations, constantly many, and each writes a row of a full vector or more.
    ///
    /// LLVM unrolls these loops and then makes vectors of the rows, unless it has made vectors of the iterations around first,
    /// each spread over as many rows as it has lanes. LLVM 22's vectoriser does not see what registers the shuffles take: with
    /// several rows jammed that is half the speed.
    pub(super) fn writes_short_rows(&self, var: VarId, body: &Green) -> Result<bool, EmitError> {
        let Some(fewest) = fewest_iterations(body).filter(|_| body.summary().loop_depth == 1) else {
            return Ok(false);
        };
        let along = self.scope.next_place();
        let mut rows = 0;
        for access in self.reached(body, Some(var))?.iter().filter(|a| a.kind != AccessKind::Read) {
            let Some([outer @ .., last]) = access.subscripts.as_deref() else { return Ok(false) };
            let is_row = last.coefficient(along) == 1 && !outer.iter().any(|e| e.uses(along));
            let is_spread = outer.iter().any(|e| e.uses(var)) || last.coefficient(var).abs() > 1;
            let bytes = fewest.saturating_mul(self.kernel.array(access.array).element.size().into());
            if !is_row || !is_spread || bytes < VECTOR {
                return Ok(false);
            }
            rows += 1;
        }
        Ok(rows > 0)
    }

    /// Whether an innermost body walks along more rows than there are registers for their addresses.
    ///
    /// Rows of constant length share an address, those of parametric length do not. LLVM unrolls the loop once more although
    /// statements are copied already; what was in registers then is loaded in front of each access: eight jammed rows of two
    /// arrays take 1.4 times as long on Zen 4.
    pub(super) fn walks_many_rows(&self, var: VarId, body: &Green) -> Result<bool, EmitError> {
        if body.summary().loop_depth > 0 || body.summary().leaves <= 1 {
            return Ok(false);
        }
        let mut rows = BTreeSet::new();
        for access in self.reached(body, Some(var))?.into_iter().filter(|a| a.frame.is_none()) {
            let Some(mut subscripts) = access.subscripts else { continue };
            if subscripts.pop().is_none() {
                continue;
            }
            let extents = self.kernel.array(access.array).extents.iter().skip(1);
            if extents.flatten().all(|e| e.as_constant().is_some()) {
                for outer in &mut subscripts {
                    *outer = &*outer - &Affine::constant(outer.constant_term());
                }
            }
            rows.insert((access.array, subscripts));
        }
        Ok(rows.len() > ADDRESSES)
    }

    /// Whether an innermost body reads so many elements over and over that their vectors fill the registers.
    ///
    /// Where few iterations are left of a loop, LLVM unrolls it with an exit between the copies, and what was in registers
    /// is loaded in front of each use: eight jammed rows of up to 60 floats take 1.4 times as long on Zen 3.
    pub(super) fn keeps_many_values(&self, var: VarId, body: &Green) -> Result<bool, EmitError> {
        if body.summary().loop_depth > 0 || body.summary().leaves <= 1 {
            return Ok(false);
        }
        let (mut kept, mut written) = (BTreeSet::new(), BTreeSet::new());
        for access in self.reached(body, Some(var))?.into_iter().filter(|a| a.frame.is_none()) {
            let Some(subscripts) = access.subscripts.filter(|s| !s.iter().any(|e| e.uses(var))) else {
                continue;
            };
            let elements = if access.kind == AccessKind::Read { &mut kept } else { &mut written };
            elements.insert((access.array, subscripts));
        }
        Ok(kept.difference(&written).count() >= VALUES)
    }

    /// Whether LLVM's vectoriser may be told that iterations are independent, as far as one iteration is concerned.
    ///
    /// For loops so annotated LLVM 22 computes no dependences at all, and then moves members of interleaved groups (accesses
    /// with a constant stride other than one) across accesses of the same element in the same iteration. Accesses of unit
    /// stride, and reads of one element by all iterations, are never grouped. So an array that is written, and accessed more
    /// than once in the body, must be accessed in these two ways throughout. Buffers inside of the body, which all iterations
    /// share, are not annotated.
    pub(super) fn keeps_order_within_iterations(&self, var: VarId, body: &Green) -> Result<bool, EmitError> {
        /// Accesses of one array or buffer.
        #[derive(Default)]
        struct Seen {
            count: usize,
            written: bool,
            grouped: bool,
        }
        let mut places: BTreeMap<(ArrayId, Option<usize>), Seen> = BTreeMap::new();
        for access in self.reached(body, Some(var))? {
            if access.frame.is_some_and(|f| f >= self.scope.frames().len()) {
                continue;
            }
            // By how much a subscript moves from one iteration to the next; inside of a floor division that is no constant.
            // Counters of inner loops that begin elsewhere in each iteration: with the inner loop unrolled, they are strides.
            let coefficient = |e: &Affine| {
                let direct = e.coefficient(var);
                let rest = e - &Affine::var(var).scale(direct);
                let moves = rest.uses(var) || access.moving.iter().any(|v| rest.uses(*v));
                (!moves).then_some(direct)
            };
            let coefficients: Option<Vec<i64>> = access
                .subscripts
                .as_ref()
                .and_then(|subscripts| subscripts.iter().map(coefficient).collect());
            let grouped = match coefficients.as_deref() {
                None => true,
                Some([]) => false,
                Some([outer @ .., last]) => {
                    let still = access.kind == AccessKind::Read && *last == 0;
                    !(still || last.abs() == 1) || outer.iter().any(|c| *c != 0)
                }
            };
            let seen = places.entry((access.array, access.frame)).or_default();
            // A copy touches many elements.
            seen.count += if access.subscripts.is_none() { 2 } else { 1 };
            seen.written |= access.kind != AccessKind::Read;
            seen.grouped |= grouped;
        }
        Ok(places.values().all(|a| !a.written || a.count < 2 || !a.grouped))
    }
}

/// Iterations up to which LLVM unrolls loops of a few statements before it makes vectors.
const UNROLLED: i64 = 16;

/// Addresses that x86-64 holds beside a counter, its end, the stack and a step.
const ADDRESSES: usize = 12;

/// Half of AVX2's registers: vectors of elements that, beside what is computed, leave none for a second copy.
const VALUES: usize = 8;

/// Bytes of the longest vectors that LLVM 22 prefers unasked.
const VECTOR: i64 = 32;

/// The fewest iterations of the loops in a body, where all are outermost there and LLVM unrolls them.
fn fewest_iterations(body: &Green) -> Option<i64> {
    match body.node() {
        Node::Let(_, _, inner) => fewest_iterations(inner),
        Node::Seq(children) => {
            children.iter().map(fewest_iterations).try_fold(i64::MAX, |a, b| Some(a.min(b?)))
        }
        Node::Loop(header, _) => {
            header.constant_trip_count().filter(|trip| *trip <= UNROLLED && header.step == 1)
        }
        Node::Stmt(..) => Some(i64::MAX),
        Node::Guard(..) | Node::Version(_) | Node::Alloc(..) => None,
    }
}
