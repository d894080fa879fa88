//! Loops in IR, and how many cycles their iterations take.

use super::CalibrateError;
use irgen::llvm::{CodeModel, Context, Jit, LlvmError, OptLevel, TargetMachine};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Runs of each loop; the median counts.
const RUNS: usize = 5;
/// Additions in a turn of the reference loop, and turns.
const CHAIN: usize = 64;
const TURNS: i64 = 20_000;

type Call = unsafe extern "C" fn(*mut u8, i64);

/// A loop to measure. Text of IR in which `%memory` is a pointer, and `%i` counts turns.
#[derive(Default)]
pub(super) struct Loop {
    /// Before the loop.
    pub setup: String,
    /// Values carried from turn to turn: type, name, first value; the next one is `NAME.next`.
    pub carried: Vec<(String, String, String)>,
    /// A turn.
    pub body: String,
    /// Functions that it calls.
    pub declarations: String,
    /// The block that a turn ends in, where it has several.
    pub last: Option<&'static str>,
}

/// Numbers that look random, the same each time.
pub(super) struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(1)
    }
}

impl Random {
    /// 64 bits, of which the upper ones are the better ones.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// Below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 32) as usize * bound) >> 32
    }
}

impl Loop {
    /// Values start as what memory holds, so that nothing is known of them.
    pub fn carry(&mut self, ty: &str, name: &str, offset: usize) {
        self.load(ty, &format!("{name}.first"), offset);
        self.carried.push((ty.to_string(), name.to_string(), format!("%{name}.first")));
    }

    /// A value that does not change.
    pub fn load(&mut self, ty: &str, name: &str, offset: usize) {
        let _ = writeln!(self.setup, "%{name}.p = getelementptr i8, ptr %memory, i64 {offset}");
        let _ = writeln!(self.setup, "%{name} = load volatile {ty}, ptr %{name}.p, align 8");
    }

    fn text(&self, attributes: &str) -> String {
        let Loop { setup, carried, body, declarations, last } = self;
        let last = last.unwrap_or("loop");
        let (mut phis, mut uses) = (String::new(), String::new());
        for (ty, name, first) in carried {
            let _ = writeln!(phis, "%{name} = phi {ty} [ {first}, %entry ], [ %{name}.next, %{last} ]");
            // What nobody uses would not be computed.
            let _ = writeln!(uses, "store volatile {ty} %{name}.next, ptr %sink, align 8");
        }
        format!(
            "define void @probe(ptr %memory, i64 %turns) #0 {{
             entry:
             %sink = alloca [16 x double], align 64
             {setup} br label %loop
             loop:
             %i = phi i64 [ 0, %entry ], [ %i.next, %{last} ]
             {phis}{body} %i.next = add i64 %i, 1
             %more = icmp ult i64 %i.next, %turns
             br i1 %more, label %loop, label %done
             done:
             {uses} ret void
             }}
             {declarations}
             attributes #0 = {{ {attributes} }}\n"
        )
    }
}

/// A compiled loop.
pub(super) struct Probe {
    call: Call,
    // Owns the code.
    _jit: Jit,
}

impl Probe {
    fn time(&self, memory: &mut [u8], turns: i64) -> Duration {
        let start = processor_time();
        // SAFETY: the signature of every probe; each stays within the memory that it is given with its turns, as those
        // who write it see to.
        unsafe { (self.call)(memory.as_mut_ptr(), turns) };
        processor_time().saturating_sub(start)
    }
}

/// What all measurements share.
pub(super) struct Lab {
    attributes: String,
    reference: Probe,
    /// Nanoseconds per cycle of each measurement.
    cycles: Vec<f64>,
}

