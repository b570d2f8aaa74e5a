#pragma once
#include <clang/AST/Decl.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Interpreter/Interpreter.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ktape::interactive {

/// The values that cells showed: each is kept as a copy, which later cells name `Out[n]`, and `_` for the last.
class ShownValues {
 public:
  ShownValues() = default;
  ShownValues(const ShownValues&) = delete;
  ShownValues& operator=(const ShownValues&) = delete;

  /// Forgets the value of an unfinished cell.
  void begin_cell() { type_ = clang::QualType(); }
  /// Records the type of the expression that the cell shows.
  void will_show(clang::QualType type) { type_ = type; }
  /// Declares the value that the cell showed, if any, as Out[number] and `_`. Returns the declarations of the
  /// names that are no longer valid.
  std::vector<clang::NamedDecl*> declare(clang::CompilerInstance& compiler, llvm::orc::LLJIT& jit,
                                         int number);

  /// Replaces Out[n] in a cell by the name of the variable.
  std::string with_names(const std::string& text) const;
  bool has(int number) const { return results_.count(number) > 0; }
  /// Returns the numbers and types of the values.
  std::vector<std::pair<int, std::string>> list() const;
  /// Forgets all values.
  void clear() { results_.clear(); }

 private:
  struct Result {
    std::shared_ptr<void> value;
    std::unique_ptr<void*> address;  ///< the variable that the code of cells refers to
    clang::VarDecl* variable;
    std::string type;
  };
  std::map<int, Result> results_;
  clang::NamedDecl* last_ = nullptr;  ///< the declaration of `_`
  clang::QualType type_;
};

/// Returns a builder that passes the value of an expression to ktape::interactive::show.
std::unique_ptr<clang::RuntimeInterfaceBuilder> make_value_display(clang::CompilerInstance& compiler,
                                                                   ShownValues& values);

}  // namespace ktape::interactive
