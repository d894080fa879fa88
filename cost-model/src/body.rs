//! One iteration of an innermost loop, as the compiler leaves it: equal loads once, stored values forwarded, invariant
//! accesses outside, and what each iteration waits for from the ones before.

mod conditions;
mod neighbours;
mod references;

use crate::chains::{Chains, Value, Waits};
use crate::facts::Facts;
use crate::lanes::Lanes;
use crate::live::Live;
use crate::lower::{Leaf, Loop, Lowered, is_opaque};
use crate::numbering::{Numbers, Operands, Site};
use crate::operations::{
    Fused, Reordering, class_of, classes, differences_of_bytes, is_extreme, is_stored_both_ways, narrowed,
    products_of_shorts, reordering, shapes,
};
use crate::{OpClass, Target};
use loop_tree::{
    Affine, Atom, FloorDiv, Op, OpFlags, OpId, OpKind, ScalarType, Statement, StmtFlags, StmtId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use conditions::Case;
use neighbours::{Elsewhere, runs, sorted};
use references::{Family, Location};

/// How an access moves from one lane or iteration to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Stride {
    Invariant,
    /// One element to the next; where an iteration of the loops around starts is a multiple of so many bytes.
    Unit(f64),
    Reverse,
    /// A few elements, `gap`, of which `members` are accessed: vectors of all are loaded or stored, for these together, and permuted (LLVM's
    /// interleaved groups).
    Near {
        gap: f64,
        members: f64,
    },
    Far,
}

impl Stride {
    /// Whether vectors are stored lane by lane: of a group with gaps, too, there are none that are written as a whole.
    pub fn stored_by_lanes(&self) -> bool {
        matches!(self, Stride::Far) || matches!(self, Stride::Near { gap, members } if members < gap)
    }
}

/// What an iteration executes.
#[derive(Default)]
pub(crate) struct Body {
    /// Operations of a class and type, with the probability of their execution.
    pub ops: FxHashMap<(OpClass, ScalarType), f64>,
    /// Distinct loads and last stores per iteration.
    pub loads: Vec<Stride>,
    pub stores: Vec<Stride>,
    /// Of these, what scalars do not execute on average, behind branches on the loop variable.
    pub skipped_loads: f64,
    pub skipped_stores: f64,
    /// Guards that compare the loop variable.
    pub guards: f64,
    /// Values loaded before the loop and kept in registers.
    pub invariant: usize,
    /// Operations on these that are done before the loop.
    pub hoisted: f64,
    /// Loads of those that stores of the loop may change for all that the compiler knows, and operations on them: in each iteration, unless
    /// it compares addresses before the loop to execute iterations as lanes.
    pub reloaded: f64,
    pub recomputed: FxHashMap<(OpClass, ScalarType), f64>,
    /// Accumulators kept in registers.
    pub accumulators: usize,
    /// Updates of values for which there is no register: each goes to the stack and comes back.
    pub spilled: f64,
    /// Values between their definition and their last use.
    pub live: Live,
    /// Cycles from one iteration to the next, through the longest chain of dependent operations.
    pub chain: f64,
    /// Cycles of the longest path of dependent operations within an iteration.
    pub path: f64,
    /// Whether loops run before the next iteration.
    pub between_loops: bool,
    /// Whether the compiler can execute iterations as lanes.
    pub vectorisable: bool,
    /// A number of lanes that dependences allow.
    pub max_lanes: f64,
    /// Pairs of references that it compares before.
    pub checks: usize,
    /// How often what it compares overlaps, so that the loop runs one iteration at a time.
    pub checks_fail: f64,
    /// Widest type in memory.
    pub widest: Option<ScalarType>,
    /// Vectors of a type that become narrower ones, as many as there are of it: integers, and what comparisons of such numbers choose.
    pub narrowed: SmallVec<[(ScalarType, f64); 2]>,
    /// Accesses under a mask in vector code.
    pub masked: f64,
    /// Those of them of 8 or 16 bits.
    pub masked_narrow: f64,
    /// Stores that data ask for: a guard that compares loops is mostly about their ends, which LLVM peels.
    pub masked_stores: f64,
    /// Loads of what such a store may have left, in the same iteration: nothing is forwarded from under a mask.
    pub behind_masks: f64,
    /// Loads of one element for all lanes, where some data have it: lanes are asked one by one.
    pub asked: f64,
    /// Loads of elements whose addresses are computed for each lane.
    pub computed: f64,
    /// Longest run of adjacent elements stored by copies of a statement.
    pub adjacent: usize,
    /// Whether LLVM may find it too dear to pack these, as some of what they are computed from lies elsewhere.
    pub perhaps_adjacent: bool,
    /// Loads that have as many neighbours, or enough for a vector, and values loaded before the loop that do.
    pub adjacent_loads: usize,
    pub adjacent_invariant: usize,
    /// Loads of those that are taken in another order.
    pub adjacent_permuted: f64,
    /// Recurrences side by side, at least, that divide, in new code: the compiler packs their divisions, and takes what it stores apart.
    pub dividing: usize,
    /// Elements that are stored, where each is a sum of such copies of a summand, from neighbours in memory, at least.
    pub sums: usize,
    pub summed: usize,
    /// Whether functions are called that the compiler may call for each lane, and those of the calls that data or guards ask for.
    pub calls: bool,
    pub asked_calls: f64,
    /// Comparisons that scalars need and vectors do not.
    pub compared: f64,
    /// Those of them for the least or greatest of two.
    pub extremes: f64,
    /// Branches that depend on data or the loop variable.
    pub branches: f64,
    /// Whether all that is summed are absolute differences of bytes, eight of which one instruction adds up.
    pub differences: bool,
    pub opaque: bool,
    /// Arrays of which a store needs an element that the iteration before has loaded, but in front of the load of the next one.
    pub handed_on: Vec<usize>,
    /// Arrays of which an iteration loads what the one before has stored: that stays in a register (load PRE), which is no obstacle to
    /// vectors by itself.
    pub passed_on: Vec<usize>,
}

