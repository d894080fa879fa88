//! The shim's functions, as `shim/*.cpp` documents them.

#![allow(missing_docs)]

use std::ffi::{c_char, c_int, c_uint, c_void};

use llvm_sys::error::LLVMErrorRef;
use llvm_sys::prelude::*;
use llvm_sys::target_machine::LLVMTargetMachineRef;

/// Analyses of one function, owned.
pub enum LtAnalyses {}
pub enum LtManagers {}
/// A ScalarEvolution expression, owned by the analyses.
pub enum LtScev {}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct LtStr {
    pub data: *const c_char,
    pub len: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct LtInt {
    pub lo: u64,
    pub hi: u64,
    pub width: u32,
}

impl LtInt {
    /// The value, where 128 bits hold it.
    pub fn signed(self) -> Option<i128> {
        (self.width <= 128).then_some(self.bits() as i128)
    }

    pub fn bits(self) -> u128 {
        u128::from(self.hi) << 64 | u128::from(self.lo)
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct LtLoop {
    pub header: LLVMBasicBlockRef,
    pub latch: LLVMBasicBlockRef,
    pub preheader: LLVMBasicBlockRef,
    pub guard: LLVMBasicBlockRef,
    pub depth: u32,
    pub parent: u32,
    pub simplified: u8,
    pub rotated: u8,
    pub lcssa: u8,
}

/// Part of a remark: words, or a value with a name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LtPiece {
    pub name: LtStr,
    pub text: LtStr,
}

#[repr(C)]
pub struct LtRemark {
    pub kind: c_int,
    pub code: LtStr,
    pub file: LtStr,
    pub line: u32,
    pub column: u32,
    pub pieces: *const LtPiece,
    pub count: usize,
}

unsafe extern "C" {
    // analysis.cpp
    pub fn lt_has_processor(machine: LLVMTargetMachineRef, name: *const c_char) -> bool;
    pub fn lt_lacking(
        machine: LLVMTargetMachineRef,
        processor: *const c_char,
        features: *const c_char,
    ) -> *mut c_char;

    // ir.cpp
    pub fn lt_raise_alignment(variable: LLVMValueRef, bytes: u64, shortest: u64);
    pub fn lt_returns_fresh(call: LLVMValueRef) -> bool;
    pub fn lt_parse(
        cx: LLVMContextRef,
        data: *const c_char,
        len: usize,
        name: *const c_char,
        message: *mut *mut c_char,
        line: *mut u32,
        column: *mut u32,
    ) -> LLVMModuleRef;
    pub fn lt_bitcode(module: LLVMModuleRef) -> LLVMMemoryBufferRef;
    pub fn lt_source_name(value: LLVMValueRef, len: *mut usize) -> *const c_char;
    pub fn lt_const_int(value: LLVMValueRef, out: *mut LtInt) -> bool;
    pub fn lt_const_fp(value: LLVMValueRef, out: *mut LtInt) -> bool;
    pub fn lt_make_fp(ty: LLVMTypeRef, lo: u64, hi: u64) -> LLVMValueRef;
    pub fn lt_usable_in(value: LLVMValueRef, function: LLVMValueRef) -> bool;
    pub fn lt_converts_extended_sign(inst: LLVMValueRef) -> bool;
    pub fn lt_effects(inst: LLVMValueRef) -> u32;
    pub fn lt_callee(call: LLVMValueRef) -> LLVMValueRef;
    pub fn lt_is_library_call(value: LLVMValueRef) -> bool;
    pub fn lt_allocates(call: LLVMValueRef) -> bool;
    pub fn lt_frees(call: LLVMValueRef, pointer: LLVMValueRef) -> bool;
    pub fn lt_has_name(module: LLVMModuleRef, name: *const c_char, len: usize) -> bool;
    pub fn lt_may_call(caller: LLVMValueRef, name: *const c_char, len: usize) -> bool;
    pub fn lt_malloc(caller: LLVMValueRef) -> LLVMValueRef;
    pub fn lt_free(caller: LLVMValueRef) -> LLVMValueRef;
    pub fn lt_may_recurse(function: LLVMValueRef) -> bool;
    pub fn lt_may_allocate(function: LLVMValueRef);
    pub fn lt_may_start_threads(function: LLVMValueRef);
    pub fn lt_set_nounwind(function: LLVMValueRef);
    pub fn lt_set_pure(function: LLVMValueRef);
    pub fn lt_outlined(function: LLVMValueRef, name: *const c_char, len: usize) -> LLVMValueRef;
    pub fn lt_set_apart(
        start: LLVMBasicBlockRef,
        exit: LLVMBasicBlockRef,
        suffix: *const c_char,
        len: usize,
    ) -> LLVMValueRef;
    pub fn lt_location_within(location: LLVMMetadataRef, function: LLVMValueRef) -> LLVMMetadataRef;
    pub fn lt_memory_effects(value: LLVMValueRef) -> u32;
    pub fn lt_has_attribute(value: LLVMValueRef, name: *const c_char, len: usize, param: i64) -> bool;
    pub fn lt_is_must_tail(value: LLVMValueRef) -> bool;
    pub fn lt_md_kind(md: LLVMMetadataRef) -> c_int;
    pub fn lt_md_string(md: LLVMMetadataRef) -> LtStr;
    pub fn lt_md_num_operands(md: LLVMMetadataRef) -> u32;
    pub fn lt_md_operand(md: LLVMMetadataRef, i: u32) -> LLVMMetadataRef;
    pub fn lt_md_value(md: LLVMMetadataRef) -> LLVMValueRef;
    pub fn lt_md_is_location(md: LLVMMetadataRef) -> bool;
    pub fn lt_md_node_in(md: LLVMMetadataRef, cx: LLVMContextRef) -> bool;
    pub fn lt_get_metadata(inst: LLVMValueRef, kind: *const c_char, len: usize) -> LLVMMetadataRef;
    pub fn lt_set_metadata(inst: LLVMValueRef, kind: *const c_char, len: usize, md: LLVMMetadataRef);
    pub fn lt_md_self(cx: LLVMContextRef, rest: *mut LLVMMetadataRef, n: usize) -> LLVMMetadataRef;
    pub fn lt_md_distinct(cx: LLVMContextRef) -> LLVMMetadataRef;
    pub fn lt_md_concat(a: LLVMMetadataRef, b: LLVMMetadataRef) -> LLVMMetadataRef;
    pub fn lt_split_block(inst: LLVMValueRef, name: *const c_char, len: usize) -> LLVMBasicBlockRef;
    pub fn lt_is_pad_or_phi(inst: LLVMValueRef) -> bool;
    pub fn lt_replace_successor(term: LLVMValueRef, old: LLVMBasicBlockRef, new: LLVMBasicBlockRef);
    pub fn lt_replace_phi_block(block: LLVMBasicBlockRef, old: LLVMBasicBlockRef, new: LLVMBasicBlockRef);
    pub fn lt_cast_valid(opcode: c_int, from: LLVMTypeRef, to: LLVMTypeRef) -> bool;
    pub fn lt_gep_type(ty: LLVMTypeRef, indices: *mut LLVMValueRef, n: usize) -> LLVMTypeRef;
    pub fn lt_intrinsic(
        module: LLVMModuleRef,
        name: *const c_char,
        len: usize,
        ret: LLVMTypeRef,
        params: *mut LLVMTypeRef,
        n: usize,
    ) -> LLVMValueRef;

    // analysis.cpp
    pub fn lt_analyses_new(function: LLVMValueRef, tm: LLVMTargetMachineRef) -> *mut LtAnalyses;
    pub fn lt_analyses_free(a: *mut LtAnalyses);
    pub fn lt_num_loops(a: *const LtAnalyses) -> u32;
    pub fn lt_loop(a: *const LtAnalyses, i: u32, out: *mut LtLoop);
    pub fn lt_loop_blocks(
        a: *const LtAnalyses,
        i: u32,
        outside: bool,
        out: *mut LLVMBasicBlockRef,
        cap: usize,
    ) -> usize;
    pub fn lt_irreducible(a: *const LtAnalyses, function: LLVMValueRef) -> bool;
    pub fn lt_block_label(block: LLVMBasicBlockRef) -> *mut c_char;
    pub fn lt_dominates(a: *const LtAnalyses, x: LLVMBasicBlockRef, y: LLVMBasicBlockRef) -> bool;
    pub fn lt_underlying_object(p: LLVMValueRef) -> LLVMValueRef;

    // ir.cpp
    pub fn lt_object_size(value: LLVMValueRef, module: LLVMModuleRef) -> u64;

    // inline.cpp
    pub fn lt_inline(function: LLVMValueRef) -> bool;
    pub fn lt_has_pairs(function: LLVMValueRef) -> bool;

    // hoist.cpp
    pub fn lt_hoist(m: *mut LtManagers, function: LLVMValueRef, left_out: c_uint) -> bool;
    pub fn lt_count_once(m: *mut LtManagers, function: LLVMValueRef) -> bool;
    pub fn lt_last_values(m: *mut LtManagers, function: LLVMValueRef) -> bool;
    pub fn lt_split_choices(m: *mut LtManagers, function: LLVMValueRef, first: bool) -> bool;
    pub fn lt_count_ranges(m: *mut LtManagers, function: LLVMValueRef, unchecked: bool) -> bool;
    pub fn lt_join_stores(m: *mut LtManagers, function: LLVMValueRef, left_out: c_uint) -> bool;
    pub fn lt_settle_roots(m: *mut LtManagers, function: LLVMValueRef, unchecked: bool) -> bool;
    pub fn lt_count_strides(m: *mut LtManagers, function: LLVMValueRef, unchecked: bool) -> bool;
    pub fn lt_divide_strides(m: *mut LtManagers, function: LLVMValueRef) -> bool;
    pub fn lt_claim_rows(m: *mut LtManagers, function: LLVMValueRef, left_out: c_uint) -> bool;
    pub fn lt_read_in_front(m: *mut LtManagers, function: LLVMValueRef, unguarded: bool) -> bool;

    // scev.cpp
    pub fn lt_scev(a: *mut LtAnalyses, value: LLVMValueRef) -> *const LtScev;
    pub fn lt_scev_base(a: *mut LtAnalyses, s: *const LtScev) -> *const LtScev;
    pub fn lt_scev_offset(a: *mut LtAnalyses, s: *const LtScev) -> *const LtScev;
    pub fn lt_backedge_taken(a: *mut LtAnalyses, l: u32, most: bool) -> *const LtScev;
    pub fn lt_exit_count(a: *mut LtAnalyses, l: u32, block: LLVMBasicBlockRef) -> *const LtScev;
    pub fn lt_scev_kind(s: *const LtScev) -> c_int;
    pub fn lt_scev_num_operands(s: *const LtScev) -> u32;
    pub fn lt_scev_operand(s: *const LtScev, i: u32) -> *const LtScev;
    pub fn lt_scev_bits(a: *mut LtAnalyses, s: *const LtScev) -> u64;
    pub fn lt_scev_constant(s: *const LtScev, out: *mut LtInt) -> bool;
    pub fn lt_scev_value(s: *const LtScev) -> LLVMValueRef;
    pub fn lt_scev_loop(a: *const LtAnalyses, s: *const LtScev) -> u32;
    pub fn lt_scev_flags(s: *const LtScev) -> c_int;
    pub fn lt_scev_range(
        a: *mut LtAnalyses,
        s: *const LtScev,
        signed: bool,
        min: *mut LtInt,
        max: *mut LtInt,
    ) -> bool;
    pub fn lt_scev_print(s: *const LtScev) -> *mut c_char;

    pub fn lt_cost_instruction(a: *mut LtAnalyses, inst: LLVMValueRef, latency: bool, out: *mut i64) -> bool;
    pub fn lt_vector_bits(a: *mut LtAnalyses) -> u64;
    pub fn lt_register_count(a: *mut LtAnalyses, vector: bool) -> u32;
    pub fn lt_cache_line(a: *mut LtAnalyses) -> u32;
    pub fn lt_cache_size(a: *mut LtAnalyses, level: c_int) -> u32;
    pub fn lt_legal_masked(a: *mut LtAnalyses, ty: LLVMTypeRef, alignment: u64) -> bool;

    // passes.cpp
    pub fn lt_managers_new() -> *mut LtManagers;
    pub fn lt_managers_free(m: *mut LtManagers);
    pub fn lt_managers_forget(m: *mut LtManagers, function: LLVMValueRef);
    pub fn lt_run_on_functions(
        m: *mut LtManagers,
        functions: *mut LLVMValueRef,
        count: usize,
        pipeline: *const c_char,
    ) -> LLVMErrorRef;
    pub fn lt_in_registers(function: LLVMValueRef) -> bool;

    // worth.cpp
    pub fn lt_may_gain(function: LLVMValueRef, alone: bool) -> bool;

    // plugin.cpp
    pub fn lt_plugin_register(builder: *mut c_void);
    pub fn lt_plugin_on_run(run: extern "C" fn(LLVMModuleRef, LtStr, *const bool) -> bool);
    pub fn lt_diagnose(module: LLVMModuleRef, severity: c_int, message: LtStr);
    pub fn lt_remarks_wanted(module: LLVMModuleRef) -> bool;
    pub fn lt_remark(function: LLVMValueRef, remark: *const LtRemark);
}
