//! LLVM IR to loop trees.
//!
//! [`canonicalise`] brings a module into the form that lifting reads best; [`lift_function`] describes a function as a
//! tree and finds its [`Region`]s: the largest single-entry single-exit parts with a loop that are described exactly.
//! Lifting never fails as a whole: what is not understood is an opaque statement where it stands, and a [`Remark`]
//! says why.

mod accumulate;
mod alias;
mod arguments;
mod assemble;
mod body;
mod call_sites;
mod called;
mod canonicalise;
mod cfg;
mod closed_forms;
mod conditions;
mod context;
mod fronts;
mod held;
mod hints;
mod leaves;
mod local;
mod memory;
mod names;
mod neighbours;
mod numbered;
mod ops;
mod options;
mod owned;
mod places;
mod prove;
mod ratios;
mod region;
mod remedies;
mod select;
mod shape;
mod statements;
mod tile_loops;
mod values;
mod whole;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use loop_tree::{Affine, ArrayId, Kernel, SourceLocation, VarId};

use crate::llvm::{Block, Function, HintValue, Inst, LoopHint, Module, Value};

pub use arguments::passed_constants;
pub use call_sites::likely_value;
pub use canonicalise::{canonicalise, canonicalise_functions, with_callers};
pub use cfg::{Cfg, has_cycle};
pub use closed_forms::{
    AffineRecurrences, CLOSED_FORMS, ClosedFormsSource, FunctionForms, Nothing, ScalarEvolution,
    closed_forms_by_name, is_iteration_count,
};
pub(crate) use hints::handed_on;
pub use hints::{Wish, wishes_of};
pub use options::LiftOptions;
pub use owned::OwnedGlobals;
pub use places::{Fate, LoopPlace};
pub use ratios::ratio_of;
pub use tile_loops::tile_length;

/// A function as a loop tree.
#[derive(Debug)]
pub struct LiftedFunction<'m> {
    /// The function's name.
    pub name: Arc<str>,
    /// The whole function, for display and analysis: [`Kernel::original`] is its tree. It may contain opaque statements
    /// and unbounded loops.
    pub kernel: Arc<Kernel>,
    /// What can be transformed and emitted again, in textual order; never nested.
    pub regions: Vec<Region<'m>>,
    /// What was not understood, and why.
    pub remarks: Vec<Remark>,
    /// Loops of the function.
    pub loops: Vec<LoopPlace>,
}

/// A part of a function that its kernel describes exactly, and where it stands in the IR.
///
/// **Invariants.** `before` ends in an unconditional branch to `entry`, which is the only way into the region; `entry`
/// has no phis. `last` ends in an unconditional branch to `exit`, which is the only way out; it is `exit`'s only
/// predecessor and `exit` has no phis. So the region is versioned by replacing the terminator of `before` by a
/// conditional branch, letting the new code end in a branch to `exit`, and placing phis for the live-outs there.
/// Everything that the bindings name as incoming is defined outside and available at the end of `before`.
#[derive(Debug)]
pub struct Region<'m> {
    /// What the region computes.
    pub kernel: Arc<Kernel>,
    /// The function it is part of.
    pub function: Function<'m>,
    /// The block in front.
    pub before: Block<'m>,
    /// The first block.
    pub entry: Block<'m>,
    /// The last block.
    pub last: Block<'m>,
    /// The block after the region.
    pub exit: Block<'m>,
    /// The values of the parameters, by [`ParamId`](loop_tree::ParamId).
    pub params: Vec<ParamBinding<'m>>,
    /// Where the arrays live, by [`ArrayId`].
    pub arrays: Vec<ArrayBinding<'m>>,
    /// What [`Op::origin`](loop_tree::Op::origin) refers to: type-based alias information, debug locations, alignment.
    pub origins: Vec<Inst<'m>>,
    /// The calls of which nothing is known, by the numbers of [`Opaque`](loop_tree::OpKind::Opaque) operations.
    pub calls: Vec<CallBinding<'m>>,
    /// What is to be checked at run time beside the conditions of the kernel.
    pub apart: Apart<'m>,
    /// The original loops that became variables, by [`VarId`].
    pub loops: Vec<LoopBinding<'m>>,
    /// Variables that are called by the number of loops around: nothing tells what the source calls them.
    pub invented: Vec<VarId>,
    /// Where the region begins in the source.
    pub location: Option<SourceLocation>,
}

/// What a parameter is in the IR: an integer, or the exact product of several, always read as signed (unsigned uses are
/// covered by [`Kernel::assumptions`]). They may be `undef` or poison where the original would not have used them: freeze
/// them.
#[derive(Clone, Debug)]
pub struct ParamBinding<'m> {
    /// Integers of at most 64 bits; sign-extend them. At least one.
    pub factors: Vec<Value<'m>>,
}

