#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: layers of preprocessing are exported") {
  exported::Checks check;
  const Tensor image = normal({2, 6, 8, 3}, 1, "float32"), numbers = ints({{3, 5, 7}, {5, 5, 1}}),
               reals = normal({2, 3}, 2, "float32");
  const auto layer = [&](const std::string& name, const Tensor& x, const nn::Layer& one) {
    check(name, {x}, [&](In in) { return one(in[0]); });
  };
  for (const char* method : {"bilinear", "nearest", "bicubic"})
    layer(std::string("resizing_") + method, image, nn::Resizing(4, 5, {.interpolation = method}));
  layer("resizing_crop", image, nn::Resizing(4, 4, {.crop_to_aspect_ratio = true}));
  layer("center_crop", image, nn::CenterCrop(3, 5));
  layer("center_crop_of_small", image, nn::CenterCrop(9, 5));
  layer("random_crop", image, nn::RandomCrop(4, 4));
  for (const char* mode : {"int", "one_hot", "multi_hot", "count"}) {
    layer(std::string("lookup_") + mode, numbers,
          nn::IntegerLookup({.vocabulary = {3, 5}, .output_mode = mode}));
    layer(std::string("bins_") + mode, reals,
          nn::Discretization({.bin_boundaries = {{-0.5, 0.5}}, .output_mode = mode}));
  }
  layer("encoding", numbers, nn::CategoryEncoding(8, {.output_mode = "one_hot"}));
  layer("rescaling", image, nn::Rescaling(2, {.offset = -1}));
  check.run();
}
