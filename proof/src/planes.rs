//! Random nests over arrays of several dimensions whose extents only the program knows: many accesses side by side, `a[i + n * (j + m * 6)]`,
//! rows that a loop around chooses, strides that are values of their own, and pointers that walk along them.
//!
//! [`case`] makes a case ([`cases`](crate::cases)) from a seed: a function, and an `entry` that calls it with extents and arrays that lie apart,
//! or on one another. Each call is walked first: what would leave the block is no call.

use crate::ir_loops::Writer;
use fastrand::Rng;
use std::fmt::Write;

/// Words of four bytes of a call's part of the block, and which of them the arrays begin at.
const WORDS: i64 = 512;
const FIRST: [i64; 2] = [0, 240];
/// Calls of a case; values tried for them.
const CALLS: (usize, usize) = (8, 60);

/// What is read or written, in elements.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// `array[i + n * (j + m * plane) + shift]`
    Plane(usize, i64, i64),
    /// `array[i + n * (of * j + plane) + shift]`
    Row(usize, i64, i64, i64),
    /// `array[i * column + j * row + shift]`
    Apart(usize, i64),
    /// The pointer that walks.
    Walked(i64),
}

/// `to = 3 * to + from + constant`
#[derive(Clone, Copy, Debug)]
struct Store {
    to: Place,
    from: Place,
    constant: i64,
}

/// Where the first array begins in an iteration `h` of the loop around.
#[derive(Clone, Copy, Debug)]
enum Begin {
    /// `h * off * n`
    Product,
    /// `h == 0 ? 0 : (h - 1) * off + 3`
    Chosen,
}

#[derive(Clone, Debug)]
struct Function {
    /// A loop around that is not described.
    around: Option<Begin>,
    /// In that loop the inner one runs to `h == 0 ? n : m`.
    chosen_end: bool,
    stores: Vec<Store>,
    /// What the pointer goes further at the end of a row.
    more: i64,
}

/// Arguments of a call.
#[derive(Clone, Copy, Debug)]
struct Values {
    n: i64,
    m: i64,
    off: i64,
    column: i64,
    row: i64,
    arrays: [i64; 2],
}

/// Iterations of the loop around.
const AROUND: i64 = 3;

fn place(rng: &mut Rng, planes: i64, apart: bool) -> Place {
    let (array, plane) = (rng.usize(0..2), rng.i64(0..planes));
    let shift = if rng.u32(0..6) == 0 { rng.i64(-1..3) } else { 0 };
    match rng.u32(0..8) {
        0..=5 if apart => Place::Apart(array, shift),
        0..=3 => Place::Plane(array, plane, shift),
        4..=5 => Place::Row(array, planes, plane, shift),
        _ => Place::Walked(shift),
    }
}

fn function(rng: &mut Rng) -> Function {
    let around = [None, None, Some(Begin::Product), Some(Begin::Chosen)][rng.usize(0..4)];
    let planes = [2, 3, 8][rng.usize(0..3)];
    let apart = rng.u32(0..3) == 0;
    let stores = (0..if planes == 8 { rng.usize(6..10) } else { rng.usize(1..4) }).map(|_| Store {
        to: place(rng, planes, apart),
        from: place(rng, planes, apart),
        constant: rng.i64(0..9),
    });
    Function {
        stores: stores.collect(),
        chosen_end: around.is_some() && rng.bool(),
        more: [0, 0, 1, -1][rng.usize(0..4)],
        around,
    }
}

