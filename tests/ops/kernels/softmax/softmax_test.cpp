#include <doctest/doctest.h>
#include <ktape/ops/kernels/softmax/logsumexp.hpp>
#include <ktape/ops/kernels/softmax/softmax_backward.hpp>

#include "../arrays.hpp"

namespace {

/// Returns a row's log(sum(exp)) in double.
template <class At>
double naive_logsumexp(i64 n, const At& at) {
  double largest = -INFINITY, sum = 0;
  for (i64 i = 0; i < n; ++i) largest = std::max(largest, static_cast<double>(at(i)));
  for (i64 i = 0; i < n; ++i) sum += std::exp(static_cast<double>(at(i)) - largest);
  return n == 0 ? -INFINITY : largest + std::log(sum);
}

template <class T>
void check_softmax(const View& v) {
  const Array<T> x = numbers<T>(v.size()), g = numbers<T>(v.size());
  const Array<T> s(v.size()), l(v.size()), ds(v.size()), dl(v.size());
  k::softmax(x.data(), s.data(), v);
  k::log_softmax(x.data(), l.data(), v);
  k::softmax_backward(s.data(), g.data(), ds.data(), v);
  k::log_softmax_backward(l.data(), g.data(), dl.data(), v);
  const Array<T> in_place(v.size());
  std::copy_n(g.data(), v.size(), in_place.data());
  k::log_softmax_backward(l.data(), in_place.data(), in_place.data(), v);
  INFO(v.outer, ", ", v.axis, ", ", v.inner);
  CHECK(each_is(in_place, dl));
  Closeness found;
  const auto same_total = [&](T got, auto at) {
    return rounding_verdict<T>(got, naive_logsumexp(v.axis, at));
  };
  check_reduction<T, T>("logsumexp", v, x, k::logsumexp<T>, same_total);
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j) {
      const double total = naive_logsumexp(v.axis, [&](i64 i) { return x[v.at(o, i, j)]; });
      double dot = 0, sum = 0, scale = 1;
      for (i64 i = 0; i < v.axis; ++i) {
        const double gradient = double(g[v.at(o, i, j)]);
        dot += double(s[v.at(o, i, j)]) * gradient, sum += gradient, scale += std::abs(gradient);
      }
      for (i64 i = 0; i < v.axis; ++i) {
        const i64 at = v.at(o, i, j);
        const double logit = double(x[at]) - total, gradient = double(g[at]);
        expect(found, "softmax", at, s[at], std::exp(logit));
        expect(found, "log_softmax", at, l[at], logit, 8);
        expect(found, "slope of softmax", at, ds[at], double(s[at]) * (gradient - dot));
        expect(found, "slope of log_softmax", at, dl[at], gradient - std::exp(double(l[at])) * sum, scale);
      }
    }
  CHECK(found);
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: softmax and its relatives agree with loops", T, float, double) {
  for (const View& v : views) check_softmax<T>(v);
  check_softmax<T>({2100, 1030, 1});
}

TEST_CASE_TEMPLATE("kernels: softmax of rows of a few elements", T, float, double) {
  for (i64 n = 1; n <= 66; ++n)
    for (const i64 rows : {1, 16, 67, 530}) check_softmax<T>({rows, n, 1});
  for (const i64 inner : {2, 3, 7, 20})
    for (const i64 axis : {2, 3, 9}) check_softmax<T>({301, axis, inner});
  check_softmax<T>({700003, 3, 1});
}

TEST_CASE_TEMPLATE("kernels: softmax along columns", T, float, double) {
  for (const i64 axis : {8, 9, 17, 130})
    for (const i64 inner : {13, 64, 65, 600}) check_softmax<T>({2, axis, inner});
  check_softmax<T>({1, 40, 60032}), check_softmax<T>({1, 40, 60001});  // written with non-temporal stores
  check_softmax<T>({1, 70001, 3}), check_softmax<T>({1, 9, 9000});     // in pieces, and many columns
}

