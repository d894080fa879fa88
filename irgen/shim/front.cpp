// Integers and pointers that loops read again and again, read once in front of them, too: what decides bounds and addresses and
// could only be overwritten by a store that overlaps it. The loops keep their own loads; whoever wants to use what is read in
// front has to check that nothing overwrites it.
//
// A load executes where it cannot fail, or under the first tests of the loops in front of which it stands, so only where the
// loops execute it too: what these tests and its address depend on is then not overwritten before.
#include "motion.h"

using namespace llvm;
using namespace lt;

namespace {

// Loads in front of one loop, at most.
constexpr unsigned MaxFronts = 24;

struct Reader : Motion {
  bool Unguarded;
  DenseMap<Loop *, Known> Held;
  DenseMap<Loop *, SmallVector<Instruction *, 8>> Computed;
  // By loop, place, type and condition: one that was not read under its condition is nothing to read under another.
  DenseMap<std::tuple<Loop *, Value *, Type *, Value *>, Value *> Same;

  Reader(Function &F, FunctionAnalysisManager &FAM, bool Unguarded) : Motion(F, FAM), Unguarded(Unguarded) {}

  // Whether a store of the loop, or what it calls, surely or probably changes what is read.
  bool isChanged(const MemoryLocation &Location, Loop *L) {
    auto It = Writes.find(L);
    if (It == Writes.end())
      return false;
    for (Instruction *W : It->second) {
      if (++Questions > MaxQuestions)
        return true;
      if (auto *Store = dyn_cast<StoreInst>(W)) {
        AliasResult Meets = AA.alias(MemoryLocation::get(Store), Location);
        if (Meets == AliasResult::MustAlias || Meets == AliasResult::PartialAlias)
          return true;
      } else if (isModSet(AA.getModRefInfo(W, Location))) {
        return true;
      }
    }
    return false;
  }

  // Whether something that may execute in the loop before the first execution of the load may change what one of the others reads.
  bool isChangedBefore(LoadInst *Load, Loop *L, const SmallPtrSetImpl<Value *> &Others) {
    SmallVector<BasicBlock *, 8> Work = {L->getHeader()};
    SmallPtrSet<BasicBlock *, 16> Seen;
    while (!Work.empty()) {
      BasicBlock *BB = Work.pop_back_val();
      if (!L->contains(BB) || !Seen.insert(BB).second)
        continue;
      if (auto It = BlockWrites.find(BB); It != BlockWrites.end())
        for (Instruction *W : It->second) {
          if (BB == Load->getParent() && Load->comesBefore(W))
            continue;
          for (Value *Other : Others)
            if (++Questions > MaxQuestions || isModSet(AA.getModRefInfo(W, place(cast<LoadInst>(Other)))))
              return true;
        }
      if (BB != Load->getParent())
        append_range(Work, successors(BB));
    }
    return false;
  }

  void read(LoadInst *Load, Loop *L) {
    BasicBlock *Preheader = L->getLoopPreheader();
    Known &Here = Held[L];
    if (!Preheader || Here.size() >= MaxFronts)
      return;
    SmallPtrSet<Value *, 4> Others;
    Fronts = &Here;
    Asked = &Others;
    Equal = &Computed[L];
    Value *Place = Load->getPointerOperand();
    BasicBlock::iterator At = Preheader->getTerminator()->getIterator();
    if (!can(Place, L, Known()) || isChanged(place(Load), L))
      return;
    // What is known of a pointer that the loop reads need not hold of what stands for it in front, which may be null.
    bool CannotFail = Others.empty() && cannotFail(Load, Place, &*At);
    SmallVector<Test, 4> Tests;
    if (!CannotFail) {
      auto All = tests(Load, L);
      if (!All)
        return;
      Tests = std::move(*All);
      for (Test &T : Tests)
        if (!can(T.Condition, L, first(T.L)))
          return;
      if (!Others.empty() && isChangedBefore(Load, L, Others))
        return;
    }
    Changed = true;
    Place = build(Place, L, Known(), At);
    Value *All = conjunction(Tests, L, At, Load->getDebugLoc());
    auto *Fixed = dyn_cast_or_null<ConstantInt>(All);
    if (Fixed && Fixed->isZero())
      return;
    if (Fixed || Unguarded)
      All = nullptr;
    Value *&Found = Same[{L, Place, Load->getType(), All}];
    if (Found) {
      Here[Load] = Found;
      return;
    }
    auto Copy = [&](BasicBlock::iterator There) {
      Instruction *C = Load->clone();
      C->setOperand(0, Place);
      C->setName(Load->getName());
      C->insertBefore(There);
      // Another load of the same place may promise less.
      if (CannotFail || !Load->hasMetadata(LLVMContext::MD_noundef))
        C->dropPoisonGeneratingMetadata();
      C->dropUBImplyingAttrsAndMetadata(LLVMContext::MD_noundef);
      return C;
    };
    if (!All) {
      Here[Load] = Found = Copy(At);
      return;
    }
    Instruction *Then = SplitBlockAndInsertIfThen(All, At, false, nullptr, &Updater, &LI);
    BasicBlock *Tail = Then->getSuccessor(0);
    PHINode *Phi = PHINode::Create(Load->getType(), 2, Load->getName(), Tail->begin());
    Phi->addIncoming(Copy(Then->getIterator()), Then->getParent());
    Phi->addIncoming(Constant::getNullValue(Load->getType()), Then->getParent()->getSinglePredecessor());
    Here[Load] = Found = Phi;
  }

  bool run() {
    if (LI.empty() || F.hasOptNone())
      return false;
    survey();
    SmallPtrSet<Instruction *, 32> Strong, Weak;
    drivers(Strong, Weak);
    if (Strong.empty())
      return false;
    SmallVector<LoadInst *, 16> Candidates;
    ReversePostOrderTraversal<Function *> Order(&F);
    for (BasicBlock *BB : Order)
      if (LI.getLoopFor(BB))
        for (Instruction &I : *BB)
          if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && isScalar(I.getType()) && Strong.count(&I))
            Candidates.push_back(Load);
    for (LoadInst *Load : Candidates)
      for (Loop *L = LI.getLoopFor(Load->getParent()); L; L = L->getParentLoop())
        read(Load, L);
    return Changed;
  }
};

} // namespace

// Whether anything is read in front. The function must be valid, with loops in simplified and closed form.
// `Unguarded`: a test leaves out the conditions.
extern "C" bool lt_read_in_front(LtManagers *M, Function *F, bool Unguarded) {
  return M->changed(*F, Reader(*F, M->FAM, Unguarded).run());
}
