//! Interleaved runs: machines drift, so candidates take turns and are compared as ratios.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use wait4::Wait4;

/// Seconds below which a run has more of its kind.
const SHORT: f64 = 0.05;

/// How programs are run.
#[derive(clap::Args, Debug, Clone)]
#[group(skip)]
pub struct Arguments {
    /// Rounds of interleaved runs, where one round is short: see --budget.
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Seconds for all rounds of a program, from which on there are fewer; one round is always made.
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    pub budget: f64,
    /// Seconds of processor time after which a program is ended.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub timeout: u64,
    /// The processor that measured programs run on.
    #[arg(long, value_name = "CPU")]
    pub pin: Option<usize>,
    /// A file that is locked while programs are measured, so that measurements do not disturb one another.
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
}

/// What one run did.
pub struct Run {
    /// User and system, of the process. What else the machine does is not counted, save for what it takes of caches.
    pub processor_seconds: f64,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
}

impl Run {
    /// Whether it was ended for taking too long.
    pub fn timed_out(&self) -> bool {
        // The soft limit sends the one, the hard limit the other.
        matches!(self.status.signal(), Some(9 | 24))
    }

    /// The last word of what it printed, as seconds.
    pub fn printed_seconds(&self) -> Option<f64> {
        String::from_utf8_lossy(&self.stdout).split_whitespace().last()?.parse().ok()
    }
}

/// The seconds of each run of a program, none where it was ended for taking too long.
#[derive(Debug, Clone, Default)]
pub struct Times(pub Vec<f64>);

impl Times {
    /// Of the run that was disturbed least.
    pub fn least(&self) -> Option<f64> {
        self.0.iter().copied().min_by(f64::total_cmp)
    }

    /// Without the least of what runs besides what is of interest.
    pub fn without(&self, idle: Option<&Times>) -> Times {
        let idle = idle.and_then(Times::least).unwrap_or(0.0);
        Times(self.0.iter().map(|s| (s - idle).max(1e-9)).collect())
    }
}

/// Holds what measuring needs for itself, until dropped.
pub struct Quiet(#[expect(dead_code, reason = "held, not read")] Option<File>);

impl Arguments {
    /// Waits until nobody else measures.
    pub fn quiet(&self) -> Result<Quiet> {
        let Some(file) = &self.lock else { return Ok(Quiet(None)) };
        let cannot = || format!("cannot lock {}", file.display());
        let open = File::options().create(true).append(true).open(file).with_context(cannot)?;
        open.lock().with_context(cannot)?;
        Ok(Quiet(Some(open)))
    }

    /// What a run that ends well prints, on both channels.
    pub fn output(&self, program: &Path) -> Result<(Vec<u8>, Vec<u8>)> {
        let run = self.run(program, &[])?;
        match run.timed_out() {
            true => bail!("{} takes too long", program.display()),
            false if !run.status.success() => bail!("{} fails: {}", program.display(), run.status),
            false => Ok((run.stdout, run.stderr)),
        }
    }

    /// One run.
    pub fn run(&self, program: &Path, arguments: &[&str]) -> Result<Run> {
        let cannot = || format!("cannot run {}", program.display());
        let before = sched_getaffinity(None)?;
        if let Some(cpu) = self.pin {
            let mut set = CpuSet::new();
            set.set(cpu);
            sched_setaffinity(None, &set).with_context(|| format!("cannot run on processor {cpu}"))?;
        }
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Processors are inherited.
        let child = command.spawn().with_context(cannot);
        sched_setaffinity(None, &before)?;
        let mut child = child?;
        if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
            let limit = Rlimit { current: Some(self.timeout), maximum: Some(self.timeout + 1) };
            // Fails only where the program has ended.
            let _ = prlimit(Some(pid), Resource::Cpu, limit);
        }
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let errors = child.stderr.take();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| errors.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut stderr)));
            if let Some(pipe) = &mut child.stdout {
                pipe.read_to_end(&mut stdout)?;
            }
            reader.join().unwrap_or(Ok(0))
        })
        .with_context(cannot)?;
        let end = child.wait4().with_context(cannot)?;
        let processor_seconds = (end.rusage.utime + end.rusage.stime).as_secs_f64();
        Ok(Run { processor_seconds, stdout, stderr, status: end.status })
    }
}

impl Quiet {
    /// Times of each program. Programs take turns; the order is reversed every other round. The first `alike` must print the
    /// same, but for the time where they print that.
    pub fn interleaved(
        &self,
        programs: &[PathBuf],
        alike: usize,
        arguments: &Arguments,
        printed_time: bool,
    ) -> Result<Vec<Times>> {
        let mut times = vec![Times::default(); programs.len()];
        let mut expected: Option<(Vec<u8>, Vec<u8>)> = None;
        let (mut rounds, mut spent) = (arguments.rounds.max(1), 0.0);
        let mut round = 0;
        while round < rounds {
            let mut order: Vec<usize> = (0..programs.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let program = &programs[at];
                if round > 0 && times[at].0.is_empty() {
                    continue;
                }
                let mut run = arguments.run(program, &[])?;
                spent += run.processor_seconds;
                if run.timed_out() {
                    times[at].0.clear();
                    continue;
                }
                if !run.status.success() {
                    bail!("{} fails: {}", program.display(), run.status);
                }
                times[at].0.push(match printed_time {
                    false => run.processor_seconds,
                    true => {
                        let seconds = run.printed_seconds();
                        run.stdout.clear();
                        seconds.with_context(|| format!("{} prints no time", program.display()))?
                    }
                });
                let printed = (run.stdout, run.stderr);
                match &expected {
                    _ if at >= alike => {}
                    None => expected = Some(printed),
                    Some(e) if *e == printed => {}
                    Some(_) => bail!("{} prints something else than the first program", program.display()),
                }
            }
            round += 1;
            // At least one; more than asked for where a run is so short that everything disturbs it.
            if round == 1 && spent * rounds as f64 > arguments.budget {
                rounds = (arguments.budget / spent) as usize;
            } else if round == 1 && spent < SHORT * programs.len() as f64 {
                rounds *= 3;
            }
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(timeout: u64) -> Arguments {
        Arguments { rounds: 3, budget: 10.0, timeout, pin: None, lock: None }
    }

    #[test]
    fn runs_are_read_and_ended() {
        let run = arguments(5).run(Path::new("/bin/sh"), &["-c", "echo 1 0.25; echo x >&2"]).unwrap();
        assert_eq!((run.printed_seconds(), &run.stderr[..]), (Some(0.25), &b"x\n"[..]));
        assert!(run.status.success() && !run.timed_out());
        let run = arguments(1).run(Path::new("/bin/sh"), &["-c", "while :; do :; done"]).unwrap();
        assert!(run.timed_out());
        assert!(run.processor_seconds < 3.0);
    }

    #[test]
    fn programs_take_turns_and_agree() {
        let quiet = arguments(5).quiet().unwrap();
        let same = vec![PathBuf::from("/bin/true"), PathBuf::from("/bin/true")];
        let times = quiet.interleaved(&same, 2, &arguments(5), false).unwrap();
        assert!(times.iter().all(|t| t.0.len() == 9));
        let other = vec![PathBuf::from("/bin/true"), PathBuf::from("/bin/pwd")];
        assert!(quiet.interleaved(&other, 2, &arguments(5), false).is_err());
        assert!(quiet.interleaved(&other, 1, &arguments(5), false).is_ok());
        assert!(quiet.interleaved(&same, 2, &arguments(5), true).is_err());
    }
}
