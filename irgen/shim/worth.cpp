// Which functions are worth lifting, as far as is plain before any pass.
#include "shim.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

// Whether a place changes with the loop, as far as its address shows: a field of what stays is one place, wherever its address is computed.
static bool changes(const Value *Place, const Loop &L, unsigned Depth = 8) {
  auto *I = dyn_cast<Instruction>(Place);
  if (!I || !L.contains(I))
    return false;
  bool Follows = isa<GetElementPtrInst, CastInst, LoadInst>(I) && Depth;
  return !Follows || any_of(I->operands(), [&](const Value *Op) { return changes(Op, L, Depth - 1); });
}

// Whether a value follows from what the loop reads at places that change with it: how often a loop runs that is left by
// such a value is known of none.
static bool followsFromData(const Value *V, const Loop &L, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || Depth == 0)
    return false;
  if (auto *Load = dyn_cast<LoadInst>(I))
    return changes(Load->getPointerOperand(), L);
  // A walk along a list.
  if (auto *Phi = dyn_cast<PHINode>(I))
    return any_of(Phi->incoming_values(), [&](const Value *In) {
      auto *Load = dyn_cast<LoadInst>(In);
      return Load && L.contains(Load) && changes(Load->getPointerOperand(), L);
    });
  if (isa<CmpInst, CastInst, BinaryOperator, SelectInst, FreezeInst>(I))
    return any_of(I->operands(), [&](const Value *Op) { return followsFromData(Op, L, Depth - 1); });
  return false;
}

// A place, by the pointer that it is a constant distance from.
using Spot = std::pair<const Value *, int64_t>;
static Spot spot(const Value *Pointer, const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  const Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
  return {Base, Offset.getSExtValue()};
}

SmallPtrSet<const BasicBlock *, 8> ltEnding(const Function &F) {
  SmallPtrSet<const BasicBlock *, 8> Result;
  for (const BasicBlock *B : post_order(&F.getEntryBlock())) {
    const Instruction *End = B->getTerminator();
    bool Ends = End->getNumSuccessors() == 0 ? isa<UnreachableInst, ResumeInst>(End)
                                             : all_of(successors(B), [&](const BasicBlock *S) { return Result.contains(S); });
    if (Ends)
      Result.insert(B);
  }
  return Result;
}

namespace {

// What is plain of a function's loops before any pass.
struct Survey {
  Function &F;
  DominatorTree DT;
  LoopInfo LI;
  TargetLibraryInfoImpl Impl;
  TargetLibraryInfo TLI;
  const DataLayout &DL;
  TypeBasedAAResult Types;
  AAResults ByType;
  SmallPtrSet<const BasicBlock *, 8> Ending;
  std::optional<PostDominatorTree> PDT;
  DenseMap<const Loop *, bool> Closed;
  DenseMap<const Loop *, DenseSet<Spot>> Set;
  DenseMap<const Function *, bool> Inlined, Looping;

  explicit Survey(Function &F)
      : F(F), DT(F), LI(DT), Impl(F.getParent()->getTargetTriple()), TLI(Impl, &F), DL(F.getDataLayout()), Types(false), ByType(TLI) {
    ByType.addAAResult(Types);
    if (!LI.empty())
      Ending = ltEnding(F);
  }

  // A call of a function with a body that is put in place, where all is seen.
  const Function *inlined(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? ltCallee(*Call) : nullptr;
    if (!Callee || Callee->isDeclaration())
      return nullptr;
    auto [It, New] = Inlined.try_emplace(Callee, false);
    if (New)
      It->second = ltMayInline(*Callee, F, TLI);
    return It->second ? Callee : nullptr;
  }

  bool isOpaque(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isa<IntrinsicInst>(Call) || (!Call->mayWriteToMemory() && !Call->mayThrow()) || inlined(I))
      return false;
    // Passes make something else of calls that they know.
    LibFunc Which;
    return !Call->getCalledFunction() || !TLI.getLibFunc(*Call, Which);
  }

