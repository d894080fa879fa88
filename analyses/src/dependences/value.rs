//! Value-based flow by isl's dataflow analysis: which write did a read see?

use super::AnalysisError;
use super::build::{context, touches};
use crate::isl::{Conjunction, Ctx, DimType, IslError, Map, Row as IslRow, Set, Space, UnionMap};
use crate::places::{Place, places};
use crate::system::{Row, System};
use loop_tree::{ArrayId, Kernel, Privates, StmtId};

/// For every read of an array, or of a predicate that it is, the last writes before it, as conjunctions whose columns are those
/// of a dependence. A write that perhaps happens hides nothing.
pub(crate) fn flow_on(
    kernel: &Kernel,
    array: ArrayId,
    quota: u64,
) -> Result<Vec<(StmtId, StmtId, System)>, AnalysisError> {
    let ctx = &Ctx::new()?;
    let params = kernel.params.len();
    let mut result = Vec::new();
    for (source, target, map) in dataflow(ctx, kernel, array, quota)? {
        let dims = kernel.statement(source).dims.len() + kernel.statement(target).dims.len();
        for conjunction in ctx.with_quota(quota, |_| map.rows())? {
            let mut system = System::new(params + dims);
            let mut floors: Vec<Row> = Vec::new();
            let row = |r: &IslRow, floors: &[Row]| {
                let owned = [r.params.clone(), r.dims.clone()].concat();
                let columns = (0..params + dims).map(Row::column).chain(floors.iter().cloned());
                let coefficients = owned.iter().chain(&r.divs);
                columns.zip(coefficients).try_fold(Row::constant(r.constant), |sum, (c, k)| sum.plus(&c, *k))
            };
            for floor in &conjunction.divs {
                let numerator = row(&floor.numerator, &floors)?;
                floors.push(Row::column(system.floor(numerator, floor.denominator)?));
            }
            for r in &conjunction.equalities {
                system.require_zero(row(r, &floors)?);
            }
            for r in &conjunction.inequalities {
                system.require_nonnegative(row(r, &floors)?);
            }
            result.push((source, target, system));
        }
    }
    Ok(result)
}

/// Writers and readers with the pairs of their instances.
fn dataflow(
    ctx: &Ctx,
    kernel: &Kernel,
    array: ArrayId,
    quota: u64,
) -> Result<Vec<(StmtId, StmtId, Map)>, AnalysisError> {
    let places = places(kernel, &kernel.original)?;
    let privates = Privates::of(kernel);
    let context = context(kernel)?;
    let longest = places.iter().map(|p| p.path.0.len()).max().unwrap_or(0);
    let none = UnionMap::empty(ctx)?;
    let (mut reads, mut writes, mut may, mut schedule) = (none.clone(), none.clone(), none.clone(), none);
    for place in &places {
        let name = format!("S{}", place.statement.0);
        for touch in touches(kernel, &privates, place).into_iter().filter(|t| t.array == array) {
            let rank =
                kernel.array(touch.array).rank() + privates.variables(touch.array).map_or(0, <[_]>::len);
            let target = format!("A{}", touch.array.0);
            let map =
                relation(ctx, kernel, place, &context, (&name, &target, rank), |system, _, dims, out| {
                    for (e, out) in touch.subscripts.iter().flat_map(|s| s.iter()).zip(out) {
                        let row = system.row(e, dims)?.minus(out)?;
                        system.require_zero(row);
                    }
                    Ok(())
                })?;
            // A predicate may be false.
            let surely = touch.surely && touch.subscripts.is_some() && place.predicates.is_empty();
            match touch.writes {
                false => reads = reads.union(map)?,
                true if surely => writes = writes.union(map)?,
                true => may = may.union(map)?,
            }
        }
        let map = relation(ctx, kernel, place, &context, (&name, "T", longest), |system, time, _, out| {
            // Along the path: the child's number, or the loop's value.
            let mut loops = place.loops.iter().zip(time).peekable();
            for (at, out) in out.iter().enumerate() {
                let value = match loops.peek() {
                    Some((l, row)) if l.depth == at => {
                        let row = (*row).clone();
                        loops.next();
                        row
                    }
                    _ => Row::constant(place.path.0.get(at).map_or(0, |i| i64::from(*i))),
                };
                system.require_zero(out.clone().minus(&value)?);
            }
            Ok(())
        })?;
        schedule = schedule.union(map)?;
    }
    let flow = ctx.with_quota(quota, |_| {
        crate::isl::Dataflow { sink: reads, must_source: writes, may_source: may, schedule }.compute()
    })?;
    let mut result = Vec::new();
    for map in flow.coalesce()?.maps()? {
        let space = map.space()?;
        let id = |which| -> Result<Option<StmtId>, IslError> {
            let name = space.tuple_name(which)?;
            Ok(name.and_then(|n| n.strip_prefix('S')?.parse().ok()).map(StmtId))
        };
        if let (Some(source), Some(target)) = (id(DimType::In)?, id(DimType::Out)?) {
            result.push((source, target, map));
        }
    }
    Ok(result)
}

/// The map from instances at a place to a tuple, as `constrain(system, time, dims, tuple)` says.
fn relation(
    ctx: &Ctx,
    kernel: &Kernel,
    place: &Place,
    context: &System,
    (from, to, outs): (&str, &str, usize),
    constrain: impl FnOnce(&mut System, &[Row], &[Row], &[Row]) -> Result<(), crate::system::Inexact>,
) -> Result<UnionMap, AnalysisError> {
    let n = kernel.params.len();
    let ins = place.dims.len();
    let (middle, first) = (n + ins, n + ins + outs);
    let all = first + place.loops.len();
    let (dims, out, time) = (Row::columns(n..middle), Row::columns(middle..first), Row::columns(first..all));
    let mut system = System::under(context, n, all);
    system.require_equal(&place.dims, &time, &dims)?;
    constrain(&mut system, &time, &dims, &out)?;
    let names: Vec<String> = (0..n).map(|p| format!("p{p}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut union = UnionMap::empty(ctx)?;
    for system in place.domains(&system, &time)? {
        let extra = system.columns() - n - ins - outs;
        let space = Space::set(ctx, &names, None, ins + outs + extra)?;
        let row = |r: &Row| {
            let split = n.min(r.coefficients.len());
            IslRow {
                constant: r.constant,
                params: r.coefficients[..split].to_vec(),
                dims: r.coefficients[split..].to_vec(),
                divs: vec![],
            }
        };
        let rows = Conjunction {
            equalities: system.zero().iter().map(row).collect(),
            inequalities: system.nonnegative().iter().map(row).collect(),
            divs: vec![],
        };
        let set = Set::from_rows(space, &rows)?.project_out(DimType::Out, ins + outs, extra)?;
        let nothing = Set::universe(Space::set(ctx, &names, None, 0)?)?;
        let map = Map::product(nothing, set)?.move_dims(DimType::In, 0, DimType::Out, 0, ins)?;
        let map = map.named(DimType::In, from)?.named(DimType::Out, to)?;
        union = union.union(UnionMap::from_map(map)?)?;
    }
    Ok(union)
}
