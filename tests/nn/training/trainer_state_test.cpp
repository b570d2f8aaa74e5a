#include <ktape/nn/training/trainer.hpp>

#include "line.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

nn::Sequential noisy_model() {
  const nn::Sequential model({nn::Input({2}), nn::Dense(3, {.activation = "tanh", .name = "hidden"}),
                              nn::BatchNormalization(), nn::Dropout(0.5, {.seed = 3}), nn::Dense(1)});
  model.compile(
      {.optimizer = nn::Adam(0.05), .loss = "mse", .metrics = {"mae"}, .weighted_metrics = {"mse"}});
  return model;
}

std::vector<nn::Archive::Entry> state_of(const nn::Model& model) {
  nn::Archive archive;
  model.impl().trainer().state(archive);
  return archive.entries();
}
void set_state(const nn::Model& model, std::vector<nn::Archive::Entry> entries) {
  nn::Archive archive(std::move(entries));
  model.impl().trainer().state(archive);
}

std::vector<Values> weights_of(const nn::Model& model) {
  std::vector<Values> all;
  for (const Tensor& weight : model.get_weights()) all.push_back(values(weight));
  return all;
}

/// Replaces the value of an entry; an undefined value removes the entry.
std::vector<nn::Archive::Entry> with(std::vector<nn::Archive::Entry> entries, const std::string& name,
                                     const Tensor& value) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == name; });
  REQUIRE(found != entries.end());
  if (value.defined()) found->second = value;
  else entries.erase(found);
  return entries;
}

}  // namespace

TEST_CASE("a training continues from a state as from the model: weights, dropout, optimizer, means") {
  const Line line;
  const nn::Sequential model = noisy_model();
  for (int step = 0; step < 3; ++step) model.train_on_batch(line.x, line.y);
  const auto state = state_of(model);
  const nn::Sequential other = noisy_model();
  set_state(other, state);
  CHECK(weights_of(other) == weights_of(model));
  CHECK(other.impl().trainer().results() == model.impl().trainer().results());
  for (int step = 0; step < 2; ++step)
    CHECK(other.train_on_batch(line.x, line.y, {.sample_weight = K::abs(line.x[{ktape::All, 0}])}) ==
          model.train_on_batch(line.x, line.y, {.sample_weight = K::abs(line.x[{ktape::All, 0}])}));
  CHECK(weights_of(other) == weights_of(model));
}

TEST_CASE("a state before the first step restores weights, and measures nothing") {
  const nn::Sequential model = noisy_model(), other = noisy_model();
  set_state(other, state_of(model));
  CHECK(weights_of(other) == weights_of(model));
  const Line line;
  CHECK(other.train_on_batch(line.x, line.y) == model.train_on_batch(line.x, line.y));
}

TEST_CASE("an optimizer that trained some of the weights is built for these weights") {
  const Line line;
  const auto frozen = [] {
    nn::Sequential model = noisy_model();
    model.get_layer("hidden").set_trainable(false);
    model.compile({.optimizer = nn::Adam(0.05), .loss = "mse"});
    return model;
  };
  const nn::Sequential model = frozen(), other = frozen();
  model.train_on_batch(line.x, line.y);
  set_state(other, state_of(model));
  CHECK(other.optimizer().variables().size() == model.optimizer().variables().size());
  other.train_on_batch(line.x, line.y), model.train_on_batch(line.x, line.y);
  CHECK(weights_of(other) == weights_of(model));
}

TEST_CASE("numbers that a custom training step reports are part of the state") {
  struct ReportingImpl : nn::LayerImpl {
    ReportingImpl() : nn::LayerImpl("Reporting") {}
    Tensor call(const Tensor& x) override {
      add_metric(K::mean(x), "level");
      return x;
    }
  };
  const auto made = [] {
    const nn::Sequential model({nn::Input({2}), nn::LayerOf<ReportingImpl>(), nn::Dense(1)});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    return model;
  };
  const nn::Sequential model = made(), other = made();
  model.train_on_batch(K::full({4, 2}, 3), K::zeros({4, 1}));
  set_state(other, state_of(model));
  CHECK(other.impl().trainer().results()["level"] == 3);
}

TEST_CASE("a state of another optimizer or model is an error") {
  const Line line;
  const nn::Sequential model = noisy_model();
  model.train_on_batch(line.x, line.y);
  const auto state = state_of(model);
  const nn::Sequential other = noisy_model();
  CHECK_THROWS_WITH_AS(
      set_state(other, with(state, "optimizer/places", ints({0, 99}, "int64"))),
      Contains("] the optimizer must have trained weights of the model: received number 99 of"), ValueError);
  CHECK_THROWS_AS(set_state(other, with(state, "optimizer/places", Tensor())), ValueError);
  const nn::Sequential plain = noisy_model();
  plain.compile({.optimizer = nn::SGD(0.1), .loss = "mse", .metrics = {"mae"}, .weighted_metrics = {"mse"}});
  CHECK_THROWS_WITH_AS(set_state(plain, state), Contains("] the optimizer must have "), ValueError);
  const nn::Sequential narrow({nn::Input({2}), nn::Dense(1)});
  narrow.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK_THROWS_AS(set_state(narrow, state), ValueError);
}

TEST_CASE("an optimizer that is built for other weights refuses the state") {
  const auto made = [](bool first) {
    const nn::Sequential model(
        {nn::Input({2}), nn::Dense(2, {.trainable = first}), nn::Dense(2, {.trainable = !first})});
    model.compile({.optimizer = nn::Adam(0.1), .loss = "mse"});
    model.train_on_batch(K::ones({3, 2}), K::zeros({3, 2}));
    return model;
  };
  const nn::Sequential lower = made(true), upper = made(false), again = made(true);
  CHECK_THROWS_WITH_AS(
      set_state(upper, state_of(lower)),
      Contains("] the optimizer must train the weights that the state is of: received the weights [0,1]"),
      ValueError);
  set_state(again, state_of(lower));
  CHECK(weights_of(again) == weights_of(lower));
}
