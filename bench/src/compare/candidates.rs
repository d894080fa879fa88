//! A program with the variants that looptree chooses.

use crate::programs::Build;
use anyhow::{Context, Result};
use looptree::driver::{self, Chosen, Explored, ExploredRegion, Optimizer, Purpose, Session};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// One source file, searched.
struct File {
    name: String,
    bitcode: Vec<u8>,
    explored: Explored,
}

/// A program, searched.
pub struct Optimized<'a> {
    build: Build<'a>,
    optimizer: &'a Optimizer,
    files: Vec<File>,
    /// File and region that cost most: of the kernel where there is one.
    main: Option<(usize, usize)>,
    /// For lifting, searching and emitting the variants ranked first.
    pub seconds: f64,
}

type Choices = BTreeMap<(Arc<str>, usize), Chosen>;

impl<'a> Optimized<'a> {
    /// Searches every region of every source.
    pub fn new(build: Build<'a>, optimizer: &'a Optimizer) -> Result<Optimized<'a>> {
        let mut files = Vec::new();
        let mut seconds = 0.0;
        for path in &build.program.sources {
            let bitcode = driver::compile_source(path, &build.flags())?;
            let name = path.display().to_string();
            let start = Instant::now();
            let explored = session(&bitcode, &name, optimizer).explore()?;
            seconds += start.elapsed().as_secs_f64();
            files.push(File { name, bitcode, explored });
        }
        let mut optimized = Optimized { build, optimizer, files, main: None, seconds };
        optimized.main = optimized.costliest();
        let start = Instant::now();
        for at in 0..optimized.files.len() {
            optimized.emit(at, 0)?;
        }
        optimized.seconds += start.elapsed().as_secs_f64();
        Ok(optimized)
    }

    fn regions(&self) -> impl Iterator<Item = ((usize, usize), &ExploredRegion)> {
        let file = |(at, f): (usize, &'_ File)| (0..f.explored.regions.len()).map(move |r| (at, r));
        let places: Vec<(usize, usize)> = self.files.iter().enumerate().flat_map(file).collect();
        places.into_iter().map(|(f, r)| ((f, r), &self.files[f].explored.regions[r]))
    }

    /// The regions of functions named `kernel_…`; of all where there are none.
    fn kernels(&self) -> Vec<((usize, usize), &ExploredRegion)> {
        let own: Vec<_> = self.regions().filter(|(_, r)| r.function.starts_with("kernel_")).collect();
        if own.is_empty() { self.regions().collect() } else { own }
    }

    fn costliest(&self) -> Option<(usize, usize)> {
        let cost = |r: &ExploredRegion| r.exploration.original.cycles;
        let regions = self.kernels().into_iter();
        regions.max_by(|a, b| cost(a.1).total_cmp(&cost(b.1)).then(b.0.cmp(&a.0))).map(|(place, _)| place)
    }

    fn main(&self) -> Option<&ExploredRegion> {
        self.main.map(|(file, region)| &self.files[file].explored.regions[region])
    }

    /// How many programs there are: rank 0 is what is chosen; others differ in the region that costs most.
    pub fn ranks(&self) -> usize {
        self.main().map_or(1, |m| m.exploration.variants.len())
    }

    /// The best variant of each region where it is worth it; for the main region above rank 0 the one of that rank.
    fn choices(&self, file: usize, rank: usize) -> Result<Choices> {
        let mut result = BTreeMap::new();
        for (index, region) in self.files[file].explored.regions.iter().enumerate() {
            let exploration = &region.exploration;
            let variant = match rank > 0 && self.main == Some((file, index)) {
                true => exploration.variants.get(rank),
                false => exploration.worthwhile(driver::MIN_GAIN),
            };
            if let Some(variant) = variant.filter(|v| !v.recipe.0.is_empty()) {
                result.insert(
                    (region.function.clone(), region.number),
                    self.optimizer.choose(region, variant)?,
                );
            }
        }
        Ok(result)
    }

    fn session(&self, file: usize) -> Session<'_> {
        let File { name, bitcode, .. } = &self.files[file];
        session(bitcode, name, self.optimizer)
    }

    fn emit(&self, file: usize, rank: usize) -> Result<String> {
        Ok(self.session(file).emit(&self.choices(file, rank)?, |m| m.to_string())?)
    }

    /// Builds the program of that rank.
    pub fn program(&self, rank: usize, output: &Path) -> Result<()> {
        let emit = |at: usize| {
            let ir = output.with_extension(format!("{rank}.{at}.ll"));
            std::fs::write(&ir, self.emit(at, rank)?)
                .with_context(|| format!("cannot write {}", ir.display()))?;
            Ok((at, ir))
        };
        let replaced: Vec<(usize, PathBuf)> =
            (0..self.files.len()).into_par_iter().map(emit).collect::<Result<_>>()?;
        self.build.program(output, &replaced)
    }

    /// What is chosen, one per changed region.
    pub fn recipes(&self) -> Vec<String> {
        let chosen = self.regions().filter_map(|(_, region)| {
            let variant = region.exploration.worthwhile(driver::MIN_GAIN)?;
            Some(format!("{}: {}", region.label(), variant.recipe))
        });
        chosen.collect()
    }

    /// Of the main region.
    pub fn recipe(&self, rank: usize) -> Option<String> {
        Some(self.main()?.exploration.variants.get(rank)?.recipe.to_string())
    }

    /// Predicted cycles of the originals of the kernel's regions, over those of what was chosen for them.
    pub fn prediction(&self) -> f64 {
        let (mut before, mut after) = (0.0, 0.0);
        for (_, region) in self.kernels() {
            let exploration = &region.exploration;
            before += exploration.original.cycles;
            after +=
                exploration.worthwhile(driver::MIN_GAIN).map_or(exploration.original.cycles, |v| v.cycles);
        }
        if after > 0.0 { before / after } else { 1.0 }
    }
}

/// As the command and the plugin search: what they leave alone is left alone.
fn session<'a>(bitcode: &'a [u8], name: &'a str, optimizer: &'a Optimizer) -> Session<'a> {
    Session { purpose: Purpose::Replace, ..Session::new(bitcode, name, optimizer) }
}
