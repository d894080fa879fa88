//! From a readable statement to typed operations, in the order of evaluation.
//!
//! Types come from the arrays; a number takes the type of what stands beside it. The printer relies on this being a
//! function: it prints the readable form only where reading it gives the same operations.

use super::expression::{Element, Expr, ExprKind, Literal};
use super::lexer::Tok;
use super::parser::{Parsed, Parser};
use crate::{
    Access, AccessId, AccessKind, Array, BinaryOp, CastOp, ComparePredicate, Constant, Intrinsic, Op,
    OpFlags, OpId, OpKind, ScalarType,
};

/// The operation flag of a name, which is that of the constant in small letters.
pub(super) fn op_flag(name: &str) -> Option<OpFlags> {
    let named = |of: &str| of.bytes().map(|b| b.to_ascii_lowercase()).eq(name.bytes());
    OpFlags::all().iter_names().find(|(of, _)| named(of)).map(|(_, flag)| flag)
}

/// Infix signs with their operators, of floats and of integers.
const OPERATORS: [(&str, Option<BinaryOp>, BinaryOp); 10] = [
    ("+", Some(BinaryOp::FAdd), BinaryOp::Add),
    ("-", Some(BinaryOp::FSub), BinaryOp::Sub),
    ("*", Some(BinaryOp::FMul), BinaryOp::Mul),
    ("/", Some(BinaryOp::FDiv), BinaryOp::SDiv),
    ("%", Some(BinaryOp::FRem), BinaryOp::SRem),
    ("<<", None, BinaryOp::Shl),
    (">>", None, BinaryOp::AShr),
    ("&", None, BinaryOp::And),
    ("|", None, BinaryOp::Or),
    ("^", None, BinaryOp::Xor),
];

/// Signs of comparisons with their predicates: of floats, ordered (`!=`: unordered), and of integers, signed.
const PREDICATES: [(&str, ComparePredicate, ComparePredicate); 6] = [
    ("<", ComparePredicate::FOlt, ComparePredicate::Slt),
    ("<=", ComparePredicate::FOle, ComparePredicate::Sle),
    (">", ComparePredicate::FOgt, ComparePredicate::Sgt),
    (">=", ComparePredicate::FOge, ComparePredicate::Sge),
    ("==", ComparePredicate::FOeq, ComparePredicate::Eq),
    ("!=", ComparePredicate::FUne, ComparePredicate::Ne),
];

fn operator(sign: &str, ty: ScalarType) -> Option<BinaryOp> {
    let (_, float, integer) = OPERATORS.iter().find(|o| o.0 == sign)?;
    if ty.is_float() { *float } else { Some(*integer) }
}

fn predicate(sign: &str, ty: ScalarType) -> Option<ComparePredicate> {
    let (_, float, integer) = PREDICATES.iter().find(|p| p.0 == sign)?;
    Some(if ty.is_float() { *float } else { *integer })
}

/// The infix sign of an operator.
pub(super) fn sign_of_operator(op: BinaryOp, ty: ScalarType) -> Option<&'static str> {
    OPERATORS.iter().map(|o| o.0).find(|sign| operator(sign, ty) == Some(op))
}

/// The sign of a comparison.
pub(super) fn sign_of_predicate(of: ComparePredicate, ty: ScalarType) -> Option<&'static str> {
    PREDICATES.iter().map(|p| p.0).find(|sign| predicate(sign, ty) == Some(of))
}

/// The conversion that a type's name means when it is called.
pub(crate) fn plain_cast(from: ScalarType, to: ScalarType) -> CastOp {
    match (from.is_float(), to.is_float()) {
        (false, false) if from.bits() > to.bits() => CastOp::Trunc,
        (false, false) if from == ScalarType::I1 => CastOp::ZExt,
        (false, false) => CastOp::SExt,
        (false, true) if from == ScalarType::I1 => CastOp::UiToFp,
        (false, true) => CastOp::SiToFp,
        (true, false) => CastOp::FpToSi,
        (true, true) if from.bits() > to.bits() => CastOp::FpTrunc,
        (true, true) => CastOp::FpExt,
    }
}

/// What a called name means: the function, the flags and the type after it.
struct Callee {
    function: Function,
    flags: OpFlags,
    ty: Option<ScalarType>,
}

enum Function {
    To(ScalarType),
    Binary(BinaryOp),
    Cast(CastOp),
    Compare(ComparePredicate),
    Intrinsic(Intrinsic),
    Select,
}

