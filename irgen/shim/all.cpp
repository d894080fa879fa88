// One translation unit: LLVM's headers take most of the time, and are read once.

#include "analysis.cpp"
#include "cost.cpp"
#include "front.cpp"
#include "hoist.cpp"
#include "inline.cpp"
#include "ir.cpp"
#include "last_values.cpp"
#include "memory.cpp"
#include "passes.cpp"
#include "plugin.cpp"
#include "rows.cpp"
#include "scev.cpp"
