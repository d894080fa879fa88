//! Innermost loops with a condition that they do not change: written twice, once for each of its values.
//!
//! LLVM 22 does not unswitch bodies of many copies, and makes vectors of them with masks. What is masked then is often in
//! front of an array or behind it, as with the first and the last of the rows that are jammed: on Zen 4, a masked load of a page that
//! is not there takes some 40 ns although no lane of it is wanted.

use super::{EmitError, Emitter};
use loop_tree::{Path, Settled};

impl Emitter<'_, '_> {
    /// What `one` emits, for either value of the condition.
    pub(super) fn for_both(
        &mut self,
        settled: &Settled<'_>,
        mut one: impl FnMut(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let body = self.path.child(0);
        let guards: Vec<Path> = settled.guards.iter().map(|guard| body.join(guard)).collect();
        let test = self.condition(settled.condition)?;
        let [yes, no, after] =
            ["settled", "settled.not", "settled.end"].map(|n| self.builder.append_block(n));
        let (yes, no, after) = (yes?, no?, after?);
        self.builder.cond_br(test, yes, no)?;
        for (block, holds) in [(yes, true), (no, false)] {
            self.builder.position_at_end(block)?;
            self.settled.extend(guards.iter().map(|guard| (guard.clone(), holds)));
            let known = holds.then(|| self.know_guard(settled.condition));
            let result = one(self);
            known.into_iter().for_each(|depth| self.unknow(depth));
            self.settled.retain(|guard, _| !guards.contains(guard));
            result?;
            self.builder.br(after)?;
        }
        Ok(self.builder.position_at_end(after)?)
    }
}
