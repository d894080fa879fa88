// Passes over some functions of a module.
#include "shim.h"
#include "llvm-c/Error.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

// Free with lt_managers_free, before what they were used on goes.
extern "C" LtManagers *lt_managers_new() { return new LtManagers; }

extern "C" void lt_managers_free(LtManagers *M) { delete M; }

// Nothing more is asked of the function.
extern "C" void lt_managers_forget(LtManagers *M, Function *F) { M->FAM.clear(*F, F->getName()); }

extern "C" LLVMErrorRef lt_run_on_functions(LtManagers *M, Function **Functions, size_t Count, const char *Pipeline) {
  FunctionPassManager Passes;
  if (Error E = M->PB.parsePassPipeline(Passes, Pipeline))
    return wrap(std::move(E));
  for (Function *F : ArrayRef(Functions, Count))
    Passes.run(*F, M->FAM);
  return LLVMErrorSuccess;
}

// Whether no variable is in memory that could be in a register.
extern "C" bool lt_in_registers(const Function *F) {
  return none_of(instructions(*F), [](const Instruction &I) {
    auto *Variable = dyn_cast<AllocaInst>(&I);
    return Variable && isAllocaPromotable(Variable);
  });
}

static bool holdsVector(const Type *T) {
  auto *S = dyn_cast<StructType>(T);
  return S ? any_of(S->elements(), holdsVector) : T->isVectorTy();
}

// Whether the parts of a vector would be computed right behind an instruction that ends its block.
static bool endsBlock(const Instruction &I) {
  return I.isTerminator() && (holdsVector(I.getType()) || any_of(I.users(), [&](const User *U) {
                                return getLoadStorePointerOperand(U) == &I && getLoadStoreType(U)->isVectorTy();
                              }));
}

// Whether it has vectors, none beyond 64 bits, and LLVM can take them apart.
extern "C" bool lt_has_pairs(const Function *F) {
  bool Any = false;
  for (const Instruction &I : instructions(*F)) {
    auto Fits = [&](const Value *V) {
      auto *T = dyn_cast<VectorType>(V->getType());
      Any |= T != nullptr;
      return !T || (isa<FixedVectorType>(T) && T->getPrimitiveSizeInBits().getFixedValue() - 1 < 64);
    };
    if (!Fits(&I) || !all_of(I.operand_values(), Fits) || endsBlock(I))
      return false;
  }
  return Any;
}
