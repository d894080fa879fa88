//! Random loops around calls of functions of which nothing is known: they count how often they are called, and change what the loops
//! read and write.
//!
//! [`case`] makes a case ([`cases`](crate::cases)) from a seed: a function, what it calls, and an `entry` that calls it with arrays that lie apart
//! or overlap.

use crate::ir_loops::Writer;
use fastrand::Rng;
use std::fmt::Write;

/// Where a pointer comes from.
#[derive(Clone, Copy, Debug)]
enum Base {
    /// One of two arrays.
    Argument(usize),
    /// The pointer that walks with a loop.
    Walked(usize),
}

#[derive(Clone, Debug)]
enum Number {
    Constant(i64),
    Variable(usize),
    /// What was computed last that is known here, or a constant where nothing is.
    Last,
    Load(Place),
}

/// `base[sum of factor * variable + constant]`, and perhaps an element that data names behind it.
#[derive(Clone, Debug)]
struct Place {
    base: Base,
    terms: Vec<(i64, usize)>,
    constant: i64,
    data: bool,
}

#[derive(Clone, Debug)]
enum Stmt {
    Store(Place, Vec<Number>),
    /// A call with a pointer and a number, and what it returns.
    Call(Place, Number, Returned),
    If(Number, i64, Vec<Stmt>),
    /// The variable, its bound, whether it is tested at the end, whether it has a sum, and the array that a pointer walks along.
    Loop(usize, Bound, bool, bool, Option<usize>, Vec<Stmt>),
}

#[derive(Clone, Copy, Debug)]
enum Returned {
    Nothing,
    One,
    /// Two numbers in a vector, and another one.
    Three,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Constant(i64),
    /// One of two arguments.
    Argument(usize),
    /// A loop around, plus one.
    Variable(usize),
}

struct Maker {
    rng: Rng,
    variables: usize,
    /// Loops around, and whether a pointer walks with them.
    around: Vec<(usize, bool)>,
}

impl Maker {
    fn place(&mut self) -> Place {
        let walked: Vec<usize> = self.around.iter().filter(|a| a.1).map(|a| a.0).collect();
        let base = match (self.rng.u32(0..3), walked.last()) {
            (0, Some(v)) => Base::Walked(*v),
            _ => Base::Argument(self.rng.usize(0..2)),
        };
        let mut terms = Vec::new();
        for (v, _) in self.around.clone() {
            if self.rng.u32(0..3) > 0 {
                terms.push((self.rng.i64(1..4), v));
            }
        }
        Place { base, terms, constant: self.rng.i64(0..4), data: self.rng.u32(0..5) == 0 }
    }

    fn number(&mut self) -> Number {
        match self.rng.u32(0..6) {
            0 => Number::Constant(self.rng.i64(0..9)),
            1 => Number::Variable(self.around[self.rng.usize(0..self.around.len())].0),
            2 | 3 => Number::Last,
            _ => Number::Load(self.place()),
        }
    }

    fn stmts(&mut self, depth: usize) -> Vec<Stmt> {
        let count = if self.around.is_empty() { 1 + self.rng.usize(0..2) } else { 1 + self.rng.usize(0..4) };
        (0..count).map(|_| self.stmt(depth)).collect()
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        if self.around.is_empty() || depth > 0 && self.rng.u32(0..3) == 0 {
            let v = self.variables;
            self.variables += 1;
            let bound = match (self.rng.u32(0..4), self.around.last()) {
                (0, _) => Bound::Constant(self.rng.i64(1..5)),
                (1, Some((outer, _))) => Bound::Variable(*outer),
                _ => Bound::Argument(self.rng.usize(0..2)),
            };
            let walked = (self.rng.u32(0..3) == 0).then(|| self.rng.usize(0..2));
            let (last, sum) = (self.rng.u32(0..4) == 0, self.rng.u32(0..3) == 0);
            self.around.push((v, walked.is_some()));
            let body = self.stmts(depth.saturating_sub(1));
            self.around.pop();
            return Stmt::Loop(v, bound, last, sum, walked, body);
        }
        match self.rng.u32(0..8) {
            0 if depth > 0 => {
                let (number, least) = (self.number(), self.rng.i64(0..5));
                let body = (0..1 + self.rng.usize(0..2)).map(|_| self.stmt(0)).collect();
                Stmt::If(number, least, body)
            }
            0..=2 => {
                let returned = [Returned::Nothing, Returned::One, Returned::Three][self.rng.usize(0..3)];
                Stmt::Call(self.place(), self.number(), returned)
            }
            _ => {
                let values = (0..1 + self.rng.usize(0..2)).map(|_| self.number()).collect();
                Stmt::Store(self.place(), values)
            }
        }
    }
}

