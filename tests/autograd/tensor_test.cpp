#include <doctest/doctest.h>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/autograd/xtensor.hpp>

#include <cmath>
#include <xtensor/xmath.hpp>

#include "../close.hpp"
#include "../sanitizers.hpp"

using namespace ktape;

namespace {
Tensor floats(const ArrayLike& value) { return value.tensor("float32", "float32"); }
}  // namespace

TEST_CASE("a tensor is made from any xtensor expression and seen as an xtensor array") {
  const xt::xarray<double> a{{1, 2, 3}, {4, 5, 6}};
  const Tensor t(xt::sin(a) + 1.0);
  CHECK(t.shape() == Shape{2, 3});
  CHECK(t.dtype() == "float64");
  CHECK(t.ndim() == 2);
  CHECK(t.size() == 6);
  CHECK(close(t.item<double>(1, 0), std::sin(4.0) + 1));
  const auto seen = view<double>(t);
  CHECK(seen(1, 2) == t.item<double>(1, 2));
  CHECK(seen.data() == t.data<double>());
  CHECK_THROWS_WITH_AS(
      view<float>(t),
      "[data] the element type must be the tensor's: received float32 for a tensor of dtype float64",
      TypeError);
}

TEST_CASE("scalars and empty arrays become tensors too") {
  const xt::xarray<int> one = 7;
  CHECK(Tensor(one).shape() == Shape{});
  CHECK(Tensor(one).item<int>() == 7);
  const xt::xarray<float> none = xt::empty<float>({0, 3});
  CHECK(Tensor(none).shape() == Shape{0, 3});
  CHECK(view<float>(Tensor(none)).size() == 0);
}

