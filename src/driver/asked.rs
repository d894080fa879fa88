//! Recipes that the source asks for:
//! `__attribute__((annotate("looptree: tile(i, j; 64, 64)"))) void kernel(...)`, or `looptree #1: ...` for the second region; and pragmas that are
//! transformations, as `#pragma clang loop unroll_count(4)`.

use super::{Doubt, DriverError, Optimizer, Warning, code};
use crate::explore::{Exploration, Problem, Statistics, StopReason, Variant};
use cost_model::CostModel;
use cost_model::targets::Vectors;
use irgen::lift::{Region, Remark, Wish, wishes_of};
use irgen::llvm::{Annotation, Module};
use loop_tree::{Kernel, SourceLocation, VarId};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use transforms::Recipe;

/// What a variant is drawn by that the source asks for.
const SOURCE: &str = "the source";

/// Of vectors that every processor has.
const LEAST_BITS: u32 = 128;

/// A recipe that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Of which region; the only one where nothing is said.
    pub region: Option<usize>,
    /// The recipe, as it is written.
    pub recipe: String,
    /// Whether pragmas ask for it.
    pub by_pragmas: bool,
    /// Where the function is that the source says it of.
    pub location: Option<SourceLocation>,
}

/// What the source says to us of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub asked: Vec<Asked>,
    /// Of what is none.
    pub warnings: Vec<Warning>,
}

/// By function.
pub(super) fn said(module: &Module<'_>) -> BTreeMap<String, Said> {
    let mut all: BTreeMap<String, Said> = BTreeMap::new();
    for Annotation { function, text, place } in module.annotations() {
        let Some(read) = Asked::read(&text) else { continue };
        let name = function.name();
        let location = place.map(|(file, line)| SourceLocation { file: file.into(), line, column: 0 });
        let function = name.as_str().into();
        let said = all.entry(name).or_default();
        match read {
            Ok(asked) => said.asked.push(Asked { location, ..asked }),
            Err(doubt) => said.warnings.push(Warning { function, number: None, location, doubt }),
        }
    }
    all
}

/// Whether the source says something to us of any function.
pub fn says_something(module: &Module<'_>) -> bool {
    !said(module).is_empty()
}

/// What pragmas ask for in a region, as steps: loops are distributed first, then made vectors, then unrolled, inner ones first.
pub(super) fn by_pragmas(region: &Region<'_>) -> Option<String> {
    let mut wishes = wishes_of(region);
    wishes.sort_by_key(|(number, wish)| (*wish, Reverse(*number)));
    let kernel = &*region.kernel;
    let step = |(number, wish): &(usize, Wish)| {
        let of = kernel.variable_name(VarId::new(*number));
        match wish {
            Wish::Distribute => format!("distribute({of})"),
            Wish::Vectorize { width, interleaved } => {
                let lanes = width.unwrap_or_else(|| lanes(region, VarId::new(*number)));
                format!("vectorize({of}; {})", lanes.saturating_mul(*interleaved))
            }
            Wish::UnrollAndJam(copies) => format!("unroll_and_jam({of}; {copies})"),
            Wish::Unroll(copies) => format!("unroll({of}; {copies})"),
            Wish::UnrollFully => format!("unroll({of}; full)"),
        }
    };
    let steps: Vec<String> = wishes.iter().map(step).collect();
    (!steps.is_empty()).then(|| steps.join("; "))
}

/// Lanes of the widest vectors that the function's code has, of the widest elements that a loop touches.
fn lanes(region: &Region<'_>, var: VarId) -> i64 {
    let kernel = &*region.kernel;
    let inside = kernel.statements.iter().filter(|s| s.dims.contains(&var)).flat_map(|s| &s.accesses);
    let widest = inside.map(|a| kernel.array(a.array).element.size()).max().unwrap_or(8);
    let bits = code::vectors(region.function).map_or(LEAST_BITS, |vectors| vectors.bits);
    i64::from(bits / 8 / widest.max(1)).max(2)
}

