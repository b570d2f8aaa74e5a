#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

#include <algorithm>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::Shape;

namespace {

/// Adds random layers of sequences one after another.
class RandomSequences {
 public:
  explicit RandomSequences(int seed) : random_(static_cast<unsigned>(seed)) {
    values_.push_back(nn::Input({2 + below(6), 1 + below(20)}));
    for (int i = 0; i < 4 + below(8); ++i) add();
  }

  nn::Model model() {
    const Tensor end = below(2) ? nn::Flatten()(values_.back()) : nn::GlobalMaxPooling1D()(values_.back());
    return nn::Model(values_[0], {nn::Dense(1 + below(40))(end), any()});
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  const Tensor& any() {
    const int last = static_cast<int>(values_.size()) - 1;
    return values_[static_cast<std::size_t>(std::max(0, last - below(3)))];
  }
  Tensor like(const Tensor& x) {  // a tensor of the shape of x, made from x or from another value
    const Tensor& other = any();
    return other.shape() == x.shape() ? other : nn::Dense(x.shape()[2])(x);
  }

  void add() {
    const Tensor x = any();
    switch (below(14)) {
      case 0:
        return values_.push_back(nn::Dense(1 + below(33), {.activation = activation()})(x));
      case 1:
        return values_.push_back(
            nn::LSTM(1 + below(20), {.return_sequences = true, .go_backwards = below(2) == 0})(x));
      case 2:
        return values_.push_back(nn::GRU(1 + below(20), {.return_sequences = true})(x));
      case 3:
        return values_.push_back(nn::LayerNormalization()(x));
      case 4:
        return values_.push_back(nn::MultiHeadAttention(1 + below(3), 1 + below(9))({x, x}));
      case 5:
        return values_.push_back(nn::Add()({x, like(x)}));
      case 6:
        return values_.push_back(nn::Multiply()({x, nn::Dense(1, {.activation = "sigmoid"})(x)}));
      case 7:
        return values_.push_back(nn::Permute({2, 1})(x));
      case 8:
        return values_.push_back(nn::Reshape({x.shape()[2], x.shape()[1]})(x));
      case 9:
        return values_.push_back(nn::Activation(activation())(x));
      case 10:
        return values_.push_back(nn::Conv1D(1 + below(20), 2, {.padding = below(2) ? "same" : "causal"})(x));
      case 11:
        return values_.push_back(nn::BatchNormalization()(x));
      case 12:
        return values_.push_back(x * 0.5F + K::tanh(like(x)));
      default:
        return values_.push_back(nn::Concatenate()({x, nn::Dropout(0.5)(x)}));
    }
  }
  std::string activation() {
    static const char* const names[] = {"linear", "relu",    "sigmoid", "tanh",    "swish",
                                        "gelu",   "softmax", "elu",     "softplus"};
    return names[below(9)];
  }

  std::mt19937 random_;
  std::vector<Tensor> values_;
};

}  // namespace

TEST_CASE("random models of sequences: plans agree with the layers, for each batch size") {
  for (int seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomSequences made(seed);
    const nn::Model model = made.model();
    Shape shape = model.inputs()[0].shape();
    for (const std::int64_t batch : {2, 1, 5}) {
      shape[0] = batch;
      const Tensor x = normal(shape, seed, "float32");
      const ktape::NoGrad off;
      const std::vector<Tensor> want = model.apply(std::vector<Tensor>{x});
      for (int run = 0; run < 2; ++run) {
        const std::vector<Tensor> got = model.predict_on_batch(x);
        for (std::size_t i = 0; i < got.size(); ++i) {
          REQUIRE(got[i].shape() == want[i].shape());
          // Small results are differences of numbers near 1, with the rounding errors of these.
          const double scale = std::max(K::max(K::abs(want[i])).item<double>(), 0.1);
          CHECK(K::max(K::abs(got[i] - want[i])).item<double>() <= 1e-5 * scale);
        }
      }
    }
  }
}
