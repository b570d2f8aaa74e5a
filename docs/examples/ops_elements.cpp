#include "examples.hpp"

EXAMPLE("ops::abs ops::absolute ops::fabs") {
  Tensor x = K::constant({-1.5, 0., 2.});
  std::cout << ops::abs(x);
}

EXAMPLE("ops::floor") { std::cout << ops::floor(K::constant({-1.5, 0.5, 2.})); }

EXAMPLE("ops::ceil") { std::cout << ops::ceil(K::constant({-1.5, 0.5, 2.})); }

EXAMPLE("ops::trunc") { std::cout << ops::trunc(K::constant({-1.5, 0.5, 2.})); }

EXAMPLE("ops::round") { std::cout << ops::round(K::constant({0.5, 1.5, -2.4})); }

EXAMPLE("ops::sign") { std::cout << ops::sign(K::constant({-3., 0., 5.})); }

EXAMPLE("ops::signbit") { std::cout << ops::signbit(K::constant({-3., 0., 5.})); }

EXAMPLE("ops::negative") { std::cout << ops::negative(K::constant({-3., 5.})); }

EXAMPLE("ops::reciprocal") {
  std::cout << ops::reciprocal(K::constant({2., 4., -0.5}));
}

EXAMPLE("ops::sqrt") { std::cout << ops::sqrt(K::constant({1., 4., 2.})); }

EXAMPLE("ops::rsqrt") { std::cout << ops::rsqrt(K::constant({1., 4., 16.})); }

EXAMPLE("ops::cbrt") { std::cout << ops::cbrt(K::constant({-8., 1., 27.})); }

EXAMPLE("ops::square") { std::cout << ops::square(K::constant({-3., 0.5})); }

EXAMPLE("ops::exp") { std::cout << ops::exp(K::constant({0., 1., -1.})); }

EXAMPLE("ops::exp2") { std::cout << ops::exp2(K::constant({0., 3., -1.})); }

EXAMPLE("ops::expm1") { std::cout << ops::expm1(K::constant({1e-8, 1.})); }

EXAMPLE("ops::log") { std::cout << ops::log(K::constant({1., 2.718281828, 0.})); }

EXAMPLE("ops::log2") { std::cout << ops::log2(K::constant({1., 8., 0.5})); }

EXAMPLE("ops::log10") { std::cout << ops::log10(K::constant({1., 1000., 0.01})); }

EXAMPLE("ops::log1p") { std::cout << ops::log1p(K::constant({1e-8, 1.})); }

