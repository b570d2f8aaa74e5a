#include <ktape/ktape.hpp>
#include <ktape/ops/compiled/compiled_network.hpp>

#include "../../close.hpp"
#include "../../processor.hpp"
#include "../check.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

constexpr Tolerance rounding{.rtol = 1e-5, .atol = 1e-5};

Tensor random(const ktape::Shape& shape, int seed) { return normal(shape, seed, "float32"); }

/// Returns the output of a network of one node, or none where there is no network.
template <class F>
std::optional<Tensor> computed(const Tensor& x, const F& add) {
  K::NetworkBuilder builder;
  const auto node = add(builder, builder.input(x.shape()));
  if (!node) return {};
  builder.set_outputs({*node});
  const auto network = K::CompiledNetwork::make(builder);
  if (!network) return {};
  return network->run({x}).value()[0];
}

}  // namespace

TEST_CASE("a compiled convolution is K::conv2d with bias") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({3, 2, 5, 18}, 1)), bias(random({18}, 2));
  const Tensor x = random({2, 9, 8, 5}, 3);
  for (const std::string padding : {"same", "valid"})
    for (const std::int64_t strides : {1, 2}) {
      const auto y = computed(x, [&](auto& network, int in) {
        return network.convolution(in, kernel, bias,
                                   {.size = {3, 2}, .strides = {strides, strides}, .padding = padding});
      });
      if (!y && !has_avx512()) continue;
      REQUIRE(y);
      const Tensor want = K::conv2d(x, kernel, {.strides = strides, .padding = padding}) + bias;
      CHECK(close(*y, want, rounding));
    }
}

TEST_CASE("a compiled product is K::dot with bias") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({70, 33}, 1)), bias(random({33}, 2));
  for (const std::int64_t rows : {1, 3, 128}) {
    const Tensor x = random({rows, 70}, 3);
    const auto y = computed(x, [&](auto& network, int in) { return network.product(in, kernel, bias); });
    REQUIRE(y);
    CHECK(close(*y, K::dot(x, kernel) + bias, rounding));
  }
}

TEST_CASE("the builder refuses what a network cannot compute") {
  K::NetworkBuilder builder;
  const int rows = builder.input({2, 3}), images = builder.input({2, 5, 5, 3});
  CHECK_FALSE(builder.product(rows, Variable(K::zeros({3, 2}, {.dtype = "float64"})), Variable()));
  CHECK_FALSE(builder.product(rows, Variable(K::zeros({4, 2})), Variable()));
  CHECK_FALSE(builder.product(images, Variable(K::zeros({4, 2})), Variable()));
  CHECK_FALSE(builder.product(rows, Variable(K::zeros({3, 2})), Variable(), 2));
  CHECK_FALSE(builder.convolution(images, Variable(K::zeros({6, 6, 3, 2})), Variable(), {.size = {6, 6}}));
  CHECK_FALSE(builder.convolution(rows, Variable(K::zeros({1, 1, 3, 2})), Variable(), {}));
  CHECK_FALSE(builder.activation(rows, "hard_shrink"));
  CHECK(builder.activation(images, "softmax"));
  CHECK_FALSE(builder.sum(rows, images));
  CHECK_FALSE(builder.reshape(rows, {7}));
  CHECK_FALSE(builder.reshape(rows, {3, 3}));
  CHECK_FALSE(builder.binary(ktape::kernels::BinaryFunction::Subtract, rows, builder.input({4, 3})));
  CHECK_FALSE(builder.concatenation({rows, images}));
  CHECK(builder.activation(rows, "linear") == rows);
}

TEST_CASE("small products have their normalization and functions folded in") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({3, 21}, 1)), bias(random({21}, 2)), gamma(random({21}, 3)),
      beta(random({21}, 4)), mean(random({21}, 5)), variance(K::abs(random({21}, 6)) + 0.5F);
  const Tensor x = random({2, 4, 3}, 7);
  const auto y = computed(x, [&](auto& network, int in) {
    const int product = *network.product(in, kernel, bias);
    return network.activation(*network.normalization(product, gamma, beta, mean, variance, 1e-3), "sigmoid");
  });
  REQUIRE(y);
  const Tensor normal = (K::dot(x, kernel) + bias - mean) / K::sqrt(variance + 1e-3F) * gamma + beta;
  CHECK(close(*y, K::sigmoid(normal), rounding));
}

TEST_CASE("a product over several axes, of tensors of several ranks") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({4, 5, 3, 2}, 1)), bias(random({3, 2}, 2));
  const Tensor x = random({6, 7, 4, 5}, 3);
  const auto y = computed(x, [&](auto& network, int in) { return network.product(in, kernel, bias, 2); });
  REQUIRE(y);
  CHECK(close(*y, K::einsum("abcd,cdef->abef", {x, kernel}) + bias, rounding));
}

