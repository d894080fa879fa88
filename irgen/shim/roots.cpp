// Square roots of what is never negative, as of a sum of squares, set no `errno`: they become the operation. LLVM does so itself, later.
#include "shim.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

static bool settleRoots(Function &F, FunctionAnalysisManager &FAM, bool Unchecked) {
  auto &TLI = FAM.getResult<TargetLibraryAnalysis>(F);
  SmallVector<CallInst *, 4> Roots;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    LibFunc Which;
    if (Call && TLI.getLibFunc(*Call, Which) && (Which == LibFunc_sqrt || Which == LibFunc_sqrtf) && TLI.has(Which) &&
        !Call->isStrictFP() && !Call->isMustTailCall() && !Call->hasOperandBundles())
      Roots.push_back(Call);
  }
  bool Changed = false;
  for (CallInst *Call : Roots) {
    Value *Of = Call->getArgOperand(0);
    SimplifyQuery Query(F.getDataLayout(), &TLI, &FAM.getResult<DominatorTreeAnalysis>(F), &FAM.getResult<AssumptionAnalysis>(F), Call);
    if (!Unchecked && !cannotBeOrderedLessThanZero(Of, Query))
      continue;
    IRBuilder<> B(Call);
    Value *Root = B.CreateUnaryIntrinsic(Intrinsic::sqrt, Of, Call);
    Root->takeName(Call);
    Call->replaceAllUsesWith(Root);
    Call->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

// Whether there is one. `Unchecked`: of anything.
extern "C" bool lt_settle_roots(LtManagers *M, Function *F, bool Unchecked) {
  return M->changed(*F, settleRoots(*F, M->FAM, Unchecked));
}
