#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

#include <map>
#include <string>
#include <vector>

namespace ktape::interactive {

/// The cells of a session as one program.
class Program {
 public:
  /// Adds a cell. `result` is the number of the value that the cell showed, 0 for none.
  void add(const std::vector<Interpreter::Piece>& cell, bool redeclares, int result);
  /// Adds a command such as `%lib libm.so` that the declarations need.
  void add_command(const std::string& command) { commands_ += command + '\n'; }
  /// Returns the commands, a line for each.
  const std::string& commands() const { return commands_; }
  /// Returns the program. Declarations and statements keep their order: statements run between the
  /// initializations of variables, as in the session. A redeclaration stands in a namespace nested in that of
  /// the earlier declaration.
  std::string text() const;
  /// Returns the declarations of text(); code after them sees the names that the next cell would see.
  std::string declarations() const { return includes_ + declarations_; }

 private:
  void open_scope();
  void add_step(const Interpreter::Piece& piece);
  std::string with_expressions(const std::string& text) const;

  std::string commands_, includes_, body_, declarations_;
  std::map<int, std::string> results_;  ///< the expressions of the shown values
  int scopes_ = 0, steps_ = 0;
};

}  // namespace ktape::interactive
