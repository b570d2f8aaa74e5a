#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("Dense is a product with the kernel, a bias and an activation") {
  const nn::Dense layer(2, {.activation = "relu", .dtype = "float64"});
  const Tensor x = doubles({{1, 2}, {-1, 0}});
  layer(x);
  layer.set_weights({doubles({{1, 0}, {0, 3}}), doubles({0.5, -1})});
  CHECK(values(layer(x)) == Values{1.5, 5, 0, 0});
  CHECK(layer.count_params() == 6);
}

TEST_CASE("biases of products lie along the last axis, whatever the format of images") {
  const Tensor x = K::zeros({2, 3, 3});
  const nn::Dense dense(3, {.bias_initializer = "ones"});
  dense(x);
  dense.set_weights({dense.get_weights()[0], K::constant({1., 2., 3.})});
  const nn::TimeDistributed steps(dense);
  const nn::Layer others[] = {nn::EinsumDense("abc,cd->abd", {None, 4}, {.bias_axes = "d"}),
                              nn::Dense(4),
                              nn::LSTM(4, {.return_sequences = true}),
                              nn::GRU(4, {.return_sequences = true}),
                              nn::GRU(4, {.activation = "relu", .return_sequences = true}),
                              nn::SimpleRNN(4, {.activation = "elu"}),
                              nn::TimeDistributed(nn::Dense(5, {.activation = "relu"}))};
  const Tensor input = normal({2, 3, 3}, 1, "float32");
  std::vector<Values> expected;
  for (const nn::Layer& layer : others) {
    layer(input);
    std::vector<Tensor> weights;
    for (const Tensor& weight : layer.get_weights()) weights.push_back(normal(weight.shape(), 2, "float32"));
    layer.set_weights(weights);
    expected.push_back(values(layer(input)));
  }
  K::set_image_data_format("channels_first");
  const Values row{1, 2, 3};
  for (const nn::Layer& layer : {nn::Layer(dense), nn::Layer(steps)}) {
    const Tensor y = layer(x);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) CHECK(values(y[{i, j}]) == row);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(values(others[i](input)) == expected[i]);
  K::set_image_data_format("channels_last");
}

TEST_CASE("Embedding looks rows up, and masks zeros when asked") {
  const nn::Embedding layer(4, 2, {.mask_zero = true});
  const Tensor ids = ints({{1, 0, 3}});
  const Tensor rows = layer(ids);
  CHECK(values(K::squeeze(rows, 0)) == values(K::gather(layer.weights()[0], ints({1, 0, 3}))));
  CHECK(values(nn::mask_of(rows)) == Values{1, 0, 1});
  CHECK_THROWS_AS(layer(ints({{4}})), ValueError);
}

TEST_CASE("Lambda calls its function, Masking hides steps of one value") {
  CHECK(values(nn::Lambda([](const Tensor& x) { return x * x; })(doubles({2, 3}))) == Values{4, 9});
  const Tensor y = nn::Masking(7)(doubles({{{7, 7}, {7, 1}, {0, 0}}}));
  CHECK(values(nn::mask_of(y)) == Values{0, 1, 1});
}

TEST_CASE("activity regularization adds the penalty of its input to the losses") {
  const nn::ActivityRegularization layer({.l1 = 0.5, .l2 = 0.25});
  layer(K::cast(doubles({{1, -2}}), "float32"));
  CHECK(layer.losses().size() == 1);
}
