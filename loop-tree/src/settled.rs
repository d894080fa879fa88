//! Conditions that a loop does not change.

use crate::{Condition, Green, GuardCondition, LoopHeader, Node, Path, VarId, Walk};

/// Affine guards in the body of a loop whose conditions use no variable that is bound by the loop or in it, as the canonical form leaves
/// them; with their paths from the body, parents first.
pub fn invariant_guards<'t>(
    header: &LoopHeader,
    body: &'t Green,
) -> impl Iterator<Item = (Path, &'t Condition)> + use<'t> {
    let counter = header.var;
    let mut walk: Walk<'t> = body.walk();
    std::iter::from_fn(move || {
        while let Some(node) = walk.next() {
            let Node::Guard(condition, _) = node.node() else { continue };
            let GuardCondition::Affine(condition) = &**condition else { continue };
            let uses = |v: VarId| condition.constraints().any(|c| c.expression.uses(v));
            if !walk.here().scope().chain([counter]).any(uses) {
                return Some((walk.here().path(), condition));
            }
        }
        None
    })
}

/// The one condition that an innermost loop tests and does not change: emission writes such a loop twice, once for each of its
/// values, and predictions know.
pub struct Settled<'t> {
    /// Over the variables around the loop.
    pub condition: &'t Condition,
    /// Where it is tested, from the body.
    pub guards: Vec<Path>,
}

impl<'t> Settled<'t> {
    /// `None` also where there are several: each would double the code.
    pub fn of(header: &LoopHeader, body: &'t Green) -> Option<Self> {
        if body.summary().loop_depth > 0 {
            return None;
        }
        let (guards, conditions): (Vec<_>, Vec<_>) = invariant_guards(header, body).unzip();
        let condition = *conditions.first()?;
        conditions.iter().all(|c| *c == condition).then_some(Settled { condition, guards })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn settled(body: &str) -> Option<(String, Vec<String>)> {
        let text =
            format!("nest @k[N] {{ array A: f64[N, N] for i in 0..N {{ for j in 0..N {{ {body} }} }} }}");
        let kernel = text::parse(&text).expect("it parses").kernel;
        let (_, inner) = kernel.original.as_loop().expect("a loop");
        let (header, body) = inner.as_loop().expect("a loop");
        let found = Settled::of(header, body)?;
        Some((format!("{:?}", found.condition), found.guards.iter().map(Path::to_string).collect()))
    }

    #[test]
    fn one_condition_of_what_is_around() {
        let guarded = |c: &str, s: &str| format!("if {c} {{ {s}: A[i, j] = 1.0 }} ");
        let (_, guards) = settled(&(guarded("i >= 1", "S") + "R: A[i, j] = 2.0 " + &guarded("i >= 1", "T")))
            .expect("one condition");
        assert_eq!(guards, ["@0", "@2"]);
        assert!(settled(&guarded("i + j >= 1", "S")).is_none());
        assert!(settled(&(guarded("i >= 1", "S") + &guarded("i >= 2", "T"))).is_none());
        // One that changes stays a guard in both.
        assert!(settled(&(guarded("i >= 1", "S") + &guarded("j >= 2", "T"))).is_some());
        assert!(settled("S: A[i, j] = 1.0").is_none());
    }
}
