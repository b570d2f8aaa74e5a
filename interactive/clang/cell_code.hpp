#pragma once
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// A piece of a cell that runs: a statement, or the initialization of a variable.
struct Step {
  std::string symbol;
  bool is_statement = false;
  std::vector<std::string> initializes = {};  ///< symbols of the variables that the step initializes
};

/// Rewrites the LLVM module of a cell so that its names are visible to later cells, and optimizes the module.
class CellCode {
 public:
  CellCode();
  ~CellCode();

  /// Optimizes the module as -O2 would, and removes its static initialization, which is returned as steps in
  /// order. A symbol that an earlier cell defined is not defined again, also where C++ gives each file a copy
  /// (static, const). A function or variable with an unmangled name (main, extern "C") replaces the earlier
  /// definition.
  std::vector<Step> prepare(llvm::Module& module, int cell);
  /// Returns a symbol that the last module defines; empty for a module without definitions.
  const std::string& any_definition() const { return any_; }
  /// Records the symbols of the last module as defined.
  void keep();
  /// Returns the symbol of the latest definition of an unmangled name.
  std::string latest(const std::string& name) const;

 private:
  void rename_replaced(llvm::Module& module, int cell);
  void share_internals(llvm::Module& module);
  void remove_known_definitions(llvm::Module& module);
  void optimize(llvm::Module& module);

  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::StringSet<> known_;
  llvm::StringMap<std::string> latest_, latest_of_module_;
  std::vector<std::string> defined_;
  std::string any_;
};

}  // namespace ktape::interactive
