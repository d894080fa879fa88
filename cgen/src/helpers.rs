//! Small functions that emitted code calls; a file has those that it uses.

use crate::types::{c_type, unsigned};
use loop_tree::ScalarType;

/// One of them. They are written in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Helper {
    /// Threads that may run at once.
    ThreadCount,
    /// The number of the thread, from 0.
    ThreadNumber,
    /// Division that rounds down, by a positive number.
    FloorDiv,
    /// The lesser, signed.
    Min(ScalarType),
    /// The greater, signed.
    Max(ScalarType),
    /// The lesser, unsigned.
    UMin(ScalarType),
    /// The greater, unsigned.
    UMax(ScalarType),
    /// The absolute value, which wraps.
    Abs(ScalarType),
    /// Sums and differences that stay at the end of the range, signed or not.
    AddSat(ScalarType, bool),
    /// The same of differences.
    SubSat(ScalarType, bool),
    /// The bits of a float as an integer.
    Bits(ScalarType),
    /// The float of these bits.
    FromBits(ScalarType),
    /// IEEE 754-2019's minimum: a NaN wins, and minus zero is less than zero.
    Minimum(ScalarType),
    /// IEEE 754-2019's maximum.
    Maximum(ScalarType),
    /// A float as an integer, zero where it does not fit; signed or not.
    ToInteger(ScalarType, ScalarType, bool),
    /// A float as the nearest integer in range, zero where it is no number; signed or not.
    Saturated(ScalarType, ScalarType, bool),
    /// Bits of two numbers side by side, shifted to the left, or to the right.
    Funnel(ScalarType, bool),
    /// Zeros in front of the first one, or behind the last; of zero, all bits.
    Zeros(ScalarType, bool),
}

impl Helper {
    /// Its name.
    pub(crate) fn name(self) -> String {
        let sign = |signed: bool| if signed { "i" } else { "u" };
        match self {
            Helper::ThreadCount => "thread_count".to_string(),
            Helper::ThreadNumber => "thread_number".to_string(),
            Helper::FloorDiv => "floor_div".to_string(),
            Helper::Min(t) => format!("min_{}", t.name()),
            Helper::Max(t) => format!("max_{}", t.name()),
            Helper::UMin(t) => format!("min_u{}", t.bits()),
            Helper::UMax(t) => format!("max_u{}", t.bits()),
            Helper::Abs(t) => format!("abs_{}", t.name()),
            Helper::AddSat(t, signed) => format!("add_sat_{}{}", sign(signed), t.bits()),
            Helper::SubSat(t, signed) => format!("sub_sat_{}{}", sign(signed), t.bits()),
            Helper::Bits(t) => format!("bits_{}", t.name()),
            Helper::FromBits(t) => format!("from_bits_{}", t.name()),
            Helper::Minimum(t) => format!("minimum_{}", t.name()),
            Helper::Maximum(t) => format!("maximum_{}", t.name()),
            Helper::ToInteger(f, t, signed) => format!("{}_to_{}{}", f.name(), sign(signed), t.bits()),
            Helper::Saturated(f, t, signed) => {
                format!("{}_to_nearest_{}{}", f.name(), sign(signed), t.bits())
            }
            Helper::Funnel(t, left) => format!("fsh{}_{}", if left { "l" } else { "r" }, t.name()),
            Helper::Zeros(t, leading) => format!("ct{}z_{}", if leading { "l" } else { "t" }, t.name()),
        }
    }

