#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/clang/toolchain.hpp>
#include <ktape/interactive/display/help.hpp>
#include <ktape/interactive/display/inspected_name.hpp>
#include <ktape/interactive/session/magics.hpp>
#include <ktape/interactive/session/open_if.hpp>
#include <ktape/interactive/session/program.hpp>
#include <ktape/interactive/session/system_commands.hpp>
#include <ktape/interactive/session/timing.hpp>
#include <ktape/nn/core/terminal.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

namespace ktape::interactive {
namespace {

constexpr const char* commands[] = {"%cd",   "%edit", "%help",   "%history", "%include", "%lib",
                                    "%load", "%out",  "%plot",   "%quit",    "%reset",   "%restart",
                                    "%save", "%time", "%timeit", "%who"};

constexpr const char* help =
    "Type C++. The value of an expression without a semicolon is shown; a declaration may be repeated.\n"
    "Pasted text of several lines is one cell, which Enter runs.\n"
    "  K, nn, data    the backend API, layers and models, data\n"
    "  ?nn::Dense     tells what a name means, its options and their defaults; also ?K::dot, ?model.fit\n"
    "  Shift-Tab      tells the same of the function whose parenthesis is open\n"
    "  Tab            completes a name\n"
    "  _, Out[n]      the last shown value, and the n-th; %out lists them\n"
    "  %who           lists the declarations of the session\n"
    "  %history [N]   lists what was typed, or the last N of it\n"
    "  %edit [N]      opens the last cell, or the N-th of %history, in the program of $EDITOR, and runs it; "
    "%edit FILE runs a file\n"
    "  %plot VALUE    draws a history, a tensor or numbers\n"
    "  %time CODE     runs code and shows the time; %timeit CODE runs it many times\n"
    "  %load FILE     runs a file\n"
    "  %save FILE     writes the cells of the session as a program\n"
    "  %include PATH  searches a folder for headers; %lib FILE loads a library\n"
    "  %cd FOLDER     changes the folder; !COMMAND runs a command of the system\n"
    "  %reset         begins a new session\n"
    "  %restart       begins a new session in a new process, with the declarations of this session\n"
    "  Ctrl-C         ends the running cell or discards the typed text; three times: also inside a library;\n"
    "                 a training ends after its batch, and model and history keep what was learned\n"
    "  Ctrl-D, quit   leaves the prompt; an empty line and Ctrl-D also end a cell with open brackets";

/// Writes text to a file in the folder of temporary files, and returns the file's path; empty if the file cannot be written.
std::string save_text(const std::string& prefix, const std::string& text) {
  const std::string path =
      (std::filesystem::temp_directory_path() / (prefix + std::to_string(getpid()) + ".cpp")).string();
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? path : std::string();
}

std::string save_declarations(const std::string& declarations) {
  return save_text("ktape_session_", declarations);
}

/// Returns the number that a text is; nothing for another text.
std::optional<std::size_t> number_in(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string joined_commands() {
  std::string text;
  for (const char* command : commands) text += (text.empty() ? "" : ", ") + std::string(command);
  return text;
}

std::string_view word_at_begin(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  return text.substr(0, end);
}

bool tell(const std::string& problem) {
  std::cout.flush();
  std::cerr << problem << std::endl;
  return false;
}

Ending refused(const std::string& problem) { return {Ending::Threw, problem}; }

Ending read_file(const std::string& path, std::string& text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()))
    return refused("IOError: " + path + " cannot be read: " + std::strerror(errno));
  text = content.str();
  return {};
}

}  // namespace

Shell::Shell() : interpreter_(open_interpreter()) {}
Shell::~Shell() = default;

Ending Shell::execute(const std::string& text, const std::string& file, int number) {
  if (const std::string input = trimmed(text); !input.empty()) inputs_.push_back(input);
  return perform(text, file, number);
}

