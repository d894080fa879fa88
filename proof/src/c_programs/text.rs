//! Functions as C text.

use super::fit::{Extent, Fitted, linear};
use super::scenario::Scenario;
use super::{
    Arith, Array, AssignOp, Compare, Condition, Element, Form, Function, Index, IntType, Kept, Layout, Loop,
    Lvalue, MathFunction, Named, Stmt, Value,
};
use std::cell::Cell;
use std::fmt::Write;

/// What functions of one file share.
pub const PRELUDE: &str = "\
double fabs(double), sqrt(double), floor(double), ceil(double);
float fabsf(float), sqrtf(float), floorf(float), ceilf(float);
void *malloc(unsigned long);
void free(void *);
static volatile unsigned long side_state;
__attribute__((noinline)) static void side(long x) { side_state = side_state * 31 + x; }
int _setjmp(void *);
void longjmp(void *, int) __attribute__((noreturn));
static long begun[64];
__attribute__((noinline, noreturn)) static void end(long x) { side(x); longjmp(begun, 1); }
";

/// `test_<number>` and `run_<number>(const long *params, void *const *arrays, void *result)`, which calls it.
/// The result is 8 bytes for what the function returns and 8 for the side effects.
pub fn function(fitted: &Fitted, number: usize) -> String {
    let f = &fitted.function;
    let mut out = String::new();
    let ty = result_type(f);
    let mut declared = Vec::new();
    // What is found elsewhere has its name by a macro.
    let (mut passed, mut names, mut before) = (Vec::new(), Vec::new(), String::new());
    for (p, param) in f.params.iter().enumerate() {
        let ty = param.ty.name();
        match param.kept {
            Kept::Passed => {
                declared.push(format!("{ty} n{p}"));
                passed.push(format!("({ty})n[{p}]"));
            }
            Kept::Pointed => {
                declared.push(format!("const {ty} *q{p}"));
                passed.push(format!("&({ty}){{({ty})n[{p}]}}"));
                names.push((format!("n{p}"), format!("(*q{p})")));
            }
            Kept::Global => {
                let _ = writeln!(out, "static {ty} g{number}_{p};");
                let _ = writeln!(before, "  g{number}_{p} = ({ty})n[{p}];");
                names.push((format!("n{p}"), format!("g{number}_{p}")));
            }
        }
    }
    for (a, (array, extent)) in f.arrays.iter().zip(&fitted.extents).enumerate() {
        let volatile = if array.volatile { "volatile " } else { "" };
        if array.named.is_static() {
            let (ty, name) = (element(array.element), format!("k{number}_{a}"));
            let _ = writeln!(out, "static {volatile}{ty} *{name};");
            if !array.layout.is_local() {
                let _ = writeln!(before, "  {name} = a[{a}];");
            }
            let of = if array.named == Named::Twice { "k" } else { "a" };
            names.push((format!("{of}{a}"), name));
        }
        if array.layout.is_local() || array.named == Named::Static {
            continue;
        }
        let (name, qualifier) = match array.named {
            Named::Behind => (format!("b{a}"), "*const *"),
            _ => (format!("a{a}"), if array.restrict { "*restrict " } else { "*" }),
        };
        let mut text = format!("{volatile}{} ", element(array.element));
        if extent.inner.is_empty() {
            let _ = write!(text, "{qualifier}{name}");
        } else {
            let _ = write!(text, "({qualifier}{name})");
            for inner in &extent.inner {
                match array.layout {
                    Layout::Variable { param } => {
                        let _ = write!(text, "[{}]", Index::Param(param).offset(*inner).text());
                    }
                    _ => {
                        let _ = write!(text, "[{inner}]");
                    }
                }
            }
        }
        declared.push(text);
        if array.named == Named::Behind {
            passed.push(format!("(void *)&a[{a}]"));
            names.push((format!("a{a}"), format!("(*b{a})")));
        } else {
            passed.push(format!("a[{a}]"));
        }
    }
    let declared = if declared.is_empty() { "void".to_owned() } else { declared.join(", ") };
    for (name, place) in &names {
        let _ = writeln!(out, "#define {name} {place}");
    }
    let _ = writeln!(out, "long taken_{number};");
    let _ = writeln!(out, "__attribute__((noinline)) {ty} test_{number}({declared}) {{");
    for (a, (array, extent)) in f.arrays.iter().zip(&fitted.extents).enumerate() {
        let (ty, extent) = (element(array.element), extent.inner.first().copied().unwrap_or(1));
        let _ = match array.layout {
            Layout::Local => writeln!(out, "  {ty} a{a}[{extent}] = {{0}};"),
            Layout::Temporary => {
                let declared = if array.named == Named::Static { "" } else { &format!("{ty} *") };
                writeln!(out, "  {declared}a{a} = malloc({extent} * sizeof({ty}));")
            }
            _ => Ok(()),
        };
    }
    for (s, scalar) in f.scalars.iter().enumerate() {
        let _ = writeln!(out, "  {} s{s} = {};", element(scalar.ty), scalar.init);
    }
    let temporaries = || f.arrays.iter().enumerate().filter(|(_, a)| a.layout == Layout::Temporary);
    // Different values, so that it does not become a call of memset.
    for (a, array) in temporaries() {
        let (ty, extent) = (element(array.element), fitted.extents[a].inner.first().copied().unwrap_or(1));
        let _ = writeln!(out, "  for (long t = 0; t < {extent}; t++) a{a}[t] = ({ty})(t & 7);");
        if array.named == Named::Twice {
            let _ = writeln!(out, "  k{a} = a{a};");
        }
    }
    let writer = Writer { function: f, extents: &fitted.extents, twice: Cell::new(0) };
    writer.block(&f.body, 1, &mut out);
    for (a, _) in temporaries() {
        let _ = writeln!(out, "  free(a{a});");
    }
    let _ = writeln!(out, "  return {};\n}}", writer.result());
    for (name, _) in &names {
        let _ = writeln!(out, "#undef {name}");
    }
    let _ = writeln!(out, "void run_{number}(const long *n, void *const *a, void *r) {{");
    let _ = writeln!(out, "  (void)n; (void)a; side_state = 0; ((long *)r)[0] = 0;");
    out.push_str(&before);
    let _ = writeln!(out, "  if (!_setjmp(begun)) *({ty} *)r = test_{number}({});", passed.join(", "));
    let _ = writeln!(out, "  ((long *)r)[1] = side_state;\n}}");
    out
}

