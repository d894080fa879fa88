//! What LLVM knows of one function: dominators, loops, aliasing. [`Scev`] and costs are in their own files.

use std::marker::PhantomData;
use std::ptr;

use llvm_sys::prelude::*;

use super::error::{Result, require};
use super::ffi::{self, LtAnalyses, LtLoop};
use super::function::{Block, Function};
use super::inst::Inst;
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
    /// All blocks, of inner loops too; the header first.
    pub blocks: Vec<Block<'m>>,
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

/// Whether two accesses may touch the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// They do not.
    No,
    /// Unknown.
    May,
    /// They overlap, from different addresses.
    Partial,
    /// They begin at the same address.
    Must,
}

impl Alias {
    fn from_raw(raw: i32) -> Alias {
        match raw {
            0 => Alias::No,
            2 => Alias::Partial,
            3 => Alias::Must,
            _ => Alias::May,
        }
    }
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
                blocks: self.read_blocks(i, 0),
                exiting: self.read_blocks(i, 1),
                exits: self.read_blocks(i, 2),
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
    unsafe fn read_blocks(&self, i: u32, which: i32) -> Vec<Block<'m>> {
        // SAFETY: by contract; the second call has room for all that the first counted.
        unsafe {
            let count = ffi::lt_loop_blocks(self.raw, i, which, ptr::null_mut(), 0);
            let mut raw: Vec<LLVMBasicBlockRef> = vec![ptr::null_mut(); count];
            ffi::lt_loop_blocks(self.raw, i, which, raw.as_mut_ptr(), count);
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

    /// The innermost loop around a block.
    pub fn loop_of(&self, block: Block<'m>) -> Option<LoopId> {
        // SAFETY: a block; unknown ones have no loop.
        LoopId::from_raw(unsafe { ffi::lt_loop_of(self.raw, block.raw()) })
    }

    fn here(&self, block: Block<'m>) -> bool {
        block.function() == self.function
    }

    /// Whether every way to `b` comes through `a`; true also where `b` is unreachable.
    pub fn dominates(&self, a: Block<'m>, b: Block<'m>) -> bool {
        // SAFETY: blocks of the function.
        self.here(a) && self.here(b) && unsafe { ffi::lt_dominates(self.raw, a.raw(), b.raw()) }
    }

    /// Whether a value is available at an instruction.
    pub fn available(&self, value: Value<'m>, at: Inst<'m>) -> bool {
        let known = value.as_inst().is_none_or(|i| self.here(i.block())) && self.here(at.block());
        if !known || value.as_block().is_some() {
            return false;
        }
        match value.as_argument() {
            Some(a) => a.function() == self.function,
            None if value.is_constant() => true,
            // SAFETY: two instructions of the function.
            None => unsafe { ffi::lt_value_dominates(self.raw, value.raw(), at.raw()) },
        }
    }

    /// Whether every way from `b` to an end goes through `a`.
    pub fn post_dominates(&self, a: Block<'m>, b: Block<'m>) -> bool {
        // SAFETY: blocks of the function.
        self.here(a) && self.here(b) && unsafe { ffi::lt_post_dominates(self.raw, a.raw(), b.raw()) }
    }

    /// The closest strict dominator.
    pub fn immediate_dominator(&self, block: Block<'m>) -> Option<Block<'m>> {
        // SAFETY: a block of the function; null where there is none.
        self.here(block)
            .then(|| unsafe { Block::from_nullable(ffi::lt_idom(self.raw, block.raw(), false)) })
            .flatten()
    }

    /// The closest strict post-dominator; `None` where paths end in different blocks.
    pub fn immediate_post_dominator(&self, block: Block<'m>) -> Option<Block<'m>> {
        // SAFETY: a block of the function; null where there is none.
        self.here(block)
            .then(|| unsafe { Block::from_nullable(ffi::lt_idom(self.raw, block.raw(), true)) })
            .flatten()
    }

    /// Aliasing of so many bytes from two pointers; `None`: unknown, and also before the pointer. Holds for values of
    /// the same iteration; across iterations ask with unknown sizes.
    pub fn alias(&self, p: Value<'m>, p_size: Option<u64>, q: Value<'m>, q_size: Option<u64>) -> Alias {
        if !p.ty().is_pointer() || !q.ty().is_pointer() {
            return Alias::May;
        }
        let size = |s: Option<u64>| s.filter(|&s| s < 1 << 62).unwrap_or(u64::MAX);
        // SAFETY: pointers.
        Alias::from_raw(unsafe { ffi::lt_alias(self.raw, p.raw(), size(p_size), q.raw(), size(q_size)) })
    }

    /// Aliasing of two accesses in the same iteration, by their metadata too.
    pub fn alias_accesses(&self, a: Inst<'m>, b: Inst<'m>) -> Alias {
        // SAFETY: instructions; the shim answers "may" for what is no single access.
        Alias::from_raw(unsafe { ffi::lt_alias_accesses(self.raw, a.raw(), b.raw()) })
    }

    /// Aliasing of the objects that two accesses go to, whatever the offsets: what holds across iterations, as long as
    /// both base pointers are loop-invariant.
    pub fn alias_objects(&self, a: Inst<'m>, b: Inst<'m>) -> Alias {
        // SAFETY: as above.
        Alias::from_raw(unsafe { ffi::lt_alias_objects(self.raw, a.raw(), b.raw()) })
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

    /// Whether it is an object of its own: a global, `alloca`, `noalias` argument or call. Two such never overlap.
    pub fn is_identified_object(self) -> bool {
        // SAFETY: a value.
        self.ty().is_pointer() && unsafe { ffi::lt_is_identified_object(self.raw()) }
    }
}
