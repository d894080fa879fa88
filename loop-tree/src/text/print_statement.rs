//! Text of statements: readable where that reads back as the same operations, else complete.

use super::elaborate::{plain_cast, sign_of_operator, sign_of_predicate};
use super::expression::level;
use super::lexer::{string, tokens};
use super::parser::{Parser, Tables};
use super::print::Names;
use super::tree::{FLAGS, default_dims, implied_reduction};
use crate::{
    Access, AccessId, AccessKind, Constant, Intrinsic, Op, OpFlags, OpId, OpKind, ScalarType, Statement,
    StmtId, VarId,
};
use std::fmt::Write;

/// Above this many operations a statement is printed in its complete form.
const MAX_READABLE: usize = 64;

/// `S0(i, j) [attributes]: body`, with dims if wanted or if reading it in this scope would find others.
pub(super) fn definition(
    names: &Names,
    parser: Option<&Parser>,
    id: StmtId,
    scope: &[(VarId, bool)],
    with_dims: bool,
    indent: usize,
) -> String {
    let Some(s) = names.kernel.statements.get(id.index()) else { return format!("{id:?}") };
    let mut out = names.statement(id);
    let usual = default_dims(scope, names.kernel.variables.len(), &s.ops, &s.accesses);
    if with_dims || usual[..] != s.dims[..] {
        let dims: Vec<String> = s.dims.iter().map(|v| names.var(*v)).collect();
        _ = write!(out, "({})", dims.join(", "));
    }
    let mut attributes = Vec::new();
    if let Some(r) = &s.reduction {
        let implied = implied_reduction(r.op, &s.accesses) == Some(*r);
        let place = if implied { String::new() } else { format!("({}, {})", r.read.0, r.write.0) };
        attributes.push(format!("reduction {}{place}", r.op.name()));
    }
    attributes.extend(FLAGS.iter().filter(|(_, f)| s.flags.contains(*f)).map(|(n, _)| n.to_string()));
    if let Some(l) = &s.location {
        let column = if l.column == 0 { String::new() } else { format!(":{}", l.column) };
        attributes.push(format!("at {}:{}{column}", string(&l.file), l.line));
    }
    if !attributes.is_empty() {
        _ = write!(out, " [{}]", attributes.join(", "));
    }
    out.push_str(": ");
    match parser.and_then(|p| readable(names, p, s)) {
        Some(text) => out.push_str(&text),
        None => complete(names, s, indent, &mut out),
    }
    out
}

/// Text of an operation, and how tightly its outermost operator binds.
struct Piece {
    text: String,
    level: usize,
}

const ATOM: usize = 100;
const TERNARY: usize = 0;

/// The one-line form, if reading it gives the same operations and accesses.
fn readable(names: &Names, parser: &Parser, s: &Statement) -> Option<String> {
    let (last, rest) = s.ops.split_last()?;
    if s.ops.len() > MAX_READABLE {
        return None;
    }
    let mut uses = vec![0u32; s.ops.len()];
    for op in &s.ops {
        if op.mask.is_some() {
            return None;
        }
        op.kind.operands().iter().for_each(|o| uses[o.index().min(rest.len())] += 1);
    }
    if uses[..rest.len()].iter().any(|n| *n != 1) {
        return None;
    }
    let OpKind::Store(access, value) = &last.kind else { return None };
    let target = element(names, s.accesses.get(access.index())?);
    let mut candidates = Vec::new();
    let (result, written) = (s.ops.get(value.index())?, s.accesses.get(access.index())?);
    if let OpKind::Binary(op, a, b) = &result.kind
        && result.flags.is_empty()
        && let OpKind::Load(read) = &s.ops.get(a.index())?.kind
        && s.accesses.get(read.index())?.subscripts == written.subscripts
        && s.accesses.get(read.index())?.array == written.array
        && let Some(sign @ ("+" | "-" | "*" | "/")) = sign_of_operator(*op, last.ty)
    {
        candidates.push(format!("{target} {sign}= {}", piece(names, s, *b)?.text));
    }
    candidates.push(format!("{target} = {}", piece(names, s, *value)?.text));
    candidates.into_iter().find(|text| reads_back(parser, s, text))
}

fn reads_back(parser: &Parser, s: &Statement, text: &str) -> bool {
    let Ok(tokens) = tokens(text) else { return false };
    let mut p = Parser {
        tokens,
        at: 0,
        depth: 0,
        tables: Tables {
            names: parser.tables.names.clone(),
            arrays: parser.tables.arrays.clone(),
            ..Tables::default()
        },
        scope: s.dims.iter().map(|v| (*v, true)).collect(),
    };
    let Ok((ops, accesses)) = p.assignment() else { return false };
    let same = |a: &Op, b: &Op| Op { origin: None, ..a.clone() } == *b;
    *p.peek() == super::lexer::Tok::End
        && accesses == s.accesses
        && ops.len() == s.ops.len()
        && s.ops.iter().zip(&ops).all(|(a, b)| same(a, b))
}

