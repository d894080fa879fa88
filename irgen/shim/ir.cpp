// Reading and changing IR where the C API has no way or an unchecked one.
#include "shim.h"
#include <optional>
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

// ---- Parsing

// Text or bitcode; Data[Len] must be a readable zero byte. Null on error, and then *Message is owned by the caller;
// Line and Column count from 1, 0 where unknown.
extern "C" Module *lt_parse(LLVMContext *C, const char *Data, size_t Len, const char *Name, char **Message,
                            uint32_t *Line, uint32_t *Column) {
  SMDiagnostic Error;
  auto M = parseIR(MemoryBufferRef(StringRef(Data, Len), Name), Error, *C);
  if (M)
    return M.release();
  *Message = LLVMCreateMessage(Error.getMessage().str().c_str());
  *Line = Error.getLineNo() > 0 ? Error.getLineNo() : 0;
  *Column = Error.getLineNo() > 0 && Error.getColumnNo() >= 0 ? Error.getColumnNo() + 1 : 0;
  return nullptr;
}

// Bitcode from which the same module is read again, lists of uses in the same order: passes may look at it.
extern "C" LLVMMemoryBufferRef lt_bitcode(const Module *M) {
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(*M, OS, /*ShouldPreserveUseListOrder=*/true);
  return LLVMCreateMemoryBufferWithMemoryRangeCopy(Bytes.data(), Bytes.size(), "bitcode");
}

// ---- Constants

extern "C" bool lt_const_int(const Value *V, LtInt *Out) {
  auto *C = dyn_cast<ConstantInt>(V);
  if (!C || C->getType()->isVectorTy())
    return false;
  *Out = ltInt(C->getValue());
  return true;
}
// The bits of the value, not sign-extended.
extern "C" bool lt_const_fp(const Value *V, LtInt *Out) {
  auto *C = dyn_cast<ConstantFP>(V);
  if (!C || C->getType()->isVectorTy())
    return false;
  APInt Bits = C->getValueAPF().bitcastToAPInt();
  APInt W = Bits.zextOrTrunc(128);
  *Out = {W.getRawData()[0], W.getRawData()[1], Bits.getBitWidth()};
  return true;
}
extern "C" Value *lt_make_fp(Type *T, uint64_t Lo, uint64_t Hi) {
  unsigned Bits = T->getPrimitiveSizeInBits();
  uint64_t Words[2] = {Lo, Hi};
  return ConstantFP::get(T->getContext(), APFloat(T->getFltSemantics(), APInt(Bits, ArrayRef<uint64_t>(Words, Bits > 64 ? 2 : 1))));
}

// The name of the variable that holds V in the source: of several the argument, else the first that is declared. Variables of functions
// that were inlined have no say.
extern "C" const char *lt_source_name(Value *V, size_t *Len) {
  SmallVector<DbgVariableRecord *, 4> Records;
  findDbgValues(V, Records);
  const DILocalVariable *Best = nullptr;
  auto Rank = [](const DILocalVariable *D) { return std::make_tuple(D->getArg() == 0, D->getLine(), D->getName()); };
  for (const DbgVariableRecord *R : Records) {
    const DILocalVariable *D = R->getVariable();
    bool Whole = R->getNumVariableLocationOps() == 1 && R->getExpression()->getNumElements() == 0;
    if (Whole && !R->getDebugLoc().getInlinedAt() && !D->getName().empty() && (!Best || Rank(D) < Rank(Best)))
      Best = D;
  }
  *Len = Best ? Best->getName().size() : 0;
  return Best ? Best->getName().data() : nullptr;
}

// Whether V may be an operand in F: of the same context, and not local to another function or module.
extern "C" bool lt_usable_in(const Value *V, const Function *F) {
  if (&V->getContext() != &F->getContext())
    return false;
  if (auto *I = dyn_cast<Instruction>(V))
    return I->getFunction() == F;
  if (auto *A = dyn_cast<Argument>(V))
    return A->getParent() == F;
  if (auto *G = dyn_cast<GlobalValue>(V))
    return G->getParent() == F->getParent();
  return !isa<BasicBlock>(V);
}

// ---- Properties of instructions

// Whether I converts an unsigned number that may be negative as a signed one of half its bits.
extern "C" bool lt_converts_extended_sign(const Instruction *I) {
  auto *C = dyn_cast<UIToFPInst>(I);
  if (!C)
    return false;
  const DataLayout &DL = I->getDataLayout();
  const Value *V = C->getOperand(0);
  return 2 * ComputeNumSignBits(V, DL) > V->getType()->getScalarSizeInBits() && !isKnownNonNegative(V, DL);
}

