#include <doctest/doctest.h>
#include "together.hpp"

#include <filesystem>
#include <sstream>

/// Values that are equal in all processes, and values that differ.
using namespace together;
namespace data = ktape::data;
namespace fs = std::filesystem;

namespace {

int last() { return distributed::size() - 1; }

std::string compile_error(const nn::Model& model) {
  try {
    model.compile({.optimizer = distributed::Optimizer(nn::SGD()), .loss = "mse"});
  } catch (const ktape::ValueError& error) {
    return error.what();
  }
  return "no error";
}

nn::Sequential model_of(std::int64_t units, const char* name, const char* dtype = "float32") {
  return nn::Sequential({nn::Input({3}, {.dtype = "float32"}),
                         nn::Dense(units, {.dtype = ktape::DType(dtype), .name = name}),
                         nn::Dense(1, {.dtype = ktape::DType(dtype), .name = "last"})});
}

/// Records the logs that the callback receives.
struct ListenerImpl : nn::CallbackImpl {
  std::vector<nn::Logs> epochs;
  int stops_after = -1;
  bool is_first = false;
  void on_epoch_end(int, const nn::Logs& logs) override { epochs.push_back(logs); }
  void on_train_batch_end(std::int64_t batch, const nn::Logs&) override {
    is_first = parameters().first;
    if (batch == stops_after) stop_training();
  }
};
using Listener = nn::CallbackOf<ListenerImpl>;

}  // namespace

TEST_CASE("models that differ in a shape, a name, a dtype or the order are found at compile") {
  const bool other = distributed::rank() == last();
  const std::string where = " in rank " + std::to_string(last()) + " on ";
  const auto check = [&](const nn::Model& model, const std::string& mine, const std::string& first) {
    const std::string error = compile_error(model);
    INFO(error);
    CHECK(error.find("[compile] all processes must agree: received " + mine + where) == 0);
    CHECK(error.find(", " + first + " in rank 0 on ") != std::string::npos);
  };
  check(model_of(other ? 5 : 4, "a"), "'a/kernel' of float32 and shape (3, 5)",
        "'a/kernel' of float32 and shape (3, 4)");
  check(model_of(4, other ? "b" : "a"), "Dense 'b'", "Dense 'a'");
  check(model_of(4, "a", other ? "float64" : "float32"), "'a/kernel' of float64 and shape (3, 4)",
        "'a/kernel' of float32 and shape (3, 4)");
  const auto ordered = [](bool turned) {
    const nn::Dense a(3, {.name = "a"}), b(3, {.name = "b"});
    return turned ? nn::Sequential({nn::Input({3}), b, a}) : nn::Sequential({nn::Input({3}), a, b});
  };
  check(ordered(other), "Dense 'b'", "Dense 'a'");
  CHECK(compile_error(model_of(4, "a")) == "no error");
}

TEST_CASE("initial weights and the optimizer's state are those of rank 0") {
  const Tensor x = normal({8, 3}, 1), y = normal({8, 1}, 2);
  const nn::Sequential model = model_of(4, "a");
  const nn::Adam adam(0.01);
  model.compile({.optimizer = adam, .loss = "mse"});
  for (int step = 0; step <= distributed::rank(); ++step)
    model.train_on_batch(x, y);  // each has its own state
  model.compile({.optimizer = distributed::Optimizer(adam), .loss = "mse"});
  model.fit(x, y, {.batch_size = 4, .verbose = 0});
  for (const Tensor& weight : model.get_weights()) CHECK(same_everywhere(weight));
  for (const ktape::Variable& state : adam.variables()) CHECK(same_everywhere(state));
  CHECK(adam.iterations().item<int>() == 1 + (8 + 4 * distributed::size() - 1) / (4 * distributed::size()));
}

TEST_CASE("dropout and augmentation differ from process to process, with a seed too") {
  for (const std::optional<std::int64_t> seed :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(7)}) {
    std::vector<Tensor> seen;
    const nn::Lambda watch([&](const Tensor& x) {
      if (!ktape::is_symbolic(x)) seen.push_back(x.detach());
      return x;
    });
    const nn::Sequential model({nn::Input({50}), nn::Dropout(0.5, {.seed = seed}), watch, nn::Dense(1)});
    model.compile({.optimizer = distributed::Optimizer(nn::SGD()), .loss = "mse"});
    seen.clear();
    model.fit(K::ones({4 * distributed::size(), 50}), K::ones({4 * distributed::size(), 1}),
              {.batch_size = 2, .epochs = 2, .verbose = 0});
    REQUIRE(seen.size() == 4);
    for (std::size_t step = 1; step < seen.size(); ++step) CHECK(distance({seen[step]}, {seen[0]}) > 0);
    const Tensor all = distributed::allgather(K::expand_dims(seen[0], 0));
    for (int rank = 1; rank < distributed::size(); ++rank) CHECK(distance({all[rank]}, {all[0]}) > 0);
  }
}

