//! Statements as instructions: operations in order, masks as branches.

use super::element::Tag;
use super::{EmitError, Emitter};
use crate::lift::{CallArgument, CallBinding};
use crate::llvm::{
    Block, FastMath, GepFlags, Inst, IntPredicate, Opcode, Ordering, PoisonFlags, RealPredicate, Type,
    TypeKind, Value,
};
use crate::mutation::{self, Rule};
use loop_tree::{
    ArrayId, BinaryOp, CastOp, ComparePredicate, Derived, Intrinsic, Mask, Op, OpFlags, OpId, OpKind,
    ScalarType, Statement, StmtFlags, StmtId,
};

/// Values of the operations so far.
type Values<'m> = Vec<Option<Value<'m>>>;

impl<'m> Emitter<'m, '_> {
    pub(super) fn statement(&mut self, id: StmtId) -> Result<(), EmitError> {
        let statement = self.kernel.statement(id).clone();
        let mut understood = StmtFlags::MAY_TRAP | StmtFlags::ATOMIC_RELAXED;
        if statement.ops.iter().any(|op| matches!(op.kind, OpKind::Opaque(..))) {
            understood |= StmtFlags::OPAQUE | StmtFlags::SIDE_EFFECTS;
            understood |= StmtFlags::MAY_THROW | StmtFlags::MAY_NOT_RETURN;
        }
        if statement.flags.intersects(understood.complement()) {
            return Err(EmitError::Unsupported { what: "a statement that cannot be regenerated" });
        }
        let kept = self.scope.derived(self.kernel, id);
        let mut values: Values<'m> = vec![None; statement.ops.len()];
        let mut at = 0;
        while at < statement.ops.len() {
            let mask = statement.ops[at].mask;
            let end = (at..statement.ops.len()).find(|i| statement.ops[*i].mask != mask);
            let end = end.unwrap_or(statement.ops.len());
            match mask {
                None => self.operations(&statement, &kept, at..end, &mut values)?,
                Some(_) if mutation::off(Rule::Masks) => {
                    self.operations(&statement, &[], at..end, &mut values)?;
                }
                Some(mask) => self.masked(&statement, mask, at..end, &mut values)?,
            }
            at = end;
        }
        Ok(())
    }

    fn operations(
        &mut self,
        statement: &Statement,
        kept: &[Derived],
        range: std::ops::Range<usize>,
        values: &mut Values<'m>,
    ) -> Result<(), EmitError> {
        for index in range {
            let computed = kept.iter().find(|derived| derived.chain.contains(&OpId::new(index)));
            values[index] = match computed {
                Some(derived) => values[derived.load.index()],
                None => self.operation(statement, &statement.ops[index], values)?,
            };
        }
        Ok(())
    }

    /// What a statement computes of an element of the array.
    pub(super) fn computed(
        &mut self,
        id: StmtId,
        array: ArrayId,
        element: Value<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let statement = self.kernel.statement(id).clone();
        let what = "a buffer of what no statement computes";
        let derived = Derived::of(self.kernel, id, array).ok_or(EmitError::Unsupported { what })?;
        let mut values: Values<'m> = vec![None; statement.ops.len()];
        for op in &derived.all {
            values[op.index()] = match *op == derived.load {
                true => Some(element),
                false => self.operation(&statement, statement.op(*op), &values)?,
            };
        }
        operand(&values, derived.result())
    }

    /// Operations under one mask: a branch around them, and phis for what is used after it.
    fn masked(
        &mut self,
        statement: &Statement,
        mask: Mask,
        range: std::ops::Range<usize>,
        values: &mut Values<'m>,
    ) -> Result<(), EmitError> {
        let condition = self.mask_value(statement, mask, values)?;
        if self.needs_mask(condition) {
            return self.masked_by(condition, |e| e.operations(statement, &[], range, values));
        }
        let before = self.place()?;
        let (inside, after) = (self.builder.append_block("if")?, self.builder.append_block("endif")?);
        self.builder.cond_br(condition, inside, after)?;
        self.builder.position_at_end(inside)?;
        self.operations(statement, &[], range.clone(), values)?;
        let last = self.place()?;
        self.builder.br(after)?;
        self.builder.position_at_end(after)?;
        for index in range.clone() {
            let Some(value) = values[index] else { continue };
            if is_used_from(statement, OpId::new(index), range.end) {
                let phi = self.builder.phi(value.ty(), "")?;
                phi.add_incoming(value, last)?;
                phi.add_incoming(value.ty().poison()?, before)?;
                values[index] = Some(phi.value());
            }
        }
        Ok(())
    }

    /// Whether the operation under this mask executes: its condition executes and has the value. Never poison.
    fn mask_value(
        &self,
        statement: &Statement,
        mask: Mask,
        values: &Values<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let bit = self.module.context().i1();
        let value = operand(values, mask.op)?;
        let holds = match mask.value {
            true => value,
            false => {
                let [value, one] = self.even([value, bit.const_int(1)?])?;
                self.builder.binary(Opcode::Xor, value, one, PoisonFlags::empty(), "")?
            }
        };
        match statement.op(mask.op).mask {
            None => Ok(holds),
            Some(outer) => {
                let [outer, holds, never] =
                    self.even([self.mask_value(statement, outer, values)?, holds, bit.const_int(0)?])?;
                if mutation::off(Rule::PoisonMasks) {
                    return Ok(self.builder.binary(Opcode::And, outer, holds, PoisonFlags::empty(), "")?);
                }
                Ok(self.builder.select(outer, holds, never, "")?)
            }
        }
    }

    /// The instruction that an operation stands for.
    pub(super) fn origin(&self, op: &Op) -> Option<Inst<'m>> {
        op.origin.and_then(|o| self.origins.get(o as usize).copied())
    }

    pub(super) fn operation(
        &mut self,
        statement: &Statement,
        op: &Op,
        values: &Values<'m>,
    ) -> Result<Option<Value<'m>>, EmitError> {
        let origin = self.origin(op);
        if let Some(location) = origin.and_then(|o| o.metadata("dbg")).or(self.location) {
            self.set_location(Some(location))?;
        }
        let ty = self.ty(op.ty)?;
        // A reduction whose instances are reordered has other intermediate results: they may wrap, or be infinite.
        let reorders = statement.reduction.is_some() && !mutation::off(Rule::OrderFlags);
        let flags = if reorders { op.flags.difference(ORDER) } else { op.flags };
        let fast = fast_math(flags);
        Ok(Some(match &op.kind {
            OpKind::Const(c) if c.ty.is_float() => ty.const_fp(c.bits.into())?,
            OpKind::Const(c) => ty.const_int(c.bits.into())?,
            OpKind::Affine(e) => self.integer(e, op.ty)?,
            OpKind::Test(c) => self.constraint(c)?,
            OpKind::Load(access) => {
                let element = self.address(statement, *access, op, origin)?;
                let access = statement.access(*access);
                let tag = Tag { array: access.array, frame: self.scope.innermost(access.array), origin };
                let spot = self.spot(statement, access.array, access.subscripts.as_deref());
                let value = self.load_kept(&element, spot, op.ty, tag)?;
                self.frozen_if_chosen(statement, access, value)?
            }
            OpKind::LoadAt(access, at) => {
                let array = statement.access(*access).array;
                let element = self.numbered(array, operand(values, *at)?, op, origin)?;
                self.load_kept(&element, None, op.ty, Tag { array, frame: None, origin })?
            }
            OpKind::Store(access, value) | OpKind::StoreAt(access, _, value) => {
                let element = match &op.kind {
                    OpKind::StoreAt(_, at, _) => {
                        let array = statement.access(*access).array;
                        self.numbered(array, operand(values, *at)?, op, origin)?
                    }
                    _ => self.address(statement, *access, op, origin)?,
                };
                let access = statement.access(*access);
                let tag = Tag { array: access.array, frame: self.scope.innermost(access.array), origin };
                let spot = self.spot(statement, access.array, access.subscripts.as_deref());
                let store = self.store_kept(&element, spot, op.ty, operand(values, *value)?, tag)?;
                if statement.flags.contains(StmtFlags::ATOMIC_RELAXED) {
                    let what = "an atomic store of which the original is not known";
                    let ordering = origin.ok_or(EmitError::Unsupported { what })?.ordering();
                    if ordering != Ordering::NotAtomic {
                        let what = "an atomic store in a vector loop";
                        let store = store.filter(|_| self.lanes.is_none());
                        store.ok_or(EmitError::Unsupported { what })?.set_relaxed(ordering)?;
                    }
                }
                return Ok(None);
            }
            OpKind::Binary(kind, x, y) => {
                let opcode = binary_opcode(*kind);
                let y = self.divisor(opcode, operand(values, *y)?)?;
                let [x, y] = self.even([operand(values, *x)?, y])?;
                let b = &self.builder;
                if *kind == BinaryOp::FRem {
                    self.call_by_lane(&[x, y], |a| Ok(b.float(opcode, a[0], a[1], fast, "")?))?
                } else if opcode.is_float_binary() {
                    b.float(opcode, x, y, fast, "")?
                } else {
                    b.binary(opcode, x, y, poison_flags(flags) & opcode.poison_flags(), "")?
                }
            }
            OpKind::Cast(kind, x) => {
                let x = operand(values, *x)?;
                let to = self.like(ty, x)?;
                match cast_opcode(*kind) {
                    Some(opcode) => {
                        let flags = poison_flags(flags) & opcode.poison_flags();
                        self.with_fast_math(self.builder.cast(opcode, x, to, flags, "")?, fast)?
                    }
                    None => self.builder.intrinsic(&format!("llvm.{}", kind.name()), to, &[x], "")?.value(),
                }
            }
            OpKind::Compare(predicate, x, y) => {
                let [x, y] = self.even([operand(values, *x)?, operand(values, *y)?])?;
                let b = &self.builder;
                match compare_predicate(*predicate) {
                    Ok(p) => b.icmp(p, x, y, "")?,
                    Err(p) => b.fcmp(p, x, y, fast, "")?,
                }
            }
            OpKind::Select(c, x, y) => {
                let all = [operand(values, *c)?, operand(values, *x)?, operand(values, *y)?];
                let [c, x, y] = self.even(all)?;
                self.with_fast_math(self.builder.select(c, x, y, "")?, fast)?
            }
            OpKind::Call(Intrinsic::FNeg, args) if args.len() == 1 => {
                self.builder.fneg(operand(values, args[0])?, fast, "")?
            }
            OpKind::Call(intrinsic, args) => {
                let operands = args.iter().map(|a| operand(values, *a)).collect::<Result<Vec<_>, _>>()?;
                let call = |operands: &[Value<'m>]| {
                    let mut operands = operands.to_vec();
                    let ty = operands.first().map_or(Ok(ty), |first| self.like(ty, *first))?;
                    // Whether it is poison of the least number, or of zero.
                    if matches!(intrinsic, Intrinsic::Abs | Intrinsic::CtLz | Intrinsic::CtTz) {
                        let poison = flags.contains(OpFlags::INT_MIN_POISON);
                        operands.push(self.module.context().i1().const_int(poison.into())?);
                    }
                    let call = self.builder.intrinsic(&intrinsic_name(*intrinsic), ty, &operands, "")?;
                    self.with_fast_math(call.value(), fast)
                };
                match is_library(*intrinsic) {
                    true => self.call_by_lane(&operands, call)?,
                    false => call(&self.even_all(operands)?)?,
                }
            }
            OpKind::Pure(number, args) => {
                let what = "a call of which the original is not known";
                let call = self.origins.get(*number as usize).and_then(|i| i.as_call());
                let call = call.ok_or(EmitError::Unsupported { what })?;
                if self.mask().is_some() {
                    return Err(EmitError::Unsupported { what: "a call by some lanes only" });
                }
                let args = args.iter().map(|a| operand(values, *a)).collect::<Result<Vec<_>, _>>()?;
                self.call_by_lane(&args, |args| Ok(self.builder.repeat_call(call, args)?.value()))?
            }
            OpKind::Opaque(number, args) => return self.repeat(*number, args, values),
        }))
    }

    /// A call of which nothing is known, once more.
    fn repeat(
        &mut self,
        number: u32,
        operands: &[OpId],
        values: &Values<'m>,
    ) -> Result<Option<Value<'m>>, EmitError> {
        let unsupported = |what| EmitError::Unsupported { what };
        let binding = self.called.get(number as usize).cloned();
        let binding = binding.ok_or(unsupported("an operation that is not understood"))?;
        let mut operands = operands.iter();
        let mut next = || {
            let operand_of = operands.next().ok_or(unsupported("a call with too few operands"))?;
            operand(values, *operand_of)
        };
        let (call, all) = match binding {
            CallBinding::Call(call, all) => (call, all),
            CallBinding::Part(steps) => {
                let taken = steps.iter().try_fold(next()?, |from, step| self.builder.take_part(*step, from));
                return Ok(Some(taken?));
            }
        };
        let call = call.as_call().ok_or(unsupported("a call of which the original is not known"))?;
        if self.lanes.is_some() {
            return Err(unsupported("a call of which nothing is known in a vector loop"));
        }
        let mut arguments = Vec::with_capacity(all.len());
        for argument in &all {
            arguments.push(match *argument {
                CallArgument::Same(value) => value,
                CallArgument::Computed => next()?,
                CallArgument::Behind(base) => {
                    let bytes = self.module.context().int(8)?;
                    self.builder.gep(bytes, base, &[next()?], GepFlags::empty(), "")?
                }
            });
        }
        // It may look at everything, and change it.
        if !mutation::off(Rule::CallsForget) {
            self.registers.forget();
        }
        let value = self.builder.repeat_call(call, &arguments)?.value();
        Ok((value.ty().kind() != TypeKind::Void).then_some(value))
    }

    fn with_fast_math(&self, value: Value<'m>, fast: FastMath) -> Result<Value<'m>, EmitError> {
        if !fast.is_empty()
            && value.ty().is_float()
            && let Some(inst) = value.as_inst()
        {
            inst.set_fast_math(fast)?;
        }
        Ok(value)
    }

    pub(super) fn place(&self) -> Result<Block<'m>, EmitError> {
        self.builder.block().ok_or(EmitError::Unsupported { what: "a builder without a place" })
    }

    pub(super) fn ty(&self, ty: ScalarType) -> Result<Type<'m>, EmitError> {
        let context = self.module.context();
        Ok(match ty {
            ScalarType::F32 => context.f32(),
            ScalarType::F64 => context.f64(),
            int => context.int(int.bits())?,
        })
    }
}