fn call(name: String, flags: OpFlags, arguments: &[Piece]) -> Piece {
    let mut text = name;
    for (flag, _) in flags.iter_names() {
        _ = write!(text, ".{}", flag.to_ascii_lowercase());
    }
    let list: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
    _ = write!(text, "({})", list.join(", "));
    Piece { text, level: ATOM }
}

fn infix(sign: &str, a: Piece, b: Piece) -> Piece {
    let level = level(sign) + 1;
    let left = if a.level < level { format!("({})", a.text) } else { a.text };
    let right = if b.level <= level { format!("({})", b.text) } else { b.text };
    Piece { text: format!("{left} {sign} {right}"), level }
}

fn piece(names: &Names, s: &Statement, id: OpId) -> Option<Piece> {
    let op = s.ops.get(id.index())?;
    let sub = |o: &OpId| if o.0 < id.0 { piece(names, s, *o) } else { None };
    let atom = |text: String| Piece { text, level: ATOM };
    Some(match &op.kind {
        OpKind::Const(c) => atom(constant(c)),
        OpKind::Affine(e) => {
            let plain = matches!(e.terms(), [(crate::Atom::Var(_) | crate::Atom::Param(_), 1)])
                && e.constant_term() == 0;
            let text = names.affine(e);
            if plain && op.ty == ScalarType::I64 {
                atom(text)
            } else if e.has_divisions() || e.terms().is_empty() {
                atom(format!("affine.{}({text})", op.ty.name()))
            } else {
                atom(format!("{}({text})", op.ty.name()))
            }
        }
        OpKind::Test(c) => atom(format!("test({})", names.constraint(c))),
        OpKind::Load(a) if op.flags.is_empty() => atom(element(names, s.accesses.get(a.index())?)),
        OpKind::Load(..)
        | OpKind::Store(..)
        | OpKind::LoadAt(..)
        | OpKind::StoreAt(..)
        | OpKind::Pure(..)
        | OpKind::Opaque(..) => return None,
        OpKind::Binary(b, x, y) => match sign_of_operator(*b, op.ty) {
            Some(sign) if op.flags.is_empty() => infix(sign, sub(x)?, sub(y)?),
            _ => call(b.name().into(), op.flags, &[sub(x)?, sub(y)?]),
        },
        OpKind::Cast(c, x) => {
            let from = s.ops.get(x.index())?.ty;
            if plain_cast(from, op.ty) == *c && from != op.ty && op.flags.is_empty() {
                call(op.ty.name().into(), op.flags, &[sub(x)?])
            } else {
                call(format!("{}.{}", c.name(), op.ty.name()), op.flags, &[sub(x)?])
            }
        }
        OpKind::Compare(p, x, y) => match sign_of_predicate(*p, s.ops.get(x.index())?.ty) {
            Some(sign) if op.flags.is_empty() => infix(sign, sub(x)?, sub(y)?),
            _ => call(p.name().into(), op.flags, &[sub(x)?, sub(y)?]),
        },
        OpKind::Select(c, x, y) if op.flags.is_empty() => {
            let c = sub(c)?;
            let c = if c.level == TERNARY { format!("({})", c.text) } else { c.text };
            Piece { text: format!("{c} ? {} : {}", sub(x)?.text, sub(y)?.text), level: TERNARY }
        }
        OpKind::Select(c, x, y) => call("select".into(), op.flags, &[sub(c)?, sub(x)?, sub(y)?]),
        OpKind::Call(Intrinsic::FNeg, x) if op.flags.is_empty() && x.len() == 1 => {
            let x = sub(&x[0])?;
            let text = if x.level < ATOM { format!("-({})", x.text) } else { format!("-{}", x.text) };
            atom(text)
        }
        OpKind::Call(f, x) => {
            call(f.name().into(), op.flags, &x.iter().map(sub).collect::<Option<Vec<_>>>()?)
        }
    })
}

/// `A[i, j]`, `A[*]`, or the name of a scalar.
fn element(names: &Names, a: &Access) -> String {
    let name = names.array(a.array);
    match &a.subscripts {
        None => format!("{name}[*]"),
        Some(list) if list.is_empty() => name,
        Some(list) => {
            let list: Vec<String> = list.iter().map(|e| names.affine(e)).collect();
            format!("{name}[{}]", list.join(", "))
        }
    }
}

/// A number that reads back as the same bits.
fn constant(c: &Constant) -> String {
    match c.ty {
        ScalarType::I1 if c.bits <= 1 => (c.bits == 1).to_string(),
        ScalarType::F64 if f64::from_bits(c.bits).is_finite() => format!("{:?}", f64::from_bits(c.bits)),
        ScalarType::F32 if c.bits >> 32 == 0 && f32::from_bits(c.bits as u32).is_finite() => {
            format!("{:?}", f32::from_bits(c.bits as u32))
        }
        ScalarType::I1 | ScalarType::F32 | ScalarType::F64 => format!("0x{:x}", c.bits),
        _ => c.signed().to_string(),
    }
}

