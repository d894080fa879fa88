//! Statements: operations in order. What is used once is written where it is used, unless a store comes between.

use crate::code::{Code, Level};
use crate::emitter::{Base, Emitter, told};
use crate::error::CgenError;
use crate::operation::{Facts, Value};
use crate::storage::Element;
use crate::types::c_type;
use loop_tree::{AccessId, ArrayId, Derived, Mask, Op, OpFlags, OpId, OpKind, Statement, StmtFlags, StmtId};

/// Values of the operations so far.
type Values = Vec<Option<Value>>;

impl Emitter<'_> {
    pub(crate) fn statement(&mut self, id: StmtId) -> Result<(), CgenError> {
        let statement = self.kernel.statement(id).clone();
        let around = std::mem::replace(&mut self.place, told(&statement));
        if statement.flags.intersects(StmtFlags::MAY_TRAP.complement()) {
            let opaque = StmtFlags::OPAQUE | StmtFlags::SIDE_EFFECTS;
            let what = match statement.flags {
                f if f.intersects(opaque) => "an operation that only the program it is from understands",
                f if f.contains(StmtFlags::ATOMIC_RELAXED) => "an atomic access",
                _ => "a statement that cannot be regenerated",
            };
            return Err(self.unsupported(what));
        }
        let observed = observed(&statement);
        let kept = self.scope.derived(self.kernel, id);
        let mut values: Values = vec![None; statement.ops.len()];
        let mut at = 0;
        while at < statement.ops.len() {
            let mask = statement.ops[at].mask;
            let end = (at..statement.ops.len()).find(|i| statement.ops[*i].mask != mask);
            let end = end.unwrap_or(statement.ops.len());
            match mask {
                None => self.operations(&statement, &kept, at..end, end, &observed, &mut values)?,
                Some(mask) => {
                    let condition = mask_value(self, &statement, mask, &values)?;
                    if self.varies(&condition.text) || self.is_masked() {
                        self.only_where(&condition, |e| {
                            e.operations(&statement, &[], at..end, end, &observed, &mut values)
                        })?;
                        at = end;
                        continue;
                    }
                    let inside = self.apart(|e| {
                        e.out.depth += 1;
                        e.operations(&statement, &[], at..end, end, &observed, &mut values)
                    })?;
                    for line in std::mem::take(&mut self.in_front) {
                        self.out.push(line);
                    }
                    if !inside.all.is_empty() {
                        self.out.open(&format!("if ({})", condition.text));
                        self.out.all.extend(inside.all);
                        self.out.close();
                    }
                }
            }
            at = end;
        }
        self.place = around;
        Ok(())
    }

    /// Operations under one mask, which end at `end`.
    fn operations(
        &mut self,
        statement: &Statement,
        kept: &[Derived],
        range: std::ops::Range<usize>,
        end: usize,
        observed: &[bool],
        values: &mut Values,
    ) -> Result<(), CgenError> {
        for index in range {
            let op = &statement.ops[index];
            let id = OpId::new(index);
            if let Some(derived) = kept.iter().find(|derived| derived.chain.contains(&id)) {
                values[index] = values[derived.load.index()].clone();
                continue;
            }
            let Some(value) = self.operation(statement, op, observed[index], values)? else { continue };
            let uses: Vec<usize> = uses(statement, id);
            let value = match (&uses[..], &op.kind) {
                ([], _) => continue,
                (_, OpKind::Const(_) | OpKind::Affine(_)) => value,
                ([user], _) if self.may_move(statement, index, *user, &value) => value,
                _ if self.varies(&value.code.text) || self.is_masked() => {
                    let line = self.out.all.len();
                    let named = self.named(&value);
                    if op.mask.is_some() && !self.is_masked() && uses.iter().any(|u| *u >= end) {
                        // Its declaration goes in front of the condition.
                        let declared = self.out.all.remove(line);
                        self.in_front.push(declared.1);
                    }
                    named
                }
                _ => {
                    let name = self.temporary("v");
                    let ty = c_type(op.ty);
                    if op.mask.is_some() && uses.iter().any(|u| *u >= end) {
                        self.in_front.push(format!("{ty} {name} = 0;"));
                        self.out.push(format!("{name} = {};", value.code.text));
                    } else {
                        self.out.push(format!("const {ty} {name} = {};", value.code.text));
                    }
                    Value::new(Code::primary(name), op.ty)
                }
            };
            values[index] = Some(value);
        }
        Ok(())
    }

    /// What a statement computes of an element of the array.
    pub(crate) fn computed(
        &mut self,
        id: StmtId,
        array: ArrayId,
        element: Value,
    ) -> Result<Value, CgenError> {
        let statement = self.kernel.statement(id).clone();
        let derived = Derived::of(self.kernel, id, array);
        let derived = derived.ok_or_else(|| self.unsupported("a buffer of what no statement computes"))?;
        let mut values: Values = vec![None; statement.ops.len()];
        for op in &derived.all {
            values[op.index()] = match *op == derived.load {
                true => Some(element.clone()),
                false => self.operation(&statement, statement.op(*op), false, &values)?,
            };
        }
        operand(self, &values, derived.result())
    }

    /// Whether what is computed at one operation may as well be computed where another one uses it.
    fn may_move(&self, statement: &Statement, from: usize, to: usize, value: &Value) -> bool {
        let (here, there) = (statement.ops[from].mask, statement.ops[to].mask);
        let between = &statement.ops[from + 1..to];
        (here.is_none() || here == there && between.iter().all(|op| op.mask == here))
            && !(value.loads && between.iter().any(|op| op.kind.is_store()))
    }

    /// The value of an operation; a store is written.
    fn operation(
        &mut self,
        statement: &Statement,
        op: &Op,
        observed: bool,
        values: &Values,
    ) -> Result<Option<Value>, CgenError> {
        let flags = match statement.reduction {
            // Instances change their order, and intermediate results with it.
            Some(_) => op.flags.difference(OpFlags::NSW | OpFlags::NUW),
            None => op.flags,
        };
        let facts = Facts { flags, observed };
        let of = |id: OpId| operand(self, values, id);
        let mut value = match &op.kind {
            OpKind::Const(c) => self.constant(*c),
            OpKind::Affine(e) => self.affine_value(e, op.ty)?,
            OpKind::Test(c) => Value::new(self.constraint(c)?, op.ty),
            OpKind::Load(access) => {
                let Element { code, row } = self.element(statement, *access, op)?;
                Value { loads: true, native: row, ..Value::new(code, op.ty) }
            }
            OpKind::LoadAt(access, at) => {
                let element = self.numbered(statement, *access, op, &of(*at)?)?;
                Value { loads: true, ..Value::new(element, op.ty) }
            }
            OpKind::Store(access, v) => {
                let (Element { code, row }, v) = (self.element(statement, *access, op)?, of(*v)?);
                self.assign(&code, row.as_ref(), &v);
                return Ok(None);
            }
            OpKind::StoreAt(access, at, v) => {
                let to = self.numbered(statement, *access, op, &of(*at)?)?;
                let v = of(*v)?;
                self.assign(&to, None, &v);
                return Ok(None);
            }
            OpKind::Binary(kind, a, b) => self.binary(*kind, facts, &of(*a)?, &of(*b)?)?,
            OpKind::Cast(kind, x) => self.cast(*kind, facts, op.ty, &of(*x)?)?,
            OpKind::Compare(p, a, b) => self.compare(*p, &of(*a)?, &of(*b)?),
            OpKind::Select(c, a, b) => {
                let (c, a, b) = (of(*c)?, of(*a)?, of(*b)?);
                let wide = a.wide || b.wide;
                Value { wide, ..Value::new(Code::choice(&c.code, &a.code, &b.code), op.ty) }
            }
            OpKind::Call(f, args) => {
                let args = args.iter().map(|a| of(*a)).collect::<Result<Vec<_>, _>>()?;
                self.intrinsic(*f, op.ty, &args)?
            }
            OpKind::Pure(..) => {
                return Err(self.unsupported("a call of a function that only the program knows"));
            }
            OpKind::Opaque(..) => {
                return Err(self.unsupported("an operation that only the program it is from understands"));
            }
        };
        let operands = op.kind.operands();
        value.loads |= operands.iter().any(|o| values[o.index()].as_ref().is_some_and(|v| v.loads));
        Ok(Some(value))
    }

    /// The element that an access touches.
    fn element(&self, statement: &Statement, access: AccessId, op: &Op) -> Result<Element, CgenError> {
        let access = statement.access(access);
        if op.ty != self.kernel.array(access.array).element {
            return Err(self.unsupported("an access of another type than the array's"));
        }
        let Some(subscripts) = &access.subscripts else {
            return Err(self.unsupported("an access without subscripts"));
        };
        self.element_of(access.array, subscripts, &statement.dims)
    }

    /// The element of an array that a value numbers.
    fn numbered(
        &self,
        statement: &Statement,
        access: AccessId,
        op: &Op,
        at: &Value,
    ) -> Result<Code, CgenError> {
        let id = statement.access(access).array;
        if op.ty != self.kernel.array(id).element {
            return Err(self.unsupported("an access of another type than the array's"));
        }
        match &self.arrays[id.index()] {
            Base::Pointer(name) if self.scope.innermost(id).is_none() => {
                Ok(Code::primary(format!("{name}[{}]", at.code.text)))
            }
            _ => Err(self.unsupported("some element of a buffer")),
        }
    }
}

