// What the shim's parts share. Every function is extern "C", throws nothing, and takes arguments that the Rust side
// has checked; pointers are never null unless a comment says so. Functions returning char* return a string made by
// LLVMCreateMessage, which the caller frees with LLVMDisposeMessage.
#pragma once

#include "llvm-c/Core.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/Passes/PassBuilder.h"
#include <cstdint>
#include <vector>

// A non-owning string: not terminated by a zero.
struct LtStr {
  const char *data;
  size_t len;
};

// The low 128 bits of an integer, sign-extended from `width`.
struct LtInt {
  uint64_t lo, hi;
  uint32_t width;
};

inline LtInt ltInt(const llvm::APInt &V) {
  llvm::APInt W = V.sextOrTrunc(128);
  return {W.getRawData()[0], W.getRawData()[1], V.getBitWidth()};
}

// The C++ number of an arithmetic operator or cast of the C API; 0, which is no opcode, for others.
inline unsigned ltOpcode(int Opcode) {
  switch (Opcode) {
  case LLVMFNeg: return llvm::Instruction::FNeg;
  case LLVMAdd: return llvm::Instruction::Add;
  case LLVMFAdd: return llvm::Instruction::FAdd;
  case LLVMSub: return llvm::Instruction::Sub;
  case LLVMFSub: return llvm::Instruction::FSub;
  case LLVMMul: return llvm::Instruction::Mul;
  case LLVMFMul: return llvm::Instruction::FMul;
  case LLVMUDiv: return llvm::Instruction::UDiv;
  case LLVMSDiv: return llvm::Instruction::SDiv;
  case LLVMFDiv: return llvm::Instruction::FDiv;
  case LLVMURem: return llvm::Instruction::URem;
  case LLVMSRem: return llvm::Instruction::SRem;
  case LLVMFRem: return llvm::Instruction::FRem;
  case LLVMShl: return llvm::Instruction::Shl;
  case LLVMLShr: return llvm::Instruction::LShr;
  case LLVMAShr: return llvm::Instruction::AShr;
  case LLVMAnd: return llvm::Instruction::And;
  case LLVMOr: return llvm::Instruction::Or;
  case LLVMXor: return llvm::Instruction::Xor;
  case LLVMTrunc: return llvm::Instruction::Trunc;
  case LLVMZExt: return llvm::Instruction::ZExt;
  case LLVMSExt: return llvm::Instruction::SExt;
  case LLVMFPToUI: return llvm::Instruction::FPToUI;
  case LLVMFPToSI: return llvm::Instruction::FPToSI;
  case LLVMUIToFP: return llvm::Instruction::UIToFP;
  case LLVMSIToFP: return llvm::Instruction::SIToFP;
  case LLVMFPTrunc: return llvm::Instruction::FPTrunc;
  case LLVMFPExt: return llvm::Instruction::FPExt;
  case LLVMPtrToInt: return llvm::Instruction::PtrToInt;
  case LLVMPtrToAddr: return llvm::Instruction::PtrToAddr;
  case LLVMIntToPtr: return llvm::Instruction::IntToPtr;
  case LLVMBitCast: return llvm::Instruction::BitCast;
  case LLVMAddrSpaceCast: return llvm::Instruction::AddrSpaceCast;
  default: return 0;
  }
}

// LLVM's managers of passes and analyses, which refer to one another. Making them takes as long as light passes do on a small
// function: what does several things to functions makes them once. Results stay until something is said to have changed.
struct LtManagers {
  llvm::PassBuilder PB;
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;

  explicit LtManagers(llvm::TargetMachine *TM = nullptr) : PB(TM) {
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  }
  // What a step did to a function, as it says itself.
  bool changed(llvm::Function &F, bool Changed) {
    if (Changed)
      FAM.invalidate(F, llvm::PreservedAnalyses::none());
    return Changed;
  }
};

// Everything known of one function. Members are destroyed in reverse order: the results refer to the managers.
struct LtAnalyses : LtManagers {
  llvm::Function &F;
  llvm::LoopInfo *LI = nullptr;
  llvm::DominatorTree *DT = nullptr;
  llvm::ScalarEvolution *SE = nullptr;
  llvm::TargetTransformInfo *TTI = nullptr;
  std::vector<llvm::Loop *> Loops; // preorder; a loop's number is its place here
  llvm::DenseMap<const llvm::Loop *, uint32_t> Number;

  LtAnalyses(llvm::Function &F, llvm::TargetMachine *TM) : LtManagers(TM), F(F) {}
  // UINT32_MAX for no loop.
  uint32_t number(const llvm::Loop *L) const {
    auto It = Number.find(L);
    return L && It != Number.end() ? It->second : UINT32_MAX;
  }
};

// Blocks from which all ways come to an `unreachable`, as after a failed assertion, or leave the function by an exception.
llvm::SmallPtrSet<const llvm::BasicBlock *, 8> ltEnding(const llvm::Function &F);

// The function that a call calls, by its name or by an alias that stands for it in every program; null for others.
llvm::Function *ltCallee(const llvm::CallBase &Call);

// Whether a call in a loop may be put in place, with all that it calls.
bool ltMayInline(const llvm::Function &Callee, const llvm::Function &Caller, const llvm::TargetLibraryInfo &TLI);

// Parts of lt_hoist with files of their own.
bool ltExpandMemory(llvm::Function &F, bool Moves);
