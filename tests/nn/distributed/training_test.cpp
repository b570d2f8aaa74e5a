#include <doctest/doctest.h>
#include "together.hpp"

#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <optional>

/// P processes with batches of 32 / P compute what one process computes with batches of 32.
using namespace together;
namespace data = ktape::data;

namespace {

using Make = std::function<nn::Sequential()>;
using MakeOptimizer = std::function<nn::Optimizer()>;

nn::Sequential dense() {
  return nn::Sequential({nn::Input({6}), nn::Dense(16, {.activation = "tanh"}), nn::Dense(1)});
}
nn::Sequential convolutional() {
  return nn::Sequential({nn::Input({8, 8, 1}), nn::Conv2D(4, 3, {.strides = 2, .activation = "tanh"}),
                         nn::Conv2D(6, 2, {.activation = "tanh"}), nn::Flatten(),
                         nn::Dense(3, {.activation = "softmax"})});
}
nn::Sequential pooled() {
  return nn::Sequential({nn::Input({8, 8, 1}), nn::Conv2D(4, 3, {.activation = "tanh"}), nn::MaxPooling2D(2),
                         nn::Flatten(), nn::Dense(3, {.activation = "softmax"})});
}
nn::Sequential recurrent() {
  return nn::Sequential(
      {nn::Input({5, 4}), nn::LSTM(8, {.return_sequences = true}), nn::GRU(6), nn::Dense(1)});
}
/// Returns a model with a table so large that its gradient is sent as rows.
nn::Sequential embedding() {
  return nn::Sequential({nn::Input({7}), nn::Embedding(2000, 8), nn::GlobalAveragePooling1D(), nn::Dense(1)});
}

const std::vector<std::pair<std::string, MakeOptimizer>> optimizers{
    {"SGD", [] { return nn::SGD(0.05); }},
    {"SGD with momentum", [] { return nn::SGD({.learning_rate = 0.02, .momentum = 0.9}); }},
    {"Adam", [] { return nn::Adam(0.001); }},
};

struct Trained {
  std::vector<Tensor> weights;
  nn::Logs logs;
};

/// Trains for 100 steps, or a few more if the batches of an epoch do not divide 100.
Trained trained(const nn::Model& model, const nn::Optimizer& optimizer, const char* loss, const Tensor& x,
                const Tensor& y, std::int64_t batch) {
  K::set_random_seed(5);  // of the order of the samples
  model.compile({.optimizer = optimizer, .loss = loss, .metrics = {"accuracy"}});
  const auto batches = static_cast<int>((x.shape()[0] + 31) / 32);
  const nn::History history =
      model.fit(x, y, {.batch_size = batch, .epochs = (100 + batches - 1) / batches, .verbose = 0});
  nn::Logs logs;
  for (const std::string& name : history.names()) logs.set(name, history[name].back());
  return {model.get_weights(), logs};
}

void check_same(const Make& make, const char* loss, const Tensor& x, const Tensor& y,
                const distributed::OptimizerOptions& options = {}) {
  for (const auto& [name, optimizer] : optimizers) {
    INFO(name, ", ", x.shape()[0], " samples");
    K::set_random_seed(3);
    const nn::Sequential alone = make(), many = make();
    alone.set_weights(many.get_weights());
    const Trained expected = trained(alone, optimizer(), loss, x, y, 32);
    const Trained received =
        trained(many, distributed::Optimizer(optimizer(), options), loss, x, y, 32 / distributed::size());
    CHECK(close(expected.weights, received.weights, {.ulps = 0, .atol = 1e-5}));
    for (const auto& [key, value] : expected.logs) CHECK(close(received.logs.at(key), value, {.rtol = 1e-4}));
    for (const Tensor& weight : received.weights) CHECK(same_everywhere(weight));
  }
}

/// Whole batches, a last one of 5 samples, and one of 1, in which all but rank 0 have none.
const std::vector<std::int64_t> sample_counts{320, 293, 289};

}  // namespace

TEST_CASE("dense models learn equal weights in one process and in several") {
  for (const std::int64_t n : sample_counts) check_same(dense, "mse", normal({n, 6}, 1), normal({n, 1}, 2));
}

TEST_CASE("convolutional models learn equal weights in one process and in several") {
  for (const std::int64_t n : sample_counts)
    check_same(convolutional, "sparse_categorical_crossentropy", normal({n, 8, 8, 1}, 1), classes(n, 3, 2));
}

