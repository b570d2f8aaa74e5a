#include <ktape/ktape.hpp>
#include "report.hpp"

/// Predictions of models with plans. tests/benchmarks/onnxruntime measures the same models in ONNX Runtime.
namespace {

namespace nn = ktape::nn;
namespace K = ktape::backend;
using ktape::Tensor;

void predict(const char* name, const nn::Model& model, const Tensor& x) {
  bench::report(name, [&] { model.predict_on_batch(x); });
}

const bench::Group mlp([] {
  const nn::Sequential model({nn::Input({784}), nn::Dense(512, {.activation = "relu"}),
                              nn::Dense(512, {.activation = "relu"}),
                              nn::Dense(10, {.activation = "softmax"})});
  predict("mlp_predict_1", model, K::random_normal({1, 784}));
  predict("mlp_predict_128", model, K::random_normal({128, 784}));
});

const bench::Group tiny_mlp([] {
  const nn::Sequential model({nn::Input({4}), nn::Dense(8, {.activation = "tanh"}), nn::Dense(1)});
  predict("tiny_mlp_predict", model, K::random_normal({1, 4}));
});

const bench::Group recurrent([] {
  const nn::Sequential lstm({nn::Input({80, 128}), nn::LSTM(128), nn::Dense(1)}),
      gru({nn::Input({80, 128}), nn::GRU(128), nn::Dense(1)});
  const Tensor one = K::random_normal({1, 80, 128}), all = K::random_normal({32, 80, 128});
  predict("lstm_predict_1", lstm, one);
  predict("lstm_predict_32", lstm, all);
  predict("gru_predict_1", gru, one);
  predict("gru_predict_32", gru, all);
});

Tensor encoder(const Tensor& x, std::int64_t heads, std::int64_t dim, std::int64_t width) {
  const nn::LayerNormalizationOptions norm{.epsilon = 1e-5};
  const Tensor y = nn::LayerNormalization(norm)(nn::Add()({x, nn::MultiHeadAttention(heads, dim)({x, x})}));
  const Tensor z = nn::Dense(x.shape()[2])(nn::Dense(width, {.activation = "gelu"})(y));
  return nn::LayerNormalization(norm)(nn::Add()({y, z}));
}

nn::Model encoders(int count, std::int64_t features, std::int64_t heads) {
  const Tensor in = nn::Input({128, features});
  Tensor x = in;
  for (int i = 0; i < count; ++i) x = encoder(x, heads, features / heads, 4 * features);
  return nn::Model(in, x);
}

const bench::Group transformer([] {
  predict("encoder_predict_1", encoders(2, 128, 4), K::random_normal({1, 128, 128}));
  if (!bench::wanted({"bert_predict_1", "bert_predict_8"})) return;
  const nn::Model bert = encoders(12, 768, 12);
  predict("bert_predict_1", bert, K::random_normal({1, 128, 768}));
  predict("bert_predict_8", bert, K::random_normal({8, 128, 768}));
});

void application(const char* name, const char* workload) {
  if (!bench::wanted({workload})) return;
  predict(workload, nn::applications::application(name).make({}), K::random_normal({1, 224, 224, 3}));
}
const bench::Group vgg16([] { application("VGG16", "vgg16_infer_1"); });
const bench::Group efficientnet_b0([] { application("EfficientNetB0", "efficientnet_b0_infer_1"); });

}  // namespace
