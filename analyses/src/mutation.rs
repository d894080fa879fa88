//! Rules that can be left out one at a time, so that a suite can show that it would notice. For tests of the tests only: without
//! the feature `mutation` nothing is ever left out, and asking costs nothing.

/// Rules with what is wrong without them. With the feature, a rule is left out on the calling thread, while `without` runs.
#[doc(hidden)]
#[macro_export]
macro_rules! rules {
    ($($rule:ident: $what:literal,)*) => {
        /// A rule that can be left out.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule {
            $(#[doc = concat!("Without it, ", $what, ".")] $rule,)*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &[Rule] = &[$(Rule::$rule),*];

            /// What is wrong without it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Rule::$rule => $what,)*
                }
            }
        }

        #[cfg(feature = "mutation")]
        thread_local! {
            static OFF: $crate::mutation::Switch<Rule> = const { std::cell::Cell::new(None) };
        }

        /// Runs `work` as if the rule did not exist.
        #[cfg(feature = "mutation")]
        pub fn without<T>(rule: Rule, work: impl FnOnce() -> T) -> T {
            $crate::mutation::while_off(&OFF, rule, work)
        }

        /// Whether the rule is left out here.
        #[cfg(feature = "mutation")]
        pub(crate) fn off(rule: Rule) -> bool {
            OFF.get() == Some(rule)
        }

        /// Whether the rule is left out here.
        #[cfg(not(feature = "mutation"))]
        pub(crate) const fn off(_: Rule) -> bool {
            false
        }
    };
}

rules! {
    Coverage: "coverage is not checked",
    Missing: "instances may be missing",
    CoverageRuns: "instances may be missing where loops do not run",
    Repeated: "instances may run twice",
    Extra: "instances may run that the original does not run",
    Predicates: "instances may run under other predicates",
    Flow: "no flow dependences",
    Anti: "no anti dependences",
    Output: "no output dependences",
    Control: "no control dependences",
    Scalar: "no dependences on scalars",
    Storage: "values of private scalars may be used apart",
    Order: "no order of side effects",
    Opaque: "opaque statements may move",
    SideEffects: "side effects may move",
    Ordered: "ordered atomics may move",
    MayThrow: "what may throw may move",
    MayNotReturn: "what may not return may move",
    Volatile: "volatile accesses may swap",
    Relaxed: "relaxed atomics may swap",
    MayWrite: "what may be written is only read",
    UnknownRanges: "arrays touched anywhere may be checked not to overlap",
    UnknownSubscripts: "an access without subscripts touches nothing",
    Overlap: "different arrays never overlap",
    OverlapConditions: "arrays must not overlap, but nobody is told",
    ReductionAnything: "any access of a reduction is exempt",
    ReductionOthers: "different reductions commute",
    ReductionParallel: "reductions carry nothing",
    Together: "instances of the same iterations may swap",
    InnerLoops: "only the outermost shared loop orders",
    Alternatives: "of alternative conditions only the first counts",
    Marks: "marked loops may carry dependences",
    LockStep: "lanes may break dependences",
    Kept: "no pragma is about a loop",
    Facts: "all loops are said to be parallel",
    Backwards: "a loop carries only what goes forwards",
    Quota: "no answer is a good answer",
    Instances: "the original may repeat instances",
    BufferBounds: "elements may lie outside of their buffer",
    BufferFill: "buffers need not be filled",
    BufferFilled: "buffers may be filled with what is not touched",
    BufferUnchanged: "what nobody writes meanwhile may be copied, touched or not",
    BufferRuns: "what is touched where loops run is touched where they do not",
    BufferWriteBack: "buffers need not be written back",
    BufferWritten: "buffers may write back what is not written",
    BufferFlow: "values may pass between buffers",
    BufferApart: "elements may share places in buffers that are copied",
    BufferDistinct: "subscripts of buffers tell elements apart, whatever else is in them",
    BufferOverwritten: "values in buffers may be overwritten",
    BufferMarks: "iterations of marked loops may share places in buffers",
    BufferOverlap: "arrays in buffers never overlap",
    BufferFreed: "memory of buffers need not be freed",
    BufferEffects: "nobody looks while arrays are in buffers",
    BufferWide: "copies of what others touch are nobody's business",
    BufferNested: "what is copied needs no place",
    BufferComputed: "what is computed of elements stands for them",
    BufferPredicate: "predicates are not read from buffers",
    BufferValues: "what is read from a buffer need not have been put there",
    RepeatedWrites: "instances that write to memory may run again, or never",
}

/// The rule that is left out on this thread.
#[cfg(feature = "mutation")]
pub type Switch<R> = std::cell::Cell<Option<R>>;

/// Runs `work` with the rule left out, and puts the switch back, also after a panic.
#[cfg(feature = "mutation")]
pub fn while_off<R: Copy + 'static, T>(
    switch: &'static std::thread::LocalKey<Switch<R>>,
    rule: R,
    work: impl FnOnce() -> T,
) -> T {
    struct Back<R: Copy + 'static>(&'static std::thread::LocalKey<Switch<R>>, Option<R>);
    impl<R: Copy> Drop for Back<R> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let _back = Back(switch, switch.replace(Some(rule)));
    work()
}
