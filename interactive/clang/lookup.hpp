#pragma once
#include <clang/Interpreter/Interpreter.h>
#include <ktape/interactive/clang/interpreter.hpp>

namespace ktape::interactive {

/// Returns whether a member of a struct of options is no option (nn/core/by_name.hpp).
bool is_by_name(const clang::FieldDecl& field);

/// Looks up names of a session without running code.
class NameLookup {
 public:
  explicit NameLookup(clang::Interpreter& interpreter) : interpreter_(interpreter) {}
  std::vector<Interpreter::Place> places(const std::string& name);
  std::vector<Interpreter::OptionStruct> options(const std::string& name);

 private:
  /// Returns the namespace or class that `a::b` names; null if there is none.
  clang::DeclContext* context(const std::string& qualified);
  /// Returns the declarations that a name, or an expression such as `m.fit` or `layers().back`, refers to.
  std::vector<clang::NamedDecl*> declarations(const std::string& expression);
  std::vector<clang::NamedDecl*> members(clang::DeclContext& place, const std::string& name);
  /// Returns the class of the value of an expression `a` or `a.b()`; null if the expression has none.
  clang::CXXRecordDecl* class_of(const std::string& expression, bool through_pointer);
  clang::CXXRecordDecl* pointee(clang::CXXRecordDecl& pointer);
  Interpreter::Place place(const clang::Decl& decl, clang::SourceLocation begin, clang::SourceLocation end);

  clang::Interpreter& interpreter_;
};

}  // namespace ktape::interactive
