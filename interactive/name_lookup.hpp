#pragma once
#include <clang/Interpreter/Interpreter.h>
#include <ktape/interactive/interpreter.hpp>

namespace ktape::interactive {

/// Finds what names mean in a session, without running anything.
class NameLookup {
 public:
  explicit NameLookup(clang::Interpreter& interpreter) : interpreter_(interpreter) {}
  std::vector<Interpreter::Place> places(const std::string& name);

 private:
  /// What `a::b` names; null when that is nothing with names in it.
  clang::DeclContext* context(const std::string& qualified);
  std::vector<clang::NamedDecl*> declarations(const std::string& qualified);

  clang::Interpreter& interpreter_;
};

}  // namespace ktape::interactive
