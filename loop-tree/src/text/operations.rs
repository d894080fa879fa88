//! The complete form of a statement: one line per operation.
//!
//! ```text
//! {
//!   %0 = load A[i]
//!   %1 = cmp folt %0, %0
//!   store B[i], %0 if %1
//!   %2 = fptosi i64 %0
//!   %3 = load A[*] at %2       ; the element of this number, row-major
//!   store B[*] at %2, %3
//!   maywrite C[*]              ; an access that no operation refers to
//! }
//! ```

use super::elaborate::op_flag;
use super::expression::Literal;
use super::lexer::Tok;
use super::parser::{Parsed, Parser};
use crate::{
    Access, AccessId, AccessKind, BinaryOp, CastOp, ComparePredicate, Intrinsic, Mask, Op, OpFlags, OpId,
    OpKind, ScalarType,
};
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Block {
    ops: Vec<Op>,
    accesses: Vec<Access>,
    names: FxHashMap<String, OpId>,
}

impl Parser {
    pub fn operations(&mut self) -> Parsed<(Vec<Op>, Vec<Access>)> {
        self.expect("{")?;
        let mut block = Block::default();
        while !self.eat("}") {
            self.line(&mut block)?;
        }
        Ok((block.ops, block.accesses))
    }

    fn line(&mut self, block: &mut Block) -> Parsed<()> {
        if let Some(kind) = self.eat_name(AccessKind::ALL, AccessKind::name) {
            let e = self.element()?;
            block.accesses.push(Access { array: e.array, subscripts: e.subscripts, kind });
            return Ok(());
        }
        let mut name = None;
        if self.is("%") {
            let span = self.span();
            let text = self.op_name()?;
            if block.names.contains_key(&text) {
                return self.error(format!("%{text} is defined already"), self.since(span.start));
            }
            self.expect("=")?;
            name = Some(text);
        }
        let op = self.operation(block)?;
        if let Some(name) = name {
            block.names.insert(name, OpId::new(block.ops.len()));
        }
        block.ops.push(op);
        Ok(())
    }

    fn op_name(&mut self) -> Parsed<String> {
        self.expect("%")?;
        let name = match self.peek() {
            Tok::Int(n) => n.to_string(),
            Tok::Ident(w) => w.clone(),
            _ => return self.unexpected("the name of an operation, such as `%0`"),
        };
        self.next();
        Ok(name)
    }

    fn use_op(&mut self, block: &Block) -> Parsed<OpId> {
        let start = self.span().start;
        let name = self.op_name()?;
        match block.names.get(&name) {
            Some(op) => Ok(*op),
            None => self.error(format!("%{name} is not defined before"), self.since(start)),
        }
    }

    fn op_flags(&mut self) -> OpFlags {
        let mut flags = OpFlags::empty();
        while let Tok::Ident(w) = self.peek() {
            let Some(flag) = op_flag(w) else { break };
            flags |= flag;
            self.next();
        }
        flags
    }

    pub fn optional_type(&mut self) -> Option<ScalarType> {
        // A word followed by something that subscripts or names it could be an array, but type names are reserved.
        self.eat_name(ScalarType::ALL, ScalarType::name)
    }

