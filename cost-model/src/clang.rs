//! The model of what clang makes of a loop, at `-O3`: decided once, as a [`Plan`], which is all that pricing reads of it.

use crate::body::{Body, Stride, body, is_straight};
use crate::lanes::Lanes;
use crate::linear::Linear;
use crate::lower::{Leaf, Lowered, Touch};
use crate::operations::classes;
use crate::overlap::starts_before;
use crate::throughput::{TEMPORARIES, price};
use crate::{OpClass, Target};
use loop_tree::ScalarType;
use smallvec::SmallVec;

/// How a body is executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Packing {
    Scalar,
    /// Iterations as lanes.
    Lanes(u32),
    /// Lanes as the tree has them: not of the loop, whose iterations each do all of them.
    Marked(u32),
    /// Copies of a statement that are neighbours in memory, packed within an iteration.
    Adjacent(u32),
    /// Neighbours in memory that an iteration adds up, packed; then the lanes are added.
    Sums(u32),
}

/// How lanes are accessed that are spread in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spread {
    /// One by one, at no more than their loads and stores take: as the compiler sees it.
    Seen,
    OneByOne,
    Gathered,
}

/// What becomes of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub packing: Packing,
    /// What becomes of lanes that are spread in memory.
    pub spread: Spread,
    /// Whether no loop remains.
    pub unrolled: bool,
    /// Of all lanes, those with an iteration: less than 1 where lanes beyond the last one are masked, so that none is left over.
    pub live: f64,
}

impl Plan {
    /// One iteration at a time.
    pub const SCALAR: Plan =
        Plan { packing: Packing::Scalar, spread: Spread::Seen, unrolled: false, live: 1.0 };

    /// Whether lanes beyond the last iteration are masked.
    pub fn folded(&self) -> bool {
        self.live < 1.0
    }

    fn lanes(&self) -> f64 {
        match self.packing {
            Packing::Lanes(n) => f64::from(n),
            _ => 1.0,
        }
    }

    /// What holds the values that are loaded before the loop: neighbours that are packed are one of them.
    pub fn invariant(&self, body: &Body) -> usize {
        let together = match self.packing {
            Packing::Adjacent(n) => (body.adjacent_invariant.min(body.invariant), n as usize),
            _ => (0, 1),
        };
        body.invariant - together.0 + together.0.div_ceil(together.1)
    }
}

/// What else matters of a loop.
pub(crate) struct Circumstances {
    /// Iterations of the loop whose iterations are lanes.
    pub trip: f64,
    /// Iterations, where the compiler knows them.
    pub constant: Option<f64>,
    /// The lanes that the tree says what it executes has.
    pub lanes: Option<Lanes>,
    /// Whether it is the program as written, which may gather.
    pub original: bool,
}

/// Iterations from which on LLVM leaves some over (`TinyTripCountVectorThreshold` in its LoopVectorize); fewer are all lanes,
/// under masks, or none.
const FEWEST_WITH_REST: f64 = 16.0;
/// Summands of which LLVM makes vectors (`ReductionLimit` in its SLPVectorizer).
const FEWEST_SUMMANDS: u32 = 4;
/// Instructions up to which loops with few constant iterations are unrolled completely.
const FULL_UNROLL: f64 = 250.0;

