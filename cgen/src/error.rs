//! Why there is no C for a tree.

use emission::Inexact;

/// Why there is no C for a tree.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CgenError {
    /// Something that cannot be said yet.
    #[error("{place}: there is no C yet for {what}")]
    Unsupported {
        /// What it is.
        what: String,
        /// The statement or loop.
        place: String,
    },
    /// A variable is used outside of its binder.
    #[error("the variable {name} is not bound where it is used")]
    Unbound {
        /// Its name.
        name: String,
    },
    /// Numbers beyond 64 bits.
    #[error(transparent)]
    Inexact(#[from] Inexact),
    /// Disjointness is required of arrays whose accesses have no bounds.
    #[error("whether {} and {} overlap cannot be tested: some access has no bounds", arrays[0], arrays[1])]
    NoRange {
        /// Their names.
        arrays: [String; 2],
    },
}
