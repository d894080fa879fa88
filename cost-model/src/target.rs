//! What the model needs to know of a machine; the counterpart of LLVM's `TargetTransformInfo`.

use crate::targets::Vectors;
use loop_tree::ScalarType;
use std::sync::Arc;

/// Operations that a machine treats alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpClass {
    /// Floating-point addition, subtraction, minimum, maximum, sign operations.
    FloatAdd,
    /// Floating-point multiplication.
    FloatMul,
    /// Fused multiplication and addition.
    FloatFma,
    /// Floating-point division.
    FloatDiv,
    /// Square root.
    FloatSqrt,
    /// Integer addition, logic, shifts.
    Integer,
    /// Integer multiplication.
    IntegerMul,
    /// Integer division and remainder.
    IntegerDiv,
    /// An integer of a narrower type as one of this type: a permutation where there are several.
    Widen,
    /// Comparison and selection.
    Select,
    /// Conversion, rounding.
    Convert,
    /// A lane moved into or out of a vector, or a permutation.
    Shuffle,
    /// A call of the mathematical library, such as `exp`.
    Library,
}

/// Cost of one instruction.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpCost {
    /// Cycles until the result can be used.
    pub latency: f64,
    /// Cycles for which it occupies its port class, when nothing else does: 0.5 means two per cycle.
    pub reciprocal: f64,
}

/// Name of a level of cache or translation, one of those that tables have.
pub type LevelName = &'static str;

/// One level of cache.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheLevel {
    /// Name, such as `L1`.
    #[serde(deserialize_with = "crate::targets::level_name")]
    pub name: LevelName,
    /// Bytes that one thread can count on.
    pub bytes: u64,
    /// Bytes per line.
    pub line: u32,
    /// Ways per set.
    pub ways: u32,
    /// Whether the set is chosen by address bits, so that strides can conflict.
    pub indexed: bool,
    /// Cycles per line fetched from the level below, for sequential access.
    pub fill: f64,
    /// Cycles of latency of a fetch from the level below.
    pub fill_latency: f64,
    /// What a line takes that comes in and goes back written, of one that is read.
    #[serde(default)]
    pub written: f64,
}

/// One level of address translation.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlbLevel {
    /// Name.
    #[serde(deserialize_with = "crate::targets::level_name")]
    pub name: LevelName,
    /// Pages held.
    pub entries: u32,
    /// Cycles per miss, as far as out-of-order execution does not hide them.
    pub miss: f64,
}

/// Costs of loops and branches.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlCosts {
    /// Cycles per iteration of a loop that contains other loops.
    pub iteration: f64,
    /// Cycles to enter and leave an innermost loop: bounds, remainder, pipeline ramp.
    pub entry: f64,
    /// Cycles per additional term of a minimum or maximum in the bounds.
    pub bound: f64,
    /// Cycles of one mispredicted branch.
    pub mispredict: f64,
    /// Cycles per pair of pointers compared before a vectorised loop.
    pub pointer_check: f64,
}

/// What the hardware fetches ahead.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Bytes of a sequential run of which three quarters are fetched ahead: what passes before it is noticed is a quarter of so many
    /// bytes.
    pub run_bytes: f64,
    /// Sequences that are followed at a time.
    #[serde(default = "streams")]
    pub streams: f64,
    /// Misses in flight where nothing is prefetched.
    pub outstanding: f64,
    /// The same of stores, which leave the core in order.
    pub outstanding_stores: f64,
}

/// Eight rows on Zen 5 come as fast as one, sixteen take twice as long.
fn streams() -> f64 {
    12.0
}

/// Operations that wait in the schedulers at most; what comes behind them has to wait outside, ready or not.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Of floating point and vectors.
    pub float: f64,
    /// Of scalar integers.
    pub integer: f64,
}

/// What two threads of LLVM's runtime take on Zen 5, awake; GCC's takes half of it.
pub(crate) const FORK_JOIN: f64 = 10_000.0;
/// Desktop processors come to their limit with three or four cores, servers much later.
pub(crate) const MEMORY_CORES: f64 = 4.0;

