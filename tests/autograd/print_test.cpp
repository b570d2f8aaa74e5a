#include <doctest/doctest.h>
#include <ktape/autograd/literal.hpp>

#include <cmath>
#include <sstream>

using namespace ktape;

namespace {

Tensor make(const ArrayLike& value, DType dtype = "float32") { return value.tensor(dtype, dtype); }

Tensor count_up(const Shape& shape) {
  Tensor t = Tensor::empty(shape, "int32");
  for (std::int64_t i = 0; i < t.size(); ++i) t.pointer<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  return t;
}

const double infinity = HUGE_VAL, not_a_number = NAN;

}  // namespace

TEST_CASE("a tensor prints as NumPy prints an array, with shape and dtype") {
  CHECK(to_string(make({{1, 2.5}, {3, 4}})) ==
        "tensor([[1. , 2.5],\n"
        "        [3. , 4. ]], shape=(2, 2), dtype=float32)");
  std::ostringstream out;
  out << make({1, -2, 30}, "int64");
  CHECK(out.str() == "tensor([ 1, -2, 30], shape=(3,), dtype=int64)");
}

TEST_CASE("a scalar prints without brackets, None for an undefined tensor, [] for an empty one") {
  CHECK(to_string(make(1.5)) == "tensor(1.5, shape=(), dtype=float32)");
  CHECK(to_string(make(true, "bool")) == "tensor(True, shape=(), dtype=bool)");
  CHECK(to_string(Tensor()) == "None");
  CHECK(to_string(Tensor::empty({0, 3}, "float64")) == "tensor([], shape=(0, 3), dtype=float64)");
}

TEST_CASE("floats print the shortest digits of their own type, at most 8 after the point") {
  CHECK(to_string(make({0.1, 1.0 / 3})) == "tensor([0.1       , 0.33333334], shape=(2,), dtype=float32)");
  CHECK(to_string(make({0.1, 1.0 / 3}, "float64")) ==
        "tensor([0.1       , 0.33333333], shape=(2,), dtype=float64)");
  CHECK(to_string(make({0.1, 1.0 / 3}, "float16")) == "tensor([0.1   , 0.3333], shape=(2,), dtype=float16)");
  CHECK(to_string(make({-0.0, 0.0}, "float64")) == "tensor([-0.,  0.], shape=(2,), dtype=float64)");
  CHECK(to_string(make({-1.5, 100.25})) == "tensor([ -1.5 , 100.25], shape=(2,), dtype=float32)");
}

TEST_CASE("very large, very small and widely spread values print with exponents") {
  CHECK(to_string(make(1e8, "float64")) == "tensor(1.e+08, shape=(), dtype=float64)");
  CHECK(to_string(make({1e-5, 1})) == "tensor([1.e-05, 1.e+00], shape=(2,), dtype=float32)");
  CHECK(to_string(make({1, 1001}, "float64")) == "tensor([1.000e+00, 1.001e+03], shape=(2,), dtype=float64)");
  CHECK(to_string(make({1, 1000}, "float64")) == "tensor([   1., 1000.], shape=(2,), dtype=float64)");
  CHECK(to_string(make({1e-300, -2.5}, "float64")) ==
        "tensor([ 1.0e-300, -2.5e+000], shape=(2,), dtype=float64)");
  CHECK(to_string(make(99999999.5, "float64")) == "tensor(99999999.5, shape=(), dtype=float64)");
}

TEST_CASE("infinities and NaN take the width of the numbers around them") {
  CHECK(to_string(make({1.5, infinity, not_a_number})) ==
        "tensor([1.5, inf, nan], shape=(3,), dtype=float32)");
  CHECK(to_string(make({1, -infinity})) == "tensor([  1., -inf], shape=(2,), dtype=float32)");
  CHECK(to_string(make(not_a_number)) == "tensor(nan, shape=(), dtype=float32)");
  CHECK(to_string(make({1e10, -infinity}, "float64")) ==
        "tensor([1.e+10,   -inf], shape=(2,), dtype=float64)");
}

TEST_CASE("booleans are aligned") {
  CHECK(to_string(make({true, false}, "bool")) == "tensor([ True, False], shape=(2,), dtype=bool)");
  CHECK(to_string(make({true, true}, "bool")) == "tensor([ True,  True], shape=(2,), dtype=bool)");
}

TEST_CASE("planes are parted by an empty line") {
  CHECK(to_string(count_up({2, 2, 2})) ==
        "tensor([[[0, 1],\n"
        "         [2, 3]],\n"
        "\n"
        "        [[4, 5],\n"
        "         [6, 7]]], shape=(2, 2, 2), dtype=int32)");
}

TEST_CASE("a long tensor shows the ends of its axes") {
  CHECK(to_string(count_up({2000})) ==
        "tensor([   0,    1,    2, ..., 1997, 1998, 1999],\n"
        "       shape=(2000,), dtype=int32)");
  CHECK(to_string(count_up({4, 5}), 1, 10) ==
        "tensor([[ 0, ...,  4],\n"
        "        ...,\n"
        "        [15, ..., 19]], shape=(4, 5), dtype=int32)");
  CHECK(to_string(count_up({3, 400}), 2).substr(0, 40) == "tensor([[   0,    1, ...,  398,  399],\n ");
  CHECK(to_string(count_up({5}), 0, 2) == "tensor([...], shape=(5,), dtype=int32)");
  CHECK(to_string(count_up({3, 3}), 3, 0).find("...") == std::string::npos);
}

TEST_CASE("long rows are wrapped at 75 characters, and so is the line of shape and dtype") {
  CHECK(to_string(count_up({20})) ==
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,\n"
        "        16, 17, 18, 19], shape=(20,), dtype=int32)");
  CHECK(to_string(count_up({15})) ==
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14],\n"
        "       shape=(15,), dtype=int32)");
}

TEST_CASE("a variable prints its name and its value") {
  std::ostringstream out;
  out << Variable(make({1, 2}), "bias");
  CHECK(out.str() == "<Variable 'bias' tensor([1., 2.], shape=(2,), dtype=float32)>");
}

TEST_CASE("a negative number of entries is refused") {
  CHECK_THROWS_WITH_AS(to_string(make({1, 2}), -1), "[to_string] edge must be at least 0: received edge=-1",
                       ValueError);
}
