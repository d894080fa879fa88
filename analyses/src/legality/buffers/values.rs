//! Values of arrays that are hidden in buffers: nobody sees the array itself, so no order of it needs to be kept, and what is
//! written may be computed again, or not at all where nobody reads it. It remains that each read finds, in its own execution of a buffer, what the write that it sees
//! in the original has put there.

use super::touch::{Touch, touched};
use super::{Judge, SEEN, Scene};
use crate::dependences::by_position;
use crate::legality::coverage::Any;
use crate::legality::order::Check;
use crate::legality::witness::{StorageProblem, Witness};
use crate::legality::{Fault, Oracle};
use crate::mutation::{self, Rule};
use crate::places::Place;
use crate::system::{Row, System};
use loop_tree::{AccessKind, Affine, ArrayId, OpKind, StmtFlags, StmtId, Storage, VarId};
use std::collections::BTreeSet;

/// The kernel's own arrays each touch of which goes to one buffer that is neither filled nor written back.
pub(in crate::legality) fn hideable(oracle: &Oracle, places: &[Place]) -> BTreeSet<ArrayId> {
    let kernel = &oracle.kernel;
    let mut arrays: BTreeSet<ArrayId> =
        places.iter().flat_map(|p| &p.buffers).map(|b| b.buffer.array).collect();
    arrays.retain(|array| {
        let alone = (0..kernel.arrays.len())
            .map(ArrayId::new)
            .all(|other| other == *array || !kernel.may_overlap(other, *array));
        let once = |place: &Place| {
            let statement = kernel.statement(place.statement);
            let writes = |a: &&loop_tree::Access| a.array == *array && a.kind != AccessKind::Read;
            statement.accesses.iter().filter(writes).count() <= 1
        };
        let buffered = |place: &Place, depth: usize| {
            let mut around =
                place.buffers.iter().filter(|b| b.buffer.array == *array && b.path.0.len() < depth);
            around.next().is_some_and(|b| b.buffer.windows().next().is_none()) && around.next().is_none()
        };
        let within =
            |place: &Place| touched(oracle, place, *array).all(|t| t.is_ok_and(|t| buffered(place, t.depth)));
        kernel.array(*array).storage == Storage::Local && alone && places.iter().all(|p| once(p) && within(p))
    });
    arrays
}

/// Whether instances of a statement may run again, or never, and what they write.
pub(in crate::legality) fn may_be_any(
    oracle: &Oracle,
    statement: StmtId,
    hideable: &BTreeSet<ArrayId>,
) -> Option<(Any, BTreeSet<ArrayId>)> {
    let statement = oracle.kernel.statement(statement);
    let written: BTreeSet<ArrayId> =
        statement.accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array).collect();
    let once = SEEN | StmtFlags::VOLATILE;
    let may = statement.reduction.is_none()
        && !statement.flags.intersects(once)
        && !written.is_empty()
        && (written.is_subset(hideable) || mutation::off(Rule::RepeatedWrites));
    // A call may set `errno`: again to the same, but not never.
    let calls = statement.ops.iter().any(|op| matches!(op.kind, OpKind::Pure(..)));
    may.then_some((Any { again: true, none: !calls }, written))
}

