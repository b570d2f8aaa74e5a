#include <ktape/autograd/base/log.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/callbacks/tensorboard/internal/event_file.hpp>
#include <ktape/nn/callbacks/tensorboard/tensorboard.hpp>
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <chrono>

namespace ktape::nn {
namespace K = backend;
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns a weight as images (count, height, width, channels) in Keras's arrangement; undefined for a weight
/// of another rank.
Tensor as_images(const Tensor& weight) {
  Tensor image = K::reshape(weight, [&] {
    Shape shape;
    for (const std::int64_t extent : weight.shape())
      if (extent != 1) shape.push_back(extent);
    return shape;
  }());
  const Shape& shape = image.shape();
  if (image.size() == 0) return Tensor();
  if (image.ndim() == 1) return K::reshape(image, {1, shape[0], 1, 1});
  if (image.ndim() == 2) {
    if (shape[0] > shape[1]) image = K::transpose(image);
    return K::reshape(image, {1, image.shape()[0], image.shape()[1], 1});
  }
  if (image.ndim() == 3) {
    if (K::image_data_format() == "channels_last") image = K::permute_dimensions(image, {2, 0, 1});
    return K::expand_dims(image, -1);
  }
  const bool colors = image.ndim() == 4 && (shape[3] == 1 || shape[3] == 3 || shape[3] == 4);
  return colors ? image : Tensor();
}

class TensorBoardImpl final : public CallbackImpl {
 public:
  TensorBoardImpl(const std::string& log_dir, const TensorBoardOptions& options)
      : options_(options), train_(log_dir + "/train"), validation_(log_dir + "/validation") {
    if (options.histogram_freq < 0)
      fail("[TensorBoard] histogram_freq must be at least 0: received histogram_freq=",
           options.histogram_freq);
  }

  std::string class_name() const override { return "TensorBoard"; }
  bool writes_files() const override { return true; }

  void on_train_begin(const Logs&) override {
    training_ = true;
    batches_ = 0;
    close();
    if (options_.write_graph) write_graph();
  }
  void on_train_end(const Logs&) override {
    training_ = false;
    close();
  }

  void on_epoch_begin(int, const Logs&) override {
    epoch_began_ = Clock::now();
    iterations_ = iterations();
  }
  void on_epoch_end(int epoch, const Logs& logs) override {
    write_epoch(epoch, logs);
    if (options_.histogram_freq > 0 && epoch % options_.histogram_freq == 0) write_weights(epoch);
  }

  void on_train_batch_begin(std::int64_t, const Logs&) override { batch_began_ = Clock::now(); }
  void on_train_batch_end(std::int64_t, const Logs& logs) override {
    if (!options_.update_freq.due(++batches_)) return;
    for (const auto& [name, value] : logs) train_.open().scalar("batch_" + name, value, batches_);
    if (options_.write_steps_per_second)
      train_.open().scalar("batch_steps_per_second", 1 / seconds_since(batch_began_), batches_);
  }

  void on_test_end(const Logs& logs) override {
    if (!model().impl().trainer().compiled()) return;  // a user's training step may have no optimizer
    for (const auto& [name, value] : logs)
      validation_.open().scalar("evaluation_" + name + "_vs_iterations", value, iterations());
    if (!training_) close();
  }

  void state(Archive& state) override {
    state("batches", batches_);
    state("iterations", iterations_);
  }

 private:
  /// The event file of a run, created with the first event.
  struct Run {
    std::string folder;
    std::optional<EventFile> file = {};
    explicit Run(std::string folder) : folder(std::move(folder)) {}
    EventFile& open() {
      if (!file) file.emplace(folder);
      return *file;
    }
  };

  void close() {
    train_.file.reset();
    validation_.file.reset();
  }

  std::int64_t iterations() const { return model().optimizer().impl().calls(); }

  void write_graph() {
    std::string json;
    try {
      json = to_json(model().to_value());
    } catch (const ValueError& error) {  // a training must not fail for want of a drawing
      if (log::enabled(log::Level::Warn)) log::write(log::Level::Warn, error.what());
      return;
    }
    train_.open().model("keras", json, 0);
  }

  void write_epoch(int epoch, const Logs& logs) {
    const std::string validation = "val_";
    Logs train;
    for (const auto& [name, value] : logs)
      if (!name.starts_with(validation)) train.set(name, value);
      else validation_.open().scalar("epoch_" + name.substr(validation.size()), value, epoch);
    train.set("learning_rate", model().optimizer().learning_rate().item<double>());
    if (options_.write_steps_per_second)
      train.set("steps_per_second",
                static_cast<double>(iterations() - iterations_) / seconds_since(epoch_began_));
    for (const auto& [name, value] : train) train_.open().scalar("epoch_" + name, value, epoch);
  }

  void write_weights(int epoch) {
    const NoGrad off;
    for (const Layer& layer : model().layers())
      for (const Variable& weight : layer.weights()) {
        train_.open().histogram(weight.name() + "/histogram", weight, epoch);
        const Tensor images = options_.write_images ? as_images(weight) : Tensor();
        if (images.defined()) train_.open().images(weight.name() + "/image", images, epoch);
      }
  }

  TensorBoardOptions options_;
  Run train_, validation_;
  bool training_ = false;
  std::int64_t batches_ = 0;     ///< batches of this training
  std::int64_t iterations_ = 0;  ///< the optimizer's iterations at the begin of the epoch
  Clock::time_point epoch_began_, batch_began_;
};

}  // namespace

TensorBoard::TensorBoard(const TensorBoardOptions& options)
    : Callback(std::make_shared<TensorBoardImpl>(options.log_dir, options)) {}

}  // namespace ktape::nn
