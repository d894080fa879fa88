//! Random loops whose counters go by steps that only the program knows: in either direction, by nothing, past their bounds, around the
//! ends of their types.
//!
//! [`case`] makes a case ([`cases`](crate::cases)) from a seed: a function, and an `entry` that calls it with starts, bounds and steps. Each call is
//! walked first: what would leave the block, decide by poison, or run for long is no call.

use crate::ir_loops::Writer;
use fastrand::Rng;
use std::fmt::Write;

/// Words of four bytes of a call's part of the block, and which of them arrays begin at.
const WORDS: i64 = 384;
const FIRST: std::ops::Range<i64> = 120..150;
/// Iterations of one call, at most.
const STEPS: usize = 1500;
/// Calls of a case; values tried for them.
const CALLS: (usize, usize) = (8, 80);

#[derive(Clone, Copy, Debug)]
enum Start {
    Zero,
    Param,
    /// One less than the bound's parameter, for loops that go down.
    Last,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Constant(i64),
    Param,
    /// Twice the parameter, which may not wrap.
    Twice,
    /// The parameter is taken away.
    Less,
    /// The parameter twice, one addition after the other.
    Sum,
}

const PREDICATES: [&str; 9] = ["slt", "sle", "ult", "ule", "ne", "sgt", "sge", "ugt", "uge"];

