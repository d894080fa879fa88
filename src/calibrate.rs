//! Measures the numbers of a target on the machine that this runs on.
//!
//! Loops of known work are written as IR, compiled and timed against a chain of dependent integer additions, of which each takes one
//! cycle: so what comes out is in cycles, whatever the clock does meanwhile. Work is counted, never timed out; of several runs the
//! median counts. What cannot be measured here (latency hiding of compilers, costs of loops) stays as the closest table has it.

mod memory;
mod operations;
mod probe;
mod threads;

use cost_model::{StaticTarget, Target, targets};
use irgen::llvm::LlvmError;

/// Why a machine cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// A loop cannot be compiled or run.
    #[error("{what}: {source}")]
    Probe {
        /// What was to be measured.
        what: &'static str,
        /// Why it failed.
        source: LlvmError,
    },
    /// LLVM does not know the machine.
    #[error(transparent)]
    Target(#[from] crate::driver::TargetError),
    /// A number came out that no machine has: something disturbed the measurement.
    #[error("{what} came out as {value}: measure again while the machine does nothing else")]
    Implausible {
        /// What was measured.
        what: &'static str,
        /// What came out.
        value: f64,
    },
}

/// A machine as measured.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The machine's name.
    pub processor: String,
    /// Its numbers.
    pub target: StaticTarget,
    /// What they are without measuring.
    pub detected: StaticTarget,
}

/// Measures this machine; `tell` hears what is measured next. Takes a few seconds on one processor.
///
/// # Errors
/// Where code cannot be compiled for this machine, or a number makes no sense.
pub fn calibrate(tell: &dyn Fn(&str)) -> Result<Calibration, CalibrateError> {
    let detected = cost_model::detect_host();
    let mut target = detected.clone();
    let processor = targets::processor();
    target.name = format!("{processor}, calibrated");
    // How wide vectors are is the compiler's choice.
    let compiler = crate::driver::LlvmTarget::new(None)?;
    target.vector_bits = compiler.vector_bits();
    target.vector_registers = compiler.vector_registers();
    target.masked_memory = compiler.masked_memory();
    let mut lab = probe::Lab::new()?;
    tell("operations");
    operations::measure(&mut lab, &mut target)?;
    tell("caches");
    memory::measure(&mut lab, &mut target)?;
    tell("threads");
    threads::measure(&mut lab, &mut target)?;
    target.frequency_ghz = lab.frequency_ghz();
    // Also where this process may use only some.
    target.cores = target.cores.max(targets::processors());
    round(&mut target);
    Ok(Calibration { processor, target, detected })
}

/// Leaves the digits that mean something.
fn round(target: &mut StaticTarget) {
    let o = &mut target.ops;
    let ops = [
        &mut o.float_add,
        &mut o.float_mul,
        &mut o.float_fma,
        &mut o.float_div,
        &mut o.float_sqrt,
        &mut o.integer,
        &mut o.integer_mul,
        &mut o.integer_div,
        &mut o.select,
        &mut o.convert,
        &mut o.shuffle,
        &mut o.library,
    ];
    let costs = ops.into_iter().flat_map(|c| [&mut c.latency, &mut c.reciprocal]);
    let caches = target.caches.iter_mut().flat_map(|c| [&mut c.fill, &mut c.fill_latency]);
    let others = [
        &mut o.vector_division,
        &mut o.narrow_division,
        &mut o.vector_integer,
        &mut o.vector_mul,
        &mut o.vector_mul_64,
        &mut target.issue_width,
        &mut target.loads_per_cycle,
        &mut target.stores_per_cycle,
        &mut target.vector_pipes,
        &mut target.lane_access,
        &mut target.gathered_lane,
        &mut target.store_forward,
        &mut target.prefetch.outstanding,
        &mut target.control.mispredict,
        &mut target.fork_join,
        &mut target.frequency_ghz,
    ];
    for value in costs.chain(caches).chain(others).chain(target.tlbs.iter_mut().map(|t| &mut t.miss)) {
        *value = (*value * 100.0).round() / 100.0;
    }
}

impl Calibration {
    /// Every number, as measured and as detected, by name.
    pub fn numbers(&self) -> Vec<(String, f64, f64)> {
        let list = |t: &StaticTarget| {
            let o = &t.ops;
            let mut all = vec![
                ("frequency, GHz".to_string(), t.frequency_ghz),
                ("vector bits".to_string(), f64::from(t.vector_bits)),
                ("vector registers".to_string(), f64::from(t.vector_registers)),
                ("instructions per cycle".to_string(), t.issue_width),
                ("loads per cycle".to_string(), t.loads_per_cycle),
                ("stores per cycle".to_string(), t.stores_per_cycle),
                ("vector instructions per cycle".to_string(), t.vector_pipes),
                ("gather, cycles per lane".to_string(), t.gathered_lane),
            ];
            let ops = [
                ("float add", o.float_add),
                ("float mul", o.float_mul),
                ("float fma", o.float_fma),
                ("float div", o.float_div),
                ("float sqrt", o.float_sqrt),
                ("integer", o.integer),
                ("integer mul", o.integer_mul),
                ("integer div", o.integer_div),
                ("select", o.select),
                ("convert", o.convert),
                ("shuffle", o.shuffle),
                ("library call", o.library),
            ];
            for (name, cost) in ops {
                all.push((format!("{name}, latency"), cost.latency));
                all.push((format!("{name}, reciprocal throughput"), cost.reciprocal));
            }
            all.push(("vector division over scalar".to_string(), o.vector_division));
            all.push(("32-bit division over 64-bit".to_string(), o.narrow_division));
            all.push(("vector integer, reciprocal throughput".to_string(), o.vector_integer));
            all.push(("vector product, 32-bit, reciprocal throughput".to_string(), o.vector_mul));
            all.push(("vector product, 64-bit, reciprocal throughput".to_string(), o.vector_mul_64));
            for c in &t.caches {
                all.push((format!("{} KiB", c.name), c.bytes as f64 / 1024.0));
                all.push((format!("{} filled, cycles per line", c.name), c.fill));
                all.push((format!("{} filled, latency", c.name), c.fill_latency));
            }
            for l in &t.tlbs {
                all.push((format!("{} miss", l.name), l.miss));
            }
            all.push(("misses in flight".to_string(), t.prefetch.outstanding));
            all.push(("store to load".to_string(), t.store_forward));
            all.push(("misprediction".to_string(), t.control.mispredict));
            all.push(("threads started and joined".to_string(), t.fork_join));
            all
        };
        let before = list(&self.detected).into_iter().map(|(_, v)| v);
        list(&self.target).into_iter().zip(before).map(|((name, now), before)| (name, now, before)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Under load numbers are off, but a machine's they remain, and what is written is read.
    #[test]
    fn numbers_are_a_machines() {
        let found = calibrate(&|_| ()).expect("this machine can be measured");
        for (name, value, _) in found.numbers() {
            assert!(value.is_finite() && value >= 0.0, "{name}: {value}");
        }
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("machine.json");
        std::fs::write(&file, targets::target_text(&found.target, &found.processor)).expect("a file");
        assert_eq!(targets::read_target(&file).expect("it is plausible"), found.target);
    }
}
