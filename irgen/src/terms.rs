//! Loops in the terms of LLVM's loop terminology: natural loops with their header, latch, exiting and exit blocks, preheader
//! and guard, in which forms they are, and how often they run.
//!
//! ```
//! use irgen::llvm::Context;
//! use irgen::terms::loops_of;
//!
//! let context = Context::new();
//! let text = "define void @f(i64 %n) {
//! entry:
//!   br label %body
//! body:
//!   %i = phi i64 [ 0, %entry ], [ %next, %body ]
//!   %next = add nuw nsw i64 %i, 1
//!   %more = icmp ult i64 %next, 10
//!   br i1 %more, label %body, label %done
//! done:
//!   ret void
//! }";
//! let module = context.parse(text.as_bytes(), "f.ll")?;
//! let found = loops_of(module.function("f").expect("a function"))?;
//! let l = &found.loops[0];
//! assert_eq!((l.header.as_str(), l.trip_count.as_deref()), ("%body", Some("10")));
//! assert!(l.rotated && l.simplified && found.reducible);
//! # Ok::<(), irgen::llvm::LlvmError>(())
//! ```

use crate::llvm::{
    Analyses, BackedgeCount, Block, Function, Inst, LlvmError, LoopId, LoopInfo, ScevKind, SourceLocation,
};

/// The loops of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionLoops {
    /// Its name.
    pub function: String,
    /// Whether each cycle is entered at one block only; cycles that are not are no loops.
    pub reducible: bool,
    /// Outer before inner, in the order of the function.
    pub loops: Vec<LoopTerms>,
}

/// One natural loop. Blocks as the text refers to them: `%body`, `%5`.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopTerms {
    /// Where it begins in the source, if the IR says so.
    pub location: Option<SourceLocation>,
    /// From 1.
    pub depth: u32,
    /// The loop around it, by its place in [`FunctionLoops::loops`].
    pub parent: Option<usize>,
    /// The block that all others of it are reached through.
    pub header: String,
    /// The block that goes back to the header, where there is one only.
    pub latch: Option<String>,
    /// The block in front that goes to the header only, where there is one only.
    pub preheader: Option<String>,
    /// Blocks that may leave.
    pub exiting: Vec<String>,
    /// Where they go.
    pub exits: Vec<String>,
    /// The block whose branch enters the loop only where it runs.
    pub guard: Option<String>,
    /// It has a preheader, one latch, and exits that nothing else goes to.
    pub simplified: bool,
    /// The latch is exiting: the body runs once before the first test.
    pub rotated: bool,
    /// Values that are used behind it go through phis in its exits (LCSSA).
    pub closed: bool,
    /// How often it goes back to its header, where that is known when it begins.
    pub backedge_taken: Option<String>,
    /// A constant that this does not exceed.
    pub backedge_taken_at_most: Option<i128>,
    /// How often its header runs: one more than the backedge is taken.
    pub trip_count: Option<String>,
}

/// The loops of a defined function, as it stands.
pub fn loops_of(function: Function<'_>) -> Result<FunctionLoops, LlvmError> {
    let analyses = Analyses::new(function, None)?;
    let loops = analyses.loop_ids().zip(analyses.loops());
    Ok(FunctionLoops {
        function: function.name(),
        reducible: !analyses.irreducible(),
        loops: loops.map(|(id, l)| terms(&analyses, id, l)).collect::<Result<_, _>>()?,
    })
}

fn terms(analyses: &Analyses<'_>, id: LoopId, l: &LoopInfo<'_>) -> Result<LoopTerms, LlvmError> {
    let labels = |blocks: &[Block<'_>]| blocks.iter().map(|b| b.label()).collect();
    let exact = analyses.backedge_taken(id, BackedgeCount::Exact)?;
    let known = !matches!(exact.kind(), ScevKind::CouldNotCompute);
    let bound = analyses.backedge_taken(id, BackedgeCount::ConstantMax)?;
    Ok(LoopTerms {
        location: location(l),
        depth: l.depth,
        parent: l.parent.map(LoopId::index),
        header: l.header.label(),
        latch: l.latch.map(Block::label),
        preheader: l.preheader.map(Block::label),
        exiting: labels(&l.exiting),
        exits: labels(&l.exits),
        guard: l.guard.map(Block::label),
        simplified: l.simplified,
        rotated: l.rotated,
        closed: l.lcssa,
        backedge_taken: known.then(|| format!("{exact:?}")),
        backedge_taken_at_most: match bound.kind() {
            ScevKind::Constant(n) => Some(n),
            _ => None,
        },
        trip_count: known.then(|| match exact.kind() {
            ScevKind::Constant(n) => (n + 1).to_string(),
            _ => format!("1 + {exact:?}"),
        }),
    })
}

/// What the front end says at the latch; else the first place of the header.
fn location(l: &LoopInfo<'_>) -> Option<SourceLocation> {
    let told = l.latch.and_then(Block::terminator).and_then(Inst::loop_location);
    told.or_else(|| l.header.insts().into_iter().find_map(|i| i.location())).filter(|l| l.line > 0)
}
