// Models of random layers in random order are exported, and computed by others.
#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

#include <algorithm>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

namespace {

class RandomModel {
 public:
  explicit RandomModel(unsigned seed) : draw_(seed) {}

  /// Returns a model of (steps, features), of images or of volumes, and its inputs. Extents may be unknown.
  std::pair<nn::Model, std::vector<Tensor>> make() {
    const int axes = upto(3);
    Shape shape;
    for (int axis = 0; axis < axes; ++axis) shape.push_back(5 + upto(4));
    shape.push_back(2 + upto(3));
    Shape open = shape;
    if (upto(4) == 0)
      for (int axis = 0; axis < axes; ++axis) open[axis] = None;
    const Tensor in = nn::Input(open);
    Tensor x = in, kept = in;
    for (int i = 2 + upto(5); i > 0; --i) {
      const Tensor next = layer(x, axes);
      const bool known =
          std::count(next.shape().begin(), next.shape().end(), None) == 1;  // the batch alone is open
      if (upto(3) == 0 && known && next.shape() == kept.shape()) x = joined(next, kept);
      else x = next;
      if (upto(2) == 0) kept = x;
    }
    if (upto(2) == 0 && x.ndim() > 2)
      x = K::mean(x, axes == 1 ? std::vector<int>{1} : std::vector<int>{1, 2});
    const nn::Model model = upto(3) == 0 ? nn::Model(in, {x, x * 2.f}) : nn::Model(in, x);
    Shape batch{2};
    for (const std::int64_t extent : shape) batch.push_back(extent);
    return {model, {normal(batch, static_cast<int>(draw_() % 1000), "float32")}};
  }

 private:
  int upto(int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); }
  template <class T>
  T one(std::initializer_list<T> all) {
    return all.begin()[upto(static_cast<int>(all.size()))];
  }

  Tensor joined(const Tensor& a, const Tensor& b) {
    switch (upto(5)) {
      case 0:
        return a + b;
      case 1:
        return nn::Multiply()({a, K::tanh(b)});  // values that grow overflow at different places
      case 2:
        return nn::Maximum()({a, b});
      case 3:
        return nn::Concatenate()({a, b});
      default:
        return K::where(a > b, a, b * 0.5f);
    }
  }

  Tensor layer(const Tensor& x, int axes) {
    if (upto(2) == 0) return anywhere(x);
    return axes == 0 ? dense(x) : axes == 1 ? on_line(x) : on_image(x);
  }

  Tensor dense(const Tensor& x) {
    return nn::Dense(2 + upto(4), {.activation = one({"relu", "tanh", "linear", "gelu", "softmax"}),
                                   .use_bias = upto(2) == 0})(x);
  }

  Tensor anywhere(const Tensor& x) {
    switch (upto(12)) {
      case 0:
        return nn::Activation(one({"relu", "elu", "selu", "sigmoid", "softplus", "swish", "mish",
                                   "hard_sigmoid", "tanh", "leaky_relu", "softsign"}))(x);
      case 1:
        return nn::LayerNormalization()(x);
      case 2:
        return nn::BatchNormalization()(x);
      case 3:
        return nn::Dropout(0.5)(x);
      case 4:
        return nn::PReLU({.shared_axes = axes_but_last(x)})(x);
      case 5:
        return K::softmax(x);
      case 6:
        return x * 0.5f + 1.f;
      case 7:
        return K::clip(x, -1, 1);
      case 8:
        return nn::UnitNormalization()(x);
      case 9:
        return nn::ReLU({.max_value = 1.5, .negative_slope = 0.1})(x);
      case 10:
        return K::abs(x) - K::sin(x) / 4.f;
      default:
        return dense(x);
    }
  }
  static std::vector<int> axes_but_last(const Tensor& x) {
    std::vector<int> axes;
    for (int axis = 1; axis + 1 < x.ndim(); ++axis) axes.push_back(axis);
    return axes;
  }

