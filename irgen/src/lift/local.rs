//! Memory that is nobody else's and whose contents die with a region: `malloc`'ed temporaries, local arrays.

use super::cfg::Cfg;
use crate::llvm::{Effects, Inst, Opcode, Value};
use rustc_hash::FxHashSet;

/// A region, as far as it matters here.
pub(super) struct Extent<'r, 'm> {
    pub(super) cfg: &'r Cfg<'m>,
    /// Its blocks, sorted.
    pub(super) blocks: &'r [usize],
    /// The block behind it.
    pub(super) behind: usize,
}

impl<'m> Extent<'_, 'm> {
    /// Whether `base` is an object that only loads and stores of the region touch, and that is another one whenever the region runs
    /// again: nobody sees what the region leaves in it, and the region finds nothing in it.
    pub(super) fn owns(&self, base: Value<'m>) -> bool {
        let Some(object) = base.as_inst().filter(|i| makes_object(*i)) else { return false };
        let Some(home) = self.cfg.home(object) else { return false };
        self.holds_all_uses(base) && !self.runs_again(home) && !self.may_return_twice()
    }

    /// Follows addresses; anything but an access by the region, a test for null, and the object's end is an escape.
    fn holds_all_uses(&self, base: Value<'m>) -> bool {
        let mut todo = vec![base];
        while let Some(pointer) = todo.pop() {
            for user in pointer.users() {
                let Some(user) = user.as_inst() else { return false };
                let holds = match user.opcode() {
                    Opcode::Gep => {
                        todo.push(user.value());
                        user.operand(0) == Some(pointer)
                    }
                    Opcode::Load => self.has(user) && is_plain(user),
                    Opcode::Store => self.has(user) && is_plain(user) && user.operand(0) != Some(pointer),
                    Opcode::ICmp => user.value().operands().iter().any(|o| o.is_null()),
                    Opcode::Call => user.as_call().is_some_and(|call| {
                        let marker = call.intrinsic_name().is_some_and(|n| n.starts_with("llvm.lifetime"));
                        !self.has(user) && (marker || call.frees(pointer))
                    }),
                    _ => false,
                };
                if !holds {
                    return false;
                }
            }
        }
        true
    }

    fn has(&self, inst: Inst<'m>) -> bool {
        self.cfg.home(inst).is_some_and(|b| self.blocks.binary_search(&b).is_ok())
    }

    /// Whether control may come back to the region without making the object anew.
    fn runs_again(&self, home: usize) -> bool {
        let mut seen = FxHashSet::default();
        let mut todo = vec![self.behind];
        while let Some(block) = todo.pop() {
            if block == home || !seen.insert(block) {
                continue;
            }
            if self.blocks.binary_search(&block).is_ok() {
                return true;
            }
            todo.extend(&self.cfg.succs[block]);
        }
        false
    }

    /// Whether control may go where no edge leads.
    fn may_return_twice(&self) -> bool {
        let calls = self.cfg.insts.iter().flatten().filter_map(|i| i.as_call());
        calls.into_iter().any(|call| call.has_attribute("returns_twice"))
    }
}

/// Whether it makes an object of its own, with nothing in it.
fn makes_object(inst: Inst<'_>) -> bool {
    inst.opcode() == Opcode::Alloca || inst.as_call().is_some_and(|call| call.allocates())
}

fn is_plain(access: Inst<'_>) -> bool {
    !access.is_volatile() && !access.effects().intersects(Effects::ATOMIC | Effects::VOLATILE)
}
