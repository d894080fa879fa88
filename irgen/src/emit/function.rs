//! A kernel as a function of its own.

use super::{Base, EmitError, Emitter, Variant, conditions};
use crate::lift::Apart;
use crate::llvm::{Builder, Context, Module};
use emission::buffers;
use loop_tree::{ArrayId, Kernel, ParamId, RuntimeCondition, Storage};

/// What an argument of an emitted function means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionParameter {
    /// A parameter, as `i64`.
    Param(ParamId),
    /// A pointer to the first element of an array, or to a scalar.
    Array(ArrayId),
}

/// The arguments of [`emit_function`], in order: parameters, then arrays (scalars too).
pub fn function_parameters(kernel: &Kernel) -> Vec<FunctionParameter> {
    let params = (0..kernel.params.len()).map(|p| FunctionParameter::Param(ParamId::new(p)));
    let arrays = (0..kernel.arrays.len()).map(|a| FunctionParameter::Array(ArrayId::new(a)));
    params.chain(arrays).collect()
}

/// A module with one function `name(i64 params..., ptr arrays...) -> i1` that executes the tree and returns true, or does
/// nothing and returns false where the kernel's assumptions or the variant's conditions do not hold.
///
/// # Errors
/// Where the tree cannot be emitted.
pub fn emit_function<'c>(
    context: &'c Context,
    name: &str,
    kernel: &Kernel,
    variant: Variant<'_>,
) -> Result<Module<'c>, EmitError> {
    let module = context.module(name);
    {
        let mut conditions = conditions::checked(kernel, variant.conditions);
        // Here nobody else vouches for the context.
        conditions.extend(kernel.context.iter().cloned().map(RuntimeCondition::Parameter));
        let arguments = function_parameters(kernel);
        let types: Vec<_> = arguments
            .iter()
            .map(|a| match a {
                FunctionParameter::Param(_) => context.i64(),
                FunctionParameter::Array(_) => context.ptr(),
            })
            .collect();
        let function = module.add_function(name, context.i1().function(&types)?)?;
        function.set_vector_bits(variant.vector_bits);
        let entry = function.append_block("entry");
        let (start, no) = (function.append_block("new"), function.append_block("no"));
        let mut builder = Builder::new(&module);
        builder.position_at_end(entry)?;
        let values: Vec<_> = function.params().iter().map(|p| p.value()).collect();
        let (params, pointers) = values.split_at(kernel.params.len());
        let buffers = buffers::find(variant.root);
        let mut emitter =
            Emitter::new(&module, builder, kernel, variant, &conditions, &vec![false; kernel.arrays.len()])?;
        emitter.params = params.to_vec();
        emitter.own_function = true;
        for (array, pointer) in kernel.arrays.iter().zip(pointers) {
            let is_register = array.is_scalar() && array.storage != Storage::Memory;
            emitter.bases.push(match is_register {
                false => Base::Memory { base: *pointer, offset: 0, alignment: array.element.size() },
                true => {
                    let ty = emitter.ty(array.element)?;
                    let slot = emitter.builder.alloca(ty, None, &array.name)?.value();
                    let value = emitter.builder.load(ty, *pointer, array.element.size(), "")?.value();
                    emitter.builder.store(value, slot, array.element.size())?;
                    Base::Scalar { slot }
                }
            });
        }
        emitter.make_slots(None)?;
        emitter.make_buffers(&buffers, None)?;
        let holds = emitter.check(&conditions, &vec![64; kernel.params.len()], &[], &Apart::default())?;
        emitter.enter_if(function, holds, &buffers, [start, no])?;
        emitter.builder.position_at_end(start)?;
        emitter.inside = true;
        emitter.make_room()?;
        emitter.declare_scopes()?;
        emitter.tree(variant.root)?;
        for (index, array) in kernel.arrays.iter().enumerate() {
            if let Base::Scalar { slot } = emitter.bases[index] {
                let value =
                    emitter.builder.load(emitter.ty(array.element)?, slot, array.element.size(), "")?;
                emitter.builder.store(value.value(), pointers[index], array.element.size())?;
            }
        }
        emitter.release()?;
        emitter.builder.ret(Some(context.i1().const_int(1)?))?;
        emitter.builder.position_at_end(no)?;
        emitter.builder.ret(Some(context.i1().const_int(0)?))?;
    }
    Ok(module)
}
