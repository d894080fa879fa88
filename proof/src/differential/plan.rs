//! Which variants of each region are tried: random recipes that the oracle allows.

use crate::legality::{random_step, small_moves};
use analyses::dependences::Polyhedral;
use analyses::{Oracle, OracleOptions, Verdict};
use fastrand::Rng;
use irgen::lift::lift_function;
use irgen::llvm::Module;
use loop_tree::{Green, Kernel, Path, RuntimeCondition};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use transforms::{Context, Recipe, Registry};

/// Less than usual: many simple questions are worth more here than a hard one.
const QUOTA: u64 = 200_000;

/// What replaces a region.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The tree.
    pub root: Green,
    /// When it may.
    pub conditions: Vec<RuntimeCondition>,
    /// Its loops that carry no dependence.
    pub parallel: BTreeSet<Path>,
    /// How it was made.
    pub recipe: Recipe,
}

/// A region with its variants, the identity first.
#[derive(Clone, Debug)]
pub struct PlannedRegion {
    /// The region.
    pub kernel: Arc<Kernel>,
    /// What may replace it.
    pub choices: Vec<Choice>,
}

/// Counts of planning.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct PlanTally {
    /// Functions in which something was lifted.
    pub lifted: u64,
    /// Regions.
    pub regions: u64,
    /// Variants allowed always.
    pub always: u64,
    /// Variants allowed under conditions.
    pub under: u64,
    /// Variants refused.
    pub never: u64,
    /// Regions without an oracle, by cause.
    pub failed: BTreeMap<String, u64>,
    /// What lifting did not understand, by code.
    pub remarks: BTreeMap<String, u64>,
}

/// Lifts `test_<number>` for all numbers and collects variants of each region, at most `count`.
pub fn plan(
    module: &Module<'_>,
    functions: usize,
    count: usize,
    rng: &mut Rng,
    tally: &mut PlanTally,
) -> Vec<Vec<PlannedRegion>> {
    let names: Vec<String> = (0..functions).map(|number| format!("test_{number}")).collect();
    plan_module(module, &names, count, rng, tally)
}

/// The same for functions of any name.
pub fn plan_module(
    module: &Module<'_>,
    names: &[String],
    count: usize,
    rng: &mut Rng,
    tally: &mut PlanTally,
) -> Vec<Vec<PlannedRegion>> {
    let mut result = Vec::new();
    for name in names {
        let Some(function) = module.function(name) else {
            result.push(vec![]);
            continue;
        };
        let lifted = lift_function(module, function);
        for remark in &lifted.remarks {
            *tally.remarks.entry(remark.code.to_owned()).or_default() += 1;
        }
        tally.lifted += u64::from(!lifted.regions.is_empty());
        tally.regions += lifted.regions.len() as u64;
        let regions = lifted.regions.iter().map(|r| region(&r.kernel, count, rng, tally)).collect();
        result.push(regions);
    }
    result
}

fn region(kernel: &Arc<Kernel>, count: usize, rng: &mut Rng, tally: &mut PlanTally) -> PlannedRegion {
    let mut choices = Vec::new();
    let options = OracleOptions { quota: QUOTA, ..OracleOptions::default() };
    let dependences = Polyhedral { quota: QUOTA, ..Polyhedral::default() };
    let oracle = match Oracle::new(kernel.clone(), &dependences, options) {
        Ok(oracle) => oracle,
        Err(error) => {
            let cause: String = error.to_string().chars().take(60).collect();
            *tally.failed.entry(cause).or_default() += 1;
            return PlannedRegion { kernel: kernel.clone(), choices };
        }
    };
    let mut seen = BTreeSet::new();
    let mut consider = |root: &Green, recipe: &Recipe, choices: &mut Vec<Choice>| {
        if !seen.insert(root.structural_hash()) {
            return true;
        }
        let verdict = oracle.judge(root);
        match &verdict {
            Verdict::Always => tally.always += 1,
            Verdict::Under(_) => tally.under += 1,
            Verdict::Never(_) => tally.never += 1,
        }
        let Some(conditions) = verdict.conditions() else { return false };
        let facts = oracle.loop_facts(root);
        let parallel = facts.into_iter().filter(|(_, f)| f.parallel).map(|(path, _)| path).collect();
        let (root, recipe) = (root.clone(), recipe.clone());
        choices.push(Choice { root, conditions: conditions.to_vec(), parallel, recipe });
        true
    };
    consider(&kernel.original, &Recipe::default(), &mut choices);
    let (registry, options) = (Registry::standard(), small_moves());
    for _ in 0..count {
        if choices.len() >= count {
            break;
        }
        let (mut root, mut recipe) = (kernel.original.clone(), Recipe::default());
        for _ in 0..rng.usize(1..=3) {
            let cx = Context { kernel, root: &root };
            let Some(step) = random_step(&cx, &registry, &options, rng) else { break };
            let Ok(rewrite) = step.apply(&cx) else { continue };
            if rewrite.root.summary().nodes > 150 {
                break;
            }
            root = rewrite.root;
            recipe = recipe.with(step);
            // An illegal tree may become a legal one.
            if !consider(&root, &recipe, &mut choices) && rng.bool() {
                break;
            }
        }
    }
    PlannedRegion { kernel: kernel.clone(), choices }
}