TEST_CASE("elements are read by index, negative ones from the end") {
  const Tensor t = floats({{1, 2, 3}, {4, 5, 6}});
  CHECK(t.item(0, 1) == 2.f);
  CHECK(t.item(-1, -1) == 6.f);
  CHECK(t.item<int>(1, 0) == 4);
  CHECK(floats(2.5).item<double>() == 2.5);
  CHECK(floats({{{9}}}).item() == 9.f);
  CHECK_THROWS_WITH_AS(t.item(),
                       "[item] without an index the tensor must have one element: received shape=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      t.item(1), "[item] the index must have one entry per axis: received 1 for shape=(2, 3)", ValueError);
  CHECK_THROWS_WITH_AS(
      t.item(0, 3), "[item] the index must be inside the shape: received index=3 on axis 1 of shape=(2, 3)",
      ValueError);
  CHECK_THROWS_AS(t.item(-3, 0), ValueError);
}

TEST_CASE("reading an undefined tensor is an error that says undefined") {
  const Tensor none;
  CHECK(!none.defined());
  CHECK_THROWS_WITH_AS(
      none.shape(), "[tensor] the tensor must be defined: received an undefined tensor (None)", ValueError);
  CHECK_THROWS_AS(none.dtype(), ValueError);
  CHECK_THROWS_AS(none.item(), ValueError);
  CHECK_THROWS_AS(none.detach(), ValueError);
  CHECK_THROWS_AS(none.data<float>(), ValueError);
}

TEST_CASE("item refuses an element that the requested type cannot hold") {
  const Tensor t = ArrayLike({1e20, -2.9, 300., std::nan("")}).tensor("float64", "float64");
  CHECK_THROWS_WITH_AS(t.item<int>(0),
                       "[item] the value must be in the range of the requested type: received value=1e+20",
                       ValueError);
  CHECK_THROWS_AS(t.item<std::uint8_t>(2), ValueError);
  CHECK_THROWS_AS(t.item<std::uint64_t>(1), ValueError);
  CHECK_THROWS_AS(t.item<int>(3), ValueError);
  CHECK(t.item<int>(1) == -2);
  CHECK(t.item(0) == 1e20f);
  CHECK(t.item<bool>(2));
  CHECK(std::isnan(t.item(3)));
}

#ifndef KTAPE_TESTS_SANITIZED  // allocators of sanitizers end the program
TEST_CASE("a tensor that the system has no memory for is an error with its size") {
  CHECK_THROWS_WITH_AS(Tensor::empty({1 << 20, 1 << 20, 32}, "uint8"),
                       "[tensor] the tensor must fit in memory: received shape=(1048576, 1048576, 32)",
                       ValueError);
}
#endif

TEST_CASE("memory is aligned to 64 bytes, whatever the shape") {
  for (std::int64_t n : {0, 1, 15, 16, 1000, 100000})
    CHECK(reinterpret_cast<std::uintptr_t>(Tensor::empty({n}, "float32").raw()) % 64 == 0);
  CHECK_THROWS_WITH_AS(Tensor::empty({3, -2}, "float32"),
                       "[tensor] extents must be at least 0: received shape=(3, -2)", ValueError);
}

TEST_CASE("copies, detach and alias share the elements") {
  const Tensor t = floats({1, 2, 3, 4});
  const Tensor copy = t, flat = t.detach(), square = t.alias({2, 2});
  CHECK(copy.raw() == t.raw());
  CHECK(flat.raw() == t.raw());
  CHECK(square.raw() == t.raw());
  CHECK(square.item(1, 0) == 3.f);
  CHECK(!t.exclusive());
  CHECK(floats(1).exclusive());
}

TEST_CASE("conversion truncates to integers, saturates out of range and takes NaN for 0") {
  const double in[] = {-2.75, 2.75, 300, -300, NAN, HUGE_VAL};
  std::int8_t bytes[6];
  convert(bytes, "int8", in, "float64", 6);
  CHECK(std::vector<int>(bytes, bytes + 6) == std::vector<int>{-2, 2, 127, -128, 0, 127});
  std::int64_t longs[6];
  convert(longs, "int64", in, "float64", 6);
  CHECK(longs[5] == std::numeric_limits<std::int64_t>::max());
  bool flags[6];
  convert(flags, "bool", in, "float64", 6);
  CHECK(flags[0]);
  CHECK(flags[4]);
  float16 halves[6];
  convert(halves, "float16", in, "float64", 6);
  CHECK(static_cast<float>(halves[2]) == 300.f);
  float back[6];
  convert(back, "float32", halves, "float16", 6);
  CHECK(back[0] == -2.75f);
}

TEST_CASE("a tensor list is a braced list, a vector, or one tensor; variables count as tensors") {
  const Tensor t = floats(1);
  const Variable v(floats(2));
  auto count = [](const TensorList& list) { return list.size(); };
  CHECK(count({t, v}) == 2);
  CHECK(count(t) == 1);
  CHECK(count(v) == 1);
  CHECK(count(std::vector<Tensor>{t, t, t}) == 3);
  CHECK(count(std::vector<Variable>{v, v}) == 2);
  CHECK(count({}) == 0);
}

TEST_CASE("a mask travels with the value") {
  const Tensor x = floats({{1, 2, 3}, {4, 5, 6}});
  const Tensor mask = ArrayLike({{true, true, false}, {true, false, false}}).tensor({}, "bool");
  x.get()->metadata = std::make_unique<TensorMetadata>();
  x.get()->metadata->mask = mask;
  CHECK(x.detach().get()->metadata->mask.get() == mask.get());
  CHECK(!floats({1, 2}).detach().get()->metadata);
}

TEST_CASE("raw buffers of a dtype known at run time become tensors and back") {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const Tensor x = Tensor::from_buffer(numbers, sizeof numbers, {2, 3}, "float32");
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.item(1, 0) == 4);
  float back[6] = {};
  x.copy_to(back, sizeof back);
  CHECK(close(back, numbers, exactly));

  const std::uint8_t bytes[] = {0, 1, 7};
  const Tensor flags = Tensor::from_buffer(bytes, 3, {3}, "bool");
  CHECK(flags.item<int>(2) == 1);
  std::uint8_t flags_back[3];
  flags.copy_to(flags_back, 3);
  CHECK(flags_back[2] == 1);
  CHECK(Tensor::from_buffer(nullptr, 0, {0, 4}, "int64").size() == 0);
  CHECK_THROWS_WITH_AS(Tensor::from_buffer(nullptr, 24, {2, 3}, "float32"),
                       "[from_buffer] the buffer must not be null: received null for bytes=24",
                       ktape::ValueError);

  CHECK_THROWS_WITH_AS(
      Tensor::from_buffer(numbers, 20, {2, 3}, "float32"),
      "[from_buffer] the buffer must have 24 bytes for shape=(2, 3), dtype=float32: received bytes=20",
      ValueError);
  CHECK_THROWS_WITH_AS(
      x.copy_to(back, 25),
      "[copy_to] the buffer must have 24 bytes for shape=(2, 3), dtype=float32: received bytes=25",
      ValueError);
}
