#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: normalizations are exported") {
  exported::Checks check;
  const Tensor rows = normal({3, 4}, 1, "float32"), image = normal({2, 5, 6, 4}, 2, "float32"),
               first = normal({2, 4, 5}, 3, "float32");
  const auto layer = [&](const std::string& name, const Tensor& x, const nn::Layer& one) {
    check(name, {x}, [&](In in) { return one(in[0]); });
  };
  layer("rows", rows, nn::BatchNormalization());
  layer("image", image, nn::BatchNormalization({.scale = false}));
  layer("first", first, nn::BatchNormalization({.axis = 1, .center = false}));
  layer("layer", image, nn::LayerNormalization());
  layer("layer_of_axes", image, nn::LayerNormalization({.axis = {1, 3}}));
  layer("layer_plain", rows, nn::LayerNormalization({.center = false, .scale = false}));
  layer("groups", image, nn::GroupNormalization({.groups = 2}));
  layer("root", image, nn::RMSNormalization());
  layer("unit", rows, nn::UnitNormalization());
  check.run();
}
