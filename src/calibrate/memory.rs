//! Caches and translation: cycles per line in sequence, latency in no order, misses that go on at once.

use super::CalibrateError;
use super::probe::{Lab, Loop, Probe, Random};
use cost_model::StaticTarget;
use std::fmt::Write;

/// Bytes that are read from memory, where the last cache is not larger.
const FAR: u64 = 128 << 20;
/// Bytes for which the last cache is taken to be large enough, however large it says it is: others use it, too.
const NEAR: u64 = 8 << 20;
/// What takes more than this part of the latency of memory does not come from a cache.
const SHARED: f64 = 0.6;
/// Loads of a chase in a turn.
const STEPS: usize = 8;
/// Chases at once that show how many misses go on at once.
const CHASES: usize = 24;
/// Pages within which a chase jumps about before it goes on, so that translation does not count.
const WINDOW: usize = 16;

/// Fills in what caches and translation cost.
pub(super) fn measure(lab: &mut Lab, target: &mut StaticTarget) -> Result<(), CalibrateError> {
    let line = target.caches.first().map_or(64, |c| c.line) as usize;
    let page = target.page_bytes as usize;
    let last = target.caches.last().map_or(0, |c| c.bytes);
    // Written, as all pages that nobody has written are the same one.
    let mut memory = vec![1_u8; (4 * last).clamp(FAR, 2 * FAR) as usize + page];
    let streams = stream(lab, target.vector_bits, line)?;
    let (single, many) = (chase(lab, 1)?, chase(lab, CHASES)?);

    let latency = |lab: &mut Lab, memory: &mut [u8], bytes: usize| {
        cycle(memory, bytes / line, line, page);
        let steps = (2 * bytes / line).clamp(1 << 16, 1 << 19);
        checked("latency", lab.cycles_per_turn(&single, memory, (steps / STEPS) as i64) / STEPS as f64)
    };
    let levels = target.caches.len();
    let far = memory.len() - page;
    let from_memory = latency(lab, &mut memory, far)?;
    let turns = ((1 << 19) / STEPS / CHASES) as i64;
    let each = lab.cycles_per_turn(&many, &mut memory, turns) / (STEPS * CHASES) as f64;
    target.prefetch.outstanding = (from_memory / each.max(1e-3)).clamp(1.0, CHASES as f64);
    if let [.., inner, last] = &mut target.caches[..] {
        // Others use the last cache too: how much of it is there for one thread shows.
        let least = 2 * inner.bytes;
        while last.bytes > least
            && latency(lab, &mut memory, (last.bytes / 2) as usize)? > SHARED * from_memory
        {
            last.bytes = (last.bytes / 2).max(least);
        }
    }
    let cycles_per_line = |lab: &mut Lab, memory: &mut [u8], probe: &Probe, lines: usize| {
        // About as many lines each time.
        let calls = ((1 << 20) / lines).max(1) as u32;
        let turns = (lines / LINES_A_TURN).max(1) as i64;
        checked("cycles per line", lab.cycles_repeated(probe, memory, turns, calls) / LINES_A_TURN as f64)
    };
    for level in 0..levels {
        // What fits into the next level, and by far not into this one; behind the last one is memory.
        let bytes = match target.caches.get(level + 1) {
            Some(next) => (next.bytes / 2).min(NEAR).max(2 * target.caches[level].bytes) as usize,
            None => far,
        };
        target.caches[level].fill = cycles_per_line(lab, &mut memory, &streams, bytes / line)?;
        target.caches[level].fill_latency = match level + 1 == levels {
            true => from_memory,
            false => latency(lab, &mut memory, bytes)?,
        };
    }
    // Costs of the levels are in order, whatever disturbed a measurement.
    for level in 1..levels {
        let before = target.caches[level - 1];
        let cache = &mut target.caches[level];
        cache.fill = cache.fill.max(before.fill);
        cache.fill_latency = cache.fill_latency.max(before.fill_latency);
    }
    for level in 0..target.tlbs.len() {
        // Twice what the level holds, and no more than the next one does.
        let pages = 2 * target.tlbs[level].entries as usize;
        target.tlbs[level].miss = translation(lab, &mut memory, pages, line, page)?;
    }
    Ok(())
}

fn checked(what: &'static str, value: f64) -> Result<f64, CalibrateError> {
    match (0.02..5000.0).contains(&value) {
        true => Ok(value),
        false => Err(CalibrateError::Implausible { what, value }),
    }
}

