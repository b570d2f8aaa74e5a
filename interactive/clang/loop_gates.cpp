#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/interactive/clang/loop_gates.hpp>

#include <vector>

namespace ktape::interactive {
namespace {

/// The name of the gate's function for the code of cells.
constexpr const char* gate_name = "ktape_loop_gate";

/// Returns whether an exception that reaches the block ends the program, as at the border of a noexcept function.
bool terminates(const llvm::BasicBlock& handler) {
  for (const llvm::Instruction& instruction : handler)
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction())
        if (callee->getName() == "__clang_call_terminate") return true;
  return false;
}

bool may_throw(const llvm::CallBase& call) {
  if (call.doesNotThrow() || call.doesNotReturn() || call.isInlineAsm()) return false;
  if (llvm::isa<llvm::IntrinsicInst>(call)) return false;
  const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
  return !invoke || !terminates(*invoke->getUnwindDest());
}

/// Returns the first call that may throw of each block that lies in a loop.
std::vector<llvm::CallBase*> calls_in_loops(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<llvm::CallBase*> calls;
  for (llvm::BasicBlock& block : function) {
    if (!loops.getLoopFor(&block)) continue;
    for (llvm::Instruction& instruction : block) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call || !may_throw(*call)) continue;
      calls.push_back(call);
      break;
    }
  }
  return calls;
}

void add_gate(llvm::FunctionCallee gate, llvm::CallBase& call) {
  auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
  if (!invoke) {
    llvm::CallInst::Create(gate, "", call.getIterator())->setDebugLoc(call.getDebugLoc());
    return;
  }
  llvm::BasicBlock *before = invoke->getParent(), *handler = invoke->getUnwindDest();
  llvm::BasicBlock* rest = llvm::SplitBlock(before, invoke->getIterator());
  before->getTerminator()->eraseFromParent();
  llvm::InvokeInst::Create(gate, rest, handler, {}, "", before)->setDebugLoc(call.getDebugLoc());
  for (llvm::PHINode& phi : handler->phis()) phi.addIncoming(phi.getIncomingValueForBlock(rest), before);
}

}  // namespace

extern "C" __attribute__((visibility("default"), used)) void ktape_loop_gate() { check_interrupt(); }

void add_loop_gates(llvm::Module& module) {
  const llvm::FunctionCallee gate =
      module.getOrInsertFunction(gate_name, llvm::Type::getVoidTy(module.getContext()));
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.doesNotThrow()) continue;
    for (llvm::CallBase* call : calls_in_loops(function)) add_gate(gate, *call);
  }
}

}  // namespace ktape::interactive
