//! Unroll: several iterations of a loop, one after the other, in one iteration of a new loop.
//! Elsewhere: `unroll` (Halide, TVM), `unroll_loop` (Exo, full), `-loop-unroll` (LLVM).
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! unroll(i; 2)
//! ```
//! ```lt after
//! for t0 in 0..floor(N/2) { let i = 2*t0 { S(i) } let i = 2*t0 + 1 { S(i) } }
//! for i in max(0, 2*floor(N/2))..N { S(i) }
//! ```
//! Keeps the statement instances and their order. What is left over runs in a loop of its own.
//! Applies to loops with one bound at each end; `full` to a constant number of iterations.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Site, Transform, nest};
use loop_tree::{Affine, Condition, Constraint, Green, LoopKind};
use std::fmt;

/// How many iterations become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// So many: 2 to 128.
    Times(i64),
    /// All of them: no loop is left.
    Full,
}

/// Unrolls a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unroll {
    /// The loop.
    pub target: LoopRef,
    /// How far.
    pub factor: Factor,
}

/// Most copies of a body that a step makes.
pub(crate) const MOST_COPIES: i64 = 128;

impl Transform for Unroll {
    fn name(&self) -> &'static str {
        "unroll"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let copy = |value: Affine| Green::bind(site.header.var, value, site.body.clone());
        let unrolled = match self.factor {
            Factor::Full => Green::seq(all_values(&site)?.into_iter().map(copy)),
            Factor::Times(factor) => {
                let grouped = Grouped::new(cx, &site, factor)?;
                grouped.build(&site, Green::seq(grouped.values.iter().cloned().map(copy)))
            }
        };
        cx.replace(&site.path, unrolled)
    }
}

fn all_values(site: &Site<'_>) -> Result<Vec<Affine>, Refusal> {
    let header = site.header;
    let (Some(count), Some((lower, _))) = (header.constant_trip_count(), header.single_bounds()) else {
        return Err(Refusal::new("trip-count", &site.path, "the number of iterations is not constant"));
    };
    if count > MOST_COPIES {
        let message = format!("{count} iterations are more than {MOST_COPIES}");
        return Err(Refusal::new("factor", &site.path, message));
    }
    Ok((0..count).map(|n| lower.offset(n.saturating_mul(header.step))).collect())
}

/// A loop over groups of iterations.
pub(crate) struct Grouped {
    /// Value of the old variable in each iteration of a group, in terms of the new loop's variable.
    pub values: Vec<Affine>,
    var: loop_tree::VarId,
    groups: Affine,
    /// First value that is in no whole group.
    rest: Affine,
}

impl Grouped {
    /// Groups of `factor` iterations.
    pub fn new(cx: &Context<'_>, site: &Site<'_>, factor: i64) -> Result<Grouped, Refusal> {
        if !(2..=MOST_COPIES).contains(&factor) {
            let message = format!("{factor} is not between 2 and {MOST_COPIES}");
            return Err(Refusal::new("factor", &site.path, message));
        }
        if let Some(count) = site.header.constant_trip_count().filter(|count| *count < factor) {
            let message = format!("{factor} is more than the {count} iterations that there are");
            return Err(Refusal::new("factor", &site.path, message));
        }
        let Some((lower, upper)) = site.header.single_bounds() else {
            return Err(Refusal::new("bounds", &site.path, "a bound is a minimum or maximum")
                .help("split the loop, or separate full tiles first"));
        };
        let step = site.header.step;
        let width = factor.saturating_mul(step);
        // Iterations: ceil(extent / step); whole groups of them: floor(iterations / factor).
        let groups = (upper - lower).ceil_div(step).floor_div(factor);
        let var = cx.fresh(0);
        let first = lower + &Affine::var(var).scale(width);
        let values = (0..factor).map(|n| first.offset(n.saturating_mul(step))).collect();
        let rest = lower + &groups.scale(width);
        Ok(Grouped { values, var, groups, rest })
    }

    /// The loop over whole groups with this body, and the loop over what is left.
    pub fn build(&self, site: &Site<'_>, body: Green) -> Green {
        let header = site.header;
        let kind = if header.kind == LoopKind::Vector { LoopKind::Sequential } else { header.kind };
        let groups = nest::header(self.var, vec![Affine::constant(0)], vec![self.groups.clone()], 1, kind);
        let mut lower = vec![self.rest.clone()];
        if header.step == 1 {
            // In an empty range `rest` may lie below the lower bound.
            lower.extend(header.lower().iter().cloned());
        }
        let rest = nest::header(header.var, lower, header.upper().to_vec(), header.step, header.kind);
        let mut rest = nest::repeat(rest, site.body.clone());
        if header.step != 1 {
            let inside = Constraint::ge(self.groups.clone(), Affine::constant(0));
            rest = rest.map(|rest| Green::guard(Condition::all(vec![inside]), rest));
        }
        Green::seq(nest::repeat(groups, body).into_iter().chain(rest))
    }
}

impl BuiltIn for Unroll {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let factor =
            if arguments.flag("full") { Factor::Full } else { Factor::Times(arguments.one_integer()?) };
        Ok(Unroll { target, factor })
    }

    /// Innermost loops by each factor; short ones fully.
    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            let target = || LoopRef::Path(site.path.clone());
            let count = site.header.constant_trip_count();
            if count.is_some_and(|count| count <= options.full_unroll.min(MOST_COPIES)) {
                result.push(Unroll { target: target(), factor: Factor::Full });
            }
            if site.body.summary().loop_depth > 0 || site.header.single_bounds().is_none() {
                continue;
            }
            let fits = |f: &&i64| (2..=MOST_COPIES).contains(*f) && count.is_none_or(|count| count > **f);
            let factors = options.unroll_factors.iter().filter(fits);
            result.extend(factors.map(|f| Unroll { target: target(), factor: Factor::Times(*f) }));
        }
        result
    }
}

impl fmt::Display for Unroll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.factor {
            Factor::Full => write!(f, "unroll({}; full)", self.target),
            Factor::Times(factor) => write!(f, "unroll({}; {factor})", self.target),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn constant_ranges_leave_nothing_over() {
        let k = kernel(&[("S", "i")]);
        check(
            &k,
            "for i in 1..5 { S }",
            "unroll(i; 2)",
            "for t0 in 0..2 { let i = 2*t0 + 1 { S } let i = 2*t0 + 2 { S } }",
        );
        check(
            &k,
            "for i in 1..7 step 2 { S }",
            "unroll(i; full)",
            "let i = 1 { S } let i = 3 { S } let i = 5 { S }",
        );
        refuse(&k, "for i in 0..N { S }", "unroll(i; full)", "trip-count");
        refuse(&k, "for i in 0..min(M, N) { S }", "unroll(i; 2)", "bounds");
        refuse(&k, "for i in 0..N { S }", "unroll(i; 1)", "factor");
    }
}
