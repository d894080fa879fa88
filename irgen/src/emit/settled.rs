//! Innermost loops with a condition that they do not change: written twice, once for each of its values.
//!
//! LLVM 22 does not unswitch bodies of many copies, and makes vectors of them with masks. What is masked then is often in
//! front of an array or behind it, as with the first and the last of the rows that are jammed: on Zen 4, a masked load of a page that
//! is not there takes some 40 ns although no lane of it is wanted.

use super::{EmitError, Emitter};
use loop_tree::{Affine, Condition, Green, GuardCondition, LoopHeader, Node, Path, VarId};

/// Guards of one condition.
pub(super) struct Settled {
    /// Over the variables around the loop.
    condition: Condition,
    guards: Vec<Path>,
}

impl Settled {
    /// Of an innermost loop at a path, if there is one such condition.
    pub(super) fn of(header: &LoopHeader, body: &Green, path: &Path) -> Option<Settled> {
        if body.summary().loop_depth > 0 {
            return None;
        }
        let mut found = Vec::new();
        collect(body, path.child(0), &mut vec![(header.var, None)], &mut found);
        let (conditions, guards): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let condition = conditions.first()?.clone();
        conditions.iter().all(|c| *c == condition).then_some(Settled { condition, guards })
    }
}

/// Guards of conditions that do not use the loop's variable. `values`: the loop's variable, which has none, and what is bound in it.
fn collect(
    node: &Green,
    path: Path,
    values: &mut Vec<(VarId, Option<Affine>)>,
    found: &mut Vec<(Condition, Path)>,
) {
    let value_of = |values: &[(VarId, Option<Affine>)], var| {
        values.iter().rev().find(|(v, _)| *v == var).and_then(|(_, value)| value.clone())
    };
    match node.node() {
        Node::Let(var, value, body) => {
            let value = value.substitute(&|v| value_of(values, v));
            values.push((*var, Some(value)));
            collect(body, path.child(0), values, found);
            values.pop();
            return;
        }
        Node::Guard(condition, _) => {
            if let GuardCondition::Affine(c) = &**condition {
                let around = c.substitute(&|v| value_of(values, v));
                let counter = values[0].0;
                if !around.constraints().any(|c| c.expression.uses(counter)) {
                    found.push((around, path.clone()));
                }
            }
        }
        _ => {}
    }
    for (index, child) in node.children().enumerate() {
        collect(child, path.child(index), values, found);
    }
}

impl Emitter<'_, '_> {
    /// What `one` emits, for either value of the condition.
    pub(super) fn for_both(
        &mut self,
        settled: Settled,
        mut one: impl FnMut(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let test = self.condition(&settled.condition)?;
        let [yes, no, after] =
            ["settled", "settled.not", "settled.end"].map(|n| self.builder.append_block(n));
        let (yes, no, after) = (yes?, no?, after?);
        self.builder.cond_br(test, yes, no)?;
        for (block, holds) in [(yes, true), (no, false)] {
            self.builder.position_at_end(block)?;
            self.settled.extend(settled.guards.iter().map(|guard| (guard.clone(), holds)));
            let known = holds.then(|| self.know_guard(&settled.condition));
            let result = one(self);
            known.into_iter().for_each(|depth| self.unknow(depth));
            self.settled.retain(|guard, _| !settled.guards.contains(guard));
            result?;
            self.builder.br(after)?;
        }
        Ok(self.builder.position_at_end(after)?)
    }
}
