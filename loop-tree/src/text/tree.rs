//! Nodes of the tree, and statements where they are defined.

use super::lexer::Tok;
use super::parser::{Name, Parsed, Parser};
use crate::{
    AccessId, AccessKind, Affine, Alternative, Bounds, Green, Kept, LoopHeader, LoopKind, Reduction,
    ReductionOp, SourceLocation, Statement, StmtFlags, StmtId, VarId,
};
use std::sync::Arc;

/// Names of statement flags in text.
pub(super) const FLAGS: &[(&str, StmtFlags)] = &[
    ("side_effects", StmtFlags::SIDE_EFFECTS),
    ("volatile", StmtFlags::VOLATILE),
    ("atomic", StmtFlags::ATOMIC_RELAXED),
    ("ordered", StmtFlags::ATOMIC_ORDERED),
    ("may_throw", StmtFlags::MAY_THROW),
    ("may_not_return", StmtFlags::MAY_NOT_RETURN),
    ("opaque", StmtFlags::OPAQUE),
    ("may_trap", StmtFlags::MAY_TRAP),
];

#[derive(Default)]
struct Attributes {
    flags: StmtFlags,
    location: Option<SourceLocation>,
    reduction: Option<(ReductionOp, Option<(u32, u32)>)>,
}

impl Parser {
    /// Nodes up to `}`, `variant` or the end.
    pub fn sequence_until_end(&mut self) -> Parsed<Green> {
        let mut list = Vec::new();
        while !self.is("}") && !self.is_word("variant") && *self.peek() != Tok::End {
            list.push(self.node()?);
        }
        Ok(if list.len() == 1 { list.swap_remove(0) } else { Green::seq(list) })
    }

    /// `{ nodes }`
    pub fn block(&mut self) -> Parsed<Green> {
        self.nested(|p| {
            p.expect("{")?;
            let mut list = Vec::new();
            while !p.eat("}") {
                list.push(p.node()?);
            }
            Ok(if list.len() == 1 { list.swap_remove(0) } else { Green::seq(list) })
        })
    }

    fn bound_block(&mut self, var: VarId, by_loop: bool) -> Parsed<Green> {
        self.scope.push((var, by_loop));
        let body = self.block();
        self.scope.pop();
        body
    }

    fn node(&mut self) -> Parsed<Green> {
        let word = match self.peek() {
            Tok::Ident(w) => w.clone(),
            Tok::Punct("{") => return self.block(),
            Tok::Quoted(_) => return self.leaf(),
            _ => return self.unexpected("`for`, `if`, `let`, a statement or `}`"),
        };
        match word.as_str() {
            "for" | "loop" | "parallel" | "vector" | "library" | "kept" => self.any_loop(),
            "let" => {
                self.next();
                // The value is read before the name is in scope: `let i = i + 1` speaks of the outer `i`.
                let var = self.binder()?;
                self.expect("=")?;
                let value = self.affine()?;
                let body = self.bound_block(var, false)?;
                Ok(Green::bind(var, value, body))
            }
            "if" => {
                self.next();
                let condition = self.guard_condition()?;
                let body = self.block()?;
                Ok(Green::guarded(Arc::new(condition), body))
            }
            "alloc" => {
                self.next();
                let buffer = self.buffer()?;
                Ok(Green::alloc(buffer, self.block()?))
            }
            "version" => self.version(),
            _ => self.leaf(),
        }
    }

    fn version(&mut self) -> Parsed<Green> {
        self.next();
        self.expect("{")?;
        let mut alternatives: Vec<Alternative> = Vec::new();
        while !self.eat("}") {
            let conditions = if self.eat_word("else") {
                Vec::new()
            } else {
                self.expect_word("when")?;
                self.runtime_conditions()?
            };
            alternatives.push(Alternative { conditions, body: self.block()? });
        }
        Ok(Green::version(alternatives))
    }

