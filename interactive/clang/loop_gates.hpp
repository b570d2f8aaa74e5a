#pragma once
#include <llvm/IR/Module.h>

namespace ktape::interactive {

/// Lets Ctrl-C end the loops of a cell that spend their time in a library: inserts an interrupt gate before the
/// calls within loops. A gate throws where its call may throw, so each destructor and handler around the call runs
/// as for an exception of the call. Calls that cannot throw get no gate. Must be called after the optimization of
/// the module, because a call in a loop keeps the loop from being vectorized.
void add_loop_gates(llvm::Module& module);

}  // namespace ktape::interactive
