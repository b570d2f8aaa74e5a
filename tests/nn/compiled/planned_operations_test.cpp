#include <ktape/ktape.hpp>
#include <ktape/nn/compiled/planned_operations.hpp>

#include "../../ops/check.hpp"

#include <functional>
#include <limits>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::Shape;

TEST_CASE("arithmetic and activations are nodes of networks, other ops are not") {
  const Tensor x = K::placeholder({K::None, 4}), y = K::placeholder({K::None, 4});
  for (const Tensor& planned : {x + y, x * 2, K::relu(x), K::concatenate({x, y})}) {
    const auto operation = nn::planned_operation(*planned.get()->symbol);
    REQUIRE(operation.has_value());
    CHECK_FALSE(operation->inputs.empty());
    CHECK(operation->plan);
  }
  for (const Tensor& other : {K::cumsum(x, 1), K::dot(x, K::transpose(y)), K::permute_dimensions(x, {1, 0})})
    CHECK_FALSE(nn::planned_operation(*other.get()->symbol).has_value());
}

TEST_CASE("numbers whose reciprocals float32 does not hold are divisors, and infinite ones are no factors") {
  const Tensor in = nn::Input({4}), x = K::constant({{0.F, 1e-40F, -2.F, 3e38F}});
  const nn::Dense same(4, {.use_bias = false, .kernel_initializer = "identity"});
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float number : {1e-40F, 1e-45F, 3e38F, -2e38F, 1e-38F, 1e38F, 8.F, infinite}) {
    CAPTURE(number);
    for (const Tensor& y :
         {K::relu(same(in) / number), K::relu(same(in) * number), K::relu(same(in) - number)}) {
      const nn::Model model(in, y);
      CHECK(values<float>(K::cast(K::equal(model.predict_on_batch(x)[0], model(x)), "float32")) ==
            values<float>(K::cast(K::equal(model(x), model(x)), "float32")));
    }
  }
}

namespace {

/// Appends random functions of one tensor.
Tensor with_random_functions(Tensor x, int count, std::mt19937& random) {
  using Make = std::function<Tensor(const Tensor&)>;
  const auto number = [&] { return float(static_cast<int>(random() % 33) - 16) / 8; };
  const float a = number(), b = std::abs(number());
  const std::vector<Make> functions{
      [&](const Tensor& y) { return y * number(); },
      [&](const Tensor& y) { return y + number(); },
      [&](const Tensor& y) { return number() - y; },
      [&](const Tensor& y) { return y / (3 + number()); },
      [](const Tensor& y) { return -y; },
      [&](const Tensor& y) { return nn::ReLU({.max_value = std::abs(number())})(y); },
      [&](const Tensor& y) { return nn::ReLU({.negative_slope = std::abs(number())})(y); },
      [&](const Tensor& y) { return nn::LeakyReLU({.negative_slope = std::abs(number())})(y); },
      [&](const Tensor& y) { return nn::ELU({.alpha = std::abs(number())})(y); },
      [](const Tensor& y) { return K::relu(y, {.max_value = 6}); },
      [](const Tensor& y) { return ktape::ops::relu6(y); },
      [](const Tensor& y) { return ktape::ops::selu(y); },
      [](const Tensor& y) { return ktape::ops::elu(y, .5); },
      [](const Tensor& y) { return ktape::ops::leaky_relu(y, .3); },
      [](const Tensor& y) { return nn::Activation("gelu")(y); },
      [](const Tensor& y) { return nn::Activation("swish")(y); },
      [](const Tensor& y) { return K::sigmoid(y); },
      [](const Tensor& y) { return K::tanh(y); },
      [&](const Tensor& y) { return nn::BatchNormalization()(y) * b + a; }};
  for (int i = 0; i < count; ++i) x = functions[random() % functions.size()](x);
  return x;
}

}  // namespace

TEST_CASE("random chains of functions: plans agree with the layers") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const bool image = i % 2;
    const Tensor in = image ? nn::Input({5, 6, 8}) : nn::Input({16});
    const Tensor scores =
        image ? nn::Conv2D(8, 1 + i / 2 % 2 * 2, {.padding = "same"})(in) : nn::Dense(24)(in);
    const int count = 1 + static_cast<int>(random() % 5);
    Tensor y = with_random_functions(scores, count, random);
    if (i % 3 == 0) y = with_random_functions(y + K::tanh(scores), count, random);
    if (i % 5 == 0 && image) y = with_random_functions(nn::DepthwiseConv2D(3)(y), count, random);
    const nn::Model model(in, y);
    const Tensor x = normal(image ? Shape{2, 5, 6, 8} : Shape{3, 16}, i, "float32");
    const Tensor want = model(x), got = model.predict_on_batch(x)[0];
    const double scale = std::max(K::max(K::abs(want)).item<double>(), 1.);
    CHECK(K::max(K::abs(got - want)).item<double>() <= 1e-5 * scale);
  }
}

