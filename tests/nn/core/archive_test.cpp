#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

/// An object with a value of every kind.
struct Everything {
  bool flag = true;
  int small = -3;
  std::int64_t large = std::int64_t{1} << 62;
  std::uint64_t bits = ~std::uint64_t{0};
  double number = 1.0 / 3;
  std::string text = "a\0b";
  std::vector<int> ints = {1, 2};
  std::vector<std::int64_t> larges = {};
  std::vector<double> numbers = {NAN, INFINITY};
  std::vector<std::string> texts = {"", "loss", "é"};
  Tensor tensor = K::constant({1.f, 2.f}), none;
  std::vector<Tensor> tensors = {K::ones({2}), Tensor(), K::zeros({})};
  Variable variable = Variable(K::constant({3.f, 4.f}), "kernel");

  void state(nn::Archive& state) {
    state("flag", flag);
    state("small", small);
    state("large", large);
    state("bits", bits);
    state("number", number);
    state("text", text);
    state("ints", ints);
    state("larges", larges);
    state.part("inner", [&] {
      state("numbers", numbers);
      state("texts", texts);
      state("tensor", tensor);
      state("none", none);
    });
    state("tensors", tensors);
    state("variable", variable);
  }
};

nn::Archive kept(Everything& everything) {
  nn::Archive state;
  everything.state(state);
  return state;
}

/// Sets the values with one of the kept ones changed.
void set_with(const std::string& name, const Tensor& value) {
  Everything everything;
  std::vector<nn::Archive::Entry> entries = kept(everything).entries();
  for (auto& [key, tensor] : entries)
    if (key == name) tensor = value;
  std::erase_if(entries, [](const auto& entry) { return !entry.second.defined(); });
  nn::Archive state(entries);
  everything.state(state);
}

}  // namespace

TEST_CASE("Archive stores values, and sets other values to them") {
  Everything from;
  const nn::Archive state = kept(from);
  Everything to{false, 0, 0, 0, 0, "", {}, {7}, {}, {}, Tensor(), K::ones({}), {}, Variable(K::zeros({2}))};
  nn::Archive again(state.entries());
  CHECK(!state.sets());
  CHECK(again.sets());
  CHECK(again.has_part("inner"));
  CHECK(!again.has_part("outer"));
  to.state(again);
  CHECK(to.flag);
  CHECK(to.small == -3);
  CHECK(to.large == from.large);
  CHECK(to.bits == from.bits);
  CHECK(to.number == from.number);
  CHECK(to.text == from.text);
  CHECK(to.ints == from.ints);
  CHECK(to.larges.empty());
  CHECK(to.texts == from.texts);
  CHECK(to.numbers.size() == 2);
  CHECK(std::isnan(to.numbers[0]));
  CHECK(to.numbers[1] == INFINITY);
  CHECK(values(to.tensor) == Values{1, 2});
  CHECK(!to.none.defined());
  CHECK(to.tensors.size() == 3);
  CHECK(values(to.tensors[0]) == Values{1, 1});
  CHECK(!to.tensors[1].defined());
  CHECK(values(to.variable) == Values{3, 4});
}

TEST_CASE("Archive: a later change of a variable does not change the stored value") {
  Everything everything;
  const nn::Archive state = kept(everything);
  K::update(everything.variable, K::zeros({2}));
  nn::Archive again(state.entries());
  everything.state(again);
  CHECK(values(everything.variable) == Values{3, 4});
}

TEST_CASE("Archive refuses values of another dtype, shape or range") {
  CHECK_NOTHROW(set_with("", Tensor()));
  CHECK_THROWS_WITH_AS(set_with("flag", Tensor()), Contains("must be complete: received no 'flag'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(
      set_with("inner/texts", K::ones({})),
      Contains("[Archive] 'inner/texts' must be uint8 with 1 axes: received float32 of shape ()"),
      ValueError);
  CHECK_THROWS_WITH_AS(set_with("small", ints(std::int64_t{1} << 40, "int64")),
                       Contains("[Archive] 'small' must fit into 32 bits: received 1099511627776"),
                       ValueError);
  CHECK_THROWS_WITH_AS(
      set_with("variable", K::ones({3})),
      Contains("[Archive] 'variable' must be float32 of shape (2,) as 'kernel': received float32 of "
               "shape (3,)"),
      ValueError);
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{1} << 60})
    CHECK_THROWS_WITH_AS(set_with("tensors", ints(count, "int64")),
                         Contains("[Archive] 'tensors' must be a count of the saved entries"), ValueError);
}

TEST_CASE("Archive: metrics resume within an epoch") {
  const auto uniform = [](int seed) { return K::random_uniform({8, 3}, {.seed = seed}); };
  const std::vector<std::function<nn::Metric()>> metrics{
      [] { return nn::Metric("mse"); },
      [] { return nn::Metric("accuracy"); },
      [] { return nn::Metric(nn::AUC()); },
      [] { return nn::Metric(nn::AUC({.multi_label = true})); },
      [] {
        return nn::Metric(nn::Precision({.thresholds = {0.2, 0.7}}));
      },
      [] { return nn::Metric(nn::SensitivityAtSpecificity(0.5)); },
      [] { return nn::Metric(nn::F1Score()); },
      [] { return nn::Metric(nn::R2Score()); },
      [] { return nn::Metric(nn::OneHotMeanIoU({.num_classes = 3})); },
  };
  for (const auto& make : metrics) {
    const nn::Metric whole = make(), first = make(), second = make();
    CAPTURE(whole.class_name());
    const auto truth = [&](int seed) { return K::cast(uniform(seed) > 0.5f, "float32"); };
    const auto feed = [&](const nn::Metric& metric, int seed) {
      metric.update_state(truth(seed), uniform(seed + 1));
    };
    feed(whole, 1), feed(whole, 3);
    feed(first, 1);
    nn::Archive state;
    first.impl().state(state);
    CHECK(!state.entries().empty());
    nn::Archive again(state.entries());
    second.impl().state(again);
    CHECK(values(second.result()) == values(first.result()));
    feed(second, 3);
    CHECK(values(second.result()) == values(whole.result()));
  }
}

TEST_CASE("Archive: layers continue their random numbers") {
  const Tensor x = K::ones({4, 6, 6, 1});
  const std::vector<std::function<nn::Layer()>> layers{
      [] { return nn::Layer(nn::Dropout(0.5, {.seed = 3})); },
      [] { return nn::Layer(nn::GaussianNoise(0.5, {.seed = 3})); },
      [] { return nn::Layer(nn::RandomBrightness(0.5, {.seed = 3})); },
  };
  for (const auto& make : layers) {
    const nn::Layer one = make(), other = make();
    CAPTURE(one.class_name());
    const Tensor first = one(x, {.training = true});
    nn::Archive state;
    one.impl().state(state);
    nn::Archive again(state.entries());
    other.impl().state(again);
    const Tensor second = one(x, {.training = true});
    CHECK(values(other(x, {.training = true})) == values(second));
    CHECK(values(first) != values(second));
  }
}
