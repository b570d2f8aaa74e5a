#include "../../in_threads.hpp"

#include <ktape/ktape.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "../../close.hpp"
#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Tensor, ktape::ValueError;

namespace {

constexpr int threads = 8;

/// Adds a loss and a metric in every call.
struct NoisyImpl : nn::LayerImpl {
  NoisyImpl() : LayerImpl("Noisy") {}
  Tensor call(const Tensor& x) override {
    add_loss(K::mean(K::square(x)));
    add_metric(K::mean(x), "mean_input");
    return x;
  }
};

struct Samples {
  Tensor x = normal({24, 4}, 1, "float32");
  Tensor y = K::cast(x[{ktape::All, 0}] > 0, "float32");
};

nn::Sequential classifier() {
  const nn::Sequential model({nn::LayerOf<NoisyImpl>(),
                              nn::Dense(8, {.activation = "relu", .activity_regularizer = "l1"}),
                              nn::BatchNormalization(), nn::Dropout(0.5), nn::LayerOf<NoisyImpl>(),
                              nn::Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = nn::SGD(0.1),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy", "mae", nn::AUC(), nn::Precision()}});
  return model;
}

}  // namespace

TEST_CASE("threads predict with one model, from its first batch on") {
  const Samples samples;
  const nn::Sequential model = classifier();
  std::vector<Tensor> results(threads);
  in_threads(threads,
             [&](int i) { results[i] = model.predict(samples.x, {.batch_size = 5 + i, .verbose = 0}); });
  const Tensor expected = model.predict(samples.x, {.verbose = 0});
  for (const Tensor& result : results) CHECK(close(result, expected));
  CHECK(model.weights().size() == 8);
}

TEST_CASE("threads evaluate one model, each as alone") {
  const Samples samples;
  const nn::Sequential model = classifier();
  std::vector<nn::Logs> results(threads);
  const nn::EvaluateOptions options{.batch_size = 7, .verbose = 0};
  in_threads(threads, [&](int i) {
    const auto one = [&] {
      return i % 2 == 0 ? model.evaluate(samples.x, samples.y, options)
                        : model.evaluate(data::Dataset::from_tensor_slices({samples.x, samples.y}).batch(7),
                                         {.verbose = 0});
    };
    one();
    results[i] = one();
  });
  const nn::Logs alone = model.evaluate(samples.x, samples.y, options);
  CHECK(alone.contains("mean_input"));
  for (const nn::Logs& logs : results)
    for (const auto& [name, value] : alone) CHECK(close(logs.at(name), value));
}

TEST_CASE("threads test, predict and evaluate at once") {
  const Samples samples;
  const nn::Sequential model = classifier();
  const nn::Logs alone = model.test_on_batch(samples.x, samples.y);
  const Tensor expected = model.predict_on_batch(samples.x)[0];
  in_threads(threads, [&](int i) {
    for (int round = 0; round < 3; ++round) {
      if (i % 3 == 0) CHECK(close(model.test_on_batch(samples.x, samples.y).at("loss"), alone.at("loss")));
      if (i % 3 == 1) CHECK(close(model.predict_on_batch(samples.x)[0], expected));
      if (i % 3 == 2)
        CHECK(close(model.evaluate(samples.x, samples.y, {.batch_size = 24, .verbose = 0}).at("mae"),
                    alone.at("mae")));
    }
  });
}

TEST_CASE("threads run a shared function of a model, and separate functions") {
  const Samples samples;
  const nn::Sequential model = classifier();
  model.build({ktape::None, 4});
  const Tensor expected = model.predict(samples.x, {.verbose = 0});
  const auto shared = K::function({model.input()}, {model.output()});
  in_threads(threads, [&](int) {
    for (int round = 0; round < 5; ++round) {
      CHECK(close(shared({samples.x})[0], expected, {.rtol = 1e-5}));
      const Tensor in = K::placeholder({ktape::None, 4}), out = model(in);
      const auto own = K::function({in}, {out, K::gradients(K::sum(out), {in})[0]});
      CHECK(close(own({samples.x})[0], expected, {.rtol = 1e-5}));
    }
  });
}

TEST_CASE("a dataset maps with a model on many threads") {
  const Samples samples;
  const nn::Sequential model = classifier();
  const auto mapped = data::Dataset::from_tensor_slices({samples.x})
                          .batch(3)
                          .map([&](const data::Element& e) { return data::Element{model(e[0])}; },
                               {.num_parallel_calls = threads});
  std::vector<Tensor> parts;
  for (const data::Element& element : mapped) parts.push_back(element[0]);
  CHECK(close(K::concatenate(parts, 0), model.predict(samples.x, {.verbose = 0}), {.atol = 1e-6}));
}

TEST_CASE("threads train separate models") {
  const Samples samples;
  in_threads(4, [&](int) {
    const nn::Sequential model = classifier();
    const nn::History history = model.fit(samples.x, samples.y, {.epochs = 3, .verbose = 0});
    CHECK(history["mean_input"].size() == 3);
  });
}

namespace {

/// Returns the bytes of this process that are in memory.
std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

/// The model of a service, which is replaced while threads predict.
class Served {
 public:
  explicit Served(std::shared_ptr<nn::Model> model) : model_(std::move(model)) {}
  std::shared_ptr<nn::Model> get() {
    const std::lock_guard lock(mutex_);
    return model_;
  }
  void set(std::shared_ptr<nn::Model> model) {
    const std::lock_guard lock(mutex_);
    model_.swap(model);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<nn::Model> model_;
};

}  // namespace

TEST_CASE("a service loads five thousand models while threads predict, in the memory of a few") {
  const std::string path = std::filesystem::temp_directory_path() / "ktape_threads_test.ktape";
  nn::Sequential({nn::Input({16}), nn::Dense(48, {.activation = "relu"}), nn::Dense(32), nn::Dense(2)})
      .save(path);
  const auto load = [&] { return std::make_shared<nn::Model>(nn::load_model(path)); };
  Served served(load());
  const Tensor x = normal({2, 16}, 1, "float32");
  const Tensor expected = served.get()->predict(x, {.verbose = 0});
  std::atomic<bool> ended{false};
  std::atomic<int> predictions{0}, wrong{0};
  std::int64_t early = 0;
  in_threads(5, [&](int thread) {
    while (thread > 0 && !ended) {
      if (!close(served.get()->predict(x, {.verbose = 0}), expected, {.atol = 1e-6})) ++wrong;
      ++predictions;
    }
    for (int i = 0; thread == 0 && i < 5000; ++i) {
      served.set(load());
      if (i == 500) early = resident_bytes();
      for (const int before = predictions; i % 8 == 0 && predictions == before;) std::this_thread::yield();
    }
    if (thread == 0) ended = true;
  });
  CHECK(wrong == 0);
  CHECK(resident_bytes() - early < std::int64_t{24} << 20);
  std::filesystem::remove(path);
}
