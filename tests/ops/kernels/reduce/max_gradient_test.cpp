#include <doctest/doctest.h>
#include <ktape/ops/kernels/reduce/max_gradient.hpp>

#include "../references.hpp"

TEST_CASE_TEMPLATE("kernels: elements that tie for a maximum share its gradient", T, float, double) {
  for (const View& v : views) {
    if (v.axis > 400 || v.axis == 0) continue;
    const Array<T> x(v.size()), g = numbers<T>(v.results()), y(v.results()), dx(v.size());
    std::mt19937 random(4);
    for (i64 i = 0; i < x.size(); ++i) x[i] = T(static_cast<float>(random() % 4));  // many ties
    const reference::Array whole = as_reference(x, {v.outer, v.axis, v.inner});
    reference::Array largest = reference::max(whole, {1}, true);
    if (largest.size() > 2) largest.flat(1) = 17;  // equals none, as where the maximum is NaN
    for (i64 i = 0; i < y.size(); ++i)
      y[i] = T(static_cast<float>(largest.flat(static_cast<std::size_t>(i))));
    k::share_by_ties(x.data(), y.data(), g.data(), dx.data(), v);
    Tolerance allowed = rounding<T>();
    allowed.equal_nan = true;
    INFO(v.outer, ", ", v.axis, ", ", v.inner);
    CHECK(close(as_list(dx),
                reference::share_by_ties(whole, largest, as_reference(g, {v.outer, 1, v.inner}), 1),
                allowed));
  }
}
