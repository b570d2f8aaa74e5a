#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <cmath>
#include <functional>
#include <random>

#include "../data/files.hpp"

/// Random models of ops between layers, with the channels as the last axis or as axis 1: plans agree with calls, also for
/// NaN and infinities, which networks refuse.
namespace {

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::Axes, ktape::Shape, ktape::Tensor;

/// Images with one order of axes, to which random ops are appended.
class Images {
 public:
  explicit Images(unsigned seed) : random_(seed), first_(below(2)) {
    K::set_random_seed(static_cast<int>(seed));
    const std::int64_t channels = 2 + below(6), height = 7 + below(4), width = 6 + below(5);
    in = first_ ? nn::Input({channels, height, width}) : nn::Input({height, width, channels});
    x_ = in;
    for (int step = 0; step < 6; ++step) append();
  }

  Tensor in;
  std::vector<Tensor> outputs() { return {below(2) ? x_ : K::max(x_, positions()), x_}; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const char* format() const { return first_ ? "channels_first" : "channels_last"; }
  int channel_axis() const { return first_ ? 1 : 3; }
  std::int64_t channels() const { return x_.shape()[channel_axis()]; }
  Axes positions() const { return first_ ? Axes{2, 3} : Axes{1, 2}; }
  Tensor numbers() const {
    const Tensor each = K::random_uniform({channels()}, {.minval = 0.5, .maxval = 1.5});
    return first_ ? K::reshape(each, {1, channels(), 1, 1}) : each;
  }
  Tensor bordered(int before, int after, double number) const {
    std::vector<K::PaddingPair> pairs(4, K::PaddingPair(0));
    pairs[first_ ? 2 : 1] = {before, after}, pairs[first_ ? 3 : 2] = {after, before};
    return K::pad(x_, pairs, {.constant_values = number});
  }
  Tensor pooled(const Tensor& x, int size, const char* mode, const char* padding = "valid") const {
    return K::pool2d(x, {size, size},
                     {.strides = {1, 1}, .padding = padding, .data_format = format(), .pool_mode = mode});
  }
  Tensor convolved(const Tensor& x, int size, const char* padding) {
    return K::conv2d(x, K::random_normal({size, size, channels(), 3 + below(3)}),
                     {.padding = padding, .data_format = format()});
  }

  void append() {
    const std::vector<std::function<Tensor()>> steps{
        [&] { return convolved(x_, 1 + below(3), "same"); },
        [&] { return convolved(bordered(1, 1, 0), 2, "valid"); },
        [&] { return K::relu(x_); },
        [&] { return K::minimum(x_, 2.f); },
        [&] { return K::maximum(x_, -0.5f); },
        [&] { return x_ * -0.5f + 1.f; },
        [&] { return pooled(bordered(2, 3, -INFINITY), 2, "max"); },  // windows without an element
        [&] { return x_ + numbers(); },
        [&] { return numbers() * x_; },
        [&] { return numbers() - x_; },
        [&] { return x_ / numbers(); },
        [&] { return pooled(x_, 2, below(2) ? "max" : "avg", "same"); },
        [&] { return pooled(bordered(1, 1, -INFINITY), 3, "max"); },
        [&] {  // the border is read twice
          const Tensor wide = bordered(1, 1, -INFINITY);
          return pooled(wide, 3, "max") + K::max(wide, positions(), true);
        },
        [&] {
          const Tensor each = K::random_uniform({channels()}, {.minval = 0.5});
          return K::batch_normalization(x_, each, each, each, each,
                                        {.axis = channel_axis(), .epsilon = 1e-3});
        },
        [&] {
          return K::concatenate({x_, K::tanh(x_)}, channel_axis());
        },
        [&] { return x_ * K::sigmoid(K::mean(x_, positions(), true)); },
        [&] {
          const Tensor moved = K::permute_dimensions(x_, first_ ? Shape{0, 2, 3, 1} : Shape{0, 3, 1, 2});
          first_ = !first_;
          return moved;
        }};
    x_ = steps[random_() % steps.size()]();
  }

  std::mt19937 random_;
  bool first_;
  Tensor x_;
};

/// Returns x with 7 in place of NaN, and 9 or -9 in place of infinities.
Tensor finite(const Tensor& x) {
  return K::where(ops::isnan(x), K::ones_like(x) * 7, K::where(ops::isinf(x), ops::sign(x) * 9, x));
}

void check_agreement(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double size = K::max(K::abs(finite(wanted[i]))).item<double>();
    CHECK(K::max(K::abs(finite(got[i]) - finite(wanted[i]))).item<double>() <= 2e-5 * std::max(size, 1.));
  }
}

}  // namespace

TEST_CASE("random ops in either order of axes: plans agree with calls, also of models that ONNX loads") {
  const Files files;
  const std::string path = files.folder() + "/m.onnx";
  for (unsigned seed = 1; seed <= 250; ++seed) {
    CAPTURE(seed);
    Images images(seed);
    const nn::Model model(images.in, images.outputs());
    Shape shape = images.in.shape();
    shape[0] = 3;
    Tensor x = K::random_normal(shape);
    if (seed % 4 == 0)
      x = K::where(K::random_uniform(shape) > 0.97F, K::ones_like(x) * (seed % 8 ? NAN : INFINITY), x);
    const std::vector<Tensor> wanted = model.apply({x});
    for (int run = 0; run < 2; ++run) check_agreement(model.predict_on_batch(x), wanted);
    model.export_to(path);
    check_agreement(nn::onnx::load(path).predict_on_batch(x), wanted);
  }
}
