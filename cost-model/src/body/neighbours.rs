//! Neighbours in memory that an iteration accesses, which the compiler may pack.

use super::{Location, Scan};

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
}

/// Locations in order of memory.
pub(super) fn sorted<'a>(locations: impl Iterator<Item = &'a Location>) -> Vec<&'a Location> {
    let mut all: Vec<_> = locations.collect();
    all.sort_by(|a, b| a.family.cmp(&b.family).then(a.offset.total_cmp(&b.offset)));
    all
}

/// Lengths of runs of neighbours that are computed by the same operations.
pub(super) fn runs(sorted: &[&Location]) -> impl Iterator<Item = usize> {
    let next = |a: &&Location, b: &&Location| {
        a.family == b.family && b.offset - a.offset == a.bytes && a.shape == b.shape
    };
    sorted.chunk_by(next).map(<[_]>::len)
}
