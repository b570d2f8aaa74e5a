// Sizes near 2^31 and 2^63: an error at once, in place of an overflow, of a crash or of hours of work.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>
#include <limits>

using namespace ktape;
namespace K = ktape::backend;

namespace {

struct Call {
  const char* text;  ///< the name at the begin of the error
  std::function<void(std::int64_t)> run;
};

/// Calls with a number that no op accepts, even if only a little above 2^48.
std::vector<Call> calls() {
  const Tensor steps = K::ones({1, 4, 2}), image = K::ones({1, 4, 4, 2}), volume = K::ones({1, 3, 3, 3, 2}),
               any_steps = K::placeholder({None, None, 2}), any_image = K::placeholder({None, None, None, 2}),
               any_volume = K::placeholder({None, None, None, None, 2}),
               places = K::constant({0, 1}, {.dtype = "int32"});
  const Tensor kernel1 = K::ones({2, 2, 3}), kernel2 = K::ones({2, 2, 2, 3}),
               kernel3 = K::ones({2, 2, 2, 2, 3}), back2 = K::ones({2, 2, 3, 2}),
               back3 = K::ones({2, 2, 2, 3, 2});
  using N = std::int64_t;
  return {
      {"[zeros]", [=](N n) { K::zeros({n}); }},
      {"[zeros]",
       [=](N n) {
         K::zeros({n, n, 0}, {.dtype = "uint8"});
       }},
      {"[full]",
       [=](N n) {
         K::full({n, n}, 1);
       }},
      {"[eye]", [=](N n) { K::eye(n); }},
      {"[eye]",
       [=](N n) {
         K::eye({n, 1});
       }},
      {"[arange]", [=](N n) { K::arange(n); }},
      {"[arange]", [=](N n) { K::arange(-n, n, 1, {.dtype = "int64"}); }},
      {"[arange]", [=](N n) { K::arange(static_cast<double>(n)); }},
      {"[one_hot]", [=](N n) { K::one_hot(places, n); }},
      {"[random_normal]",
       [=](N n) {
         K::random_normal({n, 3});
       }},
      {"[constant]", [=](N n) { K::constant(1, {.shape = Shape{n}}); }},
      {"[placeholder]",
       [=](N n) {
         K::placeholder({n, n});
       }},
      {"[scatter_nd]",
       [=](N n) { K::scatter_nd(K::constant({{0}}, {.dtype = "int32"}), K::ones({1}), {n}); }},
      {"[repeat]",
       [=](N n) {
         K::repeat(K::ones({2, 3}), n);
       }},
      {"[repeat]",
       [=](N n) {
         K::repeat(K::placeholder({None, 3}), n);
       }},
      {"[repeat_elements]", [=](N n) { K::repeat_elements(steps, n, 1); }},
      {"[repeat_elements]", [=](N n) { K::repeat_elements(any_steps, n, 1); }},
      {"[tile]",
       [=](N n) {
         K::tile(steps, {n, n, n});
       }},
      {"[tile]",
       [=](N n) {
         K::tile(any_steps, {1, n, 1});
       }},
      {"[pad]",
       [=](N n) {
         K::pad(steps, {0, {n, n}, 0});
       }},
      {"[pad]",
       [=](N n) {
         K::pad(any_steps, {0, {n, n}, 0});
       }},
      {"[temporal_padding]",
       [=](N n) {
         K::temporal_padding(steps, {.padding = {n, n}});
       }},
      {"[spatial_2d_padding]", [=](N n) { K::spatial_2d_padding(image, {.padding = K::PaddingPair(n)}); }},
      {"[spatial_3d_padding]", [=](N n) { K::spatial_3d_padding(volume, {.padding = K::PaddingPair(n)}); }},
      {"[resize_images]", [=](N n) { K::resize_images(image, n, n, "channels_last"); }},
      {"[resize_images]",
       [=](N n) { K::resize_images(image, n, 1, "channels_last", {.interpolation = "bilinear"}); }},
      {"[resize_images]", [=](N n) { K::resize_images(any_image, n, n, "channels_last"); }},
      {"[resize_volumes]", [=](N n) { K::resize_volumes(volume, n, n, n, "channels_last"); }},
      {"[resize_volumes]", [=](N n) { K::resize_volumes(any_volume, n, n, n, "channels_last"); }},
      {"[reshape]",
       [=](N n) {
         K::reshape(steps, {n, n});
       }},
      {"[broadcast_to]",
       [=](N n) {
         K::broadcast_to(K::ones({1, 1}), {n, n});
       }},
      {"[split]", [=](N n) { K::split(steps, n, 1); }},
      {"[slice]",
       [=](N n) {
         K::slice(steps, {0, n, 0}, {1, n, 2});
       }},
      {"[top_k]", [=](N n) { K::top_k(steps, n); }},
      {"[conv1d]", [=](N n) { K::conv1d(steps, kernel1, {.strides = n}); }},
      {"[conv1d]", [=](N n) { K::conv1d(steps, kernel1, {.padding = "causal", .dilation_rate = n}); }},
      {"[conv2d]", [=](N n) { K::conv2d(image, kernel2, {.strides = n, .padding = "same"}); }},
      {"[conv2d]", [=](N n) { K::conv2d(any_image, kernel2, {.dilation_rate = n}); }},
      {"[conv3d]", [=](N n) { K::conv3d(volume, kernel3, {.strides = n, .padding = "same"}); }},
      {"[depthwise_conv2d]",
       [=](N n) {
         K::depthwise_conv2d(image, K::ones({2, 2, 2, 1}), {.strides = n});
       }},
      {"[separable_conv2d]",
       [=](N n) {
         K::separable_conv2d(image, K::ones({2, 2, 2, 1}), K::ones({1, 1, 2, 1}), {.strides = n});
       }},
      {"[conv2d_transpose]",
       [=](N n) {
         K::conv2d_transpose(image, back2, {1, 8, 8, 3}, {.strides = n});
       }},
      {"[conv2d_transpose]",
       [=](N n) {
         K::conv2d_transpose(image, back2, {1, n, n, 3}, {.strides = n, .padding = "same"});
       }},
      {"[conv2d_transpose]",
       [=](N n) {
         K::conv2d_transpose(any_image, back2, {1, n, n, 3}, {.strides = n});
       }},
      {"[conv2d_transpose]",
       [=](N n) {
         K::conv2d_transpose(image, back2, {1, 8, 8, 3}, {.dilation_rate = n});
       }},
      {"[conv3d_transpose]",
       [=](N n) {
         K::conv3d_transpose(volume, back3, {1, n, n, n, 3}, {.strides = n});
       }},
      {"[pool2d]", [=](N n) { K::pool2d(image, n, {.padding = "same"}); }},
      {"[pool2d]", [=](N n) { K::pool2d(any_image, 2, {.strides = n}); }},
      {"[pool3d]", [=](N n) { K::pool3d(volume, n); }},
      {"[local_conv1d]",
       [=](N n) {
         K::local_conv1d(steps, K::ones({3, 4, 1}), {n}, {n});
       }},
      {"[local_conv2d]",
       [=](N n) {
         K::local_conv2d(image, K::ones({9, 8, 1}), {2, 2}, {1, 1}, {n, n});
       }},
  };
}

}  // namespace