#[derive(Clone, Debug)]
struct Loop {
    bits: u32,
    /// Of [`PREDICATES`].
    predicate: usize,
    /// The bound comes first in the comparison.
    swapped: bool,
    nsw: bool,
    /// Tested at the end.
    last: bool,
    start: Start,
    step: Step,
    /// The bound is the parameter times the step's.
    times: bool,
    /// The counter is a pointer into an array.
    walks: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Factor {
    Constant(i64),
    /// The parameter that is no start, bound or step.
    Param,
}

/// A factor times the counter of a loop, or the number of its iteration.
#[derive(Clone, Copy, Debug)]
struct Term {
    of: usize,
    iteration: bool,
    unsigned: bool,
    factor: Factor,
}

#[derive(Clone, Debug)]
struct Place {
    array: usize,
    /// From where the pointer of a loop is, in the place of where the array begins.
    walked: Option<usize>,
    terms: Vec<Term>,
    constant: i64,
}

/// `to = 3 * to + from + iteration`
#[derive(Clone, Debug)]
struct Store {
    to: Place,
    from: Option<Place>,
    iteration: Option<usize>,
}

/// Loops inside each other, each with what it does in front of the next one.
#[derive(Clone, Debug)]
struct Function {
    loops: Vec<Loop>,
    stores: Vec<Vec<Store>>,
    /// What no region contains stands in the outermost loop: it is around the region.
    fenced: bool,
}

const ARRAYS: usize = 3;

fn function(rng: &mut Rng) -> Function {
    let depth = [1, 1, 2, 2, 2, 3][rng.usize(0..6)];
    let loops: Vec<Loop> = (0..depth).map(|_| one_loop(rng)).collect();
    let stores = (0..depth).map(|level| {
        let count = if level + 1 == depth { rng.usize(1..3) } else { usize::from(rng.u32(0..5) == 0) };
        (0..count).map(|_| store(rng, &loops[..=level])).collect()
    });
    Function { stores: stores.collect(), fenced: depth > 1 && rng.u32(0..3) == 0, loops }
}

fn one_loop(rng: &mut Rng) -> Loop {
    let walks = (rng.u32(0..4) == 0).then(|| rng.usize(0..ARRAYS));
    let bits = if walks.is_some() { 64 } else { [8, 8, 16, 32, 32, 64, 64][rng.usize(0..7)] };
    let predicate = match walks {
        None => [0, 0, 0, rng.usize(0..9)][rng.usize(0..4)],
        Some(_) => [2, 2, 3, 4, 4, 7, 8][rng.usize(0..7)],
    };
    let start = match rng.u32(0..4) {
        0 => Start::Param,
        1 if predicate > 4 => Start::Last,
        _ if predicate > 4 => Start::Param,
        _ => Start::Zero,
    };
    let step = match rng.u32(0..9) {
        0 | 1 => Step::Constant(if predicate > 4 { -1 } else { 1 } * rng.i64(1..6)),
        2 => Step::Twice,
        3 => Step::Sum,
        4 => Step::Less,
        _ if predicate > 4 && rng.bool() => Step::Less,
        _ => Step::Param,
    };
    let (swapped, nsw, last, times) =
        (rng.bool(), walks.is_some() || rng.bool(), rng.u32(0..4) == 0, rng.u32(0..5) == 0);
    Loop { bits, predicate, swapped, nsw, last, start, step, times, walks }
}

fn place(rng: &mut Rng, loops: &[Loop]) -> Place {
    let mut terms = Vec::new();
    let walked = (0..loops.len()).rev().find(|l| loops[*l].walks.is_some()).filter(|_| rng.u32(0..5) > 0);
    for (of, l) in loops.iter().enumerate() {
        if walked == Some(of) || rng.u32(0..8) == 0 {
            continue;
        }
        let factor = match rng.u32(0..5) {
            0 => Factor::Param,
            1 => Factor::Constant(rng.i64(1..9)),
            _ => Factor::Constant(1),
        };
        let (iteration, unsigned) = (l.walks.is_some() || rng.u32(0..4) == 0, rng.u32(0..4) == 0);
        terms.push(Term { of, iteration, unsigned, factor });
    }
    Place { array: rng.usize(0..ARRAYS), walked, terms, constant: rng.i64(0..3) }
}

fn store(rng: &mut Rng, loops: &[Loop]) -> Store {
    let to = place(rng, loops);
    let from = match rng.u32(0..3) {
        0 => None,
        1 => Some(Place { array: rng.usize(0..ARRAYS), walked: None, ..to.clone() }),
        _ => Some(place(rng, loops)),
    };
    Store { to, from, iteration: (rng.u32(0..3) == 0).then(|| rng.usize(0..loops.len())) }
}

/// What a loop is called with.
#[derive(Clone, Copy, Debug)]
struct Values {
    start: i64,
    bound: i64,
    step: i64,
}

fn wrapped(value: i128, bits: u32) -> i64 {
    let unused = 64 - bits;
    ((value as i64) << unused) >> unused
}

fn values(rng: &mut Rng, l: &Loop) -> Values {
    let most = wrapped((1i128 << (l.bits - 1)) - 1, l.bits);
    let down = l.predicate > 4;
    let sign = |away: bool| if away { -1 } else { 1 };
    let step = rng.i64(1..8) * sign(down != matches!(l.step, Step::Less));
    let (near, far) = (rng.i64(0..3), rng.i64(0..28));
    let (start, bound) = if down { (far, near) } else { (near, far) };
    if l.times {
        return Values {
            start,
            bound: rng.i64(-2..7),
            step: if rng.u32(0..6) == 0 { rng.i64(-3..2) } else { step },
        };
    }
    let odd = if l.walks.is_some() { [0, 5, 15][rng.usize(0..3)] } else { rng.u32(0..16) };
    match odd {
        0 => Values { start, bound, step: rng.i64(-3..4) },
        1 => Values { start: most - far, bound: most - near, step },
        2 => Values {
            start: wrapped((-i128::from(most) - 1 + i128::from(far)).max(i64::MIN.into()), l.bits),
            bound: most.wrapping_neg(),
            step: -step,
        },
        3 => Values {
            start,
            bound: wrapped(rng.i64(..).into(), l.bits),
            step: wrapped(rng.i64(..).into(), l.bits),
        },
        4 => Values { start, bound, step: wrapped(i128::from(most / 2 + 1) - rng.i128(-3..4), l.bits) },
        5 if l.predicate == 4 => Values { start, bound: start + step * rng.i64(0..8), step },
        6 => Values { start: near - 9, bound: far - 9, step },
        _ => Values { start, bound, step },
    }
}

struct Walk<'f> {
    function: &'f Function,
    values: &'f [Values],
    param: i64,
    arrays: [i64; ARRAYS],
    counters: Vec<Option<i64>>,
    iterations: Vec<i64>,
    steps: usize,
}

