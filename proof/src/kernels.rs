//! Random kernels as `.lt` text, which shrink. [`generate`]: anything; [`storage`]: where buffers may be worth having.

pub mod storage;

use fastrand::Rng;
use std::fmt::Write;

/// `(sum of factor * symbol + constant) / divisor`, rounded down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// Symbols with factors.
    pub terms: Vec<(Symbol, i64)>,
    /// Constant part.
    pub constant: i64,
    /// At least 1.
    pub divisor: i64,
}

/// What an expression may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symbol {
    /// Loop variable `x<number>`.
    Var(usize),
    /// Parameter `N` or `M`.
    Param(usize),
}

impl Linear {
    fn new(terms: Vec<(Symbol, i64)>, constant: i64) -> Self {
        Linear { terms, constant, divisor: 1 }
    }

    fn without(&self, var: usize) -> Self {
        let mut new = self.clone();
        new.terms.retain(|(s, _)| *s != Symbol::Var(var));
        new
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (symbol, factor) in &self.terms {
            let name = match symbol {
                Symbol::Var(v) => format!("x{v}"),
                Symbol::Param(0) => "N".to_owned(),
                Symbol::Param(_) => "M".to_owned(),
            };
            let sign = if *factor < 0 {
                "- "
            } else if out.is_empty() {
                ""
            } else {
                "+ "
            };
            let space = if out.is_empty() { "" } else { " " };
            match factor.abs() {
                1 => write!(out, "{space}{sign}{name}"),
                f => write!(out, "{space}{sign}{f}*{name}"),
            }
            .unwrap_or_default();
        }
        let text = match (out.is_empty(), self.constant) {
            (true, c) => c.to_string(),
            (false, 0) => out,
            (false, c) if c < 0 => format!("{out} - {}", -c),
            (false, c) => format!("{out} + {c}"),
        };
        let text = text.strip_prefix("- ").map(|t| format!("-{t}")).unwrap_or(text);
        if self.divisor > 1 { format!("floor(({text})/{})", self.divisor) } else { text }
    }
}

/// An array of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Name of the element type.
    pub element: &'static str,
    /// 0: a scalar.
    pub rank: usize,
    /// May overlap the other arrays of the class.
    pub alias: usize,
    /// But not those in other objects.
    pub object: Option<usize>,
    /// A temporary of the kernel.
    pub local: bool,
}

/// Part of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A loop: variable, bounds, step, body.
    For(usize, Vec<Linear>, Vec<Linear>, i64, Vec<Item>),
    /// `left op right`, all of them.
    If(Vec<(Linear, &'static str, Linear)>, Vec<Item>),
    /// A predicate: array 0 compared with zero at a place, then one statement list for true, one for false.
    Predicate(Linear, Vec<Item>, Vec<Item>),
    /// Target, reads, whether it is marked as a reduction.
    Stmt(Element, Vec<Element>, bool),
}

/// Array and subscripts.
pub type Element = (usize, Vec<Linear>);

/// A random kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Arrays, named `A0`, ...
    pub arrays: Vec<Array>,
    /// Tree.
    pub body: Vec<Item>,
    /// What is assumed of the parameters.
    pub assume: Option<i64>,
    /// Extent of inner dimensions.
    pub inner: i64,
}

/// Added to inner subscripts, so that they are in their extents for small parameters.
const INNER_OFFSET: i64 = 128;
/// Extent of inner dimensions.
const INNER: i64 = 1024;
/// The same where all subscripts have an offset, and all extents are the same, so that kernels can be executed.
const OFFSET: i64 = 16;
/// Extent of all dimensions then.
pub const SMALL: i64 = 48;

