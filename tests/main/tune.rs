//! Searching by measurement: here, by lines of JSON, and by HyperQueue. Where `hq` is not installed (LOOPTREE_HQ, or on the
//! path, or by `scripts/hyperqueue.sh`), its test says so and does nothing.

use serde_json::Value;
use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Columns of a matrix: interchanged, they are rows.
const SOURCE: &str = "void columns(int n, double a[n][n], double b[n][n]) {
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i][j] = 2.0 * b[i][j];
}
";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a directory"));
        place.write("x.c", SOURCE);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_looptree"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        command
    }

    /// Exit code and both outputs.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(arguments).output().expect("the command runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    /// Standard output of a command that must succeed.
    fn done(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
        out
    }

    fn nests(&self, database: &str) -> Vec<Value> {
        let json = self.done(&["tune", "--db", database, "--format", "json"]);
        serde_json::from_str::<Value>(&json).expect("JSON").as_array().expect("a list").clone()
    }
}

/// Wrong databases, sizes, items.
#[test]
fn mistakes_are_said_to_be_what_they_are() {
    let place = Place::new();
    place.write("text.db", &"no database\n".repeat(100));
    place.write("bad.jsonl", "{\"format\":1}\n{\"format\":9}\nnonsense\n");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["tune"], 1, "there is no database looptree.db"),
        (&["tune", "x.c", "--db", "text.db"], 1, "text.db is no database of `looptree tune`"),
        (&["tune", "x.c", "--db", "no/where.db"], 1, "no/where.db"),
        (&["tune", "x.c", "--size", "m=3"], 2, "there are: n"),
        (&["tune", "x.c", "--size", "n"], 2, "--size n: there is no `=`"),
        (&["tune", "--merge", "text.db"], 1, "text.db is no database"),
        (&["tune", "--collect", "bad.jsonl"], 1, "3 reports cannot be used"),
        (&["measure", "--item", "{}"], 2, "this is no work item"),
        (&["opt", "x.c", "--tuned", "none.db"], 1, "there is no database none.db"),
    ];
    for (arguments, code, words) in cases {
        let (found, out, err) = place.run(arguments);
        let flat = err.replace("\n  │", "").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(found, code, "{arguments:?}: {out}{err}");
        assert!(flat.contains(words), "{arguments:?}: {err}");
    }
    assert!(std::fs::read_to_string(place.path("text.db")).expect("text").starts_with("no database"));
}

/// Measured once, gone on with where it stopped, and used, also for IR that clang wrote.
#[test]
fn what_is_measured_here_is_kept_and_used() {
    let place = Place::new();
    let tune = ["tune", "x.c", "--size", "n=400", "-k", "3", "--max-variants", "40"];
    let told = place.done(&tune);
    assert!(told.contains("columns#0") && told.contains("n=400") && told.contains(": 3 measured"), "{told}");
    let first = place.nests("looptree.db");
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0]["variants"].as_array().map(Vec::len), Some(3));
    place.done(&tune);
    assert_eq!(place.nests("looptree.db"), first, "nothing was measured again");
    place.done(&[&tune[..], &["--again"]].concat());
    let samples = |nests: &[Value]| -> u64 {
        let variants = nests[0]["variants"].as_array().expect("variants");
        variants.iter().map(|v| v["samples"].as_u64().expect("a number")).sum()
    };
    let again = place.nests("looptree.db");
    assert!(samples(&again) > samples(&first) + 3, "{again:?}");

    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let mut ir = Command::new(clang);
    ir.args(["-O3", "-g", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "x.c"]);
    assert!(ir.current_dir(place.0.path()).status().expect("clang runs").success());
    for input in ["x.c", "x.ll"] {
        let used = ["opt", input, "-o", "o.ll", "--tuned", "looptree.db", "--remarks"];
        let (code, _, err) = place.run(&used);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("columns#0: ") && err.contains("(measured ") && err.contains("=400)"), "{err}");
        assert!(!err.contains("predicted"), "{err}");
        assert!(std::fs::read_to_string(place.path("o.ll")).expect("IR").contains("columns"));
    }
    // Another kernel is predicted.
    place.write("x.c", &SOURCE.replace("2.0", "3.0"));
    let (_, _, err) = place.run(&["opt", "x.c", "-o", "o.ll", "--tuned", "looptree.db", "--remarks"]);
    assert!(!err.contains("measured"), "{err}");
}

