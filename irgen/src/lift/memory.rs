//! Which element of which array each load and store touches.

use std::rc::Rc;

use loop_tree::{Affine, ScalarType};
use rustc_hash::FxHashMap;

use super::context::{Context, Place};
use super::neighbours::adjoined;
use super::numbered::Number;
use super::ratios::divided;
use crate::llvm::{Inst, Opcode, Type, TypeKind, Value};
use analyses::accesses::{ByteAccess, Scope};
use analyses::closed_forms::{Address, Fact, Meaning, Need, Poly};

/// An array in memory: one base pointer, read and written as one type.
#[derive(Clone, Debug)]
pub(super) struct Memory<'m> {
    pub(super) base: Value<'m>,
    pub(super) element: ScalarType,
    /// Bytes from the base to the element with all subscripts zero.
    pub(super) offset: i64,
    /// The outermost is unknown.
    pub(super) extents: Vec<Option<Affine>>,
    /// The least alignment that an access promises, in bytes.
    pub(super) alignment: u32,
    pub(super) written: bool,
    /// Nobody sees what the region leaves in it, and the region finds nothing in it.
    pub(super) local: bool,
}

/// What a load or store touches.
#[derive(Clone, Debug)]
pub(super) struct Touch<'m> {
    /// Place in the list of memories.
    pub(super) memory: usize,
    pub(super) subscripts: Option<Vec<Affine>>,
    /// The same, for proofs.
    pub(super) polys: Option<Vec<Poly>>,
    /// Without subscripts, what the statement computes the element's number from.
    pub(super) number: Option<Rc<Number<'m>>>,
    pub(super) ty: ScalarType,
}

/// A load or store and where it stands.
pub(super) struct Site<'m> {
    pub(super) inst: Inst<'m>,
    pub(super) place: Place,
}

/// Why an access ends the region.
pub(super) struct Unknown<'m> {
    pub(super) inst: Inst<'m>,
    pub(super) message: &'static str,
}

/// The type of a scalar, where statements know it.
pub(super) fn scalar_type(ty: Type<'_>) -> Option<ScalarType> {
    Some(match ty.kind() {
        TypeKind::Integer(1) => ScalarType::I1,
        TypeKind::Integer(8) => ScalarType::I8,
        TypeKind::Integer(16) => ScalarType::I16,
        TypeKind::Integer(32) => ScalarType::I32,
        TypeKind::Integer(64) => ScalarType::I64,
        TypeKind::Float => ScalarType::F32,
        TypeKind::Double => ScalarType::F64,
        _ => return None,
    })
}

const UNKNOWN_ADDRESS: &str = "an address that depends on a pointer computed inside";

struct Raw {
    site: usize,
    access: ByteAccess,
    ty: ScalarType,
}

