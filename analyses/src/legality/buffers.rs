//! Storage, where the tree has buffers: does every read get, through them, the value that it gets in the original?
//!
//! Order is checked as if there were no buffers, so each read would get the right value from the array itself. (But for arrays
//! *hidden* in buffers, whose order is another one: see [`values`].) For one buffer,
//! and each of its *executions* (of the child of its `Alloc`, one for each iteration of the loops around), it remains:
//!
//! - *In bounds*: each element that is touched or copied has a place.
//! - *In*: what is read was filled in, or was written before in the same execution. What is filled in, the region touches
//!   anyway, so that it may be read at all.
//! - *Out*: what is written is written back, or nobody reads it outside of the execution. What is written back was written in the
//!   execution; or it was filled in, so that nothing changes, and the region writes it anyway: memory that it does not write
//!   may be somebody else's.
//! - *Apart*: no two elements have one place; or, where nothing is filled in or written back, no other write to the place comes
//!   between a write and a read that depends on it.
//! - *Alone*: arrays that may overlap with it are not touched meanwhile, and nobody else looks. Where more is copied than the
//!   execution touches, the iterations of the loops around are not independent.
//! - *Freed*: control leaves the tree at its end only, where there is a buffer on the heap.
//! - *Computed*: where what a statement computes of elements is kept, nothing else touches them.
//!
//! A buffer inside of another one of the same array is copied from and to that one: for the outer one, what is touched through it
//! counts as touched directly, and what is copied must have a place.
//!
//! These are sufficient.

mod cover;
mod flow;
mod scene;
mod touch;
mod values;

pub(super) use flow::{Flows, flows};
pub(super) use values::{hideable, may_be_any};

use super::order::Check;
use super::witness::{BrokenStorage, StatementRef, StorageProblem, Witness};
use super::{Fault, Oracle, Verdict};
use crate::mutation::{self, Rule};
use crate::places::{Place, PlacedBuffer, PlacedLoop};
use crate::system::Row;
use loop_tree::{
    AccessKind, Affine, ArrayId, Buffer, Constraint, Derived, Home, LoopKind, Path, RuntimeCondition,
    StmtFlags, StmtId, Storage, Window,
};
use scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touch::{Copied, Touch, touched};

/// What a legal tree asks for.
#[derive(Default)]
pub(super) struct Judged {
    /// What must hold.
    pub conditions: BTreeSet<RuntimeCondition>,
    /// Arrays of which no order is kept: what reads get through buffers is all that counts.
    pub hidden: BTreeSet<ArrayId>,
    /// Buffers in which elements share places: the iterations of loops inside are not independent.
    pub shared: Vec<Path>,
    /// Buffers to which more is copied than they need: the iterations of loops around are not independent.
    pub wide: Vec<Path>,
}

impl Judged {
    pub fn verdict(self) -> Verdict {
        match self.conditions.is_empty() {
            true => Verdict::Always,
            false => Verdict::Under(self.conditions.into_iter().collect()),
        }
    }

    /// Whether the dependence need not be kept: it vanishes under the conditions, or nobody sees what it is on.
    pub fn leaves_out(&self, check: &Check) -> bool {
        check.vanishes_if.iter().any(|c| self.conditions.contains(c)) || check.is_on(&self.hidden)
    }

    /// Makes it so, where that is possible.
    pub fn without(
        &mut self,
        check: &Check,
        hideable: &BTreeSet<ArrayId>,
        witness: impl FnOnce() -> Witness,
    ) -> Result<(), Witness> {
        match check.vanishes_if.first() {
            Some(_) if mutation::off(Rule::OverlapConditions) => {}
            Some(condition) => _ = self.conditions.insert(condition.clone()),
            None if check.is_on(hideable) => self.hidden.extend(check.on.iter().flatten()),
            None => return Err(witness()),
        }
        Ok(())
    }

    /// Whether buffers let the iterations of a loop touch the same place.
    pub fn binds(&self, a_loop: &Path) -> bool {
        self.shared.iter().any(|buffer| a_loop.0.starts_with(&buffer.0))
            || self.wide.iter().any(|buffer| buffer.0.starts_with(&a_loop.0))
    }
}

/// What others could see, or could be, in the middle of an execution.
const SEEN: StmtFlags = StmtFlags::SIDE_EFFECTS
    .union(StmtFlags::ATOMIC_RELAXED)
    .union(StmtFlags::ATOMIC_ORDERED)
    .union(StmtFlags::MAY_THROW)
    .union(StmtFlags::MAY_NOT_RETURN)
    .union(StmtFlags::OPAQUE);