impl Writer {
    fn place_of(&mut self, place: &Place, last: &str) -> String {
        let mut at = place.constant.to_string();
        for (factor, v) in &place.terms {
            let term = self.value(&format!("mul nsw i64 {factor}, %x{v}"));
            at = self.value(&format!("add nsw i64 {at}, {term}"));
        }
        let base = match place.base {
            Base::Argument(a) => format!("%p{a}"),
            Base::Walked(v) => format!("%w{v}"),
        };
        let mut pointer = self.value(&format!("getelementptr inbounds i64, ptr {base}, i64 {at}"));
        if place.data {
            let number = self.value(&format!("and i64 {last}, 7"));
            pointer = self.value(&format!("getelementptr inbounds i64, ptr {pointer}, i64 {number}"));
        }
        pointer
    }

    fn number_of(&mut self, number: &Number, last: &str) -> String {
        match number {
            Number::Constant(c) => c.to_string(),
            Number::Variable(v) => format!("%x{v}"),
            Number::Last => last.to_owned(),
            Number::Load(place) => {
                let place = self.place_of(place, last);
                self.value(&format!("load i64, ptr {place}, align 8"))
            }
        }
    }

    /// The last number that is known behind.
    fn write_calls(&mut self, body: &[Stmt], last: String) -> String {
        let mut last = last;
        for stmt in body {
            match stmt {
                Stmt::Store(place, values) => {
                    let mut sum = "1".to_owned();
                    for number in values {
                        let number = self.number_of(number, &last);
                        sum = self.value(&format!("add i64 {sum}, {number}"));
                    }
                    let place = self.place_of(place, &last);
                    let value = self.value(&format!("and i64 {sum}, 255"));
                    self.line(&format!("store i64 {value}, ptr {place}, align 8"));
                    last = value;
                }
                Stmt::Call(place, number, returned) => {
                    let number = self.number_of(number, &last);
                    let place = self.place_of(place, &last);
                    match returned {
                        Returned::One => {
                            last = self.value(&format!("call i64 @gives(ptr {place}, i64 {number})"));
                        }
                        Returned::Nothing => {
                            self.line(&format!("call void @takes(ptr {place}, i64 {number})"))
                        }
                        Returned::Three => {
                            let all = format!("call {THREE} @three(ptr {place}, i64 {number})");
                            let all = self.value(&all);
                            let pair = self.value(&format!("extractvalue {THREE} {all}, 0"));
                            let part = self.value(&format!("extractelement <2 x i32> {pair}, i64 1"));
                            let wide = self.value(&format!("zext i32 {part} to i64"));
                            let other = self.value(&format!("extractvalue {THREE} {all}, 1"));
                            last = self.value(&format!("add i64 {wide}, {other}"));
                        }
                    }
                }
                Stmt::If(number, least, inner) => {
                    let (yes, end) = (self.label(), self.label());
                    let number = self.number_of(number, &last);
                    let more = self.value(&format!("icmp sgt i64 {number}, {least}"));
                    self.line(&format!("br i1 {more}, label %{yes}, label %{end}"));
                    self.begin(&yes);
                    self.write_calls(inner, last.clone());
                    self.line(&format!("br label %{end}"));
                    self.begin(&end);
                }
                Stmt::Loop(v, bound, tested_last, sum, walked, inner) => {
                    let bound = match bound {
                        Bound::Constant(c) => c.to_string(),
                        Bound::Argument(a) => format!("%n{a}"),
                        Bound::Variable(outer) => self.value(&format!("add nsw i64 %x{outer}, 1")),
                    };
                    let (before, head, latch) = (self.block.clone(), self.label(), self.label());
                    let (first, end) = (self.label(), self.label());
                    self.line(&format!("br label %{head}"));
                    self.begin(&head);
                    self.line(&format!("%x{v} = phi i64 [ 0, %{before} ], [ %y{v}, %{latch} ]"));
                    if *sum {
                        self.line(&format!("%s{v} = phi i64 [ {last}, %{before} ], [ %t{v}, %{latch} ]"));
                    }
                    if let Some(array) = walked {
                        self.line(&format!("%w{v} = phi ptr [ %p{array}, %{before} ], [ %u{v}, %{latch} ]"));
                    }
                    if !tested_last {
                        let more = self.value(&format!("icmp slt i64 %x{v}, {bound}"));
                        self.line(&format!("br i1 {more}, label %{first}, label %{end}"));
                        self.begin(&first);
                    }
                    let known = if *sum { format!("%s{v}") } else { "5".to_owned() };
                    let inside = self.write_calls(inner, known.clone());
                    self.line(&format!("br label %{latch}"));
                    self.begin(&latch);
                    self.line(&format!("%y{v} = add nuw nsw i64 %x{v}, 1"));
                    if *sum {
                        let more = self.value(&format!("add i64 {inside}, %s{v}"));
                        self.line(&format!("%t{v} = and i64 {more}, 1023"));
                    }
                    if walked.is_some() {
                        self.line(&format!("%u{v} = getelementptr inbounds i64, ptr %w{v}, i64 %n1"));
                    }
                    match tested_last {
                        true => {
                            let more = self.value(&format!("icmp slt i64 %y{v}, {bound}"));
                            self.line(&format!("br i1 {more}, label %{head}, label %{end}"));
                        }
                        false => self.line(&format!("br label %{head}")),
                    }
                    self.begin(&end);
                    if *sum {
                        let of = if *tested_last { format!("%t{v}") } else { format!("%s{v}") };
                        last = self.value(&format!("add i64 {of}, 0"));
                    }
                }
            }
        }
        last
    }
}

