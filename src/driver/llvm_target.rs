//! A machine as LLVM's TargetTransformInfo sees it.

use cost_model::{
    CacheLevel, ControlCosts, OpClass, OpCost, Prefetch, StaticTarget, Target, TlbLevel, Window,
};
use irgen::llvm::{Analyses, CodeModel, Context, CostKind, LlvmError, OptLevel, TargetMachine};
use loop_tree::ScalarType;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Costs of operations, widths and numbers of registers, and masked accesses are LLVM's. What LLVM does not know (ports,
/// latencies of caches, translation, prefetching, loops) is that of the closest static table.
///
/// LLVM's throughput costs are relative: 1 is an operation at full rate. How many cycles that is, the table says.
#[derive(Clone, Debug)]
pub struct LlvmTarget {
    table: StaticTarget,
    ops: FxHashMap<(OpClass, ScalarType, u32), OpCost>,
}

/// What stops LLVM from describing a machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No processor has this name.
    #[error(
        "LLVM knows no processor called `{name}` for {triple}; `clang-22 --print-supported-cpus` lists them"
    )]
    Processor {
        /// The name.
        name: String,
        /// The architecture.
        triple: String,
    },
    /// LLVM has no such target, or does not accept what it is asked.
    #[error("LLVM cannot describe the machine: {0}")]
    Llvm(String),
}

impl From<LlvmError> for TargetError {
    fn from(e: LlvmError) -> Self {
        TargetError::Llvm(e.to_string())
    }
}

const TYPES: [(ScalarType, &str); 6] = [
    (ScalarType::I8, "i8"),
    (ScalarType::I16, "i16"),
    (ScalarType::I32, "i32"),
    (ScalarType::I64, "i64"),
    (ScalarType::F32, "float"),
    (ScalarType::F64, "double"),
];

const LANES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

const CLASSES: [OpClass; 12] = [
    OpClass::FloatAdd,
    OpClass::FloatMul,
    OpClass::FloatFma,
    OpClass::FloatDiv,
    OpClass::FloatSqrt,
    OpClass::Integer,
    OpClass::IntegerMul,
    OpClass::IntegerDiv,
    OpClass::Widen,
    OpClass::Select,
    OpClass::Convert,
    OpClass::Shuffle,
];

impl LlvmTarget {
    /// This machine, or the processor of a name such as `znver4`. Cost: some milliseconds.
    pub fn new(processor: Option<&str>) -> Result<LlvmTarget, TargetError> {
        let host = TargetMachine::host(OptLevel::Aggressive, CodeModel::Object)?;
        let (cpu, features) = match processor {
            None => (host.cpu(), host.features()),
            Some(name) if host.has_processor(name) => (name.to_string(), String::new()),
            Some(name) => {
                let (name, triple) = (name.to_string(), host.triple().to_string());
                return Err(TargetError::Processor { name, triple });
            }
        };
        let machine =
            TargetMachine::new(host.triple(), &cpu, &features, OptLevel::Aggressive, CodeModel::Object)?;
        let context = Context::new();
        let module = context.parse(questions(machine.triple(), &cpu, &features).as_bytes(), "questions")?;
        let function = module.function("f").ok_or_else(|| TargetError::Llvm("no function".to_string()))?;
        let analyses = Analyses::new(function, Some(&machine))?;
        let bits = u32::try_from(analyses.vector_bits()).unwrap_or(0);
        let mut table = match processor {
            None => cost_model::detect_host(),
            Some(name) => cost_model::targets::by_name(name)
                .unwrap_or_else(|| closest(bits, analyses.register_count(true))),
        };
        table.name = format!("llvm:{cpu}");
        table.vector_bits = bits;
        table.vector_registers = analyses.register_count(true);
        let vector = context.f64().vector(bits.max(128) / 64)?;
        table.masked_memory = analyses.has_masked(vector, 8);
        if let Some(line) = analyses.cache_line() {
            table.caches.iter_mut().for_each(|c| c.line = line);
        }
        // Of this machine the system knows the sizes better.
        if processor.is_some() {
            for (level, cache) in table.caches.iter_mut().take(2).enumerate() {
                if let Some(bytes) = analyses.cache_size(level as u8 + 1) {
                    cache.bytes = bytes.into();
                }
            }
            table.caches.sort_by_key(|c| c.bytes);
        }
        let mut answers = function.blocks().into_iter().flat_map(|b| b.insts());
        let mut ops = FxHashMap::default();
        for (class, ty, lanes, _) in each_question() {
            let Some(inst) = answers.next() else { break };
            let cost = |kind| analyses.instruction_cost(inst, kind).filter(|c| *c >= 0).map(|c| c as f64);
            let known = table.op(class, ty, lanes);
            // A free operation is one that goes along with another; the table has the least that counts.
            let throughput = cost(CostKind::Throughput).map(|c| c * full_rate(&table, class, ty, lanes));
            let found = OpCost {
                latency: cost(CostKind::Latency).filter(|c| *c > 0.0).unwrap_or(known.latency),
                reciprocal: throughput.filter(|c| *c > 0.0).unwrap_or(known.reciprocal),
            };
            ops.insert((class, ty, lanes), found);
        }
        Ok(LlvmTarget { table, ops })
    }
}

