#include <limits>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

#include "reference.hpp"

namespace reference {

Array matmul(const Array& a, const Array& b) {
  const Array columns = xt::expand_dims(a, a.dimension()),  // (..., m, k, 1)
      rows = xt::expand_dims(b, b.dimension() - 2);         // (..., 1, k, n)
  const Array products = columns * rows;
  return xt::sum(products, {products.dimension() - 2});
}

Array attention(const Array& query, const Array& key, const Array& value, double scale, bool causal) {
  Array scores = matmul(query, Array(xt::transpose(key, {0, 1, 3, 2}))) * scale;
  const double hidden = -std::numeric_limits<double>::infinity();
  for (std::size_t q = 0; causal && q < scores.shape(2); ++q)
    if (q + 1 < scores.shape(3))
      xt::view(scores, xt::all(), xt::all(), q, xt::range(q + 1, scores.shape(3))) = hidden;
  return matmul(softmax(scores, 3), value);
}

Array linear_recurrence(const Array& a, const Array& b, bool backwards) {
  Array out = b;
  const auto at = [](auto& x, std::size_t k) { return xt::view(x, xt::all(), k); };
  for (std::size_t i = 1; i < b.shape(1); ++i) {
    const std::size_t k = backwards ? b.shape(1) - 1 - i : i, before = backwards ? k + 1 : k - 1;
    at(out, k) = at(b, k) + at(a, k) * at(out, before);
  }
  return out;
}

Array resize_weights(std::size_t n, std::size_t factor) {
  const double last = static_cast<double>(n) - 1, scale = static_cast<double>(factor);
  const Array places = (xt::arange<double>(static_cast<double>(n * factor)) + 0.5) / scale - 0.5;
  const Array inside = xt::clip(places, 0., std::max(last, 0.));
  const Array distances = xt::abs(xt::expand_dims(inside, 1) - xt::arange<double>(static_cast<double>(n)));
  return xt::maximum(1. - distances, 0.);
}

}  // namespace reference
