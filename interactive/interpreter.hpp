#pragma once
#include <ktape/interactive/guard.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// Runs cells of C++ one after another, each of which may use what those before it declared. Nothing that a
/// cell does wrong ends the session, and what a wrong cell declared is not there afterwards.
class Interpreter {
 public:
  struct Options {
    std::vector<std::string> flags = {};  ///< for clang
    std::string precompiled = {};         ///< a header that is there from the start, see precompile()
    bool colors = false;
  };
  /// Throws std::runtime_error when clang does not take the precompiled header: one in it has changed since.
  explicit Interpreter(const Options& options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Declarations and statements. The value of an expression at the end without a semicolon is displayed. A
  /// declaration that is there already is replaced. `file`, if any, stands in messages.
  Ending run(const std::string& cell, const std::string& file = {});
  /// What clang had to warn of in the last cell.
  const std::string& warnings() const;
  /// For how long the code of all cells ran.
  double seconds_running() const;

  struct Piece {
    enum Kind { Declaration, Statement, Value };
    Kind kind;
    std::string text;
  };
  /// The last cell, cut where statements begin and end.
  std::vector<Piece> pieces() const;
  /// Whether it declared again what was there.
  bool redeclared() const;

  /// Ends the session's variables.
  Ending finish();

  struct Name {
    std::string name, kind, type;
  };
  /// What the session declared, oldest first. The kind is "variable", "function" or "type".
  std::vector<Name> names() const;
  /// What may follow `text` where the session's declarations are these: whole words that begin as its last
  /// one does. Nothing is run.
  std::vector<std::string> completions(const std::string& declarations, const std::string& text) const;

  struct Place {
    std::string file;
    unsigned line = 0, last_line = 0;
  };
  /// Where all that this (qualified) name may mean is declared.
  std::vector<Place> find(const std::string& name);
  /// The address of the main() that a cell defined; null if there is none.
  void* main_function();

  /// Writes the header, and all that it includes, in the form that Options::precompiled takes. Returns
  /// clang's messages if that failed.
  static std::string precompile(const std::string& header, const std::string& to,
                                const std::vector<std::string>& flags);

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace ktape::interactive
