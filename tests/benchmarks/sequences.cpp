#include "report.hpp"
#include "train.hpp"

#include <cmath>

namespace {

using namespace bench;

struct Lstm {
  Variable kernel = K::random_uniform_variable({128, 512}, -0.09, 0.09),
           recurrent_kernel = K::random_uniform_variable({128, 512}, -0.09, 0.09), bias = K::zeros({512});
  Tensor operator()(const Tensor& x) const { return K::lstm(x, kernel, recurrent_kernel, bias).last_output; }
};

const bench::Group lstm([] {
  const Variable embedding = K::random_normal_variable({20000, 128}, 0, 1);
  const Lstm layer;
  const Dense head(128, 1);
  const Tensor ids = K::cast(K::random_uniform({32, 80}, {.minval = 0, .maxval = 20000}), "int32");
  const Tensor x = K::random_normal({32, 80, 128}), y = K::random_bernoulli({32, 1}, {.p = 0.5});
  Adam some({layer.kernel, layer.recurrent_kernel, layer.bias, head.kernel, head.bias});
  Adam all({embedding, layer.kernel, layer.recurrent_kernel, layer.bias, head.kernel, head.bias});
  const auto loss = [&](const Tensor& in) {
    return K::mean(K::binary_crossentropy(y, head(layer(in)), {.from_logits = true}));
  };
  bench::report("lstm_train", [&] { some.minimize(loss(x)); });
  bench::report("embedding_lstm_train", [&] { all.minimize(loss(K::gather(embedding, ids))); });
});

struct Gru {
  Variable kernel = K::random_uniform_variable({128, 384}, -0.09, 0.09),
           recurrent_kernel = K::random_uniform_variable({128, 384}, -0.09, 0.09), bias = K::zeros({2, 384});
  Tensor operator()(const Tensor& x) const { return K::gru(x, kernel, recurrent_kernel, bias).last_output; }
};

const bench::Group gru([] {
  const Gru layer;
  const Dense head(128, 1);
  const Tensor x = K::random_normal({32, 80, 128}), y = K::random_bernoulli({32, 1}, {.p = 0.5});
  Adam adam({layer.kernel, layer.recurrent_kernel, layer.bias, head.kernel, head.bias});
  bench::report("gru_train", [&] {
    adam.minimize(K::mean(K::binary_crossentropy(y, head(layer(x)), {.from_logits = true})));
  });
});

struct Normalization {
  Variable gamma = K::ones({128}), beta = K::zeros({128});
  Tensor operator()(const Tensor& x) const {
    return K::layer_normalization(x, gamma, beta, {.epsilon = 1e-5});
  }
};

struct Encoder {
  Dense qkv{128, 384}, out{128, 128}, f1{128, 512}, f2{512, 128};
  Normalization n1, n2;

  /// x is (samples, steps, 128), with 4 heads.
  Tensor operator()(const Tensor& x) const {
    const auto parts = K::split(qkv(x), 3, -1);
    const auto heads = [&](const Tensor& t) { return K::reshape(t, {x.shape()[0], x.shape()[1], 4, 32}); };
    const Tensor a = K::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]),
                                                     {.heads_last = true});
    const Tensor y = n1(x + out(K::reshape(a, x.shape())));
    return n2(y + f2(K::gelu(f1(y))));
  }
  void add_weights(std::vector<Variable>& all) const {
    for (const Dense* d : {&qkv, &out, &f1, &f2}) all.push_back(d->kernel), all.push_back(d->bias);
    for (const Normalization* n : {&n1, &n2}) all.push_back(n->gamma), all.push_back(n->beta);
  }
};

const bench::Group transformer([] {
  const Encoder first, second;
  std::vector<Variable> weights;
  first.add_weights(weights), second.add_weights(weights);
  Adam adam(weights);
  const Tensor x = K::random_normal({16, 128, 128});
  bench::report("transformer_train", [&] { adam.minimize(K::mean(K::square(second(first(x))))); });
});

const bench::Group attention([] {
  const auto run = [](const std::string& name, const ktape::Shape& shape) {
    const auto part = [&](int seed) { return Variable(K::random_normal(shape, {.seed = seed})); };
    const Variable q = part(1), k = part(2), v = part(3);
    const Tensor slope = K::random_normal(shape);
    const double scale = 1 / std::sqrt(static_cast<double>(shape[3]));
    const auto fused = [&] { return K::scaled_dot_product_attention(q, k, v); };
    const auto composed = [&] {
      return K::matmul(K::softmax(K::matmul(q, k, {.transpose_b = true}) * scale), v);
    };
    const auto both_ways = [&](const std::string& name, const auto& attend) {
      bench::report((name + "_grad").c_str(), [&] { K::gradients(attend(), {q, k, v}, {slope}); });
      bench::report(name.c_str(), [&] {
        ktape::NoGrad off;
        attend();
      });
    };
    both_ways(name, fused);
    both_ways(name + "_composed", composed);
  };
  run("attention", {16, 4, 128, 32});
  run("attention_long", {2, 8, 512, 64});
});

}  // namespace