// Bits: 0 may read, 1 may write, 2 may throw, 3 will return, 4 may have side effects, 5 atomic, 6 volatile,
// 7 debug, lifetime or assume-like marker, 8 safe to remove if unused.
extern "C" uint32_t lt_effects(const Instruction *I) {
  uint32_t R = 0;
  R |= I->mayReadFromMemory() << 0;
  R |= I->mayWriteToMemory() << 1;
  R |= I->mayThrow() << 2;
  R |= I->willReturn() << 3;
  R |= I->mayHaveSideEffects() << 4;
  R |= I->isAtomic() << 5;
  R |= I->isVolatile() << 6;
  R |= (I->isDebugOrPseudoInst() || I->isLifetimeStartOrEnd() ||
        (isa<IntrinsicInst>(I) && cast<IntrinsicInst>(I)->isAssumeLikeIntrinsic()))
       << 7;
  R |= (!I->mayHaveSideEffects() && !I->isTerminator() && !I->isEHPad()) << 8;
  return R;
}

// Two bits (1 read, 2 write) per place: arguments, inaccessible, errno, everything else.
static uint32_t encode(MemoryEffects M) {
  auto Get = [&](IRMemLocation L) { return (uint32_t)M.getModRef(L); };
  uint32_t Target = Get(IRMemLocation::TargetMem0) | Get(IRMemLocation::TargetMem1);
  return Get(IRMemLocation::ArgMem) | (Get(IRMemLocation::InaccessibleMem) | Target) << 2 |
         Get(IRMemLocation::ErrnoMem) << 4 | Get(IRMemLocation::Other) << 6;
}
// Of a call (with its own attributes) or of a function; everything for other values.
extern "C" uint32_t lt_memory_effects(const Value *V) {
  if (auto *C = dyn_cast<CallBase>(V))
    return encode(C->getMemoryEffects());
  if (auto *F = dyn_cast<Function>(V))
    return encode(F->getMemoryEffects());
  return 0xff;
}
// The target's library, made once: to make it takes as long as a few hundred questions.
static const TargetLibraryInfoImpl &libraryOf(const Module *M) {
  thread_local std::optional<std::pair<Triple, TargetLibraryInfoImpl>> Made;
  if (!Made || Made->first != M->getTargetTriple())
    Made.emplace(M->getTargetTriple(), TargetLibraryInfoImpl(M->getTargetTriple()));
  return Made->second;
}
// Whether a call is of a function of the target's library, by name and type, and means that one.
extern "C" bool lt_is_library_call(const CallBase *C) {
  const Function *F = C->getCalledFunction();
  if (!F || !F->isDeclaration())
    return false;
  TargetLibraryInfo Library(libraryOf(C->getModule()), C->getFunction());
  LibFunc Which;
  return Library.getLibFunc(*C, Which) && Library.has(Which);
}
// Whether a call makes an object with nothing in it: of a function that the module does not define, known by its name or, as
// front ends leave that to a pass, by its attributes.
extern "C" bool lt_allocates(const CallBase *C) {
  TargetLibraryInfo Library(libraryOf(C->getModule()), C->getFunction());
  const Function *F = C->getCalledFunction();
  if (!F || !F->isDeclaration() || C->isNoBuiltin())
    return false;
  LibFunc Which;
  // Whatever the declaration says: emission, which may call it too, adds what is known of it.
  if (Library.getLibFunc(*F, Which) && Library.has(Which) &&
      (Which == LibFunc_malloc || Which == LibFunc_aligned_alloc || Which == LibFunc_memalign))
    return true;
  if (!C->hasRetAttr(Attribute::NoAlias) || !isAllocationFn(C, &Library) || getReallocatedOperand(C))
    return false;
  const Constant *Initial = getInitialValueOfAllocation(C, &Library, Type::getInt8Ty(C->getContext()));
  return Initial && isa<UndefValue>(Initial);
}
// A definition of at least so many bytes that the linker puts where the module says begins at a multiple of Bytes.
extern "C" void lt_raise_alignment(GlobalVariable *G, uint64_t Bytes, uint64_t Shortest) {
  if (G->canIncreaseAlignment() && G->getAlign().valueOrOne() < Align(Bytes) &&
      G->getParent()->getDataLayout().getTypeAllocSize(G->getValueType()).getKnownMinValue() >= Shortest)
    G->setAlignment(Align(Bytes));
}
// Whether nothing else leads to what a call returns.
extern "C" bool lt_returns_fresh(const CallBase *C) { return C->hasRetAttr(Attribute::NoAlias); }
// Bytes of the object that starts at V, where the program says so; UINT64_MAX where it does not.
extern "C" uint64_t lt_object_size(const Value *V, const Module *M) {
  uint64_t Size = 0;
  ObjectSizeOpts Options;
  Options.EvalMode = ObjectSizeOpts::Mode::Min;
  TargetLibraryInfo Library(libraryOf(M));
  return getObjectSize(V, Size, M->getDataLayout(), &Library, Options) && Size > 0 ? Size : UINT64_MAX;
}
// Whether a call frees V, and does nothing else with it.
extern "C" bool lt_frees(const CallBase *C, const Value *V) {
  TargetLibraryInfo Library(libraryOf(C->getModule()), C->getFunction());
  const Function *F = C->getCalledFunction();
  if (!F || !F->isDeclaration() || C->isNoBuiltin() || count(C->args(), V) != 1 || getReallocatedOperand(C))
    return false;
  LibFunc Which;
  if (Library.getLibFunc(*F, Which) && Library.has(Which) && Which == LibFunc_free)
    return true;
  return getFreedOperand(C, &Library) == V;
}
extern "C" bool lt_has_name(const Module *M, const char *Name, size_t Len) {
  return M->getNamedValue(StringRef(Name, Len)) != nullptr;
}
// Whether a call of a name from F is one of a library's function: the module has nothing else of that name, and where the target's
// library has it, F may call it by its meaning.
extern "C" bool lt_may_call(const Function *F, const char *Name, size_t Len) {
  const Module *M = F->getParent();
  StringRef Called(Name, Len);
  if (const GlobalValue *V = M->getNamedValue(Called); V && (!isa<Function>(V) || !V->isDeclaration()))
    return false;
  TargetLibraryInfo Library(libraryOf(M), F);
  LibFunc Which;
  return !Library.getLibFunc(Called, Which) || isLibFuncEmittable(M, &Library, Which);
}
// Declares a function of the target's library for calls from F; null where the target has none, F may not call it by its
// meaning, or the module defines it.
static Function *libraryFunction(Function *F, LibFunc Which, Type *Result, Type *Argument) {
  Module *M = F->getParent();
  TargetLibraryInfo Library(libraryOf(M), F);
  if (!isLibFuncEmittable(M, &Library, Which))
    return nullptr;
  FunctionType *T = FunctionType::get(Result, {Argument}, false);
  auto *Callee = dyn_cast<Function>(getOrInsertLibFunc(M, Library, Which, T).getCallee());
  if (!Callee || !Callee->isDeclaration() || Callee->getFunctionType() != T)
    return nullptr;
  inferNonMandatoryLibFuncAttrs(*Callee, Library);
  return Callee;
}
extern "C" Function *lt_malloc(Function *F) {
  LLVMContext &C = F->getContext();
  unsigned Bits = TargetLibraryInfo(libraryOf(F->getParent()), F).getSizeTSize(*F->getParent());
  return libraryFunction(F, LibFunc_malloc, PointerType::get(C, 0), Type::getIntNTy(C, Bits));
}
extern "C" Function *lt_free(Function *F) {
  LLVMContext &C = F->getContext();
  return libraryFunction(F, LibFunc_free, Type::getVoidTy(C), PointerType::get(C, 0));
}
// Whether F calls anything that may lead to a call of F again.
extern "C" bool lt_may_recurse(const Function *F) {
  return !F->doesNotRecurse() && any_of(instructions(F), [](const Instruction &I) {
    auto *C = dyn_cast<CallBase>(&I);
    return C && !isa<IntrinsicInst>(C) && !C->isInlineAsm() && !C->hasFnAttr(Attribute::NoCallback);
  });
}
// Takes back what attributes of F say, where calls of an allocator in it are more.
extern "C" void lt_may_allocate(Function *F) {
  MemoryEffects Said = F->getMemoryEffects();
  MemoryEffects Now = Said | MemoryEffects::inaccessibleMemOnly() | MemoryEffects::errnoMemOnly();
  if (Now != Said)
    F->setMemoryEffects(Now);
  F->removeFnAttr(Attribute::NoSync);
}
// The same, where it starts threads.
extern "C" void lt_may_start_threads(Function *F) {
  F->removeFnAttr(Attribute::Memory);
  F->removeFnAttr(Attribute::NoSync);
  F->removeFnAttr(Attribute::NoFree);
}
extern "C" void lt_set_nounwind(Function *F) { F->setDoesNotThrow(); }
// It does nothing but compute.
extern "C" void lt_set_pure(Function *F) {
  F->setDoesNotThrow();
  F->setDoesNotAccessMemory();
  F->setWillReturn();
}
// A new function `void (ptr)` for a part of F, compiled as F is: what says how code is made is taken over, what says what F does
// is not.
extern "C" Function *lt_outlined(Function *F, const char *Name, size_t Len) {
  LLVMContext &C = F->getContext();
  auto *T = FunctionType::get(Type::getVoidTy(C), {PointerType::getUnqual(C)}, false);
  auto *New = Function::Create(T, GlobalValue::InternalLinkage, F->getAddressSpace(), StringRef(Name, Len), F->getParent());
  constexpr Attribute::AttrKind Kept[] = {
      Attribute::MinSize,         Attribute::NoCfCheck,       Attribute::NoImplicitFloat,
      Attribute::NoRedZone,       Attribute::NullPointerIsValid, Attribute::OptimizeForSize,
      Attribute::SafeStack,       Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
      Attribute::SanitizeMemTag,  Attribute::SanitizeMemory,  Attribute::SanitizeThread,
      Attribute::SanitizeType,    Attribute::ShadowCallStack, Attribute::SpeculativeLoadHardening,
      Attribute::StackProtect,    Attribute::StackProtectReq, Attribute::StackProtectStrong,
      Attribute::UWTable};
  AttrBuilder B(C);
  for (Attribute A : F->getAttributes().getFnAttrs())
    if (A.isStringAttribute() || is_contained(Kept, A.getKindAsEnum()))
      B.addAttribute(A);
  B.addAttribute(Attribute::NoUnwind);
  New->addFnAttrs(B);
  if (DISubprogram *S = F->getSubprogram()) {
    auto Flags = DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit | DISubprogram::SPFlagOptimized;
    New->setSubprogram(DISubprogram::getDistinct(C, S->getFile(), New->getName(), StringRef(), S->getFile(), S->getLine(),
                                                 S->getType(), S->getScopeLine(), nullptr, 0, 0, DINode::FlagArtificial, Flags,
                                                 S->getUnit()));
  }
  return New;
}
// The place of L as one of a function into which a part of the function around L was moved; null where that has no debug
// information.
extern "C" DILocation *lt_location_within(DILocation *L, Function *F) {
  DISubprogram *S = F->getSubprogram();
  if (!S)
    return nullptr;
  DILocation *At = L->getInlinedAt();
  if (!At)
    return DILocation::get(L->getContext(), L->getLine(), L->getColumn(), S);
  return DILocation::get(L->getContext(), L->getLine(), L->getColumn(), L->getScope(), lt_location_within(At, F));
}
// Whether a call or function has an attribute of the function (`Param` < 0) or of a parameter, also by its callee.
extern "C" bool lt_has_attribute(const Value *V, const char *Name, size_t Len, int64_t Param) {
  Attribute::AttrKind K = Attribute::getAttrKindFromName(StringRef(Name, Len));
  if (K == Attribute::None)
    return false;
  if (auto *C = dyn_cast<CallBase>(V))
    return Param < 0 ? C->hasFnAttr(K) : Param < C->arg_size() && C->paramHasAttr(Param, K);
  if (auto *F = dyn_cast<Function>(V))
    return Param < 0 ? F->hasFnAttribute(K) : Param < (int64_t)F->arg_size() && F->hasParamAttribute(Param, K);
  return false;
}
// In bytes; 0 for none.
extern "C" bool lt_is_must_tail(const Value *V) {
  auto *C = dyn_cast<CallInst>(V);
  return C && C->isMustTailCall();
}

