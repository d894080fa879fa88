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

// Loads in front of one loop, and instructions that are looked through for an equal one; counts.
constexpr unsigned MaxFronts = 24, MaxBack = 64;

struct Reader : Motion {
  bool Unguarded;
  DenseMap<Loop *, Known> Made;
  // By loop, place and type.
  DenseMap<std::pair<Loop *, std::pair<Value *, Type *>>, Value *> Same;

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
            if (++Questions > MaxQuestions || isModSet(AA.getModRefInfo(W, MemoryLocation::get(cast<LoadInst>(Other)))))
              return true;
        }
      if (BB != Load->getParent())
        append_range(Work, successors(BB));
    }
    return false;
  }

  // The same value, computed or read in the same block before.
  Value *earlier(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return V;
    unsigned Steps = 0;
    for (Instruction *Back = I->getPrevNode(); Back && ++Steps < MaxBack; Back = Back->getPrevNode()) {
      if (Back->isIdenticalTo(I)) {
        I->eraseFromParent();
        return Back;
      }
      if (I->mayReadFromMemory() && Back->mayWriteToMemory())
        break;
    }
    return I;
  }

  void read(LoadInst *Load, Loop *L) {
    BasicBlock *Preheader = L->getLoopPreheader();
    Known &Here = Made[L];
    if (!Preheader || Here.size() >= MaxFronts || isChanged(MemoryLocation::get(Load), L))
      return;
    SmallPtrSet<Value *, 4> Others;
    Fronts = &Here;
    Asked = &Others;
    Value *Place = Load->getPointerOperand();
    BasicBlock::iterator At = Preheader->getTerminator()->getIterator();
    if (!can(Place, L, Known()))
      return;
    bool CannotFail =
        isDereferenceableAndAlignedPointer(Place, Load->getType(), Load->getAlign(), DL, &*At, &AC, &DT, &TLI);
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
    Place = earlier(build(Place, L, Known(), At));
    auto Key = std::make_pair(L, std::make_pair(Place, Load->getType()));
    if (Value *Read = Same.lookup(Key)) {
      Here[Load] = Read;
      return;
    }
    IRBuilder<> B(Preheader->getTerminator());
    B.SetCurrentDebugLocation(Load->getDebugLoc());
    Value *All = nullptr;
    for (Test &T : Tests) {
      Value *C = build(T.Condition, L, first(T.L), At);
      if (!T.Stays)
        C = B.CreateNot(C);
      All = All ? B.CreateLogicalAnd(All, C) : C;
    }
    auto *Fixed = dyn_cast_or_null<ConstantInt>(All);
    if (Fixed && Fixed->isZero())
      return;
    auto Copy = [&](BasicBlock::iterator There) {
      Instruction *C = Load->clone();
      C->setOperand(0, Place);
      C->setName(Load->getName());
      C->insertBefore(There);
      C->dropUBImplyingAttrsAndMetadata();
      return C;
    };
    Changed = true;
    if (!All || Fixed || Unguarded) {
      Here[Load] = Same[Key] = Copy(At);
      return;
    }
    Instruction *Then = SplitBlockAndInsertIfThen(earlier(All), At, false, nullptr, &Updater, &LI);
    Value *Read = Copy(Then->getIterator());
    BasicBlock *Tail = Then->getSuccessor(0);
    PHINode *Phi = PHINode::Create(Load->getType(), 2, Load->getName(), Tail->begin());
    Phi->addIncoming(Read, Then->getParent());
    Phi->addIncoming(Constant::getNullValue(Load->getType()), Then->getParent()->getSinglePredecessor());
    Here[Load] = Same[Key] = Phi;
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

// Whether anything is read in front. The function must be valid, with loops in simplified and closed form; no analysis of it
// may be alive. `Unguarded`: a test leaves out the conditions.
extern "C" bool lt_read_in_front(Function *F, bool Unguarded) {
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  FAM.registerPass([&] { return PB.buildDefaultAAPipeline(); });
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  return Reader(*F, FAM, Unguarded).run();
}
