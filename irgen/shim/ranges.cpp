// Loops over the elements between two pointers, `for (p = begin; p != end; ++p)`: how many elements lie between pointers that two
// loads, arguments or calls gave is found where both are known. Whoever takes the number for how often a loop runs has to check that
// there is one: pointers may be no whole number of elements apart.
#include "motion.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace lt;

namespace {

// Ranges of one function, at most.
constexpr unsigned MaxRanges = 1000;

// `between(first, last, size)`: how many elements of `size` bytes there are from one address to the other; -1 where it is not behind
// the first, or no multiple of the size. Touches no memory, and hands no pointer on: addresses only.
Function *between(Module &M, bool Unchecked) {
  if (Function *F = M.getFunction(Between))
    return F;
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C), *Ptr = PointerType::get(C, 0);
  Function *F = computing(M, Between, I64, {Ptr, Ptr, I64});
  for (unsigned P : {0, 1})
    F->addParamAttr(P, Attribute::getWithCaptureInfo(C, CaptureInfo(CaptureComponents::Address)));
  // No branches: addresses may be poison where the loop does not run.
  IRBuilder<> B(BasicBlock::Create(C, "start", F));
  Value *First = B.CreatePtrToAddr(F->getArg(0)), *Last = B.CreatePtrToAddr(F->getArg(1)), *Size = F->getArg(2);
  Value *Distance = B.CreateSub(Last, First), *Zero = B.getInt64(0);
  Value *Fits = B.CreateAnd(B.CreateICmpUGE(Last, First), B.CreateICmpSGE(Distance, Zero));
  if (!Unchecked)
    Fits = B.CreateAnd(Fits, B.CreateICmpEQ(B.CreateURem(Distance, Size), Zero));
  B.CreateRet(B.CreateSelect(Fits, B.CreateUDiv(Distance, Size), B.getInt64(-1)));
  return F;
}

struct Ranges {
  Function &F;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  bool Unchecked;

