//! What a machine can do at most, against which variants are drawn: operations per cycle, and bytes per cycle of each level.

use looptree::cost_model::{CostModel, InstructionCount, OpClass, Target};
use looptree::tree::{Intrinsic, Kernel, Op, OpKind, ScalarType, Statement};
use serde::Serialize;
use std::collections::BTreeMap;

/// The bounds, and the work.
#[derive(Serialize, Debug)]
pub struct Roofline {
    /// What is counted.
    pub unit: &'static str,
    /// How many of them the original executes.
    pub operations: f64,
    /// What the core can do, the least first.
    pub ceilings: Vec<Ceiling>,
    /// What can be moved, the fastest first.
    pub slopes: Vec<Slope>,
    /// Cycles per nanosecond, to compare with measured times.
    pub gigahertz: f64,
}

/// A bound on operations.
#[derive(Serialize, Debug)]
pub struct Ceiling {
    /// Of what kind of code.
    pub name: String,
    /// Operations per cycle.
    pub per_cycle: f64,
}

/// A bound on bytes.
#[derive(Serialize, Debug)]
pub struct Slope {
    /// Where they come from.
    pub from: &'static str,
    /// The term of costs that tells the bytes.
    pub term: String,
    /// Bytes per cycle.
    pub per_cycle: f64,
}

impl Roofline {
    /// How far code that takes so many cycles is from the highest of the ceilings: operations per cycle, and their share of it.
    pub fn reached(&self, cycles: f64) -> Option<(f64, f64)> {
        let per_cycle = self.operations / cycles.max(1.0);
        Some((per_cycle, per_cycle / self.ceilings.last()?.per_cycle))
    }
}

/// Whether any statement is executed with these parameters.
pub fn runs(kernel: &Kernel, params: &[i64]) -> bool {
    executed(kernel, params).iter().any(|(_, times)| *times > 0.0)
}

/// `None` where nothing is computed.
pub fn roofline(kernel: &Kernel, params: &[i64], target: &dyn Target) -> Option<Roofline> {
    let executed = executed(kernel, params);
    let counted = |float: bool| {
        let mut by_type: BTreeMap<&'static str, (f64, ScalarType)> = BTreeMap::new();
        for (statement, times) in &executed {
            for op in statement.ops.iter().filter(|op| op.ty.is_float() == float) {
                by_type.entry(op.ty.name()).or_insert((0.0, op.ty)).0 += times * arithmetic(op);
            }
        }
        let all: f64 = by_type.values().map(|(count, _)| count).sum();
        let (_, ty) = by_type.into_values().max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (all > 0.0).then_some((all, ty))
    };
    let (unit, class, (operations, ty)) = match (counted(true), counted(false)) {
        (Some(float), _) => ("floating-point operations", OpClass::FloatAdd, float),
        (None, Some(integer)) => ("integer operations", OpClass::Integer, integer),
        (None, None) => return None,
    };
    let wide = target.for_new_code();
    let target = wide.as_deref().unwrap_or(target);
    let lanes = target.lanes(ty);
    let rate = |class, lanes: u32| f64::from(lanes) / target.op(class, ty, lanes).reciprocal.max(0.01);
    let mut ceilings = vec![Ceiling { name: "scalars".into(), per_cycle: rate(class, 1) }];
    if lanes > 1 {
        ceilings.push(Ceiling { name: format!("vectors of {lanes}"), per_cycle: rate(class, lanes) });
    }
    if ty.is_float() {
        let name = "fused multiply-add".to_string();
        ceilings.push(Ceiling { name, per_cycle: 2.0 * rate(OpClass::FloatFma, lanes) });
    }
    let below = target.caches().iter().skip(1).map(|c| c.name).chain(["memory"]);
    let slopes = target.caches().iter().zip(below).map(|(level, from)| Slope {
        from,
        term: format!("{} misses", level.name),
        per_cycle: f64::from(level.line) / level.fill.max(0.01),
    });
    let (slopes, gigahertz) = (slopes.collect(), target.frequency_ghz());
    Some(Roofline { unit, operations, ceilings, slopes, gigahertz })
}

/// Statements with how often they are executed: where every operation costs one cycle, the cost tells.
fn executed<'k>(kernel: &'k Kernel, params: &[i64]) -> Vec<(&'k Statement, f64)> {
    let costs = InstructionCount.cost(kernel, &kernel.original, params);
    let of = |name: &str| kernel.statement(kernel.find_statement(name)?).as_ref().into();
    let statements = costs.terms.iter().filter_map(|t| {
        let statement: &Statement = t.name.strip_prefix("statement ").and_then(of)?;
        let constant = |op: &&Op| !matches!(op.kind, OpKind::Const(_) | OpKind::Affine(_));
        Some((statement, t.cycles / statement.ops.iter().filter(constant).count().max(1) as f64))
    });
    statements.collect()
}

/// How many operations on data it is.
fn arithmetic(op: &Op) -> f64 {
    match &op.kind {
        OpKind::Binary(..) | OpKind::Pure(..) => 1.0,
        OpKind::Call(Intrinsic::Fma | Intrinsic::FMulAdd, _) => 2.0,
        OpKind::Call(..) => 1.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use looptree::cost_model::targets;
    use looptree::tree::text;

    fn of(source: &str) -> Option<Roofline> {
        let kernel = text::parse(source).expect("a kernel").kernel;
        roofline(&kernel, &[100], &targets::znver4())
    }

    #[test]
    fn operations_are_counted() {
        let found = of(
            "nest @f[N] { array A: f64[N, N] for i in 0..N { for j in 0..i { S: A[i, j] = fmuladd(A[i, j], 2.0, 1.0) } } }",
        );
        let found = found.expect("a bound");
        assert_eq!((found.unit, found.operations.round()), ("floating-point operations", 9900.0));
        assert!(found.ceilings.is_sorted_by(|a, b| a.per_cycle < b.per_cycle), "{found:?}");
        assert_eq!(found.slopes.last().map(|s| s.from), Some("memory"));
        let (per_cycle, share) = found.reached(9900.0).expect("ceilings");
        assert!((per_cycle - 1.0).abs() < 1e-3 && share > 0.0 && share < 0.2, "{share}");
        let copy = "nest @f[N] { array A: f64[N] array B: f64[N] for i in 0..N { S: A[i] = B[i] } }";
        assert!(of(copy).is_none());
    }
}
