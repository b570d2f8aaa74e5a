#include <ktape/nn/callbacks/internal/monitor.hpp>
#include <ktape/nn/callbacks/internal/python_format.hpp>
#include <ktape/nn/callbacks/model_checkpoint.hpp>
#include <ktape/nn/files/folders.hpp>
#include <ktape/nn/saving/formats.hpp>

#include <iomanip>
#include <iostream>

namespace ktape::nn {
namespace {

class ModelCheckpointImpl final : public CallbackImpl {
 public:
  ModelCheckpointImpl(const std::string& filepath, const ModelCheckpointOptions& options)
      : filepath_(filepath), options_(options), monitor_("ModelCheckpoint", options.monitor, options.mode) {
    const saving::Format& format = saving::format_of("ModelCheckpoint", filepath);
    if (options.save_weights_only ? !format.save_weights : !format.save_model)
      fail("[ModelCheckpoint] the format ", format.suffix, " must support the options: received filepath='",
           filepath, "', save_weights_only=", options.save_weights_only ? "true" : "false");
    if (options.initial_value_threshold) monitor_.set_best(*options.initial_value_threshold);
  }

  std::string class_name() const override { return "ModelCheckpoint"; }
  bool writes_files() const override { return true; }
  double best() const { return monitor_.best(); }

  void on_train_begin(const Logs&) override { monitor_.begin(); }
  void on_epoch_begin(int epoch, const Logs&) override { epoch_ = epoch; }
  void on_epoch_end(int, const Logs& logs) override {
    if (options_.save_freq.by_epoch()) save({{"epoch", epoch_ + 1}}, logs);
  }
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override {
    if (options_.save_freq.due(++batches_)) save({{"epoch", epoch_ + 1}, {"batch", batch + 1}}, logs);
  }

  void state(Archive& state) override {
    monitor_.state(state);
    state("batches", batches_);
  }

 private:
  void save(Config fields, const Logs& logs) {
    for (const auto& [name, value] : logs) fields.set(name, value);
    const std::string path = python_format("ModelCheckpoint", filepath_, fields);
    if (!wanted(logs, path)) return;
    make_folder_of("ModelCheckpoint", path);
    if (options_.save_weights_only) model().save_weights(path);
    else model().save(path);
  }

  /// Returns whether the model is to be saved, and prints the decision.
  bool wanted(const Logs& logs, const std::string& path) {
    const double before = monitor_.best();
    const std::optional<double> value = options_.save_best_only ? monitor_.read(logs, *this) : std::nullopt;
    const bool saves = !value || monitor_.improved(*value);
    if (options_.verbose > 0) {
      std::ostringstream text;  // a stream without the program's settings of std::cout
      text << std::fixed << std::setprecision(5) << "\nEpoch " << epoch_ + 1 << ": ";
      if (value) text << monitor_.name() << (saves ? " improved from " : " did not improve from ") << before;
      if (value && saves) text << " to " << *value << ", ";
      if (saves) text << "saving model to " << path;
      std::cout << text.str() << '\n';
    }
    return saves;
  }

  std::string filepath_;
  ModelCheckpointOptions options_;
  Monitor monitor_;
  int epoch_ = 0;
  std::int64_t batches_ = 0;
};

}  // namespace

ModelCheckpoint::ModelCheckpoint(const ModelCheckpointOptions& options)
    : Callback(std::make_shared<ModelCheckpointImpl>(
          internal::given("ModelCheckpoint", "filepath", options.filepath), options)) {}
double ModelCheckpoint::best() const { return static_cast<const ModelCheckpointImpl&>(impl()).best(); }

}  // namespace ktape::nn
