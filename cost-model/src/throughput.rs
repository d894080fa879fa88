//! Cycles of one iteration of a body on the ports of a target, scalar or as lanes.

use crate::body::{Body, Stride};
use crate::clang::{Packing, Plan, Spread};
use crate::live::Spills;
use crate::{OpClass, Target};
use loop_tree::ScalarType;

/// Cycles of an iteration (of as many lanes), and what bounds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iteration {
    pub cycles: f64,
    /// The same, if nothing waits for another: what compilers count.
    pub throughput: f64,
    /// Of these, those in which the first level of cache is busy with loads and stores.
    pub accesses: f64,
    pub bound: &'static str,
}

/// Instructions of the loop itself, per iteration and per vector iteration: both are unrolled some more.
const CONTROL_INSTRUCTIONS: f64 = 1.0;
/// Exponent of the norm that adds the times of ports: of register tiles in the first level of cache on Zen 5, those bound by
/// arithmetic take its time, those that load, store and compute alike half as much more.
pub(crate) const SHARING: i32 = 4;
/// Permutations to a vector of which the numbers, or what they choose, become narrower: of four vectors of 32 bits one of bytes takes three
/// `vpack` and two to three `vpermq`, which take 1.3 cycles each on Zen 3.
const NARROWED: f64 = 2.0;
/// Registers that hold neither invariants nor accumulators.
pub(crate) const TEMPORARIES: usize = 4;
/// Of the time from a store to the value of a load, what a value takes that goes to the stack and comes back: on Zen 5, each update
/// of those of 32 accumulators for which there is no register, of 4 x 2, 4 x 4 and 8 x 4 copies, takes 3 to 6 cycles, and of 24 that 8
/// broadcasts leave one register too few 3; on Zen 4 each of the five of 32 vectors in 4 rows 3.
const SPILL: f64 = 0.5;
/// Permutations of a lane that is stored by itself, beside the one that takes it out: 1.5 cycles a lane on Zen 4, where scalars take
/// one.
const LANE_STORED: f64 = 0.5;
/// Fraction of the ideal speed-up that packing neighbours reaches: broadcasts and permutations remain.
pub(crate) const ADJACENT_EFFICIENCY: f64 = 0.6;