    fn operation(&mut self, block: &mut Block) -> Parsed<Op> {
        let span = self.span();
        let Tok::Ident(word) = self.next().tok else {
            return self.error("expected an operation", span);
        };
        let flags = self.op_flags();
        let mut ty = ScalarType::I1;
        let mut store = None;
        let kind = match word.as_str() {
            "load" => {
                let given = self.optional_type();
                let access = self.used_access(block, AccessKind::Read)?;
                ty = given.unwrap_or(self.element_type(block, access));
                match self.eat_word("at") {
                    true => OpKind::LoadAt(access, self.use_op(block)?),
                    false => OpKind::Load(access),
                }
            }
            "store" => {
                let given = self.optional_type();
                let inline = !self.is("#");
                let access = self.used_access(block, AccessKind::Write)?;
                let at = if self.eat_word("at") { Some(self.use_op(block)?) } else { None };
                self.expect(",")?;
                let value = self.use_op(block)?;
                ty = given.unwrap_or(block.ops[value.index()].ty);
                store = inline.then_some(access);
                match at {
                    Some(at) => OpKind::StoreAt(access, at, value),
                    None => OpKind::Store(access, value),
                }
            }
            "const" => {
                ty = self.scalar_type()?;
                let negative = self.eat("-");
                let span = self.span();
                let literal = match self.next().tok {
                    Tok::Int(n) => Literal::Int(if negative { -i128::from(n) } else { i128::from(n) }),
                    Tok::Hex(n) if !negative => Literal::Bits(n),
                    Tok::Float(digits) => Literal::Float(negative, digits),
                    Tok::Ident(w) if w == "true" || w == "false" => Literal::Bool(w == "true"),
                    _ => return self.error("expected a number", span),
                };
                OpKind::Const(self.constant(&literal, ty, span)?)
            }
            "affine" => {
                ty = self.scalar_type()?;
                OpKind::Affine(self.parenthesised(Self::affine)?)
            }
            "test" => OpKind::Test(self.parenthesised(Self::constraint)?),
            "cmp" => {
                let Some(predicate) = self.eat_name(ComparePredicate::ALL, ComparePredicate::name) else {
                    return self.error("expected a comparison such as `slt` or `folt`", self.span());
                };
                let a = self.use_op(block)?;
                self.expect(",")?;
                OpKind::Compare(predicate, a, self.use_op(block)?)
            }
            "select" => {
                ty = self.scalar_type()?;
                let c = self.use_op(block)?;
                self.expect(",")?;
                let a = self.use_op(block)?;
                self.expect(",")?;
                OpKind::Select(c, a, self.use_op(block)?)
            }
            "call" => {
                let Some(function) = self.eat_name(Intrinsic::ALL, Intrinsic::name) else {
                    return self.error("expected the name of an intrinsic such as `sqrt`", self.span());
                };
                ty = self.scalar_type()?;
                OpKind::Call(function, self.use_ops(block)?)
            }
            "opaque" => {
                let number = self.small_number("the number of an opaque operation")?;
                ty = self.scalar_type()?;
                OpKind::Opaque(number, self.use_ops(block)?)
            }
            "pure" => {
                let number = self.small_number("the number of a pure function")?;
                ty = self.scalar_type()?;
                OpKind::Pure(number, self.use_ops(block)?)
            }
            _ => {
                if let Some(op) = BinaryOp::from_name(&word) {
                    ty = self.scalar_type()?;
                    let a = self.use_op(block)?;
                    self.expect(",")?;
                    OpKind::Binary(op, a, self.use_op(block)?)
                } else if let Some(op) = CastOp::from_name(&word) {
                    ty = self.scalar_type()?;
                    OpKind::Cast(op, self.use_op(block)?)
                } else {
                    return self.error(format!("`{word}` is not an operation"), span);
                }
            }
        };
        let mut mask = None;
        if self.eat_word("if") {
            let value = !self.eat("!");
            mask = Some(Mask { op: self.use_op(block)?, value });
        }
        // A store under a mask, or somewhere in an array, writes perhaps.
        if let Some(access) = store {
            let a = &mut block.accesses[access.index()];
            if mask.is_some() || a.subscripts.is_none() {
                a.kind = AccessKind::MayWrite;
            }
        }
        Ok(Op { kind, ty, mask, flags, origin: None })
    }

    fn use_ops(&mut self, block: &Block) -> Parsed<Vec<OpId>> {
        self.expect("(")?;
        self.until(")", |p| p.use_op(block))
    }

    fn element_type(&self, block: &Block, access: AccessId) -> ScalarType {
        self.tables.arrays[block.accesses[access.index()].array.index()].element
    }

    /// `A[i]`: a new access; `#0`: the first one of those before.
    fn used_access(&mut self, block: &mut Block, kind: AccessKind) -> Parsed<AccessId> {
        if self.eat("#") {
            let span = self.span();
            let number = self.small_number("the number of an access")?;
            if number as usize >= block.accesses.len() {
                return self.error(format!("there is no access {number} before"), span);
            }
            return Ok(AccessId(number));
        }
        let e = self.element()?;
        block.accesses.push(Access { array: e.array, subscripts: e.subscripts, kind });
        Ok(AccessId::new(block.accesses.len() - 1))
    }
}
