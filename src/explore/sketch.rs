//! Sketches: recipes with holes, derived from what is known of a nest.
//!
//! A sketch draws variants of one region of a tree with ordinary steps, each of which could be tried by itself; the oracle
//! judges what comes out as any other tree, and the cost model ranks it. Sketches are registered like transformations, from
//! outside too.
//!
//! - *Structure* sketches decide which loops there are: distribution, fusion, skewing, tiles of time. What they draw is
//!   searched further, nest by nest.
//! - *Nest* sketches decide how one nest runs: its order, what is jammed, its blocks.

mod blocked_product;
mod border_split;
mod column_sweep;
mod desk;
mod distribution;
mod library;
mod packed_product;
mod panel;
mod passes;
mod pivot_split;
mod register_tile;
mod row_wavefront;
mod skewed_jam;
mod time_tile;
mod transposed_copy;

pub use desk::{Desk, Draft};

use super::region::Region;
use super::variant::Variant;
use std::sync::Arc;

/// When a sketch is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before the nests of a region are searched one by one.
    Structure,
    /// For each nest.
    Nest,
}

/// Draws variants of a region.
pub trait Sketch: Send + Sync {
    /// The name, as it is shown beside what it drew.
    fn name(&self) -> &str;
    /// When it is asked.
    fn stage(&self) -> Stage;
    /// Share of what may still be tried that it may use up: less where it draws many orders and sizes, since what it leaves is for
    /// other structures of the tree.
    fn share(&self) -> f64 {
        match self.stage() {
            Stage::Structure => 0.25,
            Stage::Nest => 0.5,
        }
    }
    /// Legal variants that differ from `start` in the region only, in an order that depends on nothing but the arguments.
    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant>;
}

/// Sketches by name, in the order in which they are asked.
#[derive(Clone, Default)]
pub struct Sketches(Vec<Arc<dyn Sketch>>);

impl Sketches {
    /// No sketches: the search makes moves only.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The sketches of this crate.
    pub fn standard() -> Self {
        let mut sketches = Self::empty();
        sketches.register(distribution::Distribution);
        sketches.register(passes::Passes);
        sketches.register(time_tile::TimeTile);
        sketches.register(pivot_split::PivotSplit);
        sketches.register(border_split::BorderSplit);
        sketches.register(panel::Panel);
        sketches.register(column_sweep::ColumnSweep);
        sketches.register(packed_product::PackedProduct);
        sketches.register(register_tile::RegisterTile);
        sketches.register(blocked_product::BlockedProduct);
        sketches.register(transposed_copy::TransposedCopy);
        sketches.register(skewed_jam::SkewedJam);
        sketches.register(row_wavefront::RowWavefront);
        sketches.register(library::Library);
        sketches
    }

    /// Adds a sketch; one of the same name is replaced.
    pub fn register(&mut self, sketch: impl Sketch + 'static) {
        self.remove(sketch.name());
        self.0.push(Arc::new(sketch));
    }

    /// Leaves a sketch out; whether there was one of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        let count = self.0.len();
        self.0.retain(|s| s.name() != name);
        self.0.len() < count
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|s| s.name())
    }

    /// Those of a stage.
    pub(super) fn of(&self, stage: Stage) -> impl Iterator<Item = &Arc<dyn Sketch>> {
        self.0.iter().filter(move |s| s.stage() == stage)
    }
}

impl std::fmt::Debug for Sketches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
