#include <doctest/doctest.h>
#include <ktape/ops/kernels/convolution/linear_resize.hpp>

#include <xtensor/xmanipulation.hpp>

#include "../references.hpp"

TEST_CASE_TEMPLATE(
    "kernels: linear interpolation is a product with its weights, and its gradient with their transpose", T,
    float16, float, double) {
  for (const i64 outer : {1, 3})
    for (const i64 n : {1, 2, 3, 17})
      for (const i64 inner : {1, 5, 64})
        for (const i64 factor : {1, 2, 3, 6}) {
          INFO(outer, ", ", n, ", ", inner, " times ", factor);
          const i64 longer = n * factor;
          const auto weights =
              reference::resize_weights(static_cast<std::size_t>(n), static_cast<std::size_t>(factor));
          const Array<T> x = numbers<T>(outer * n * inner), y(outer * longer * inner),
                         g = numbers<T>(y.size()), dx(x.size());
          k::resize_linear(y.data(), x.data(), outer, n, inner, factor);
          k::resize_linear_gradient(dx.data(), g.data(), outer, n, inner, factor);
          CHECK(close(as_list(y), reference::matmul(weights, as_reference(x, {outer, n, inner})),
                      rounding<T>(4)));
          CHECK(close(as_list(dx),
                      reference::matmul(xt::transpose(weights), as_reference(g, {outer, longer, inner})),
                      rounding<T>(16)));
        }
}
