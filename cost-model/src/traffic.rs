//! Lines and pages moved into each level, from the footprint at each loop depth.
//!
//! At a loop, what one iteration leaves in a cache is there for the next one if everything that an iteration touches
//! fits. Then the loop brings in the union of its iterations, else each iteration brings in its own.

use crate::Target;
use crate::footprint::{Apart, Footprint, Group, Union, groups};
use crate::least::lasts;
use crate::linear::Linear;
use crate::lower::{Loop, Lowered};
use crate::transfers::Transfer;
use crate::trip_counts::LARGEST;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What one group moves while a part of the tree runs, whatever the others left in the caches.
pub(crate) struct Moved {
    state: State,
    /// Of a miss, by level.
    costs: SmallVec<[Transfer; 6]>,
    /// What a miss of the first level takes more where vectors are stored.
    split: f64,
}

/// Lines or pages moved for one group.
#[derive(Clone)]
pub(crate) struct Traffic {
    /// Misses of each cache level, then of each level of translation.
    pub misses: SmallVec<[f64; 6]>,
    /// What they take.
    pub transfers: SmallVec<[Transfer; 6]>,
    /// What those of the first level take more where vectors are stored.
    pub split: f64,
}

#[derive(Clone, Copy)]
struct Level {
    unit: f64,
    capacity: f64,
    sets: f64,
    /// Whether an address decides the set before it is translated, which scatters lines over sets.
    untranslated: bool,
    /// Whether it is filled from memory.
    last: bool,
    /// Units that it may hold at best, where others take what they want of it.
    at_best: f64,
    /// Share of what fits that has to be brought in all the same.
    renewed: f64,
}

fn levels(target: &dyn Target) -> SmallVec<[Level; 6]> {
    let mut levels: SmallVec<[Level; 6]> = target
        .caches()
        .iter()
        .zip(1..)
        .map(|(c, number)| {
            let lines = c.bytes as f64 / f64::from(c.line.max(1));
            let sets = if c.indexed { lines / f64::from(c.ways.max(1)) } else { 0.0 };
            Level {
                unit: f64::from(c.line.max(1)),
                capacity: lines,
                sets,
                untranslated: sets * f64::from(c.line) <= f64::from(target.page_bytes()),
                last: false,
                at_best: lines,
                renewed: RENEWED.powi(number),
            }
        })
        .chain(target.tlbs().iter().zip(1..).map(|(t, number)| Level {
            unit: f64::from(target.page_bytes().max(1)),
            capacity: f64::from(t.entries),
            sets: 0.0,
            untranslated: false,
            last: false,
            at_best: f64::from(t.entries),
            renewed: RENEWED.powi(number),
        }))
        .collect();
    if let Some(last) = target.caches().len().checked_sub(1) {
        levels[last].last = true;
        if let Some(bytes) = target.last_at_best() {
            levels[last].at_best = (bytes as f64 / levels[last].unit).max(levels[last].capacity);
        }
    }
    levels
}

/// Cycles at each level for what is touched at all, brought in once, in the best order.
pub(crate) fn compulsory(program: &Lowered<'_>, target: &dyn Target) -> SmallVec<[Transfer; 6]> {
    let levels = levels(target);
    let lasting = groups(program).into_iter().filter(|g| lasts(program, g.array) && g.probability >= 1.0);
    let mut all: Vec<State> = lasting.map(|g| State::new(program, g, &levels)).collect();
    for s in &mut all {
        s.inner.extend(program.path(s.group.parent));
        s.measure(program, &levels, None);
    }
    let arrays = touched(&named(&all), &levels, &|_, _| Apart::default());
    let is_written = |array| all.iter().any(|s| s.group.array == array && s.group.written);
    let fills = target.caches().iter().map(|c| c.fill).chain(target.tlbs().iter().map(|t| t.miss));
    fills
        .enumerate()
        .map(|(i, fill)| {
            let lines = |written: bool| {
                let alike = arrays.iter().filter(|a| is_written(a.array.0) == written);
                alike.map(|a| a.all[i].lines).sum::<f64>()
            };
            let (read, written) = (lines(false), lines(true));
            let fits = fit(&levels[i], (read + written) / levels[i].capacity.max(1.0));
            let lines = (read + target.caches().get(i).map_or(1.0, |c| c.written) * written)
                * (fits * levels[i].renewed + 1.0 - fits);
            Transfer::covered(lines * fill)
        })
        .collect()
}

