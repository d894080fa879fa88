//! Random loops that read bounds, strides, fields and row pointers again and again, in memory that they write, too.
//!
//! [`case`] makes a case ([`cases`](crate::cases)) from a seed: a function, and an `entry` that calls it with objects that lie apart, between, or on
//! what it stores. Each call is walked first, word for word: what would leave the block, read a number as a pointer, or run for
//! long is no call.

use crate::ir_loops::Writer;
use fastrand::Rng;
use std::fmt::Write;

/// Words of eight bytes that a call may touch.
const WORDS: usize = 96;
/// Loads and stores of one call, at most.
const STEPS: usize = 3000;
/// Calls of a case; placings tried for them.
const CALLS: (usize, usize) = (8, 60);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Number(i64),
    /// A word of the block; none: null.
    Pointer(Option<usize>),
}

/// Where a pointer comes from.
#[derive(Clone, Debug)]
enum Base {
    /// An argument: the object, or one of two arrays.
    Argument(usize),
    /// A pointer of the object.
    Loaded(usize),
    /// `table[variable + constant]`
    Row(usize, i64),
}

#[derive(Clone, Debug)]
enum Number {
    Constant(i64),
    /// The integer argument.
    Count,
    Variable(usize),
    /// A word behind a pointer.
    Field(Base, usize),
}

#[derive(Clone, Debug)]
enum Stmt {
    /// `base[sum of number * variable + constant] = value & 7`, where the value is a sum.
    Store(Base, Vec<(Number, usize)>, i64, Vec<Number>),
    /// `base[variable + constant] = pointer`
    Point(Base, usize, i64, usize),
    /// `for (v = 0; v < bound; v++)`, tested at the end or not.
    Loop(usize, Number, bool, Vec<Stmt>),
    /// `if (number > constant)`
    If(Number, i64, Vec<Stmt>),
}

/// Words of the object: first numbers, then pointers.
const NUMBERS: usize = 4;
const POINTERS: usize = 3;

struct Function {
    body: Vec<Stmt>,
    /// What is read in front under `count > 2`, and added to what is stored.
    known: Option<usize>,
}

/// Pointers of the table.
const ROWS: usize = 7;

fn base(rng: &mut Rng, around: &[usize]) -> Base {
    match rng.u32(0..8) {
        5.. => Base::Row(around[rng.usize(0..around.len())], rng.i64(0..2)),
        0 | 1 => Base::Loaded(NUMBERS + rng.usize(0..POINTERS)),
        2 if rng.u32(0..3) == 0 => Base::Argument(0),
        _ => Base::Argument(1 + rng.usize(0..2)),
    }
}

fn field(rng: &mut Rng) -> Number {
    match rng.u32(0..4) {
        0 => Number::Field(Base::Loaded(NUMBERS + rng.usize(0..POINTERS)), rng.usize(0..3)),
        _ => Number::Field(Base::Argument(0), rng.usize(0..NUMBERS)),
    }
}

fn stmts(rng: &mut Rng, depth: usize, variables: &mut usize, around: &mut Vec<usize>) -> Vec<Stmt> {
    let mut body = Vec::new();
    let count = if around.is_empty() { 1 } else { 1 + rng.usize(0..2) };
    for at in 0..count {
        if depth > 0 && (around.is_empty() || (at == 0 && rng.u32(0..3) > 0)) {
            let v = *variables;
            *variables += 1;
            let bound = match (rng.u32(0..6), around.last()) {
                (0, _) => Number::Constant(rng.i64(1..5)),
                (1, _) => Number::Count,
                (2, Some(outer)) => Number::Variable(*outer),
                _ => field(rng),
            };
            around.push(v);
            let inner = stmts(rng, depth - 1, variables, around);
            around.pop();
            body.push(Stmt::Loop(v, bound, rng.u32(0..3) == 0, inner));
            continue;
        }
        let store = match rng.u32(0..12) {
            0 => Stmt::Point(
                base(rng, around),
                around[rng.usize(0..around.len())],
                rng.i64(0..4),
                rng.usize(0..3),
            ),
            _ => {
                let terms = around.iter().map(|v| {
                    let factor =
                        if rng.u32(0..3) == 0 { field(rng) } else { Number::Constant(rng.i64(1..5)) };
                    (factor, *v)
                });
                let terms = terms.collect();
                let mut value = vec![Number::Variable(around[rng.usize(0..around.len())])];
                if rng.bool() {
                    value.push(field(rng));
                }
                if rng.u32(0..3) == 0 {
                    value.push(Number::Field(base(rng, around), rng.usize(0..2)));
                }
                Stmt::Store(base(rng, around), terms, rng.i64(0..4), value)
            }
        };
        body.push(if rng.u32(0..6) == 0 { Stmt::If(field(rng), rng.i64(0..3), vec![store]) } else { store });
    }
    body
}

