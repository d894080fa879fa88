// Integers and pointers that do not change while loops run, moved in front of them: bounds, row pointers, strides.
//
// A load is moved where nothing in the loops may write what it reads. It executes where it cannot fail, or under the first
// tests of the loops that it leaves, so only where the original executes it too.
#include "motion.h"
#include <map>

using namespace llvm;
using namespace lt;

namespace {

// Rules that a test may leave out.
enum Rule { Aliases = 1, Guards = 2, Moves = 4, Scopes = 8 };

// Not a rule: pointers to rows stay where they are, so that they may be found to be rows of one array.
constexpr unsigned KeepRows = 16;

// Blocks up to the entry, at most.
constexpr unsigned MaxClimb = 2000;

// Bytes of stack that a function may need more than before.
constexpr uint64_t MaxStack = 16384;

struct Hoister : Motion {
  unsigned LeftOut;
  // By loop: what was computed in front of it, to be used again.
  DenseMap<Loop *, SmallVector<Instruction *, 8>> Computed;
  // What was read in front, by loop, place, type and condition. What these depend on has moved before, as it comes first.
  DenseMap<std::tuple<Loop *, Value *, Type *, Value *>, PHINode *> Read;

  Hoister(Function &F, FunctionAnalysisManager &FAM, unsigned LeftOut) : Motion(F, FAM), LeftOut(LeftOut) {}

  MemoryLocation what(const LoadInst *Load) const { return LeftOut & Scopes ? MemoryLocation::get(Load) : place(Load); }

  // Which loops and blocks write to a place: many loads read the same pointer.
  using Motion::writes;
  struct Writers {
    MemoryLocation Place;
    DenseMap<const void *, bool> Known;
  };
  // By pointer; what is asked of one that goes is forgotten with it.
  DenseMap<const Value *, SmallVector<Writers, 1>> Reached;

  Writers &writers(const LoadInst *Load) {
    MemoryLocation Place = what(Load);
    auto &List = Reached[Place.Ptr];
    auto It = find_if(List, [&](const Writers &W) { return W.Place == Place; });
    return It == List.end() ? List.emplace_back(Writers{Place, {}}) : *It;
  }

  bool writes(Writers &To, Loop *L) {
    if (auto It = To.Known.find(L); It != To.Known.end())
      return It->second;
    bool Any = any_of(*L, [&](Loop *Inner) { return writes(To, Inner); }) || writes(OwnWrites[L], To.Place);
    return To.Known[L] = Any;
  }

  bool writes(Writers &To, const BasicBlock *BB) {
    if (auto It = To.Known.find(BB); It != To.Known.end())
      return It->second;
    auto List = BlockWrites.find(BB);
    return To.Known[BB] = List != BlockWrites.end() && writes(List->second, To.Place);
  }

  bool isRead(const LoadInst *Load, Loop *L) { return LeftOut & Aliases || !writes(writers(Load), L); }

  // The loop that walks along a table in which a pointer is read.
  Loop *along(LoadInst *Load) {
    Value *V = Load->getPointerOperand();
    for (unsigned Depth = 0; Depth < MaxDepth; ++Depth) {
      if (auto *Gep = dyn_cast<GetElementPtrInst>(V)) {
        for (Value *Index : Gep->indices()) {
          while (auto *I = dyn_cast<Instruction>(Index)) {
            bool Plain = isa<CastInst>(I) || ((I->getOpcode() == Instruction::Add || I->getOpcode() == Instruction::Sub) &&
                                              isa<Constant>(I->getOperand(1)));
            if (!Plain)
              break;
            Index = I->getOperand(0);
          }
          if (Loop *L = counts(Index))
            return L;
        }
        V = Gep->getPointerOperand();
        continue;
      }
      return counts(V);
    }
    return nullptr;
  }

  Loop *counts(Value *V) {
    auto *Phi = dyn_cast<PHINode>(V);
    Loop *L = Phi ? LI.getLoopFor(Phi->getParent()) : nullptr;
    return L && L->getHeader() == Phi->getParent() ? L : nullptr;
  }

  // Loops in which innermost loops walk along tables: no pointer to a row can be moved out of them all.
  SmallPtrSet<Loop *, 8> Walked;

  void findWalked() {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->getType()->isPointerTy() && LI.getLoopFor(&BB))
          if (Loop *L = along(Load); L && L == LI.getLoopFor(&BB))
            for (; L; L = L->getParentLoop())
              Walked.insert(L);
  }

  // Whether a pointer leads to others, which are rows of one array if it is known in front of the loops that walk along them.
  static bool isTable(LoadInst *Load) {
    SmallVector<Value *, 8> Work = {Load};
    for (unsigned At = 0; At < Work.size() && At < MaxDepth; ++At)
      for (User *U : Work[At]->users()) {
        if (isa<GetElementPtrInst>(U))
          Work.push_back(U);
        else if (auto *Next = dyn_cast<LoadInst>(U); Next && Next->getType()->isPointerTy())
          return true;
      }
    return false;
  }