TEST_CASE_TEMPLATE(
    "kernels: softmax of rows whose largest element comes late, or that have no finite element", T, float,
    double) {
  for (const i64 inner : {1, 70}) {
    const i64 axis = 100;
    Array<T> x(axis * inner), y(x.size()), l(x.size()), total(inner);
    for (i64 k = 0; k < axis; ++k)
      for (i64 j = 0; j < inner; ++j) {
        const bool out = j % 5 == 4 || (j % 5 == 3 && k < 90);  // no element, or those of the first chunks
        x[k * inner + j] = T(out                     ? -INFINITY
                             : j % 5 == 2 && k == 50 ? INFINITY
                             : j % 5 == 1 && k == 70 ? NAN
                                                     : k * 40.f);
      }
    k::softmax(x.data(), y.data(), {1, axis, inner});
    k::log_softmax(x.data(), l.data(), {1, axis, inner});
    k::logsumexp(x.data(), total.data(), {1, axis, inner});
    for (i64 j = 0; j < inner; ++j) {
      const double top = double(y[(axis - 1) * inner + j]), low = double(y[j]), log = double(l[j]),
                   sum = double(total[j]);
      if (j % 5 == 0) {
        CHECK(top == 1);
        CHECK(low == 0);
        CHECK(log == -3960);
        CHECK(sum == 3960);
      }
      if (j % 5 == 1) {
        CHECK(std::isnan(top));
        CHECK(std::isnan(low));
        CHECK(std::isnan(log));
        CHECK(std::isnan(sum));
      }
      if (j % 5 == 2) {
        CHECK(std::isnan(top));
        CHECK(std::isnan(low));
        CHECK(std::isnan(log));
        CHECK(sum == INFINITY);
      }
      if (j % 5 == 3) {
        CHECK(top == 1);
        CHECK(low == 0);
        CHECK(log == -INFINITY);
        CHECK(sum == 3960);
      }
      if (j % 5 == 4) {
        CHECK(std::isnan(top));
        CHECK(std::isnan(low));
        CHECK(std::isnan(log));
        CHECK(sum == -INFINITY);
      }
    }
  }
}

TEST_CASE_TEMPLATE("kernels: exponentials, and those of terms of sums", T, float, double) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto first = [](k::Vec<T> v) { return v[0]; };
  for (double x = -85; x < 85; x += 0.00917) {
    const auto right = std::exp(static_cast<long double>(T(x)));
    const auto off = [&](T e) { return std::abs(double(e / right - 1)) / std::numeric_limits<T>::epsilon(); };
    const T exp = first(k::exp_of<T>(k::splat(T(x)))), term = first(k::exp_term<T>(k::splat(T(x))));
    INFO("x ", T(x), ": exp_of ", exp, ", exp_term ", term, ", want ", right);
    REQUIRE(off(exp) < 2);
    if (x <= 0) REQUIRE(off(term) < 2 - x / 25);
  }
  for (const auto exp : {k::exp_of<T>, k::exp_term<T>}) {
    CHECK(first(exp(k::splat(T(0)))) == 1);
    CHECK(first(exp(k::splat(T(inf)))) == T(inf));
    CHECK(first(exp(k::splat(T(-inf)))) == 0);
    CHECK(first(exp(k::splat(T(-2000)))) == 0);
    CHECK(std::isnan(first(exp(k::splat(T(NAN))))));
  }
}

TEST_CASE_TEMPLATE("kernels: softmax of infinities", T, float, double) {
  const T inf = T(INFINITY), minus_inf = T(-INFINITY);
  for (const i64 inner : {1, 3}) {
    Array<T> x(2 * 2 * inner), y(x.size()), total(2 * inner);
    for (i64 i = 0; i < 2 * inner; ++i) x[i] = minus_inf, x[2 * inner + i] = i < inner ? inf : T(1.f);
    k::logsumexp(x.data(), total.data(), {2, 2, inner});
    CHECK(total[0] == minus_inf);
    CHECK(total[inner] == inf);
    k::softmax(x.data(), y.data(), {2, 2, inner});
    CHECK(std::isnan(float(y[0])));
    CHECK(std::isnan(float(y[2 * inner])));
    x[0] = T(2.f);
    k::softmax(x.data(), y.data(), {2, 2, inner});
    CHECK(y[0] == T(1.f));
    CHECK(y[inner] == T(0.f));
  }
}
