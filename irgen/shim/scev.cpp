// ScalarEvolution, as an expression to walk. Expressions belong to the analyses they came from.
#include "shim.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

// Null where the value has no expression (its type is neither an integer nor a pointer).
extern "C" const SCEV *lt_scev(LtAnalyses *A, Value *V) { return A->SE->isSCEVable(V->getType()) ? A->SE->getSCEV(V) : nullptr; }
// The pointer base of a pointer expression, itself where there is none.
extern "C" const SCEV *lt_scev_base(LtAnalyses *A, const SCEV *S) { return A->SE->getPointerBase(S); }
// S minus its pointer base: an integer; could-not-compute where S is no pointer.
extern "C" const SCEV *lt_scev_offset(LtAnalyses *A, const SCEV *S) {
  return S->getSCEVType() != scCouldNotCompute && S->getType()->isPointerTy() ? A->SE->removePointerBase(S)
                                                                            : A->SE->getCouldNotCompute();
}

// A constant that is not exceeded, or exactly.
extern "C" const SCEV *lt_backedge_taken(LtAnalyses *A, uint32_t L, bool Most) {
  return A->SE->getBackedgeTakenCount(A->Loops[L], Most ? ScalarEvolution::ConstantMaximum : ScalarEvolution::Exact);
}
// How often the exit of one exiting block is not taken.
extern "C" const SCEV *lt_exit_count(LtAnalyses *A, uint32_t L, const BasicBlock *BB) {
  return A->SE->getExitCount(A->Loops[L], BB);
}

extern "C" int lt_scev_kind(const SCEV *S) { return S->getSCEVType(); }
extern "C" uint32_t lt_scev_num_operands(const SCEV *S) {
  return S->getSCEVType() == scCouldNotCompute ? 0 : S->operands().size();
}
extern "C" const SCEV *lt_scev_operand(const SCEV *S, uint32_t I) { return S->operands()[I]; }
// 0 for could-not-compute.
extern "C" uint64_t lt_scev_bits(LtAnalyses *A, const SCEV *S) {
  return S->getSCEVType() == scCouldNotCompute ? 0 : A->SE->getTypeSizeInBits(S->getType());
}
// False where S is no constant.
extern "C" bool lt_scev_constant(const SCEV *S, LtInt *Out) {
  auto *C = dyn_cast<SCEVConstant>(S);
  if (!C)
    return false;
  *Out = ltInt(C->getAPInt());
  return true;
}
extern "C" Value *lt_scev_value(const SCEV *S) {
  auto *U = dyn_cast<SCEVUnknown>(S);
  return U ? U->getValue() : nullptr;
}
extern "C" uint32_t lt_scev_loop(const LtAnalyses *A, const SCEV *S) {
  auto *R = dyn_cast<SCEVAddRecExpr>(S);
  return R ? A->number(R->getLoop()) : UINT32_MAX;
}
// Bit 0 no self wrap, 1 no unsigned wrap, 2 no signed wrap.
extern "C" int lt_scev_flags(const SCEV *S) {
  auto *N = dyn_cast<SCEVNAryExpr>(S);
  return N ? (N->hasNoSelfWrap() ? 1 : 0) | (N->hasNoUnsignedWrap() ? 2 : 0) | (N->hasNoSignedWrap() ? 4 : 0) : 0;
}
// Inclusive bounds; false where S has none.
extern "C" bool lt_scev_range(LtAnalyses *A, const SCEV *S, bool Signed, LtInt *Min, LtInt *Max) {
  if (S->getSCEVType() == scCouldNotCompute)
    return false;
  *Min = ltInt(Signed ? A->SE->getSignedRangeMin(S) : A->SE->getUnsignedRangeMin(S));
  *Max = ltInt(Signed ? A->SE->getSignedRangeMax(S) : A->SE->getUnsignedRangeMax(S));
  return true;
}
extern "C" char *lt_scev_print(const SCEV *S) {
  std::string Text;
  raw_string_ostream(Text) << *S;
  return LLVMCreateMessage(Text.c_str());
}
