//! Vector loops: their iterations as lanes, in lock step, operation by operation.
//!
//! What differs between lanes is a vector of C (or an array, where no vector has as many lanes). Floating-point arithmetic and rows of
//! memory are written as operations on vectors; all else as a loop over the lanes. Where not all lanes execute something, an array of
//! `bool` says which. What differs is told by its text: it names the lane, or the loop's variable, which a lane sets for itself.

use crate::arith::Use;
use crate::code::{Code, Level, mentions};
use crate::emitter::Emitter;
use crate::error::CgenError;
use crate::operation::Value;
use crate::types::c_type;
use emission::lanes::lanes_of;
use loop_tree::{Affine, Green, LoopHeader, ScalarType, VarId};

/// The vector loop around.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub(crate) count: u32,
    /// Names of a lane's number, and of the loop's variable in a lane.
    lane: String,
    variable: String,
    /// The variable's place, its first value over places, and the distance of its values.
    place: VarId,
    first: Affine,
    step: i64,
    /// Which lanes execute what is emitted; none: all.
    pub(crate) mask: Option<String>,
}

/// A type of vectors.
pub(crate) type VectorType = (ScalarType, u32);

/// The name of a type of vectors.
pub(crate) fn vector_name((ty, count): VectorType) -> String {
    format!("{}x{count}", ty.name())
}

/// Whether compilers have vectors of so many elements: powers of two, and not of bits.
pub(crate) fn is_vector(ty: ScalarType, count: u32) -> bool {
    count > 1 && count.is_power_of_two() && ty != ScalarType::I1
}

/// The type, and the one of rows of memory.
pub(crate) fn vector_definition(vector: VectorType) -> String {
    let (name, element, size) = (vector_name(vector), c_type(vector.0), vector.0.size());
    let bytes = size * vector.1;
    format!(
        "typedef {element} {name} __attribute__((vector_size({bytes})));\n\
         typedef {element} {name}_row __attribute__((vector_size({bytes}), aligned({size}), may_alias));\n"
    )
}