/// Cycles of an iteration that is executed as planned.
pub(crate) fn price(body: &Body, target: &dyn Target, plan: &Plan) -> Iteration {
    let packing = plan.packing;
    // Loads for each lane of what is spread in memory.
    let gathers = plan.spread == Spread::Gathered;
    let far = if gathers { target.gathered_lane() } else { target.lane_access() };
    let lanes = match packing {
        Packing::Lanes(n) | Packing::Marked(n) => n,
        _ => 1,
    };
    let packed = |n: u32| (f64::from(n) * ADJACENT_EFFICIENCY).max(1.0);
    let pack = match packing {
        Packing::Adjacent(n) | Packing::Sums(n) => packed(n),
        _ => 1.0,
    };
    let (mut float, mut added, mut integer, mut divide, mut library, mut instructions) =
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut quotients, mut vectors, mut shuffles) = (0.0, 0.0, 0.0);
    for (ty, count) in &body.narrowed {
        shuffles += match packing {
            Packing::Adjacent(n) => NARROWED * count / packed(n.min(target.lanes(*ty))),
            _ if lanes > 1 => NARROWED * count * parts(target, *ty, lanes),
            _ => 0.0,
        };
    }
    // Iterations that the schedulers hold.
    let (window, mut held) = (target.window(), 0.0);
    // Summed in a fixed order, so that the result does not depend on the hash map.
    let again = body.recomputed.iter().filter(|_| lanes == 1);
    let mut ops: Vec<_> = body.ops.iter().chain(again).map(|(k, n)| (*k, *n)).collect();
    // Lanes count on and compare numbers of 64 bits, however narrow the data.
    let guards = 2.0 * body.guards;
    if lanes > 1 && guards > 0.0 {
        ops.push(((OpClass::Select, ScalarType::I64), guards));
    }
    ops.sort_by_key(|((class, ty), _)| (*class as u32, *ty));
    for ((class, ty), count) in ops {
        // No vector instruction divides integers.
        let single = matches!(class, OpClass::IntegerDiv | OpClass::Library);
        let (wide, pack) = match packing {
            _ if single => (1, 1.0),
            // As many as a vector of this type has.
            Packing::Adjacent(n) => (lanes, packed(n.min(target.lanes(ty)))),
            _ => (lanes, pack),
        };
        let cost = target.op(class, ty, wide);
        let n = count * if single { f64::from(lanes) * plan.live } else { parts(target, ty, lanes) / pack };
        if class == OpClass::Widen && lanes > 1 {
            // What is loaded under a mask is taken apart first, where others are widened as they are loaded.
            shuffles += n + body.masked_narrow.min(count) * (parts(target, ty, lanes) - 1.0);
            continue;
        }
        let cycles = n * cost.reciprocal * passes(target, ty, wide);
        match class {
            OpClass::FloatDiv | OpClass::FloatSqrt if packing == Packing::Scalar => {
                divide += n * side_by_side(target, class, ty, body.dividing);
            }
            OpClass::FloatDiv | OpClass::FloatSqrt => divide += cycles * pack.sqrt(),
            OpClass::Library => library += cycles,
            OpClass::IntegerDiv => quotients += cycles,
            OpClass::Integer | OpClass::IntegerMul | OpClass::Widen => integer += cycles,
            OpClass::FloatAdd if target.separate_adders() => added += cycles,
            _ => float += cycles,
        }
        instructions += n;
        vectors += if wide > 1 || pack > 1.0 { n * passes(target, ty, wide) } else { 0.0 };
        held += n / if ty.is_float() || lanes > 1 { window.float } else { window.integer }.max(1.0);
    }
    let (mut loads, mut stores) = (0.0, 0.0);
    let widest = body.widest.unwrap_or(ScalarType::F64);
    let per_access = parts(target, widest, lanes) * passes(target, widest, lanes);
    // Neighbours that are packed load what is together as vectors, the rest one by one, the first lane of a vector into it.
    let (whole, single, behind) = match packing {
        Packing::Adjacent(n) => {
            let together = body.adjacent_loads.min(body.loads.len());
            let single = (body.loads.len() - together) as f64;
            (together as f64 / f64::from(n), single, single * (1.0 - 1.0 / f64::from(n)))
        }
        Packing::Sums(n) => (body.loads.len() as f64 / f64::from(n), 0.0, 0.0),
        _ => (0.0, 0.0, 0.0),
    };
    // What gathers take more than their loads does not keep the first level busy.
    let mut microcode = 0.0;
    let rows_stored = body.stores.iter().filter(|s| matches!(s, Stride::Unit(_))).count();
    let mut access = |stride: &Stride, split: f64, count: &mut f64| match (lanes, stride) {
        (1, _) => *count += 1.0 / pack,
        (_, Stride::Invariant) => *count += 1.0,
        (_, Stride::Unit(aligned)) => {
            *count += per_access * (1.0 + (split - 1.0) * across_lines(target, widest, lanes, *aligned))
        }
        (_, Stride::Reverse) => {
            *count += per_access;
            shuffles += per_access * target.crossing();
        }
        (_, Stride::Near { gap, members }) => {
            *count += per_access * gap / members;
            shuffles += per_access * permutations(target, widest, lanes, *gap);
        }
        (n, Stride::Far) => {
            *count += f64::from(n) * far;
            shuffles += f64::from(n) * far;
            microcode += f64::from(n) * (far - 1.0).max(0.0);
        }
    };
    if whole + single > 0.0 {
        loads = whole + single;
    } else {
        body.loads.iter().for_each(|stride| access(stride, target.split_load(), &mut loads));
    }
    if lanes == 1 {
        loads += body.reloaded / pack;
    }
    let mut scattered = 0.0;
    for stride in &body.stores {
        if lanes > 1 && stride.stored_by_lanes() {
            scattered += f64::from(lanes);
        } else {
            access(stride, target.split_store(rows_stored), &mut stores);
        }
    }
    if gathers {
        // The microcode of scatters takes as long as that of gathers, which are not executed meanwhile.
        stores += scattered;
        loads += scattered * far;
        microcode += scattered * far;
    } else {
        // What is stored lane by lane is taken out of vectors, and some of its addresses are.
        stores += scattered * far;
        let taken_out = if plan.spread == Spread::OneByOne { LANE_STORED } else { 0.0 };
        shuffles += scattered * (far + taken_out);
    }
    if let Packing::Sums(n) = packing {
        // Halves are added until one lane is left.
        let left = if body.differences { n / 8 } else { n }.max(1);
        let steps = f64::from(left.ilog2()) * body.sums as f64;
        shuffles += steps;
        integer += steps * target.op(OpClass::Integer, widest, 1).reciprocal;
        instructions += steps;
    }
    shuffles += behind;
    if let Packing::Adjacent(n) = packing {
        shuffles += body.adjacent_permuted / f64::from(n);
    }
    if lanes > 1 {
        let masks = body.masked + body.missing_masks(target) * f64::from(lanes - 1);
        integer += masks;
        instructions += masks;
        let masked = if plan.folded() { body.stores.len() as f64 } else { body.masked_stores };
        // What a load waits for behind a mask that is microcode, nothing else goes past.
        let behind =
            if target.masked_store() > 1.0 { 2.0 * target.store_forward() * body.behind_masks } else { 0.0 };
        let asked = f64::from(lanes.min(target.lanes(widest))) / f64::from(MASKED_LANES);
        stores += (masked * (target.masked_store() * asked - 1.0).max(0.0) + behind) * per_access;
    } else {
        loads = (loads - body.skipped_loads / pack).max(0.0);
        stores = (stores - body.skipped_stores / pack).max(0.0);
        instructions += body.branches + body.compared / pack + guards;
        integer += (body.compared / pack + guards) * target.op(OpClass::Integer, widest, 1).reciprocal;
    }
    // Accumulators beyond the registers go through memory; invariants become operands in memory.
    let registers = target.vector_registers() as usize;
    let accumulators =
        if pack > 1.0 { (body.accumulators as f64 / pack).ceil() as usize } else { body.accumulators };
    let accumulators = match packing {
        Packing::Marked(n) => (accumulators as f64 * parts(target, widest, n)) as usize,
        _ => accumulators,
    };
    let marked = matches!(packing, Packing::Marked(_));
    // What all vectors of a row take is loaded once, and held while they are computed.
    let broadcast = body.loads.iter().filter(|stride| **stride == Stride::Invariant).count();
    // So is what scales each of them: LLVM takes registers from what is used least.
    let scales = if broadcast > 1 { body.invariant } else { 0 };
    let (shared, scales) = if marked { (broadcast + scales + 1, scales) } else { (0, 0) };
    let free = registers.saturating_sub(TEMPORARIES.max(shared));
    let spilled = accumulators.saturating_sub(free);
    let invariant = plan.invariant(body) - scales;
    let reloaded = (accumulators + invariant).saturating_sub(free).saturating_sub(spilled).min(invariant);
    // What lives from one copy of a statement to another stays in the others; or accumulators gave way to it.
    let temporaries = if spilled > 0 || pack > 1.0 {
        Spills::default()
    } else {
        let each = parts(target, widest, lanes);
        let others = (registers - accumulators).max(TEMPORARIES.max(shared));
        body.live.spills((others as f64 / each) as usize, lanes > 1).times(each)
    };
    loads += (spilled + reloaded) as f64 + temporaries.loads + body.spilled;
    stores += spilled as f64 + temporaries.stores + body.spilled;
    instructions += loads - microcode + stores + shuffles + CONTROL_INSTRUCTIONS;
    // While microcode is read, nothing else is.
    let read = instructions / target.issue_width().max(0.5) + microcode / target.loads_per_cycle().max(0.1);
    let loading = loads / target.loads_per_cycle().max(0.1);
    let storing = stores / target.stores_per_cycle().max(0.1);
    let accesses = ((loads - microcode).max(0.0) / target.loads_per_cycle().max(0.1)).max(storing);
    let candidates = [
        ("floating point", float),
        ("additions", added),
        ("integer", integer),
        ("division", divide),
        (if quotients > library { "integer division" } else { "calls" }, library + quotients),
        ("loads", loading),
        ("stores", storing),
        ("permutations", shuffles * target.op(OpClass::Shuffle, widest, lanes).reciprocal),
        ("instructions", read),
    ];
    let (bound, cycles) =
        candidates.into_iter().fold(("instructions", 0.0f64), |a, b| if b.1 > a.1 { b } else { a });
    // Ports that are used about as much do not run at the same time all the time; one that is used most by far does. A unit for
    // divisions, and calls, leave the ports alone.
    let alone = |name: &str| matches!(name, "division" | "integer division" | "calls");
    let shared = candidates.iter().filter(|c| !alone(c.0) && cycles > 0.0);
    let shared = shared.map(|c| (c.1 / cycles).powi(SHARING)).sum::<f64>().powf(1.0 / f64::from(SHARING));
    let cycles = (cycles * shared.max(1.0)).max((vectors + shuffles) / target.vector_pipes());
    // Branches that go both ways are mispredicted now and then.
    let turns = if matches!(packing, Packing::Sums(_)) { 0.0 } else { becoming_branches(body) };
    let branches = match lanes {
        1 => (MISPREDICTED * body.branches + 0.15 * turns) * target.control().mispredict,
        _ => 0.0,
    };
    let (cycles, bound) = (cycles + branches, if branches > cycles { "branches" } else { bound });
    let marked_spills = if marked { spilled as f64 } else { 0.0 };
    let waits = (body.spilled + marked_spills) * SPILL * target.store_forward();
    let (cycles, bound) = (cycles + waits, if waits > cycles { "values on the stack" } else { bound });
    let throughput = cycles;
    held += shuffles / window.float.max(1.0);
    let mut path = body.path * share_of_path(held);
    if body.between_loops {
        // These fill the schedulers, and wait outside for the rest of it.
        let meanwhile = window.float * target.op(OpClass::FloatAdd, widest, 1).reciprocal;
        path = path.max(body.path - meanwhile);
    }
    // Sums are added up as a tree.
    let (path, chain) = match packing {
        Packing::Marked(_) if spilled > 0 => (path, body.chain + target.store_forward()),
        Packing::Scalar | Packing::Marked(_) | Packing::Adjacent(_) => (path, body.chain),
        Packing::Lanes(1) => (path, body.chain),
        Packing::Lanes(_) => (path, 0.0),
        Packing::Sums(_) => (0.0, 0.0),
    };
    if chain.max(path) > cycles {
        let bound =
            if chain >= path { "latency of a dependence chain" } else { "latency within an iteration" };
        return Iteration { cycles: chain.max(path), throughput, accesses, bound };
    }
    Iteration { cycles, throughput, accesses, bound }
}

