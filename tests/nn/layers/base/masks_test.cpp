#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::ValueError;

namespace {

Tensor steps(const std::vector<double>& bits) { return K::constant({bits}, {.dtype = "bool"}); }

}  // namespace

TEST_CASE("a tensor carries the mask that it is given, and shares the value") {
  const Tensor x = doubles({{1, 2, 3}}), mask = steps({1, 1, 0});
  const Tensor masked = nn::with_mask(x, mask);
  CHECK(nn::mask_of(masked).get() == mask.get());
  CHECK_FALSE(nn::mask_of(x).defined());
  CHECK(masked.raw() == x.raw());
  CHECK(values(masked) == Values{1, 2, 3});
}

TEST_CASE("a mask is replaced, or removed by an undefined mask") {
  const Tensor masked = nn::with_mask(doubles({{1, 2}}), steps({1, 0})), other = steps({0, 1});
  CHECK(nn::mask_of(nn::with_mask(masked, other)).get() == other.get());
  const Tensor plain = nn::with_mask(masked, Tensor());
  CHECK_FALSE(nn::mask_of(plain).defined());
  CHECK(values(nn::mask_of(masked)) == Values{1, 0});
}

TEST_CASE("setting an equal mask, or no mask without a mask, makes no new tensor") {
  const Tensor x = doubles({{1, 2}}), mask = steps({1, 0});
  CHECK(nn::with_mask(x, Tensor()).get() == x.get());
  const Tensor masked = nn::with_mask(x, mask);
  CHECK(nn::with_mask(masked, mask).get() == masked.get());
}

TEST_CASE("gradients pass through a tensor with a mask") {
  const Tensor mask = steps({1, 0});
  const auto f = [&](In x) { return K::square(nn::with_mask(K::exp(x[0]), mask)); };
  check_gradients(f, {doubles({{0.5, -1}})});
}

TEST_CASE("a mask of a symbolic tensor is used when the graph runs") {
  const Tensor in = nn::Input({3, 2}), mask = nn::Input({3}, {.dtype = "bool"});
  const Tensor y = nn::with_mask(nn::Dense(4, {.name = "dense"})(in), mask);
  CHECK(nn::mask_of(y).get() == mask.get());
  const nn::Model model({in, mask}, nn::LSTM(2, {.name = "lstm"})(y));
  const Tensor x = normal({2, 3, 2}, 1, "float32"),
               bits = K::constant({{1, 1, 0}, {0, 1, 1}}, {.dtype = "bool"});
  const nn::Layer dense = model.get_layer("dense"), lstm = model.get_layer("lstm");
  CHECK(values(model.apply({x, bits})[0]) == values(lstm(dense(x), {.mask = bits})));
}

TEST_CASE("an undefined tensor has no mask and takes none") {
  CHECK_FALSE(nn::mask_of(Tensor()).defined());
  CHECK_THROWS_WITH_AS(
      nn::with_mask(Tensor(), K::constant({true})),
      doctest::Contains("[with_mask] x must be a tensor: received an undefined tensor (None)"), ValueError);
}

TEST_CASE("a symbolic tensor loses its mask in the running graph, too") {
  const Tensor ids = nn::Input({3});
  const nn::LSTM lstm(2);
  const Tensor words = nn::Embedding(5, 4, {.mask_zero = true})(ids);
  const nn::Model with(ids, lstm(words)), without(ids, lstm(nn::with_mask(words, Tensor())));
  const Tensor x = K::constant({{1.f, 0.f, 2.f}}), full = K::constant({{1.f, 3.f, 2.f}});
  CHECK(values(without(x)) != values(with(x)));
  CHECK(values(without(full)) == values(with(full)));
}

TEST_CASE("a mask passes on to a layer of another dtype, eagerly and in a graph") {
  const Tensor ids = nn::Input({3});
  const nn::Embedding table(5, 4, {.mask_zero = true, .dtype = "float64", .name = "table"});
  const nn::LSTM lstm(2, {.name = "lstm"});
  const nn::Model model(ids, lstm(table(ids)));
  const Tensor x = K::constant({{1.f, 0.f, 2.f}});
  CHECK(nn::mask_of(table(x)).defined());
  CHECK(values(model(x)) == values(lstm(table(x))));
  const nn::Model again = nn::model_from_json(model.to_json());
  again.set_weights(model.get_weights());
  CHECK(values(again(x)) == values(model(x)));
}

TEST_CASE("a mask that is given to a model, or to a layer with inner layers, reaches the inner layers") {
  struct OuterImpl : nn::LayerImpl {
    nn::LSTM inner;
    explicit OuterImpl(const nn::LSTM& inner) : nn::LayerImpl("Outer"), inner(inner) {}
    Tensor call(const Tensor& x) override { return inner(x); }
  };
  const nn::LSTM lstm(2);
  const Tensor in = nn::Input({3, 2}), given = nn::Input({3}, {.dtype = "bool"});
  const nn::Sequential chain({nn::Input({3, 2}), lstm});
  const nn::Model functional(in, lstm(in));
  const nn::LayerOf<OuterImpl> outer(lstm);
  const Tensor x = normal({1, 3, 2}, 1, "float32"), mask = steps({1, 0, 1});
  const Values plain = values(lstm(x)), masked = values(lstm(x, {.mask = mask}));
  CHECK(plain != masked);
  for (const nn::Layer& layer : {nn::Layer(chain), nn::Layer(functional), nn::Layer(outer)}) {
    CAPTURE(layer.name());
    CHECK(values(layer(x, {.mask = mask})) == masked);
    CHECK(values(layer(nn::with_mask(x, mask))) == masked);
    CHECK(values(layer(nn::with_mask(x, mask), {.mask = Tensor()})) == plain);
    const nn::Model model({in, given}, layer(in, {.mask = given}));
    CHECK(values(model.apply({x, mask})[0]) == masked);
  }
  CHECK_FALSE(nn::mask_of(x).defined());
}

TEST_CASE("masks that are given for several inputs reach the inner layers") {
  const Tensor a = nn::Input({3, 2}), b = nn::Input({3, 2});
  const nn::LSTM lstm(2);
  const nn::Model model({a, b}, nn::Add()({lstm(a), lstm(b)}));
  const Tensor x = normal({1, 3, 2}, 1, "float32"), y = normal({1, 3, 2}, 2, "float32"),
               mask = steps({1, 0, 1});
  CHECK(values(model({x, y}, {.mask = {Tensor(), mask}})) == values(lstm(x) + lstm(y, {.mask = mask})));
  CHECK(values(model({x, y}, {.mask = {mask}})) == values(lstm(x, {.mask = mask}) + lstm(y)));
}
