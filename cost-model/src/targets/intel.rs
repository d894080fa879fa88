//! Intel's processors. LLVM takes vectors of 256 bits by itself where there are longer ones; new code may ask for these.

use super::x86_64::{cache, op, x86_64_avx512};
use super::{StaticTarget, Wide};
use crate::{CacheLevel, TlbLevel, Window};

/// Sapphire Rapids and Emerald Rapids. Numbers are what `calibrate` and small loops measure on the second, but for what variants of
/// PolyBench's kernels and ours say: that lines on their way to the first level take ports and other transfers none, how much of the shared
/// last level one thread has, and how far the core looks ahead. A selection is one instruction; `calibrate` measures it with its comparison.
pub fn sapphire_rapids() -> StaticTarget {
    let mut target = x86_64_avx512();
    target.name = "sapphirerapids".into();
    target.ops.float_add = op(2.0, 0.5);
    target.ops.float_div = op(14.0, 4.0);
    target.ops.float_sqrt = op(19.0, 6.0);
    target.ops.integer = op(1.0, 0.2);
    target.ops.integer_div = op(14.3, 10.0);
    target.ops.select = op(1.0, 0.5);
    target.ops.convert = op(6.9, 1.0);
    target.ops.shuffle = op(3.0, 1.0);
    target.ops.library = op(37.0, 14.0);
    target.ops.narrow_division = 0.75;
    // Of 512 bits everything goes through two ports in place of three, permutations through one of these: a product, an addition and a
    // permutation take 1.5 cycles, of 256 bits 1. A division of eight numbers takes 16.5 cycles, of four 8.4.
    target.wide = Some(Wide { bits: 512, vector_pipes: 2.0, vector_integer: 0.5, vector_division: 4.0 });
    target.datapath_bits = 512;
    target.stores_per_cycle = 1.0;
    target.lane_access = 0.93;
    target.gathered_lane = 0.93;
    target.store_forward = 6.0;
    // Lines of 1 MiB that vectors of 512 bits are stored into take 4.0 cycles, 5.2 where they lie in two, and 9.1 of two or four such rows
    // in turn; of 64 MiB 7.5, 9 and 13.5. Beside as many rows that are read these wait 7 to 12 cycles, of 256 bits 2 to 6.
    target.split_store_waits = 8.0;
    target.window = Window { float: 60.0, integer: 60.0 };
    target.transfers_overlap = true;
    target.further_fills_overlap = true;
    // Lines of 1 MiB are read in 1.25 to 1.5 cycles, of which loads take 0.5, and written in 4.0. One that has to come before the next is asked
    // for takes 100 cycles of 4 or 8 MiB.
    target.caches = vec![
        CacheLevel { written: 2.5, ..cache("L1", 48 << 10, 12, true, 1.0, 16.0) },
        CacheLevel { written: 1.15, ..cache("L2", 2 << 20, 16, true, 6.6, 100.0) },
        CacheLevel { written: 1.3, ..cache("L3", 32 << 20, 16, false, 14.0, 186.0) },
    ];
    target.tlbs = vec![
        TlbLevel { name: "dTLB", entries: 96, miss: 0.7 },
        TlbLevel { name: "STLB", entries: 2048, miss: 19.0 },
    ];
    target.prefetch.outstanding = 24.0;
    target.control.mispredict = 26.0;
    target
}