/// What holds of the results of one order only.
const ORDER: OpFlags = OpFlags::NSW
    .union(OpFlags::NUW)
    .union(OpFlags::EXACT)
    .union(OpFlags::DISJOINT)
    .union(OpFlags::NNAN)
    .union(OpFlags::NINF);

fn operand<'m>(values: &Values<'m>, id: OpId) -> Result<Value<'m>, EmitError> {
    values
        .get(id.index())
        .copied()
        .flatten()
        .ok_or(EmitError::Unsupported { what: "an operand without a value" })
}

fn is_used_from(statement: &Statement, id: OpId, from: usize) -> bool {
    statement.ops[from..]
        .iter()
        .any(|op| op.mask.is_some_and(|m| m.op == id) || op.kind.operands().contains(&id))
}

fn fast_math(flags: OpFlags) -> FastMath {
    let pairs = [
        (OpFlags::REASSOC, FastMath::REASSOC),
        (OpFlags::NNAN, FastMath::NNAN),
        (OpFlags::NINF, FastMath::NINF),
        (OpFlags::NSZ, FastMath::NSZ),
        (OpFlags::ARCP, FastMath::ARCP),
        (OpFlags::CONTRACT, FastMath::CONTRACT),
        (OpFlags::AFN, FastMath::AFN),
    ];
    pairs
        .iter()
        .filter(|(ours, _)| flags.contains(*ours))
        .fold(FastMath::empty(), |all, (_, theirs)| all | *theirs)
}

