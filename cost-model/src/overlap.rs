//! References to one array that move differently, as the compiler sees them: it compares the ranges they cover before a
//! vectorised loop, and where these meet, the loop runs one iteration at a time.

use crate::lanes::Lanes;
use crate::linear::Linear;
use crate::lower::Lowered;
use smallvec::SmallVec;

/// References to one array with equal linear part.
pub(crate) struct References<'a> {
    pub terms: &'a [(u16, f64)],
    /// Constants of all of them.
    pub offsets: &'a [f64],
    /// Of those that store.
    pub stored: &'a [f64],
    pub bytes: f64,
}

/// What two sets of references have in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Overlap {
    /// How often the ranges that the compiler compares meet, of all executions of the loop.
    pub checks_fail: f64,
    /// Whether an execution may touch an element through both, and store to it.
    pub elements_meet: bool,
}

/// Compares two sets of references in an innermost loop.
///
/// LLVM merges references that differ by constants into one range, and where the inner loop has as many iterations each
/// time, it widens ranges to all iterations of the loop around, so that one comparison serves them (`expandBounds` in its
/// LoopUtils).
pub(crate) fn overlap(program: &Lowered<'_>, innermost: usize, a: &References, b: &References) -> Overlap {
    let l = &program.loops[innermost];
    let first = if l.steady { l.depth.saturating_sub(1) } else { l.depth };
    let merged = |r: &References| {
        let (low, high) = (least(r.offsets), greatest(r.offsets));
        (low, high + r.bytes)
    };
    let checks_fail = meet(program, innermost, first, (a.terms, merged(a)), (b.terms, merged(b)));
    let alone = |offset: f64, r: &References| (offset, offset + r.bytes);
    let pairs = |stores: &References, others: &References| {
        stores.stored.iter().any(|s| {
            others.offsets.iter().any(|o| {
                let (s, o) = ((stores.terms, alone(*s, stores)), (others.terms, alone(*o, others)));
                !apart(program, innermost, s, o) && meet(program, innermost, l.depth, s, o) > 0.0
            })
        })
    };
    Overlap { checks_fail, elements_meet: checks_fail > 0.0 && (pairs(a, b) || pairs(b, a)) }
}

/// Whether no element of one set of references to an array is ever one of the other, in whatever iterations of the loops around: as the
/// bounds of these prove of some subscript, which emission asks for too. Any lane of the one may be where any of the other is.
pub(crate) fn never_meet(
    program: &Lowered<'_>,
    innermost: Option<usize>,
    lanes: Option<Lanes>,
    array: usize,
    (a, b): (&References, &References),
) -> bool {
    let strides = program.facts.strides.get(array).map_or(&[][..], |s| s);
    let strides = if strides.is_empty() { std::slice::from_ref(&a.bytes) } else { strides };
    let around: SmallVec<[usize; 8]> = program.path(innermost).collect();
    let mut between = Linear { terms: b.terms.iter().copied().collect(), constant: 0.0 };
    between.add_scaled(&Linear { terms: a.terms.iter().copied().collect(), constant: 0.0 }, -1.0);
    // By how much a subscript goes on from the first lane to the last.
    let along = |r: &References| -> SmallVec<[f64; 4]> {
        let Some(Lanes { count, depth }) = lanes else { return SmallVec::from_elem(0.0, strides.len()) };
        let steps = r.terms.iter().copied().filter(|t| usize::from(t.0) == depth).collect();
        let steps = subscripts(Linear { terms: steps, constant: 0.0 }, strides);
        steps.map(|s| s.coefficient(depth) * f64::from(count.saturating_sub(1))).collect()
    };
    let reach: SmallVec<[(f64, f64); 4]> = along(a).into_iter().zip(along(b)).collect();
    if let Some(Lanes { depth, .. }) = lanes {
        between.terms.retain(|t| usize::from(t.0) != depth);
    }
    // By how much a subscript of `b` is greater at least, and smaller, of each dimension.
    let apart: SmallVec<[_; 4]> = subscripts(between, strides)
        .zip(reach)
        .map(|(mut more, (of_a, of_b))| {
            let mut less = more.clone();
            less.scale(-1.0);
            more.constant += of_b.min(0.0) - of_a.max(0.0);
            less.constant += of_a.min(0.0) - of_b.max(0.0);
            (lowest(program, &around, more), lowest(program, &around, less))
        })
        .collect();
    let differ = |constant: f64| {
        subscripts(Linear::constant(constant), strides).zip(&apart).any(|(by, (more, less))| {
            more.is_some_and(|m| m + by.constant >= 1.0) || less.is_some_and(|l| l - by.constant >= 1.0)
        })
    };
    a.offsets.iter().all(|x| b.offsets.iter().all(|y| differ(y - x)))
}

