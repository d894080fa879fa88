// TargetTransformInfo.
// Costs are false where the target says "invalid", and are then not written.
#include "shim.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;
using TTI = TargetTransformInfo;

extern "C" bool lt_cost_instruction(LtAnalyses *A, const Instruction *I, bool Latency, int64_t *Out) {
  InstructionCost C = A->TTI->getInstructionCost(I, Latency ? TTI::TCK_Latency : TTI::TCK_RecipThroughput);
  if (!C.isValid())
    return false;
  *Out = C.getValue();
  return true;
}

extern "C" uint64_t lt_vector_bits(LtAnalyses *A) {
  return A->TTI->getRegisterBitWidth(TTI::RGK_FixedWidthVector).getKnownMinValue();
}
extern "C" uint32_t lt_register_count(LtAnalyses *A, bool Vector) {
  return A->TTI->getNumberOfRegisters(A->TTI->getRegisterClassForType(Vector));
}
extern "C" uint32_t lt_cache_line(LtAnalyses *A) { return A->TTI->getCacheLineSize(); }
// Level 1 or 2 of the data caches, in bytes; 0 where the target does not say.
extern "C" uint32_t lt_cache_size(LtAnalyses *A, int Level) {
  return A->TTI->getCacheSize(Level == 1 ? TTI::CacheLevel::L1D : TTI::CacheLevel::L2D).value_or(0);
}
extern "C" bool lt_legal_masked(LtAnalyses *A, Type *T, uint64_t Alignment) {
  return A->TTI->isLegalMaskedLoad(T, Align(Alignment), 0) && A->TTI->isLegalMaskedStore(T, Align(Alignment), 0);
}
