//! Guessed values of parameters that conditions of several parameters allow.

use loop_tree::{Constraint, ParamId, Relation};

/// Steps per condition: each mends one, perhaps at another's cost.
const STEPS: usize = 4;

/// Values that all conditions accept, where changing those of `free` parameters one after the other finds some: least changes, the first of `free` first,
/// each within its range. `None` where that finds none, or where the values are accepted as they are.
pub(super) fn agreed(
    conditions: &[&Constraint],
    values: &[i64],
    free: &[(usize, (i64, i64))],
    dependent: impl Fn(&mut Vec<i64>),
) -> Option<Vec<i64>> {
    let mut values = values.to_vec();
    let mut changed = vec![false; values.len()];
    for step in 0..=STEPS * conditions.len() {
        let violated = conditions.iter().find_map(|c| {
            let value = value(c, &values).filter(|v| !c.accepts(*v))?;
            Some((*c, value))
        });
        let Some((condition, value)) = violated else { return (step > 0).then_some(values) };
        let change =
            |&(at, range): &(usize, (i64, i64))| Some((at, mended(condition, value, at, values[at], range)?));
        // What one condition has changed another one leaves where it can.
        let of = |before: bool| free.iter().filter(|(at, _)| changed[*at] == before).find_map(&change);
        let (at, new) = of(false).or_else(|| of(true))?;
        (values[at], changed[at]) = (new, true);
        dependent(&mut values);
    }
    None
}

fn value(condition: &Constraint, values: &[i64]) -> Option<i64> {
    condition.expression.eval(&|_| None, &|p| values.get(p.index()).copied())
}

/// The value next to `old` of a parameter that satisfies a condition whose expression is `value` now.
fn mended(
    condition: &Constraint,
    value: i64,
    at: usize,
    old: i64,
    (least, greatest): (i64, i64),
) -> Option<i64> {
    let coefficient = condition.expression.param_coefficient(ParamId::new(at));
    let missing = value.checked_neg()?;
    let change = match (condition.relation, coefficient) {
        (_, 0) => return None,
        (Relation::Zero, c) => (missing.checked_rem(c)? == 0).then_some(missing / c)?,
        (Relation::NonNegative, c) => {
            let steps = missing.checked_add(c.checked_abs()? - 1)? / c.abs();
            steps * c.signum()
        }
    };
    old.checked_add(change).filter(|new| (least..=greatest).contains(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::Affine;

    fn param(at: usize) -> Affine {
        Affine::param(ParamId::new(at))
    }

    const SIZES: (i64, i64) = (0, 1 << 40);

    fn found(conditions: &[Constraint], values: &[i64], free: &[usize]) -> Option<Vec<i64>> {
        let free: Vec<_> = free.iter().map(|at| (*at, SIZES)).collect();
        agreed(&conditions.iter().collect::<Vec<_>>(), values, &free, |_| {})
    }

    #[test]
    fn what_conditions_allow_is_found() {
        let longer = Constraint::ge(param(0), param(1));
        assert_eq!(found(std::slice::from_ref(&longer), &[1000, 2000], &[0]), Some(vec![2000, 2000]));
        assert_eq!(found(std::slice::from_ref(&longer), &[1000, 2000], &[1, 0]), Some(vec![1000, 1000]));
        assert_eq!(found(std::slice::from_ref(&longer), &[2000, 1000], &[0, 1]), None);
        // One begins where another ends.
        let same = Constraint::eq(param(2), param(0).offset(-1));
        assert_eq!(found(&[longer.clone(), same], &[7, 9, 7], &[0, 2]), Some(vec![9, 9, 8]));
        // Nobody may change what is given, and some conditions exclude each other.
        assert_eq!(found(std::slice::from_ref(&longer), &[1000, 2000], &[]), None);
        assert_eq!(found(&[longer, Constraint::lt(param(0), param(1))], &[1, 2], &[0, 1]), None);
        let even = Constraint::eq(param(0).scale(2), param(1));
        assert_eq!(found(std::slice::from_ref(&even), &[1, 5], &[0]), None);
        assert_eq!(found(&[even], &[1, 5], &[0, 1]), Some(vec![1, 2]));
    }

    #[test]
    fn what_depends_follows() {
        let conditions = [Constraint::ge(param(0), param(1)), Constraint::ge(param(2), Affine::constant(50))];
        let dependent = |values: &mut Vec<i64>| values[2] = values[0] * 2;
        let conditions: Vec<_> = conditions.iter().collect();
        assert_eq!(agreed(&conditions, &[10, 30, 20], &[(0, SIZES)], dependent), Some(vec![30, 30, 60]));
        assert_eq!(agreed(&conditions, &[10, 12, 20], &[(0, SIZES)], dependent), None);
    }
}
