//! Loops marked for a library: is there a function that computes the same, and may it be called?
//!
//! What the loop does is recognised anew, from the tree alone. The function does all of the loop at once, so that what is around it must run in
//! order, and arrays must lie where they do in the program.

use super::{Oracle, Witness};
use crate::idioms::marked;
use crate::places::Unsupported;
use loop_tree::{Green, RuntimeCondition};

/// What must hold at run time for the calls that the tree asks for; why one of them cannot be.
pub(super) fn check(oracle: &Oracle, root: &Green) -> Result<Vec<RuntimeCondition>, Witness> {
    let mut needed = Vec::new();
    for path in marked(root) {
        match oracle.idioms.call_at(oracle.kernel(), root, &path) {
            Ok((_, conditions)) => needed.extend(conditions),
            Err(why) => return Err(Witness::Unsupported(Unsupported::Library { path, why })),
        }
    }
    Ok(needed)
}
