// What moving code in front of loops asks: what may write where, what decides addresses and iterations, under which tests
// an instruction is executed.
#pragma once

#include "shim.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace lt {
using namespace llvm;

// Metadata of a load of a row that is known from what was found in front; and the functions that count elements and iterations.
constexpr const char *Claimed = "looptree.row", *Between = "looptree.range.between", *Strides = "looptree.strides.count";

// A new function of that name that only computes from its arguments, whatever they are.
inline Function *computing(Module &M, const char *Name, Type *Result, ArrayRef<Type *> Args) {
  Function *F = Function::Create(FunctionType::get(Result, Args, false), GlobalValue::PrivateLinkage, Name, M);
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setNoSync();
  return F;
}

// What decides whether a loop goes on: it does where the condition is `Stays`.
struct Test {
  Loop *L;
  Value *Condition;
  bool Stays;
};

// Values of phis in one iteration of their loop.
using Known = SmallDenseMap<Value *, Value *, 4>;

// The comparisons that loops are left by, outer loops first.
template <typename Each> void forEachTest(const LoopInfo &LI, Each &&Found) {
  for (Loop *L : LI.getLoopsInPreorder()) {
    SmallVector<BasicBlock *, 4> Exiting;
    L->getExitingBlocks(Exiting);
    for (BasicBlock *E : Exiting) {
      auto *Branch = dyn_cast<BranchInst>(E->getTerminator());
      if (auto *Test = Branch && Branch->isConditional() ? dyn_cast<ICmpInst>(Branch->getCondition()) : nullptr)
        Found(L, Branch, Test);
    }
  }
}

// The first place behind values of which each dominates the next or the other way around; null where they do not.
template <typename Values> Instruction *behind(Function &F, const DominatorTree &DT, const Values &All) {
  Instruction *At = &*F.getEntryBlock().getFirstInsertionPt();
  for (Value *V : All) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      continue;
    auto Next = I->getInsertionPointAfterDef();
    if (!Next)
      return nullptr;
    if (DT.dominates(At, &**Next))
      At = &**Next;
    else if (&**Next != At && !DT.dominates(&**Next, At))
      return nullptr;
  }
  return At;
}

// What a load reads in any iteration: scopes that are declared in a loop, as for `restrict` parameters of what was put there, are others
// in each.
inline MemoryLocation place(const LoadInst *Load) {
  MemoryLocation Location = MemoryLocation::get(Load);
  Location.AATags.Scope = Location.AATags.NoAlias = nullptr;
  return Location;
}

// A copy of an instruction with other operands. What was promised of it held where the original stood.
inline Instruction *copyWith(Instruction *I, ArrayRef<Value *> Operands, BasicBlock::iterator At) {
  Instruction *C = I->clone();
  for (auto [N, O] : enumerate(Operands))
    C->setOperand(N, O);
  C->setName(I->getName());
  C->insertBefore(At);
  C->dropUBImplyingAttrsAndMetadata();
  return C;
}

// What a new instruction that nobody uses yet computes.
inline Value *simplified(Instruction *C, const DataLayout &DL) {
  Value *Simple = simplifyInstruction(C, SimplifyQuery(DL, C));
  if (!Simple)
    return C;
  C->eraseFromParent();
  return Simple;
}

struct Motion {
  // Bounds on the work, all of them counts: questions about aliasing, operations of one expression.
  static constexpr unsigned MaxQuestions = 100000, MaxDepth = 12;

  Function &F;
  DominatorTree &DT;
  PostDominatorTree &PDT;
  LoopInfo &LI;
  AAResults &AA;
  AssumptionCache &AC;
  const TargetLibraryInfo &TLI;
  const DataLayout &DL;
  DomTreeUpdater Updater;
  unsigned Questions = 0;
  bool Changed = false;
  // Of loops; and those that are in no loop inside.
  DenseMap<const Loop *, SmallVector<Instruction *, 8>> Writes, OwnWrites;
  // Loops in which something may end the execution.
  DenseMap<const Loop *, bool> Ends;
  // Loops that might run for ever, by the language, but for the number of their iterations.
  SmallPtrSet<Loop *, 8> Counted;
  DenseMap<const BasicBlock *, SmallVector<Instruction *, 4>> BlockWrites;

