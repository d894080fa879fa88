//! What looptree costs where it changes nothing: time of `clang -O3` on a file, against reading, searching and emitting it.

use super::Figure;
use crate::{programs, statistics};
use anyhow::Result;
use looptree::driver::{self, MIN_GAIN, Optimizer, Session, Settings};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Files without a loop nest, with one that cannot be described, and with one that is left as it is.
const FILES: [(&str, &str); 3] = [
    ("no loop", "bench/figures/no_loops.c"),
    ("nothing described", "bench/figures/lists.c"),
    ("nothing gained", "bench/figures/recurrence.c"),
];
const ROUNDS: usize = 5;

/// The median over interleaved rounds, per file.
pub fn measure(build: &Path) -> Result<Vec<Figure>> {
    let flags = ["-march=native".to_string()];
    let mut figures = Vec::new();
    for (what, file) in FILES {
        let file = Path::new(file);
        let object = build.join("compile_time.o");
        let bytes = driver::compile_source(file, &flags)?;
        let (mut clang, mut ours, mut changed) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            programs::compile(&[file.to_owned()], &object, &["-c".to_string(), flags[0].clone()])?;
            clang.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            changed = optimize(&bytes, what)?;
            ours.push(start.elapsed().as_secs_f64());
        }
        let share = 100.0 / statistics::ratio(&clang, &ours);
        let name = format!("compile time, {what} ({changed} changed), of clang -O3's");
        figures.push(Figure::at_most(name, share, 10.0, "%"));
    }
    Ok(figures)
}

/// As `looptree opt` does it; how many regions change.
fn optimize(bytes: &[u8], name: &str) -> Result<usize> {
    let optimizer = Optimizer::new(Settings::default())?;
    let session = Session::new(bytes, name, &optimizer);
    let explored = session.explore()?;
    let mut chosen = BTreeMap::new();
    for region in &explored.regions {
        if let Some(variant) = region.exploration.worthwhile(MIN_GAIN) {
            chosen.insert((region.function.clone(), region.number), optimizer.choose(region, variant)?);
        }
    }
    session.emit(&chosen, |m| m.to_bitcode())?;
    Ok(chosen.len())
}
