//! The report of `explore --html`, as a file and in a browser.

mod browser;

use browser::Browser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.0.path().join(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    }

    /// The report of an exploration.
    fn report(&self, name: &str, arguments: &[&str]) -> PathBuf {
        let file = self.0.path().join(name);
        let output = explore(&file, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        file
    }
}

fn explore(report: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_looptree"));
    // For a table, so that nobody's calibration counts. What follows `--` comes last.
    command.args(["explore", "--target", "znver4", "--html"]).arg(report).args(arguments);
    command.env("NO_COLOR", "1").output().expect("the command runs")
}

fn document(report: &Path) -> Value {
    let page = std::fs::read_to_string(report).expect("a report");
    let (_, rest) = page.split_once("type=\"application/json\">").expect("a document");
    let (json, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("JSON")
}

/// A column sweep: one nest, several variants, and some that are refused.
const SWEEP: &str = "double a[96][96], b[96][96];
void sweep(void) {
    for (int j = 1; j < 95; j++)
        for (int i = 1; i < 95; i++)
            a[i][j] = a[i - 1][j + 1] * 0.5 + b[i][j];
}
";

#[test]
fn a_report_is_the_same_again() {
    let place = Place::new();
    let file = place.write("sweep.c", SWEEP);
    let read = |name: &str| std::fs::read(place.report(name, &[&file])).expect("a report");
    assert!(read("one.html") == read("two.html"));
}

#[test]
fn a_report_is_written_whole_or_not_at_all() {
    let place = Place::new();
    let file = place.write("sweep.c", SWEEP);
    let nowhere = place.0.path().join("no").join("where.html");
    let output = explore(&nowhere, &[&file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("where.html"));
    let damaged = place.write("damaged.lt", "nest @f {");
    let report = place.0.path().join("r.html");
    assert_eq!(explore(&report, &[&damaged]).status.code(), Some(3));
    assert!(!report.exists());
    // On standard output it is alone.
    let output = explore("-".as_ref(), &[&file]);
    assert!(output.stdout.starts_with(b"<!doctype html>") && output.stdout.ends_with(b"</html>\n"));
}

#[test]
fn the_document_has_all_that_is_drawn() {
    let place = Place::new();
    let file = place.write("sweep.c", SWEEP);
    let all = document(&place.report("r.html", &[&file, "--top", "1"]));
    let region = &all["regions"][0];
    assert!(region["variants"].as_array().expect("variants").len() > 1, "{region}");
    let source = &region["source"];
    assert_eq!((&source["first"], &source["loops"][1]["first"]), (&json!(3), &json!(4)), "{source}");
    assert_eq!(source["lines"].as_array().map(Vec::len), Some(4), "{source}");
    let flow = &region["dependences"].as_array().expect("dependences").iter().find(|d| d["kind"] != "order");
    assert!(!flow.expect("a dependence")["pairs"].as_array().expect("pairs").is_empty(), "{region}");
    let roofline = &region["roofline"];
    assert_eq!(roofline["operations"], json!(2.0 * 94.0 * 94.0), "{roofline}");
    let refused = region["refused"].as_array().expect("refused");
    assert!(refused.iter().any(|r| r["example"]["instances"][1][1].is_array()), "{region}");
}

#[test]
fn each_loop_has_its_lines() {
    let place = Place::new();
    let text = "double a[96][96], b[96];
void two(void) {
    int i, j;
    for (i = 0; i < 96; i++)
        for (j = 0; j < 96; j++)
            a[i][j] *= 2.0;
    for (i = 0; i < 96; i++)
        b[i] += a[i][i];
}
";
    let all = document(&place.report("r.html", &[&place.write("two.c", text)]));
    let loops = all["regions"][0]["source"]["loops"].as_array().expect("loops");
    let lines: Vec<_> =
        loops.iter().map(|l| [&l["depth"], &l["first"], &l["last"]].map(|n| n.as_u64())).collect();
    assert_eq!(lines, [[0, 4, 6], [1, 5, 6], [0, 7, 8]].map(|l| l.map(Some)));
}

#[test]
fn a_report_is_drawn_sorted_and_filtered() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::new();
    let file = place.write("sweep.c", SWEEP);
    let report = place.report("r.html", &[&file, "--measure", "--top", "3"]);
    let variants = document(&report)["regions"][0]["variants"].as_array().expect("variants").len() as u64;
    browser.open(&report);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert!(browser.text("h1").starts_with("sweep#0"), "{}", browser.text("h1"));
    // A bar for each variant, dots for those measured, roofs, stacks, arrows, and a witness.
    assert_eq!(browser.count("rect.bar"), variants);
    assert_eq!(browser.count("circle.dot.predicted"), 3 + variants);
    assert!(browser.count(".roof") >= 3 && browser.count(".stack") > 1);
    assert!(browser.count(".space:not(.bad) .arrow") > 3 && browser.count(".space.bad .arrow") == 1);
    assert!(browser.count(".source .bar.on") >= 5 && browser.count(".source .tag") == 1);
    assert!(browser.count(".line.moved, .line.changed, .line.added") > 1);

    // Sorted by steps, and back.
    let first =
        || browser.run("return Number(document.querySelector('tbody tr[data-variant] td').innerText)");
    assert_eq!(first(), 0);
    let head = |name: &str| {
        browser.run(&format!(
            "const b = [...document.querySelectorAll('.nest th button')].find((b) => b.innerText.startsWith('{name}'));
             b.focus(); return b.closest('th').getAttribute('aria-sort')"
        ))
    };
    assert_eq!(head("Steps"), "none");
    browser.press("\u{e007}");
    assert_eq!(head("Steps"), "ascending");
    let steps = "[...document.querySelectorAll('tr[data-variant] td:nth-last-child(2)')].map((c) => Number(c.innerText))";
    assert_eq!(
        browser.run(&format!("const s = {steps}; return s.every((x, at) => !at || s[at - 1] <= x)")),
        true
    );
    assert_ne!(first(), 0);
    browser.press("\u{e007}");
    assert_eq!(head("Steps"), "descending");
    assert_eq!(
        browser.run(&format!("const s = {steps}; return s.every((x, at) => !at || s[at - 1] >= x)")),
        true
    );

    // Filtered, by the keyboard.
    let seen = || browser.count("tr[data-variant]:not([hidden])");
    assert_eq!(seen(), variants);
    browser.run("document.querySelector('#variants-0-filter').focus()");
    let recipe =
        document(&report)["regions"][0]["variants"][1]["recipe"].as_str().expect("a recipe").to_string();
    browser.press(recipe.split('(').next().expect("a name"));
    assert!(seen() > 0 && seen() < variants, "{}", seen());
    browser.press(" nonsense");
    assert_eq!(seen(), 0);
    assert_eq!(browser.text("output[for=variants-0-filter]"), format!("0 of {variants}"));

    // Chosen in a plot, shown everywhere.
    browser.click("rect.bar[data-variant='1']");
    assert!(browser.text(".nest .card:nth-of-type(3) h3").starts_with("#1"), "the variant chosen");
    assert_eq!(browser.count("tr.chosen[data-variant='1'], rect.chosen[data-variant='1']"), 2);
    // Copied as it is written.
    let copied = "const done = arguments[0]; return (async () => {
        let text; navigator.clipboard.writeText = async (t) => { text = t };
        document.querySelector('.chosen-recipe button').click(); return text })()";
    assert_eq!(browser.run(copied), json!(recipe));

    // What is refused is shown, too.
    let open =
        "const d = [...document.querySelectorAll('.picture details')]; d[0].open = true; return d.length";
    assert_eq!(browser.run(open), 1);
    assert_eq!(browser.count(".picture .trees section"), 2);

    // Saved as it is seen.
    let saved = "return (async () => {
        const names = [];
        for (const button of [...document.querySelectorAll('figcaption button')]) {
            let blob; URL.createObjectURL = (b) => { blob = b; return '#' };
            HTMLAnchorElement.prototype.click = function () { names.push(this.download) };
            button.click();
            const parsed = new DOMParser().parseFromString(await blob.text(), 'image/svg+xml');
            if (parsed.querySelector('parsererror') || !parsed.querySelector('[stroke], [fill]')) return 'damaged';
        }
        return names.join(' ') })()";
    let names = browser.run(saved);
    assert!(
        names.as_str().is_some_and(|n| n.contains("roofline.svg") && n.contains("gain-by-rank.svg")),
        "{names}"
    );

    // Readable in both schemes, and on a narrow screen nothing hangs over.
    let ground = || browser.run("return getComputedStyle(document.body).backgroundColor");
    browser.appear(390, "light");
    let light = ground();
    let over = "const all = document.documentElement; return all.scrollWidth - all.clientWidth";
    assert_eq!(browser.run(over), 0);
    browser.appear(390, "dark");
    assert_ne!(ground(), light);
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn odd_inputs_have_reports() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::new();
    let see = |name: &str, arguments: &[&str]| {
        let report = place.report(&format!("{name}.html"), arguments);
        browser.open(&report);
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
        browser.text("h1")
    };
    // A name that would end a script, or begin one.
    let name = r#"</script><img src=x onerror=alert(1)>'"`${x}"#;
    let quoted: String = name.replace('"', "\\22");
    let text = format!(
        "define void @\"{quoted}\"(ptr %a, i64 %n) {{
        entry:
          br label %body
        body:
          %i = phi i64 [ 0, %entry ], [ %next, %body ]
          %p = getelementptr inbounds double, ptr %a, i64 %i
          %x = load double, ptr %p
          %y = fmul double %x, 2.0
          store double %y, ptr %p
          %next = add nuw nsw i64 %i, 1
          %more = icmp slt i64 %next, %n
          br i1 %more, label %body, label %done
        done:
          ret void
        }}"
    );
    assert_eq!(see("name", &[&place.write("name.ll", &text)]), format!("{name}#0"));
    assert_eq!(browser.count("img"), 0);

    let chain = "nest @chain[N] { array A: f64[N] for i in 1..N { S: A[i] = A[i - 1] * 0.5 } }";
    see("none-legal", &[&place.write("chain.lt", chain), "--depth", "1"]);
    assert!(browser.count(".space .arrow") > 0);

    let volatile = "void sets(volatile int *p, int n) { for (int i = 0; i < n; i++) *p = i; }";
    assert!(see("nothing", &[&place.write("volatile.c", volatile)]).contains("No loop nest"));
    assert!(browser.text("#overview").contains("a volatile access keeps its place"));

    // The text is gone when the IR is read.
    let source = place.write("gone.c", SWEEP);
    let ir = place.0.path().join("gone.ll");
    let clang = std::env::var("LOOPTREE_CLANG").unwrap_or_else(|_| "clang-22".to_string());
    let mut compile = Command::new(clang);
    compile
        .args(["-O3", "-g", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", &source, "-o"])
        .arg(&ir);
    assert!(compile.status().expect("clang runs").success());
    std::fs::remove_file(&source).expect("it is there");
    see("gone", &[&ir.display().to_string()]);
    assert!(browser.text(".nest").contains("cannot be read"));

    let (mut heads, mut vars) = (String::new(), Vec::new());
    for depth in 0..14 {
        heads += &format!("for i{depth} in 0..3 {{ ");
        vars.push(format!("i{depth}"));
    }
    let deep = format!(
        "nest @deep {{ array A: f64[{}] {heads} S: A[{}] = 1.0 {} }}",
        ["3"; 14].join(", "),
        vars.join(", "),
        "}".repeat(14)
    );
    see("deep", &[&place.write("deep.lt", &deep), "--max-variants", "8"]);
    assert_eq!(browser.count(".trees section:first-child .line"), 15);

    let two = "nest @two[N] { array A: f64[N, N] array B: f64[N, N]
        for i in 0..N { for j in 0..N { S: A[j, i] = B[j, i] } } for k in 0..N { for l in 0..N { T: B[l, k] = 2.0 * B[l, k] } } }";
    let two = place.write("two.lt", two);
    see("many", &[&two, "--strategy", "exhaustive", "--depth", "3", "--max-variants", "1500", "--top", "3"]);
    assert!(browser.count("tr[data-variant]") >= 1000, "{}", browser.count("tr[data-variant]"));
}