/// Cycles of an operation at full rate: what LLVM's costs are multiples of.
fn full_rate(table: &StaticTarget, class: OpClass, ty: ScalarType, lanes: u32) -> f64 {
    let simple = match class {
        OpClass::Shuffle => OpClass::Shuffle,
        _ if ty.is_float() => OpClass::FloatAdd,
        _ => OpClass::Integer,
    };
    table.op(simple, ty, lanes).reciprocal
}

/// The static table that is most like a processor with such vectors.
fn closest(bits: u32, registers: u32) -> StaticTarget {
    match (bits, registers) {
        (256.., 32..) => cost_model::targets::x86_64_avx512(),
        (256.., _) => cost_model::targets::x86_64_avx2(),
        _ => cost_model::targets::generic(),
    }
}

/// Each operation that a cost is asked for, as the right side of an instruction.
fn each_question() -> impl Iterator<Item = (OpClass, ScalarType, u32, String)> {
    let all = CLASSES.into_iter().flat_map(|c| TYPES.into_iter().map(move |t| (c, t)));
    all.flat_map(|(class, (ty, name))| {
        LANES.into_iter().filter_map(move |lanes| Some((class, ty, lanes, question(class, ty, name, lanes)?)))
    })
}

/// A type of so many lanes.
fn wide(name: &str, lanes: u32) -> String {
    if lanes == 1 { name.to_string() } else { format!("<{lanes} x {name}>") }
}

fn question(class: OpClass, ty: ScalarType, name: &str, lanes: u32) -> Option<String> {
    let wide = |name: &str| wide(name, lanes);
    // Arguments: constants may be cheaper.
    let value = |name: &str| format!("{} %{name}.{lanes}", wide(name));
    let (t, v, bare) = (wide(name), value(name), format!("%{name}.{lanes}"));
    let float = ty.is_float();
    let vector = if lanes == 1 { String::new() } else { format!("v{lanes}") };
    let suffix = format!("{vector}f{}", ty.size() * 8);
    let binary = |op: &str| Some(format!("{op} {v}, {bare}"));
    match class {
        OpClass::FloatAdd if float => binary("fadd"),
        OpClass::FloatMul if float => binary("fmul"),
        OpClass::FloatDiv if float => binary("fdiv"),
        OpClass::FloatFma if float => Some(format!("call {t} @llvm.fma.{suffix}({v}, {v}, {v})")),
        OpClass::FloatSqrt if float => Some(format!("call {t} @llvm.sqrt.{suffix}({v})")),
        OpClass::Integer if !float => binary("add"),
        OpClass::IntegerMul if !float => binary("mul"),
        OpClass::IntegerDiv if !float => binary("sdiv"),
        OpClass::Widen if !float && ty.size() > 1 => {
            let half = format!("i{}", ty.size() * 4);
            Some(format!("sext {} to {t}", value(&half)))
        }
        OpClass::Select => Some(format!("select {}, {v}, {v}", value("i1"))),
        OpClass::Convert if float => {
            Some(format!("sitofp {} to {t}", value(if ty.size() == 4 { "i32" } else { "i64" })))
        }
        OpClass::Convert => {
            let (op, from) = if ty.size() < 8 { ("trunc", "i64") } else { ("sext", "i32") };
            Some(format!("{op} {} to {t}", value(from)))
        }
        OpClass::Shuffle if lanes > 1 => {
            let order: Vec<String> = (0..lanes).rev().map(|l| format!("i32 {l}")).collect();
            Some(format!("shufflevector {v}, {v}, <{lanes} x i32> <{}>", order.join(", ")))
        }
        _ => None,
    }
}

/// A module with one instruction for each question.
fn questions(triple: &str, cpu: &str, features: &str) -> String {
    let names = TYPES.map(|t| t.1).into_iter().chain(["i1"]);
    let all = names.flat_map(|name| LANES.map(|lanes| format!("{} %{name}.{lanes}", wide(name, lanes))));
    let mut text = format!(
        "target triple = \"{triple}\"\ndefine void @f({}) #0 {{\n",
        all.collect::<Vec<_>>().join(", ")
    );
    let mut declared = BTreeSet::new();
    for (n, (.., right)) in each_question().enumerate() {
        let _ = writeln!(text, "%x{n} = {right}");
        if let Some(call) = right.strip_prefix("call ") {
            declared.insert(call.to_string());
        }
    }
    text += "ret void\n}\n";
    for signature in declared {
        // Parameters may have names in a declaration, but not twice the same.
        let nameless: Vec<&str> = signature
            .split(' ')
            .map(|w| if w.starts_with('%') { w.trim_start_matches(|c| c != ',' && c != ')') } else { w })
            .collect();
        let _ = writeln!(text, "declare {}", nameless.join(" "));
    }
    let _ =
        writeln!(text, "attributes #0 = {{ \"target-cpu\"=\"{cpu}\" \"target-features\"=\"{features}\" }}");
    text
}

