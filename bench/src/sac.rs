//! The experiments of "With-Loop Fusion for Data Locality and Parallelism" (Grelck, Hinckfuß, Scholz; IFL 2005), section 8: time of
//! three programs over their size, as written and fused.

use anyhow::{Context, Result, bail, ensure};
use looptree::driver::{Choices, Chosen, Optimizer, Session, Settings, compile_source};
use looptree::fusion::FusionOptions;
use looptree::measure::{CallSetup, MeasureOptions, Measurement, measure_ir};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Only these programs, by name.
    programs: Vec<String>,
    /// Bytes of the data at the smallest size.
    #[arg(long, default_value_t = 8 << 10)]
    least: u64,
    /// Bytes of the data at the largest size.
    #[arg(long, default_value_t = 128 << 20)]
    largest: u64,
    /// Each size has so many times the bytes of the one before.
    #[arg(long, default_value_t = 4)]
    factor: u64,
    /// The machine costs are predicted for.
    #[arg(long, default_value = "native")]
    target: String,
    /// The plot, time against size.
    #[arg(long, value_name = "FILE", default_value = "target/sac.svg")]
    svg: PathBuf,
}

/// A program of `bench/sac`.
struct Program {
    name: &'static str,
    function: &'static str,
    /// Dimensions of its arrays, and how many it has.
    rank: u32,
    arrays: u64,
    /// Less time when fused, of which the paper reports up to so much.
    paper: &'static str,
}

const PROGRAMS: [Program; 5] = [
    Program { name: "minmax", function: "minmax", rank: 1, arrays: 1, paper: "50 %" },
    Program {
        name: "convolution_1d",
        function: "convolution",
        rank: 1,
        arrays: 2,
        paper: "25 %, 40 % expected",
    },
    Program {
        name: "convolution_2d",
        function: "convolution",
        rank: 2,
        arrays: 2,
        paper: "25 %, 40 % expected",
    },
    Program {
        name: "convolution_3d",
        function: "convolution",
        rank: 3,
        arrays: 2,
        paper: "25 %, 40 % expected",
    },
    Program { name: "tomcatv", function: "tomcatv", rank: 2, arrays: 7, paper: "80 %" },
];

/// Times at one size, in seconds of a call.
struct Point {
    bytes: u64,
    original: f64,
    /// By `looptree fuse --always`, and by what the search ranks first.
    fused: f64,
    best: f64,
}

pub fn run(arguments: &Arguments) -> Result<bool> {
    ensure!(arguments.factor >= 2, "--factor is at least 2");
    ensure!(
        arguments.least >= 1024 && arguments.least <= arguments.largest,
        "--least is between 1024 and --largest"
    );
    for name in &arguments.programs {
        if !PROGRAMS.iter().any(|p| p.name == name) {
            let names: Vec<&str> = PROGRAMS.iter().map(|p| p.name).collect();
            bail!("there is no program {name}; there are {}", names.join(", "));
        }
    }
    let wanted =
        |p: &&Program| arguments.programs.is_empty() || arguments.programs.iter().any(|n| n == p.name);
    let mut plots = Vec::new();
    println!("times of one call, results compared bit for bit; less: how much less time the fused one takes");
    for program in PROGRAMS.iter().filter(wanted) {
        println!("{} (paper: up to {} less)", program.name, program.paper);
        println!(
            "  {:>8} {:>10} {:>12} {:>12} {:>7} {:>12} {:>7}",
            "n", "KiB", "as written", "fused", "less", "ranked first", "less"
        );
        let mut points = Vec::new();
        let mut bytes = arguments.least;
        while bytes <= arguments.largest {
            let elements = bytes as f64 / 8.0 / program.arrays as f64;
            let n = elements.powf(1.0 / f64::from(program.rank)).round().max(4.0) as i64;
            let point =
                measured(program, n, bytes, arguments).with_context(|| format!("{} of {n}", program.name))?;
            let less = |time: f64| format!("{:.0} %", 100.0 * (1.0 - time / point.original));
            println!(
                "  {n:>8} {:>10} {:>12} {:>12} {:>7} {:>12} {:>7}",
                bytes >> 10,
                duration(point.original),
                duration(point.fused),
                less(point.fused),
                duration(point.best),
                less(point.best)
            );
            points.push(point);
            bytes = bytes.saturating_mul(arguments.factor);
        }
        plots.push((program.name, points));
    }
    if let Some(directory) = arguments.svg.parent() {
        std::fs::create_dir_all(directory)?;
    }
    crate::written::write(&arguments.svg, svg(&plots))?;
    println!("{}", arguments.svg.display());
    Ok(true)
}

