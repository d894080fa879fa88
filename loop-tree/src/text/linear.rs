//! Affine expressions: `2*i + floor((N + 3)/4) - 1`, `i mod 4`.

use super::lexer::Tok;
use super::parser::{Name, Parsed, Parser};
use crate::Affine;

/// Floor divisions inside each other accepted: `mod` mentions its operand twice, so cost doubles with each.
const MAX_DIVISIONS: usize = 8;
/// Terms of one expression accepted.
const MAX_TERMS: usize = 1000;

/// Floor divisions inside each other.
fn division_depth(e: &Affine) -> usize {
    e.terms()
        .iter()
        .map(|(atom, _)| match atom {
            crate::Atom::Div(d) => 1 + division_depth(&d.numerator),
            _ => 0,
        })
        .max()
        .unwrap_or(0)
}

impl Parser {
    /// An affine expression over parameters and variables in scope.
    pub fn affine(&mut self) -> Parsed<Affine> {
        self.nested(|p| {
            let start = p.span().start;
            let mut sum = p.product()?;
            loop {
                if p.eat("+") {
                    sum = sum + p.product()?;
                } else if p.eat("-") {
                    sum = sum - p.product()?;
                } else {
                    break;
                }
                if sum.terms().len() > MAX_TERMS {
                    return p.error(format!("more than {MAX_TERMS} terms"), p.since(start));
                }
            }
            p.checked(sum, start)
        })
    }

    fn checked(&self, e: Affine, start: usize) -> Parsed<Affine> {
        if e.is_exact() {
            Ok(e)
        } else {
            self.error("a coefficient of this expression does not fit in 64 bits", self.since(start))
        }
    }

    fn product(&mut self) -> Parsed<Affine> {
        let start = self.span().start;
        let mut e = self.unary()?;
        loop {
            if self.eat("*") {
                let Some(product) = e.times(&self.unary()?) else {
                    let help = "one side of `*` must be a constant number";
                    return self.error_help("this product is not affine", help, self.since(start));
                };
                e = product;
            } else if self.eat("/") {
                let d = self.divisor()?;
                e = self.divided(e.floor_div(d), start)?;
            } else if self.is("%") || self.is_word("mod") {
                self.next();
                let d = self.divisor()?;
                e = self.divided(e.modulo(d), start)?;
            } else {
                return self.checked(e, start);
            }
        }
    }

    fn divided(&self, e: Affine, start: usize) -> Parsed<Affine> {
        if division_depth(&e) > MAX_DIVISIONS {
            return self
                .error(format!("more than {MAX_DIVISIONS} divisions inside each other"), self.since(start));
        }
        if e.terms().len() > MAX_TERMS {
            return self.error(format!("more than {MAX_TERMS} terms"), self.since(start));
        }
        Ok(e)
    }

    fn divisor(&mut self) -> Parsed<i64> {
        match *self.peek() {
            Tok::Int(n) if n > 0 && i64::try_from(n).is_ok() => {
                self.next();
                Ok(n as i64)
            }
            Tok::Int(_) => self.error("the divisor must be from 1 to 2^63 - 1", self.span()),
            _ => self.error_help(
                "the divisor of an affine expression is a constant",
                "write a number from 1 on",
                self.span(),
            ),
        }
    }

    fn unary(&mut self) -> Parsed<Affine> {
        let span = self.span();
        if self.eat("-") {
            if let Tok::Int(n) = *self.peek() {
                self.next();
                return match i64::try_from(-i128::from(n)) {
                    Ok(c) => Ok(Affine::constant(c)),
                    Err(_) => self.error("this number does not fit in 64 bits", self.since(span.start)),
                };
            }
            return self.nested(|p| Ok(-p.unary()?));
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Affine> {
        let span = self.span();
        if let Tok::Int(n) = *self.peek() {
            self.next();
            return match i64::try_from(n) {
                Ok(c) => Ok(Affine::constant(c)),
                Err(_) => self.error("this number does not fit in 63 bits", span),
            };
        }
        if self.is("(") {
            return self.parenthesised(Self::affine);
        }
        let up = self.is_word("ceil");
        if (up || self.is_word("floor")) && self.is_at(1, "(") {
            return self.nested(|p| p.rounded(up));
        }
        let (name, span) = self.name("a number, parameter or variable")?;
        match self.lookup(&name, &span)? {
            Name::Param(p) => Ok(Affine::param(p)),
            Name::Var(v) if self.scope.iter().any(|(s, _)| *s == v) => Ok(Affine::var(v)),
            Name::Var(_) => self.error_help(
                format!("the variable `{name}` is not bound here"),
                "a `for` or `let` around binds it",
                span,
            ),
            Name::Array(_) => self.error(format!("`{name}` is not affine: it is an array or scalar"), span),
        }
    }

    /// `floor(e / d)`, `ceil(e / d)`; `e` is a product.
    fn rounded(&mut self, up: bool) -> Parsed<Affine> {
        self.next();
        self.expect("(")?;
        let start = self.span().start;
        let mut e = self.unary()?;
        while self.eat("*") {
            let Some(product) = e.times(&self.unary()?) else {
                return self.error("this product is not affine", self.since(start));
            };
            e = product;
        }
        if !self.eat("/") {
            let help =
                "write floor((a + b)/4): the division is the outermost operation, its divisor a number";
            return self.error_help("expected `/`", help, self.span());
        }
        let d = self.divisor()?;
        let e = if up { e.ceil_div(d) } else { e.floor_div(d) };
        self.expect(")")?;
        let e = self.divided(e, start)?;
        self.checked(e, start)
    }
}