/// How far what is touched stays in a level, of which it is such a part. Of what an iteration touches, some is not wanted again: there
/// is no sharp edge. Other code takes room in the last level, which does not replace what was used longest ago (on Zen it takes what the second level
/// gives up): of what is too large for it, a part stays from one time to the next. Where others leave more of it at times, how often that is
/// enough.
fn fit(level: &Level, part: f64) -> f64 {
    if level.last {
        let beyond = if part > 1.0 { 0.5 / (part * part) } else { 0.0 };
        if level.at_best > level.capacity {
            let often = 1.0 - part.max(1.0).ln() / (level.at_best / level.capacity).ln();
            return often.max(beyond);
        }
        return (1.6 - part).clamp(beyond, 1.0);
    }
    if level.sets > 0.0 && !level.untranslated {
        return uncrowded(part * level.capacity / level.sets, level.capacity / level.sets);
    }
    ((1.25 - part) / 0.3).clamp(0.0, 1.0)
}

/// Of pages that lie anywhere in memory, those that have no more than `ways` in their sets, if so many lie in each on average: numbers
/// of Poisson's. Of what is touched in turn, sets with more keep nothing. 400 KB of 512 take 7 cycles on Zen 3 for what 200 KB do in 5.
fn uncrowded(mean: f64, ways: f64) -> f64 {
    let (mut sum, mut term) = (0.0, (-mean).exp());
    for others in 0..ways as u32 {
        sum += term;
        term *= mean / f64::from(others + 1);
    }
    sum.min(1.0)
}

/// What the groups of a part of the tree move.
pub(crate) fn moved(program: &Lowered<'_>, target: &dyn Target) -> Vec<Moved> {
    let levels = levels(target);
    let mut all: Vec<State> = groups(program).into_iter().map(|g| State::new(program, g, &levels)).collect();
    for s in &mut all {
        s.measure(program, &levels, None);
        for m in &mut s.misses {
            *m *= s.group.probability.min(1.0);
        }
    }
    // Children come after their parents, so backwards is inside out.
    for l in (0..program.loops.len()).rev() {
        let inside: SmallVec<[usize; 16]> =
            (0..all.len()).filter(|g| program.path(all[*g].group.parent).any(|p| p == l)).collect();
        cross(program, &mut all, &inside, &levels, l);
    }
    // Rows read side by side in one loop.
    let line = levels.first().map_or(64.0, |l| l.unit);
    let mut rows: FxHashMap<Option<usize>, [f64; 2]> = FxHashMap::default();
    for s in &all {
        let here = rows.entry(s.group.parent).or_default();
        let streams = s.group.streams(program, line);
        here[0] += streams;
        here[1] += if s.group.written { streams } else { 0.0 };
    }
    let vector = f64::from(target.vector_bits() / 8);
    let priced = all.into_iter().map(|state| {
        let [streams, stored] = rows.get(&state.group.parent).copied().unwrap_or_default();
        let in_turn = state.group.written && stored > 1.0;
        // Shorter vectors wait less for a line, but more than in proportion.
        let split = if in_turn { state.group.across(program, line, vector) } else { 0.0 };
        Moved {
            costs: state.costs(program, target, streams),
            split: split * target.split_store_waits() * (vector / line).min(1.0).sqrt(),
            state,
        }
    });
    priced.collect()
}

/// The traffic of the whole tree, from that of its parts: of groups one after the other, which are told apart by part where their
/// arrays are buffers.
pub(crate) fn together(parts: &[&[Moved]], arrays: usize, target: &dyn Target) -> Vec<Vec<Traffic>> {
    let levels = levels(target);
    let mut all: Vec<Named<'_>> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let name = |s: &State| (s.group.array, if s.group.array < arrays { 0 } else { number });
        all.extend(part.iter().map(|m| (name(&m.state), &m.state)));
    }
    let touched = touched(&all, &levels, &|_, _| Apart::default());
    let fits = fits(&touched, &levels, 0.0);
    let of_name: FxHashMap<Name, &Touched> = touched.iter().map(|a| (a.array, a)).collect();
    let mut names = all.iter().map(|(name, _)| name);
    let mut whole = |m: &Moved| {
        let array = names.next().and_then(|name| of_name.get(name));
        let mut misses = m.state.misses.clone();
        for i in 0..levels.len() {
            let first = m.state.first(i);
            let shared = array.map_or(1.0, |a| a.shared(i));
            // Computed again and again, of data that stays where it fits.
            let kept = levels[i].renewed * shared * first;
            let not_kept = (misses[i] - fits[i] * first).max(0.0);
            misses[i] = (fits[i] * kept + not_kept).min(LARGEST);
        }
        let transfers = m.costs.iter().zip(&misses).map(|(cost, misses)| cost.times(*misses)).collect();
        let split = (m.split * misses.first().copied().unwrap_or(0.0)).min(LARGEST);
        Traffic { misses, transfers, split }
    };
    parts.iter().map(|part| part.iter().map(&mut whole).collect()).collect()
}

