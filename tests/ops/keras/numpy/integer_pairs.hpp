#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "number_pairs.hpp"

/// Functions of two integers, compared with formulas of wide integers.
namespace number_pairs {

using Wide = __int128;

/// Checks an op on pairs of integers of each dtype, the lowest and the largest among them, against `exact`, whose
/// result keeps its low bits.
template <class F>
void check_integers(const char* op, Tensor (*f)(const ktape::TensorOrNumber&, const ktape::TensorOrNumber&),
                    F exact) {
  const auto check_dtype = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> some = {
        0, 1, 2, 3, 5, 7, 8, 12, 31, 64, 100, Limits::max(), T(Limits::max() - 1), T(Limits::max() / 3)};
    for (std::size_t i = 0, n = some.size(); i < n; ++i) some.push_back(static_cast<T>(-some[i]));
    some.push_back(Limits::min());
    std::vector<T> x, y;
    for (const T a : some)
      for (const T b : some) x.push_back(a), y.push_back(b);
    const auto tensor = [](const std::vector<T>& numbers) {
      const std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
      return K::constant(wide, {.dtype = ktape::dtype_of<T>()});
    };
    const Tensor got = f(tensor(x), tensor(y));
    REQUIRE(got.dtype() == ktape::dtype_of<T>());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T wanted = static_cast<T>(exact(Wide(x[i]), Wide(y[i])));
      INFO(op, '(', +x[i], ", ", +y[i], ") in ", ktape::dtype_of<T>().name());
      if (got.pointer<T>()[i] != wanted) CHECK(+got.pointer<T>()[i] == +wanted);
    }
  };
  check_dtype(std::uint8_t{}), check_dtype(std::int8_t{}), check_dtype(std::int16_t{});
  check_dtype(std::int32_t{}), check_dtype(std::int64_t{});
}

}  // namespace number_pairs
