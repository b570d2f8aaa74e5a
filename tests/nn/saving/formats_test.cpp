#include <ktape/ktape.hpp>
#include <ktape/nn/saving/formats.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("the format of a file is that of the longest suffix of its name") {
  const auto suffix = [](const std::string& path) -> std::string {
    return nn::saving::format_of("save", path).suffix;
  };
  for (const char* name : {".ktape", ".npz", ".safetensors", ".keras", ".h5", ".hdf5"})
    CHECK(suffix(std::string("folder/model") + name) == name);
  CHECK(suffix("model.weights.h5") == ".weights.h5");
  CHECK(suffix("weights.h5") == ".h5");
  CHECK(suffix("model.safetensors.index.json") == ".safetensors.index.json");
}

TEST_CASE("a name without a known suffix is an error that lists the suffixes") {
  CHECK_THROWS_WITH_AS(
      nn::saving::format_of("save", "model.pb"),
      "[save] the name of the file must end in one of .ktape, .npz, .safetensors, .safetensors.index.json, "
      ".weights.h5, .h5, .hdf5, .keras, .weights.json, model.json, .onnx: received path='model.pb'",
      ValueError);
  CHECK_THROWS_WITH_AS(nn::saving::format_of("save", "h5"), Contains("received path='h5'"), ValueError);
}
