#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

namespace ktape::interactive {

/// The cells of a session as one program.
class Program {
 public:
  void add(const std::vector<Interpreter::Piece>& cell, bool redeclares);
  /// Returns the program. Declarations and statements keep their order: statements run between the
  /// initializations of variables, as in the session. A redeclaration stands in a namespace nested in that of
  /// the earlier declaration.
  std::string text() const;
  /// Returns the declarations of text(); code after them sees the names that the next cell would see.
  std::string declarations() const { return includes_ + declarations_; }

 private:
  void open_scope();

  std::string includes_, body_, declarations_;
  int scopes_ = 0, steps_ = 0;
};

}  // namespace ktape::interactive
