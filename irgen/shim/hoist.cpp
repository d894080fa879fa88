// Integers and pointers that do not change while loops run, moved in front of them: bounds, row pointers, strides.
//
// A load is moved where nothing in the loops may write what it reads. It executes where it cannot fail, or under the first
// tests of the loops that it leaves, so only where the original executes it too.
#include "shim.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

// Rules that a test may leave out.
enum Rule { Aliases = 1, Guards = 2, Moves = 4 };

// Bounds on the work, all of them counts: questions about aliasing, operations of one expression, blocks up to the entry.
constexpr unsigned MaxQuestions = 100000, MaxDepth = 12, MaxClimb = 2000;

// What decides whether a loop goes on: it does where the condition is `Stays`.
struct Test {
  Loop *L;
  Value *Condition;
  bool Stays;
};

struct Hoister {
  Function &F;
  DominatorTree &DT;
  PostDominatorTree &PDT;
  LoopInfo &LI;
  AAResults &AA;
  AssumptionCache &AC;
  const TargetLibraryInfo &TLI;
  const DataLayout &DL;
  DomTreeUpdater Updater;
  unsigned LeftOut, Questions = 0;
  bool Changed = false;
  DenseMap<const Loop *, SmallVector<Instruction *, 8>> Writes;
  // Loops in which something may end the execution.
  DenseMap<const Loop *, bool> Ends;
  DenseMap<const BasicBlock *, SmallVector<Instruction *, 4>> BlockWrites;