/// In double precision, because rounding may make another element the largest of a pool, which then gets the
/// gradient.
TEST_CASE("models with pools learn equal weights in one process and in several") {
  K::set_floatx("float64");
  check_same(pooled, "sparse_categorical_crossentropy", normal({289, 8, 8, 1}, 1), classes(289, 3, 2));
  K::set_floatx("float32");
}

TEST_CASE("recurrent models learn equal weights in one process and in several") {
  for (const std::int64_t n : sample_counts)
    check_same(recurrent, "mse", normal({n, 5, 4}, 1), normal({n, 1}, 2));
}

TEST_CASE("embeddings, sent as rows, learn equal weights") {
  for (const std::int64_t n : sample_counts) {
    const Tensor words =
        K::random_uniform({n, 7}, {.minval = 0, .maxval = 2000, .dtype = "int32", .seed = 1});
    check_same(embedding, "mse", words, normal({n, 1}, 2));
  }
}

TEST_CASE("an embedding whose batches have more words than the table has rows learns equal weights") {
  const auto small = [] {
    return nn::Sequential({nn::Input({7}), nn::Embedding(30, 4), nn::GlobalAveragePooling1D(), nn::Dense(1)});
  };
  const Tensor words = K::random_uniform({289, 7}, {.minval = 0, .maxval = 30, .dtype = "int32", .seed = 1});
  check_same(small, "mse", words, normal({289, 1}, 2));
}

TEST_CASE("gradients that messages sum, as between machines, give equal weights") {
  const distributed::OptimizerOptions messages{.shared_memory = false};
  const std::int64_t n = 293;
  check_same(dense, "mse", normal({n, 6}, 1), normal({n, 1}, 2), messages);
  check_same(convolutional, "sparse_categorical_crossentropy", normal({n, 8, 8, 1}, 1), classes(n, 3, 2),
             messages);
  const Tensor words = K::random_uniform({n, 7}, {.minval = 0, .maxval = 2000, .dtype = "int32", .seed = 1});
  check_same(embedding, "mse", words, normal({n, 1}, 2), messages);
}

TEST_CASE("gradients in many buckets give equal weights, in float16 nearly") {
  const auto check = [](const Make& make, const Tensor& x, const Tensor& y) {
    const auto learned = [&](const nn::Optimizer& optimizer, const distributed::OptimizerOptions& options) {
      K::set_random_seed(3);
      return trained(make(), distributed::Optimizer(optimizer, options), "mse", x, y, 8).weights;
    };
    for (const auto& [name, optimizer] : optimizers) {
      INFO(name);
      const std::vector<Tensor> whole = learned(optimizer(), {});
      for (const bool shared : {true, false}) {
        INFO("shared memory: ", shared);
        CHECK(distance(whole, learned(optimizer(), {.bucket_bytes = 64, .shared_memory = shared})) < 1e-5);
        const double halves =
            distance(whole, learned(optimizer(), {.float16 = true, .shared_memory = shared}));
        CHECK(halves > 0);
        CHECK(halves < 1e-2);
      }
    }
  };
  check(dense, normal({100, 6}, 1), normal({100, 1}, 2));
  check(embedding, K::random_uniform({100, 7}, {.minval = 0, .maxval = 2000, .dtype = "int32", .seed = 1}),
        normal({100, 1}, 2));
}

TEST_CASE("halves keep 11 bits, are infinite beyond 65504 and zero below 3e-8") {
  for (const bool shared : {true, false}) {
    INFO("shared memory: ", shared);
    const ktape::Variable w = K::zeros({4});
    const distributed::Optimizer optimizer(nn::SGD(1), {.float16 = true, .shared_memory = shared});
    const auto mine = static_cast<float>(1 + distributed::rank());
    optimizer.apply({K::constant({1.0003f, 1e6f, 1e-9f, 3 * mine})}, {w});
    const auto mean = K::get_value(-w.value());
    CHECK(mean(0) == 1);
    CHECK(std::isinf(mean(1)));
    CHECK(mean(2) == 0);
    CHECK(mean(3) == 1.5f * static_cast<float>(distributed::size() + 1));
  }
}

TEST_CASE("sums in shared memory are bitwise equal in all processes") {
  const ktape::Variable w = K::zeros({1000});
  const distributed::Optimizer optimizer(nn::SGD(1));
  for (int step = 0; step < 20; ++step)
    optimizer.apply({normal({1000}, 100 * step + distributed::rank())}, {w});
  CHECK(same_everywhere(w.value()));
}

