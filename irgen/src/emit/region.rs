//! A variant in place of a region.

use super::extent::footprints;
use super::{Base, EmitError, Emitter, Variant, conditions, gathers};
use crate::lift::{Apart, ArrayBinding, CallArgument, CallBinding, FrontRead, Region};
use crate::llvm::{Block, Builder, Inst, Module, Opcode, PoisonFlags, TypeKind, Value};
use crate::mutation::{self, Rule};
use emission::buffers;
use loop_tree::{Affine, ArrayId, Atom, ParamId, RuntimeCondition};
use rustc_hash::FxHashSet;

/// What was emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The conditions under which the new code runs; the original code runs otherwise.
    pub conditions: Vec<RuntimeCondition>,
}

/// Emits a variant of the region's kernel beside the original code. The region's IR must be as lifting left it; regions of one function
/// may be emitted one after the other.
///
/// # Errors
/// Where the tree cannot be emitted. The function, and those made of its loops, are then unusable: emit into a copy of the module.
pub fn emit_region<'m>(
    module: &'m Module<'m>,
    region: &Region<'m>,
    variant: Variant<'_>,
) -> Result<Emitted, EmitError> {
    let kernel = &*region.kernel;
    let conditions = conditions::checked(kernel, variant.conditions);
    let location = region.origins.iter().find_map(|o| o.metadata("dbg"));
    let mut builder = Builder::new(module);
    builder.set_location(location)?;
    let function = region.function;
    let entry = function.entry().ok_or(EmitError::Unsupported { what: "a function without a body" })?;

    // Slots of scalars: in the entry block, where LLVM promotes them to registers.
    let first = entry.insts().into_iter().find(|i| !i.is_phi());
    let first = first.ok_or(EmitError::Unsupported { what: "an empty entry block" })?;
    builder.position_before(first)?;
    let buffers = buffers::find(variant.root);
    let mut emitter = Emitter::new(module, builder, kernel, variant, &conditions, &moving_arrays(region))?;
    if function.must_not_wait() {
        emitter.threads = 1;
    }
    emitter.origins = &region.origins;
    emitter.called = called(region);
    emitter.location = location;
    emitter.hints = crate::lift::handed_on(region);
    let mut slots = Vec::new();
    for (index, binding) in region.arrays.iter().enumerate() {
        slots.push(match binding {
            ArrayBinding::Memory { .. } => None,
            ArrayBinding::Scalar { .. } => {
                let array = kernel.array(ArrayId::new(index));
                let ty = emitter.ty(array.element)?;
                Some(emitter.builder.alloca(ty, None, &array.name)?.value())
            }
        });
    }

    emitter.make_slots(None)?;
    emitter.make_buffers(&buffers, None)?;

    // before -> long enough -> check -> (new code | original -> entry) -> exit
    let enough = function.append_block("looptree.enough");
    let original = function.append_block("looptree.original");
    let start = function.append_block("looptree.new");
    emitter.builder.position_at_end(enough)?;
    let (mut widths, mut exact) = (Vec::new(), Vec::new());
    for binding in &region.params {
        let mut product = None;
        for factor in &binding.factors {
            let mut value = incoming(region, *factor);
            let TypeKind::Integer(width @ 1..=64) = value.ty().kind() else {
                return Err(EmitError::Unsupported { what: "a parameter that is no integer of 64 bits" });
            };
            if !mutation::off(Rule::ParameterFreeze) {
                value = emitter.builder.freeze(value, "")?;
            }
            if width < 64 {
                let int = module.context().i64();
                value = emitter.builder.cast(Opcode::SExt, value, int, PoisonFlags::empty(), "")?;
            }
            product = Some(match product {
                None => (value, width),
                Some((before, _)) => {
                    let (value, fits) = emitter.product(before, value)?;
                    exact.push(fits);
                    (value, 64)
                }
            });
        }
        let (value, width) = product.ok_or(EmitError::Unsupported { what: "a parameter without a value" })?;
        emitter.params.push(value);
        widths.push(width);
    }
    for (binding, slot) in region.arrays.iter().zip(&slots) {
        emitter.bases.push(match (binding, slot) {
            (ArrayBinding::Memory { base, offset, alignment }, _) => {
                Base::Memory { base: incoming(region, *base), offset: *offset, alignment: *alignment }
            }
            (ArrayBinding::Scalar { .. }, Some(slot)) => Base::Scalar { slot: *slot },
            (ArrayBinding::Scalar { .. }, None) => {
                return Err(EmitError::Unsupported { what: "a scalar without a slot" });
            }
        });
    }
    let reads = region.apart.reads.iter().map(|read| FrontRead {
        base: incoming(region, read.base),
        guard: read.guard.map(|(condition, holds)| (incoming(region, condition), holds)),
        ..read.clone()
    });
    let apart = Apart { reads: reads.collect(), errno: region.apart.errno.clone() };
    // Short loops take less than comparing what they access does. Before magnitudes are known sums of sizes may wrap: all are tested again.
    let (of_sizes, others): (Vec<_>, Vec<_>) =
        conditions.iter().cloned().partition(|c| matches!(c, RuntimeCondition::Parameter(_)));
    if !of_sizes.is_empty() && !others.is_empty() {
        let check = function.append_block("looptree.check");
        let holds = emitter.check(&of_sizes, &[], &[], &Apart::default())?;
        emitter.builder.cond_br(holds, check, original)?;
        emitter.builder.position_at_end(check)?;
    }
    let holds = emitter.check(&conditions, &widths, &exact, &apart)?;
    emitter.enter_if(function, holds, &buffers, [start, original])?;
    emitter.builder.position_at_end(original)?;
    emitter.builder.br(region.entry)?;
    let terminator = region.before.terminator();
    let terminator = terminator.ok_or(EmitError::Unsupported { what: "a block without a terminator" })?;
    terminator.replace_successor(region.entry, enough)?;
    region.entry.replace_phi_predecessor(region.before, original)?;

    emitter.builder.position_at_end(start)?;
    let wide = variant.vector_bits.map(|_| function.append_block("looptree.wide"));
    if let Some(first) = wide {
        emitter.builder.br(first)?;
        emitter.builder.position_at_end(first)?;
    }
    emitter.inside = true;
    emitter.make_room()?;
    emitter.declare_scopes()?;
    for (binding, slot) in region.arrays.iter().zip(&slots) {
        if let (ArrayBinding::Scalar { incoming: Some(value), .. }, Some(slot)) = (binding, slot) {
            let value = incoming(region, *value);
            emitter.builder.store(value, *slot, natural_alignment(&emitter, value)?)?;
        }
    }
    emitter.tree(variant.root)?;
    let mut outgoing = Vec::new();
    for (index, (binding, slot)) in region.arrays.iter().zip(&slots).enumerate() {
        if let (ArrayBinding::Scalar { outgoing: values, .. }, Some(slot)) = (binding, slot)
            && !values.is_empty()
        {
            let element = kernel.array(ArrayId::new(index)).element;
            let last = emitter.builder.load(emitter.ty(element)?, *slot, element.size(), "")?;
            outgoing.push((values.clone(), last.value()));
        }
    }
    emitter.builder.set_location(location)?;
    emitter.release()?;
    let end = emitter.builder.br(region.exit)?.block();

    // One phi per value that is used behind the region. Where its own code ends the function, it uses its own.
    let behind = match outgoing.is_empty() {
        true => FxHashSet::default(),
        false => reachable(region.exit, Some(region.before)),
    };
    for (values, new) in outgoing {
        for value in values {
            let uses = value.value().uses().into_iter().filter(|(.., at)| behind.contains(at));
            let Some(head) = region.exit.first_inst() else {
                return Err(EmitError::Unsupported { what: "an empty exit block" });
            };
            emitter.builder.position_before(head)?;
            let phi = emitter.builder.phi(value.value().ty(), AFTER)?;
            phi.add_incoming(value.value(), region.last)?;
            phi.add_incoming(new, end)?;
            for (user, operand, _) in uses.collect::<Vec<_>>() {
                user.set_operand(operand, phi.value())?;
            }
        }
    }
    gathers::avoid(function, kernel, variant.root);
    // Wider vectors are of the new code only: what else is in the function stays as it is.
    if let Some(new) = wide.and_then(|first| first.set_apart(region.exit, "wide")) {
        new.set_vector_bits(variant.vector_bits);
    }
    Ok(Emitted { conditions })
}

