//! The arguments of a function.

use crate::code::Lines;
use crate::emitter::{Base, Parameter};
use crate::names::Names;
use crate::types::{aliased, c_type};
use loop_tree::{AccessKind, ArrayId, Kernel, ParamId, RuntimeCondition, ScalarType, Storage};
use std::collections::BTreeSet;

/// What an argument of an emitted function means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A parameter of the kernel, by value.
    Param(ParamId),
    /// A pointer to the first element of an array, or to a scalar whose last value is used.
    Pointer(ArrayId),
    /// The value of a scalar that is only read.
    Scalar(ArrayId),
}

/// One argument.
pub(crate) struct Formal {
    /// Its type, with a blank or asterisk behind it.
    ty: String,
    pub(crate) name: String,
    pub(crate) argument: Argument,
}

/// All that a function may be given, and what becomes of scalars.
pub(crate) struct Signature {
    pub(crate) names: Names,
    formals: Vec<Formal>,
    pub(crate) params: Vec<Parameter>,
    pub(crate) bases: Vec<Base>,
    /// Scalars that live as long as the function runs: types and names.
    pub(crate) locals: Vec<(&'static str, String)>,
    /// Lines in front of the tree, and behind it.
    pub(crate) entry: Vec<String>,
    pub(crate) exit: Vec<String>,
}

impl Signature {
    /// Parameters, then arrays and scalars, in the kernel's order.
    pub(crate) fn new(kernel: &Kernel, own: &str) -> Signature {
        let mut names = Names::default();
        names.take(own);
        let (mut formals, mut params, mut bases) = (Vec::new(), Vec::new(), Vec::new());
        let (mut locals, mut entry, mut exit) = (Vec::new(), Vec::new(), Vec::new());
        for (index, param) in kernel.params.iter().enumerate() {
            let name = names.fresh(&param.name);
            let argument = Argument::Param(ParamId::new(index));
            formals.push(Formal { ty: format!("{} ", c_type(param.ty)), name: name.clone(), argument });
            params.push(Parameter { name, wide: param.ty == ScalarType::I64 });
        }
        for (index, array) in kernel.arrays.iter().enumerate() {
            let (id, ty) = (ArrayId::new(index), c_type(array.element));
            let written = is_written(kernel, id);
            let name = names.fresh(&array.name);
            if !array.is_scalar() || array.storage == Storage::Memory {
                let constant = if written { "" } else { "const " };
                let ty = if is_punned(kernel, id) { aliased(array.element) } else { ty.to_string() };
                let argument = Argument::Pointer(id);
                formals.push(Formal { ty: format!("{constant}{ty} *"), name: name.clone(), argument });
                bases.push(Base::Pointer(name));
                continue;
            }
            match array.storage {
                Storage::LiveIn if !written => {
                    let argument = Argument::Scalar(id);
                    formals.push(Formal { ty: format!("{ty} "), name: name.clone(), argument });
                }
                Storage::LiveIn | Storage::LiveOut => {
                    let pointer = names.fresh(&format!("{}_out", array.name));
                    entry.push(format!("{ty} {name} = *{pointer};"));
                    exit.push(format!("*{pointer} = {name};"));
                    let argument = Argument::Pointer(id);
                    formals.push(Formal { ty: format!("{ty} *"), name: pointer, argument });
                }
                _ => locals.push((ty, name.clone())),
            }
            bases.push(Base::Variable(name));
        }
        Signature { names, formals, params, bases, locals, entry, exit }
    }

    /// The arguments that a function with this body is given: what nothing asks for is none.
    pub(crate) fn used(&self, body: &Lines) -> impl Iterator<Item = &Formal> {
        self.formals.iter().filter(|f| body.mention(&f.name))
    }

    /// The same as declarations.
    pub(crate) fn declared(&self, body: &Lines, restricted: &BTreeSet<ArrayId>) -> Vec<String> {
        let declared = |f: &Formal| {
            let alone = matches!(f.argument, Argument::Pointer(a) if restricted.contains(&a));
            format!("{}{}{}", f.ty, if alone { "restrict " } else { "" }, f.name)
        };
        self.used(body).map(declared).collect()
    }

    /// The arrays of which no element that is written is reached through another one, where these conditions hold.
    pub(crate) fn restricted(&self, kernel: &Kernel, conditions: &[RuntimeCondition]) -> BTreeSet<ArrayId> {
        let ids = || (0..kernel.arrays.len()).map(ArrayId::new);
        let apart = |a: ArrayId, b: ArrayId| {
            let told = |c: &RuntimeCondition| matches!(c, RuntimeCondition::NoOverlap(x, y) if (*x, *y) == (a, b) || (*x, *y) == (b, a));
            !kernel.may_overlap(a, b)
                || !is_written(kernel, a) && !is_written(kernel, b)
                || conditions.iter().any(told)
        };
        let in_memory = |a: &ArrayId| {
            let array = kernel.array(*a);
            !array.is_scalar() || array.storage == Storage::Memory
        };
        let others = |a: ArrayId| ids().filter(move |b| *b != a);
        ids().filter(in_memory).filter(|a| others(*a).filter(in_memory).all(|b| apart(*a, b))).collect()
    }
}

/// Elements that may be accessed as another type, too: else C takes accesses of different types for different memory.
fn is_punned(kernel: &Kernel, array: ArrayId) -> bool {
    let other = |b: &loop_tree::Array| {
        b.element != kernel.array(array).element && b.alias.meets(kernel.array(array).alias)
    };
    kernel.arrays.iter().any(other)
}

fn is_written(kernel: &Kernel, array: ArrayId) -> bool {
    let writes = |a: &loop_tree::Access| a.array == array && a.kind != AccessKind::Read;
    kernel.statements.iter().any(|s| s.accesses.iter().any(writes))
}