fn callee(word: &str) -> Option<Callee> {
    let (mut name, mut flags, mut ty) = (word, OpFlags::empty(), None);
    loop {
        // A cast named as an operation needs its type; `trunc.fp` is found before `trunc` with a suffix.
        let function = if let Some(to) = ScalarType::from_name(name) {
            Some(Function::To(to))
        } else if let Some(i) = Intrinsic::from_name(name) {
            Some(Function::Intrinsic(i))
        } else if let Some(op) = BinaryOp::from_name(name) {
            Some(Function::Binary(op))
        } else if let Some(op) = CastOp::from_name(name) {
            Some(Function::Cast(op))
        } else if name == "select" {
            Some(Function::Select)
        } else {
            ComparePredicate::from_name(name).map(Function::Compare)
        };
        if let Some(function) = function {
            return Some(Callee { function, flags, ty });
        }
        let (rest, suffix) = name.rsplit_once('.')?;
        name = rest;
        match (op_flag(suffix), ScalarType::from_name(suffix)) {
            (Some(f), _) => flags |= f,
            (None, Some(t)) if ty.is_none() => ty = Some(t),
            _ => return None,
        }
    }
}

struct Elaborator<'p> {
    parser: &'p Parser,
    ops: Vec<Op>,
    accesses: Vec<Access>,
}

type Typed = (OpId, ScalarType);

impl Parser {
    /// `A[i] = e`, `A[i] += e`.
    pub fn assignment(&mut self) -> Parsed<(Vec<Op>, Vec<Access>)> {
        let start = self.span().start;
        let target = self.element()?;
        if target.subscripts.is_none() {
            return self.error("an assignment writes one element", self.since(start));
        }
        let sign = match self.peek() {
            Tok::Punct("=") => None,
            Tok::Punct("+=") => Some("+"),
            Tok::Punct("-=") => Some("-"),
            Tok::Punct("*=") => Some("*"),
            Tok::Punct("/=") => Some("/"),
            _ => return self.unexpected("`=`, `+=`, `-=`, `*=` or `/=`"),
        };
        self.next();
        let target_span = self.since(start);
        let mut value = self.expression()?;
        if let Some(sign) = sign {
            let span = value.span.clone();
            let height = value.height;
            let read = Expr { kind: ExprKind::Element(target.clone()), span: target_span.clone(), height: 1 };
            value = Expr {
                kind: ExprKind::Infix(sign, Box::new(read), Box::new(value)),
                span,
                height: height + 1,
            };
        }
        let ty = self.tables.arrays[target.array.index()].element;
        let mut e = Elaborator { parser: self, ops: Vec::new(), accesses: Vec::new() };
        let (op, found) = e.value(&value, Some(ty))?;
        if found != ty {
            return self.error_help(
                format!("a value of type {} is assigned to an element of type {}", found.name(), ty.name()),
                format!("convert it: {}(...)", ty.name()),
                value.span,
            );
        }
        let access = e.access(&target, AccessKind::Write);
        e.push(OpKind::Store(access, op), ty, OpFlags::empty());
        Ok((e.ops, e.accesses))
    }

    fn arrays(&self) -> &[Array] {
        &self.tables.arrays
    }

    /// The constant that a literal means at a type.
    pub fn constant(
        &self,
        literal: &Literal,
        ty: ScalarType,
        span: std::ops::Range<usize>,
    ) -> Parsed<Constant> {
        let mask = if ty.bits() == 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
        let bits = match literal {
            Literal::Bits(bits) if bits & !mask == 0 => *bits,
            Literal::Bool(b) if ty == ScalarType::I1 => u64::from(*b),
            Literal::Int(n) if !ty.is_float() => {
                let bits = ty.bits();
                if *n < -(1i128 << (bits - 1)) || *n >= 1i128 << bits {
                    return self.error(format!("{n} does not fit in {}", ty.name()), span);
                }
                (*n as u64) & mask
            }
            Literal::Int(n) => {
                return self.constant(&Literal::Float(*n < 0, n.unsigned_abs().to_string()), ty, span);
            }
            Literal::Float(negative, digits) if ty == ScalarType::F64 => {
                let value = digits.parse::<f64>().unwrap_or(f64::NAN);
                (if *negative { -value } else { value }).to_bits()
            }
            Literal::Float(negative, digits) if ty == ScalarType::F32 => {
                let value = digits.parse::<f32>().unwrap_or(f32::NAN);
                u64::from((if *negative { -value } else { value }).to_bits())
            }
            _ => return self.error(format!("this is not a number of type {}", ty.name()), span),
        };
        Ok(Constant { ty, bits })
    }
}