/// Name of the phis behind regions.
const AFTER: &str = "looptree.out";

/// What a value that is bound to the region is called in front of it: an earlier region of the function may have been
/// versioned since, and its values are then those of a phi.
fn incoming<'m>(region: &Region<'m>, mut value: Value<'m>) -> Value<'m> {
    let Some(entry) = region.function.entry() else { return value };
    // One step per earlier region that the value passed through; values that are gone are refused by the verifier.
    for _ in 0..region.function.blocks().len() {
        let Some(block) = value.as_inst().map(Inst::block) else { return value };
        if block == entry || !reachable(entry, Some(block)).contains(&region.before) {
            return value;
        }
        let joins = |user: &Inst<'m>| user.is_phi() && user.value().name().starts_with(AFTER);
        let Some(phi) = value.users().into_iter().filter_map(Value::as_inst).find(joins) else {
            return value;
        };
        value = phi.value();
    }
    value
}

/// The calls of the region, their arguments available in front of it.
fn called<'m>(region: &Region<'m>) -> Vec<CallBinding<'m>> {
    let argument = |argument: &CallArgument<'m>| match *argument {
        CallArgument::Same(value) => CallArgument::Same(incoming(region, value)),
        CallArgument::Computed => CallArgument::Computed,
        CallArgument::Behind(base) => CallArgument::Behind(incoming(region, base)),
    };
    let binding = |binding: &CallBinding<'m>| match binding {
        CallBinding::Call(call, arguments) => {
            CallBinding::Call(*call, arguments.iter().map(argument).collect())
        }
        part => part.clone(),
    };
    region.calls.iter().map(binding).collect()
}