Ending Shell::perform(const std::string& text, const std::string& file, int number) {
  const std::string code = trimmed(text);
  if (code.empty()) return {};
  if (code.front() == '%') return command(code);
  if (code.front() == '?') return question(trimmed(code.substr(1)));
  if (code.front() == '!') return run_system_command(trimmed(code.substr(1)));
  if (asks_to_leave(code)) return leave();
  return run_cell(text, file, number);
}

/// Runs C++. Lines `if (c) A` and `else B` may be separate cells, see open_if.hpp.
Ending Shell::run_cell(const std::string& text, const std::string& file, int number) {
  const std::string code = trimmed(text);
  const bool follows = may_take_else_ && word_at_begin(code) == "else";
  std::string cell = follows ? if_untaken + ("\n#line 1\n" + code.substr(4)) : text;
  if (!follows) untaken();
  may_take_else_ = ends_with_if(follows ? code.substr(4) : text);
  if (may_take_else_) cell = cell.substr(0, cell.find_last_not_of(" \t\r\n") + 1) + else_note;
  const Ending ending = interpreter_->run(cell, file, number > 0 ? number : shown_values_ + 1);
  if (number == 0 && interpreter_->last_result() > 0) ++shown_values_;
  if (ending.kind != Ending::Finished) may_take_else_ = false;
  if (!interpreter_->warnings().empty()) tell(interpreter_->warnings());
  std::cout.flush();
  if (ending.kind == Ending::GivenUp) return {ending.kind, given_up_message(ending), ending.line};
  if (ending.kind == Ending::Finished)
    program_.add(interpreter_->pieces(), interpreter_->redeclared(), interpreter_->last_result());
  return ending;
}

/// Saves the declarations of the session, and returns the message for a cell that was given up.
std::string Shell::given_up_message(const Ending& ending) {
  const std::string path = save_declarations(program_.commands() + program_.declarations());
  return ending.message + ": the session may hang in the functions that the cell was in\n" +
         (path.empty() ? std::string() : "The session's declarations are saved in " + path + '\n') +
         "%restart begins a new session with these declarations";
}

bool Shell::run(const std::string& text, const std::string& file) {
  const Ending ending = execute(text, file);
  return ending.kind == Ending::Finished || tell(ending.message);
}

Ending Shell::command(const std::string& text) {
  const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string name = text.substr(0, space), rest = trimmed(text.substr(space));
  if (name == "%time") return time(rest);
  if (name == "%timeit") return time_often(rest);
  if (name == "%cd") return change_folder(rest);
  if (name == "%lib") return configure(name, rest, load_library(rest));
  if (name == "%include") return configure(name, rest, include_folder(rest));
  if (name == "%quit" || name == "%exit") return leave();
  if (name == "%plot") return plot(rest);
  if (name == "%load") return load(rest);
  if (name == "%save") return save(rest);
  if (name == "%history") return list_inputs(rest);
  if (name == "%edit") return edit(rest);
  if (name == "%who") who();
  else if (name == "%out") list_results();
  else if (name == "%reset") reset();
  else if (name == "%restart") return restart();
  else if (name == "%help") std::cout << help << std::endl;
  else
    return refused("ValueError: [prompt] the command must be one of " + joined_commands() + ": received " +
                   name);
  return {};
}

Ending Shell::question(const std::string& name) {
  const std::string text = description(name, nn::terminal_columns().value_or(120));
  if (text.empty())
    return refused("ValueError: [?] the name must be that of a public function, type or variable: received " +
                   (name.empty() ? std::string("nothing") : name));
  std::cout << text << std::flush;
  return {};
}

Ending Shell::time(const std::string& code) {
  if (code.empty()) return refused("ValueError: [%time] code must be given: received nothing");
  const auto begin = std::chrono::steady_clock::now();
  const double before = interpreter_->seconds_running();
  const Ending ending = perform(code);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  const double running = interpreter_->seconds_running() - before;
  std::cout << duration_text(running) << " (and " << duration_text(all.count() - running) << " to compile)"
            << std::endl;
  return ending;
}

