//! Replace: the few elements of an array that a part of the tree touches live in registers.
//! Elsewhere: scalar replacement (LLVM), register tiling, `promote` (MLIR), `stage_mem` (Exo) with `DRAM_STACK`.
//!
//! ```lt before
//! array A: f64[N, N]
//! array C: f64[N]
//! for i in 0..N { for k in 0..N { S: C[i] = C[i] + A[i, k] } }
//! ```
//! ```recipe
//! replace(k; C)
//! ```
//! ```lt after
//! for i in 0..N {
//!   alloc C[x0] in [x0 - i : 1] on registers fill [i..i + 1] write [i..i + 1] { for k in 0..N { S } }
//! }
//! ```
//! Keeps the statement instances and their order.
//! Applies where what is touched has a constant size of at most 128 elements. They are registers once the loops over them are
//! unrolled.

use crate::footprint::Footprint;
use crate::{Arguments, BuiltIn, Context, LoopRef, RecipeError, Refusal, Transform, storage};
use loop_tree::{Buffer, Green};
use std::fmt;
use std::sync::Arc;

/// Keeps what the node touches of `array` in registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replace {
    /// The node.
    pub target: LoopRef,
    /// Name of the array.
    pub array: Arc<str>,
}

/// Elements that any machine's registers hold, as lanes of vectors.
const MOST: i64 = 128;

impl Transform for Replace {
    fn name(&self) -> &'static str {
        "replace"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let at = self.target.resolve(cx)?;
        let array = storage::array(cx, &self.array, &at)?;
        let footprint = Footprint::of(cx, &at, array, 0)?;
        let dims = footprint.dims(&at, &[])?;
        let (fill, write_back) = (footprint.read, footprint.written);
        let buffer = Buffer { dims, fill, write_back, ..Buffer::scalar(array) };
        match buffer.constant_len() {
            Some(len) if len <= MOST => storage::around(cx, &at, buffer),
            Some(len) => {
                Err(Refusal::new("size", &at, format!("{len} elements are touched; registers hold {MOST}")))
            }
            None => Err(Refusal::new("size", &at, "what is touched has no constant size")
                .help("tile the loops around, or name a node further inside")),
        }
    }
}

impl BuiltIn for Replace {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let (target, array) = storage::parse(arguments)?;
        Ok(Replace { target, array })
    }

    // No moves: LLVM keeps single elements in registers by itself, and tiles of several take several steps, which sketches draw.
}

impl fmt::Display for Replace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replace({}; {})", self.target, self.array)
    }
}