/// Where an array of the kernel lives.
#[derive(Clone, Debug)]
pub enum ArrayBinding<'m> {
    /// In memory, its element with all subscripts zero at `base + offset`.
    Memory {
        /// A pointer available in front of the region.
        base: Value<'m>,
        /// In bytes, may be negative.
        offset: i64,
        /// A power of two that divides the address of every element for certain, in bytes.
        alignment: u32,
    },
    /// A scalar of the region.
    Scalar {
        /// Its value before the region; `None` where the region always writes before it reads.
        incoming: Option<Value<'m>>,
        /// Values of the original region that are used after it, each equal to the scalar's last value.
        outgoing: Vec<Inst<'m>>,
    },
}

/// What an [`Opaque`](loop_tree::OpKind::Opaque) operation does.
#[derive(Clone, Debug)]
pub enum CallBinding<'m> {
    /// A call of which nothing is known, and where its arguments come from: all of them, in order.
    Call(Inst<'m>, Vec<CallArgument<'m>>),
    /// The instructions that take a number out of what a call returns, its operand, one after the other.
    Part(Vec<Inst<'m>>),
}

/// An argument of a repeated call. What is computed are the operands of its operation, in order.
#[derive(Clone, Copy, Debug)]
pub enum CallArgument<'m> {
    /// Available in front of the region.
    Same(Value<'m>),
    /// The next operand.
    Computed,
    /// So many bytes behind a pointer that is available in front of the region as the next operand says.
    Behind(Value<'m>),
}

/// Memory that a region must not touch for its kernel to describe it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Apart<'m> {
    /// What the region reads again and again, and was read in front: parameters and bases are what it was then.
    pub reads: Vec<FrontRead<'m>>,
    /// Arrays that must not be `errno`, which calls of the region set.
    pub errno: Vec<ArrayId>,
}

/// A place in memory that was read in front of a region, and must not be overwritten by it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrontRead<'m> {
    /// A pointer available in front of the region.
    pub base: Value<'m>,
    /// In bytes from there; over parameters.
    pub offset: Affine,
    /// In bytes; over parameters.
    pub size: Affine,
    /// The condition under which it was read in front, and whether that has to hold or not to hold.
    pub guard: Option<(Value<'m>, bool)>,
    /// Arrays that the region writes and that may lie there.
    pub apart: Vec<ArrayId>,
}

/// The original loop of a variable.
#[derive(Clone, Debug)]
pub struct LoopBinding<'m> {
    /// Its latch; the terminator carries `!llvm.loop` hints and the debug location.
    pub latch: Block<'m>,
}

impl LoopBinding<'_> {
    /// What the source says of it.
    fn hints(&self) -> Vec<LoopHint> {
        self.latch.terminator().map(Inst::loop_hints).unwrap_or_default()
    }

    /// Where the loop begins, as the front end says at its latch.
    fn location(&self) -> Option<SourceLocation> {
        source_location(self.latch.terminator()?.loop_location()?)
    }
}

/// Something that lifting did not understand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Where, if the IR says so.
    pub location: Option<SourceLocation>,
    /// A stable short name, such as `call` or `trip-count`.
    pub code: &'static str,
    /// What is in the way.
    pub message: String,
    /// What would help; may be empty.
    pub help: &'static str,
    /// How deep the loops are nested that are not described as one region for this reason; zero where it is not about
    /// loops.
    pub depth: usize,
}

/// Describes a function and gives each of its regions blocks of its own; nothing else in the IR changes. Best after
/// [`canonicalise`]. Cost: a few milliseconds for a function with a handful of nests.
///
/// Nothing is known of the module around it: [`LiftOptions::knowing`].
pub fn lift_function<'m>(module: &'m Module<'m>, function: Function<'m>) -> LiftedFunction<'m> {
    lift_function_with(module, function, &LiftOptions::default())
}

