#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;
using In = const std::vector<Tensor>&;
using Tensors = std::vector<Tensor>;

TEST_CASE("onnx: Fourier transforms and windows of signals and images are exported") {
  exported::Checks check;
  const auto both = [](const ops::ComplexPair& x) { return Tensors{x.first, x.second}; };
  const Tensor x = normal({2, 3, 8}, 1, "float32"), y = normal({2, 3, 8}, 2, "float32");
  const Tensor signal = normal({2, 30}, 3, "float32");
  check("fft", {x, y}, [=](In in) { return both(ops::fft({in[0], in[1]})); });
  check("fft2", {x, y}, [=](In in) { return both(ops::fft2({in[0], in[1]})); });
  check("ifft2", {x, y}, [=](In in) { return both(ops::ifft2({in[0], in[1]})); });
  check("rfft", {x}, [=](In in) { return both(ops::rfft(in[0], 7)); });
  for (const int n : {1, 2, 3, 4, 13, 14})
    check("irfft " + std::to_string(n), {x, y}, [=](In in) { return ops::irfft({in[0], in[1]}, n); });
  check("stft", {signal}, [=](In in) { return both(ops::stft(in[0], 6, 3, 8)); });
  check("istft", {x, y}, [=](In in) { return ops::istft({in[0], in[1]}, 14, 5, 14); });
  check("extract_sequences", {signal}, [](In in) { return ops::extract_sequences(in[0], 7, 4); });
  const Tensor images = normal({2, 3, 6, 7}, 4, "float32");
  check("unfold", {images}, [](In in) {
    return ops::unfold(in[0], {2, 3}, {.dilation = 2, .padding = 1, .stride = {1, 2}});
  });
  const Tensor patches = normal({2, 3, 2, 12}, 5, "float32");
  check("reconstruct_patches", {patches}, [](In in) { return ops::reconstruct_patches(in[0], 2, {6, 4}); });
  check("reconstruct_patches same", {patches}, [](In in) {
    return ops::reconstruct_patches(in[0], 2, {5, 3}, {.padding = "same"});
  });
  check.run();
}
