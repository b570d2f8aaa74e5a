#pragma once
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// One piece of a cell that runs: a statement, or the initialization of a variable.
struct Step {
  std::string symbol;
  bool is_statement = false;
  std::vector<std::string> initializes = {};  ///< symbols of the variables that are made by it
};

/// Makes the code that clang generated for a cell fit for a session, and fast.
class CellCode {
 public:
  CellCode();
  ~CellCode();

  /// Optimizes the module as -O2 would, and takes out of it what it would run when it is loaded. A symbol
  /// that an earlier cell defined is not defined again, also where C++ gives each file its own (static,
  /// const); a function or variable whose name in the object file is that in the source (main, extern "C")
  /// replaces the earlier one.
  std::vector<Step> prepare(llvm::Module& module, int cell);
  /// A symbol that the module defines; empty if there is none.
  const std::string& any_definition() const { return any_; }
  /// From now on the symbols of the last module are there.
  void keep();
  /// The symbol of the latest function or variable of this name, of those that replace each other.
  std::string latest(const std::string& name) const;

 private:
  void rename_replaced(llvm::Module& module, int cell);
  void share_internals(llvm::Module& module);
  void leave_out_known(llvm::Module& module);
  void optimize(llvm::Module& module);

  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::StringSet<> known_;
  llvm::StringMap<std::string> latest_, latest_of_module_;
  std::vector<std::string> defined_;
  std::string any_;
};

}  // namespace ktape::interactive
