#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using exported::Cases;
using ktape::Tensor;

TEST_CASE("onnx: all applications") {
  Cases cases;
  const Tensor image = 255 * K::random_uniform({1, 96, 96, 3}, {.seed = 1});
  for (const nn::applications::Application& one : nn::applications::all_applications()) {
    CAPTURE(one.name);
    const nn::Model model = one.make({.include_top = false, .input_shape = {96, 96, 3}, .pooling = "avg"});
    std::string reason;
    try {
      reason = cases.add(one.name, model, {image});
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), one.name, ": ", reason);
  }
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  });
}
