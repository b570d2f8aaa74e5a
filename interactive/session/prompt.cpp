#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/session/prompt.hpp>
#include <ktape/nn/core/terminal.hpp>

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <iostream>

namespace ktape::interactive {
namespace {

/// Returns the path of the history file; empty if no folder for it can be made.
std::string history_file() {
  namespace fs = std::filesystem;
  fs::path folder;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state) folder = fs::path(state) / "ktape";
  else if (const char* home = std::getenv("HOME"); home && *home)
    folder = fs::path(home) / ".local/state/ktape";
  else return {};
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? std::string() : (folder / "history").string();
}

/// Receives Ctrl-C between cells. The handler writes to a pipe that is polled together with the keyboard, so
/// that no Ctrl-C is lost just before the wait, or in another thread.
class Cancellation {
 public:
  Cancellation() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) return;
    struct sigaction action {};
    action.sa_handler = [](int) { [[maybe_unused]] const ssize_t sent = write(ends_[1], "", 1); };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
  }

  /// Waits for a key; returns false if Ctrl-C came first.
  bool wait_for_key() const {
    pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {ends_[0], POLLIN, 0}};
    while (poll(sources, 2, -1) < 0) {
    }
    return !(sources[1].revents & POLLIN);
  }

  static bool key_waits() {
    pollfd keyboard = {STDIN_FILENO, POLLIN, 0};
    return poll(&keyboard, 1, 0) > 0;
  }

  /// Returns whether Ctrl-C came since the last call.
  bool taken() const {
    char bytes[64];
    bool any = false;
    while (::read(ends_[0], bytes, sizeof bytes) > 0) any = true;
    return any;
  }

 private:
  static inline int ends_[2] = {-1, -1};
};

/// Returns whether the terminal understands control sequences.
bool has_controls() {
  const char* const terminal = std::getenv("TERM");
  return terminal && std::string_view(terminal) != "dumb";
}

/// A scope in which the terminal puts marks around pasted text (bracketed paste), so that the line ends in
/// pasted text are told from the Enter key.
class MarkedPaste {
 public:
  static constexpr std::wstring_view end = L"\033[201~";
  MarkedPaste() { set('h'); }
  ~MarkedPaste() { set('l'); }
  MarkedPaste(const MarkedPaste&) = delete;
  MarkedPaste& operator=(const MarkedPaste&) = delete;

 private:
  static void set(char mode) {
    if (has_controls()) std::cout << "\033[?2004" << mode << std::flush;
  }
};

/// Returns pasted text as the editor holds it: terminals send Enter for a line end, and the editor has no tabs.
/// Other control characters are dropped, and so is space at the end, so that Enter runs the cell.
std::wstring as_typed(const std::wstring& pasted) {
  std::wstring text;
  for (std::size_t i = 0; i < pasted.size(); ++i) {
    const wchar_t c = pasted[i];
    if (c == L'\r') text += L'\n', i += pasted.substr(i, 2) == L"\r\n";
    else if (c == L'\t') text += L"    ";
    else if (c == L'\n' || (c >= L' ' && c != 0x7f)) text += c;
  }
  const std::size_t end = text.find_last_not_of(L" \n") + 1;
  if (text.find(L'\n', end) != std::wstring::npos) text.resize(end);
  return text;
}

/// Moves the cursor to a new line unless it is at the beginning of a line already. A row of spaces as wide as
/// the terminal, less one, followed by a carriage return, does so without asking for the position.
void begin_line() {
  if (!has_controls()) return;
  std::cout << std::string(nn::terminal_columns().value_or(80) - 1, ' ') << "\r\033[K" << std::flush;
}

