#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("a Sequential is built by its first call, or by an input as its first layer") {
  const nn::Sequential late({nn::Dense(3, {.name = "first"}), nn::Dense(2, {.name = "second"})});
  CHECK(!late.built());
  CHECK_THROWS_AS(late.outputs(), ValueError);
  CHECK(late(K::ones({5, 4})).shape() == Shape{5, 2});
  CHECK(late.built());
  CHECK(K::int_shape(late.output()) == Shape{None, 2});
  CHECK(late.weights()[0].name() == "first/kernel");
  CHECK(late.get_layer("first").output().shape() == Shape{None, 3});

  const nn::Sequential early({nn::Input({4}), nn::Dense(3)});
  CHECK(early.built());
  CHECK(early.count_params() == 15);
  CHECK(early.layers().size() == 1);
  early.add(nn::Dense(2));
  CHECK(K::int_shape(early.output()) == Shape{None, 2});
  early.pop();
  CHECK(K::int_shape(early.output()) == Shape{None, 3});

  const nn::Sequential by_hand({nn::Dense(3)});
  by_hand.build({None, 7});
  CHECK(by_hand.count_params() == 24);
}

TEST_CASE("inputs take the dtype of the nn::Input of a Sequential, as in a functional model") {
  const Tensor in = nn::Input({2});
  const nn::Sequential model({in, nn::Dense(1, {.kernel_initializer = "ones"})});
  const Tensor x = K::cast(K::constant({{1.f, 2.f}, {3.f, 4.f}}), "int32");
  CHECK(values(model.predict(x, {.verbose = 0})) == Values{3, 7});
  CHECK(values(nn::Model(in, model(in)).predict(x, {.verbose = 0})) == Values{3, 7});
}

TEST_CASE("a Sequential of a known input adds or removes a last axis of extent 1, as Keras does") {
  const nn::Sequential column({nn::Input({1}), nn::Dense(2, {.kernel_initializer = "ones"})});
  const Tensor x = K::constant({1., 2., 3.});
  CHECK(values(column(x)) == values(column(K::reshape(x, {3, 1}))));
  CHECK(column.predict(x, {.verbose = 0}).shape() == Shape{3, 2});
  column.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(column.fit(x, K::ones({3, 2}), {.verbose = 0})["loss"].size() == 1);
  const nn::Sequential rows({nn::Input({3}), nn::Dense(2)});
  CHECK(rows(K::ones({4, 3, 1})).shape() == Shape{4, 2});
  CHECK_THROWS_AS(rows(K::ones({4, 3, 2})), ValueError);
  CHECK_THROWS_AS(rows(K::ones({4})), ValueError);
}
