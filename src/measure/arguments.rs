//! Arguments with which a function reaches its regions at wanted parameters.

use super::inputs::ArgumentSpec;
use emission::extent::touched;
use irgen::lift::{ArrayBinding, Region};
use irgen::llvm::{Opcode, TypeKind, Value};
use loop_tree::{ArrayId, ScalarType, Storage};

/// Why a function cannot be called so that its regions run with the wanted parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotCallable {
    /// What is in the way.
    pub reason: String,
}

impl NotCallable {
    fn new(reason: impl Into<String>) -> Self {
        NotCallable { reason: reason.into() }
    }
}

/// Bytes behind pointers of which nothing is known.
const PAGE: usize = 4096;
/// Floating-point arguments: neither 0 nor 1, which would hide mistakes.
const FLOAT: f64 = 1.25;

#[derive(Clone, Copy)]
struct Extent {
    element: ScalarType,
    before: usize,
    after: usize,
}

/// Arguments of the function that `regions` are parts of, each with the values of its parameters. Give all regions of the
/// function: a buffer has room for what these touch.
///
/// # Errors
/// Where a parameter is not an argument of the function, or an array neither an argument nor a variable, and where arguments
/// remain whose value is not known.
pub fn argument_specs(regions: &[(&Region<'_>, &[i64])]) -> Result<Vec<ArgumentSpec>, NotCallable> {
    let Some((first, _)) = regions.first() else { return Err(NotCallable::new("there is no region")) };
    let arguments = first.function.params();
    let mut ints: Vec<Option<i64>> = vec![None; arguments.len()];
    let mut extents: Vec<Option<Extent>> = vec![None; arguments.len()];
    for (region, params) in regions {
        for ((binding, param), wanted) in region.params.iter().zip(&region.kernel.params).zip(*params) {
            let [factor] = binding.factors[..] else {
                if product(region, params, &binding.factors) != Some(*wanted) {
                    let name = &param.name;
                    return Err(NotCallable::new(format!("{name} is not the product that it stands for")));
                }
                continue;
            };
            let Some((argument, value)) = origin(factor, *wanted) else {
                if is_set_inside(factor) {
                    continue;
                }
                if let Some(strides) = irgen::lift::ratio_of(factor) {
                    if product(region, params, &[factor, strides[1]])
                        != product(region, params, &strides[..1])
                    {
                        return Err(NotCallable::new(format!(
                            "{} is not the ratio that it stands for",
                            param.name
                        )));
                    }
                    continue;
                }
                return Err(NotCallable::new(format!("{} is no argument of the function", param.name)));
            };
            // A constant parameter needs no argument.
            let Some(argument) = argument else { continue };
            let slot =
                ints.get_mut(argument).ok_or_else(|| NotCallable::new("an argument of another function"))?;
            if slot.is_some_and(|v| v != value) {
                let name = &param.name;
                return Err(NotCallable::new(format!(
                    "{name} cannot be {wanted} while other parameters have their values"
                )));
            }
            *slot = Some(value);
        }
        for (index, binding) in region.arrays.iter().enumerate() {
            let array = region.kernel.array(ArrayId::new(index));
            let ArrayBinding::Memory { base, offset, .. } = binding else { continue };
            // The function makes it itself.
            let own = base.as_inst().is_some_and(|i| i.opcode() == Opcode::Alloca);
            let local = own || array.storage == Storage::Local;
            if local || base.as_global().is_some() {
                continue;
            }
            let Some(argument) = base.as_argument() else {
                return Err(NotCallable::new(format!(
                    "{} is neither an argument nor a variable",
                    array.name
                )));
            };
            let range = touched(&region.kernel, ArrayId::new(index), params).ok_or_else(|| {
                NotCallable::new(format!("which elements of {} are touched is not known", array.name))
            })?;
            let too_large = || NotCallable::new(format!("{} is too large", array.name));
            let bytes = |elements: i64| {
                elements
                    .checked_mul(array.element.size().into())
                    .and_then(|b| b.checked_add(*offset))
                    .ok_or_else(too_large)
            };
            let room = |b: i64| usize::try_from(b.max(0)).map_err(|_| too_large());
            let (before, after) = (room(bytes(range.start)?.saturating_neg())?, room(bytes(range.end)?)?);
            let slot = extents
                .get_mut(argument.index() as usize)
                .ok_or_else(|| NotCallable::new("an argument of another function"))?;
            let old = slot.unwrap_or(Extent { element: array.element, before: 0, after: 0 });
            *slot = Some(Extent {
                element: old.element,
                before: old.before.max(before),
                after: old.after.max(after),
            });
        }
    }
    let spec = |(index, argument): (usize, irgen::llvm::Argument<'_>)| {
        let name = match argument.value().name() {
            name if name.is_empty() => format!("argument {index}"),
            name => name,
        };
        match argument.value().ty().kind() {
            TypeKind::Integer(1..=64) => match ints[index] {
                Some(value) => Ok(ArgumentSpec::Int(value)),
                // What nothing reads is as good with any value.
                None if !argument.value().is_used() => Ok(ArgumentSpec::Int(0)),
                None => Err(NotCallable::new(format!("what to pass as {name} is not known"))),
            },
            TypeKind::Float | TypeKind::Double => Ok(ArgumentSpec::Float(FLOAT)),
            TypeKind::Pointer(0) => {
                let none = Extent { element: ScalarType::F64, before: 0, after: PAGE };
                let Extent { element, before, after } = extents[index].unwrap_or(none);
                Ok(ArgumentSpec::Pointer { name, element, before, after, observed: true })
            }
            _ => Err(NotCallable::new(format!("{name} has a type that cannot be passed"))),
        }
    };
    arguments.into_iter().enumerate().map(spec).collect()
}

/// The product of values that are parameters of the region too.
fn product(region: &Region<'_>, params: &[i64], factors: &[Value<'_>]) -> Option<i64> {
    let value = |v: &Value<'_>| {
        let own = region.params.iter().position(|p| p.factors == [*v])?;
        params.get(own).copied()
    };
    factors.iter().try_fold(1_i64, |p, v| p.checked_mul(value(v)?))
}