impl Asked {
    /// `None` for what is about something else.
    fn read(text: &str) -> Option<Result<Asked, Doubt>> {
        let rest = text.trim().strip_prefix("looptree")?;
        // `looptrees`, `looptree-x` and the like are somebody else's.
        if rest.starts_with(|c: char| !(c.is_whitespace() || ":#=,;(".contains(c))) {
            return None;
        }
        let read = || {
            let (of, recipe) = rest.split_once(':')?;
            let region = match of.trim().strip_prefix('#') {
                Some(number) => Some(number.trim().parse().ok()?),
                None if of.trim().is_empty() => None,
                None => return None,
            };
            Some(Asked { region, recipe: recipe.trim().to_string(), by_pragmas: false, location: None })
        };
        Some(read().ok_or_else(|| Doubt {
            code: "NotRead",
            message: format!(
                "nothing is done about `{}`: a recipe is written `looptree: interchange(@)`, for one region of several `looptree #0: ...`",
                text.trim()
            ),
        }))
    }

    /// Whether it is for this one of so many regions.
    pub(super) fn is_for(&self, region: usize, count: usize) -> bool {
        self.region.unwrap_or(if count == 1 { 0 } else { usize::MAX }) == region
    }

    /// Why it is for none of so many regions; `remarks` say what was not understood.
    pub(super) fn for_none(&self, count: usize, remarks: &[Remark]) -> Option<String> {
        let asked = format!("the source asks for `{}`", self.recipe);
        match self.region {
            _ if count == 0 => {
                // Of several equals, the first.
                let reason = remarks.iter().rev().max_by_key(|r| r.depth).map_or_else(
                    || ", as there is no loop".to_string(),
                    |r| match r.help {
                        "" => format!(": {}", r.message),
                        help => format!(": {}; {help}", r.message),
                    },
                );
                Some(format!("{asked}, but no nest is described here{reason}"))
            }
            Some(number) if number >= count => {
                Some(format!("{asked} of region {number}, but there are {count}, counted from 0"))
            }
            None if count > 1 => {
                Some(format!("{asked}, but there are {count} regions: write `looptree #0: ...`"))
            }
            _ => None,
        }
    }
}

impl Optimizer {
    /// The variant that is asked for, proved, as all that was found.
    pub(super) fn as_asked(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        asked: &Asked,
        problem: Problem,
        code: Option<Vectors>,
        cost: &dyn CostModel,
    ) -> Result<Exploration, DriverError> {
        let recipe = Recipe::parse(&asked.recipe, &self.registry)?;
        let chosen = self.apply(label, kernel, &recipe, code)?;
        let prepared = cost.prepare(kernel, &problem.params);
        let variant = Variant {
            cycles: prepared.cycles(&chosen.root),
            root: chosen.root,
            recipe,
            conditions: chosen.conditions.into(),
            sketch: Some(SOURCE.into()),
        };
        let statistics = Statistics { tried: 1, judged: 1, legal: 1, ..Statistics::default() };
        Ok(Exploration {
            variants: vec![variant],
            original: prepared.cost_of_original(),
            refused: Vec::new(),
            statistics,
            stop: StopReason::Exhausted,
            asked: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_for_us_is_read() {
        let asked = |region, recipe: &str| {
            Some(Ok(Asked { region, recipe: recipe.to_string(), by_pragmas: false, location: None }))
        };
        assert_eq!(Asked::read("looptree: tile(i; 8)"), asked(None, "tile(i; 8)"));
        assert_eq!(Asked::read("looptree #2: reverse(@)"), asked(Some(2), "reverse(@)"));
        for other in ["looptrees: x", "looptree-x: y", "deprecated: x", ""] {
            assert_eq!(Asked::read(other), None, "{other}");
        }
        for wrong in ["looptree", "looptree #a: x", "looptree interchange(i)", "looptree(i)", "looptree #0 x"]
        {
            assert!(matches!(Asked::read(wrong), Some(Err(_))), "{wrong}");
        }
    }
}
