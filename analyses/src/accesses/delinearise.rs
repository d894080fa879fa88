//! Several dimensions, from the strides that offsets are made of.

use std::cmp::Ordering;

use super::{Accesses, ByteAccess, Grid, Scope, Shape};
use crate::closed_forms::{Fact, Poly};

/// Rows whose lengths are factors of the offsets, constant or known only when the program runs.
#[derive(Clone, Copy, Debug)]
pub struct Delinearised;

/// More candidates for strides than this are not looked at.
const MAX_STRIDES: usize = 6;

impl Accesses for Delinearised {
    fn describe(&self, scope: &mut dyn Scope, accesses: &[ByteAccess], element: u32) -> Shape {
        let mut strides: Vec<Poly> = Vec::new();
        for factor in accesses.iter().flat_map(|a| &a.factors) {
            let Some(stride) = factor.divide_exact(i128::from(element)) else { continue };
            // Rows that are walked backwards are as long.
            let backwards = stride.terms().all(|(_, c)| c < 0);
            let stride = if backwards { stride.scale(-1) } else { Some(stride) };
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
    if strides.len() > MAX_STRIDES {
        strides = foremost(strides);
    }
    strides.sort_by(longest_first);
    // Chains of strides, longest first; each stride is a multiple of the next.
    let mut chains: Vec<Vec<&Poly>> = vec![Vec::new()];
    for s in &strides {
        for at in 0..chains.len() {
            let fits = chains[at].last().is_none_or(|last| last.divide(s).is_some_and(|(_, r)| r.is_zero()));
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
    let mut judge = |chain: &[&Poly], most: usize| {
        let shaped =
            try_chain(&mut Limited { scope, most: saved.len().saturating_add(most) }, &elements, chain);
        let conditions = scope.conditions().clone();
        let empty = shaped.is_some() && chain.iter().any(|stride| is_no_row(scope, stride));
        *scope.conditions() = saved.clone();
        let (extents, subscripts) = shaped.filter(|_| !empty)?;
        let known = || subscripts.iter().flatten().flatten();
        let cost = [
            subscripts.iter().filter(|s| s.is_none()).count(),
            spelled.iter().filter(|s| !chain.contains(s)).count(),
            known().filter(|p| p.degree() > 1).count(),
            conditions.len().saturating_sub(saved.len()),
        ];
        Some((cost, conditions, (extents, subscripts)))
    };
    // What one dimension describes with so few conditions is described with more of them by no rows that no type speaks of.
    let flat = judge(&[], usize::MAX);
    let mut best: Option<([usize; 4], Vec<Fact>, Shaped)> = None;
    for chain in chains.iter().filter(|chain| !chain.is_empty()) {
        let most = match flat {
            Some(([0, _, 0, conditions], ..)) if !spelled.iter().any(|s| chain.contains(s)) => conditions,
            _ => usize::MAX,
        };
        let Some(found) = judge(chain, most) else { continue };
        if best.as_ref().is_none_or(|(other, ..)| found.0 < *other) {
            let free = found.0 == [0; 4];
            best = Some(found);
            if free {
                break;
            }
        }
    }
    if let Some(flat) = flat
        && best.as_ref().is_none_or(|(other, ..)| flat.0 < *other)
    {
        best = Some(flat);
    }
    match best {
        Some((_, conditions, (extents, subscripts))) => {
            *scope.conditions() = conditions;
            Shape { offset, extents, subscripts }
        }
        None => Shape { offset, extents: vec![None], subscripts: vec![None; elements.len()] },
    }
}

fn longest_first(a: &Poly, b: &Poly) -> Ordering {
    let key = |p: &Poly| (p.degree(), p.terms().map(|(_, c)| c.abs()).max().unwrap_or(0));
    key(b).cmp(&key(a)).then_with(|| b.cmp(a))
}

/// As many of the strides as are looked at: before all others one of each kind, of which the rest are multiples by numbers, as in
/// `x[i + n * (j + m * 6)]`.
fn foremost(mut strides: Vec<Poly>) -> Vec<Poly> {
    strides.sort_by(longest_first);
    let mut kinds: Vec<(Poly, i128)> = Vec::new();
    for stride in strides.iter().filter(|s| s.as_constant().is_none()) {
        let factor = stride.terms().fold(0, |factor, (_, c)| gcd(factor, c));
        let Some(kind) = stride.divide_exact(factor) else { continue };
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, least)) => *least = gcd(*least, factor),
            None => kinds.push((kind, factor)),
        }
    }
    let mut foremost: Vec<Poly> = kinds.into_iter().filter_map(|(kind, least)| kind.scale(least)).collect();
    for stride in strides {
        if !foremost.contains(&stride) {
            foremost.push(stride);
        }
    }
    foremost.truncate(MAX_STRIDES);
    foremost
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.checked_abs().unwrap_or(1) } else { gcd(b, a % b) }
}

