//! Which element of which array each load and store touches.

use loop_tree::{Affine, ScalarType};
use rustc_hash::FxHashMap;

use super::context::{Context, Place};
use crate::llvm::{Inst, Opcode, Type, TypeKind, Value};
use analyses::closed_forms::{Fact, Poly};

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
}

/// What a load or store touches.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    /// Place in the list of memories.
    pub(super) memory: usize,
    pub(super) subscripts: Option<Vec<Affine>>,
    /// The same, for proofs.
    pub(super) polys: Option<Vec<Poly>>,
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

struct Raw {
    site: usize,
    /// In bytes; `None` where it is not exact.
    offset: Option<Poly>,
    factors: Vec<Poly>,
    ty: ScalarType,
}

/// Describes all accesses of a region; refuses only accesses without a base that is known before the region.
pub(super) fn describe<'m>(
    cx: &mut Context<'_, '_, 'm>,
    sites: &[Site<'m>],
) -> Result<(Vec<Memory<'m>>, FxHashMap<Inst<'m>, Touch>), Unknown<'m>> {
    let mut groups: Vec<((Value<'m>, ScalarType), Vec<Raw>)> = Vec::new();
    for (at, site) in sites.iter().enumerate() {
        let unknown = |message| Unknown { inst: site.inst, message };
        let ty = site.inst.accessed_type().and_then(scalar_type).filter(|t| *t != ScalarType::I1);
        let ty = ty.ok_or(unknown("an access of a type that statements do not have"))?;
        let pointer = site.inst.pointer().and_then(|p| cx.values.address(p));
        let pointer = pointer.ok_or(unknown("an address that is not understood"))?;
        if !cx.is_outside(pointer.base) {
            return Err(unknown("an address that depends on a pointer computed inside"));
        }
        let exact = pointer.offset.needs.iter().all(|n| cx.need(&site.place, n));
        let raw = Raw {
            site: at,
            offset: exact.then_some(pointer.offset.poly),
            factors: pointer.offset.factors,
            ty,
        };
        let key = (pointer.base, ty);
        match groups.iter_mut().find(|g| g.0 == key) {
            Some(g) => g.1.push(raw),
            None => groups.push((key, vec![raw])),
        }
    }
    let (mut memories, mut touches) = (Vec::new(), FxHashMap::default());
    for ((base, element), raws) in groups {
        let number = memories.len();
        let insts = || raws.iter().map(|r| sites[r.site].inst);
        let (offset, extents, subscripts) = subscripts(cx, sites, &raws, element);
        let alignment = insts().filter_map(|i| i.alignment()).min().unwrap_or(1).max(1);
        let written = insts().any(|i| i.opcode() == Opcode::Store);
        for (raw, subscripts) in raws.iter().zip(subscripts) {
            let (polys, subscripts) = subscripts.unzip();
            touches.insert(sites[raw.site].inst, Touch { memory: number, subscripts, polys, ty: raw.ty });
        }
        memories.push(Memory { base, element, offset, extents, alignment, written });
    }
    Ok((memories, touches))
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
    let size = i128::from(element.size());
    // Accesses that all have the same remainder lie on one grid of elements.
    let mut remainder = None;
    let mut polys: Vec<Option<Poly>> = Vec::new();
    for raw in raws {
        let poly = raw.offset.as_ref().and_then(|p| {
            let r = p.constant_term().rem_euclid(size);
            let on_grid = *remainder.get_or_insert(r) == r;
            if on_grid { p.offset(-r)?.divide_exact(size) } else { None }
        });
        polys.push(poly);
    }
    let offset = i64::try_from(remainder.unwrap_or(0)).unwrap_or(0);
    let mut strides: Vec<Poly> = Vec::new();
    for factor in raws.iter().flat_map(|r| &r.factors) {
        let Some(stride) = factor.divide_exact(size) else { continue };
        let stride =
            if stride.constant_term() < 0 && stride.degree() == 0 { stride.scale(-1) } else { Some(stride) };
        if let Some(stride) = stride
            && stride.as_constant().is_none_or(|c| c > 1)
            && cx.is_invariant_poly(&stride)
            && !strides.contains(&stride)
        {
            strides.push(stride);
        }
    }
    strides.sort_by(|a, b| {
        let key = |p: &Poly| (p.degree(), p.0.values().map(|c| c.abs()).max().unwrap_or(0));
        key(b).cmp(&key(a)).then_with(|| b.cmp(a))
    });
    strides.truncate(6);
    // Chains of strides, longest first; each stride is a multiple of the next.
    let mut chains: Vec<Vec<&Poly>> = vec![Vec::new()];
    for s in &strides {
        for at in 0..chains.len() {
            let fits =
                chains[at].last().is_none_or(|last| last.divide(s).is_some_and(|(_, r)| r.0.is_empty()));
            if fits {
                let mut longer = chains[at].clone();
                longer.push(s);
                chains.push(longer);
            }
        }
    }
    chains.sort_by_key(|c| std::cmp::Reverse(c.len()));
    // The longest chain that describes the most accesses and needs the fewest conditions.
    let saved = cx.assumptions.clone();
    let mut best: Option<((usize, usize), Vec<Fact>, Shaped)> = None;
    for chain in &chains {
        if let Some(shaped) = try_chain(cx, sites, raws, &polys, chain) {
            let mine = std::mem::replace(&mut cx.assumptions, saved.clone());
            let cost = (shaped.1.iter().filter(|s| s.is_none()).count(), mine.len() - saved.len());
            if best.as_ref().is_none_or(|(other, ..)| cost < *other) {
                best = Some((cost, mine, shaped));
                if cost == (0, 0) {
                    break;
                }
            }
        }
        cx.assumptions.clone_from(&saved);
    }
    if let Some((_, assumptions, (extents, all))) = best {
        cx.assumptions = assumptions;
        return (offset, extents, all);
    }
    (offset, vec![None], raws.iter().map(|_| None).collect())
}

type Shaped = (Vec<Option<Affine>>, Vec<Option<Subscripts>>);

fn try_chain<'m>(
    cx: &mut Context<'_, '_, 'm>,
    sites: &[Site<'m>],
    raws: &[Raw],
    polys: &[Option<Poly>],
    chain: &[&Poly],
) -> Option<Shaped> {
    let one = Poly::constant(1);
    let mut extents = vec![None];
    let mut sizes = Vec::new();
    for (outer, inner) in chain.iter().zip(chain.iter().skip(1).chain([&&one])) {
        let (extent, rest) = outer.divide(inner)?;
        if !rest.0.is_empty() {
            return None;
        }
        extents.push(Some(cx.affine(&extent)?));
        sizes.push(extent);
    }
    let mut all = Vec::new();
    for (raw, poly) in raws.iter().zip(polys) {
        let place = &sites[raw.site].place;
        let found = match poly {
            None => None,
            Some(p) => match split(cx, place, p, chain, &sizes) {
                Some(subs) => Some(subs),
                // With one dimension an access that is not affine touches any element.
                None if chain.is_empty() => None,
                None => return None,
            },
        };
        all.push(found);
    }
    Some((extents, all))
}

/// Subscripts by division by the strides, each but the first proved to be within its extent.
fn split<'m>(
    cx: &mut Context<'_, '_, 'm>,
    place: &Place,
    poly: &Poly,
    chain: &[&Poly],
    sizes: &[Poly],
) -> Option<Subscripts> {
    let mut rest = poly.clone();
    let mut result: Vec<Poly> = Vec::new();
    for (level, stride) in chain.iter().enumerate() {
        let (quotient, remainder) = rest.divide(stride)?;
        if level + 1 < chain.len() {
            if level > 0 {
                bounded(cx, place, &quotient, &sizes[level - 1])?;
            }
            result.push(quotient);
            rest = remainder;
            continue;
        }
        // The innermost division decides the constants; a neighbour may be the one in bounds.
        let mut fits = None;
        for shift in [0i128, -1, 1] {
            let (Some(q), Some(r)) = (quotient.offset(shift), remainder.add_scaled(stride, -shift)) else {
                continue;
            };
            let saved = cx.assumptions.len();
            let outer = level == 0 || bounded(cx, place, &q, &sizes[level - 1]).is_some();
            if outer && bounded(cx, place, &r, &sizes[level]).is_some() {
                fits = Some((q, r));
                break;
            }
            cx.assumptions.truncate(saved);
        }
        let (q, r) = fits?;
        result.push(q);
        rest = r;
    }
    result.push(rest);
    let affine: Option<Vec<Affine>> = result.iter().map(|p| cx.affine(p)).collect();
    Some((result, affine?))
}

fn bounded(cx: &mut Context<'_, '_, '_>, place: &Place, subscript: &Poly, extent: &Poly) -> Option<()> {
    let above = extent.sub(subscript)?.offset(-1)?;
    (cx.require(place, subscript) && cx.require(place, &above)).then_some(())
}