/// The kernel of a seed, with `depth` nested loops at most.
pub fn generate(seed: u64, depth: usize) -> Source {
    let rng = &mut Rng::with_seed(seed);
    let element = ["f64", "f64", "f32", "i32", "i64", "i8"][rng.usize(0..6)];
    let aliased = rng.u32(0..100) < 30;
    let mut arrays = Vec::new();
    for a in 0..rng.usize(1..=3) {
        let other = ["f64", "i32", "i8"][rng.usize(0..3)];
        let element = if rng.u32(0..100) < 85 { element } else { other };
        let alias = if aliased && rng.bool() { 0 } else { a + 1 };
        let object = (alias == 0 && !(seed + a as u64).is_multiple_of(3)).then_some(a);
        arrays.push(Array { element, rank: rng.usize(1..=2), alias, object, local: false });
    }
    if rng.u32(0..100) < 35 {
        arrays.push(Array { element, rank: 0, alias: 90, object: None, local: false });
    }
    let mut g = Generator { rng, arrays: &arrays, vars: 0, scope: vec![], left: 0 };
    g.left = g.rng.usize(1..=4);
    let mut body = Vec::new();
    for _ in 0..g.rng.usize(1..=3) {
        if g.left > 0 {
            let depth = g.rng.usize(1..=depth.max(1));
            body.extend(g.nest(depth));
        }
    }
    let assume = if rng.u32(0..3) == 0 { Some(rng.i64(0..=2)) } else { None };
    Source { arrays, body, assume, inner: INNER }
}

struct Generator<'a> {
    rng: &'a mut Rng,
    arrays: &'a [Array],
    vars: usize,
    scope: Vec<usize>,
    left: usize,
}

