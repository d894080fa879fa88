//! Vector loops: their iterations as lanes of vectors, at any depth.
//!
//! Nothing is emitted twice: where a value is made it is a vector if it differs between lanes, and a scalar if it does not. The
//! loop's variable stands for its value in the first lane; an expression that is affine in it is that value and a constant step from
//! lane to lane. Operations are executed by all lanes together, which is what the oracle has judged. Where not all lanes execute
//! something, a mask says which.

use super::arith::Known;
use super::spot::Along;
use super::{EmitError, Emitter};
use crate::llvm::{Opcode, PoisonFlags, Type, TypeKind, Value};
use loop_tree::{Affine, Green, LoopHeader, ScalarType, VarId};

/// The vector loop around the builder's place.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'m> {
    pub(super) count: u32,
    /// Its variable's place.
    place: VarId,
    step: i64,
    /// The variable in the first lane.
    first: Known<'m>,
    /// The lanes that execute what is emitted; none: all.
    mask: Option<Value<'m>>,
}

impl<'m> Lanes<'m> {
    /// All lanes of a loop over a place, by ones.
    pub(super) fn all(count: u32, place: VarId, first: Known<'m>) -> Self {
        Lanes { count, place, step: 1, first, mask: None }
    }
}

/// Lanes of a vector loop that can be emitted.
pub(super) fn lanes_of(header: &LoopHeader) -> Result<u32, EmitError> {
    let what = "a vector loop of other than a constant number of lanes, 64 at most,";
    emission::lanes::lanes_of(header).ok_or(EmitError::Unsupported { what })
}

