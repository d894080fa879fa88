//! Rules that can be left out one at a time, so that a suite can show that it would notice. For tests of the tests only.
//!
//! A rule is left out on the calling thread, while [`without`] runs. Cost where nothing is left out: a read of a
//! thread-local variable per question.

use std::cell::Cell;
use std::thread::LocalKey;

/// A rule of the oracle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// Coverage is not checked.
    Coverage,
    /// Instances may be missing.
    Missing,
    /// Instances may run twice.
    Repeated,
    /// Instances may run that the original does not run.
    Extra,
    /// Instances may run under other predicates.
    Predicates,
    /// No flow dependences.
    Flow,
    /// No anti dependences.
    Anti,
    /// No output dependences.
    Output,
    /// No control dependences.
    Control,
    /// No dependences on scalars.
    Scalar,
    /// Values of private scalars may be used apart.
    Storage,
    /// No order of side effects.
    Order,
    /// Opaque statements may move.
    Opaque,
    /// Side effects may move.
    SideEffects,
    /// Ordered atomics may move.
    Ordered,
    /// What may throw may move.
    MayThrow,
    /// What may not return may move.
    MayNotReturn,
    /// Volatile accesses may swap.
    Volatile,
    /// Relaxed atomics may swap.
    Relaxed,
    /// What may be written is only read.
    MayWrite,
    /// An access without subscripts touches nothing.
    UnknownSubscripts,
    /// Different arrays never overlap.
    Overlap,
    /// Arrays must not overlap, but nobody is told.
    OverlapConditions,
    /// Any access of a reduction is exempt.
    ReductionAnything,
    /// Different reductions commute.
    ReductionOthers,
    /// Reductions carry nothing.
    ReductionParallel,
    /// Instances of the same iterations may swap.
    Together,
    /// Only the outermost shared loop orders.
    InnerLoops,
    /// Of alternative conditions only the first counts.
    Alternatives,
    /// Marked loops may carry dependences.
    Marks,
    /// All loops are said to be parallel.
    Facts,
    /// A loop carries only what goes forwards.
    Backwards,
    /// No answer is a good answer.
    Quota,
    /// The original may repeat instances.
    Instances,
    /// Elements may lie outside of their buffer.
    BufferBounds,
    /// Buffers need not be filled.
    BufferFill,
    /// Buffers may be filled with what is not touched.
    BufferFilled,
    /// Buffers need not be written back.
    BufferWriteBack,
    /// Buffers may write back what is not written.
    BufferWritten,
    /// Values may pass between buffers.
    BufferFlow,
    /// Elements may share places in buffers that are copied.
    BufferApart,
    /// Values in buffers may be overwritten.
    BufferOverwritten,
    /// Iterations of marked loops may share places in buffers.
    BufferMarks,
    /// Arrays in buffers never overlap.
    BufferOverlap,
    /// Nobody looks while arrays are in buffers.
    BufferEffects,
    /// Copies of what others touch are nobody's business.
    BufferWide,
    /// What is copied needs no place.
    BufferNested,
    /// Predicates are not read from buffers.
    BufferPredicate,
    /// What is read from a buffer need not have been put there.
    BufferValues,
    /// Instances that write to memory may run again, or never.
    RepeatedWrites,
}

impl Rule {
    /// All of them.
    pub const ALL: &[Rule] = &[
        Rule::Coverage,
        Rule::Missing,
        Rule::Repeated,
        Rule::Extra,
        Rule::Predicates,
        Rule::Flow,
        Rule::Anti,
        Rule::Output,
        Rule::Control,
        Rule::Scalar,
        Rule::Storage,
        Rule::Order,
        Rule::Opaque,
        Rule::SideEffects,
        Rule::Ordered,
        Rule::MayThrow,
        Rule::MayNotReturn,
        Rule::Volatile,
        Rule::Relaxed,
        Rule::MayWrite,
        Rule::UnknownSubscripts,
        Rule::Overlap,
        Rule::OverlapConditions,
        Rule::ReductionAnything,
        Rule::ReductionOthers,
        Rule::ReductionParallel,
        Rule::Together,
        Rule::InnerLoops,
        Rule::Alternatives,
        Rule::Marks,
        Rule::Facts,
        Rule::Backwards,
        Rule::Quota,
        Rule::Instances,
        Rule::BufferBounds,
        Rule::BufferFill,
        Rule::BufferFilled,
        Rule::BufferWriteBack,
        Rule::BufferWritten,
        Rule::BufferFlow,
        Rule::BufferApart,
        Rule::BufferOverwritten,
        Rule::BufferMarks,
        Rule::BufferOverlap,
        Rule::BufferEffects,
        Rule::BufferWide,
        Rule::BufferNested,
        Rule::BufferPredicate,
        Rule::BufferValues,
        Rule::RepeatedWrites,
    ];