/// The type of three numbers.
const THREE: &str = "{ <2 x i32>, i64 }";

/// What is called: each counts, and changes one of four elements.
const CALLED: &str = "@count = global i64 0
define i64 @gives(ptr %q, i64 %x) noinline {
  %c = load i64, ptr @count
  %d = add i64 %c, 1
  store i64 %d, ptr @count
  %at = and i64 %x, 3
  %place = getelementptr i64, ptr %q, i64 %at
  %old = load i64, ptr %place
  %sum = add i64 %old, %d
  %new = and i64 %sum, 127
  store i64 %new, ptr %place
  %both = xor i64 %new, %x
  %some = and i64 %both, 15
  ret i64 %some
}
define { <2 x i32>, i64 } @three(ptr %q, i64 %x) noinline {
  %r = call i64 @gives(ptr %q, i64 %x)
  %s = trunc i64 %r to i32
  %a = insertelement <2 x i32> zeroinitializer, i32 %s, i64 1
  %b = insertvalue { <2 x i32>, i64 } poison, <2 x i32> %a, 0
  %t = and i64 %r, 3
  %c = insertvalue { <2 x i32>, i64 } %b, i64 %t, 1
  ret { <2 x i32>, i64 } %c
}
define void @takes(ptr %q, i64 %x) noinline {
  %r = call i64 @gives(ptr %q, i64 %x)
  ret void
}
";

/// The text of a case.
pub fn case(seed: u64) -> Option<String> {
    let mut maker = Maker { rng: Rng::with_seed(seed ^ 0xca11_ed00), variables: 0, around: Vec::new() };
    let depth = 1 + maker.rng.usize(0..3);
    let body = maker.stmts(depth);
    let mut w = Writer::default();
    let _ = writeln!(w.out, "define i64 @test(ptr %p0, ptr %p1, i64 %n0, i64 %n1) {{");
    w.begin("start");
    let last = w.write_calls(&body, "3".to_owned());
    w.line(&format!("ret i64 {last}"));
    let mut text = format!("{CALLED}{}}}\ndefine i64 @entry(ptr %p) {{\nstart:\n", w.out);
    let mut sum = "0".to_owned();
    for call in 0..4 {
        let distance = [0, 1, 5, 300][call];
        let (n0, n1) = (maker.rng.i64(-1..5), maker.rng.i64(0..5));
        let _ = writeln!(text, "  %q{call} = getelementptr i64, ptr %p, i64 {distance}");
        let _ = writeln!(
            text,
            "  %r{call} = call i64 @test(ptr %p, ptr %q{call}, i64 {n0}, i64 {n1})\n  %a{call} = mul i64 {sum}, 31\n  %b{call} = add i64 %a{call}, %r{call}"
        );
        sum = format!("%b{call}");
    }
    let _ = writeln!(text, "  %c = load i64, ptr @count\n  %r = add i64 {sum}, %c\n  ret i64 %r\n}}");
    Some(text)
}