impl Walk<'_> {
    /// Whether a pointer stays in the part of the block, which is all that is known to be in bounds.
    fn stays(&self, level: usize, at: i64) -> Option<i64> {
        let Some(array) = self.function.loops[level].walks else { return Some(at) };
        let from = self.arrays[array];
        (0..=WORDS).contains(&from.checked_add(at)?).then_some(at)
    }

    /// The bound; nothing where it is poison.
    fn bound(&self, level: usize) -> Option<i64> {
        let (l, given) = (&self.function.loops[level], self.values[level]);
        if !l.times {
            return self.stays(level, given.bound);
        }
        let exact = i128::from(given.bound) * i128::from(given.step);
        let bound = Some(wrapped(exact, l.bits)).filter(|w| i128::from(*w) == exact)?;
        self.stays(level, bound)
    }

    /// The step; nothing where it is poison.
    fn step(&self, level: usize) -> Option<i64> {
        let (l, given) = (&self.function.loops[level], self.values[level].step);
        match l.step {
            Step::Constant(c) => Some(c),
            Step::Twice => {
                let twice = i128::from(given) * 2;
                Some(wrapped(twice, l.bits)).filter(|w| i128::from(*w) == twice)
            }
            Step::Param | Step::Less | Step::Sum => Some(given),
        }
    }

    fn next(&self, level: usize) -> Option<i64> {
        let l = &self.function.loops[level];
        let (from, step) = (self.counters[level]?, self.step(level)?);
        let add = |from: i64, by: i128| {
            let exact = i128::from(from) + by;
            let next = Some(wrapped(exact, l.bits)).filter(|w| !l.nsw || i128::from(*w) == exact)?;
            self.stays(level, next)
        };
        let step = i128::from(step);
        match l.step {
            Step::Less => add(from, -step),
            Step::Sum => add(add(from, step)?, step),
            _ => add(from, step),
        }
    }

    fn goes_on(&self, level: usize) -> Option<bool> {
        let (l, v) = (&self.function.loops[level], self.counters[level]?);
        let b = self.bound(level)?;
        if l.walks.is_some() {
            // Distances in the block compare as addresses do.
            return Some(match PREDICATES[l.predicate] {
                "ult" => v < b,
                "ule" => v <= b,
                "ne" => v != b,
                "ugt" => v > b,
                _ => v >= b,
            });
        }
        // Extended by their signs they compare as without.
        let (x, y) = (v as u64, b as u64);
        Some(match PREDICATES[l.predicate] {
            "slt" => v < b,
            "sle" => v <= b,
            "ult" => x < y,
            "ule" => x <= y,
            "ne" => x != y,
            "sgt" => v > b,
            "sge" => v >= b,
            "ugt" => x > y,
            _ => x >= y,
        })
    }

    /// Whether it is in the part of the block that the call has.
    fn touches(&self, place: &Place) -> Option<()> {
        let mut at = i128::from(place.constant);
        for term in &place.terms {
            let l = &self.function.loops[term.of];
            let factor = match term.factor {
                Factor::Constant(c) => c,
                Factor::Param => self.param,
            };
            let value = match (term.iteration, term.unsigned) {
                (true, _) => i128::from(self.iterations[term.of]),
                (false, false) => i128::from(self.counters[term.of]?),
                (false, true) => i128::from(self.counters[term.of]?) & ((1i128 << l.bits) - 1),
            };
            at += i128::from(factor) * value;
            i64::try_from(i128::from(factor) * value).ok()?;
            i64::try_from(at).ok()?;
        }
        let base = match place.walked {
            None => self.arrays[place.array],
            Some(level) => self.arrays[self.function.loops[level].walks?] + self.counters[level]?,
        };
        (0..i128::from(WORDS)).contains(&(i128::from(base) + at)).then_some(())
    }

    fn start(&self, level: usize) -> i64 {
        let (l, given) = (&self.function.loops[level], self.values[level]);
        match l.start {
            Start::Zero => 0,
            Start::Param => given.start,
            Start::Last => wrapped(i128::from(given.start) - 1, l.bits),
        }
    }

    /// Whether the loop, where it runs, runs for long. In another order it may where the original does not come to it.
    fn is_long(&self, level: usize) -> bool {
        let (Some(bound), Some(step)) = (self.bound(level), self.step(level)) else { return false };
        let distance = i128::from(bound) - i128::from(self.start(level));
        let step =
            i128::from(step) * if matches!(self.function.loops[level].step, Step::Less) { -1 } else { 1 };
        step != 0 && distance / step > STEPS as i128
    }

    fn run(&mut self, level: usize) -> Option<()> {
        let Some(l) = self.function.loops.get(level) else { return Some(()) };
        self.counters[level] = self.stays(level, self.start(level));
        self.iterations[level] = 0;
        loop {
            if !l.last && !self.goes_on(level)? {
                return Some(());
            }
            self.steps += 1;
            if self.steps > STEPS {
                return None;
            }
            for store in &self.function.stores[level] {
                self.touches(&store.to)?;
                store.from.as_ref().map_or(Some(()), |from| self.touches(from))?;
            }
            self.run(level + 1)?;
            self.counters[level] = self.next(level);
            self.iterations[level] += 1;
            if l.last && !self.goes_on(level)? {
                return Some(());
            }
        }
    }
}

