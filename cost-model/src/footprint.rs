//! Which bytes a group of references touches while some of the loops around it run.
//!
//! A group is all references to one array whose addresses differ by constants. Its footprint is a lattice: a dense run
//! of bytes, repeated at a stride.

use crate::linear::Linear;
use crate::lower::{Loop, Lowered};
use crate::overlap::{gcd, multiple, within};
use smallvec::SmallVec;

/// References to one array that differ by constants, from the leaves directly inside one loop.
pub(crate) struct Group {
    pub array: usize,
    pub parent: Option<usize>,
    /// `None`: anywhere in the array.
    pub address: Option<Linear>,
    /// Differences to `address`, in bytes; sorted, distinct.
    pub offsets: Vec<f64>,
    pub bytes: f64,
    pub read: bool,
    pub written: bool,
    /// Of the differences, in order of the program, those that are read, and written.
    order: Vec<(f64, bool)>,
    pub probability: f64,
    /// Without an address: how many elements an iteration touches.
    pub elements: f64,
}

/// Extent of a footprint in memory.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Footprint {
    /// Cache lines, or pages.
    pub lines: f64,
    /// Lines times the factor by which a stride loses cache sets.
    pub effective: f64,
    /// First byte, on average over the loops outside.
    pub low: f64,
    /// Last byte.
    pub high: f64,
    /// Bytes of a dense run, which is repeated at this distance; zero where it is not.
    pub run: f64,
    pub period: f64,
    /// Bytes of the widest repetition of all of that, and its distance; zero where there is none.
    pub block: f64,
    pub outer: f64,
    /// Such runs from references that are apart.
    pub copies: f64,
}

/// The groups of a tree, in order of first appearance.
pub(crate) fn groups(program: &Lowered<'_>) -> Vec<Group> {
    let mut result: Vec<Group> = Vec::new();
    // Only groups of the same loop merge, and its leaves need not be consecutive, so search those of the same parent.
    let mut first_of: rustc_hash::FxHashMap<Option<usize>, SmallVec<[usize; 8]>> = Default::default();
    for leaf in &program.leaves {
        // Reads and writes of elements that only data names, by group.
        let mut named: SmallVec<[(usize, [usize; 2]); 2]> = SmallVec::new();
        for touch in leaf.touches.iter().filter(|t| !t.private) {
            let known = first_of.entry(leaf.parent).or_default();
            let same = known.iter().copied().find(|g| {
                let g = &result[*g];
                g.array == touch.array
                    && match (&g.address, &touch.address) {
                        (Some(a), Some(b)) => a.terms == b.terms,
                        (None, None) => true,
                        _ => false,
                    }
            });
            let at = same.unwrap_or_else(|| {
                known.push(result.len());
                result.push(Group {
                    array: touch.array,
                    parent: leaf.parent,
                    address: touch.address.clone(),
                    offsets: vec![],
                    bytes: touch.bytes,
                    read: false,
                    written: false,
                    order: vec![],
                    probability: 0.0,
                    elements: 0.0,
                });
                result.len() - 1
            });
            let group = &mut result[at];
            group.read |= !touch.write;
            group.written |= touch.write;
            group.probability = group.probability.max(leaf.probability);
            let offset = match (&group.address, &touch.address) {
                (Some(a), Some(b)) => b.constant - a.constant,
                _ => 0.0,
            };
            group.order.push((offset, touch.write));
            if let Err(place) = group.offsets.binary_search_by(|o| o.total_cmp(&offset)) {
                group.offsets.insert(place, offset);
            }
            if touch.address.is_none() {
                let known = named.iter().position(|n| n.0 == at).unwrap_or(named.len());
                if known == named.len() {
                    named.push((at, [0; 2]));
                }
                named[known].1[usize::from(touch.write)] += 1;
            }
        }
        // What is read and written is one element.
        for (at, [reads, writes]) in named {
            result[at].elements += reads.max(writes) as f64;
        }
    }
    result
}