impl Generator<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn nest(&mut self, depth: usize) -> Vec<Item> {
        if depth == 0 {
            return self.leaves();
        }
        let var = self.vars;
        self.vars += 1;
        let (lower, upper) = (self.lower(), self.upper());
        let (mut lowers, mut uppers) = (vec![lower], vec![upper]);
        let step = if self.chance(15) { self.rng.i64(2..=3) } else { 1 };
        if self.chance(10) && step == 1 {
            lowers.push(self.lower());
        }
        if self.chance(12) {
            uppers.push(self.upper());
        }
        self.scope.push(var);
        let mut body = Vec::new();
        for _ in 0..self.rng.usize(1..=2) {
            if self.left == 0 && !body.is_empty() {
                break;
            }
            let inner = if self.chance(75) { self.nest(depth - 1) } else { self.leaves() };
            if self.chance(15) {
                let condition = self.condition();
                body.push(Item::If(condition, inner));
            } else {
                body.extend(inner);
            }
        }
        self.scope.pop();
        vec![Item::For(var, lowers, uppers, step, body)]
    }

    fn lower(&mut self) -> Linear {
        match self.rng.u32(0..10) {
            0..6 => Linear::new(vec![], 0),
            6 => Linear::new(vec![], self.rng.i64(-1..=2)),
            _ => self.outer(-1, 1),
        }
    }

    fn upper(&mut self) -> Linear {
        match self.rng.u32(0..20) {
            0..12 => self.param(),
            12..14 => Linear::new(vec![], self.rng.i64(1..=5)),
            14 => Linear { divisor: 2, ..self.param() },
            15 => {
                let mut e = self.param();
                e.terms.extend(self.scope.last().map(|v| (Symbol::Var(*v), -1)));
                e
            }
            _ => self.outer(0, 2),
        }
    }

    fn param(&mut self) -> Linear {
        let p = Symbol::Param(self.rng.usize(0..2));
        let c = if self.chance(65) { 0 } else { self.rng.i64(-2..=2) };
        Linear::new(vec![(p, 1)], c)
    }

    fn outer(&mut self, from: i64, to: i64) -> Linear {
        if self.scope.is_empty() {
            return Linear::new(vec![], 0);
        }
        let v = self.scope[self.rng.usize(0..self.scope.len())];
        let factor = if self.chance(90) { 1 } else { 2 };
        Linear::new(vec![(Symbol::Var(v), factor)], self.rng.i64(from..=to))
    }

    fn condition(&mut self) -> Vec<(Linear, &'static str, Linear)> {
        let count = if self.chance(75) { 1 } else { 2 };
        (0..count)
            .map(|_| {
                let op = [">=", "<", "<=", "==", ">"][self.rng.usize(0..5)];
                let right =
                    if self.chance(50) { Linear::new(vec![], self.rng.i64(0..4)) } else { self.param() };
                (self.outer(-1, 1), op, right)
            })
            .collect()
    }

    fn subscript(&mut self) -> Linear {
        if self.scope.is_empty() {
            return Linear::new(vec![], self.rng.i64(0..3));
        }
        let inner = |g: &mut Self| {
            let (a, b) = (g.rng.usize(0..g.scope.len()), g.rng.usize(0..g.scope.len()));
            Symbol::Var(g.scope[a.max(b)])
        };
        match self.rng.u32(0..20) {
            0..9 => Linear::new(vec![(inner(self), 1)], 0),
            9..14 => Linear::new(vec![(inner(self), 1)], self.rng.i64(-2..=2)),
            14 => Linear::new(vec![(inner(self), 2)], self.rng.i64(0..=1)),
            15 | 16 => {
                let (a, b) = (inner(self), inner(self));
                let factor = if self.rng.bool() { 1 } else { -1 };
                let terms = if a == b { vec![(a, 1)] } else { vec![(a, 1), (b, factor)] };
                Linear::new(terms, 0)
            }
            17 => Linear::new(vec![(Symbol::Param(0), 1), (inner(self), -1)], 0),
            18 => Linear { terms: vec![(inner(self), 1)], constant: 0, divisor: 2 },
            _ => Linear::new(vec![], self.rng.i64(0..4)),
        }
    }

    fn element(&mut self, array: usize) -> Element {
        let subscripts = (0..self.arrays[array].rank)
            .map(|dim| {
                let mut e = self.subscript();
                if dim > 0 && e.divisor == 1 {
                    e.constant += INNER_OFFSET;
                }
                e
            })
            .collect();
        (array, subscripts)
    }

    fn leaves(&mut self) -> Vec<Item> {
        if self.chance(6) && self.left > 0 {
            let place = self.subscript();
            let yes = vec![self.statement()];
            let no = if self.chance(30) { vec![self.statement()] } else { vec![] };
            return vec![Item::Predicate(place, yes, no)];
        }
        let count = self.rng.usize(1..=2);
        (0..count).map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> Item {
        self.left = self.left.saturating_sub(1);
        let target = self.rng.usize(0..self.arrays.len());
        let ty = self.arrays[target].element;
        let target = self.element(target);
        let same: Vec<usize> = (0..self.arrays.len()).filter(|a| self.arrays[*a].element == ty).collect();
        if self.chance(20) {
            let read = same[self.rng.usize(0..same.len())];
            let read = self.element(read);
            // The accumulator must not be read otherwise.
            let reduction = ty.starts_with('i') && read.0 != target.0 && self.chance(60);
            return Item::Stmt(target.clone(), vec![target, read], reduction);
        }
        let count = self.rng.usize(0..=2);
        let reads = (0..count)
            .map(|_| {
                let read = same[self.rng.usize(0..same.len())];
                self.element(read)
            })
            .collect();
        Item::Stmt(target, reads, false)
    }
}

impl Source {
    /// Whether it is one of [`storage`].
    pub fn has_storage(&self) -> bool {
        self.inner == SMALL
    }

