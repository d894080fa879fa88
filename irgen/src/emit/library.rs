//! Calls of library functions in the place of nests.

use super::arith::Known;
use super::element::Tag;
use super::ranges::Range;
use super::{EmitError, Emitter};
use crate::llvm::{FastMath, Function, Opcode, PoisonFlags, Type, Value};
use loop_tree::{Argument, ArrayId, Call, Returned};

impl<'m> Emitter<'m, '_> {
    /// The call, where there is something to do.
    pub(super) fn library_call(&mut self, call: &Call) -> Result<(), EmitError> {
        let test = self.condition(&call.runs())?;
        self.only_where(test, |e| e.called(call))
    }

    fn called(&mut self, call: &Call) -> Result<(), EmitError> {
        let mut values = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            values.push(self.argument(argument)?);
        }
        let context = self.module.context();
        let returned = match &call.returns {
            Returned::Nothing => context.void(),
            Returned::Pointer => context.ptr(),
            Returned::Added(array, _) => self.ty(self.kernel.array(*array).element)?,
        };
        let function = self.library_function(&call.function, returned, &values)?;
        let result = self.builder.call(function, &values, "")?;
        if let Returned::Added(array, subscripts) = &call.returns {
            let (ty, tag) = (self.kernel.array(*array).element, tag(*array));
            let element = self.in_array(*array, subscripts, None)?;
            let before = self.load_from(&element, ty, tag)?;
            let sum = self.builder.float(Opcode::FAdd, before, result.value(), FastMath::empty(), "")?;
            self.store_to(&element, ty, sum, tag)?;
        }
        Ok(())
    }

    fn argument(&mut self, argument: &Argument) -> Result<Value<'m>, EmitError> {
        let int = self.module.context().i32();
        Ok(match argument {
            Argument::Pointer(array, subscripts) => self.in_array(*array, subscripts, None)?.pointer(),
            Argument::Size(factors) => {
                let mut product = Known { value: self.int(1)?, range: Some(Range::point(1)) };
                for factor in factors {
                    product = self.mul(product, self.known(factor)?)?;
                }
                product.value
            }
            Argument::Int(e) => {
                let value = self.known(e)?.value;
                self.builder.cast(Opcode::Trunc, value, int, PoisonFlags::empty(), "")?
            }
            Argument::Word(_, value) => int.const_int((*value).into())?,
            Argument::Number(c) => self.ty(c.ty)?.const_fp(c.bits.into())?,
            Argument::Value { array, subscripts, negative } => {
                let ty = self.kernel.array(*array).element;
                let element = self.in_array(*array, subscripts, None)?;
                let value = self.load_from(&element, ty, tag(*array))?;
                match negative {
                    true => self.builder.fneg(value, FastMath::empty(), "")?,
                    false => value,
                }
            }
        })
    }

    /// The function of the library, declared if it is not.
    fn library_function(
        &self,
        name: &str,
        returned: Type<'m>,
        arguments: &[Value<'m>],
    ) -> Result<Function<'m>, EmitError> {
        let types: Vec<Type<'m>> = arguments.iter().map(|v| v.ty()).collect();
        let ty = returned.function(&types)?;
        let function = match self.place()?.function().may_call(name) {
            true => self.module.external(name, ty)?,
            false => None,
        };
        function.ok_or(EmitError::Unsupported { what: "a call of a name that is no library's here" })
    }
}

fn tag<'m>(array: ArrayId) -> Tag<'m> {
    Tag { array, frame: None, origin: None }
}
