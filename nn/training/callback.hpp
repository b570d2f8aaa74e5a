#pragma once
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/training/logs.hpp>

#include <memory>
#include <optional>
#include <string>

namespace ktape::nn {

class Model;
class ModelImpl;
class Archive;

/// The extent of a fit, an evaluation or a prediction.
struct RunParameters {
  int epochs = 1;
  std::optional<std::int64_t> steps = {};  ///< the number of batches in an epoch; none if unknown
  int verbose = 0;
  bool first = true;  ///< whether this process prints and writes files; with nn/distributed, only rank 0 does
};

/// Warns the user in the log and, if the run prints and the log does not, on the error stream.
///
///     nn::RunParameters quiet{.epochs = 3, .verbose = 0};
///     nn::warn(quiet, "the learning rate is 0");  // only in the log
///     std::cout << quiet.epochs;
void warn(const RunParameters& parameters, const std::string& text);

/// The base class of callbacks: override the functions of events. Epochs and batches count from 0.
///
///     struct PrinterImpl : nn::CallbackImpl {
///       void on_epoch_end(int epoch, const nn::Logs& logs) override {
///         std::cout << epoch << ": " << logs << "\n";
///       }
///     };
///     using Printer = nn::CallbackOf<PrinterImpl>;
///
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.loss = "mse"});
///     model.fit(
///         K::ones({4, 2}), K::ones({4, 1}),
///         {.epochs = 2, .verbose = 0, .callbacks = {Printer()}});
class CallbackImpl : public Object {
 public:
  static constexpr const char* kind = "callback";

  virtual void on_train_begin(const Logs&) {}
  virtual void on_train_end(const Logs&) {}
  virtual void on_epoch_begin(int, const Logs&) {}
  /// Called at the end of an epoch. The logs hold the means over the epoch and, with validation data,
  /// "val_...".
  virtual void on_epoch_end(int, const Logs&) {}
  virtual void on_train_batch_begin(std::int64_t batch, const Logs& logs) { on_batch_begin(batch, logs); }
  virtual void on_train_batch_end(std::int64_t batch, const Logs& logs) { on_batch_end(batch, logs); }
  /// Called like `on_train_batch_begin` and `on_train_batch_end`: Keras's older names.
  virtual void on_batch_begin(std::int64_t, const Logs&) {}
  virtual void on_batch_end(std::int64_t, const Logs&) {}
  virtual void on_test_begin(const Logs&) {}
  virtual void on_test_end(const Logs&) {}
  virtual void on_test_batch_begin(std::int64_t, const Logs&) {}
  virtual void on_test_batch_end(std::int64_t, const Logs&) {}
  virtual void on_predict_begin(const Logs&) {}
  virtual void on_predict_end(const Logs&) {}
  virtual void on_predict_batch_begin(std::int64_t, const Logs&) {}
  virtual void on_predict_batch_end(std::int64_t, const Logs&) {}

  /// Adds to the logs of an epoch, before any on_epoch_end.
  virtual void report(Logs&) {}

  /// Names the callback's values from which an interrupted training resumes; see Archive.
  virtual void state(Archive&) {}
  /// Returns whether the callback is called after all other callbacks.
  virtual bool comes_last() const { return false; }
  /// Returns whether the callback writes files: with nn/distributed, such callbacks run in rank 0 only.
  virtual bool writes_files() const { return false; }

  std::string class_name() const override { return "Callback"; }

  void set_model(const Model& model);
  void set_parameters(const RunParameters& parameters) { parameters_ = parameters; }
  /// Warns the user in the log and, if the run prints, on the error stream.
  void warn(const std::string& text) const { nn::warn(parameters_, text); }

 protected:
  /// Returns the model of the current run.
  Model model() const;
  const RunParameters& parameters() const { return parameters_; }
  /// Returns whether to print, for the value of a callback's option `verbose`.
  bool prints(int verbose) const { return verbose > 0 && parameters_.first; }
  /// Ends the training after the current batch, or the current epoch.
  void stop_training() const;

 private:
  std::shared_ptr<ModelImpl> model_;
  RunParameters parameters_;
};

/// A handle to an object whose functions are called during a training, an evaluation or a prediction.
///
///     std::vector<nn::Callback> callbacks = {nn::TerminateOnNaN(),
///                                            nn::EarlyStopping({.patience = 2})};
///     for (const nn::Callback& callback : callbacks)
///       std::cout << callback.class_name() << "\n";
class Callback : public Handle<CallbackImpl> {
 public:
  using Handle::Handle;
};

/// A handle to a callback class of a user; `->` reaches the members of the class.
template <class Implementation>
using CallbackOf = HandleOf<Callback, Implementation>;

}  // namespace ktape::nn
