//! Expand: each iteration gets its own element of a scalar, or its own copy of a temporary array.
//! Elsewhere: scalar expansion, array expansion, privatisation.
//!
//! ```lt before
//! array A: f64[N, N]
//! array B: f64[N]
//! scalar s: f64 local
//! for i in 0..N { Z: s = 0.0 for j in 0..N { S: s = s + A[i, j] } E: B[i] = s }
//! ```
//! ```recipe
//! expand(i; s)
//! ```
//! ```lt after
//! alloc s(x0) in [x0 : N] on heap align 64 {
//!   for i in 0..N { Z for j in 0..N { S } E }
//! }
//! ```
//! Keeps the statement instances and their order. What follows is usually a distribution of the loops, which had to keep the
//! statements of each iteration together before.
//! Applies to local scalars that each iteration of the outer loops sets anew, and with a number of dims to any scalar.

use crate::footprint::Footprint;
use crate::{Arguments, BuiltIn, Context, LoopRef, RecipeError, Refusal, Transform, storage};
use loop_tree::{Green, Privates};
use std::fmt;
use std::sync::Arc;

/// Makes an array, over the loops that it belongs to, of the scalar `array` inside of the node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expand {
    /// The node.
    pub target: LoopRef,
    /// Name of the scalar or array.
    pub array: Arc<str>,
    /// How many of the first dims of its statements tell elements apart; `None`: those of the loops that set it anew.
    pub dims: Option<usize>,
}

impl Transform for Expand {
    fn name(&self) -> &'static str {
        "expand"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let at = self.target.resolve(cx)?;
        let array = storage::array(cx, &self.array, &at)?;
        let own = || Privates::of(cx.kernel).variables(array).map(<[_]>::len);
        let Some(instance_dims) = self.dims.or_else(own) else {
            let message = format!("no loop sets {} anew in each iteration", self.array);
            return Err(
                Refusal::new("not-private", &at, message).help("say for how many loops it is expanded")
            );
        };
        let footprint = Footprint::of(cx, &at, array, instance_dims)?;
        let mut dims = footprint.dims(&at, &cx.kernel.array(array).extents)?;
        // The iterations are the outer dimensions.
        dims.rotate_right(instance_dims);
        storage::around(cx, &at, storage::buffer(cx, array, instance_dims, storage::small(dims)))
    }
}

impl BuiltIn for Expand {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let (target, array, dims) = storage::parse_with_number(arguments, "a number of dims")?;
        arguments.finish()?;
        let dims = dims.map(usize::try_from).transpose();
        let dims = dims.map_err(|_| arguments.error("a number of dims is not negative"))?;
        Ok(Expand { target, array, dims })
    }

    // No moves: it pays with what follows only.
}

impl fmt::Display for Expand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expand({}; {}", self.target, self.array)?;
        match self.dims {
            Some(dims) => write!(f, "; {dims})"),
            None => f.write_str(")"),
        }
    }
}
