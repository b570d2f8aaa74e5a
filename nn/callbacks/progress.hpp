#pragma once
#include <ktape/nn/callbacks/callback.hpp>

#include <chrono>
#include <iosfwd>

namespace ktape::nn {

/// Prints how far a training, an evaluation or a prediction has come: on a terminal a bar that moves, with
/// rate, time left and numbers; elsewhere, and with verbose=2, a line for each epoch.
class ProgressImpl final : public CallbackImpl {
 public:
  /// `moves`: whether the output is a terminal, on which a line can be written again.
  ProgressImpl(std::ostream& out, bool moves) : out_(out), moves_(moves) {}

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

  std::ostream& out_;
  bool moves_, training_ = false;
  std::int64_t done_ = 0;
  std::size_t width_ = 0;  ///< of the line that is there
  Clock::time_point started_, drawn_;
};

}  // namespace ktape::nn
