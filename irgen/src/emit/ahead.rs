//! Loads in front of stores, where the compiler would else make no vectors of a loop.
//!
//! What the next iteration loads again LLVM hands on in registers (load PRE). A store that needs such a value must not stand in front of
//! the load that it is handed on from, as in `a[i] = x[i]; b[i] = x[i + 1]`: then the vectoriser gives up. So loads that nothing stored
//! before them may change come first there, and [`Registers`](super::kept::Registers) hands them to the statements.

use super::spot::Spot;
use super::{Base, EmitError, Emitter};
use loop_tree::{AccessId, Affine, Green, Node, OpKind, StmtFlags, StmtId, VarId};

/// Loads and stores of a body that are looked at.
const MOST: usize = 256;

/// A load or store, in the order of a body.
struct Access {
    spot: Spot,
    stores: bool,
    /// Number of the statement in the body.
    at: usize,
}

impl<'m> Emitter<'m, '_> {
    /// At the start of an iteration of a loop over a place: loads what a store would else separate from the load that hands it on.
    pub(super) fn load_ahead(&mut self, place: VarId, step: i64, body: &Green) -> Result<(), EmitError> {
        if self.lanes.is_some() || !is_straight(body) {
            return Ok(());
        }
        let Some(accesses) = self.accesses(body)? else { return Ok(()) };
        if !self.separates(&accesses, place, step) {
            return Ok(());
        }
        let free = |n: usize| {
            let changed = |s: &Access| s.stores && self.registers.may_meet(&s.spot, &accesses[n].spot);
            !accesses[n].stores && !accesses[..n].iter().any(changed)
        };
        let ahead: Vec<bool> = (0..accesses.len()).map(free).collect();
        let mut number = 0;
        self.each_statement(body, true, &mut |e, id| {
            let statement = e.kernel.statement(id).clone();
            for op in &statement.ops {
                if e.memory_access(&op.kind, id).is_some() {
                    if ahead[number] {
                        e.operation(&statement, op, &Vec::new())?;
                    }
                    number += 1;
                }
            }
            Ok(())
        })
    }

    /// Loads and stores of memory in order; `None` where one of them may not execute or does not say where it goes.
    fn accesses(&mut self, body: &Green) -> Result<Option<Vec<Access>>, EmitError> {
        let (mut found, mut known, mut at) = (Vec::new(), true, 0);
        self.each_statement(body, false, &mut |e, id| {
            let statement = e.kernel.statement(id).clone();
            known &= statement.flags.difference(StmtFlags::MAY_TRAP).is_empty()
                && e.scope.derived(e.kernel, id).is_empty()
                && statement.ops.iter().all(|op| {
                    op.mask.is_none() && !matches!(op.kind, OpKind::LoadAt(..) | OpKind::StoreAt(..))
                });
            for op in &statement.ops {
                let Some(access) = e.memory_access(&op.kind, id).filter(|_| known && found.len() < MOST)
                else {
                    known &= found.len() < MOST;
                    continue;
                };
                let access = statement.access(access);
                match e.spot(&statement, access.array, access.subscripts.as_deref()) {
                    Some(spot) => found.push(Access { spot, stores: op.kind.is_store(), at }),
                    None => known = false,
                }
            }
            at += 1;
            Ok(())
        })?;
        Ok(known.then_some(found))
    }

    /// Whether a statement stores what it loads, in front of the first load of what that is in the next iteration.
    fn separates(&self, accesses: &[Access], place: VarId, step: i64) -> bool {
        let next = |spot: &Spot| {
            let later = |v| (v == place).then(|| Affine::var(place).offset(step));
            let subscripts = spot.subscripts.iter().map(|e| e.substitute(&later)).collect();
            Spot { subscripts, ..spot.clone() }
        };
        let read_only =
            |spot: &Spot| !accesses.iter().any(|s| s.stores && self.registers.may_meet(&s.spot, spot));
        accesses.iter().enumerate().filter(|(_, a)| !a.stores).any(|(n, load)| {
            let stored = |s: &Access| s.stores && s.at == load.at;
            let Some(store) = accesses[n..].iter().position(stored).map(|at| n + at) else { return false };
            let handed = next(&load.spot);
            handed != load.spot
                && accesses
                    .iter()
                    .position(|a| !a.stores && a.spot == handed)
                    .is_some_and(|first| first > store)
                && read_only(&load.spot)
                && read_only(&handed)
        })
    }

    /// The access of a load or store of memory.
    fn memory_access(&self, kind: &OpKind, id: StmtId) -> Option<AccessId> {
        let (OpKind::Load(access) | OpKind::Store(access, _)) = kind else { return None };
        let array = self.kernel.statement(id).access(*access).array;
        let is_slot =
            self.scope.innermost(array).is_none() && matches!(self.bases[array.index()], Base::Scalar { .. });
        (!is_slot).then_some(*access)
    }

    /// Does something for each statement of straight-line code, with the bindings around; `values`: bindings have theirs.
    fn each_statement(
        &mut self,
        node: &Green,
        values: bool,
        f: &mut dyn FnMut(&mut Self, StmtId) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        match node.node() {
            Node::Seq(children) => {
                children.iter().try_for_each(|child| self.each_statement(child, values, f))
            }
            Node::Let(var, value, body) => {
                let zero = Affine::constant(0);
                let known = self.known(if values { value } else { &zero })?;
                self.scope.enter_let(*var, value, known);
                let result = self.each_statement(body, values, f);
                self.scope.leave();
                result
            }
            Node::Stmt(id, _) => f(self, *id),
            _ => Ok(()),
        }
    }
}

/// Whether all of a body executes, in one block.
fn is_straight(body: &Green) -> bool {
    match body.node() {
        Node::Seq(children) => children.iter().all(is_straight),
        Node::Let(_, _, body) => is_straight(body),
        Node::Stmt(..) => true,
        _ => false,
    }
}