    fn any_loop(&mut self) -> Parsed<Green> {
        let kept = match self.eat_word("kept") {
            true if self.eat_word("scalar") => Some(Kept::Scalar),
            true => Some(Kept::Loop),
            false => None,
        };
        // That a loop is sequential is not said.
        let kind = self.eat_name(&LoopKind::ALL[1..], LoopKind::name).unwrap_or_default();
        if self.eat_word("loop") {
            let var = self.binder_kept(kept)?;
            let exit = if self.eat_word("until") { Some(self.array_name()?) } else { None };
            let body = self.bound_block(var, true)?;
            let header = LoopHeader { var, bounds: Bounds::Unbounded { exit }, step: 1, kind };
            return Ok(Green::for_loop(header, body));
        }
        self.expect_word("for")?;
        let var = self.binder_kept(kept)?;
        self.expect_word("in")?;
        let lower = self.bounds("max")?;
        self.expect("..")?;
        let upper = self.bounds("min")?;
        let span = self.span();
        let step = if self.eat_word("step") {
            match *self.peek() {
                Tok::Int(n) if n >= 1 && i64::try_from(n).is_ok() => {
                    self.next();
                    n as i64
                }
                _ => return self.error("a step is a number from 1 on", self.span()),
            }
        } else {
            1
        };
        if step > 1 && lower.len() > 1 {
            let help = "a loop with a step has one lower bound; put the other one into an `if`";
            return self.error_help("a step needs a single lower bound", help, span);
        }
        let body = self.bound_block(var, true)?;
        let header = LoopHeader { var, bounds: Bounds::Affine { lower, upper }, step, kind };
        Ok(Green::for_loop(header, body))
    }

    pub(super) fn bounds(&mut self, function: &str) -> Parsed<Vec<Affine>> {
        if !self.is_word(function) || !self.is_at(1, "(") {
            if (self.is_word("max") || self.is_word("min")) && self.is_at(1, "(") {
                let help = "a lower bound is the maximum of several, an upper bound the minimum";
                return self.error_help(format!("only `{function}` can stand here"), help, self.span());
            }
            return Ok(vec![self.affine()?]);
        }
        self.next();
        self.parenthesised(|p| p.several(Self::affine))
    }

    /// `S0`, or with its definition `S0(i, j) [attributes]: body`.
    fn leaf(&mut self) -> Parsed<Green> {
        let (name, span) = self.name("a statement")?;
        let known = self.tables.statement_names.get(&name).copied();
        let dims = self.dims()?;
        if !self.is(":") && !self.is("[") {
            let Some(id) = known else {
                let help = "a statement is defined where it stands first: `S0: A[i] = 1.0`";
                return self.error_help(format!("the statement `{name}` is not defined"), help, span);
            };
            let expected = self.tables.statements[id.index()].dims.clone();
            if dims.is_some_and(|d| d[..] != expected[..]) {
                return self.error(
                    "these are not the variables of the statement's definition",
                    self.since(span.start),
                );
            }
            return Ok(Green::stmt(id, expected));
        }
        let id = self.define(name, dims, span)?;
        Ok(Green::stmt(id, self.tables.statements[id.index()].dims.clone()))
    }

    /// `statement S0(i, j): body` before the tree.
    pub fn declared_statement(&mut self) -> Parsed<()> {
        let (name, span) = self.name("a statement")?;
        self.expect("(")?;
        let dims = self.until(")", |p| {
            let (name, span) = p.name("a variable")?;
            match p.lookup(&name, &span)? {
                Name::Var(v) => Ok(v),
                _ => p.error(format!("`{name}` is not a variable"), span),
            }
        })?;
        let outer = std::mem::replace(&mut self.scope, dims.iter().map(|v| (*v, true)).collect());
        let result = self.define(name, Some(dims), span);
        self.scope = outer;
        result.map(|_| ())
    }

    fn dims(&mut self) -> Parsed<Option<Vec<VarId>>> {
        if !self.eat("(") {
            return Ok(None);
        }
        let dims = self.until(")", |p| {
            let (name, span) = p.name("a variable")?;
            match p.lookup(&name, &span)? {
                Name::Var(v) if p.scope.iter().any(|(s, _)| *s == v) => Ok(v),
                Name::Var(_) => p.error(format!("the variable `{name}` is not bound here"), span),
                _ => p.error(format!("`{name}` is not a variable"), span),
            }
        });
        dims.map(Some)
    }

