//! Elements that keep what they hold or get something else, `x[i] = x[i] < y ? x[i] : y`.
//!
//! LLVM 22 makes a masked store of the choice and the store (`foldToMaskedStore` in its DAGCombiner) before the choice becomes a
//! minimum. Without 512-bit vectors AMD's processors execute such a store in microcode: the shortest paths between 500 points in
//! `float` take 86 ms on Zen 4, and 20 ms where the element is frozen, so that it is a value like others.

use super::{EmitError, Emitter};
use crate::llvm::Value;
use loop_tree::{Access, OpId, OpKind, Statement};

impl<'m> Emitter<'m, '_> {
    /// What was loaded from an element, frozen where it is stored back to the element or something else is. Not where all iterations
    /// of the innermost loop have one element: it stays in a register.
    pub(super) fn frozen_if_chosen(
        &self,
        statement: &Statement,
        access: &Access,
        value: Value<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let moves = |place| access.subscripts.iter().flatten().any(|e| self.scope.resolved(e).uses(place));
        match self.scope.innermost_loop().is_some_and(moves) && is_chosen(statement, access) {
            true => Ok(self.builder.freeze(value, "")?),
            false => Ok(value),
        }
    }
}

/// Whether the element that is loaded through the access is stored to it where a condition holds, or where it does not.
fn is_chosen(statement: &Statement, access: &Access) -> bool {
    let same = |other: &Access| other.array == access.array && other.subscripts == access.subscripts;
    let kind = |id: OpId| &statement.op(id).kind;
    let loaded = |id: OpId| matches!(kind(id), OpKind::Load(from) if same(statement.access(*from)));
    statement.ops.iter().any(|op| match op.kind {
        OpKind::Store(to, value) if same(statement.access(to)) => match kind(value) {
            OpKind::Select(_, x, y) => loaded(*x) || loaded(*y),
            _ => false,
        },
        _ => false,
    })
}
