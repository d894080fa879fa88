//! `--timings`: where the time went, by phase.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::{Subscriber, span::Id};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Adds up how long the spans of each name were entered, on all threads.
#[derive(Clone, Default)]
pub struct Timings(Arc<Mutex<BTreeMap<&'static str, Phase>>>);

#[derive(Clone, Copy, Default)]
struct Phase {
    times: u64,
    total: Duration,
}

/// When a span was entered last.
struct Entered(Instant);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Timings {
    fn on_enter(&self, id: &Id, cx: Context<'_, S>) {
        if let Some(span) = cx.span(id) {
            span.extensions_mut().replace(Entered(Instant::now()));
        }
    }

    fn on_exit(&self, id: &Id, cx: Context<'_, S>) {
        let Some(span) = cx.span(id) else { return };
        let Some(Entered(start)) = span.extensions_mut().remove::<Entered>() else { return };
        let mut phases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = phases.entry(span.name()).or_default();
        phase.times += 1;
        phase.total += start.elapsed();
    }
}

impl Timings {
    /// A line for each phase, the longest first.
    pub fn table(&self) -> String {
        let phases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<(&str, Phase)> = phases.iter().map(|(name, phase)| (*name, *phase)).collect();
        list.sort_by_key(|(_, phase)| std::cmp::Reverse(phase.total));
        let mut out = format!("{:<14}{:>8}{:>12}\n", "phase", "times", "ms");
        for (name, Phase { times, total }) in list {
            let _ = writeln!(out, "{name:<14}{times:>8}{:>12.2}", total.as_secs_f64() * 1e3);
        }
        out
    }
}
