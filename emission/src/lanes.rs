//! Vector loops as lanes.

use loop_tree::LoopHeader;

/// More lanes than any register holds, and than compilers handle well.
const MOST_LANES: i64 = 64;

/// Lanes of a vector loop that can be emitted: those of others are not a constant number, or too many.
pub fn lanes_of(header: &LoopHeader) -> Option<u32> {
    let count = header.constant_trip_count().filter(|count| *count <= MOST_LANES);
    count.and_then(|count| u32::try_from(count).ok())
}