/// Describes all accesses of a region; refuses only accesses without a base that is known before the region.
pub(super) fn describe<'m>(
    cx: &mut Context<'_, '_, 'm>,
    sites: &[Site<'m>],
) -> Result<(Vec<Memory<'m>>, FxHashMap<Inst<'m>, Touch<'m>>), Unknown<'m>> {
    let mut groups: Vec<((Value<'m>, ScalarType), Vec<Raw>)> = Vec::new();
    // What is needed for sure where these facts hold: accesses side by side share most of it.
    let (mut facts, mut granted): (&[Fact], Vec<Rc<Need>>) = (&[], Vec::new());
    for (at, site) in sites.iter().enumerate() {
        if !site.place.facts.starts_with(facts) {
            granted.clear();
        }
        facts = &site.place.facts;
        let unknown = |message| Unknown { inst: site.inst, message };
        let accessed = site.inst.accessed_type();
        let ty = accessed.and_then(scalar_type).filter(|t| *t != ScalarType::I1);
        let ty = ty.ok_or(unknown(match accessed.map(|t| t.kind()) {
            Some(TypeKind::Pointer(_)) => "a pointer is loaded or stored in the loops",
            Some(TypeKind::Vector(..)) => "a vector is loaded or stored in the loops",
            _ => "an access of a type that is not described",
        }))?;
        let pointer = site.inst.pointer().ok_or(unknown(UNKNOWN_ADDRESS))?;
        let (base, access) = match address(cx, pointer).filter(|found| cx.is_outside(found.base)) {
            Some(found) => {
                let base = found.base;
                (base, bytes(cx, &site.place, found, &mut granted))
            }
            None => {
                let base = Number::base(cx, pointer).ok_or(unknown(UNKNOWN_ADDRESS))?;
                (base, ByteAccess { offset: None, factors: Vec::new(), sizes: Vec::new() })
            }
        };
        let raw = Raw { site: at, access, ty };
        let key = (base, ty);
        match groups.iter_mut().find(|g| g.0 == key) {
            Some(g) => g.1.push(raw),
            None => groups.push((key, vec![raw])),
        }
    }
    let (mut memories, mut touches) = (Vec::new(), FxHashMap::default());
    for ((base, element), raws) in groups {
        let memory = memories.len();
        let insts = || raws.iter().map(|r| sites[r.site].inst);
        let (base, (offset, extents, subscripts)) = best(cx, sites, base, &raws, element);
        let alignment = insts().filter_map(|i| i.alignment()).min().unwrap_or(1).max(1);
        let written = insts().any(|i| i.opcode() == Opcode::Store);
        for (raw, subscripts) in raws.iter().zip(subscripts) {
            let (polys, subscripts) = subscripts.unzip();
            let inst = sites[raw.site].inst;
            let place = &sites[raw.site].place;
            let number_of = |pointer| {
                Number::of(cx, base, pointer, offset, element).filter(|number| number.is_of_data(cx, place))
            };
            let number = inst.pointer().filter(|_| subscripts.is_none()).and_then(number_of).map(Rc::new);
            touches.insert(inst, Touch { memory, subscripts, polys, number, ty: raw.ty });
        }
        memories.push(Memory { base, element, offset, extents, alignment, written, local: false });
    }
    Ok((memories, touches))
}

/// A pointer, from where it is known in front of the region: a row that a loop around walks to by a step that only the program
/// knows is an array of its own.
fn address<'m>(cx: &mut Context<'_, '_, 'm>, pointer: Value<'m>) -> Option<Address<Value<'m>>> {
    let found = cx.values.address(pointer)?;
    let walked = |cx: &Context<'_, '_, 'm>, p: &Poly| {
        p.terms().any(|(monomial, _)| {
            monomial.degree() > 1
                && monomial.symbols().any(|s| match cx.values.symbols().meaning(s) {
                    Meaning::Iteration(l) => cx.is_around(l),
                    Meaning::Value(_) | Meaning::Quotient(_) => false,
                })
        })
    };
    if !walked(cx, &found.offset.poly) {
        return Some(found);
    }
    let from_row = row(cx, pointer).and_then(|row| cx.values.address_from(row, pointer));
    Some(from_row.filter(|a| !walked(cx, &a.offset.poly)).unwrap_or(found))
}

/// The pointer, known in front of the region, from which arithmetic and walks of the region itself lead to another.
fn row<'m>(cx: &Context<'_, '_, 'm>, pointer: Value<'m>) -> Option<Value<'m>> {
    let mut at = pointer;
    while !cx.is_outside(at) {
        let inst = at.as_inst()?;
        at = match (inst.opcode(), &inst.incoming()[..]) {
            (Opcode::Gep, _) => inst.operand(0)?,
            (Opcode::Phi, [(only, _)]) => *only,
            (Opcode::Phi, _) => cx.values.cfg.recurrence(inst)?.1,
            _ => return None,
        };
    }
    Some(at)
}

/// The bytes of an access at an address, where what that needs is known or may be taken for granted. `granted`: what was so far.
fn bytes<'m>(
    cx: &mut Context<'_, '_, 'm>,
    place: &Place,
    found: Address<Value<'m>>,
    granted: &mut Vec<Rc<Need>>,
) -> ByteAccess {
    let exact = found.offset.needs.iter().all(|need| {
        let known = granted.contains(need);
        let granted_now = !known && cx.need(place, need);
        granted.extend(granted_now.then(|| need.clone()));
        known || granted_now
    });
    let offset = exact.then_some(found.offset.poly).filter(|p| !cx.is_data(p));
    ByteAccess { offset, factors: found.offset.factors, sizes: found.sizes }
}

/// The array's accesses from its base, or from the row that all of them go through, where more of them are described from there, or
/// under fewer conditions: how far the row is behind the base need be no part of its subscripts. Else with strides as multiples of others,
/// and with elements as neighbours.
fn best<'m>(
    cx: &mut Context<'_, '_, 'm>,
    sites: &[Site<'m>],
    base: Value<'m>,
    raws: &[Raw],
    element: ScalarType,
) -> (Value<'m>, Described) {
    let before = cx.assumed();
    let cost = |cx: &Context<'_, '_, 'm>, found: &Described| {
        (found.2.iter().filter(|s| s.is_none()).count(), cx.assumptions.len())
    };
    let from_base = subscripts(cx, sites, raws, element);
    let first = cost(cx, &from_base);
    let pointer = |raw: &Raw| sites[raw.site].inst.pointer();
    let through = raws.first().and_then(pointer).and_then(|p| row(cx, p)).filter(|row| *row != base);
    let with_base = cx.assumed();
    if let Some(through) = through.filter(|_| first > (0, before.0.len())) {
        cx.restore(before.clone());
        let mut from_row = Vec::new();
        for raw in raws {
            let found = pointer(raw).filter(|p| row(cx, *p) == Some(through));
            let Some(found) = found.and_then(|p| cx.values.address_from(through, p)) else { break };
            let access = bytes(cx, &sites[raw.site].place, found, &mut Vec::new());
            from_row.push(Raw { site: raw.site, access, ty: raw.ty });
        }
        if from_row.len() == raws.len() {
            let found = subscripts(cx, sites, &from_row, element);
            if cost(cx, &found) < first {
                return (through, found);
            }
        }
    }
    let accesses: Vec<ByteAccess> = raws.iter().map(|r| r.access.clone()).collect();
    for adjoin in [false, true].into_iter().filter(|_| first.0 > 0) {
        cx.restore(before.clone());
        let divided = divided(cx, &accesses);
        let other = match adjoin {
            false => divided,
            true => adjoined(cx, base, &divided.unwrap_or_else(|| accesses.clone()), element.size()),
        };
        let Some(other) = other else { continue };
        let other = other.into_iter().zip(raws).map(|(access, raw)| Raw { access, ..*raw });
        let found = subscripts(cx, sites, &other.collect::<Vec<_>>(), element);
        if cost(cx, &found) < first {
            return (base, found);
        }
    }
    cx.restore(with_base);
    (base, from_base)
}

