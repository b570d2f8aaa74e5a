#include "examples.hpp"

EXAMPLE("ops::equal ops::not_equal") {
  Tensor a = K::constant({1., 2., 3.}), b = K::constant({1., 0., 3.});
  std::cout << ops::equal(a, b) << " " << ops::not_equal(a, b);
}

EXAMPLE("ops::greater ops::greater_equal") {
  Tensor a = K::constant({1., 2., 3.});
  std::cout << ops::greater(a, 2) << " " << ops::greater_equal(a, 2);
}

EXAMPLE("ops::less ops::less_equal") {
  Tensor a = K::constant({1., 2., 3.});
  std::cout << ops::less(a, 2) << " " << ops::less_equal(a, 2);
}

EXAMPLE("ops::isclose") {
  std::cout << ops::isclose(K::constant({1., 2.}), K::constant({1.000001, 2.1}));
}

EXAMPLE("ops::allclose") {
  std::cout << ops::allclose(K::constant({1., 2.}), K::constant({1.000001, 2.}));
}

EXAMPLE("ops::logical_and ops::logical_or ops::logical_xor") {
  Tensor a = K::constant({true, true, false}),
         b = K::constant({true, false, false});
  std::cout << ops::logical_and(a, b) << "\n"
            << ops::logical_or(a, b) << "\n"
            << ops::logical_xor(a, b);
}

EXAMPLE("ops::logical_not") {
  std::cout << ops::logical_not(K::constant({true, false}));
}

EXAMPLE("ops::bitwise_and ops::bitwise_or ops::bitwise_xor") {
  Tensor a = K::constant({12, 10}, {.dtype = "int32"}),
         b = K::constant({10, 3}, {.dtype = "int32"});
  std::cout << ops::bitwise_and(a, b) << " " << ops::bitwise_or(a, b) << " "
            << ops::bitwise_xor(a, b);
}

EXAMPLE("ops::bitwise_not ops::bitwise_invert") {
  std::cout << ops::bitwise_not(K::constant({0, 5}, {.dtype = "int32"}));
}

EXAMPLE("ops::bitwise_left_shift ops::left_shift") {
  std::cout << ops::left_shift(K::constant({1, 3}, {.dtype = "int32"}),
                               K::constant({4, 1}, {.dtype = "int32"}));
}

EXAMPLE("ops::bitwise_right_shift ops::right_shift") {
  std::cout << ops::right_shift(K::constant({16, -8}, {.dtype = "int32"}),
                                K::constant({2, 1}, {.dtype = "int32"}));
}

EXAMPLE("ops::where") {
  Tensor x = K::constant({-1., 2., -3.});
  std::cout << ops::where(x > 0, x, 0);
}

EXAMPLE("ops::select") {
  Tensor x = K::constant({1., 5., 9.});
  std::cout << ops::select({x < 3, x < 7}, {x * 10, x * 100}, x * 0);
}