/// A machine.
pub trait Target: Send + Sync {
    /// Name by which it is looked up.
    fn name(&self) -> &str;
    /// The machine as far as code with such vectors uses it; `None`: what it says holds for all code.
    fn for_code(&self, _vectors: Vectors) -> Option<Arc<dyn Target>> {
        None
    }
    /// The machine as new code may use it, which asks for wider vectors than the compiler takes by itself; `None`: as other code.
    fn for_new_code(&self) -> Option<Arc<dyn Target>> {
        None
    }
    /// Cost of an operation on so many elements of the type at once (1: scalar).
    fn op(&self, class: OpClass, ty: ScalarType, lanes: u32) -> OpCost;
    /// Bits of the vectors that the compiler prefers; 0: no vectors.
    fn vector_bits(&self) -> u32;
    /// Bits that one instruction works on at a time: wider vectors take it several times.
    fn datapath_bits(&self) -> u32 {
        self.vector_bits()
    }
    /// Number of vector registers.
    fn vector_registers(&self) -> u32;
    /// Instructions per cycle in the steady state.
    fn issue_width(&self) -> f64;
    /// Loads per cycle.
    fn loads_per_cycle(&self) -> f64;
    /// Stores per cycle.
    fn stores_per_cycle(&self) -> f64;
    /// Instructions on vectors in a cycle, of all kinds together but for loads and stores.
    fn vector_pipes(&self) -> f64 {
        4.0
    }
    /// As how many permutations one counts that moves lanes from one half of a vector of 256 bits to the other.
    fn crossing(&self) -> f64 {
        1.0
    }
    /// Whether lanes can be loaded and stored under a mask.
    fn masked_memory(&self) -> bool;
    /// Whether lanes of 8 and 16 bits can: AVX2 has masks for longer ones only, AVX-512 for all.
    fn masks_narrow_lanes(&self) -> bool {
        self.masked_memory() && self.vector_registers() >= 32
    }
    /// Cycles of a store of some of eight lanes, where others take one; it takes them one after the other.
    fn masked_store(&self) -> f64 {
        1.0
    }
    /// What a load takes that lies in two cache lines, of one that lies in one.
    fn split_load(&self) -> f64 {
        2.0
    }
    /// The same of a store, where so many rows are stored in turn: what follows in the same row may be joined with it.
    fn split_store(&self, _rows: usize) -> f64 {
        2.0
    }
    /// Cycles more that a line takes on its way to the first level of cache which stores of whole lines into several rows in turn share with
    /// the line before: they wait for both, and only the first one has been asked for. Shorter ones wait for less.
    fn split_store_waits(&self) -> f64 {
        0.0
    }
    /// Whether an instruction takes any lanes of two vectors: AVX-512's do, AVX2's keep to halves of one.
    fn permutes_two(&self) -> bool {
        self.vector_registers() >= 32
    }
    /// Whether the compiler gathers what a loop spreads in memory: LLVM does with AVX-512, and takes AVX2's gathers for slow on most
    /// processors.
    fn gathers(&self) -> bool {
        self.vector_registers() >= 32
    }
    /// Cycles per lane of a gather or scatter, or of the scalar accesses in its place, where one load is executed in a cycle.
    fn lane_access(&self) -> f64;
    /// The same of a gather where code is left as it is; new code may be told not to gather.
    fn gathered_lane(&self) -> f64 {
        self.lane_access()
    }
    /// Cycles from a store to the value of a load of the same bytes.
    fn store_forward(&self) -> f64 {
        5.0
    }
    /// Operations that wait while later ones are executed.
    fn window(&self) -> Window {
        Window { float: 60.0, integer: 40.0 }
    }
    /// Whether additions have units of their own, beside those that multiply.
    fn separate_adders(&self) -> bool {
        false
    }
    /// Whether lines move between all levels at the same time, and while the core computes.
    fn transfers_overlap(&self) -> bool {
        false
    }
    /// Whether loads and stores wait while a line comes into the first level, or leaves it.
    fn fills_take_ports(&self) -> bool {
        true
    }
    /// Whether all goes on meanwhile that a line takes on its way to further levels.
    fn further_fills_overlap(&self) -> bool {
        !self.fills_take_ports()
    }
    /// Whether one instruction adds up absolute differences of bytes (`psadbw`), and one pairs of products of shorts (`pmaddwd`).
    fn fuses_integers(&self) -> bool {
        false
    }
    /// Cache levels, first level first; the last one is filled from memory.
    fn caches(&self) -> &[CacheLevel];
    /// Bytes of the last of them that one thread has at times, where others share it whom this machine does not see, as it is virtual:
    /// anything between what it can count on and this, each as often by its logarithm.
    fn last_at_best(&self) -> Option<u64> {
        None
    }
    /// Levels of address translation, first level first.
    fn tlbs(&self) -> &[TlbLevel];
    /// Bytes per page.
    fn page_bytes(&self) -> u32;
    /// Hardware prefetching.
    fn prefetch(&self) -> Prefetch;
    /// Loops and branches.
    fn control(&self) -> ControlCosts;
    /// Cores for parallel loops.
    fn cores(&self) -> u32;
    /// Cycles to start the threads that share a loop, and to wait for the last of them.
    fn fork_join(&self) -> f64 {
        FORK_JOIN
    }
    /// By how much faster all cores together read and write memory than one alone.
    fn memory_cores(&self) -> f64 {
        MEMORY_CORES
    }
    /// Cycles per nanosecond.
    fn frequency_ghz(&self) -> f64;
    /// Lanes of the preferred vectors for a type; 1 where there are none.
    fn lanes(&self, ty: ScalarType) -> u32 {
        (self.vector_bits() / (ty.size() * 8)).max(1)
    }
}