impl Body {
    /// Accesses under masks that the machine does not have, so that lanes are asked one by one.
    pub fn missing_masks(&self, target: &dyn Target) -> f64 {
        let missing = |has: bool, count: f64| if has { 0.0 } else { count };
        self.asked
            + missing(target.masked_memory(), self.masked - self.masked_narrow)
            + missing(target.masks_narrow_lanes(), self.masked_narrow)
    }

    /// Whether all that is accessed is one element to the next, or the same.
    pub fn is_plain(&self) -> bool {
        let mut all = self.loads.iter().chain(&self.stores);
        all.all(|s| matches!(s, Stride::Unit(_) | Stride::Invariant))
    }
}

/// Products of a remainder by a constant, and what shifts, adds and subtracts beside them.
const PRODUCTS_OF_QUOTIENT: f64 = 2.0;
const OTHERS_OF_QUOTIENT: f64 = 4.0;

/// Looks at the leaves of a loop, with lanes along the loop at a depth, or as the tree has them. `told`: whether the compiler is told that iterations are independent where they are.
pub(crate) fn body(
    program: &Lowered<'_>,
    leaves: &[usize],
    depth: Option<usize>,
    lanes: Option<Lanes>,
    told: bool,
    target: &dyn Target,
) -> Body {
    let own = leaves.first().and_then(|l| program.leaves[*l].parent);
    // Emission speaks of the loops of the tree.
    let of_tree = own.is_none_or(|l| !program.loops[l].unrolled_inside);
    let along = program.path(own).find(|l| depth == Some(program.loops[*l].depth));
    let mut scan = Scan {
        depth,
        strides: &program.facts.strides,
        iterations: along.map_or(f64::INFINITY, |l| most_iterations(&program.loops[l], told)),
        begins: along.map_or(0.0, |l| program.loops[l].begins),
        outer: own.map(|l| program.loops[l].depth).filter(|_| depth.is_none()),
        lanes,
        families: vec![],
        locations: vec![],
        index: FxHashMap::default(),
        result: Body { vectorisable: depth.is_some(), max_lanes: f64::MAX, ..Body::default() },
        chains: Chains::default(),
        numbers: Numbers::default(),
        taken_over: SmallVec::new(),
        operands: SmallVec::new(),
        handed_on: Vec::new(),
        now: 0,
        under: 0,
        skipped: 0.0,
        by_data: false,
        case: Case::new(),
        at: (StmtId(0), None),
        executed: FxHashMap::default(),
        shape: 0,
        in_turn: false,
        branching: false,
        differences: true,
        kept: told && of_tree && leaves.iter().all(|l| is_straight(program, &program.leaves[*l], lanes)),
        row_bytes: &program.facts.row_bytes,
        aliases: (!told).then_some(program.facts),
        target,
    };
    for leaf in leaves {
        for touch in &program.leaves[*leaf].touches {
            scan.declare(touch);
        }
    }
    scan.meet();
    scan.accumulators_in_rows();
    if scan.kept {
        scan.tell_apart(program, own);
        if program.home(own).is_some_and(|l| depth == Some(program.loops[l].depth)) {
            scan.hold();
        }
    }
    if let Some(own) = own.filter(|l| depth == Some(program.loops[*l].depth)) {
        scan.compare(program, own, told);
        scan.guessed_strides(program, own);
    }
    let mut before = None;
    for leaf in leaves {
        if let Some(before) = before.replace(*leaf) {
            scan.written(&program.leaves[before + 1..*leaf]);
        }
        scan.leaf(&program.leaves[*leaf]);
    }
    scan.rows_of_strided_stores();
    scan.result.between_loops = own.is_some_and(|l| !program.is_innermost(l));
    scan.finish()
}

