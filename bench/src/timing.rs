//! Interleaved runs: machines drift, so candidates take turns and are compared as ratios.

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use wait4::Wait4;

/// Seconds of processor time (user and system) of each run of each program: `result[program][run]`. Programs have one
/// thread; what else the machine does is not counted, save for what it takes of caches. Programs take turns; the order is reversed every
/// other round. All must print the same.
pub fn interleaved(programs: &[PathBuf], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let mut seconds = vec![Vec::with_capacity(rounds); programs.len()];
    let mut expected: Option<Vec<u8>> = None;
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..programs.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let program = &programs[at];
            let cannot = || format!("cannot run {}", program.display());
            let mut child = Command::new(program).stdout(Stdio::piped()).spawn().with_context(cannot)?;
            let mut printed = Vec::new();
            if let Some(pipe) = &mut child.stdout {
                pipe.read_to_end(&mut printed).with_context(cannot)?;
            }
            let end = child.wait4().with_context(cannot)?;
            seconds[at].push((end.rusage.utime + end.rusage.stime).as_secs_f64());
            if !end.status.success() {
                bail!("{} fails: {}", program.display(), end.status);
            }
            match &expected {
                None => expected = Some(printed),
                Some(e) if *e == printed => {}
                Some(e) => bail!(
                    "{} prints {:?}, the first program printed {:?}",
                    program.display(),
                    String::from_utf8_lossy(&printed),
                    String::from_utf8_lossy(e)
                ),
            }
        }
    }
    Ok(seconds)
}

/// The middle value; of an even number, the lower middle one. Zero for none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Median over rounds of `base / candidate`: each round's two runs were made next to each other.
pub fn ratio(base: &[f64], candidate: &[f64]) -> f64 {
    median(&base.iter().zip(candidate).map(|(b, c)| b / c).collect::<Vec<_>>())
}

/// Geometric mean; 1 for none.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(s, n), v| (s + v.ln(), n + 1));
    if count == 0 { 1.0 } else { (sum / f64::from(count)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(ratio(&[2.0, 4.0, 6.0], &[1.0, 1.0, 2.0]), 3.0);
        assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
    }
}
