//! Affine expressions in recipe text, such as `2*N - 1` or `floor((N + 3)/4)`.
//!
//! A recipe is read without a tree, so names are resolved when a step is applied.

use crate::Refusal;
use loop_tree::{Affine, Atom, Kernel, Path, VarId};
use std::fmt;
use std::sync::Arc;

/// The text of an affine expression, printed as it was written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Expression(Arc<str>);

impl Expression {
    /// Checks the syntax: sums of integers, names, `integer*term`, `floor(sum/integer)` and parentheses.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let text = text.trim();
        evaluate(text, &|_| Some(Affine::constant(0)))?;
        Ok(Expression(text.into()))
    }

    /// The text of an expression.
    pub fn of(kernel: &Kernel, value: &Affine) -> Expression {
        let mut text = String::new();
        print(kernel, value, &mut text);
        Expression(text.into())
    }

    /// The value, in terms of parameters and the variables in scope at a node.
    pub fn resolve(&self, kernel: &Kernel, scope: &[VarId], at: &Path) -> Result<Affine, Refusal> {
        let lookup = |name: &str| {
            let var = scope.iter().rev().find(|v| kernel.variable_name(**v) == name).copied();
            var.map(Affine::var).or_else(|| kernel.find_param(name).map(Affine::param))
        };
        let value = evaluate(&self.0, &lookup).map_err(|message| Refusal::new("expression", at, message))?;
        if value.is_exact() {
            Ok(value)
        } else {
            Err(Refusal::new("overflow", at, "a coefficient is too large"))
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn print(kernel: &Kernel, value: &Affine, out: &mut String) {
    let mut term = |coefficient: i64, atom: &str| {
        let magnitude = coefficient.unsigned_abs();
        match (out.is_empty(), coefficient < 0) {
            (true, false) => {}
            (true, true) => out.push('-'),
            (false, false) => out.push_str(" + "),
            (false, true) => out.push_str(" - "),
        }
        match (atom.is_empty(), magnitude) {
            (true, _) => out.push_str(&magnitude.to_string()),
            (false, 1) => out.push_str(atom),
            (false, _) => out.push_str(&format!("{magnitude}*{atom}")),
        }
    };
    for (atom, coefficient) in value.terms() {
        let name = match atom {
            Atom::Var(v) => kernel.variable_name(*v),
            Atom::Param(p) => kernel.param(*p).name.to_string(),
            Atom::Div(d) => {
                let mut inner = String::new();
                print(kernel, &d.numerator, &mut inner);
                format!("floor(({inner})/{})", d.denominator)
            }
        };
        term(*coefficient, &name);
    }
    if value.terms().is_empty() || value.constant_term() != 0 {
        term(value.constant_term(), "");
    }
}

struct Reader<'a> {
    rest: &'a str,
    lookup: &'a dyn Fn(&str) -> Option<Affine>,
    depth: u32,
}

fn evaluate(text: &str, lookup: &dyn Fn(&str) -> Option<Affine>) -> Result<Affine, String> {
    let mut reader = Reader { rest: text.trim(), lookup, depth: 0 };
    let value = reader.sum()?;
    if reader.rest.is_empty() { Ok(value) } else { Err(format!("`{}` is not expected here", reader.rest)) }
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{token}` is missing before `{}`", self.rest)) }
    }

    fn sum(&mut self) -> Result<Affine, String> {
        self.depth += 1;
        if self.depth > 32 {
            return Err("parentheses are nested too deeply".into());
        }
        let mut value = if self.eat("-") { -self.term()? } else { self.term()? };
        loop {
            if self.eat("+") {
                value = value + self.term()?;
            } else if self.eat("-") {
                value = value - self.term()?;
            } else {
                self.depth -= 1;
                return Ok(value);
            }
        }
    }

    fn term(&mut self) -> Result<Affine, String> {
        if let Some(integer) = self.integer()? {
            return if self.eat("*") {
                Ok(self.factor()?.scale(integer))
            } else {
                Ok(Affine::constant(integer))
            };
        }
        self.factor()
    }

    fn factor(&mut self) -> Result<Affine, String> {
        if self.eat("(") {
            let value = self.sum()?;
            self.expect(")")?;
            return Ok(value);
        }
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(match self.rest {
                "" => "the expression ends too early".into(),
                rest => format!("`{rest}` is not an affine term"),
            });
        }
        self.rest = rest.trim_start();
        if name == "floor" && self.eat("(") {
            let dividend = self.sum()?;
            self.expect("/")?;
            let divisor = self.integer()?.filter(|d| *d > 0).ok_or("floor needs a positive divisor")?;
            self.expect(")")?;
            return Ok(dividend.floor_div(divisor));
        }
        (self.lookup)(name)
            .ok_or_else(|| format!("`{name}` is neither a parameter nor a variable around the loop"))
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        if end == 0 {
            return Ok(None);
        }
        let (digits, rest) = self.rest.split_at(end);
        let value = digits.parse().map_err(|_| format!("{digits} is too large"))?;
        self.rest = rest.trim_start();
        Ok(Some(value))
    }
}
