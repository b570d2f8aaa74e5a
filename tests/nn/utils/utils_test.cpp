#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor;

TEST_CASE("keras.utils, keras.mixed_precision and keras.ops.image by their names") {
  nn::utils::set_random_seed(5);
  const Tensor first = K::random_normal({3});
  K::set_random_seed(5);
  CHECK(values(first) == values(K::random_normal({3})));
  CHECK(values(nn::utils::to_categorical(K::constant({1, 0}), 2)) == Values{0, 1, 1, 0});
  CHECK(values<float>(nn::utils::normalize(K::constant({{3.f, 4.f}}))) == std::vector<float>{0.6f, 0.8f});
  CHECK(nn::utils::pad_sequences(std::vector<std::vector<int>>{{1}, {1, 2}}).shape() == Shape{2, 2});

  nn::mixed_precision::set_global_policy("mixed_bfloat16");
  CHECK(ktape::mixed_precision::global_policy().name() == "mixed_bfloat16");
  CHECK(nn::Dense(2).compute_dtype() == ktape::DType::BFloat16);
  CHECK(nn::mixed_precision::Policy("float16").compute_dtype() == ktape::DType::Float16);
  nn::set_dtype_policy(ktape::None);
  CHECK(nn::mixed_precision::dtype_policy().name() == "float32");

  const Tensor image = ops::ones({1, 4, 4, 3});
  CHECK(ops::image::resize(image, 2).shape() == Shape{1, 2, 2, 3});
  CHECK(values(ops::image::rgb_to_grayscale(image)) == values(ops::rgb_to_grayscale(image)));
}

TEST_CASE("weights have Keras's names, too") {
  const nn::Dense dense(2);
  dense.build(Shape{1, 3});
  dense.set_trainable(false);
  CHECK(dense.variables().size() == 2);
  CHECK(dense.trainable_variables().empty());
  CHECK(dense.non_trainable_variables()[0].is(dense.weights()[0]));
}

TEST_CASE("apply_gradients takes pairs or two lists") {
  const nn::SGD sgd(1.0);
  ktape::Variable w(K::constant({1.f}));
  sgd.apply_gradients({{K::constant({0.5f}), w}});
  sgd.apply_gradients({K::constant({0.25f})}, {w});
  CHECK(w.item() == 0.25f);
}
