//! Changing control flow: what a versioned region needs to be put in place.

use super::error::{Result, require};
use super::ffi;
use super::function::{Block, Function};
use super::inst::Inst;

impl<'m> Block<'m> {
    /// Lets the phis name `new` where they named `old` as a predecessor.
    pub fn replace_phi_predecessor(self, old: Block<'m>, new: Block<'m>) -> Result<()> {
        let fits = old.function() == self.function() && new.function() == self.function();
        require(fits, "replace predecessor", "a block of another function")?;
        // SAFETY: blocks of one function.
        unsafe { ffi::lt_replace_phi_block(self.raw(), old.raw(), new.raw()) };
        Ok(())
    }
}

impl<'m> Block<'m> {
    /// Moves what runs from here until `exit` into a function of its own, called here and never inlined. `None` where it cannot be moved;
    /// variables on the stack that only this part uses may be in registers then.
    pub fn set_apart(self, exit: Block<'m>, suffix: &str) -> Option<Function<'m>> {
        if exit.function() != self.function() {
            return None;
        }
        // SAFETY: two blocks of one function and a string; a new function of its module, or null.
        unsafe {
            let new = ffi::lt_set_apart(self.raw(), exit.raw(), suffix.as_ptr().cast(), suffix.len());
            (!new.is_null()).then(|| Function::from_raw(new))
        }
    }
}

impl<'m> Inst<'m> {
    /// Moves everything from here on into a new block, to which the old one then goes. Phis of successors follow.
    pub fn split_block(self, name: &str) -> Result<Block<'m>> {
        // SAFETY: an instruction.
        let fits = unsafe { !ffi::lt_is_pad_or_phi(self.raw()) } && self.block().terminator().is_some();
        require(fits, "split block", "at a phi or pad, or the block does not end")?;
        // SAFETY: an instruction that may begin a block, in a complete block.
        Ok(unsafe { Block::from_raw(ffi::lt_split_block(self.raw(), name.as_ptr().cast(), name.len())) })
    }

    /// Lets every edge of this terminator to `old` go to `new`. Phis of both are left alone.
    pub fn replace_successor(self, old: Block<'m>, new: Block<'m>) -> Result<()> {
        let fits = self.is_terminator() && new.function() == self.function();
        require(fits, "replace successor", "no terminator, or a block of another function")?;
        // SAFETY: a terminator and a block of its function.
        unsafe { ffi::lt_replace_successor(self.raw(), old.raw(), new.raw()) };
        Ok(())
    }
}
