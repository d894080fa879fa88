// Pointers behind loops that moved them: computed from where they began, not handed on from iteration to iteration.
#include "shim.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

// Whether a pointer that the loop moves is used behind it.
static bool handsOnPointer(const Loop &L) {
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  for (BasicBlock *Exit : Exits)
    for (PHINode &Phi : Exit->phis())
      if (Phi.getType()->isPointerTy() && any_of(Phi.incoming_values(), [&](Value *V) { return !L.isLoopInvariant(V); }))
        return true;
  return false;
}

static bool computeLastValues(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  SmallVector<Loop *, 8> Wanted;
  for (Loop *L : LI.getLoopsInPreorder())
    if (L->isLoopSimplifyForm() && handsOnPointer(*L) && L->isLCSSAForm(FAM.getResult<DominatorTreeAnalysis>(F)))
      Wanted.push_back(L);
  if (Wanted.empty())
    return false;
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &TLI = FAM.getResult<TargetLibraryAnalysis>(F);
  auto &TTI = FAM.getResult<TargetIRAnalysis>(F);
  bool Changed = false;
  SmallVector<WeakTrackingVH, 16> Dead;
  // Inner loops first: what they leave decides what those around do.
  for (Loop *L : reverse(Wanted)) {
    SCEVExpander Expander(SE, "last");
    Changed |= rewriteLoopExitValues(L, &LI, &TLI, &SE, &TTI, Expander, &DT, AlwaysRepl, Dead) > 0;
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dead, &TLI);
  return Changed;
}

// Whether anything changed. The function must be valid, with loops in simplified and closed form.
extern "C" bool lt_last_values(LtManagers *M, Function *F) { return M->changed(*F, computeLastValues(*F, M->FAM)); }