    /// The kernel as text.
    pub fn text(&self) -> String {
        let mut out = String::from("nest @random[N, M] {\n");
        if let Some(least) = self.assume {
            let _ = writeln!(out, "  assume N >= {least}, M >= {least}");
        }
        for (a, array) in self.arrays.iter().enumerate() {
            let shape = match array.rank {
                0 => String::new(),
                1 => "[?]".to_owned(),
                _ => format!("[?, {}]", self.inner),
            };
            let kind = if array.rank == 0 { "scalar" } else { "array" };
            let storage = match (array.rank, array.local) {
                (_, true) => "local".to_owned(),
                (0, false) => "out".to_owned(),
                (_, false) => {
                    let object = array.object.map(|object| format!(":{object}")).unwrap_or_default();
                    format!("alias {}{object}", array.alias + 1)
                }
            };
            let _ = writeln!(out, "  {kind} A{a}: {}{shape} {storage}", array.element);
        }
        let mut writer = Writer { source: self, statements: 0, predicates: 0, out: String::new() };
        writer.items(&self.body, 1);
        for p in 0..writer.predicates {
            let _ = writeln!(out, "  scalar p{p}: i1 local");
        }
        out + &writer.out + "}\n"
    }

    /// Simpler kernels.
    pub fn simpler(&self) -> Vec<Source> {
        let with = |body| Source { body, ..self.clone() };
        let mut result: Vec<Source> = blocks(&self.body).into_iter().map(with).collect();
        if self.assume.is_some() {
            result.push(Source { assume: None, ..self.clone() });
        }
        result
    }
}

struct Writer<'a> {
    source: &'a Source,
    statements: usize,
    predicates: usize,
    out: String,
}

impl Writer<'_> {
    fn items(&mut self, items: &[Item], depth: usize) {
        let pad = "  ".repeat(depth);
        for item in items {
            match item {
                Item::For(var, lower, upper, step, body) => {
                    let bounds = |function: &str, list: &[Linear]| match list {
                        [one] => one.text(),
                        _ => {
                            let list: Vec<String> = list.iter().map(Linear::text).collect();
                            format!("{function}({})", list.join(", "))
                        }
                    };
                    let step = if *step > 1 { format!(" step {step}") } else { String::new() };
                    let (lower, upper) = (bounds("max", lower), bounds("min", upper));
                    let _ = writeln!(self.out, "{pad}for x{var} in {lower}..{upper}{step} {{");
                    self.items(body, depth + 1);
                }
                Item::If(condition, body) => {
                    let parts: Vec<String> = condition
                        .iter()
                        .map(|(a, op, b)| format!("{} {op} {}", a.text(), b.text()))
                        .collect();
                    let _ = writeln!(self.out, "{pad}if {} {{", parts.join(" && "));
                    self.items(body, depth + 1);
                }
                Item::Predicate(place, yes, no) => {
                    let p = self.predicates;
                    self.predicates += 1;
                    let zero = if self.source.arrays[0].element.starts_with('f') { "0.0" } else { "0" };
                    let inner = if self.source.arrays[0].rank == 2 {
                        format!(", {}", INNER_OFFSET.min(self.source.inner / 2))
                    } else {
                        String::new()
                    };
                    let _ = writeln!(self.out, "{pad}P{p}: p{p} = A0[{}{inner}] > {zero}", place.text());
                    let _ = writeln!(self.out, "{pad}if p{p} {{");
                    self.items(yes, depth + 1);
                    if !no.is_empty() {
                        let _ = writeln!(self.out, "{pad}}}\n{pad}if !p{p} {{");
                        self.items(no, depth + 1);
                    }
                }
                Item::Stmt(target, reads, reduction) => {
                    let float = self.source.arrays[target.0].element.starts_with('f');
                    let number = self.statements;
                    self.statements += 1;
                    let constant = if float { format!("{}.5", number + 1) } else { (number + 1).to_string() };
                    let mut value: Vec<String> = reads.iter().map(element).collect();
                    // What a buffer may hold in the place of elements.
                    if let [_, .., last] = &mut value[..]
                        && self.source.has_storage()
                        && !reduction
                    {
                        *last = format!("{constant} * {last}");
                    }
                    let value = match value.len() {
                        0 => constant,
                        1 => format!("{} + {constant}", value[0]),
                        _ => value.join(" + "),
                    };
                    let mark = if *reduction { " [reduction add]" } else { "" };
                    let _ = writeln!(self.out, "{pad}S{number}{mark}: {} = {value}", element(target));
                    continue;
                }
            }
            let _ = writeln!(self.out, "{pad}}}");
        }
    }
}

