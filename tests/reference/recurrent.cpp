#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

#include "reference.hpp"

namespace reference {
namespace {

using Arrays = std::vector<Array>;

Array sigmoid(const Array& x) { return 1. / (1. + xt::exp(-x)); }

/// Returns gate g of several gates side by side in the last axis.
Array gate(const Array& x, std::size_t g, std::size_t units) {
  return xt::strided_view(x, {xt::ellipsis(), xt::range(g * units, (g + 1) * units)});
}

/// Returns the outputs of a cell that starts with zeros; no step is masked.
Array outputs(const Array& x, std::size_t units, std::size_t states, const RecurrentCell& cell) {
  const Array start = xt::zeros<double>({x.shape(0), units}),
              mask = xt::ones<double>({x.shape(0), x.shape(1)});
  return recurrence(x, Arrays(states, start), mask, false, cell).outputs;
}

}  // namespace

Recurrence recurrence(const Array& x, const Arrays& states, const Array& mask, bool zero_masked,
                      const RecurrentCell& cell) {
  Array y = xt::zeros_like(states[0]);
  Recurrence out{xt::zeros<double>({x.shape(0), x.shape(1), y.shape(1)}), states};
  for (std::size_t t = 0; t < x.shape(1); ++t) {
    const Arrays next = cell(xt::view(x, xt::all(), t), out.states);
    const Array counts = xt::view(mask, xt::all(), t, xt::newaxis());
    y = where(counts, next[0], zero_masked ? xt::zeros_like(y) : y);
    for (std::size_t k = 0; k < states.size(); ++k) out.states[k] = where(counts, next[k], out.states[k]);
    xt::view(out.outputs, xt::all(), t) = y;
  }
  return out;
}

Array simple_rnn(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias) {
  return outputs(x, recurrent_kernel.shape(0), 1, [&](const Array& now, const Arrays& s) {
    return Arrays{xt::tanh(matmul(now, kernel) + matmul(s[0], recurrent_kernel) + bias)};
  });
}

Array lstm(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias) {
  const std::size_t units = recurrent_kernel.shape(0);
  return outputs(x, units, 2, [&](const Array& now, const Arrays& s) {
    const Array all = matmul(now, kernel) + matmul(s[0], recurrent_kernel) + bias;
    const Array i = sigmoid(gate(all, 0, units)), f = sigmoid(gate(all, 1, units)),
                o = sigmoid(gate(all, 3, units));
    const Array c = f * s[1] + i * xt::tanh(gate(all, 2, units));
    return Arrays{o * xt::tanh(c), c};
  });
}

Array gru(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias) {
  const std::size_t units = recurrent_kernel.shape(0);
  const Array from_input = xt::view(bias, 0), from_state = xt::view(bias, 1);
  return outputs(x, units, 1, [&](const Array& now, const Arrays& s) {
    const Array a = matmul(now, kernel) + from_input, h = matmul(s[0], recurrent_kernel) + from_state;
    const Array z = sigmoid(gate(a, 0, units) + gate(h, 0, units)),
                r = sigmoid(gate(a, 1, units) + gate(h, 1, units));
    const Array n = xt::tanh(gate(a, 2, units) + r * gate(h, 2, units));
    return Arrays{z * s[0] + (1. - z) * n};
  });
}

}  // namespace reference