TEST_CASE("functions of one kind follow each other in plans") {
  const Tensor in = nn::Input({4, 4, 8}), row = nn::Input({256}), pixels = K::ones({1, 4, 4, 8});
  const nn::Conv2D sum(8, 1, {.kernel_initializer = "ones", .bias_initializer = "zeros"});
  const auto first = [&](const Tensor& input, const Tensor& y, const Tensor& x) {
    return nn::Model(input, y).predict(x, {.verbose = 0}).item<float>(0, 0, 0, 0);
  };
  CHECK(first(in, sum(in) * .25F * 1.F + 3.F, pixels) == 5);
  CHECK(first(in, nn::ReLU({.max_value = 1})(nn::ReLU({.max_value = 6})(sum(in))), pixels) == 1);
  CHECK(first(in, nn::LeakyReLU({.negative_slope = .5})(nn::LeakyReLU({.negative_slope = .25})(sum(in))),
              -pixels) == -1);
  const float elu = std::expm1(-8.F);
  CHECK(first(in, nn::Activation("selu")(nn::Activation("elu")(sum(in))), -pixels) ==
        doctest::Approx(1.050701 * 1.6732632 * std::expm1(elu)));
  const Tensor mean = nn::Dense(256, {.kernel_initializer = "ones"})(row) * (1 / 256.F) - 1;
  CHECK(nn::Model(row, mean).predict(K::ones({2, 256}) * 3, {.verbose = 0}).item<float>(1, 255) == 2);
}

TEST_CASE("ops between layers with known arguments are nodes of networks") {
  K::set_random_seed(3);
  const Tensor in = nn::Input({6, 6, 4}), h = nn::Conv2D(8, 1)(in), x = K::random_normal({2, 6, 6, 4});
  const ktape::Variable kernel = K::random_normal_variable({3, 3, 8, 5}, 0, 1),
                        channels = K::random_uniform_variable({8}, 0.5, 1);
  const Tensor row = K::random_normal({8}), numbers = K::random_uniform({8}, {.minval = 0.5});
  namespace ops = ktape::ops;
  const std::vector<Tensor> results{
      K::conv2d(h, kernel, {.padding = "same"}),
      K::conv2d(h, kernel.value(), {.strides = {2, 1}}),
      ops::conv(h, kernel.value(), {.dilation_rate = 2}),
      K::depthwise_conv2d(h, K::random_normal({3, 3, 8, 2}), {.padding = "same"}),
      K::pool2d(h, {2, 2}, {.strides = {2, 2}, .padding = "same"}),
      K::pool2d(h, {3, 2}, {.strides = {1, 2}, .pool_mode = "avg"}),
      ops::max_pool(h, 2),
      h + row,
      h * channels,
      row + h,
      K::reshape(row, {1, 1, 1, 8}) * h,
      K::bias_add(h, channels),
      K::dot(h, K::random_normal({8, 3})),
      ops::matmul(h, K::random_normal({8, 3})),
      K::batch_normalization(h, row, numbers, channels, numbers, {.epsilon = 1e-3}),
      ops::batch_normalization(h, row, numbers, -1, row, {}, 0.1),
      ops::layer_normalization(h, numbers, row, {.epsilon = 1e-3}),
      K::mean(h, {1, 2}),
      K::max(h, {-3, -2}, true),
      K::reshape(h, {-1, 36, 8}),
      K::expand_dims(K::mean(h, {1, 2}), 1),
      K::squeeze(K::mean(h, {1, 2}, true), 1),
      K::permute_dimensions(h, {0, 2, 1, 3}),
      K::pad(h, {{0, 0}, {1, 2}, {0, 1}, {0, 0}}),
      K::concatenate({h, h}, 3)};
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(i);
    CHECK(nn::planned_operation(*results[i].get()->symbol).has_value());
    const nn::Model model(in, results[i]);
    const Tensor planned = model.predict_on_batch(x)[0], called = model(x);
    REQUIRE(planned.shape() == called.shape());
    CHECK(K::max(K::abs(planned - called)).item() < 1e-4);
    K::update(kernel, kernel * 0.5), K::update_add(channels, K::ones({8}));
    CHECK(K::max(K::abs(model.predict_on_batch(x)[0] - model(x))).item() < 1e-4);
  }
}
