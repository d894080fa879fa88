//! Random programs for as long as wanted, in worker processes: what crashes one of them is a result, not the end.

mod report;
mod worker;

pub use report::Report;
pub(crate) use report::{add_counts, processor_micros};
pub use worker::{function, one, work};

use clap::ValueEnum;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// One of the things that a seed stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// C programs through everything.
    Programs,
    /// Random loops of each kind.
    Loops,
    /// The oracle against enumeration.
    Kernels,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long.
    pub minutes: f64,
    /// First seed.
    pub seed: u64,
    /// Processes at once; each takes every `threads`-th seed.
    pub threads: u64,
    /// Where failing cases are written.
    pub failures: PathBuf,
    /// Only this of each seed.
    pub only: Option<Part>,
}

/// A seed may take so long before its worker is ended.
const SEED_LIMIT: Duration = Duration::from_secs(600);

enum Message {
    Started(u64),
    Done(Box<Report>),
    Ended,
}

/// Runs workers until the time is over; prints the summary. Fails if anything was wrong.
pub fn run(options: &Options) -> ExitCode {
    let start = Instant::now();
    let limit = Duration::from_secs_f64((options.minutes * 60.0).max(0.0));
    let mut total = Report::default();
    let (sender, receiver) = mpsc::channel();
    let mut workers: Vec<Option<Worker>> = Vec::new();
    for number in 0..options.threads {
        workers.push(Worker::start(options, options.seed + number, number, &sender, &mut total));
    }
    let mut shown = Instant::now();
    while start.elapsed() < limit && workers.iter().any(Option::is_some) {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok((number, message)) => {
                let at = number as usize;
                let Some(worker) = &mut workers[at] else { continue };
                worker.heard = Instant::now();
                match message {
                    Message::Started(seed) => worker.seed = seed,
                    Message::Done(report) => total.add(&report),
                    Message::Ended => {
                        let seed = worker.seed;
                        let status = worker.child.wait().map(|s| s.to_string()).unwrap_or_default();
                        total
                            .failures
                            .push(format!("seed {seed}: the compiler ended the process ({status})"));
                        workers[at] =
                            Worker::start(options, seed + options.threads, number, &sender, &mut total);
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        for worker in workers.iter_mut().flatten() {
            if worker.heard.elapsed() > SEED_LIMIT {
                total.failures.push(format!("seed {}: no end after {SEED_LIMIT:?}", worker.seed));
                worker.heard = Instant::now();
                // Its end is heard as that of a crash.
                let _ = worker.child.kill();
            }
        }
        if shown.elapsed() > Duration::from_secs(20) {
            shown = Instant::now();
            eprintln!("{:>5.0} s  {}", start.elapsed().as_secs_f64(), total.line());
        }
    }
    for worker in workers.iter_mut().flatten() {
        let _ = worker.child.kill();
        let _ = worker.child.wait();
    }
    println!(
        "{:.1} minutes, {} processes\n{}",
        start.elapsed().as_secs_f64() / 60.0,
        options.threads,
        total.summary()
    );
    if total.failures.is_empty() && total.any() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Worker {
    child: Child,
    seed: u64,
    heard: Instant,
}

impl Worker {
    fn start(
        options: &Options,
        seed: u64,
        number: u64,
        sender: &mpsc::Sender<(u64, Message)>,
        total: &mut Report,
    ) -> Option<Worker> {
        let only = options.only.and_then(|part| part.to_possible_value());
        let started = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .args(["worker", "--seed", &seed.to_string(), "--stride", &options.threads.to_string()])
                .arg("--failures")
                .arg(&options.failures)
                .args(only.iter().flat_map(|part| ["--only", part.get_name()]))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
        });
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                total.failures.push(format!("a worker does not start: {error}"));
                return None;
            }
        };
        let output = child.stdout.take()?;
        let sender = sender.clone();
        std::thread::spawn(move || listen(output, number, &sender));
        Some(Worker { child, seed, heard: Instant::now() })
    }
}

fn listen(output: ChildStdout, number: u64, sender: &mpsc::Sender<(u64, Message)>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        let message = match line.strip_prefix("seed ").map(str::parse) {
            Some(Ok(seed)) => Message::Started(seed),
            _ => match serde_json::from_str(&line) {
                Ok(report) => Message::Done(Box::new(report)),
                Err(_) => continue,
            },
        };
        if sender.send((number, message)).is_err() {
            return;
        }
    }
    let _ = sender.send((number, Message::Ended));
}