// ---- Metadata

// 0 other, 1 string, 2 node, 3 constant or value.
extern "C" int lt_md_kind(const Metadata *M) {
  return isa<MDString>(M) ? 1 : isa<MDNode>(M) ? 2 : isa<ValueAsMetadata>(M) ? 3 : 0;
}
extern "C" LtStr lt_md_string(const Metadata *M) {
  StringRef S = cast<MDString>(M)->getString();
  return {S.data(), S.size()};
}
extern "C" uint32_t lt_md_num_operands(const Metadata *M) { return cast<MDNode>(M)->getNumOperands(); }
// Null for a null operand.
extern "C" Metadata *lt_md_operand(const Metadata *M, uint32_t I) { return cast<MDNode>(M)->getOperand(I); }
extern "C" Value *lt_md_value(const Metadata *M) { return cast<ValueAsMetadata>(M)->getValue(); }
extern "C" bool lt_md_is_location(const Metadata *M) { return isa<DILocation>(M); }
extern "C" Metadata *lt_get_metadata(const Instruction *I, const char *Kind, size_t Len) {
  return I->getMetadata(StringRef(Kind, Len));
}
// M must be a node of the same context, or null, which removes; for "dbg" a location.
extern "C" void lt_set_metadata(Instruction *I, const char *Kind, size_t Len, Metadata *M) {
  I->setMetadata(StringRef(Kind, Len), cast_or_null<MDNode>(M));
}
extern "C" bool lt_md_node_in(const Metadata *M, const LLVMContext *C) {
  return isa<MDNode>(M) && &cast<MDNode>(M)->getContext() == C;
}
// A distinct node whose first operand is itself.
extern "C" Metadata *lt_md_self(LLVMContext *C, Metadata **Rest, size_t N) {
  SmallVector<Metadata *, 4> Ops(1, nullptr);
  Ops.append(Rest, Rest + N);
  MDNode *Node = MDNode::getDistinct(*C, Ops);
  Node->replaceOperandWith(0, Node);
  return Node;
}
extern "C" Metadata *lt_md_distinct(LLVMContext *C) { return MDNode::getDistinct(*C, {}); }
// Concatenates alias scope or noalias lists, or intersects nothing: the other where one is null.
extern "C" Metadata *lt_md_concat(Metadata *A, Metadata *B) {
  return MDNode::concatenate(cast_or_null<MDNode>(A), cast_or_null<MDNode>(B));
}

