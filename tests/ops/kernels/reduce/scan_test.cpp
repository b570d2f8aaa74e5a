#include <doctest/doctest.h>
#include <ktape/ops/kernels/reduce/scan.hpp>

#include <span>

#include "../../../close.hpp"
#include "../arrays.hpp"

namespace {

template <class T>
void check_scan(const View& v, k::ScanOptions options, bool product) {
  Array<T> x = numbers<T>(v.size());
  if (product && !std::is_integral_v<T>)
    for (i64 i = 0; i < v.size(); ++i) x[i] = T(1 + static_cast<float>(x[i]) / 512);
  const Array<T> y(v.size());
  (product ? k::cumprod<T> : k::cumsum<T>)(x.data(), y.data(), v, options);
  Closeness found;
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j) {
      Wide<T> total = product;
      double scale = 1;
      for (i64 step = 0; step < v.axis; ++step) {
        const i64 i = v.at(o, options.reverse ? v.axis - 1 - step : step, j);
        const Wide<T> before = total, value = Wide<T>(x[i]);
        total = product ? total * value : total + value;
        scale += std::abs(double(total)) + std::abs(double(value)) / 8;
        expect(found, product ? "cumprod" : "cumsum", i, y[i], options.exclusive ? before : total, scale);
      }
    }
  INFO(v.outer, ", ", v.axis, ", ", v.inner);
  CHECK(found);
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: running sums and products agree with loops", T, bool, std::uint8_t, std::int8_t,
                   std::int16_t, std::int32_t, i64, float, double) {
  for (const View& v : views)
    for (int mode = 0; mode < 4; ++mode) {
      if (v.axis > 1000) continue;
      check_scan<T>(v, {.reverse = mode % 2 == 1, .exclusive = mode / 2 == 1}, false);
      check_scan<T>(v, {.reverse = mode % 2 == 1, .exclusive = mode / 2 == 1}, true);
    }
  check_scan<T>({2100, 1030, 1}, {.reverse = true}, false);
}

TEST_CASE_TEMPLATE("kernels: running products with a factor 0 hold no NaN", T, float, double) {
  for (const View& v : views)
    for (int mode = 0; mode < 4; ++mode)
      for (const i64 zero : {i64{0}, v.axis / 2, v.axis - 1}) {
        if (v.axis == 0 || v.size() > 200000) continue;
        const k::ScanOptions options{.reverse = mode % 2 == 1, .exclusive = mode / 2 == 1};
        Array<T> x(v.size()), y(v.size());
        for (i64 i = 0; i < v.size(); ++i)
          x[i] = i / v.inner % v.axis == zero ? 0 : T(std::is_same_v<T, float> ? 1e30 : 1e300);
        k::cumprod(x.data(), y.data(), v, options);
        bool right = true;
        for (i64 i = 0; i < v.size(); ++i) {
          const i64 at = i / v.inner % v.axis, passed = options.reverse ? zero - at : at - zero;
          right &= passed >= options.exclusive ? y[i] == 0 : y[i] >= 1;
        }
        INFO(v.outer, ", ", v.axis, ", ", v.inner, " mode ", mode, " zero ", zero);
        CHECK(right);
      }
}

TEST_CASE_TEMPLATE("kernels: running sums of a few elements, or of a few columns", T, std::uint8_t,
                   std::int16_t, std::int32_t, i64, float, double) {
  for (const bool reverse : {false, true}) {
    for (const i64 n : {2, 3, 4, 10, 31, 64, 65})
      check_scan<T>({67, n, 1}, {.reverse = reverse, .exclusive = n == 4}, false);
    for (const i64 inner : {2, 3, 5, 7, 8, 15, 31, 63})
      for (const i64 axis : {2, 33, 100})
        check_scan<T>({3, axis, inner}, {.reverse = reverse, .exclusive = inner == 5}, axis == 33);
    if constexpr (std::is_integral_v<T>) check_scan<T>({1, 1500000, 3}, {.reverse = reverse}, false);
  }
}

TEST_CASE_TEMPLATE("kernels: long running sums of a few columns", T, float, double) {
  for (const bool reverse : {false, true}) {
    const i64 rows = 1200007;
    Array<T> x(3 * rows), y(x.size());
    for (i64 i = 0; i < x.size(); ++i) x[i] = i % 7 == 3 ? T(2) : i % 7 == 5 ? T(-2) : T(0);
    k::cumsum(x.data(), y.data(), {1, rows, 3}, {.reverse = reverse});
    double total[3] = {};
    std::vector<double> wanted(x.size());
    for (i64 k = 0; k < rows; ++k)
      for (int j = 0; j < 3; ++j) {
        const i64 i = (reverse ? rows - 1 - k : k) * 3 + j;
        wanted[i] = total[j] += x[i];
      }
    CHECK(close(std::span(y.data(), wanted.size()), wanted, exactly));
  }
}

TEST_CASE("kernels: long running sums keep their digits, however many columns there are") {
  const i64 rows = 1000000;
  for (i64 inner = 1; inner <= 17; ++inner)
    for (const i64 axis : {rows / inner, i64{20000 / inner}})
      for (const bool reverse : {false, true}) {
        Array<float> x(axis * inner), y(x.size());
        for (i64 i = 0; i < x.size(); ++i) x[i] = 0.1f;
        k::cumsum(x.data(), y.data(), {1, axis, inner}, {.reverse = reverse});
        double worst = 0;
        for (i64 i = 0; i < x.size(); ++i) {
          const i64 count = reverse ? axis - i / inner : i / inner + 1;
          worst = std::max(worst, std::abs(y[i] / (double(count) * double(0.1f)) - 1));
        }
        CHECK_MESSAGE(worst < 1e-6, inner, " columns, ", axis, " rows: ", worst);
      }
}
