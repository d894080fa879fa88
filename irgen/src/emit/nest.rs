//! Trees as control flow.

use super::arith::Known;
use super::element::Tag;
use super::fetch::Around;
use super::ranges::Range;
use super::{Base, EmitError, Emitter};
use crate::lift::Apart;
use crate::llvm::{HintValue, IntPredicate, LoopHint, Metadata, Value};
use crate::mutation::{self, Rule};
use loop_tree::{
    Affine, ArrayId, Bounds, Buffer, Green, GuardCondition, LoopHeader, LoopKind, Node, ScalarType, Settled,
    VarId,
};

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
            Node::Loop(header, body) if header.kind == LoopKind::Vector => self.vector_loop(header, body),
            Node::Loop(header, _) if header.kind == LoopKind::Library => {
                let call = self.calls.get(&self.path);
                let what = "a loop that is marked for a library, without a call";
                self.library_call(call.ok_or(EmitError::Unsupported { what })?)
            }
            Node::Loop(header, body) if self.is_shared(header) => self.shared_loop(header, body),
            Node::Loop(header, body) => match Settled::of(header, body).filter(|_| self.lanes.is_none()) {
                Some(settled) => self.for_both(&settled, |e| e.emit_loop(node, header, body)),
                None => self.emit_loop(node, header, body),
            },
            Node::Let(var, value, body) => {
                let known = self.known(value)?;
                self.scope.enter_let(*var, value, known);
                let result = self.below(0, |e| e.tree(body));
                self.scope.leave();
                result
            }
            Node::Guard(_, body) if self.settled.contains_key(&self.path) => {
                match self.settled[&self.path] || mutation::off(Rule::SettledGuards) {
                    true => self.below(0, |e| e.tree(body)),
                    false => Ok(()),
                }
            }
            Node::Guard(condition, body) => {
                let test = match &**condition {
                    GuardCondition::Affine(c) => self.condition(c)?,
                    GuardCondition::Predicate { array, value } => {
                        // The original may not come here, and then does not branch by it.
                        let loaded = self.predicate(*array)?;
                        let loaded = match mutation::off(Rule::PredicateFreeze) {
                            true => loaded,
                            false => self.builder.freeze(loaded, "")?,
                        };
                        let wanted = self.module.context().i1().const_int((*value).into())?;
                        let [loaded, wanted] = self.even([loaded, wanted])?;
                        self.builder.icmp(IntPredicate::Eq, loaded, wanted, "")?
                    }
                };
                let known = match &**condition {
                    GuardCondition::Affine(c) => Some(self.know_guard(c)),
                    GuardCondition::Predicate { .. } => None,
                };
                let result = self.only_where(test, |e| e.below(0, |e| e.tree(body)));
                known.into_iter().for_each(|depth| self.unknow(depth));
                result
            }
            Node::Stmt(id, _) => self.statement(*id),
            Node::Alloc(buffer, body) => self.buffer(buffer, body),
            Node::Version(_) if self.lanes.is_some() => {
                Err(EmitError::Unsupported { what: "a version inside of a vector loop" })
            }
            Node::Version(alternatives) => {
                let after = self.builder.append_block("version.end")?;
                for (index, alternative) in alternatives.iter().enumerate() {
                    // Limits on parameters hold already.
                    let holds = self.check(&alternative.conditions, &[], &[], &Apart::default())?;
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

    /// The value of a predicate.
    fn predicate(&mut self, array: ArrayId) -> Result<Value<'m>, EmitError> {
        let frame = self.scope.innermost(array);
        let element = match (frame, self.bases[array.index()]) {
            (Some(frame), _) => {
                let what = "a predicate in a buffer of several elements";
                let element = self.scope.element(frame, &[], &[]).filter(|e| e.is_empty());
                self.in_buffer(frame, &element.ok_or(EmitError::Unsupported { what })?)?
            }
            (None, Base::Scalar { .. }) => self.in_array(array, &[], None)?,
            (None, Base::Memory { .. }) => {
                return Err(EmitError::Unsupported { what: "a predicate that is no scalar" });
            }
        };
        let tag = Tag { array, frame, origin: None };
        self.look_at(tag);
        self.load_from(&element, ScalarType::I1, tag)
    }

    pub(super) fn below(
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

    fn emit_loop(&mut self, node: &Green, header: &LoopHeader, body: &Green) -> Result<(), EmitError> {
        let Bounds::Affine { lower, upper } = &header.bounds else {
            return Err(EmitError::Unsupported { what: "an unbounded loop" });
        };
        let bounds = self.resolved_bounds(header);
        let all = |e: &mut Self| {
            e.count(header.var, [lower, upper], header.step, |e, place| {
                e.iteration(header, bounds, body, place)
            })
        };
        self.fetch_next(node)?;
        let spots = self.holdable(node)?;
        if spots.is_empty() {
            return all(self);
        }
        let (first, _) = self.extreme(lower, true)?;
        let (end, _) = self.extreme(upper, false)?;
        let runs = self.builder.icmp(IntPredicate::Slt, first, end, "")?;
        self.only_where(runs, |e| {
            let held = e.hold(spots)?;
            all(e)?;
            e.release_held(held)
        })
    }

    /// One iteration of a loop at a place, with bounds over places; properties of the loop.
    pub(super) fn iteration(
        &mut self,
        header: &LoopHeader,
        bounds: [Vec<Affine>; 2],
        body: &Green,
        place: VarId,
    ) -> Result<Vec<Metadata<'m>>, EmitError> {
        let marked = header.kind != LoopKind::Sequential
            || self.parallel.contains(&self.path)
            || mutation::off(Rule::AllParallel);
        let parallel =
            marked && (mutation::off(Rule::GroupOrder) || self.keeps_order_within_iterations(place, body)?);
        let group = parallel.then(|| self.module.access_group());
        self.groups.extend(group);
        let known = self.know_loop(place, bounds);
        let around = self.around.replace(Around { place, step: header.step });
        let result = self.below(0, |e| {
            e.load_ahead(place, header.step, body)?;
            e.tree(body)
        });
        self.around = around;
        self.unknow(known);
        if parallel {
            self.groups.pop();
        }
        result?;
        let mut properties = Vec::new();
        properties.extend(group.map(|group| self.module.parallel_accesses(&[group])));
        if let Some(hints) = self.hints.get(&header.var) {
            for hint in hints {
                properties.push(self.module.loop_property(hint)?);
            }
            // A tile has constantly many iterations, which LLVM would unroll and then make vectors of.
            let unrolls = |hint: &LoopHint| hint.name.starts_with("llvm.loop.unroll.");
            if header.constant_trip_count().is_some() && !hints.iter().any(unrolls) {
                properties.push(self.module.loop_property(&flag("llvm.loop.unroll.disable"))?);
            }
        }
        if header.constant_trip_count().is_none() && self.keeps_many_values(place, body)? {
            properties.push(self.module.loop_property(&flag("llvm.loop.unroll.disable"))?);
        } else if self.walks_many_rows(place, body)? {
            properties.push(self.module.loop_property(&flag("llvm.loop.unroll.runtime.disable"))?);
        }
        if self.sets_a_scalar_again(body)? || self.writes_short_rows(place, body)? {
            let name = "llvm.loop.vectorize.enable".into();
            properties.push(self.module.loop_property(&LoopHint { name, value: HintValue::Bool(false) })?);
        }
        Ok(properties)
    }

    /// `for (v = lower; v < upper; v += step)`, the test first, as front ends emit loops. The body is told the variable's
    /// place, and gives properties of the loop.
    pub(super) fn count(
        &mut self,
        var: VarId,
        [lower, upper]: [&[Affine]; 2],
        step: i64,
        body: impl FnOnce(&mut Self, VarId) -> Result<Vec<Metadata<'m>>, EmitError>,
    ) -> Result<(), EmitError> {
        if !lower.iter().chain(upper).all(|e| self.is_uniform(e)) {
            return Err(EmitError::Unsupported { what: "a loop whose lanes have bounds of their own" });
        }
        let (lower, least) = self.extreme(lower, true)?;
        let (upper, greatest) = self.extreme(upper, false)?;
        let step = Known { value: self.int(step)?, range: Some(Range::point(step)) };
        let range = Self::counter_range(least, greatest);
        self.count_between(var, [lower, upper], range, step, body)
    }

    /// The same with values in the place of expressions.
    pub(super) fn count_between(
        &mut self,
        var: VarId,
        [lower, upper]: [Value<'m>; 2],
        range: Option<Range>,
        step: Known<'m>,
        body: impl FnOnce(&mut Self, VarId) -> Result<Vec<Metadata<'m>>, EmitError>,
    ) -> Result<(), EmitError> {
        let before =
            self.builder.block().ok_or(EmitError::Unsupported { what: "a builder without a place" })?;
        let name = match Buffer::index_of(var) {
            Some(k) => format!("x{k}"),
            None => self.kernel.variable_name(var),
        };
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

        let counted = Known { value: counter.value(), range };
        let place = self.scope.enter_loop(var, counted);
        let properties = body(self, place);
        self.scope.leave();

        let next = self.add(counted, step)?.value;
        let latch = self.builder.br(head)?;
        counter.add_incoming(next, latch.block())?;
        let mut all = vec![self.module.loop_property(&flag("llvm.loop.mustprogress"))?];
        all.extend(properties?);
        latch.set_metadata("llvm.loop", Some(self.module.loop_id(&all)))?;
        Ok(self.builder.position_at_end(after)?)
    }
}

fn flag(name: &str) -> LoopHint {
    LoopHint { name: name.into(), value: HintValue::Flag }
}
