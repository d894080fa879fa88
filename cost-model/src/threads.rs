//! Loops that threads share: how even their parts are, what it takes to start them, and the lines that go from core to core.
//!
//! A thread's part of the iterations is the same in each run of a loop, so what it alone works on stays in its caches. Lines that
//! another core has come instead from there, at about the price of lines from the cache that all cores share.

use crate::Target;
use crate::footprint::{Group, groups};
use crate::lower::Lowered;
use loop_tree::LoopKind;
use smallvec::SmallVec;

/// What a line takes that another core has, of what one takes from the cache below. On Zen 5, read or written in sequence: 1.2 where
/// cores share that cache, 3 where they do not.
const CROSSING: f64 = 2.0;
/// Parts of two loops within which both give a thread the same elements.
const ALIKE: f64 = 0.1;

/// Threads at work on a tree.
pub(crate) struct Threads<'p, 'k> {
    program: &'p Lowered<'k>,
    target: &'p dyn Target,
    count: f64,
}

impl<'p, 'k> Threads<'p, 'k> {
    pub fn new(program: &'p Lowered<'k>, target: &'p dyn Target, count: u32) -> Self {
        Threads { program, target, count: f64::from(count) }
    }

    /// The loop around a loop, or that itself, of which threads share the iterations: the outermost one that is marked parallel.
    pub fn shared(&self, at: Option<usize>) -> Option<usize> {
        if self.count <= 1.0 {
            return None;
        }
        let marked = |l: &usize| self.program.loops[*l].header.kind == LoopKind::Parallel;
        let shared = self.program.path(at).filter(marked).last();
        shared.filter(|l| !self.program.path(Some(*l)).any(|around| self.program.is_vector(around)))
    }

    /// By how many threads the iterations of a loop are executed at a time.
    pub fn at_a_time(&self, index: usize) -> f64 {
        let Some(shared) = self.shared(Some(index)) else { return 1.0 };
        let l = &self.program.loops[shared];
        let trip = l.trip.max(1.0);
        // The last ones wait for the thread that has one more: where the number of iterations varies, for half of them in the mean.
        let longest = match l.exact {
            true => (trip / self.count).ceil(),
            false => ((trip + (self.count - 1.0) / 2.0) / self.count).max(1.0),
        };
        trip / longest
    }

    /// Cycles of one run of a shared loop beyond what its threads compute, and of what comes from other cores in every run but the first.
    pub fn run(&self, index: usize) -> (f64, f64) {
        (self.target.fork_join(), self.crossing(index))
    }

    fn crossing(&self, index: usize) -> f64 {
        let program = self.program;
        let Some(around) = program.loops[index].parent else { return 0.0 };
        let all = groups(program);
        let within = |g: &Group, l| program.path(g.parent).any(|at| at == l);
        let (mut touched, mut cycles) = (0.0, 0.0);
        for group in all.iter().filter(|g| within(g, index)) {
            let lines = self.lines(group, index);
            touched += lines;
            let writers = all.iter().filter(|w| w.written && w.array == group.array && within(w, around));
            let moved: f64 = writers.map(|w| self.moved(group, lines, index, w, around)).sum();
            cycles += moved.min(lines) * self.line(group);
        }
        // What a core has no room for comes from below in any case.
        let Some(private) = self.target.caches().iter().rev().nth(1) else { return 0.0 };
        let room = private.bytes as f64 / f64::from(private.line.max(1)) * self.count;
        cycles * (room / f64::max(touched, 1.0)).min(1.0) / self.count
    }

    /// Of the lines that a group touches in one run of a shared loop, those that another thread wrote through a reference since the
    /// run before.
    fn moved(&self, group: &Group, lines: f64, index: usize, writer: &Group, around: usize) -> f64 {
        let others = (self.count - 1.0) / self.count;
        let Some(shared) = self.shared(writer.parent) else {
            // Written by one of them.
            let below = self.program.path(writer.parent).take_while(|l| *l != around).last();
            return lines.min(below.map_or(1.0, |l| self.lines(writer, l))) * others;
        };
        let written = self.lines(writer, shared);
        let (Some(here), Some(there)) = (self.part(group, index, around), self.part(writer, shared, around))
        else {
            return lines.min(written) * others;
        };
        let alike = (here.extent - there.extent).abs() <= ALIKE * here.extent.max(there.extent);
        // In blocks, what lies where they meet changes hands; in turns, all of it does.
        let moves = match here.in_turn || there.in_turn {
            true if here.moves % self.count == 0.0 && here.in_turn == there.in_turn => 0.0,
            true => others,
            false => (here.moves.max(there.moves) * (self.count - 1.0) / here.trip).min(others),
        };
        lines.min(written) * if alike { moves } else { others }
    }

    /// How a shared loop divides what a group touches; `None`: each iteration touches the same.
    fn part(&self, group: &Group, shared: usize, around: usize) -> Option<Part> {
        let (l, outer) = (&self.program.loops[shared], &self.program.loops[around]);
        let address = group.address.as_ref()?;
        let own = address.coefficient(l.depth).abs();
        if own == 0.0 {
            return None;
        }
        let extent = own * l.trip;
        let step = address.coefficient(outer.depth).abs();
        // What is further away than all that one run touches, no iteration has touched in the run before.
        let moves = if step < extent { step / own } else { 0.0 };
        let inside = |at: &usize| *at != shared && self.program.path(Some(*at)).any(|l| l == shared);
        let uneven = |at: usize| {
            let extent = self.program.loops[at].extent.as_ref();
            extent.is_none_or(|e| e.coefficient(l.depth) != 0.0)
        };
        let in_turn = (0..self.program.loops.len()).filter(inside).any(uneven);
        Some(Part { extent, trip: l.trip.max(1.0), moves, in_turn })
    }

    /// Lines that a group touches in one run of a loop.
    fn lines(&self, group: &Group, index: usize) -> f64 {
        let Some(cache) = self.target.caches().iter().rev().nth(1) else { return 0.0 };
        let mut loops: SmallVec<[usize; 6]> =
            self.program.path(group.parent).take_while(|l| *l != index).collect();
        loops.push(index);
        group.footprint(self.program, &loops, f64::from(cache.line.max(1)), 0.0).lines
    }

    /// Cycles of a line from another core.
    fn line(&self, group: &Group) -> f64 {
        let Some(cache) = self.target.caches().iter().rev().nth(1) else { return 0.0 };
        let prefetch = self.target.prefetch();
        let covered = group.sequential(self.program, f64::from(cache.line), prefetch.run_bytes.max(1.0));
        let alone = (cache.fill_latency / prefetch.outstanding.max(1.0)).max(cache.fill);
        CROSSING * (covered * cache.fill + (1.0 - covered) * alone)
    }
}

struct Part {
    /// Bytes that all iterations together reach over.
    extent: f64,
    trip: f64,
    /// Iterations by which elements move from one run to the next.
    moves: f64,
    /// Whether threads take iterations in turn, since they differ in length; else each has a block.
    in_turn: bool,
}
