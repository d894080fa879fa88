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
//! With `computed` the buffer keeps, in the place of each element, what the one statement that reads it computes of it and of what
//! never changes, such as `alpha*A[i, k]`: `pack(i; A; computed)`.
//! Applies where the accesses below the node have a box around them whose size is a constant, or depends on parameters.

use crate::footprint::Footprint;
use crate::{Arguments, BuiltIn, Context, LoopRef, RecipeError, Refusal, Transform, storage};
use loop_tree::{ArrayId, Buffer, Derived, Green, Path, StmtId};
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
    /// Keep what is computed of the elements.
    pub computed: bool,
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
            dims = storage::in_order(&dims, &self.order, &self.array, &at)?;
        }
        let by = if self.computed { Some(self.computes(cx, &at, array)?) } else { None };
        let (fill, write_back) = (footprint.read, footprint.written);
        storage::around(cx, &at, Buffer { fill, by, write_back, ..storage::buffer(cx, array, 0, dims) })
    }
}

impl Pack {
    /// The statement that touches the array below a node, if there is one only, and it computes something of an element.
    fn computes(&self, cx: &Context<'_>, at: &Path, array: ArrayId) -> Result<StmtId, Refusal> {
        let touches = |s: &StmtId| cx.kernel.statement(*s).accesses.iter().any(|a| a.array == array);
        let mut statements: Vec<StmtId> = cx.node(at)?.leaves().filter(touches).collect();
        statements.sort_unstable();
        statements.dedup();
        match statements[..] {
            [one] if Derived::of(cx.kernel, one, array).is_some() => Ok(one),
            _ => {
                let message = format!(
                    "no single statement computes something of {} and of what never changes",
                    self.array
                );
                Err(Refusal::new("not-computed", at, message))
            }
        }
    }
}

impl BuiltIn for Pack {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let (target, array) = storage::parse(arguments)?;
        let computed = arguments.flag("computed");
        let order = storage::parse_order(arguments)?;
        Ok(Pack { target, array, order, computed })
    }

    // No moves: where packing pays, it takes several steps, which sketches draw.
}

impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pack({}; {}", self.target, self.array)?;
        storage::write_order(f, &self.order)?;
        f.write_str(if self.computed { "; computed)" } else { ")" })
    }
}
