#include "../../hdf5.hpp"

#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::Tensor, ktape::ValueError;

// Tests of the files of all formats.
namespace {

const std::vector<std::string> whole = {"model.ktape", "model.keras", "model.h5", "model.json"};
const std::vector<std::string> weights = {"w.ktape",       "w.keras",      "w.npz",
                                          "w.safetensors", "w.weights.h5", "w.h5"};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Saves whole models for some names, and only the weights for others.
void save(const nn::Model& model, const std::string& path) {
  if (path.ends_with("/w.ktape") || path.ends_with("/w.keras")) model.save(path);
  else model.save_weights(path);
}

/// A layer class and a model class of the user.
struct TimesImpl : nn::LayerImpl {
  explicit TimesImpl(double by) : nn::LayerImpl("Times"), by(by) {}
  double by;
  Tensor call(const Tensor& x) override { return x * by; }
  nn::Config get_config() const override { return {{"name", name()}, {"by", by}}; }
};
struct TwoImpl : nn::ModelImpl {
  TwoImpl() : nn::ModelImpl("Two") {}
  nn::Dense first = add_layer(nn::Dense(3, {.name = "first"}));
  nn::Dense last = add_layer(nn::Dense(1, {.name = "last"}));
  Tensor call(const Tensor& x) override { return last(first(x)); }
  nn::Config get_config() const override { return {{"name", name()}}; }
};
using Times = nn::LayerOf<TimesImpl>;
using Two = nn::ModelOf<TwoImpl>;

}  // namespace

TEST_CASE("load_model: a file that is cut off anywhere is a short error that names the file" * needs_hdf5) {
  const Files files;
  const nn::Sequential model({nn::Input({4}), nn::Dense(8, {.activation = "relu"}), nn::Dense(2)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(K::ones({3, 4}), K::ones({3, 2}));
  for (const std::string& name : whole) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    model.save(path);
    const std::string bytes = content(path);
    nn::load_model(path);
    constexpr std::size_t cuts = 60;
    for (std::size_t i = 0; i < cuts; ++i) {
      const std::size_t size = i * bytes.size() / cuts;
      CAPTURE(size);
      CHECK_THROWS_WITH_AS(nn::load_model(files.write(name, bytes.substr(0, size))), Contains(path.c_str()),
                           IOError);
    }
    for (std::size_t size = bytes.size() - 8; size < bytes.size(); ++size) {
      CAPTURE(size);
      CHECK_THROWS_WITH_AS(nn::load_model(files.write(name, bytes.substr(0, size))), Contains(path.c_str()),
                           IOError);
    }
  }
}

TEST_CASE("load_model: layers of the program's own are found among the custom objects" * needs_hdf5) {
  const Files files;
  const nn::Sequential model({nn::Input({4}), nn::Dense(2), Times(3)});
  const Tensor x = normal({3, 4}, 1, "float32");
  const nn::CustomObjects known{
      {"Times", [](const nn::Config& config) { return Times(config.at("by").number()); }}};
  for (const std::string& name : whole) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    model.save(path);
    CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("'Times'"), ValueError);
    const nn::Model again = nn::load_model(path, {.custom_objects = known});
    CHECK(values(again.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
  }
}

TEST_CASE("load_model: a model class of the program's own comes with its weights" * needs_hdf5) {
  const Files files;
  const Two model;
  const Tensor x = normal({3, 4}, 1, "float32"), y = model(x);
  const nn::CustomObjects known{{"Two", [](const nn::Config&) { return Two(); }}};
  for (const std::string name : {"model.ktape", "model.keras"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    model.save(path);
    CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("'Two'"), ValueError);
    CHECK(values(nn::load_model(path, {.custom_objects = known})(x)) == values(y));
  }
}

TEST_CASE("load_weights: a model class of the program's own takes its weights from every format" *
          needs_hdf5) {
  const Files files;
  const Two model;
  const Tensor x = normal({3, 4}, 1, "float32"), y = model(x);
  for (const std::string& name : weights) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    save(model, path);
    const Two fresh;
    CHECK_THROWS_WITH_AS(fresh.load_weights(path), Contains("must be built, by a call or by build()"),
                         ValueError);
    REQUIRE(values(fresh(x)) != values(y));
    fresh.load_weights(path);
    CHECK(values(fresh(x)) == values(y));
  }
}