  // Whether some loop may be described in another function's place: what is known of its arguments there does not change what it reads.
  static bool hasOpenLoop(const Function &Callee) {
    DominatorTree Tree(const_cast<Function &>(Callee));
    LoopInfo Loops(Tree);
    return any_of(Loops.getLoopsInPreorder(), [](const Loop *L) {
      SmallVector<BasicBlock *, 4> Exiting;
      L->getExitingBlocks(Exiting);
      return L->isInnermost() && none_of(Exiting, [&](const BasicBlock *B) {
        auto *Branch = dyn_cast<BranchInst>(B->getTerminator());
        return Branch && Branch->isConditional() && followsFromData(Branch->getCondition(), *L, 8);
      });
    });
  }

  // Loops that come with a call may be described wherever it stands.
  bool bringsLoops(const Instruction &I) {
    const Function *Callee = inlined(I);
    if (!Callee)
      return false;
    auto [It, New] = Looping.try_emplace(Callee, false);
    if (!New)
      return It->second;
    bool Found = hasOpenLoop(*Callee) || any_of(instructions(*Callee), [&](const Instruction &J) { return bringsLoops(J); });
    return Looping[Callee] = Found;
  }

  // Places that the loop sets.
  const DenseSet<Spot> &spotsSet(const Loop &L) {
    auto [It, New] = Set.try_emplace(&L);
    if (New)
      for (const BasicBlock *B : L.blocks())
        for (const Instruction &I : *B)
          if (auto *Store = dyn_cast<StoreInst>(&I))
            It->second.insert(spot(Store->getPointerOperand(), DL));
    return It->second;
  }

