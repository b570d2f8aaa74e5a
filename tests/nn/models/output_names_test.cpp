#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>

#include <set>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::ValueError;
using Names = std::vector<std::string>;

// Three and more outputs of one layer, op or inner model have names of their own.
namespace {

/// A model and the names of its outputs.
struct Case {
  std::string name;
  nn::Model model;
  Names outputs;
  Shape input;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const Tensor steps = nn::Input({4, 2}), rows = nn::Input({6});
  const nn::LSTM lstm(3, {.return_sequences = true, .return_state = true, .name = "memory"});
  all.push_back({"lstm", nn::Model(steps, lstm.apply({steps})), {"memory", "memory_1", "memory_2"}, {4, 2}});
  all.push_back({"split", nn::Model(rows, ops::split(rows, 3, 1)), {"split", "split_1", "split_2"}, {6}});
  const nn::Dense shared(2, {.name = "shared"});
  all.push_back({"shared",
                 nn::Model(rows, {shared(rows), shared(rows * 2), shared(rows + 1)}),
                 {"shared", "shared_1", "shared_2"},
                 {6}});
  const Tensor in = nn::Input({6});
  const nn::Model inner(in, {nn::Dense(1)(in), nn::Dense(2)(in), nn::Dense(3)(in), nn::Dense(4)(in)},
                        {.name = "heads"});
  all.push_back(
      {"nested", nn::Model(rows, inner.apply({rows})), {"heads", "heads_1", "heads_2", "heads_3"}, {6}});
  const nn::Dense other(1, {.name = "shared_1"});
  all.push_back({"taken",
                 nn::Model(rows, {shared(rows), shared(rows * 3), other(rows), shared(rows - 1)}),
                 {"shared", "shared_2", "shared_1", "shared_3"},
                 {6}});
  return all;
}

std::vector<Tensor> targets_of(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> targets;
  for (const Tensor& y : outputs) targets.push_back(K::zeros_like(y));
  return targets;
}

}  // namespace

TEST_CASE("outputs of one layer, op or model have different names, and train by them") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    CHECK(c.model.impl().output_names() == c.outputs);
    Shape shape = c.input;
    shape.insert(0, 8);
    const Tensor x = normal(shape, 1, "float32");
    const std::vector<Tensor> predicted = c.model.predict(x, {.verbose = 0});
    REQUIRE(predicted.size() == c.outputs.size());
    const std::vector<Tensor> y = targets_of(predicted);
    c.model.compile({.optimizer = nn::SGD(0.0), .loss = "mse", .metrics = {"mae"}});
    Names wanted{"loss"};
    for (const std::string& name : c.outputs) wanted.push_back(name + "_loss");
    for (const std::string& name : c.outputs) wanted.push_back(name + "_mae");
    CHECK(c.model.metrics_names() == wanted);
    const nn::Logs logs = c.model.evaluate(x, y, {.verbose = 0});
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(logs[c.outputs[i] + "_mae"] == doctest::Approx(K::mean(K::abs(predicted[i])).item<double>()));
    if (!c.model.trainable_weights().empty()) {
      CHECK(c.model.fit(x, y, {.verbose = 0})["loss"][0] == doctest::Approx(logs["loss"]));
      // Losses, metrics and targets of the last output alone, by its name.
      const std::string& last = c.outputs.back();
      c.model.compile({.optimizer = nn::SGD(0.0), .loss = {{last, "mae"}}, .metrics = {{last, {"mse"}}}});
      const nn::History history = c.model.fit(x, {{last, y.back()}}, {.verbose = 0});
      CHECK(history["loss"][0] == doctest::Approx(logs[last + "_mae"]));
      CHECK(history.contains(last + "_mse"));
    }
  }
}

TEST_CASE("models with several outputs of one layer pass through all files" * needs_hdf5) {
  const Files files;
  for (const Case& c : cases()) {
    Shape shape = c.input;
    shape.insert(0, 3);
    const Tensor x = normal(shape, 1, "float32");
    const std::vector<Tensor> wanted = c.model.predict(x, {.verbose = 0});
    c.model.compile({.loss = "mse", .metrics = {{c.outputs.back(), {"mae"}}}});
    for (const std::string name : {"m.ktape", "m.keras", "m.h5", "model.json"}) {
      CAPTURE(c.name);
      CAPTURE(name);
      const std::string path = files.folder() + '/' + name;
      c.model.save(path);
      const nn::Model again = nn::load_model(path);
      CHECK(again.impl().output_names() == c.outputs);
      const std::vector<Tensor> got = again.predict(x, {.verbose = 0});
      REQUIRE(got.size() == wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(values(got[i]) == values(wanted[i]));
      if (name != "model.json")
        CHECK(again.evaluate(x, targets_of(wanted), {.verbose = 0}).contains(c.outputs.back() + "_mae"));
    }
    const nn::Model copy = nn::clone_model(c.model);
    CHECK(copy.impl().output_names() == c.outputs);
    const std::string path = files.folder() + "/m.onnx";
    c.model.export_to(path);
    const nn::Model exported = nn::onnx::load(path);
    const Names names = exported.impl().output_names();
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == c.outputs.size());
    const std::vector<Tensor> got = exported.predict(x, {.verbose = 0});
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(K::max(K::abs(got[i] - wanted[i])).item<double>() < 1e-5);
  }
}
