#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>

/// Reductions of segments, and frames of signals, of keras.ops.
///
///     Tensor sums = ops::segment_sum(messages, receivers, nodes);
///     ops::segment_prod(messages, receivers), ops::segment_max(messages, receivers), ops::extract_sequences(x, 4, 2);
///     ops::segment_min(messages, receivers, nodes);
namespace ktape::ops {

/// Reduces the slices of `data`, (n, ...), whose segment_ids, (n,), are equal: (num_segments, ...). Negative ids, and ids from
/// num_segments on, are ignored; num_segments is by default the largest id plus 1, which graphs do not know. An empty segment
/// gives 0, 1, -inf and inf (integers: the lowest and the largest number). Equal extremes: the first one has the gradient.
/// `sorted` promises that the ids ascend, and is not needed. Differentiable to any order with respect to the data. Throws
/// ValueError for other shapes, TypeError for ids that are not integers.
///
///     Tensor x = K::constant({1., 2., 3., 4.}),
///            ids = K::constant({0, 0, 1, 1}, {.dtype = "int32"});
///     std::cout << ops::segment_sum(x, ids) << " " << ops::segment_prod(x, ids) << "\n";
///     std::cout << ops::segment_max(x, ids) << " " << ops::segment_min(x, ids);
Tensor segment_sum(const Tensor& data, const Tensor& segment_ids,
                   std::optional<std::int64_t> num_segments = {}, bool sorted = false);
Tensor segment_prod(const Tensor& data, const Tensor& segment_ids,
                    std::optional<std::int64_t> num_segments = {}, bool sorted = false);
Tensor segment_max(const Tensor& data, const Tensor& segment_ids,
                   std::optional<std::int64_t> num_segments = {}, bool sorted = false);
Tensor segment_min(const Tensor& data, const Tensor& segment_ids,
                   std::optional<std::int64_t> num_segments = {}, bool sorted = false);

/// Returns windows of the last axis, `sequence_length` long and `sequence_stride` apart, as a new axis before the last:
/// (..., frames, sequence_length). Throws ValueError for lengths below 1 and for a signal that is shorter than a window.
/// Differentiable to any order.
///
///     std::cout << ops::extract_sequences(K::constant({1., 2., 3., 4., 5.}), 3, 1);
Tensor extract_sequences(const Tensor& x, std::int64_t sequence_length, std::int64_t sequence_stride);

}  // namespace ktape::ops
