#include "integer_pairs.hpp"

#include <ktape/ops/keras/numpy/logic.hpp>

using namespace number_pairs;

namespace {

Wide greatest_divisor(Wide x, Wide y) {
  if (x < 0) x = -x;
  if (y < 0) y = -y;
  while (y != 0) std::swap(x %= y, y);
  return x;
}

}  // namespace

TEST_CASE("ops: divisors, multiples and shifts of integers") {
  check_integers("gcd", ops::gcd, greatest_divisor);
  check_integers("lcm", ops::lcm, [](Wide x, Wide y) {
    const Wide divisor = greatest_divisor(x, y), size = divisor == 0 ? 0 : x / divisor * y;
    return size < 0 ? -size : size;
  });
  check_integers("left_shift", ops::left_shift,
                 [](Wide x, Wide n) { return n > 63 ? 0 : x << static_cast<int>(n < 0 ? 0 : n); });
  check_integers("right_shift", ops::right_shift, [](Wide x, Wide n) {
    return x >> static_cast<int>(n < 0 ? 0 : n > 63 ? 63 : n);
  });
}

TEST_CASE("ops: powers of integers wrap around") {
  const Tensor base = ints({0, 1, -1, 2, -3, 7, 2}), exponent = ints({0, 31, 33, 31, 5, 11, 40});
  CHECK(values(ops::power(base, exponent)) == Values{1, 1, -1, -2147483648., -243, 1977326743, 0});
  CHECK(values(ops::power(ints({0, 2, -3, 7}), ints({0, 30, 3, 11}))) ==
        Values{1, 1073741824, -27, 1977326743});
  CHECK_THROWS_WITH_AS(ops::power(ints({2}), ints({-1})),
                       "[power] an integer tensor takes whole exponents of at least 0: received a=-1",
                       ktape::ValueError);
}
