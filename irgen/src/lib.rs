//! LLVM IR to loop trees and back.
//!
//! - [`llvm`]: LLVM behind sound Rust. [`lift`]: regions of functions as kernels. [`emit`]: trees in place of regions. [`terms`]: loops
//!   in LLVM's terms. [`names`]: what functions and variables are called.
//!
//! ```
//! use irgen::{lift, llvm::Context};
//!
//! let context = Context::new();
//! let mut module = context.parse(
//!     b"define void @clear(ptr %a, i64 %n) {
//!       entry:
//!         br label %head
//!       head:
//!         %i = phi i64 [ 0, %entry ], [ %next, %body ]
//!         %more = icmp slt i64 %i, %n
//!         br i1 %more, label %body, label %done
//!       body:
//!         %at = getelementptr inbounds double, ptr %a, i64 %i
//!         store double 0.0, ptr %at
//!         %next = add nuw nsw i64 %i, 1
//!         br label %head
//!       done:
//!         ret void
//!       }",
//!     "clear.ll",
//! )?;
//! lift::canonicalise(&mut module)?;
//! let function = module.function("clear").expect("it is defined");
//! let lifted = lift::lift_function_with(&module, function, &lift::LiftOptions::default());
//! assert_eq!(lifted.regions.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod emit;
pub mod lift;
pub mod llvm;
#[doc(hidden)]
pub mod mutation;
pub mod names;
pub mod terms;