fn result_type(f: &Function) -> &'static str {
    f.result.and_then(|s| f.scalars.get(s)).map_or("long", |s| element(s.ty))
}

/// The name of an element type in C.
pub fn element(ty: Element) -> &'static str {
    match ty {
        Element::Int(t) => t.name(),
        Element::F32 => "float",
        Element::F64 => "double",
    }
}

struct Writer<'a> {
    function: &'a Function,
    extents: &'a [Extent],
    /// Accesses so far of arrays that have two names.
    twice: Cell<u32>,
}

impl Writer<'_> {
    fn result(&self) -> String {
        self.function.result.map_or("0".to_owned(), |s| format!("s{s}"))
    }

    fn block(&self, body: &[Stmt], depth: usize, out: &mut String) {
        body.iter().for_each(|s| self.stmt(s, depth, out));
    }

    fn stmt(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let _ = match stmt {
            Stmt::Assign(place, op, value) => writeln!(out, "{pad}{}", self.assign(place, *op, value)),
            Stmt::Loop(l) => {
                self.for_loop(l, depth, out);
                Ok(())
            }
            Stmt::If(condition, yes, no) => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.condition(condition));
                self.block(yes, depth + 1, out);
                if !no.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(no, depth + 1, out);
                }
                writeln!(out, "{pad}}}")
            }
            Stmt::Switch(index, cases) => {
                let _ = writeln!(out, "{pad}switch ({} & 3) {{", index.text());
                for (label, case) in ["case 0", "case 1", "default"].iter().zip(cases) {
                    let _ = writeln!(out, "{pad}{label}:");
                    self.block(case, depth + 1, out);
                    let _ = writeln!(out, "{pad}  break;");
                }
                writeln!(out, "{pad}}}")
            }
            Stmt::Break => writeln!(out, "{pad}break;"),
            Stmt::Continue => writeln!(out, "{pad}continue;"),
            Stmt::Return => writeln!(out, "{pad}return {};", self.result()),
            Stmt::End(index) => writeln!(out, "{pad}end({} | ({} > 1));", index.text(), self.result()),
            Stmt::Call(index) => writeln!(out, "{pad}side({});", index.text()),
        };
    }

    fn for_loop(&self, l: &Loop, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let (v, ty) = (format!("i{}", l.var), l.ty.name());
        let (lower, upper, step) = (l.lower.text(), l.upper.text(), l.step);
        let plus = if step == 1 { format!("{v}++") } else { format!("{v} += {step}") };
        let minus = if step == 1 { format!("{v}--") } else { format!("{v} -= {step}") };
        let head = match l.form {
            Form::Less => format!("for ({ty} {v} = {lower}; {v} < {upper}; {plus}) {{"),
            Form::LessEqual => format!("for ({ty} {v} = {lower}; {v} <= {upper}; {plus}) {{"),
            Form::NotEqual => format!("for ({ty} {v} = {lower}; {v} != {upper}; {plus}) {{"),
            Form::Greater => format!("for ({ty} {v} = {upper}; {v} > {lower}; {minus}) {{"),
            Form::GreaterEqual => format!("for ({ty} {v} = {upper}; {v} >= {lower}; {minus}) {{"),
            Form::CountDown => format!("for ({ty} {v} = {upper}; {v}-- > {lower};) {{"),
            Form::While => format!("{{ {ty} {v} = {lower}; while ({v} < {upper}) {{"),
            Form::DoWhile => format!("{{ {ty} {v} = {lower}; do {{"),
            Form::Endless => {
                format!("for ({ty} {v} = {lower};; {plus}) {{\n{pad}  if ({v} >= {upper}) break;")
            }
        };
        let _ = writeln!(out, "{pad}{head}");
        self.block(&l.body, depth + 1, out);
        let _ = match l.form {
            Form::While => writeln!(out, "{pad}  {plus};\n{pad}}} }}"),
            Form::DoWhile => writeln!(out, "{pad}  {plus};\n{pad}}} while ({v} < {upper}); }}"),
            _ => writeln!(out, "{pad}}}"),
        };
    }

    /// The name that the next access of an array is by.
    fn name(&self, array: usize) -> String {
        let twice = self.function.arrays.get(array).is_some_and(|a| a.named == Named::Twice);
        let at = self.twice.get();
        self.twice.set(at + u32::from(twice));
        format!("{}{array}", if twice && !at.is_multiple_of(2) { "k" } else { "a" })
    }

    fn element(&self, array: usize, subscripts: &[Index]) -> String {
        let Some(a) = self.function.arrays.get(array) else { return "0".to_owned() };
        let offsets = self.extents.get(array).map(|e| &e.offsets[..]).unwrap_or(&[]);
        let indices: Vec<Index> = match a.layout {
            Layout::Constant | Layout::Variable { .. } => subscripts.to_vec(),
            _ => vec![linear(a, subscripts)],
        };
        let mut text = self.name(array);
        for (dim, index) in indices.into_iter().enumerate() {
            let _ = write!(text, "[{}]", index.offset(offsets.get(dim).copied().unwrap_or(0)).text());
        }
        text
    }

    /// An element of which the inner value names the place.
    fn indirect(&self, array: usize, index: &Index, inner: &Value) -> String {
        let offset = self.extents.get(array).and_then(|e| e.offsets.first()).copied().unwrap_or(0);
        let (inner, from) = self.value(inner);
        let inner = convert(&inner, from, Element::Int(IntType::I32));
        format!("{}[{} + ({inner} & 3)]", self.name(array), index.clone().offset(offset).text())
    }

    fn assign(&self, place: &Lvalue, op: AssignOp, value: &Value) -> String {
        let (target, ty, bounded) = match place {
            Lvalue::Element(a, subscripts) => {
                let ty = self.function.arrays.get(*a).map_or(Element::F64, |a: &Array| a.element);
                (self.element(*a, subscripts), ty, false)
            }
            Lvalue::Indirect(a, index, inner) => {
                let ty = self.function.arrays.get(*a).map_or(Element::F64, |a: &Array| a.element);
                (self.indirect(*a, index, inner), ty, false)
            }
            Lvalue::Scalar(s) => {
                let scalar = self.function.scalars.get(*s);
                let (ty, bounded) = scalar.map_or((Element::F64, false), |s| (s.ty, s.bounded));
                (format!("s{s}"), ty, bounded && ty.is_int())
            }
        };
        let (text, from) = self.value(value);
        let value = convert(&text, from, ty);
        if bounded {
            return match op {
                AssignOp::Set => format!("{target} = {value} & 255;"),
                AssignOp::Sub => format!("{target} -= {value} & 255;"),
                _ => format!("{target} += {value} & 255;"),
            };
        }
        match op {
            AssignOp::Set => format!("{target} = {value};"),
            AssignOp::Max => {
                format!("{{ {0} t = {value}; if (t > {target}) {target} = t; }}", element(ty))
            }
            AssignOp::Add | AssignOp::Sub | AssignOp::Mul | AssignOp::Xor => {
                let arith = match op {
                    AssignOp::Add => Arith::Add,
                    AssignOp::Sub => Arith::Sub,
                    AssignOp::Mul => Arith::Mul,
                    _ => Arith::Xor,
                };
                let sign = match arithmetic(ty, arith) {
                    Arith::Sub => "-",
                    Arith::Mul => "*",
                    Arith::Xor => "^",
                    _ => "+",
                };
                // Signed `+=` could overflow, and `unsigned short *= ` computes in int.
                let natural = match ty {
                    Element::Int(t) => t.bits() == 8 || (!t.is_signed() && t.bits() >= 32) || sign == "^",
                    _ => true,
                };
                if natural {
                    return format!("{target} {sign}= {value};");
                }
                let sum = combine(ty, arith, (target.clone(), ty), (value, ty));
                format!("{target} = {sum};")
            }
        }
    }

    /// C text, with its type.
    fn value(&self, value: &Value) -> (String, Element) {
        match value {
            Value::Constant(ty, c) => (constant(*ty, *c), *ty),
            Value::Element(a, subscripts) => {
                let ty = self.function.arrays.get(*a).map_or(Element::F64, |a| a.element);
                (self.element(*a, subscripts), ty)
            }
            Value::Indirect(a, index, inner) => {
                let ty = self.function.arrays.get(*a).map_or(Element::F64, |a| a.element);
                (self.indirect(*a, index, inner), ty)
            }
            Value::Scalar(s) => {
                (format!("s{s}"), self.function.scalars.get(*s).map_or(Element::F64, |s| s.ty))
            }
            Value::Index(ty, index) => (format!("({}){}", element(*ty), index.text()), *ty),
            Value::Arith(ty, op, a, b) => (combine(*ty, *op, self.value(a), self.value(b)), *ty),
            Value::Masked(ty, op, a, b) => {
                let element = Element::Int(*ty);
                let side = |v: &Value| {
                    let (text, from) = self.value(v);
                    convert(&text, from, element)
                };
                let (a, b) = (side(a), side(b));
                let text = match op {
                    Arith::Sub => format!("(({a} & 1023) - ({b} & 1023))"),
                    Arith::Mul => format!("(({a} & 1023) * ({b} & 1023))"),
                    Arith::Div => format!("({a} / (({b} & 7) + 1))"),
                    Arith::Rem => format!("({a} % (({b} & 7) + 1))"),
                    _ => format!("(({a} & 1023) + ({b} & 1023))"),
                };
                (text, element)
            }
            Value::Function(f, a) => {
                let (text, from) = self.value(a);
                let single = from == Element::F32;
                let ty = if single { Element::F32 } else { Element::F64 };
                let s = if single { "f" } else { "" };
                let text = match f {
                    MathFunction::Fabs => format!("fabs{s}({text})"),
                    MathFunction::Sqrt => format!("sqrt{s}(fabs{s}({text}))"),
                    MathFunction::Floor => format!("floor{s}({text})"),
                    MathFunction::Ceil => format!("ceil{s}({text})"),
                };
                (text, ty)
            }
            Value::Convert(ty, a) => {
                let (text, from) = self.value(a);
                (convert(&text, from, *ty), *ty)
            }
            Value::Select(ty, condition, a, b) => {
                let ((a, ta), (b, tb)) = (self.value(a), self.value(b));
                let (a, b) = (convert(&a, ta, *ty), convert(&b, tb, *ty));
                // Promoted by C; cast back.
                (format!("({})({} ? {a} : {b})", element(*ty), self.condition(condition)), *ty)
            }
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Index(a, c, b) => format!("{} {} {}", a.text(), compare(*c), b.text()),
            Condition::Data(a, c, b) => {
                format!("{} {} {}", self.value(a).0, compare(*c), self.value(b).0)
            }
            Condition::And(a, b) => format!("({}) && ({})", self.condition(a), self.condition(b)),
            Condition::Or(a, b) => format!("({}) || ({})", self.condition(a), self.condition(b)),
            Condition::Not(a) => format!("!({})", self.condition(a)),
        }
    }
}