/// The memory of a call.
struct Walk {
    words: Vec<Word>,
    arguments: [Option<usize>; 4],
    count: i64,
    known: i64,
    variables: Vec<i64>,
    steps: usize,
}

impl Walk {
    fn at(&mut self, from: Option<usize>, word: i64) -> Option<&mut Word> {
        self.steps += 1;
        let word = usize::try_from(from? as i64 + word).ok()?;
        self.words.get_mut(word).filter(|_| self.steps < STEPS)
    }

    fn base(&mut self, base: &Base) -> Option<Option<usize>> {
        match *base {
            Base::Argument(a) => Some(self.arguments[a]),
            Base::Loaded(word) => match *self.at(self.arguments[0], word as i64)? {
                Word::Pointer(p) => Some(p),
                Word::Number(_) => None,
            },
            Base::Row(v, constant) => match *self.at(self.arguments[3], self.variables[v] + constant)? {
                Word::Pointer(p) => Some(p),
                Word::Number(_) => None,
            },
        }
    }

    fn number(&mut self, number: &Number) -> Option<i64> {
        match number {
            Number::Constant(c) => Some(*c),
            Number::Count => Some(self.count),
            Number::Variable(v) => Some(self.variables[*v]),
            Number::Field(base, word) => {
                let from = self.base(base)?;
                match *self.at(from, *word as i64)? {
                    Word::Number(n) => Some(n),
                    Word::Pointer(_) => None,
                }
            }
        }
    }

    fn run(&mut self, body: &[Stmt]) -> Option<()> {
        for stmt in body {
            match stmt {
                Stmt::Store(base, terms, constant, values) => {
                    let mut value = self.known;
                    for number in values {
                        value += self.number(number)?;
                    }
                    let mut at = *constant;
                    for (factor, v) in terms {
                        at += self.number(factor)? * self.variables[*v];
                    }
                    let from = self.base(base)?;
                    *self.at(from, at)? = Word::Number(value & 7);
                }
                Stmt::Point(base, v, constant, to) => {
                    let (from, to) = (self.base(base)?, self.arguments[*to]);
                    *self.at(from, self.variables[*v] + constant)? = Word::Pointer(to);
                }
                Stmt::Loop(v, bound, last, inner) => {
                    self.variables[*v] = 0;
                    if *last {
                        self.run(inner)?;
                        self.variables[*v] = 1;
                    }
                    while self.variables[*v] < self.number(bound)? {
                        self.run(inner)?;
                        self.variables[*v] += 1;
                        self.steps += 1;
                    }
                }
                Stmt::If(number, constant, inner) => {
                    if self.number(number)? > *constant {
                        self.run(inner)?;
                    }
                }
            }
        }
        (self.steps < STEPS).then_some(())
    }
}

impl Writer {
    fn base(&mut self, base: &Base) -> String {
        match base {
            Base::Argument(a) => format!("%p{a}"),
            Base::Loaded(word) => {
                let place = self.value(&format!("getelementptr inbounds i64, ptr %p0, i64 {word}"));
                self.value(&format!("load ptr, ptr {place}, align 8"))
            }
            Base::Row(v, constant) => {
                let at = self.value(&format!("add nsw i64 %x{v}, {constant}"));
                let place = self.value(&format!("getelementptr inbounds i64, ptr %p3, i64 {at}"));
                self.value(&format!("load ptr, ptr {place}, align 8"))
            }
        }
    }

