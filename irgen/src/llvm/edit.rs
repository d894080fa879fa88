//! Changing control flow and moving code: what a versioned region needs to be put in place.

use std::marker::PhantomData;

use llvm_sys::core::*;

use super::error::{Result, require};
use super::ffi::{self, LtMap};
use super::function::{Block, Function};
use super::inst::Inst;
use super::module::Module;
use super::value::Value;

/// What became of the parts of a function when it was cloned.
pub struct CloneMap<'m> {
    raw: *mut LtMap,
    owner: PhantomData<&'m Module<'m>>,
}

impl<'m> CloneMap<'m> {
    /// The clone's counterpart of an argument, block or instruction; constants and globals stand for themselves.
    /// `None` where the counterpart was deleted, or `value` was no part of the function.
    pub fn value(&self, value: Value<'m>) -> Option<Value<'m>> {
        // SAFETY: a valid map, whose entries are cleared when their value is deleted.
        let image = unsafe { Value::from_nullable(ffi::lt_map_get(self.raw, value.raw())) };
        image.or_else(|| value.is_constant().then_some(value))
    }

    /// The clone's counterpart of a block.
    pub fn block(&self, block: Block<'m>) -> Option<Block<'m>> {
        self.value(block.value())?.as_block()
    }

    /// The clone's counterpart of an instruction.
    pub fn inst(&self, inst: Inst<'m>) -> Option<Inst<'m>> {
        self.value(inst.value())?.as_inst()
    }
}

impl Drop for CloneMap<'_> {
    fn drop(&mut self) {
        // SAFETY: owned; the module, which its handles watch, is still borrowed.
        unsafe { ffi::lt_map_free(self.raw) }
    }
}

impl<'m> Function<'m> {
    /// Clones the function in its module; LLVM makes the name unique.
    pub fn duplicate(self, name: &str) -> Result<(Function<'m>, CloneMap<'m>)> {
        require(!self.is_declaration(), "clone function", "it has no body")?;
        let mut map = std::ptr::null_mut();
        // SAFETY: a defined function; the map is owned by the result.
        unsafe {
            let f = ffi::lt_clone_function(self.raw(), name.as_ptr().cast(), name.len(), &mut map);
            Ok((Function::from_raw(f), CloneMap { raw: map, owner: PhantomData }))
        }
    }

    /// Deletes the blocks that the entry does not reach; whether there were any.
    ///
    /// # Safety
    /// No handle to a deleted block or to anything in it, and no analyses of the function, are used afterwards.
    pub unsafe fn delete_unreachable_blocks(self) -> bool {
        if self.is_declaration() {
            return false;
        }
        // SAFETY: a defined function; the rest by contract.
        unsafe { ffi::lt_delete_unreachable(self.raw()) }
    }
}

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

    /// Moves it before another instruction of the function.
    pub fn move_before(self, other: Inst<'m>) -> Result<()> {
        let fits = self != other && self.function() == other.function() && !self.is_terminator();
        require(fits, "move instruction", "a terminator, the same, or of another function")?;
        // SAFETY: different instructions of one function.
        unsafe { ffi::lt_move_before(self.raw(), other.raw()) };
        Ok(())
    }

    /// Removes it from its block. Refused while something uses it.
    ///
    /// # Safety
    /// No handle to it is used afterwards, and no analyses of its function.
    pub unsafe fn erase(self) -> Result<()> {
        require(!self.is_used(), "erase instruction", "it is used")?;
        // SAFETY: an instruction without uses; the rest by contract.
        unsafe { LLVMInstructionEraseFromParent(self.raw()) };
        Ok(())
    }
}
