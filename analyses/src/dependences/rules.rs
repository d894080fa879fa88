//! Which statements keep their order whatever they access.
//!
//! | statement | keeps its order relative to |
//! |---|---|
//! | opaque, side effects, ordered atomics, may throw, may not return | every statement |
//! | volatile, relaxed atomics | volatile and atomic statements |
//!
//! A statement that may trap may not come before one that may not return; the first row includes that.

use loop_tree::{Statement, StmtFlags};

/// Whether instances of the two statements keep their order because of flags.
pub fn ordered(a: &Statement, b: &Statement) -> bool {
    let barrier = StmtFlags::OPAQUE
        | StmtFlags::SIDE_EFFECTS
        | StmtFlags::ATOMIC_ORDERED
        | StmtFlags::MAY_THROW
        | StmtFlags::MAY_NOT_RETURN;
    let observed = StmtFlags::VOLATILE | StmtFlags::ATOMIC_RELAXED;
    a.flags.intersects(barrier)
        || b.flags.intersects(barrier)
        || (a.flags.intersects(observed) && b.flags.intersects(observed))
}