Ending Shell::time_often(const std::string& code) {
  if (code.empty()) return refused("ValueError: [%timeit] code must be given: received nothing");
  return interpreter_->run("ktape::interactive::time_runs([] {\n#line 1\n" + code + "\n;});");
}

Ending Shell::include_folder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_directory(folder))
    return refused("ValueError: [%include] the path must be that of a folder: received " +
                   (path.empty() ? std::string("nothing") : path));
  interpreter_->add_include_folder(folder.string());
  return {};
}

/// Records a command that the declarations of the session need.
Ending Shell::configure(const std::string& command, const std::string& argument, const Ending& ending) {
  if (ending.kind == Ending::Finished) program_.add_command(command + ' ' + argument);
  return ending;
}

/// Returns whether the text is `quit` or `exit` and no variable of that name is meant.
bool Shell::asks_to_leave(const std::string& code) const {
  const std::string word(word_at_begin(code));
  if (word != "quit" && word != "exit") return false;
  const std::string rest = code.substr(word.size());
  if (!rest.empty() && rest != ";" && rest != "()" && rest != "();") return false;
  const std::vector<Interpreter::Name> names = interpreter_->names();
  return std::none_of(names.begin(), names.end(), [&](const auto& name) { return name.name == word; });
}

Ending Shell::leave() {
  if (!can_leave_)
    return refused("ValueError: [quit] a kernel is ended by the menu of the notebook: received quit");
  left_ = true;
  return {};
}

void Shell::list_results() const {
  for (const auto& [number, type] : interpreter_->results()) {
    const std::string name = "Out[" + std::to_string(number) + ']';
    std::cout << name << "  " << type << '\n';
  }
  std::cout.flush();
}

Ending Shell::plot(const std::string& value) {
  if (value.empty()) return refused("ValueError: [%plot] a value must be named: received nothing");
  // The expression stands on a separate line, so that clang's messages show nothing else.
  return interpreter_->run("ktape::interactive::draw(\n" + value + "\n);");
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

Ending Shell::list_inputs(const std::string& count) const {
  const std::optional<std::size_t> last = count.empty() ? inputs_.size() : number_in(count);
  if (!last)
    return refused("ValueError: [%history] the number of inputs must be a whole number: received " + count);
  for (std::size_t i = inputs_.size() - std::min(*last, inputs_.size()); i < inputs_.size(); ++i) {
    std::cout << std::setw(4) << i + 1 << "  ";
    for (const char c : inputs_[i]) std::cout << c << (c == '\n' ? "      " : "");
    std::cout << '\n';
  }
  std::cout.flush();
  return {};
}

/// Gives the text to be edited: the last cell, the cell of a number, or that of a file.
Ending Shell::edited_text(const std::string& what, std::string& text) const {
  if (what.empty()) {
    const auto last =
        std::find_if(inputs_.rbegin(), inputs_.rend(), [](const auto& one) { return one[0] != '%'; });
    if (last != inputs_.rend()) text = *last;
    return {};
  }
  const std::optional<std::size_t> number = number_in(what);
  if (!number) return std::filesystem::exists(what) ? read_file(what, text) : Ending();
  if (*number < 1 || *number > inputs_.size())
    return refused("ValueError: [%edit] the number must be one of %history, from 1 to " +
                   std::to_string(inputs_.size()) + ": received " + what);
  text = inputs_[*number - 1];
  return {};
}

Ending Shell::edit(const std::string& what) {
  if (!can_leave_)
    return refused("ValueError: [%edit] a cell of a notebook is edited where it stands: received %edit");
  std::string text;
  if (const Ending ending = edited_text(what, text); ending.kind != Ending::Finished) return ending;
  const bool names_file = !what.empty() && !number_in(what);
  const std::string path = names_file ? what : save_text("ktape_cell_", text + '\n');
  if (path.empty()) return refused("IOError: [%edit] the cell cannot be written to a temporary file");
  Ending ending = run_system_command("${VISUAL:-${EDITOR:-editor}} '" +
                                     std::regex_replace(path, std::regex("'"), "'\\''") + "'");
  if (ending.kind == Ending::Finished) ending = read_file(path, text);
  std::error_code error;
  if (!names_file) std::filesystem::remove(path, error);
  return ending.kind == Ending::Finished ? execute(text, names_file ? path : std::string()) : ending;
}

void Shell::reset() {
  finish();
  // Compiled code is not unloaded: registered classes and running threads may still use it.
  static_cast<void>(interpreter_.release());
  interpreter_ = open_interpreter();
  program_ = {};
  inputs_.clear();
  shown_values_ = 0;
  may_take_else_ = false;
}

Ending Shell::restart() {
  if (!can_restart_)
    return refused(
        "ValueError: [%restart] a kernel is restarted by the menu of the notebook: received %restart");
  const std::string path = save_declarations(program_.commands() + program_.declarations());
  if (path.empty()) return refused("IOError: [%restart] the declarations cannot be saved");
  restart_file_ = path;
  return {};
}

Ending Shell::load(const std::string& path) {
  std::string text;
  Ending ending = read_file(path, text);
  // A saved session begins with commands.
  while (ending.kind == Ending::Finished && text.starts_with('%')) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ending = command(text.substr(0, end));
    text.erase(0, end + 1);
  }
  return ending.kind == Ending::Finished ? perform(text, path) : ending;
}