  Motion(Function &F, FunctionAnalysisManager &FAM)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), PDT(FAM.getResult<PostDominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), AA(FAM.getResult<AAManager>(F)), AC(FAM.getResult<AssumptionAnalysis>(F)),
        TLI(FAM.getResult<TargetLibraryAnalysis>(F)), DL(F.getDataLayout()),
        Updater(DT, DomTreeUpdater::UpdateStrategy::Eager) {
    for (Loop *L : LI.getLoopsInPreorder())
      if (!isMustProgress(L) &&
          !isa<SCEVCouldNotCompute>(FAM.getResult<ScalarEvolutionAnalysis>(F).getBackedgeTakenCount(L)))
        Counted.insert(L);
  }

  static bool isScalar(Type *T) { return T->isPointerTy() || (T->isIntegerTy() && T->getIntegerBitWidth() <= 64); }

  void survey() {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB) {
        // A loop may wait for another thread for ever.
        bool MayEnd = !isGuaranteedToTransferExecutionToSuccessor(&I) || I.isAtomic();
        bool Writing = I.mayWriteToMemory() && !I.isDebugOrPseudoInst();
        if (Writing) {
          BlockWrites[&BB].push_back(&I);
          OwnWrites[LI.getLoopFor(&BB)].push_back(&I);
        }
        for (Loop *L = LI.getLoopFor(&BB); L; L = L->getParentLoop()) {
          if (Writing)
            Writes[L].push_back(&I);
          Ends[L] |= MayEnd;
        }
      }
  }

  // Whether a load may be executed where the program does not execute it; sanitizers would take it for the program's.
  bool cannotFail(const LoadInst *Load, const Value *Place, const Instruction *There) const {
    return !mustSuppressSpeculation(*Load) &&
           isDereferenceableAndAlignedPointer(Place, Load->getType(), Load->getAlign(), DL, There, &AC, &DT, &TLI);
  }

  bool writes(const SmallVectorImpl<Instruction *> &List, const MemoryLocation &Location) {
    for (Instruction *W : List) {
      if (++Questions > MaxQuestions || isModSet(AA.getModRefInfo(W, Location)))
        return true;
    }
    return false;
  }

  // ---- Expressions in front of a loop; `First` has the values of header phis in the first iteration.

  // Loads that are read in front already, with what was read there; and those of them that were asked for.
  const Known *Fronts = nullptr;
  SmallPtrSet<Value *, 4> *Asked = nullptr;
  // What was computed in front already, to be used again.
  SmallVectorImpl<Instruction *> *Equal = nullptr;

  Value *inFront(Value *V) {
    Value *Found = Fronts ? Fronts->lookup(V) : nullptr;
    if (Found && Asked)
      Asked->insert(V);
    return Found;
  }

  bool can(Value *V, Loop *L, const Known &First, unsigned Depth = 0) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L->contains(I) || inFront(V))
      return true;
    if (auto It = First.find(V); It != First.end())
      return can(It->second, L, Known(), Depth + 1);
    if (Depth > MaxDepth || isa<PHINode>(I) || I->mayReadOrWriteMemory() || isa<AllocaInst>(I) ||
        I->getType()->isTokenTy() || !isSafeToSpeculativelyExecute(I))
      return false;
    return all_of(I->operands(), [&](Value *O) { return can(O, L, First, Depth + 1); });
  }

  Value *build(Value *V, Loop *L, const Known &First, BasicBlock::iterator At) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L->contains(I))
      return V;
    if (Value *Front = inFront(V))
      return Front;
    if (auto It = First.find(V); It != First.end())
      return build(It->second, L, Known(), At);
    return copy(I, L, First, At);
  }

  Value *copy(Instruction *I, Loop *L, const Known &First, BasicBlock::iterator At) {
    SmallVector<Value *, 4> Operands;
    for (Value *O : I->operands())
      Operands.push_back(build(O, L, First, At));
    return settled(copyWith(I, Operands, At));
  }

  // The same; it stays only where nothing else computes it.
  Value *settled(Instruction *C) {
    if (Value *Simple = simplified(C, DL); Simple != C || !Equal)
      return Simple;
    for (Instruction *Before : *Equal)
      if (Before->isIdenticalTo(C)) {
        C->eraseFromParent();
        return Before;
      }
    Equal->push_back(C);
    return C;
  }

  // That all tests hold, in front of a loop; null where there are none.
  Value *conjunction(ArrayRef<Test> Tests, Loop *L, BasicBlock::iterator At, const DebugLoc &Where) {
    auto Made = [&](Instruction *I) {
      I->setDebugLoc(Where);
      I->insertBefore(At);
      return settled(I);
    };
    Value *All = nullptr;
    for (const Test &T : Tests) {
      Value *C = build(T.Condition, L, first(T.L), At);
      if (!T.Stays)
        C = Made(BinaryOperator::CreateNot(C));
      // What later tests compute may be poison where the first ones fail.
      All = All ? Made(SelectInst::Create(All, C, ConstantInt::getFalse(C->getContext()))) : C;
    }
    return All;
  }

  // ---- Where a load is executed

  bool endsBefore(Instruction *I) {
    for (Instruction &Before : *I->getParent()) {
      if (&Before == I)
        return false;
      if (!isGuaranteedToTransferExecutionToSuccessor(&Before))
        return true;
    }
    return true;
  }

  // The tests under which `I` is executed in the first iterations of its loops up to `Outer`, outermost first; nothing
  // where it may be left out for another reason.
  std::optional<SmallVector<Test, 4>> tests(Instruction *I, Loop *Outer) {
    SmallVector<Test, 4> All;
    Instruction *X = I;
    for (Loop *L = LI.getLoopFor(I->getParent());; L = L->getParentLoop()) {
      BasicBlock *Header = L->getHeader(), *Latch = L->getLoopLatch(), *BB = X->getParent();
      if (!Latch)
        return std::nullopt;
      if (BB == Header) {
        if (endsBefore(X))
          return std::nullopt;
      } else {
        // Loops in between come to an end.
        auto Finite = [&](Loop *Inner) { return Inner->contains(I) || isMustProgress(Inner) || Counted.contains(Inner); };
        if (Ends.lookup(L) || !DT.dominates(BB, Latch) || !all_of(L->getLoopsInPreorder(), Finite))
          return std::nullopt;
        SmallVector<BasicBlock *, 4> Exiting;
        L->getExitingBlocks(Exiting);
        for (BasicBlock *E : Exiting) {
          if (E != Header) {
            if (!DT.dominates(BB, E))
              return std::nullopt;
            continue;
          }
          auto *Br = dyn_cast<BranchInst>(Header->getTerminator());
          if (!Br || !Br->isConditional())
            return std::nullopt;
          All.push_back({L, Br->getCondition(), L->contains(Br->getSuccessor(0))});
        }
      }
      if (L == Outer)
        break;
      BasicBlock *Preheader = L->getLoopPreheader();
      if (!Preheader)
        return std::nullopt;
      X = Preheader->getTerminator();
    }
    std::reverse(All.begin(), All.end());
    return All;
  }

  Known first(Loop *L) {
    Known Starts;
    if (BasicBlock *Preheader = L->getLoopPreheader())
      for (PHINode &Phi : L->getHeader()->phis())
        Starts[&Phi] = Phi.getIncomingValueForBlock(Preheader);
    return Starts;
  }

  // What decides addresses and which loops run, and of the rest what decides a branch.
  void drivers(SmallPtrSetImpl<Instruction *> &Strong, SmallPtrSetImpl<Instruction *> &Weak) {
    auto Follow = [&](SmallVectorImpl<Value *> &Work, SmallPtrSetImpl<Instruction *> &Found) {
      while (!Work.empty()) {
        auto *I = dyn_cast<Instruction>(Work.pop_back_val());
        if (!I || !LI.getLoopFor(I->getParent()) || !(isScalar(I->getType())) || !Found.insert(I).second)
          continue;
        if (!isa<LoadInst>(I) && !isa<CallBase>(I))
          append_range(Work, I->operands());
        if (isa<IntrinsicInst>(I))
          append_range(Work, cast<IntrinsicInst>(I)->args());
      }
    };
    SmallVector<Value *, 32> Work, Rest;
    for (BasicBlock &BB : F)
      for (Instruction &I : BB) {
        if (Value *P = getLoadStorePointerOperand(&I))
          Work.push_back(P);
        auto *Br = dyn_cast<BranchInst>(&I);
        Loop *Around = LI.getLoopFor(&BB);
        if (!Br || !Br->isConditional() || !Around)
          continue;
        auto Guards = [&](Loop *L) {
          BasicBlock *H = L->getHeader();
          return DT.dominates(&BB, H) && !L->contains(&BB) && !PDT.dominates(H, &BB);
        };
        bool Strong = Around->isLoopExiting(&BB) || any_of(Around->getSubLoops(), Guards);
        (Strong ? Work : Rest).push_back(Br->getCondition());
      }
    Follow(Work, Strong);
    Follow(Rest, Weak);
  }

  // Whether it is worth moving: not what closed forms see through anyway.
  static bool isOpaque(Instruction *I) {
    switch (I->getOpcode()) {
    case Instruction::Load: return !cast<LoadInst>(I)->isVolatile() && !cast<LoadInst>(I)->isAtomic();
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
    case Instruction::LShr:
    case Instruction::AShr:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor: return I->getType()->getScalarSizeInBits() > 1;
    case Instruction::Select: return I->getType()->isPointerTy() || I->getType()->getScalarSizeInBits() > 1;
    case Instruction::Call: {
      auto *Call = dyn_cast<IntrinsicInst>(I);
      return Call && Call->getType()->isIntegerTy() && Call->getType()->getIntegerBitWidth() > 1;
    }
    default: return false;
    }
  }
};

} // namespace lt
