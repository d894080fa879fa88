//! Timing several functions in turns.

use super::inputs::Memory;
use super::native::{Globals, Native};
use super::{MIN_SAMPLES, MeasureOptions, Measurement, Spread};
use rustix::time::ClockId;
use std::time::{Duration, Instant};

/// Most calls in one sample.
const MOST_CALLS: u32 = 1 << 20;

/// One measurement per module; the first is what the others are compared with.
pub(super) fn measure(
    modules: &[Native],
    memory: &mut Memory,
    globals: &Globals,
    options: &MeasureOptions,
) -> Vec<Measurement> {
    let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); modules.len()];
    let mut calls = 1;
    let clock = match modules.iter().any(|m| m.shared) {
        true => ClockId::Monotonic,
        false => ClockId::ThreadCPUTime,
    };
    if options.timed
        && let Some(first) = modules.first()
    {
        // Doubles as warm-up. All modules make the same number of calls, so that they see the same data.
        while sample(first, memory, globals, calls, clock) < options.sample && calls < MOST_CALLS {
            calls *= 2;
        }
        modules.iter().for_each(|m| {
            sample(m, memory, globals, 1, clock);
        });
        let start = Instant::now();
        for round in 0..options.samples.max(MIN_SAMPLES) {
            if round >= MIN_SAMPLES && start.elapsed() > options.budget {
                break;
            }
            let forwards = round % 2 == 0;
            for at in 0..modules.len() {
                let which = if forwards { at } else { modules.len() - 1 - at };
                samples[which].push(sample(&modules[which], memory, globals, calls, clock));
            }
        }
    }
    let seconds = |d: &Duration| d.as_secs_f64() / f64::from(calls);
    modules
        .iter()
        .zip(&samples)
        .map(|(module, own)| {
            let ratio = |(a, b): (&Duration, &Duration)| a.as_secs_f64() / b.as_secs_f64().max(1e-12);
            let ratios = if module.is_original() {
                vec![1.0; own.len()]
            } else {
                samples[0].iter().zip(own).map(ratio).collect()
            };
            Measurement {
                label: module.label.clone(),
                seconds: spread(own.iter().map(seconds).collect()),
                ratio: spread(ratios),
                calls,
                samples: own.clone(),
            }
        })
        .collect()
}

/// Processor time of this thread, so that what other programs take from the machine meanwhile is not counted; where threads share the
/// work of a variant that says nothing, and the time of all is that of the clock.
fn time(clock: ClockId) -> Duration {
    let t = rustix::time::clock_gettime(clock);
    Duration::new(t.tv_sec.try_into().unwrap_or(0), t.tv_nsec.try_into().unwrap_or(0))
}

fn sample(module: &Native, memory: &mut Memory, globals: &Globals, calls: u32, clock: ClockId) -> Duration {
    module.restore(memory, globals);
    let mut slots = module.slots(memory);
    let start = time(clock);
    for _ in 0..calls {
        module.call(&mut slots);
    }
    time(clock).saturating_sub(start)
}

pub(crate) fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    let at = |numerator: usize, denominator: usize| {
        // Between two values where the place is between them.
        let scaled = values.len().saturating_sub(1) * numerator;
        let (low, rest) = (scaled / denominator, scaled % denominator);
        let pick = |i: usize| values.get(i).copied().unwrap_or(0.0);
        let fraction = rest as f64 / denominator as f64;
        if rest == 0 { pick(low) } else { pick(low) * (1.0 - fraction) + pick(low + 1) * fraction }
    };
    Spread { low: at(1, 4), median: at(1, 2), high: at(3, 4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_values() {
        let s = spread(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((s.low, s.median, s.high), (1.75, 2.5, 3.25));
        assert_eq!(spread(vec![7.0]), Spread { low: 7.0, median: 7.0, high: 7.0 });
        assert_eq!(spread(vec![]).median, 0.0);
    }
}
