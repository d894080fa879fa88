//! Sets of elements: what is surely touched covers what is copied, or read.

use super::{Judge, Touch};
use crate::isl::{DimType, Set};
use crate::legality::Fault;
use crate::system::{Inexact, Row, System, isl_set};
use loop_tree::Window;
use std::cmp::Ordering;
use std::collections::BTreeMap;

impl Judge<'_, '_> {
    /// Whether, in each execution, all elements of the window are surely touched by such touches.
    pub(super) fn is_touched(&self, window: &Window, by: impl Fn(&Touch<'_>) -> bool) -> Result<bool, Fault> {
        let loops = self.buffer.loops;
        let touching = self.touches.iter().filter(|t| t.surely && by(t));
        let images: Result<Vec<Vec<System>>, Inexact> = touching.map(|t| self.image(t, loops)).collect();
        // The window, over the same columns.
        let params = self.oracle.kernel.params.len();
        let scope: Vec<Row> = (params..params + loops).map(Row::column).collect();
        let mut system = System::new(params + loops + window.0.len());
        self.require_scope(&mut system, &scope)?;
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
        self.is_within(&[system], &images?.concat(), params + loops + window.0.len())
    }

    /// Whether an earlier write of the same execution surely writes whatever the touch reads.
    pub(super) fn is_written_before(&self, read: &Touch<'_>) -> Result<bool, Fault> {
        let mut by_shared: BTreeMap<usize, Vec<System>> = BTreeMap::new();
        for write in self.touches.iter().filter(|t| !t.reads && t.surely) {
            let (shared, order) = write.place.shared(read.place);
            if order == Ordering::Less {
                by_shared.entry(shared).or_default().extend(self.image(write, shared)?);
            }
        }
        for (shared, images) in by_shared {
            let columns = self.oracle.kernel.params.len() + shared + self.rank();
            if self.is_within(&self.image(read, shared)?, &images, columns)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The elements that a touch touches: over parameters, the outermost `loops`, and subscripts; then columns that are not
    /// known.
    fn image(&self, touch: &Touch<'_>, loops: usize) -> Result<Vec<System>, Inexact> {
        let params = self.oracle.kernel.params.len();
        let rank = self.rank();
        let inner = touch.place.loops.len() - loops;
        let mut system = System::new(params + loops + rank + inner);
        let columns: Vec<Row> = (0..params).map(Row::column).collect();
        system.include(&self.oracle.context, &columns)?;
        let outer = (params..params + loops).chain(params + loops + rank..params + loops + rank + inner);
        let time: Vec<Row> = outer.map(Row::column).collect();
        for (k, subscript) in touch.element.iter().take(rank).enumerate() {
            let row = system.row(subscript, &time)?.minus(&Row::column(params + loops + k))?;
            system.require_zero(row);
        }
        touch.place.domains(&system, &time)
    }

    /// Whether a union of sets lies within another one; of columns beyond the first ones any value will do.
    fn is_within(&self, inner: &[System], outer: &[System], columns: usize) -> Result<bool, Fault> {
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

    /// What is known wherever the buffer is entered.
    fn require_scope(&self, system: &mut System, scope: &[Row]) -> Result<(), Inexact> {
        let columns: Vec<Row> = (0..self.oracle.kernel.params.len()).map(Row::column).collect();
        system.include(&self.oracle.context, &columns)?;
        for c in self.inside[0].bounds_of(self.buffer.loops) {
            system.require(&c, scope)?;
        }
        Ok(())
    }
}