fn compare(c: Compare) -> &'static str {
    match c {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}

fn constant(ty: Element, c: i64) -> String {
    match ty {
        Element::Int(t) => format!("(({}){c})", t.name()),
        Element::F32 => format!("{:?}f", c as f32 / 4.0),
        Element::F64 => format!("{:?}", c as f64 / 4.0),
    }
}

/// A conversion that is always defined.
fn convert(text: &str, from: Element, to: Element) -> String {
    match (from, to) {
        (a, b) if a == b => text.to_owned(),
        (Element::F32 | Element::F64, Element::Int(t)) => {
            format!("({})({{ double t = {text}; t > -100.0 && t < 100.0 ? (int)t : 0; }})", t.name())
        }
        _ => format!("({}){text}", element(to)),
    }
}

/// Operators that floating point does not have become others.
fn arithmetic(ty: Element, op: Arith) -> Arith {
    match (ty.is_int(), op) {
        (true, _) | (_, Arith::Add | Arith::Sub | Arith::Mul | Arith::Div) => op,
        _ => Arith::Add,
    }
}

fn combine(ty: Element, op: Arith, (a, ta): (String, Element), (b, tb): (String, Element)) -> String {
    let (a, b) = (convert(&a, ta, ty), convert(&b, tb, ty));
    let op = arithmetic(ty, op);
    let Element::Int(t) = ty else {
        let sign = match op {
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
            _ => "+",
        };
        return format!("({a} {sign} {b})");
    };
    let (name, wide) = (t.name(), t.promoted().unsigned().name());
    let (own, bits) = (t.unsigned().name(), t.bits());
    let plain = |sign: &str| format!("({name})(({wide}){a} {sign} ({wide}){b})");
    match op {
        Arith::Add => plain("+"),
        Arith::Sub => plain("-"),
        Arith::Mul => plain("*"),
        Arith::And => plain("&"),
        Arith::Or => plain("|"),
        Arith::Xor => plain("^"),
        Arith::Div => format!("({name})(({wide}){a} / (({wide}){b} | 1))"),
        Arith::Rem => format!("({name})(({wide}){a} % (({wide}){b} | 1))"),
        Arith::Shl => format!("({name})(({wide}){a} << (({wide}){b} & 7))"),
        Arith::Shr => format!("({name})({a} >> (({wide}){b} & 7))"),
        Arith::Rotate => format!("({name})__builtin_rotateleft{bits}(({own}){a}, ({own}){b})"),
        Arith::Zeros => {
            let count = |which: &str| format!("__builtin_{which}g(({own}){a}, {bits})");
            format!("({name})(({wide}){b} + {} * 9u + {})", count("clz"), count("ctz"))
        }
    }
}