/// A recipe that names arrays is found by the kernel, whatever that calls them.
#[test]
fn arrays_have_other_names_where_a_recipe_is_used() {
    let place = Place::new();
    place.write(
        "x.c",
        "void product(int n, double a[n][n], double b[n][n], double c[n][n]) {
            for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
                a[i][j] += b[i][k] * c[k][j];
        }
",
    );
    place.done(&["tune", "x.c", "--size", "n=200", "-k", "8", "--emit-work", "work.jsonl"]);
    let work = std::fs::read_to_string(place.path("work.jsonl")).expect("lines");
    let packs = work.lines().find(|l| l.contains("; b") || l.contains("; c")).expect("a recipe that packs");
    place.write("report.jsonl", &place.done(&["measure", "--item", packs]));
    place.done(&["tune", "--collect", "report.jsonl"]);
    // Without names.
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let mut ir = Command::new(clang);
    ir.args(["-O3", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "x.c"]);
    assert!(ir.current_dir(place.0.path()).status().expect("clang runs").success());
    let (code, _, err) = place.run(&["opt", "x.ll", "-o", "o.ll", "--tuned", "looptree.db", "--remarks"]);
    assert!(code == 0 && err.contains("pack(") && err.contains("(measured "), "{err}");
    let ir = std::fs::read_to_string(place.path("o.ll")).expect("IR");
    assert!(ir.contains("looptree.allocate") || ir.contains("alloca"), "{ir}");
}