fn poison_flags(flags: OpFlags) -> PoisonFlags {
    let pairs = [
        (OpFlags::NSW, PoisonFlags::NSW),
        (OpFlags::NUW, PoisonFlags::NUW),
        (OpFlags::EXACT, PoisonFlags::EXACT),
        (OpFlags::DISJOINT, PoisonFlags::DISJOINT),
        (OpFlags::NNEG, PoisonFlags::NNEG),
    ];
    pairs
        .iter()
        .filter(|(ours, _)| flags.contains(*ours))
        .fold(PoisonFlags::empty(), |all, (_, theirs)| all | *theirs)
}

fn binary_opcode(op: BinaryOp) -> Opcode {
    match op {
        BinaryOp::Add => Opcode::Add,
        BinaryOp::Sub => Opcode::Sub,
        BinaryOp::Mul => Opcode::Mul,
        BinaryOp::SDiv => Opcode::SDiv,
        BinaryOp::UDiv => Opcode::UDiv,
        BinaryOp::SRem => Opcode::SRem,
        BinaryOp::URem => Opcode::URem,
        BinaryOp::Shl => Opcode::Shl,
        BinaryOp::LShr => Opcode::LShr,
        BinaryOp::AShr => Opcode::AShr,
        BinaryOp::And => Opcode::And,
        BinaryOp::Or => Opcode::Or,
        BinaryOp::Xor => Opcode::Xor,
        BinaryOp::FAdd => Opcode::FAdd,
        BinaryOp::FSub => Opcode::FSub,
        BinaryOp::FMul => Opcode::FMul,
        BinaryOp::FDiv => Opcode::FDiv,
        BinaryOp::FRem => Opcode::FRem,
    }
}