/// The same, with a choice of analyses.
pub fn lift_function_with<'m>(
    module: &'m Module<'m>,
    function: Function<'m>,
    options: &LiftOptions,
) -> LiftedFunction<'m> {
    let name: Arc<str> = function.name().into();
    let mut selection = select::Selection::new(&name);
    let mut parts = Vec::new();
    let kept = KEPT.iter().find(|(attribute, ..)| function.has_attribute(attribute));
    let kept = kept.map(|(_, message, help)| (*message, *help)).or_else(|| without_sse(function));
    let own = fronts::is_helper(&name);
    let cfg = if kept.is_some() || own { None } else { cfg::Cfg::new(function) };
    if let Some((message, help)) = kept {
        selection.remark(None, "attribute", message, help, 0);
    }
    if cfg.as_ref().is_some_and(|cfg| cfg.blocks.iter().any(|b| is_vectorised(*b))) {
        let message = "loops of the function are vectorised already";
        selection.remark(None, "vectorised", message, UNOPTIMISED, 0);
    }
    if let Some(cfg) = &cfg {
        match options.closed_forms.of(module, cfg) {
            Ok(forms) => {
                let wishes = hints::wishes(cfg, options.unrolls == Some(false));
                let mut values = values::Values::new(cfg, module, options, forms, wishes);
                let items = shape::shape(&mut values);
                parts = selection.select(&mut values, &items);
            }
            Err(e) => selection.remark(None, "closed-forms", &e.to_string(), "", 0),
        }
    }
    let kernel = Arc::new(whole::whole(&name, &parts, &selection.drafts));
    let mut remarks = selection.remarks;
    let mut regions = Vec::new();
    let mut fates = vec![None; cfg.as_ref().map_or(0, |c| c.loops.len())];
    for (l, code, message) in selection.left {
        fates[l] = Some(Fate::Left(code, message));
    }
    for draft in selection.drafts {
        let Some(cfg) = &cfg else { continue };
        let loops: Vec<usize> = draft.loops.iter().filter_map(|&(header, _)| cfg.loop_of[header]).collect();
        let fate = match select::cut(function, &cfg.blocks, draft) {
            Ok(region) => {
                regions.push(region);
                Fate::Region(regions.len() - 1)
            }
            Err(e) => {
                let message = e.to_string();
                let fate = Fate::Left("control", message.clone());
                remarks.push(Remark { location: None, code: "control", message, help: "", depth: 0 });
                fate
            }
        };
        loops.into_iter().for_each(|l| fates[l] = Some(fate.clone()));
    }
    // The line of the function is better than none.
    let begins = function.location().and_then(source_location);
    for remark in remarks.iter_mut().filter(|r| r.location.is_none()) {
        remark.location.clone_from(&begins);
    }
    let loops = cfg.map_or_else(Vec::new, |cfg| places::places(&cfg, &fates));
    LiftedFunction { name, kernel, regions, remarks, loops }
}

/// Attributes of functions that are left alone, why, and what would help. Under `strictfp` the rounding mode and the
/// exception flags count; plain operations would ignore them.
const KEPT: [(&str, &str, &str); 6] = [
    (
        "optsize",
        "the function asks for little code, and a nest would be there twice",
        "-O2 or -O3 in place of -Os or -Oz",
    ),
    (
        "minsize",
        "the function asks for the least code, and a nest would be there twice",
        "remove the attribute `minsize`",
    ),
    ("presplitcoroutine", "the function is a coroutine, and is taken apart later", ""),
    ("optnone", "the function asks not to be optimised, as all do at -O0", UNOPTIMISED),
    ("naked", "the function asks for exactly its own code", "remove the attribute `naked`"),
    (
        "strictfp",
        "the function may read or change the floating-point environment",
        "drop `FENV_ACCESS` and -ffp-model=strict where rounding modes and exception flags do not count",
    ),
];

/// Why code of x86 without SSE2 is left alone: what it computes in its registers of 80 bits depends on which values go to memory, and
/// numbers that are only copied may change there.
fn without_sse(function: Function<'_>) -> Option<(&'static str, &'static str)> {
    let features = function.string_attribute("target-features")?;
    let lacks = features.split(',').any(|feature| matches!(feature, "-sse" | "-sse2"));
    lacks.then_some((
        "the function is compiled without SSE2",
        "compile it without `-mno-sse`, `-mno-sse2` and `-mgeneral-regs-only`",
    ))
}

/// The input that is best to lift.
const UNOPTIMISED: &str = "make the IR with -O3 -Xclang -disable-llvm-passes";

/// Whether the block ends a loop that LLVM's vectoriser made.
fn is_vectorised(block: Block<'_>) -> bool {
    let hints = block.terminator().map(Inst::loop_hints).unwrap_or_default();
    // Without a number it is clang that says so, of a loop that a pragma forbids to make vectors.
    let done = |hint: &LoopHint| hint.name == "llvm.loop.isvectorized" && hint.value != HintValue::Flag;
    hints.iter().any(done)
}

/// Where an instruction came from.
fn location(inst: Inst<'_>) -> Option<SourceLocation> {
    source_location(inst.location()?)
}

/// Line 0 is no place.
fn source_location(at: crate::llvm::SourceLocation) -> Option<SourceLocation> {
    (at.line > 0).then(|| SourceLocation { file: at.file.into(), line: at.line, column: at.column })
}