/// Cycles of one of so many divisions or roots that the compiler may pack. In part of a vector they take that part of its time.
fn side_by_side(target: &dyn Target, class: OpClass, ty: ScalarType, count: usize) -> f64 {
    let most = target.lanes(ty).max(1);
    let alone = target.op(class, ty, 1).reciprocal;
    match (count as u32).min(most).checked_ilog2().map(|log| 1 << log) {
        None | Some(1) => alone,
        Some(lanes) => {
            let whole = target.op(class, ty, lanes).reciprocal * passes(target, ty, most);
            (whole / f64::from(most)).max(alone / f64::from(lanes))
        }
    }
}

/// Lanes of the store whose cycles a target states (`Target::masked_store`).
const MASKED_LANES: u32 = 8;

/// Of branches that go both ways, those that are mispredicted: how data decides nobody knows, and little gain is promised by their end alone.
const MISPREDICTED: f64 = 0.1;

/// Least and greatest values of integers that wait for each other in one iteration: LLVM takes branches in the place of conditional moves
/// where these make the longest path of a loop (its X86CmovConversion). Eight of a row of an edit distance took 10 cycles each on
/// Zen 3, one at a time 4.
fn becoming_branches(body: &Body) -> f64 {
    let in_turn = body.extremes >= BECOMING_BRANCHES && body.path >= body.extremes;
    if in_turn { body.extremes } else { 0.0 }
}

