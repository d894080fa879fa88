//! Loops marked parallel: may threads share their iterations?
//!
//! That they carry no dependence is asked where order is. Beyond that, what each thread has for itself must not be seen: a call of a
//! function may set `errno`, and all threads but one would set one that nobody reads. That goes for loops of one iteration, too, which carry
//! nothing: the runtime itself may set it.

use super::{Oracle, Witness};
use crate::places::{Place, Unsupported};
use crate::reroll::Rolled;
use loop_tree::{LoopKind, OpKind};

/// Why threads cannot share some loop that is marked parallel.
pub(super) fn check(oracle: &Oracle, rolled: &Rolled, places: &[Place]) -> Result<(), Witness> {
    for place in places {
        let Some(l) = place.loops.iter().find(|l| l.kind == LoopKind::Parallel) else { continue };
        let statement = oracle.kernel().statement(place.statement);
        if statement.ops.iter().any(|op| matches!(op.kind, OpKind::Pure(..) | OpKind::Opaque(..))) {
            let path = rolled.origin(&place.path.prefix(l.depth));
            let why = "a call that may set errno, which each thread has for itself";
            return Err(Witness::Unsupported(Unsupported::Threads { path, why }));
        }
    }
    Ok(())
}
