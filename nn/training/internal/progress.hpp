#pragma once
#include <ktape/nn/training/callback.hpp>

#include <chrono>
#include <iosfwd>
#include <string>

namespace ktape::nn {

/// A callback that prints the progress of a training, an evaluation or a prediction: on a terminal a moving
/// bar with rate, remaining time and logs; elsewhere, and with verbose = 2, a line for each epoch.
class ProgressImpl final : public CallbackImpl {
 public:
  /// Makes a progress bar. `moves` says whether the output is a terminal, whose lines can be overwritten;
  /// `columns` returns the width of the terminal.
  ProgressImpl(std::ostream& out, bool moves, int (*columns)() = terminal_columns)
      : out_(out), columns_(columns), moves_(moves) {}
  /// Returns the width of the terminal on standard output, or 80.
  static int terminal_columns();

  std::string class_name() const override { return "ProgbarLogger"; }

  void on_train_begin(const Logs&) override { training_ = true; }
  void on_train_end(const Logs&) override { training_ = false; }
  void on_epoch_begin(int epoch, const Logs&) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override { step(batch, logs); }
  void on_epoch_end(int, const Logs& logs) override { finish(logs); }
  void on_test_begin(const Logs&) override { begin_unless_training(); }
  void on_test_batch_end(std::int64_t batch, const Logs& logs) override { step_unless_training(batch, logs); }
  void on_test_end(const Logs& logs) override { finish_unless_training(logs); }
  void on_predict_begin(const Logs&) override { begin(); }
  void on_predict_batch_end(std::int64_t batch, const Logs& logs) override { step(batch, logs); }
  void on_predict_end(const Logs& logs) override { finish(logs); }

 private:
  using Clock = std::chrono::steady_clock;

  bool moves() const { return moves_ && parameters().verbose == 1; }
  void begin();
  void step(std::int64_t batch, const Logs& logs);
  void finish(const Logs& logs);
  void begin_unless_training() { training_ ? void() : begin(); }
  void step_unless_training(std::int64_t batch, const Logs& logs) { training_ ? void() : step(batch, logs); }
  void finish_unless_training(const Logs& logs) { training_ ? void() : finish(logs); }
  void write(const Logs& logs, bool last);
  std::string line(const Logs& logs, bool last, int bar_width) const;

  std::ostream& out_;
  int (*columns_)();
  bool moves_, training_ = false;
  std::int64_t done_ = 0;
  std::size_t width_ = 0;  ///< the width of the current line on the terminal
  Clock::time_point started_, drawn_;
};

}  // namespace ktape::nn