    fn number(&mut self, number: &Number) -> String {
        match number {
            Number::Constant(c) => c.to_string(),
            Number::Count => "%count".to_owned(),
            Number::Variable(v) => format!("%x{v}"),
            Number::Field(base, word) => {
                let from = self.base(base);
                let place = self.value(&format!("getelementptr inbounds i64, ptr {from}, i64 {word}"));
                self.value(&format!("load i64, ptr {place}, align 8"))
            }
        }
    }

    fn write(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Store(base, terms, constant, values) => {
                    let mut value = "%known".to_owned();
                    for number in values {
                        let number = self.number(number);
                        value = self.value(&format!("add i64 {value}, {number}"));
                    }
                    let mut at = constant.to_string();
                    for (factor, v) in terms {
                        let factor = self.number(factor);
                        let term = self.value(&format!("mul nsw i64 {factor}, %x{v}"));
                        at = self.value(&format!("add nsw i64 {at}, {term}"));
                    }
                    let from = self.base(base);
                    let place = self.value(&format!("getelementptr inbounds i64, ptr {from}, i64 {at}"));
                    let value = self.value(&format!("and i64 {value}, 7"));
                    self.line(&format!("store i64 {value}, ptr {place}, align 8"));
                }
                Stmt::Point(base, v, constant, to) => {
                    let from = self.base(base);
                    let at = self.value(&format!("add nsw i64 %x{v}, {constant}"));
                    let place = self.value(&format!("getelementptr inbounds i64, ptr {from}, i64 {at}"));
                    self.line(&format!("store ptr %p{to}, ptr {place}, align 8"));
                }
                Stmt::Loop(v, bound, last, inner) => {
                    let (before, head, latch) = (self.block.clone(), self.label(), self.label());
                    let (first, end) = (self.label(), self.label());
                    self.line(&format!("br label %{head}"));
                    self.begin(&head);
                    self.line(&format!("%x{v} = phi i64 [ 0, %{before} ], [ %n{v}, %{latch} ]"));
                    let test = |w: &mut Self, of: String, yes: &str| {
                        let bound = w.number(bound);
                        let more = w.value(&format!("icmp slt i64 {of}, {bound}"));
                        w.line(&format!("br i1 {more}, label %{yes}, label %{end}"));
                    };
                    if !last {
                        test(self, format!("%x{v}"), &first);
                        self.begin(&first);
                    }
                    self.write(inner);
                    self.line(&format!("br label %{latch}"));
                    self.begin(&latch);
                    self.line(&format!("%n{v} = add nuw nsw i64 %x{v}, 1"));
                    match last {
                        true => test(self, format!("%n{v}"), &head),
                        false => self.line(&format!("br label %{head}")),
                    }
                    self.begin(&end);
                }
                Stmt::If(number, constant, inner) => {
                    let (yes, end) = (self.label(), self.label());
                    let number = self.number(number);
                    let more = self.value(&format!("icmp sgt i64 {number}, {constant}"));
                    self.line(&format!("br i1 {more}, label %{yes}, label %{end}"));
                    self.begin(&yes);
                    self.write(inner);
                    self.line(&format!("br label %{end}"));
                    self.begin(&end);
                }
            }
        }
    }
}

impl Function {
    fn text(&self) -> String {
        let mut w = Writer::default();
        let _ = writeln!(w.out, "define void @test(ptr %p0, ptr %p1, ptr %p2, ptr %p3, i64 %count) {{");
        w.begin("start");
        match self.known {
            None => w.line("%known = add i64 0, 0"),
            Some(word) => {
                w.line("%many = icmp sgt i64 %count, 2\n  br i1 %many, label %look, label %loops");
                w.begin("look");
                let read = w.number(&Number::Field(Base::Argument(0), word));
                w.line("br label %loops");
                w.begin("loops");
                w.line(&format!("%known = phi i64 [ {read}, %look ], [ 3, %start ]"));
            }
        }
        w.write(&self.body);
        w.line("ret void");
        w.out + "}\n"
    }
}