EXAMPLE("ops::sin") { std::cout << ops::sin(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::cos") { std::cout << ops::cos(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::tan") { std::cout << ops::tan(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::arcsin") { std::cout << ops::arcsin(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::arccos") { std::cout << ops::arccos(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::arctan") { std::cout << ops::arctan(K::constant({0., 1., -1e9})); }

EXAMPLE("ops::sinh") { std::cout << ops::sinh(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::cosh") { std::cout << ops::cosh(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::tanh") { std::cout << ops::tanh(K::constant({0., 0.5, 100.})); }

EXAMPLE("ops::arcsinh") { std::cout << ops::arcsinh(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::arccosh") { std::cout << ops::arccosh(K::constant({1., 2.})); }

EXAMPLE("ops::arctanh") { std::cout << ops::arctanh(K::constant({0., 0.5})); }

EXAMPLE("ops::sinc") { std::cout << ops::sinc(K::constant({0., 0.5, 1.})); }

EXAMPLE("ops::deg2rad") { std::cout << ops::deg2rad(K::constant({180., 90.})); }

EXAMPLE("ops::rad2deg") {
  std::cout << ops::rad2deg(K::constant({3.14159265, 1.57079633}));
}

EXAMPLE("ops::erf") { std::cout << ops::erf(K::constant({0., 0.5, 2.})); }

EXAMPLE("ops::erfc") { std::cout << ops::erfc(K::constant({0., 0.5, 2.})); }

EXAMPLE("ops::erfinv") {
  std::cout << ops::erfinv(ops::erf(K::constant({0.5, 1.})));
}

EXAMPLE("ops::i0") { std::cout << ops::i0(K::constant({0., 1., 2.})); }

EXAMPLE("ops::isnan") {
  Tensor zero = K::constant({0.});
  std::cout << ops::isnan(zero / zero) << " " << ops::isnan(zero);
}

EXAMPLE("ops::isinf") {
  Tensor x = K::constant({1., -1., 1.}) / K::constant({0., 0., 1.});
  std::cout << ops::isinf(x);
}

EXAMPLE("ops::isposinf ops::isneginf") {
  Tensor x = K::constant({1., -1., 1.}) / K::constant({0., 0., 1.});
  std::cout << ops::isposinf(x) << " " << ops::isneginf(x);
}

EXAMPLE("ops::isfinite") {
  Tensor x = K::constant({1., -1., 1.}) / K::constant({0., 0., 1.});
  std::cout << ops::isfinite(x);
}

EXAMPLE("ops::isreal") { std::cout << ops::isreal(K::constant({1., 2.})); }

EXAMPLE("ops::nan_to_num") {
  Tensor x = K::constant({0., 1., 2.}) / K::constant({0., 1., 1.});
  std::cout << ops::nan_to_num(x);
}

EXAMPLE("ops::clip") { std::cout << ops::clip(K::constant({-2., 0.5, 9.}), 0, 1); }

EXAMPLE("ops::saturate_cast") {
  std::cout << ops::saturate_cast(K::constant({-2., 80., 999.}), "uint8");
}

EXAMPLE("ops::real ops::conj ops::conjugate") {
  std::cout << ops::real(K::constant({1., 2.})) << " "
            << ops::conj(K::constant({1., 2.}));
}

EXAMPLE("ops::imag ops::angle") {
  std::cout << ops::imag(K::constant({1., -2.})) << " "
            << ops::angle(K::constant({1., -2.}));
}

EXAMPLE("ops::add") { std::cout << ops::add(K::constant({1., 2.}), 10); }

EXAMPLE("ops::subtract") {
  std::cout << ops::subtract(K::constant({1., 2.}), K::constant({5., 1.}));
}

EXAMPLE("ops::multiply") {
  std::cout << ops::multiply(K::constant({{1., 2.}, {3., 4.}}),
                             K::constant({10., 100.}));
}

EXAMPLE("ops::divide ops::true_divide") {
  std::cout << ops::divide(K::constant({1., 2.}), 4);
}

EXAMPLE("ops::divide_no_nan") {
  std::cout << ops::divide_no_nan(K::constant({1., 2.}), K::constant({0., 4.}));
}

EXAMPLE("ops::floor_divide") {
  std::cout << ops::floor_divide(K::constant({7., -7.}), 2);
}

EXAMPLE("ops::mod") { std::cout << ops::mod(K::constant({7., -7.}), 3); }

EXAMPLE("ops::fmod") {
  std::cout << ops::fmod(K::constant({7., -7.}), K::constant({3., 3.}));
}

EXAMPLE("ops::power") { std::cout << ops::power(K::constant({2., 3.}), 2); }

EXAMPLE("ops::maximum") { std::cout << ops::maximum(K::constant({1., 5.}), 3); }

EXAMPLE("ops::minimum") { std::cout << ops::minimum(K::constant({1., 5.}), 3); }

EXAMPLE("ops::fmax ops::fmin") {
  Tensor a = K::constant({1., 0.}) / K::constant({1., 0.}),
         b = K::constant({2., 7.});
  std::cout << ops::fmax(a, b) << " " << ops::fmin(a, b);
}

EXAMPLE("ops::arctan2") {
  std::cout << ops::arctan2(K::constant({1., -1.}), K::constant({1., -1.}));
}

EXAMPLE("ops::hypot") {
  std::cout << ops::hypot(K::constant({3., 5.}), K::constant({4., 12.}));
}

EXAMPLE("ops::heaviside") {
  std::cout << ops::heaviside(K::constant({-1., 0., 2.}), K::constant({0.5}));
}

EXAMPLE("ops::logaddexp ops::logaddexp2") {
  Tensor a = K::constant({1., 1000.}), b = K::constant({1., 1000.});
  std::cout << ops::logaddexp(a, b) << "\n" << ops::logaddexp2(a, b);
}

EXAMPLE("ops::nextafter") {
  Tensor x = K::constant({1.});
  std::cout << ops::nextafter(x, K::constant({2.})) - x;
}

EXAMPLE("ops::ldexp") {
  std::cout << ops::ldexp(K::constant({1., 3.}),
                          K::constant({4, 1}, {.dtype = "int32"}));
}

EXAMPLE("ops::gcd") {
  std::cout << ops::gcd(K::constant({12, 18}, {.dtype = "int32"}),
                        K::constant({8, 27}, {.dtype = "int32"}));
}

EXAMPLE("ops::lcm") {
  std::cout << ops::lcm(K::constant({4, 6}, {.dtype = "int32"}),
                        K::constant({6, 9}, {.dtype = "int32"}));
}

EXAMPLE("ops::gammainc") {
  std::cout << ops::gammainc(K::constant({1., 2.}), K::constant({1., 3.}));
}
