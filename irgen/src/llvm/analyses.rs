//! What LLVM knows of one function: dominators and loops. [`Scev`] and costs are in their own files.

use std::marker::PhantomData;
use std::ptr;

use llvm_sys::prelude::*;

use super::error::{Result, require};
use super::ffi::{self, LtAnalyses, LtLoop};
use super::function::{Block, Function};
use super::module::Module;
use super::target::TargetMachine;
use super::value::Value;

/// A loop of the function: its place in [`Analyses::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub(crate) u32);

impl LoopId {
    pub(crate) fn from_raw(raw: u32) -> Option<LoopId> {
        (raw != u32::MAX).then_some(LoopId(raw))
    }

    /// The place in [`Analyses::loops`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A natural loop.
#[derive(Clone, Debug)]
pub struct LoopInfo<'m> {
    /// Where it is entered and repeated.
    pub header: Block<'m>,
    /// The only block that goes back to the header.
    pub latch: Option<Block<'m>>,
    /// The only block outside that goes to the header, and nowhere else.
    pub preheader: Option<Block<'m>>,
    /// The block in front whose branch enters the loop only where it runs at least once.
    pub guard: Option<Block<'m>>,
    /// The blocks that may leave.
    pub exiting: Vec<Block<'m>>,
    /// Where they go, each once.
    pub exits: Vec<Block<'m>>,
    /// From 1.
    pub depth: u32,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// It has a preheader, one latch, and exits of its own.
    pub simplified: bool,
    /// The latch exits.
    pub rotated: bool,
    /// What is used outside goes through phis in the exits.
    pub lcssa: bool,
}

/// The analyses of one function as it was when they were made; changes since are not seen.
///
/// With a [`TargetMachine`] costs are those of the function's `target-cpu` and `target-features`, without one generic.
pub struct Analyses<'m> {
    raw: *mut LtAnalyses,
    function: Function<'m>,
    loops: Vec<LoopInfo<'m>>,
    owner: PhantomData<(&'m Module<'m>, &'m TargetMachine)>,
}

impl<'m> Analyses<'m> {
    /// Analyses a defined function; takes 0.2 to 1.2 ms for common ones.
    pub fn new(function: Function<'m>, target: Option<&'m TargetMachine>) -> Result<Analyses<'m>> {
        require(!function.is_declaration(), "analyse function", "it has no body")?;
        let tm = target.map_or(ptr::null_mut(), TargetMachine::raw);
        // SAFETY: a defined function, and a machine that outlives the result, or null.
        let raw = unsafe { ffi::lt_analyses_new(function.raw(), tm) };
        let mut analyses = Analyses { raw, function, loops: Vec::new(), owner: PhantomData };
        // SAFETY: numbers below the count.
        analyses.loops = unsafe { (0..ffi::lt_num_loops(raw)).map(|i| analyses.read_loop(i)).collect() };
        Ok(analyses)
    }

    /// # Safety
    /// `i` is below the number of loops.
    unsafe fn read_loop(&self, i: u32) -> LoopInfo<'m> {
        let mut raw = std::mem::MaybeUninit::<LtLoop>::uninit();
        // SAFETY: by contract; the shim writes the whole struct, and blocks of the function.
        unsafe {
            ffi::lt_loop(self.raw, i, raw.as_mut_ptr());
            let raw = raw.assume_init();
            LoopInfo {
                header: Block::from_raw(raw.header),
                latch: Block::from_nullable(raw.latch),
                preheader: Block::from_nullable(raw.preheader),
                guard: Block::from_nullable(raw.guard),
                exiting: self.read_blocks(i, false),
                exits: self.read_blocks(i, true),
                depth: raw.depth,
                parent: LoopId::from_raw(raw.parent),
                simplified: raw.simplified != 0,
                rotated: raw.rotated != 0,
                lcssa: raw.lcssa != 0,
            }
        }
    }

    /// # Safety
    /// `i` is below the number of loops.
    unsafe fn read_blocks(&self, i: u32, outside: bool) -> Vec<Block<'m>> {
        // SAFETY: by contract; the second call has room for all that the first counted.
        unsafe {
            let count = ffi::lt_loop_blocks(self.raw, i, outside, ptr::null_mut(), 0);
            let mut raw: Vec<LLVMBasicBlockRef> = vec![ptr::null_mut(); count];
            ffi::lt_loop_blocks(self.raw, i, outside, raw.as_mut_ptr(), count);
            raw.into_iter().filter_map(|b| Block::from_nullable(b)).collect()
        }
    }

    pub(crate) fn raw(&self) -> *mut LtAnalyses {
        self.raw
    }

    /// The function.
    pub fn function(&self) -> Function<'m> {
        self.function
    }

    /// Whether some cycle is entered at several blocks, so that it is no loop.
    pub fn irreducible(&self) -> bool {
        // SAFETY: the function of the analyses.
        unsafe { ffi::lt_irreducible(self.raw, self.function.raw()) }
    }

    /// All loops, outer before inner, in the order of the function.
    pub fn loops(&self) -> &[LoopInfo<'m>] {
        &self.loops
    }

    /// The numbers of the loops.
    pub fn loop_ids(&self) -> impl Iterator<Item = LoopId> + use<> {
        (0..self.loops.len() as u32).map(LoopId)
    }

    /// A loop by number, if it is of these analyses.
    pub fn loop_info(&self, id: LoopId) -> Option<&LoopInfo<'m>> {
        self.loops.get(id.index())
    }

    pub(crate) fn require_loop(&self, id: LoopId) -> Result<u32> {
        require(id.index() < self.loops.len(), "loop query", "no loop of this function")?;
        Ok(id.0)
    }

    /// Whether every way to `b` comes through `a`; true also where `b` is unreachable.
    pub fn dominates(&self, a: Block<'m>, b: Block<'m>) -> bool {
        let here = |block: Block<'m>| block.function() == self.function;
        // SAFETY: blocks of the function.
        here(a) && here(b) && unsafe { ffi::lt_dominates(self.raw, a.raw(), b.raw()) }
    }
}

impl Drop for Analyses<'_> {
    fn drop(&mut self) {
        // SAFETY: owned; the module and the machine are still borrowed.
        unsafe { ffi::lt_analyses_free(self.raw) }
    }
}

impl<'m> Value<'m> {
    /// What a pointer is based on, through any number of address computations; itself where that ends.
    pub fn underlying_object(self) -> Value<'m> {
        if !self.ty().is_pointer() {
            return self;
        }
        // SAFETY: a pointer.
        unsafe { Value::from_raw(ffi::lt_underlying_object(self.raw())) }
    }
}