/// The text of a case; `None` where no call of it is defined, or it says nothing.
pub fn case(seed: u64) -> Option<String> {
    let mut rng = Rng::with_seed(seed ^ 0xf10a_7a61);
    let (mut variables, mut around) = (0, Vec::new());
    let depth = 1 + rng.usize(0..3);
    let body = stmts(&mut rng, depth, &mut variables, &mut around);
    let known = (rng.u32(0..4) == 0).then(|| rng.usize(0..NUMBERS));
    let function = Function { body, known };
    let mut calls = Vec::new();
    for _ in 0..CALLS.1 {
        if calls.len() < CALLS.0 {
            calls.extend(call(&function, variables, calls.len(), &mut rng));
        }
    }
    let calls = (!calls.is_empty()).then(|| calls.concat())?;
    let text = function.text();
    Some(format!("{text}define i64 @entry(ptr %p) {{\nstart:\n{calls}  ret i64 0\n}}\n"))
}

/// One call, with what it finds in memory; each has a part of the block for itself.
fn call(function: &Function, variables: usize, number: usize, rng: &mut Rng) -> Option<String> {
    let object = rng.usize(0..WORDS - NUMBERS - POINTERS);
    // Where nothing is read, null will do.
    let first = if rng.u32(0..8) == 0 { None } else { Some(object) };
    let near = |rng: &mut Rng| match rng.u32(0..3) {
        0 => (object + rng.usize(0..12)).saturating_sub(rng.usize(0..12)).min(WORDS - 1),
        _ => rng.usize(0..WORDS),
    };
    let table = rng.usize(0..WORDS - ROWS);
    let arguments = [first, Some(near(rng)), Some(near(rng)), Some(table)];
    let mut words: Vec<Word> = (0..WORDS).map(|at| Word::Number((at as i64 * 5 + 3) & 7)).collect();
    for word in &mut words[object..object + NUMBERS] {
        *word = Word::Number(rng.i64(0..7));
    }
    for word in &mut words[object + NUMBERS..object + NUMBERS + POINTERS] {
        *word = Word::Pointer(Some(near(rng)));
    }
    let (start, distance) = (rng.usize(0..WORDS / 2), rng.usize(0..9));
    for (row, word) in words[table..table + ROWS].iter_mut().enumerate() {
        let moved = if rng.u32(0..20) == 0 { rng.usize(0..3) } else { 0 };
        *word = Word::Pointer(Some(start + row * distance + moved).filter(|at| *at < WORDS));
    }
    let before = words.clone();
    let count = rng.i64(0..6);
    let known = match function.known.filter(|_| count > 2) {
        Some(word) => match words.get(first? + word)? {
            Word::Number(n) => *n,
            Word::Pointer(_) => return None,
        },
        None if function.known.is_some() => 3,
        None => 0,
    };
    let mut walk = Walk { words, arguments, count, known, variables: vec![0; variables], steps: 0 };
    walk.run(&function.body)?;
    let mut out = String::new();
    let mut names = 0;
    let mut name = || {
        names += 1;
        format!("%c{number}.{names}")
    };
    let mut pointer = |out: &mut String, at: usize| {
        let place = name();
        let _ = writeln!(out, "  {place} = getelementptr i64, ptr %p, i64 {}", number * WORDS + at);
        place
    };
    for (at, word) in before.iter().enumerate() {
        let place = pointer(&mut out, at);
        let _ = match word {
            Word::Number(n) => writeln!(out, "  store i64 {n}, ptr {place}"),
            Word::Pointer(to) => {
                let to = to.map_or("null".to_owned(), |to| pointer(&mut out, to));
                writeln!(out, "  store ptr {to}, ptr {place}")
            }
        };
    }
    let [a, b, c, d] = arguments.map(|a| a.map_or("null".to_owned(), |at| pointer(&mut out, at)));
    let _ = writeln!(out, "  call void @test(ptr {a}, ptr {b}, ptr {c}, ptr {d}, i64 {count})");
    // Where the block lies is no result.
    for at in (0..WORDS).filter(|at| matches!(walk.words[*at], Word::Pointer(Some(_)))) {
        let place = pointer(&mut out, at);
        let _ = writeln!(out, "  {place}.v = load i64, ptr {place}\n  {place}.p = ptrtoint ptr %p to i64");
        let _ =
            writeln!(out, "  {place}.d = sub i64 {place}.v, {place}.p\n  store i64 {place}.d, ptr {place}");
    }
    Some(out)
}
