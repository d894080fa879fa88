// Arrays of more dimensions whose strides are values of their own, `x[i + j * row + k * plane]`: how many rows a plane has is computed
// where both are known. Whoever takes a plane for so many rows has to check that it is.
#include "motion.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace lt;

namespace {

constexpr const char *Ratio = "looptree.strides.ratio";
// Ratios of one function, and operations and strides of one address, at most.
constexpr unsigned MaxRatios = 64, MaxOfAddress = 40, MaxStridesOfOne = 3;

// Of one dimension in flang's descriptors of arrays: where it begins, how long it is, how far its elements are apart.
constexpr int64_t BytesOfDimension = 24;

// `ratio(outer, inner)`: how many times the one has the other, rounded towards zero; 0 where the other is not positive.
//
// Nothing that poison makes undefined: the loops may not run at all, and strides be poison then.
Function *ratio(Module &M) {
  if (Function *F = M.getFunction(Ratio))
    return F;
  Type *I64 = Type::getInt64Ty(M.getContext());
  Function *F = computing(M, Ratio, I64, {I64, I64});
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "start", F));
  Value *Outer = B.CreateFreeze(F->getArg(0)), *Inner = B.CreateFreeze(F->getArg(1));
  Value *Positive = B.CreateICmpSGT(Inner, B.getInt64(0));
  Value *Times = B.CreateSDiv(Outer, B.CreateSelect(Positive, Inner, B.getInt64(1)));
  B.CreateRet(B.CreateSelect(Positive, Times, B.getInt64(0)));
  return F;
}

// Where a value is loaded, be it under a condition: a pointer, and how many bytes behind it.
std::pair<const Value *, int64_t> origin(const Value *V, const DataLayout &DL) {
  for (unsigned Depth = 0; Depth < MaxOfAddress; ++Depth) {
    if (auto *Load = dyn_cast<LoadInst>(V)) {
      int64_t Offset = 0;
      return {GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, DL), Offset};
    }
    const Value *Next = nullptr;
    if (auto *Phi = dyn_cast<PHINode>(V)) {
      for (const Value *From : Phi->incoming_values())
        if (auto *Nothing = dyn_cast<Constant>(From); !Nothing || !(isa<UndefValue>(Nothing) || Nothing->isNullValue())) {
          if (Next)
            return {};
          Next = From;
        }
    } else if (auto *Freeze = dyn_cast<FreezeInst>(V)) {
      Next = Freeze->getOperand(0);
    }
    if (!Next)
      break;
    V = Next;
  }
  return {};
}

struct Ratios {
  Function &F;
  DominatorTree &DT;
  LoopInfo &LI;
  // With the outermost loops in which neither changes.
  SmallMapVector<std::pair<Value *, Value *>, SmallSetVector<Loop *, 4>, 8> Found;

