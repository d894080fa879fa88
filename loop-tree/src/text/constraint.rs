//! Comparisons of affine expressions, their combinations, and run-time conditions.

use super::lexer::Tok;
use super::parser::{Name, Parsed, Parser};
use crate::{Condition, Constraint, GuardCondition, RuntimeCondition, ScalarType};

/// Conjunctions of one condition accepted.
const MAX_DISJUNCTS: usize = 64;

impl Parser {
    /// What stands between `if` and `{`.
    pub fn guard_condition(&mut self) -> Parsed<GuardCondition> {
        let negated = self.is("!");
        let word = self.peek_at(usize::from(negated)).clone();
        if let Tok::Ident(name) | Tok::Quoted(name) = word
            && self.is_at(1 + usize::from(negated), "{")
            && let Some(Name::Array(array)) = self.tables.names.get(name.as_str()).copied()
        {
            self.eat("!");
            let span = self.next().span;
            let a = &self.tables.arrays[array.index()];
            if !a.is_scalar() || a.element != ScalarType::I1 {
                return self.error("a predicate is a scalar of type i1", span);
            }
            return Ok(GuardCondition::Predicate { array, value: !negated });
        }
        Ok(GuardCondition::Affine(self.condition()?))
    }

    /// `a >= b && c < d || e == f`.
    pub fn condition(&mut self) -> Parsed<Condition> {
        self.nested(|p| {
            let start = p.span().start;
            let mut result = p.all_of()?;
            while p.eat("||") {
                result = result.or(p.all_of()?);
                p.few_disjuncts(&result, start)?;
            }
            Ok(result)
        })
    }

    fn all_of(&mut self) -> Parsed<Condition> {
        let start = self.span().start;
        let mut result = self.one_of()?;
        while self.eat("&&") {
            let next = self.one_of()?;
            if result.disjuncts.len() * next.disjuncts.len() > MAX_DISJUNCTS {
                return self.error("the condition has too many alternatives", self.since(start));
            }
            result = result.and(&next);
        }
        Ok(result)
    }

    fn few_disjuncts(&self, c: &Condition, start: usize) -> Parsed<()> {
        if c.disjuncts.len() > MAX_DISJUNCTS {
            return self.error("the condition has too many alternatives", self.since(start));
        }
        Ok(())
    }

    fn one_of(&mut self) -> Parsed<Condition> {
        if self.eat_word("true") {
            return Ok(Condition::always());
        }
        if self.eat_word("false") {
            return Ok(Condition::never());
        }
        if self.is("(") && self.parenthesis_is_condition() {
            return self.parenthesised(Self::condition);
        }
        let disjuncts = self.comparison()?.into_iter().map(|c| vec![c]).collect();
        Ok(Condition { disjuncts }.simplified())
    }

    /// Whether the parenthesis that starts here holds a comparison, not an expression.
    fn parenthesis_is_condition(&self) -> bool {
        let mut open = 0usize;
        for token in &self.tokens[self.at..] {
            match &token.tok {
                Tok::Punct("(") => open += 1,
                Tok::Punct(")") => {
                    open -= 1;
                    if open == 0 {
                        return false;
                    }
                }
                Tok::Punct("<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||") => return true,
                Tok::Punct("{" | "}") | Tok::End => return false,
                Tok::Ident(w) if w == "true" || w == "false" => return true,
                _ => {}
            }
        }
        false
    }

    /// One comparison; `!=` gives two constraints, one of which must hold.
    fn comparison(&mut self) -> Parsed<Vec<Constraint>> {
        let start = self.span().start;
        let left = self.affine()?;
        let operator = match self.peek() {
            Tok::Punct(p @ ("<" | "<=" | ">" | ">=" | "==" | "!=")) => *p,
            _ => return self.unexpected("a comparison"),
        };
        self.next();
        let right = self.affine()?;
        let list = match operator {
            "<" => vec![Constraint::lt(left, right)],
            "<=" => vec![Constraint::ge(right, left)],
            ">" => vec![Constraint::lt(right, left)],
            ">=" => vec![Constraint::ge(left, right)],
            "==" => vec![Constraint::eq(left, right)],
            _ => Constraint::eq(left, right).negated(),
        };
        if list.iter().any(|c| !c.expression.is_exact()) {
            return self.error("a coefficient of this condition does not fit in 64 bits", self.since(start));
        }
        Ok(list)
    }

    /// One constraint, as it stands.
    pub fn constraint(&mut self) -> Parsed<Constraint> {
        let start = self.span().start;
        let mut list = self.comparison()?;
        match (list.pop(), list.is_empty()) {
            (Some(c), true) => Ok(c),
            _ => self.error("`!=` cannot stand here: it is two constraints", self.since(start)),
        }
    }

    /// Constraints joined by `&&`, as they stand.
    pub fn conjunction(&mut self, into: &mut Vec<Constraint>) -> Parsed<()> {
        loop {
            into.push(self.constraint()?);
            if !self.eat("&&") {
                return Ok(());
            }
        }
    }

    /// `nooverlap(A, B), N <= 4096`.
    pub fn runtime_conditions(&mut self) -> Parsed<Vec<RuntimeCondition>> {
        self.several(|p| {
            if p.eat_word("nooverlap") {
                p.expect("(")?;
                let a = p.array_name()?;
                p.expect(",")?;
                let b = p.array_name()?;
                p.expect(")")?;
                return Ok(RuntimeCondition::NoOverlap(a, b));
            }
            let start = p.span().start;
            let c = p.constraint()?;
            if !c.expression.is_invariant() {
                return p.error("a run-time condition uses parameters only", p.since(start));
            }
            Ok(RuntimeCondition::Parameter(c))
        })
    }
}
