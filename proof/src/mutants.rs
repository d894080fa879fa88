//! Would a missing rule be noticed? Each rule of the oracle, of lifting and of emission is left out in turn, and the suites
//! run until one of them finds something wrong.

use crate::c_programs::{Fitted, Profile, generate};
use crate::differential::{Batch, Level, check};
use crate::ir_loops::{KINDS, Kind};
use crate::{cases, kernels, legality};
use std::fmt::Write;

/// A compiler without one of its rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    /// A rule of the oracle.
    Oracle(analyses::mutation::Rule),
    /// A rule of lifting or emission.
    Code(irgen::mutation::Rule),
}

impl Mutant {
    /// All of them.
    pub fn all() -> Vec<Mutant> {
        let oracle = analyses::mutation::Rule::ALL.iter().map(|r| Mutant::Oracle(*r));
        oracle.chain(irgen::mutation::Rule::ALL.iter().map(|r| Mutant::Code(*r))).collect()
    }

    /// What is wrong with it.
    pub fn name(self) -> &'static str {
        match self {
            Mutant::Oracle(rule) => rule.name(),
            Mutant::Code(rule) => rule.name(),
        }
    }

    /// The short name of the rule.
    pub fn rule(self) -> String {
        match self {
            Mutant::Oracle(rule) => format!("{rule:?}"),
            Mutant::Code(rule) => format!("{rule:?}"),
        }
    }

    fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self {
            Mutant::Oracle(rule) => analyses::mutation::without(rule, work),
            Mutant::Code(rule) => irgen::mutation::without(rule, work),
        }
    }
}

/// What looks for something wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suite {
    /// Files that say what holds: [`cases`].
    Cases,
    /// Random kernels, the oracle against enumeration: [`legality`].
    Kernels,
    /// Random C programs against the original: [`differential`](crate::differential), and random [loops](crate::ir_loops).
    Programs,
}

impl Suite {
    /// All, the fastest first.
    pub const ALL: [Suite; 3] = [Suite::Cases, Suite::Kernels, Suite::Programs];
}

/// How long the random suites look.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Random kernels.
    pub kernels: u64,
    /// Translation units of 20 random programs.
    pub batches: u64,
}

/// What a suite finds first, with the compiler as it is (`None`) or without a rule. The answer says where.
pub fn finds(suite: Suite, mutant: Option<Mutant>, limits: Limits) -> Option<String> {
    match mutant {
        None => look(suite, None, limits),
        // Oracles are asked about kernels only.
        Some(Mutant::Code(_)) if suite == Suite::Kernels => None,
        Some(mutant) => mutant.run(|| look(suite, Some(mutant), limits)),
    }
}

fn look(suite: Suite, mutant: Option<Mutant>, limits: Limits) -> Option<String> {
    match suite {
        Suite::Cases => {
            let mut all = cases::kept().ok()?;
            let code_only = matches!(mutant, Some(Mutant::Code(_)));
            all.retain(|(name, _)| !code_only || name.ends_with(".ll"));
            // Those that are there for the rule come first: in most runs no other is looked at.
            all.sort_by_key(|(_, content)| !mutant.is_some_and(|m| cases::notices(content, &m.rule())));
            let mut all = all.into_iter();
            all.find(|(name, content)| cases::check(name, content, VARIANTS).is_err()).map(|(name, _)| name)
        }
        Suite::Kernels => {
            let wrong = |seed: &u64| {
                legality::is_wrong(&kernels::generate(*seed, 3), *seed, 12)
                    || legality::is_wrong(&kernels::storage::generate(*seed), *seed, 12)
            };
            (0..limits.kernels).find(wrong).map(|seed| format!("kernel {}", seed + 1))
        }
        Suite::Programs => (0..limits.batches).find_map(|seed| {
            let profile = if seed.is_multiple_of(2) { Profile::affine() } else { Profile::default() };
            let profile = Profile { statements: 3, depth: 3, temporaries: 60, ..profile };
            let functions: Vec<Fitted> =
                (seed * 20..seed * 20 + 20).filter_map(|s| generate(s, &profile)).collect();
            let batch = Batch::new(functions, seed).ok()?;
            let level = [Level::Raw, Level::O1, Level::O2][seed as usize % 3];
            let found = check(&batch, level, VARIANTS, seed, &mut Default::default());
            let wrong = found.map_or(true, |list| !list.is_empty());
            let seeds = || seed * 20..seed * 20 + 20;
            let loops = || {
                let wrong = |(kind, s): &(Kind, u64)| kind.check(*s, VARIANTS).is_err();
                let all = KINDS.into_iter().flat_map(|kind| seeds().map(move |s| (kind, s)));
                let found = { all }.find(wrong);
                found.map(|(kind, s)| format!("{} {s}", kind.name))
            };
            let program = wrong.then(|| format!("program {}", seeds().end));
            program.or_else(loops)
        }),
    }
}