impl Function {
    /// How many words of a call's part are touched where, or nothing where one is none of them.
    fn walk(&self, v: &Values) -> Option<()> {
        for h in 0..self.around.map_or(1, |_| AROUND) {
            let begin = match self.around {
                None => 0,
                Some(Begin::Product) => h * v.off * v.n,
                Some(Begin::Chosen) if h == 0 => 0,
                Some(Begin::Chosen) => (h - 1) * v.off + 3,
            };
            let arrays = [v.arrays[0] + begin, v.arrays[1]];
            let mut walked = arrays[0];
            for j in 0..v.m {
                for i in 0..if self.chosen_end && h > 0 { v.m } else { v.n } {
                    for place in self.stores.iter().flat_map(|s| [s.to, s.from]) {
                        let at = match place {
                            Place::Plane(array, plane, shift) => {
                                arrays[array] + i + v.n * (j + v.m * plane) + shift
                            }
                            Place::Row(array, of, plane, shift) => {
                                arrays[array] + i + v.n * (of * j + plane) + shift
                            }
                            Place::Apart(array, shift) => arrays[array] + i * v.column + j * v.row + shift,
                            Place::Walked(shift) => walked + shift,
                        };
                        (0..WORDS).contains(&at).then_some(())?;
                    }
                    walked += 1;
                }
                walked += self.more;
            }
            (0..WORDS).contains(&walked).then_some(())?;
        }
        Some(())
    }

    fn text(&self) -> String {
        let mut w = Writer::default();
        let _ = writeln!(
            w.out,
            "define void @test(ptr %a, ptr %a1, i64 %n, i64 %m, i64 %off, i64 %column.by, i64 %row.by) {{"
        );
        w.begin("start");
        let (mut end, mut begin) = ("%n".to_owned(), "%a".to_owned());
        if let Some(form) = self.around {
            w.line("br label %head");
            w.begin("head");
            w.line("%h = phi i64 [ 0, %start ], [ %h.next, %behind ]");
            w.line("fence seq_cst");
            let first = w.value("icmp eq i64 %h, 0");
            match form {
                Begin::Product => {
                    let far = w.value("mul nsw i64 %h, %off");
                    let far = w.value(&format!("mul nsw i64 {far}, %n"));
                    begin = w.value(&format!("getelementptr inbounds i32, ptr %a, i64 {far}"));
                }
                Begin::Chosen => {
                    w.line(&format!("br i1 {first}, label %met, label %other"));
                    w.begin("other");
                    let less = w.value("sub nsw i64 %h, 1");
                    let far = w.value(&format!("mul nsw i64 {less}, %off"));
                    let far = w.value(&format!("add nsw i64 {far}, 3"));
                    w.line("br label %met");
                    w.begin("met");
                    w.line(&format!("%far = phi i64 [ 0, %head ], [ {far}, %other ]"));
                    begin = w.value("getelementptr inbounds i32, ptr %a, i64 %far");
                }
            }
            if self.chosen_end {
                end = w.value(&format!("select i1 {first}, i64 %n, i64 %m"));
            }
        }
        let before = w.block.clone();
        w.line("br label %rows");
        w.begin("rows");
        w.line(&format!("%j = phi i64 [ 0, %{before} ], [ %j.next, %row.end ]"));
        w.line(&format!("%p = phi ptr [ {begin}, %{before} ], [ %p.next, %row.end ]"));
        w.line("%row.more = icmp slt i64 %j, %m");
        w.line("br i1 %row.more, label %row, label %behind");
        w.begin("row");
        w.line("br label %loop");
        w.begin("loop");
        w.line("%i = phi i64 [ 0, %row ], [ %i.next, %body ]");
        w.line("%q = phi ptr [ %p, %row ], [ %q.next, %body ]");
        w.line(&format!("%more = icmp slt i64 %i, {end}"));
        w.line("br i1 %more, label %body, label %row.end");
        w.begin("body");
        for store in &self.stores {
            let [to, from] = [store.to, store.from].map(|place| w.element(&begin, place));
            let old = w.value(&format!("load i32, ptr {to}, align 4"));
            let old = w.value(&format!("mul i32 {old}, 3"));
            let read = w.value(&format!("load i32, ptr {from}, align 4"));
            let sum = w.value(&format!("add i32 {old}, {read}"));
            let sum = w.value(&format!("add i32 {sum}, {}", store.constant));
            w.line(&format!("store i32 {sum}, ptr {to}, align 4"));
        }
        w.line("%q.next = getelementptr inbounds i32, ptr %q, i64 1");
        w.line("%i.next = add nuw nsw i64 %i, 1");
        w.line("br label %loop");
        w.begin("row.end");
        w.line("%q.end = phi ptr [ %q, %loop ]");
        w.line(&format!("%p.next = getelementptr inbounds i32, ptr %q.end, i64 {}", self.more));
        w.line("%j.next = add nuw nsw i64 %j, 1");
        w.line("br label %rows");
        w.begin("behind");
        if self.around.is_some() {
            w.line("%h.next = add nuw nsw i64 %h, 1");
            w.line(&format!("%h.more = icmp slt i64 %h.next, {AROUND}"));
            w.line("br i1 %h.more, label %head, label %end");
            w.begin("end");
        }
        w.line("ret void");
        w.out + "}\n"
    }
}

