// Arrays whose rows are reached through a table of pointers, `a[i][j]` of a `T **a`: whether the rows of which a loop reads the
// pointers lie one behind the other at equal distances is found in front of it. Whoever takes them for one array has to check that
// they do, and that nothing overwrites the table.
//
// Only pointers that the loop reads are read in front of it, and none where it does not run: those that it reads in the first
// iterations of the loops around the one that walks along the table.
#include "motion.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace lt;

namespace {

// Rules that a test may leave out.
enum Checked { Distances = 1, Lengths = 2 };

// Tables of one loop, at most.
constexpr unsigned MaxTables = 6;
constexpr const char *Distance = "looptree.rows.distance", *Row = "looptree.rows.first", *Length = "looptree.rows.length";
// Bytes between pointers to rows, at most: a structure that holds one.
constexpr int64_t MaxCell = 256;

// `distance(table, count, size, cell)`: how many elements of `size` bytes any row is behind the one before, pointers to rows being `cell`
// bytes apart; zero where distances differ, are not positive, are no multiple of the size, or there are fewer than two rows.
Function *distance(Module &M, bool Unchecked) {
  if (Function *F = M.getFunction(Distance))
    return F;
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C), *Ptr = PointerType::get(C, 0);
  Function *F = Function::Create(FunctionType::get(I64, {Ptr, I64, I64, I64}, false), GlobalValue::PrivateLinkage, Distance, M);
  auto Block = [&](const char *Name) { return BasicBlock::Create(C, Name, F); };
  BasicBlock *Start = Block("start"), *Two = Block("two"), *Loop = Block("loop"), *Next = Block("next"), *Equal = Block("equal"),
             *None = Block("none");
  Value *Table = F->getArg(0), *Count = F->getArg(1), *Size = F->getArg(2), *Cell = F->getArg(3);
  IRBuilder<> B(Start);
  auto At = [&](Value *I) {
    return B.CreatePtrToInt(B.CreateAlignedLoad(Ptr, B.CreatePtrAdd(Table, B.CreateMul(I, Cell)), Align(1)), I64);
  };
  Value *Zero = B.getInt64(0);
  B.CreateCondBr(B.CreateICmpSGT(Count, B.getInt64(1)), Two, None);
  B.SetInsertPoint(Two);
  Value *First = At(Zero), *Step = B.CreateSub(At(B.getInt64(1)), First);
  Value *Whole = B.CreateICmpEQ(B.CreateURem(Step, Size), Zero);
  B.CreateCondBr(B.CreateAnd(B.CreateICmpSGT(Step, Zero), Whole), Loop, None);
  B.SetInsertPoint(Loop);
  PHINode *I = B.CreatePHI(I64, 2), *Want = B.CreatePHI(I64, 2);
  B.CreateCondBr(B.CreateICmpEQ(At(I), Want), Next, None);
  B.SetInsertPoint(Next);
  Value *More = B.CreateAdd(I, B.getInt64(1)), *Then = B.CreateAdd(Want, Step);
  B.CreateCondBr(B.CreateICmpSLT(More, Unchecked ? B.getInt64(2) : Count), Loop, Equal);
  I->addIncoming(Zero, Two), I->addIncoming(More, Next);
  Want->addIncoming(First, Two), Want->addIncoming(Then, Next);
  B.SetInsertPoint(Equal);
  B.CreateRet(B.CreateUDiv(Step, Size));
  B.SetInsertPoint(None);
  B.CreateRet(Zero);
  return F;
}

