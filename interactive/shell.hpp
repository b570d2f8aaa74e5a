#pragma once
#include <ktape/interactive/program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// A session as its user knows it: cells, commands that begin with %, questions that begin with ?.
///
///     %time code     %plot value     %who     %reset     %load FILE     %save FILE     %help     ?K::dot
class Shell {
 public:
  Shell();
  ~Shell();

  /// Runs a cell or a command. `file`, if any, stands in messages.
  Ending execute(const std::string& text, const std::string& file = {});
  /// The same; tells on std::cerr what went wrong, and returns whether nothing did.
  bool run(const std::string& text, const std::string& file = {});
  /// Runs a file: what it declares and, if there is a main(), that. Returns its status.
  int run_file(const std::string& path, const std::vector<std::string>& arguments);
  /// What may stand for the last word of the text.
  std::vector<std::string> completions(const std::string& text);
  /// What the headers, or the session, say of a name; empty for an unknown one.
  std::string description(const std::string& name);
  /// Ends the session's variables.
  void finish();

 private:
  Ending command(const std::string& text);
  Ending question(const std::string& name);
  Ending time(const std::string& code);
  Ending plot(const std::string& value);
  void who() const;
  void reset();
  Ending load(const std::string& path);
  Ending save(const std::string& path) const;

  std::unique_ptr<Interpreter> interpreter_;
  Program program_;  // of the cells that ran
};

}  // namespace ktape::interactive