/// Lines go out and come back, in any number and order.
#[test]
fn items_and_reports_are_lines() {
    let place = Place::new();
    let emit =
        ["tune", "x.c", "--size", "n=64", "-k", "3", "--max-variants", "40", "--emit-work", "work.jsonl"];
    place.done(&emit);
    let work = std::fs::read_to_string(place.path("work.jsonl")).expect("lines");
    let items: Vec<&str> = work.lines().collect();
    assert_eq!(items.len(), 3, "{work}");
    let one = place.done(&["measure", "--item", items[0]]);
    let mut child = place
        .command(&["measure", "--item", "-", "-o", "two.jsonl"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(format!("{}\n\n{}\n", items[1], items[2]).as_bytes()).expect("a reader");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    let two = std::fs::read_to_string(place.path("two.jsonl")).expect("lines");
    // A duplicate, one that was cut off, one that was changed.
    let (cut, changed) =
        (&two[..100], one.replace("\"region\":0,\"kernel\":\"", "\"region\":0,\"kernel\":\"0"));
    place.write("reports.jsonl", &format!("{one}{one}{changed}{cut}\n"));
    let (code, _, err) = place.run(&["tune", "--collect", "reports.jsonl", "two.jsonl"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("reports.jsonl:3: warning") && err.contains("reports.jsonl:4: warning"), "{err}");
    assert!(
        err.contains("reports.jsonl: 1 reports taken in, 1 known") && err.contains("two.jsonl: 2 reports"),
        "{err}"
    );
    place.done(&emit);
    assert_eq!(std::fs::read_to_string(place.path("work.jsonl")).expect("lines"), "", "all are measured");

    // The same by way of another database, twice.
    place.done(&["tune", "--db", "other.db", "--merge", "looptree.db"]);
    place.done(&["tune", "--db", "other.db", "--merge", "looptree.db", "looptree.db"]);
    assert_eq!(place.nests("other.db"), place.nests("looptree.db"));

    // What is called wrong anywhere is never used.
    let parsed = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let mut wrong = parsed(&one);
    let fields = wrong.as_object_mut().expect("an object");
    for field in ["calls", "original", "variant"] {
        fields.remove(field);
    }
    fields.insert("outcome".into(), "wrong".into());
    fields.insert("message".into(), "a[3] is 1, the original computes 2".into());
    fields.insert("processor".into(), "another".into());
    place.write("wrong.jsonl", &format!("{wrong}\n"));
    for arguments in [&["tune", "--collect", "wrong.jsonl"][..], &["tune"]] {
        let (code, out, err) = place.run(arguments);
        assert!(code == 1 && err.contains("a[3] is 1"), "{out}{err}");
    }
    let (_, _, err) = place.run(&["opt", "x.c", "-o", "o.ll", "--tuned", "looptree.db", "--remarks"]);
    let recipe = parsed(items[0])["recipe"].as_str().expect("text").to_string();
    assert!(!err.contains(&format!("columns#0: {recipe} (")), "{err}");

    // A file that was changed since is not measured for another one.
    place.write("x.c", &SOURCE.replace("2.0", "4.0"));
    let (code, out, err) = place.run(&["measure", "--item", items[0]]);
    assert!(code == 1 && out.is_empty() && err.contains("is not what the work item is about"), "{err}");
}

/// Processes that end with the test.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hq() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/hyperqueue/bin/hq");
    let named = std::env::var_os("LOOPTREE_HQ").map(PathBuf::from);
    let candidates = named.into_iter().chain([own, PathBuf::from("hq")]);
    candidates
        .into_iter()
        .find(|hq| Command::new(hq).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Stands for `hq`: takes a job, of which nothing runs until it is over.
const NO_WORKERS: &str = r#"#!/bin/sh
case "$*" in
    *submit*) shift 5; echo "$2" > name; echo '{"id": 1}' ;;
    *"worker list"*) cat workers ;;
    *"job info"*)
        waiting=1
        echo >> asked
        if [ -e over ] || [ "$(wc -l < asked)" -gt 100 ]; then waiting=0; fi
        printf '[{"info": {"name": "%s", "task_stats": {"running": 0, "waiting": %s}}}]' "$(cat name)" $waiting ;;
esac
"#;

/// Who waits for workers that nobody has started is told so.
#[cfg(unix)]
#[test]
fn hyperqueue_without_workers_is_said_to_be_so() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("hq", NO_WORKERS);
    std::fs::set_permissions(place.path("hq"), std::fs::Permissions::from_mode(0o755)).expect("a file");
    place.write("workers", "[]");
    let mut command =
        place.command(&["tune", "x.c", "--size", "n=64", "-k", "2", "--max-variants", "8", "--engine", "hq"]);
    command.env("LOOPTREE_HQ", place.path("hq")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = command.spawn().expect("it starts");
    let lines = BufReader::new(running.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut told = String::new();
    for line in lines {
        told += &line;
        if line.contains("no worker is connected: `hq worker start` starts one") {
            place.write("over", "");
        }
    }
    // It has waited on, and says what became of the job.
    assert!(!running.wait().expect("it ends").success());
    assert!(place.path("over").exists() && told.contains("did not come back"), "{told}");
}

/// A server and two workers on the loopback address. One worker is killed while it measures: its item goes to the other.
#[test]
fn hyperqueue_loses_nothing_with_a_worker() {
    let Some(hq) = hq() else {
        eprintln!("skipped: there is no hq; `sh scripts/hyperqueue.sh` installs it");
        return;
    };
    let place = Place::new();
    let server = place.path("server");
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(&hq);
        command.args(arguments).env("HQ_SERVER_DIR", &server).current_dir(place.0.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let start = |arguments: &[&str]| {
        Background(ask(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("hq starts"))
    };
    let json = |arguments: &[&str]| {
        let output = ask(&[&["--output-mode", "json"], arguments].concat()).output().expect("hq runs");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or(Value::Null)
    };
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < Duration::from_secs(120), "{what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let sizes = ["tune", "x.c", "--size", "n=64", "--size", "n=96", "-k", "4", "--max-variants", "40"];
    let tune = |more: &[&str]| {
        let mut command = place.command(&[&sizes[..], more].concat());
        command.env("HQ_SERVER_DIR", &server).env("LOOPTREE_HQ", &hq);
        command
    };
    // Without a server it is said what to do.
    let output = tune(&["--engine", "hq"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("hq server start"), "{text}");

    let _server = start(&["server", "start", "--host", "127.0.0.1"]);
    until("the server starts", &|| json(&["server", "info"]).is_object());
    let worker = ["worker", "start", "--cpus", "1"];
    let workers = RefCell::new([start(&worker), start(&worker)]);
    until("workers connect", &|| {
        // One that ended at its start is started again.
        let ended = |w: &mut Background| matches!(w.0.try_wait(), Ok(Some(_)));
        workers
            .borrow_mut()
            .iter_mut()
            .filter_map(|w| ended(w).then_some(w))
            .for_each(|w| *w = start(&worker));
        json(&["worker", "list"]).as_array().is_some_and(|l| l.len() == 2)
    });
    let running =
        tune(&["--engine", "hq"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until("tasks run", &|| json(&["job", "list", "--all"])[0]["task_stats"]["running"].as_u64() == Some(2));
    workers.borrow_mut()[0].0.kill().expect("it was alive");
    let output = running.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && !text.contains("no worker is connected"), "{text}");

    let nests = place.nests("looptree.db");
    assert_eq!(nests.len(), 2, "{text}");
    for nest in &nests {
        let variants = nest["variants"].as_array().expect("variants");
        assert_eq!((variants.len(), nest["to_do"].as_u64()), (4, Some(0)), "{text}");
        assert!(
            variants.iter().all(|v| v["samples"].as_u64() >= Some(3) && v["measured"].is_f64()),
            "{nest}"
        );
    }
    // All is there: no job is submitted, and nothing lies about.
    assert!(tune(&["--engine", "hq"]).output().expect("it runs").status.success());
    assert_eq!(json(&["job", "list", "--all"]).as_array().map(Vec::len), Some(1));
    assert_eq!(place.nests("looptree.db"), nests);
    let _ = ask(&["server", "stop"]).status();
}
