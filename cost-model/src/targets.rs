//! Machines as data: look-up by name, from files, and the machine this runs on.

mod code;
mod file;
mod generic;
mod host;
mod intel;
mod x86_64;
mod zen;

pub use code::Vectors;
pub(crate) use file::level_name;
pub use file::{TargetFileError, calibrated_file, native, read_target, target_text};
pub use generic::generic;
pub use host::{detect_host, processor, processors};
pub use intel::sapphire_rapids;
pub use x86_64::{x86_64_avx2, x86_64_avx512};
pub use zen::{znver3, znver4, znver5};

use crate::target::{FORK_JOIN, MEMORY_CORES};
use crate::{CacheLevel, ControlCosts, OpClass, OpCost, Prefetch, Target, TlbLevel, Window};
use loop_tree::ScalarType;
use std::sync::Arc;

/// Names that [`by_name`] knows, besides `host`.
pub const NAMES: [&str; 7] =
    ["x86_64_avx2", "x86_64_avx512", "sapphirerapids", "znver3", "znver4", "znver5", "generic"];

/// The target of that name; `host` asks the machine.
pub fn by_name(name: &str) -> Option<StaticTarget> {
    match name {
        "host" => Some(detect_host()),
        "x86_64_avx2" => Some(x86_64_avx2()),
        "x86_64_avx512" => Some(x86_64_avx512()),
        "sapphirerapids" => Some(sapphire_rapids()),
        "znver3" => Some(znver3()),
        "znver4" => Some(znver4()),
        "znver5" => Some(znver5()),
        "generic" => Some(generic()),
        _ => None,
    }
}

/// A target that is a table. Change fields to describe a machine of your own.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The fields are the methods of `Target`.
pub struct StaticTarget {
    pub name: String,
    pub ops: OpTable,
    pub vector_bits: u32,
    /// Vectors that new code asks for, and the compiler does not take by itself.
    #[serde(default)]
    pub wide: Option<Wide>,
    pub datapath_bits: u32,
    pub vector_registers: u32,
    pub issue_width: f64,
    pub loads_per_cycle: f64,
    pub stores_per_cycle: f64,
    pub masked_memory: bool,
    /// Cycles of AVX2's store of some of eight lanes; AVX-512's is as good as others.
    #[serde(default = "one")]
    pub masked_store: f64,
    /// Permutations of one half of a vector of 256 bits as which one that moves numbers from half to half counts.
    #[serde(default = "one")]
    pub crossing: f64,
    /// Cycles of an access that lies in two cache lines, where others take one: of loads, of stores into several rows in turn, of stores
    /// along one row.
    #[serde(default = "two")]
    pub split_load: f64,
    #[serde(default = "two")]
    pub split_store: f64,
    #[serde(default = "two")]
    pub split_store_in_row: f64,
    #[serde(default)]
    pub split_store_waits: f64,
    /// Instructions on vectors in a cycle, of all kinds together but for loads and stores.
    #[serde(default)]
    pub vector_pipes: f64,
    pub lane_access: f64,
    pub gathered_lane: f64,
    pub store_forward: f64,
    pub window: Window,
    #[serde(default)]
    pub separate_adders: bool,
    pub transfers_overlap: bool,
    #[serde(default = "yes")]
    pub fills_take_ports: bool,
    #[serde(default)]
    pub further_fills_overlap: bool,
    #[serde(default = "yes")]
    pub differences_of_bytes: bool,
    pub caches: Vec<CacheLevel>,
    #[serde(default)]
    pub last_at_best: Option<u64>,
    pub tlbs: Vec<TlbLevel>,
    pub page_bytes: u32,
    pub prefetch: Prefetch,
    pub control: ControlCosts,
    pub cores: u32,
    #[serde(default = "fork_join")]
    pub fork_join: f64,
    #[serde(default = "memory_cores")]
    pub memory_cores: f64,
    pub frequency_ghz: f64,
}

/// Vectors wider than those that a compiler takes by itself: what is different of them.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // Named as in `OpTable`.
pub struct Wide {
    pub bits: u32,
    #[serde(default = "two")]
    pub vector_pipes: f64,
    pub vector_integer: f64,
    pub vector_division: f64,
}