  // Whether a pointer to a row stays in the loop that walks along its table: else the loops inside, two at least, are described
  // whatever the distances of rows.
  bool keeps(LoadInst *Load, Loop *Along, Loop *Outer) {
    if (Along == Outer || !Along->contains(Outer) || isTable(Load))
      return false;
    return Walked.contains(Along) || LI.getLoopDepth(Load->getParent()) <= Along->getLoopDepth() + 1;
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
    Writers &To = writers(Load);
    SmallPtrSet<BasicBlock *, 16> Passed;
    BasicBlock *D = At->getParent();
    while (auto *Up = DT.getNode(D)->getIDom()) {
      BasicBlock *P = Up->getBlock();
      SmallVector<BasicBlock *, 8> Work = {D};
      while (!Work.empty()) {
        BasicBlock *BB = Work.pop_back_val();
        if (BB == P || !Passed.insert(BB).second)
          continue;
        if (!(LeftOut & Aliases) && writes(To, BB))
          return At;
        append_range(Work, predecessors(BB));
      }
      if (Passed.size() > MaxClimb)
        return At;
      D = P;
      // A call that may throw ends its block, and is executed behind what stands there.
      if (!isa<BranchInst, SwitchInst>(P->getTerminator()))
        return At;
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
    auto CannotFail = [&](BasicBlock::iterator There) { return cannotFail(Load, Load->getPointerOperand(), &*There); };
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
    Equal = &Computed[L];
    Value *All = conjunction(*Tests, L, At, Load->getDebugLoc());
    Value *Place = build(Load->getPointerOperand(), L, Known(), At);
    Equal = nullptr;
    auto *Fixed = dyn_cast_or_null<ConstantInt>(All);
    if (Fixed && Fixed->isZero())
      return false;
    if (!All || Fixed)
      return replace(I, settled(copyWith(Load, {Place}, At)));
    // Nothing is written between what is read in front of one loop: arrays whose pointers are read twice are one.
    PHINode *&Same = Read[{L, Place, Load->getType(), All}];
    if (Same) {
      // The other may promise less.
      cast<Instruction>(Same->getIncomingValue(0))->dropPoisonGeneratingMetadata();
      return replace(I, Same);
    }
    Instruction *Then = SplitBlockAndInsertIfThen(All, At, false, nullptr, &Updater, &LI);
    Instruction *Copy = copyWith(Load, {Place}, Then->getIterator());
    BasicBlock *Tail = Then->getSuccessor(0);
    PHINode *Phi = PHINode::Create(Load->getType(), 2, Load->getName(), Tail->begin());
    Phi->addIncoming(Copy, Then->getParent());
    Phi->addIncoming(Constant::getNullValue(Load->getType()), *find_if(predecessors(Tail), [&](BasicBlock *P) {
      return P != Then->getParent();
    }));
    Same = Phi;
    return replace(I, Phi);
  }

  bool replace(Instruction *I, Value *By) {
    Reached.erase(I);
    I->replaceAllUsesWith(By);
    I->eraseFromParent();
    return Changed = true;
  }

  // A local array that lives within a loop lives all the time: what it holds when its life begins is undefined. Not where large ones
  // of several scopes may share a place on the stack.
  void prolongLives() {
    SmallPtrSet<Value *, 8> Inner;
    SmallVector<IntrinsicInst *, 16> Markers;
    // Where lives of an array begin and end: the first of markers that do the same.
    MapVector<Value *, SmallVector<IntrinsicInst *, 4>> Scopes;
    for (BasicBlock &BB : F) {
      IntrinsicInst *First = nullptr;
      for (Instruction &I : BB)
        if (auto *M = dyn_cast<IntrinsicInst>(&I); M && M->isLifetimeStartOrEnd()) {
          Markers.push_back(M);
          if (!First || First->getIntrinsicID() != M->getIntrinsicID())
            First = M;
          Scopes[M->getArgOperand(0)].push_back(First);
          if (LI.getLoopFor(&BB))
            Inner.insert(M->getArgOperand(0));
        }
    }
    // Bytes that live all the time then, and of the largest scope of others; before, the largest of all at best.
    std::map<SmallVector<IntrinsicInst *, 4>, uint64_t> Bytes;
    uint64_t Always = 0, Others = 0, Before = 0;
    for (auto &[V, Scope] : Scopes) {
      auto *Slot = dyn_cast<AllocaInst>(V);
      auto Size = Slot ? Slot->getAllocationSize(DL) : std::nullopt;
      uint64_t Own = Size && !Size->isScalable() ? Size->getFixedValue() : uint64_t(1) << 32;
      uint64_t All = Bytes[Scope] += Own;
      Before = std::max(Before, All);
      if (Inner.contains(V))
        Always += Own;
      else
        Others = std::max(Others, All);
    }
    if (Always + Others > Before + MaxStack)
      return;
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
    if (LeftOut & KeepRows)
      findWalked();
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
      auto *Load = I->getType()->isPointerTy() ? dyn_cast<LoadInst>(I) : nullptr;
      if (Load && Load->hasMetadata(Claimed))
        continue;
      Loop *Along = Load && (LeftOut & KeepRows) ? along(Load) : nullptr;
      for (Loop *Outer : reverse(Around)) {
        if (Along && keeps(Load, Along, Outer))
          break;
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

// Whether anything moved. The function must be valid, with loops in simplified and closed form.
extern "C" bool lt_hoist(LtManagers *M, Function *F, unsigned LeftOut) {
  bool Expanded = M->changed(*F, !F->hasOptNone() && ltExpandMemory(*F, LeftOut & Moves));
  return M->changed(*F, Hoister(*F, M->FAM, LeftOut).run()) || Expanded;
}