    fn define(
        &mut self,
        name: Arc<str>,
        dims: Option<Vec<VarId>>,
        span: std::ops::Range<usize>,
    ) -> Parsed<StmtId> {
        if self.tables.statement_names.contains_key(&name) {
            return self.error(format!("the statement `{name}` is defined already"), span);
        }
        let attributes = self.attributes()?;
        self.expect(":")?;
        // Subscripts use the statement's own dims only.
        let explicit = dims.is_some();
        let outer = self.scope.clone();
        if let Some(dims) = &dims {
            self.scope = dims.iter().map(|v| (*v, true)).collect();
        }
        let body = if self.is("{") { self.operations() } else { self.assignment() };
        self.scope = outer;
        let (ops, accesses) = body?;
        let dims = match dims {
            Some(dims) => dims,
            None => default_dims(&self.scope, self.tables.variables.len(), &ops, &accesses),
        };
        if !explicit && dims.iter().any(|v| v.index() >= self.tables.variables.len()) {
            return self.error("a statement uses the original variables only", self.since(span.start));
        }
        let reduction = match attributes.reduction {
            None => None,
            Some((op, Some((read, write)))) => {
                Some(Reduction { op, read: AccessId(read), write: AccessId(write) })
            }
            Some((op, None)) => match implied_reduction(op, &accesses) {
                Some(r) => Some(r),
                None => {
                    let help = "name the accumulator's read and write access by number: reduction fadd(0, 2)";
                    return self.error_help("the accumulator is not clear", help, self.since(span.start));
                }
            },
        };
        let statement = Statement {
            name: name.clone(),
            dims: dims.into(),
            ops,
            accesses,
            reduction,
            flags: attributes.flags,
            location: attributes.location,
        };
        let id = StmtId::new(self.tables.statements.len());
        self.tables.statement_spans.push(self.since(span.start));
        self.tables.statements.push(Arc::new(statement));
        self.tables.statement_names.insert(name, id);
        Ok(id)
    }

    /// `[reduction fadd, volatile, at "file.c":3:4]`
    fn attributes(&mut self) -> Parsed<Attributes> {
        let mut result = Attributes::default();
        if self.eat("[") {
            self.until("]", |p| p.attribute(&mut result))?;
        }
        Ok(result)
    }

    fn attribute(&mut self, to: &mut Attributes) -> Parsed<()> {
        let span = self.span();
        let Tok::Ident(word) = self.next().tok else {
            return self.error("expected an attribute", span);
        };
        if let Some((_, flag)) = FLAGS.iter().find(|(n, _)| *n == word) {
            to.flags |= *flag;
        } else if word == "at" {
            to.location = Some(self.location()?);
        } else if word == "reduction" {
            let span = self.span();
            let Some(op) = self.eat_name(ReductionOp::ALL, ReductionOp::name) else {
                return self.error("expected the operator of a reduction, such as `add` or `fadd`", span);
            };
            let accesses = match self.is("(") {
                true => Some(self.parenthesised(|p| {
                    let read = p.small_number("an access number")?;
                    p.expect(",")?;
                    Ok((read, p.small_number("an access number")?))
                })?),
                false => None,
            };
            to.reduction = Some((op, accesses));
        } else {
            let names: Vec<&str> = FLAGS.iter().map(|(n, _)| *n).collect();
            let help = format!("attributes are reduction, at, {}", names.join(", "));
            return self.error_help(format!("`{word}` is not an attribute"), help, span);
        }
        Ok(())
    }

    fn location(&mut self) -> Parsed<SourceLocation> {
        let Tok::Quoted(file) = self.peek().clone() else { return self.unexpected("a file name in quotes") };
        self.next();
        self.expect(":")?;
        let line = self.small_number("a line")?;
        let column = if self.eat(":") { self.small_number("a column")? } else { 0 };
        Ok(SourceLocation { file: file.into(), line, column })
    }
}

/// Loops around (original variables), and the bindings that the statement mentions.
pub(super) fn default_dims(
    scope: &[(VarId, bool)],
    originals: usize,
    ops: &[crate::Op],
    accesses: &[crate::Access],
) -> Vec<VarId> {
    let mut used = std::collections::BTreeSet::new();
    let mut note = |e: &Affine| e.for_each_var(&mut |v| _ = used.insert(v));
    for op in ops {
        match &op.kind {
            crate::OpKind::Affine(e) => note(e),
            crate::OpKind::Test(c) => note(&c.expression),
            _ => {}
        }
    }
    accesses.iter().flat_map(|a| a.subscripts.iter().flatten()).for_each(note);
    let mut dims: Vec<VarId> = Vec::new();
    for (var, by_loop) in scope {
        let wanted = used.contains(var) || *by_loop && var.index() < originals;
        if wanted && !dims.contains(var) {
            dims.push(*var);
        }
    }
    dims
}

/// The accumulator's accesses, where there is one write, and one read of the same element.
pub(super) fn implied_reduction(op: ReductionOp, accesses: &[crate::Access]) -> Option<Reduction> {
    let mut writes = accesses.iter().enumerate().filter(|(_, a)| a.kind != AccessKind::Read);
    let (write, target) = writes.next()?;
    let mut reads = accesses.iter().enumerate().filter(|(_, a)| {
        a.kind == AccessKind::Read && a.array == target.array && a.subscripts == target.subscripts
    });
    let (read, _) = reads.next()?;
    (writes.next().is_none() && reads.next().is_none()).then_some(Reduction {
        op,
        read: AccessId::new(read),
        write: AccessId::new(write),
    })
}