/// Whether a loop around the region gives the value: its counter, or what it reads there.
fn is_set_inside(value: Value<'_>) -> bool {
    let Some(inst) = value.as_inst() else { return false };
    match inst.opcode() {
        Opcode::Phi => true,
        Opcode::SExt | Opcode::ZExt | Opcode::Trunc | Opcode::Freeze => {
            inst.operand(0).is_some_and(is_set_inside)
        }
        Opcode::Load => {
            let address = inst.pointer().and_then(Value::as_inst).filter(|a| a.opcode() == Opcode::Gep);
            address.is_some_and(|a| a.operands().into_iter().skip(1).any(is_set_inside))
        }
        _ => false,
    }
}

/// The argument by which `value` becomes `wanted`, and what it has to be for that.
pub(crate) fn argument_of(value: Value<'_>, wanted: i64) -> Option<(usize, i64)> {
    let (argument, value) = origin(value, wanted)?;
    Some((argument?, value))
}

/// The argument that has to have the second value so that `value` is `wanted`; no argument for constants. `None` where
/// there is no such argument.
fn origin(value: Value<'_>, wanted: i64) -> Option<(Option<usize>, i64)> {
    let fits = |bits: u32| {
        let unused = 64_u32.checked_sub(bits)?;
        (wanted << unused >> unused == wanted).then_some(())
    };
    let TypeKind::Integer(bits @ 1..=64) = value.ty().kind() else { return None };
    fits(bits)?;
    if let Some(constant) = value.const_int() {
        return (constant == i128::from(wanted)).then_some((None, wanted));
    }
    if let Some(argument) = value.as_argument() {
        return Some((Some(argument.index() as usize), wanted));
    }
    let inst = value.as_inst()?;
    let first = inst.operand(0)?;
    match inst.opcode() {
        Opcode::SExt | Opcode::Trunc | Opcode::Freeze => origin(first, wanted),
        Opcode::ZExt => (wanted >= 0).then(|| origin(first, wanted)).flatten(),
        Opcode::Add => {
            let constant = i64::try_from(inst.operand(1)?.const_int()?).ok()?;
            origin(first, wanted.checked_sub(constant)?)
        }
        _ => None,
    }
}
