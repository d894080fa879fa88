//! HyperQueue runs the measurements: a job with a task for each, of which every one writes its report into a directory beside
//! the database.
//!
//! The directory outlives this process: who comes back takes in what lies there, and waits for a job that still runs.

use super::engine::{Done, Each, Planned, first_words};
use crate::cli::args::TuneArguments;
use crate::cli::error::CliError;
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::cli::terminal;
use looptree::tune::Report;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How often the job is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// How long nothing runs before it is asked whether anybody could.
const IDLE: Duration = Duration::from_secs(3);
/// What each task does: `$0` is looptree, `$1` the directory.
const TASK: &str = r#"exec "$0" measure --item "$HQ_ENTRY" -o "$1/$HQ_JOB_ID-$HQ_TASK_ID.json""#;

/// Measures all.
pub fn run(
    pending: &[Planned],
    arguments: &TuneArguments,
    progress: &Progress,
    each: Each<'_>,
) -> Result<(), CliError> {
    let work = Work::open(&arguments.db)?;
    let mut back = BTreeSet::new();
    if let Some(job) = work.job()? {
        progress.say(format!("waiting for {job}, which was submitted before"));
        work.wait(&job, &mut back, each)?;
    }
    work.take(&mut back, each)?;
    let rest: Vec<&Planned> = pending.iter().filter(|p| !back.contains(&p.item.id)).collect();
    if !rest.is_empty() {
        let job = work.submit(&rest, arguments)?;
        output::say(format_args!(
            "{job}: {} measurements; whoever interrupts this can come back with the same command",
            rest.len()
        ));
        work.wait(&job, &mut back, each)?;
        for one in rest.iter().filter(|p| !back.contains(&p.item.id)) {
            each(Done::Lost { label: one.item.label(), why: work.complaint(&job) })?;
        }
    }
    work.close();
    Ok(())
}

/// A job of ours.
struct Job {
    id: u64,
    name: String,
}

impl std::fmt::Display for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HyperQueue job {}", self.id)
    }
}

/// The directory.
struct Work {
    directory: PathBuf,
}

impl Work {
    fn open(database: &Path) -> Result<Work, CliError> {
        let mut name = std::path::absolute(database).unwrap_or_else(|_| database.to_owned()).into_os_string();
        name.push(".work");
        let directory = PathBuf::from(name);
        std::fs::create_dir_all(&directory)
            .map_err(|source| CliError::Write { file: directory.clone(), source })?;
        Ok(Work { directory })
    }

    /// The job that was submitted last, if the server knows it.
    fn job(&self) -> Result<Option<Job>, CliError> {
        let Ok(text) = std::fs::read_to_string(self.directory.join("job")) else { return Ok(None) };
        let Some((id, name)) = text.trim().split_once(' ') else { return Ok(None) };
        let Ok(id) = id.parse() else { return Ok(None) };
        let job = Job { id, name: name.to_string() };
        // Servers that are started anew begin to count anew.
        Ok(state(&job)?.map(|_| job))
    }

    fn submit(&self, rest: &[&Planned], arguments: &TuneArguments) -> Result<Job, CliError> {
        let lines: String = rest.iter().map(|p| p.item.to_line() + "\n").collect();
        let items = self.directory.join("work.jsonl");
        output::write(&items, lines.as_bytes())?;
        let program =
            std::env::current_exe().map_err(|source| CliError::Run { program: "looptree".into(), source })?;
        let name = format!("looptree-tune-{}-{}", std::process::id(), rest[0].item.id);
        let mut submit = hq();
        submit.args(["submit", "--name", &name, "--cpus", "1", "--pin", "taskset", "--stdout", "none"]);
        submit.arg("--time-limit").arg(format!("{}s", arguments.limit));
        submit.arg("--stderr").arg(self.directory.join("%{JOB_ID}-%{TASK_ID}.err"));
        submit.arg("--each-line").arg(&items);
        submit.args(["--", "sh", "-c", TASK]).arg(program).arg(&self.directory);
        #[derive(Deserialize)]
        struct Submitted {
            id: u64,
        }
        let Submitted { id } = ask(submit)?;
        output::write(&self.directory.join("job"), format!("{id} {name}\n").as_bytes())?;
        Ok(Job { id, name })
    }

