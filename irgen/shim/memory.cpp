// memset and memcpy in loops, as the accesses and loops they are.
#include "shim.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Bounds, all of them counts: elements that are written out one by one, uses of a pointer and steps to its object.
constexpr unsigned MaxStraight = 16, MaxUses = 32, MaxSteps = 8;

// The type of all elements of a type; nothing where they differ, or are no numbers.
Type *element(Type *T) {
  if (auto *A = dyn_cast<ArrayType>(T))
    return element(A->getElementType());
  if (auto *S = dyn_cast<StructType>(T)) {
    Type *Only = nullptr;
    for (Type *Field : S->elements()) {
      Type *One = element(Field);
      if (!One || (Only && One != Only))
        return nullptr;
      Only = One;
    }
    return Only;
  }
  bool Integer = T->isIntegerTy(8) || T->isIntegerTy(16) || T->isIntegerTy(32) || T->isIntegerTy(64);
  return Integer || T->isFloatTy() || T->isDoubleTy() ? T : nullptr;
}

// What else is read and written through a pointer.
Type *accessed(const Value *P, unsigned Depth = 0) {
  unsigned Seen = 0;
  for (const User *U : P->users()) {
    if (++Seen > MaxUses)
      break;
    if (getLoadStorePointerOperand(U) == P)
      if (Type *T = element(getLoadStoreType(U)))
        return T;
    if (auto *G = dyn_cast<GEPOperator>(U); G && G->getPointerOperand() == P && Depth < 2)
      if (Type *T = accessed(G, Depth + 1))
        return T;
  }
  return nullptr;
}

// What a pointer leads to, as far as addresses, objects and other accesses tell.
Type *elementOf(const Value *P) {
  const Value *At = P;
  for (unsigned Step = 0; Step < MaxSteps; ++Step) {
    if (auto *G = dyn_cast<GEPOperator>(At)) {
      Type *T = element(G->getSourceElementType());
      if (T && !T->isIntegerTy(8))
        return T;
      At = G->getPointerOperand();
      continue;
    }
    if (auto *V = dyn_cast<GlobalVariable>(At))
      return element(V->getValueType());
    if (auto *A = dyn_cast<AllocaInst>(At))
      if (Type *T = element(A->getAllocatedType()); T && !T->isIntegerTy(8))
        return T;
    break;
  }
  return accessed(At);
}

// How many elements of some bytes there are; nothing where bytes are left over, or may be.
Value *count(IRBuilder<> &B, Value *Length, unsigned Size, const DataLayout &DL) {
  if (auto *C = dyn_cast<ConstantInt>(Length))
    return C->getValue().urem(Size) == 0 ? B.getInt64(C->getZExtValue() / Size) : nullptr;
  if (!Length->getType()->isIntegerTy(64))
    return nullptr;
  unsigned Shift = Log2_32(Size);
  Value *X;
  if (Shift && (match(Length, m_NUWShl(m_Value(X), m_SpecificInt(Shift)))))
    return X;
  if (computeKnownBits(Length, DL).countMinTrailingZeros() < Shift)
    return nullptr;
  return Shift ? B.CreateLShr(Length, Shift, "", /*isExact=*/true) : Length;
}

struct Expander {
  Function &F;
  const DataLayout &DL;

  // The element that a set writes everywhere.
  Value *filled(IRBuilder<> &B, Value *Byte, Type *T) {
    if (T->isIntegerTy(8))
      return Byte;
    auto *C = dyn_cast<ConstantInt>(Byte);
    if (!C)
      return nullptr;
    APInt All = APInt::getSplat(T->getPrimitiveSizeInBits(), C->getValue());
    Constant *Bits = ConstantInt::get(F.getContext(), All);
    return ConstantExpr::getBitCast(Bits, T);
  }

  bool expand(MemIntrinsic *Call) {
    auto *Set = dyn_cast<MemSetInst>(Call);
    auto *Copy = Set ? nullptr : cast<MemTransferInst>(Call);
    if (Call->isVolatile() || Call->getDestAddressSpace() != 0)
      return false;
    if (Copy && Copy->getSourceAddressSpace() != 0)
      return false;
    Type *T = elementOf(Call->getRawDest());
    if (Copy) {
      Type *From = elementOf(Copy->getRawSource());
      if (T && From && T != From)
        return false;
      T = T ? T : From;
    }
    if (!T)
      return false;
    unsigned Size = T->getPrimitiveSizeInBits() / 8;
    IRBuilder<> B(Call);
    Value *Element = Set ? filled(B, Set->getValue(), T) : nullptr;
    if (Set && !Element)
      return false;
    Value *Count = count(B, Call->getLength(), Size, DL);
    if (!Count)
      return false;
    Align To = std::min(Call->getDestAlign().valueOrOne(), Align(Size));
    Align From = Copy ? std::min(Copy->getSourceAlign().valueOrOne(), Align(Size)) : Align();
    auto At = [&](Value *Base, Value *Index) { return B.CreateInBoundsGEP(T, Base, Index); };
    if (auto *C = dyn_cast<ConstantInt>(Count); C && C->getZExtValue() <= MaxStraight) {
      SmallVector<Value *, MaxStraight> Elements;
      for (uint64_t I = 0; I < C->getZExtValue(); ++I)
        Elements.push_back(Set ? Element : B.CreateAlignedLoad(T, At(Copy->getRawSource(), B.getInt64(I)), From));
      for (auto [I, V] : enumerate(Elements))
        B.CreateAlignedStore(V, At(Call->getRawDest(), B.getInt64(I)), To);
      Call->eraseFromParent();
      return true;
    }
    BasicBlock *Before = Call->getParent();
    BasicBlock *After = SplitBlock(Before, Call);
    BasicBlock *Head = BasicBlock::Create(F.getContext(), "mem.head", &F, After);
    BasicBlock *Body = BasicBlock::Create(F.getContext(), "mem.body", &F, After);
    Before->getTerminator()->setSuccessor(0, Head);
    DebugLoc Where = Call->getDebugLoc();
    B.SetInsertPoint(Head);
    B.SetCurrentDebugLocation(Where);
    PHINode *I = B.CreatePHI(B.getInt64Ty(), 2);
    I->addIncoming(B.getInt64(0), Before);
    B.CreateCondBr(B.CreateICmpULT(I, Count), Body, After);
    B.SetInsertPoint(Body);
    B.SetCurrentDebugLocation(Where);
    if (Copy)
      Element = B.CreateAlignedLoad(T, At(Copy->getRawSource(), I), From);
    B.CreateAlignedStore(Element, At(Call->getRawDest(), I), To);
    I->addIncoming(B.CreateAdd(I, B.getInt64(1), "", true, true), Body);
    B.CreateBr(Head);
    Call->eraseFromParent();
    return true;
  }
};

} // namespace

// Whether anything changed. `Moves`: a test takes memmove for memcpy. No analysis of the function may be alive.
bool ltExpandMemory(Function &F, bool Moves) {
  SmallVector<MemIntrinsic *, 8> Calls;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (isa<MemSetInst, MemCpyInst>(I) || (Moves && isa<MemMoveInst>(I)))
        Calls.push_back(cast<MemIntrinsic>(&I));
  if (Calls.empty())
    return false;
  DominatorTree DT(F);
  LoopInfo LI(DT);
  erase_if(Calls, [&](MemIntrinsic *Call) { return !LI.getLoopFor(Call->getParent()); });
  Expander E{F, F.getDataLayout()};
  bool Changed = false;
  for (MemIntrinsic *Call : Calls)
    Changed |= E.expand(Call);
  return Changed;
}
