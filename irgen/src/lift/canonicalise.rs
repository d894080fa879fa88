//! The form of the IR that lifting reads best.

use std::collections::BTreeSet;

use super::cfg::has_cycle;
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

/// The same for one function.
pub fn canonicalise_function(module: &mut Module<'_>, name: &str) -> Result<()> {
    module.run_function_passes(name, PIPELINE.trim_start_matches("function(").trim_end_matches(')'), None)
}

/// The same for the functions that have loops, which are all that has regions, and for those that call them, directly or
/// not: what they pass says how often loops run. Returns the names of the ones with loops.
pub fn canonicalise_loops(module: &mut Module<'_>) -> Result<BTreeSet<String>> {
    let defined = module.functions().into_iter().filter(|f| !f.is_declaration());
    let (with, mut without): (Vec<Function<'_>>, Vec<Function<'_>>) = defined.partition(|f| has_cycle(*f));
    let mut reached = with.clone();
    let mut names: Vec<String> = reached.iter().map(|f| f.name()).collect();
    while let Some(function) = reached.pop() {
        let users = function.value().users();
        let from: Vec<Function<'_>> =
            users.into_iter().filter_map(Value::as_inst).map(|i| i.block().function()).collect();
        without.retain(|other| {
            let calls = from.contains(other);
            if calls {
                reached.push(*other);
                names.push(other.name());
            }
            !calls
        });
    }
    let with = with.into_iter().map(|f| f.name()).collect();
    for name in names {
        canonicalise_function(module, &name)?;
    }
    Ok(with)
}