fn element((array, subscripts): &Element) -> String {
    if subscripts.is_empty() {
        return format!("A{array}");
    }
    let list: Vec<String> = subscripts.iter().map(Linear::text).collect();
    format!("A{array}[{}]", list.join(", "))
}

fn blocks(items: &[Item]) -> Vec<Vec<Item>> {
    let mut result = Vec::new();
    let replaced = |at: usize, by: Vec<Item>| {
        let mut new = items.to_vec();
        new.splice(at..=at, by);
        new
    };
    for (at, item) in items.iter().enumerate() {
        result.push(replaced(at, vec![]));
        match item {
            Item::For(var, lower, upper, step, body) => {
                result.push(replaced(at, body.iter().map(|i| without(i, *var)).collect()));
                let with = |l: &Vec<Linear>, u: &Vec<Linear>, s, b: Vec<Item>| {
                    replaced(at, vec![Item::For(*var, l.clone(), u.clone(), s, b)])
                };
                if lower.len() > 1 || upper.len() > 1 {
                    result.push(with(&lower[..1].to_vec(), &upper[..1].to_vec(), *step, body.clone()));
                }
                if *step > 1 {
                    result.push(with(lower, upper, 1, body.clone()));
                }
                if lower != &[Linear::new(vec![], 0)] {
                    result.push(with(&vec![Linear::new(vec![], 0)], upper, *step, body.clone()));
                }
                for constant in [2, 3] {
                    if upper[0].terms.len() + upper.len() > 1 {
                        result.push(with(lower, &vec![Linear::new(vec![], constant)], *step, body.clone()));
                    }
                }
                result.extend(blocks(body).into_iter().map(|b| with(lower, upper, *step, b)));
            }
            Item::If(condition, body) => {
                result.push(replaced(at, body.clone()));
                result.extend(
                    blocks(body).into_iter().map(|b| replaced(at, vec![Item::If(condition.clone(), b)])),
                );
            }
            Item::Predicate(place, yes, no) => {
                result.push(replaced(at, yes.clone()));
                result.extend(
                    blocks(yes)
                        .into_iter()
                        .map(|b| replaced(at, vec![Item::Predicate(place.clone(), b, no.clone())])),
                );
            }
            Item::Stmt(target, reads, reduction) => {
                for r in 0..if *reduction { 0 } else { reads.len() } {
                    let mut fewer = reads.clone();
                    fewer.remove(r);
                    result.push(replaced(at, vec![Item::Stmt(target.clone(), fewer, false)]));
                }
                if *reduction {
                    result.push(replaced(at, vec![Item::Stmt(target.clone(), reads.clone(), false)]));
                }
            }
        }
    }
    result
}

/// The item with the variable at zero.
fn without(item: &Item, var: usize) -> Item {
    let all = |list: &[Linear]| list.iter().map(|e| e.without(var)).collect::<Vec<_>>();
    let items = |list: &[Item]| list.iter().map(|i| without(i, var)).collect();
    let elements = |(a, s): &Element| (*a, all(s));
    match item {
        Item::For(v, lower, upper, step, body) => Item::For(*v, all(lower), all(upper), *step, items(body)),
        Item::If(condition, body) => Item::If(
            condition.iter().map(|(a, op, b)| (a.without(var), *op, b.without(var))).collect(),
            items(body),
        ),
        Item::Predicate(place, yes, no) => Item::Predicate(place.without(var), items(yes), items(no)),
        Item::Stmt(target, reads, reduction) => {
            Item::Stmt(elements(target), reads.iter().map(elements).collect(), *reduction)
        }
    }
}