/// Whether all of a leaf executes, whatever the data, in these lanes: what is known of elements is known in straight-line code.
pub(crate) fn is_straight(program: &Lowered<'_>, leaf: &Leaf<'_>, lanes: Option<Lanes>) -> bool {
    let guards_around = || program.home(leaf.parent).is_some_and(|home| program.loops[home].guards > 0);
    program.lanes(leaf.parent) == lanes
        && !(lanes.is_some() && guards_around())
        && !leaf.guarded
        && leaf.touches.iter().all(|t| t.address.is_some())
        && !leaf.statement.flags.contains(StmtFlags::ATOMIC_RELAXED)
        && leaf.statement.ops.iter().all(|op| op.mask.is_none())
}

struct Scan<'a> {
    depth: Option<usize>,
    /// Of the loop at this depth, at most.
    iterations: f64,
    /// Where its variable begins, in steps.
    begins: f64,
    /// Bytes from one element of a dimension to the next, by array.
    strides: &'a [SmallVec<[f64; 4]>],
    /// Of a loop that contains others: of what does not move with it alone values are known before it.
    outer: Option<usize>,
    lanes: Option<Lanes>,
    families: Vec<Family>,
    locations: Vec<Location>,
    index: FxHashMap<(usize, u64), usize>,
    result: Body,
    chains: Chains,
    numbers: Numbers<Value>,
    /// Where values come from that the statement at hand takes over from those before it in the same iteration.
    taken_over: SmallVec<[usize; 4]>,
    /// What the statement at hand has loaded, in every iteration.
    operands: SmallVec<[usize; 8]>,
    /// Elements that the next iteration gets from this one, and the location that is stored to with what this one got so.
    handed_on: Vec<((usize, u64), usize)>,
    /// Where the load or store at hand stands in the program.
    now: u32,
    /// The guard around the statement at hand, by number; whether data decide, too, whether it loads or stores; and the case in which
    /// it does so under a mask where iterations are lanes.
    under: usize,
    /// How often it is not executed for that.
    skipped: f64,
    by_data: bool,
    case: Case,
    /// The statement at hand, and the instruction that its operation stands for in the program as written.
    at: (StmtId, Option<u32>),
    /// Values of instructions by number, and the statement for which they were executed.
    executed: FxHashMap<u32, (StmtId, Value)>,
    /// The operations that made what is stored now.
    shape: u64,
    /// Whether such a value goes into another element: then neighbours wait for each other.
    in_turn: bool,
    /// Whether copies of a statement are in blocks of their own.
    branching: bool,
    /// Whether all statements so far add up differences of bytes.
    differences: bool,
    /// Whether emission keeps elements in registers that are no others of their array.
    kept: bool,
    /// Distances from which on the compiler cannot tell elements of an array apart.
    row_bytes: &'a [Option<f64>],
    /// Where arrays may overlap for all that the compiler knows, which do: what was loaded is loaded again behind a store to another one, and
    /// what was computed of it computed again.
    aliases: Option<&'a Facts<'a>>,
    target: &'a dyn Target,
}

