// Loops whose counter goes by a step that only the program knows, `for (i = 0; i < n; i += step)`: how often they run is computed where
// start, bound and step are known. Whoever takes the number has to check that there is one: the step may be zero or go the other way,
// and the counter may pass by its bound or wrap.
#include "motion.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace lt;

namespace {

// Loops of one function, and operations of one expression, at most.
constexpr unsigned MaxStrides = 1000, MaxOfStep = 8;

// `count(start, bound, step, least, greatest, way, last)`: for how many values of `start + step * k`, k = 0, 1, .., one after the other a
// loop goes on that does so while they are less than the bound (`way` 1), greater (-1), or other than it (0); also at the bound
// itself where `last` is 1. -1 where it never ends, or one of the values, the one behind the last included, is not from `least` to `greatest`.
//
// No branches, and nothing that poison makes undefined: the loop may not run at all, and its step be poison then.
Function *strideCount(Module &M, bool Unchecked) {
  if (Function *F = M.getFunction(Strides))
    return F;
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C);
  Function *F = computing(M, Strides, I64, SmallVector<Type *, 7>(7, I64));
  IRBuilder<> B(BasicBlock::Create(C, "start", F));
  Value *Zero = B.getInt64(0), *One = B.getInt64(1);
  Value *Start = B.CreateFreeze(F->getArg(0)), *Bound = B.CreateFreeze(F->getArg(1)), *By = B.CreateFreeze(F->getArg(2));
  Value *Least = F->getArg(3), *Greatest = F->getArg(4), *Way = F->getArg(5), *Last = F->getArg(6);
  Value *Either = B.CreateICmpEQ(Way, Zero), *AtBound = B.CreateICmpEQ(Last, One);
  Value *Up = B.CreateSelect(Either, B.CreateICmpSGT(By, Zero), B.CreateICmpSGT(Way, Zero));
  Value *From = B.CreateSelect(Up, Start, Bound), *To = B.CreateSelect(Up, Bound, Start);
  Value *Step = B.CreateSelect(Up, By, B.CreateNeg(By));
  Value *Ahead = B.CreateSelect(AtBound, B.CreateICmpSLE(From, To), B.CreateICmpSLT(From, To));
  Value *Runs = B.CreateSelect(Either, B.CreateICmpNE(From, To), Ahead);
  // Without signs from here on: distances are less than 2^64, and multiples of the step no greater than they.
  Value *Distance = B.CreateSub(To, From), *Positive = B.CreateICmpSGT(Step, Zero);
  Value *Divisor = B.CreateSelect(Positive, Step, One);
  Value *Room = B.CreateSub(Distance, B.CreateSelect(AtBound, Zero, One));
  Value *Times = B.CreateUDiv(Room, Divisor), *Gone = B.CreateMul(Times, Divisor);
  Value *Edge = B.CreateSelect(Up, B.CreateSub(Greatest, Start), B.CreateSub(Start, Least));
  Value *Fits = B.CreateICmpULE(Divisor, B.CreateSub(Edge, Gone));
  Value *Meets = B.CreateOr(B.CreateNot(Either), B.CreateICmpEQ(B.CreateAdd(Gone, Divisor), Distance));
  Value *Ends = B.CreateAnd(B.CreateAnd(Ahead, Positive), Unchecked ? B.getTrue() : B.CreateAnd(Fits, Meets));
  Value *Inside = B.CreateAnd(B.CreateICmpSGE(Start, Least), B.CreateICmpSGE(Bound, Least));
  Value *Number = B.CreateSelect(Runs, B.CreateSelect(Ends, B.CreateAdd(Times, One), B.getInt64(-1)), Zero);
  B.CreateRet(B.CreateSelect(Inside, Number, B.getInt64(-1)));
  return F;
}

struct Counts {
  Function &F;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  const DataLayout &DL;
  bool Unchecked, Changed = false;

