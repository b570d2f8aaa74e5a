#include <ktape/autograd/node.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/hiding.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/nn/internal/convolution_op.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace ktape::op_helpers {
namespace {

/// The tensors of a convolution. The sum of y * convolve(x, kernel) is linear in each of the three tensors:
/// the derivative with respect to a tensor is a convolution, a transposed convolution or a kernel gradient,
/// and so are higher derivatives.
enum Role { Input, Filters, Output };
using Operands = std::array<Tensor, 3>;
/// Which of the tensors are gradients, whose zeros hide what is beside them.
using Hides = std::array<bool, 3>;

/// Calls f(part) for parts of the batch, in parallel. The parts do not depend on the number of threads.
template <class F>
void for_image_blocks(const ktape_convolution& call, std::size_t elem_size, const F& f) {
  const std::int64_t block = (call.batch + 15) / 16;
  const auto image = [&](const std::int64_t(&extents)[3], std::int64_t channels) {
    return extents[0] * extents[1] * extents[2] * channels * static_cast<std::int64_t>(elem_size);
  };
  const std::int64_t x_bytes = image(call.input, call.input_channels),
                     y_bytes = image(call.output, call.output_channels);
  kernels::parallel_rows(
      (call.batch + block - 1) / block, block * (x_bytes + y_bytes), [&](auto begin, auto end) {
        for (std::int64_t first = begin * block; first < std::min(call.batch, end * block); first += block) {
          ktape_convolution part = call;
          part.batch = std::min(block, call.batch - first);
          part.x = static_cast<char*>(call.x) + first * x_bytes;
          part.y = static_cast<char*>(call.y) + first * y_bytes;
          f(part);
        }
      });
}

/// Computes a tensor from the other two. Returns false if the engine leaves bfloat16 to float32.
bool compute(Role result, const Operands& tensors, const Convolution& c) {
  ktape_convolution call{};
  call.dtype = kernels::engine_dtype(tensors[Input].dtype());
  call.batch = tensors[Input].shape()[0], call.groups = c.groups;
  call.input_channels = tensors[Input].shape().back(), call.output_channels = tensors[Output].shape().back();
  const auto copy = [](auto& to, const auto& from) { std::copy(from.begin(), from.end(), to); };
  copy(call.input, c.input), copy(call.window, c.window), copy(call.output, c.output);
  copy(call.strides, c.strides), copy(call.dilation, c.dilation), copy(call.padding, c.padding);
  call.x = tensors[Input].raw(), call.kernel = tensors[Filters].raw(), call.y = tensors[Output].raw();
  if (result != Filters && !recording() && backend::is_variable(tensors[Filters])) {
    Storage::Memo& memo = tensors[Filters].get()->storage->memo();
    call.memo = &memo.data, call.destroy_memo = &memo.destroy;
  }
  constexpr kernels::Kernel passes[] = {kernels::Kernel::ConvolutionBackwardData,
                                        kernels::Kernel::ConvolutionBackwardKernel,
                                        kernels::Kernel::Convolution};
  if (!backend::deterministic() || result == Filters)
    return engine().run(passes[result], &call, threads_for_sums());
  std::atomic<bool> all{true};
  for_image_blocks(call, tensors[Input].dtype().size(), [&](const ktape_convolution& part) {
    if (!engine().run(passes[result], &part, kernels::Threads::One)) all = false;
  });
  return all;
}

/// Returns the result in the dtype of the operands. float16, and bfloat16 where the processor cannot multiply
/// it, are computed in float32.
Tensor computed(Role role, Operands tensors, const Shape& shape, const Convolution& c) {
  const int first = role == Input ? Filters : Input, second = role == Output ? Filters : Output;
  const DType dtype = tensors[first].dtype();
  tensors[role] = Tensor::empty(shape, dtype, c.op);
  if (std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.size() == 0; })) {
    std::memset(tensors[role].raw(), 0, tensors[role].size() * dtype.size());
    return tensors[role];
  }
  if (dtype != DType::Float16 && compute(role, tensors, c)) return tensors[role];
  for (const int i : {first, second}) tensors[i] = widened(tensors[i]);
  tensors[role] = Tensor::empty(shape, DType::Float32, c.op);
  compute(role, tensors, c);
  return narrowed(tensors[role], dtype);
}

/// Returns whether infinity or NaN beside a hiding tensor may have reached the result. Numbers of the kernel are part of
/// each image, and numbers of images part of the kernel's gradient for each channel of the gradient beside them.
bool may_spread(Role role, const Tensor& out, const Operands& tensors, const Hides& hides,
                const Convolution& c) {
  if (out.size() == 0 || !(hides[Input] || hides[Filters] || hides[Output])) return false;
  if (role != Filters && !hides[Filters]) {
    const Tensor& kernel = tensors[Filters];
    const std::int64_t image = out.shape().count(1);
    return kernel.size() < image ? !all_finite(kernel, kernel.size()) : !all_finite(out, image);
  }
  if (role != Filters || hides[Input] == hides[Output]) return !all_finite(out, out.size());
  const std::int64_t columns = out.shape().back(), rows = out.size() / columns;
  return dispatch_floating(out.dtype(), [&]<class T>() {
    const T* const p = out.pointer<T>();
    bool finite = true;
    if (hides[Output]) {
      const std::int64_t step = columns / c.groups;
      for (std::int64_t group = 0; group < columns; group += step)
        finite &= all_finite(p + group, rows, columns);
    } else {
      for (std::int64_t row = 0; row < rows; row += out.shape()[-2])
        finite &= all_finite(p + row * columns, columns);
    }
    return !finite;
  });
}

Tensor derivative(Role with_respect_to, Operands tensors, const Shape& shape, const Convolution& c,
                  const Hides& hides) {
  const Role role = with_respect_to;
  const int first = role == Input ? Filters : Input, second = role == Output ? Filters : Output;
  Tensor out = computed(role, tensors, shape, c);
  if (may_spread(role, out, tensors, hides, c)) {
    const auto multiply = [&](const Tensor& x, const Tensor& y) {
      Operands others;
      others[first] = x, others[second] = y;
      return computed(role, others, shape, c);
    };
    out = without_hidden(out, tensors[first], tensors[second], {hides[first], hides[second]}, multiply);
  }
  if (recording(tensors[first], tensors[second])) {
    tensors[role] = Tensor();
    record(c.op, out, {tensors[first], tensors[second]}, [=](const Tensor& g, Grads& grads) {
      Operands others = tensors;
      others[role] = g;
      const auto gradient = [&](int i) {
        Hides known = hides;
        known[role] = true, known[i] = false;
        return derivative(static_cast<Role>(i), others, tensors[i].shape(), c, known);
      };
      grads.to(0, [&] { return gradient(first); });
      grads.to(1, [&] { return gradient(second); });
    });
  }
  return out;
}

}  // namespace

Tensor convolve(const Tensor& x, const Tensor& kernel, const Convolution& c, const Shape& shape) {
  return derivative(Output, {x, kernel, Tensor()}, shape, c, {});
}

Tensor convolve_transposed(const Tensor& y, const Tensor& kernel, const Convolution& c, const Shape& shape) {
  return derivative(Input, {Tensor(), kernel, y}, shape, c, {});
}

}  // namespace ktape::op_helpers
