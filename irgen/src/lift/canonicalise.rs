//! The form of the IR that lifting reads best.

use crate::llvm::{Module, Result};

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
