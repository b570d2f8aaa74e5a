#include <ktape/ktape.hpp>
#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;

struct Conv {
  Variable kernel, bias;
  Conv(int in, int out)
      : kernel(K::random_uniform_variable({3, 3, in, out}, -0.05, 0.05)), bias(K::zeros({out})) {}
  Tensor operator()(const Tensor& x) const { return K::bias_add(K::conv2d(x, kernel), bias); }
};

const bench::Group cnn([] {
  const Conv c1(1, 32), c2(32, 64);
  const Dense d1(9216, 128), d2(128, 10);
  Adam adam({c1.kernel, c1.bias, c2.kernel, c2.bias, d1.kernel, d1.bias, d2.kernel, d2.bias});
  const Tensor x = K::random_normal({128, 28, 28, 1}), y = random_labels(128);
  bench::report("cnn_train", [&] {
    Tensor h = K::pool2d(K::relu(c2(K::relu(c1(x)))), {2, 2}, {.strides = {2, 2}});
    h = K::batch_flatten(K::dropout(h, 0.25));
    h = K::dropout(K::relu(d1(h)), 0.5);
    adam.minimize(K::mean(K::sparse_categorical_crossentropy(y, d2(h), {.from_logits = true})));
  });
});

/// A convolution without bias, then batch normalization.
struct NormalizedConv {
  std::int64_t stride;
  Variable kernel, gamma, beta, mean, variance;
  NormalizedConv(int size, int in, int out, std::int64_t stride)
      : stride(stride),
        kernel(K::random_uniform_variable({size, size, in, out}, -0.05, 0.05)),
        gamma(K::ones({out})),
        beta(K::zeros({out})),
        mean(K::zeros({out})),
        variance(K::ones({out})) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor y = K::conv2d(x, kernel, {.strides = {stride, stride}, .padding = "same"});
    const auto [normalized, its_mean, its_variance] =
        K::normalize_batch_in_training(y, gamma, beta, {0, 1, 2});
    K::moving_average_update(mean, its_mean, 0.9);
    K::moving_average_update(variance, its_variance, 0.9);
    return normalized;
  }
  void add_weights(std::vector<Variable>& to) const { to.insert(to.end(), {kernel, gamma, beta}); }
};

struct Block {
  NormalizedConv c1, c2;
  std::optional<NormalizedConv> shortcut;
  Block(int in, int out, std::int64_t stride) : c1(3, in, out, stride), c2(3, out, out, 1) {
    if (stride != 1 || in != out) shortcut.emplace(1, in, out, stride);
  }
  Tensor operator()(const Tensor& x) const {
    return K::relu(c2(K::relu(c1(x))) + (shortcut ? (*shortcut)(x) : x));
  }
};

struct ResNet20 {
  NormalizedConv stem{3, 3, 16, 1};
  std::vector<Block> blocks;
  Dense head{64, 10};
  ResNet20() {
    for (int stage = 0, in = 16; stage < 3; ++stage)
      for (int block = 0; block < 3; ++block, in = 16 << stage)
        blocks.emplace_back(in, 16 << stage, stage && !block ? 2 : 1);
  }
  Tensor operator()(const Tensor& x) const {
    Tensor h = K::relu(stem(x));
    for (const Block& block : blocks) h = block(h);
    return head(K::mean(h, {1, 2}));
  }
  std::vector<Variable> weights() const {
    std::vector<Variable> all{head.kernel, head.bias};
    stem.add_weights(all);
    for (const Block& block : blocks) {
      block.c1.add_weights(all), block.c2.add_weights(all);
      if (block.shortcut) block.shortcut->add_weights(all);
    }
    return all;
  }
};

const bench::Group resnet20([] {
  const ResNet20 model;
  const std::vector<Variable> weights = model.weights();
  std::vector<Variable> velocities;
  for (const Variable& w : weights) velocities.push_back(K::zeros_like(w));
  const Tensor x = K::random_normal({32, 32, 32, 3}), y = random_labels(32);
  bench::report("resnet20_train", [&] {
    const Tensor loss = K::mean(K::sparse_categorical_crossentropy(y, model(x), {.from_logits = true}));
    const std::vector<Tensor> slopes = K::gradients(loss, weights);
    // Stochastic gradient descent with a rate of 0.1 and a momentum of 0.9, as Keras writes it:
    // velocity = 0.9 velocity + 0.1 slope.
    for (std::size_t i = 0; i < weights.size(); ++i) {
      K::moving_average_update(velocities[i], slopes[i], 0.9);
      K::update_sub(weights[i], velocities[i]);
    }
  });
});

}  // namespace
