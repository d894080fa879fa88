// Small functions called in loops, put in their place: what they compute is then part of the loops.
#include "shim.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// Bounds, all of them counts: operations of a function with all that it calls, and of all that are put in one place;
// calls within calls. Outside of loops, only what hardly does more than read.
constexpr unsigned MaxSize = 200, MaxHinted = 800, MaxOutside = 8, MaxGrowth = 3000, MaxNesting = 8;

// A function of the mathematical library, which touches no memory but `errno`.
bool computes(const Function &F, const TargetLibraryInfo &TLI) {
  LibFunc Known;
  auto IsNumber = [](const Type *T) { return T->isFloatingPointTy(); };
  return TLI.getLibFunc(F, Known) && IsNumber(F.getReturnType()) && all_of(F.getFunctionType()->params(), IsNumber);
}

// Whether both clean up in one way when something throws.
bool meets(const Function &F, const Function &Caller) {
  return !F.hasPersonalityFn() || !Caller.hasPersonalityFn() || F.getPersonalityFn() == Caller.getPersonalityFn();
}

// What is gone in SSA form does not count.
bool counts(const Instruction &I) {
  return !isa<AllocaInst, LoadInst, StoreInst, PHINode, CastInst>(I) && !I.isDebugOrPseudoInst() &&
         !I.isLifetimeStartOrEnd();
}

// Nothing for what cannot be put in place of a call.
std::optional<unsigned> size(const Function *F, const Function *Caller, const TargetLibraryInfo &TLI, unsigned Nesting) {
  if (!F || F->isDeclaration() || F->isInterposable() || F->isVarArg() || F == Caller || Nesting > MaxNesting ||
      F->hasFnAttribute(Attribute::NoInline) || F->hasOptNone() || F->hasGC() || !meets(*F, *Caller) ||
      F->hasFnAttribute(Attribute::StrictFP) || F->callsFunctionThatReturnsTwice() ||
      !AttributeFuncs::areInlineCompatible(*Caller, *F) ||
      F->getFnAttribute("target-cpu") != Caller->getFnAttribute("target-cpu") ||
      F->getFnAttribute("target-features") != Caller->getFnAttribute("target-features"))
    return std::nullopt;
  unsigned Sum = 0;
  for (const Instruction &I : instructions(F)) {
    if (!counts(I))
      continue;
    if (isa<IndirectBrInst, CallBrInst>(I))
      return std::nullopt;
    if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(I)) {
      // Of what is called outside, only what no loop minds.
      const Function *Callee = Call->getCalledFunction();
      if (!Callee || Callee->isDeclaration()) {
        MemoryEffects Effects = Call->getMemoryEffects().getWithoutLoc(IRMemLocation::ErrnoMem);
        if (!Callee || (!Effects.doesNotAccessMemory() && !computes(*Callee, TLI)))
          return std::nullopt;
      } else {
        auto Inner = size(Callee, Caller, TLI, Nesting + 1);
        if (!Inner)
          return std::nullopt;
        Sum += *Inner;
      }
    }
    if (++Sum > MaxHinted)
      return std::nullopt;
  }
  return Sum;
}

// Operations that may come with a call in one place.
unsigned most(const Function &Callee, bool InLoop) {
  return !InLoop ? MaxOutside : Callee.hasFnAttribute(Attribute::InlineHint) ? MaxHinted : MaxSize;
}

} // namespace

bool ltMayInline(const Function &Callee, const Function &Caller, const TargetLibraryInfo &TLI) {
  auto Size = size(&Callee, &Caller, TLI, 0);
  return Size && *Size <= most(Callee, true);
}

// Whether anything was inlined. The function must be valid; no analysis of it may be alive.
extern "C" bool lt_inline(Function *F) {
  if (F->hasOptNone())
    return false;
  bool Changed = false;
  unsigned Growth = 0;
  TargetLibraryInfoImpl Library(F->getParent()->getTargetTriple());
  TargetLibraryInfo TLI(Library, F);
  for (unsigned Round = 0; Round <= MaxNesting; ++Round) {
    DominatorTree DT(*F);
    LoopInfo LI(DT);
    SmallVector<std::pair<CallBase *, bool>, 16> Calls;
    if (LI.empty())
      break;
    for (BasicBlock &BB : *F)
      for (Instruction &I : BB)
        if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst, CallBrInst>(I) && !Call->isMustTailCall() &&
                                                 !Call->isNoInline() && Call->getCalledFunction())
          Calls.push_back({Call, LI.getLoopFor(&BB) != nullptr});
    bool Any = false;
    for (auto [Call, InLoop] : Calls) {
      Function *Callee = Call->getCalledFunction();
      auto Size = size(Callee, F, TLI, 0);
      if (!Size || *Size > most(*Callee, InLoop) || !isInlineViable(*Callee).isSuccess() || Growth + *Size > MaxGrowth)
        continue;
      // What it calls itself counts when that is put in place.
      unsigned Own = count_if(instructions(Callee), counts);
      InlineFunctionInfo Info;
      if (!InlineFunction(*Call, Info, /*MergeAttributes=*/true).isSuccess())
        continue;
      Growth += Own + 1;
      Any = Changed = true;
    }
    if (!Any)
      break;
  }
  return Changed;
}
