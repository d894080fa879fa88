//! The readable form of a statement, `A[i, j] += B[i] * f64(i)`, as a syntax tree without types.

use super::lexer::{Tok, is_reserved};
use super::parser::{Name, Parsed, Parser};
use crate::{Affine, ArrayId, Constraint, ScalarType};
use std::ops::Range;

/// Height of an expression accepted; elaboration recurses this deep.
const MAX_HEIGHT: usize = 250;

pub(super) struct Expr {
    pub kind: ExprKind,
    pub span: Range<usize>,
    /// Height of the tree.
    pub height: usize,
}

pub(super) enum ExprKind {
    Literal(Literal),
    /// Maximal sums of parameters, variables and whole numbers.
    Affine(Affine),
    Element(Element),
    /// `affine(e)`, `affine.i32(e)`.
    ExplicitAffine(Option<ScalarType>, Affine),
    Test(Constraint),
    Negate(Box<Expr>),
    /// An infix operator.
    Infix(&'static str, Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
}

#[derive(Clone, PartialEq)]
pub(super) enum Literal {
    Int(i128),
    Bits(u64),
    /// Sign and digits.
    Float(bool, String),
    Bool(bool),
}

#[derive(Clone, PartialEq)]
pub(super) struct Element {
    pub array: ArrayId,
    /// `None`: any element.
    pub subscripts: Option<Vec<Affine>>,
}

/// Infix operators, loosest first; each level binds to the left.
const LEVELS: &[&[&str]] = &[
    &["|"],
    &["^"],
    &["&"],
    &["<", "<=", ">", ">=", "==", "!="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// How tightly an infix operator binds.
pub(super) fn level(operator: &str) -> usize {
    LEVELS.iter().position(|l| l.contains(&operator)).unwrap_or(LEVELS.len())
}

impl Parser {
    pub fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let start = p.span().start;
            let condition = p.infix(0)?;
            if !p.eat("?") {
                return Ok(condition);
            }
            let yes = p.expression()?;
            p.expect(":")?;
            let no = p.expression()?;
            let height = condition.height.max(yes.height).max(no.height);
            let kind = ExprKind::Choose(Box::new(condition), Box::new(yes), Box::new(no));
            p.made(kind, start, height)
        })
    }

    fn made(&self, kind: ExprKind, start: usize, below: usize) -> Parsed<Expr> {
        let span = self.since(start);
        if below >= MAX_HEIGHT {
            return self.error_help("this expression is too long", "use several statements", span);
        }
        Ok(Expr { kind, span, height: below + 1 })
    }

    fn infix(&mut self, at: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(at) else { return self.prefix() };
        let start = self.span().start;
        let mut left = self.infix(at + 1)?;
        loop {
            let operator = match self.peek() {
                Tok::Punct(p) if operators.contains(p) => *p,
                _ => return Ok(left),
            };
            self.next();
            let right = self.infix(at + 1)?;
            let height = left.height.max(right.height);
            let kind = match folded(operator, &left, &right) {
                Some(e) if e.is_exact() => ExprKind::Affine(e),
                _ => ExprKind::Infix(operator, Box::new(left), Box::new(right)),
            };
            left = self.made(kind, start, height)?;
        }
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        if !self.eat("-") {
            return self.operand(false);
        }
        if matches!(self.peek(), Tok::Int(_) | Tok::Float(_)) {
            return self.operand(true);
        }
        let value = self.nested(Self::prefix)?;
        let height = value.height;
        let kind = match value.kind {
            ExprKind::Affine(e) => ExprKind::Affine(-e),
            _ => ExprKind::Negate(Box::new(value)),
        };
        self.made(kind, start, height)
    }

