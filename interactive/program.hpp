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

 private:
  std::string includes_, body_;
  int scopes_ = 0, steps_ = 0;
};

}  // namespace ktape::interactive
