//! Register tiles: the lines of the next one are asked for while this one is computed.

use super::spot::Spot;
use super::{Base, EmitError, Emitter};
use crate::llvm::GepFlags;
use loop_tree::{AccessKind, Affine, Green, Node, VarId};

/// A loop that an iteration is of.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) place: VarId,
    pub(super) step: i64,
}

impl Emitter<'_, '_> {
    /// In front of an innermost loop that sums vectors up, each iteration the same ones, of an array: prefetches those that the next iteration of
    /// the loop around sums up. There may be none: then some other line is fetched, or none, which changes no value.
    ///
    /// A tile is loaded and stored once for all terms, from rows that lie apart: no processor foresees that, and all terms wait.
    pub(super) fn fetch_next(&mut self, a_loop: &Green) -> Result<(), EmitError> {
        let (Node::Loop(header, body), Some(around)) = (a_loop.node(), self.around) else { return Ok(()) };
        let short = header.constant_trip_count().is_some_and(|terms| terms < FEWEST);
        if short || self.lanes.is_some() || !self.is_straight(body, false) {
            return Ok(());
        }
        let place = self.scope.next_place();
        let mut tile: Vec<Spot> = Vec::new();
        for access in self.reached(a_loop, None)? {
            let sums = access.kind != AccessKind::Read && access.frame.is_none();
            if !sums || !matches!(self.bases[access.array.index()], Base::Memory { .. }) {
                continue;
            }
            let spot =
                access.subscripts.and_then(|s| Spot::new(access.array, None, s, access.along.as_ref()));
            let Some(spot) = spot else { return Ok(()) };
            let stays = !spot.subscripts.iter().any(|e| e.uses(place));
            if stays && spot.lanes.is_some() && !tile.contains(&spot) {
                tile.push(spot);
            }
        }
        if tile.len() < LEAST {
            return Ok(());
        }
        for spot in &tile {
            let array = self.kernel.array(spot.array);
            let next: Vec<Affine> = spot
                .subscripts
                .iter()
                .map(|e| Affine::constant(e.coefficient(around.place) * around.step))
                .collect();
            if next.iter().all(|e| e.as_constant() == Some(0)) {
                continue;
            }
            let here = self.in_array(spot.array, &spot.subscripts, None)?.pointer();
            let distance = self.linear_index(&array.extents, &next, 0)?;
            let there =
                self.builder.gep(self.ty(array.element)?, here, &[distance], GepFlags::empty(), "")?;
            let number = |n| self.module.context().i32().const_int(n);
            let arguments = [there, number(1)?, number(3)?, number(1)?];
            self.builder.intrinsic("llvm.prefetch", self.module.context().void(), &arguments, "")?;
        }
        Ok(())
    }
}

/// Vectors of a tile of registers, at least: fewer lie in few lines.
const LEAST: usize = 4;
/// Terms of a sum, at least: fewer take no longer than asking for the next tile.
const FEWEST: i64 = 32;