struct Judge<'o, 'p> {
    oracle: &'o Oracle,
    buffer: &'p PlacedBuffer,
    /// It stands in another buffer of the same array.
    nested: bool,
    /// Places inside.
    inside: Vec<&'p Place>,
    touches: Vec<Touch<'p>>,
    /// What buffers inside of this one copy from and to it.
    copies: Vec<Touch<'p>>,
    /// What it is filled with, and what it writes back.
    windows: Vec<Touch<'p>>,
}

/// Adds what the tree's buffers ask for, if they are right. `places` are those of the tree, with copies rolled up: a loop over
/// copies that hold buffers executes each of them.
pub(super) fn judge(oracle: &Oracle, places: &[Place], judged: &mut Judged) -> Result<(), Witness> {
    let mut all: BTreeMap<&Path, (&Arc<PlacedBuffer>, Vec<&Place>)> = BTreeMap::new();
    for place in places {
        for buffer in &place.buffers {
            all.entry(&buffer.path).or_insert((buffer, Vec::new())).1.push(place);
        }
    }
    let copied: BTreeMap<&Path, Vec<Copied>> =
        all.iter().map(|(path, (buffer, inside))| (*path, Copied::of(buffer, inside[0]))).collect();
    for (path, (buffer, inside)) in &all {
        let same = |other: &PlacedBuffer| other.buffer.array == buffer.buffer.array;
        let nested = inside[0].buffers.iter().any(|b| same(b) && b.path.0.len() < path.0.len());
        // Buffers inside of which this one is the next of the same array.
        let next = |p: &Path| all[p].1[0].buffers.iter().rfind(|b| same(b) && b.path.0.len() < p.0.len());
        let within =
            copied.iter().filter(|(p, _)| same(all[**p].0) && next(p).is_some_and(|b| b.path == **path));
        let mut judge = Judge {
            oracle,
            buffer,
            nested,
            inside: inside.clone(),
            touches: Vec::new(),
            copies: Vec::new(),
            windows: Vec::new(),
        };
        judge.touches = judge.touches()?;
        judge.copies = judge.copied(within.flat_map(|(_, list)| list))?;
        judge.windows = judge.copied(&copied[*path])?;
        judge.check_computed()?;
        judge.check_freed(places)?;
        if judged.hidden.contains(&buffer.buffer.array) {
            judge.run_hidden(judged)?;
        } else {
            judge.run(places, judged)?;
        }
    }
    Ok(())
}