  Ratios(Function &F, FunctionAnalysisManager &FAM)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)) {}

  // By which strides an address grows, and by how deep a loop; and the loop by which it grows element by element.
  struct Steps {
    SmallVector<std::pair<unsigned, Value *>, 4> Strides;
    unsigned Unit = 0, Operations = 0;
  };

  static Value *plain(Value *V) {
    while (isa<SExtInst, ZExtInst, FreezeInst>(V))
      V = cast<Instruction>(V)->getOperand(0);
    return V;
  }

  // The loop that a counter counts; null where the value is none, but for numbers.
  Loop *counted(Value *V) {
    for (unsigned Depth = 0; Depth < MaxOfAddress; ++Depth) {
      V = plain(V);
      auto *I = dyn_cast<Instruction>(V);
      if (!I)
        return nullptr;
      if (isa<PHINode>(I)) {
        Loop *L = LI.getLoopFor(I->getParent());
        return L && L->getHeader() == I->getParent() ? L : nullptr;
      }
      if (I->getNumOperands() != 2 || !isa<Constant>(I->getOperand(1)))
        return nullptr;
      V = I->getOperand(0);
    }
    return nullptr;
  }

  bool look(Value *V, Steps &S) {
    if (++S.Operations > MaxOfAddress)
      return false;
    V = plain(V);
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return true;
    if (auto *Gep = dyn_cast<GetElementPtrInst>(I)) {
      return look(Gep->getPointerOperand(), S) && all_of(Gep->indices(), [&](Value *Index) { return look(Index, S); });
    }
    switch (I->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub: return look(I->getOperand(0), S) && look(I->getOperand(1), S);
    case Instruction::Mul:
    case Instruction::Shl: {
      Value *A = plain(I->getOperand(0)), *B = plain(I->getOperand(1));
      if (isa<Constant>(B))
        return look(A, S);
      if (I->getOpcode() == Instruction::Shl)
        return true;
      for (unsigned Swapped : {0, 1}) {
        if (Loop *L = counted(Swapped ? B : A); L && L->isLoopInvariant(Swapped ? A : B)) {
          S.Strides.push_back({L->getLoopDepth(), Swapped ? A : B});
          return true;
        }
      }
      return true;
    }
    default:
      if (Loop *L = counted(I))
        S.Unit = std::max(S.Unit, L->getLoopDepth());
      return true;
    }
  }

  bool run() {
    if (F.hasOptNone())
      return false;
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (L->getLoopDepth() < 2)
        continue;
      for (BasicBlock *BB : L->blocks())
        for (Instruction &I : *BB)
          if (Value *Address = LI.getLoopFor(BB) == L ? getLoadStorePointerOperand(&I) : nullptr)
            address(Address, L);
    }
    bool Changed = false;
    // As early as can be, for regions of several nests; and in front of each, where loops before it are a region of their own, which
    // computes nothing that only others need.
    for (auto &[Strides, Loops] : Found) {
      Instruction *First = behind(F, DT, SmallVector<Value *, 2>{Strides.first, Strides.second});
      SmallSetVector<Instruction *, 4> Places;
      if (First)
        Places.insert(First);
      for (Loop *L : Loops)
        if (BasicBlock *Front = L->getLoopPreheader(); Front && !(First && First->getParent() == Front))
          Places.insert(Front->getTerminator());
      for (Instruction *At : Places) {
        IRBuilder<> B(At);
        auto Wide = [&](Value *V) { return B.CreateSExt(V, B.getInt64Ty()); };
        B.CreateCall(ratio(*F.getParent()), {Wide(Strides.first), Wide(Strides.second)}, "ratio");
        Changed = true;
      }
    }
    return Changed;
  }

  void address(Value *Address, Loop *L) {
    Steps S;
    if (!look(Address, S) || S.Strides.size() < 2 || S.Strides.size() > MaxStridesOfOne)
      return;
    // The stride of an outer loop is the greater one, unless neighbours are those of the outermost loop.
    llvm::stable_sort(S.Strides, [](auto &A, auto &B) { return A.first < B.first; });
    if (S.Unit && S.Unit < S.Strides.front().first)
      std::reverse(S.Strides.begin(), S.Strides.end());
    // A descriptor has the inner dimensions first, whatever the loops.
    const std::pair<const Value *, int64_t> First = origin(S.Strides.front().second, F.getDataLayout());
    auto Described = [&](auto &Stride) {
      auto [Pointer, Offset] = origin(Stride.second, F.getDataLayout());
      return Pointer && Pointer == First.first && (Offset - First.second) % BytesOfDimension == 0;
    };
    if (all_of(S.Strides, Described))
      llvm::stable_sort(S.Strides, [&](auto &A, auto &B) {
        return origin(A.second, F.getDataLayout()).second > origin(B.second, F.getDataLayout()).second;
      });
    for (unsigned At = 1; At < S.Strides.size(); ++At) {
      Value *Outer = S.Strides[At - 1].second, *Inner = S.Strides[At].second;
      auto Fits = [](Value *V) { return V->getType()->isIntegerTy() && V->getType()->getIntegerBitWidth() <= 64; };
      bool Apart = S.Strides[At - 1].first != S.Strides[At].first && Outer != Inner && Fits(Outer) && Fits(Inner);
      if (!Apart || Found.size() >= MaxRatios || Found.contains({Inner, Outer}))
        continue;
      Loop *Fixed = L;
      while (Loop *Up = Fixed->getParentLoop()) {
        if (!Up->isLoopInvariant(Outer) || !Up->isLoopInvariant(Inner))
          break;
        Fixed = Up;
      }
      if (Fixed->isLoopInvariant(Outer) && Fixed->isLoopInvariant(Inner))
        Found[{Outer, Inner}].insert(Fixed);
    }
  }
};

} // namespace

// Whether anything changed. The function must be valid, with loops in simplified and closed form.
extern "C" bool lt_divide_strides(LtManagers *M, Function *F) { return M->changed(*F, Ratios(*F, M->FAM).run()); }