impl Scan<'_> {
    /// What loops write that run between two leaves is not known behind them.
    fn written(&mut self, inside: &[Leaf<'_>]) {
        for touch in inside.iter().flat_map(|leaf| &leaf.touches).filter(|t| t.write) {
            let same = self.families.iter_mut().filter(|f| f.array == touch.array);
            same.for_each(|f| f.epoch += 1);
        }
    }

    fn leaf(&mut self, leaf: &Leaf<'_>) {
        let statement = leaf.statement;
        self.under = leaf.under;
        self.skipped = if leaf.varying_guard { 1.0 - leaf.probability.min(1.0) } else { 0.0 };
        self.taken_over.clear();
        self.operands.clear();
        if is_opaque(statement) {
            self.result.opaque = true;
            self.result.vectorisable = false;
        }
        if leaf.varying_guard {
            self.result.branches += leaf.probability.min(1.0 - leaf.probability).max(0.05);
        }
        let one_instruction = |found: Option<Fused>| found.filter(|_| self.target.fuses_integers());
        let differences = one_instruction(differences_of_bytes(&statement.ops));
        let are_differences = differences.is_some();
        // Copies are added up as they stand, not lanes along a loop in which each has a sum of its own.
        let moves = |t: &crate::lower::Touch| {
            t.write && t.address.as_ref().is_some_and(|a| self.depth.is_some_and(|d| a.coefficient(d) != 0.0))
        };
        let moves = leaf.touches.iter().any(moves);
        if are_differences && moves {
            self.result.vectorisable = false;
        }
        let products = || one_instruction(products_of_shorts(&statement.ops)).filter(|_| !moves);
        let fused = differences.or_else(products);
        self.differences &= are_differences || classes(&statement.ops).all(|class| class.is_none());
        // What only some data load or store is behind a branch.
        let guarded = |op: &&Op| match op.kind {
            OpKind::Load(_) | OpKind::LoadAt(..) => true,
            OpKind::Store(a, _) | OpKind::StoreAt(a, ..) => {
                !leaf.touches[a.index()].private && !is_stored_both_ways(statement, op)
            }
            _ => false,
        };
        let mut conditions: SmallVec<[OpId; 4]> =
            statement.ops.iter().filter(guarded).filter_map(|op| Some(op.mask?.op)).collect();
        conditions.sort_unstable();
        conditions.dedup();
        self.result.branches += 0.5 * leaf.probability * conditions.len() as f64;
        self.branching |= !conditions.is_empty();
        let mut values: SmallVec<[Value; 8]> = SmallVec::with_capacity(statement.ops.len());
        let shapes = shapes(statement);
        for (index, op) in statement.ops.iter().enumerate() {
            if let Some((_, load)) = leaf.kept.iter().find(|(kept, _)| kept.index() == index) {
                values.push(values.get(load.index()).cloned().unwrap_or_default());
                continue;
            }
            self.by_data = op.mask.is_some() && !is_stored_both_ways(statement, op);
            // What only lifting found to be in memory: the program asks first.
            let asked = self.aliases.is_some() && op.flags.contains(OpFlags::GUARDED);
            self.branching |= asked;
            let masked = self.by_data || leaf.guarded || asked;
            // The program's own conditions that do not vary the compiler takes out of the loop, if that is short.
            let by_lanes = leaf.varying_guard || leaf.guarded && self.aliases.is_none();
            self.case = self.case(statement, op, &values, by_lanes);
            self.at = (leaf.id, op.origin.filter(|_| self.aliases.is_some()));
            self.now = op.origin.unwrap_or(self.now + 1);
            let mut weight = leaf.probability * if op.mask.is_some() { 0.5 } else { 1.0 };
            let mut width = op.ty;
            if let Some(fused) = &fused {
                (weight, width) = fused.counted(OpId::new(index), weight, width);
            }
            let value = match &op.kind {
                OpKind::Const(c) => Value { number: Some(self.numbers.of_constant(*c)), ..Value::default() },
                OpKind::Affine(e) => {
                    self.quotients(e, op.ty, weight);
                    Value { varies: !e.is_invariant(), ..Value::default() }
                }
                OpKind::Test(_) => {
                    self.count(OpClass::Integer, ScalarType::I64, weight);
                    Value { varies: true, ..Value::default() }
                }
                OpKind::Load(a) => self.load(&leaf.touches[a.index()], op.ty, masked),
                OpKind::LoadAt(a, at) => {
                    let mut value = self.load(&leaf.touches[a.index()], op.ty, masked);
                    values.get(at.index()).into_iter().for_each(|at| value.wait_for(at));
                    value
                }
                OpKind::Store(a, v) | OpKind::StoreAt(a, _, v) => {
                    let value = values.get(v.index()).cloned().unwrap_or_default();
                    self.lives(&value, op.ty);
                    self.shape = shapes[v.index()];
                    self.store(&leaf.touches[a.index()], value, op.ty, masked);
                    Value::default()
                }
                kind => {
                    let number = |o: OpId| values.get(o.index()).and_then(|v| v.number);
                    let operands: Option<Operands> = kind.operands().into_iter().map(number).collect();
                    let site = Site { statement: leaf.id, index, op, always: !masked };
                    let known = operands.as_ref().and_then(|operands| self.numbers.known(&site, operands));
                    known.or_else(|| self.executed()).unwrap_or_else(|| {
                        let counted = (weight, width, masked);
                        let mut value = self.compute(OpId::new(index), statement, &values, counted);
                        if let Some(operands) = operands {
                            value.number = Some(self.numbers.next());
                            self.numbers.remember(&site, operands, value.clone());
                        }
                        self.lives(&value, op.ty);
                        value
                    })
                }
            };
            if let Some(instruction) = self.at.1.filter(|_| self.executed().is_none()) {
                self.executed.insert(instruction, (leaf.id, value.clone()));
            }
            values.push(value);
        }
    }

    /// Quotients in a value, and their remainders: high halves of products, in the program of the type that it computes with. New code does
    /// so with 64 bits, of which LLVM makes no vectors: on an Emerald Rapids two remainders an element take 1.8 cycles as written, 6.2 in new code.
    fn quotients(&mut self, e: &Affine, ty: ScalarType, weight: f64) {
        let is_product = |d: &FloorDiv| !d.numerator.is_invariant() && d.denominator.count_ones() > 1;
        let count =
            e.terms().iter().filter(|(atom, _)| matches!(atom, Atom::Div(d) if is_product(d))).count();
        if count == 0 {
            return;
        }
        let new = self.aliases.is_none();
        self.result.vectorisable &= !new;
        let ty = if new { ScalarType::I64 } else { ty };
        let each = weight * count as f64;
        self.count(OpClass::IntegerMul, ty, PRODUCTS_OF_QUOTIENT * each);
        self.count(OpClass::Integer, ty, OTHERS_OF_QUOTIENT * each);
    }

    /// The value of the operation at hand if it stands for an instruction of the program that another statement has executed, whatever
    /// was stored since.
    fn executed(&self) -> Option<Value> {
        let (statement, value) = self.executed.get(&self.at.1?)?;
        (*statement != self.at.0).then(|| value.clone())
    }

    fn compute(
        &mut self,
        at: OpId,
        statement: &Statement,
        values: &[Value],
        (weight, width, asked): (f64, ScalarType, bool),
    ) -> Value {
        let op = &statement.ops[at.index()];
        let kind = &op.kind;
        let class = class_of(&statement.ops, at).map(|class| match kind {
            // By a constant: the high half of a product.
            OpKind::Binary(_, _, divisor)
                if class == OpClass::IntegerDiv
                    && matches!(statement.ops[divisor.index()].kind, OpKind::Const(_)) =>
            {
                OpClass::IntegerMul
            }
            _ => class,
        });
        let ty = match kind {
            OpKind::Compare(_, a, _) => statement.ops.get(a.index()).map_or(op.ty, |o| o.ty),
            _ => width,
        };
        let mut result = Value::default();
        for (from, operand) in kind.operands().iter().filter_map(|o| Some((o, values.get(o.index())?))) {
            self.uses(statement, *from, operand);
            result.varies |= operand.varies || !operand.waits.is_empty();
            result.may_change |= operand.may_change;
            result.wait_for(operand);
        }
        let order = reordering(kind, op.flags);
        let mut operands = kind.operands().into_iter().filter_map(|o| values.get(o.index()));
        result.reduced = match order {
            Reordering::Any => operands.next().and_then(|v| v.reduced),
            Reordering::Of(by) => {
                let so_far = operands.filter_map(|v| v.reduced.filter(|r| r.0 == by)).map(|r| r.1);
                Some((by, 1 + so_far.sum::<usize>()))
            }
            Reordering::No => None,
        };
        if let Some(of) = narrowed(&statement.ops, at).filter(|_| result.varies) {
            self.result.narrowed.push((of, weight));
        }
        if let Some(class) = class {
            if result.varies {
                // A comparison and a conditional move, where there is no vector.
                if matches!(kind, OpKind::Call(..)) && class == OpClass::Integer {
                    result.delay(self.target.op(OpClass::Select, ty, 1).latency, order);
                    self.result.compared += weight;
                    self.result.extremes += if is_extreme(kind) { weight } else { 0.0 };
                }
                result.delay(self.target.op(class, ty, 1).latency, order);
                self.count(class, ty, weight);
                match (class, kind) {
                    // An intrinsic: it touches nothing.
                    (OpClass::Library, OpKind::Call(..)) => {
                        self.result.calls = true;
                        self.result.asked_calls += if asked { weight } else { 0.0 };
                    }
                    (OpClass::Library, _) => self.result.vectorisable = false,
                    _ => {}
                }
            } else {
                self.result.hoisted += 1.0;
                if result.may_change {
                    *self.result.recomputed.entry((class, ty)).or_insert(0.0) += weight;
                }
            }
        } else {
            result.delay(0.0, order);
        }
        result
    }

    /// A value is in a register from its definition to its last use.
    fn lives(&mut self, value: &Value, ty: ScalarType) {
        if let Some(number) = value.number.filter(|_| value.varies) {
            self.result.live.value(number, ty.is_float());
        }
    }

    fn uses(&mut self, statement: &Statement, at: OpId, operand: &Value) {
        let op = &statement.ops[at.index()];
        match (&op.kind, operand.number) {
            (OpKind::Const(_), Some(number)) if op.ty.is_float() => self.result.live.constant(number),
            _ => self.lives(operand, op.ty),
        }
    }

    fn count(&mut self, class: OpClass, ty: ScalarType, weight: f64) {
        *self.result.ops.entry((class, ty)).or_insert(0.0) += weight;
    }

    fn mask(&mut self, masked: bool, ty: ScalarType) {
        self.result.masked += f64::from(u8::from(masked));
        self.result.masked_narrow += f64::from(u8::from(masked && ty.size() < 4));
    }

    fn load(&mut self, touch: &crate::lower::Touch, ty: ScalarType, masked: bool) -> Value {
        self.widen(ty);
        let (Some(family), Some(address)) = (self.family(touch), &touch.address) else {
            self.result.loads.push(Stride::Far);
            self.result.computed += 1.0;
            return Value { varies: true, ..Value::default() };
        };
        let offset = address.constant;
        let at = self.location(family, offset, touch.bytes);
        if !masked && !touch.private {
            self.operands.push(at);
            self.locations[at].loaded_at = self.locations[at].loaded_at.min(self.now);
        }
        let f = &self.families[family];
        if let Some(value) = self.executed() {
            return value;
        }
        if self.locations[at].epoch == f.epoch
            && (self.locations[at].under == 0 || self.locations[at].under == self.under)
            && let Some(v) = &self.locations[at].value
        {
            if self.locations[at].stored && !touch.private {
                self.taken_over.push(at);
            }
            return v.clone();
        }
        let array = f.array;
        for (other, f) in self.families.iter_mut().enumerate() {
            f.looked_at += u32::from(other != family && f.array == array && !f.apart.contains(&family));
        }
        self.other_rows(at).for_each(|l| l.row_loaded = true);
        let f = &self.families[family];
        // The earlier iterations that write this element; the nearest one's value is what is loaded, but where it is written
        // under a condition.
        let mut nearest: Option<(f64, f64)> = None;
        if f.stride == 0.0 {
            if f.stored.contains(&offset) {
                nearest = Some((1.0, offset));
            }
        } else {
            let row = self.strides.get(f.array).and_then(|s| s.iter().nth_back(1));
            // PRE looks for the address of the load with the next value of the loop variable. There is none that has another constant:
            // it is computed from the address of the store.
            let first = offset - self.begins * f.stride;
            let plain = row.map_or(first, |row| first % row) == 0.0;
            for w in &f.stored {
                let distance = (w - offset) / f.stride;
                // Below in another row, which is no iteration's of this loop: that the loops around come by there, and wait where vectors
                // begin elsewhere in it, is for rows that are shifted against each other.
                let below =
                    distance.abs() >= self.iterations && row.is_some_and(|row| (w - offset) % row == 0.0);
                if distance.fract() != 0.0 || below {
                    continue;
                }
                if distance >= 1.0 {
                    if distance == 1.0 && plain && f.stored_so_far && !f.clobbered && !masked {
                        self.result.passed_on.push(f.array);
                    } else {
                        let most = lanes_that_forward(distance, touch.bytes);
                        self.result.max_lanes = self.result.max_lanes.min(most);
                    }
                    if nearest.is_none_or(|n| distance < n.0) {
                        nearest = Some((distance, *w));
                    }
                } else if distance < 0.0 && f.stored_so_far {
                    self.result.max_lanes = self.result.max_lanes.min(-distance);
                }
            }
        }
        let mut waits = Waits::new();
        if let Some((distance, written)) = nearest {
            // Accumulators that may be stored to through other references go through memory; so do values of iterations long
            // before, but these are there in time.
            let through = if f.stride == 0.0 && f.clobbered { self.target.store_forward() } else { 0.0 };
            let order = if f.stride == 0.0 { Reordering::Any } else { Reordering::No };
            waits.push(self.chains.carried(family, written, distance, through, order));
        }
        let in_register = f.stride == 0.0 && !f.clobbered;
        let unchanged = in_register && f.stored.is_empty() && self.outer.is_none_or(|d| f.along(d) == 0.0);
        // What only some data make happen is not done in front of the loop.
        let invariant = unchanged && !self.by_data;
        let stored_over = |facts: &Facts| {
            let meets = |o: &Family| o.array != f.array && facts.may_overlap(o.array, f.array);
            self.families.iter().any(|o| !o.stored.is_empty() && !o.private && meets(o))
        };
        let may_change = invariant && !f.private && self.aliases.is_some_and(stored_over);
        // Loaded before the loop; later values are those stored.
        let promoted = in_register && (invariant || !f.stored.is_empty());
        let epoch = f.epoch;
        let stride = self.stride(family, offset, touch.bytes, false);
        let asked = self.by_data && f.stride == 0.0 && !promoted && !touch.private;
        self.result.asked += f64::from(u8::from(asked));
        self.result.computed += f64::from(u8::from((self.step(family) / touch.bytes).fract() != 0.0));
        let first = !self.locations[at].loaded;
        if touch.private && !promoted {
            // Set by another loop for each iteration of this one, or not at all.
        } else if invariant {
            self.result.invariant += usize::from(first);
            self.result.reloaded += f64::from(u8::from(may_change));
        } else if !promoted {
            self.result.loads.push(stride);
            self.result.skipped_loads += self.skipped;
            self.mask(masked, ty);
            // How long that takes differs: in TSVC's s278 five cycles, with rows side by side twice forwarding. The program is not said to
            // be slow for it.
            let behind = self.aliases.is_none() && self.locations[at].cases.is_any();
            self.result.behind_masks += f64::from(u8::from(behind));
        }
        let number = Some(self.numbers.next());
        let location = &mut self.locations[at];
        location.loaded = true;
        location.epoch = epoch;
        let value =
            Value { varies: !invariant, may_change, waits, path: location.through, reduced: None, number };
        location.value = Some(value.clone());
        location.under = 0;
        if promoted {
            number.into_iter().for_each(|n| self.result.live.accumulates(n));
        } else {
            self.lives(&value, ty);
        }
        value
    }

    fn store(&mut self, touch: &crate::lower::Touch, value: Value, ty: ScalarType, masked: bool) {
        self.widen(ty);
        let (Some(family), Some(address)) = (self.family(touch), &touch.address) else {
            self.result.stores.push(Stride::Far);
            self.result.vectorisable = false;
            return;
        };
        let array = touch.array;
        for (i, f) in self.families.iter_mut().enumerate() {
            let meets = match f.array == array {
                true => !f.apart.contains(&family),
                false => !f.private && self.aliases.is_some_and(|facts| facts.may_overlap(f.array, array)),
            };
            f.epoch += u32::from(i != family && meets);
        }
        self.families[family].stored_so_far = true;
        let at = self.location(family, address.constant, touch.bytes);
        // The start of a sum that the program stores behind a loop has that store's place.
        let needed = self.operands.iter().map(|from| self.locations[*from].loaded_at).max();
        self.locations[at].stored_at = needed.unwrap_or(0).max(self.now).max(self.locations[at].stored_at);
        if !touch.private {
            let next = self.operands.iter().map(|from| {
                let l = &self.locations[*from];
                ((l.family, (l.offset + self.families[l.family].stride).to_bits()), at)
            });
            self.handed_on.extend(next);
        }
        self.in_turn |= self.taken_over.iter().any(|from| *from != at);
        self.chains.stored(family, address.constant, &value.waits);
        self.result.path = self.result.path.max(value.path);
        if self.families[family].stride == 0.0 && value.waits.iter().any(|w| w.reordering == Reordering::No) {
            self.result.max_lanes = 1.0;
        }
        let f = &self.families[family];
        let location = &mut self.locations[at];
        // What may have been looked at through other references has to be there.
        let needed = f.looked_at > location.looked_at || location.row_loaded;
        // A store that may not happen leaves what was stored before.
        if f.promoted() {
            value.number.into_iter().for_each(|n| self.result.live.accumulates(n));
        }
        let masked_too = !self.case.is_empty();
        // The compiler makes one store of those of the program, wherever it finds the place.
        let apart = self.aliases.is_none() && !location.cases.contain(&self.case);
        let both = location.cases.is_any() && masked_too && apart;
        let joined = location.cases.add(self.case.clone());
        let asked = f.promoted() && self.by_data && !touch.private;
        if asked {
            // It is known in a register, but stored wherever data ask for it.
            self.result.max_lanes = 1.0;
            self.result.stores.push(Stride::Invariant);
        }
        if joined > 0 && !f.promoted() && !touch.private {
            // What is selected is stored once: where all cases are found under no mask.
            if !location.cases.is_any() {
                let masks = std::mem::take(&mut location.masks);
                self.result.masked_stores -= masks;
                self.result.masked -= masks;
                self.result.masked_narrow -= if ty.size() < 4 { masks } else { 0.0 };
            }
        } else if !location.stored || needed || (f.stride == 0.0 || both) && !f.promoted() {
            location.stored = true;
            location.looked_at = f.looked_at;
            location.row_loaded = false;
            if f.promoted() {
                self.result.accumulators += usize::from(!asked);
            } else if !touch.private {
                let s = self.stride(family, address.constant, touch.bytes, true);
                if s == Stride::Invariant {
                    // Stored in every iteration, in order.
                    self.result.max_lanes = 1.0;
                }
                let mask = f64::from(u8::from(masked_too));
                self.locations[at].masks += mask;
                self.result.masked_stores += mask;
                self.result.stores.push(s);
                self.result.skipped_stores += self.skipped;
                self.mask(masked, ty);
            }
        }
        let forward = self.target.store_forward();
        for other in self.other_rows(at) {
            if let Some(value) = other.value.take().filter(|_| other.stored) {
                other.through = value.path + forward;
            }
        }
        let epoch = self.families[family].epoch;
        let location = &mut self.locations[at];
        location.shape = self.shape;
        location.reduced = value.reduced.map_or(0, |r| r.1);
        // A sum is of all that was added to it.
        if !self.operands.contains(&at) {
            location.loaded_for.clear();
        }
        location.loaded_for.extend(self.operands.iter().copied().filter(|from| *from != at));
        // Known for the rest of the iteration, or of what is under the same guard; where data decide it may not have happened.
        location.value =
            (!self.by_data || !location.cases.is_any()).then_some(Value { varies: true, ..value });
        location.under = self.under;
        location.epoch = epoch;
    }

    fn widen(&mut self, ty: ScalarType) {
        if self.result.widest.is_none_or(|w| w.size() < ty.size()) {
            self.result.widest = Some(ty);
        }
    }

    fn finish(mut self) -> Body {
        // Copies of a statement that store neighbours can be packed into vectors.
        let in_memory = |l: &&Location| l.stored && !self.families[l.family].private;
        let stored = sorted(self.locations.iter().filter(in_memory));
        let run = self.shortest_run();
        let through_memory = |f: &&Family| f.stride == 0.0 && f.clobbered;
        let accumulators: usize = self.families.iter().filter(through_memory).map(|f| f.stored.len()).sum();
        // The compiler keeps their loads and stores in order, one after the other.
        let in_order = accumulators.saturating_sub(1) as f64 * self.target.store_forward();
        // Of several stores to one element only the last one is left: a sum of copies is in a register until then.
        let late = |(key, stored): &((usize, u64), usize)| {
            let f = &self.families[key.0];
            let next = self.index.get(key).map_or(u32::MAX, |at| self.locations[*at].loaded_at);
            let is_late = next != u32::MAX && next > self.locations[*stored].stored_at;
            (is_late && f.stride != 0.0 && f.stored.is_empty() && !f.clobbered).then_some(f.array)
        };
        self.result.handed_on = self.handed_on.iter().filter_map(late).collect();
        self.result.chain = self.chains.longest() + in_order;
        // Nor do values of several iterations before make vectors beside it.
        let others = self.result.chain > 0.0 || self.result.max_lanes < f64::MAX;
        if !self.result.passed_on.is_empty() && others {
            self.result.max_lanes = 1.0;
        }
        // Nor does it move them across what may touch the same elements.
        let between =
            stored.iter().any(|s| self.families[s.family].stride != 0.0 && self.families[s.family].observed);
        let apart = stored.is_empty() || accumulators > 0 || between || self.in_turn || self.branching;
        self.result.adjacent = if apart { 1 } else { run };
        if self.result.adjacent <= 1 && self.result.chain > 0.0 && !self.branching && self.aliases.is_none() {
            let mut rows: FxHashMap<u64, usize> = FxHashMap::default();
            stored.iter().for_each(|l| *rows.entry(l.shape).or_default() += 1);
            self.result.dividing = rows.into_values().min().unwrap_or(0);
        }
        let is_loaded = |l: &Location| l.loaded && !self.families[l.family].private;
        let varies = |l: &Location| is_loaded(l) && self.families[l.family].stride != 0.0;
        if self.result.adjacent > 1 {
            let widest = self.result.widest.map_or(1, |ty| self.target.lanes(ty) as usize);
            let least = self.result.adjacent.min(widest);
            let Elsewhere { across, permuted, shared } = self.elsewhere(&stored, least);
            let all =
                self.locations.iter().enumerate().filter(|(at, l)| is_loaded(l) && !across.contains(at));
            let (along, before): (Vec<_>, Vec<_>) = all.map(|(_, l)| l).partition(|l| varies(l));
            let before = before.into_iter().filter(|l| self.families[l.family].stored.is_empty());
            // What is brought together takes as many permutations for each of the vectors that need it, as LLVM counts: it does not see
            // that others need the same. What goes to memory comes from there, too. For accumulators that is in front of the loop
            // and behind it, where others may want them one by one; and what all lanes take is spread over them.
            let of_least = |count: &dyn Fn(usize) -> bool| {
                let each = stored.iter().map(|l| l.loaded_for.iter().filter(|from| count(**from)).count());
                each.min().unwrap_or(0) as f64
            };
            let reordered = of_least(&|from| permuted.contains(&from));
            let brought = of_least(&|from| across.contains(&from)) * least as f64 + reordered;
            self.result.adjacent_permuted = reordered * stored.len() as f64;
            let spread = of_least(&|from| shared.contains(&from));
            let all = self.result.ops.values().sum::<f64>() + 2.0 * self.result.stores.len() as f64;
            let saved = |all: f64| all / stored.len() as f64 * (least - 1) as f64;
            let dear = brought > saved(all);
            let perhaps = brought + spread <= saved(all + 2.0 * self.result.accumulators as f64);
            self.result.perhaps_adjacent = dear && perhaps;
            if dear && !perhaps {
                self.result.adjacent = 1;
            }
            let together = |all: &[&Location]| runs(all).filter(|r| *r >= least).sum();
            let (along, before) = (together(&sorted(along.into_iter())), together(&sorted(before)));
            (self.result.adjacent_loads, self.result.adjacent_invariant) = (along, before);
        }
        // Sums of neighbours, and nothing else; those of each iteration by themselves, or over all of them.
        let loaded = sorted(self.locations.iter().filter(|l| varies(l) && !l.stored));
        let over_all = stored.iter().all(|s| self.families[s.family].promoted());
        let each = !self.differences && self.result.chain == 0.0;
        if (over_all || each) && self.result.max_lanes > 1.0 {
            let summands = stored.iter().map(|s| s.reduced).min().unwrap_or(0);
            self.result.sums = stored.len();
            self.result.summed = runs(&loaded).min().unwrap_or(0).min(summands);
            self.result.differences = self.differences;
        }
        self.result
    }
}

/// Iterations that a loop has at most, as far as the compiler knows, which may be told of each two that they are independent: rows of a
/// square over a triangle are as long as its longest.
fn most_iterations(l: &Loop, told: bool) -> f64 {
    match l.constant {
        Some(count) => count,
        None if told && l.exact => l.trip,
        None if told => 2.0 * l.trip,
        None => f64::INFINITY,
    }
}

/// Lanes with which LLVM vectorises a loop that loads what it stored so many iterations before. It wants vectors that are
/// forwarded from one store or long written (`couldPreventStoreLoadForward` in its LoopAccessAnalysis).
fn lanes_that_forward(distance: f64, bytes: f64) -> f64 {
    let long_written = 8.0 * bytes;
    let forwards = |lanes: &f64| distance % lanes == 0.0 || (distance / lanes).floor() >= long_written;
    [2.0, 4.0, 8.0, 16.0, 32.0, 64.0].into_iter().take_while(forwards).last().unwrap_or(1.0)
}