/// An array, and for a buffer the part that it is in.
type Name = (usize, usize);
/// What a group touches, with the name of its array.
type Named<'s> = (Name, &'s State);

/// Groups of one part.
fn named(all: &[State]) -> Vec<Named<'_>> {
    all.iter().map(|s| ((s.group.array, 0), s)).collect()
}

/// What one iteration of a loop touches of an array, by level.
struct Touched {
    array: Name,
    all: SmallVec<[Footprint; 6]>,
    /// The sum of misses of its groups.
    misses: SmallVec<[f64; 6]>,
}

impl Touched {
    /// Of the lines that groups bring in, those that no other group of the iteration has.
    fn shared(&self, level: usize) -> f64 {
        let (lines, sum) = (self.all[level].lines, self.misses[level]);
        if sum > 0.0 { (lines / sum).min(1.0) } else { 1.0 }
    }
}

/// How far what is touched stays in each level, where that is more at times, and less at others: in most iterations of a triangle
/// rows are longer than on average. Taken at three sizes, as if all up to a largest one were alike often.
fn fits(arrays: &[Touched], levels: &[Level], spread: f64) -> SmallVec<[f64; 6]> {
    let apart = 2.0 / 3.0_f64.sqrt() * spread.min(1.0 / 3.0_f64.sqrt());
    let of_level = |(i, level): (usize, &Level)| {
        let total: f64 = arrays.iter().map(|a| a.all[i].effective).sum();
        let part = total / level.capacity.max(1.0);
        if apart == 0.0 {
            return fit(level, part);
        }
        let sizes = [1.0 - apart, 1.0, 1.0 + apart];
        sizes.iter().map(|size| size / 3.0 * fit(level, size * part)).sum()
    };
    levels.iter().enumerate().map(of_level).collect()
}

/// The unions of what stays in its place to each other, by level, each with its first group.
type Unions<'s> = Vec<(&'s State, Vec<Union>)>;