/// The subscripts that make up an address, outermost first.
fn subscripts(mut address: Linear, strides: &[f64]) -> impl Iterator<Item = Linear> {
    strides.iter().map(move |stride| {
        let mut subscript = Linear::constant((address.constant / stride).round());
        for &(depth, c) in &address.terms {
            subscript.add_scaled(&Linear::depth(depth.into()), (c / stride).round());
        }
        address.add_scaled(&subscript, -stride);
        subscript
    })
}

/// The least value of a form over all iterations of the loops, innermost first; none: not known.
fn lowest(program: &Lowered<'_>, around: &[usize], mut form: Linear) -> Option<f64> {
    let Some((index, outer)) = around.split_first() else {
        return form.terms.is_empty().then_some(form.constant);
    };
    let l = &program.loops[*index];
    let c = form.coefficient(l.depth);
    form.add_scaled(&Linear::depth(l.depth), -c);
    if c >= 0.0 {
        return lowest(program, outer, form);
    }
    let at = |below: &Linear| {
        let mut last = form.clone();
        last.add_scaled(below, c);
        last.constant -= c;
        lowest(program, outer, last)
    };
    l.below.iter().filter_map(at).max_by(f64::total_cmp)
}

type Range<'a> = (&'a [(u16, f64)], (f64, f64));

/// How often two ranges meet that run with the loops from depth `first` on, over the iterations of those further out.
fn meet(program: &Lowered<'_>, innermost: usize, first: usize, a: Range<'_>, b: Range<'_>) -> f64 {
    let mut around: SmallVec<[usize; 8]> = program.path(Some(innermost)).collect();
    around.reverse();
    let coefficient =
        |terms: &[(u16, f64)], d| terms.iter().find(|t| usize::from(t.0) == d).map_or(0.0, |t| t.1);
    let (mut a, mut b) = (a, b);
    // The distance of `b` from `a`, over the iterations of the loops outside.
    let (mut nearest, mut farthest, mut step) = (0.0, 0.0, 0.0);
    for (depth, index) in around.into_iter().enumerate() {
        let last = (program.loops[index].trip - 1.0).max(0.0);
        if depth >= first {
            for range in [&mut a, &mut b] {
                let reach = coefficient(range.0, depth) * last;
                range.1.0 += reach.min(0.0);
                range.1.1 += reach.max(0.0);
            }
        } else {
            let c = coefficient(b.0, depth) - coefficient(a.0, depth);
            nearest += (c * last).min(0.0);
            farthest += (c * last).max(0.0);
            step += c.abs();
        }
    }
    let (low, high) = (a.1.0 - b.1.1, a.1.1 - b.1.0);
    if farthest <= low || nearest >= high {
        return 0.0;
    }
    if step == 0.0 {
        return 1.0;
    }
    let (nearest, farthest) = (nearest - step * 0.5, farthest + step * 0.5);
    ((farthest.min(high) - nearest.max(low)) / (farthest - nearest)).clamp(0.0, 1.0)
}

/// Whether the range that the compiler compares of an access begins in front of the array.
pub(crate) fn starts_before(program: &Lowered<'_>, innermost: usize, address: &Linear) -> bool {
    let l = &program.loops[innermost];
    let first = if l.steady { l.depth.saturating_sub(1) } else { l.depth };
    let around: SmallVec<[usize; 8]> = program.path(Some(innermost)).collect();
    let start: f64 = around
        .into_iter()
        .map(|index| {
            let l = &program.loops[index];
            let reach = address.coefficient(l.depth) * (l.trip - 1.0).max(0.0);
            if l.depth >= first { reach.min(0.0) } else { reach * 0.5 }
        })
        .sum();
    address.constant + start < 0.0
}

