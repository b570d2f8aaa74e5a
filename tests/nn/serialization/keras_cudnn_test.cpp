#include "../saving/keras_configs.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace keras_configs;
using ktape::Tensor;

TEST_CASE("weights of CuDNNLSTM and CuDNNGRU in Keras's layout") {
  for (const std::int64_t gates : {4, 3}) {
    CAPTURE(gates);
    const std::int64_t in = 2, units = 3, width = gates * units;
    const Tensor kernel = K::random_normal({in, width}), recurrent = K::random_normal({units, width});
    const Tensor bias = K::random_normal({2 * width});
    const std::vector<Tensor> made = nn::saving::without_cudnn({kernel, recurrent, bias});
    for (std::int64_t gate = 0; gate < gates; ++gate)
      for (std::int64_t j = 0; j < units; ++j) {
        const auto number = [](const Tensor& t, std::int64_t row, std::int64_t column) {
          return t.pointer<float>()[row * t.shape()[1] + column];
        };
        const std::int64_t first = gate * units;
        for (std::int64_t i = 0; i < units; ++i)
          CHECK(number(made[1], i, first + j) == number(recurrent, j, first + i));
        for (std::int64_t i = 0; i < in; ++i) {
          const std::int64_t place = i + j * in;  // in the rows of the gate's kernel
          CHECK(number(made[0], i, first + j) == number(kernel, place / units, first + place % units));
        }
      }
    if (gates == 3) CHECK(made[2].shape() == ktape::Shape{2, width});
    else
      for (std::int64_t i = 0; i < width; ++i)
        CHECK(made[2].pointer<float>()[i] == bias.pointer<float>()[i] + bias.pointer<float>()[width + i]);
    CHECK(nn::saving::without_cudnn({kernel, recurrent, made[2]})[0].get() == kernel.get());
    CHECK(nn::saving::without_cudnn({kernel, recurrent, bias, kernel, recurrent, bias}).size() == 6);
  }
}
