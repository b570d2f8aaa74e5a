#include <doctest/doctest.h>
#include <ktape/ops/kernels/reduce/argsort.hpp>

#include "../../../reference/layers.hpp"
#include "../references.hpp"

namespace {

template <class T>
void check_argsort(const Array<T>& x, i64 rows, i64 n, i64 count, bool descending) {
  INFO(rows, " rows of ", n, ", the first ", count, descending ? ", descending" : "");
  const reference::Array wanted = reference::argsort(as_reference(x, {rows, n}), descending);
  const Array<i64> indices(rows * count);
  k::argsort_rows(indices.data(), x.data(), rows, n, count, descending);
  CHECK(each_is(indices.data(), indices.size(), [&](i64 k) {
    const i64 row = k / count, i = k % count;
    return row * n + static_cast<i64>(wanted.flat(static_cast<std::size_t>(row * n + i)));
  }));
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: sorting keeps the order of equal elements, and takes NaN for the largest", T,
                   bool, std::uint8_t, std::int16_t, std::int32_t, i64, float, double) {
  std::mt19937 random(2);
  for (const i64 rows : {0, 1, 3, 70})
    for (const i64 n : {1, 2, 7, 64, 300, 2500}) {
      const Array<T> x = numbers<T>(rows * n);
      if constexpr (std::is_floating_point_v<T>)
        for (i64 i = 0; i < x.size(); ++i) {
          if (random() % 8 == 0) x[i] = std::numeric_limits<T>::quiet_NaN();
          if (random() % 8 == 0) x[i] = std::numeric_limits<T>::infinity() * (random() % 2 ? 1 : -1);
          if (random() % 8 == 0) x[i] = random() % 2 ? T(-0.) : T(0.);
        }
      for (const bool descending : {false, true})
        for (const i64 count : {i64{1}, n / 200, n / 2, n}) check_argsort(x, rows, n, count, descending);
    }
}