// ---- Changing

// Everything from I on moves to the new block, which is returned; I is no phi and no exception pad.
extern "C" BasicBlock *lt_split_block(Instruction *I, const char *Name, size_t Len) {
  return SplitBlock(I->getParent(), I, (DominatorTree *)nullptr, nullptr, nullptr, Twine(StringRef(Name, Len)));
}
extern "C" bool lt_is_pad_or_phi(const Instruction *I) { return isa<PHINode>(I) || I->isEHPad(); }
// Every edge from the terminator to Old; phis are left alone.
extern "C" void lt_replace_successor(Instruction *Term, BasicBlock *Old, BasicBlock *New) {
  Term->replaceSuccessorWith(Old, New);
}
extern "C" void lt_replace_phi_block(BasicBlock *BB, BasicBlock *Old, BasicBlock *New) {
  BB->replacePhiUsesWith(Old, New);
}
// Whether casting is well-formed; false where the opcode, in the C API's numbers, is no cast.
extern "C" bool lt_cast_valid(int Opcode, Type *From, Type *To) {
  unsigned Op = ltOpcode(Opcode);
  return Instruction::isCast(Op) && CastInst::castIsValid((Instruction::CastOps)Op, From, To);
}
// The type that indices reach inside of T, null where they do not fit.
extern "C" Type *lt_gep_type(Type *T, Value **Indices, size_t N) {
  return GetElementPtrInst::getIndexedType(T, ArrayRef<Value *>(Indices, N));
}
// Whether the overload types fit the intrinsic: it is then safe to declare. One type per overloaded place.
extern "C" Function *lt_intrinsic(Module *M, const char *Name, size_t Len, Type *Ret, Type **Params, size_t N) {
  Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(StringRef(Name, Len));
  if (Id == Intrinsic::not_intrinsic)
    return nullptr;
  SmallVector<Intrinsic::IITDescriptor, 8> Table;
  Intrinsic::getIntrinsicInfoTableEntries(Id, Table);
  ArrayRef<Intrinsic::IITDescriptor> Ref = Table;
  auto *FT = FunctionType::get(Ret, ArrayRef<Type *>(Params, N), false);
  SmallVector<Type *, 4> Overloads;
  if (Intrinsic::matchIntrinsicSignature(FT, Ref, Overloads) != Intrinsic::MatchIntrinsicTypes_Match ||
      Intrinsic::matchIntrinsicVarArg(false, Ref))
    return nullptr;
  return Intrinsic::getOrInsertDeclaration(M, Id, Overloads);
}
