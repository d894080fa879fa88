// Accesses of one element or another, `A[i == 0 ? n - 1 : i - 1]`, `A[min(i + 1, n - 1)]`, `*(c ? p : q)`: a condition around an access of
// the one and an access of the other, each of an element that is known.
#include "shim.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// Bounds, all of them counts: accesses that one becomes, those of a function, operations of an address.
constexpr unsigned MaxOfOne = 16, MaxInAll = 400, MaxOperations = 64;

struct Choices {
  Function &F;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  // A test takes the first element always.
  bool First;
  unsigned InAll = 0;
  // The access that is looked at.
  Instruction *Asking = nullptr;

  Choices(Function &F, FunctionAnalysisManager &FAM, bool First)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)),
        SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), First(First) {}

  // `A` where `Left Predicate Right` holds, or the condition itself does; else `B`.
  struct Choice {
    Instruction *Of;
    Value *Condition; // null: the comparison
    CmpInst::Predicate Predicate;
    Value *Left, *Right;
    Value *A, *B;
  };
  using Rebuilt = DenseMap<Value *, Value *>;

  static bool isPure(Instruction *I) {
    return isa<GetElementPtrInst, CastInst, ICmpInst>(I) || (isa<BinaryOperator>(I) && !I->isIntDivRem());
  }

  // Choices of phis and remainders, found before any block changes; so nothing is deleted before the end.
  DenseMap<Value *, Choice> Found;
  SmallVector<WeakTrackingVH, 16> Unused;

  // A phi where the two ways of a branch meet.
  void findMerges() {
    for (BasicBlock &BB : F) {
      auto *Up = DT.getNode(&BB) ? DT.getNode(&BB)->getIDom() : nullptr;
      Loop *L = LI.getLoopFor(&BB);
      if (!Up || !L || L->getHeader() == &BB || L != LI.getLoopFor(Up->getBlock()))
        continue;
      auto *Br = dyn_cast<BranchInst>(Up->getBlock()->getTerminator());
      if (!Br || !Br->isConditional() || Br->getSuccessor(0) == Br->getSuccessor(1))
        continue;
      for (PHINode &P : BB.phis()) {
        Value *Ways[2] = {nullptr, nullptr};
        for (unsigned N = 0; P.getNumIncomingValues() == 2 && N < 2; ++N)
          for (unsigned Way : {0, 1}) {
            BasicBlockEdge Edge(Up->getBlock(), Br->getSuccessor(Way));
            BasicBlock *From = P.getIncomingBlock(N);
            bool Direct = From == Up->getBlock() && Br->getSuccessor(Way) == &BB;
            if (Direct || (From != Up->getBlock() && DT.dominates(Edge, From)))
              Ways[Way] = P.getIncomingValue(N);
          }
        if (Ways[0] && Ways[1])
          Found.insert({&P, {&P, Br->getCondition(), CmpInst::BAD_ICMP_PREDICATE, nullptr, nullptr, Ways[0], Ways[1]}});
      }
    }
  }

  // `x % n` where `x` is `n` at most, as in `(i + 1) % n`: `x`, or `x - n`.
  void findRemainders() {
    SmallVector<Instruction *, 8> All;
    for (Instruction &I : instructions(F))
      if (Loop *L = LI.getLoopFor(I.getParent());
          L && (I.getOpcode() == Instruction::SRem || I.getOpcode() == Instruction::URem) && I.getType()->isIntegerTy() &&
          !isa<Constant>(I.getOperand(1)) && L->getOutermostLoop()->isLoopInvariant(I.getOperand(1)))
        All.push_back(&I);
    for (Instruction *I : All) {
      const SCEV *X = SE.getSCEV(I->getOperand(0)), *N = SE.getSCEV(I->getOperand(1));
      const SCEV *Zero = SE.getZero(I->getType()), *Before = SE.getMinusSCEV(X, SE.getOne(I->getType()));
      // From 1 to `n`, and so nothing wraps.
      if (!SE.isKnownPredicateAt(ICmpInst::ICMP_SGE, Before, Zero, I) || !SE.isKnownPredicateAt(ICmpInst::ICMP_SLT, Before, N, I))
        continue;
      Value *V = I->getOperand(0), *By = I->getOperand(1);
      Value *Rest = IRBuilder<>(I).CreateNSWSub(V, By);
      Found.insert({I, {I, nullptr, ICmpInst::ICMP_SLT, V, By, V, Rest}});
      if (isa<Instruction>(Rest))
        Unused.push_back(Rest);
    }
  }

  std::optional<Choice> choice(Value *V) {
    if (auto It = Found.find(V); It != Found.end())
      return It->second;
    if (auto *S = dyn_cast<SelectInst>(V); S && S->getCondition()->getType()->isIntegerTy(1))
      return Choice{S, S->getCondition(), CmpInst::BAD_ICMP_PREDICATE, nullptr, nullptr, S->getTrueValue(), S->getFalseValue()};
    if (auto *M = dyn_cast<MinMaxIntrinsic>(V); M && M->getType()->isIntegerTy())
      return Choice{M, nullptr, M->getPredicate(), M->getLHS(), M->getRHS(), M->getLHS(), M->getRHS()};
    return std::nullopt;
  }

  // Whether the value follows from counters of loops and what does not change in them, choices aside.
  bool isPlain(Value *V, Loop *Outer, unsigned &Fuel) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !Outer->contains(I))
      return true;
    if (!Fuel--)
      return Fuel = 0, false;
    if (auto C = choice(V)) {
      // What was chosen on a way to the access alone is not known there.
      bool Known = !isa<PHINode>(I) || DT.dominates(I->getParent(), Asking->getParent());
      return Known && isAffine(*C, Outer, Fuel) && isPlain(C->A, Outer, Fuel) && isPlain(C->B, Outer, Fuel);
    }
    if (isPure(I))
      return all_of(I->operands(), [&](Value *O) { return isPlain(O, Outer, Fuel); });
    // Known wherever the address is; where an array begins is another question.
    return isa<PHINode>(I) && LI.isLoopHeader(I->getParent()) && LI.getLoopFor(I->getParent())->contains(Asking) &&
           (I->getType()->isPointerTy() || (SE.isSCEVable(I->getType()) && isa<SCEVAddRecExpr>(SE.getSCEV(I))));
  }

  bool isAffine(const Choice &C, Loop *Outer, unsigned &Fuel) {
    if (!C.Condition)
      return isPlain(C.Left, Outer, Fuel) && isPlain(C.Right, Outer, Fuel);
    auto *Test = dyn_cast<ICmpInst>(C.Condition);
    return Test && Test->getOperand(0)->getType()->isIntegerTy() && isPlain(Test->getOperand(0), Outer, Fuel) &&
           isPlain(Test->getOperand(1), Outer, Fuel);
  }

  // The choices that an address depends on, those that others depend on first.
  void collect(Value *V, Loop *Outer, SmallPtrSetImpl<Value *> &Seen, SmallVectorImpl<Choice> &All) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !Outer->contains(I) || Seen.size() >= MaxOperations || !Seen.insert(I).second)
      return;
    auto C = choice(V);
    if (!C) {
      if (isPure(I))
        for (Value *O : I->operands())
          collect(O, Outer, Seen, All);
      return;
    }
    // What is not chosen may be poison, and so may conditions in it.
    if (C->Condition) {
      collect(C->Condition, Outer, Seen, All);
      All.push_back(*C);
    }
    collect(C->A, Outer, Seen, All);
    collect(C->B, Outer, Seen, All);
    if (!C->Condition)
      All.push_back(*C);
  }

  // Whether a value is never `undef`, where it is not poison, once `Frozen` are frozen, which are computed in front of the loops.
  static bool isDefined(Value *V, Loop *Outer, SmallPtrSetImpl<Value *> &Seen, SmallVectorImpl<Instruction *> &Frozen) {
    if (isa<ConstantInt>(V))
      return true;
    if (auto *A = dyn_cast<Argument>(V))
      return A->hasAttribute(Attribute::NoUndef);
    auto *I = dyn_cast<Instruction>(V);
    if (!I || Seen.size() >= MaxOperations)
      return false;
    if (!Seen.insert(I).second)
      return true;
    auto *Call = dyn_cast<CallBase>(I);
    if (I->hasMetadata(LLVMContext::MD_noundef) || (Call && Call->hasRetAttr(Attribute::NoUndef)))
      return true;
    // What a call that may throw returns, phis take where nothing can be frozen in front of them.
    if (!Outer->contains(I) && isa<LoadInst, CallInst>(I) && I->getInsertionPointAfterDef())
      return Frozen.push_back(I), true;
    if (!isPure(I) && !isa<PHINode, SelectInst, FreezeInst>(I) && !isa<MinMaxIntrinsic>(I))
      return false;
    auto Operands = Call ? make_range(Call->arg_begin(), Call->arg_end()) : make_range(I->op_begin(), I->op_end());
    return isa<FreezeInst>(I) || all_of(Operands, [&](Value *O) { return isDefined(O, Outer, Seen, Frozen); });
  }

  // A value of one way of a branch, computed again in front of `At`.
  Value *again(Value *V, Loop *Outer, Instruction *At, Rebuilt &Done) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !Outer->contains(I) || (!isPure(I) && !choice(V)) || isa<PHINode>(I))
      return V;
    if (auto It = Done.find(V); It != Done.end())
      return It->second;
    Instruction *Copy = I->clone();
    for (unsigned N = 0; N < I->getNumOperands(); ++N)
      Copy->setOperand(N, again(I->getOperand(N), Outer, At, Done));
    Copy->insertBefore(At->getIterator());
    return Done[V] = Copy;
  }

  // The same value where the choice falls so; in front of `At`, where what it is made of has to be known.
  Value *rebuild(Value *V, const Choice &C, bool Falls, Loop *Outer, Instruction *At, Rebuilt &Done) {
    if (V == C.Of) {
      Rebuilt Copies;
      return isa<PHINode>(V) ? again(Falls ? C.A : C.B, Outer, At, Copies) : Falls ? C.A : C.B;
    }
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return V;
    if (auto It = Done.find(V); It != Done.end())
      return It->second;
    Done[V] = V;
    auto Own = choice(V);
    if (isa<PHINode>(I) && Own && Own->Condition == C.Condition) {
      Rebuilt Copies;
      return Done[V] = again(Falls ? Own->A : Own->B, Outer, At, Copies);
    }
    if (isa<PHINode>(I) || (!isPure(I) && !Own))
      return V;
    SmallVector<Value *, 4> Operands;
    bool Same = true;
    for (Value *O : I->operands()) {
      // Of the other choices on this condition, what they are then.
      Operands.push_back(rebuild(O, C, Falls, Outer, At, Done));
      Same &= Operands.back() == O;
    }
    if (isa<SelectInst>(I)) {
      auto *Constant = dyn_cast<ConstantInt>(Operands[0]);
      if (Constant || (C.Condition && Own->Condition == C.Condition))
        return Done[V] = Operands[(Constant ? Constant->isOne() : Falls) ? 1 : 2];
    }
    if (Same)
      return V;
    Instruction *Copy = I->clone();
    for (unsigned N = 0; N < Operands.size(); ++N)
      Copy->setOperand(N, Operands[N]);
    // What holds of the one choice need not be told of the other.
    Copy->insertBefore(At->getIterator());
    return Done[V] = Copy;
  }

  // One value for all who ask, whatever it is.
  void freeze(Instruction *From, Choice &Current) {
    auto *Same = new FreezeInst(From, From->getName() + ".frozen", *From->getInsertionPointAfterDef());
    From->replaceUsesWithIf(Same, [&](Use &U) { return U.getUser() != Same; });
    auto Renew = [&](Choice &C) {
      for (Value **V : {&C.Condition, &C.Left, &C.Right, &C.A, &C.B})
        if (*V == From)
          *V = Same;
    };
    Renew(Current);
    for (auto &[Of, C] : Found)
      Renew(C);
  }

  static unsigned pointer(Instruction *I) { return isa<StoreInst>(I) ? 1 : 0; }

  // Puts two accesses in the place of one; whether it did.
  bool split(Instruction *I, Loop *Outer, SmallVectorImpl<Instruction *> &Made) {
    SmallPtrSet<Value *, 16> Seen;
    SmallVector<Choice, 4> All;
    collect(I->getOperand(pointer(I)), Outer, Seen, All);
    if (All.empty())
      return false;
    Choice C = All.front();
    SmallPtrSet<Value *, 16> Asked;
    SmallVector<Instruction *, 2> Frozen;
    // Poison chooses no address that may be accessed; of a phi the program branches on the condition itself.
    auto Defined = [&](Value *V) { return isDefined(V, Outer, Asked, Frozen); };
    if (!isa<PHINode>(C.Of) && !(C.Condition ? Defined(C.Condition) : Defined(C.Left) && Defined(C.Right)))
      return false;
    for (Instruction *From : Frozen)
      freeze(From, C);
    IRBuilder<> B(I);
    Value *Condition = C.Condition ? C.Condition : B.CreateICmp(C.Predicate, C.Left, C.Right);
    if (First)
      Condition = B.getTrue();
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(Condition, I->getIterator(), &Then, &Else, nullptr, nullptr, &LI);
    PHINode *Joined = nullptr;
    if (!I->getType()->isVoidTy()) {
      Joined = PHINode::Create(I->getType(), 2, "", I->getParent()->begin());
      Joined->setDebugLoc(I->getDebugLoc());
    }
    for (bool Falls : {true, false}) {
      Instruction *At = Falls ? Then : Else, *Copy = I->clone();
      Rebuilt Done;
      Copy->setOperand(pointer(I), rebuild(I->getOperand(pointer(I)), C, Falls, Outer, At, Done));
      Copy->insertBefore(At->getIterator());
      if (Joined)
        Joined->addIncoming(Copy, At->getParent());
      Made.push_back(Copy);
    }
    Unused.push_back(I->getOperand(pointer(I)));
    if (Joined) {
      Joined->takeName(I);
      I->replaceAllUsesWith(Joined);
    }
    I->eraseFromParent();
    ++InAll;
    return true;
  }

  // Whether an address, or the number of an element, is chosen between values that are known each.
  bool isWanted(Instruction *I, Loop *Outer) {
    Asking = I;
    auto *Load = dyn_cast<LoadInst>(I);
    auto *Store = dyn_cast<StoreInst>(I);
    if (!(Load && Load->isSimple()) && !(Store && Store->isSimple()))
      return false;
    Type *T = getLoadStoreType(I);
    if (!T->isFloatingPointTy() && !T->isIntegerTy() && !T->isPointerTy())
      return false;
    SmallPtrSet<Value *, 16> Seen;
    SmallVector<Choice, 4> All;
    collect(I->getOperand(pointer(I)), Outer, Seen, All);
    if (All.empty() || Seen.size() >= MaxOperations)
      return false;
    SmallPtrSet<Value *, 8> Conditions;
    unsigned Own = 0;
    for (Choice &C : All)
      C.Condition ? void(Conditions.insert(C.Condition)) : void(++Own);
    unsigned Fuel = 4 * MaxOperations;
    return (1u << std::min<size_t>(Conditions.size() + Own, 16)) <= MaxOfOne &&
           isPlain(I->getOperand(pointer(I)), Outer, Fuel);
  }

  bool run() {
    if (LI.empty() || F.hasOptNone())
      return false;
    findMerges();
    findRemainders();
    SmallVector<std::pair<Instruction *, Loop *>, 16> Wanted;
    for (Instruction &I : instructions(F))
      if (Loop *L = LI.getLoopFor(I.getParent()))
        if (Loop *Outer = L->getOutermostLoop(); isWanted(&I, Outer))
          Wanted.push_back({&I, Outer});
    for (auto [I, Outer] : Wanted) {
      SmallVector<Instruction *, 16> Todo{I};
      while (!Todo.empty() && InAll < MaxInAll) {
        Instruction *Next = Todo.pop_back_val();
        SmallVector<Instruction *, 2> Made;
        if (split(Next, Outer, Made))
          Todo.append(Made);
      }
    }
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Unused);
    return InAll > 0;
  }
};

} // namespace

// Whether any access was split. The function must be valid. `First`: a test takes the first element always.
extern "C" bool lt_split_choices(LtManagers *M, Function *F, bool First) {
  return M->changed(*F, Choices(*F, M->FAM, First).run());
}
