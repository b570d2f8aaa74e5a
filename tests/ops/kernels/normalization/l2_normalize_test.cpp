#include <doctest/doctest.h>
#include <ktape/ops/kernels/normalization/l2_normalize.hpp>

#include "../arrays.hpp"

namespace {

template <class T>
void check_l2_normalize(const View& v) {
  const Array<T> x = numbers<T>(v.size()), y(v.size());
  k::l2_normalize(x.data(), y.data(), v.outer, v.axis, v.inner);
  bool ok = true;
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j) {
      double squares = 0;
      for (i64 i = 0; i < v.axis; ++i) squares += std::pow(double(x[v.at(o, i, j)]), 2);
      const double norm = std::sqrt(std::max(squares, 1e-12));
      for (i64 i = 0; i < v.axis; ++i) {
        const double wanted = double(x[v.at(o, i, j)]) / norm;
        ok = ok && close<T>(y[v.at(o, i, j)], wanted, 0.01);
      }
    }
  CHECK_MESSAGE(ok, v.outer, ", ", v.axis, ", ", v.inner);
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: division by the norm agrees with loops", T, float16, float, double) {
  for (const View& v : views) check_l2_normalize<T>(v);
  for (i64 n : {1, 2, 15, 16, 17, 64, 65, 100})
    for (i64 rows : {1, 3, 67}) check_l2_normalize<T>({rows, n, 1}), check_l2_normalize<T>({rows, 5, n});
  for (i64 inner : {2, 7, 130, 1030}) check_l2_normalize<T>({301, 35, inner});
  // Written past the caches.
  check_l2_normalize<T>({2100, 1031, 1}), check_l2_normalize<T>({1, 1031, 2100});
  check_l2_normalize<T>({1, 2100000, 1}), check_l2_normalize<T>({1, 700003, 3});
}

TEST_CASE_TEMPLATE("kernels: norms that are tiny, infinite or no number", T, float16, float, double) {
  for (const i64 inner : {1, 3})
    for (const i64 axis : {4, 100}) {
      const View v{20, axis, inner};
      Array<T> x(v.size()), y(v.size());
      x[v.at(1, 2, 0)] = T(1e-7f), x[v.at(2, 1, 0)] = T(NAN), x[v.at(3, 3, 0)] = T(INFINITY);
      x[v.at(3, 0, 0)] = T(2.0f);
      k::l2_normalize(x.data(), y.data(), v.outer, v.axis, v.inner);
      CHECK(double(y[v.at(0, 1, 0)]) == 0);
      CHECK(double(y[v.at(1, 2, 0)]) == doctest::Approx(double(x[v.at(1, 2, 0)]) * 1e6).epsilon(1e-3));
      for (i64 i = 0; i < axis; ++i) CHECK(std::isnan(double(y[v.at(2, i, 0)])));
      CHECK(std::isnan(double(y[v.at(3, 3, 0)])));
      CHECK(double(y[v.at(3, 0, 0)]) == 0);
    }
}