/// As many of them; of fewer the loop's own chain is as long.
const BECOMING_BRANCHES: f64 = 4.0;

/// How often a vector at a multiple of so many bytes lies in two cache lines.
fn across_lines(target: &dyn Target, ty: ScalarType, lanes: u32, aligned: f64) -> f64 {
    let line = target.caches().first().map_or(64.0, |c| f64::from(c.line));
    let bytes = f64::from(lanes.saturating_mul(ty.size() * 8).min(target.vector_bits()) / 8);
    ((bytes - aligned) / line).clamp(0.0, 1.0)
}

/// Of a path of dependent operations through an iteration, what each iteration takes at least, if it fills the schedulers so
/// many times. What stands behind the end of the path by more than they hold waits for that end: it is in the iteration
/// after the next one where they hold more than one, and further along a path of its own the more they hold.
fn share_of_path(filled: f64) -> f64 {
    let iterations = 1.0 / filled.max(1e-3);
    let whole = iterations.floor();
    ((1.0 - iterations.fract()) / (1.0 + whole)).max(1.0 / (2.0 + whole))
}

/// What brings elements that are so far from each other into one vector, or out of it: one of so many vectors after the other, where an
/// instruction takes two, else a transposition in steps, of three with one more.
fn permutations(target: &dyn Target, ty: ScalarType, lanes: u32, gap: f64) -> f64 {
    let lanes = lanes.min(target.lanes(ty)).max(2);
    if target.permutes_two() {
        return (gap - 1.0).max(1.0);
    }
    let halves = f64::from(lanes * ty.size()) > 16.0;
    let crossing = if halves { target.crossing() } else { 1.0 };
    f64::from(lanes.ilog2()) - 1.0 + crossing + f64::from(u8::from(gap == 3.0))
}

/// Registers for so many lanes of a type.
fn parts(target: &dyn Target, ty: ScalarType, lanes: u32) -> f64 {
    if lanes <= 1 {
        return 1.0;
    }
    (f64::from(lanes) / f64::from(target.lanes(ty).max(1))).max(1.0)
}

/// How often an instruction on so many lanes goes through its port.
fn passes(target: &dyn Target, ty: ScalarType, lanes: u32) -> f64 {
    let bits = lanes.saturating_mul(ty.size() * 8).min(target.vector_bits());
    f64::from(bits.div_ceil(target.datapath_bits().max(1))).max(1.0)
}
