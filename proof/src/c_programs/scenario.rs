//! Where the arrays of a run lie in one block of memory, apart or overlapping.

use super::{Element, Fitted, IntType};
use fastrand::Rng;

/// One call of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// Values of the parameters.
    pub params: Vec<i64>,
    /// Offset in the block of what each array's pointer points to; meaningless for local arrays.
    pub pointers: Vec<i64>,
    /// What is filled before the call, in order, and compared after it: first byte, elements, type.
    pub regions: Vec<(usize, usize, Element)>,
    /// Bytes of the block; its start is aligned to 64.
    pub size: usize,
    /// Whether some arrays overlap.
    pub overlapping: bool,
}

/// All runs without overlap, then each that touches several arrays with overlap, in up to `patterns` ways.
pub fn scenarios(fitted: &Fitted, seed: u64, patterns: usize) -> Vec<Scenario> {
    let mut rng = Rng::with_seed(seed ^ 0x5ce7_a210);
    let mut result: Vec<Scenario> =
        (0..fitted.runs()).filter_map(|run| scenario(fitted, run, None, &mut rng)).collect();
    for run in 0..fitted.runs() {
        let pairs = pairs(fitted, run);
        for _ in 0..patterns {
            if pairs.is_empty() {
                break;
            }
            let pair = pairs[rng.usize(0..pairs.len())];
            result.extend(scenario(fitted, run, Some(pair), &mut rng));
        }
    }
    result
}

/// Arrays that may overlap without undefined behaviour: of one type, or bytes over integers, and touched.
fn pairs(fitted: &Fitted, run: usize) -> Vec<(usize, usize)> {
    let byte = |e: Element| matches!(e, Element::Int(IntType::I8 | IntType::U8));
    let usable = |at: &usize| {
        let array = &fitted.function.arrays[*at];
        !array.layout.is_local() && !array.restrict && fitted.extents[*at].touched[run].is_some()
    };
    let all: Vec<usize> = (0..fitted.function.arrays.len()).filter(usable).collect();
    let mut result = Vec::new();
    for a in &all {
        for b in &all {
            let (x, y) = (fitted.function.arrays[*a].element, fitted.function.arrays[*b].element);
            // Bytes over floating point would show the payloads of NaNs, which no compiler keeps.
            if a != b && (x == y || (byte(y) && x.is_int())) {
                result.push((*a, *b));
            }
        }
    }
    result
}

fn scenario(fitted: &Fitted, run: usize, overlap: Option<(usize, usize)>, rng: &mut Rng) -> Option<Scenario> {
    const GAP: i64 = 64;
    let function = &fitted.function;
    let params = function.params.iter().map(|p| p.values.get(run).copied()).collect::<Option<Vec<_>>>()?;
    let mut starts = Vec::new();
    let mut end = GAP;
    let bytes = |at: usize| {
        let touched = fitted.extents[at].touched[run];
        let (low, high) = touched.unwrap_or((0, -1));
        let size = function.arrays[at].element.size() as i64;
        (low * size, (high + 1 - low) * size, size)
    };
    // The moved array may stick out on both sides; nothing else lies there, so that `restrict` is kept.
    let slack = overlap.map_or(0, |(_, moved)| (bytes(moved).1 + GAP) / 64 * 64 + 64);
    for at in 0..function.arrays.len() {
        let around = if Some(at) == overlap.map(|o| o.0) { slack } else { 0 };
        starts.push(end + around);
        if !function.arrays[at].layout.is_local() && Some(at) != overlap.map(|o| o.1) {
            end = (end + 2 * around + bytes(at).1 + GAP + 63) / 64 * 64;
        }
    }
    end += GAP;
    if let Some((fixed, moved)) = overlap {
        let ((_, length, _), (_, own, size)) = (bytes(fixed), bytes(moved));
        let elements = (length.max(own) / size).max(1);
        let delta = match rng.u32(0..6) {
            0 | 1 => 0,
            2 => 1,
            3 => -1,
            4 => rng.i64(-elements..=elements),
            _ => rng.i64(-3..=3),
        };
        // Within what was reserved around.
        let low = -(own.min(slack) / size);
        starts[moved] = starts[fixed] + delta.clamp(low, length / size) * size;
    }
    let (mut pointers, mut regions) = (Vec::new(), Vec::new());
    for (at, start) in starts.iter().enumerate() {
        let (low, length, size) = bytes(at);
        pointers.push(start - low);
        if !function.arrays[at].layout.is_local() {
            regions.push((
                usize::try_from(*start).ok()?,
                (length / size) as usize,
                function.arrays[at].element,
            ));
        }
    }
    let size = usize::try_from(end).ok()?;
    let inside = regions.iter().all(|(start, n, e)| start + n * e.size() + 32 <= size);
    inside.then_some(Scenario { params, pointers, regions, size, overlapping: overlap.is_some() })
}

/// Element number `at` of region `region`, as the bytes of its type. The same formula is in the C text of
/// [`program`](super::text::program).
pub fn fill_value(region: usize, at: usize, ty: Element) -> u64 {
    let mut h = (region as u64 * 1_000_003 + at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h ^= h >> 29;
    let small = ((h >> 16) % 41) as i64 - 15;
    match ty {
        Element::Int(t) if h.is_multiple_of(31) => (h >> 8) & (u64::MAX >> (64 - t.bits())),
        Element::Int(t) => small as u64 & (u64::MAX >> (64 - t.bits())),
        Element::F32 if h.is_multiple_of(61) => u64::from((-0.0f32).to_bits()),
        Element::F32 => u64::from((small as f32 * 0.25).to_bits()),
        Element::F64 if h.is_multiple_of(61) => (-0.0f64).to_bits(),
        Element::F64 => (small as f64 * 0.25).to_bits(),
    }
}

impl Scenario {
    /// Sets the block to what a call starts from.
    pub fn fill(&self, block: &mut [u8]) {
        block[..self.size].fill(0xa5);
        for (region, (start, count, ty)) in self.regions.iter().enumerate() {
            let size = ty.size();
            for at in 0..*count {
                let from = start + at * size;
                block[from..from + size].copy_from_slice(&fill_value(region, at, *ty).to_le_bytes()[..size]);
            }
        }
    }

    /// Makes all NaNs equal: their payloads are not specified.
    pub fn settle(&self, block: &mut [u8]) {
        for (start, count, ty) in &self.regions {
            for at in 0..*count {
                let from = start + at * ty.size();
                settle(&mut block[from..from + ty.size()], *ty);
            }
        }
    }
}

/// Makes all NaNs equal in the bytes of one value.
pub fn settle(bytes: &mut [u8], ty: Element) {
    match ty {
        Element::F32 => {
            if let Ok(b) = bytes.try_into().map(f32::from_le_bytes)
                && b.is_nan()
            {
                bytes.copy_from_slice(&f32::NAN.to_le_bytes());
            }
        }
        Element::F64 => {
            if let Ok(b) = bytes.try_into().map(f64::from_le_bytes)
                && b.is_nan()
            {
                bytes.copy_from_slice(&f64::NAN.to_le_bytes());
            }
        }
        Element::Int(_) => {}
    }
}