fn operand(emitter: &Emitter<'_>, values: &Values, id: OpId) -> Result<Value, CgenError> {
    let value = values.get(id.index()).cloned().flatten();
    value.ok_or_else(|| emitter.unsupported("an operand without a value"))
}

/// Whether the operation under this mask executes.
fn mask_value(
    emitter: &Emitter<'_>,
    statement: &Statement,
    mask: Mask,
    values: &Values,
) -> Result<Code, CgenError> {
    let value = operand(emitter, values, mask.op)?.code;
    let holds = if mask.value { value } else { Code::prefix("!", &value) };
    Ok(match statement.op(mask.op).mask {
        None => holds,
        Some(outer) => {
            Code::binary(&mask_value(emitter, statement, outer, values)?, "&&", &holds, Level::Both)
        }
    })
}

/// The operations that use a value, each as often as it does; of several under the same mask that it is for, the first.
fn uses(statement: &Statement, id: OpId) -> Vec<usize> {
    let mut result = Vec::new();
    let mut before = None;
    for (user, op) in statement.ops() {
        result.extend(op.kind.operands().iter().filter(|o| **o == id).map(|_| user.index()));
        let tests = |mask: Option<Mask>| {
            let mut mask = mask;
            while let Some(m) = mask {
                if m.op == id {
                    return true;
                }
                mask = statement.op(m.op).mask;
            }
            false
        };
        if op.mask != before && tests(op.mask) {
            result.push(user.index());
        }
        before = op.mask;
    }
    result
}

/// By operation, whether the kernel would be undefined if its result were poison: then it is not.
fn observed(statement: &Statement) -> Vec<bool> {
    let mut result = vec![false; statement.ops.len()];
    for op in statement.ops.iter().rev().filter(|op| op.mask.is_none()) {
        match &op.kind {
            OpKind::Store(_, v) | OpKind::LoadAt(_, v) => result[v.index()] = true,
            OpKind::StoreAt(_, at, v) => {
                result[at.index()] = true;
                result[v.index()] = true;
            }
            _ => {}
        }
    }
    for op in statement.ops.iter().filter_map(|op| op.mask) {
        if statement.op(op.op).mask.is_none() {
            result[op.op.index()] = true;
        }
    }
    for index in (0..statement.ops.len()).rev() {
        let op = &statement.ops[index];
        if !result[index] || op.mask.is_some() {
            continue;
        }
        match &op.kind {
            OpKind::Binary(..) | OpKind::Cast(..) | OpKind::Compare(..) | OpKind::Call(..) => {
                op.kind.operands().iter().for_each(|o| result[o.index()] = true);
            }
            OpKind::Select(c, ..) => result[c.index()] = true,
            _ => {}
        }
    }
    result
}