  Ranges(Function &F, FunctionAnalysisManager &FAM, bool Unchecked)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)),
        SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), Unchecked(Unchecked) {}

  // A base, and the constant part of a pointer's distance from it in bytes.
  struct Place {
    Value *Base;
    int64_t Offset;
    bool operator==(const Place &P) const { return Base == P.Base && Offset == P.Offset; }
  };
  struct Range {
    Place First, Last;
    int64_t Size;
  };
  SmallVector<Range, 8> Found;

  std::optional<Place> place(const SCEV *S) {
    while (auto *Step = dyn_cast<SCEVAddRecExpr>(S))
      S = Step->getStart();
    auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(S));
    if (!Base || isa<ConstantPointerNull, UndefValue>(Base->getValue()))
      return std::nullopt;
    int64_t Offset = 0;
    if (auto *Sum = dyn_cast<SCEVAddExpr>(S))
      if (auto *C = dyn_cast<SCEVConstant>(Sum->getOperand(0)))
        Offset = C->getAPInt().getSExtValue();
    return Place{Base->getValue(), Offset};
  }

  void measure(Place First, Place Last, int64_t Size) {
    // Whole elements behind a base are counted from the base.
    for (Place *P : {&First, &Last})
      P->Offset = P->Offset % Size;
    auto Known = [&](Range &R) { return R.First == First && R.Last == Last && R.Size == Size; };
    // Both dominate a loop.
    Instruction *At = behind(F, DT, ArrayRef<Value *>{First.Base, Last.Base});
    if (!At || Found.size() >= MaxRanges || any_of(Found, Known))
      return;
    IRBuilder<> B(At);
    auto Address = [&](Place P) { return P.Offset ? B.CreatePtrAdd(P.Base, B.getInt64(P.Offset)) : P.Base; };
    Value *From = Address(First), *To = Address(Last);
    B.CreateCall(between(*F.getParent(), Unchecked), {From, To, B.getInt64(Size)});
    Found.push_back({First, Last, Size});
  }

  bool run() {
    if (LI.empty() || F.hasOptNone() || F.getDataLayout().getPointerSizeInBits(0) != 64)
      return false;
    forEachTest(LI, [&](Loop *L, BranchInst *, ICmpInst *Test) {
      if (Test->getOperand(0)->getType() != PointerType::get(F.getContext(), 0))
        return;
      const SCEV *A = SE.getSCEV(Test->getOperand(0)), *B = SE.getSCEV(Test->getOperand(1));
      if (SE.isLoopInvariant(A, L))
        std::swap(A, B);
      auto *Walk = dyn_cast<SCEVAddRecExpr>(A);
      if (!Walk || Walk->getLoop() != L || !Walk->isAffine() || !SE.isLoopInvariant(B, L))
        return;
      auto *By = dyn_cast<SCEVConstant>(Walk->getOperand(1));
      auto From = place(Walk), To = place(B);
      if (!By || !From || !To || From->Base == To->Base)
        return;
      int64_t Step = By->getAPInt().getSExtValue();
      if (Step > 0)
        measure(*From, *To, Step);
      else if (Step < 0 && Step != INT64_MIN)
        measure(*To, *From, -Step);
    });
    differences();
    return !Found.empty();
  }

  // Sums in which one address is taken from another: `v.size()`.
  void differences() {
    struct Difference {
      Place First, Last;
      int64_t Size;
    };
    SmallVector<Difference, 8> All;
    auto Pointer = [](const SCEV *S) -> const SCEV * {
      auto *Cast = dyn_cast<SCEVPtrToIntExpr>(S);
      return Cast ? Cast->getOperand() : nullptr;
    };
    for (Instruction &I : instructions(F)) {
      if ((I.getOpcode() != Instruction::Sub && I.getOpcode() != Instruction::Add) || !I.getType()->isIntegerTy(64))
        continue;
      auto *Sum = dyn_cast<SCEVAddExpr>(SE.getSCEV(&I));
      const SCEV *First = nullptr, *Last = nullptr;
      for (const SCEV *S : Sum ? Sum->operands() : ArrayRef<const SCEV *>()) {
        auto *Mul = dyn_cast<SCEVMulExpr>(S);
        if (const SCEV *P = Pointer(S))
          Last = P;
        else if (Mul && Mul->getNumOperands() == 2 && Mul->getOperand(0)->isAllOnesValue())
          First = Pointer(Mul->getOperand(1));
      }
      auto From = First ? place(First) : std::nullopt, To = Last ? place(Last) : std::nullopt;
      if (!From || !To || From->Base == To->Base)
        continue;
      int64_t Size = 1;
      for (User *U : I.users()) {
        auto *By = dyn_cast<PossiblyExactOperator>(U);
        auto *C = By && By->isExact() && By->getOperand(0) == &I ? dyn_cast<ConstantInt>(By->getOperand(1)) : nullptr;
        if (!C || C->getSExtValue() <= 0)
          continue;
        bool Divides = By->getOpcode() == Instruction::SDiv || By->getOpcode() == Instruction::UDiv;
        Size = Divides ? C->getSExtValue() : C->getSExtValue() < 32 ? int64_t(1) << C->getSExtValue() : 1;
      }
      All.push_back({*From, *To, Size});
    }
    // Whole elements, where something counts them, and bytes where nothing does.
    stable_sort(All, [](const Difference &A, const Difference &B) { return A.Size > B.Size; });
    for (Difference &D : All) {
      auto Counted = [&](Range &R) { return R.First.Base == D.First.Base && R.Last.Base == D.Last.Base; };
      if (!any_of(Found, Counted))
        measure(D.First, D.Last, D.Size);
    }
  }
};

} // namespace

// Whether it is found of any loop how many elements it walks along. The function must be valid.
// `Unchecked`: a test takes any distance for a multiple of the size.
extern "C" bool lt_count_ranges(LtManagers *M, Function *F, bool Unchecked) {
  return M->changed(*F, Ranges(*F, M->FAM, Unchecked).run());
}
