// TargetTransformInfo. Kind of cost: 0 reciprocal throughput, 1 latency, 2 code size, 3 size and latency.
// Costs are false where the target says "invalid", and are then not written.
#include "shim.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;
using TTI = TargetTransformInfo;

static TTI::TargetCostKind kind(int K) {
  switch (K) {
  case 1: return TTI::TCK_Latency;
  case 2: return TTI::TCK_CodeSize;
  case 3: return TTI::TCK_SizeAndLatency;
  default: return TTI::TCK_RecipThroughput;
  }
}
static bool give(InstructionCost C, int64_t *Out) {
  if (!C.isValid())
    return false;
  *Out = C.getValue();
  return true;
}

// Of a unary or binary operator; opcodes are the C API's.
extern "C" bool lt_cost_arith(LtAnalyses *A, int Opcode, Type *T, int K, int64_t *Out) {
  unsigned Op = ltOpcode(Opcode);
  return (Instruction::isBinaryOp(Op) || Instruction::isUnaryOp(Op)) &&
         give(A->TTI->getArithmeticInstrCost(Op, T, kind(K)), Out);
}
extern "C" bool lt_cost_memory(LtAnalyses *A, bool Store, Type *T, uint64_t Alignment, unsigned Space, int K,
                               int64_t *Out) {
  return give(A->TTI->getMemoryOpCost(Store ? Instruction::Store : Instruction::Load, T, Align(Alignment), Space, kind(K)),
              Out);
}
extern "C" bool lt_cost_instruction(LtAnalyses *A, const Instruction *I, int K, int64_t *Out) {
  return give(A->TTI->getInstructionCost(I, kind(K)), Out);
}
extern "C" bool lt_cost_intrinsic(LtAnalyses *A, unsigned Id, Type *Ret, Type **Params, size_t N, int K, int64_t *Out) {
  IntrinsicCostAttributes Attributes((Intrinsic::ID)Id, Ret, ArrayRef<Type *>(Params, N));
  return give(A->TTI->getIntrinsicInstrCost(Attributes, kind(K)), Out);
}

// Known minimum for scalable registers. Kind: 0 scalar, 1 fixed vector, 2 scalable vector.
extern "C" uint64_t lt_register_bits(LtAnalyses *A, int Kind) {
  auto K = Kind == 0 ? TTI::RGK_Scalar : Kind == 1 ? TTI::RGK_FixedWidthVector : TTI::RGK_ScalableVector;
  return A->TTI->getRegisterBitWidth(K).getKnownMinValue();
}
extern "C" uint32_t lt_register_count(LtAnalyses *A, bool Vector) {
  return A->TTI->getNumberOfRegisters(A->TTI->getRegisterClassForType(Vector));
}
extern "C" uint32_t lt_cache_line(LtAnalyses *A) { return A->TTI->getCacheLineSize(); }
// Level 1 or 2 of the data caches, in bytes; 0 where the target does not say.
extern "C" uint32_t lt_cache_size(LtAnalyses *A, int Level) {
  return A->TTI->getCacheSize(Level == 1 ? TTI::CacheLevel::L1D : TTI::CacheLevel::L2D).value_or(0);
}
// What: 0 masked load, 1 masked store, 2 gather, 3 scatter.
extern "C" bool lt_legal_masked(LtAnalyses *A, int What, Type *T, uint64_t Alignment) {
  Align Al(Alignment);
  switch (What) {
  case 0: return A->TTI->isLegalMaskedLoad(T, Al, 0);
  case 1: return A->TTI->isLegalMaskedStore(T, Al, 0);
  case 2: return A->TTI->isLegalMaskedGather(T, Al);
  default: return A->TTI->isLegalMaskedScatter(T, Al);
  }
}
