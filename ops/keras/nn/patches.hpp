#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Windows of images as columns, and the inverse.
namespace ktape::ops {

/// Options of `unfold` and `fold`.
///
///     std::cout << ops::unfold(ops::ones({1, 1, 6, 6}), 2, {.stride = 2}).shape();
struct UnfoldOptions {
  backend::PerAxis<std::int64_t> dilation = 1, padding = 0, stride = 1;
};

/// Returns the windows of images (batch, channels, height, width) as columns: (batch, channels * kernel, windows), where rows are
/// (channel, kernel row, kernel column). Differentiable to any order.
///
///     ops::fold(ops::unfold(x, 2), {4, 5}, 2);
///
/// For example:
///
///     Tensor x = ops::ones({1, 1, 4, 5}), windows = ops::unfold(x, 2);
///     std::cout << windows.shape() << " " << ops::fold(windows, {4, 5}, 2).shape();
Tensor unfold(const Tensor& x, const backend::PerAxis<std::int64_t>& kernel_size,
              const UnfoldOptions& options = {});
/// Returns images of the output size to whose windows the columns are added.
Tensor fold(const Tensor& x, const backend::PerAxis<std::int64_t>& output_size,
            const backend::PerAxis<std::int64_t>& kernel_size, const UnfoldOptions& options = {});

}  // namespace ktape::ops