impl Judge<'_, '_> {
    pub(super) fn check_values(&self) -> Result<(), Witness> {
        let broken = |problem, first, second: &Touch<'_>| {
            self.broken(problem, first, Some(second.place.statement), &[], &[])
        };
        let Some(values) = self.oracle.values(self.data().array)? else {
            let first = self.inside[0].statement;
            return Err(self.broken(StorageProblem::Crosses, first, None, &[], &[]));
        };
        for (_, check) in self.ours(&values) {
            let writes = || self.touches.iter().filter(|t| !t.reads);
            for read in self.touches.iter().filter(|t| t.reads && t.place.statement == check.target) {
                if !mutation::off(Rule::BufferValues) && !self.is_produced(check, read)? {
                    return Err(broken(StorageProblem::Crosses, check.source, read));
                }
                if mutation::off(Rule::BufferOverwritten) {
                    continue;
                }
                for write in writes().filter(|t| t.place.statement == check.source) {
                    for other in writes() {
                        if self.displaces(check, write, read, other)? {
                            return Err(broken(StorageProblem::Overwritten, check.source, other));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether each source of the read is executed before it, and puts its value where the read looks.
    fn is_produced(&self, check: &Check, read: &Touch<'_>) -> Result<bool, Fault> {
        let oracle = self.oracle;
        let params = oracle.kernel.params.len();
        let source = oracle.kernel.statement(check.source);
        let (loops, dims) = (read.place.loops.len(), source.dims.len());
        // Columns: parameters, loops around the read, dims of its source; then loops around a place of that.
        let known = params + loops + dims;
        let time = Row::columns(params..params + loops);
        let instance = Row::columns(params + loops..known);
        let array = self.data().array;
        let written = source.accesses.iter().find(|a| a.array == array && a.kind != AccessKind::Read);
        let private = oracle.privates.variables(array).map_or(0, <[VarId]>::len);
        let element: Option<Vec<Affine>> = written
            .and_then(|a| a.subscripts.as_ref())
            .and_then(|s| s.iter().map(|e| by_position(source, e)).collect());
        let Some(mut element) = element else { return Ok(false) };
        element.extend((0..private).map(|k| Affine::var(VarId::new(k))));

        let mut wanted = System::under(&oracle.context, params, known);
        let mut columns = Row::columns(0..params);
        columns.extend(instance.iter().cloned());
        for e in &read.place.dims {
            columns.push(wanted.row(e, &time)?);
        }
        wanted.include(&check.core, &columns)?;
        for (x, y) in element.iter().zip(&read.element) {
            let row = wanted.row(x, &instance)?.minus(&wanted.row(y, &time)?)?;
            wanted.require_zero(row);
        }
        let wanted = read.place.domains(&wanted, &time)?;

        let mut given = Vec::new();
        for write in self.touches.iter().filter(|t| !t.reads && t.place.statement == check.source) {
            let place = write.place;
            let mut system = System::new(known + place.loops.len());
            let early = Row::columns(known..known + place.loops.len());
            system.require_equal(&place.dims, &early, &instance)?;
            for (x, y) in write.at.iter().zip(&read.at) {
                let row = system.row(x, &early)?.minus(&system.row(y, &time)?)?;
                system.require_zero(row);
            }
            for base in place.domains(&system, &early)? {
                // In the same execution of the buffer, whose loops come first.
                given.extend(
                    place.before(read.place, &base, &early, &time)?.into_iter().skip(self.buffer.loops),
                );
            }
        }
        self.is_within(&wanted, &given, known)
    }

    /// Whether another instance writes to the place of a value between its write and its read.
    fn displaces(
        &self,
        check: &Check,
        write: &Touch<'_>,
        read: &Touch<'_>,
        other: &Touch<'_>,
    ) -> Result<bool, Fault> {
        let places = [write.place, read.place, other.place];
        let mut scene = Scene::new(self.oracle, &places)?;
        let mut columns = Row::columns(0..self.oracle.kernel.params.len());
        let instance = scene.rows(0, &write.place.dims)?;
        columns.extend(instance.iter().cloned());
        columns.extend(scene.rows(1, &read.place.dims)?);
        scene.system.include(&check.core, &columns)?;
        scene.same_execution(self.buffer.loops)?;
        let (x, y) = (scene.rows(0, &write.element)?, scene.rows(1, &read.element)?);
        scene.equate(&x, &y)?;
        let (x, y) = (scene.rows(1, &read.at)?, scene.rows(2, &other.at)?);
        scene.equate(&x, &y)?;
        let others = scene.rows(2, &other.place.dims)?;
        for early in scene.before(&places, 0, 2)? {
            for between in early.before(&places, 2, 1)? {
                let found = match other.place.statement == check.source {
                    true => between.find_apart(&self.oracle.solver, &instance, &others)?,
                    false => between.find(&self.oracle.solver)?,
                };
                if found.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
