#include <ktape/ktape.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"
#include "onnx_bytes.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;

TEST_CASE("onnx::load: truncated and damaged files") {
  const Files files;
  const std::string bytes = onnx_model();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const std::string path = files.write("m.onnx", bytes.substr(0, size));
    CHECK_THROWS_WITH_AS(nn::onnx::load(path), Contains("m.onnx"), ktape::Error);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      try {
        nn::onnx::load(files.write("m.onnx", other))(K::ones({1, 2}));
      } catch (const ktape::Error&) {
      }
    }
}