/// `None`: it is a call.
fn cast_opcode(op: CastOp) -> Option<Opcode> {
    Some(match op {
        CastOp::Trunc => Opcode::Trunc,
        CastOp::ZExt => Opcode::ZExt,
        CastOp::SExt => Opcode::SExt,
        CastOp::FpTrunc => Opcode::FpTrunc,
        CastOp::FpExt => Opcode::FpExt,
        CastOp::FpToSi => Opcode::FpToSi,
        CastOp::FpToUi => Opcode::FpToUi,
        CastOp::SiToFp => Opcode::SiToFp,
        CastOp::UiToFp => Opcode::UiToFp,
        CastOp::Bitcast => Opcode::BitCast,
        CastOp::FpToSiSat | CastOp::FpToUiSat => return None,
    })
}

/// `Ok` for integers, `Err` for floating-point numbers.
fn compare_predicate(p: ComparePredicate) -> Result<IntPredicate, RealPredicate> {
    use ComparePredicate as P;
    Ok(match p {
        P::Eq => IntPredicate::Eq,
        P::Ne => IntPredicate::Ne,
        P::Ugt => IntPredicate::Ugt,
        P::Uge => IntPredicate::Uge,
        P::Ult => IntPredicate::Ult,
        P::Ule => IntPredicate::Ule,
        P::Sgt => IntPredicate::Sgt,
        P::Sge => IntPredicate::Sge,
        P::Slt => IntPredicate::Slt,
        P::Sle => IntPredicate::Sle,
        P::FOeq => return Err(RealPredicate::Oeq),
        P::FOgt => return Err(RealPredicate::Ogt),
        P::FOge => return Err(RealPredicate::Oge),
        P::FOlt => return Err(RealPredicate::Olt),
        P::FOle => return Err(RealPredicate::Ole),
        P::FOne => return Err(RealPredicate::One),
        P::FOrd => return Err(RealPredicate::Ord),
        P::FUno => return Err(RealPredicate::Uno),
        P::FUeq => return Err(RealPredicate::Ueq),
        P::FUgt => return Err(RealPredicate::Ugt),
        P::FUge => return Err(RealPredicate::Uge),
        P::FUlt => return Err(RealPredicate::Ult),
        P::FUle => return Err(RealPredicate::Ule),
        P::FUne => return Err(RealPredicate::Une),
        P::FTrue => return Err(RealPredicate::True),
        P::FFalse => return Err(RealPredicate::False),
    })
}

/// Functions that no instructions compute: those of the library, which are called for each lane by itself, lest others be
/// called that compute many at once and round otherwise.
fn is_library(intrinsic: Intrinsic) -> bool {
    use Intrinsic::*;
    matches!(intrinsic, Exp | Exp2 | Log | Log2 | Log10 | Sin | Cos | Pow)
}

fn intrinsic_name(intrinsic: Intrinsic) -> String {
    match intrinsic {
        Intrinsic::Trunc => "llvm.trunc".to_string(),
        other => format!("llvm.{}", other.name()),
    }
}