  Tensor on_line(const Tensor& x) {
    const std::int64_t steps = x.shape()[1];
    const std::string padding = one({"same", "valid", "causal"}), plain = one({"same", "valid"});
    const std::string wide = steps == None || steps < 5 ? "same" : plain;
    const int filters = 2 + upto(3);
    switch (upto(9)) {
      case 0:
        return nn::Conv1D(filters, 1 + upto(2), {.padding = wide == "same" ? "same" : padding})(x);
      case 1:
        return nn::Conv1D(filters, 2, {.padding = one({"same", "causal"}), .dilation_rate = 2})(x);
      case 2:
        return nn::Conv1D(filters, 2, {.strides = 2 + upto(2), .padding = "same"})(x);
      case 3:
        return nn::SeparableConv1D(filters, 2, {.padding = "same", .activation = "relu"})(x);
      case 4:
        return nn::MaxPooling1D(2, {.strides = 1 + upto(3), .padding = "same"})(x);
      case 5:
        return nn::LSTM(filters, {.return_sequences = true})(x);
      case 6:
        return nn::GRU(filters, {.return_sequences = true, .go_backwards = upto(2) == 0})(x);
      case 7:
        return nn::Bidirectional(nn::SimpleRNN(filters, {.return_sequences = true}))(x);
      default:
        return nn::MultiHeadAttention(2, 2)({x, x});
    }
  }

  Tensor on_image(const Tensor& x) {
    const int filters = 2 + upto(3);
    switch (upto(10)) {
      case 0:
        return nn::Conv2D(filters, {1 + upto(3), 2}, {.padding = "same", .activation = "relu"})(x);
      case 1:
        return nn::Conv2D(filters, 2, {.padding = "same", .dilation_rate = {2, 1 + upto(3)}})(x);
      case 2:
        return nn::Conv2D(filters, 2, {.strides = 2 + upto(2), .padding = "same"})(x);
      case 3:
        return nn::DepthwiseConv2D(3, {.padding = "same", .depth_multiplier = 1 + upto(2)})(x);
      case 4:
        return nn::SeparableConv2D(filters, 2, {.padding = "same", .dilation_rate = 1 + upto(2)})(x);
      case 5:
        return nn::MaxPooling2D(2, {.strides = 1 + upto(3), .padding = "same"})(x);
      case 6:
        return nn::AveragePooling2D(2, {.strides = 1 + upto(3), .padding = "same"})(x);
      case 7:
        return nn::UpSampling2D(2, {.interpolation = one({"nearest", "bilinear"})})(x);
      case 8:
        return nn::Conv2DTranspose(filters, 2, {.strides = 2, .padding = "same"})(x);
      default:
        return nn::ZeroPadding2D(1)(x);
    }
  }

  std::mt19937 draw_;
};

/// Returns x times factors around 1 that differ from it by a few units in the last place.
Tensor nudged(const Tensor& x, std::uint64_t seed) {
  return x * (1.f + K::random_uniform(x.shape(), {.minval = -1e-6, .maxval = 1e-6, .seed = seed}));
}

/// Returns how far sums in another order may move the outputs of a model, relative to the largest: rounding grows
/// where a layer divides by the spread of numbers that are nearly equal.
double tolerance_of(const nn::Model& model, std::vector<Tensor> inputs) {
  const std::vector<Tensor> weights = model.get_weights(), wanted = model.apply(inputs);
  double largest = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<Tensor> moved;
    for (const Tensor& weight : weights) moved.push_back(nudged(weight, seed));
    model.set_weights(moved);
    const std::vector<Tensor> outputs = model.apply({nudged(inputs[0], seed)});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const double scale = std::max(1., K::max(K::abs(wanted[i])).item<double>());
      largest = std::max(largest, K::max(K::abs(outputs[i] - wanted[i])).item<double>() / scale);
    }
  }
  model.set_weights(weights);
  return std::max(1e-5, 10 * largest);
}

}  // namespace

TEST_CASE("onnx: 500 models of random layers") {
  exported::Cases cases;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::string reason;
    try {
      const auto [model, inputs] = RandomModel(seed).make();
      reason = cases.add(std::to_string(seed), model, inputs, {}, tolerance_of(model, inputs));
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), "seed ", seed, ": ", reason);
  }
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), "seed ", name, ": ", reason);
  });
}
