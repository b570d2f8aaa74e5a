#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/clang/toolchain.hpp>
#include <ktape/interactive/session/prompt.hpp>
#include <ktape/ops/settings/version.hpp>

#include <unistd.h>

#include <cstring>
#include <iostream>

namespace {

using namespace ktape::interactive;

constexpr const char* usage =
    "ktape                       a prompt; reads cells from standard input when that is no terminal\n"
    "ktape FILE [ARGUMENT...]    runs a program, or a file of cells, and returns its status\n"
    "ktape -e CODE               runs a line\n"
    "ktape --version             prints the version of the library\n"
    "ktape --precompile FILE     precompiles the session's headers\n";

int precompile(const std::string& to) {
  const std::string problem = precompile_session(to);
  if (!problem.empty()) std::cerr << problem << std::endl;
  return problem.empty() ? 0 : 1;
}

/// Runs a stream cell by cell; a cell ends at the end of a line outside of all brackets.
int run_input(Shell& shell, std::istream& input) {
  bool good = true;
  std::string cell;
  for (std::string line; !shell.left() && std::getline(input, line);) {
    cell += line + '\n';
    if (incomplete(trimmed(cell))) continue;
    good = shell.run(cell) && good;
    cell.clear();
  }
  return shell.run(cell) && good ? 0 : 1;
}

/// Replaces the process by a new prompt that begins with the declarations in a file.
[[noreturn]] void restart(const std::string& file) {
  execl("/proc/self/exe", "ktape", "--declarations", file.c_str(), nullptr);
  throw std::runtime_error("the new session cannot be started: " + std::string(std::strerror(errno)));
}

int run(const std::vector<std::string>& arguments) {
  Shell shell;
  shell.permit_quit();
  int status = 0;
  if (!arguments.empty() && arguments[0] == "--declarations") {
    shell.run("%load " + arguments[1]);
    prompt(shell);
  } else if (arguments.empty()) {
    if (isatty(STDIN_FILENO)) prompt(shell);
    else status = run_input(shell, std::cin);
  } else if (arguments[0] == "-e") status = shell.run(arguments[1]) ? 0 : 1;
  else status = shell.run_file(arguments[0], {arguments.begin() + 1, arguments.end()});
  if (!shell.restart_file().empty()) restart(shell.restart_file());
  shell.finish();
  // The process ends at once: unloading compiled code piece by piece would only take time.
  std::cout.flush();
  std::cerr.flush();
  _exit(status);
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const std::string first = arguments.empty() ? "" : arguments[0];
  if (first == "--help" || first == "-h") {
    std::cout << usage;
    return 0;
  }
  if (first == "--version") {
    std::cout << "ktape " << ktape::backend::version() << std::endl;
    return 0;
  }
  const bool takes_one = first == "-e" || first == "--precompile" || first == "--declarations";
  if (takes_one ? arguments.size() != 2 : first.starts_with("-")) {
    std::cerr << usage;
    return 2;
  }
  try {
    return first == "--precompile" ? precompile(arguments[1]) : run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "ktape: " << error.what() << std::endl;
    return 1;
  }
}
