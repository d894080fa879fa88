// Small functions called in loops, put in their place: what they compute is then part of the loops.
#include "shim.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// Bounds, all of them counts: operations of a function with all that it calls, and of all that are put in one place;
// calls within calls. Outside of loops, only what hardly does more than read.
constexpr unsigned MaxSize = 200, MaxHinted = 800, MaxOutside = 8, MaxGrowth = 3000, MaxNesting = 32;

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

// What functions bring when they are put in a caller's place; each is looked at once.
class Sizes {
  struct Extent {
    unsigned Operations, Nesting;
  };
  const Function &Caller;
  const TargetLibraryInfo &TLI;
  DenseMap<const Function *, std::optional<Extent>> Known;

  // Whether a function of the library is one here and none there.
  bool isFreer(const Function &F) const {
    return !Caller.hasFnAttribute("no-builtins") && any_of(F.getAttributes().getFnAttrs(), [&](Attribute A) {
      return A.isStringAttribute() && A.getKindAsString().starts_with("no-builtin") && !Caller.hasFnAttribute(A.getKindAsString());
    });
  }

  bool isAllowed(const Function &F) const {
    return !F.isDeclaration() && !F.isInterposable() && !F.isVarArg() && &F != &Caller &&
           !F.hasFnAttribute(Attribute::NoInline) && !F.hasOptNone() && !F.hasGC() && meets(F, Caller) &&
           !F.hasFnAttribute(Attribute::StrictFP) && !F.callsFunctionThatReturnsTwice() &&
           // Coroutines are split behind us; what of them stands in another function never is.
           !F.isPresplitCoroutine() && AttributeFuncs::areInlineCompatible(Caller, F) && !isFreer(F) &&
           F.getFnAttribute("target-cpu") == Caller.getFnAttribute("target-cpu") &&
           F.getFnAttribute("target-features") == Caller.getFnAttribute("target-features");
  }

  std::optional<Extent> count(const Function &F, unsigned Depth) {
    Extent Sum{0, 0};
    // Where the program ends, no loop goes on.
    auto Ending = ltEnding(F);
    for (const Instruction &I : instructions(F)) {
      if (!counts(I) || Ending.contains(I.getParent()))
        continue;
      if (isa<IndirectBrInst, CallBrInst>(I))
        return std::nullopt;
      if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(I)) {
        // Of what is called outside, only what no loop minds.
        const Function *Callee = ltCallee(*Call);
        if (!Callee || Callee->isDeclaration()) {
          MemoryEffects Effects = Call->getMemoryEffects().getWithoutLoc(IRMemLocation::ErrnoMem);
          if (!Callee || (!Effects.doesNotAccessMemory() && !computes(*Callee, TLI)))
            return std::nullopt;
        } else {
          auto Inner = extent(*Callee, Depth + 1);
          if (!Inner)
            return std::nullopt;
          Sum.Operations += Inner->Operations;
          Sum.Nesting = std::max(Sum.Nesting, Inner->Nesting + 1);
        }
      }
      if (++Sum.Operations > MaxHinted || Sum.Nesting > MaxNesting)
        return std::nullopt;
    }
    return Sum;
  }

  std::optional<Extent> extent(const Function &F, unsigned Depth) {
    // A function on the way to itself is none that ends.
    auto [It, New] = Known.try_emplace(&F, std::nullopt);
    if (!New)
      return It->second;
    auto Result = isAllowed(F) && Depth <= 2 * MaxNesting ? count(F, Depth) : std::nullopt;
    Known[&F] = Result;
    return Result;
  }

public:
  Sizes(const Function &Caller, const TargetLibraryInfo &TLI) : Caller(Caller), TLI(TLI) {}

  // Nothing for what cannot be put in place of a call.
  std::optional<unsigned> of(const Function &F) {
    auto Found = extent(F, 0);
    return Found ? std::optional(Found->Operations) : std::nullopt;
  }
};

// Operations that may come with a call in one place.
unsigned most(const Function &Callee, bool InLoop) {
  return !InLoop ? MaxOutside : Callee.hasFnAttribute(Attribute::InlineHint) ? MaxHinted : MaxSize;
}

} // namespace

extern "C" const Function *lt_callee(const CallBase *Call) { return ltCallee(*Call); }

Function *ltCallee(const CallBase &Call) {
  const Value *V = Call.getCalledOperand();
  // In a valid module aliases do not stand for one another in a circle. What an alias stands for is what the module has, whichever
  // definition its name means in the end.
  while (auto *Alias = dyn_cast<GlobalAlias>(V)) {
    V = Alias->getAliasee()->stripPointerCasts();
    auto *Target = dyn_cast<GlobalValue>(V);
    if (Alias->isInterposable() || !Target || Target->isInterposable())
      return nullptr;
  }
  auto *F = dyn_cast<Function>(V);
  return F && F->getFunctionType() == Call.getFunctionType() ? const_cast<Function *>(F) : nullptr;
}

bool ltMayInline(const Function &Callee, const Function &Caller, const TargetLibraryInfo &TLI) {
  auto Size = Sizes(Caller, TLI).of(Callee);
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
  Sizes Sizes(*F, TLI);
  for (unsigned Round = 0; Round <= MaxNesting; ++Round) {
    // Of functions, and not of aliases, attributes are known.
    for (Instruction &I : instructions(*F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && isa<GlobalAlias>(Call->getCalledOperand()))
        if (Function *Callee = ltCallee(*Call)) {
          Call->setCalledFunction(Callee);
          Changed = true;
        }
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
      auto Size = Sizes.of(*Callee);
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
