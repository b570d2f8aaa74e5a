#pragma once
/// Results of the ops, written with xtensor in float64: serial, a few lines each, for any shape. The fast
/// kernels are tested against them. Axes must be sorted and not negative, and arguments must fit: nothing is
/// checked here.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>
#include <xtensor/xarray.hpp>

namespace reference {

using Array = xt::xarray<double>;
using Axes = std::vector<std::size_t>;
using Extents = std::vector<std::size_t>;

// Apply a function element by element; the arguments of binary functions broadcast.
Array map(const std::function<double(double)>& f, const Array& x);
Array map(const std::function<double(double, double)>& f, const Array& x, const Array& y);
Array where(const Array& condition, const Array& x, const Array& y);
Array broadcast_to(const Array& x, const Extents& shape);

// Reduce over axes, which stay with extent 1 if `keepdims`.
Array sum(const Array& x, const Axes& axes, bool keepdims);
Array prod(const Array& x, const Axes& axes, bool keepdims);
Array max(const Array& x, const Axes& axes, bool keepdims);
Array min(const Array& x, const Axes& axes, bool keepdims);
Array mean(const Array& x, const Axes& axes, bool keepdims);
Array var(const Array& x, const Axes& axes, bool keepdims);
Array logsumexp(const Array& x, const Axes& axes, bool keepdims);
Array argmax(const Array& x, std::size_t axis);
Array argmin(const Array& x, std::size_t axis);
Array cumsum(const Array& x, std::size_t axis);
Array cumprod(const Array& x, std::size_t axis);
Array softmax(const Array& x, std::size_t axis);
Array log_softmax(const Array& x, std::size_t axis);
/// Return -sum(target * log_softmax(x)) of rows, and the gradient with respect to x of its sum weighted by g.
Array crossentropy(const Array& x, const Array& target);
Array crossentropy_gradient(const Array& x, const Array& target, const Array& g);
/// Returns g, shared evenly by the elements of x along the axis that equal the element of y, and 0 elsewhere.
/// y and g have extent 1 along the axis.
Array share_by_ties(const Array& x, const Array& y, const Array& g, std::size_t axis);
Array layer_normalization(const Array& x, const Array& gamma, const Array& beta, double epsilon);

// Move elements.
Array permute(const Array& x, const Axes& pattern);
Array reverse(const Array& x, const Axes& axes);
Array concatenate(const std::vector<Array>& parts, std::size_t axis);
Array slice(const Array& x, const Extents& start, const Extents& size);
Array tile(const Array& x, const Extents& n);
Array pad(const Array& x, const std::vector<std::pair<std::size_t, std::size_t>>& paddings, double value);
Array gather(const Array& x, const Array& indices);
Array one_hot(const Array& indices, std::size_t classes);

// Returns products of matrices over the last two axes; the axes before them broadcast.
Array matmul(const Array& a, const Array& b);
/// Returns softmax(scale * dot(query, transpose(key))) dotted with value, for (batch, heads, steps, dim).
Array attention(const Array& query, const Array& key, const Array& value, double scale, bool causal);

/// Returns the weights (n * factor, n) of a linear interpolation of n elements to `factor` times as many.
Array resize_weights(std::size_t n, std::size_t factor);

/// out[k] = b[k] + a[k] * out[k - 1] along the middle one of three axes, from 0.
Array linear_recurrence(const Array& a, const Array& b, bool backwards);

/// A recurrence over x (samples, time, ...). The cell computes the new states, (samples, units) each, from
/// the inputs of a step and the previous states; the first state is the output. Where the mask (samples,
/// time) is 0, a sample keeps its states and repeats its previous output (at first 0), or gives 0 if
/// `zero_masked`.
struct Recurrence {
  Array outputs;
  std::vector<Array> states;
};
using RecurrentCell = std::function<std::vector<Array>(const Array& now, const std::vector<Array>& states)>;
Recurrence recurrence(const Array& x, const std::vector<Array>& states, const Array& mask, bool zero_masked,
                      const RecurrentCell& cell);

// Return the outputs of all steps of recurrences of x (samples, time, features), without initial states.
Array simple_rnn(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias);
Array lstm(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias);
Array gru(const Array& x, const Array& kernel, const Array& recurrent_kernel, const Array& bias);

/// Returns -log of the probability that y (steps, classes) + epsilon, normalized at each step, spells the
/// labels, and the derivative with respect to y. The last class is the blank.
struct CtcCost {
  double cost;
  Array gradient;
};
CtcCost ctc(const Array& y, const std::vector<std::size_t>& labels, double epsilon);

/// Computes Philox4x32-10 of Salmon, Moraes, Dror and Shaw: "Parallel random numbers: as easy as 1, 2, 3",
/// 2011.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

}  // namespace reference
