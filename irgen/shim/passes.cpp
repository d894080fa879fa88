// Passes over some functions of a module, and which functions are worth them.
#include "shim.h"
#include "llvm-c/Error.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

using namespace llvm;

// Free with lt_managers_free, before what they were used on goes.
extern "C" LtManagers *lt_managers_new() { return new LtManagers; }

extern "C" void lt_managers_free(LtManagers *M) { delete M; }

// Nothing more is asked of the function.
extern "C" void lt_managers_forget(LtManagers *M, Function *F) { M->FAM.clear(*F, F->getName()); }

extern "C" LLVMErrorRef lt_run_on_functions(LtManagers *M, Function **Functions, size_t Count, const char *Pipeline) {
  FunctionPassManager Passes;
  if (Error E = M->PB.parsePassPipeline(Passes, Pipeline))
    return wrap(std::move(E));
  for (Function *F : ArrayRef(Functions, Count))
    Passes.run(*F, M->FAM);
  return LLVMErrorSuccess;
}

// Whether a value follows from what the loop reads at places that change with it: how often a loop runs that is left by
// such a value is known of none.
static bool followsFromData(const Value *V, const Loop &L, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || Depth == 0)
    return false;
  auto Changes = [&](const Value *Place) { return !L.isLoopInvariant(Place); };
  if (auto *Load = dyn_cast<LoadInst>(I))
    return Changes(Load->getPointerOperand());
  // A walk along a list.
  if (auto *Phi = dyn_cast<PHINode>(I))
    return any_of(Phi->incoming_values(), [&](const Value *In) {
      auto *Load = dyn_cast<LoadInst>(In);
      return Load && L.contains(Load) && Changes(Load->getPointerOperand());
    });
  if (isa<CmpInst, CastInst, BinaryOperator, SelectInst, FreezeInst>(I))
    return any_of(I->operands(), [&](const Value *Op) { return followsFromData(Op, L, Depth - 1); });
  return false;
}

// Blocks from which all ways come to an `unreachable`, as after a failed assertion.
static SmallPtrSet<const BasicBlock *, 8> ending(Function &F) {
  SmallPtrSet<const BasicBlock *, 8> Result;
  for (const BasicBlock *B : post_order(&F.getEntryBlock())) {
    const Instruction *End = B->getTerminator();
    bool Ends = End->getNumSuccessors() == 0 ? isa<UnreachableInst>(End)
                                             : all_of(successors(B), [&](const BasicBlock *S) { return Result.contains(S); });
    if (Ends)
      Result.insert(B);
  }
  return Result;
}

// Whether some loop may be described, as far as is plain before any pass. Such a loop holds others that may be, or is an
// innermost one without calls that may do anything, is left at one place, and not by what it reads. Loops around which nothing is
// read or written are described, and nobody gains by it.
extern "C" bool lt_may_lift(Function *F) {
  DominatorTree DT(*F);
  LoopInfo LI(DT);
  if (LI.empty())
    return false;
  TargetLibraryInfoImpl Impl(F->getParent()->getTargetTriple());
  TargetLibraryInfo Library(Impl, F);
  auto Opaque = [&](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isa<IntrinsicInst>(Call) || (!Call->mayWriteToMemory() && !Call->mayThrow()))
      return false;
    // Passes make something else of calls that they know.
    LibFunc Which;
    const Function *Callee = Call->getCalledFunction();
    // Of small ones with a body all is seen.
    return !Callee || (Callee->isDeclaration() && !Library.getLibFunc(*Call, Which));
  };
  // A loop that comes from a call may be described wherever the call stands.
  auto HasLoops = [](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->isDeclaration())
      return false;
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
    FindFunctionBackedges(*Callee, Back);
    return !Back.empty();
  };
  auto Ending = ending(*F);
  auto Hopeless = [&](const Loop &L) {
    unsigned Places = 0;
    if (any_of(L.blocks(), [&](const BasicBlock *B) { return any_of(*B, HasLoops); }))
      return false;
    for (const BasicBlock *B : L.blocks()) {
      if (any_of(*B, Opaque))
        return true;
      auto Leaves = [&](const BasicBlock *Next) { return !L.contains(Next) && !Ending.contains(Next); };
      if (none_of(successors(B), Leaves))
        continue;
      auto *Branch = dyn_cast<BranchInst>(B->getTerminator());
      if (++Places > 1 || (Branch && Branch->isConditional() && followsFromData(Branch->getCondition(), L, 8)))
        return true;
    }
    const Loop *Outer = L.getOutermostLoop();
    auto Touches = [](const Instruction &I) { return I.mayReadOrWriteMemory(); };
    return none_of(Outer->blocks(), [&](const BasicBlock *B) { return any_of(*B, Touches); });
  };
  return any_of(LI.getLoopsInPreorder(), [&](const Loop *L) { return L->isInnermost() && !Hopeless(*L); });
}
