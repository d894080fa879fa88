//! Trees as control flow.

use super::arith::Known;
use super::ranges::Range;
use super::{EmitError, Emitter, Place};
use crate::llvm::{HintValue, IntPredicate, LoopHint};
use crate::mutation::{self, Rule};
use loop_tree::{
    AccessKind, Affine, Around, ArrayId, Bounds, Green, GuardCondition, Kernel, LoopHeader, LoopKind, Node,
    VarId, occurrences,
};
use std::collections::{BTreeMap, BTreeSet};

impl<'m> Emitter<'m, '_> {
    /// Emits the tree at the builder's place and leaves the builder behind it.
    pub(super) fn tree(&mut self, node: &Green) -> Result<(), EmitError> {
        match node.node() {
            Node::Seq(children) => {
                for (index, child) in children.iter().enumerate() {
                    self.below(index, |e| e.tree(child))?;
                }
                Ok(())
            }
            Node::Loop(header, body) => self.emit_loop(header, body),
            Node::Let(var, value, body) => {
                let value = self.known(value)?;
                self.scope.push((*var, value));
                let result = self.below(0, |e| e.tree(body));
                self.scope.pop();
                result
            }
            Node::Guard(condition, body) => {
                let test = match &**condition {
                    GuardCondition::Affine(c) => self.condition(c)?,
                    GuardCondition::Predicate { array, value } => {
                        let Place::Scalar { slot } = self.places[array.index()] else {
                            return Err(EmitError::Unsupported { what: "a predicate that is no scalar" });
                        };
                        let bit = self.module.context().i1();
                        let slot = self.slot(*array, slot);
                        let loaded = self.builder.load(bit, slot, 1, "")?.value();
                        let wanted = bit.const_int((*value).into())?;
                        self.builder.icmp(IntPredicate::Eq, loaded, wanted, "")?
                    }
                };
                let (inside, after) =
                    (self.builder.append_block("then")?, self.builder.append_block("endif")?);
                self.builder.cond_br(test, inside, after)?;
                self.builder.position_at_end(inside)?;
                self.below(0, |e| e.tree(body))?;
                self.builder.br(after)?;
                Ok(self.builder.position_at_end(after)?)
            }
            Node::Stmt(id, _) => self.statement(*id),
            Node::Alloc(..) => Err(EmitError::Unsupported { what: "storage of a variant (alloc)" }),
            Node::Version(alternatives) => {
                let after = self.builder.append_block("version.end")?;
                for (index, alternative) in alternatives.iter().enumerate() {
                    // Limits on parameters hold already.
                    let holds = self.check(&alternative.conditions, &[])?;
                    let inside = self.builder.append_block("version")?;
                    let next = self.builder.append_block("version.next")?;
                    self.builder.cond_br(holds, inside, next)?;
                    self.builder.position_at_end(inside)?;
                    self.below(index, |e| e.tree(&alternative.body))?;
                    self.builder.br(after)?;
                    self.builder.position_at_end(next)?;
                }
                self.builder.br(after)?;
                Ok(self.builder.position_at_end(after)?)
            }
        }
    }

    fn below(
        &mut self,
        index: usize,
        f: impl FnOnce(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let child = self.path.child(index);
        let parent = std::mem::replace(&mut self.path, child);
        let result = f(self);
        self.path = parent;
        result
    }

    /// `for (v = lower; v < upper; v += step)`, the test first, as front ends emit loops.
    fn emit_loop(&mut self, header: &LoopHeader, body: &Green) -> Result<(), EmitError> {
        let Bounds::Affine { lower, upper } = &header.bounds else {
            return Err(EmitError::Unsupported { what: "an unbounded loop" });
        };
        let (lower, least) = self.extreme(lower, true)?;
        let (upper, greatest) = self.extreme(upper, false)?;
        let range = Self::counter_range(least, greatest);
        let before =
            self.builder.block().ok_or(EmitError::Unsupported { what: "a builder without a place" })?;
        let name = self.kernel.variable_name(header.var);
        let head = self.builder.append_block(&format!("for.{name}"))?;
        let inside = self.builder.append_block(&format!("for.{name}.body"))?;
        let after = self.builder.append_block(&format!("for.{name}.end"))?;
        self.builder.br(head)?;
        self.builder.position_at_end(head)?;
        let counter = self.builder.phi(self.module.context().i64(), &name)?;
        counter.add_incoming(lower, before)?;
        let again = self.builder.icmp(IntPredicate::Slt, counter.value(), upper, "")?;
        self.builder.cond_br(again, inside, after)?;
        self.builder.position_at_end(inside)?;

        let parallel = (header.kind != LoopKind::Sequential
            || self.parallel.contains(&self.path)
            || mutation::off(Rule::AllParallel))
            && (mutation::off(Rule::GroupOrder)
                || keeps_order_within_iterations(self.kernel, header.var, body));
        let group = parallel.then(|| self.module.access_group());
        self.groups.extend(group);
        let counted = Known { value: counter.value(), range };
        self.scope.push((header.var, counted));
        let result = self.below(0, |e| e.tree(body));
        self.scope.pop();
        if parallel {
            self.groups.pop();
        }
        result?;

        let step = Known { value: self.int(header.step)?, range: Some(Range::point(header.step)) };
        let next = self.add(counted, step)?.value;
        let latch = self.builder.br(head)?;
        counter.add_incoming(next, latch.block())?;
        let mut properties = vec![self.module.loop_property(&flag("llvm.loop.mustprogress"))?];
        if let Some(group) = group {
            properties.push(self.module.parallel_accesses(&[group]));
        }
        let vectorise = if sets_a_scalar_again(self.kernel, body) {
            Some(false)
        } else {
            (header.kind == LoopKind::Vector).then_some(true)
        };
        if let Some(enable) = vectorise {
            let hint = LoopHint { name: "llvm.loop.vectorize.enable".into(), value: HintValue::Bool(enable) };
            properties.push(self.module.loop_property(&hint)?);
        }
        latch.set_metadata("llvm.loop", Some(self.module.loop_id(&properties)))?;
        Ok(self.builder.position_at_end(after)?)
    }
}

