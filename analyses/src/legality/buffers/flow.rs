//! Values that pass into, out of, or through a buffer: which writes a read may see.
//!
//! Most questions are answered by the flow between all writes and reads of an element. Where that finds something wrong, the
//! flow by value, in which each read sees the last write only, is asked: it takes a dataflow analysis for each array.

use super::{Judge, Touch};
use crate::dependences::{DependenceKind, DependenceSet, flow_on};
use crate::legality::order::{self, Check, Orders, Question};
use crate::legality::witness::{BrokenStorage, StorageProblem, Witness};
use crate::legality::{Fault, Oracle};
use crate::mutation::{self, Rule};
use crate::places::Place;
use crate::system::Row;
use loop_tree::ArrayId;
use std::sync::{Arc, PoisonError};

/// Pairs of a write and a read that may see it, with what is known of them.
#[derive(Default)]
pub(in crate::legality) struct Flows {
    checks: Vec<Check>,
    memo: order::Memo,
}

/// The flow on arrays: each write with the reads that may see it.
pub(in crate::legality) fn flows(set: &DependenceSet) -> Flows {
    let mut checks = Vec::new();
    for (index, d) in set.dependences.iter().enumerate() {
        // Between different arrays it is a matter of overlap; a predicate is read without an access.
        let flow = match d.kind {
            DependenceKind::Flow => true,
            DependenceKind::Control => d.source_access.is_some() && d.target_access.is_none(),
            _ => false,
        };
        if flow && d.vanishes_if.is_empty() {
            checks.extend(d.relation.disjuncts.iter().map(|disjunct| Check {
                reduction: d.reduction,
                ..Check::of(index, d.array, (d.source, d.target), disjunct.core.clone())
            }));
        }
    }
    Flows { checks, memo: order::Memo::default() }
}

/// Work of a dataflow analysis on one array, which is charged whenever it is needed, and isl operations that it takes at most: more
/// than other questions, but an oracle asks once for each array.
const DATAFLOW: u64 = 20_000;
const DATAFLOW_QUOTA: u64 = 1_000_000;

impl Oracle {
    /// The flow by value on an array; `None` where it is not known. In another order, the updates of a reduction see others than
    /// these; but what holds of the chain from the first update to who reads the last one, holds of all that lies between.
    pub(super) fn values(&self, array: ArrayId) -> Result<Option<Arc<Flows>>, Fault> {
        self.solver.charge(DATAFLOW)?;
        let mut known = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&array) {
            return Ok(known.clone());
        }
        let on = |source, target| {
            let of = |d: &crate::dependences::Dependence| d.array == Some(array);
            let exactly =
                |d: &crate::dependences::Dependence| of(d) && d.source == source && d.target == target;
            self.set.dependences.iter().position(exactly).or(self.set.dependences.iter().position(of))
        };
        let check = |(source, target, core)| {
            Some(Check::of(on(source, target)?, Some(array), (source, target), Arc::new(core)))
        };
        let list = flow_on(&self.kernel, array, self.solver.quota().max(DATAFLOW_QUOTA)).ok();
        let checks = list.and_then(|list| list.into_iter().map(check).collect::<Option<Vec<Check>>>());
        let flows = checks.map(|checks| Arc::new(Flows { checks, memo: order::Memo::default() }));
        known.insert(array, flows.clone());
        Ok(flows)
    }
}

/// A write and a read that may see it, in places 0 and 1 of a scene.
struct Flow<'j, 'p> {
    scene: super::Scene,
    write: &'j Touch<'p>,
    read: &'j Touch<'p>,
}

