#pragma once
#include <ktape/interactive/crash_guard/crash_guard.hpp>
#include <ktape/ops/help/source_text.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ktape::interactive {

/// Runs cells of C++ one after another; each cell may use the declarations of earlier cells. No error in a
/// cell ends the session, and a cell with an error leaves no declarations.
class Interpreter {
 public:
  struct Options {
    std::vector<std::string> flags = {};  ///< options for clang
    std::string precompiled = {};         ///< the session's first declarations, see precompile()
    bool colors = false;
  };
  /// Throws std::runtime_error if clang rejects the precompiled header because a header in it has changed.
  explicit Interpreter(const Options& options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Compiles and runs declarations and statements. An expression at the end without a semicolon is
  /// displayed. A declaration replaces an earlier declaration of that name. Messages name `file`, if given.
  /// A shown value becomes Out[number], and `_`.
  Ending run(const std::string& cell, const std::string& file = {}, int number = 0);
  /// Returns the number of the value that the last cell showed; 0 if it showed none that can be copied.
  int last_result() const;
  /// Returns the numbers and types of the values that Out[n] names.
  std::vector<std::pair<int, std::string>> results() const;
  /// Searches a folder for the headers that cells include.
  void add_include_folder(const std::string& folder);
  /// Returns clang's warnings about the last cell.
  const std::string& warnings() const;
  /// Returns the seconds that the code of all cells ran.
  double seconds_running() const;

  struct Piece {
    enum Kind { Declaration, Statement, Value };
    Kind kind;
    std::string text;
  };
  /// Returns the last cell, split into declarations, statements and shown values.
  std::vector<Piece> pieces() const;
  /// Returns whether the last cell redeclared a name.
  bool redeclared() const;

  /// Destroys the session's variables.
  Ending finish();

  struct Name {
    std::string name, kind, type;
  };
  /// Returns the declarations of the cells, without those of headers, oldest first. The kind is "variable", "function" or "type".
  std::vector<Name> names() const;
  /// Returns the words that may replace the last word of `text` after the given declarations. Runs nothing.
  std::vector<std::string> completions(const std::string& declarations, const std::string& text) const;

  using Place = help_text::Place;
  /// Returns the places of all declarations that a (qualified) name may refer to; also of members: `m.fit`.
  std::vector<Place> find(const std::string& name);

  using OptionStruct = help_text::OptionStruct;
  /// Returns the option structs that the functions of this name, or the constructors of the class, take.
  std::vector<OptionStruct> options_of(const std::string& name);
  /// Returns the address of the main() that a cell defined; null if there is none.
  void* main_function();

  /// Precompiles a header and its includes to a file for Options::precompiled. Returns clang's messages on
  /// failure.
  static std::string precompile(const std::string& header, const std::string& to,
                                const std::vector<std::string>& flags);

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace ktape::interactive
