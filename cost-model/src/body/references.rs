//! What an iteration refers to: families of references that move alike, their elements, how they move, and which of them may meet.

use super::conditions::Cases;
use super::{Scan, Stride};
use crate::chains::Value;
use crate::lower::Lowered;
use crate::overlap::{References, multiple, never_meet, overlap};
use loop_tree::{Affine, LoopHeader};
use smallvec::SmallVec;

#[derive(Default)]
pub(super) struct Location {
    pub family: usize,
    pub offset: f64,
    /// Value of a load or store that is still good.
    pub value: Option<Value>,
    /// The guard under which it was stored, by number: good under that one only; zero: everywhere.
    pub under: usize,
    pub epoch: u32,
    pub loaded: bool,
    /// Where in the program that is first.
    pub loaded_at: u32,
    pub stored: bool,
    /// Where it was stored, if not in any case, and the stores under masks that are counted for it.
    pub cases: Cases,
    pub masks: f64,
    /// Where in the program that is last.
    pub stored_at: u32,
    /// The operations that made what was stored.
    pub shape: u64,
    /// How many of them, of one kind, it was the result of.
    pub reduced: usize,
    /// What was loaded for that, in order of the expression.
    pub loaded_for: SmallVec<[usize; 4]>,
    /// The loads through other references when it was stored.
    pub looked_at: u32,
    /// Whether another row that may be the same one was loaded since.
    pub row_loaded: bool,
    /// What a load has to wait for that comes after a store to another row: nothing says which of the two it reads.
    pub through: f64,
    pub bytes: f64,
}

/// References with equal linear part.
#[derive(Default)]
pub(super) struct Family {
    pub array: usize,
    pub terms: SmallVec<[(u16, f64); 4]>,
    pub stride: f64,
    pub offsets: SmallVec<[f64; 8]>,
    pub loaded: SmallVec<[f64; 8]>,
    pub stored: SmallVec<[f64; 8]>,
    pub bytes: f64,
    /// Elements of a private scalar.
    pub private: bool,
    /// Whether the program as written carries its value in a register.
    pub carried: bool,
    pub stored_so_far: bool,
    pub epoch: u32,
    /// Loads through other references of the array.
    pub looked_at: u32,
    /// Whether it may be stored to through other references.
    pub clobbered: bool,
    /// Whether it may be loaded through other references.
    pub observed: bool,
    /// Families of which no element is ever one of this.
    pub apart: SmallVec<[usize; 4]>,
}

impl Family {
    pub(super) fn references(&self) -> References<'_> {
        References { terms: &self.terms, offsets: &self.offsets, stored: &self.stored, bytes: self.bytes }
    }

    /// Bytes from one iteration of a loop to the next.
    pub(super) fn along(&self, depth: usize) -> f64 {
        self.terms.iter().find(|t| usize::from(t.0) == depth).map_or(0.0, |t| t.1)
    }

    /// Whether its values stay in registers while the loop runs.
    pub(super) fn promoted(&self) -> bool {
        self.stride == 0.0 && !self.clobbered && !self.observed
    }
}