    /// Its definition.
    pub(crate) fn definition(self) -> String {
        let name = self.name();
        let function = |result: &str, parameters: &str, body: &str| {
            format!("static inline {result} {name}({parameters}) {{\n{body}}}\n")
        };
        let two = |t: &str| format!("{t} a, {t} b");
        match self {
            Helper::ThreadCount => function("int64_t", "void", &threads("omp_get_max_threads()", "1")),
            Helper::ThreadNumber => function("int64_t", "void", &threads("omp_get_thread_num()", "0")),
            Helper::FloorDiv => {
                function("int64_t", "int64_t n, int64_t d", "  return n / d - (n % d < 0);\n")
            }
            Helper::Min(t) => function(c_type(t), &two(c_type(t)), "  return a < b ? a : b;\n"),
            Helper::Max(t) => function(c_type(t), &two(c_type(t)), "  return a > b ? a : b;\n"),
            Helper::UMin(t) | Helper::UMax(t) => {
                let op = if matches!(self, Helper::UMin(_)) { "<" } else { ">" };
                let u = unsigned(t);
                function(c_type(t), &two(c_type(t)), &format!("  return ({u})a {op} ({u})b ? a : b;\n"))
            }
            Helper::Abs(t) => {
                let body =
                    format!("  return a < 0 ? ({})(0 - ({})a) : a;\n", c_type(t), crate::types::wrapping(t));
                function(c_type(t), &format!("{} a", c_type(t)), &body)
            }
            Helper::AddSat(t, signed) | Helper::SubSat(t, signed) => {
                let add = matches!(self, Helper::AddSat(..));
                let builtin = if add { "add" } else { "sub" };
                let (s, u, bits) = (c_type(t), unsigned(t), t.bits());
                let body = match (signed, add) {
                    (true, _) => {
                        let down = if add { "b < 0" } else { "b > 0" };
                        format!(
                            "  {s} r;\n  if (!__builtin_{builtin}_overflow(a, b, &r)) return r;\n  return {down} ? INT{bits}_MIN : INT{bits}_MAX;\n"
                        )
                    }
                    (false, true) => format!(
                        "  {u} r;\n  return __builtin_add_overflow(({u})a, ({u})b, &r) ? ({s})UINT{bits}_MAX : ({s})r;\n"
                    ),
                    (false, false) => format!("  return ({u})a > ({u})b ? ({s})(({u})a - ({u})b) : 0;\n"),
                };
                function(s, &two(s), &body)
            }
            Helper::Bits(t) => copy(&function, c_type(same_size(t)), c_type(t)),
            Helper::FromBits(t) => copy(&function, c_type(t), c_type(same_size(t))),
            Helper::Minimum(t) | Helper::Maximum(t) => {
                let (op, sign) = match self {
                    Helper::Minimum(_) => ("<", "signbit(a)"),
                    _ => (">", "!signbit(a)"),
                };
                let body = format!(
                    "  if (isunordered(a, b)) return a + b;\n  return a {op} b || (a == b && {sign}) ? a : b;\n"
                );
                function(c_type(t), &two(c_type(t)), &body)
            }
            Helper::Funnel(t, left) => {
                let (u, c, bits) = (unsigned(t), c_type(t), t.bits());
                let shifted = match left {
                    true => format!("({u})({u})a << s | ({u})b >> ({bits} - s)"),
                    false => format!("({u})({u})a << ({bits} - s) | ({u})b >> s"),
                };
                let whole = if left { "a" } else { "b" };
                let body = format!(
                    "  const int s = (int)(({u})by % {bits});\n  return s ? ({c})({shifted}) : {whole};\n"
                );
                function(c, &format!("{}, {c} by", two(c)), &body)
            }
            Helper::Zeros(t, leading) => {
                let (u, c, bits) = (unsigned(t), c_type(t), t.bits());
                let count = match leading {
                    true => format!("__builtin_clzll(({u})a) - {}", 64 - bits),
                    false => format!("__builtin_ctzll(({u})a)"),
                };
                function(c, &format!("{c} a"), &format!("  return ({c})(a ? {count} : {bits});\n"))
            }
            Helper::Saturated(f, t, signed) => {
                let (to, low, high) = range(t, signed);
                let (c, u) = (c_type(t), unsigned(t));
                let (least, greatest) = match signed {
                    true => {
                        (format!("({c})(({u})1 << {})", t.bits() - 1), format!("({c})(({u})~({u})0 >> 1)"))
                    }
                    false => ("0".to_string(), format!("({c})({u})~({u})0")),
                };
                let body = format!(
                    "  return x >= {high:?} ? {greatest} : x <= {low} ? {least} : x == x ? ({c})({to})x : 0;\n"
                );
                function(c, &format!("{} x", c_type(f)), &body)
            }
            Helper::ToInteger(f, t, signed) => {
                let (to, low, high) = range(t, signed);
                let (cut, whole) =
                    if f == ScalarType::F32 { ("truncf", "float") } else { ("trunc", "double") };
                let body = format!(
                    "  const {whole} t = {cut}(x);\n  return t >= {low} && t < {high:?} ? ({})({to})t : 0;\n",
                    c_type(t)
                );
                function(c_type(t), &format!("{} x", c_type(f)), &body)
            }
        }
    }
}

/// The type that a number is converted to, its least number, and the first one beyond it.
fn range(t: ScalarType, signed: bool) -> (&'static str, String, f64) {
    let bits = t.bits() as i32;
    match signed {
        true => (c_type(t), format!("-{:?}", 2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        false => (unsigned(t), "0.0".to_string(), 2f64.powi(bits)),
    }
}

fn threads(with: &str, without: &str) -> String {
    format!("#ifdef _OPENMP\n  return {with};\n#else\n  return {without};\n#endif\n")
}

fn same_size(t: ScalarType) -> ScalarType {
    if t == ScalarType::F32 { ScalarType::I32 } else { ScalarType::I64 }
}

fn copy(function: &dyn Fn(&str, &str, &str) -> String, to: &str, from: &str) -> String {
    let body = format!("  {to} r;\n  memcpy(&r, &x, sizeof r);\n  return r;\n");
    function(to, &format!("{from} x"), &body)
}
