#include <ktape/ktape.hpp>

#include <filesystem>

#include "../../../ops/check.hpp"

/// Models that PyTorch 1.13 exported (written_by_torch/write.py), with its results.
namespace data = ktape::data;
using ktape::Tensor;

TEST_CASE("models that PyTorch exported compute what PyTorch computes") {
  const std::string folder = "tests/nn/saving/onnx/written_by_torch/";
  for (const char* name : {"dense_9", "dense_13", "dense_17", "residual", "squeeze", "sequences", "encoder",
                           "decoder", "arrays", "upsampling", "resizing", "signals", "volumes", "rows"}) {
    CAPTURE(name);
    std::vector<Tensor> inputs;
    for (int i = 0; i < 2; ++i)
      if (const std::string path = folder + name + "_x" + std::to_string(i) + ".npy";
          std::filesystem::exists(path))
        inputs.push_back(data::load_npy(path));
    const Tensor wanted = data::load_npy(folder + name + "_y.npy");
    const ktape::nn::Model model = ktape::nn::onnx::load(folder + name + ".onnx");
    for (const Tensor& y : {model.apply(inputs)[0], model.predict_on_batch(inputs)[0]}) {
      REQUIRE(y.shape() == wanted.shape());
      CHECK(close(values(y), values(wanted), {.rtol = 1e-5, .atol = 1e-6}));
    }
  }
}