/// What files say that do not mention it: they were written on x86-64.
fn one() -> f64 {
    1.0
}
fn two() -> f64 {
    2.0
}

fn yes() -> bool {
    true
}

fn fork_join() -> f64 {
    FORK_JOIN
}

fn memory_cores() -> f64 {
    MEMORY_CORES
}

/// Latency and reciprocal throughput of each class, for scalars and for whole vectors of 64-bit elements.
/// Divisions and square roots of 32-bit elements take the time given by `narrow_division`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // Named as the operation classes.
pub struct OpTable {
    pub float_add: OpCost,
    pub float_mul: OpCost,
    pub float_fma: OpCost,
    pub float_div: OpCost,
    pub float_sqrt: OpCost,
    pub integer: OpCost,
    pub integer_mul: OpCost,
    pub integer_div: OpCost,
    pub select: OpCost,
    pub convert: OpCost,
    pub shuffle: OpCost,
    pub library: OpCost,
    /// Reciprocal throughput of a vector of divisions or roots as long as the data path, as a multiple of the scalar one.
    pub vector_division: f64,
    /// Time of a 32-bit division or root relative to a 64-bit one.
    pub narrow_division: f64,
    /// Reciprocal throughput of simple integer operations on vectors.
    pub vector_integer: f64,
    /// Of products of vectors of 16 and 32-bit integers.
    #[serde(default = "usual_product")]
    pub vector_mul: f64,
    /// Of products of vectors of 64-bit integers, where no instruction has them in as many as they take.
    #[serde(default = "usual_wide_product")]
    pub vector_mul_64: f64,
}

/// In files from before they were measured.
const fn usual_product() -> f64 {
    1.0
}

const fn usual_wide_product() -> f64 {
    2.7
}

/// Of products of bytes, in those of the same vectors of longer elements.
const PRODUCTS_OF_BYTES: f64 = 4.0;

impl StaticTarget {
    /// Numbers that files from before do not mention: between caches lines go back meanwhile. What adds elsewhere than it multiplies has two
    /// ports for each; Intel's processors have three for all.
    fn complete(&mut self) {
        if self.vector_pipes == 0.0 {
            self.vector_pipes = if self.separate_adders { 4.0 } else { 3.0 };
        }
        let last = self.caches.len().saturating_sub(1);
        for (level, cache) in self.caches.iter_mut().enumerate().filter(|(_, c)| c.written == 0.0) {
            cache.written = if level == last { x86_64::WRITTEN_BACK } else { 1.0 };
        }
    }
}

