// Loops that run once: `i < 1` from 0 is `i == 0` after LLVM, and behind that the next value a constant. It is made a step of
// the counter again, as in other loops.
#include "shim.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

// The counter by whose second value the loop is left, whatever else happens in it.
static PHINode *countsOnce(const Loop &L) {
  BasicBlock *Header = L.getHeader(), *Latch = L.getLoopLatch(), *Front = L.getLoopPreheader();
  auto *Branch = dyn_cast<BranchInst>(Header->getTerminator());
  if (!Latch || !Front || Latch == Header || !Branch || !Branch->isConditional())
    return nullptr;
  auto *Test = dyn_cast<ICmpInst>(Branch->getCondition());
  auto *Phi = Test ? dyn_cast<PHINode>(Test->getOperand(0)) : nullptr;
  auto *Bound = Test ? dyn_cast<ConstantInt>(Test->getOperand(1)) : nullptr;
  if (!Phi || !Bound || Phi->getParent() != Header)
    return nullptr;
  auto *First = dyn_cast<ConstantInt>(Phi->getIncomingValueForBlock(Front));
  auto *Second = dyn_cast<ConstantInt>(Phi->getIncomingValueForBlock(Latch));
  if (!First || !Second || First == Second)
    return nullptr;
  auto Stays = [&](const ConstantInt *Value) {
    bool Holds = ICmpInst::compare(Value->getValue(), Bound->getValue(), Test->getPredicate());
    return L.contains(Branch->getSuccessor(Holds ? 0 : 1));
  };
  return Stays(First) && !Stays(Second) ? Phi : nullptr;
}

static bool countOnce(Function &F, FunctionAnalysisManager &FAM) {
  bool Changed = false;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    PHINode *Phi = countsOnce(*L);
    if (!Phi)
      continue;
    BasicBlock *Latch = L->getLoopLatch();
    const APInt &First = cast<ConstantInt>(Phi->getIncomingValueForBlock(L->getLoopPreheader()))->getValue();
    const APInt &Second = cast<ConstantInt>(Phi->getIncomingValueForBlock(Latch))->getValue();
    bool Wraps;
    (void)Second.ssub_ov(First, Wraps);
    // Where the latch is reached the counter has its first value.
    Value *Next = IRBuilder<>(Latch->getTerminator())
                      .CreateAdd(Phi, ConstantInt::get(Phi->getType(), Second - First), "next", /*HasNUW=*/false, !Wraps);
    Phi->setIncomingValueForBlock(Latch, Next);
    Changed = true;
  }
  return Changed;
}

// Whether anything changed. The function must be valid, with loops in simplified form.
extern "C" bool lt_count_once(LtManagers *M, Function *F) { return M->changed(*F, countOnce(*F, M->FAM)); }
