//! The lines of source text that a region is made from, with its loops.

use looptree::driver::ExploredRegion;
use looptree::irgen::terms::{FunctionLoops, LoopTerms};
use looptree::tree::{Green, Kernel};
use serde::Serialize;
use std::path::Path;

/// Files larger than this are not read, in bytes.
const LARGEST: u64 = 1 << 24;
/// Lines shown of a region.
const MOST: usize = 400;

/// A part of a file.
#[derive(Serialize, Debug)]
pub struct Source {
    /// The file, as the front end names it.
    pub file: String,
    /// Number of the first line.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
    /// Loops in it, as far as their places are known.
    pub loops: Vec<SourceLoop>,
}

/// A loop with its lines.
#[derive(Serialize, Debug)]
pub struct SourceLoop {
    /// Its variable.
    pub name: String,
    /// Loops around it.
    pub depth: usize,
    /// Where it begins.
    pub first: u32,
    /// The last statement in it.
    pub last: u32,
}

/// `None` where the file is not known, or cannot be read.
pub fn source(region: &ExploredRegion, loops: &[FunctionLoops]) -> Option<Source> {
    let begin = region.location.as_ref()?;
    let of = region.kernel.statements.iter().filter_map(|s| s.location.as_ref());
    let own: Vec<u32> = of.filter(|l| l.file == begin.file).map(|l| l.line).collect();
    let first = own.iter().copied().chain([begin.line]).min().filter(|l| *l > 0)?;
    let last = own.iter().copied().chain([begin.line]).max()?;
    let function = loops.iter().find(|f| f.function == *region.function);
    let inside = function.map_or(&[][..], |f| &f.loops);
    let directory = inside
        .iter()
        .filter_map(|l| l.location.as_ref())
        .find(|l| l.file == *begin.file)
        .map(|l| &*l.directory);
    let path = Path::new(directory.unwrap_or("")).join(&*begin.file);
    // Only a file ends.
    std::fs::metadata(&path).ok().filter(|m| m.is_file() && m.len() <= LARGEST)?;
    let bytes = std::fs::read(&path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).skip(first as usize - 1).take(MOST) {
        let closes = line.trim().trim_end_matches(';').chars().all(|c| c == '}') && !line.trim().is_empty();
        if number > last && !closes {
            break;
        }
        lines.push(line.to_string());
    }
    // The file may have changed since.
    (!lines.is_empty()).then(|| Source {
        file: begin.file.to_string(),
        first,
        lines,
        loops: loops_in(region, inside, first),
    })
}

/// The loops of the kernel, by the lines of the function's.
fn loops_in(region: &ExploredRegion, loops: &[LoopTerms], first: u32) -> Vec<SourceLoop> {
    let Some(file) = region.location.as_ref().map(|l| &*l.file) else { return Vec::new() };
    let mut places = Places { kernel: &region.kernel, loops, file, first, found: Vec::new() };
    places.visit(&region.kernel.original, 0, None);
    places.found
}

struct Places<'a> {
    kernel: &'a Kernel,
    loops: &'a [LoopTerms],
    file: &'a str,
    first: u32,
    found: Vec<SourceLoop>,
}

impl Places<'_> {
    fn visit(&mut self, tree: &Green, depth: usize, around: Option<usize>) {
        let (mut depth, mut around) = (depth, around);
        if let Some((header, body)) = tree.as_loop() {
            let Some((from, last)) = self.lines(body) else { return };
            let Some((at, line)) = self.place(around, from) else { return };
            let name = self.kernel.variable_name(header.var);
            self.found.push(SourceLoop { name, depth, first: line, last });
            (depth, around) = (depth + 1, Some(at));
        }
        tree.children().for_each(|child| self.visit(child, depth, around));
    }

    /// The last loop in front of the line; of those directly in the one around, or of the outermost ones.
    fn place(&self, around: Option<usize>, line: u32) -> Option<(usize, u32)> {
        let here = self.loops.iter().enumerate().filter_map(|(at, l)| {
            let place = l.location.as_ref().filter(|p| p.file == self.file)?;
            let fits = around.is_none() || l.parent == around;
            (fits && (self.first..=line).contains(&place.line)).then_some((at, place.line, l.depth))
        });
        let here: Vec<_> = here.collect();
        let outermost = here.iter().map(|(.., depth)| *depth).min()?;
        let best =
            here.into_iter().filter(|(.., depth)| *depth == outermost).max_by_key(|(_, line, _)| *line)?;
        Some((best.0, best.1))
    }

    /// The first and the last line of the statements in a tree.
    fn lines(&self, tree: &Green) -> Option<(u32, u32)> {
        let places = tree.leaves().filter_map(|s| self.kernel.statement(s).location.as_ref());
        let lines: Vec<u32> = places.filter(|l| *l.file == *self.file).map(|l| l.line).collect();
        Some((*lines.iter().min()?, *lines.iter().max()?))
    }
}