// `length(firsts, lasts, count, cell, size)`: how many elements of `size` bytes any row has, from its first pointer to its last one, in two
// tables of pointers that are `cell` bytes apart; -1 where rows differ, have no whole number of elements, or there are none.
Function *length(Module &M, bool Unchecked) {
  if (Function *F = M.getFunction(Length))
    return F;
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C), *Ptr = PointerType::get(C, 0);
  Function *F = Function::Create(FunctionType::get(I64, {Ptr, Ptr, I64, I64, I64}, false), GlobalValue::PrivateLinkage, Length, M);
  auto Block = [&](const char *Name) { return BasicBlock::Create(C, Name, F); };
  BasicBlock *Start = Block("start"), *Some = Block("some"), *Loop = Block("loop"), *Next = Block("next"), *Equal = Block("equal"),
             *None = Block("none");
  Value *Firsts = F->getArg(0), *Lasts = F->getArg(1), *Count = F->getArg(2), *Cell = F->getArg(3), *Size = F->getArg(4);
  IRBuilder<> B(Start);
  auto Read = [&](Value *Table, Value *I) {
    return B.CreatePtrToInt(B.CreateAlignedLoad(Ptr, B.CreatePtrAdd(Table, B.CreateMul(I, Cell)), Align(1)), I64);
  };
  Value *Zero = B.getInt64(0);
  B.CreateCondBr(B.CreateICmpSGT(Count, Zero), Some, None);
  B.SetInsertPoint(Some);
  Value *Bytes = B.CreateSub(Read(Lasts, Zero), Read(Firsts, Zero));
  Value *Whole = B.CreateICmpEQ(B.CreateURem(Bytes, Size), Zero);
  B.CreateCondBr(B.CreateAnd(B.CreateICmpSGE(Bytes, Zero), Whole), Loop, None);
  B.SetInsertPoint(Loop);
  PHINode *I = B.CreatePHI(I64, 2);
  Value *First = Read(Firsts, I), *Last = Read(Lasts, I);
  Value *Same = B.CreateAnd(B.CreateICmpEQ(B.CreateSub(Last, First), Bytes), B.CreateICmpUGE(Last, First));
  B.CreateCondBr(Same, Next, None);
  B.SetInsertPoint(Next);
  Value *More = B.CreateAdd(I, B.getInt64(1));
  B.CreateCondBr(B.CreateICmpSLT(More, Unchecked ? B.getInt64(1) : Count), Loop, Equal);
  I->addIncoming(Zero, Some), I->addIncoming(More, Next);
  B.SetInsertPoint(Equal);
  B.CreateRet(B.CreateUDiv(Bytes, Size));
  B.SetInsertPoint(None);
  B.CreateRet(B.getInt64(-1));
  return F;
}

// `first(table, distance)`: the first row, or null where the distance is zero.
Function *row(Module &M) {
  if (Function *F = M.getFunction(Row))
    return F;
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C), *Ptr = PointerType::get(C, 0);
  Function *F = Function::Create(FunctionType::get(Ptr, {Ptr, I64}, false), GlobalValue::PrivateLinkage, Row, M);
  BasicBlock *Start = BasicBlock::Create(C, "start", F), *Some = BasicBlock::Create(C, "some", F),
             *None = BasicBlock::Create(C, "none", F);
  IRBuilder<> B(Start);
  B.CreateCondBr(B.CreateICmpEQ(F->getArg(1), B.getInt64(0)), None, Some);
  B.SetInsertPoint(Some);
  B.CreateRet(B.CreateAlignedLoad(Ptr, F->getArg(0), Align(1)));
  B.SetInsertPoint(None);
  B.CreateRet(ConstantPointerNull::get(cast<PointerType>(Ptr)));
  return F;
}

Function *described(Function *F) {
  F->setOnlyReadsMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setNoSync();
  return F;
}

// The value in the first iterations of the loops of a nest.
struct First : SCEVRewriteVisitor<First> {
  Loop *L;
  First(ScalarEvolution &SE, Loop *L) : SCEVRewriteVisitor(SE), L(L) {}
  const SCEV *visitAddRecExpr(const SCEVAddRecExpr *E) {
    return L->contains(E->getLoop()) ? visit(E->getStart()) : E;
  }
};

struct Rows : Motion {
  ScalarEvolution &SE;
  SCEVExpander Expander;
  unsigned LeftOut;

