//! Unswitch: a condition that a loop does not change is tested once, outside of it.
//! Elsewhere: loop unswitching (LLVM, gcc), `fission` of predicates.
//!
//! ```lt before
//! for i in 0..N { if M >= 3 { S(i) } T(i) }
//! ```
//! ```recipe
//! unswitch(i)
//! ```
//! ```lt after
//! if M >= 3 { for i in 0..N { S(i) T(i) } }
//! if M <= 2 { for i in 0..N { T(i) } }
//! ```
//! Keeps the statement instances and their order.
//! Applies to loops with an affine guard inside that uses no variable bound by the loop or in it; of several, the first one's
//! condition. Predicates are values of the program, and stay.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform};
use loop_tree::{Condition, Green, GuardCondition, Node, VarId, invariant_guards};
use std::fmt;

/// Tests the first invariant condition in a loop before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unswitch {
    /// The loop.
    pub target: LoopRef,
}

/// Conjunctions of the negation at most.
const MOST: usize = 4;

impl Transform for Unswitch {
    fn name(&self) -> &'static str {
        "unswitch"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let Some((_, condition)) = invariant_guards(site.header, site.body).next() else {
            return Err(Refusal::new("no-condition", &site.path, "no condition inside stays the same"));
        };
        let negated = condition.negated(MOST).ok_or_else(|| {
            Refusal::new(
                "no-condition",
                &site.path,
                "the negation of the condition has too many alternatives",
            )
        })?;
        let one = |guard: &Condition, holds: bool| {
            let body = decided(site.body, &mut vec![site.header.var], condition, holds);
            Green::guard(guard.clone(), Green::for_loop(site.header.clone(), body))
        };
        cx.replace(&site.path, Green::seq([one(condition, true), one(&negated, false)]))
    }
}

/// The tree with all guards of this condition decided.
fn decided(node: &Green, bound: &mut Vec<VarId>, condition: &Condition, holds: bool) -> Green {
    if affine(node) == Some(condition)
        && !condition.constraints().any(|c| bound.iter().any(|v| c.expression.uses(*v)))
        && let Some(body) = node.child(0)
    {
        return if holds { decided(body, bound, condition, holds) } else { Green::empty() };
    }
    let depth = bound.len();
    bound.extend(node.binds());
    let result = node.map_children(|child| decided(child, bound, condition, holds));
    bound.truncate(depth);
    result
}

fn affine(node: &Green) -> Option<&Condition> {
    match node.node() {
        Node::Guard(c, _) => match &**c {
            GuardCondition::Affine(c) => Some(c),
            GuardCondition::Predicate { .. } => None,
        },
        _ => None,
    }
}

impl BuiltIn for Unswitch {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        Ok(Unswitch { target })
    }

    /// Loops with such a condition.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let sites =
            cx.sites().into_iter().filter(|site| invariant_guards(site.header, site.body).next().is_some());
        sites.map(|site| Unswitch { target: site.path.into() }).collect()
    }
}

impl fmt::Display for Unswitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unswitch({})", self.target)
    }
}
