#include <doctest/doctest.h>
#include <ktape/autograd/base/half.hpp>

#include <bit>
#include <cmath>
#include <vector>

using namespace ktape;

namespace {

template <class T>
bool same(T a, T b) {
  return a.bits() == b.bits() || (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b)));
}

/// Returns, for each number of T, the float of its value and the floats around the middle to the next number.
template <class T>
std::vector<float> floats_around() {
  std::vector<float> out;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto value = static_cast<float>(T::from_bits(static_cast<std::uint16_t>(bits)));
    const auto next = static_cast<float>(T::from_bits(static_cast<std::uint16_t>(bits + 1)));
    const float middle = value / 2 + next / 2;
    for (const float x : {value, middle, std::nextafter(middle, value), std::nextafter(middle, next)})
      out.push_back(x);
  }
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("blocks of half precision numbers are widened as single numbers are", T, float16,
                   bfloat16) {
  std::vector<T> numbers;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    numbers.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  std::vector<float> wide(numbers.size());
  widen(static_cast<std::int64_t>(numbers.size()), numbers.data(), wide.data());
  int wrong = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto one = static_cast<float>(numbers[i]);
    wrong += std::bit_cast<std::uint32_t>(one) != std::bit_cast<std::uint32_t>(wide[i]) && !std::isnan(one);
    wrong += std::isnan(one) != std::isnan(wide[i]);
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("blocks of floats are rounded as single floats are", T, float16, bfloat16) {
  const std::vector<float> wide = floats_around<T>();
  std::vector<T> rounded(wide.size());
  narrow(static_cast<std::int64_t>(wide.size()), wide.data(), rounded.data());
  int wrong = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) wrong += !same(rounded[i], T(wide[i]));
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("blocks of any length end where they should", T, float16, bfloat16) {
  for (std::int64_t n = 0; n < 40; ++n) {
    std::vector<float> wide(41, 7);
    std::vector<T> numbers(41, T(1.f)), back(41, T(-3.f));
    widen(n, dtype_of<T>(), numbers.data(), wide.data());
    narrow(n, wide.data(), dtype_of<T>(), back.data());
    for (std::int64_t i = 0; i < 41; ++i) {
      CHECK(wide[static_cast<std::size_t>(i)] == (i < n ? 1 : 7));
      CHECK(static_cast<float>(back[static_cast<std::size_t>(i)]) == (i < n ? 1 : -3));
    }
  }
}