const LINES_A_TURN: usize = 8;

/// Reads whole lines in sequence.
fn stream(lab: &Lab, vector_bits: u32, line: usize) -> Result<Probe, CalibrateError> {
    let bytes = (vector_bits as usize / 8).clamp(8, line);
    let ty = format!("<{} x double>", (bytes / 8).max(1));
    let mut code = Loop::default();
    let _ = writeln!(code.body, "%at = mul i64 %i, {}", LINES_A_TURN * line);
    code.body.push_str("%here = getelementptr i8, ptr %memory, i64 %at\n");
    for part in 0..LINES_A_TURN * line / bytes {
        let _ = writeln!(code.body, "%p{part} = getelementptr i8, ptr %here, i64 {}", part * bytes);
        let _ = writeln!(code.body, "%v{part} = load volatile {ty}, ptr %p{part}, align 8");
    }
    lab.compile("cycles per line", &code)
}

/// Follows a cycle of pointers, from several places at once.
fn chase(lab: &Lab, chases: usize) -> Result<Probe, CalibrateError> {
    let mut code = Loop::default();
    // The places to begin at stand in the second word of the first lines.
    for chase in 0..chases {
        code.carry("ptr", &format!("x{chase}"), chase * 64 + 8);
    }
    for step in 0..STEPS {
        for chase in 0..chases {
            let name = |at: usize| match at {
                0 => format!("x{chase}"),
                STEPS => format!("x{chase}.next"),
                _ => format!("x{chase}.{at}"),
            };
            let _ = writeln!(code.body, "%{} = load ptr, ptr %{}, align 8", name(step + 1), name(step));
        }
    }
    lab.compile("latency", &code)
}

/// Writes a cycle of pointers through the first lines: in no order within a few pages, then on to the next pages; and where to begin,
/// at equal distances.
fn cycle(memory: &mut [u8], lines: usize, line: usize, page: usize) {
    let mut order: Vec<usize> = (0..lines).collect();
    let mut random = Random::default();
    for window in order.chunks_mut(WINDOW * page / line) {
        for at in (1..window.len()).rev() {
            window.swap(at, random.below(at + 1));
        }
    }
    link(memory, &order, line);
    for chase in 0..CHASES {
        let first = order[lines / CHASES * chase] * line;
        let address = memory.as_ptr() as usize + first;
        memory[chase * 64 + 8..chase * 64 + 16].copy_from_slice(&address.to_ne_bytes());
    }
}

/// Pointers from each place to the next, and from the last to the first; places count in `step` bytes.
fn link(memory: &mut [u8], order: &[usize], step: usize) {
    let base = memory.as_ptr() as usize;
    for (at, place) in order.iter().enumerate() {
        let next = base + order[(at + 1) % order.len()] * step;
        memory[place * step..place * step + 8].copy_from_slice(&next.to_ne_bytes());
    }
}

/// Cycles more for a load from a page of its own than for one from a line of its own; loads do not wait for one another.
fn translation(
    lab: &mut Lab,
    memory: &mut [u8],
    pages: usize,
    line: usize,
    page: usize,
) -> Result<f64, CalibrateError> {
    let pages = pages.min(memory.len() / (page + line)) / LINES_A_TURN * LINES_A_TURN;
    let mut cost = |stride: usize| -> Result<f64, CalibrateError> {
        let mut code = Loop::default();
        let _ = writeln!(code.body, "%at = mul i64 %i, {}", LINES_A_TURN * stride);
        code.body.push_str("%here = getelementptr i8, ptr %memory, i64 %at\n");
        for part in 0..LINES_A_TURN {
            let _ = writeln!(code.body, "%p{part} = getelementptr i8, ptr %here, i64 {}", part * stride);
            let _ = writeln!(code.body, "%v{part} = load volatile i64, ptr %p{part}, align 8");
        }
        let probe = lab.compile("translation", &code)?;
        let turns = (pages / LINES_A_TURN) as i64;
        let calls = ((1 << 17) / pages).max(1) as u32;
        Ok(lab.cycles_repeated(&probe, memory, turns, calls) / LINES_A_TURN as f64)
    };
    // One line further in each page, so that lines do not conflict.
    Ok((cost(page + line)? - cost(line)?).clamp(0.0, 500.0))
}