    fn operand(&mut self, negative: bool) -> Parsed<Expr> {
        let start = self.span().start;
        let kind = match self.peek().clone() {
            Tok::Int(n) => {
                self.next();
                ExprKind::Literal(Literal::Int(if negative { -i128::from(n) } else { i128::from(n) }))
            }
            Tok::Hex(n) => {
                self.next();
                ExprKind::Literal(Literal::Bits(n))
            }
            Tok::Float(digits) => {
                self.next();
                ExprKind::Literal(Literal::Float(negative, digits))
            }
            Tok::Punct("(") => {
                self.next();
                let mut inner = self.expression()?;
                self.expect(")")?;
                inner.span = self.since(start);
                return Ok(inner);
            }
            Tok::Ident(w) if w == "true" || w == "false" => {
                self.next();
                ExprKind::Literal(Literal::Bool(w == "true"))
            }
            Tok::Ident(w) if self.is_at(1, "(") => return self.call(w, start),
            Tok::Ident(w) if is_reserved(&w) => return self.unexpected("a value"),
            Tok::Ident(w) | Tok::Quoted(w) => {
                let span = self.span();
                match self.lookup(&w, &span)? {
                    Name::Array(_) => ExprKind::Element(self.element()?),
                    _ => ExprKind::Affine(self.affine_name()?),
                }
            }
            _ => return self.unexpected("a value"),
        };
        self.made(kind, start, 0)
    }

    fn affine_name(&mut self) -> Parsed<Affine> {
        let (name, span) = self.name("a parameter or variable")?;
        match self.lookup(&name, &span)? {
            Name::Param(p) => Ok(Affine::param(p)),
            Name::Var(v) if self.scope.iter().any(|(s, _)| *s == v) => Ok(Affine::var(v)),
            _ => self.error(format!("the variable `{name}` is not bound here"), span),
        }
    }

    fn call(&mut self, word: String, start: usize) -> Parsed<Expr> {
        self.next();
        self.next();
        if let Some(suffix) = word.strip_prefix("affine") {
            let ty = match suffix.strip_prefix('.') {
                Some(name) => ScalarType::from_name(name),
                None => None,
            };
            if suffix.is_empty() || ty.is_some() {
                let e = self.affine()?;
                self.expect(")")?;
                return self.made(ExprKind::ExplicitAffine(ty, e), start, 0);
            }
        }
        if word == "test" {
            let c = self.constraint()?;
            self.expect(")")?;
            return self.made(ExprKind::Test(c), start, 0);
        }
        let mut arguments = Vec::new();
        let mut height = 0;
        while !self.eat(")") {
            let argument = self.expression()?;
            height = height.max(argument.height);
            arguments.push(argument);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        self.made(ExprKind::Call(word, arguments), start, height)
    }

    /// `A[i, j]`, `A[*]`, or the name of a scalar.
    pub fn element(&mut self) -> Parsed<Element> {
        let start = self.span().start;
        let array = self.array_name()?;
        let rank = self.tables.arrays[array.index()].rank();
        let mut subscripts = Vec::new();
        if self.eat("[") {
            if self.is("*") && self.is_at(1, "]") {
                self.next();
                self.next();
                return Ok(Element { array, subscripts: None });
            }
            loop {
                subscripts.push(self.affine()?);
                if self.eat("]") {
                    break;
                }
                self.expect(",")?;
            }
        }
        if subscripts.len() != rank {
            let name = &self.tables.arrays[array.index()].name;
            return self.error(
                format!("`{name}` has {rank} dimensions, {} subscripts are given", subscripts.len()),
                self.since(start),
            );
        }
        Ok(Element { array, subscripts: Some(subscripts) })
    }
}

/// A sum, difference or multiple in which a parameter or variable occurs, and nothing but these and numbers.
fn folded(operator: &str, left: &Expr, right: &Expr) -> Option<Affine> {
    let value = |e: &Expr| match &e.kind {
        ExprKind::Affine(a) => Some(a.clone()),
        ExprKind::Literal(Literal::Int(n)) => i64::try_from(*n).ok().map(Affine::constant),
        _ => None,
    };
    let is_affine = |e: &Expr| matches!(e.kind, ExprKind::Affine(_));
    if !is_affine(left) && !is_affine(right) {
        return None;
    }
    let (a, b) = (value(left)?, value(right)?);
    match operator {
        "+" => Some(a + b),
        "-" => Some(a - b),
        "*" => match (a.as_constant(), b.as_constant()) {
            (Some(c), _) => Some(b.scale(c)),
            (None, Some(c)) => Some(a.scale(c)),
            (None, None) => None,
        },
        _ => None,
    }
}
