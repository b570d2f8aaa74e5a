#pragma once
#include <ktape/interactive/session/program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// A session: runs cells, commands that begin with %, and questions that begin with ?.
///
///     %time code     %plot value     %who     %reset     %restart     %load FILE     %save FILE     %help     ?K::dot
class Shell {
 public:
  Shell();
  ~Shell();

  /// Runs a cell or a command. Messages name `file`, if given.
  Ending execute(const std::string& text, const std::string& file = {});
  /// Runs a cell or a command, reports errors on std::cerr, and returns whether there were none.
  bool run(const std::string& text, const std::string& file = {});
  /// Runs a file and then its main(), if there is one. Returns the exit status.
  int run_file(const std::string& path, const std::vector<std::string>& arguments);
  /// Returns the words that may replace the last word of the text.
  std::vector<std::string> completions(const std::string& text);
  /// Returns the declaration and comment of a name in the headers or the session; empty for an unknown name.
  std::string description(const std::string& name);
  /// Destroys the session's variables.
  void finish();

  /// Permits %restart, for a program that begins a new session when `restart_file` is not empty.
  void permit_restart() { can_restart_ = true; }
  /// Returns the file with the declarations of the session that %restart asks for; empty without a request.
  const std::string& restart_file() const { return restart_file_; }

 private:
  Ending command(const std::string& text);
  Ending question(const std::string& name);
  Ending time(const std::string& code);
  Ending plot(const std::string& value);
  void who() const;
  void reset();
  Ending restart();
  std::string given_up_message(const Ending& ending);
  Ending load(const std::string& path);
  Ending save(const std::string& path) const;

  std::unique_ptr<Interpreter> interpreter_;
  Program program_;  // the cells that ran
  bool can_restart_ = false;
  std::string restart_file_;
};

}  // namespace ktape::interactive