  Counts(Function &F, FunctionAnalysisManager &FAM, bool Unchecked)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)),
        SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), DL(F.getDataLayout()), Unchecked(Unchecked) {}

  // What is counted already.
  struct Stride {
    const SCEV *Counter, *Bound;
    CmpInst::Predicate While;
    Instruction *Call;
  };
  SmallVector<Stride, 8> Found;

  static bool isCheap(const Instruction *I) {
    switch (I->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::Shl:
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::GetElementPtr: return I->getType()->isPointerTy() || I->getType()->isIntegerTy();
    default: return false;
    }
  }

  bool isCounter(Type *T) const {
    if (auto *Integer = dyn_cast<IntegerType>(T))
      return Integer->getBitWidth() > 1 && Integer->getBitWidth() <= 64;
    return T == PointerType::get(F.getContext(), 0) && DL.getPointerSizeInBits(0) == 64;
  }

  // What a value is computed from, by cheap operations; false where some of it is of the loop.
  bool leaves(Value *V, const Loop *L, const Known &Phis, SmallVectorImpl<Instruction *> &All, unsigned &Operations) {
    if (auto It = Phis.find(V); It != Phis.end())
      return leaves(It->second, L, Known(), All, Operations);
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return true;
    if (isCheap(I) && Operations < MaxOfStep) {
      ++Operations;
      return all_of(I->operands(), [&](Value *O) { return leaves(O, L, Phis, All, Operations); });
    }
    All.push_back(I);
    return !L->contains(I) && DT.dominates(I, L->getLoopPreheader()->getTerminator());
  }

  Value *build(Value *V, const Known &Phis, Instruction *At) {
    if (auto It = Phis.find(V); It != Phis.end())
      return build(It->second, Known(), At);
    auto *I = dyn_cast<Instruction>(V);
    if (!I || DT.dominates(I, At))
      return V;
    SmallVector<Value *, 2> Operands;
    for (Value *O : I->operands())
      Operands.push_back(build(O, Phis, At));
    return simplified(copyWith(I, Operands, At->getIterator()), DL);
  }

  Value *wide(Value *V, Instruction *At) {
    Type *I64 = Type::getInt64Ty(F.getContext());
    if (auto *C = dyn_cast<ConstantInt>(V))
      return ConstantInt::get(I64, C->getValue().sext(64));
    return V->getType() == I64 ? V : CastInst::Create(Instruction::SExt, V, I64, "", At->getIterator());
  }

  // The step of a counter that goes by one that is no constant.
  bool counts(const SCEV *S, const Loop *L) {
    while (isa<SCEVSignExtendExpr, SCEVZeroExtendExpr, SCEVTruncateExpr>(S))
      S = cast<SCEVCastExpr>(S)->getOperand();
    auto *Walk = dyn_cast<SCEVAddRecExpr>(S);
    return Walk && Walk->getLoop() == L && Walk->isAffine() && !isa<SCEVConstant>(Walk->getOperand(1)) &&
           SE.isLoopInvariant(Walk->getOperand(1), L);
  }

  void measure(Loop *L, BranchInst *Branch, ICmpInst *Test) {
    Value *A = Test->getOperand(0), *Bound = Test->getOperand(1);
    auto While = L->contains(Branch->getSuccessor(0)) ? Test->getPredicate() : Test->getInversePredicate();
    if (!counts(SE.getSCEV(A), L)) {
      std::swap(A, Bound);
      While = CmpInst::getSwappedPredicate(While);
    }
    const SCEV *Counter = SE.getSCEV(A), *To = SE.getSCEV(Bound);
    BasicBlock *Front = L->getLoopPreheader(), *Latch = L->getLoopLatch();
    if (!Front || !Latch || While == CmpInst::ICMP_EQ || !counts(Counter, L) || !SE.isLoopInvariant(To, L))
      return;
    auto Same = [&](const Stride &S) {
      auto *Mine = dyn_cast<SCEVAddRecExpr>(Counter), *Its = dyn_cast<SCEVAddRecExpr>(S.Counter);
      return Mine && Its && Mine->operands() == Its->operands() && S.Bound == To && S.While == While &&
             DT.dominates(S.Call, Front->getTerminator());
    };
    if (any_of(Found, Same))
      return;
    PHINode *Counts = nullptr;
    for (PHINode &Phi : L->getHeader()->phis())
      if (leadsTo(A, &Phi))
        Counts = &Phi;
    if (!Counts)
      return;
    // In the first iteration, and in the second one.
    Known First, Second;
    First[Counts] = Counts->getIncomingValueForBlock(Front);
    SmallVector<Instruction *, 8> Leaves;
    auto Can = [&](Value *V, const Known &Phis) {
      unsigned Operations = 0;
      return leaves(V, L, Phis, Leaves, Operations);
    };
    if (!Can(A, First) || !Can(Counts->getIncomingValueForBlock(Latch), First) || !Can(Bound, Known()))
      return;
    Instruction *At = behind(F, DT, Leaves);
    if (!At || !(At == Front->getTerminator() || DT.dominates(At, Front->getTerminator())))
      return;
    Changed = true;
    Second[Counts] = build(Counts->getIncomingValueForBlock(Latch), First, At);
    Value *Start = build(A, First, At), *Next = build(A, Second, At), *End = build(Bound, Known(), At);
    auto Minus = [&](Value *X, Value *Y) { return simplified(BinaryOperator::CreateSub(X, Y, "", At->getIterator()), DL); };
    bool Walks = A->getType()->isPointerTy();
    if (Walks) {
      // Distances, in bytes.
      IRBuilder<> B(At);
      Value *Origin = B.CreatePtrToAddr(Start);
      Next = Minus(B.CreatePtrToAddr(Next), Origin);
      End = Minus(B.CreatePtrToAddr(End), Origin);
      Start = B.getInt64(0);
    }
    Value *Step = Walks ? Next : Minus(Next, Start);
    if (isa<Constant>(Step))
      return;
    unsigned Bits = Walks ? 64 : A->getType()->getIntegerBitWidth();
    bool Unsigned = CmpInst::isUnsigned(While) && !Walks;
    bool IsUp = While == CmpInst::ICMP_SLT || While == CmpInst::ICMP_SLE || While == CmpInst::ICMP_ULT || While == CmpInst::ICMP_ULE;
    IRBuilder<> B(At);
    auto Number = [&](const APInt &N) { return B.getInt64(N.getSExtValue()); };
    Value *Least = Unsigned ? B.getInt64(0) : Number(APInt::getSignedMinValue(Bits)), *Greatest = Number(APInt::getSignedMaxValue(Bits));
    Value *Way = B.getInt64(While == CmpInst::ICMP_NE ? 0 : IsUp ? 1 : -1);
    Value *Last = B.getInt64(CmpInst::isNonStrictPredicate(While));
    Function *Callee = strideCount(*F.getParent(), Unchecked);
    Value *Args[] = {wide(Start, At), wide(End, At), wide(Step, At), Least, Greatest, Way, Last};
    Found.push_back({Counter, To, While, B.CreateCall(Callee, Args, "count")});
  }

  // Whether a value is computed from a phi of the same loop, by cheap operations.
  static bool leadsTo(Value *V, PHINode *Phi, unsigned Depth = MaxOfStep) {
    auto *I = dyn_cast<Instruction>(V);
    return V == Phi || (I && Depth && isCheap(I) && any_of(I->operands(), [&](Value *O) { return leadsTo(O, Phi, Depth - 1); }));
  }

  bool run() {
    if (LI.empty() || F.hasOptNone())
      return false;
    forEachTest(LI, [&](Loop *L, BranchInst *Branch, ICmpInst *Test) {
      if (isCounter(Test->getOperand(0)->getType()) && Found.size() < MaxStrides)
        measure(L, Branch, Test);
    });
    return Changed;
  }
};

} // namespace

// Whether anything changed. The function must be valid, with loops in simplified and closed form.
// `Unchecked`: no counter passes by its bound, or wraps.
extern "C" bool lt_count_strides(LtManagers *M, Function *F, bool Unchecked) {
  return M->changed(*F, Counts(*F, M->FAM, Unchecked).run());
}
