//! Which statements keep their order whatever they access.
//!
//! | statement | keeps its order relative to |
//! |---|---|
//! | opaque, side effects, ordered atomics, may throw, may not return | every statement |
//! | volatile | volatile and atomic statements |
//! | relaxed atomics | volatile statements, and atomic ones that touch the same element, even if both only read it |
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
    let volatile = |s: &Statement| s.flags.contains(StmtFlags::VOLATILE);
    let observed = |s: &Statement| s.flags.intersects(StmtFlags::VOLATILE | StmtFlags::ATOMIC_RELAXED);
    a.flags.intersects(barrier)
        || b.flags.intersects(barrier)
        || (volatile(a) && observed(b))
        || (observed(a) && volatile(b))
}

/// Whether reads of one element by the two statements keep their order: two atomic reads may not see the values that other
/// threads write in the opposite order.
pub fn coherent(a: &Statement, b: &Statement) -> bool {
    let relaxed = StmtFlags::ATOMIC_RELAXED;
    a.flags.contains(relaxed) && b.flags.contains(relaxed)
}