  Rows(Function &F, FunctionAnalysisManager &FAM, unsigned LeftOut)
      : Motion(F, FAM), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), Expander(SE, "rows"), LeftOut(LeftOut) {}

  // Pointers of a table that a loop reads: so many, from the first, where the tests hold.
  struct Part {
    LoadInst *Load;
    const SCEV *First, *Count;
    int64_t Cell;
    SmallVector<Test, 4> Tests;
  };
  struct Table {
    const SCEV *Base;
    unsigned Size;
    int64_t Cell;
    SmallVector<Part, 4> Parts;
  };

  static CallInst *isBetween(User *U) {
    auto *Call = dyn_cast<CallInst>(U);
    return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Between ? Call : nullptr;
  }

  // How often a loop from one pointer to another goes back to its header, as it was counted.
  const SCEV *counted(Loop *Along) {
    BasicBlock *E = Along->getExitingBlock();
    auto *Br = E ? dyn_cast<BranchInst>(E->getTerminator()) : nullptr;
    auto *Test = Br && Br->isConditional() ? dyn_cast<ICmpInst>(Br->getCondition()) : nullptr;
    if (!Test || !Test->isEquality() || E != Along->getHeader())
      return SE.getCouldNotCompute();
    for (unsigned At : {0, 1}) {
      auto *Walk = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Test->getOperand(At)));
      if (!Walk || Walk->getLoop() != Along || !Walk->isAffine())
        continue;
      const SCEV *Last = SE.getSCEV(Test->getOperand(1 - At));
      for (BasicBlock &BB : F)
        for (Instruction &I : BB)
          if (CallInst *Call = isBetween(&I))
            if (SE.getSCEV(Call->getArgOperand(0)) == Walk->getStart() && SE.getSCEV(Call->getArgOperand(1)) == Last &&
                SE.getSCEV(Call->getArgOperand(2)) == Walk->getOperand(1) && DT.dominates(Call, Along->getHeader()))
              return SE.getSCEV(Call);
    }
    return SE.getCouldNotCompute();
  }

  // The size of the elements that a row is read and written as; zero where it is used otherwise.
  unsigned elements(LoadInst *Load) {
    unsigned Size = 0;
    SmallVector<Value *, 8> Work = {Load};
    SmallPtrSet<Value *, 8> Seen;
    while (!Work.empty()) {
      Value *V = Work.pop_back_val();
      for (User *U : V->users()) {
        if (isa<GetElementPtrInst, PHINode>(U)) {
          if (Seen.insert(U).second)
            Work.push_back(U);
        } else if (isa<ICmpInst, PtrToIntInst>(U) || isBetween(U)) {
          continue;
        } else if (getLoadStorePointerOperand(U) == V) {
          unsigned Bytes = DL.getTypeStoreSize(getLoadStoreType(U));
          Size = Size ? std::min(Size, Bytes) : Bytes;
        } else {
          return 0;
        }
      }
    }
    return Size;
  }

  // Whether all of the loop's iterations are executed to the end, and what it calls leaves the table alone.
  bool isPlain(Loop *L, Value *Base) {
    if (Ends.lookup(L))
      return false;
    auto Finite = [&](Loop *Inner) {
      return isMustProgress(Inner) || !isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(Inner));
    };
    if (!all_of(L->getLoopsInPreorder(), Finite))
      return false;
    auto It = Writes.find(L);
    return It == Writes.end() || all_of(It->second, [&](Instruction *W) {
             return isa<StoreInst>(W) || !isModSet(AA.getModRefInfo(W, MemoryLocation::getBeforeOrAfter(Base)));
           });
  }

  // The pointers that a load reads while the loop runs for the first time.
  std::optional<Part> part(LoadInst *Load, Loop *L, const SCEV *Base) {
    const SCEV *S = SE.getSCEV(Load->getPointerOperand());
    Loop *Along = nullptr;
    int64_t Cell = 0;
    while (auto *Step = dyn_cast<SCEVAddRecExpr>(S)) {
      auto *By = dyn_cast<SCEVConstant>(Step->getOperand(1));
      if (!L->contains(Step->getLoop()) || !Step->isAffine() || !By)
        break;
      int64_t Bytes = By->getAPInt().getSExtValue();
      if (Cell ? Bytes != Cell : Bytes <= 0 || Bytes > MaxCell || Bytes % DL.getPointerSize())
        break;
      Cell = Bytes;
      if (!Along)
        Along = const_cast<Loop *>(Step->getLoop());
      S = Step->getStart();
    }
    if (!Along || !SE.isLoopInvariant(S, L))
      return std::nullopt;
    const SCEV *Taken = SE.getBackedgeTakenCount(Along);
    if (isa<SCEVCouldNotCompute>(Taken))
      Taken = counted(Along);
    if (isa<SCEVCouldNotCompute>(Taken))
      return std::nullopt;
    Taken = First(SE, L).visit(Taken);
    if (!SE.isLoopInvariant(Taken, L) || SE.getTypeSizeInBits(Taken->getType()) > 64)
      return std::nullopt;
    auto Tests = tests(Load, L);
    if (!Tests || !all_of(*Tests, [&](Test &T) { return can(T.Condition, L, first(T.L)); }))
      return std::nullopt;
    // Once more where it is executed before the loop ends.
    BasicBlock *BB = Load->getParent();
    for (Loop *In = LI.getLoopFor(BB); In != Along; In = In->getParentLoop())
      BB = In->getLoopPreheader();
    SmallVector<BasicBlock *, 4> Exiting;
    Along->getExitingBlocks(Exiting);
    const SCEV *Count = SE.getTruncateOrZeroExtend(Taken, Type::getInt64Ty(F.getContext()));
    if (all_of(Exiting, [&](BasicBlock *E) { return DT.dominates(BB, E); }))
      Count = SE.getAddExpr(Count, SE.getOne(Count->getType()));
    // Counters are not to be made for it.
    auto Counts = [](const SCEV *E) { return isa<SCEVAddRecExpr>(E); };
    Instruction *At = L->getLoopPreheader()->getTerminator();
    if (SCEVExprContains(S, Counts) || SCEVExprContains(Count, Counts) || !Expander.isSafeToExpandAt(S, At) || !Expander.isSafeToExpandAt(Count, At))
      return std::nullopt;
    return Part{Load, S, Count, Cell, std::move(*Tests)};
  }

  // Finds the distance in front of the loop.
  void claim(Table &T, Loop *L) {
    const SCEV *Lowest = T.Parts.front().First;
    auto Behind = [&](const SCEV *S) { return dyn_cast<SCEVConstant>(SE.getMinusSCEV(S, Lowest)); };
    for (Part &P : T.Parts)
      if (auto *By = Behind(P.First); By && By->getAPInt().isNegative())
        Lowest = P.First;
    BasicBlock::iterator At = L->getLoopPreheader()->getTerminator()->getIterator();
    IRBuilder<> B(&*At);
    SmallVector<Instruction *, 8> Computed;
    Equal = &Computed;
    Value *Count = nullptr, *Reached = nullptr;
    SmallVector<Value *, 4> Counts;
    for (Part &P : T.Parts) {
      Counts.push_back(nullptr);
      auto *By = Behind(P.First);
      // Others may be within what is known of these.
      if (!By || By->getAPInt().isNegative() || By->getAPInt().getSExtValue() % T.Cell)
        continue;
      Value *All = B.getTrue();
      for (Test &Each : P.Tests) {
        Value *C = build(Each.Condition, L, first(Each.L), At);
        // What later tests compute may be poison where the first ones fail.
        All = B.CreateLogicalAnd(All, Each.Stays ? C : B.CreateNot(C));
      }
      if (P.First == Lowest)
        Reached = Reached ? B.CreateLogicalOr(Reached, All) : All;
      Value *Own = Expander.expandCodeFor(P.Count, B.getInt64Ty(), At);
      Counts.back() = B.CreateSelect(All, Own, B.getInt64(0));
      Own = B.CreateAdd(Own, B.getInt64(By->getAPInt().getSExtValue() / T.Cell));
      Own = B.CreateSelect(All, Own, B.getInt64(0));
      Count = Count ? B.CreateBinaryIntrinsic(Intrinsic::smax, Count, Own) : Own;
    }
    Count = B.CreateSelect(Reached, Count, B.getInt64(0));
    Value *From = Expander.expandCodeFor(Lowest, PointerType::get(F.getContext(), 0), At);
    Module &M = *F.getParent();
    CallInst *Step =
        B.CreateCall(described(distance(M, LeftOut & Distances)), {From, Count, B.getInt64(T.Size), B.getInt64(T.Cell)});
    B.CreateCall(described(row(M)), {From, Step});
    SmallDenseSet<std::pair<int64_t, int64_t>, 4> Measured;
    for (auto [P, Own] : zip(T.Parts, Counts)) {
      P.Load->setMetadata(Claimed, MDNode::get(F.getContext(), {}));
      for (User *U : P.Load->users()) {
        // The end of a row is in the same structure, and is read as often.
        CallInst *Call = isBetween(U);
        auto *End = Call ? dyn_cast<LoadInst>(Call->getArgOperand(1)) : nullptr;
        if (!Own || !End || Call->getArgOperand(0) != P.Load || !End->isSimple() || End->getParent() != P.Load->getParent())
          continue;
        auto *Behind = dyn_cast<SCEVConstant>(
            SE.getMinusSCEV(SE.getSCEV(End->getPointerOperand()), SE.getSCEV(P.Load->getPointerOperand())));
        auto *Size = dyn_cast<ConstantInt>(Call->getArgOperand(2));
        int64_t Away = Behind ? Behind->getAPInt().getSExtValue() : 0;
        if (!Size || !Away || Away < -MaxCell || Away > MaxCell || !Measured.insert({Away, Size->getSExtValue()}).second)
          continue;
        End->setMetadata(Claimed, MDNode::get(F.getContext(), {}));
        Value *Firsts = Expander.expandCodeFor(P.First, PointerType::get(F.getContext(), 0), At);
        Value *Lasts = B.CreatePtrAdd(Firsts, B.getInt64(Away));
        B.CreateCall(described(length(M, LeftOut & Lengths)), {Firsts, Lasts, Own, B.getInt64(T.Cell), Size});
      }
    }
    Changed = true;
  }

  bool run() {
    if (LI.empty() || F.hasOptNone() || DL.getPointerSize() != 8)
      return false;
    survey();
    SmallVector<LoadInst *, 16> Loads;
    for (BasicBlock &BB : F)
      if (LI.getLoopFor(&BB))
        for (Instruction &I : BB)
          if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && !Load->getPointerAddressSpace() &&
                                                   Load->getType() == PointerType::get(F.getContext(), 0))
            Loads.push_back(Load);
    if (Loads.empty())
      return false;
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (!L->getLoopPreheader())
        continue;
      SmallVector<Table, 4> Tables;
      for (LoadInst *Load : Loads) {
        if (!L->contains(Load))
          continue;
        const SCEV *Base = SE.getPointerBase(SE.getSCEV(Load->getPointerOperand()));
        auto *Known = dyn_cast<SCEVUnknown>(Base);
        unsigned Size = elements(Load);
        if (!Known || !Size || !SE.isLoopInvariant(Base, L) || !isPlain(L, Known->getValue()))
          continue;
        auto Found = part(Load, L, Base);
        if (!Found)
          continue;
        // Pointers of one field.
        auto Fits = [&](Table &T) {
          auto *By = T.Base == Base && T.Size == Size && T.Cell == Found->Cell
                         ? dyn_cast<SCEVConstant>(SE.getMinusSCEV(Found->First, T.Parts.front().First))
                         : nullptr;
          return T.Base == Base && T.Size == Size && T.Cell == Found->Cell &&
                 (T.Cell == DL.getPointerSize() || (By && By->getAPInt().getSExtValue() % T.Cell == 0));
        };
        auto Same = find_if(Tables, Fits);
        if (Same == Tables.end() && Tables.size() < MaxTables)
          Tables.push_back({Base, Size, Found->Cell, {std::move(*Found)}});
        else if (Same != Tables.end())
          Same->Parts.push_back(std::move(*Found));
      }
      for (Table &T : Tables)
        claim(T, L);
    }
    return Changed;
  }
};

} // namespace

// Whether distances of rows are found in front of loops. The function must be valid, with loops in simplified and closed form.
// `LeftOut`: rules that a test leaves out, of which one has only the first rows looked at.
extern "C" bool lt_claim_rows(LtManagers *M, Function *F, unsigned LeftOut) {
  return M->changed(*F, Rows(*F, M->FAM, LeftOut).run());
}