TEST_CASE("functions of two tensors repeat one of them") {
  if (!K::compiles_networks()) return;
  using kernels = ktape::kernels::BinaryFunction;
  for (const std::int64_t channels : {1, 5, 16, 24, 32}) {
    const Variable wide(random({1, 1, 5, channels}, 2));
    const Tensor x = random({3, 6, 7, 5}, 3);
    const Tensor a = K::conv2d(x, wide), pooled = K::mean(a, {1, 2}, true);
    const auto made = [&](kernels function, bool of_images) {
      return computed(x, [&](auto& network, int in) -> std::optional<int> {
        const int image = *network.convolution(in, wide, Variable(), {});
        const int few = of_images ? *network.global_pooling(image, false, true) : image;
        const int last = of_images
                             ? few
                             : *network.convolution(in, Variable(K::slice(wide, {0, 0, 0, 0}, {1, 1, 5, 1})),
                                                    Variable(), {});
        return network.activation(*network.binary(function, image, last), "relu");
      });
    };
    CHECK(close(*made(kernels::Multiply, true), K::relu(a * pooled), rounding));
    CHECK(close(*made(kernels::Add, true), K::relu(a + pooled), rounding));
    CHECK(close(*made(kernels::Subtract, true), K::relu(a - pooled), rounding));
    const Tensor one = K::slice(a, {0, 0, 0, 0}, {3, 6, 7, 1});
    CHECK(close(*made(kernels::Maximum, false), K::relu(K::maximum(a, one)), rounding));
    CHECK(close(*made(kernels::Multiply, false), K::relu(a * one), rounding));
  }
}

TEST_CASE("a value that a reshape shares is not overwritten while others read it") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({64, 64}, 1)), square(random({64, 64}, 2));
  const Tensor x = random({64, 64}, 3);
  const auto y = computed(x, [&](auto& network, int in) {
    const int a = *network.product(in, kernel, Variable());
    const int shared = *network.reshape(*network.reshape(a, {16, 4, 64}), {64, 64});
    // The sum would overwrite a, which the product reads under another name.
    return network.sum(a, *network.product(shared, square, Variable()));
  });
  REQUIRE(y);
  const Tensor a = K::dot(x, kernel);
  CHECK(close(*y, a + K::dot(a, square), {.rtol = 1e-5, .atol = 1e-3}));
}

TEST_CASE("programs share packed weights until the weights change") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({512, 1024}, 1));
  const auto network = [&](std::int64_t rows) {
    K::NetworkBuilder builder;
    builder.set_outputs({*builder.product(builder.input({rows, 512}), kernel, Variable())});
    return K::CompiledNetwork::make(builder);
  };
  const auto first = network(8);
  const auto before = ktape::memory_stats().live_bytes;
  const auto second = network(8);
  CHECK(ktape::memory_stats().live_bytes - before < 512 * 1024);
  const Tensor x = random({8, 512}, 2);
  CHECK(close((*first->run({x}))[0], (*second->run({x}))[0], exactly));
  K::update(Variable(kernel), K::ones({512, 1024}));
  CHECK(close((*first->run({x}))[0], K::dot(x, kernel), {.rtol = 1e-5, .atol = 1e-4}));
  CHECK(close((*second->run({x}))[0], K::dot(x, kernel), {.rtol = 1e-5, .atol = 1e-4}));
}

TEST_CASE("a large kernel is read where the variable holds it, until the variable changes") {
  if (!K::compiles_networks()) return;
  for (const bool image : {false, true}) {
    const Tensor x = image ? random({1, 7, 7, 512}, 1) : random({1, 512}, 1);
    Variable kernel(random(image ? ktape::Shape{1, 1, 512, 1030} : ktape::Shape{512, 1030}, 2));
    const auto wanted = [&] { return K::relu(image ? K::conv2d(x, kernel) : K::dot(x, kernel)); };
    K::NetworkBuilder builder;
    const int in = builder.input(x.shape());
    const int made =
        image ? *builder.convolution(in, kernel, Variable(), {}) : *builder.product(in, kernel, Variable());
    builder.set_outputs({*builder.activation(made, "relu")});
    const auto before = ktape::memory_stats().live_bytes;
    const auto network = K::CompiledNetwork::make(builder);
    if (!network) continue;
    const bool in_place = network->steps()[0].implementation == "ktape:in_place";
    CHECK(in_place == (ktape::memory_stats().live_bytes - before < 512 * 1030));
    const Tolerance near{.rtol = 1e-5, .atol = 1e-4};
    CHECK(close((*network->run({x}))[0], wanted(), near));
    const Tensor old = kernel;
    kernel.modify([](void* next, const void* now) {
      for (std::int64_t i = 0; i < 512 * 1030; ++i)
        static_cast<float*>(next)[i] = -static_cast<const float*>(now)[i];
    });
    CHECK(close(old, -kernel.value(), exactly));
    CHECK(close((*network->run({x}))[0], wanted(), near));
  }
}

TEST_CASE("a large kernel is added to the tensor that it reads") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({1, 1, 728, 728}, 1)), bias(random({728}, 2));
  const Tensor x = random({1, 7, 7, 728}, 3);
  K::NetworkBuilder builder;
  const int in = *builder.activation(builder.input(x.shape()), "tanh");
  const int y = *builder.sum(*builder.convolution(in, kernel, bias, {}), in);
  builder.set_outputs({*builder.activation(y, "relu")});
  const auto network = K::CompiledNetwork::make(builder);
  if (!network) return;
  const Tensor images = K::tanh(x);
  const Tensor want = K::relu(K::conv2d(images, kernel) + bias + images);
  CHECK(close((*network->run({x}))[0], want, {.rtol = 1e-5, .atol = 1e-4}));
}

TEST_CASE("a function without vector code follows a large kernel as a step") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({1024, 2050}, 1)), bias(random({2050}, 2));
  const Tensor x = 0.05F * random({2, 20, 1024}, 3);
  const auto y = computed(x, [&](auto& network, int in) {
    return network.activation(*network.product(in, kernel, bias), "gelu");
  });
  REQUIRE(y);
  CHECK(close(*y, ktape::ops::gelu(K::dot(x, kernel) + bias, false), {.rtol = 1e-5, .atol = 1e-4}));
}
