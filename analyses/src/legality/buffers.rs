//! Storage, where the tree has buffers: does every read get, through them, the value that it gets in the original?
//!
//! Order is checked as if there were no buffers, so each read would get the right value from the array itself. For one buffer,
//! and each of its *executions* (of the child of its `Alloc`, one for each iteration of the loops around), it remains:
//!
//! - *In bounds*: each element that is touched has a place.
//! - *In*: what is read was filled in, or was written before in the same execution. What is filled in, the original touches
//!   there, so that it may be read at all.
//! - *Out*: what is written is written back, or nobody reads it outside of the execution. What is written back, the original
//!   surely writes there: memory that it does not write may be somebody else's.
//! - *Apart*: no two elements have one place; or, where nothing is filled in or written back, no other write to the place comes
//!   between a write and a read that depends on it.
//! - *Alone*: arrays that may overlap with it are not touched meanwhile, and nobody else looks.
//!
//! These are sufficient. Guards around an `Alloc` are not looked at, which refuses a little more than necessary.

mod cover;
mod scene;

use super::order::{self, Check, Orders, Question};
use super::witness::{BrokenStorage, StatementRef, StorageProblem, Witness};
use super::{Fault, Oracle};
use crate::dependences::{DependenceKind, DependenceSet, by_position};
use crate::mutation::{self, Rule};
use crate::places::{Place, PlacedBuffer, Unsupported};
use crate::system::Row;
use loop_tree::{
    AccessKind, Affine, Buffer, LoopKind, OpKind, Path, RuntimeCondition, Statement, StmtFlags, StmtId,
    Storage, VarId, Window,
};
use scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What legal buffers ask for.
#[derive(Default)]
pub(super) struct Judged {
    /// What must hold.
    pub conditions: BTreeSet<RuntimeCondition>,
    /// Buffers in which elements share places: the iterations of loops inside are not independent.
    pub shared: Vec<Path>,
}

/// The flow on arrays, as checks: each write with the reads that may see it.
pub(super) fn flows(set: &DependenceSet) -> Vec<Check> {
    let mut result = Vec::new();
    for (index, d) in set.dependences.iter().enumerate() {
        // Between different arrays it is a matter of overlap; a predicate is read without an access.
        let flow = match d.kind {
            DependenceKind::Flow => true,
            DependenceKind::Control => d.source_access.is_some() && d.target_access.is_none(),
            _ => false,
        };
        if flow && d.vanishes_if.is_empty() {
            result.extend(d.relation.iter().map(|disjunct| Check {
                source: d.source,
                target: d.target,
                core: disjunct.core.clone(),
                dependence: index,
                vanishes_if: Vec::new(),
                reduction: d.reduction,
            }));
        }
    }
    result
}

/// What others could see, or could be, in the middle of an execution.
const SEEN: StmtFlags = StmtFlags::SIDE_EFFECTS
    .union(StmtFlags::ATOMIC_RELAXED)
    .union(StmtFlags::ATOMIC_ORDERED)
    .union(StmtFlags::MAY_THROW)
    .union(StmtFlags::MAY_NOT_RETURN)
    .union(StmtFlags::OPAQUE);

/// An access that goes to the buffer.
struct Touch<'p> {
    place: &'p Place,
    reads: bool,
    /// It executes whenever the statement does.
    surely: bool,
    /// What tells elements apart: subscripts, and for a private scalar the iteration. Over the loops around.
    element: Vec<Affine>,
    /// Where it lies in the buffer.
    at: Vec<Affine>,
}

struct Judge<'o, 'p> {
    oracle: &'o Oracle,
    buffer: &'p PlacedBuffer,
    /// Places inside.
    inside: Vec<&'p Place>,
    touches: Vec<Touch<'p>>,
}

/// What the tree's buffers ask for, if they are right. `places` are those of the tree, with copies not rolled up.
pub(super) fn judge(oracle: &Oracle, memo: &mut order::Memo, places: &[Place]) -> Result<Judged, Witness> {
    let mut all: BTreeMap<&Path, (&Arc<PlacedBuffer>, Vec<&Place>)> = BTreeMap::new();
    for place in places {
        for buffer in &place.buffers {
            all.entry(&buffer.path).or_insert((buffer, Vec::new())).1.push(place);
        }
    }
    let mut judged = Judged::default();
    for (buffer, inside) in all.into_values() {
        let mut judge = Judge { oracle, buffer, inside, touches: Vec::new() };
        judge.touches = judge.touches()?;
        judge.run(memo, places, &mut judged)?;
    }
    Ok(judged)
}