TEST_CASE("where a process gets no shared memory, messages compute the sums") {
  struct NoFiles {
    rlimit before{};
    NoFiles() {
      signal(SIGXFSZ, SIG_IGN);
      getrlimit(RLIMIT_FSIZE, &before);
      const rlimit none{0, before.rlim_max};
      setrlimit(RLIMIT_FSIZE, &none);
    }
    ~NoFiles() { setrlimit(RLIMIT_FSIZE, &before); }
  };
  for (const int poor : {0, distributed::size() - 1}) {
    const ktape::Variable w = K::zeros({1000});
    const distributed::Optimizer optimizer(nn::SGD(1));
    std::optional<NoFiles> none;
    if (distributed::rank() == poor) none.emplace();
    optimizer.apply({K::ones({1000})}, {w});
    CHECK(K::get_value(w.value())(999) == -1);
  }
}

TEST_CASE("several optimizers, one after another, each have their sums") {
  for (int round = 0; round < 20; ++round) {
    const ktape::Variable a = K::zeros({50000}), b = K::zeros({3});
    const distributed::Optimizer first(nn::SGD(1)), second(nn::SGD(1));
    const Tensor mine = K::constant(static_cast<float>(distributed::rank()));
    first.apply({K::ones({50000}) * mine}, {a});
    second.apply({K::ones({3}) * mine}, {b});
    first.apply({K::ones({50000})}, {a});
    const float mean = static_cast<float>(distributed::size() - 1) / 2;
    CHECK(K::get_value(a.value())(49999) == -mean - 1);
    CHECK(K::get_value(b.value())(2) == -mean);
  }
}

TEST_CASE("accumulated gradients, clipped, give equal weights") {
  const Tensor x = normal({293, 6}, 1), y = normal({293, 1}, 2);
  const auto optimizer = [] {
    return nn::SGD({.learning_rate = 0.05, .global_clipnorm = 0.1, .gradient_accumulation_steps = 3});
  };
  K::set_random_seed(3);
  const nn::Sequential alone = dense(), many = dense();
  alone.set_weights(many.get_weights());
  const Trained expected = trained(alone, optimizer(), "mse", x, y, 32);
  const Trained received =
      trained(many, distributed::Optimizer(optimizer()), "mse", x, y, 32 / distributed::size());
  CHECK(close(expected.weights, received.weights, {.ulps = 0, .atol = 1e-5}));
}

TEST_CASE("shards of a dataset may differ in length") {
  // Rank 0 has 5 batches of 8, each further rank one less; one process has the batches of one step together.
  const int size = distributed::size();
  const Tensor x = normal({40 * size, 6}, 1), y = normal({40 * size, 1}, 2);
  const auto rows = [&](int rank, int batch) {
    const std::int64_t begin = 40 * rank + 8 * batch;
    return data::Element{K::slice(x, {begin, 0}, {8, -1}), K::slice(y, {begin, 0}, {8, -1})};
  };
  std::vector<data::Element> mine, all;
  for (int step = 0; step < 5; ++step) {
    std::vector<Tensor> xs, ys;
    for (int rank = 0; rank < size && step < 5 - rank; ++rank) {
      const data::Element part = rows(rank, step);
      xs.push_back(part[0]), ys.push_back(part[1]);
      if (rank == distributed::rank()) mine.push_back(part);
    }
    all.push_back({K::concatenate(xs, 0), K::concatenate(ys, 0)});
  }
  const auto dataset = [](const std::vector<data::Element>& batches) {
    return data::Dataset::from_generator([batches, at = std::size_t{0}]() mutable {
      return at < batches.size() ? std::optional(batches[at++]) : std::nullopt;
    });
  };
  for (const auto& [name, optimizer] : optimizers) {
    INFO(name);
    const nn::Sequential alone = dense(), many = dense();
    alone.set_weights(many.get_weights());
    alone.compile({.optimizer = optimizer(), .loss = "mse"});
    many.compile({.optimizer = distributed::Optimizer(optimizer()), .loss = "mse"});
    many.set_weights(distributed::first() ? many.get_weights() : alone.get_weights());
    const nn::History expected = alone.fit(dataset(all), {.epochs = 20, .verbose = 0});
    const nn::History received = many.fit(dataset(mine), {.epochs = 20, .verbose = 0});
    CHECK(close(alone.get_weights(), many.get_weights(), {.ulps = 0, .atol = 1e-5}));
    CHECK(close(received["loss"].back(), expected["loss"].back(), {.rtol = 1e-4}));
  }
}

