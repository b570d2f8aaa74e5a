#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/kernels/copy/strided_copy.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::backend {

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  expect_defined("broadcast_to", "x", x);
  check_extents("broadcast_to", shape, x.dtype().size());
  if (x.shape() == shape) return identity(x);
  if (!broadcasts_to(x.shape(), shape))
    fail("[broadcast_to] x must broadcast to the shape ", shape, ": received x=", x.shape());
  if (is_symbolic(x)) return defer_described("broadcast_to", {shape, x.dtype()}, broadcast_to, x, shape);
  Tensor out = Tensor::empty(shape, x.dtype(), "broadcast_to");
  const auto from = kernels::broadcast_steps(x.shape(), shape), to = kernels::broadcast_steps(shape, shape);
  kernels::copy_strided(out.raw(), to.data(), x.raw(), from.data(), shape.begin(), shape.rank(),
                        static_cast<int>(x.dtype().size()));
  if (recording(x))
    record("broadcast_to", out, {x}, [shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return sum_to(g, shape); });
    });
  return out;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  expect_defined("sum_to", "x", x);
  if (x.shape() == shape) return x;
  if (x.dtype().is_bool()) fail<TypeError>("[sum_to] x must be a number: received dtype=bool");
  const int extra = x.ndim() - shape.rank();
  if (extra < 0)
    fail("[sum_to] x must have at least the rank of the shape ", shape, ": received x=", x.shape());
  std::vector<int> axes;
  for (int i = 0; i < x.ndim(); ++i) {
    const std::int64_t wanted = i < extra ? 1 : shape[i - extra];
    if (wanted != 1 && !compatible(wanted, x.shape()[i]))
      fail("[sum_to] the shape ", shape, " must broadcast to x: received x=", x.shape());
    if (i < extra || (wanted == 1 && x.shape()[i] != 1)) axes.push_back(i);
  }
  if (is_symbolic(x)) return defer_described("sum_to", {shape, x.dtype()}, sum_to, x, shape);
  if (x.size() == shape.count()) return reshape(x, shape);  // the extents of the axes are 1
  return reshape(sum(x, axes, true), shape);
}

}  // namespace ktape::backend

namespace ktape::nn {

Operations broadcasting_operations() {
  static constexpr Operation rows[] = {
      {"sum_to", "", "x; shape", calls<backend::sum_to>},
  };
  return rows;
}

}  // namespace ktape::nn