impl<'p> Judge<'_, 'p> {
    fn run(&self, memo: &mut order::Memo, all: &[Place], judged: &mut Judged) -> Result<(), Witness> {
        self.check_bounds()?;
        let windows = self.data().windows().next().is_some();
        if windows && !mutation::off(Rule::BufferEffects) {
            let seen = |p: &&&Place| self.oracle.kernel.statement(p.statement).flags.intersects(SEEN);
            if let Some(place) = self.inside.iter().find(seen) {
                return Err(self.broken(StorageProblem::Seen, place.statement, None, &[], &[]));
            }
        }
        self.check_in(memo, all)?;
        self.check_out(memo, all)?;
        if self.data().instance_dims > 0 {
            self.check_same_place()?;
        }
        if let Some(broken) = self.one_place_for_two(windows)? {
            if windows {
                return Err(broken);
            }
            self.check_overwritten()?;
            self.check_marks()?;
            judged.shared.push(self.buffer.path.clone());
        }
        if !mutation::off(Rule::BufferOverlap) {
            judged.conditions.extend(self.overlaps(all, windows));
        }
        Ok(())
    }

    fn data(&self) -> &Buffer {
        &self.buffer.buffer
    }

    fn rank(&self) -> usize {
        self.oracle.kernel.array(self.data().array).rank()
    }

    fn touches(&self) -> Result<Vec<Touch<'p>>, Witness> {
        let kernel = &self.oracle.kernel;
        let array = self.data().array;
        let unsupported = |why| Err(Unsupported::Buffer { path: self.buffer.path.clone(), why }.into());
        let private = self.oracle.privates.variables(array).map_or(0, <[VarId]>::len);
        if private > 0 && self.data().windows().next().is_some() {
            return unsupported(
                "a scalar of which each iteration has its own has no memory to be copied from",
            );
        }
        let mut result = Vec::new();
        for place in &self.inside {
            if place.buffers.iter().filter(|b| b.buffer.array == array).count() > 1 {
                return unsupported("it stands inside of another buffer of the same array");
            }
            if place.predicates.iter().any(|(a, _)| *a == array) {
                return unsupported("it stands for a predicate");
            }
            let statement = kernel.statement(place.statement);
            let needed = private.max(self.data().instance_dims);
            for (id, access) in statement.accesses().filter(|(_, a)| a.array == array) {
                let opaque = StmtFlags::OPAQUE
                    | StmtFlags::VOLATILE
                    | StmtFlags::ATOMIC_RELAXED
                    | StmtFlags::ATOMIC_ORDERED;
                if statement.flags.intersects(opaque) {
                    return unsupported("an access is opaque, volatile or atomic");
                }
                let subscripts: Option<Vec<Affine>> = access
                    .subscripts
                    .as_ref()
                    .and_then(|s| s.iter().map(|e| over_loops(statement, place, e)).collect());
                let Some(subscripts) = subscripts.filter(|s| s.len() == self.rank()) else {
                    return unsupported("an access does not say which element it touches");
                };
                if place.dims.len() < needed {
                    return unsupported("a statement has fewer dims than tell its elements apart");
                }
                let with_dims =
                    |count| subscripts.iter().chain(&place.dims[..count]).cloned().collect::<Vec<_>>();
                result.push(Touch {
                    place,
                    reads: access.kind == AccessKind::Read,
                    surely: access.kind != AccessKind::MayWrite
                        && place.predicates.is_empty()
                        && unmasked(statement, id),
                    element: with_dims(private),
                    at: self.data().place_of(&with_dims(self.data().instance_dims)),
                });
            }
        }
        Ok(result)
    }

    fn check_bounds(&self) -> Result<(), Witness> {
        if mutation::off(Rule::BufferBounds) {
            return Ok(());
        }
        for touch in &self.touches {
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

    fn check_in(&self, memo: &mut order::Memo, all: &[Place]) -> Result<(), Witness> {
        let reads = || self.touches.iter().filter(|t| t.reads);
        let Some(window) = &self.data().fill else {
            if reads().next().is_none() {
                return Ok(());
            }
            let local = self.oracle.kernel.array(self.data().array).storage == Storage::Local;
            if !local && !mutation::off(Rule::BufferFill) {
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
            return self.check_flow(memo, all, true);
        };
        if !mutation::off(Rule::BufferFill) {
            for read in reads() {
                if let Some(broken) = self.outside_of(window, read, StorageProblem::Unfilled)? {
                    return Err(broken);
                }
            }
        }
        if !mutation::off(Rule::BufferFilled) && !self.is_touched(window, |_| true)? {
            return Err(self.broken(StorageProblem::Filled, self.inside[0].statement, None, &[], &[]));
        }
        Ok(())
    }

    fn check_out(&self, memo: &mut order::Memo, all: &[Place]) -> Result<(), Witness> {
        let writes = || self.touches.iter().filter(|t| !t.reads);
        let Some(window) = &self.data().write_back else {
            let Some(write) = writes().next() else { return Ok(()) };
            let storage = self.oracle.kernel.array(self.data().array).storage;
            if !matches!(storage, Storage::Local | Storage::LiveIn) && !mutation::off(Rule::BufferWriteBack) {
                return Err(self.broken(StorageProblem::Lost, write.place.statement, None, &[], &[]));
            }
            return self.check_flow(memo, all, false);
        };
        if !mutation::off(Rule::BufferWriteBack) {
            for write in writes() {
                if let Some(broken) = self.outside_of(window, write, StorageProblem::Lost)? {
                    return Err(broken);
                }
            }
        }
        if !mutation::off(Rule::BufferWritten) && !self.is_touched(window, |t| !t.reads)? {
            return Err(self.broken(StorageProblem::Written, self.inside[0].statement, None, &[], &[]));
        }
        Ok(())
    }

    /// Flow into the buffer's executions (`into`), or out of them, does not cross their borders.
    fn check_flow(&self, memo: &mut order::Memo, all: &[Place], into: bool) -> Result<(), Witness> {
        if mutation::off(Rule::BufferFlow) {
            return Ok(());
        }
        let orders = self.orders();
        let inside = |p: &Place| p.path.0.starts_with(&self.buffer.path.0);
        for (index, check) in self.flows() {
            for a in all.iter().filter(|p| p.statement == check.source) {
                for b in all.iter().filter(|p| p.statement == check.target) {
                    if !inside(if into { b } else { a }) {
                        continue;
                    }
                    let mut questions = Vec::new();
                    if inside(a) && inside(b) {
                        let levels = 0..self.buffer.loops;
                        questions.extend(
                            levels.flat_map(|k| [true, false].map(|later| Question::Carried(k, later))),
                        );
                    } else {
                        questions.push(Question::Any);
                    }
                    for question in questions {
                        if let Some(found) = orders.ask(memo, index, a, b, question)? {
                            return Err(Witness::Storage(Arc::new(BrokenStorage {
                                array: self.array_name(),
                                problem: StorageProblem::Crosses,
                                first: found.source.clone(),
                                second: Some(found.target.clone()),
                                params: found.params.clone(),
                                element: found.target_instance.clone(),
                            })));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn orders(&self) -> Orders<'_> {
        Orders { checks: &self.oracle.flows, ..self.oracle.orders() }
    }

    /// The flow on this array.
    fn flows(&self) -> impl Iterator<Item = (usize, &Check)> {
        let dependences = &self.oracle.set.dependences;
        let ours = move |c: &Check| dependences[c.dependence].array == Some(self.data().array);
        self.oracle.flows.iter().enumerate().filter(move |(_, c)| ours(c))
    }

    /// The flow inside of one execution; `other` is a further place in each scene.
    fn flows_inside(&self, other: Option<&Place>) -> Result<Vec<Flow<'_, 'p>>, Fault> {
        let params = self.oracle.kernel.params.len();
        let mut result = Vec::new();
        for (_, check) in self.flows() {
            for write in self.touches.iter().filter(|t| !t.reads && t.place.statement == check.source) {
                for read in self.touches.iter().filter(|t| t.reads && t.place.statement == check.target) {
                    let places: Vec<&Place> = [write.place, read.place].into_iter().chain(other).collect();
                    let mut scene = Scene::new(self.oracle, &places)?;
                    let mut columns: Vec<Row> = (0..params).map(Row::column).collect();
                    columns.extend(scene.rows(0, &write.place.dims)?);
                    columns.extend(scene.rows(1, &read.place.dims)?);
                    scene.system.include(&check.core, &columns)?;
                    scene.same_execution(self.buffer.loops)?;
                    result.push(Flow { scene, write, read, reduction: check.reduction });
                }
            }
        }
        Ok(result)
    }

    /// A read looks where the write put its value; the two may belong to different instances.
    fn check_same_place(&self) -> Result<(), Witness> {
        if mutation::off(Rule::BufferFlow) {
            return Ok(());
        }
        for Flow { mut scene, write, read, .. } in self.flows_inside(None)? {
            let (from, to) = (scene.rows(0, &write.at)?, scene.rows(1, &read.at)?);
            let element = scene.rows(1, &read.element)?;
            if let Some(point) = scene.find_apart(&self.oracle.solver, &from, &to)? {
                let (first, second) = (write.place.statement, read.place.statement);
                return Err(self.broken(StorageProblem::Crosses, first, Some(second), &element, &point));
            }
        }
        Ok(())
    }

    /// Two touches of different elements in one place, in one execution; where nothing is copied, one of them a write.
    fn one_place_for_two(&self, windows: bool) -> Result<Option<Witness>, Fault> {
        if windows && mutation::off(Rule::BufferApart) {
            return Ok(None);
        }
        for (n, a) in self.touches.iter().enumerate() {
            for b in &self.touches[n..] {
                if !windows && a.reads && b.reads {
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

    /// No write of another element to the same place comes between a write and a read that depends on it.
    fn check_overwritten(&self) -> Result<(), Witness> {
        if mutation::off(Rule::BufferOverwritten) {
            return Ok(());
        }
        for other in self.touches.iter().filter(|t| !t.reads) {
            for Flow { mut scene, write, read, reduction } in self.flows_inside(Some(other.place))? {
                let (at, at_other) = (scene.rows(0, &write.at)?, scene.rows(2, &other.at)?);
                scene.equate(&at, &at_other).map_err(Fault::from)?;
                let (x, z) = (scene.rows(0, &write.element)?, scene.rows(2, &other.element)?);
                let places = [write.place, read.place, other.place];
                // The updates of a reduction may have changed their order.
                let ends: &[(usize, usize)] = if reduction { &[(0, 1), (1, 0)] } else { &[(0, 1)] };
                for &(first, last) in ends {
                    for early in scene.before(&places, first, 2).map_err(Fault::from)? {
                        for between in early.before(&places, 2, last).map_err(Fault::from)? {
                            if let Some(point) = between.find_apart(&self.oracle.solver, &x, &z)? {
                                let (first, second) = (write.place.statement, other.place.statement);
                                let problem = StorageProblem::Overwritten;
                                return Err(self.broken(problem, first, Some(second), &x, &point));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
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
    fn overlaps(&self, all: &[Place], windows: bool) -> BTreeSet<RuntimeCondition> {
        let kernel = &self.oracle.kernel;
        let array = self.data().array;
        let written = self.touches.iter().any(|t| !t.reads);
        let places: Vec<&Place> = if windows { self.inside.clone() } else { all.iter().collect() };
        let accesses = places.iter().flat_map(|p| &kernel.statement(p.statement).accesses);
        accesses
            .filter(|a| a.array != array && kernel.may_overlap(a.array, array))
            .filter(|a| written || a.kind != AccessKind::Read)
            .map(|a| RuntimeCondition::NoOverlap(a.array.min(array), a.array.max(array)))
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
            element: element.iter().map(|r| r.eval(point).unwrap_or(i64::MAX)).collect(),
        }))
    }

    fn array_name(&self) -> Arc<str> {
        self.oracle.kernel.array(self.data().array).name.clone()
    }
}

/// A write and a read that may see it, in places 0 and 1 of a scene.
struct Flow<'j, 'p> {
    scene: Scene,
    write: &'j Touch<'p>,
    read: &'j Touch<'p>,
    reduction: bool,
}

/// An expression over the dims of a statement, over the loops around a place of it.
fn over_loops(statement: &Statement, place: &Place, e: &Affine) -> Option<Affine> {
    let e = by_position(statement, e)?.substitute(&|v| place.dims.get(v.index()).cloned());
    e.is_exact().then_some(e)
}

/// Whether an operation goes through the access whenever the statement executes.
fn unmasked(statement: &Statement, access: loop_tree::AccessId) -> bool {
    statement.ops.iter().any(|op| {
        let through = match op.kind {
            OpKind::Load(a) | OpKind::Store(a, _) => a == access,
            _ => false,
        };
        through && op.mask.is_none()
    })
}
