#pragma once
#include <ktape/interactive/interpreter.hpp>

namespace ktape::interactive {

/// The cells of a session, as a program.
class Program {
 public:
  void add(const std::vector<Interpreter::Piece>& cell, bool redeclares);
  /// Declarations stand as they were typed, and so does the order in which things happen: statements run
  /// where they stood, between the variables. What is declared again stands in a namespace of its own, inside
  /// that of the old one.
  std::string text() const;
  /// What text() declares, up to the end of the last cell: what follows is seen by it as it is there.
  std::string declarations() const { return includes_ + declarations_; }

 private:
  void open_scope();

  std::string includes_, body_, declarations_;
  int scopes_ = 0, steps_ = 0;
};

}  // namespace ktape::interactive