impl<'p> Judge<'_, 'p> {
    fn run(&self, all: &[Place], judged: &mut Judged) -> Result<(), Witness> {
        let windows = self.data().windows().next().is_some();
        if windows && !mutation::off(Rule::BufferEffects) {
            let seen = |p: &&&Place| self.oracle.kernel.statement(p.statement).flags.intersects(SEEN);
            if let Some(place) = self.inside.iter().find(seen) {
                return Err(self.broken(StorageProblem::Seen, place.statement, None, &[], &[]));
            }
        }
        if !mutation::off(Rule::BufferOverlap) {
            judged.conditions.extend(self.overlaps(all, windows)?);
        }
        let wide = [self.check_in(all, judged)?, self.check_out(all, judged)?].contains(&true);
        let own = || self.touches.iter().filter(|t| t.own).chain(&self.copies);
        let placed: Vec<&Touch<'_>> = own().chain(self.windows.iter().filter(|_| wide)).collect();
        self.check_bounds(&placed)?;
        if wide {
            self.check_around(all, judged)?;
        }
        if self.data().instance_dims > 0 {
            self.check_same_place()?;
        }
        if let Some(broken) = self.one_place_for_two(&placed, windows || !self.copies.is_empty())? {
            if windows || !self.copies.is_empty() {
                return Err(broken);
            }
            self.check_overwritten()?;
            self.check_marks()?;
            judged.shared.push(self.buffer.path.clone());
        }
        Ok(())
    }

    fn run_hidden(&self, judged: &mut Judged) -> Result<(), Witness> {
        self.check_bounds(&self.touches.iter().collect::<Vec<_>>())?;
        self.check_values()?;
        self.check_marks()?;
        judged.shared.push(self.buffer.path.clone());
        Ok(())
    }

    /// Where what a statement computes of elements is kept, that statement alone takes it, and from here.
    fn check_computed(&self) -> Result<(), Witness> {
        let Some(by) = self.data().by.filter(|_| !mutation::off(Rule::BufferComputed)) else { return Ok(()) };
        let array = self.data().array;
        let direct = self.touches.iter().all(|t| t.own && t.place.statement == by) && self.copies.is_empty();
        let tested = self.inside.iter().any(|p| p.tests.iter().any(|test| test.array == array));
        let known = Derived::of(&self.oracle.kernel, by, array).is_some();
        if known && direct && !tested && self.data().fill.is_some() && self.data().write_back.is_none() {
            return Ok(());
        }
        Err(self.unsupported("something else touches what is kept as one statement computes it"))
    }

    /// What is allocated is freed behind the whole tree: control does not leave in its middle.
    fn check_freed(&self, all: &[Place]) -> Result<(), Witness> {
        if self.data().home != Home::Heap || mutation::off(Rule::BufferFreed) {
            return Ok(());
        }
        let leaves = StmtFlags::MAY_THROW | StmtFlags::MAY_NOT_RETURN;
        let left = all.iter().find(|p| self.oracle.kernel.statement(p.statement).flags.intersects(leaves));
        left.map_or(Ok(()), |p| Err(self.broken(StorageProblem::Leaked, p.statement, None, &[], &[])))
    }

    fn data(&self) -> &Buffer {
        &self.buffer.buffer
    }

    fn rank(&self) -> usize {
        self.oracle.kernel.array(self.data().array).rank()
    }

    fn storage(&self) -> Storage {
        self.oracle.kernel.array(self.data().array).storage
    }

    fn check_bounds(&self, touches: &[&Touch<'_>]) -> Result<(), Witness> {
        if mutation::off(Rule::BufferBounds) {
            return Ok(());
        }
        for touch in touches {
            for (at, dim) in touch.at.iter().zip(&self.data().dims) {
                let below = at.scale(-1).offset(-1);
                let above = at - &dim.extent;
                for outside in [below, above] {
                    if let Some(broken) = self.touch_where(touch, &outside, StorageProblem::Outside)? {
                        return Err(broken);
                    }
                }
            }
        }
        Ok(())
    }

    /// An execution of the touch in which the expression is not negative, as the problem that this is.
    fn touch_where(
        &self,
        touch: &Touch,
        nonnegative: &Affine,
        problem: StorageProblem,
    ) -> Result<Option<Witness>, Fault> {
        let mut scene = Scene::new(self.oracle, &[touch.place])?;
        let row = scene.system.row(nonnegative, &scene.times[0])?;
        scene.system.require_nonnegative(row);
        let element = scene.rows(0, &touch.element)?;
        let point = scene.find(&self.oracle.solver)?;
        Ok(point.map(|p| self.broken(problem, touch.place.statement, None, &element, &p)))
    }

    /// A touch outside of the window.
    fn outside_of(
        &self,
        window: &Window,
        touch: &Touch,
        problem: StorageProblem,
    ) -> Result<Option<Witness>, Fault> {
        for (range, subscript) in window.0.iter().zip(&touch.element) {
            let below = range.lower.iter().map(|l| (l - subscript).offset(-1));
            let above = range.upper.iter().map(|u| subscript - u);
            for outside in below.chain(above) {
                if let Some(broken) = self.touch_where(touch, &outside, problem)? {
                    return Ok(Some(broken));
                }
            }
        }
        Ok(None)
    }

    /// Whether more is filled in than the execution touches.
    fn check_in(&self, all: &[Place], judged: &mut Judged) -> Result<bool, Witness> {
        let reads = || self.touches.iter().filter(|t| t.reads);
        let Some(window) = &self.data().fill else {
            if self.storage() != Storage::Local && !mutation::off(Rule::BufferFill) {
                for read in reads() {
                    if !self.is_written_before(read)? {
                        return Err(self.broken(
                            StorageProblem::Unfilled,
                            read.place.statement,
                            None,
                            &[],
                            &[],
                        ));
                    }
                }
            }
            if reads().next().is_some() {
                self.check_flow(all, true)?;
            }
            return Ok(false);
        };
        if !mutation::off(Rule::BufferFill) {
            for read in reads() {
                if let Some(broken) = self.outside_of(window, read, StorageProblem::Unfilled)?
                    && !self.is_written_before(read)?
                {
                    return Err(broken);
                }
            }
        }
        // That nobody minds copies of more than is touched takes less to see than that it is no more.
        if !self.changes(all, judged) {
            let touches = |p: &&Place| touched(self.oracle, p, self.data().array).next().is_some();
            let loops = self.oracle.original.iter().filter(touches).flat_map(|p| &p.loops);
            if mutation::off(Rule::BufferUnchanged)
                || self.is_touched_by_region(window, &[])?
                || self.holds_where_loops_run(judged, loops, |assumed| {
                    self.is_touched_by_region(window, assumed)
                })?
            {
                return Ok(true);
            }
        }
        if self.is_touched(window, &[])? {
            return Ok(false);
        }
        if mutation::off(Rule::BufferFilled) || self.exists() || self.is_touched_somewhere(window)? {
            return Ok(true);
        }
        if self.holds_where_loops_run(judged, self.loops(), |assumed| self.is_touched(window, assumed))? {
            return Ok(false);
        }
        Err(self.broken(StorageProblem::Filled, self.inside[0].statement, None, &[], &[]))
    }

    /// Whether all elements that there are may be read and written at any time.
    fn exists(&self) -> bool {
        self.nested || (self.rank() == 0 && self.storage() != Storage::Memory)
    }

    /// Whether more is written back than the execution writes.
    fn check_out(&self, all: &[Place], judged: &mut Judged) -> Result<bool, Witness> {
        let writes = || self.touches.iter().filter(|t| !t.reads);
        let Some(window) = &self.data().write_back else {
            let Some(write) = writes().next() else { return Ok(false) };
            let kept = matches!(self.storage(), Storage::Local | Storage::LiveIn);
            if !kept && !mutation::off(Rule::BufferWriteBack) {
                return Err(self.broken(StorageProblem::Lost, write.place.statement, None, &[], &[]));
            }
            self.check_flow(all, false)?;
            return Ok(false);
        };
        if !mutation::off(Rule::BufferWriteBack) {
            for write in writes() {
                if let Some(broken) = self.outside_of(window, write, StorageProblem::Lost)? {
                    return Err(broken);
                }
            }
        }
        if self.is_written(window, &[])? {
            return Ok(false);
        }
        if mutation::off(Rule::BufferWritten) || self.is_written_or_kept(window)? {
            return Ok(true);
        }
        if self.holds_where_loops_run(judged, self.loops(), |assumed| self.is_written(window, assumed))? {
            return Ok(false);
        }
        Err(self.broken(StorageProblem::Written, self.inside[0].statement, None, &[], &[]))
    }

    /// The loops inside, around what touches.
    fn loops(&self) -> impl Iterator<Item = &Arc<PlacedLoop>> {
        self.touches.iter().flat_map(|t| &t.place.loops[self.buffer.loops..])
    }

    /// Whether something holds where loops run at all, as the run-time check can say. Asks for as little of that as suffices.
    fn holds_where_loops_run<'l>(
        &self,
        judged: &mut Judged,
        loops: impl Iterator<Item = &'l Arc<PlacedLoop>>,
        holds: impl Fn(&[Constraint]) -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        let runs = |l: &PlacedLoop| -> Vec<Constraint> {
            let pairs = l.lower.iter().flat_map(|lower| l.upper.iter().map(move |upper| (lower, upper)));
            let known = pairs.filter(|(lower, upper)| lower.is_invariant() && upper.is_invariant());
            known.map(|(lower, upper)| Constraint::lt(lower.clone(), upper.clone())).collect()
        };
        let found: BTreeSet<Constraint> = loops.flat_map(|l| runs(l)).collect();
        let mut assumed: Vec<Constraint> = found.into_iter().collect();
        if assumed.is_empty() || !holds(&assumed)? {
            return Ok(false);
        }
        for k in (0..assumed.len()).rev() {
            let one = assumed.remove(k);
            if !holds(&assumed)? {
                assumed.insert(k, one);
            }
        }
        if !mutation::off(Rule::BufferRuns) {
            judged.conditions.extend(assumed.into_iter().map(RuntimeCondition::Parameter));
        }
        Ok(true)
    }

    /// Whether the loops around may write to the array, under the conditions that there are so far.
    fn changes(&self, all: &[Place], judged: &Judged) -> bool {
        let kernel = &self.oracle.kernel;
        let array = self.data().array;
        let apart = |a: ArrayId| RuntimeCondition::NoOverlap(a.min(array), a.max(array));
        let ours =
            |a: ArrayId| a == array || kernel.may_overlap(a, array) && !judged.conditions.contains(&apart(a));
        let around = all.iter().filter(|p| p.shared(self.inside[0]).0 > 0);
        let mut accesses = around.flat_map(|p| &kernel.statement(p.statement).accesses);
        self.data().write_back.is_some() || accesses.any(|a| a.kind != AccessKind::Read && ours(a.array))
    }

    /// More is copied than is touched: others may touch it meanwhile.
    fn check_around(&self, all: &[Place], judged: &mut Judged) -> Result<(), Witness> {
        if !self.changes(all, judged) || mutation::off(Rule::BufferWide) {
            return Ok(());
        }
        if self.inside[0].loops[..self.buffer.loops].iter().any(|l| l.kind != LoopKind::Sequential) {
            return Err(self.broken(StorageProblem::Marked, self.inside[0].statement, None, &[], &[]));
        }
        judged.wide.push(self.buffer.path.clone());
        Ok(())
    }

    /// Two touches of different elements in one place, in one execution; where nothing is `copied`, one of them a write.
    fn one_place_for_two(&self, touches: &[&Touch<'_>], copied: bool) -> Result<Option<Witness>, Fault> {
        if copied && mutation::off(Rule::BufferApart) || self.tells_apart(touches) {
            return Ok(None);
        }
        for (n, a) in touches.iter().enumerate() {
            for b in &touches[n..] {
                if !copied && a.reads && b.reads {
                    continue;
                }
                let mut scene = Scene::new(self.oracle, &[a.place, b.place])?;
                scene.same_execution(self.buffer.loops)?;
                let (at_a, at_b) = (scene.rows(0, &a.at)?, scene.rows(1, &b.at)?);
                scene.equate(&at_a, &at_b)?;
                let (x, y) = (scene.rows(0, &a.element)?, scene.rows(1, &b.element)?);
                if let Some(point) = scene.find_apart(&self.oracle.solver, &x, &y)? {
                    let (first, second) = (a.place.statement, b.place.statement);
                    return Ok(Some(self.broken(StorageProblem::Shared, first, Some(second), &x, &point)));
                }
            }
        }
        Ok(None)
    }

    /// Whether places say by themselves which elements they are of: each subscript is a dimension, up to what does not change in
    /// an execution.
    fn tells_apart(&self, touches: &[&Touch<'_>]) -> bool {
        let rank = self.rank();
        let is = |e: &Affine, k: usize| {
            let mut only = !e.has_divisions();
            e.for_each_var(&mut |v| only &= Buffer::index_of(v).is_none_or(|other| other == k));
            (only || mutation::off(Rule::BufferDistinct)) && e.coefficient(Buffer::index(k)).abs() == 1
        };
        touches.iter().all(|t| t.element.len() == rank)
            && (0..rank).all(|k| self.data().dims.iter().any(|dim| is(&dim.subscript, k)))
    }

    /// No loop inside is marked: iterations share places.
    fn check_marks(&self) -> Result<(), Witness> {
        if mutation::off(Rule::BufferMarks) {
            return Ok(());
        }
        for touch in &self.touches {
            let mut inner = touch.place.loops[self.buffer.loops..].iter();
            if inner.any(|l| l.kind != LoopKind::Sequential) {
                return Err(self.broken(StorageProblem::Marked, touch.place.statement, None, &[], &[]));
            }
        }
        Ok(())
    }

    /// The arrays that must be apart from this one: those touched while it is in the buffer, or where nothing is copied, ever.
    fn overlaps(&self, all: &[Place], windows: bool) -> Result<BTreeSet<RuntimeCondition>, Witness> {
        let kernel = &self.oracle.kernel;
        let array = self.data().array;
        let written = self.touches.iter().any(|t| !t.reads);
        let places: Vec<&Place> = if windows { self.inside.clone() } else { all.iter().collect() };
        let accesses = places.iter().flat_map(|p| &kernel.statement(p.statement).accesses);
        accesses
            .filter(|a| a.array != array && kernel.may_overlap(a.array, array))
            .filter(|a| written || a.kind != AccessKind::Read)
            .map(|a| match kernel.is_bounded(a.array) {
                true => Ok(RuntimeCondition::NoOverlap(a.array.min(array), a.array.max(array))),
                false => {
                    Err(self.unsupported("it may overlap an array of which it is not known what is touched"))
                }
            })
            .collect()
    }

    fn broken(
        &self,
        problem: StorageProblem,
        first: StmtId,
        second: Option<StmtId>,
        element: &[Row],
        point: &[i64],
    ) -> Witness {
        let kernel = &self.oracle.kernel;
        Witness::Storage(Arc::new(BrokenStorage {
            array: self.array_name(),
            problem,
            first: StatementRef::new(kernel, first),
            second: second.map(|s| StatementRef::new(kernel, s)),
            params: super::param_values(kernel, point),
            element: super::values(element, point),
        }))
    }

    fn array_name(&self) -> Arc<str> {
        self.oracle.kernel.array(self.data().array).name.clone()
    }
}
