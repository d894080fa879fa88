//! Neighbours in memory that an iteration accesses, which the compiler may pack.

use super::{Location, Scan};
use rustc_hash::FxHashSet;

impl Scan<'_> {
    /// The shortest run of neighbours that are stored. The compiler moves no store across one to another row that may be the same:
    /// so in what comes between two of them, in order of the program.
    pub(super) fn shortest_run(&self) -> usize {
        let in_memory = |l: &&Location| l.stored && !self.families[l.family].private;
        let stored: Vec<&Location> = self.locations.iter().filter(in_memory).collect();
        let other_row = |a: &Location, b: &Location| {
            let row = self.row_bytes.get(self.families[a.family].array).copied().flatten();
            a.family == b.family && row.is_some_and(|row| (a.offset - b.offset).abs() >= row)
        };
        let in_order = stored.chunk_by(|a, b| !other_row(a, b));
        in_order.flat_map(|part| runs(&sorted(part.iter().copied())).collect::<Vec<_>>()).min().unwrap_or(0)
    }

    /// Of what is loaded, that which neighbours do not take from neighbours in the same order.
    pub(super) fn elsewhere(&self, stored: &[&Location], lanes: usize) -> Elsewhere {
        let Elsewhere { mut across, mut permuted, mut shared } = Elsewhere::default();
        for pair in stored.windows(2).filter(|pair| are_neighbours(pair[0], pair[1])) {
            for (&at, &next) in pair[0].loaded_for.iter().zip(&pair[1].loaded_for) {
                let (a, b) = (&self.locations[at], &self.locations[next]);
                let apart = b.offset - a.offset;
                if at == next {
                    shared.insert(at);
                } else if a.family != b.family || apart.abs() >= lanes as f64 * a.bytes {
                    across.extend([at, next]);
                } else if apart != a.bytes {
                    permuted.extend([at, next]);
                }
            }
        }
        permuted.retain(|at| !across.contains(at));
        Elsewhere { across, permuted, shared }
    }
}

/// Locations by what neighbours take from them.
#[derive(Default)]
pub(super) struct Elsewhere {
    /// Elements of several vectors: a transposition's copies are neighbours for others than those that they are packed with.
    pub across: FxHashSet<usize>,
    /// Elements of one vector, in another order: the parts of a complex product.
    pub permuted: FxHashSet<usize>,
    /// One element for several.
    pub shared: FxHashSet<usize>,
}

/// Locations in order of memory.
pub(super) fn sorted<'a>(locations: impl Iterator<Item = &'a Location>) -> Vec<&'a Location> {
    let mut all: Vec<_> = locations.collect();
    all.sort_by(|a, b| a.family.cmp(&b.family).then(a.offset.total_cmp(&b.offset)));
    all
}

/// Lengths of runs of neighbours that are computed by the same operations.
pub(super) fn runs(sorted: &[&Location]) -> impl Iterator<Item = usize> {
    sorted.chunk_by(|a, b| are_neighbours(a, b)).map(<[_]>::len)
}

fn are_neighbours(a: &Location, b: &Location) -> bool {
    a.family == b.family && b.offset - a.offset == a.bytes && a.shape == b.shape
}