impl Target for StaticTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn for_code(&self, vectors: Vectors) -> Option<Arc<dyn Target>> {
        Some(Arc::new(self.clone().with_vectors(vectors)))
    }

    fn for_new_code(&self) -> Option<Arc<dyn Target>> {
        self.widened().map(|target| Arc::new(target) as Arc<dyn Target>)
    }

    fn op(&self, class: OpClass, ty: ScalarType, lanes: u32) -> OpCost {
        let t = &self.ops;
        let vector = lanes > 1;
        let wide = |c: OpCost, factor: f64| OpCost {
            latency: c.latency,
            reciprocal: if vector { c.reciprocal * factor } else { c.reciprocal },
        };
        let narrow = |c: OpCost| match ty {
            ScalarType::F32 => OpCost {
                latency: c.latency * t.narrow_division.max(0.7),
                reciprocal: c.reciprocal * t.narrow_division,
            },
            _ => c,
        };
        match class {
            OpClass::FloatAdd => t.float_add,
            OpClass::FloatMul => t.float_mul,
            OpClass::FloatFma => t.float_fma,
            OpClass::FloatDiv => wide(narrow(t.float_div), t.vector_division),
            OpClass::FloatSqrt => wide(narrow(t.float_sqrt), t.vector_division),
            OpClass::Integer if vector => OpCost { latency: 1.0, reciprocal: t.vector_integer },
            OpClass::Widen if vector => t.shuffle,
            OpClass::Integer | OpClass::Widen => t.integer,
            OpClass::IntegerMul if vector => OpCost {
                latency: t.integer_mul.latency,
                reciprocal: match ty.size() {
                    8 => t.vector_mul_64,
                    // There are no products of bytes: they are spread, and packed again.
                    1 => PRODUCTS_OF_BYTES * t.vector_mul,
                    _ => t.vector_mul,
                },
            },
            OpClass::IntegerMul => t.integer_mul,
            // No vector instruction: one after the other, with lanes moved out and in.
            OpClass::IntegerDiv => wide(t.integer_div, f64::from(lanes) * 1.3),
            OpClass::Select => t.select,
            OpClass::Convert => t.convert,
            OpClass::Shuffle => t.shuffle,
            OpClass::Library => wide(t.library, f64::from(lanes) * 1.1),
        }
    }

    fn vector_bits(&self) -> u32 {
        self.vector_bits
    }
    fn datapath_bits(&self) -> u32 {
        self.datapath_bits
    }
    fn vector_registers(&self) -> u32 {
        self.vector_registers
    }
    fn issue_width(&self) -> f64 {
        self.issue_width
    }
    fn loads_per_cycle(&self) -> f64 {
        self.loads_per_cycle
    }
    fn stores_per_cycle(&self) -> f64 {
        self.stores_per_cycle
    }
    fn vector_pipes(&self) -> f64 {
        self.vector_pipes
    }
    fn masked_memory(&self) -> bool {
        self.masked_memory
    }
    fn crossing(&self) -> f64 {
        self.crossing
    }
    fn masked_store(&self) -> f64 {
        if self.masks_narrow_lanes() { 1.0 } else { self.masked_store }
    }
    fn split_load(&self) -> f64 {
        self.split_load
    }
    fn split_store(&self, rows: usize) -> f64 {
        if rows > 1 { self.split_store } else { self.split_store_in_row }
    }
    fn split_store_waits(&self) -> f64 {
        self.split_store_waits
    }
    fn lane_access(&self) -> f64 {
        self.lane_access
    }
    fn gathered_lane(&self) -> f64 {
        self.gathered_lane
    }
    fn store_forward(&self) -> f64 {
        self.store_forward
    }
    fn window(&self) -> Window {
        self.window
    }
    fn separate_adders(&self) -> bool {
        self.separate_adders
    }
    fn transfers_overlap(&self) -> bool {
        self.transfers_overlap
    }
    fn fills_take_ports(&self) -> bool {
        self.fills_take_ports
    }
    fn further_fills_overlap(&self) -> bool {
        self.further_fills_overlap || !self.fills_take_ports
    }
    fn fuses_integers(&self) -> bool {
        self.differences_of_bytes
    }
    fn caches(&self) -> &[CacheLevel] {
        &self.caches
    }
    fn last_at_best(&self) -> Option<u64> {
        self.last_at_best
    }
    fn tlbs(&self) -> &[TlbLevel] {
        &self.tlbs
    }
    fn page_bytes(&self) -> u32 {
        self.page_bytes
    }
    fn prefetch(&self) -> Prefetch {
        self.prefetch
    }
    fn control(&self) -> ControlCosts {
        self.control
    }
    fn cores(&self) -> u32 {
        self.cores
    }
    fn fork_join(&self) -> f64 {
        self.fork_join
    }
    fn memory_cores(&self) -> f64 {
        self.memory_cores
    }
    fn frequency_ghz(&self) -> f64 {
        self.frequency_ghz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_plausible() {
        for name in NAMES.into_iter().chain(["host"]) {
            let t = by_name(name).unwrap_or_else(|| panic!("{name}"));
            assert!(t.lanes(ScalarType::F32) >= t.lanes(ScalarType::F64));
            assert!(t.caches.is_sorted_by_key(|c| c.bytes), "{name}");
            assert!(t.caches.is_sorted_by(|a, b| a.fill <= b.fill), "{name}");
        }
        assert!(by_name("pdp11").is_none());
    }
}