fn flag(name: &str) -> LoopHint {
    LoopHint { name: name.into(), value: HintValue::Flag }
}

/// Whether an innermost body sets a scalar more than once, as unrolling makes it.
///
/// What the first ones load is dead then, and leaves gaps in groups of interleaved accesses. LLVM 22's vectoriser takes the
/// last value of a scalar from a wrong element where groups have gaps.
fn sets_a_scalar_again(kernel: &Kernel, body: &Green) -> bool {
    if body.summary().loop_depth > 0 {
        return false;
    }
    let mut set = BTreeSet::new();
    occurrences(body).into_iter().any(|occurrence| {
        let accesses = &kernel.statement(occurrence.statement).accesses;
        let read = |array| accesses.iter().any(|a| a.kind == AccessKind::Read && a.array == array);
        let mut written = accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array);
        // What is read is an accumulator, and none of its values is dead.
        written.any(|array| kernel.array(array).is_scalar() && !read(array) && !set.insert(array))
    })
}

/// Whether LLVM's vectoriser may be told that iterations are independent, as far as one iteration is concerned.
///
/// For loops so annotated LLVM 22 computes no dependences at all, and then moves members of interleaved groups (accesses
/// with a constant stride other than one) across accesses of the same element in the same iteration. Accesses of unit
/// stride, and reads of one element by all iterations, are never grouped. So an array that is written, and accessed more
/// than once in the body, must be accessed in these two ways throughout.
fn keeps_order_within_iterations(kernel: &Kernel, var: VarId, body: &Green) -> bool {
    /// Accesses of one array.
    #[derive(Default)]
    struct Seen {
        count: usize,
        written: bool,
        grouped: bool,
    }
    let mut arrays: BTreeMap<ArrayId, Seen> = BTreeMap::new();
    for occurrence in occurrences(body) {
        // Counters of inner loops that begin elsewhere in each iteration: with the inner loop unrolled, they are strides.
        let mut moving = vec![var];
        for (at, around) in occurrence.around.iter().enumerate() {
            if let Around::Loop(inner) = around
                && match &inner.bounds {
                    Bounds::Affine { lower, upper } => lower.iter().chain(upper).any(|e| {
                        let e = occurrence.resolve_at(e, at);
                        moving.iter().any(|v| e.uses(*v))
                    }),
                    Bounds::Unbounded { .. } => true,
                }
            {
                moving.push(inner.var);
            }
        }
        // By how much a subscript moves from one iteration to the next; inside of a floor division that is no constant.
        let coefficient = |e: &Affine| {
            let e = occurrence.resolve_at(e, occurrence.around.len());
            let direct = e.coefficient(var);
            let rest = &e - &Affine::var(var).scale(direct);
            (!moving.iter().any(|v| rest.uses(*v))).then_some(direct)
        };
        for access in &kernel.statement(occurrence.statement).accesses {
            let coefficients: Option<Vec<i64>> = access
                .subscripts
                .as_ref()
                .and_then(|subscripts| subscripts.iter().map(coefficient).collect());
            let grouped = match coefficients.as_deref() {
                None => true,
                Some([]) => false,
                Some([outer @ .., last]) => {
                    let still = access.kind == AccessKind::Read && *last == 0;
                    !(still || last.abs() == 1) || outer.iter().any(|c| *c != 0)
                }
            };
            let seen = arrays.entry(access.array).or_default();
            seen.count += 1;
            seen.written |= access.kind != AccessKind::Read;
            seen.grouped |= grouped;
        }
    }
    arrays.values().all(|a| !a.written || a.count < 2 || !a.grouped)
}