impl Lab {
    pub fn new() -> Result<Lab, CalibrateError> {
        let what = "the clock";
        let failed = |source| CalibrateError::Probe { what, source };
        let machine = TargetMachine::host(OptLevel::Aggressive, CodeModel::Jit).map_err(failed)?;
        // Wide types stay whole.
        let attributes = format!(
            "nounwind \"target-cpu\"=\"{}\" \"target-features\"=\"{}\" \"min-legal-vector-width\"=\"512\"",
            machine.cpu(),
            machine.features()
        );
        let mut chain = Loop::default();
        chain.carry("i64", "x", 0);
        chain.load("i64", "c", 8);
        let mut last = "x".to_string();
        for number in 1..=CHAIN {
            let next = if number == CHAIN { "x.next".to_string() } else { format!("x{number}") };
            let text = format!("%D.t = add i64 %{last}, %c\n{}\n", super::operations::opaque("r", "i64"));
            chain.body.push_str(&text.replace("%D", &format!("%{next}")));
            last = next;
        }
        let reference = compile(&chain, &attributes).map_err(failed)?;
        Ok(Lab { attributes, reference, cycles: Vec::new() })
    }

    pub fn compile(&self, what: &'static str, code: &Loop) -> Result<Probe, CalibrateError> {
        compile(code, &self.attributes).map_err(|source| CalibrateError::Probe { what, source })
    }

    /// Cycles of one turn, median.
    pub fn cycles_per_turn(&mut self, probe: &Probe, memory: &mut [u8], turns: i64) -> f64 {
        self.cycles_of(|memory| probe.time(memory, turns), memory) / turns as f64
    }

    /// Cycles of one turn where the loop is called again and again, on the same memory.
    pub fn cycles_repeated(&mut self, probe: &Probe, memory: &mut [u8], turns: i64, calls: u32) -> f64 {
        let all = |memory: &mut [u8]| (0..calls).map(|_| probe.time(memory, turns)).sum();
        self.cycles_of(all, memory) / (turns as f64 * f64::from(calls))
    }

    /// The same by the clock, for what other threads have part in.
    pub fn cycles_by_clock(&mut self, probe: &Probe, memory: &mut [u8], turns: i64) -> f64 {
        let run = |memory: &mut [u8]| {
            let start = Instant::now();
            probe.time(memory, turns);
            start.elapsed()
        };
        self.cycles_of(run, memory) / turns as f64
    }

    fn cycles_of(&mut self, run: impl Fn(&mut [u8]) -> Duration, memory: &mut [u8]) -> f64 {
        let mut own = [1_u8; 16];
        run(memory);
        let mut found = Vec::new();
        for _ in 0..RUNS {
            // Next to each other, so that both see the same clock.
            let cycle = self.reference.time(&mut own, TURNS).as_secs_f64() / (TURNS as f64 * CHAIN as f64);
            found.push(run(memory).as_secs_f64() / cycle.max(1e-12));
            self.cycles.push(cycle * 1e9);
        }
        median(&mut found)
    }

    pub fn frequency_ghz(&mut self) -> f64 {
        1.0 / median(&mut self.cycles).max(1e-3)
    }
}

fn compile(code: &Loop, attributes: &str) -> Result<Probe, LlvmError> {
    let context = Context::new();
    let machine = TargetMachine::host(OptLevel::Aggressive, CodeModel::Jit)?;
    let mut module = context.parse(code.text(attributes).as_bytes(), "probe")?;
    module.set_target(&machine);
    let jit = Jit::new(OptLevel::Aggressive)?;
    if module.function("GOMP_parallel").is_some() {
        jit.load_openmp()?;
    }
    // No passes: what is written is what is measured.
    jit.add(&module)?;
    // SAFETY: the signature of every probe; not called after the JIT is dropped.
    let call = unsafe { jit.lookup::<Call>("probe") }?;
    Ok(Probe { call, _jit: jit })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Of this thread: what other programs take from the machine meanwhile is not counted.
fn processor_time() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec.try_into().unwrap_or(0), t.tv_nsec.try_into().unwrap_or(0))
}