impl Writer {
    fn place(&mut self, f: &Function, place: &Place) -> String {
        let mut at = place.constant.to_string();
        for term in &place.terms {
            let bits = f.loops[term.of].bits;
            let mut value = if term.iteration { format!("%k{}", term.of) } else { format!("%x{}", term.of) };
            if !term.iteration && bits < 64 {
                let extend = if term.unsigned { "zext" } else { "sext" };
                value = self.value(&format!("{extend} i{bits} {value} to i64"));
            }
            let factor = match term.factor {
                Factor::Constant(c) => c.to_string(),
                Factor::Param => "%m".to_owned(),
            };
            let product = self.value(&format!("mul nsw i64 {factor}, {value}"));
            at = self.value(&format!("add nsw i64 {at}, {product}"));
        }
        let base = place.walked.map_or_else(|| format!("%a{}", place.array), |level| format!("%x{level}"));
        self.value(&format!("getelementptr inbounds i32, ptr {base}, i64 {at}"))
    }

    fn store(&mut self, f: &Function, store: &Store) {
        let to = self.place(f, &store.to);
        let old = self.value(&format!("load i32, ptr {to}, align 4"));
        let mut sum = self.value(&format!("mul i32 {old}, 3"));
        if let Some(from) = &store.from {
            let from = self.place(f, from);
            let read = self.value(&format!("load i32, ptr {from}, align 4"));
            sum = self.value(&format!("add i32 {sum}, {read}"));
        }
        if let Some(of) = store.iteration {
            let number = self.value(&format!("trunc i64 %k{of} to i32"));
            sum = self.value(&format!("add i32 {sum}, {number}"));
        }
        self.line(&format!("store i32 {sum}, ptr {to}, align 4"));
    }

    fn nest(&mut self, f: &Function, level: usize) {
        let Some(l) = f.loops.get(level) else { return };
        let bits = l.bits;
        let start = match l.start {
            Start::Zero => "0".to_owned(),
            Start::Param => format!("%s{level}"),
            Start::Last => self.value(&format!("add i{bits} %s{level}, -1")),
        };
        let mut end = format!("%b{level}");
        if l.times {
            end = self.value(&format!("mul nsw i{bits} {end}, %d{level}"));
        }
        let ty = if l.walks.is_some() { "ptr".to_owned() } else { format!("i{bits}") };
        let [start, end] = [start, end].map(|at| match l.walks {
            Some(a) => self.value(&format!("getelementptr inbounds i32, ptr %a{a}, i64 {at}")),
            None => at,
        });
        let before = self.block.clone();
        self.line(&format!("br label %head{level}"));
        self.begin(&format!("head{level}"));
        self.line(&format!("%x{level} = phi {ty} [ {start}, %{before} ], [ %n{level}, %latch{level} ]"));
        self.line(&format!("%k{level} = phi i64 [ 0, %{before} ], [ %l{level}, %latch{level} ]"));
        let test = |w: &mut Self, of: String, yes: &str| {
            let (mut predicate, mut operands) = (PREDICATES[l.predicate].to_owned(), [of, end.clone()]);
            if l.swapped {
                operands.reverse();
                predicate = predicate.replace('l', "?").replace('g', "l").replace('?', "g");
            }
            let more = w.value(&format!("icmp {predicate} {ty} {}, {}", operands[0], operands[1]));
            w.line(&format!("br i1 {more}, label %{yes}, label %end{level}"));
        };
        if !l.last {
            test(self, format!("%x{level}"), &format!("body{level}"));
            self.begin(&format!("body{level}"));
        }
        for store in &f.stores[level] {
            self.store(f, store);
        }
        if f.fenced && level == 0 {
            self.line("fence seq_cst");
        }
        self.nest(f, level + 1);
        self.line(&format!("br label %latch{level}"));
        self.begin(&format!("latch{level}"));
        let by = match l.step {
            Step::Constant(c) => c.to_string(),
            Step::Twice => self.value(&format!("mul nsw i{bits} %d{level}, 2")),
            Step::Less if l.walks.is_some() => self.value(&format!("sub nsw i64 0, %d{level}")),
            Step::Param | Step::Less | Step::Sum => format!("%d{level}"),
        };
        let flags = if l.nsw { "nsw " } else { "" };
        let next = |from: &str| match (l.walks, l.step) {
            (Some(_), _) => format!("getelementptr inbounds i32, ptr {from}, i64 {by}"),
            (None, Step::Less) => format!("sub {flags}i{bits} {from}, {by}"),
            (None, _) => format!("add {flags}i{bits} {from}, {by}"),
        };
        let mut from = format!("%x{level}");
        if matches!(l.step, Step::Sum) {
            from = self.value(&next(&from));
        }
        self.line(&format!("%n{level} = {}", next(&from)));
        self.line(&format!("%l{level} = add nuw nsw i64 %k{level}, 1"));
        match l.last {
            true => test(self, format!("%n{level}"), &format!("head{level}")),
            false => self.line(&format!("br label %head{level}")),
        }
        self.begin(&format!("end{level}"));
    }
}