/// Whether a type that addresses step over says that rows have this length. A constant factor alone, as in `x[4 * i + k]`,
/// may as well be the distance of windows that overlap, and a value, as in `x[n - i]`, where a walk begins.
fn is_spelled(stride: &Poly, accesses: &[ByteAccess], element: u32) -> bool {
    let bytes = stride.as_constant().and_then(|c| c.checked_mul(i128::from(element)));
    bytes.is_some_and(|bytes| accesses.iter().any(|a| a.sizes.contains(&bytes)))
}

/// Whether the conditions leave rows of one element at most: they hold in no program that has rows.
fn is_no_row(scope: &mut dyn Scope, stride: &Poly) -> bool {
    if stride.as_constant().is_some() {
        return false;
    }
    let before = scope.conditions().clone();
    let most_one = stride.scale(-1).and_then(|p| p.offset(1));
    let follows = most_one.is_some_and(|goal| scope.require(0, &goal)) && *scope.conditions() == before;
    *scope.conditions() = before;
    follows
}

/// A scope in which no more conditions may be taken for granted.
struct Limited<'s> {
    scope: &'s mut dyn Scope,
    most: usize,
}

impl Scope for Limited<'_> {
    fn is_invariant(&self, p: &Poly) -> bool {
        self.scope.is_invariant(p)
    }

    fn is_affine(&mut self, p: &Poly) -> bool {
        self.scope.is_affine(p)
    }

    fn require(&mut self, access: usize, goal: &Poly) -> bool {
        self.scope.require(access, goal) && self.scope.conditions().len() <= self.most
    }

    fn stand_together(&self, a: usize, b: usize) -> bool {
        self.scope.stand_together(a, b)
    }

    fn conditions(&mut self) -> &mut Vec<Fact> {
        self.scope.conditions()
    }
}

type Shaped = (Vec<Option<Poly>>, Vec<Option<Vec<Poly>>>);

fn try_chain(scope: &mut dyn Scope, elements: &[Option<Poly>], chain: &[&Poly]) -> Option<Shaped> {
    let one = Poly::constant(1);
    let mut extents = vec![None];
    let mut sizes = Vec::new();
    for (outer, inner) in chain.iter().zip(chain.iter().skip(1).chain([&&one])) {
        let (extent, rest) = outer.divide(inner)?;
        if !rest.is_zero() || !scope.is_affine(&extent) {
            return None;
        }
        extents.push(Some(extent.clone()));
        sizes.push(extent);
    }
    let mut all: Vec<Option<Vec<Poly>>> = vec![None; elements.len()];
    for (access, element) in elements.iter().enumerate() {
        let Some(poly) = element else { continue };
        if all[access].is_some() {
            continue;
        }
        if !chain.is_empty() {
            for (other, subscripts) in side_by_side(scope, access, elements, chain, &sizes) {
                all[other] = Some(subscripts);
            }
            if all[access].is_some() {
                continue;
            }
        }
        all[access] = match split(scope, access, poly, chain, &sizes) {
            Some(subscripts) => Some(subscripts),
            // With one dimension an access that is not affine touches any element.
            None if chain.is_empty() => None,
            None => return None,
        };
    }
    Some((extents, all))
}

/// Fewer accesses than this are as cheap one by one.
const SIDE_BY_SIDE: usize = 3;