/// The plan of a loop, as the compiler sees it: gathers are as cheap to it as single accesses, and where it may not gather it counts
/// instructions; of what it packs otherwise, the cheapest.
pub(crate) fn plan(body: &Body, target: &dyn Target, around: &Circumstances) -> Plan {
    if let Some(lanes) = around.lanes {
        return Plan { packing: Packing::Marked(lanes.count), ..Plan::SCALAR };
    }
    let mut best = Plan::SCALAR;
    let per = |plan: &Plan| price(body, target, plan).throughput / plan.lanes();
    let widest = body.widest.unwrap_or(ScalarType::F64);
    let mut lanes = target.lanes(widest);
    while lanes > 1 && (f64::from(lanes) > body.max_lanes || f64::from(lanes) > around.trip) {
        lanes /= 2;
    }
    let mut cycles = per(&best);
    // A mask that the machine does not have is a branch for each lane, which the vectoriser leaves alone.
    let masks = body.missing_masks(target) == 0.0;
    let folded = around.constant.is_some_and(|t| t < FEWEST_WITH_REST && t % f64::from(lanes) != 0.0);
    let folds =
        || target.masked_memory() && (widest.size() >= 4 || target.masks_narrow_lanes()) && body.is_plain();
    if body.vectorisable && masks && lanes > 1 && !body.opaque && (!folded || folds()) {
        let n = f64::from(lanes);
        let live = around.constant.filter(|_| folded).map_or(1.0, |t| t / n / (t / n).ceil());
        let vector = Plan { packing: Packing::Lanes(lanes), live, ..Plan::SCALAR };
        let needed = per(&vector);
        // There are no gathers of single bytes.
        let gathers = around.original && widest.size() >= 4 && target.gathers();
        let taken = match gathers {
            true if body.calls => calls_by_lanes(body, lanes, folded),
            true => needed < cycles,
            false => spreads(body, lanes, widest) && calls_by_lanes(body, lanes, folded),
        };
        if taken {
            let spread = if gathers { Spread::Gathered } else { Spread::OneByOne };
            (best, cycles) = (Plan { spread, ..vector }, needed);
        }
    }
    let mut adjacent = target.lanes(widest);
    while adjacent as usize > body.adjacent {
        adjacent /= 2;
    }
    // Of groups that are computed alike, what permutes them before undoes what does so behind, and nothing of it is left.
    let undone = || body.stores.iter().all(|s| matches!(s, Stride::Near { .. }) && !s.stored_by_lanes());
    // To bring together what is only stored takes as much as to store it apart.
    let copied = !around.original && body.ops.is_empty() && body.adjacent_loads < body.loads.len();
    if adjacent > 1 && !copied && (best.packing == Packing::Scalar || undone()) && !body.opaque {
        let packed = Plan { packing: Packing::Adjacent(adjacent), ..Plan::SCALAR };
        // Of what LLVM may do or not, the dearer counts.
        if (per(&packed) < cycles) != body.perhaps_adjacent {
            best = packed;
        }
    }
    // LLVM tries vectors of iterations first, but finds neighbours that are only added up too dear to spread over them; where it does is
    // known too badly to promise a gain over it.
    let dear = around.original || best.packing == Packing::Scalar || !spreads(body, lanes, widest);
    let mut summed = target.lanes(widest);
    while summed as usize > body.summed {
        summed /= 2;
    }
    if summed >= FEWEST_SUMMANDS && dear && !body.opaque {
        let packed = Plan { packing: Packing::Sums(summed), ..Plan::SCALAR };
        if per(&packed) < per(&best) {
            best = packed;
        }
    }
    let work = body.ops.values().sum::<f64>() + (body.loads.len() + body.stores.len()) as f64;
    best.unrolled = around.constant.is_some_and(|t| t / best.lanes() * work.max(1.0) <= FULL_UNROLL);
    best
}

/// What LLVM counts for a lane that is loaded or stored by itself, where a scalar operation counts one: the element, its address, and
/// what puts it into its place or takes it from there. More in vectors of 512 bits, so that sums down several columns stay scalar where
/// there are such (LLVM 22 for Zen 4, without gathers: 8 columns with one product for each), and more in halves of 128 bits.
fn spread(lanes: u32, ty: ScalarType) -> f64 {
    match lanes {
        _ if lanes * ty.size() >= 64 => 3.1,
        8.. => 2.1,
        _ => 1.9,
    }
}

/// Whether LLVM finds vectors cheaper whose lanes are spread in memory, as it counts.
fn spreads(body: &Body, lanes: u32, widest: ScalarType) -> bool {
    let loaded = body.loads.iter().filter(|s| **s == Stride::Far).count();
    let far = (loaded + body.stores.iter().filter(|s| s.stored_by_lanes()).count()) as f64;
    if far == 0.0 {
        return true;
    }
    let others = (body.loads.len() + body.stores.len()) as f64 - far + body.ops.values().sum::<f64>();
    far * spread(lanes, widest) + body.computed + others / f64::from(lanes) < far + others
}

/// Instructions that LLVM counts for a call that each lane makes by itself, where it asks first whether to: 5 products and 4 comparisons,
/// accesses and choices beside it are enough for vectors of 4, one less for those of 8 (LLVM 22). Where all lanes call it counts none.
const ASKED_CALL: f64 = 6.75;