  Hoister(Function &F, FunctionAnalysisManager &FAM, unsigned LeftOut)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), PDT(FAM.getResult<PostDominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), AA(FAM.getResult<AAManager>(F)), AC(FAM.getResult<AssumptionAnalysis>(F)),
        TLI(FAM.getResult<TargetLibraryAnalysis>(F)), DL(F.getDataLayout()),
        Updater(DT, DomTreeUpdater::UpdateStrategy::Eager), LeftOut(LeftOut) {}

  static bool isScalar(Type *T) { return T->isPointerTy() || (T->isIntegerTy() && T->getIntegerBitWidth() <= 64); }

  void survey() {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB) {
        // A loop may wait for another thread for ever.
        bool MayEnd = !isGuaranteedToTransferExecutionToSuccessor(&I) || I.isAtomic();
        if (I.mayWriteToMemory() && !I.isDebugOrPseudoInst())
          BlockWrites[&BB].push_back(&I);
        for (Loop *L = LI.getLoopFor(&BB); L; L = L->getParentLoop()) {
          if (I.mayWriteToMemory() && !I.isDebugOrPseudoInst())
            Writes[L].push_back(&I);
          Ends[L] |= MayEnd;
        }
      }
  }

  bool writes(const SmallVectorImpl<Instruction *> &List, const MemoryLocation &Location) {
    for (Instruction *W : List) {
      if (++Questions > MaxQuestions || isModSet(AA.getModRefInfo(W, Location)))
        return true;
    }
    return false;
  }

  bool isRead(const LoadInst *Load, Loop *L) {
    if (LeftOut & Aliases)
      return true;
    auto It = Writes.find(L);
    return It == Writes.end() || !writes(It->second, MemoryLocation::get(Load));
  }

  // ---- Expressions in front of a loop; `First` has the values of header phis in the first iteration.

  using Known = SmallDenseMap<Value *, Value *, 4>;

  bool can(Value *V, Loop *L, const Known &First, unsigned Depth = 0) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L->contains(I))
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
    if (auto It = First.find(V); It != First.end())
      return build(It->second, L, Known(), At);
    return copy(I, L, First, At);
  }

  Value *copy(Instruction *I, Loop *L, const Known &First, BasicBlock::iterator At) {
    SmallVector<Value *, 4> Operands;
    for (Value *O : I->operands())
      Operands.push_back(build(O, L, First, At));
    Instruction *C = I->clone();
    for (auto [N, O] : enumerate(Operands))
      C->setOperand(N, O);
    C->setName(I->getName());
    C->insertBefore(At);
    // What was promised held where the original stood.
    C->dropUBImplyingAttrsAndMetadata();
    if (Value *Simple = simplifyInstruction(C, SimplifyQuery(DL, C))) {
      C->eraseFromParent();
      return Simple;
    }
    return C;
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
        auto Finite = [&](Loop *Inner) { return Inner->contains(X) || isMustProgress(Inner); };
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

  // The highest place on the way from the entry to `At`, in front of `L`, where a load of an address that is known
  // everywhere reads the same.
  BasicBlock::iterator climb(LoadInst *Load, Loop *L, BasicBlock::iterator At) {
    SmallVector<Value *, 8> Work(Load->operands());
    while (!Work.empty()) {
      Value *V = Work.pop_back_val();
      auto *I = dyn_cast<Instruction>(V);
      if (!I)
        continue;
      if (!isa<GetElementPtrInst>(I) || !L->contains(I))
        return At;
      append_range(Work, I->operands());
    }
    MemoryLocation Location = MemoryLocation::get(Load);
    SmallPtrSet<BasicBlock *, 16> Passed;
    BasicBlock *D = At->getParent();
    while (auto *Up = DT.getNode(D)->getIDom()) {
      BasicBlock *P = Up->getBlock();
      SmallVector<BasicBlock *, 8> Work = {D};
      while (!Work.empty()) {
        BasicBlock *BB = Work.pop_back_val();
        if (BB == P || !Passed.insert(BB).second)
          continue;
        if (auto It = BlockWrites.find(BB); It != BlockWrites.end() && !(LeftOut & Aliases))
          if (writes(It->second, Location))
            return At;
        append_range(Work, predecessors(BB));
      }
      if (Passed.size() > MaxClimb)
        return At;
      D = P;
      if (!LI.getLoopFor(P))
        At = P->getTerminator()->getIterator();
    }
    return At;
  }

  // ---- Moving

  bool move(Instruction *I, Loop *L) {
    BasicBlock *Preheader = L->getLoopPreheader();
    if (!Preheader)
      return false;
    BasicBlock::iterator At = Preheader->getTerminator()->getIterator();
    auto *Load = dyn_cast<LoadInst>(I);
    if (!Load) {
      if (!can(I, L, Known()))
        return false;
      return replace(I, build(I, L, Known(), At));
    }
    if (!can(Load->getPointerOperand(), L, Known()) || !isRead(Load, L))
      return false;
    auto CannotFail = [&](BasicBlock::iterator There) {
      return isDereferenceableAndAlignedPointer(Load->getPointerOperand(), Load->getType(), Load->getAlign(), DL, &*There, &AC,
                                                &DT, &TLI);
    };
    if (CannotFail(At)) {
      // A test or an assumption in between may be what makes it safe.
      BasicBlock::iterator Up = L->getParentLoop() ? At : climb(Load, L, At);
      return replace(I, copy(Load, L, Known(), CannotFail(Up) ? Up : At));
    }
    auto Tests = tests(Load, L);
    if (!Tests)
      return false;
    for (Test &T : *Tests)
      if (!can(T.Condition, L, first(T.L)))
        return false;
    if (LeftOut & Guards)
      Tests->clear();
    IRBuilder<> B(Preheader->getTerminator());
    B.SetCurrentDebugLocation(Load->getDebugLoc());
    Value *All = nullptr;
    for (Test &T : *Tests) {
      Value *C = build(T.Condition, L, first(T.L), At);
      if (!T.Stays)
        C = B.CreateNot(C);
      // What later tests compute may be poison where the first ones fail.
      All = All ? B.CreateLogicalAnd(All, C) : C;
    }
    if (!All)
      return replace(I, copy(Load, L, Known(), At));
    if (auto *C = dyn_cast<ConstantInt>(All))
      return !C->isZero() && replace(I, copy(Load, L, Known(), At));
    Instruction *Then = SplitBlockAndInsertIfThen(All, At, false, nullptr, &Updater, &LI);
    Value *Read = copy(Load, L, Known(), Then->getIterator());
    BasicBlock *Tail = Then->getSuccessor(0);
    PHINode *Phi = PHINode::Create(Load->getType(), 2, Load->getName(), Tail->begin());
    Phi->addIncoming(Read, Then->getParent());
    Phi->addIncoming(Constant::getNullValue(Load->getType()), *find_if(predecessors(Tail), [&](BasicBlock *P) {
      return P != Then->getParent();
    }));
    return replace(I, Phi);
  }

  bool replace(Instruction *I, Value *By) {
    I->replaceAllUsesWith(By);
    I->eraseFromParent();
    return Changed = true;
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

  // A local array that lives within a loop lives all the time: what it holds when its life begins is undefined.
  void prolongLives() {
    SmallPtrSet<Value *, 8> Inner;
    SmallVector<IntrinsicInst *, 16> Markers;
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *M = dyn_cast<IntrinsicInst>(&I); M && M->isLifetimeStartOrEnd()) {
          Markers.push_back(M);
          if (LI.getLoopFor(&BB))
            Inner.insert(M->getArgOperand(0));
        }
    for (IntrinsicInst *M : Markers)
      if (Inner.contains(M->getArgOperand(0))) {
        M->eraseFromParent();
        Changed = true;
      }
  }

  bool run() {
    if (LI.empty() || F.hasOptNone())
      return false;
    prolongLives();
    survey();
    SmallPtrSet<Instruction *, 32> Strong, Weak;
    drivers(Strong, Weak);
    SmallVector<std::pair<Instruction *, Loop *>, 32> Candidates;
    ReversePostOrderTraversal<Function *> Order(&F);
    for (BasicBlock *BB : Order)
      if (Loop *L = LI.getLoopFor(BB))
        for (Instruction &I : *BB)
          if (isScalar(I.getType()) && isOpaque(&I) && (Strong.count(&I) || Weak.count(&I)))
            Candidates.push_back({&I, L});
    for (auto [I, L] : Candidates) {
      SmallVector<Loop *, 8> Around;
      for (Loop *Up = L; Up; Up = Up->getParentLoop())
        Around.push_back(Up);
      bool OnlyOut = !Strong.count(I);
      for (Loop *Outer : reverse(Around)) {
        if (Questions > MaxQuestions)
          return Changed;
        if (move(I, Outer) || OnlyOut)
          break;
      }
    }
    return Changed;
  }
};

} // namespace

// Whether anything moved. The function must be valid, with loops in simplified and closed form; no analysis of it may be
// alive.
extern "C" bool lt_hoist(Function *F, unsigned LeftOut) {
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
  bool Changed = !F->hasOptNone() && ltExpandMemory(*F, LeftOut & Moves);
  if (Hoister(*F, FAM, LeftOut).run()) {
    Changed = true;
    FAM.invalidate(*F, PreservedAnalyses::none());
  }
  return ltLastValues(*F, FAM) || Changed;
}