/// Variants of each case and program.
const VARIANTS: usize = 6;

/// A row per mutant: what each suite found. With `first`, suites behind the first that finds something do not run.
pub fn table(mutants: &[Mutant], limits: Limits, first: bool, mut said: impl FnMut(&str)) -> Vec<Row> {
    mutants
        .iter()
        .map(|mutant| {
            let mut found: [Option<String>; 3] = [None, None, None];
            for (suite, found) in Suite::ALL.into_iter().zip(&mut found) {
                *found = finds(suite, Some(*mutant), limits);
                if first && found.is_some() {
                    break;
                }
            }
            let row = Row { mutant: *mutant, found };
            said(&row.text());
            row
        })
        .collect()
}

/// What was found about one mutant.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mutant.
    pub mutant: Mutant,
    /// By suite: where it was noticed.
    pub found: [Option<String>; 3],
}

impl Row {
    /// Whether some suite noticed it.
    pub fn is_noticed(&self) -> bool {
        self.found.iter().any(Option::is_some)
    }

    /// A line of the table.
    pub fn text(&self) -> String {
        let mut out = format!("| {} | {} |", self.mutant.rule(), self.mutant.name());
        for found in &self.found {
            let _ = write!(out, " {} |", found.as_deref().unwrap_or("-"));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const LIMITS: Limits = Limits { kernels: 40, batches: 2 };

    #[test]
    fn every_missing_rule_is_noticed() {
        let rows = table(&Mutant::all(), LIMITS, true, |line| eprintln!("{line}"));
        let missed: Vec<String> = rows.iter().filter(|r| !r.is_noticed()).map(Row::text).collect();
        assert!(missed.is_empty(), "nobody notices:\n{}", missed.join("\n"));
        // By chance means after all other cases, which is most of the time that tests take.
        let content: BTreeMap<String, String> =
            cases::kept().expect("the folder is there").into_iter().collect();
        let by_chance = rows.iter().filter(|row| {
            let found = row.found[0].as_ref().and_then(|name| content.get(name));
            !found.is_some_and(|content| cases::notices(content, &row.mutant.rule()))
        });
        let by_chance: Vec<String> = by_chance.map(Row::text).collect();
        assert!(by_chance.is_empty(), "no case says that it `notices`:\n{}", by_chance.join("\n"));
    }

    #[test]
    fn cases_notice_rules_that_there_are() {
        let rules: BTreeSet<String> = Mutant::all().into_iter().map(Mutant::rule).collect();
        for (name, content) in cases::kept().expect("the folder is there") {
            for rule in cases::noticed(&content) {
                assert!(rules.contains(rule), "{name}: there is no rule {rule}");
            }
        }
    }

    #[test]
    fn nothing_is_found_with_all_rules() {
        // Of cases and programs other tests say that nothing is wrong.
        assert_eq!(finds(Suite::Kernels, None, Limits { kernels: 20, batches: 0 }), None);
    }
}