/// Whether LLVM takes iterations for lanes that call one after the other: for what is beside the calls.
fn calls_by_lanes(body: &Body, lanes: u32, folded: bool) -> bool {
    let all: f64 = body.ops.iter().filter(|((class, _), _)| *class == OpClass::Library).map(|op| op.1).sum();
    let others = body.ops.values().sum::<f64>() - all + (body.loads.len() + body.stores.len()) as f64;
    let asked = if folded { all } else { body.asked_calls };
    others * (1.0 - 1.0 / f64::from(lanes)) >= ASKED_CALL * asked
}

/// A loop that is unrolled completely leaves the loop around it as the innermost one: what is stored to the same places in all
/// iterations of that one stays in registers (LLVM moves loads and stores out of loops once more after it has unrolled). It does so
/// however many they are: those beyond the registers go to the stack and come back at every update.
pub(crate) fn keep(b: &mut Body, program: &Lowered<'_>, index: usize, plan: &Plan, target: &dyn Target) {
    let l = &program.loops[index];
    let Some(around) = l.parent.map(|p| &program.loops[p]).filter(|_| plan.unrolled) else { return };
    if around.inner.len() > 1 || !around.leaves.is_empty() || b.stores.is_empty() {
        return;
    }
    let kept = body(program, &l.leaves, Some(around.depth), None, true, target).accumulators;
    let places = b.stores.len();
    let first = places.saturating_sub(kept);
    // Lanes that are spread in memory are stored one by one.
    let together = |stride: &Stride| matches!(stride, Stride::Unit(_));
    if plan.lanes() > 1.0 && !b.stores[first..].iter().all(together) {
        return;
    }
    let writes = l.leaves.iter().flat_map(|leaf| &program.leaves[*leaf].touches);
    let updates = writes.filter(|t| t.write && !t.private).count() as f64 / places as f64;
    let copies = (l.trip / plan.lanes()).ceil().max(1.0);
    let taken = TEMPORARIES as f64 + b.invariant as f64 / updates.max(1.0);
    let beyond = kept as f64 * copies - (f64::from(target.vector_registers()) - taken).max(0.0);
    b.spilled = beyond.max(0.0) * updates / copies;
    for stored in b.stores.split_off(first) {
        if let Some(loaded) = b.loads.iter().rposition(|stride| *stride == stored) {
            b.loads.remove(loaded);
        }
    }
}

/// Rows that are the same in all iterations of the loop around one that is unrolled completely are loaded in front of it, as far as
/// registers go: what is beyond them comes from the stack, which is as many loads.
pub(crate) fn hold_rows(
    b: &mut Body,
    program: &Lowered<'_>,
    index: usize,
    plan: &Plan,
    told: bool,
    target: &dyn Target,
) {
    let l = &program.loops[index];
    let Some(around) = l.parent.map(|p| &program.loops[p]).filter(|_| plan.unrolled) else { return };
    if around.inner.len() > 1 {
        return;
    }
    let touches = || l.leaves.iter().flat_map(|leaf| &program.leaves[*leaf].touches);
    let arrays = program.facts.kernel.arrays.len();
    let changed = |x: usize| {
        let meets = |y: usize| x == y || !told && x.max(y) < arrays && program.facts.may_overlap(x, y);
        touches().any(|t| t.write && !t.private && meets(t.array))
    };
    let row = |a: &&Linear| a.coefficient(around.depth) == 0.0 && a.coefficient(l.depth) != 0.0;
    let mut rows: SmallVec<[(usize, &Linear); 4]> = SmallVec::new();
    for touch in touches().filter(|t| !t.write && !t.private) {
        let Some(address) = touch.address.as_ref().filter(row) else { continue };
        let along = address.coefficient(l.depth) == touch.bytes;
        if along && !rows.contains(&(touch.array, address)) && !changed(touch.array) {
            rows.push((touch.array, address));
        }
    }
    let copies = (l.trip / plan.lanes()).ceil().max(1.0);
    let taken = (TEMPORARIES + b.accumulators + b.invariant) as f64;
    let fit = ((f64::from(target.vector_registers()) - taken).max(0.0) / copies) as usize;
    for _ in rows.iter().take(fit) {
        if let Some(loaded) = b.loads.iter().rposition(|s| matches!(s, Stride::Unit(_))) {
            b.loads.remove(loaded);
        }
    }
}

