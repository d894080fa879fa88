//! Building instructions. Operands are checked; what folds to a constant is returned as one.

use std::marker::PhantomData;
use std::ptr;

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::error::{LlvmError, Result, require};
use super::ffi;
use super::function::{Block, Function};
use super::inst::{Call, Inst};
use super::kinds::{FastMath, GepFlags, IntPredicate, Opcode, PoisonFlags, RealPredicate};
use super::metadata::Metadata;
use super::module::Module;
use super::strings::c_string;
use super::types::{Type, TypeKind};
use super::value::{Value, const_vector};

/// Inserts instructions at a place. Flags are what the caller states, no more.
pub struct Builder<'m> {
    raw: LLVMBuilderRef,
    module: &'m Module<'m>,
    // The function of the place.
    function: Option<Function<'m>>,
    owner: PhantomData<&'m Module<'m>>,
}

impl<'m> Builder<'m> {
    /// A builder without a place.
    pub fn new(module: &'m Module<'m>) -> Builder<'m> {
        // SAFETY: a valid context; the builder is freed on drop.
        let raw = unsafe { LLVMCreateBuilderInContext(module.context().raw()) };
        Builder { raw, module, function: None, owner: PhantomData }
    }

    /// Builds at the end of a block. Keeps the debug location.
    pub fn position_at_end(&mut self, block: Block<'m>) -> Result<()> {
        let function = block.function();
        self.require_here(function)?;
        let location = self.location();
        // SAFETY: a block of this module; positioning forgets the location, which is then restored.
        unsafe {
            LLVMPositionBuilderAtEnd(self.raw, block.raw());
            LLVMSetCurrentDebugLocation2(self.raw, location);
        }
        self.function = Some(function);
        Ok(())
    }

    /// Builds before an instruction. Keeps the debug location.
    pub fn position_before(&mut self, inst: Inst<'m>) -> Result<()> {
        let function = inst.function();
        self.require_here(function)?;
        let location = self.location();
        // SAFETY: an instruction of this module; the location is restored, as LLVM takes the instruction's.
        unsafe {
            LLVMPositionBuilderBefore(self.raw, inst.raw());
            LLVMSetCurrentDebugLocation2(self.raw, location);
        }
        self.function = Some(function);
        Ok(())
    }

    /// The block of the place.
    pub fn block(&self) -> Option<Block<'m>> {
        // SAFETY: null before a place is set.
        unsafe { Block::from_nullable(LLVMGetInsertBlock(self.raw)) }
    }

    /// The debug location of what is built from now on; none removes it.
    pub fn set_location(&mut self, location: Option<Metadata<'m>>) -> Result<()> {
        // SAFETY: asked of valid metadata.
        let fits = location.is_none_or(|m| unsafe {
            ffi::lt_md_is_location(m.raw()) && ffi::lt_md_node_in(m.raw(), self.module.context().raw())
        });
        require(fits, "set location", "no location of this context")?;
        // SAFETY: a location or null.
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, location.map_or(ptr::null_mut(), Metadata::raw)) };
        Ok(())
    }

    /// A new block at the end of the function of the place.
    pub fn append_block(&self, name: &str) -> Result<Block<'m>> {
        let function =
            self.function.ok_or(LlvmError::argument("append block", "the builder has no place"))?;
        Ok(function.append_block(name))
    }

    /// Arithmetic, shifts and logic, with exactly these promises.
    pub fn binary(
        &self,
        op: Opcode,
        a: Value<'m>,
        b: Value<'m>,
        flags: PoisonFlags,
        name: &str,
    ) -> Result<Value<'m>> {
        let operation = "binary operation";
        let fits =
            if op.is_int_binary() { a.ty().is_int() } else { op.is_float_binary() && a.ty().is_float() };
        require(fits && a.ty() == b.ty(), operation, "operands do not fit the operation")?;
        require(op.poison_flags().contains(flags), operation, "flags do not fit the operation")?;
        self.usable(&[a, b], operation)?;
        let name = c_string(name);
        // SAFETY: a binary operation on operands of its kind.
        let build = |a| unsafe { LLVMBuildBinOp(self.raw, op.sys(), a, b.raw(), name.as_ptr()) };
        let value = if a.ty().is_float() { self.unfolded(a, build) } else { self.value(build(a.raw())) };
        if let Some(inst) = value.as_inst().filter(|i| i.opcode() == op && !flags.is_empty()) {
            inst.set_poison_flags(flags)?;
        }
        Ok(value)
    }

    /// An operation on floating-point numbers, of which the first is no constant while it is built: what constants give is for passes to
    /// say, which know what the function makes of denormal numbers (`denormal-fp-math`).
    fn unfolded(&self, a: Value<'m>, build: impl FnOnce(LLVMValueRef) -> LLVMValueRef) -> Value<'m> {
        if !a.is_constant() {
            return self.value(build(a.raw()));
        }
        // SAFETY: the operation is an instruction, since one of its operands is, which has no other use.
        unsafe {
            let held = LLVMBuildFreeze(self.raw, a.raw(), c"".as_ptr());
            let built = build(held);
            LLVMSetOperand(built, 0, a.raw());
            LLVMInstructionEraseFromParent(held);
            self.value(built)
        }
    }

    /// Floating-point arithmetic, with exactly these assumptions.
    pub fn float(
        &self,
        op: Opcode,
        a: Value<'m>,
        b: Value<'m>,
        fast: FastMath,
        name: &str,
    ) -> Result<Value<'m>> {
        require(op.is_float_binary(), "float operation", "no floating-point operation")?;
        let value = self.binary(op, a, b, PoisonFlags::empty(), name)?;
        self.with_fast_math(value, fast)
    }

    /// Negation.
    pub fn fneg(&self, a: Value<'m>, fast: FastMath, name: &str) -> Result<Value<'m>> {
        require(a.ty().is_float(), "fneg", "no floating-point number")?;
        self.usable(&[a], "fneg")?;
        let name = c_string(name);
        // SAFETY: a floating-point operand.
        let value = self.value(unsafe { LLVMBuildFNeg(self.raw, a.raw(), name.as_ptr()) });
        self.with_fast_math(value, fast)
    }

    /// Compares integers or pointers.
    pub fn icmp(&self, p: IntPredicate, a: Value<'m>, b: Value<'m>, name: &str) -> Result<Value<'m>> {
        let fits = (a.ty().is_int() || a.ty().is_pointer()) && a.ty() == b.ty();
        require(fits, "icmp", "operands are not integers or pointers of one type")?;
        self.usable(&[a, b], "icmp")?;
        let name = c_string(name);
        // SAFETY: operands of one type that can be compared.
        Ok(self.value(unsafe { LLVMBuildICmp(self.raw, p.sys(), a.raw(), b.raw(), name.as_ptr()) }))
    }

    /// Compares floating-point numbers.
    pub fn fcmp(
        &self,
        p: RealPredicate,
        a: Value<'m>,
        b: Value<'m>,
        fast: FastMath,
        name: &str,
    ) -> Result<Value<'m>> {
        require(a.ty().is_float() && a.ty() == b.ty(), "fcmp", "operands are not numbers of one type")?;
        self.usable(&[a, b], "fcmp")?;
        let name = c_string(name);
        // SAFETY: operands of one floating-point type.
        let value =
            self.unfolded(a, |a| unsafe { LLVMBuildFCmp(self.raw, p.sys(), a, b.raw(), name.as_ptr()) });
        self.with_fast_math(value, fast)
    }

    /// `a` where the condition holds, else `b`.
    pub fn select(&self, condition: Value<'m>, a: Value<'m>, b: Value<'m>, name: &str) -> Result<Value<'m>> {
        let one = condition.ty().kind() == TypeKind::Integer(1);
        let lanes = match (condition.ty().kind(), a.ty().kind()) {
            (TypeKind::Vector(c, n), TypeKind::Vector(_, m)) => c.kind() == TypeKind::Integer(1) && n == m,
            _ => false,
        };
        require((one || lanes) && a.ty() == b.ty() && a.ty().is_first_class(), "select", "types do not fit")?;
        self.usable(&[condition, a, b], "select")?;
        let name = c_string(name);
        // SAFETY: a condition of bits, and two values of one type.
        Ok(self.value(unsafe { LLVMBuildSelect(self.raw, condition.raw(), a.raw(), b.raw(), name.as_ptr()) }))
    }

    /// Converts a value, with exactly these promises.
    pub fn cast(
        &self,
        op: Opcode,
        a: Value<'m>,
        to: Type<'m>,
        flags: PoisonFlags,
        name: &str,
    ) -> Result<Value<'m>> {
        let operation = "cast";
        require(to.context() == self.module.context().raw(), operation, "a type of another context")?;
        // SAFETY: valid types.
        let fits = op.is_cast() && unsafe { ffi::lt_cast_valid(op.sys() as i32, a.ty().raw(), to.raw()) };
        require(fits, operation, "the operation does not convert between these types")?;
        require(op.poison_flags().contains(flags), operation, "flags do not fit the operation")?;
        self.usable(&[a], operation)?;
        let name = c_string(name);
        // SAFETY: a valid conversion.
        let build = |a| unsafe { LLVMBuildCast(self.raw, op.sys(), a, to.raw(), name.as_ptr()) };
        let value = if a.ty().is_float() { self.unfolded(a, build) } else { self.value(build(a.raw())) };
        if let Some(inst) = value.as_inst().filter(|i| i.opcode() == op && !flags.is_empty()) {
            inst.set_poison_flags(flags)?;
        }
        Ok(value)
    }

    /// A phi without incoming values ([`Inst::add_incoming`]); the place must be among the phis of its block.
    pub fn phi(&self, ty: Type<'m>, name: &str) -> Result<Inst<'m>> {
        require(ty.is_first_class() && ty.context() == self.cx(), "phi", "no type of values")?;
        self.usable(&[], "phi")?;
        let name = c_string(name);
        // SAFETY: a first-class type.
        Ok(unsafe { Inst::from_raw(LLVMBuildPhi(self.raw, ty.raw(), name.as_ptr())) })
    }

    /// Takes a store from where it is and puts it here.
    pub fn bring_store(&self, store: Inst<'m>) -> Result<()> {
        let fits = store.opcode() == Opcode::Store && self.function == Some(store.function());
        require(fits, "bring store", "no store of this function")?;
        // SAFETY: an instruction of this function that nothing uses; its operands are the verifier's to check.
        unsafe {
            LLVMInstructionRemoveFromParent(store.raw());
            LLVMInsertIntoBuilder(self.raw, store.raw());
        }
        Ok(())
    }

    /// Makes room in the stack frame for `count` values, one where none is given.
    pub fn alloca(&self, ty: Type<'m>, count: Option<Value<'m>>, name: &str) -> Result<Inst<'m>> {
        require(ty.is_sized() && ty.context() == self.cx(), "alloca", "the type has no size")?;
        let int = count.is_none_or(|n| matches!(n.ty().kind(), TypeKind::Integer(_)));
        require(int, "alloca", "the count is no integer")?;
        self.usable(count.as_slice(), "alloca")?;
        let name = c_string(name);
        // SAFETY: a sized type and an integer.
        Ok(unsafe {
            Inst::from_raw(match count {
                Some(n) => LLVMBuildArrayAlloca(self.raw, ty.raw(), n.raw(), name.as_ptr()),
                None => LLVMBuildAlloca(self.raw, ty.raw(), name.as_ptr()),
            })
        })
    }

    /// Loads; the alignment is in bytes.
    pub fn load(&self, ty: Type<'m>, pointer: Value<'m>, alignment: u32, name: &str) -> Result<Inst<'m>> {
        let loadable = ty.is_first_class() && ty.is_sized() && ty.context() == self.cx();
        require(loadable, "load", "the type cannot be loaded")?;
        self.require_access(pointer, alignment, "load")?;
        let name = c_string(name);
        // SAFETY: a sized type and a pointer.
        let load =
            unsafe { Inst::from_raw(LLVMBuildLoad2(self.raw, ty.raw(), pointer.raw(), name.as_ptr())) };
        load.set_alignment(alignment)?;
        Ok(load)
    }

    /// Stores; the alignment is in bytes.
    pub fn store(&self, value: Value<'m>, pointer: Value<'m>, alignment: u32) -> Result<Inst<'m>> {
        let storable = value.ty().is_first_class() && value.ty().is_sized();
        require(storable, "store", "the value cannot be stored")?;
        self.require_access(pointer, alignment, "store")?;
        self.usable(&[value], "store")?;
        // SAFETY: a sized value and a pointer.
        let store = unsafe { Inst::from_raw(LLVMBuildStore(self.raw, value.raw(), pointer.raw())) };
        store.set_alignment(alignment)?;
        Ok(store)
    }

    /// Computes an address, with exactly these promises.
    pub fn gep(
        &self,
        ty: Type<'m>,
        base: Value<'m>,
        indices: &[Value<'m>],
        flags: GepFlags,
        name: &str,
    ) -> Result<Value<'m>> {
        let operation = "getelementptr";
        require(
            base.ty().is_pointer() && ty.is_sized() && ty.context() == self.cx(),
            operation,
            "no pointer",
        )?;
        let ints = !indices.is_empty() && indices.iter().all(|i| i.ty().is_int());
        require(ints, operation, "indices are not integers, or none")?;
        self.usable(&[base], operation)?;
        self.usable(indices, operation)?;
        let mut raw: Vec<_> = indices.iter().map(|i| i.raw()).collect();
        // SAFETY: the shim walks the type and returns null where an index does not fit.
        let reached = unsafe { ffi::lt_gep_type(ty.raw(), raw.as_mut_ptr(), raw.len()) };
        require(!reached.is_null(), operation, "indices do not fit the type")?;
        let name = c_string(name);
        // INBOUNDS implies NUSW; LLVM wants both bits.
        let flags = if flags.contains(GepFlags::INBOUNDS) { flags | GepFlags::NUSW } else { flags };
        let (t, b, count) = (ty.raw(), base.raw(), raw.len() as u32);
        // SAFETY: a pointer, and indices that fit the type.
        Ok(self.value(unsafe {
            LLVMBuildGEPWithNoWrapFlags(self.raw, t, b, raw.as_mut_ptr(), count, name.as_ptr(), flags.bits())
        }))
    }

    /// Calls a function.
    pub fn call(&self, callee: Function<'m>, args: &[Value<'m>], name: &str) -> Result<Inst<'m>> {
        let operation = "call";
        let ty = callee.function_type();
        let params = ty.signature().map(|(_, params)| params).unwrap_or_default();
        let fits = args.len() == params.len() || (ty.is_variadic() && args.len() > params.len());
        require(fits, operation, "the number of arguments")?;
        require(params.iter().zip(args).all(|(p, a)| *p == a.ty()), operation, "the type of an argument")?;
        self.usable(&[callee.value()], operation)?;
        for &arg in args {
            // Metadata as an argument has no owner.
            if arg.ty().kind() != TypeKind::Metadata {
                self.usable(&[arg], operation)?;
            }
        }
        let void = callee.return_type().kind() == TypeKind::Void;
        let name = c_string(if void { "" } else { name });
        let mut raw: Vec<_> = args.iter().map(|a| a.raw()).collect();
        let (f, count) = (callee.raw(), raw.len() as u32);
        // SAFETY: a function of this module, and arguments of its type. Calls do not fold.
        Ok(unsafe {
            let call = LLVMBuildCall2(self.raw, ty.raw(), f, raw.as_mut_ptr(), count, name.as_ptr());
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(f));
            Inst::from_raw(call)
        })
    }

    /// Makes a call once more, with all of its attributes, on other arguments.
    pub fn repeat_call(&self, call: Call<'m>, args: &[Value<'m>]) -> Result<Inst<'m>> {
        let operation = "repeat call";
        let old = call.args();
        let same = args.len() == old.len() && old.iter().zip(args).all(|(o, a)| o.ty() == a.ty());
        require(same, operation, "arguments of other types")?;
        let plain =
            call.inst().opcode() == Opcode::Call && !call.has_operand_bundles() && !call.is_must_tail();
        require(plain, operation, "a call that is tied to its place")?;
        self.usable(&[call.called_value()], operation)?;
        self.usable(args, operation)?;
        // SAFETY: the copy is put at the builder's place, and its arguments, the first operands, replaced one by one.
        unsafe {
            let copy = LLVMInstructionClone(call.inst().raw());
            for (index, arg) in args.iter().enumerate() {
                LLVMSetOperand(copy, index as u32, arg.raw());
            }
            LLVMInsertIntoBuilder(self.raw, copy);
            Ok(Inst::from_raw(copy))
        }
    }

    /// Takes a part out of a value as an instruction takes it out of another one of the same type.
    pub fn take_part(&self, as_in: Inst<'m>, from: Value<'m>) -> Result<Value<'m>> {
        let operation = "take part";
        let takes = matches!(as_in.opcode(), Opcode::ExtractValue | Opcode::ExtractElement);
        require(takes, operation, "an instruction that takes nothing out")?;
        let same = as_in.operand(0).is_some_and(|whole| whole.ty() == from.ty());
        require(same, operation, "a value of another type")?;
        self.usable(&[from], operation)?;
        // SAFETY: the copy is put at the builder's place, and its first operand replaced by one of its type; the other ones are
        // constants where lifting asks, and else checked by the verifier.
        unsafe {
            let copy = LLVMInstructionClone(as_in.raw());
            LLVMSetOperand(copy, 0, from.raw());
            LLVMInsertIntoBuilder(self.raw, copy);
            Ok(self.value(copy))
        }
    }

    /// Calls an intrinsic by its name without overloads (`llvm.sqrt`), declaring it as needed.
    pub fn intrinsic(
        &self,
        intrinsic: &str,
        ret: Type<'m>,
        args: &[Value<'m>],
        name: &str,
    ) -> Result<Inst<'m>> {
        let params: Vec<_> = args.iter().map(|a| a.ty()).collect();
        let callee = self.module.intrinsic(intrinsic, ret, &params)?;
        self.call(callee, args, name)
    }

    /// Poison and undef become some fixed value.
    pub fn freeze(&self, a: Value<'m>, name: &str) -> Result<Value<'m>> {
        require(a.ty().is_first_class(), "freeze", "no value")?;
        self.usable(&[a], "freeze")?;
        let name = c_string(name);
        // SAFETY: a first-class operand.
        Ok(self.value(unsafe { LLVMBuildFreeze(self.raw, a.raw(), name.as_ptr()) }))
    }

    /// Goes to a block.
    pub fn br(&self, to: Block<'m>) -> Result<Inst<'m>> {
        self.require_blocks(&[to])?;
        // SAFETY: a block of this function.
        Ok(unsafe { Inst::from_raw(LLVMBuildBr(self.raw, to.raw())) })
    }

    /// Goes to one of two blocks.
    pub fn cond_br(&self, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) -> Result<Inst<'m>> {
        require(condition.ty().kind() == TypeKind::Integer(1), "branch", "the condition is no i1")?;
        self.usable(&[condition], "branch")?;
        self.require_blocks(&[yes, no])?;
        // SAFETY: a condition, and blocks of this function.
        Ok(unsafe { Inst::from_raw(LLVMBuildCondBr(self.raw, condition.raw(), yes.raw(), no.raw())) })
    }

    /// Returns, with the value that the function's type asks for.
    pub fn ret(&self, value: Option<Value<'m>>) -> Result<Inst<'m>> {
        self.usable(value.as_slice(), "return")?;
        let want = self.function.map(Function::return_type);
        let fits = match (value, want) {
            (Some(v), Some(t)) => v.ty() == t,
            (None, Some(t)) => t.kind() == TypeKind::Void,
            (_, None) => false,
        };
        require(fits, "return", "the value is not of the function's type")?;
        // SAFETY: a value of the function's type, or none for void.
        Ok(unsafe {
            Inst::from_raw(match value {
                Some(v) => LLVMBuildRet(self.raw, v.raw()),
                None => LLVMBuildRetVoid(self.raw),
            })
        })
    }

    /// One lane of a vector.
    pub fn extract_element(&self, vector: Value<'m>, lane: Value<'m>, name: &str) -> Result<Value<'m>> {
        let fits = matches!(vector.ty().kind(), TypeKind::Vector(..));
        require(
            fits && matches!(lane.ty().kind(), TypeKind::Integer(_)),
            "extract lane",
            "no vector or lane",
        )?;
        self.usable(&[vector, lane], "extract lane")?;
        let name = c_string(name);
        // SAFETY: a vector and an integer.
        Ok(self.value(unsafe { LLVMBuildExtractElement(self.raw, vector.raw(), lane.raw(), name.as_ptr()) }))
    }

    /// A vector with one lane replaced.
    pub fn insert_element(
        &self,
        vector: Value<'m>,
        element: Value<'m>,
        lane: Value<'m>,
        name: &str,
    ) -> Result<Value<'m>> {
        let fits = matches!(vector.ty().kind(), TypeKind::Vector(e, _) if e == element.ty());
        require(fits && matches!(lane.ty().kind(), TypeKind::Integer(_)), "insert lane", "types do not fit")?;
        self.usable(&[vector, element, lane], "insert lane")?;
        let name = c_string(name);
        let (v, e, l) = (vector.raw(), element.raw(), lane.raw());
        // SAFETY: a vector, an element of its type, and an integer.
        Ok(self.value(unsafe { LLVMBuildInsertElement(self.raw, v, e, l, name.as_ptr()) }))
    }

    /// Lanes of two vectors, numbered through.
    pub fn shuffle(&self, a: Value<'m>, b: Value<'m>, mask: &[u32], name: &str) -> Result<Value<'m>> {
        let TypeKind::Vector(_, lanes) = a.ty().kind() else {
            return Err(LlvmError::argument("shuffle", "no vector"));
        };
        let fits = a.ty() == b.ty() && mask.iter().all(|&m| u64::from(m) < 2 * u64::from(lanes));
        require(fits, "shuffle", "types or lanes do not fit")?;
        self.usable(&[a, b], "shuffle")?;
        let i32 = self.module.context().i32();
        let mask: Vec<_> = mask.iter().map(|&m| i32.const_int(m.into())).collect::<Result<_>>()?;
        let mask = const_vector(&mask)?;
        let name = c_string(name);
        // SAFETY: vectors of one type, and a constant mask within their lanes.
        Ok(self
            .value(unsafe { LLVMBuildShuffleVector(self.raw, a.raw(), b.raw(), mask.raw(), name.as_ptr()) }))
    }

    /// One value in all lanes.
    pub fn splat(&self, lanes: u32, a: Value<'m>, name: &str) -> Result<Value<'m>> {
        let poison = a.ty().vector(lanes)?.poison()?;
        let zero = self.module.context().i64().const_int(0)?;
        let first = self.insert_element(poison, a, zero, name)?;
        self.shuffle(first, poison, &vec![0; lanes as usize], name)
    }

    fn cx(&self) -> LLVMContextRef {
        self.module.context().raw()
    }

    fn location(&self) -> LLVMMetadataRef {
        // SAFETY: a valid builder; null where there is none.
        unsafe { LLVMGetCurrentDebugLocation2(self.raw) }
    }

    /// What LLVM built, or folded to.
    fn value(&self, raw: LLVMValueRef) -> Value<'m> {
        // SAFETY: built in the module, or an operand or constant of it.
        unsafe { Value::from_raw(raw) }
    }

    fn with_fast_math(&self, value: Value<'m>, fast: FastMath) -> Result<Value<'m>> {
        if let Some(inst) = value.as_inst().filter(|_| !fast.is_empty()) {
            inst.set_fast_math(fast)?;
        }
        Ok(value)
    }

    fn require_here(&self, function: Function<'m>) -> Result<()> {
        // SAFETY: a function.
        let here = unsafe { LLVMGetGlobalParent(function.raw()) } == self.module.raw();
        require(here, "position", "the place is in another module")
    }

    fn require_blocks(&self, blocks: &[Block<'m>]) -> Result<()> {
        let fits = blocks.iter().all(|b| Some(b.function()) == self.function);
        require(fits, "branch", "a block of another function, or no place to build")
    }

    fn require_access(&self, pointer: Value<'m>, alignment: u32, operation: &'static str) -> Result<()> {
        let fits = matches!(pointer.ty().kind(), TypeKind::Pointer(_)) && alignment.is_power_of_two();
        require(fits, operation, "no pointer, or the alignment is no power of two")?;
        self.usable(&[pointer], operation)
    }

    /// Requires a place, and operands that may be used there.
    fn usable(&self, operands: &[Value<'m>], operation: &'static str) -> Result<()> {
        let function = self.function.ok_or(LlvmError::argument(operation, "the builder has no place"))?;
        // SAFETY: values and a function.
        let fits = operands.iter().all(|v| unsafe { ffi::lt_usable_in(v.raw(), function.raw()) });
        require(fits, operation, "an operand belongs to another function, module or context")
    }
}

impl<'m> Inst<'m> {
    /// Adds an incoming value to a phi.
    pub fn add_incoming(self, value: Value<'m>, from: Block<'m>) -> Result<()> {
        let fits = self.is_phi() && value.ty() == self.ty() && from.function() == self.function();
        require(fits, "incoming value", "no phi, or the type or block does not fit")?;
        self.require_usable(value, "incoming value")?;
        let (mut value, mut block) = (value.raw(), from.raw());
        // SAFETY: a phi, a value of its type and a block of its function.
        unsafe { LLVMAddIncoming(self.raw(), &mut value, &mut block, 1) };
        Ok(())
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: owned; its module is still borrowed.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}