/// The array's accesses, as the analysis of accesses sees them.
struct ArrayScope<'c, 'v, 'a, 'm> {
    cx: &'c mut Context<'v, 'a, 'm>,
    places: Vec<&'c Place>,
}

impl Scope for ArrayScope<'_, '_, '_, '_> {
    fn is_invariant(&self, p: &Poly) -> bool {
        self.cx.is_invariant_poly(p)
    }

    fn is_affine(&mut self, p: &Poly) -> bool {
        self.cx.is_affine(p)
    }

    fn require(&mut self, access: usize, goal: &Poly) -> bool {
        self.places.get(access).is_some_and(|place| self.cx.require(place, goal))
    }

    fn stand_together(&self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|access| self.places.get(access));
        a.zip(b).is_some_and(|(a, b)| a.loops == b.loops && a.facts == b.facts)
    }

    fn conditions(&mut self) -> &mut Vec<Fact> {
        &mut self.cx.assumptions
    }
}

/// Subscripts, to prove with and to hand out.
type Subscripts = (Vec<Poly>, Vec<Affine>);

type Described = (i64, Vec<Option<Affine>>, Vec<Option<Subscripts>>);

/// Byte offset, extents, and the subscripts of each access.
fn subscripts<'m>(
    cx: &mut Context<'_, '_, 'm>,
    sites: &[Site<'m>],
    raws: &[Raw],
    element: ScalarType,
) -> Described {
    let accesses: Vec<ByteAccess> = raws.iter().map(|r| r.access.clone()).collect();
    let analysis = &cx.values.options.accesses;
    let places = raws.iter().map(|r| &sites[r.site].place).collect();
    let saved = cx.assumptions.clone();
    let shape = analysis.describe(&mut ArrayScope { cx: &mut *cx, places }, &accesses, element.size());
    let mut extents = Vec::new();
    for extent in &shape.extents {
        extents.push(extent.as_ref().and_then(|e| cx.affine(e)));
    }
    // An answer that does not fit the question is none.
    let fits = shape.subscripts.len() == raws.len()
        && extents.iter().zip(&shape.extents).all(|(a, e)| a.is_some() == e.is_some())
        && extents.first().is_some_and(|outermost| outermost.is_none())
        && extents.iter().skip(1).all(|inner| inner.is_some())
        && shape.subscripts.iter().flatten().all(|s| s.len() == extents.len());
    if !fits {
        cx.assumptions = saved;
        return (0, vec![None], raws.iter().map(|_| None).collect());
    }
    let mut affine = |polys: Vec<Poly>| {
        let all: Option<Vec<Affine>> = polys.iter().map(|p| cx.affine(p)).collect();
        Some((polys, all?))
    };
    let subscripts = shape.subscripts.into_iter().map(|s| s.and_then(&mut affine)).collect();
    (shape.offset, extents, subscripts)
}
