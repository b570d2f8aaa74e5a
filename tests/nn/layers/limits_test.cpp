// Arguments of layers near 2^31 and 2^63: an error at once, in place of an overflow.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>
#include <limits>

using namespace ktape;
namespace K = ktape::backend;

namespace {

struct Call {
  const char* text;  ///< a part of the error's text
  std::function<void(std::int64_t)> run;
};

void check(const std::vector<Call>& calls, const std::vector<std::int64_t>& numbers) {
  for (const Call& call : calls)
    for (const std::int64_t n : numbers) {
      CAPTURE(call.text);
      CAPTURE(n);
      CHECK_THROWS_WITH_AS(call.run(n), doctest::Contains(call.text), ValueError);
    }
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
const std::vector<std::int64_t> from_2_to_31 = {
    std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1, most / 3 + 2, most / 2 + 1, most - 1, most};

}  // namespace

TEST_CASE("windows, strides and the like must be below 2^31") {
  using N = std::int64_t;
  check({{"[Conv1D] strides must be below 2 ** 31: received strides=",
          [](N n) { nn::Conv1D(2, 2, {.strides = n}); }},
         {"[Conv2D] kernel_size", [](N n) { nn::Conv2D(2, n); }},
         {"[Conv2D] dilation_rate", [](N n) { nn::Conv2D(2, 2, {.dilation_rate = n}); }},
         {"[Conv3D] strides", [](N n) { nn::Conv3D(2, 2, {.strides = n}); }},
         {"[Conv1DTranspose] strides", [](N n) { nn::Conv1DTranspose(2, 2, {.strides = n}); }},
         {"[Conv2DTranspose] strides", [](N n) { nn::Conv2DTranspose(2, 2, {.strides = n}); }},
         {"[Conv3DTranspose] strides", [](N n) { nn::Conv3DTranspose(2, 2, {.strides = n}); }},
         {"[Conv2DTranspose] kernel_size", [](N n) { nn::Conv2DTranspose(2, n); }},
         {"[Conv2DTranspose] dilation_rate", [](N n) { nn::Conv2DTranspose(2, 2, {.dilation_rate = n}); }},
         {"[Conv2DTranspose] output_padding", [](N n) { nn::Conv2DTranspose(2, 2, {.output_padding = n}); }},
         {"[DepthwiseConv1D] strides", [](N n) { nn::DepthwiseConv1D(2, {.strides = n}); }},
         {"[SeparableConv2D] strides", [](N n) { nn::SeparableConv2D(2, 2, {.strides = n}); }},
         {"[ConvLSTM2D] strides", [](N n) { nn::ConvLSTM2D(2, 2, {.strides = n}); }},
         {"[LocallyConnected1D] kernel_size", [](N n) { nn::LocallyConnected1D(2, n); }},
         {"[MaxPooling2D] pool_size", [](N n) { nn::MaxPooling2D{n}; }},
         {"[AveragePooling1D] strides", [](N n) { nn::AveragePooling1D(2, {.strides = n}); }},
         {"[UpSampling2D] size", [](N n) { nn::UpSampling2D{n}; }},
         {"[LSTMCell] units must be below 2 ** 31: received units=", [](N n) { nn::LSTM{n}; }},
         {"[GRUCell] units", [](N n) { nn::GRU{n}; }},
         {"[LSTMCell] units", [](N n) { nn::LSTMCell{n}; }},
         {"[ConvLSTM2D] filters", [](N n) { nn::ConvLSTM2D(n, 2); }}},
        from_2_to_31);
}

TEST_CASE("the result of a transposed convolution must fit in memory") {
  const std::int64_t stride = (std::int64_t{1} << 31) - 1;
  const Tensor image = K::ones({1, 4, 4, 2});
  CHECK_THROWS_WITH_AS(nn::Conv2DTranspose(2, 2, {.strides = stride})(image),
                       doctest::Contains("[conv2d_transpose] the tensor must fit in memory"), ValueError);
  const Tensor long_one = nn::Input({std::int64_t{1} << 40, 2});
  CHECK_THROWS_WITH_AS(nn::Conv1DTranspose(2, 2, {.strides = stride})(long_one),
                       doctest::Contains("the tensor must fit in memory"), ValueError);
}

TEST_CASE("sizes of images that no memory holds are refused at once") {
  const Tensor image = K::ones({1, 4, 6, 2}), bytes = K::ones({1, 1, 1, 1}, {.dtype = "uint8"});
  using N = std::int64_t;
  check({{"must fit in memory", [=](N n) { nn::Resizing(n, n)(image); }},
         {"must fit in memory", [=](N n) { nn::Resizing(n, 4)(image); }},
         {"must fit in memory", [=](N n) { nn::Resizing(1, n, {.interpolation = "nearest"})(bytes); }},
         {"must fit in memory", [=](N n) { nn::Resizing(n, n, {.crop_to_aspect_ratio = true})(image); }},
         {"must fit in memory", [=](N n) { nn::Resizing(n, n, {.pad_to_aspect_ratio = true})(image); }},
         {"must fit in memory",
          [=](N n) {
            nn::Resizing(n, n)(nn::Input({None, None, 2}));
          }},
         {"must fit in memory", [=](N n) { nn::CenterCrop(n, n)(image); }},
         {"must fit in memory", [=](N n) { nn::CenterCrop(2, n)(image); }},
         {"must fit in memory", [=](N n) { nn::RandomCrop(n, n)(image); }},
         {"must fit in memory",
          [=](N n) {
            nn::RandomCrop(n, n)(nn::Input({None, None, 2}));
          }},
         {"must fit in memory", [=](N n) { nn::RandomCrop(n, 3)(image, {.training = true}); }}},
        {N{1} << 30, (N{1} << 31) - 1});
  check({{"[Resizing] height must be below 2 ** 31: received height=", [](N n) { nn::Resizing(n, 2); }},
         {"[CenterCrop] width must be below 2 ** 31: received width=", [](N n) { nn::CenterCrop(2, n); }},
         {"[RandomCrop] height must be below 2 ** 31: received height=", [](N n) { nn::RandomCrop(n, 2); }}},
        from_2_to_31);
}

TEST_CASE("sizes that no memory holds are refused at once") {
  const Tensor row = K::ones({2, 3}), steps = K::ones({1, 4, 2}), image = K::ones({1, 4, 4, 2}),
               places = K::constant({0, 1}, {.dtype = "int32"});
  using N = std::int64_t;
  check({{"must fit in memory", [=](N n) { nn::Dense{n}(row); }},
         {"must fit in memory", [=](N n) { nn::Embedding(n, 4)(places); }},
         {"must fit in memory", [=](N n) { nn::Embedding(4, n)(places); }},
         {"must fit in memory", [=](N n) { nn::RepeatVector{n}(row); }},
         {"must be at most 67108864", [=](N n) { nn::CategoryEncoding{n}(places); }},
         {"must fit in memory",
          [=](N n) {
            nn::MultiHeadAttention(n, 2)({steps, steps});
          }},
         {"must fit in memory",
          [=](N n) {
            nn::MultiHeadAttention(2, n)({steps, steps});
          }},
         {"must fit in memory", [=](N n) { nn::Conv2D(n, 2)(image); }},
         {"must fit in memory", [=](N n) { nn::Conv2DTranspose(n, 2)(image); }},
         {"must fit in memory", [=](N n) { nn::DepthwiseConv2D(2, {.depth_multiplier = n})(image); }},
         {"must fit in memory", [=](N n) { nn::SeparableConv2D(2, 2, {.depth_multiplier = n})(image); }},
         {"must fit in memory", [=](N n) { nn::UpSampling1D{n}(steps); }},
         {"must fit in memory", [=](N n) { nn::ZeroPadding1D(K::PaddingPair(n))(steps); }},
         {"must fit in memory",
          [=](N n) {
            nn::ZeroPadding2D(K::PaddingPair(n))(nn::Input({None, None, 2}));
          }},
         {"must leave something", [=](N n) { nn::Cropping1D(K::PaddingPair(n))(steps); }}},
        {std::int64_t{1} << 48, most / 4, most / 4 + 1, most / 2, most / 2 + 1, most - 1, most});
}
