//! Sets of elements: what is surely touched covers what is copied, or read.

use super::touch::{Touch, touched};
use super::{Judge, SEEN};
use crate::isl::{DimType, Set};
use crate::legality::Fault;
use crate::mutation::{self, Rule};
use crate::places::Place;
use crate::system::{Inexact, Row, System, isl_set};
use loop_tree::{Affine, Constraint, Storage, Window};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

// Columns of all systems here: parameters, some of the loops around, subscripts; then columns that are not known.
impl Judge<'_, '_> {
    /// Whether all elements of the window are surely touched in each execution, for parameters of which this is assumed.
    pub(super) fn is_touched(&self, window: &Window, assumed: &[Constraint]) -> Result<bool, Fault> {
        self.covers(window, self.in_execution(true)?, assumed)
    }

    /// Whether all elements of the window are surely written in each execution.
    pub(super) fn is_written(&self, window: &Window, assumed: &[Constraint]) -> Result<bool, Fault> {
        self.covers(window, self.in_execution(false)?, assumed)
    }

    /// Whether all elements of the window are surely touched in the original, for parameters of which this is assumed.
    pub(super) fn is_touched_by_region(
        &self,
        window: &Window,
        assumed: &[Constraint],
    ) -> Result<bool, Fault> {
        let parts = self.in_region(true)?;
        // Mostly a single access touches all of it, which takes less to see.
        for part in &parts {
            if self.covers(window, vec![part.clone()], assumed)? {
                return Ok(true);
            }
        }
        Ok(parts.len() > 1 && self.covers(window, parts, assumed)?)
    }

    /// Whether all elements of the window are surely touched somewhere in the region.
    pub(super) fn is_touched_somewhere(&self, window: &Window) -> Result<bool, Fault> {
        let mut parts = self.in_execution(true)?;
        parts.extend(self.in_region(true)?);
        self.covers(window, parts, &[])
    }

    /// Whether all elements of the window are surely written in each execution, or were filled in and are written somewhere.
    pub(super) fn is_written_or_kept(&self, window: &Window) -> Result<bool, Fault> {
        let mut parts = self.in_execution(false)?;
        if let Some(fill) = &self.data().fill {
            let kept = match self.exists() {
                true => vec![System::new(self.columns())],
                // What is the kernel's own may be written.
                false => self.in_region(self.storage() == Storage::Local)?,
            };
            for mut system in kept {
                self.require_window(&mut system, fill)?;
                parts.push(system);
            }
        }
        self.covers(window, parts, &[])
    }

    fn columns(&self) -> usize {
        self.oracle.kernel.params.len() + self.buffer.loops + self.rank()
    }