impl<'m> Emitter<'m, '_> {
    pub(super) fn vector_loop(&mut self, header: &LoopHeader, body: &Green) -> Result<(), EmitError> {
        if self.lanes.is_some() {
            return Err(EmitError::Unsupported { what: "a vector loop inside of another one" });
        }
        let count = lanes_of(header)?;
        if count == 0 {
            return Ok(());
        }
        if !self.place()?.function().may_use_vectors() {
            return Err(EmitError::Unsupported {
                what: "vectors in a function compiled with `-mno-implicit-float`",
            });
        }
        let (lower, least) = self.extreme(header.lower(), true)?;
        let (_, greatest) = self.extreme(header.upper(), false)?;
        let first = Known { value: lower, range: Self::counter_range(least, greatest) };
        let [lowers, _] = self.resolved_bounds(header);
        let place = self.scope.enter_loop(header.var, first);
        let what = "a vector loop with several lower bounds";
        let begin = lowers.into_iter().next().ok_or(EmitError::Unsupported { what })?;
        self.registers.set_along(Some(Along { place, step: header.step, count, first: begin }));
        if count > 1 {
            self.lanes = Some(Lanes { count, place, step: header.step, first, mask: None });
        }
        let result = self.below(0, |e| e.tree(body));
        self.lanes = None;
        self.registers.set_along(None);
        self.scope.leave();
        result
    }

    /// By how much an expression over places differs from one lane to the next, if always by the same.
    pub(super) fn lane_step(&self, e: &Affine) -> Option<i64> {
        let Some(lanes) = self.lanes else { return Some(0) };
        let coefficient = e.coefficient(lanes.place);
        let rest = e - &Affine::var(lanes.place).scale(coefficient);
        if rest.uses(lanes.place) { None } else { coefficient.checked_mul(lanes.step) }
    }

    /// Whether an expression of the scope is the same in all lanes.
    pub(super) fn is_uniform(&self, e: &Affine) -> bool {
        self.lane_step(&self.scope.resolved(e)) == Some(0)
    }

    /// Does something for each lane, with the variable's value there. Expressions must be over places: what else is bound stands
    /// for its value in the first lane.
    pub(super) fn for_each_lane<T>(
        &self,
        lanes: Lanes<'m>,
        f: impl Fn(&Self, u32) -> Result<T, EmitError>,
    ) -> Result<Vec<T>, EmitError> {
        let mut all = Vec::with_capacity(lanes.count as usize);
        for lane in 0..lanes.count {
            let offset = self.known(&Affine::constant(i64::from(lane) * lanes.step))?;
            let mut value = self.add(lanes.first, offset)?;
            value.range = lanes.first.range;
            self.scope.rebind(lanes.place, value);
            all.push(f(self, lane));
        }
        self.scope.rebind(lanes.place, lanes.first);
        all.into_iter().collect()
    }

    /// The value of an expression of the scope, of an integer type, reduced to its width: a vector where lanes differ.
    pub(super) fn integer(&self, e: &Affine, ty: ScalarType) -> Result<Value<'m>, EmitError> {
        let e = self.scope.resolved(e);
        let step = self.lane_step(&e);
        let (Some(lanes), false) = (self.lanes, step == Some(0)) else {
            return self.narrowed(&e, ty);
        };
        let Some(step) = step else {
            let values = self.for_each_lane(lanes, |emitter, _| emitter.narrowed(&e, ty))?;
            return self.gathered(&values);
        };
        let first = self.narrowed(&e, ty)?;
        let steps = self.steps(lanes.count, step, first.ty())?;
        let first = self.builder.splat(lanes.count, first, "")?;
        Ok(self.builder.binary(Opcode::Add, first, steps, PoisonFlags::empty(), "")?)
    }

    fn narrowed(&self, e: &Affine, ty: ScalarType) -> Result<Value<'m>, EmitError> {
        let value = self.affine(e)?;
        match ty {
            ScalarType::I64 => Ok(value),
            _ => Ok(self.builder.cast(Opcode::Trunc, value, self.ty(ty)?, PoisonFlags::empty(), "")?),
        }
    }

    /// `0, step, 2 * step, ...`
    pub(super) fn steps(&self, count: u32, step: i64, ty: Type<'m>) -> Result<Value<'m>, EmitError> {
        let mut all = ty.vector(count)?.poison()?;
        for lane in 0..count {
            let value = ty.const_int(i128::from(step.wrapping_mul(lane.into())))?;
            all = self.builder.insert_element(all, value, self.int(lane.into())?, "")?;
        }
        Ok(all)
    }

    /// One vector of values in order.
    pub(super) fn gathered(&self, values: &[Value<'m>]) -> Result<Value<'m>, EmitError> {
        let what = "a vector without lanes";
        let first = values.first().ok_or(EmitError::Unsupported { what })?;
        let mut all = first.ty().vector(values.len() as u32)?.poison()?;
        for (lane, value) in values.iter().enumerate() {
            all = self.builder.insert_element(all, *value, self.int(lane as i64)?, "")?;
        }
        Ok(all)
    }

    /// What a lane has.
    pub(super) fn lane(&self, value: Value<'m>, lane: u32) -> Result<Value<'m>, EmitError> {
        match is_vector(value) {
            true => Ok(self.builder.extract_element(value, self.int(lane.into())?, "")?),
            false => Ok(value),
        }
    }

    /// The value as a vector.
    pub(super) fn widened(&self, value: Value<'m>) -> Result<Value<'m>, EmitError> {
        match self.lanes {
            Some(lanes) if !is_vector(value) => Ok(self.builder.splat(lanes.count, value, "")?),
            _ => Ok(value),
        }
    }

    /// Operands of one operation: vectors, if one of them is.
    pub(super) fn even<const N: usize>(&self, values: [Value<'m>; N]) -> Result<[Value<'m>; N], EmitError> {
        let mut result = values;
        if values.iter().any(|v| is_vector(*v)) {
            for value in &mut result {
                *value = self.widened(*value)?;
            }
        }
        Ok(result)
    }

    /// The same of any number of operands.
    pub(super) fn even_all(&self, values: Vec<Value<'m>>) -> Result<Vec<Value<'m>>, EmitError> {
        match values.iter().any(|v| is_vector(*v)) {
            true => values.into_iter().map(|v| self.widened(v)).collect(),
            false => Ok(values),
        }
    }

    /// A type, or vectors of it where the value is a vector.
    pub(super) fn like(&self, ty: Type<'m>, value: Value<'m>) -> Result<Type<'m>, EmitError> {
        match value.ty().kind() {
            TypeKind::Vector(_, lanes) => Ok(ty.vector(lanes)?),
            _ => Ok(ty),
        }
    }

    /// Which lanes execute what is emitted; none: all of them, or there are none.
    pub(super) fn mask(&self) -> Option<Value<'m>> {
        self.lanes.and_then(|lanes| lanes.mask)
    }

    /// Emits what is executed only where the test holds, if that is to be done by a mask: where lanes differ, and where there
    /// may be no lane for which the test has a value.
    pub(super) fn masked_by(
        &mut self,
        test: Value<'m>,
        f: impl FnOnce(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let outer = self.mask();
        let test = self.widened(test)?;
        let mask = match outer {
            None => test,
            Some(outer) => {
                let never = self.widened(self.module.context().i1().const_int(0)?)?;
                self.builder.select(outer, test, never, "")?
            }
        };
        self.set_mask(Some(mask));
        let result = f(self);
        self.set_mask(outer);
        result
    }

    fn set_mask(&mut self, mask: Option<Value<'m>>) {
        if let Some(lanes) = &mut self.lanes {
            lanes.mask = mask;
        }
    }

    /// Whether a condition on this value needs a mask, not a branch.
    pub(super) fn needs_mask(&self, test: Value<'m>) -> bool {
        is_vector(test) || self.mask().is_some()
    }

    /// Emits what is executed only where the test holds.
    pub(super) fn only_where(
        &mut self,
        test: Value<'m>,
        f: impl FnOnce(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        if self.needs_mask(test) {
            return self.masked_by(test, f);
        }
        let (inside, after) = (self.builder.append_block("then")?, self.builder.append_block("endif")?);
        self.builder.cond_br(test, inside, after)?;
        self.builder.position_at_end(inside)?;
        f(self)?;
        self.builder.br(after)?;
        Ok(self.builder.position_at_end(after)?)
    }

    /// A divisor that divides in all lanes, where only some are to divide.
    pub(super) fn divisor(&self, opcode: Opcode, value: Value<'m>) -> Result<Value<'m>, EmitError> {
        let divides = matches!(opcode, Opcode::SDiv | Opcode::UDiv | Opcode::SRem | Opcode::URem);
        let Some(mask) = self.mask().filter(|_| divides) else { return Ok(value) };
        let (value, one) = (self.widened(value)?, self.widened(value.ty().scalar().const_int(1)?)?);
        Ok(self.builder.select(mask, value, one, "")?)
    }

    /// The value of a function that is called for each lane by itself, if an argument differs between lanes.
    pub(super) fn call_by_lane(
        &self,
        arguments: &[Value<'m>],
        call: impl Fn(&[Value<'m>]) -> Result<Value<'m>, EmitError>,
    ) -> Result<Value<'m>, EmitError> {
        let Some(lanes) = self.lanes.filter(|_| arguments.iter().any(|a| is_vector(*a))) else {
            return call(arguments);
        };
        let one = |lane| {
            let arguments: Result<Vec<_>, _> = arguments.iter().map(|a| self.lane(*a, lane)).collect();
            call(&arguments?)
        };
        let values: Result<Vec<_>, _> = (0..lanes.count).map(one).collect();
        self.gathered(&values?)
    }
}

pub(super) fn is_vector(value: Value<'_>) -> bool {
    matches!(value.ty().kind(), TypeKind::Vector(..))
}
