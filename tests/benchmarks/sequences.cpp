#include "report.hpp"
#include "train.hpp"

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
  const auto loss = [&](const Tensor& in) { return K::mean(K::binary_crossentropy(y, head(layer(in)), {.from_logits = true})); };
  bench::report("lstm_train", [&] { some.minimize(loss(x)); });
  bench::report("embedding_lstm_train", [&] { all.minimize(loss(K::gather(embedding, ids))); });
});

}  // namespace
