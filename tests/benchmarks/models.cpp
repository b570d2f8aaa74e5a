#include <ktape/ktape.hpp>
#include "report.hpp"
#include "train.hpp"

#include <algorithm>
#include <numeric>
#include <random>

/// The workloads of the other files, written as models: `nn_x` does the work of `x`.
namespace {

namespace nn = ktape::nn;
using bench::random_labels, ktape::Tensor;
namespace K = ktape::backend;

const nn::Loss sparse_crossentropy = nn::SparseCategoricalCrossentropy({.from_logits = true});

/// Reports steps of a model on one batch.
void train(const char* name, const nn::Model& model, const nn::CompileOptions& how, const Tensor& x,
           const Tensor& y = {}) {
  model.compile(how);
  bench::report(name, [&] { y.defined() ? model.train_on_batch(x, y) : model.train_on_batch(x); });
}

const bench::Group mlp([] {
  const nn::Sequential model(
      {nn::Dense(512, {.activation = "relu"}), nn::Dense(512, {.activation = "relu"}), nn::Dense(10)});
  train("nn_mlp_train", model, {.optimizer = nn::Adam(), .loss = sparse_crossentropy},
        K::random_normal({128, 784}), random_labels(128));
});

const bench::Group cnn([] {
  const nn::Sequential model({
      nn::Conv2D(32, 3),
      nn::ReLU(),
      nn::Conv2D(64, 3),
      nn::ReLU(),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dropout(0.25),
      nn::Dense(128, {.activation = "relu"}),
      nn::Dropout(0.5),
      nn::Dense(10),
  });
  train("nn_cnn_train", model, {.optimizer = nn::Adam(), .loss = sparse_crossentropy},
        K::random_normal({128, 28, 28, 1}), random_labels(128));
});

Tensor normalized_convolution(const Tensor& x, int filters, int size, int stride) {
  const nn::Conv2D convolution(filters, size, {.strides = stride, .padding = "same", .use_bias = false});
  return nn::BatchNormalization({.momentum = 0.9})(convolution(x));
}

Tensor residual_block(const Tensor& x, int filters, int stride) {
  const Tensor h = nn::ReLU()(normalized_convolution(x, filters, 3, stride));
  const bool same = stride == 1 && x.shape()[-1] == filters;
  const Tensor shortcut = same ? x : normalized_convolution(x, filters, 1, stride);
  return nn::ReLU()(nn::Add()({normalized_convolution(h, filters, 3, 1), shortcut}));
}

const bench::Group resnet20([] {
  const Tensor in = nn::Input({32, 32, 3});
  Tensor h = nn::ReLU()(normalized_convolution(in, 16, 3, 1));
  for (int stage = 0; stage < 3; ++stage)
    for (int block = 0; block < 3; ++block) h = residual_block(h, 16 << stage, stage && !block ? 2 : 1);
  const nn::Model model(in, nn::Dense(10)(nn::GlobalAveragePooling2D()(h)));
  train("nn_resnet20_train", model,
        {.optimizer = nn::SGD({.learning_rate = 0.1, .momentum = 0.9}), .loss = sparse_crossentropy},
        K::random_normal({32, 32, 32, 3}), random_labels(32));
});

const bench::Group lstm([] {
  const nn::CompileOptions how{.optimizer = nn::Adam(),
                               .loss = nn::BinaryCrossentropy({.from_logits = true})};
  const Tensor y = K::random_bernoulli({32, 1}, {.p = 0.5});
  train("nn_lstm_train", nn::Sequential({nn::LSTM(128), nn::Dense(1)}), how, K::random_normal({32, 80, 128}),
        y);
  const Tensor ids = K::cast(K::random_uniform({32, 80}, {.minval = 0, .maxval = 20000}), "int32");
  train("nn_embedding_lstm_train", nn::Sequential({nn::Embedding(20000, 128), nn::LSTM(128), nn::Dense(1)}),
        {.optimizer = nn::Adam(), .loss = how.loss}, ids, y);
});

const bench::Group gru([] {
  train("nn_gru_train", nn::Sequential({nn::GRU(128), nn::Dense(1)}),
        {.optimizer = nn::Adam(), .loss = nn::BinaryCrossentropy({.from_logits = true})},
        K::random_normal({32, 80, 128}), K::random_bernoulli({32, 1}, {.p = 0.5}));
});

/// A table of which a batch looks up few rows: SGD touches only these, Adam changes all.
const bench::Group embedding([] {
  const auto run = [](const char* name, std::int64_t rows, const nn::Optimizer& optimizer) {
    const nn::Sequential model({nn::Embedding(rows, 64), nn::GlobalAveragePooling1D(), nn::Dense(1)});
    const Tensor ids = K::random_uniform({32, 20}, {.minval = 0, .maxval = static_cast<double>(rows)});
    train(name, model, {.optimizer = optimizer, .loss = "mse"}, K::cast(ids, "int32"),
          K::random_normal({32, 1}));
  };
  run("embedding_5k_sgd", 5000, nn::SGD());
  run("embedding_50k_sgd", 50000, nn::SGD());
  run("embedding_50k_adam", 50000, nn::Adam());
});

/// One layer of a transformer's encoder.
struct EncoderImpl : nn::LayerImpl {
  nn::MultiHeadAttention attention = add_layer(nn::MultiHeadAttention(4, 32));
  nn::Dense f1 = add_layer(nn::Dense(512, {.activation = "gelu"})), f2 = add_layer(nn::Dense(128));
  nn::LayerNormalization n1 = add_layer(nn::LayerNormalization({.epsilon = 1e-5})),
                         n2 = add_layer(nn::LayerNormalization({.epsilon = 1e-5}));
  EncoderImpl() : nn::LayerImpl("Encoder") {}