fn measured(program: &Program, n: i64, bytes: u64, arguments: &Arguments) -> Result<Point> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sac").join(program.name).with_extension("c");
    let flags = ["-march=native", "-ffp-contract=off"].map(str::to_string);
    let input = compile_source(&file, &flags)?;
    let settings = Settings {
        params: BTreeMap::from([("n".to_string(), n)]),
        target: arguments.target.clone(),
        function: Some(program.function.to_string()),
        ..Settings::default()
    };
    let optimizer = Optimizer::new(settings)?;
    let session = Session::new(&input, program.name, &optimizer);
    let explored = session.explore()?;
    let Some(at) = explored.costliest() else { bail!("nothing is described") };
    let region = &explored.regions[at];
    let models = optimizer.models.for_code(region.vectors);
    let options = FusionOptions { always: true, ..FusionOptions::default() };
    let fusion = optimizer.fuse(&region.label(), &region.kernel, &[], &models, &options)?;
    let fused = optimizer.apply(&region.label(), &region.kernel, &fusion.recipe, region.vectors)?;
    let best = optimizer.choose(region, region.exploration.best())?;
    let module = |chosen: Chosen| {
        let choices = Choices::from([((region.function.clone(), region.number), chosen)]);
        session.emit(&choices, |m| m.to_bitcode())
    };
    let (fused, best) = (module(fused)?, module(best)?);
    let arguments = match session.argument_specs(&region.function)? {
        Ok(arguments) => arguments,
        Err(not) => bail!("it cannot be called: {not}"),
    };
    let setup = CallSetup { arguments, seed: 1, others: Vec::new() };
    let options =
        MeasureOptions { budget: Duration::from_secs(2), memory: 2 << 30, ..MeasureOptions::default() };
    let variants: [(&str, &[u8]); 2] = [("fused", &fused), ("ranked first", &best)];
    let times = measure_ir(&input, program.function, &variants, &setup, &options)?;
    let [original, fused, best] = &times[..] else { bail!("{} times of three", times.len()) };
    // Ratios are of calls in turns; times may drift.
    let time = |m: &Measurement| original.seconds.median / m.ratio.median;
    Ok(Point { bytes, original: original.seconds.median, fused: time(fused), best: time(best) })
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 220.0;
const MARGIN: f64 = 60.0;
const COLOURS: [(&str, &str); 3] =
    [("as written", "#7a7a7a"), ("fused", "#e07b39"), ("ranked first", "#1b6ca8")];

/// A plot for each program: nanoseconds for each kilobyte against the bytes of the data.
fn svg(plots: &[(&str, Vec<Point>)]) -> String {
    let (columns, step_x, step_y) = (2, WIDTH + 2.0 * MARGIN, HEIGHT + 2.0 * MARGIN);
    let rows = plots.len().div_ceil(columns);
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{:.0}" height="{:.0}" font-family="sans-serif" font-size="11">"#,
        step_x * columns as f64,
        step_y * rows as f64
    );
    let _ = writeln!(out, r#"<rect width="100%" height="100%" fill="white"/>"#);
    for (number, (name, points)) in plots.iter().enumerate() {
        let left = (number % columns) as f64 * step_x + MARGIN;
        let top = (number / columns) as f64 * step_y + MARGIN;
        plot(&mut out, left, top, name, points);
    }
    out.push_str("</svg>\n");
    out
}

fn plot(out: &mut String, left: f64, top: f64, name: &str, points: &[Point]) {
    let cost = |p: &Point| [p.original, p.fused, p.best].map(|s| s * 1e9 / (p.bytes as f64 / 1024.0));
    let all = || points.iter().flat_map(cost);
    let (low, high) =
        (all().fold(f64::INFINITY, f64::min).log2().floor(), all().fold(1e-9, f64::max).log2().ceil());
    let high = high.max(low + 1.0);
    let sizes: Vec<f64> = points.iter().map(|p| (p.bytes as f64).log2()).collect();
    let (first, last) = (sizes.first().copied().unwrap_or(0.0), sizes.last().copied().unwrap_or(1.0));
    let x = |size: f64| left + (size - first) / (last - first).max(1.0) * WIDTH;
    let y = |value: f64| top + HEIGHT - (value.log2() - low) / (high - low) * HEIGHT;
    let _ = writeln!(
        out,
        r#"<text x="{left:.0}" y="{:.0}" font-size="13">{name}: ns for each KiB of data</text>"#,
        top - 28.0
    );
    for power in low as i32..=high as i32 {
        let (value, at) = (2.0_f64.powi(power), y(2.0_f64.powi(power)));
        let _ = writeln!(
            out,
            r##"<line x1="{left:.0}" y1="{at:.1}" x2="{:.0}" y2="{at:.1}" stroke="#ddd"/><text x="{:.0}" y="{:.1}" text-anchor="end">{value}</text>"##,
            left + WIDTH,
            left - 6.0,
            at + 4.0
        );
    }
    for (p, size) in points.iter().zip(&sizes) {
        let label =
            if p.bytes >= 1 << 20 { format!("{} M", p.bytes >> 20) } else { format!("{} K", p.bytes >> 10) };
        let _ = writeln!(
            out,
            r#"<text x="{:.1}" y="{:.0}" text-anchor="middle">{label}</text>"#,
            x(*size),
            top + HEIGHT + 16.0
        );
    }
    for (series, (what, colour)) in COLOURS.iter().enumerate() {
        let line: Vec<String> = points
            .iter()
            .zip(&sizes)
            .map(|(p, size)| format!("{:.1},{:.1}", x(*size), y(cost(p)[series])))
            .collect();
        let _ = writeln!(
            out,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/><text x="{:.0}" y="{:.0}" fill="{colour}">{what}</text>"#,
            line.join(" "),
            left + series as f64 * 100.0,
            top - 12.0
        );
    }
}
