//! Contract: a temporary array keeps only what is alive at a time.
//! Elsewhere: array contraction, `store_at` (Halide), storage folding.
//!
//! ```lt before
//! array A: f64[N]
//! array B: f64[N]
//! array T: f64[N] local
//! for t0 in 0..N { let i = t0 { S: T[i] = A[i] } let j = t0 { R: B[j] = T[j] } }
//! ```
//! ```recipe
//! contract(@0; T)
//! ```
//! ```lt after
//! for t0 in 0..N { alloc T { let i = t0 { S } let j = t0 { R } } }
//! ```
//! Keeps the statement instances and their order; the array's own memory is not touched any more.
//! Applies to arrays of which nothing is alive outside of the node. With a window, the first dimension whose size is not a
//! constant is folded modulo it.

use crate::footprint::Footprint;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, storage};
use loop_tree::{Affine, ArrayId, Buffer, BufferDim, Green, Path};
use std::fmt;
use std::sync::Arc;

/// Puts all that the node touches of a temporary `array` into a buffer as small as can be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contract {
    /// The node.
    pub target: LoopRef,
    /// Name of the array.
    pub array: Arc<str>,
    /// Number of places in which a dimension is folded.
    pub window: Option<i64>,
}

/// Places of a window at most.
const MOST: i64 = 1 << 16;

impl Transform for Contract {
    fn name(&self) -> &'static str {
        "contract"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let at = self.target.resolve(cx)?;
        let array = storage::array(cx, &self.array, &at)?;
        let footprint = Footprint::of(cx, &at, array, 0)?;
        let mut dims = footprint.dims(&at, &cx.kernel.array(array).extents)?;
        if let Some(window) = self.window {
            if !(1..=MOST).contains(&window) {
                let message = format!("a window of {window} is not between 1 and {MOST}");
                return Err(Refusal::new("window", &at, message));
            }
            let open = dims.iter().position(|d| d.extent.as_constant().is_none_or(|extent| extent > window));
            let Some(open) = open else {
                return Err(Refusal::new("window", &at, "no dimension is larger than the window"));
            };
            let subscript = Affine::var(Buffer::index(open)).modulo(window);
            dims[open] = BufferDim { subscript, extent: Affine::constant(window) };
        }
        storage::around(cx, &at, storage::buffer(cx, array, 0, storage::small(dims)))
    }
}

impl BuiltIn for Contract {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let (target, array, window) = storage::parse_with_number(arguments, "a window")?;
        Ok(Contract { target, array, window })
    }

    /// The innermost node below a loop that holds all that touches a temporary.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let inside = storage::temporaries(cx).into_iter().filter(|(_, at)| !at.0.is_empty());
        let contract = |(array, at): (ArrayId, Path)| Contract {
            target: LoopRef::Path(at),
            array: cx.kernel.array(array).name.clone(),
            window: None,
        };
        inside.map(contract).collect()
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "contract({}; {}", self.target, self.array)?;
        match self.window {
            Some(window) => write!(f, "; {window})"),
            None => f.write_str(")"),
        }
    }
}
