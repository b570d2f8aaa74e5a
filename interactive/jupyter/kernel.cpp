#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/display/notebook.hpp>
#include <ktape/interactive/jupyter/kernel.hpp>
#include <ktape/interactive/jupyter/traceback.hpp>
#include <ktape/interactive/jupyter/unicode.hpp>
#include <xeus/xhelper.hpp>
#include <xeus/xinput.hpp>

#include <csignal>
#include <iostream>

namespace ktape::interactive {
namespace {

/// Lets Ctrl-C reach the thread that runs cells, during a cell only: between cells Ctrl-C is ignored.
class Interruptible {
 public:
  Interruptible() {
    std::signal(SIGINT, SIG_IGN);  // drops pending interrupts
    mask(SIG_UNBLOCK);
  }
  ~Interruptible() { mask(SIG_BLOCK); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  static void mask(int how) {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(how, &interrupt, nullptr);
  }
};

constexpr std::size_t columns_of_tooltip = 110;

}  // namespace

void Input::allow(bool allowed) {
  allowed_ = allowed;
  if (allowed) std::cin.clear();
}

Input::int_type Input::underflow() {
  if (!allowed_) return traits_type::eof();
  before_();
  line_ = xeus::blocking_input_request("", false) + '\n';
  setg(line_.data(), line_.data(), line_.data() + line_.size());
  return traits_type::to_int_type(line_.front());
}

Kernel::Kernel()
    : streams_([this](const char* name, const std::string& text) {
        if (!silent_) publish_stream(name, text);
      }),
      input_([this] { streams_.after_text([] {}); }) {
  std::cin.rdbuf(&input_);
  show_in([this](const MimeBundle& forms, bool is_result) { publish_forms(forms, is_result); });
  xeus::register_interpreter(this);
}

void Kernel::finish() { shell_.finish(); }

void Kernel::publish_forms(const MimeBundle& forms, bool is_result) {
  streams_.after_text([&] {
    if (silent_) return;
    if (is_result) publish_execution_result(count_, forms, Json::object());
    else display_data(forms, Json::object(), Json::object());
  });
}

Kernel::Json Kernel::execute_request_impl(int count, const std::string& code, bool silent, bool, Json,
                                          bool allow_stdin) {
  count_ = count;
  silent_ = silent;
  input_.allow(allow_stdin);
  streams_.begin_cell();
  Ending ending;
  {
    const Interruptible interruptible;
    ending = shell_.execute(code, "In [" + std::to_string(count) + ']', count);
  }
  streams_.end_cell();
  if (ending.kind == Ending::Finished) return xeus::create_successful_reply();
  return error(ending, count, code, silent);
}

Kernel::Json Kernel::error(const Ending& ending, int count, const std::string& code, bool silent) {
  const Traceback traceback = traceback_of(ending, count, code);
  if (!silent) publish_execution_error(traceback.name, traceback.message, traceback.lines);
  return {{"status", "error"},
          {"ename", traceback.name},
          {"evalue", traceback.message},
          {"traceback", traceback.lines}};
}

Kernel::Json Kernel::complete_request_impl(const std::string& code, int cursor) {
  const std::string text = code.substr(0, byte_of(code, cursor));
  const std::size_t begin = word_begin(text);
  return xeus::create_complete_reply(shell_.completions(text), characters_in(text.substr(0, begin)), cursor);
}

Kernel::Json Kernel::inspect_request_impl(const std::string& code, int cursor, int) {
  const std::string text = shell_.inspect(code, byte_of(code, cursor), columns_of_tooltip);
  return xeus::create_inspect_reply(!text.empty(),
                                    text.empty() ? Json::object() : Json{{"text/plain", text}});
}

Kernel::Json Kernel::is_complete_request_impl(const std::string& code) {
  if (!incomplete(trimmed(code))) return xeus::create_is_complete_reply("complete");
  return xeus::create_is_complete_reply("incomplete",
                                        std::string(2 * static_cast<std::size_t>(open_brackets(code)), ' '));
}

Kernel::Json Kernel::kernel_info_request_impl() {
  return xeus::create_info_reply("5.3", "ktape", "0.1.0", "c++", "20", "text/x-c++src", ".cpp", "cpp",
                                 "text/x-c++src", "", "ktape. %help tells what can be typed.");
}

}  // namespace ktape::interactive
