#pragma once
#include <ktape/interactive/display/display.hpp>
#include <ktape/interactive/jupyter/streams.hpp>
#include <ktape/interactive/session/magics.hpp>
#include <xeus/xinterpreter.hpp>

#include <functional>
#include <streambuf>

namespace ktape::interactive {

/// The buffer of std::cin: lines that the notebook asks its user for.
class Input : public std::streambuf {
 public:
  /// Makes a buffer that calls `before` each time before the user is asked for a line.
  explicit Input(std::function<void()> before) : before_(std::move(before)) {}
  /// Sets whether the front end can ask for input; if not, std::cin is at its end.
  void allow(bool allowed);

 protected:
  int_type underflow() override;

 private:
  std::function<void()> before_;
  bool allowed_ = false;
  std::string line_;
};

/// Answers Jupyter's requests with the session of the prompt. The protocol, with the fields of each message:
/// https://jupyter-client.readthedocs.io/en/stable/messaging.html
class Kernel : public xeus::xinterpreter {
 public:
  Kernel();
  /// Destroys the session's variables.
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

  void publish_forms(const MimeBundle& forms, bool is_result);
  Json error(const Ending& ending, int count, const std::string& code, bool silent);

  Streams streams_;
  Input input_;
  Shell shell_;
  int count_ = 0;  // the number of the cell, In[count_]
  bool silent_ = false;
};

}  // namespace ktape::interactive