TEST_CASE("a process without data takes part with batches that do not count") {
  // One process has all data, another one each time; built and unbuilt models, with metrics and validation.
  const int size = distributed::size();
  const Tensor x = normal({12, 6}, 1), y = normal({12, 1}, 2);
  const data::Dataset all = data::Dataset::from_tensor_slices(x, y).batch(4);
  for (const int rank : {0, size - 1})
    for (const bool built : {true, false}) {
      CAPTURE(rank);
      CAPTURE(built);
      const data::Dataset mine = distributed::rank() == rank ? all : all.take(0);
      const auto model = [built] {
        const nn::Sequential made({nn::Dense(3, {.activation = "tanh"}), nn::Dense(1)});
        if (built) made.build({ktape::None, 6});
        return made;
      };
      const nn::Sequential alone = model(), many = model();
      many(x), alone(x);
      distributed::broadcast(many.weights());
      alone.set_weights(many.get_weights());
      const nn::Sequential fresh = built ? many : model();
      alone.compile({.optimizer = nn::SGD(0.1), .loss = "mse", .metrics = {"mae"}});
      many.compile({.optimizer = distributed::Optimizer(nn::SGD(0.1)), .loss = "mse", .metrics = {"mae"}});
      const nn::History expected = alone.fit(all, {.epochs = 3, .verbose = 0, .validation_data = all});
      const nn::History received = many.fit(mine, {.epochs = 3, .verbose = 0, .validation_data = mine});
      CHECK(close(many.get_weights(), alone.get_weights(), {.ulps = 0, .atol = 1e-5}));
      for (const char* name : {"loss", "mae", "val_loss", "val_mae"})
        CHECK(close(received[name].back(), expected[name].back(), {.rtol = 1e-4}));
      if (built) continue;
      fresh.compile({.optimizer = distributed::Optimizer(nn::SGD(0.1)), .loss = "mse"});
      CHECK(std::isfinite(fresh.fit(mine, {.verbose = 0})["loss"].back()));
    }
}

TEST_CASE("fewer rows than processes are enough") {
  const int size = distributed::size();
  const nn::Sequential model = dense();
  model.compile({.optimizer = distributed::Optimizer(nn::SGD(0.01)), .loss = "mse"});
  const nn::History history =
      model.fit(normal({size - 1, 6}, 1), normal({size - 1, 1}, 2), {.epochs = 2, .verbose = 0});
  CHECK(history["loss"][1] < history["loss"][0]);
  CHECK(same_everywhere(model.get_weights()[0]));
}

TEST_CASE("arrays of other numbers of rows, and data that no process has, are errors in all processes") {
  const nn::Sequential model = dense();
  model.compile({.optimizer = distributed::Optimizer(nn::SGD(0.1)), .loss = "mse"});
  const std::int64_t rows = distributed::first() ? 8 : 6;
  const Tensor x = normal({8, 6}, 1), y = normal({8, 1}, 2), own_x = normal({rows, 6}, 1),
               own_y = normal({rows, 1}, 2);
  const std::vector<Tensor> before = model.get_weights();
  const char* const received = "received arrays of 6 rows in rank 1";
  CHECK_THROWS_WITH_AS(model.fit(own_x, own_y, {.verbose = 0}), doctest::Contains(received),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(model.fit(x, y, {.verbose = 0, .validation_data = {own_x, own_y}}),
                       doctest::Contains(received), ktape::ValueError);
  CHECK(close(model.get_weights(), before, exactly));
  model.fit(x, y, {.verbose = 0});
}

TEST_CASE("a user's step with gradients of K uses the mean") {
  const nn::Sequential model = dense();
  distributed::broadcast(model.weights());
  const distributed::Optimizer optimizer(nn::SGD(0.1));
  const int rank = distributed::rank();
  const Tensor x = normal({8, 6}, 10 + rank), y = normal({8, 1}, 20 + rank);
  const std::vector<ktape::Variable> weights = model.trainable_weights();
  std::vector<Tensor> before = model.get_weights(),
                      gradients = K::gradients(K::mean(K::square(model(x) - y)), weights);
  optimizer.apply(gradients, weights);
  for (std::size_t i = 0; i < weights.size(); ++i)
    CHECK(close({weights[i]}, {before[i] - 0.1f * distributed::allreduce(gradients[i].detach())},
                {.ulps = 0, .atol = 1e-6}));
}