impl Scan<'_> {
    /// Strided stores to several rows of one array, as jamming an outer loop makes them: whether the rows overlap is not
    /// known to the compiler, and where strides are not one it is not told either. Private scalars are in registers.
    pub(super) fn rows_of_strided_stores(&mut self) {
        let unit = self.result.widest.map_or(8.0, |t| f64::from(t.size()));
        let several = self.families.iter().any(|f| {
            let least = f.stored.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = f.stored.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            !f.private && f.stride.abs() > unit && greatest - least >= f.stride.abs()
        });
        if several {
            self.result.vectorisable = false;
        }
    }

    /// Accumulators in several rows whose length is only known at run time: the compiler cannot tell that they differ, and
    /// keeps none of them in registers.
    pub(super) fn accumulators_in_rows(&mut self) {
        for f in self.families.iter_mut().filter(|f| f.stride == 0.0) {
            let Some(row) = self.row_bytes.get(f.array).copied().flatten() else { continue };
            let least = f.stored.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = f.stored.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            f.clobbered |= greatest - least >= row;
        }
    }

    /// Finds which references emission proves to be of other elements.
    pub(super) fn tell_apart(&mut self, program: &Lowered<'_>, own: Option<usize>) {
        for a in 0..self.families.len() {
            for b in a + 1..self.families.len() {
                let (f, g) = (&self.families[a], &self.families[b]);
                let stores = !f.stored.is_empty() || !g.stored.is_empty();
                if f.array != g.array || !stores || f.private || g.private {
                    continue;
                }
                if never_meet(program, own, self.lanes, f.array, (&f.references(), &g.references())) {
                    self.families[a].apart.push(b);
                    self.families[b].apart.push(a);
                }
            }
        }
    }

    /// Elements that all iterations of an innermost loop access, and of which nothing else that it accesses is: they have slots of
    /// their own while it runs.
    pub(super) fn hold(&mut self) {
        let meets = |a: usize, f: &Family, b: usize, g: &Family| {
            a != b
                && f.array == g.array
                && (!f.stored.is_empty() || !g.stored.is_empty())
                && !f.apart.contains(&b)
        };
        let held: SmallVec<[bool; 8]> = (0..self.families.len())
            .map(|a| {
                let f = &self.families[a];
                f.stride == 0.0
                    && !f.private
                    && !self.lanes_cross(f)
                    && !self.families.iter().enumerate().any(|(b, g)| meets(a, f, b, g))
            })
            .collect();
        for a in 0..held.len() {
            let others = || (0..held.len()).filter(|b| !held[a] && !held[*b]).map(|b| (b, &self.families[b]));
            let f = &self.families[a];
            let observed = others()
                .any(|(b, g)| b != a && g.array == f.array && (!f.stored.is_empty() || !g.stored.is_empty()));
            let clobbered = others().any(|(b, g)| b != a && g.array == f.array && !g.stored.is_empty());
            let rows = f.clobbered && !f.observed && !held[a];
            let cross = f.stride == 0.0 && !f.stored.is_empty() && self.lanes_cross(f);
            let f = &mut self.families[a];
            (f.observed, f.clobbered) = (observed || cross, clobbered || rows || cross);
        }
    }

    /// Whether lanes of one element of a family may be those of another one.
    pub(super) fn lanes_cross(&self, f: &Family) -> bool {
        let Some(lanes) = self.lanes else { return false };
        let reach = f.along(lanes.depth).abs() * f64::from(lanes.count.saturating_sub(1));
        let near = |s: &f64| f.offsets.iter().any(|o| o != s && (o - s).abs() <= reach);
        f.stored.iter().any(near)
    }

    /// Locations of the same references in rows that the compiler cannot tell from this one's.
    pub(super) fn other_rows(&mut self, at: usize) -> impl Iterator<Item = &mut Location> {
        let (family, offset) = (self.locations[at].family, self.locations[at].offset);
        let f = &self.families[family];
        let row = self.row_bytes.get(f.array).copied().flatten().filter(|_| !f.private && !self.kept);
        let there = move |l: &&mut Location| {
            l.family == family && row.is_some_and(|row| (l.offset - offset).abs() >= row)
        };
        self.locations.iter_mut().filter(there)
    }

    pub(super) fn family(&self, touch: &crate::lower::Touch) -> Option<usize> {
        let address = touch.address.as_ref()?;
        self.families.iter().position(|f| f.array == touch.array && f.terms == address.terms)
    }

    /// Notes what a touch refers to.
    pub(super) fn declare(&mut self, touch: &crate::lower::Touch) {
        let Some(address) = &touch.address else { return };
        let at = self.family(touch).unwrap_or_else(|| {
            self.families.push(Family {
                array: touch.array,
                terms: address.terms.clone(),
                stride: self.depth.map_or(0.0, |d| address.coefficient(d)),
                bytes: touch.bytes,
                private: touch.private,
                ..Family::default()
            });
            self.families.len() - 1
        });
        let family = &mut self.families[at];
        let alike = if touch.write { &mut family.stored } else { &mut family.loaded };
        if !alike.contains(&address.constant) {
            alike.push(address.constant);
        }
        if !family.offsets.contains(&address.constant) {
            family.offsets.push(address.constant);
        }
        family.carried |= touch.carried && self.aliases.is_some();
    }

    /// References to the same array that do not move alike: compared before the loop, or in each iteration.
    pub(super) fn meet(&mut self) {
        for at in 0..self.families.len() {
            for other in at + 1..self.families.len() {
                let (f, o) = (&self.families[at], &self.families[other]);
                let (stores, there) = (!f.stored.is_empty(), !o.stored.is_empty());
                if o.array != f.array || !(stores || there) || f.carried || o.carried {
                    continue;
                }
                if o.stride != f.stride && o.stride != 0.0 && f.stride != 0.0 {
                    self.result.vectorisable = false;
                }
                self.families[other].clobbered |= stores;
                self.families[at].clobbered |= there;
                self.families[other].observed = true;
                self.families[at].observed = true;
            }
        }
    }

    /// What the compiler compares before the loop, of references to one array that move differently.
    pub(super) fn compare(&mut self, program: &Lowered<'_>, innermost: usize, told: bool) {
        for (at, a) in self.families.iter().enumerate().filter(|(_, f)| f.observed) {
            for b in self.families[at + 1..].iter().filter(|b| b.array == a.array) {
                if a.stored.is_empty() && b.stored.is_empty() {
                    continue;
                }
                let found = overlap(program, innermost, &a.references(), &b.references());
                if !told || found.elements_meet {
                    self.result.checks += 1;
                    self.result.checks_fail = self.result.checks_fail.max(found.checks_fail);
                }
            }
        }
    }

    /// Strides of a row whose length is only known at run time: LLVM makes a vectorised version for length one
    /// (`collectStridedAccess` in its LoopAccessAnalysis), so that the loop is scalar at any other; unless it sees that the loop
    /// is no longer than that. Of a length that is no parameter by itself it makes none.
    pub(super) fn guessed_strides(&mut self, program: &Lowered<'_>, innermost: usize) {
        let header = &program.loops[innermost].header;
        let guessed = self.families.iter().any(|f| {
            program
                .facts
                .parametric_row
                .get(f.array)
                .and_then(Option::as_ref)
                .is_some_and(|row| f.stride == row.bytes && !at_most(header, &row.length))
        });
        if guessed {
            self.result.vectorisable = false;
        }
    }

    pub(super) fn location(&mut self, family: usize, offset: f64, bytes: f64) -> usize {
        let next = self.locations.len();
        let at = *self.index.entry((family, offset.to_bits())).or_insert(next);
        if at == next {
            self.locations.push(Location {
                family,
                offset,
                loaded_at: u32::MAX,
                bytes,
                ..Location::default()
            });
        }
        at
    }

    /// Bytes of which the first address of the loop is a multiple, as far as a line; arrays are taken to start with one.
    pub(super) fn aligned(&self, family: usize, offset: f64, bytes: f64) -> f64 {
        let line = self.target.caches().first().map_or(64.0, |c| f64::from(c.line));
        let along = self.lanes.map(|l| l.depth).or(self.depth);
        let outer = self.families[family].terms.iter().filter(|t| Some(usize::from(t.0)) != along);
        multiple(line, outer.map(|t| t.1).chain([offset]), bytes)
    }

    /// Bytes from a lane or iteration to the next.
    pub(super) fn step(&self, family: usize) -> f64 {
        match self.lanes {
            None => self.families[family].stride,
            Some(lanes) => self.families[family].along(lanes.depth),
        }
    }

    pub(super) fn stride(&self, family: usize, offset: f64, bytes: f64, write: bool) -> Stride {
        let stride = self.step(family);
        if stride == 0.0 {
            Stride::Invariant
        } else if stride == bytes {
            Stride::Unit(self.aligned(family, offset, bytes))
        } else if stride == -bytes {
            Stride::Reverse
        } else if self.lanes.is_none() {
            let (gap, members) = (stride.abs() / bytes, self.group(family, offset, write));
            // Eight registers in the place of eight gathers are no gain; nor are six or seven of which something is missing, nor more
            // than four without instructions that permute two at a time.
            let most = match self.target.permutes_two() {
                true if members >= gap => 7.0,
                true => 5.0,
                false => 4.0,
            };
            // Of every second iteration the same: addresses are computed for each.
            let whole = gap.fract() == 0.0;
            if gap <= most && whole { Stride::Near { gap, members } } else { Stride::Far }
        } else {
            Stride::Far
        }
    }

    /// How many accesses of a family lie within one iteration's stride together with one at an offset, itself counted.
    pub(super) fn group(&self, family: usize, offset: f64, write: bool) -> f64 {
        let f = &self.families[family];
        let alike = if write { &f.stored } else { &f.loaded };
        let first = alike.iter().copied().fold(offset, f64::min);
        let iteration = |at: f64| ((at - first) / f.stride.abs()).floor();
        alike.iter().filter(|at| iteration(**at) == iteration(offset)).count() as f64
    }
}

/// Whether a loop is seen to have no more iterations than that.
fn at_most(header: &LoopHeader, length: &Affine) -> bool {
    let more = header.single_bounds().and_then(|(lower, upper)| (&(upper - lower) - length).as_constant());
    more.is_some_and(|more| more <= 0)
}