/// Subscripts of the accesses at the place of this one that differ from it by numbers, as those of an unrolled loop do: where the
/// first and the last of them are in one row, all between them are, which has not to be proved of each. Empty where that is not so.
fn side_by_side(
    scope: &mut dyn Scope,
    access: usize,
    elements: &[Option<Poly>],
    chain: &[&Poly],
    sizes: &[Poly],
) -> Vec<(usize, Vec<Poly>)> {
    let Some(first) = &elements[access] else { return Vec::new() };
    let distance = |element: &Option<Poly>| element.as_ref()?.sub(first)?.as_constant();
    let mut group: Vec<(i128, usize)> = elements
        .iter()
        .enumerate()
        .skip(access)
        .filter_map(|(other, element)| Some((distance(element)?, other)))
        .filter(|(_, other)| scope.stand_together(access, *other))
        .collect();
    group.sort_unstable();
    let [(low, least), .., (_, greatest)] = group[..] else { return Vec::new() };
    if group.len() < SIDE_BY_SIDE {
        return Vec::new();
    }
    let before = scope.conditions().clone();
    let mut of = |access: usize| split(scope, access, elements[access].as_ref()?, chain, sizes);
    let found = of(least).zip(of(greatest)).filter(|(from, to)| {
        let rows = |subscripts: &Vec<Poly>| subscripts.split_last().map(|(_, rows)| rows.to_vec());
        rows(from) == rows(to)
    });
    let all: Option<Vec<_>> = found.and_then(|(from, _)| {
        let (column, rows) = from.split_last()?;
        let between = |&(distance, other): &(i128, usize)| {
            let mut subscripts = rows.to_vec();
            subscripts.push(column.offset(distance - low)?);
            Some((other, subscripts))
        };
        group.iter().map(between).collect()
    });
    all.unwrap_or_else(|| {
        *scope.conditions() = before;
        Vec::new()
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_forms::Sym;

    /// Proves what is a number, or a counter from 0 to 3 times 16 and a number; counts how often it is asked.
    #[derive(Default)]
    struct Counted {
        asked: usize,
        apart: bool,
        conditions: Vec<Fact>,
    }

    impl Scope for Counted {
        fn is_invariant(&self, p: &Poly) -> bool {
            p.as_constant().is_some()
        }
        fn is_affine(&mut self, _: &Poly) -> bool {
            true
        }
        fn require(&mut self, _: usize, goal: &Poly) -> bool {
            self.asked += 1;
            let ends = [0, 3].map(|i| {
                let slope =
                    goal.offset(-goal.constant_term()).map_or(0, |p| p.terms().map(|(_, c)| c).sum::<i128>());
                goal.constant_term() + slope * i
            });
            ends.iter().all(|end| *end >= 0)
        }
        fn stand_together(&self, _: usize, _: usize) -> bool {
            !self.apart
        }
        fn conditions(&mut self) -> &mut Vec<Fact> {
            &mut self.conditions
        }
    }

    #[test]
    fn multiples_of_one_stride_leave_room_for_others() {
        let [n, m] = [Sym(0), Sym(1)].map(Poly::symbol);
        let plane = n.mul(&m).expect("small numbers");
        let scaled = |p: &Poly, by| p.scale(by).expect("small numbers");
        let mut strides: Vec<Poly> = (2..9).map(|by| scaled(&plane, 2 * by)).collect();
        strides.extend([n.clone(), Poly::constant(4)]);
        let found = foremost(strides);
        assert_eq!(found.len(), MAX_STRIDES);
        assert_eq!(found[..3], [scaled(&plane, 2), n, scaled(&plane, 16)]);
    }

    /// `x[64 * j + 16 * i + k]` of bytes, for these k.
    fn described(scope: &mut Counted, columns: &[i128]) -> Shape {
        let [i, j] = [Sym(0), Sym(1)].map(Poly::symbol);
        let element = |k: &i128| {
            let sum = j.scale(64)?.add(&i.scale(16)?)?.offset(*k)?;
            Some(ByteAccess {
                offset: Some(sum),
                factors: vec![Poly::constant(64), Poly::constant(16)],
                sizes: vec![64, 16],
            })
        };
        let accesses: Vec<ByteAccess> = columns.iter().map(|k| element(k).expect("small numbers")).collect();
        Delinearised.describe(scope, &accesses, 1)
    }

    #[test]
    fn accesses_side_by_side_are_described_as_each_is_alone() {
        // In one row; beyond its end; in front of it; each of them with others between.
        for columns in
            [(0..16).collect::<Vec<i128>>(), vec![14, 15, 16, 17], vec![-1, 0, 1], vec![3, 19, 4, 15, 70, 5]]
        {
            let mut apart = Counted { apart: true, ..Counted::default() };
            let mut together = Counted::default();
            let [one_by_one, at_once] = [&mut apart, &mut together].map(|scope| described(scope, &columns));
            assert_eq!(one_by_one.extents, at_once.extents, "{columns:?}");
            assert_eq!(one_by_one.subscripts, at_once.subscripts, "{columns:?}");
        }
        let (mut apart, mut together) = (Counted { apart: true, ..Counted::default() }, Counted::default());
        let columns: Vec<i128> = (0..16).collect();
        described(&mut apart, &columns);
        described(&mut together, &columns);
        assert!(4 * together.asked < apart.asked, "{} of {}", together.asked, apart.asked);
    }
}