/// Whether two references never touch one element in different iterations of the loop, whatever those further out do.
fn apart(program: &Lowered<'_>, innermost: usize, a: Range<'_>, b: Range<'_>) -> bool {
    let l = &program.loops[innermost];
    let form = |r: &Range<'_>| Linear { terms: r.0.iter().copied().collect(), constant: r.1.0 };
    let mut between = form(&b);
    between.add_scaled(&form(&a), -1.0);
    let along = |r: &Range<'_>| form(r).coefficient(l.depth);
    let (step, other) = (along(&a), along(&b));
    if step == other {
        // What the loops further out make of the distance: multiples of a length, and the rest.
        let length = between.terms.iter().fold(0.0, |g, t| gcd(g, t.1.abs()));
        let rest = if length > 0.0 { between.constant.rem_euclid(length) } else { between.constant.abs() };
        if step == 0.0 {
            // One element each, all the time.
            return rest > 0.0;
        }
        let least = match (length > 0.0, rest == 0.0) {
            (true, true) => length,
            (true, false) => rest.min(length - rest),
            // In the same iteration, or so far apart always.
            (false, true) => return true,
            (false, false) => rest,
        };
        return least >= step.abs() * l.trip;
    }
    // From the last element of one to the first of the other, as far as both are known.
    let Some(extent) = &l.extent else { return false };
    let ends = |r: &Range<'_>, at_end: bool| {
        let mut form = form(r);
        let c = form.coefficient(l.depth);
        form.add_scaled(&Linear::depth(l.depth), -c);
        if at_end == (c > 0.0) {
            form.add_scaled(extent, c);
            form.constant -= c;
        }
        form
    };
    let before = |first: &Range<'_>, second: &Range<'_>| {
        let mut gap = ends(second, false);
        gap.add_scaled(&ends(first, true), -1.0);
        gap.terms.is_empty() && gap.constant >= first.1.1 - first.1.0
    };
    before(&a, &b) || before(&b, &a)
}

/// The greatest common divisor of whole numbers.
pub(crate) fn gcd(mut a: f64, mut b: f64) -> f64 {
    // Remainders of integers are instructions, those of floating-point numbers are calls.
    if let (Some(a), Some(b)) = (integer(a), integer(b)) {
        let (mut a, mut b) = (a, b);
        while a > 0 {
            (a, b) = (b % a, a);
        }
        return b as f64;
    }
    while a > 0.5 {
        (a, b) = (b % a, a);
    }
    b
}

/// The least number that is not negative and differs from another by a multiple of `period`, which is positive.
pub(crate) fn within(number: f64, period: f64) -> f64 {
    match (integer(number), integer(period)) {
        (Some(number), Some(period)) if period > 0 => (number % period) as f64,
        _ => number.rem_euclid(period),
    }
}

/// What is a whole number, not negative, and exact in both.
fn integer(number: f64) -> Option<u64> {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let whole = (0.0..=EXACT).contains(&number) && number as u64 as f64 == number;
    whole.then_some(number as u64)
}

/// The greatest number of bytes that divides a unit and all distances; where some are no whole numbers, as many as an element has.
pub(crate) fn multiple(unit: f64, distances: impl Iterator<Item = f64>, element: f64) -> f64 {
    let with = |g: f64, d: f64| if d.fract() == 0.0 { gcd(g, d.abs()) } else { element };
    distances.fold(unit, with).max(element)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::{gcd, within};

    #[test]
    fn remainders_are_those_of_floating_point_numbers() {
        let numbers = [0.0, 0.5, 1.0, 6.0, 64.0, 4096.0, 4104.5, -8.0, -0.25, 9_007_199_254_740_993.0, 1e30];
        for a in numbers {
            for b in [0.5, 1.0, 6.0, 64.0, 4096.0, 1e20] {
                assert_eq!(within(a, b), a.rem_euclid(b), "{a} {b}");
            }
        }
        assert_eq!((gcd(0.0, 12.0), gcd(18.0, 12.0), gcd(64.0, 2f64.powi(60))), (12.0, 6.0, 64.0));
    }
}