TEST_CASE("shuffles agree before shard and differ after it") {
  const auto numbers = [](const data::Dataset& dataset) {
    std::vector<std::int64_t> all;
    for (const data::Element& element : dataset) all.push_back(element[0].item<std::int64_t>());
    return K::constant(all, {.dtype = "int64"});
  };
  const int size = distributed::size(), rank = distributed::rank();
  const Tensor parts =
      distributed::allgather(numbers(data::Dataset::range(40).shuffle(40).shard(size, rank)));
  CHECK(K::sum(parts).item<int>() == 780);  // each number once
  const Tensor order =
      numbers(data::Dataset::range(20 * size)
                  .shard(size, rank)
                  .map([&](const data::Element& e) { return data::Element{(e[0] - rank) / size}; })
                  .shuffle(20));
  const Tensor all = distributed::allgather(K::expand_dims(order, 0));
  for (int other = 1; other < size; ++other) CHECK(distance({all[other]}, {all[0]}) > 0);
}

TEST_CASE("logs are of all samples, in all processes, and metrics too that are no means") {
  const std::int64_t n = 45;
  const Tensor x = normal({n, 3}, 1), y = K::cast(normal({n, 1}, 2) > 0, "float32");
  const nn::Sequential model({nn::Input({3}), nn::Dense(1, {.activation = "sigmoid"})});
  const nn::SGD still(0.);  // rate 0 keeps the model equal for all batches
  model.compile({.optimizer = distributed::Optimizer(still),
                 .loss = "binary_crossentropy",
                 .metrics = {nn::AUC(), nn::Precision(), "accuracy"}});
  distributed::broadcast(model.weights());
  const nn::History history = model.fit(
      x, y,
      {.batch_size = 4, .verbose = 0, .validation_data = {normal({11, 3}, 3), y[{ktape::Slice(0, 11)}]}});
  const nn::Logs expected = model.evaluate(x, y, {.verbose = 0});
  const nn::Logs validation = model.evaluate(normal({11, 3}, 3), y[{ktape::Slice(0, 11)}], {.verbose = 0});
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(close(history[name].back(), value, {.rtol = 1e-5}));
    CHECK(close(history["val_" + name].back(), validation.at(name), {.rtol = 1e-5}));
  }
}

TEST_CASE("files are those of rank 0") {
  const std::string folder = "rank_" + std::to_string(distributed::rank());  // where each would write
  const nn::Sequential model = model_of(4, "a");
  model.compile({.optimizer = distributed::Optimizer(nn::SGD()), .loss = "mse"});
  const Listener listener;
  model.fit(normal({16, 3}, 1), normal({16, 1}, 2),
            {.batch_size = 4,
             .verbose = 0,
             .callbacks = {listener, nn::CSVLogger(folder + "/log.csv"),
                           nn::ModelCheckpoint(folder + "/model.ktape"), nn::TensorBoard(folder + "/logs"),
                           nn::Report(folder + "/report.html"),
                           nn::BackupAndRestore(folder + "/backup", {.delete_checkpoint = false})}});
  CHECK(fs::exists(folder) == distributed::first());
  CHECK(listener->is_first == distributed::first());
  if (distributed::first())
    for (const char* name :
         {"log.csv", "model.ktape", "logs/train", "report.html", "backup/latest.safetensors"})
      CHECK(fs::exists(fs::path(folder) / name));
  fs::remove_all(folder);
}

TEST_CASE("a process that stops ends all processes in one step") {
  const nn::Sequential model = model_of(4, "a");
  const distributed::Optimizer optimizer{nn::SGD()};
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const Listener listener;
  if (distributed::rank() == last()) listener->stops_after = 2;
  model.fit(normal({256, 3}, 1), normal({256, 1}, 2),
            {.batch_size = 4, .epochs = 5, .verbose = 0, .callbacks = {listener}});
  CHECK(optimizer.iterations().item<int>() == 3);
  CHECK(listener->epochs.size() == 1);
  CHECK(same_everywhere(K::constant(listener->epochs[0].at("loss"))));
}

TEST_CASE("moving means are those of all processes after an epoch") {
  const nn::Sequential model({nn::Input({3}), nn::BatchNormalization({.momentum = 0.5}), nn::Dense(1)});
  model.compile({.optimizer = distributed::Optimizer(nn::SGD()), .loss = "mse"});
  model.fit(normal({32, 3}, 1), normal({32, 1}, 2), {.batch_size = 4, .verbose = 0});
  for (const Tensor& weight : model.get_weights()) CHECK(same_everywhere(weight));
}

TEST_CASE("a model that is built by its first batch is compared and shared, too") {
  const nn::Sequential model({nn::Dense(4, {.name = "a"}), nn::Dense(1, {.name = "b"})});
  model.compile({.optimizer = distributed::Optimizer(nn::SGD()), .loss = "mse"});
  model.fit(normal({32, 3}, 1), normal({32, 1}, 2), {.batch_size = 4, .verbose = 0});
  for (const Tensor& weight : model.get_weights()) CHECK(same_everywhere(weight));
}
