// Stores of one element on all ways to a block, `if (c) A[i] = x; else A[i] = y;` where data decides, become one behind them, as LLVM makes of
// two, and what is read on one way only to where values meet, from between elements that are accessed in any case, is read in front: what is
// left chooses among values.
#include "shim.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// Metadata of loads that the program executes under a condition.
constexpr const char *Guarded = "looptree.guarded";

struct Joins {
  // Bounds, all of them counts: blocks between a test and where its ways meet, operations of a condition or an address.
  static constexpr unsigned MaxBlocks = 16, MaxOperations = 32;
  // Rules that a test may leave out.
  static constexpr unsigned AnyOrder = 1, AnyPlace = 2;

  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  unsigned LeftOut;
  Function &F;

  Joins(Function &F, FunctionAnalysisManager &FAM, unsigned LeftOut)
      : DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)),
        SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), LeftOut(LeftOut), F(F) {}

  static bool isPure(const Instruction *I) {
    return isa<GetElementPtrInst, CastInst, ICmpInst>(I) || (isa<BinaryOperator>(I) && !I->isIntDivRem());
  }

  // Whether what a value is depends on what memory holds, and not on counters alone: that decides for whole ranges of iterations.
  bool isData(Value *V, const Loop *L, unsigned &Fuel) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L->contains(I) || !Fuel)
      return false;
    --Fuel;
    if (auto *Phi = dyn_cast<PHINode>(I))
      return !LI.isLoopHeader(Phi->getParent());
    return I->mayReadFromMemory() || any_of(I->operands(), [&](Value *O) { return isData(O, L, Fuel); });
  }

  // The blocks between a block and the one above it where ways part, if all of them are in its own loop and data decides.
  bool onTheWay(BasicBlock *Above, BasicBlock *Meet, SmallVectorImpl<BasicBlock *> &All) {
    Loop *L = LI.getLoopFor(Meet);
    SmallPtrSet<BasicBlock *, MaxBlocks> Seen{Above};
    SmallVector<BasicBlock *, MaxBlocks> Todo(predecessors(Meet));
    while (!Todo.empty()) {
      BasicBlock *BB = Todo.pop_back_val();
      if (!Seen.insert(BB).second)
        continue;
      if (Seen.size() > MaxBlocks || LI.getLoopFor(BB) != L)
        return false;
      All.push_back(BB);
      append_range(Todo, predecessors(BB));
    }
    auto ByData = [&](BasicBlock *BB) {
      auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
      unsigned Fuel = MaxOperations;
      return Br && (Br->isUnconditional() || isData(Br->getCondition(), L, Fuel));
    };
    return LI.getLoopFor(Above) == L && ByData(Above) && all_of(All, ByData);
  }

  // The last of a block that accesses memory or has any other effect, if that is a store.
  StoreInst *lastStore(BasicBlock *BB) {
    for (Instruction &I : reverse(*BB)) {
      if (I.isTerminator() || isa<DbgInfoIntrinsic>(I))
        continue;
      if (auto *Store = dyn_cast<StoreInst>(&I))
        return Store->isSimple() ? Store : nullptr;
      if (I.mayHaveSideEffects() || (I.mayReadFromMemory() && !(LeftOut & AnyOrder)))
        return nullptr;
    }
    return nullptr;
  }

  // Whether two values are computed alike from the same values.
  bool isSame(Value *A, Value *B, unsigned &Fuel) {
    if (A == B)
      return true;
    auto *I = dyn_cast<Instruction>(A), *J = dyn_cast<Instruction>(B);
    if (!I || !J || !Fuel || !isPure(I) || !I->isSameOperationAs(J))
      return false;
    --Fuel;
    for (auto [Of, Other] : zip_equal(I->operands(), J->operands()))
      if (!isSame(Of, Other, Fuel))
        return false;
    return true;
  }

  // Computes in front of `At`, from values of which `Sound` says that they are no poison there, what pure operations compute elsewhere,
  // without their promises, which may hold there only.
  template <typename IsSound> Value *computed(Value *V, Instruction *At, IsSound Sound) {
    if (isa<Constant>(V) || Sound(V))
      return V;
    auto *I = cast<Instruction>(V);
    Instruction *Copy = I->clone();
    Copy->dropPoisonGeneratingFlags();
    for (Use &Of : Copy->operands())
      Of = computed(Of, At, Sound);
    Copy->insertBefore(At->getIterator());
    Copy->takeName(I);
    return Copy;
  }
  template <typename IsSound> bool isComputable(Value *V, IsSound Sound, unsigned &Fuel) {
    if (isa<Constant>(V) || Sound(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    return I && Fuel && --Fuel && isPure(I) && all_of(I->operands(), [&](Value *O) { return isComputable(O, Sound, Fuel); });
  }
  // Values that are there, whether sound or not.
  auto available(Instruction *At) {
    return [this, At](Value *V) { return !isa<Instruction>(V) || DT.dominates(cast<Instruction>(V), At); };
  }

  // What an address is computed from, all of which is sound where it is accessed: pure operations hand poison on.
  void sound(Value *V, SmallPtrSetImpl<Value *> &All) {
    if (All.size() >= MaxBlocks * MaxOperations || !All.insert(V).second)
      return;
    if (auto *I = dyn_cast<Instruction>(V); I && isPure(I))
      for (Value *O : I->operands())
        sound(O, All);
  }

  // One store at the end of each way, and what it stores: the last ones first.
  bool join(BasicBlock *Meet) {
    bool Any = false;
    if (!all_of(predecessors(Meet), [](BasicBlock *From) { return From->getSingleSuccessor(); }))
      return Any;
    Instruction *At = &*Meet->getFirstInsertionPt();
    for (;;) {
      SmallVector<StoreInst *, 4> Stores;
      for (BasicBlock *From : predecessors(Meet))
        Stores.push_back(lastStore(From));
      StoreInst *First = Stores.front();
      unsigned Fuel = MaxOperations;
      auto Same = [&](StoreInst *S) {
        unsigned Fuel = MaxOperations;
        return S && S->getValueOperand()->getType() == First->getValueOperand()->getType() &&
               isSame(First->getPointerOperand(), S->getPointerOperand(), Fuel);
      };
      // What all ways compute alike, or find there, each has stored through.
      if (!First || !all_of(Stores, Same) || !isComputable(First->getPointerOperand(), available(At), Fuel))
        return Any;
      auto *Phi = PHINode::Create(First->getValueOperand()->getType(), Stores.size(), "chosen", Meet->begin());
      auto *Store = cast<StoreInst>(First->clone());
      AAMDNodes Tags = First->getAAMetadata();
      for (StoreInst *S : Stores) {
        Phi->addIncoming(S->getValueOperand(), S->getParent());
        Store->setAlignment(std::min(Store->getAlign(), S->getAlign()));
        Tags = Tags.merge(S->getAAMetadata());
        Store->applyMergedLocation(Store->getDebugLoc(), S->getDebugLoc());
      }
      Store->setOperand(0, Phi);
      Store->setOperand(1, computed(First->getPointerOperand(), At, available(At)));
      Store->setAAMetadata(Tags);
      Store->insertBefore(At->getIterator());
      for (StoreInst *S : Stores) {
        Value *Of = S->getPointerOperand();
        S->eraseFromParent();
        RecursivelyDeleteTriviallyDeadInstructions(Of);
      }
      At = Store;
      Any = true;
    }
  }

  // The alignment that a place is known to have wherever control comes to the end of `Above`, where it is sure to be in memory: it lies
  // between two that are accessed on the way there. And what is sound there because of these.
  MaybeAlign between(LoadInst *Load, BasicBlock *Above, SmallPtrSetImpl<Value *> &Sound) {
    const SCEV *Place = SE.getSCEV(Load->getPointerOperand());
    const DataLayout &DL = F.getDataLayout();
    SmallVector<const SCEV *, 8> Distances;
    MaybeAlign Known;
    for (BasicBlock *BB = Above; BB && LI.getLoopFor(BB) == LI.getLoopFor(Above); BB = BB->getSinglePredecessor())
      for (Instruction &I : reverse(*BB)) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (Distances.size() > MaxOperations || (Call && !Call->onlyReadsMemory()))
          return std::nullopt;
        Value *P = getLoadStorePointerOperand(&I);
        if (!P || I.isVolatile() || P->getType() != Load->getPointerOperandType() ||
            DL.getTypeStoreSize(getLoadStoreType(&I)) != DL.getTypeStoreSize(Load->getType()))
          continue;
        const SCEV *From = SE.getMinusSCEV(Place, SE.getSCEV(P));
        // So far from the ends of the numbers that twice the distance does not wrap.
        if (isa<SCEVCouldNotCompute>(From) || SE.getSignedRange(From).getMinSignedBits() + 2 > DL.getIndexTypeSizeInBits(P->getType()))
          continue;
        Align To = commonAlignment(getLoadStoreAlignment(&I), SE.getConstantMultiple(From).getLimitedValue(Value::MaximumAlignment));
        Known = std::max(Known.valueOrOne(), To);
        sound(P, Sound);
        for (const SCEV *Other : Distances)
          if ((SE.isKnownNonNegative(From) && SE.isKnownNonPositive(Other)) || (SE.isKnownNonPositive(From) && SE.isKnownNonNegative(Other)) ||
              From == SE.getNegativeSCEV(Other))
            return Known;
        if (From->isZero())
          return Known;
        Distances.push_back(From);
      }
    return std::nullopt;
  }

  // Reads in front of the test what is read on one way behind it, where that cannot fail and nothing writes there.
  bool readInFront(BasicBlock *Above, ArrayRef<BasicBlock *> All) {
    Instruction *At = Above->getTerminator();
    SmallVector<LoadInst *, 8> Loads;
    for (BasicBlock *BB : All)
      for (Instruction &I : *BB) {
        if (I.mayHaveSideEffects())
          return false;
        if (auto *Load = dyn_cast<LoadInst>(&I))
          Loads.push_back(Load);
      }
    bool Any = false;
    for (LoadInst *Load : Loads) {
      unsigned Fuel = MaxOperations;
      SmallPtrSet<Value *, 16> Known;
      MaybeAlign Aligned = LeftOut & AnyPlace ? Load->getAlign() : between(Load, Above, Known);
      auto Sound = [&](Value *V) { return LeftOut & AnyPlace ? available(At)(V) : Known.contains(V) && available(At)(V); };
      Value *Of = Load->getPointerOperand();
      if (!Load->isSimple() || mustSuppressSpeculation(*Load) || !Aligned || !isComputable(Of, Sound, Fuel))
        continue;
      Load->setOperand(0, computed(Of, At, Sound));
      Load->setAlignment(std::min(Load->getAlign(), *Aligned));
      Load->dropUBImplyingAttrsAndMetadata();
      Load->setMetadata(Guarded, MDNode::get(F.getContext(), {}));
      Load->moveBefore(At->getIterator());
      RecursivelyDeleteTriviallyDeadInstructions(Of);
      Any = true;
    }
    return Any;
  }

  bool run() {
    if (LI.empty() || F.hasOptNone())
      return false;
    bool Changed = false;
    // Where ways meet inside of others comes first.
    for (BasicBlock *Meet : ReversePostOrderTraversal<Function *>(&F)) {
      Loop *L = LI.getLoopFor(Meet);
      auto *Node = DT.getNode(Meet);
      if (!L || L->getHeader() == Meet || !Node || !Meet->hasNPredecessorsOrMore(2))
        continue;
      BasicBlock *Above = Node->getIDom()->getBlock();
      SmallVector<BasicBlock *, MaxBlocks> All;
      if (!onTheWay(Above, Meet, All))
        continue;
      Changed |= join(Meet);
      if (!Meet->phis().empty())
        Changed |= readInFront(Above, All);
    }
    return Changed;
  }
};

} // namespace

// Whether anything changed. The function must be valid, with loops in simplified form. `LeftOut`: rules that are not kept to.
extern "C" bool lt_join_stores(LtManagers *M, Function *F, unsigned LeftOut) {
  return M->changed(*F, Joins(*F, M->FAM, LeftOut).run());
}
