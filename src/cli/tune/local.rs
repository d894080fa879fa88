//! Measurements here, each in a process of its own: code that goes astray ends only that.

use super::engine::{Done, Each, Planned, first_words};
use crate::cli::args::TuneArguments;
use crate::cli::error::CliError;
use looptree::cost_model::targets;
use looptree::tune::{FORMAT, Outcome, Report};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: the code's own doing. Others come from outside.
const ASTRAY: [i32; 5] = [4, 6, 7, 8, 11];

/// Measures all, so many at once.
pub fn run(pending: &[Planned], arguments: &TuneArguments, each: Each<'_>) -> Result<(), CliError> {
    let program =
        std::env::current_exe().map_err(|source| CliError::Run { program: "looptree".into(), source })?;
    let limit = Duration::from_secs(arguments.limit);
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..arguments.at_once.clamp(1, pending.len().max(1)) {
            let (send, next, program) = (send.clone(), &next, &program);
            scope.spawn(move || {
                while let Some(one) = pending.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let process = Command::new(program);
                    if send.send(measure(process, one, limit)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        // Where the database fails, no more is started.
        receive.into_iter().try_for_each(each)
    })
}

fn measure(mut process: Command, one: &Planned, limit: Duration) -> Done {
    let lost = |why: String| Done::Lost { label: one.item.label(), why };
    process.args(["measure", "--item", "-"]).env("NO_COLOR", "1");
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match process.spawn() {
        Ok(child) => child,
        Err(error) => return lost(format!("looptree cannot be started: {error}")),
    };
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    if let Some(mut stdin) = child.stdin.take() {
        // A process that fails early does not read it.
        let _ = stdin.write_all(one.item.to_line().as_bytes());
    }
    let ended = wait(&mut child, limit);
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    let report = |outcome| {
        let (item, target) = (one.item.clone(), one.target.clone());
        Done::Report(Box::new(Report {
            format: FORMAT,
            item,
            processor: targets::processor(),
            target,
            outcome,
        }))
    };
    let failed = |message: String| report(Outcome::Failed { message });
    match ended {
        Err(error) => lost(format!("the process is lost: {error}")),
        Ok(None) => failed(format!("it takes longer than {} s", limit.as_secs())),
        Ok(Some(status)) if status.success() => match Report::from_line(stdout.trim()) {
            Ok(report) if report.item.id == one.item.id => Done::Report(Box::new(report)),
            Ok(_) => lost("the report is another one's".to_string()),
            Err(error) => lost(error.to_string()),
        },
        Ok(Some(status)) => match status.signal() {
            Some(signal) if ASTRAY.contains(&signal) => report(Outcome::Wrong {
                message: format!("`{}` ends the process by signal {signal}", one.item.recipe),
            }),
            Some(signal) => lost(format!("the process was ended by signal {signal}")),
            None => lost(first_words(&stderr)),
        },
    }
}

/// Reads all, so that the process never waits for us.
fn drain(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What came before an error is what there is.
            let _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// `None` where it was ended for its time.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}