impl Target for LlvmTarget {
    fn name(&self) -> &str {
        &self.table.name
    }

    fn op(&self, class: OpClass, ty: ScalarType, lanes: u32) -> OpCost {
        let ty = if ty == ScalarType::I1 { ScalarType::I8 } else { ty };
        let found = self.ops.get(&(class, ty, lanes.next_power_of_two()));
        found.copied().unwrap_or_else(|| self.table.op(class, ty, lanes))
    }

    fn vector_bits(&self) -> u32 {
        self.table.vector_bits
    }
    fn datapath_bits(&self) -> u32 {
        self.table.datapath_bits.min(self.table.vector_bits)
    }
    fn vector_registers(&self) -> u32 {
        self.table.vector_registers
    }
    fn issue_width(&self) -> f64 {
        self.table.issue_width
    }
    fn loads_per_cycle(&self) -> f64 {
        self.table.loads_per_cycle
    }
    fn stores_per_cycle(&self) -> f64 {
        self.table.stores_per_cycle
    }
    fn vector_pipes(&self) -> f64 {
        self.table.vector_pipes()
    }
    fn crossing(&self) -> f64 {
        self.table.crossing()
    }
    fn masked_store(&self) -> f64 {
        self.table.masked_store()
    }
    fn split_load(&self) -> f64 {
        self.table.split_load
    }
    fn split_store(&self, rows: usize) -> f64 {
        self.table.split_store(rows)
    }
    fn masked_memory(&self) -> bool {
        self.table.masked_memory
    }
    fn lane_access(&self) -> f64 {
        self.table.lane_access
    }
    fn gathered_lane(&self) -> f64 {
        self.table.gathered_lane
    }
    fn store_forward(&self) -> f64 {
        self.table.store_forward
    }
    fn window(&self) -> Window {
        self.table.window
    }
    fn separate_adders(&self) -> bool {
        self.table.separate_adders()
    }
    fn transfers_overlap(&self) -> bool {
        self.table.transfers_overlap
    }
    fn fills_take_ports(&self) -> bool {
        self.table.fills_take_ports
    }
    fn fuses_integers(&self) -> bool {
        self.table.fuses_integers()
    }
    fn caches(&self) -> &[CacheLevel] {
        &self.table.caches
    }
    fn last_at_best(&self) -> Option<u64> {
        self.table.last_at_best
    }
    fn tlbs(&self) -> &[TlbLevel] {
        &self.table.tlbs
    }
    fn page_bytes(&self) -> u32 {
        self.table.page_bytes
    }
    fn prefetch(&self) -> Prefetch {
        self.table.prefetch
    }
    fn control(&self) -> ControlCosts {
        self.table.control
    }
    fn cores(&self) -> u32 {
        self.table.cores
    }
    fn fork_join(&self) -> f64 {
        self.table.fork_join
    }
    fn memory_cores(&self) -> f64 {
        self.table.memory_cores
    }
    fn frequency_ghz(&self) -> f64 {
        self.table.frequency_ghz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_processor() {
        let old = LlvmTarget::new(Some("x86-64")).expect("LLVM knows it");
        let new = LlvmTarget::new(Some("x86-64-v4")).expect("LLVM knows it");
        assert!(old.vector_bits() < new.vector_bits() && old.vector_registers() < new.vector_registers());
        assert!(!old.masked_memory() && new.masked_memory());
        let wide = |t: &LlvmTarget, class| t.op(class, ScalarType::F64, 4).reciprocal;
        // Two instructions on the old one.
        assert!(wide(&old, OpClass::FloatAdd) > wide(&new, OpClass::FloatAdd));
        let (add, div) = (wide(&new, OpClass::FloatAdd), wide(&new, OpClass::FloatDiv));
        assert!(0.0 < add && add < div, "{add} {div}");
    }

    #[test]
    fn this_machine_is_known_and_unknown_ones_are_not() {
        let host = LlvmTarget::new(None).expect("this machine");
        assert!(host.name().starts_with("llvm:") && host.caches().is_sorted_by_key(|c| c.bytes));
        for (_, ty, lanes, _) in each_question() {
            for class in CLASSES {
                let cost = host.op(class, ty, lanes);
                assert!(cost.latency > 0.0 && cost.reciprocal > 0.0, "{class:?} {ty:?} {lanes}: {cost:?}");
            }
        }
        let unknown = LlvmTarget::new(Some("pdp11")).expect_err("no such processor");
        assert!(unknown.to_string().contains("pdp11"), "{unknown}");
    }
}
