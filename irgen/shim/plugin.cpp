// What a compiler needs to load us as a pass plugin, and its own ways to tell users things.
#include "shim.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LLVMRemarkStreamer.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

#define PASS "looptree"

namespace {
// The last: whether the compiler unrolls loops, where that is known.
using LtRun = bool (*)(LLVMModuleRef, LtStr, const bool *);
LtRun OnRun = nullptr;

cl::opt<std::string> Options(PASS, cl::desc("Options of looptree, as in its environment variable LOOPTREE"),
                             cl::value_desc("name=value,..."));

StringRef text(LtStr S) { return StringRef(S.data, S.len); }
LtStr text(StringRef S) { return {S.data(), S.size()}; }

// What a compiler's flags say of its pipeline is private to the builder, and an explicit instantiation may name it.
PipelineTuningOptions &tuning(PassBuilder &);
template <PipelineTuningOptions PassBuilder::*Member> struct Tuning {
  friend PipelineTuningOptions &tuning(PassBuilder &PB) { return PB.*Member; }
};
template struct Tuning<&PassBuilder::PTO>;

class LoopTreePass : public PassInfoMixin<LoopTreePass> {
  std::string Parameters;
  std::optional<bool> Unrolls;

public:
  LoopTreePass(StringRef Parameters, std::optional<bool> Unrolls) : Parameters(Parameters), Unrolls(Unrolls) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    bool Changed = OnRun && OnRun(wrap(&M), text(StringRef(Parameters)), Unrolls ? &*Unrolls : nullptr);
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};
} // namespace

// Before any plugin is registered.
extern "C" void lt_plugin_on_run(LtRun Run) { OnRun = Run; }

// Where all loops are still whole: nothing is unrolled, rotated or vectorised yet. Once for each module: when a linker
// optimises again, what is to be done has been done.
extern "C" void lt_plugin_register(PassBuilder *PB) {
  PB->registerPipelineEarlySimplificationEPCallback(
      [PB](ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase Phase) {
        bool Again = Phase == ThinOrFullLTOPhase::ThinLTOPostLink || Phase == ThinOrFullLTOPhase::FullLTOPostLink;
        if (Level != OptimizationLevel::O0 && !Again)
          MPM.addPass(LoopTreePass(Options, tuning(*PB).LoopUnrolling));
      });
  // -passes=looptree, or with options: -passes='looptree<threads=2>'
  PB->registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
        if (!PassBuilder::checkParametrizedPassName(Name, PASS))
          return false;
        StringRef Parameters = Name.substr(strlen(PASS));
        Parameters.consume_front("<") && Parameters.consume_back(">");
        MPM.addPass(LoopTreePass(Parameters.empty() ? StringRef(Options) : Parameters, std::nullopt));
        return true;
      });
}

// Severity counts as in LLVMDiagnosticSeverity.
extern "C" void lt_diagnose(Module *M, int Severity, LtStr Message) {
  Twine T(text(Message));
  M->getContext().diagnose(DiagnosticInfoGeneric(T, static_cast<DiagnosticSeverity>(Severity)));
}

extern "C" bool lt_remarks_wanted(const Module *M) {
  LLVMContext &C = M->getContext();
  return C.getLLVMRemarkStreamer() || C.getDiagHandlerPtr()->isAnyRemarkEnabled();
}

struct LtPiece {
  LtStr Name, Text;
};
struct LtRemark {
  int Kind; // 0: passed, 1: missed, 2: analysis
  LtStr Code, File;
  uint32_t Line, Column; // 0 where unknown
  const LtPiece *Pieces;
  size_t Count;
};

// A place that the function's debug information knows; the function's own otherwise.
static DiagnosticLocation place(const Function &F, const LtRemark &R) {
  const DISubprogram *Subprogram = F.getSubprogram();
  if (R.Line) {
    for (const Instruction &I : instructions(F)) {
      const DebugLoc &At = I.getDebugLoc();
      if (At && At.getLine() == R.Line && At.getCol() == R.Column && At->getFilename() == text(R.File))
        return At;
    }
    // What the early passes have folded away has its line still.
    if (Subprogram && Subprogram->getFilename() == text(R.File))
      return DebugLoc(DILocation::get(F.getContext(), R.Line, R.Column, const_cast<DISubprogram *>(Subprogram)));
  }
  return Subprogram ? DiagnosticLocation(Subprogram) : DiagnosticLocation();
}

extern "C" void lt_remark(const Function *F, const LtRemark *R) {
  OptimizationRemarkEmitter Emitter(F);
  auto Emit = [&](auto Remark) {
    for (const LtPiece &Piece : ArrayRef(R->Pieces, R->Count)) {
      if (Piece.Name.len)
        Remark << ore::NV(text(Piece.Name), text(Piece.Text));
      else
        Remark << text(Piece.Text);
    }
    Emitter.emit(Remark);
  };
  DiagnosticLocation At = place(*F, *R);
  StringRef Code = text(R->Code);
  const BasicBlock *Region = &F->getEntryBlock();
  switch (R->Kind) {
  case 0: return Emit(OptimizationRemark(PASS, Code, At, Region));
  case 1: return Emit(OptimizationRemarkMissed(PASS, Code, At, Region));
  default: return Emit(OptimizationRemarkAnalysis(PASS, Code, At, Region));
  }
}
