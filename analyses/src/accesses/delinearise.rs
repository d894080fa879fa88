//! Several dimensions, from the strides that offsets are made of.

use super::{Accesses, ByteAccess, Grid, Scope, Shape};
use crate::closed_forms::{Fact, Poly};

/// Rows whose lengths are factors of the offsets, constant or known only when the program runs.
#[derive(Clone, Copy, Debug)]
pub struct Delinearised;

/// More candidates for strides than this are not looked at.
const MAX_STRIDES: usize = 6;

impl Accesses for Delinearised {
    fn name(&self) -> &'static str {
        "delinearised"
    }

    fn describe(&self, scope: &mut dyn Scope, accesses: &[ByteAccess], element: u32) -> Shape {
        let mut strides: Vec<Poly> = Vec::new();
        for factor in accesses.iter().flat_map(|a| &a.factors) {
            let Some(stride) = factor.divide_exact(i128::from(element)) else { continue };
            let stride = if stride.constant_term() < 0 && stride.degree() == 0 {
                stride.scale(-1)
            } else {
                Some(stride)
            };
            if let Some(stride) = stride
                && stride.as_constant().is_none_or(|c| c > 1)
                && scope.is_invariant(&stride)
                && !strides.contains(&stride)
            {
                strides.push(stride);
            }
        }
        by_strides(scope, accesses, element, strides)
    }
}

/// The best choice of rows among candidates for their lengths, in elements.
pub(super) fn by_strides(
    scope: &mut dyn Scope,
    accesses: &[ByteAccess],
    element: u32,
    mut strides: Vec<Poly>,
) -> Shape {
    let Grid { remainder: offset, elements } = Grid::new(accesses, element);
    strides.sort_by(|a, b| {
        let key = |p: &Poly| (p.degree(), p.0.values().map(|c| c.abs()).max().unwrap_or(0));
        key(b).cmp(&key(a)).then_with(|| b.cmp(a))
    });
    strides.truncate(MAX_STRIDES);
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
    // Describes the most accesses; has the most rows that types speak of, as conditions such as `n <= 300` for
    // `double a[300][300]` hold in a program that means what it says; has the fewest products in subscripts, of which nothing is
    // known but that they are numbers; needs the fewest conditions; is the longest.
    let spelled: Vec<&Poly> = strides.iter().filter(|s| is_spelled(s, accesses, element)).collect();
    let saved = scope.conditions().clone();
    let mut best: Option<([usize; 4], Vec<Fact>, Shaped)> = None;
    for chain in &chains {
        if let Some(shaped) = try_chain(scope, &elements, chain) {
            let mine = std::mem::replace(scope.conditions(), saved.clone());
            let subscripts = || shaped.1.iter().flatten().flatten();
            let cost = [
                shaped.1.iter().filter(|s| s.is_none()).count(),
                spelled.iter().filter(|s| !chain.contains(s)).count(),
                subscripts().filter(|p| p.degree() > 1).count(),
                mine.len().saturating_sub(saved.len()),
            ];
            if best.as_ref().is_none_or(|(other, ..)| cost < *other) {
                best = Some((cost, mine, shaped));
                if cost == [0; 4] {
                    break;
                }
            }
        }
        scope.conditions().clone_from(&saved);
    }
    match best {
        Some((_, conditions, (extents, subscripts))) => {
            *scope.conditions() = conditions;
            Shape { offset, extents, subscripts }
        }
        None => Shape { offset, extents: vec![None], subscripts: vec![None; elements.len()] },
    }
}

/// Whether a type that addresses step over says that rows have this length. A constant factor alone, as in `x[4 * i + k]`,
/// may as well be the distance of windows that overlap, and a value, as in `x[n - i]`, where a walk begins.
fn is_spelled(stride: &Poly, accesses: &[ByteAccess], element: u32) -> bool {
    let bytes = stride.as_constant().and_then(|c| c.checked_mul(i128::from(element)));
    bytes.is_some_and(|bytes| accesses.iter().any(|a| a.sizes.contains(&bytes)))
}

type Shaped = (Vec<Option<Poly>>, Vec<Option<Vec<Poly>>>);

fn try_chain(scope: &mut dyn Scope, elements: &[Option<Poly>], chain: &[&Poly]) -> Option<Shaped> {
    let one = Poly::constant(1);
    let mut extents = vec![None];
    let mut sizes = Vec::new();
    for (outer, inner) in chain.iter().zip(chain.iter().skip(1).chain([&&one])) {
        let (extent, rest) = outer.divide(inner)?;
        if !rest.0.is_empty() || !scope.is_affine(&extent) {
            return None;
        }
        extents.push(Some(extent.clone()));
        sizes.push(extent);
    }
    let mut all = Vec::new();
    for (access, element) in elements.iter().enumerate() {
        all.push(match element {
            None => None,
            Some(p) => match split(scope, access, p, chain, &sizes) {
                Some(subscripts) => Some(subscripts),
                // With one dimension an access that is not affine touches any element.
                None if chain.is_empty() => None,
                None => return None,
            },
        });
    }
    Some((extents, all))
}

/// Subscripts by division by the strides, each but the first proved to be within its extent.
fn split(
    scope: &mut dyn Scope,
    access: usize,
    poly: &Poly,
    chain: &[&Poly],
    sizes: &[Poly],
) -> Option<Vec<Poly>> {
    let result = split_below(scope, access, poly.clone(), chain, sizes, None)?;
    result.iter().all(|p| scope.is_affine(p)).then_some(result)
}

/// The subscripts from a level on, of which the first is proved to be less than `extent`.
fn split_below(
    scope: &mut dyn Scope,
    access: usize,
    rest: Poly,
    chain: &[&Poly],
    sizes: &[Poly],
    extent: Option<&Poly>,
) -> Option<Vec<Poly>> {
    let Some((stride, inner)) = chain.split_first() else {
        extent.map_or(Some(()), |extent| bounded(scope, access, &rest, extent))?;
        return Some(vec![rest]);
    };
    let (quotient, remainder) = rest.divide(stride)?;
    // Division leaves the constants open; a neighbour may be the one in bounds: a row walked backwards, from `n - 1` on, is
    // not the next one at `-1`, though that is in bounds where `n <= 0`.
    let before = scope.conditions().clone();
    let mut fits: Option<(Vec<Fact>, Vec<Poly>)> = None;
    for shift in [0i128, -1, 1] {
        let (Some(q), Some(r)) = (quotient.offset(shift), remainder.add_scaled(stride, -shift)) else {
            continue;
        };
        let found = extent
            .map_or(Some(()), |extent| bounded(scope, access, &q, extent))
            .and_then(|()| split_below(scope, access, r, inner, sizes.get(1..)?, sizes.first()));
        let needed = std::mem::replace(scope.conditions(), before.clone());
        if let Some(mut found) = found
            && fits.as_ref().is_none_or(|(other, ..)| needed.len() < other.len())
        {
            let enough = needed.len() == before.len();
            found.insert(0, q);
            fits = Some((needed, found));
            if enough {
                break;
            }
        }
    }
    let (needed, found) = fits?;
    *scope.conditions() = needed;
    Some(found)
}

fn bounded(scope: &mut dyn Scope, access: usize, subscript: &Poly, extent: &Poly) -> Option<()> {
    let above = extent.sub(subscript)?.offset(-1)?;
    (scope.require(access, subscript) && scope.require(access, &above)).then_some(())
}