impl Group {
    /// What is touched while the loops of `inner` (indices, any order) run, in units of `unit` bytes; `sets` is the
    /// number of sets the unit is indexed by, or 0.
    pub fn footprint(&self, program: &Lowered<'_>, inner: &[usize], unit: f64, sets: f64) -> Footprint {
        let total = program.bytes(self.array);
        let most = program.most(self.array, unit);
        let Some(address) = &self.address else {
            let count: f64 = inner.iter().map(|l| program.loops[*l].trip).product();
            let lines = (count * self.elements * self.probability).max(1.0).min(most);
            return Footprint {
                lines,
                effective: lines,
                high: total.unwrap_or(1e15),
                ..Footprint::default()
            };
        };
        let mut steps = steps(program, address, inner);
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let reach: f64 = steps.iter().map(|(c, n)| c * (n - 1.0)).sum();
        // Dense run, and the blocks that repeat it.
        let mut run = self.bytes;
        let mut blocks = 1.0f64;
        let mut lattice: SmallVec<[(f64, f64); 6]> = SmallVec::new();
        // Extent of what the widest step repeats.
        let mut inside = self.bytes;
        for (c, n) in steps {
            if lattice.is_empty() && c <= run.max(unit) {
                run += c * (n - 1.0);
            } else if let Some(last) = lattice.last_mut()
                && c < last.0 * last.1
            {
                // Between or along existing blocks.
                let more = (c / last.0).max(1.0) * (n - 1.0);
                blocks *= (last.1 + more) / last.1;
                last.1 += more;
            } else {
                inside = lattice.iter().fold(run, |extent, (c, n)| extent + c * (n - 1.0));
                lattice.push((c, n));
                blocks *= n;
            }
        }
        // Further references: beside the run, along the lattice, or somewhere else.
        let mut extra_run: f64 = 0.0;
        let mut copies: f64 = 1.0;
        for pair in self.offsets.windows(2) {
            let mut delta = pair[1] - pair[0];
            for (stride, count) in lattice.iter().rev() {
                let q = (delta / stride).round();
                if q != 0.0 && q < *count && (delta - q * stride).abs() < stride * 0.5 {
                    delta = (delta - q * stride).abs();
                    blocks *= (count + q / copies.max(1.0)) / count;
                }
            }
            if delta <= run.max(unit) {
                extra_run += delta;
            } else {
                copies += 1.0;
            }
        }
        // Copies are taken to be of one length.
        let run = run + extra_run / copies;
        let per_block = if run <= self.bytes { 1.0 } else { self.touched(address, unit, run) };
        let lines = (blocks * copies * per_block).min(most);
        let mut effective = lines;
        if sets > 1.0
            && let Some(&(stride, _)) = lattice.first()
            && blocks > 1.0
        {
            let step = stride / unit;
            // Above the size of a page, addresses are scattered by translation.
            let low = sets.min(64.0);
            let distinct =
                if step.fract() == 0.0 && step >= 1.0 { low / gcd(within(step, low), low) } else { low };
            effective = lines * (low / (distinct * per_block.min(low)).min(low)).max(1.0);
        }
        let spread =
            self.offsets.last().copied().unwrap_or(0.0) - self.offsets.first().copied().unwrap_or(0.0);
        let mut center = address.constant + spread * 0.5 + self.offsets.first().copied().unwrap_or(0.0);
        for l in program.path(self.parent) {
            center += address.coefficient(program.loops[l].depth) * program.loops[l].middle;
        }
        let half = (reach + spread + self.bytes) * 0.5;
        let period = lattice.first().map_or(0.0, |(stride, _)| *stride);
        let (block, outer) = match lattice.as_slice() {
            [_, .., (stride, _)] => (inside, *stride),
            _ => (0.0, 0.0),
        };
        let (low, high) = (center - half, center + half);
        Footprint { lines, effective, low, high, run, period, block, outer, copies }
    }

    /// Whether its footprint may be another where a loop runs, too.
    pub fn moves_with(&self, l: &Loop) -> bool {
        self.address.as_ref().is_none_or(|a| l.trip > 1.0 && a.coefficient(l.depth) != 0.0)
    }

    /// Units that a run of so many bytes touches, on average over the iterations of the loops that move it; arrays are taken to start with
    /// a unit.
    fn touched(&self, address: &Linear, unit: f64, run: f64) -> f64 {
        let outer = address.terms.iter().map(|t| t.1).filter(|c| c.abs() >= run);
        let apart = multiple(unit, outer, self.bytes.min(unit));
        let first = address.constant + self.offsets.first().copied().unwrap_or(0.0);
        // It begins that far into a unit, or a multiple of `apart` further.
        1.0 + ((within(first, apart) + run - 1.0) / apart).floor() * apart / unit
    }

    /// Of the references, those whose lines the iterations of the loop around share: what decides the cache set of the first of
    /// them, and by how many sets each is beyond that. `around` bytes from one line of a set to the next; arrays are taken to begin at a
    /// multiple of that, as large ones do.
    pub fn sets(
        &self,
        program: &Lowered<'_>,
        line: f64,
        around: f64,
    ) -> Option<(Linear, SmallVec<[u32; 8]>)> {
        let (address, innermost) = (self.address.as_ref()?, self.parent?);
        let stride = address.coefficient(program.loops[innermost].depth).abs();
        // What does not move is used in every iteration, so nothing drives it out; parameters in memory lie beside each other.
        if stride == 0.0 || stride >= line {
            return None;
        }
        let mut place = Linear::constant(within(address.constant, around));
        place.terms.extend(address.terms.iter().copied().filter(|t| within(t.1, around) != 0.0));
        // Copies beside each other are in one line.
        let mut sets: SmallVec<[u32; 8]> = SmallVec::new();
        let mut last = f64::NEG_INFINITY;
        for &offset in &self.offsets {
            if offset - last >= line {
                last = offset;
                sets.push((within(offset, around) / line).round() as u32);
            }
        }
        Some((place, sets))
    }