    /// Takes reports as they come, until the job is over.
    fn wait(&self, job: &Job, back: &mut BTreeSet<String>, each: Each<'_>) -> Result<(), CliError> {
        let mut idle = Idle::default();
        loop {
            // Asked first: what it has written until then is there.
            let state = state(job)?;
            self.take(back, each)?;
            let Some(State { running, waiting }) = state else { return Ok(()) };
            if running + waiting == 0 {
                return Ok(());
            }
            if idle.is_long(running > 0, Instant::now()) && is_without_workers() {
                output::say(terminal::said(&format!(
                    "{job}: {waiting} measurements wait, as no worker is connected: `hq worker start` starts one, here or on another \
                     machine that sees this directory, with the server's HQ_SERVER_DIR"
                )));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Takes in the reports that lie there; they go when they are kept.
    fn take(&self, back: &mut BTreeSet<String>, each: Each<'_>) -> Result<(), CliError> {
        for file in self.files("json")? {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            match Report::from_line(text.trim()) {
                Ok(report) => {
                    back.insert(report.item.id.clone());
                    each(Done::Report(Box::new(report)))?;
                    // One that stays is known when it is met again.
                    let _ = std::fs::remove_file(&file);
                }
                Err(error) => {
                    output::say(format_args!("{}: warning: not taken in: {error}", file.display()));
                    let _ = std::fs::rename(&file, file.with_extension("bad"));
                }
            }
        }
        Ok(())
    }

    fn files(&self, extension: &str) -> Result<Vec<PathBuf>, CliError> {
        let failed = |source| CliError::Read { file: self.directory.clone(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.directory).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|e| e == extension) {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }

    /// The first words that a task of the job said on its standard error.
    fn complaint(&self, job: &Job) -> String {
        let of_job = format!("{}-", job.id);
        let files = self.files("err").unwrap_or_default();
        let own = |f: &&PathBuf| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&of_job));
        let texts = files.iter().filter(own).filter_map(|f| std::fs::read_to_string(f).ok());
        let said = texts.filter(|t| !t.trim().is_empty()).map(|t| first_words(&t)).next();
        said.unwrap_or_else(|| format!("`hq job info {}` says why", job.id))
    }

    /// Nothing is left to come back for; what complained stays.
    fn close(&self) {
        let _ = std::fs::remove_file(self.directory.join("job"));
        let _ = std::fs::remove_file(self.directory.join("work.jsonl"));
        for file in self.files("err").unwrap_or_default() {
            if std::fs::metadata(&file).is_ok_and(|m| m.len() == 0) {
                let _ = std::fs::remove_file(file);
            }
        }
        // Only where it is empty.
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Since when nothing runs.
#[derive(Default)]
struct Idle {
    since: Option<Instant>,
    is_told: bool,
}

impl Idle {
    /// Whether nothing has run for so long that it is to be told; once, until something runs.
    fn is_long(&mut self, runs: bool, now: Instant) -> bool {
        if runs {
            *self = Idle::default();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let told = std::mem::replace(&mut self.is_told, now.duration_since(since) >= IDLE);
        self.is_told && !told
    }
}

/// Whether it is certain that the server has nobody who could run anything.
fn is_without_workers() -> bool {
    let mut list = hq();
    list.args(["worker", "list"]);
    ask::<Vec<serde::de::IgnoredAny>>(list).is_ok_and(|workers| workers.is_empty())
}

#[derive(Deserialize)]
struct Info {
    info: JobInfo,
}

#[derive(Deserialize)]
struct JobInfo {
    name: String,
    task_stats: State,
}

/// Tasks that are not over.
#[derive(Deserialize)]
struct State {
    running: u64,
    waiting: u64,
}

/// `None` where the server has no such job.
fn state(job: &Job) -> Result<Option<State>, CliError> {
    let mut info = hq();
    info.args(["job", "info", &job.id.to_string()]);
    let found: Vec<Info> = ask(info)?;
    Ok(found.into_iter().find(|i| i.info.name == job.name).map(|i| i.info.task_stats))
}

fn hq() -> Command {
    let program = std::env::var_os("LOOPTREE_HQ").unwrap_or_else(|| "hq".into());
    let mut hq = Command::new(program);
    hq.args(["--colors", "never", "--output-mode", "json"]);
    hq
}

fn ask<R: serde::de::DeserializeOwned>(mut question: Command) -> Result<R, CliError> {
    const HELP: &str = "start a server and workers: `hq server start`, `hq worker start`; HQ_SERVER_DIR names their directory";
    let failed = |message: String, help: &str| CliError::Failed { message, help: help.to_string() };
    let output = question.output().map_err(|error| {
        let program = question.get_program().display();
        failed(
            format!("cannot run {program}: {error}"),
            "install HyperQueue, or name its `hq` in LOOPTREE_HQ",
        )
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        #[derive(Deserialize)]
        struct Failure {
            error: String,
        }
        let said = serde_json::from_str::<Failure>(&text).map(|f| f.error);
        let said = said.unwrap_or_else(|_| String::from_utf8_lossy(&output.stderr).into_owned());
        return Err(failed(format!("hq: {}", said.lines().next().unwrap_or_default()), HELP));
    }
    serde_json::from_str(&text).map_err(|e| failed(format!("hq says what is not understood: {e}"), HELP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_nothing_runs_is_told_once_until_something_does() {
        let (mut idle, begin) = (Idle::default(), Instant::now());
        let told: Vec<u64> =
            (0..30).filter(|s| idle.is_long((10..12).contains(s), begin + Duration::from_secs(*s))).collect();
        assert_eq!(told, [IDLE.as_secs(), 12 + IDLE.as_secs()]);
    }
}