    /// What is wrong without it.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Coverage => "coverage is not checked",
            Rule::Missing => "instances may be missing",
            Rule::Repeated => "instances may run twice",
            Rule::Extra => "instances may run that the original does not run",
            Rule::Predicates => "instances may run under other predicates",
            Rule::Flow => "no flow dependences",
            Rule::Anti => "no anti dependences",
            Rule::Output => "no output dependences",
            Rule::Control => "no control dependences",
            Rule::Scalar => "no dependences on scalars",
            Rule::Storage => "values of private scalars may be used apart",
            Rule::Order => "no order of side effects",
            Rule::Opaque => "opaque statements may move",
            Rule::SideEffects => "side effects may move",
            Rule::Ordered => "ordered atomics may move",
            Rule::MayThrow => "what may throw may move",
            Rule::MayNotReturn => "what may not return may move",
            Rule::Volatile => "volatile accesses may swap",
            Rule::Relaxed => "relaxed atomics may swap",
            Rule::MayWrite => "what may be written is only read",
            Rule::UnknownSubscripts => "an access without subscripts touches nothing",
            Rule::Overlap => "different arrays never overlap",
            Rule::OverlapConditions => "arrays must not overlap, but nobody is told",
            Rule::ReductionAnything => "any access of a reduction is exempt",
            Rule::ReductionOthers => "different reductions commute",
            Rule::ReductionParallel => "reductions carry nothing",
            Rule::Together => "instances of the same iterations may swap",
            Rule::InnerLoops => "only the outermost shared loop orders",
            Rule::Alternatives => "of alternative conditions only the first counts",
            Rule::Marks => "marked loops may carry dependences",
            Rule::Facts => "all loops are said to be parallel",
            Rule::Backwards => "a loop carries only what goes forwards",
            Rule::Quota => "no answer is a good answer",
            Rule::Instances => "the original may repeat instances",
            Rule::BufferBounds => "elements may lie outside of their buffer",
            Rule::BufferFill => "buffers need not be filled",
            Rule::BufferFilled => "buffers may be filled with what is not touched",
            Rule::BufferWriteBack => "buffers need not be written back",
            Rule::BufferWritten => "buffers may write back what is not written",
            Rule::BufferFlow => "values may pass between buffers",
            Rule::BufferApart => "elements may share places in buffers that are copied",
            Rule::BufferOverwritten => "values in buffers may be overwritten",
            Rule::BufferMarks => "iterations of marked loops may share places in buffers",
            Rule::BufferOverlap => "arrays in buffers never overlap",
            Rule::BufferEffects => "nobody looks while arrays are in buffers",
            Rule::BufferWide => "copies of what others touch are nobody's business",
            Rule::BufferNested => "what is copied needs no place",
            Rule::BufferPredicate => "predicates are not read from buffers",
            Rule::BufferValues => "what is read from a buffer need not have been put there",
            Rule::RepeatedWrites => "instances that write to memory may run again, or never",
        }
    }
}

thread_local! {
    static OFF: Switch<Rule> = const { Cell::new(None) };
}

/// Runs `work` as if the rule did not exist.
pub fn without<T>(rule: Rule, work: impl FnOnce() -> T) -> T {
    while_off(&OFF, rule, work)
}

/// Whether the rule is left out here.
pub(crate) fn off(rule: Rule) -> bool {
    OFF.get() == Some(rule)
}

/// The rule that is left out on this thread.
pub type Switch<R> = Cell<Option<R>>;

/// Runs `work` with the rule left out, and puts the switch back, also after a panic.
pub fn while_off<R: Copy + 'static, T>(
    switch: &'static LocalKey<Switch<R>>,
    rule: R,
    work: impl FnOnce() -> T,
) -> T {
    struct Back<R: Copy + 'static>(&'static LocalKey<Switch<R>>, Option<R>);
    impl<R: Copy> Drop for Back<R> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let _back = Back(switch, switch.replace(Some(rule)));
    work()
}
