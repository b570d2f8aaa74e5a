#pragma once
#include <ktape/interactive/program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// A session as its user knows it: cells, commands that begin with %, questions that begin with ?.
///
///     %time code     %who     %reset     %load FILE     %save FILE     %help     ?K::dot
class Shell {
 public:
  Shell();
  ~Shell();

  /// Runs a cell or a command and tells on std::cerr what went wrong. Returns whether nothing did.
  bool run(const std::string& text, const std::string& file = {});
  /// Runs a file: what it declares and, if there is a main(), that. Returns its status.
  int run_file(const std::string& path, const std::vector<std::string>& arguments);
  /// What may stand for the last word of the text.
  std::vector<std::string> completions(const std::string& text);
  /// Ends the session's variables.
  void finish();

 private:
  bool command(const std::string& text);
  bool time(const std::string& code);
  void who() const;
  bool load(const std::string& path);
  bool save(const std::string& path) const;

  std::unique_ptr<Interpreter> interpreter_;
  Program program_;  // of the cells that ran
};

}  // namespace ktape::interactive
