//! Which elements of an array a kernel touches, as bounds that are affine in parameters.
//!
//! Bounds may be too wide, never too narrow: that only makes a run-time check fail where it need not.

use loop_tree::{
    Affine, ArrayId, Atom, Bound, GuardCondition, Kernel, Node, Occurrence, ParamId, Relation, VarId,
    occurrences,
};

/// Least and greatest value of each subscript of one access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Of each subscript.
    pub least: Vec<Affine>,
    /// Of each subscript.
    pub greatest: Vec<Affine>,
}

/// One footprint per access of the array, without repetitions; `None` where some access has no bounds.
pub fn footprints(kernel: &Kernel, array: ArrayId) -> Option<Vec<Footprint>> {
    let mut result: Vec<Footprint> = Vec::new();
    for occurrence in occurrences(&kernel.original) {
        for access in &kernel.statement(occurrence.statement).accesses {
            if access.array != array {
                continue;
            }
            let subscripts = access.subscripts.as_ref()?;
            let resolve = |e: &Affine| occurrence.resolve(e);
            let bounds = |greatest| {
                subscripts
                    .iter()
                    .map(|s| extreme(&occurrence, resolve(s), greatest))
                    .collect::<Option<Vec<_>>>()
            };
            let footprint = Footprint { least: bounds(false)?, greatest: bounds(true)? };
            if !result.contains(&footprint) {
                result.push(footprint);
            }
        }
    }
    Some(result)
}

/// The elements of an array that the kernel may touch for these parameters, as row-major indices relative to the element
/// with all subscripts zero; perhaps more than it does touch. `None` where some access has no bounds, and where indices do
/// not fit into 64 bits.
pub fn touched(kernel: &Kernel, array: ArrayId, params: &[i64]) -> Option<std::ops::Range<i64>> {
    let value = |e: &Affine| e.eval(&|_| None, &|p| params.get(p.index()).copied());
    let index = |subscripts: &[Affine]| {
        let mut index = 0_i64;
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 {
                let extent = kernel.array(array).extents[dimension].as_ref()?;
                index = index.checked_mul(value(extent)?)?;
            }
            index = index.checked_add(value(subscript)?)?;
        }
        Some(index)
    };
    let mut range: Option<std::ops::Range<i64>> = None;
    for Footprint { least, greatest } in footprints(kernel, array)? {
        if least.iter().zip(&greatest).any(|(l, g)| value(l) > value(g)) {
            continue; // Of a loop that does not run.
        }
        let (low, end) = (index(&least)?, index(&greatest)?.checked_add(1)?);
        range = Some(match range {
            None => low..end,
            Some(r) => r.start.min(low)..r.end.max(end),
        });
    }
    Some(range.unwrap_or(0..0))
}

/// The greatest values of parameters for which all accesses of an array stay within that many elements, where each may be
/// found alone: programs that stay within their arrays pass no greater ones.
pub fn limits(kernel: &Kernel, array: ArrayId, elements: i64) -> Vec<(ParamId, i64)> {
    let rows = kernel.array(array).extents.iter().skip(1).try_fold(elements, |rows, extent| {
        let extent = extent.as_ref()?.as_constant().filter(|e| *e > 0)?;
        Some(rows / extent)
    });
    let (Some(rows), Some(footprints)) = (rows, footprints(kernel, array)) else { return Vec::new() };
    let bound = |footprint: &Footprint| match footprint.greatest.first()?.terms() {
        [(Atom::Param(param), coefficient)] if *coefficient > 0 => {
            let last = rows.checked_sub(1)?.checked_sub(footprint.greatest[0].constant_term())?;
            Some((*param, last.div_euclid(*coefficient)))
        }
        _ => None,
    };
    footprints.iter().filter_map(bound).collect()
}

/// A bound of the expression over the loops around, inner variables eliminated first.
fn extreme(occurrence: &Occurrence, mut e: Affine, greatest: bool) -> Option<Affine> {
    for at in (0..occurrence.around.len()).rev() {
        let Some((var, [mut first, mut last])) = occurrence.ends(at) else { continue };
        if e.uses(var) {
            from_guards(occurrence, at, var, &mut first, &mut last);
            let ends = [tightest(first, 1)?, tightest(last, -1)?];
            e = e.extreme(greatest, &|v| (v == var).then(|| ends.clone()));
        }
    }
    (e.is_exact() && e.is_invariant()).then_some(e)
}

/// Bounds that guards inside of the loop put on its variable.
fn from_guards(
    occurrence: &Occurrence,
    from: usize,
    var: VarId,
    lower: &mut Vec<Affine>,
    upper: &mut Vec<Affine>,
) {
    for at in from + 1..occurrence.around.len() {
        let Node::Guard(guard, _) = occurrence.around[at].node() else { continue };
        let GuardCondition::Affine(condition) = &**guard else { continue };
        let [conjunction] = &condition.disjuncts[..] else { continue };
        for constraint in conjunction {
            let e = occurrence.resolve_at(&constraint.expression, at);
            let opposite = (constraint.relation == Relation::Zero).then(|| e.scale(-1));
            if e.coefficient(var).abs() != 1 {
                continue;
            }
            for bound in [Some(e), opposite].iter().flatten().filter_map(|e| e.bound_on(var)) {
                let (Bound::Lower(value) | Bound::Upper(value)) = &bound;
                // Only variables bound outside of this loop may remain.
                let mut outside = true;
                value.for_each_var(&mut |v| {
                    outside &=
                        occurrence.around[..from].iter().any(|a| a.as_loop().is_some_and(|l| l.0.var == v));
                });
                match bound {
                    _ if !outside => {}
                    Bound::Lower(value) => lower.push(value),
                    Bound::Upper(value) => upper.push(value),
                }
            }
        }
    }
}

/// Of several bounds that all hold, one that is at least as tight as all it can be compared with; parameters only where
/// there is a choice.
fn tightest(bounds: Vec<Affine>, sign: i64) -> Option<Affine> {
    let mut best: Option<Affine> = None;
    for bound in bounds {
        let better = match &best {
            None => true,
            Some(b) => match (&bound - b).as_constant() {
                Some(difference) => difference * sign > 0,
                None => bound.is_invariant() && !b.is_invariant(),
            },
        };
        if better {
            best = Some(bound);
        }
    }
    best
}
