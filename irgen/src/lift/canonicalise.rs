//! The form of the IR that lifting reads best.

use std::collections::BTreeSet;

use crate::llvm::{Function, Module, Result, Value};

/// Values in SSA form, addresses folded, loops with preheader, one latch and dedicated exits. Nothing moves across
/// loops, no loop changes its shape, and no array element is kept in a register across iterations: `licm`, `gvn`,
/// rotation and unrolling would hide the nest that the source shows. `early-cse` comes before branches are folded, so
/// that `a < b ? a : b` on array elements is a minimum and not a choice between addresses.
const PIPELINE: &str = "function(lower-expect,sroa<preserve-cfg>,early-cse,\
    simplifycfg<no-switch-to-lookup;no-sink-common-insts;no-hoist-common-insts;keep-loops>,\
    instcombine<no-verify-fixpoint>,\
    simplifycfg<no-switch-to-lookup;no-sink-common-insts;no-hoist-common-insts;keep-loops>,\
    lower-switch,loop-simplify,lcssa)";

/// Makes raw output of a front end (`clang -O3 -Xclang -disable-llvm-passes`) and IR after `-O1` or `-O2` liftable.
/// Meaning is kept; functions that ask not to be optimised are left alone. Cost: a few light passes over the module.
pub fn canonicalise(module: &mut Module<'_>) -> Result<()> {
    module.run_passes(PIPELINE, None)
}

/// The same for some functions.
pub fn canonicalise_functions(module: &mut Module<'_>, names: &[String]) -> Result<()> {
    module.run_function_passes(names, PIPELINE.trim_start_matches("function(").trim_end_matches(')'))
}

/// Names of the functions that `pick` accepts, and of those that call them, directly or not: what they pass says how often
/// loops run.
pub fn with_callers(
    module: &Module<'_>,
    pick: impl Fn(Function<'_>) -> bool,
) -> (BTreeSet<String>, Vec<String>) {
    let defined = module.functions().into_iter().filter(|f| !f.is_declaration());
    let (picked, mut others): (Vec<Function<'_>>, Vec<Function<'_>>) = defined.partition(|f| pick(*f));
    let mut reached = picked.clone();
    let mut callers: Vec<String> = Vec::new();
    while let Some(function) = reached.pop() {
        let users = function.value().users();
        let from: Vec<Function<'_>> =
            users.into_iter().filter_map(Value::as_inst).map(|i| i.block().function()).collect();
        others.retain(|other| {
            let calls = from.contains(other);
            if calls {
                reached.push(*other);
                callers.push(other.name());
            }
            !calls
        });
    }
    (picked.into_iter().map(|f| f.name()).collect(), callers)
}
