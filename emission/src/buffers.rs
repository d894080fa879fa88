//! Memory of buffers.

/// Bytes on the stack for one region: a small share of the stacks that threads have.
pub const MOST_ON_STACK: i64 = 1 << 18;

/// Bytes of a line of cache, or more: no two threads write to one.
pub const LINE: u32 = 64;