    /// Sequences of lines, side by side, that the innermost loop goes through.
    pub fn streams(&self, program: &Lowered<'_>, line: f64) -> f64 {
        let (Some(address), Some(innermost)) = (&self.address, self.parent) else { return 0.0 };
        let stride = address.coefficient(program.loops[innermost].depth).abs();
        if stride == 0.0 || stride > line {
            return 0.0;
        }
        1.0 + self.offsets.windows(2).filter(|w| w[1] - w[0] > line).count() as f64
    }

    /// Of what is written, that whose lines nothing has read: neither before in the iteration, nor further ahead in an earlier one.
    fn first_written(&self, line: f64) -> impl Iterator<Item = f64> {
        let ahead = self.address.as_ref().is_some_and(|a| a.terms.iter().all(|t| t.1 > 0.0));
        let written = self.order.iter().enumerate().filter(|(_, (_, write))| *write);
        written.filter_map(move |(at, &(offset, _))| {
            let mut reads = self.order.iter().enumerate().filter(|(_, (_, write))| !write);
            let known = reads.any(|(n, (read, _))| match (read - offset).abs() < line {
                true => n < at,
                false => !ahead || *read > offset,
            });
            (!known).then_some(offset)
        })
    }

    /// Of lines that the innermost loop goes through element by element and writes before it reads them, those that vectors of so many
    /// bytes lie in by a part.
    pub fn across(&self, program: &Lowered<'_>, line: f64, vector: f64) -> f64 {
        let (Some(address), Some(innermost)) = (&self.address, self.parent) else { return 0.0 };
        let along = program.loops[innermost].depth;
        if address.coefficient(along).abs() != self.bytes {
            return 0.0;
        }
        let outer = address.terms.iter().filter(|t| usize::from(t.0) != along).map(|t| t.1);
        let begins = program.facts.is_anywhere(self.array).then_some(ALLOCATED);
        let apart = multiple(line, outer.chain(begins), self.bytes);
        let split =
            |offset: &f64| multiple(apart, [address.constant + *offset].into_iter(), self.bytes) < vector;
        let rows = 1.0 + self.offsets.windows(2).filter(|w| w[1] - w[0] > line).count() as f64;
        self.first_written(line).filter(split).count() as f64 / rows
    }

    /// Fraction of accesses that hardware prefetching covers, from the length of sequential runs in order of
    /// execution.
    pub fn sequential(&self, program: &Lowered<'_>, line: f64, run_bytes: f64) -> f64 {
        let Some(address) = &self.address else { return 0.0 };
        let mut run = self.bytes;
        let mut started = false;
        for l in program.path(self.parent) {
            let l = &program.loops[l];
            let c = address.coefficient(l.depth).abs();
            if c == 0.0 {
                continue;
            }
            if c <= line || (started && c <= run + line) {
                run = run.max(c * l.trip);
                started = true;
            } else if started {
                break;
            } else {
                // A constant stride within a page is found by the stride prefetcher, in part.
                return if c <= 1024.0 { 0.5 } else { 0.0 };
            }
        }
        if started { (1.0 - UNNOTICED * run_bytes / run).max(0.0) } else { 1.0 }
    }
}

/// Bytes from one iteration to the next of those of some loops that move an address, and how many there are. Tiles of which some are cut
/// short follow one another without gaps, whatever their mean length: the loops over them and in them are one.
fn steps(program: &Lowered<'_>, address: &Linear, inner: &[usize]) -> SmallVec<[(f64, f64); 6]> {
    let loops = || inner.iter().map(|l| &program.loops[*l]);
    let step = |l: &Loop| address.coefficient(l.depth).abs();
    let mut steps: SmallVec<[(f64, f64); 6]> =
        loops().map(|l| (step(l), l.trip)).filter(|(c, n)| *c > 0.0 && *n > 1.0).collect();
    for l in loops().filter(|l| !l.exact && l.trip > 1.0) {
        let tiles = l.below.iter().filter(|b| b.terms.is_empty()).map(|b| b.constant * step(l));
        for tile in tiles {
            let Some(over) = steps.iter().position(|s| s.0 > step(l) && s.0 == tile) else { continue };
            let count = steps.remove(over).1;
            steps.iter_mut().filter(|s| **s == (step(l), l.trip)).for_each(|s| s.1 *= count);
            break;
        }
    }
    steps
}

/// Bytes of which what `malloc` returns is a multiple, and no more.
const ALLOCATED: f64 = 16.0;