impl Writer {
    fn element(&mut self, begin: &str, place: Place) -> String {
        let (base, column, row, shift) = match place {
            Place::Walked(shift) => {
                return self.value(&format!("getelementptr inbounds i32, ptr %q, i64 {shift}"));
            }
            Place::Plane(array, plane, shift) => {
                let first = self.value(&format!("mul nsw i64 %m, {plane}"));
                (array, "%i".to_owned(), self.value(&format!("add nsw i64 %j, {first}")), shift)
            }
            Place::Row(array, of, plane, shift) => {
                let first = self.value(&format!("mul nsw i64 %j, {of}"));
                (array, "%i".to_owned(), self.value(&format!("add nsw i64 {first}, {plane}")), shift)
            }
            Place::Apart(array, shift) => {
                (array, self.value("mul nsw i64 %i, %column.by"), "%j".to_owned(), shift)
            }
        };
        let length = if matches!(place, Place::Apart(..)) { "%row.by" } else { "%n" };
        let row = self.value(&format!("mul nsw i64 {length}, {row}"));
        let mut at = self.value(&format!("add nsw i64 {column}, {row}"));
        if shift != 0 {
            at = self.value(&format!("add nsw i64 {at}, {shift}"));
        }
        let base = if base == 0 { begin } else { "%a1" };
        self.value(&format!("getelementptr inbounds i32, ptr {base}, i64 {at}"))
    }
}

/// The text of a case; `None` where no call of it is defined.
pub fn case(seed: u64) -> Option<String> {
    let mut rng = Rng::with_seed(seed ^ 0x91a_4e5);
    let function = function(&mut rng);
    let (mut calls, mut count) = (String::new(), 0);
    for _ in 0..CALLS.1 {
        let mut arrays = FIRST;
        if rng.u32(0..3) == 0 {
            arrays[1] = rng.i64(0..WORDS / 2);
        }
        let column = rng.i64(-1..4);
        // Mostly so many columns that rows are apart.
        let row = if rng.u32(0..4) == 0 { rng.i64(-2..12) } else { column * rng.i64(1..9) };
        let (n, m, off) = (rng.i64(-1..7), rng.i64(-1..6), rng.i64(-3..16));
        let values = Values { n, m, off, column, row, arrays };
        if count == CALLS.0 || function.walk(&values).is_none() {
            continue;
        }
        for (a, at) in arrays.iter().enumerate() {
            let at = count as i64 * WORDS + at;
            let _ = writeln!(calls, "  %c{count}.{a} = getelementptr i32, ptr %p, i64 {at}");
        }
        let _ = writeln!(
            calls,
            "  call void @test(ptr %c{count}.0, ptr %c{count}.1, i64 {n}, i64 {m}, i64 {off}, i64 {column}, i64 {row})"
        );
        count += 1;
    }
    let text = function.text();
    (count > 0).then(|| format!("{text}define i64 @entry(ptr %p) {{\nstart:\n{calls}  ret i64 0\n}}\n"))
}