    /// Elements that are surely written, or touched, in an execution.
    fn in_execution(&self, or_read: bool) -> Result<Vec<System>, Inexact> {
        let (loops, depth) = (self.buffer.loops, self.buffer.path.0.len());
        let touches = self.touches.iter().filter(|t| t.surely(depth) && (or_read || !t.reads));
        let parts = touches.map(|t| self.image(t.place, &t.element, loops, loops));
        Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Elements that the region surely writes, or touches; none where others see what happens in it.
    fn in_region(&self, or_read: bool) -> Result<Vec<System>, Inexact> {
        let oracle = self.oracle;
        let mut result = Vec::new();
        if oracle.kernel.statements.iter().any(|s| s.flags.intersects(SEEN))
            && !mutation::off(Rule::BufferEffects)
        {
            return Ok(result);
        }
        for place in oracle.original.iter().filter(|p| p.tests.is_empty()) {
            let mut known = BTreeSet::new();
            for touch in touched(oracle, place, self.data().array).flatten() {
                if touch.always && (or_read || !touch.reads) && known.insert(touch.subscripts.clone()) {
                    result.extend(self.image(place, &touch.subscripts, 0, self.buffer.loops)?);
                }
            }
        }
        Ok(result)
    }

    fn covers(&self, window: &Window, parts: Vec<System>, assumed: &[Constraint]) -> Result<bool, Fault> {
        let params = self.oracle.kernel.params.len();
        let mut system = System::under(&self.oracle.context, params, self.columns());
        let scope = Row::columns(params..params + self.buffer.loops);
        for c in self.inside[0].bounds_of(self.buffer.loops).iter().chain(assumed) {
            system.require(c, &scope)?;
        }
        self.require_window(&mut system, window)?;
        let mut inner = Vec::new();
        for conjunction in &self.buffer.conditions {
            let mut system = system.clone();
            for c in conjunction {
                system.require(c, &scope)?;
            }
            inner.push(system);
        }
        self.is_within(&inner, &parts, self.columns())
    }

    fn require_window(&self, system: &mut System, window: &Window) -> Result<(), Inexact> {
        let params = self.oracle.kernel.params.len();
        let loops = self.buffer.loops;
        let scope = Row::columns(params..params + loops);
        for (k, range) in window.0.iter().enumerate() {
            let x = Row::column(params + loops + k);
            for l in &range.lower {
                let row = x.clone().minus(&system.row(l, &scope)?)?;
                system.require_nonnegative(row);
            }
            for u in &range.upper {
                let row = system.row(u, &scope)?.minus(&x)?.offset(-1)?;
                system.require_nonnegative(row);
            }
        }
        Ok(())
    }

    /// Whether an earlier write of the same execution surely writes whatever the touch reads.
    pub(super) fn is_written_before(&self, read: &Touch<'_>) -> Result<bool, Fault> {
        let mut by_shared: BTreeMap<usize, Vec<System>> = BTreeMap::new();
        for write in self.touches.iter().filter(|t| !t.reads) {
            let (shared, order) = write.place.shared(read.place);
            let common = write.place.path.shared_len(&read.place.path);
            if order == Ordering::Less && write.surely(common) {
                let image = self.image(write.place, &write.element, shared, shared)?;
                by_shared.entry(shared).or_default().extend(image);
            }
        }
        for (shared, images) in by_shared {
            let columns = self.oracle.kernel.params.len() + shared + self.rank();
            if self.is_within(&self.image(read.place, &read.element, shared, shared)?, &images, columns)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The elements that a place touches, over columns for `outer` loops, of which the first `shared` are its own.
    fn image(
        &self,
        place: &Place,
        element: &[Affine],
        shared: usize,
        outer: usize,
    ) -> Result<Vec<System>, Inexact> {
        let params = self.oracle.kernel.params.len();
        let rank = self.rank();
        let known = params + outer + rank;
        let inner = place.loops.len() - shared;
        let mut system = System::under(&self.oracle.context, params, known + inner);
        let mut time: Vec<Row> =
            (params..params + shared).chain(known..known + inner).map(Row::column).collect();
        let mut computed = Vec::new();
        let mut named = vec![false; inner];
        for (k, subscript) in element.iter().take(rank).enumerate() {
            let x = Row::column(params + outer + k);
            // What is a loop's variable needs no column beside that one.
            match subscript.as_var().and_then(|v| v.index().checked_sub(shared)).filter(|n| !named[*n]) {
                Some(n) => {
                    named[n] = true;
                    time[shared + n] = x;
                }
                None => computed.push((subscript, x)),
            }
        }
        for (subscript, x) in computed {
            let row = system.row(subscript, &time)?.minus(&x)?;
            system.require_zero(row);
        }
        place.domains(&system, &time)
    }

    /// Whether a union of sets lies within another one; of columns beyond the first ones any value will do.
    pub(super) fn is_within(
        &self,
        inner: &[System],
        outer: &[System],
        columns: usize,
    ) -> Result<bool, Fault> {
        let answer = self.oracle.solver.within_quota(|ctx| {
            let union = |systems: &[System]| {
                let mut result: Option<Set> = None;
                for system in systems {
                    let set = isl_set(ctx, system)?;
                    let set = set.project_out(DimType::Out, columns, system.columns() - columns)?;
                    result = Some(match result {
                        None => set,
                        Some(others) => others.union(set)?,
                    });
                }
                Ok(result)
            };
            match (union(inner)?, union(outer)?) {
                (None, _) => Ok(true),
                (Some(inner), None) => inner.is_empty(),
                (Some(inner), Some(outer)) => inner.is_subset(&outer),
            }
        });
        Ok(answer?)
    }
}