TEST_CASE("sizes that no memory holds are refused at once, by the op that was called") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Call& call : calls())
    for (const std::int64_t n : {most, most - 1, most / 2 + 1, most / 2, most / 3 + 2, most / 4 + 1, most / 4,
                                 std::int64_t{1} << 48}) {
      CAPTURE(call.text);
      CAPTURE(n);
      CHECK_THROWS_WITH_AS(call.run(n), doctest::Contains(call.text), ValueError);
    }
}

TEST_CASE("a number of parts is not wrapped to fewer bits") {
  const Tensor x = K::ones({4});
  CHECK(K::split(x, 2).size() == 2);
  CHECK_THROWS_WITH_AS(K::split(x, (std::int64_t{1} << 32) + 2),
                       "[split] the axis of extent 4 must divide into the parts: received number=4294967298",
                       ValueError);
}

TEST_CASE("extents beyond int32 have no shape as a tensor of int32") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  // The shape is looked at alone: no memory is needed for the elements.
  const Tensor one = Tensor::empty({1}, "uint8");
  CHECK(K::shape(one.alias({most, 1})).item<std::int64_t>(0) == most);
  CHECK_THROWS_WITH_AS(K::shape(one.alias({2, most + 1})),
                       "[shape] the extents must fit in int32: received shape=(2, 2147483648)", ValueError);
  CHECK_THROWS_WITH_AS(K::shape(K::placeholder({.shape = {most + 1}, .dtype = "uint8"})),
                       "[shape] the extents must fit in int32: received shape=(2147483648,)", ValueError);
  CHECK(K::int_shape(one.alias({most + 1}))[0] == most + 1);
  CHECK_THROWS_WITH_AS(K::size(one.alias({most + 1})),
                       doctest::Contains("[size] the number of elements must fit in int32"), ValueError);
}
