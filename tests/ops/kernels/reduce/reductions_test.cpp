#include <doctest/doctest.h>
#include <ktape/ops/kernels/reduce/argmax.hpp>
#include <ktape/ops/kernels/reduce/moments.hpp>
#include <ktape/ops/kernels/reduce/reductions.hpp>

#include "../../../close.hpp"
#include "../arrays.hpp"

namespace {

template <class T>
void check_sums(const View& v, const Array<T>& x) {
  const auto fold = [&](auto first, auto step) {
    return [=](T got, auto at) {
      Wide<T> total = first;
      double scale = 1;
      for (i64 i = 0; i < v.axis; ++i) total = step(total, Wide<T>(at(i))), scale += std::abs(double(at(i)));
      return rounding_verdict<T>(got, total, scale);
    };
  };
  const auto add = [](auto a, auto b) { return a + b; };
  const auto add_square = [](auto a, auto b) { return a + b * b; };
  check_reduction<T, T>("sum", v, x, k::reduce_sum<T, T>, fold(0, add));
  check_reduction<T, T>("squares", v, x, k::reduce_sum_of_squares<T, T>, fold(0, add_square));
  if (std::is_integral_v<T> || v.axis < 6)
    check_reduction<T, T>("prod", v, x, k::reduce_prod<T, T>, fold(1, [](auto a, auto b) { return a * b; }));
}

template <class T>
void check_extremes(const View& v, const Array<T>& x) {
  using A = T;
  const auto best = [&](auto at, bool largest) {
    i64 found = 0;
    for (i64 i = 1; i < v.axis; ++i) {
      const A a = at(i), b = at(found);
      if (b == b && (a != a || (largest ? a > b : a < b))) found = i;
    }
    return found;
  };
  const auto same = [](A a, A b) { return a == b || (a != a && b != b); };
  using L = std::numeric_limits<A>;
  const A highest = L::has_infinity ? L::infinity() : L::max();
  const A lowest = L::has_infinity ? A(-L::infinity()) : L::lowest();
  const auto value = [&](bool largest) {
    return [=](T got, auto at) {
      const A wanted = v.axis > 0 ? A(at(best(at, largest))) : largest ? lowest : highest;
      return Verdict{same(got, wanted), double(wanted)};
    };
  };
  const auto place = [&](bool largest) {
    return [=](i64 got, auto at) { return Verdict{got == best(at, largest), double(best(at, largest))}; };
  };
  check_reduction<T, T>("max", v, x, k::reduce_max<T>, value(true));
  check_reduction<T, T>("min", v, x, k::reduce_min<T>, value(false));
  if (v.axis == 0) return;
  check_reduction<T, i64>("argmax", v, x, k::argmax<T>, place(true));
  check_reduction<T, i64>("argmin", v, x, k::argmin<T>, place(false));
}

template <class T>
void check_logic(const View& v, const Array<T>& x) {
  const auto count = [&](auto at) {
    i64 n = 0;
    for (i64 i = 0; i < v.axis; ++i) n += at(i) != T(0);
    return n;
  };
  const auto is = [](bool got, bool wanted) { return Verdict{got == wanted, double(wanted)}; };
  const auto any = [&](bool got, auto at) { return is(got, count(at) > 0); };
  const auto all = [&](bool got, auto at) { return is(got, count(at) == v.axis); };
  check_reduction<T, bool>("any", v, x, k::reduce_any<T>, any);
  check_reduction<T, bool>("all", v, x, k::reduce_all<T>, all);
}

template <class T>
void check_means(const View& v, const Array<T>& x) {
  if (v.axis == 0) return;
  using Total = std::conditional_t<std::is_integral_v<T>, i64, double>;
  const auto mean = [&](auto at) {
    Total total = 0;
    for (i64 i = 0; i < v.axis; ++i) total += Total(at(i));
    return total / Total(v.axis);
  };
  check_reduction<T, T>(
      "mean", v, x, [](auto in, auto out, const View& all) { k::reduce_mean(in, out, all, all.axis); },
      [&](T got, auto at) { return rounding_verdict<T>(got, Wide<T>(mean(at)), 4); });
  if constexpr (!std::is_integral_v<T>) {
    const auto variance = [&](auto got, auto at) {
      double total = 0, middle = mean(at);
      for (i64 i = 0; i < v.axis; ++i) total += std::pow(double(at(i)) - middle, 2);
      const double wanted = total / static_cast<double>(v.axis), error = std::abs(double(got) - wanted);
      return Verdict{error <= 4 * tolerance<k::compute_type<T>>() * wanted, wanted};
    };
    using Out = k::compute_type<T>;
    check_reduction<T, Out>("variance", v, x, k::reduce_variance<T, Out>, variance);
    for (i64 i = 0; i < v.size(); ++i) x[i] = T(float(x[i]) + 1024);
    check_reduction<T, Out>("offset", v, x, k::reduce_variance<T, Out>, variance);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: reductions agree with loops", T, bool, std::uint8_t, std::int8_t, std::int16_t,
                   std::int32_t, i64, float, double) {
  for (const View& v : views) {
    const Array<T> x = numbers<T>(v.size());
    check_sums(v, x);
    check_logic(v, x);
    if (v.size() > 20)
      for (i64 i = 0; i < v.size(); i += 7) {
        if constexpr (std::is_integral_v<T>) x[i] = T(1);
        else x[i] = i % 5 == 0 ? T(NAN) : T(-0.0f);
      }
    check_extremes(v, x);
    check_logic(v, x);
  }
}

TEST_CASE_TEMPLATE("kernels: reductions of short rows, narrow columns and their ends agree with loops", T,
                   std::uint8_t, std::int8_t, std::int16_t, std::int32_t, i64, float, double) {
  std::vector<View> all = {{1, 700, 3},  {1, 70001, 5}, {3, 999, 33}, {2, 17, 2100}, {70, 530, 1},
                           {1000, 4, 3}, {300, 2, 70},  {67, 40, 7},  {5, 20000, 1}, {2, 1003, 1111}};
  for (i64 n : {1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 64, 65, 100, 129, 256, 257})
    for (i64 rows : {65, 331}) all.push_back({rows, n, 1});
  for (const View& v : all) {
    const Array<T> x = numbers<T>(v.size());
    check_sums(v, x);
    check_logic(v, x);
    check_extremes(v, x);
    check_means(v, x);
  }
}

TEST_CASE("kernels: long sums are exact, and equal on any number of threads") {
  const i64 n = 2000000;
  Array<float> x(n);
  double exact = 0;
  for (i64 i = 0; i < n; ++i) x[i] = 0.1f + 1e-7f * static_cast<float>(i % 1000), exact += x[i];
  float one = 0, two[2], alone[3];
  k::reduce_sum(x.data(), &one, {1, n, 1});
  k::reduce_sum(x.data(), two, {1, n / 2, 2});
  CHECK(close(one, exact, {.rtol = 1e-6}));
  CHECK(close(two[0] + two[1], exact, {.rtol = 1e-6}));
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    k::reduce_sum(x.data(), alone, {1, n, 1});
    k::reduce_sum(x.data(), alone + 1, {1, n / 2, 2});
  }
  CHECK(one == alone[0]);
  CHECK(two[0] == alone[1]);
  CHECK(two[1] == alone[2]);
}
