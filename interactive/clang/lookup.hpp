#pragma once
#include <clang/Interpreter/Interpreter.h>
#include <ktape/interactive/clang/interpreter.hpp>

namespace ktape::interactive {

/// Looks up names of a session without running code.
class NameLookup {
 public:
  explicit NameLookup(clang::Interpreter& interpreter) : interpreter_(interpreter) {}
  std::vector<Interpreter::Place> places(const std::string& name);

 private:
  /// Returns the namespace or class that `a::b` names; null if there is none.
  clang::DeclContext* context(const std::string& qualified);
  std::vector<clang::NamedDecl*> declarations(const std::string& qualified);

  clang::Interpreter& interpreter_;
};

}  // namespace ktape::interactive