  // Whether a value follows from what the loop counts in memory.
  bool isCounted(const Value *V, const Loop &L, unsigned Depth) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L.contains(I) || Depth == 0)
      return false;
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      Spot From = spot(Load->getPointerOperand(), DL);
      return L.isLoopInvariant(From.first) && !isa<AllocaInst>(getUnderlyingObject(From.first)) && spotsSet(L).contains(From);
    }
    return isa<CastInst, BinaryOperator>(I) && any_of(I->operands(), [&](const Value *Op) { return isCounted(Op, L, Depth - 1); });
  }

  // Whether something is stored through a pointer that the loop reads, and that the store may overwrite for all that is known: where it
  // goes is counted in memory, as in `s->buffer[s->used++] = byte`. No check finds that the pointer stays.
  bool mayOverwriteItsBase(const StoreInst *S, const Loop &L) {
    auto *Read = dyn_cast<LoadInst>(getUnderlyingObject(S->getPointerOperand()));
    if (!Read || !L.contains(Read))
      return false;
    // Of objects of the function's own, or of the module's, or that its variables lead to, more may be known.
    const Value *Holder = getUnderlyingObject(Read->getPointerOperand());
    if (auto *Load = dyn_cast<LoadInst>(Holder); Load && isa<GlobalValue>(getUnderlyingObject(Load->getPointerOperand())))
      return false;
    if (auto *A = dyn_cast<Argument>(Holder); A ? A->hasNoAliasAttr() || A->hasByValAttr() : !isa<LoadInst>(Holder))
      return false;
    if (ByType.isNoAlias(MemoryLocation::get(S), MemoryLocation::get(Read)))
      return false;
    for (const Value *V = S->getPointerOperand(); V != Read;) {
      auto *Gep = dyn_cast<GEPOperator>(V);
      if (!Gep)
        return false;
      if (any_of(Gep->indices(), [&](const Value *Index) { return isCounted(Index, L, 4); }))
        return true;
      V = Gep->getPointerOperand();
    }
    return false;
  }

  // Left from several places, or by what it reads, with calls that may do anything, or stores that may go anywhere: such a loop is not
  // described, though loops inside of it may be.
  bool isClosed(const Loop &L) {
    auto [It, New] = Closed.try_emplace(&L, true);
    if (!New)
      return It->second;
    unsigned Places = 0;
    auto Closes = [&](const Instruction &I) {
      auto *Store = dyn_cast<StoreInst>(&I);
      return isOpaque(I) || (Store && mayOverwriteItsBase(Store, L));
    };
    for (const BasicBlock *B : L.blocks()) {
      if (any_of(*B, Closes))
        return true;
      auto Leaves = [&](const BasicBlock *Next) { return !L.contains(Next) && !Ending.contains(Next); };
      if (none_of(successors(B), Leaves))
        continue;
      auto *Branch = dyn_cast<BranchInst>(B->getTerminator());
      if (++Places > 1 || (Branch && Branch->isConditional() && followsFromData(Branch->getCondition(), L, 8)))
        return true;
    }
    return Closed[&L] = false;
  }

  // Whether one stands before or behind the other, with no way past either.
  bool areInRow(const BasicBlock *A, const BasicBlock *B) {
    if (!PDT)
      PDT.emplace(F);
    return (DT.dominates(A, B) && PDT->dominates(B, A)) || (DT.dominates(B, A) && PDT->dominates(A, B));
  }

  // Whether the source asks for something here.
  bool isHinted(const Loop &L) {
    const MDNode *ID = L.getLoopID();
    return ID && any_of(ID->operands(), [](const MDOperand &Op) {
      auto *Property = dyn_cast_or_null<MDNode>(Op.get());
      auto *Name = Property && Property->getNumOperands() ? dyn_cast<MDString>(Property->getOperand(0)) : nullptr;
      return Name && Name->getString() != "llvm.loop.mustprogress";
    });
  }

  // Whether there is but one order: straight code with one store at most to places that change, and no loop around or in a row with it
  // that would be described.
  bool isAlone(const Loop &L) {
    if (L.getNumBlocks() > 2 || isHinted(L))
      return false;
    unsigned Stores = 0;
    for (const BasicBlock *B : L.blocks())
      for (const Instruction &I : *B) {
        if (isa<SelectInst>(I) || I.isIntDivRem() || (isa<CallBase>(I) && I.mayWriteToMemory()))
          return false;
        if (auto *Store = dyn_cast<StoreInst>(&I)) {
          auto *Place = dyn_cast<Instruction>(Store->getPointerOperand());
          Stores += Place && L.contains(Place) && !(isa<GetElementPtrInst>(Place) && L.hasLoopInvariantOperands(Place));
        }
      }
    if (Stores > 1)
      return false;
    for (const Loop *Around = L.getParentLoop(); Around; Around = Around->getParentLoop())
      if (!isClosed(*Around))
        return false;
    const Loop *Parent = L.getParentLoop();
    for (const Loop *Other : Parent ? Parent->getSubLoops() : LI.getTopLevelLoops())
      if (Other != &L && areInRow(Other->getHeader(), L.getHeader()))
        return false;
    // What becomes a loop.
    auto Copies = [&](const Instruction &I) {
      return (isa<AnyMemIntrinsic>(I) || bringsLoops(I)) && LI.getLoopFor(I.getParent()) == Parent &&
             areInRow(I.getParent(), L.getHeader());
    };
    return none_of(instructions(F), Copies);
  }

  // Whether describing an innermost loop may lead to anything. `Alone`: so may one that has but one order.
  bool mayGain(const Loop &L, bool Alone) {
    auto Touches = [](const BasicBlock *B) { return any_of(*B, [](const Instruction &I) { return I.mayReadOrWriteMemory(); }); };
    return !isClosed(L) && any_of(L.getOutermostLoop()->blocks(), Touches) && (Alone || !isAlone(L));
  }

  bool mayGain(bool Alone) {
    auto Brings = [&](const Instruction &I) { return LI.getLoopFor(I.getParent()) && bringsLoops(I); };
    return !LI.empty() &&
           (any_of(LI.getLoopsInPreorder(), [&](const Loop *L) { return L->isInnermost() && mayGain(*L, Alone); }) ||
            any_of(instructions(F), Brings));
  }
};

} // namespace

// Whether describing some loop may lead to anything, as far as is plain before any pass. `Alone`: one straight loop by itself may, which
// no other order improves.
extern "C" bool lt_may_gain(Function *F, bool Alone) { return Survey(*F).mayGain(Alone); }
