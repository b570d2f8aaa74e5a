#include <doctest/doctest.h>
#include <ktape/ops/kernels/sequence/linear_recurrence.hpp>

#include "../../../close.hpp"
#include "../../../reference/reference.hpp"
#include "../arrays.hpp"

TEST_CASE_TEMPLATE("kernels: linear recurrences agree with their steps", T, std::int32_t, i64, float,
                   double) {
  for (const View& v : views) {
    if (v.axis == 0 || v.axis > 400) continue;
    const std::size_t outer = static_cast<std::size_t>(v.outer), axis = static_cast<std::size_t>(v.axis),
                      inner = static_cast<std::size_t>(v.inner);
    ::Array<T> a(v.size()), b = numbers<T>(v.size()), out(v.size());
    for (i64 i = 0; i < v.size(); ++i) a[i] = T(i % 3 - 1);  // sums stay small
    reference::Array as(reference::Extents{outer, axis, inner}), bs(as.shape());
    std::copy_n(a.data(), v.size(), as.begin()), std::copy_n(b.data(), v.size(), bs.begin());
    for (const bool backwards : {false, true}) {
      CAPTURE(v.outer);
      CAPTURE(v.axis);
      CAPTURE(v.inner);
      CAPTURE(backwards);
      k::linear_recurrence(a.data(), b.data(), out.data(), v, backwards);
      const std::vector<T> got(out.data(), out.data() + out.size());
      CHECK(close(got, reference::linear_recurrence(as, bs, backwards), {.atol = 1e-4}));
    }
  }
}