fn complete(names: &Names, s: &Statement, indent: usize, out: &mut String) {
    let inline = accesses_in_place(s);
    out.push_str("{\n");
    let mut line = |text: String| {
        for _ in 0..=indent {
            out.push_str("  ");
        }
        out.push_str(&text);
        out.push('\n');
    };
    let declared = |a: &Access| format!("{} {}", a.kind.name(), element(names, a));
    if !inline {
        s.accesses.iter().for_each(|a| line(declared(a)));
    }
    let mut next = 0;
    for (id, op) in s.ops() {
        if let Some(used) = op.kind.access().filter(|_| inline).map(AccessId::index) {
            s.accesses[next..used].iter().for_each(|a| line(declared(a)));
            next = used + 1;
        }
        line(operation(names, s, id, op, inline));
    }
    if inline {
        s.accesses[next..].iter().for_each(|a| line(declared(a)));
    }
    for _ in 0..indent {
        out.push_str("  ");
    }
    out.push('}');
}

/// Whether each access that operations refer to can be written where it is used, and gets its number there.
fn accesses_in_place(s: &Statement) -> bool {
    let mut next = 0;
    s.ops.iter().all(|op| {
        let Some(a) = op.kind.access() else { return true };
        let wanted = match s.accesses.get(a.index()) {
            _ if !op.kind.is_store() => AccessKind::Read,
            Some(access) if op.mask.is_some() || access.subscripts.is_none() => AccessKind::MayWrite,
            _ => AccessKind::Write,
        };
        let ok = a.index() >= next && s.accesses.get(a.index()).is_some_and(|a| a.kind == wanted);
        next = a.index() + 1;
        ok
    })
}

fn operation(names: &Names, s: &Statement, id: OpId, op: &Op, inline: bool) -> String {
    let access = |a: &AccessId| match s.accesses.get(a.index()) {
        Some(access) if inline => element(names, access),
        _ => format!("#{}", a.0),
    };
    let element_type = |a: &AccessId| {
        s.accesses.get(a.index()).and_then(|a| names.kernel.arrays.get(a.array.index())).map(|a| a.element)
    };
    let value = |o: &OpId| format!("%{}", o.0);
    let values = |list: &[OpId]| list.iter().map(value).collect::<Vec<_>>().join(", ");
    let ty = op.ty.name();
    let optional = |usual: Option<ScalarType>| match usual == Some(op.ty) {
        true => String::new(),
        false => format!("{ty} "),
    };
    let mut flags = String::new();
    for (flag, _) in op.flags.iter_names() {
        _ = write!(flags, "{} ", flag.to_ascii_lowercase());
    }
    let mut text = match &op.kind {
        OpKind::Const(c) => format!("const {flags}{ty} {}", constant(c)),
        OpKind::Affine(e) => format!("affine {flags}{ty} ({})", names.affine(e)),
        OpKind::Test(c) => format!("test {flags}({})", names.constraint(c)),
        OpKind::Load(a) => format!("load {flags}{}{}", optional(element_type(a)), access(a)),
        OpKind::Store(a, v) => {
            let usual = s.ops.get(v.index()).map(|o| o.ty);
            format!("store {flags}{}{}, {}", optional(usual), access(a), value(v))
        }
        OpKind::LoadAt(a, at) => {
            format!("load {flags}{}{} at {}", optional(element_type(a)), access(a), value(at))
        }
        OpKind::StoreAt(a, at, v) => {
            let usual = s.ops.get(v.index()).map(|o| o.ty);
            format!("store {flags}{}{} at {}, {}", optional(usual), access(a), value(at), value(v))
        }
        OpKind::Binary(b, x, y) => format!("{} {flags}{ty} {}", b.name(), values(&[*x, *y])),
        OpKind::Cast(c, x) => format!("{} {flags}{ty} {}", c.name(), value(x)),
        OpKind::Compare(p, x, y) => format!("cmp {flags}{} {}", p.name(), values(&[*x, *y])),
        OpKind::Select(c, x, y) => format!("select {flags}{ty} {}", values(&[*c, *x, *y])),
        OpKind::Call(f, x) => format!("call {flags}{} {ty} ({})", f.name(), values(x)),
        OpKind::Pure(n, x) => format!("pure {flags}{n} {ty} ({})", values(x)),
        OpKind::Opaque(n, x) => format!("opaque {flags}{n} {ty} ({})", values(x)),
    };
    if !op.kind.is_store() {
        text.insert_str(0, &format!("%{} = ", id.0));
    }
    if let Some(mask) = &op.mask {
        _ = write!(text, " if {}{}", if mask.value { "" } else { "!" }, value(&mask.op));
    }
    text
}
