#pragma once
#include <ktape/interactive/session/program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// A session: runs cells, commands that begin with %, and questions that begin with ?.
///
///     %time code     %plot value     %who     %load FILE     ?K::dot     !ls     %help lists all commands
class Shell {
 public:
  Shell();
  ~Shell();

  /// Runs a cell or a command. Messages name `file`, if given.
  /// The shown value becomes Out[number]; without a number it is the next of all shown values.
  Ending execute(const std::string& text, const std::string& file = {}, int number = 0);
  /// Runs a cell or a command, reports errors on std::cerr, and returns whether there were none.
  bool run(const std::string& text, const std::string& file = {});
  /// Runs a file and then its main(), if there is one. Returns the exit status.
  int run_file(const std::string& path, const std::vector<std::string>& arguments);
  /// Returns the words that may replace the last word of the text.
  std::vector<std::string> completions(const std::string& text);
  /// Returns the text of `?name`, in lines of `columns` characters where that is possible; empty for an unknown name.
  std::string description(const std::string& name, std::size_t columns);
  /// Returns the text about the name, or about the call, at a place of the code; empty if there is none.
  std::string inspect(const std::string& code, std::size_t at, std::size_t columns);
  /// Destroys the session's variables.
  void finish();

  /// Permits `quit`, for a program that ends when `left()` is true.
  void permit_quit() { can_leave_ = true; }
  bool left() const { return left_; }

  /// Permits %restart, for a program that begins a new session when `restart_file` is not empty.
  void permit_restart() { can_restart_ = true; }
  /// Returns the file with the declarations of the session that %restart asks for; empty without a request.
  const std::string& restart_file() const { return restart_file_; }

 private:
  Ending perform(const std::string& text, const std::string& file = {}, int number = 0);
  Ending command(const std::string& text);
  Ending question(const std::string& name);
  Ending run_cell(const std::string& text, const std::string& file, int number);
  Ending time(const std::string& code);
  Ending time_often(const std::string& code);
  Ending include_folder(const std::string& path);
  Ending configure(const std::string& command, const std::string& argument, const Ending& ending);
  bool asks_to_leave(const std::string& code) const;
  Ending leave();
  void list_results() const;
  Ending plot(const std::string& value);
  void who() const;
  Ending list_inputs(const std::string& count) const;
  Ending edit(const std::string& what);
  Ending edited_text(const std::string& what, std::string& text) const;
  void reset();
  Ending restart();
  std::string given_up_message(const Ending& ending);
  Ending load(const std::string& path);
  Ending save(const std::string& path) const;

  std::unique_ptr<Interpreter> interpreter_;
  Program program_;                  // the cells that ran
  std::vector<std::string> inputs_;  // all cells and commands
  bool can_restart_ = false, can_leave_ = false, left_ = false;
  bool may_take_else_ = false;  // whether the last cell was an `if` without `else`
  int shown_values_ = 0;
  std::string restart_file_;
};

}  // namespace ktape::interactive
