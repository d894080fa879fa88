//! Pack: what a part of the tree touches of an array moves into a buffer of its own, in any order of dimensions.
//! Elsewhere: `stage_mem` (Exo), `cache_read`, `cache_write` (TVM), packing (BLIS, Polly), copy optimisation.
//!
//! ```lt before
//! array A: f64[N, N]
//! array B: f64[N, N]
//! for t0 in 0..floor((N + 3)/4) {
//!   for i in 0..N { for j in 4*t0..min(N, 4*t0 + 4) { S: A[i, j] = B[i, j] } }
//! }
//! ```
//! ```recipe
//! pack(i; B)
//! ```
//! ```lt after
//! for t0 in 0..floor((N + 3)/4) {
//!   alloc B[x0, x1] in [x0 : N, x1 - 4*t0 : 4] on heap align 64 fill [0..N, 4*t0..min(N, 4*t0 + 4)] {
//!     for i in 0..N { for j in 4*t0..min(N, 4*t0 + 4) { S } }
//!   }
//! }
//! ```
//! Keeps the statement instances and their order. What is read is copied in front of the node, what is written behind it.
//! Applies where the accesses below the node have a box around them whose size is a constant, or depends on parameters.

use crate::footprint::Footprint;
use crate::{Arguments, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, storage};
use loop_tree::{Buffer, Green};
use std::fmt;
use std::sync::Arc;

/// Puts what the node touches of `array` into a buffer around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pack {
    /// The node.
    pub target: LoopRef,
    /// Name of the array.
    pub array: Arc<str>,
    /// The array's dimensions in the order of the buffer's, outermost first; empty: as they are.
    pub order: Vec<usize>,
}

impl Transform for Pack {
    fn name(&self) -> &'static str {
        "pack"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let at = self.target.resolve(cx)?;
        let array = storage::array(cx, &self.array, &at)?;
        let footprint = Footprint::of(cx, &at, array, 0)?;
        let mut dims = footprint.dims(&at, &cx.kernel.array(array).extents)?;
        if !self.order.is_empty() {
            let mut sorted = self.order.clone();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(0..dims.len()) {
                let message =
                    format!("the order is not one of the {} dimensions of {}", dims.len(), self.array);
                return Err(Refusal::new("order", &at, message));
            }
            dims = self.order.iter().map(|k| dims[*k].clone()).collect();
        }
        let (fill, write_back) = (footprint.read, footprint.written);
        storage::around(cx, &at, Buffer { fill, write_back, ..storage::buffer(cx, array, 0, dims) })
    }
}

impl Pack {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, RecipeError> {
        let (target, array) = storage::parse(&mut arguments)?;
        let order = arguments.integers().unwrap_or_default();
        let order: Result<_, _> = order.into_iter().map(usize::try_from).collect();
        let order = order.map_err(|_| arguments.error("an order is numbers of dimensions, from 0"))?;
        arguments.finish()?;
        Ok(Pack { target, array, order })
    }

    /// None: where packing pays, it takes several steps, which sketches draw.
    pub(crate) fn moves(_: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        Vec::new()
    }
}

impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pack({}; {}", self.target, self.array)?;
        for (n, k) in self.order.iter().enumerate() {
            write!(f, "{}{k}", if n == 0 { "; " } else { ", " })?;
        }
        f.write_str(")")
    }
}
