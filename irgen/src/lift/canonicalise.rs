//! The form of the IR that lifting reads best.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::arguments;
use super::cfg::has_cycle;
use crate::llvm::{Function, Module, Result, Steps, Value};
use crate::mutation::{self, Rule};

/// Values in SSA form, addresses folded, loops with preheader, one latch and dedicated exits. Nothing moves across
/// loops, no loop changes its shape, and no array element is kept in a register across iterations: `licm`, `gvn`,
/// rotation and unrolling would hide the nest that the source shows. `early-cse` comes before branches are folded, so
/// that `a < b ? a : b` on array elements is a minimum and not a choice between addresses.
/// What a compiler's early passes do, too.
const EARLY: &str = "lower-expect,sroa<preserve-cfg>,early-cse";
const LATE: &str = "simplifycfg<no-switch-to-lookup;no-sink-common-insts;no-hoist-common-insts;keep-loops>,\
    instcombine<no-verify-fixpoint>,\
    simplifycfg<no-switch-to-lookup;no-sink-common-insts;no-hoist-common-insts;keep-loops>,\
    lower-switch,loop-simplify,lcssa";
/// Between them, where only pairs of numbers are vectors.
const SPLIT: &str = "scalarizer<load-store>,early-cse";

/// Makes raw output of a front end (`clang -O3 -Xclang -disable-llvm-passes`) and IR after `-O1` or `-O2` liftable: small
/// functions that loops call are inlined there, and what does not change in loops is computed in front of them. Meaning is
/// kept; functions that ask not to be optimised are left alone. Cost: a few light passes over the module.
pub fn canonicalise(module: &mut Module<'_>) -> Result<()> {
    let looping = module.functions().into_iter().filter(|f| !f.is_declaration() && has_cycle(*f));
    let names: Vec<String> = looping.map(|f| f.name()).collect();
    arguments::settle(module, &names)?;
    inline(module, &names)?;
    module.run_passes(&format!("function({EARLY})"), None)?;
    let mut steps = Steps::new(module);
    for name in &names {
        if steps.has_pairs(name)? {
            steps.run_passes(std::slice::from_ref(name), SPLIT)?;
        }
    }
    drop(steps);
    module.run_passes(&format!("function({LATE})"), None)?;
    let mut steps = Steps::new(module);
    names.iter().try_for_each(|name| hoist(&mut steps, name))
}

/// Of `hoist.cpp`, beside the rules that may be left out.
const KEEP_ROWS: u32 = 16;

/// The same for some functions, each as if all others were as they are. `early`: a compiler's early passes
/// have been over the module, and are not run again where nothing is inlined.
pub fn canonicalise_functions(module: &mut Module<'_>, names: &[String], early: bool) -> Result<()> {
    arguments::settle(module, names)?;
    let inlined = inline(module, names)?;
    let mut steps = Steps::new(module);
    names.iter().try_for_each(|name| {
        let done = early && !inlined.contains(name) && steps.is_in_registers(name)?;
        let this = std::slice::from_ref(name);
        if !done {
            steps.run_passes(this, EARLY)?;
        }
        match steps.has_pairs(name)? {
            true => steps.run_passes(this, &format!("{SPLIT},{LATE}"))?,
            false => steps.run_passes(this, LATE)?,
        }
        hoist(&mut steps, name)
    })
}

/// Puts small functions in the place of their calls in loops; in which functions there were any. Callers come before what they call:
/// what is put there is as it was, whichever functions are asked for.
fn inline(module: &mut Module<'_>, names: &[String]) -> Result<FxHashSet<String>> {
    let wanted: FxHashSet<&str> = names.iter().map(String::as_str).collect();
    let (mut done, mut order) = (FxHashSet::default(), Vec::new());
    for name in names {
        let mut stack = vec![(name.clone(), false)];
        while let Some((name, left)) = stack.pop() {
            if left {
                order.push(name);
                continue;
            }
            if !done.insert(name.clone()) {
                continue;
            }
            let callees = module.function(&name).map(callees).unwrap_or_default();
            stack.push((name, true));
            stack.extend(callees.into_iter().filter(|c| wanted.contains(c.as_str())).map(|c| (c, false)));
        }
    }
    let mut inlined = FxHashSet::default();
    for name in order.into_iter().rev() {
        if module.inline_in_loops(&name)? {
            inlined.insert(name);
        }
    }
    Ok(inlined)
}

/// The functions that a function calls.
fn callees(function: Function<'_>) -> Vec<String> {
    let insts = function.blocks().into_iter().flat_map(|b| b.insts());
    let mut names: Vec<String> = insts.filter_map(|i| Some(i.as_call()?.callee()?.name())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Finds the counters of loops that run once and square roots that set no `errno`, makes one store of those on all ways, moves bounds, row pointers and strides that do not change in loops in front of
/// them, reads there, too, those that a store of the loops might overwrite, splits accesses whose subscripts are choices, and
/// counts what lies between pointers, how often loops run by steps that only the program knows, and how many rows there are to a plane.
fn hoist(steps: &mut Steps<'_, '_>, name: &String) -> Result<()> {
    let bits = |rules: &[Rule]| {
        rules.iter().enumerate().map(|(bit, rule)| u32::from(mutation::off(*rule)) << bit).sum::<u32>()
    };
    let left_out = bits(&[Rule::HoistAliases, Rule::HoistGuards, Rule::MovedMemory, Rule::HoistScopes]);
    let tidy = |steps: &mut Steps<'_, '_>, changed: bool| match changed {
        true => steps.run_passes(std::slice::from_ref(name), "early-cse"),
        false => Ok(()),
    };
    steps.count_once(name)?;
    steps.settle_roots(name, mutation::off(Rule::ErrnoRoots))?;
    let joined = steps.join_stores(name, bits(&[Rule::JoinedOrder, Rule::JoinedReads]))?;
    tidy(steps, joined)?;
    // Pointers to rows stay in their loops until those are found that lead to rows of one array.
    let changed = steps.hoist(name, left_out | KEEP_ROWS)? | steps.last_values(name)?;
    tidy(steps, changed)?;
    let split = steps.split_choices(name, mutation::off(Rule::Choices))?;
    tidy(steps, split)?;
    steps.count_ranges(name, mutation::off(Rule::RangeMultiples))?;
    steps.count_strides(name, mutation::off(Rule::StridesEnd))?;
    steps.claim_rows(name, bits(&[Rule::RowDistances, Rule::RowLengths]))?;
    if steps.hoist(name, left_out)? {
        steps.last_values(name)?;
        tidy(steps, true)?;
    }
    steps.divide_strides(name)?;
    steps.read_in_front(name, mutation::off(Rule::HoistGuards))?;
    steps.forget(name)
}

/// Names of the functions that `pick` accepts, and of those that call them, directly or not: what they pass says how often
/// loops run.
pub fn with_callers(
    module: &Module<'_>,
    mut pick: impl FnMut(Function<'_>) -> bool,
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
