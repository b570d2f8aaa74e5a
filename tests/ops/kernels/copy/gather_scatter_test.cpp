#include <doctest/doctest.h>
#include <ktape/ops/kernels/copy/gather_scatter.hpp>

#include "../arrays.hpp"

namespace {

template <class T, class Index>
void check_gather(i64 outer, i64 axis, i64 count, i64 width) {
  const Array<T> in = numbers<T>(outer * axis * width), out(outer * count * width);
  const Array<T> taken(out.size()), sums(in.size()), wanted(in.size());
  const Array<Index> indices(count);
  for (i64 i = 0; i < count; ++i) indices[i] = static_cast<Index>(i * i % axis);
  k::gather_rows(out.data(), in.data(), indices.data(), outer, axis, count, width * sizeof(T));
  k::scatter_add_rows(sums.data(), indices.data(), out.data(), outer, axis, count, width);
  for_each_index({outer, count, width}, [&](const auto& at) {
    const i64 to = (at[0] * count + at[1]) * width + at[2];
    const i64 source = (at[0] * axis + indices[at[1]]) * width + at[2];
    const T value = taken[to] = in[source];
    T& sum = wanted[source];
    if constexpr (std::is_integral_v<T>) sum = static_cast<T>(Wide<T>(sum) + Wide<T>(value));
    else sum = T(sum + value);
  });
  INFO(outer, ", ", axis, ", ", count, ", ", width);
  CHECK(each_is(out, taken));
  CHECK(each_is(sums, wanted));
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: gather and scatter-add agree with loops", T, std::uint8_t, std::int8_t,
                   std::int16_t, std::int32_t, i64, float, double) {
  for (const i64 width : {0, 1, 3, 17, 64, 700}) {
    check_gather<T, std::int32_t>(1, 20, 100, width);
    check_gather<T, i64>(3, 7, 40, width);
    check_gather<T, i64>(1, 5, 0, width);
    check_gather<T, std::int32_t>(17, 1, 3, width);
  }
}