impl Function {
    fn text(&self) -> String {
        let mut w = Writer::default();
        let _ = write!(w.out, "define void @test(ptr %a0, ptr %a1, ptr %a2, i64 %m");
        for (level, l) in self.loops.iter().enumerate() {
            let bits = l.bits;
            let _ = write!(w.out, ", i{bits} %s{level}, i{bits} %b{level}, i{bits} %d{level}");
        }
        let _ = writeln!(w.out, ") {{");
        w.begin("start");
        w.nest(self, 0);
        w.line("ret void");
        w.out + "}\n"
    }
}

/// The text of a case; `None` where no call of it is defined.
pub fn case(seed: u64) -> Option<String> {
    let mut rng = Rng::with_seed(seed ^ 0x57_41de5);
    let function = function(&mut rng);
    let mut calls = String::new();
    let mut count = 0;
    for _ in 0..CALLS.1 {
        if count < CALLS.0
            && let Some(call) = call(&function, count, &mut rng)
        {
            calls += &call;
            count += 1;
        }
    }
    let text = function.text();
    (count > 0).then(|| format!("{text}define i64 @entry(ptr %p) {{\nstart:\n{calls}  ret i64 0\n}}\n"))
}

fn call(function: &Function, number: usize, rng: &mut Rng) -> Option<String> {
    let all: Vec<Values> = function.loops.iter().map(|l| values(rng, l)).collect();
    let mut arrays = [0; ARRAYS];
    for at in &mut arrays {
        *at = if rng.u32(0..3) == 0 {
            rng.i64(FIRST)
        } else {
            [0, FIRST.end, 2 * FIRST.start][rng.usize(0..3)]
        };
    }
    let depth = function.loops.len();
    let (counters, iterations) = (vec![None; depth], vec![0; depth]);
    let mut walk =
        Walk { function, values: &all, param: rng.i64(0..12), arrays, counters, iterations, steps: 0 };
    if (0..function.loops.len()).any(|level| walk.is_long(level)) {
        return None;
    }
    walk.run(0)?;
    let mut out = String::new();
    let mut arguments = Vec::new();
    for (a, at) in arrays.iter().enumerate() {
        let at = number as i64 * WORDS + at;
        let _ = writeln!(out, "  %c{number}.{a} = getelementptr i32, ptr %p, i64 {at}");
        arguments.push(format!("ptr %c{number}.{a}"));
    }
    arguments.push(format!("i64 {}", walk.param));
    for (l, Values { start, bound, step }) in function.loops.iter().zip(&all) {
        arguments.extend([start, bound, step].map(|v| format!("i{} {v}", l.bits)));
    }
    let _ = writeln!(out, "  call void @test({})", arguments.join(", "));
    Some(out)
}
