#include <limits>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

#include "reference.hpp"

namespace reference {
namespace {

Array sigmoid(const Array& x) { return 1. / (1. + xt::exp(-x)); }

/// Gate g of several side by side in the last axis.
Array gate(const Array& x, std::size_t g, std::size_t units) {
  return xt::strided_view(x, {xt::ellipsis(), xt::range(g * units, (g + 1) * units)});
}

/// Runs step(x at t, states), which returns the next states; the first is the output.
template <class Step>
Array outputs(const Array& x, std::size_t units, std::vector<Array> states, Step step) {
  Array out = xt::zeros<double>({x.shape(0), x.shape(1), units});
  for (std::size_t t = 0; t < x.shape(1); ++t) {
    states = step(xt::view(x, xt::all(), t), states);
    xt::view(out, xt::all(), t) = states[0];
  }
  return out;
}

Array zeros(std::size_t samples, std::size_t units) { return xt::zeros<double>({samples, units}); }

}  // namespace

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

Array simple_rnn(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias) {
  const std::size_t units = recurrent_kernel.shape(0);
  return outputs(x, units, {zeros(x.shape(0), units)}, [&](const Array& now, const std::vector<Array>& s) {
    return std::vector<Array>{xt::tanh(matmul(now, kernel) + matmul(s[0], recurrent_kernel) + bias)};
  });
}

Array lstm(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias) {
  const std::size_t units = recurrent_kernel.shape(0);
  const Array start = zeros(x.shape(0), units);
  return outputs(x, units, {start, start}, [&](const Array& now, const std::vector<Array>& s) {
    const Array all = matmul(now, kernel) + matmul(s[0], recurrent_kernel) + bias;
    const Array i = sigmoid(gate(all, 0, units)), f = sigmoid(gate(all, 1, units)),
                o = sigmoid(gate(all, 3, units));
    const Array c = f * s[1] + i * xt::tanh(gate(all, 2, units));
    return std::vector<Array>{o * xt::tanh(c), c};
  });
}

Array gru(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias) {
  const std::size_t units = recurrent_kernel.shape(0);
  const Array from_input = xt::view(bias, 0), from_state = xt::view(bias, 1);
  return outputs(x, units, {zeros(x.shape(0), units)}, [&](const Array& now, const std::vector<Array>& s) {
    const Array a = matmul(now, kernel) + from_input, h = matmul(s[0], recurrent_kernel) + from_state;
    const Array z = sigmoid(gate(a, 0, units) + gate(h, 0, units)),
                r = sigmoid(gate(a, 1, units) + gate(h, 1, units));
    const Array n = xt::tanh(gate(a, 2, units) + r * gate(h, 2, units));
    return std::vector<Array>{z * s[0] + (1. - z) * n};
  });
}

Array resize_weights(std::size_t n, std::size_t factor) {
  const double last = static_cast<double>(n) - 1, scale = static_cast<double>(factor);
  const Array places = (xt::arange<double>(static_cast<double>(n * factor)) + 0.5) / scale - 0.5;
  const Array inside = xt::clip(places, 0., std::max(last, 0.));
  const Array distances = xt::abs(xt::expand_dims(inside, 1) - xt::arange<double>(static_cast<double>(n)));
  return xt::maximum(1. - distances, 0.);
}

}  // namespace reference
