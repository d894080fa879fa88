// Dominators and loops of one function.
#include "shim.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

// Owned by the caller; the function must not lose instructions or blocks while it lives. TM may be null, else it
// outlives the result. Free with lt_analyses_free.
extern "C" LtAnalyses *lt_analyses_new(Function *F, TargetMachine *TM) {
  auto *A = new LtAnalyses(*F, TM);
  A->LI = &A->FAM.getResult<LoopAnalysis>(*F);
  A->DT = &A->FAM.getResult<DominatorTreeAnalysis>(*F);
  A->SE = &A->FAM.getResult<ScalarEvolutionAnalysis>(*F);
  A->TTI = &A->FAM.getResult<TargetIRAnalysis>(*F);
  for (Loop *L : A->LI->getLoopsInPreorder()) {
    A->Number[L] = A->Loops.size();
    A->Loops.push_back(L);
  }
  return A;
}

extern "C" void lt_analyses_free(LtAnalyses *A) { delete A; }

extern "C" uint32_t lt_num_loops(const LtAnalyses *A) { return A->Loops.size(); }

// Blocks are null where there is no unique one; the parent is UINT32_MAX for an outermost loop.
struct LtLoop {
  BasicBlock *header, *latch, *preheader, *guard;
  uint32_t depth, parent;
  uint8_t simplified, rotated, lcssa;
};

extern "C" void lt_loop(const LtAnalyses *A, uint32_t I, LtLoop *Out) {
  Loop *L = A->Loops[I];
  BranchInst *Guard = L->getLoopGuardBranch();
  *Out = {L->getHeader(),
          L->getLoopLatch(),
          L->getLoopPreheader(),
          Guard ? Guard->getParent() : nullptr,
          L->getLoopDepth(),
          A->number(L->getParentLoop()),
          L->isLoopSimplifyForm(),
          L->isRotatedForm(),
          L->isLCSSAForm(*A->DT)};
}

// Whether some cycle has several entries, so that it is no loop.
extern "C" bool lt_irreducible(const LtAnalyses *A, Function *F) {
  ReversePostOrderTraversal<Function *> Order(F);
  return containsIrreducibleCFG<BasicBlock *>(Order, *A->LI);
}

// As the text refers to it: `%body`, `%5`.
extern "C" char *lt_block_label(const BasicBlock *BB) {
  std::string Text;
  raw_string_ostream OS(Text);
  BB->printAsOperand(OS, false);
  return LLVMCreateMessage(Text.c_str());
}

// The unique exit blocks, or the exiting ones inside. Writes at most Cap blocks, returns how many there are.
extern "C" size_t lt_loop_blocks(const LtAnalyses *A, uint32_t I, bool Outside, BasicBlock **Out, size_t Cap) {
  Loop *L = A->Loops[I];
  SmallVector<BasicBlock *, 8> Blocks;
  if (Outside)
    L->getUniqueExitBlocks(Blocks);
  else
    L->getExitingBlocks(Blocks);
  for (size_t K = 0; K < Blocks.size() && K < Cap; ++K)
    Out[K] = Blocks[K];
  return Blocks.size();
}

extern "C" bool lt_dominates(const LtAnalyses *A, const BasicBlock *X, const BasicBlock *Y) {
  return A->DT->dominates(X, Y);
}

extern "C" const Value *lt_underlying_object(const Value *P) { return getUnderlyingObject(P, 0); }

// Whether the target has a processor of that name, which ends with a zero.
extern "C" bool lt_has_processor(const TargetMachine *TM, const char *Name) {
  return TM->getMCSubtargetInfo()->isCPUStringValid(Name);
}

// What code for the processor, which TM has, with these features uses and this machine lacks: names with commas between
// them, ours to free.
extern "C" char *lt_lacking(const TargetMachine *TM, const char *Processor, const char *Features) {
  std::unique_ptr<MCSubtargetInfo> Code(
      TM->getTarget().createMCSubtargetInfo(TM->getTargetTriple(), Processor, Features));
  // Others than these are about tuning.
  StringMap<bool> Here = sys::getHostCPUFeatures();
  std::string Lacking;
  for (const SubtargetFeatureKV &Feature : Code->getEnabledProcessorFeatures()) {
    auto Known = Here.find(Feature.Key);
    if (Known != Here.end() && !Known->second)
      Lacking += (Lacking.empty() ? "" : ", ") + std::string(Feature.Key);
  }
  return LLVMCreateMessage(Lacking.c_str());
}
