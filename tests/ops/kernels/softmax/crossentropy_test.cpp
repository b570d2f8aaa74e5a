#include <doctest/doctest.h>
#include <ktape/ops/kernels/softmax/crossentropy.hpp>

#include "../references.hpp"

TEST_CASE_TEMPLATE("kernels: crossentropies of rows and their gradients agree with their formulas", T, float,
                   double) {
  using A = k::compute_type<T>;
  for (const i64 rows : {1, 3, 16, 65})
    for (const i64 n : {1, 2, 5, 16, 33, 64, 100, 301}) {
      INFO(rows, " rows of ", n);
      // Kernels may read whole vectors, so arrays have memory after their last element.
      const auto roomy = [](i64 size) { return numbers<T>(size + 64); };
      const auto seen = [](const Array<T>& x, const std::vector<i64>& shape) {
        Array<T> part(std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies<>()));
        std::copy_n(x.data(), part.size(), part.data());
        return as_reference(part, shape);
      };
      const auto list = [](const Array<T>& x, i64 size) {
        return std::vector<double>(x.data(), x.data() + size);
      };
      const Array<T> x = roomy(rows * n), target(rows * n + 64), g = roomy(rows), loss(rows + 64),
                     dx(rows * n + 64), one_hot(rows * n + 64);
      const Array<k::RowSum<A>> sums(rows + 64);
      const Array<i64> classes(rows);
      for (i64 i = 0; i < rows * n; ++i) target[i] = T(static_cast<float>(i % 5) / 8);
      for (i64 r = 0; r < rows; ++r) classes[r] = r * r % n, one_hot[r * n + classes[r]] = T(1);
      const auto logits = seen(x, {rows, n}), gs = seen(g, {rows});
      const Tolerance allowed = rounding<T>(static_cast<double>(n));

      k::crossentropy(x.data(), target.data(), loss.data(), sums.data(), rows, n);
      k::crossentropy_backward(x.data(), target.data(), g.data(), sums.data(), dx.data(), rows, n);
      const auto targets = seen(target, {rows, n}), ones = seen(one_hot, {rows, n});
      CHECK(close(list(loss, rows), reference::crossentropy(logits, targets), allowed));
      CHECK(close(list(dx, rows * n), reference::crossentropy_gradient(logits, targets, gs), allowed));

      k::sparse_crossentropy(x.data(), classes.data(), loss.data(), sums.data(), rows, n);
      k::sparse_crossentropy_backward(x.data(), classes.data(), g.data(), sums.data(), dx.data(), rows, n);
      CHECK(close(list(loss, rows), reference::crossentropy(logits, ones), allowed));
      CHECK(close(list(dx, rows * n), reference::crossentropy_gradient(logits, ones, gs), allowed));
    }
}