/// Of the bytes from which on a run is fetched ahead, those that pass before it is noticed.
const UNNOTICED: f64 = 0.25;

/// The union of footprints of one array: what overlaps counts once, unless the runs lie between each other's.
pub(crate) struct Union {
    pub total: Footprint,
    /// What runs like the first one cover of a period, and what blocks of them cover of the widest one.
    runs: Covered,
    blocks: Covered,
}

/// How two groups move apart as the loops around run: bytes in each iteration, and how many of those follow the first.
#[derive(Default)]
pub(crate) struct Apart(SmallVec<[(f64, f64); 4]>);

impl Apart {
    pub fn of(a: &Group, b: &Group, program: &Lowered<'_>, around: &[usize]) -> Self {
        let (Some(a), Some(b)) = (&a.address, &b.address) else { return Apart::default() };
        let each = around.iter().map(|l| &program.loops[*l]);
        let each = each.map(|l| (a.coefficient(l.depth) - b.coefficient(l.depth), (l.trip - 1.0).max(0.0)));
        Apart(each.filter(|(bytes, steps)| bytes * steps != 0.0).collect())
    }

    /// Whether they stay where they are to each other.
    pub fn is_never(&self) -> bool {
        self.0.is_empty()
    }

    /// How far that comes to, at most, in bytes.
    fn range(&self) -> f64 {
        self.0.iter().map(|(bytes, steps)| bytes.abs() * steps).sum()
    }
}

/// Disjoint ranges of a period, in order. Empty: not known.
#[derive(Default)]
struct Covered(SmallVec<[(f64, f64); 4]>);

/// Ranges of a period that are told apart.
const RANGES: usize = 16;

impl Covered {
    /// `length` bytes from `low` on, of a period that is counted from address zero.
    fn ranges(low: f64, length: f64, period: f64) -> SmallVec<[(f64, f64); 4]> {
        let begin = within(low, period);
        let end = begin + length.min(period);
        match end > period {
            true => smallvec::smallvec![(0.0, end - period), (begin, period)],
            false => smallvec::smallvec![(begin, end)],
        }
    }

    fn of(low: f64, length: f64, period: f64) -> Self {
        Covered(if period > 0.0 { Self::ranges(low, length, period) } else { SmallVec::new() })
    }

    /// Adds a range; the part of it that was covered before.
    fn add(&mut self, low: f64, length: f64, period: f64) -> f64 {
        let ranges = Self::ranges(low, length, period);
        let both: f64 =
            ranges.iter().flat_map(|r| self.0.iter().map(|c| (r.1.min(c.1) - r.0.max(c.0)).max(0.0))).sum();
        self.0.extend(ranges);
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.0.dedup_by(|next, last| {
            let meets = next.0 <= last.1;
            if meets {
                last.1 = last.1.max(next.1);
            }
            meets
        });
        if self.0.len() > RANGES {
            self.0.clear();
        }
        (both / length.max(1.0)).min(1.0)
    }
}

impl Union {
    pub fn of(first: Footprint) -> Self {
        Union {
            runs: Covered::of(first.low, first.run, first.period),
            blocks: Covered::of(first.low, first.block, first.outer),
            total: first,
        }
    }

    /// Adds a footprint, in units of so many bytes, of which the array has at most `most`, that is so far `apart` from what is there.
    pub fn add(&mut self, f: Footprint, unit: f64, most: f64, apart: &Apart) {
        let total = &mut self.total;
        let overlap = (total.high.min(f.high) - total.low.max(f.low)).max(0.0);
        let shortest = (total.high - total.low).min(f.high - f.low).max(1.0);
        let mut shared = (overlap / shortest).min(1.0);
        // Where they are on average says little where they move apart: how often they meet does.
        let range = apart.range();
        if range > 0.0 {
            shared *= ((total.high - total.low).max(f.high - f.low) / range).min(1.0);
        }
        let in_phase = total.period == f.period && apart.0.iter().all(|(bytes, _)| bytes % f.period == 0.0);
        if !self.runs.0.is_empty() && in_phase && total.copies == f.copies {
            shared *= self.runs.add(f.low, f.run, f.period);
            if !self.blocks.0.is_empty() && total.outer == f.outer {
                shared *= self.blocks.add(f.low, f.block, f.outer);
            }
        } else {
            // As likely as anywhere in what was touched.
            shared *= (total.lines * unit / (total.high - total.low).max(1.0)).min(1.0);
        }
        total.lines = (total.lines + f.lines - shared * total.lines.min(f.lines)).min(most);
        total.effective = (total.effective + f.effective - shared * total.effective.min(f.effective))
            .min(most.max(total.effective));
        total.low = total.low.min(f.low);
        total.high = total.high.max(f.high);
    }
}
