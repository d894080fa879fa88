//! Hilbert: the tiles of a block along Hilbert's curve, on which neighbours in time are neighbours in space.
//! Elsewhere: Hilbert order, space-filling curve; swizzling of tiles.
//!
//! ```lt before
//! for i in 0..16 { for j in 0..16 { S(i, j) } }
//! ```
//! ```recipe
//! hilbert(i, j; 4, 8)
//! ```
//! ```lt after
//! for t0 in 0..2 { for t1 in 0..2 {
//!   for i in 8*t0..8*t0 + 4 { for j in 8*t1..8*t1 + 4 { S(i, j) } }
//!   for i in 8*t0 + 4..8*t0 + 8 { for j in 8*t1..8*t1 + 4 { S(i, j) } }
//!   for i in 8*t0 + 4..8*t0 + 8 { for j in 8*t1 + 4..8*t1 + 8 { S(i, j) } }
//!   for i in 8*t0..8*t0 + 4 { for j in 8*t1 + 4..8*t1 + 8 { S(i, j) } }
//! } }
//! ```
//! Keeps the set of statement instances; changes their order.
//! Applies to what `tile` applies to. The tiles of a block are written out, as each quarter of the curve is turned in a way of its own; a curve ends
//! beside the start of the next block. Beyond the largest block the order is that of the loops.

use super::{Tile, morton::doublings, unroll::MOST_COPIES};
use crate::loop_ref::Listed;
use crate::{Arguments, BuiltIn, Context, LoopRef, RecipeError, Refusal, Transform};
use loop_tree::Green;
use std::fmt;

/// Orders the tiles of a block along Hilbert's curve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hilbert {
    /// The loops of the band, outermost first: two at least.
    pub band: Vec<LoopRef>,
    /// Iterations of each loop per tile.
    pub tile: i64,
    /// The same of the block: the tile's, doubled at least once.
    pub block: i64,
}

impl Transform for Hilbert {
    fn name(&self) -> &'static str {
        "hilbert"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let doublings = doublings(cx, &self.band, self.tile, self.block)?;
        let dimensions = self.band.len();
        let tiles = u32::try_from(dimensions).ok().and_then(|d| 2_i64.checked_pow(doublings.checked_mul(d)?));
        if tiles.is_none_or(|tiles| tiles > MOST_COPIES) {
            let loops = self.band.iter().filter_map(|l| Some(cx.site(l).ok()?.path)).collect();
            let message = format!("a block has more than {MOST_COPIES} tiles, which are written out");
            return Err(Refusal { code: "factor", loops, message, help: None });
        }
        let sizes = [self.block, self.tile].map(|size| vec![size; dimensions]);
        let tiles = Tile { band: self.band.clone(), sizes: sizes.to_vec(), full: false };
        tiles.written_out(cx, &curve(dimensions, doublings))
    }
}

/// The cells of a cube with sides of two to the power of `levels`, in Hilbert's order: each beside the one before, the first at the origin, the last
/// beside the start of the next cube along the last dimension. After Hamilton and Rau-Chaplin, Compact Hilbert indices, 2008, section 2.
fn curve(dimensions: usize, levels: u32) -> Vec<Vec<i64>> {
    let d = dimensions as u32;
    let corners = 1_u32 << d;
    let gray = |n: u32| n ^ (n >> 1);
    let rotated = |n: u32, by: u32| ((n << (by % d)) | (n >> ((d - by % d) % d))) & (corners - 1);
    // Where the part of the curve in the `n`th corner starts, and along which axis it runs.
    let entry = |n: u32| if n == 0 { 0 } else { gray((n - 1) & !1) };
    let axis = |n: u32| if n == 0 { 0 } else { (n - (n + 1) % 2).trailing_ones() % d };
    let cell = |index: u32| {
        let (mut start, mut along) = (0, 0);
        let mut cell = vec![0; dimensions];
        for level in (0..levels).rev() {
            let n = (index >> (level * d)) & (corners - 1);
            let corner = rotated(gray(n), along + 1) ^ start;
            for (k, c) in cell.iter_mut().enumerate() {
                *c = 2 * *c + i64::from(corner >> (dimensions - 1 - k) & 1);
            }
            start ^= rotated(entry(n), along + 1);
            along = (along + axis(n) + 1) % d;
        }
        cell
    };
    (0..corners.pow(levels)).map(cell).collect()
}

impl BuiltIn for Hilbert {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let band = arguments.loops(2..=MOST_COPIES.ilog2() as usize)?;
        let sizes = arguments.integers().unwrap_or_default();
        let [tile, block] = sizes[..] else {
            return Err(arguments.error("`hilbert` needs the size of a tile and that of a block"));
        };
        Ok(Hilbert { band, tile, block })
    }

    // No moves: which order of tiles pays is a question of sizes that `tile` asks first.
}

impl fmt::Display for Hilbert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hilbert({}; {}, {})", Listed(&self.band), self.tile, self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::curve;
    use crate::testing::*;

    #[test]
    fn a_curve_visits_each_cell_from_its_neighbour() {
        for (dimensions, levels) in [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (5, 1), (7, 1)] {
            let cells = curve(dimensions, levels);
            let side = 1_i64 << levels;
            let distance = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<i64>();
            assert!(
                cells.windows(2).all(|w| distance(&w[0], &w[1]) == 1),
                "{dimensions} {levels}: {cells:?}"
            );
            let mut sorted = cells.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len() as i64, side.pow(dimensions as u32));
            assert!(sorted.iter().flatten().all(|c| (0..side).contains(c)));
            let mut last = vec![0; dimensions];
            assert_eq!(cells.first(), Some(&last));
            last[dimensions - 1] = side - 1;
            assert_eq!(cells.last(), Some(&last));
        }
    }

    #[test]
    fn blocks_are_doubled_tiles_and_not_too_large() {
        let k = kernel(&[("S", "i j")]);
        let nest = "for i in 0..16 { for j in 0..16 { S } }";
        for wrong in
            ["hilbert(i, j; 4, 4)", "hilbert(i, j; 4, 12)", "hilbert(i, j; 0, 8)", "hilbert(i, j; 8, 4)"]
        {
            refuse(&k, nest, wrong, "sizes");
        }
        refuse(&k, nest, "hilbert(i, j; 1, 16)", "factor");
    }
}