  Tensor call(const Tensor& x) override {
    const Tensor y = n1(x + attention({x, x}));
    return n2(y + f2(f1(y)));
  }
};
using Encoder = nn::LayerOf<EncoderImpl>;

const bench::Group transformer([] {
  const auto squares = [](const Tensor&, const Tensor& y) { return K::square(y); };
  const Tensor x = K::random_normal({16, 128, 128});
  train("nn_transformer_train", nn::Sequential({Encoder(), Encoder()}),
        {.optimizer = nn::Adam(), .loss = squares}, x, x);
});

/// A language model of 64 letters: four decoders of four heads on 16 texts of 128 letters.
const bench::Group mini_gpt([] {
  const nn::LayerNormalizationOptions norm{.epsilon = 1e-5};
  const Tensor in = nn::Input({128}, {.dtype = "int32"});
  Tensor x = nn::Embedding(64, 128)(in);
  for (int block = 0; block < 4; ++block) {
    const Tensor y = nn::LayerNormalization(norm)(x);
    x = nn::Add()({x, nn::MultiHeadAttention(4, 32)({y, y}, {.use_causal_mask = true})});
    const Tensor wide = nn::Dense(512, {.activation = "gelu"})(nn::LayerNormalization(norm)(x));
    x = nn::Add()({x, nn::Dense(128)(wide)});
  }
  const nn::Model model(in, nn::Dense(64)(nn::LayerNormalization(norm)(x)));
  const auto letters = [] {
    return K::cast(K::random_uniform({16, 128}, {.minval = 0, .maxval = 64}), "int32");
  };
  train("nn_mini_gpt_train", model, {.optimizer = nn::Adam(), .loss = sparse_crossentropy}, letters(),
        letters());
});

const bench::Group tiny_mlp([] {
  const nn::Sequential model({nn::Dense(8, {.activation = "tanh"}), nn::Dense(1)});
  train("nn_tiny_mlp_train", model, {.optimizer = nn::SGD(0.1), .loss = "mse"}, K::random_normal({1, 4}),
        K::random_normal({1, 1}));
});

/// An epoch of fit, and of a loop written with K: shuffled batches of 32 of 1024 samples, Adam, and the means
/// of loss and metric.
const bench::Group fit([] {
  const Tensor x = K::random_normal({1024, 4}), y = K::random_normal({1024, 1});
  const nn::Sequential model({nn::Dense(8, {.activation = "tanh"}), nn::Dense(1)});
  model.compile({.optimizer = nn::Adam(), .loss = "mse", .metrics = {"mae"}});
  bench::report("fit_4_8_1", [&] { model.fit(x, y, {.verbose = 0}); });

  const bench::Dense d1(4, 8), d2(8, 1);
  bench::Adam adam({d1.kernel, d1.bias, d2.kernel, d2.bias});
  std::vector<std::int64_t> order(1024);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator(1);
  bench::report("fit_4_8_1_by_hand", [&] {
    std::shuffle(order.begin(), order.end(), generator);
    const Tensor places = K::constant(order, {.dtype = "int64"});
    double loss = 0, error = 0;
    for (std::int64_t i = 0; i < 1024; i += 32) {
      const Tensor batch = K::slice(places, {i}, {32});
      const Tensor target = K::gather(y, batch), output = d2(K::tanh(d1(K::gather(x, batch))));
      const Tensor of_batch = K::mean(K::square(output - target));
      adam.minimize(of_batch);
      const ktape::NoGrad off;
      loss += of_batch.item<double>() / 32;
      error += K::mean(K::abs(output - target)).item<double>() / 32;
    }
    return std::pair(loss, error);
  });
});

}  // namespace