impl Elaborator<'_> {
    fn push(&mut self, kind: OpKind, ty: ScalarType, flags: OpFlags) -> OpId {
        self.ops.push(Op { kind, ty, mask: None, flags, origin: None });
        OpId::new(self.ops.len() - 1)
    }

    fn access(&mut self, e: &Element, kind: AccessKind) -> AccessId {
        self.accesses.push(Access { array: e.array, subscripts: e.subscripts.clone(), kind });
        AccessId::new(self.accesses.len() - 1)
    }

    /// The type, as far as the expression alone says.
    fn infer(&self, e: &Expr) -> Option<ScalarType> {
        match &e.kind {
            ExprKind::Literal(Literal::Bool(_)) | ExprKind::Test(_) => Some(ScalarType::I1),
            ExprKind::Literal(_) | ExprKind::Affine(_) => None,
            ExprKind::ExplicitAffine(ty, _) => *ty,
            ExprKind::Element(a) => Some(self.parser.arrays()[a.array.index()].element),
            ExprKind::Negate(x) => self.infer(x),
            ExprKind::Infix("<" | "<=" | ">" | ">=" | "==" | "!=", ..) => Some(ScalarType::I1),
            ExprKind::Infix(_, a, b) => self.infer(a).or_else(|| self.infer(b)),
            ExprKind::Choose(_, a, b) => self.infer(a).or_else(|| self.infer(b)),
            ExprKind::Call(word, arguments) => {
                let c = callee(word)?;
                match c.function {
                    Function::To(ty) => Some(ty),
                    Function::Compare(_) => Some(ScalarType::I1),
                    Function::Select => arguments.iter().skip(1).find_map(|a| self.infer(a)),
                    Function::Cast(_) => c.ty,
                    _ => c.ty.or_else(|| arguments.iter().find_map(|a| self.infer(a))),
                }
            }
        }
    }

    fn default(&self, e: &Expr) -> ScalarType {
        match &e.kind {
            ExprKind::Literal(Literal::Float(..)) => ScalarType::F64,
            ExprKind::Negate(x) => self.default(x),
            ExprKind::Infix(_, a, b) => match self.default(a) {
                ScalarType::I64 => self.default(b),
                ty => ty,
            },
            _ => ScalarType::I64,
        }
    }

    /// The common type of operands.
    fn common(&self, operands: &[&Expr], expected: Option<ScalarType>) -> ScalarType {
        operands.iter().find_map(|e| self.infer(e)).or(expected).unwrap_or_else(|| {
            let defaults = || operands.iter().map(|e| self.default(e));
            defaults().find(|t| t.is_float()).unwrap_or(ScalarType::I64)
        })
    }

    fn of_type(&mut self, e: &Expr, ty: ScalarType) -> Parsed<OpId> {
        let (op, found) = self.value(e, Some(ty))?;
        if found != ty {
            return self.parser.error_help(
                format!("this has type {}, but {} is wanted", found.name(), ty.name()),
                format!("convert it: {}(...)", ty.name()),
                e.span.clone(),
            );
        }
        Ok(op)
    }

    fn value(&mut self, e: &Expr, expected: Option<ScalarType>) -> Parsed<Typed> {
        match &e.kind {
            ExprKind::Literal(literal) => {
                let ty = expected.unwrap_or_else(|| match literal {
                    Literal::Bool(_) => ScalarType::I1,
                    _ => self.default(e),
                });
                let c = self.parser.constant(literal, ty, e.span.clone())?;
                Ok((self.push(OpKind::Const(c), ty, OpFlags::empty()), ty))
            }
            ExprKind::Affine(a) => {
                let ty = expected.unwrap_or(ScalarType::I64);
                if ty.is_float() {
                    let help = format!("convert it: {}(...)", ty.name());
                    return self.parser.error_help("an index is an integer", help, e.span.clone());
                }
                Ok((self.push(OpKind::Affine(a.clone()), ty, OpFlags::empty()), ty))
            }
            ExprKind::ExplicitAffine(ty, a) => {
                let ty = ty.or(expected).unwrap_or(ScalarType::I64);
                if ty.is_float() {
                    return self.parser.error("an affine value is an integer", e.span.clone());
                }
                Ok((self.push(OpKind::Affine(a.clone()), ty, OpFlags::empty()), ty))
            }
            ExprKind::Test(c) => {
                Ok((self.push(OpKind::Test(c.clone()), ScalarType::I1, OpFlags::empty()), ScalarType::I1))
            }
            ExprKind::Element(a) => {
                let ty = self.parser.arrays()[a.array.index()].element;
                if a.subscripts.is_none() {
                    return self.parser.error("a load reads one element", e.span.clone());
                }
                let access = self.access(a, AccessKind::Read);
                Ok((self.push(OpKind::Load(access), ty, OpFlags::empty()), ty))
            }
            ExprKind::Negate(x) => {
                let ty = self.common(&[x], expected);
                if !ty.is_float() {
                    return self.parser.error_help("only floats are negated", "write 0 - x", e.span.clone());
                }
                let x = self.of_type(x, ty)?;
                Ok((self.push(OpKind::Call(Intrinsic::FNeg, vec![x]), ty, OpFlags::empty()), ty))
            }
            ExprKind::Infix(sign @ ("<" | "<=" | ">" | ">=" | "==" | "!="), a, b) => {
                let ty = self.common(&[a, b], None);
                let Some(predicate) = predicate(sign, ty) else {
                    return self.parser.error("unknown comparison", e.span.clone());
                };
                let (a, b) = (self.of_type(a, ty)?, self.of_type(b, ty)?);
                let kind = OpKind::Compare(predicate, a, b);
                Ok((self.push(kind, ScalarType::I1, OpFlags::empty()), ScalarType::I1))
            }
            ExprKind::Infix(sign, a, b) => {
                let ty = self.common(&[a, b], expected);
                let Some(op) = operator(sign, ty) else {
                    let message = format!("`{sign}` does not work on {}", ty.name());
                    return self.parser.error(message, e.span.clone());
                };
                let (a, b) = (self.of_type(a, ty)?, self.of_type(b, ty)?);
                Ok((self.push(OpKind::Binary(op, a, b), ty, OpFlags::empty()), ty))
            }
            ExprKind::Choose(c, a, b) => self.select(c, a, b, expected, OpFlags::empty()),
            ExprKind::Call(word, arguments) => self.call(e, word, arguments, expected),
        }
    }

    fn select(
        &mut self,
        c: &Expr,
        a: &Expr,
        b: &Expr,
        expected: Option<ScalarType>,
        flags: OpFlags,
    ) -> Parsed<Typed> {
        let ty = self.common(&[a, b], expected);
        let c = self.of_type(c, ScalarType::I1)?;
        let (a, b) = (self.of_type(a, ty)?, self.of_type(b, ty)?);
        Ok((self.push(OpKind::Select(c, a, b), ty, flags), ty))
    }

    fn call(&mut self, e: &Expr, word: &str, args: &[Expr], expected: Option<ScalarType>) -> Parsed<Typed> {
        let Some(Callee { function, flags, ty }) = callee(word) else {
            return self.parser.error_help(
                format!("`{word}` is not a function"),
                "functions are types (`f64(x)`), operations (`udiv(a, b)`) and intrinsics (`sqrt(x)`, `fma(a, b, c)`)",
                e.span.clone(),
            );
        };
        let arity = match function {
            Function::To(_) | Function::Cast(_) => 1,
            Function::Binary(_) | Function::Compare(_) => 2,
            Function::Select => 3,
            Function::Intrinsic(i) => i.arity(),
        };
        if args.len() != arity {
            let message = format!("`{word}` takes {arity} operands, {} are given", args.len());
            return self.parser.error(message, e.span.clone());
        }
        match function {
            Function::To(to) => {
                // An index or a number has no width of its own: it is made at the type.
                if !to.is_float()
                    && let ExprKind::Affine(_) | ExprKind::Literal(_) = args[0].kind
                {
                    return self.value(&args[0], Some(to));
                }
                let (x, from) = self.value(&args[0], None)?;
                if from == to {
                    return Ok((x, to));
                }
                Ok((self.push(OpKind::Cast(plain_cast(from, to), x), to, flags), to))
            }
            Function::Cast(cast) => {
                let Some(to) = ty else {
                    let help = format!("write {word}.i64(...)");
                    return self.parser.error_help("a conversion needs its type", help, e.span.clone());
                };
                let (x, _) = self.value(&args[0], None)?;
                Ok((self.push(OpKind::Cast(cast, x), to, flags), to))
            }
            Function::Compare(predicate) => {
                let ty = ty.unwrap_or_else(|| self.common(&[&args[0], &args[1]], None));
                let (a, b) = (self.of_type(&args[0], ty)?, self.of_type(&args[1], ty)?);
                let kind = OpKind::Compare(predicate, a, b);
                Ok((self.push(kind, ScalarType::I1, flags), ScalarType::I1))
            }
            Function::Select => self.select(&args[0], &args[1], &args[2], ty.or(expected), flags),
            Function::Binary(op) => {
                let ty = ty.unwrap_or_else(|| self.common(&[&args[0], &args[1]], expected));
                let (a, b) = (self.of_type(&args[0], ty)?, self.of_type(&args[1], ty)?);
                Ok((self.push(OpKind::Binary(op, a, b), ty, flags), ty))
            }
            Function::Intrinsic(i) => {
                let operands: Vec<&Expr> = args.iter().collect();
                let ty = ty.unwrap_or_else(|| self.common(&operands, expected));
                let mut values = Vec::with_capacity(args.len());
                for a in args {
                    values.push(self.of_type(a, ty)?);
                }
                Ok((self.push(OpKind::Call(i, values), ty, flags), ty))
            }
        }
    }
}
