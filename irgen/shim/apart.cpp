// A part of a function as a function of its own.
#include "shim.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
using namespace llvm;

// Moves what runs from Start until Exit into a function that is called there and never inlined. Variables on the stack of the function
// that only this part uses are its own. Null, and nothing changed but that such variables are in registers, where it cannot be moved.
extern "C" Function *lt_set_apart(BasicBlock *Start, BasicBlock *Exit, const char *Suffix, size_t Len) {
  Function &F = *Start->getParent();
  if (F.isPresplitCoroutine())
    return nullptr;
  SmallSetVector<BasicBlock *, 32> Part;
  Part.insert(Start);
  for (size_t At = 0; At < Part.size(); ++At)
    for (BasicBlock *Next : successors(Part[At]))
      if (Next != Exit)
        Part.insert(Next);
  auto Inside = [&](const User *U) { return Part.contains(cast<Instruction>(U)->getParent()); };
  SmallVector<AllocaInst *> Registers, Moved;
  for (Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I); A && !A->use_empty() && all_of(A->users(), Inside))
      (isAllocaPromotable(A) ? Registers : Moved).push_back(A);
  DominatorTree DT(F);
  if (!all_of(Part, [&](BasicBlock *B) { return DT.dominates(Start, B); }))
    return nullptr;
  PromoteMemToReg(Registers, DT);
  CodeExtractor Extractor(Part.getArrayRef(), &DT, /*AggregateArgs=*/false, /*BFI=*/nullptr, /*BPI=*/nullptr, /*AC=*/nullptr,
                          /*AllowVarArgs=*/false, /*AllowAlloca=*/true, /*AllocationBlock=*/nullptr, std::string(Suffix, Len));
  if (!Extractor.isEligible())
    return nullptr;
  CodeExtractorAnalysisCache Cache(F);
  Function *New = Extractor.extractCodeRegion(Cache);
  if (!New)
    return nullptr;
  New->removeFnAttr(Attribute::AlwaysInline);
  New->removeFnAttr(Attribute::InlineHint);
  New->addFnAttr(Attribute::NoInline);
  // What only it was handed lives in it.
  auto *Call = cast<CallInst>(New->user_back());
  for (AllocaInst *A : Moved) {
    auto At = find(Call->args(), A);
    if (At == Call->arg_end() || !A->hasOneUse())
      continue;
    Argument *Handed = New->getArg(At - Call->arg_begin());
    *At = PoisonValue::get(A->getType());
    A->moveBefore(New->getEntryBlock().begin());
    // Its place is one of the other function.
    A->setDebugLoc(DebugLoc());
    Handed->replaceAllUsesWith(A);
  }
  return New;
}
