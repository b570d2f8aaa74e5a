#include <ktape/interactive/help.hpp>
#include <ktape/interactive/program.hpp>
#include <ktape/interactive/shell.hpp>
#include <ktape/interactive/source.hpp>
#include <ktape/interactive/toolchain.hpp>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace ktape::interactive {
namespace {

constexpr const char* commands[] = {"%help", "%load", "%reset", "%save", "%time", "%who"};

constexpr const char* help =
    "Type C++. The value of an expression without a semicolon is shown; a declaration may be repeated.\n"
    "  K, nn, data    the backend API, layers and models, data\n"
    "  ?K::dot        what the header says of a name\n"
    "  %who           what was declared\n"
    "  %time CODE     runs code and tells how long that took\n"
    "  %load FILE     runs a file\n"
    "  %save FILE     writes what was typed as a program\n"
    "  %reset         begins anew\n"
    "  Ctrl-C         ends what runs\n"
    "  Ctrl-D         leaves";

bool tell(const std::string& problem) {
  std::cout.flush();
  std::cerr << problem << std::endl;
  return false;
}

std::string duration(double seconds) {
  std::ostringstream text;
  text << std::setprecision(3);
  if (seconds < 1e-3) text << seconds * 1e6 << " us";
  else if (seconds < 1) text << seconds * 1e3 << " ms";
  else text << seconds << " s";
  return text.str();
}

bool read_file(const std::string& path, std::string& text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()))
    return tell("IOError: " + path + " cannot be read: " + std::strerror(errno));
  text = content.str();
  return true;
}

}  // namespace

Shell::Shell() : interpreter_(open_interpreter()) {}
Shell::~Shell() = default;

bool Shell::run(const std::string& text, const std::string& file) {
  const std::string code = trimmed(text);
  if (code.empty()) return true;
  if (code.front() == '%') return command(code);
  if (code.front() == '?') return describe(*interpreter_, trimmed(code.substr(1)), std::cout);
  const Ending ending = interpreter_->run(text, file);
  if (!interpreter_->warnings().empty()) tell(interpreter_->warnings());
  if (ending.kind != Ending::Finished) return tell(ending.message);
  std::cout.flush();
  program_.add(interpreter_->pieces(), interpreter_->redeclared());
  return true;
}

bool Shell::command(const std::string& text) {
  const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string name = text.substr(0, space), rest = trimmed(text.substr(space));
  if (name == "%time") return time(rest);
  if (name == "%load") return load(rest);
  if (name == "%save") return save(rest);
  if (name == "%who") who();
  else if (name == "%reset") {
    finish();
    // What was compiled stays: classes that were registered, threads.
    static_cast<void>(interpreter_.release());
    interpreter_ = open_interpreter();
    program_ = {};
  } else if (name == "%help") std::cout << help << std::endl;
  else
    return tell(
        "ValueError: [prompt] the command must be one of %help, %load, %reset, %save, %time, %who: "
        "received " +
        name);
  return true;
}

bool Shell::time(const std::string& code) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = interpreter_->seconds_running();
  const bool ran = run(code);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  const double running = interpreter_->seconds_running() - before;
  std::cout << duration(running) << " (and " << duration(all.count() - running) << " to compile)"
            << std::endl;
  return ran;
}

void Shell::who() const {
  const std::vector<Interpreter::Name> names = interpreter_->names();
  std::size_t width = 0;
  for (const Interpreter::Name& name : names) width = std::max(width, name.name.size());
  for (const Interpreter::Name& name : names)
    std::cout << std::left << std::setw(static_cast<int>(width)) << name.name << "  " << std::setw(8)
              << name.kind << "  " << name.type << '\n';
  std::cout << std::right << std::flush;
}

bool Shell::load(const std::string& path) {
  std::string text;
  return read_file(path, text) && run(text, path);
}

bool Shell::save(const std::string& path) const {
  if (path.empty()) return tell("ValueError: [%save] a file must be named: received nothing");
  std::ofstream file(path);
  file << program_.text();
  file.close();
  return file ? true : tell("IOError: " + path + " cannot be written: " + std::strerror(errno));
}

int Shell::run_file(const std::string& path, const std::vector<std::string>& arguments) {
  std::string text;
  if (!read_file(path, text)) return 2;
  if (text.starts_with("#!")) text.insert(0, "//");
  if (!run(text, path)) return 1;
  auto* const main = reinterpret_cast<int (*)(int, char**)>(interpreter_->main_function());
  if (!main) return 0;
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int status = 0;
  const Ending ending = guarded([&] { status = main(static_cast<int>(words.size()), pointers.data()); });
  if (ending.kind == Ending::Finished) return status;
  tell(ending.message);
  return 1;
}

std::vector<std::string> Shell::completions(const std::string& text) {
  if (!text.starts_with('%')) return interpreter_->completions(text);
  std::vector<std::string> found;
  for (const char* command : commands)
    if (std::string_view(command).starts_with(text)) found.emplace_back(command);
  return found;
}

void Shell::finish() {
  const Ending ending = interpreter_->finish();
  if (ending.kind != Ending::Finished) tell(ending.message);
}

}  // namespace ktape::interactive