/// Blocks to which control may go from here, not through `avoided`.
fn reachable<'m>(from: Block<'m>, avoided: Option<Block<'m>>) -> FxHashSet<Block<'m>> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![from];
    while let Some(block) = todo.pop() {
        if Some(block) != avoided && seen.insert(block) {
            todo.extend(block.successors());
        }
    }
    seen
}

/// By array, whether its bytes may be others when the region runs again.
fn moving_arrays(region: &Region<'_>) -> Vec<bool> {
    let again = reachable(region.exit, None);
    let moves = |value: Value<'_>| value.as_inst().is_some_and(|i| again.iter().any(|b| *b == i.block()));
    let params: Vec<bool> = region.params.iter().map(|p| p.factors.iter().any(|v| moves(*v))).collect();
    let bindings = region.arrays.iter().enumerate();
    bindings
        .map(|(index, binding)| {
            let ArrayBinding::Memory { base, .. } = binding else { return false };
            let array = ArrayId::new(index);
            let uses = |e: &Affine| any_param(e, &|p| params.get(p.index()).copied().unwrap_or(true));
            let extents = region.kernel.array(array).extents.iter().flatten().any(uses);
            // Unknown footprints are not tested.
            let footprints = footprints(&region.kernel, array).unwrap_or_default();
            let bounds = footprints.iter().flat_map(|f| f.least.iter().chain(&f.greatest)).any(uses);
            moves(*base) || extents || bounds
        })
        .collect()
}

fn any_param(e: &Affine, f: &dyn Fn(ParamId) -> bool) -> bool {
    e.terms().iter().any(|(atom, _)| match atom {
        Atom::Var(_) => false,
        Atom::Param(p) => f(*p),
        Atom::Div(d) => any_param(&d.numerator, f),
    })
}

fn natural_alignment<'m>(emitter: &Emitter<'m, '_>, value: crate::llvm::Value<'m>) -> Result<u32, EmitError> {
    let bytes = emitter.module.data_layout().store_size(value.ty());
    let bytes = bytes.and_then(|b| u32::try_from(b).ok()).filter(|b| b.is_power_of_two());
    bytes.ok_or(EmitError::Unsupported { what: "a scalar of this type" })
}
