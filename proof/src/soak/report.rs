//! Counts of everything, as JSON between processes and as text.

use crate::cases::Done;
use crate::ir_loops::KINDS;
use crate::{differential, legality};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of a run, and what was wrong.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The oracle against enumeration.
    pub kernels: legality::Tally,
    /// C programs.
    pub programs: differential::Tally,
    /// Random loops, by kind.
    pub loops: BTreeMap<String, Done>,
    /// What was wrong, one line each.
    pub failures: Vec<String>,
}

/// Adds counts by name.
pub(crate) fn add_counts(to: &mut BTreeMap<String, u64>, from: &BTreeMap<String, u64>) {
    for (name, n) in from {
        *to.entry(name.clone()).or_default() += n;
    }
}

/// Processor time of this process and of its children that have ended, so that what else runs does not count.
pub(crate) fn processor_micros() -> u64 {
    let of = |who| {
        // SAFETY: a plain structure, filled by the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut usage);
            usage
        };
        let micros = |t: libc::timeval| (t.tv_sec * 1_000_000 + t.tv_usec) as u64;
        micros(usage.ru_utime) + micros(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

fn rate(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl Report {
    /// Adds another one.
    pub fn add(&mut self, other: &Report) {
        self.kernels.add(&other.kernels);
        self.programs.add(&other.programs);
        for (kind, done) in &other.loops {
            self.loops.entry(kind.clone()).or_default().add(*done);
        }
        self.failures.extend(other.failures.iter().cloned());
    }

    /// Whether anything ran.
    pub fn any(&self) -> bool {
        self.programs.programs + self.kernels.kernels > 0 || !self.loops.is_empty()
    }

    /// One line.
    pub fn line(&self) -> String {
        let (k, p) = (&self.kernels, &self.programs);
        format!(
            "{} programs, {} variants run, {} kernels, {} variants judged, {} failures",
            p.programs,
            p.variants,
            k.kernels,
            k.judged,
            self.failures.len()
        )
    }

    /// All counts.
    pub fn summary(&self) -> String {
        let (k, p) = (&self.kernels, &self.programs);
        let refused: u64 = k.false_refusals.values().sum();
        let mut out = String::new();
        for kind in KINDS {
            let done = self.loops.get(kind.name).copied().unwrap_or_default();
            let _ =
                writeln!(out, "{:<48} {} regions, {} variants run", kind.title, done.regions, done.variants);
        }
        let table: [(&str, String); 21] = [
            ("C programs", p.programs.to_string()),
            ("  where clang disagrees with itself, not used", p.unstable.to_string()),
            ("  with a region", format!("{} ({:.1} %)", p.plan.lifted, rate(p.plan.lifted, p.programs))),
            (
                "  regions with private scalars",
                format!("{} (with {} variants allowed)", p.plan.private, p.plan.private_variants),
            ),
            ("variants compiled and run", p.variants.to_string()),
            ("  in another order than the original", p.reordered.to_string()),
            ("  with buffers", format!("{} (of {} allowed)", p.buffered, p.plan.buffered)),
            ("  with loops marked for threads in the end, allowed", p.plan.shared.to_string()),
            ("  drawn by sketches", p.plan.drawn.to_string()),
            (
                "  valid under run-time conditions",
                format!("{} (of {} allowed)", p.plan.under, p.plan.always + p.plan.under),
            ),
            ("  refused by the oracle, not run", p.plan.never.to_string()),
            ("calls compared bit for bit", p.calls.to_string()),
            ("  in which new code ran", p.taken.to_string()),
            ("  in which the check chose the original", p.declined.to_string()),
            ("kernels enumerated", k.kernels.to_string()),
            ("variants judged and enumerated", k.judged.to_string()),
            ("  always / under conditions / never", format!("{} / {} / {}", k.always, k.under, k.never)),
            (
                "  refused, nothing wrong found",
                format!("{refused} ({:.2} % of all)", rate(refused, k.judged)),
            ),
            ("  with buffers, and of these allowed", format!("{} / {}", k.buffered.0, k.buffered.1)),
            ("  executions of these in the interpreter", k.executed.to_string()),
            ("loops proved parallel", k.parallel.to_string()),
        ];
        for (name, value) in table {
            let _ = writeln!(out, "{name:<48} {value}");
        }
        for (title, counts) in [
            ("not emitted", &p.not_emitted),
            ("regions without an oracle", &p.plan.failed),
            ("lifting remarks", &p.plan.remarks),
            ("false refusals", &k.false_refusals),
            ("kernels not used", &k.beyond),
        ] {
            for (cause, n) in counts {
                let _ = writeln!(out, "{:<48} {n}", format!("{title}: {cause}"));
            }
        }
        for (phase, micros) in p.times.iter().chain(&p.plan.times) {
            let _ =
                writeln!(out, "{:<48} {:.1}", format!("processor seconds: {phase}"), *micros as f64 / 1e6);
        }
        let _ = writeln!(out, "{:<48} {}", "failures", self.failures.len());
        for failure in &self.failures {
            let _ = writeln!(out, "  {failure}");
        }
        out
    }
}
