#include <doctest/doctest.h>
#include <ktape/ktape.hpp>
#include <ktape/ops/images/resampling.hpp>

#include "../kernels/references.hpp"

namespace K = ktape::backend;
using ktape::Shape, ktape::Tensor, ktape::Variable;

TEST_CASE("bilinear enlargement is a product with its weights, and its gradient with their transpose") {
  for (const i64 outer : {1, 3})
    for (const i64 n : {1, 2, 3, 17})
      for (const i64 inner : {1, 5, 64})
        for (const i64 factor : {1, 2, 3, 6}) {
          INFO(outer, ", ", n, ", ", inner, " times ", factor);
          const auto weights =
              reference::resize_weights(static_cast<std::size_t>(n), static_cast<std::size_t>(factor));
          const Variable x(K::random_normal({outer, n, inner}, {.dtype = "float64"}));
          const Tensor y = ktape::op_helpers::resampled(x, 1, n * factor, "bilinear", false);
          const Tensor g = K::random_normal(y.shape(), {.dtype = "float64"});
          const Tensor dx = K::gradients(K::sum(y * g), {x})[0];
          const auto as_array = [](const Tensor& t) {
            reference::Array out(reference::Extents(t.shape().begin(), t.shape().end()));
            std::copy_n(t.data<double>(), t.size(), out.begin());
            return out;
          };
          const auto as_list = [](const Tensor& t) {
            return std::vector<double>(t.data<double>(), t.data<double>() + t.size());
          };
          CHECK(close(as_list(y), reference::matmul(weights, as_array(x)), rounding<double>(4)));
          CHECK(close(as_list(dx), reference::matmul(xt::transpose(weights), as_array(g)),
                      rounding<double>(16)));
        }
}
