//! Which statements keep their order whatever they access.
//!
//! | statement | keeps its order relative to |
//! |---|---|
//! | opaque, side effects, ordered atomics, may throw, may not return | every statement |
//! | volatile | volatile and atomic statements |
//! | relaxed atomics | volatile statements, and atomic ones that touch the same element, even if both only read it |
//!
//! A statement that may trap may not come before one that may not return; the first row includes that.

use crate::mutation::{self, Rule};
use loop_tree::{Statement, StmtFlags};

/// Whether instances of the two statements keep their order because of flags.
pub fn ordered(a: &Statement, b: &Statement) -> bool {
    let barrier = StmtFlags::OPAQUE
        | StmtFlags::SIDE_EFFECTS
        | StmtFlags::ATOMIC_ORDERED
        | StmtFlags::MAY_THROW
        | StmtFlags::MAY_NOT_RETURN;
    let barrier = kept(barrier);
    let volatile = |s: &Statement| s.flags.intersects(kept(StmtFlags::VOLATILE));
    let observed = |s: &Statement| s.flags.intersects(kept(StmtFlags::VOLATILE | StmtFlags::ATOMIC_RELAXED));
    a.flags.intersects(barrier)
        || b.flags.intersects(barrier)
        || (volatile(a) && observed(b))
        || (observed(a) && volatile(b))
}

/// Whether reads of one element by the two statements keep their order: two atomic reads may not see the values that other
/// threads write in the opposite order.
pub fn coherent(a: &Statement, b: &Statement) -> bool {
    let relaxed = kept(StmtFlags::ATOMIC_RELAXED);
    a.flags.intersects(relaxed) && b.flags.intersects(relaxed)
}

/// The flags without that of a rule that a test leaves out.
fn kept(flags: StmtFlags) -> StmtFlags {
    let rules = [
        (Rule::Opaque, StmtFlags::OPAQUE),
        (Rule::SideEffects, StmtFlags::SIDE_EFFECTS),
        (Rule::Ordered, StmtFlags::ATOMIC_ORDERED),
        (Rule::MayThrow, StmtFlags::MAY_THROW),
        (Rule::MayNotReturn, StmtFlags::MAY_NOT_RETURN),
        (Rule::Volatile, StmtFlags::VOLATILE),
        (Rule::Relaxed, StmtFlags::ATOMIC_RELAXED),
    ];
    rules.into_iter().filter(|(rule, _)| mutation::off(*rule)).fold(flags, |all, (_, f)| all.difference(f))
}
