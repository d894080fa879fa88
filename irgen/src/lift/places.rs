//! What became of each loop of a function, and where it stands in the source.

use super::cfg::Cfg;
use super::source_location;
use crate::llvm::SourceLocation as Place;
use loop_tree::SourceLocation;

/// A loop of the function, inlined ones too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopPlace {
    /// Where its text begins, if the IR says so: in the function that it was written in.
    pub begin: Option<SourceLocation>,
    /// Line and column where it ends, in the same file.
    pub end: Option<(u32, u32)>,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is part of the region with this number.
    Region(usize),
    /// It is described in no region: the code of a [`Remark`](super::Remark), and its message.
    Left(&'static str, String),
}

/// What a loop is left for that nobody looked at, as what is around it has no shape.
const UNSEEN: &str = "control around the loop has no shape that is looked into";

/// The loops of the graph; `fates` by number of the loop.
pub(super) fn places(cfg: &Cfg<'_>, fates: &[Option<Fate>]) -> Vec<LoopPlace> {
    let place = |(number, fate): (usize, &Option<Fate>)| {
        let latches = cfg.loops[number].latches.iter().filter_map(|&l| cfg.blocks[l].terminator());
        let said = latches.map(|l| l.loop_range()).find(|r| r.0.is_some() && r.1.is_some());
        let (begin, end) = said.unwrap_or_else(|| extent(cfg, number));
        LoopPlace {
            begin: begin.and_then(source_location),
            end: end.map(|e| (e.line, e.column)),
            fate: fate.clone().unwrap_or_else(|| Fate::Left("control", UNSEEN.to_owned())),
        }
    };
    fates.iter().enumerate().map(place).collect()
}

/// Where the code of a loop begins and ends that has lost what the front end said of it, in the function that it stands in.
fn extent(cfg: &Cfg<'_>, number: usize) -> (Option<Place>, Option<Place>) {
    let insts = cfg.loops[number].blocks.iter().flat_map(|&b| &cfg.insts[b]);
    let mut places: Vec<Place> = insts.filter_map(|i| i.location_in_function()).collect();
    places.retain(|p| p.line > 0);
    places.sort_by_key(|p| (p.line, p.column));
    (places.first().cloned(), places.pop())
}
