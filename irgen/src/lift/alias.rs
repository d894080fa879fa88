//! Which arrays may overlap.

use super::memory::Memory;
use super::owned::OwnedGlobals;
use crate::llvm::{Inst, MetadataKind, Opcode, Value};
use crate::mutation::{self, Rule};
use loop_tree::{AliasClass, ScalarType};

/// What is known of the object that a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin<'m> {
    /// Only pointers with this base lead there during the function.
    Private,
    /// Only pointers loaded from this variable lead there, and those that were stored in it.
    Owned(Value<'m>),
    /// A global variable to which no other pointer leads.
    Hidden,
    /// A global variable: other unknown pointers may lead there, other globals do not.
    Global,
    /// Anything that is not private.
    Unknown,
}

fn origin<'m>(base: Value<'m>, owned: &OwnedGlobals) -> Origin<'m> {
    if let Some(owner) = owned.owner(base) {
        return Origin::Owned(owner);
    }
    if owned.hides(base) {
        return Origin::Hidden;
    }
    if let Some(a) = base.as_argument() {
        return if a.has_attribute("noalias") || a.has_attribute("byval") {
            Origin::Private
        } else {
            Origin::Unknown
        };
    }
    if base.as_global().is_some() {
        return Origin::Global;
    }
    let Some(inst) = base.as_inst() else { return Origin::Unknown };
    match inst.opcode() == Opcode::Alloca || inst.as_call().is_some_and(|call| call.allocates()) {
        true => Origin::Private,
        false => Origin::Unknown,
    }
}

/// Whether an access may be one of `errno`: not of more bytes than an `int` has, not of an object that the program makes itself,
/// and not of a number where types tell objects apart.
pub(super) fn may_be_errno(
    access: Inst<'_>,
    base: Value<'_>,
    element: ScalarType,
    owned: &OwnedGlobals,
) -> bool {
    let base = base.underlying_object();
    let defined = base.as_global().is_some_and(|g| g.initializer().is_some());
    let is_number = element == ScalarType::F32 && type_name(access).as_deref() == Some("float");
    let elsewhere = matches!(origin(base, owned), Origin::Global | Origin::Unknown);
    element.size() <= 4 && elsewhere && !defined && !is_number
}

/// The name of the type that an access is annotated with.
fn type_name(access: Inst<'_>) -> Option<String> {
    let ty = access.metadata("tbaa")?.operands().get(1).copied()?;
    match ty.operands().first()?.kind() {
        MetadataKind::String(name) => Some(name),
        _ => None,
    }
}

/// A class for each array; arrays of different classes do not overlap. Two arrays of one base share a class. Objects are told where that
/// keeps arrays of one class apart: both may be what a pointer leads to.
pub(super) fn alias_classes(memories: &[Memory<'_>], owned: &OwnedGlobals) -> Vec<AliasClass> {
    let count = memories.len();
    let mut class: Vec<usize> = (0..count).collect();
    for a in 0..count {
        for b in 0..a {
            let apart = memories[a].local || memories[b].local;
            if !apart && may_overlap(memories[a].base, memories[b].base, owned) {
                let (from, to) = (class[a].max(class[b]), class[a].min(class[b]));
                class.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
            }
        }
    }
    let objects: Vec<_> = memories.iter().map(|m| object(m.base, owned)).collect();
    let number = |m: usize| objects.iter().position(|o| *o == objects[m]).filter(|_| objects[m].is_some());
    let alone = |m: usize| {
        !(0..count).any(|o| class[o] == class[m] && objects[o].is_some() && objects[o] != objects[m])
    };
    (0..count)
        .map(|m| AliasClass {
            class: class[m] as u32,
            object: number(m).filter(|_| !alone(m)).map(|object| object as u32),
        })
        .collect()
}

/// What an array lies in, where that is an object which [`may_overlap`] tells from all others so found.
fn object<'m>(base: Value<'m>, owned: &OwnedGlobals) -> Option<(bool, Value<'m>)> {
    if mutation::off(Rule::RowsOfObjects) {
        return None;
    }
    let base = base.underlying_object();
    match origin(base, owned) {
        Origin::Owned(owner) => Some((true, owner)),
        Origin::Private if owned.may_be_owned(base) => None,
        Origin::Private | Origin::Hidden | Origin::Global => Some((false, base)),
        Origin::Unknown => None,
    }
}

pub(super) fn may_overlap(a: Value<'_>, b: Value<'_>, owned: &OwnedGlobals) -> bool {
    // Rows are parts of what they are rows of.
    let [a, b] = match mutation::off(Rule::RowsOfObjects) {
        true => [a, b],
        false => [a, b].map(Value::underlying_object),
    };
    if a == b {
        return true;
    }
    if mutation::off(Rule::AliasClasses) {
        return false;
    }
    match (origin(a, owned), origin(b, owned)) {
        (Origin::Owned(x), Origin::Owned(y)) => x == y,
        (Origin::Owned(_), _) => owned.may_be_owned(b),
        (_, Origin::Owned(_)) => owned.may_be_owned(a),
        (Origin::Hidden, _) | (_, Origin::Hidden) => false,
        // A loaded or computed pointer may hold the address of a local array that escaped, or be derived from a
        // `noalias` argument; an argument or a global holds neither.
        (Origin::Private, Origin::Unknown) => b.as_argument().is_none(),
        (Origin::Unknown, Origin::Private) => a.as_argument().is_none(),
        (Origin::Private, _) | (_, Origin::Private) => false,
        (Origin::Global, Origin::Global) => false,
        _ => true,
    }
}
