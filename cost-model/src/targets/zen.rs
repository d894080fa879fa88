//! AMD's processors. LLVM uses vectors of 512 bits in full where there are some.

use super::StaticTarget;
use super::x86_64::{cache, last, op, with_avx2, x86_64_avx512};
use crate::{Prefetch, TlbLevel, Window};

/// Zen 3: the core of Zen 4 with AVX2, and less of caches and translation. The last level is eight cores' own, and in servers others
/// use what they do not: of 32 MiB there are 4 on bad days, as for one who asks for lines in no order, each when the last one has come (61 cycles
/// of 4 MiB, 290 to 420 of 8 MiB); on good ones 16 MiB come in 3.9 to 4.7 cycles a line where they are read in order, 32 MiB in 8, and what is in
/// memory in 11.6.
pub fn znver3() -> StaticTarget {
    let mut target = with_avx2(znver4());
    target.name = "znver3".into();
    // Vectors half of which lie in two lines: stores take 2.0 cycles in place of 1.0 where two to eight rows take turns, 1.15 along one row;
    // of eight rows that are read, 7.6 in place of 5.1.
    target.split_load = 2.26;
    // `vperm2f128` 1.0 cycles, `vpermpd` 1.3, `vunpcklpd` 0.5.
    target.crossing = 2.0;
    target.split_store = 3.0;
    target.split_store_in_row = 1.3;
    target.caches[1] = cache("L2", 512 << 10, 8, true, 3.5, 50.0);
    target.caches[2] = last(cache("L3", 4 << 20, 16, false, 12.0, 470.0));
    target.last_at_best = Some(24 << 20);
    target.tlbs = vec![
        TlbLevel { name: "dTLB", entries: 64, miss: 1.0 },
        TlbLevel { name: "STLB", entries: 2048, miss: 20.0 },
    ];
    target
}

/// Zen 4: vectors of 512 bits, in halves.
pub fn znver4() -> StaticTarget {
    let mut target = x86_64_avx512();
    target.name = "znver4".into();
    target.ops.float_add = op(3.0, 0.5);
    target.ops.float_mul = op(3.0, 0.5);
    target.ops.float_div = op(13.0, 5.0);
    target.ops.float_sqrt = op(21.0, 8.7);
    // A vector as far as it goes through at once.
    target.ops.vector_division = 1.0;
    target.ops.narrow_division = 0.6;
    target.ops.shuffle = op(1.0, 0.5);
    target.ops.vector_integer = 0.25;
    target.ops.vector_mul = 0.5;
    target.ops.vector_mul_64 = 0.5;
    // One after the other to lines of the first level (Zen 3); 6 of four lanes.
    target.masked_store = 15.0;
    target.vector_bits = 512;
    target.gathered_lane = 3.2;
    target.store_forward = 8.0;
    target.window = Window { float: 60.0, integer: 25.0 };
    target.separate_adders = true;
    target.vector_pipes = 4.0;
    target.transfers_overlap = true;
    target.fills_take_ports = false;
    target.stores_per_cycle = 1.0;
    target.caches = vec![
        cache("L1", 32 << 10, 8, true, 2.0, 14.0),
        cache("L2", 1 << 20, 8, true, 2.9, 50.0),
        last(cache("L3", 16 << 20, 16, false, 9.2, 350.0)),
    ];
    target.tlbs = vec![
        TlbLevel { name: "dTLB", entries: 72, miss: 1.0 },
        TlbLevel { name: "STLB", entries: 3072, miss: 20.0 },
    ];
    target.prefetch =
        Prefetch { run_bytes: 1024.0, streams: 12.0, outstanding: 16.0, outstanding_stores: 48.0 };
    // The next run of a loop begins before the last one is through.
    target.control.entry = 4.0;
    target.cores = 8;
    target.frequency_ghz = 3.7;
    target
}

/// Zen 5 as in servers: vectors of 512 bits at once.
pub fn znver5() -> StaticTarget {
    let mut target = znver4();
    target.name = "znver5".into();
    target.ops.float_add = op(2.0, 0.5);
    target.ops.float_div = op(12.6, 4.0);
    target.ops.vector_division = 1.1;
    target.datapath_bits = 512;
    target.issue_width = 7.0;
    target.store_forward = 9.5;
    target.fills_take_ports = true;
    target.prefetch.outstanding_stores = 4.0;
    target.control.entry = x86_64_avx512().control.entry;
    // Eight doubles of as many lines: 8.4 cycles from the first level, 12.2 from the second.
    target.gathered_lane = 1.05;
    target.caches[0] = cache("L1", 48 << 10, 12, true, 1.4, 14.0);
    target.caches[1] = cache("L2", 1 << 20, 16, true, 2.3, 50.0);
    target.tlbs = vec![
        TlbLevel { name: "dTLB", entries: 96, miss: 1.0 },
        TlbLevel { name: "STLB", entries: 4096, miss: 20.0 },
    ];
    target
}
