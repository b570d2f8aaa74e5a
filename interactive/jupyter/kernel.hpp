#pragma once
#include <ktape/interactive/display.hpp>
#include <ktape/interactive/jupyter/streams.hpp>
#include <ktape/interactive/shell.hpp>
#include <xeus/xinterpreter.hpp>

#include <functional>
#include <streambuf>

namespace ktape::interactive {

/// What std::cin reads: lines that the notebook asks its user for.
class Input : public std::streambuf {
 public:
  /// Called before a line is asked for.
  explicit Input(std::function<void()> before) : before_(std::move(before)) {}
  /// Whether there is anybody to ask; if not, the input is at its end.
  void allow(bool allowed);

 protected:
  int_type underflow() override;

 private:
  std::function<void()> before_;
  bool allowed_ = false;
  std::string line_;
};

/// Answers Jupyter's requests with the session of the prompt. What a request holds and what an answer must:
/// https://jupyter-client.readthedocs.io/en/stable/messaging.html
class Kernel : public xeus::xinterpreter {
 public:
  Kernel();
  /// Ends the session's variables.
  void finish();

 private:
  using Json = nl::json;
  void configure_impl() override {}
  Json execute_request_impl(int count, const std::string& code, bool silent, bool store_history,
                            Json user_expressions, bool allow_stdin) override;
  Json complete_request_impl(const std::string& code, int cursor) override;
  Json inspect_request_impl(const std::string& code, int cursor, int detail) override;
  Json is_complete_request_impl(const std::string& code) override;
  Json kernel_info_request_impl() override;
  void shutdown_request_impl() override {}

  void publish_forms(const Forms& forms, bool is_result);
  Json error(const Ending& ending, int count, const std::string& code, bool silent);

  Streams streams_;
  Input input_;
  Shell shell_;
  int count_ = 0;  // of the cell
  bool silent_ = false;
};

}  // namespace ktape::interactive
