//! Being a pass plugin of a compiler: the library's entry, and the compiler's own ways to tell users things.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use llvm_sys::prelude::*;

use super::context::Severity;
use super::ffi::{self, LtPiece, LtRemark, LtStr};
use super::function::Function;
use super::metadata::SourceLocation;
use super::module::{Module, with_lent_module};
use super::strings::copy_str;

/// What is called for each module, with the options of the command line and whether the compiler unrolls loops, where that is known; it says whether
/// it changed the module.
pub type Run = fn(&mut Module<'_>, &str, Option<bool>) -> bool;

/// What `llvmGetPassPluginInfo` returns: `PassPluginLibraryInfo` of LLVM 22.
#[repr(C)]
pub struct PluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: Option<unsafe extern "C" fn(*mut c_void)>,
    before_code: Option<unsafe extern "C" fn()>,
}

/// `LLVM_PLUGIN_API_VERSION` of LLVM 22.1.
const API_VERSION: u32 = 2;

static RUN: OnceLock<Run> = OnceLock::new();

/// Describes a plugin that runs once for each module that is optimised, where all loops are whole, and as `-passes=looptree`.
pub fn info(name: &'static CStr, version: &'static CStr, run: Run) -> PluginInfo {
    RUN.get_or_init(|| run);
    // SAFETY: stores a function that is there as long as the library.
    unsafe { ffi::lt_plugin_on_run(on_run) };
    PluginInfo {
        api_version: API_VERSION,
        name: name.as_ptr(),
        version: version.as_ptr(),
        register: Some(ffi::lt_plugin_register),
        before_code: None,
    }
}

extern "C" fn on_run(module: LLVMModuleRef, options: LtStr, unrolls: *const bool) -> bool {
    let Some(run) = RUN.get() else { return false };
    // SAFETY: the pass manager hands over a valid module and waits; options and answer are of its own, the answer null where there is none.
    unsafe {
        let options = copy_str(options.data, options.len);
        with_lent_module(module, |module| run(module, &options, unrolls.as_ref().copied()))
    }
}

/// What a remark is about; users ask for each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// `-Rpass`
    Passed,
    /// `-Rpass-missed`
    Missed,
    /// `-Rpass-analysis`
    Analysis,
}

/// Whether anybody looks at remarks.
pub fn remarks_wanted(module: &Module<'_>) -> bool {
    // SAFETY: a valid module.
    unsafe { ffi::lt_remarks_wanted(module.raw()) }
}

/// Hands a remark to the compiler. Pieces are words, or values under a name; `code` is the name of this sort of remark.
///
/// Functions without a body have none.
pub fn remark(
    function: Function<'_>,
    kind: RemarkKind,
    code: &str,
    place: Option<&SourceLocation>,
    pieces: &[(Option<&str>, &str)],
) {
    if function.is_declaration() {
        return;
    }
    let pieces: Vec<LtPiece> =
        pieces.iter().map(|(name, t)| LtPiece { name: text(name.unwrap_or("")), text: text(t) }).collect();
    let remark = LtRemark {
        kind: match kind {
            RemarkKind::Passed => 0,
            RemarkKind::Missed => 1,
            RemarkKind::Analysis => 2,
        },
        code: text(code),
        file: text(place.map_or("", |p| &p.file)),
        line: place.map_or(0, |p| p.line),
        column: place.map_or(0, |p| p.column),
        pieces: pieces.as_ptr(),
        count: pieces.len(),
    };
    // SAFETY: a function with a body; the strings live until the call returns, which copies them.
    unsafe { ffi::lt_remark(function.raw(), ptr::from_ref(&remark)) }
}

/// Hands a message to the compiler; an error ends the compilation.
pub fn diagnose(module: &Module<'_>, severity: Severity, message: &str) {
    let severity: c_int = match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Remark => 2,
        Severity::Note => 3,
    };
    // SAFETY: a valid module, a severity of LLVM, and a string that lives until the call returns.
    unsafe { ffi::lt_diagnose(module.raw(), severity, text(message)) }
}

fn text(text: &str) -> LtStr {
    LtStr { data: text.as_ptr().cast(), len: text.len() }
}