Ending Shell::save(const std::string& path) const {
  if (path.empty()) return refused("ValueError: [%save] a file must be named: received nothing");
  std::ofstream file(path);
  file << program_.text();
  file.close();
  return file ? Ending() : refused("IOError: " + path + " cannot be written: " + std::strerror(errno));
}

int Shell::run_file(const std::string& path, const std::vector<std::string>& arguments) {
  std::string text;
  if (const Ending ending = read_file(path, text); ending.kind != Ending::Finished) {
    tell(ending.message);
    return 2;
  }
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
  const InterruptHandler interruptible;
  const Ending ending = guarded([&] { status = main(static_cast<int>(words.size()), pointers.data()); });
  if (ending.kind == Ending::Finished) return status;
  tell(ending.message);
  return 1;
}

namespace {

/// Returns the last parts of the paths that begin with a text. The last part follows the last character that
/// separates words at the prompt.
std::vector<std::string> paths(const std::string& text) {
  namespace fs = std::filesystem;
  const std::size_t slash = text.rfind('/') + 1;
  const std::string folder = slash == 0 ? "." : text.substr(0, slash), begin = text.substr(slash);
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string() + (entry.is_directory(error) ? "/" : "");
    if (name.starts_with(begin)) found.push_back(name.substr(word_begin(begin)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> Shell::completions(const std::string& text) {
  const std::size_t space = text.find(' ');
  if (text.starts_with('%') && space == std::string::npos) {
    std::vector<std::string> found;
    for (const char* command : commands)
      if (std::string_view(command).starts_with(text)) found.emplace_back(command);
    return found;
  }
  for (const char* command : {"%cd ", "%edit ", "%include ", "%lib ", "%load ", "%save "})
    if (text.starts_with(command)) return paths(trimmed(text.substr(space)));
  if (text.starts_with('!')) return paths(text.substr(text.find_last_of(" !") + 1));
  const std::size_t begin = text.starts_with('%') ? space : text.starts_with('?') ? 1 : 0;
  return interpreter_->completions(program_.declarations(), text.substr(begin));
}

std::string Shell::description(const std::string& name, std::size_t columns) {
  return filled(describe(*interpreter_, name, columns), columns);
}

std::string Shell::inspect(const std::string& code, std::size_t at, std::size_t columns) {
  for (const std::string& name : inspected_names(code, at))
    if (std::string text = description(name, columns); !text.empty()) return text;
  return {};
}

void Shell::finish() {
  const Ending ending = interpreter_->finish();
  if (ending.kind != Ending::Finished) tell(ending.message);
}

}  // namespace ktape::interactive
