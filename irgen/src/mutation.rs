//! Rules that can be left out one at a time, so that a suite can show that it would notice. For tests of the tests only.
//!
//! A rule is left out on the calling thread, while [`without`] runs. Cost where nothing is left out: a read of a
//! thread-local variable per question.

use analyses::mutation::{Switch, while_off};
use std::cell::Cell;

/// A rule of the lifting or of the emission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// No condition on wrapping is assumed.
    WrapAssumptions,
    /// Accumulators may overlap what else is accessed.
    ApartAssumptions,
    /// Different pointers are different objects.
    AliasClasses,
    /// Volatile accesses are ordinary ones.
    VolatileAccess,
    /// Atomic accesses are ordinary ones.
    AtomicAccess,
    /// Unknown calls do nothing.
    Calls,
    /// Calls that may set `errno` are left out where nobody uses their value.
    ErrnoCalls,
    /// What is accessed is never `errno`.
    ErrnoMemory,
    /// No variable's address is ever handed on.
    OwnedGlobals,
    /// What loops store is never what decides how often they run.
    HoistAliases,
    /// What loops read is read in front of them, whether they run or not.
    HoistGuards,
    /// What is under a condition always runs.
    Conditions,
    /// All floating-point sums may change their order.
    Reassociation,
    /// Overlap is not checked at run time.
    OverlapCheck,
    /// Conditions on parameters are not checked at run time.
    ParameterCheck,
    /// Magnitudes of parameters are not checked at run time.
    LimitCheck,
    /// Reordered reductions keep their flags.
    OrderFlags,
    /// Scopes of arrays that move say that they never overlap.
    MovingArrays,
    /// Scopes say that no arrays overlap.
    AllScopes,
    /// All loops are annotated as parallel.
    AllParallel,
    /// Parallel loops are annotated whatever their accesses.
    GroupOrder,
    /// Masked operations always execute.
    Masks,
    /// Masks are combined so that poison spreads.
    PoisonMasks,
    /// All addresses are said to be in bounds.
    Inbounds,
    /// All index arithmetic is said not to wrap.
    NoWrap,
    /// Parameters are not frozen.
    ParameterFreeze,
    /// Division rounds towards zero.
    FloorDivision,
    /// All accesses are said to be aligned.
    Alignment,
}

impl Rule {
    /// All of them.
    pub const ALL: &[Rule] = &[
        Rule::WrapAssumptions,
        Rule::ApartAssumptions,
        Rule::AliasClasses,
        Rule::VolatileAccess,
        Rule::AtomicAccess,
        Rule::Calls,
        Rule::ErrnoCalls,
        Rule::ErrnoMemory,
        Rule::OwnedGlobals,
        Rule::HoistAliases,
        Rule::HoistGuards,
        Rule::Conditions,
        Rule::Reassociation,
        Rule::OverlapCheck,
        Rule::ParameterCheck,
        Rule::LimitCheck,
        Rule::OrderFlags,
        Rule::MovingArrays,
        Rule::AllScopes,
        Rule::AllParallel,
        Rule::GroupOrder,
        Rule::Masks,
        Rule::PoisonMasks,
        Rule::Inbounds,
        Rule::NoWrap,
        Rule::ParameterFreeze,
        Rule::FloorDivision,
        Rule::Alignment,
    ];

    /// What is wrong without it.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::WrapAssumptions => "no condition on wrapping is assumed",
            Rule::ApartAssumptions => "accumulators may overlap what else is accessed",
            Rule::AliasClasses => "different pointers are different objects",
            Rule::VolatileAccess => "volatile accesses are ordinary ones",
            Rule::AtomicAccess => "atomic accesses are ordinary ones",
            Rule::Calls => "unknown calls do nothing",
            Rule::ErrnoCalls => "calls that may set errno are left out where nobody uses their value",
            Rule::ErrnoMemory => "what is accessed is never errno",
            Rule::OwnedGlobals => "no variable's address is ever handed on",
            Rule::HoistAliases => "what loops store is never what decides how often they run",
            Rule::HoistGuards => "what loops read is read in front of them, whether they run or not",
            Rule::Conditions => "what is under a condition always runs",
            Rule::Reassociation => "all floating-point sums may change their order",
            Rule::OverlapCheck => "overlap is not checked at run time",
            Rule::ParameterCheck => "conditions on parameters are not checked at run time",
            Rule::LimitCheck => "magnitudes of parameters are not checked at run time",
            Rule::OrderFlags => "reordered reductions keep their flags",
            Rule::MovingArrays => "scopes of arrays that move say that they never overlap",
            Rule::AllScopes => "scopes say that no arrays overlap",
            Rule::AllParallel => "all loops are annotated as parallel",
            Rule::GroupOrder => "parallel loops are annotated whatever their accesses",
            Rule::Masks => "masked operations always execute",
            Rule::PoisonMasks => "masks are combined so that poison spreads",
            Rule::Inbounds => "all addresses are said to be in bounds",
            Rule::NoWrap => "all index arithmetic is said not to wrap",
            Rule::ParameterFreeze => "parameters are not frozen",
            Rule::FloorDivision => "division rounds towards zero",
            Rule::Alignment => "all accesses are said to be aligned",
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