/// A whole program: the function, and a `main` that calls it in each scenario and prints a hash of the block.
pub fn program(fitted: &Fitted, scenarios: &[Scenario]) -> String {
    let mut out = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\ntypedef unsigned char byte;\n",
    );
    out.push_str(PRELUDE);
    out.push('\n');
    out.push_str(&function(fitted, 0));
    out.push_str(FILL);
    let _ = writeln!(out, "\nint main(void) {{");
    for (number, s) in scenarios.iter().enumerate() {
        let list = |values: &[i64]| {
            let text: Vec<String> = values.iter().map(|v| format!("{v}L")).collect();
            if text.is_empty() { "0".to_owned() } else { text.join(", ") }
        };
        let _ = writeln!(out, "  {{ // {}", if s.overlapping { "overlapping" } else { "apart" });
        let _ = writeln!(out, "    byte *b = aligned_alloc(64, {});", s.size.div_ceil(64) * 64);
        let _ = writeln!(out, "    memset(b, 0xa5, {});", s.size);
        for (region, (start, count, ty)) in s.regions.iter().enumerate() {
            let _ = writeln!(out, "    fill(b + {start}, {count}, {}, {region});", kind(*ty));
        }
        let _ = writeln!(out, "    long n[] = {{{}}}, r[2] = {{0, 0}};", list(&s.params));
        let pointers: Vec<String> = s.pointers.iter().map(|p| format!("b + {p}L")).collect();
        let pointers = if pointers.is_empty() { "0".to_owned() } else { pointers.join(", ") };
        let _ = writeln!(out, "    void *a[] = {{{pointers}}};");
        let _ = writeln!(out, "    run_0(n, a, r);");
        for (start, count, ty) in &s.regions {
            let _ = writeln!(out, "    settle(b + {start}, {count}, {});", kind(*ty));
        }
        let result = fitted.function.result.and_then(|s| fitted.function.scalars.get(s));
        if let Some(scalar) = result {
            let _ = writeln!(out, "    settle((byte *)r, 1, {});", kind(scalar.ty));
        }
        let _ = writeln!(
            out,
            "    printf(\"{number} %016lx %lx %lx\\n\", hash(b, {}), (unsigned long)r[0], (unsigned long)r[1]);",
            s.size
        );
        let _ = writeln!(out, "    free(b);\n  }}");
    }
    out.push_str("  return 0;\n}\n");
    out
}

