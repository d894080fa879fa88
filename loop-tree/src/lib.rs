//! Loop trees: the persistent representation that looptree transforms.
//!
//! - [`Kernel`]: what is computed (parameters, arrays, statements), shared by all variants.
//! - [`Green`]: in which order, a persistent tree without positions; [`Red`]: a position in it, [`Walk`]: all
//!   of them.
//! - [`Affine`], [`Constraint`], [`Condition`]: exact integer expressions.
//! - [`canonical()`]: equal up to names means equal.
//! - [`occurrences()`]: where each statement stands, with everything around it.
//!
//! - [`interp`]: the reference interpreter.
//! - [`text`]: the `.lt` form. [`validate()`]: what is wrong with a kernel or tree that was built by hand.
//!
//! No integer-set library and no compiler is known here.
//!
//! ```
//! let program = loop_tree::text::parse(
//!     "nest @sum[N] {
//!        array A: f64[N]
//!        scalar s: f64 out
//!        for i in 0..N { S: s = s + A[i] }
//!      }",
//! )?;
//! let order = loop_tree::interp::instances(&program.kernel, &program.kernel.original, &[3], 100)?;
//! assert_eq!(order.iter().map(|instance| instance.dims[0]).collect::<Vec<_>>(), [0, 1, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod affine;
#[cfg(feature = "arbitrary")]
pub mod arbitrary;
mod buffer;
mod call;
mod canonical;
mod condition;
mod derived;
mod green;
mod hash;
mod ids;
pub mod interp;
mod kernel;
mod known;
mod occurrence;
mod private;
mod red;
mod settled;
pub mod text;
mod types;
mod validate;

pub use affine::{Affine, Atom, Bound, FloorDiv, Interval, leave_out};
pub use buffer::{Buffer, BufferDim, Home, Window, WindowRange};
pub use call::{Argument, Call, Calls, Returned};
pub use canonical::{canonical, canonical_from, fresh_variable, substitute};
pub use condition::{Condition, Constraint, GuardCondition, Relation, RuntimeCondition};
pub use derived::Derived;
pub use green::{Alternative, Bounds, Children, Green, Interner, LoopHeader, LoopKind, Node, Summary};
pub use hash::hash128;
pub use ids::{AccessId, ArrayId, OpId, ParamId, StmtId, VarId};
pub use kernel::{
    Access, AccessKind, AliasClass, Array, Kept, Kernel, Mask, Op, OpKind, Param, Reduction, SourceLocation,
    Statement, StmtFlags, Storage, Variable,
};
pub use known::Known;
pub use occurrence::{Occurrence, occurrences};
pub use private::{PrivateElement, Privates};
pub use red::{Path, Red, Walk};
pub use settled::{Settled, invariant_guards};
pub use types::{BinaryOp, CastOp, ComparePredicate, Constant, Intrinsic, OpFlags, ReductionOp, ScalarType};
pub use validate::{Invalid, InvalidKind, Item, validate, validate_kernel, validate_tree};