class Editor {
 public:
  explicit Editor(Shell& shell)
      : shell_(shell), editor_(el_init("ktape", stdin, stdout, stderr)), history_(history_init()) {
    HistEvent event;
    history(history_, &event, H_SETSIZE, 1000);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(
        editor_, EL_PROMPT, +[](EditLine* editor) -> char* {
          static char first[] = ">>> ", next[] = "... ";
          return of(editor).cell_.empty() ? first : next;
        });
    el_set(
        editor_, EL_GETCFN, +[](EditLine* editor, wchar_t* key) { return of(editor).read_key(*key); });
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, history, history_);
    el_set(
        editor_, EL_ADDFN, "ktape-complete", "completes a name",
        +[](EditLine* editor, int) { return int{of(editor).complete()}; });
    el_set(editor_, EL_BIND, "\t", "ktape-complete", nullptr);
    el_set(
        editor_, EL_ADDFN, "ktape-inspect", "describes the function that is called",
        +[](EditLine* editor, int) { return int{of(editor).inspect()}; });
    el_set(editor_, EL_BIND, "\033[Z", "ktape-inspect", nullptr);  // Shift-Tab
    el_set(
        editor_, EL_ADDFN, "ktape-paste", "inserts pasted text",
        +[](EditLine* editor, int) { return int{of(editor).paste()}; });
    el_set(editor_, EL_BIND, "\033[200~", "ktape-paste", nullptr);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    for (const char* up : {"\033[A", "\033OA"}) el_set(editor_, EL_BIND, up, "ed-prev-history", nullptr);
    for (const char* down : {"\033[B", "\033OB"}) el_set(editor_, EL_BIND, down, "ed-next-history", nullptr);
    el_source(editor_, nullptr);
  }
  ~Editor() {
    history_end(history_);
    el_end(editor_);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  /// Reads the next cell; returns false at the end of input. Ctrl-C discards the cell's lines, Ctrl-D ends the
  /// cell.
  bool read(std::string& cell) {
    cell_.clear();
    for (;;) {
      cancellation_.taken();
      int length = 0;
      if (cell_.empty()) begin_line();
      // Done before the prompt appears: a key pressed in between would be taken for a program's input.
      el_set(editor_, EL_PREP_TERM, 1);
      const char* line = read_line(length);
      if (cancellation_.taken()) {
        cell_.clear();
        std::cout << std::endl;
        el_reset(editor_);
        continue;
      }
      const bool at_end = !line || length <= 0;
      if (at_end) std::cout << std::endl;
      if (at_end && cell_.empty()) return false;
      if (!at_end) cell_ += line;
      const std::string text = trimmed(cell_);
      if (text.empty()) {
        cell_.clear();
        continue;
      }
      // An empty line ends an incomplete cell, so that what is missing is reported; in text that a terminal pastes without marks
      // it is a part of the cell.
      const bool ended = at_end || (trimmed(line).empty() && (has_controls() || !cancellation_.key_waits()));
      if (incomplete(text) && !ended) continue;
      HistEvent event;
      history(history_, &event, H_ENTER, text.c_str());
      // Before the cell runs, which may end the process.
      if (!file_.empty()) history(history_, &event, H_SAVE, file_.c_str());
      cell = cell_;
      return true;
    }
  }

 private:
  static Editor& of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *static_cast<Editor*>(self);
  }

  const char* read_line(int& length) const {
    const MarkedPaste marked;
    return el_gets(editor_, &length);
  }

  /// Inserts the text up to the mark at its end, with its line ends; Enter then runs all lines as one cell.
  unsigned char paste() const {
    std::wstring text;
    for (wchar_t key = 0; !text.ends_with(MarkedPaste::end); text += key)
      if (read_key(key) <= 0) return CC_ERROR;
    text.resize(text.size() - MarkedPaste::end.size());
    text = as_typed(text);
    if (!text.empty() && el_winsertstr(editor_, text.c_str()) != 0) return CC_ERROR;
    return CC_REFRESH;
  }

  /// Reads a UTF-8 character; returns 1, or 0 at the end of input, or -1 for Ctrl-C.
  int read_key(wchar_t& key) const {
    std::mbstate_t state{};
    for (char byte = 0;;) {
      if (!cancellation_.wait_for_key()) return -1;
      const ssize_t size = ::read(STDIN_FILENO, &byte, 1);
      if (size <= 0) return 0;
      const std::size_t used = std::mbrtowc(&key, &byte, 1, &state);
      if (used <= 1) return 1;
      if (used == static_cast<std::size_t>(-1)) state = {};  // a byte that is not UTF-8 is dropped
    }
  }

  unsigned char complete() {
    const LineInfo* line = el_line(editor_);
    const std::string before(line->buffer, line->cursor);
    const std::size_t word = word_begin(before);
    if (trimmed(before).empty()) {
      el_insertstr(editor_, "  ");
      return CC_REFRESH;
    }
    const std::vector<std::string> found = shell_.completions(cell_ + before);
    if (found.empty()) return CC_REFRESH_BEEP;
    std::string common = found.front();
    for (const std::string& one : found)
      common.resize(static_cast<std::size_t>(
          std::mismatch(common.begin(), common.end(), one.begin(), one.end()).first - common.begin()));
    const std::size_t typed = before.size() - word;
    if (common.size() > typed) el_insertstr(editor_, common.substr(typed).c_str());
    else if (found.size() > 1) list(found);
    return CC_REDISPLAY;
  }

  /// Prints the text about the call at the cursor below the line.
  unsigned char inspect() {
    const LineInfo* line = el_line(editor_);
    const std::size_t at = cell_.size() + static_cast<std::size_t>(line->cursor - line->buffer);
    const std::string code = cell_ + std::string(line->buffer, line->lastchar);
    const std::string text = shell_.inspect(code, at, nn::terminal_columns().value_or(80));
    if (text.empty()) return CC_REFRESH_BEEP;
    std::cout << '\n' << text << std::flush;
    return CC_REDISPLAY;
  }

  void list(const std::vector<std::string>& names) const {
    std::size_t width = 0;
    for (const std::string& name : names) width = std::max(width, name.size() + 2);
    const std::size_t in_row = std::max<std::size_t>(1, nn::terminal_columns().value_or(80) / width);
    std::cout << '\n';
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::cout << names[i];
      if (i + 1 == names.size() || (i + 1) % in_row == 0) std::cout << '\n';
      else std::cout << std::string(width - names[i].size(), ' ');
    }
    std::cout.flush();
  }

  Shell& shell_;
  const Cancellation cancellation_;
  const std::string file_ = history_file();
  EditLine* editor_;
  History* history_;
  std::string cell_;
};

}  // namespace

void prompt(Shell& shell) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // the encoding of the keyboard
  Editor editor(shell);
  shell.permit_restart();
  std::cout << "ktape. %help tells what can be typed, Ctrl-D leaves." << std::endl;
  for (std::string cell; shell.restart_file().empty() && !shell.left() && editor.read(cell);) shell.run(cell);
}

}  // namespace ktape::interactive