impl Emitter<'_> {
    pub(crate) fn vector_loop(
        &mut self,
        header: &LoopHeader,
        body: &Green,
        alone: bool,
    ) -> Result<(), CgenError> {
        if self.lanes.is_some() {
            return Err(self.unsupported("a vector loop inside of another one"));
        }
        let what = "a vector loop of other than a constant number of lanes, 64 at most";
        let count = lanes_of(header).ok_or_else(|| self.unsupported(what))?;
        let single = header.single_bounds();
        let (lower, upper) = single.ok_or_else(|| self.unsupported(what))?;
        if count == 0 {
            return Ok(());
        }
        let [least, greatest] = [lower, upper].map(|e| self.value_range(&self.scope.resolved(e)));
        let range = Self::counter_range(least.map(|r| vec![r]), greatest.map(|r| vec![r]));
        let first = self.in_full(lower);
        if count == 1 {
            let binder = self.new_binder(String::new(), range, None);
            self.scope.enter_let(header.var, &first, binder);
            let result = self.below(0, |e| e.tree(body, alone));
            self.scope.leave();
            return result;
        }
        let variable = self.names.fresh(&self.kernel.variable_name(header.var));
        let lane = self.names.fresh("lane");
        let binder = self.new_binder(variable.clone(), range, None);
        let place = self.scope.enter_loop(header.var, binder);
        let names = [variable.clone(), lane.clone()];
        self.lanes = Some(Lanes { count, lane, variable, place, first, step: header.step, mask: None });
        let result = match alone {
            true => self.below(0, |e| e.tree(body, true)),
            false => self.block("", |e| e.below(0, |e| e.tree(body, true))),
        };
        self.lanes = None;
        self.scope.leave();
        names.iter().for_each(|name| self.names.release(name));
        result
    }

    /// Whether text differs between lanes.
    pub(crate) fn varies(&self, text: &str) -> bool {
        let names = |l: &Lanes| mentions(text, &l.lane) || mentions(text, &l.variable);
        self.lanes.as_ref().is_some_and(names)
    }

    /// Whether the value of an expression of the scope differs between lanes.
    pub(crate) fn differs(&self, e: &Affine) -> bool {
        self.lanes.as_ref().is_some_and(|l| self.in_full(e).uses(l.place))
    }

    /// What is in an element of a vector or array of lanes.
    pub(crate) fn lane_of(&self, vector: &str) -> Code {
        let lane = self.lanes.as_ref().map_or("0", |l| &*l.lane);
        Code::primary(format!("{vector}[{lane}]"))
    }

    /// Whether some lanes may not execute what is emitted.
    pub(crate) fn is_masked(&self) -> bool {
        self.lanes.as_ref().is_some_and(|l| l.mask.is_some())
    }

    /// The subscripts in the first lane of elements that lie one behind the other.
    pub(crate) fn row(&self, subscripts: &[Affine]) -> Option<Vec<Affine>> {
        let lanes = self.lanes.as_ref().filter(|l| l.mask.is_none())?;
        let full: Vec<Affine> = subscripts.iter().map(|e| self.in_full(e)).collect();
        let (last, outer) = full.split_last()?;
        let rest = last - &Affine::var(lanes.place).scale(last.coefficient(lanes.place));
        let next = last.coefficient(lanes.place).checked_mul(lanes.step) == Some(1);
        if !next || rest.uses(lanes.place) || outer.iter().any(|e| e.uses(lanes.place)) {
            return None;
        }
        let first = |e: &Affine| e.substitute(&|v| (v == lanes.place).then(|| lanes.first.clone()));
        Some(full.iter().map(first).collect())
    }

    /// A row of memory as a vector.
    pub(crate) fn row_at(&self, element: &Code, ty: ScalarType) -> Option<Code> {
        let count = self.lanes.as_ref()?.count;
        is_vector(ty, count).then(|| {
            self.vectors.borrow_mut().insert((ty, count));
            Code::new(format!("*({}_row *)&{}", vector_name((ty, count)), element.text), Level::Unary)
        })
    }

    /// How lanes of a type are declared: the type, and what stands behind the name.
    pub(crate) fn lanes_type(&self, ty: ScalarType, count: u32) -> (String, String) {
        if is_vector(ty, count) {
            self.vectors.borrow_mut().insert((ty, count));
            return (vector_name((ty, count)), String::new());
        }
        (c_type(ty).to_string(), format!("[{count}]"))
    }

    /// A value as an operand of vector arithmetic.
    pub(crate) fn native(&self, value: &Value) -> Option<Code> {
        let lanes = self.lanes.as_ref().filter(|l| l.mask.is_none())?;
        let fits = is_vector(value.ty, lanes.count) && value.ty.is_float();
        let uniform = || (!self.varies(&value.code.text)).then(|| value.code.clone());
        value.native.clone().or_else(uniform).filter(|_| fits)
    }

    /// Writes an assignment of all lanes that execute, or of the one value where it is the same for all.
    pub(crate) fn assign(&mut self, to: &Code, row: Option<&Code>, value: &Value) {
        let same = self.lanes.is_none()
            || !self.is_masked() && !self.varies(&to.text) && !self.varies(&value.code.text);
        if same {
            return self.assign_one(to, value);
        }
        if let (Some(row), Some(native), false) = (row, &value.native, self.is_masked()) {
            let line = match &value.native_parts {
                Some((left, sign, right)) if *left == row.text => format!("{} {sign}= {right};", row.text),
                _ => format!("{} = {};", row.text, native.text),
            };
            return self.out.push(line);
        }
        let value = match value.loads {
            // All lanes load before one stores.
            true => self.named(value),
            false => value.clone(),
        };
        self.each_lane(&[&to.text, &value.code.text], |e| e.assign_one(to, &value));
    }

    fn assign_one(&mut self, to: &Code, value: &Value) {
        self.out.push(match &value.parts {
            Some((left, sign, right)) if *left == to.text => format!("{} {sign}= {right};", to.text),
            _ => format!("{} = {};", to.text, value.code.text),
        });
    }

    /// The values of all lanes under a name.
    pub(crate) fn named(&mut self, value: &Value) -> Value {
        let Some(count) = self.lanes.as_ref().map(|l| l.count) else { return value.clone() };
        let name = self.temporary("v");
        let (ty, behind) = self.lanes_type(value.ty, count);
        let vector = is_vector(value.ty, count);
        match &value.native {
            Some(native) if !self.is_masked() && vector => {
                self.out.push(format!("const {ty} {name} = {};", native.text));
            }
            _ => {
                self.out.push(format!("{ty} {name}{behind} = {{0}};"));
                let to = self.lane_of(&name);
                let plain = Value { parts: None, ..value.clone() };
                self.each_lane(&[&to.text, &value.code.text], |e| e.assign_one(&to, &plain));
            }
        }
        let native = (vector && value.ty.is_float()).then(|| Code::primary(&*name));
        Value { native, ..Value::new(self.lane_of(&name), value.ty) }
    }

    /// A loop over the lanes, those that execute, around lines in which these texts occur.
    fn each_lane(&mut self, texts: &[&str], f: impl FnOnce(&mut Self)) {
        let Some(lanes) = self.lanes.clone() else { return f(self) };
        let Lanes { count, lane, variable, first, step, mask, .. } = lanes;
        self.out.open(&format!("for (int {lane} = 0; {lane} < {count}; ++{lane})"));
        if texts.iter().any(|t| mentions(t, &variable)) {
            let scaled = if step == 1 { lane.clone() } else { format!("{step} * {lane}") };
            let begin = self.int(&first, Use::Value).map(|i| i.widened().code);
            let value = match begin {
                Ok(c) if c.text == "(int64_t)0" => scaled,
                Ok(c) => format!("{} + {scaled}", c.within(Level::Sum)),
                Err(_) => scaled,
            };
            self.out.push(format!("const int64_t {variable} = {value};"));
        }
        match mask {
            None => f(self),
            Some(mask) => {
                self.out.open(&format!("if ({mask}[{lane}])"));
                f(self);
                self.out.close();
            }
        }
        self.out.close();
    }

    /// Emits what is executed only where the test holds.
    pub(crate) fn only_where(
        &mut self,
        test: &Code,
        f: impl FnOnce(&mut Self) -> Result<(), CgenError>,
    ) -> Result<(), CgenError> {
        if !self.varies(&test.text) && !self.is_masked() {
            return self.block(&format!("if ({})", test.text), f);
        }
        let count = self.lanes.as_ref().map_or(1, |l| l.count);
        let name = self.temporary("mask");
        self.out.push(format!("bool {name}[{count}] = {{0}};"));
        let to = self.lane_of(&name);
        let value = Value::new(test.clone(), ScalarType::I1);
        self.each_lane(&[&test.text], |e| e.assign_one(&to, &value));
        let outer = self.set_mask(Some(name));
        let result = f(self);
        self.set_mask(outer);
        result
    }

    fn set_mask(&mut self, mask: Option<String>) -> Option<String> {
        self.lanes.as_mut().and_then(|l| std::mem::replace(&mut l.mask, mask))
    }
}
