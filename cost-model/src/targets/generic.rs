//! A machine of which nothing is known: conservative, in between the usual ones.

use super::StaticTarget;
use super::x86_64::{cache, last, x86_64_avx2};

/// Vectors of 128 bits, three levels of cache.
pub fn generic() -> StaticTarget {
    let mut target = x86_64_avx2();
    target.name = "generic".into();
    target.vector_bits = 128;
    target.datapath_bits = 128;
    target.masked_memory = false;
    target.vector_pipes = 4.0;
    target.lane_access = 1.5;
    target.differences_of_bytes = false;
    target.gathered_lane = 1.5;
    target.caches = vec![
        cache("L1", 32 << 10, 8, true, 3.0, 14.0),
        cache("L2", 512 << 10, 8, true, 6.0, 50.0),
        last(cache("L3", 8 << 20, 16, false, 12.0, 300.0)),
    ];
    target.cores = 4;
    target.frequency_ghz = 3.0;
    target
}