impl<'p> Judge<'_, 'p> {
    /// What is wrong, if it is wrong by value, too.
    fn refuse(&self, ask: impl Fn(&Flows) -> Result<Option<Witness>, Witness>) -> Result<(), Witness> {
        if mutation::off(Rule::BufferFlow) {
            return Ok(());
        }
        let Some(found) = ask(&self.oracle.flows)? else { return Ok(()) };
        match self.oracle.values(self.data().array)? {
            None => Err(found),
            Some(values) => ask(&values)?.map_or(Ok(()), Err),
        }
    }

    /// Flow into the buffer's executions (`into`), or out of them, does not cross their borders.
    pub(super) fn check_flow(&self, all: &[Place], into: bool) -> Result<(), Witness> {
        self.refuse(|flows| self.crosses(flows, all, into))
    }

    fn crosses(&self, flows: &Flows, all: &[Place], into: bool) -> Result<Option<Witness>, Witness> {
        let orders = Orders { checks: &flows.checks, memo: &flows.memo, ..self.oracle.orders() };
        let inside = |p: &Place| self.buffer.path.contains(&p.path);
        for (index, check) in self.ours(flows) {
            let (near, far) = if into { (check.target, check.source) } else { (check.source, check.target) };
            for touch in self.touches.iter().filter(|t| t.reads == into && t.place.statement == near) {
                for other in all.iter().filter(|p| p.statement == far) {
                    let (a, b) = if into { (other, touch.place) } else { (touch.place, other) };
                    let questions: Vec<Question> = match inside(other) {
                        false => vec![Question::Any],
                        true => (0..self.buffer.loops)
                            .flat_map(|k| [true, false].map(|later| Question::Carried(k, later)))
                            .collect(),
                    };
                    for question in questions {
                        let found = orders.ask(index, a, b, question)?;
                        if let Some(found) = found {
                            return Ok(Some(Witness::Storage(Arc::new(BrokenStorage {
                                array: self.array_name(),
                                problem: StorageProblem::Crosses,
                                first: found.source.clone(),
                                second: Some(found.target.clone()),
                                params: found.params.clone(),
                                element: found.target_instance.clone(),
                            }))));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// The flow on this array.
    pub(super) fn ours<'f>(&self, flows: &'f Flows) -> impl Iterator<Item = (usize, &'f Check)> {
        let array = Some(self.data().array);
        flows.checks.iter().enumerate().filter(move |(_, c)| c.on.contains(&array))
    }

    /// The flow inside of one execution; `other` is a further place in each scene.
    fn inside<'j>(&'j self, flows: &Flows, other: Option<&Place>) -> Result<Vec<Flow<'j, 'p>>, Fault> {
        let params = self.oracle.kernel.params.len();
        let mut result = Vec::new();
        for (_, check) in self.ours(flows) {
            for write in self.touches.iter().filter(|t| !t.reads && t.place.statement == check.source) {
                for read in self.touches.iter().filter(|t| t.reads && t.place.statement == check.target) {
                    let places: Vec<&Place> = [write.place, read.place].into_iter().chain(other).collect();
                    let mut scene = super::Scene::new(self.oracle, &places)?;
                    let mut columns = Row::columns(0..params);
                    columns.extend(scene.rows(0, &write.place.dims)?);
                    columns.extend(scene.rows(1, &read.place.dims)?);
                    scene.system.include(&check.core, &columns)?;
                    scene.same_execution(self.buffer.loops)?;
                    result.push(Flow { scene, write, read });
                }
            }
        }
        Ok(result)
    }

    /// A read looks where the write put its value; the two may belong to different instances.
    pub(super) fn check_same_place(&self) -> Result<(), Witness> {
        self.refuse(|flows| {
            for Flow { mut scene, write, read } in self.inside(flows, None)? {
                let (from, to) = (scene.rows(0, &write.at)?, scene.rows(1, &read.at)?);
                let element = scene.rows(1, &read.element)?;
                if let Some(point) = scene.find_apart(&self.oracle.solver, &from, &to)? {
                    let (first, second) = (write.place.statement, read.place.statement);
                    let problem = StorageProblem::Crosses;
                    return Ok(Some(self.broken(problem, first, Some(second), &element, &point)));
                }
            }
            Ok(None)
        })
    }

    /// No write of another element to the same place comes between a write and a read that depends on it.
    pub(super) fn check_overwritten(&self) -> Result<(), Witness> {
        if mutation::off(Rule::BufferOverwritten) {
            return Ok(());
        }
        self.refuse(|flows| {
            for other in self.touches.iter().filter(|t| !t.reads) {
                for flow in self.inside(flows, Some(other.place))? {
                    if let Some(found) = self.overwrites(flow, other)? {
                        return Ok(Some(found));
                    }
                }
            }
            Ok(None)
        })
    }

    fn overwrites(&self, flow: Flow<'_, '_>, other: &Touch<'_>) -> Result<Option<Witness>, Fault> {
        let Flow { mut scene, write, read } = flow;
        let (at, at_other) = (scene.rows(0, &write.at)?, scene.rows(2, &other.at)?);
        scene.equate(&at, &at_other)?;
        let (x, z) = (scene.rows(0, &write.element)?, scene.rows(2, &other.element)?);
        let places = [write.place, read.place, other.place];
        for early in scene.before(&places, 0, 2)? {
            for between in early.before(&places, 2, 1)? {
                if let Some(point) = between.find_apart(&self.oracle.solver, &x, &z)? {
                    let (first, second) = (write.place.statement, other.place.statement);
                    return Ok(Some(self.broken(
                        StorageProblem::Overwritten,
                        first,
                        Some(second),
                        &x,
                        &point,
                    )));
                }
            }
        }
        Ok(None)
    }
}
