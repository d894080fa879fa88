//! Elements at a distance that only the program knows, as descriptors of arrays say it: those of a Fortran dummy `a(:)` or pointer.
//!
//! Nearly always the first dimension's are neighbours. They are taken for such, which is a need.

use std::rc::Rc;

use super::context::{Context, Place};
use super::ratios::replaced;
use crate::llvm::{Inst, Opcode, Value};
use crate::mutation::{self, Rule};
use analyses::accesses::ByteAccess;
use analyses::closed_forms::{Meaning, Need, Poly, Sym};

/// Where flang's descriptors (`CFI_cdesc_t`) have how far elements of the first dimension are apart, in bytes behind the pointer to the
/// first element.
const FIRST_DISTANCE: i128 = 40;

/// The accesses of one array as if elements were as far apart as they are long, and takes for granted that they are; `None` where no
/// descriptor says how far apart they are.
pub(super) fn adjoined<'m>(
    cx: &mut Context<'_, '_, 'm>,
    base: Value<'m>,
    accesses: &[ByteAccess],
    element: u32,
) -> Option<Vec<ByteAccess>> {
    let distance = first_distance(cx, base, accesses)?;
    let size = Poly::constant(element.into());
    if !mutation::off(Rule::Neighbours) {
        let needed = Poly::symbol(distance).sub(&size)?;
        if !cx.need(&Place::default(), &Rc::new(Need { poly: needed, low: 0, high: 0 })) {
            return None;
        }
    }
    let adjoin = |access: &ByteAccess| ByteAccess {
        offset: access.offset.as_ref().and_then(|p| replaced(p, distance, &size)),
        factors: access.factors.iter().filter_map(|p| replaced(p, distance, &size)).collect(),
        sizes: access.sizes.clone(),
    };
    Some(accesses.iter().map(adjoin).collect())
}

/// The symbol of a value that was loaded from the descriptor that the base was loaded from.
fn first_distance<'m>(cx: &mut Context<'_, '_, 'm>, base: Value<'m>, accesses: &[ByteAccess]) -> Option<Sym> {
    let pointer = loaded(base)?.pointer()?;
    let descriptor = cx.values.address(pointer)?;
    let mut symbols: Vec<Sym> = accesses.iter().flat_map(|a| &a.offset).flat_map(Poly::symbols).collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols.into_iter().find(|&symbol| {
        // In bytes.
        if !accesses.iter().any(|a| a.factors.contains(&Poly::symbol(symbol))) {
            return false;
        }
        let Meaning::Value(v) = cx.values.symbols().meaning(symbol) else { return false };
        let pointer = loaded(v).filter(|_| cx.is_outside(v)).and_then(|load| load.pointer());
        let place = pointer.and_then(|p| cx.values.address(p)).filter(|place| place.base == descriptor.base);
        let behind = place.and_then(|place| place.offset.poly.sub(&descriptor.offset.poly)?.as_constant());
        behind == Some(FIRST_DISTANCE)
    })
}

/// The load that a value comes from, be it that it is executed under a condition, and nothing is read where that does not hold.
fn loaded(v: Value<'_>) -> Option<Inst<'_>> {
    let mut at = v;
    loop {
        let inst = at.as_inst()?;
        at = match inst.opcode() {
            Opcode::Load => return Some(inst),
            Opcode::Freeze => inst.operand(0)?,
            Opcode::Phi => {
                let mut known =
                    inst.incoming().into_iter().map(|(v, _)| v).filter(|v| !v.is_undef() && !v.is_null());
                known.next().filter(|_| known.next().is_none())?
            }
            _ => return None,
        };
    }
}
