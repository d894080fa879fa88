//! Morton: the tiles of a band in Z order, blocks within blocks, each twice as long.
//! Elsewhere: Z order, recursive blocking; cache-oblivious order.
//!
//! ```lt before
//! for i in 0..16 { for j in 0..16 { S(i, j) } }
//! ```
//! ```recipe
//! morton(i, j; 4, 8)
//! ```
//! ```lt after
//! for t0 in 0..2 { for t1 in 0..2 {
//!   for t2 in 0..2 { for t3 in 0..2 {
//!     for i in 8*t0 + 4*t2..8*t0 + 4*t2 + 4 { for j in 8*t1 + 4*t3..8*t1 + 4*t3 + 4 { S(i, j) } }
//!   } }
//! } }
//! ```
//! Keeps the set of statement instances; changes their order.
//! Applies to what `tile` applies to: it is tiles of tiles, from the largest block down to the smallest tile. Beyond the largest block
//! the order is that of the loops; whatever the cache, blocks of one of the sizes fit.

use super::Tile;
use crate::loop_ref::Listed;
use crate::{Arguments, BuiltIn, Context, LoopRef, RecipeError, Refusal, Transform};
use loop_tree::Green;
use std::fmt;

/// Orders the tiles of a band along a curve that fills space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Morton {
    /// The loops of the band, outermost first.
    pub band: Vec<LoopRef>,
    /// Iterations of each loop per tile.
    pub tile: i64,
    /// The same of the largest block: the tile's, doubled at least once.
    pub block: i64,
}

/// How often a tile is doubled to make the block.
pub(super) fn doublings(cx: &Context<'_>, band: &[LoopRef], tile: i64, block: i64) -> Result<u32, Refusal> {
    let factor = (tile > 0 && block % tile == 0).then(|| block / tile);
    factor.filter(|f| *f > 1 && f.count_ones() == 1).map(i64::trailing_zeros).ok_or_else(|| {
        let loops = band.iter().filter_map(|l| Some(cx.site(l).ok()?.path)).collect();
        let message = format!("{block} is not {tile} doubled once or more");
        Refusal { code: "sizes", loops, message, help: None }
    })
}

impl Transform for Morton {
    fn name(&self) -> &'static str {
        "morton"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let levels = doublings(cx, &self.band, self.tile, self.block)?;
        let sizes = (0..=levels).rev().map(|level| vec![self.tile << level; self.band.len()]).collect();
        Tile { band: self.band.clone(), sizes, full: false }.rewrite(cx)
    }
}

impl BuiltIn for Morton {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let band = arguments.loops(1..=8)?;
        let sizes = arguments.integers().unwrap_or_default();
        let [tile, block] = sizes[..] else {
            return Err(arguments.error("`morton` needs the size of a tile and that of the largest block"));
        };
        Ok(Morton { band, tile, block })
    }

    // No moves: which order of tiles pays is a question of sizes that `tile` asks first.
}

impl fmt::Display for Morton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "morton({}; {}, {})", Listed(&self.band), self.tile, self.block)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn blocks_are_doubled_tiles() {
        let k = kernel(&[("S", "i j")]);
        let nest = "for i in 0..16 { for j in 0..16 { S } }";
        for wrong in ["morton(i, j; 4, 4)", "morton(i, j; 4, 12)", "morton(i, j; 0, 8)", "morton(i, j; 8, 4)"]
        {
            refuse(&k, nest, wrong, "sizes");
        }
    }
}