/// What one iteration touches of each array: first the unions of what stays in its place to each other as the loops around run, then
/// of these.
fn touched(inside: &[Named<'_>], levels: &[Level], apart: &dyn Fn(&State, &State) -> Apart) -> Vec<Touched> {
    let unite = |unions: &mut [Union], i: usize, f: Footprint, s: &State, apart: &Apart| {
        unions[i].add(f, levels[i].unit, s.most[i], apart);
    };
    let mut number: FxHashMap<Name, usize> = FxHashMap::default();
    let mut arrays: Vec<(Touched, Unions<'_>)> = Vec::new();
    for (array, s) in inside {
        let at = *number.entry(*array).or_insert_with(|| {
            let misses = SmallVec::from_elem(0.0, levels.len());
            arrays.push((Touched { array: *array, all: SmallVec::new(), misses }, Vec::with_capacity(1)));
            arrays.len() - 1
        });
        let (touched, parts) = &mut arrays[at];
        touched.misses.iter_mut().enumerate().for_each(|(i, sum)| *sum += s.first(i));
        let footprints = s.footprints.iter().copied();
        match parts.iter_mut().find(|(first, _)| apart(first, s).is_never()) {
            None => parts.push((s, footprints.map(Union::of).collect())),
            Some((_, part)) => {
                footprints.enumerate().for_each(|(i, f)| unite(part, i, f, s, &Apart::default()));
            }
        }
    }
    let whole = |(touched, parts): (Touched, Unions<'_>)| {
        let mut parts = parts.into_iter();
        let Some((first, mut whole)) = parts.next() else { return touched };
        for (other, part) in parts {
            let apart = apart(first, other);
            part.iter().enumerate().for_each(|(i, u)| unite(&mut whole, i, u.total, first, &apart));
        }
        Touched { all: whole.iter().map(|u| u.total).collect(), ..touched }
    };
    arrays.into_iter().map(whole).collect()
}

struct State {
    group: Group,
    inner: SmallVec<[usize; 6]>,
    footprints: SmallVec<[Footprint; 6]>,
    misses: SmallVec<[f64; 6]>,
    /// Lines or pages that the array has.
    most: SmallVec<[f64; 6]>,
}

impl State {
    fn new(program: &Lowered<'_>, group: Group, levels: &[Level]) -> Self {
        State {
            most: levels.iter().map(|l| program.most(group.array, l.unit)).collect(),
            group,
            inner: SmallVec::new(),
            footprints: SmallVec::from_elem(Footprint::default(), levels.len()),
            misses: SmallVec::from_elem(1.0, levels.len()),
        }
    }

    /// Footprints with one more loop.
    fn measure(&mut self, program: &Lowered<'_>, levels: &[Level], with: Option<usize>) {
        self.inner.extend(with);
        if with.is_some_and(|l| !self.group.moves_with(&program.loops[l])) {
            return;
        }
        for (i, level) in levels.iter().enumerate() {
            // Levels of one line size and no conflicts have equal footprints.
            self.footprints[i] = match i.checked_sub(1) {
                Some(p)
                    if levels[p].unit == level.unit && levels[p].sets.min(64.0) == level.sets.min(64.0) =>
                {
                    self.footprints[p]
                }
                _ => self.group.footprint(program, &self.inner, level.unit, level.sets),
            };
            if with.is_none() {
                self.misses[i] = self.footprints[i].lines;
            }
        }
    }

    /// By how much the loops inside are longer and shorter that move it, from one iteration to the next of those down to a depth.
    fn spread(&self, program: &Lowered<'_>, depth: usize) -> f64 {
        let varies = |l: &&Loop| {
            let forms = l.extent.iter().chain(&l.below);
            !l.exact
                && self.group.moves_with(l)
                && forms.flat_map(|f| &f.terms).all(|t| usize::from(t.0) <= depth)
        };
        self.inner.iter().map(|l| &program.loops[*l]).filter(varies).map(|l| l.spread).fold(0.0, f64::max)
    }

    /// Of the misses, those of lines that are touched for the first time.
    fn first(&self, level: usize) -> f64 {
        self.misses[level].min(self.footprints[level].lines)
    }

    /// What a miss takes, by level, where so many sequences of lines are read side by side.
    fn costs(&self, program: &Lowered<'_>, target: &dyn Target, streams: f64) -> SmallVec<[Transfer; 6]> {
        let prefetch = target.prefetch();
        let line = target.caches().first().map_or(64.0, |c| f64::from(c.line));
        let followed = (prefetch.streams / streams.max(1.0)).min(1.0);
        let covered = self.group.sequential(program, line, prefetch.run_bytes.max(1.0)) * followed;
        let caches = target.caches().iter().enumerate().map(|(level, c)| {
            // Lines written come in and go out again.
            let in_order = if self.group.written { c.written } else { 1.0 };
            // However many are in flight, lines do not come faster than when they are asked for in order.
            let mut random = (c.fill_latency / prefetch.outstanding.max(1.0)).max(c.fill) * in_order;
            if self.group.written && level == 0 {
                // They leave the core one after the other, but ask for their lines before.
                random += c.fill_latency / prefetch.outstanding_stores.max(1.0);
            }
            let (in_time, late) = (covered * c.fill * in_order, (1.0 - covered) * random);
            Transfer { cycles: in_time + late, exposed: late }
        });
        caches.chain(target.tlbs().iter().map(|t| Transfer::covered(t.miss))).collect()
    }
}

impl Moved {
    /// The array, or the buffer.
    pub fn array(&self) -> usize {
        self.state.group.array
    }

    /// The loop that its references stand in.
    pub fn parent(&self) -> Option<usize> {
        self.state.group.parent
    }
}

/// Share of what fits into the first level that has to be brought in all the same, since other code used the level too; of what
/// is not there, the same share is not in the second one either, and so on.
const RENEWED: f64 = 0.25;

/// The most lines of one set that the references directly inside a loop use in turn.
fn meeting(program: &Lowered<'_>, all: &[State], inside: &[usize], level: &Level, over: usize) -> f64 {
    let around = level.sets * level.unit;
    let mut places: SmallVec<[(Linear, FxHashMap<u32, f64>); 4]> = SmallVec::new();
    for &g in inside {
        let group = &all[g].group;
        if group.parent != Some(over) {
            continue;
        }
        let Some((place, sets)) = group.sets(program, level.unit, around) else { continue };
        let at = places.iter().position(|p| p.0 == place).unwrap_or_else(|| {
            places.push((place, FxHashMap::default()));
            places.len() - 1
        });
        for set in sets {
            *places[at].1.entry(set).or_default() += 1.0;
        }
    }
    places.iter().flat_map(|p| p.1.values()).fold(0.0, |a: f64, b| a.max(*b))
}

/// Goes from one iteration of a loop to all of them.
fn cross(program: &Lowered<'_>, all: &mut [State], inside: &[usize], levels: &[Level], over: usize) {
    let l = &program.loops[over];
    // A loop behind a guard, or over windows of which some are empty, is not entered in every iteration around it.
    let around = l.parent.map_or(1.0, |p| program.loops[p].runs * program.loops[p].trip);
    let entered = if around > 0.0 { (l.runs / around).min(1.0) } else { 1.0 };
    let path: SmallVec<[usize; 6]> = program.path(Some(over)).collect();
    let groups: SmallVec<[Named<'_>; 16]> =
        inside.iter().map(|g| ((all[*g].group.array, 0), &all[*g])).collect();
    let arrays = touched(&groups, levels, &|a, b| Apart::of(&a.group, &b.group, program, &path));
    drop(groups);
    let spread = inside.iter().map(|g| all[*g].spread(program, l.depth)).fold(0.0, f64::max);
    let mut fits = fits(&arrays, levels, spread);
    for (fits, level) in fits.iter_mut().zip(levels) {
        let conflict = || meeting(program, all, inside, level, over) > level.capacity / level.sets;
        if level.sets > 0.0 && level.untranslated && conflict() {
            *fits = 0.0;
        }
    }
    for &g in inside {
        let s = &mut all[g];
        let first: SmallVec<[f64; 6]> = (0..levels.len()).map(|i| s.first(i)).collect();
        s.measure(program, levels, Some(over));
        let Some(array) = arrays.iter().find(|a| a.array.0 == s.group.array) else { continue };
        for i in 0..levels.len() {
            let kept = (l.trip * array.shared(i) * first[i]).min(s.footprints[i].lines);
            // Where an iteration fits, so does what is inside of it, and brings in each line once.
            let not_kept = l.trip * (s.misses[i] - fits[i] * first[i]).max(0.0);
            s.misses[i] = ((fits[i] * kept + not_kept) * entered).min(LARGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets;

    #[test]
    fn pages_crowd_before_a_cache_is_full() {
        // Of 8 ways: no more than seven others.
        for (mean, share) in [(3.0, 0.988), (6.25, 0.709), (8.0, 0.453)] {
            let found = uncrowded(mean, 8.0);
            assert!((found - share).abs() < 0.002, "{mean}: {found}");
        }
        assert!(uncrowded(16.0, 8.0) < 0.02);
    }

    #[test]
    fn rows_of_a_triangle_that_fit_on_average_do_not_all_the_time() {
        let zen_5 = targets::by_name("znver5").expect("a target");
        let levels = levels(&zen_5);
        let pages = levels.len() - 1;
        let stays = |part: f64, spread: f64| {
            let lines = part * levels[pages].capacity;
            let all = SmallVec::from_elem(
                Footprint { lines, effective: lines, ..Footprint::default() },
                levels.len(),
            );
            let misses = SmallVec::from_elem(lines, levels.len());
            fits(&[Touched { array: (0, 0), all, misses }], &levels, spread)[pages]
        };
        let triangle = 1.0 / 3.0_f64.sqrt();
        assert_eq!((stays(0.9, 0.0), stays(0.3, triangle)), (1.0, 1.0));
        assert!((0.3..0.6).contains(&stays(0.9, triangle)), "{}", stays(0.9, triangle));
        assert!(stays(1.3, 0.0) < 0.01 && stays(1.3, triangle) > 0.05);
    }
}