/// Sums that calls take as soon as they are there are not packed: nothing that is stored side by side asks for it.
pub(crate) fn hand_to_calls(b: &mut Body, program: &Lowered<'_>, index: usize, leaves: &[usize]) {
    let Some(around) = program.loops[index].parent.map(|p| &program.loops[p]) else { return };
    let touches = leaves.iter().flat_map(|leaf| &program.leaves[*leaf].touches);
    let written: SmallVec<[usize; 8]> = touches.filter(|t| t.write).map(|t| t.array).collect();
    let takes = |leaf: &Leaf<'_>| {
        let calls = classes(&leaf.statement.ops).any(|class| class == Some(OpClass::Library));
        calls && leaf.touches.iter().any(|t| !t.write && written.contains(&t.array))
    };
    if around.leaves.iter().any(|leaf| takes(&program.leaves[*leaf])) {
        b.adjacent = 1;
    }
}

/// How often arrays lie one behind the other, so that ranges which go beyond the one meet the other.
const NEIGHBOURS: f64 = 0.5;

/// Pairs of pointers that LLVM 22 compares in front of vectors at most (`vectorize-memory-check-threshold`).
const MOST_COMPARED: usize = 128;

/// Pointers that may overlap keep values out of registers, and are compared before a vectorised loop.
pub(crate) fn weaken(
    b: &mut Body,
    program: &Lowered<'_>,
    innermost: usize,
    leaves: &[usize],
    target: &dyn Target,
) {
    let touches = || leaves.iter().flat_map(|l| &program.leaves[*l].touches);
    // Elements that stand for a value which the program itself carries in a register.
    let carried: Vec<usize> = touches().filter(|t| t.carried).map(|t| t.array).collect();
    let mut arrays: Vec<(usize, bool)> =
        touches().filter(|t| !carried.contains(&t.array)).map(|t| (t.array, t.write)).collect();
    arrays.sort_unstable();
    arrays.dedup();
    let written: Vec<usize> = arrays.iter().filter(|a| a.1).map(|a| a.0).collect();
    let mut touched: Vec<usize> = arrays.iter().map(|a| a.0).collect();
    touched.dedup();
    let (mut pairs, mut tested, mut clobbered) = (0, 0, false);
    for &w in &written {
        for (_, write) in arrays.iter().filter(|(a, _)| *a != w && program.facts.may_overlap(w, *a)) {
            pairs += 1;
            clobbered |= write;
        }
        // Of two that are written, with the later one.
        let others = touched.iter().filter(|a| **a > w || **a < w && written.binary_search(a).is_err());
        tested += others.filter(|a| program.facts.may_overlap(w, **a)).count();
    }
    if pairs == 0 {
        return;
    }
    b.checks += pairs;
    if tested > MOST_COMPARED {
        b.vectorisable = false;
    }
    if b.passed_on.iter().any(|x| written.iter().any(|y| y != x && program.facts.may_overlap(*x, *y))) {
        b.max_lanes = 1.0;
    }
    // What conditions keep from running is in the compared ranges all the same: the rows around an image, say.
    let compared = |t: &Touch| arrays.iter().any(|a| a.0 == t.array) && !t.private;
    if touches()
        .any(|t| compared(t) && t.address.as_ref().is_some_and(|a| starts_before(program, innermost, a)))
    {
        b.checks_fail = b.checks_fail.max(NEIGHBOURS);
    }
    if b.accumulators > 0 && carried.is_empty() {
        // The accumulator is stored in every iteration, and loaded again where other stores may have changed it.
        b.stores.extend(std::iter::repeat_n(Stride::Invariant, b.accumulators));
        if clobbered {
            b.chain += target.store_forward();
        }
        b.max_lanes = 1.0;
        b.accumulators = 0;
    }
}

/// What an iteration loads and the next one needs stays in registers (load PRE), and becomes a recurrence of the loop. Its uses have to
/// come behind what it is handed on from: where one of them is stored in front of that, LLVM makes no vectors. New code has all its
/// loads in front.
pub(crate) fn hand_on(b: &mut Body, program: &Lowered<'_>, leaves: &[usize]) {
    let arrays = program.facts.kernel.arrays.len();
    let touches = || leaves.iter().flat_map(|l| &program.leaves[*l].touches);
    let changed = |x: usize| {
        let overlap = |y: usize| x.max(y) >= arrays || program.facts.may_overlap(x, y);
        touches().any(|t| t.write && !t.private && overlap(t.array))
    };
    if b.handed_on.iter().any(|array| !changed(*array))
        && leaves.iter().all(|l| is_straight(program, &program.leaves[*l], None))
    {
        b.vectorisable = false;
    }
}