/// Code of a type in the C text: bits, and 1 more for floating point.
fn kind(ty: Element) -> u32 {
    match ty {
        Element::Int(t) => t.bits(),
        Element::F32 => 33,
        Element::F64 => 65,
    }
}

const FILL: &str = "
static void fill(byte *p, long count, int kind, unsigned long region) {
  int size = kind / 8;
  for (long at = 0; at < count; at++) {
    unsigned long h = (region * 1000003 + at + 1) * 0x9e3779b97f4a7c15UL, v;
    h ^= h >> 29;
    long small = (long)((h >> 16) % 41) - 15;
    if (kind == 33) { float f = h % 61 == 0 ? -0.0f : small * 0.25f; v = 0; memcpy(&v, &f, 4); }
    else if (kind == 65) { double f = h % 61 == 0 ? -0.0 : small * 0.25; memcpy(&v, &f, 8); }
    else v = h % 31 == 0 ? h >> 8 : (unsigned long)small;
    memcpy(p + at * size, &v, size);
  }
}
static void settle(byte *p, long count, int kind) {
  for (long at = 0; at < count; at++) {
    if (kind == 33) { float f; memcpy(&f, p + 4 * at, 4); if (f != f) { unsigned v = 0x7fc00000; memcpy(p + 4 * at, &v, 4); } }
    if (kind == 65) { double f; memcpy(&f, p + 8 * at, 8); if (f != f) { unsigned long v = 0x7ff8000000000000; memcpy(p + 8 * at, &v, 8); } }
  }
}
static unsigned long hash(const byte *p, long size) {
  unsigned long h = 1469598103934665603UL;
  for (long i = 0; i < size; i++) h = (h ^ p[i]) * 1099511628211UL;
  return h;
}
";
