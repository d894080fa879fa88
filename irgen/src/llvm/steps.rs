//! Steps towards the form of the IR that lifting reads.

use std::ptr::NonNull;

use llvm_sys::prelude::LLVMValueRef;

use super::error::Result;
use super::ffi::{self, LtManagers};
use super::module::Module;
use super::strings::take_error;

/// Changes functions of a module, step by step. What LLVM found out about a function stays until a step changes it, or it is
/// forgotten; making what finds it out is made once.
///
/// Steps say whether they changed anything. Bits and flags leave rules out, for tests. But for passes, the function's loops have to be in
/// simplified and closed form (`loop-simplify,lcssa`).
pub struct Steps<'a, 'c> {
    module: &'a mut Module<'c>,
    managers: NonNull<LtManagers>,
}

impl<'a, 'c> Steps<'a, 'c> {
    /// Of this module.
    pub fn new(module: &'a mut Module<'c>) -> Self {
        // SAFETY: no preconditions.
        let managers =
            NonNull::new(unsafe { ffi::lt_managers_new() }).expect("C++ throws where memory is out");
        Steps { module, managers }
    }

    /// Runs function passes over some functions. Verifies them first.
    pub fn run_passes(&mut self, functions: &[String], pipeline: &str) -> Result<()> {
        let of = |name: &String| Ok(self.module.defined(name)?.raw());
        let mut raw = functions.iter().map(of).collect::<Result<Vec<_>>>()?;
        functions.iter().try_for_each(|name| self.module.verify_function(name))?;
        let managers = self.managers.as_ptr();
        self.module.reporting(pipeline, |_, passes| {
            // SAFETY: verified functions with bodies, exclusively borrowed: no handle sees what passes delete.
            unsafe {
                take_error(ffi::lt_run_on_functions(managers, raw.as_mut_ptr(), raw.len(), passes.as_ptr()))
            }
        })
    }

    /// Whether no variable of the function is in memory that could be in a register, as early passes leave it.
    pub fn is_in_registers(&mut self, function: &str) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |_, f| unsafe { ffi::lt_in_registers(f) })
    }

    /// Whether the function has vectors, none beyond 64 bits, and LLVM can take them apart.
    pub fn has_pairs(&mut self, function: &str) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |_, f| unsafe { ffi::lt_has_pairs(f) })
    }

    /// Makes counters of loops that run once steps of what they were, where the next value is a constant.
    pub fn count_once(&mut self, function: &str) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_count_once(m, f) })
    }

    /// Moves integers and pointers that do not change in loops in front of them.
    pub fn hoist(&mut self, function: &str, left_out: u32) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_hoist(m, f, left_out) })
    }

    /// Computes pointers behind loops that moved them from where they began.
    pub fn last_values(&mut self, function: &str) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_last_values(m, f) })
    }

    /// Turns accesses of one element or another, where it is known which, into two under a condition. `first`: the first one is taken
    /// always.
    pub fn split_choices(&mut self, function: &str, first: bool) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_split_choices(m, f, first) })
    }

    /// Makes operations of square roots that set no `errno`. `unchecked`: none does.
    pub fn settle_roots(&mut self, function: &str, unchecked: bool) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_settle_roots(m, f, unchecked) })
    }

    /// Stores of one element on all ways to a block, where data decides, become one behind them; what is read on one way is read in front,
    /// where that cannot fail.
    pub fn join_stores(&mut self, function: &str, left_out: u32) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_join_stores(m, f, left_out) })
    }

    /// Finds how many elements lie between the pointers that loops walk from and to. `unchecked`: any distance is one of whole elements.
    pub fn count_ranges(&mut self, function: &str, unchecked: bool) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_count_ranges(m, f, unchecked) })
    }

    /// Finds how often loops run whose counters go by steps that only the program knows. `unchecked`: no counter passes by its bound.
    pub fn count_strides(&mut self, function: &str, unchecked: bool) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_count_strides(m, f, unchecked) })
    }

    /// Computes how often strides of arrays that are values of their own have one another.
    pub fn divide_strides(&mut self, function: &str) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_divide_strides(m, f) })
    }

    /// Finds in front of loops how far rows of arrays that are reached through tables of pointers are apart.
    pub fn claim_rows(&mut self, function: &str, left_out: u32) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_claim_rows(m, f, left_out) })
    }

    /// Reads integers and pointers in front of loops that read them again and again and might overwrite them. `unguarded`: whatever the
    /// conditions.
    pub fn read_in_front(&mut self, function: &str, unguarded: bool) -> Result<bool> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_read_in_front(m, f, unguarded) })
    }

    /// Nothing more is asked of the function: what was found out about it takes no more memory.
    pub fn forget(&mut self, function: &str) -> Result<()> {
        // SAFETY: as `step` says.
        self.step(function, |m, f| unsafe { ffi::lt_managers_forget(m, f) })
    }

    /// Takes the managers, which are alive, and a function of the module with a body, which is exclusively borrowed: no handle sees what
    /// changes.
    fn step<T>(
        &mut self,
        function: &str,
        step: impl FnOnce(*mut LtManagers, LLVMValueRef) -> T,
    ) -> Result<T> {
        Ok(step(self.managers.as_ptr(), self.module.defined(function)?.raw()))
    }
}

impl Drop for Steps<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made by `lt_managers_new`, freed once, before the module.
        unsafe { ffi::lt_managers_free(self.managers.as_ptr()) };
    }
}
