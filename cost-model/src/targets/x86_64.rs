//! Recent x86-64 processors.

use super::{OpTable, StaticTarget, Vectors};
use crate::target::{FORK_JOIN, MEMORY_CORES};
use crate::{CacheLevel, ControlCosts, OpCost, Prefetch, TlbLevel, Window};

pub(super) const fn op(latency: f64, reciprocal: f64) -> OpCost {
    OpCost { latency, reciprocal }
}

/// A desktop processor with AVX2: 16 vector registers of 256 bits.
pub fn x86_64_avx2() -> StaticTarget {
    StaticTarget {
        name: "x86_64_avx2".into(),
        ops: OpTable {
            float_add: op(4.0, 0.5),
            float_mul: op(4.0, 0.5),
            float_fma: op(4.0, 0.5),
            float_div: op(13.0, 4.5),
            float_sqrt: op(18.0, 6.0),
            integer: op(1.0, 0.25),
            integer_mul: op(3.0, 1.0),
            integer_div: op(20.0, 8.0),
            select: op(1.0, 0.5),
            convert: op(5.0, 0.75),
            shuffle: op(2.0, 1.0),
            library: op(60.0, 25.0),
            vector_division: 2.0,
            narrow_division: 0.65,
            vector_integer: 0.34,
            vector_mul: 1.0,
            vector_mul_64: 2.7,
        },
        vector_bits: 256,
        wide: None,
        datapath_bits: 256,
        vector_registers: 16,
        issue_width: 4.0,
        loads_per_cycle: 2.0,
        stores_per_cycle: 1.0,
        masked_memory: true,
        masked_store: 1.0,
        crossing: 1.0,
        split_load: 2.0,
        split_store: 2.0,
        split_store_in_row: 2.0,
        split_store_waits: 0.0,
        vector_pipes: 3.0,
        lane_access: 1.25,
        gathered_lane: 1.25,
        store_forward: 5.0,
        window: Window { float: 60.0, integer: 60.0 },
        separate_adders: false,
        transfers_overlap: false,
        fills_take_ports: true,
        further_fills_overlap: false,
        differences_of_bytes: true,
        caches: vec![
            cache("L1", 32 << 10, 8, true, 2.5, 14.0),
            cache("L2", 512 << 10, 8, true, 5.0, 45.0),
            last(cache("L3", 16 << 20, 16, false, 10.0, 250.0)),
        ],
        tlbs: vec![
            TlbLevel { name: "dTLB", entries: 64, miss: 2.0 },
            TlbLevel { name: "STLB", entries: 1536, miss: 20.0 },
        ],
        page_bytes: 4096,
        prefetch: Prefetch { run_bytes: 1024.0, streams: 12.0, outstanding: 8.0, outstanding_stores: 8.0 },
        control: CONTROL,
        cores: 8,
        last_at_best: None,
        fork_join: FORK_JOIN,
        memory_cores: MEMORY_CORES,
        frequency_ghz: 3.5,
    }
}

/// A server processor with AVX-512: 32 vector registers. The compiler prefers vectors of 256 bits by default on
/// nearly all of them.
pub fn x86_64_avx512() -> StaticTarget {
    let mut target = x86_64_avx2();
    target.name = "x86_64_avx512".into();
    target.ops.float_add = op(2.5, 0.5);
    target.ops.float_div = op(13.0, 4.0);
    target.ops.float_sqrt = op(16.0, 5.0);
    target.ops.vector_mul_64 = 1.5;
    target.vector_registers = 32;
    target.issue_width = 6.0;
    target.stores_per_cycle = 1.5;
    target.window = Window { float: 97.0, integer: 97.0 };
    target.lane_access = 1.0;
    target.gathered_lane = 1.0;
    target.caches = vec![
        cache("L1", 48 << 10, 12, true, 3.5, 24.0),
        cache("L2", 2 << 20, 16, true, 5.0, 110.0),
        last(cache("L3", 64 << 20, 16, false, 8.0, 400.0)),
    ];
    target.tlbs = vec![
        TlbLevel { name: "dTLB", entries: 96, miss: 1.0 },
        TlbLevel { name: "STLB", entries: 2048, miss: 30.0 },
    ];
    target.prefetch =
        Prefetch { run_bytes: 1024.0, streams: 12.0, outstanding: 10.0, outstanding_stores: 10.0 };
    target.cores = 32;
    target.frequency_ghz = 3.0;
    target
}

/// What a line takes that is read from memory and written back, of one that is read. On Zen 5: 10 cycles and 7; between caches 2.5 and 2.3.
pub(super) const WRITTEN_BACK: f64 = 1.4;

/// The last of the levels, which memory fills.
pub(super) const fn last(mut level: CacheLevel) -> CacheLevel {
    level.written = WRITTEN_BACK;
    level
}

/// The same processor where its vectors of 512 bits are masked, as virtual machines do.
pub(super) fn with_avx2(target: StaticTarget) -> StaticTarget {
    let name = format!("{} with AVX2", target.name);
    let mut target = target.with_vectors(Vectors { bits: 256, widest: 256, registers: 16, masked: true });
    target.name = name;
    target
}

pub(super) const CONTROL: ControlCosts =
    ControlCosts { iteration: 1.5, entry: 12.0, bound: 1.0, mispredict: 16.0, pointer_check: 3.0 };

pub(super) const fn cache(
    name: &'static str,
    bytes: u64,
    ways: u32,
    indexed: bool,
    fill: f64,
    fill_latency: f64,
) -> CacheLevel {
    CacheLevel { name, bytes, line: 64, ways, indexed, fill, fill_latency, written: 1.0 }
}
