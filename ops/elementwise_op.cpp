#include <ktape/ops/elementwise_op.hpp>

namespace ktape::op_helpers {

void fail_for_dtypes(const char* op, const Tensor& x, const Tensor& y, const char* y_name) {
  fail<TypeError>("[", op, "] both tensors must have one dtype: received x=", x.dtype(), ", ", y_name, '=',
                  y.dtype(), " (K::cast(", y_name, ", \"", x.dtype(), "\") converts)");
}

namespace {

constexpr auto by_slope = kernels::converting_halves([](auto g, auto slope) { return chained(g, slope); });
constexpr auto by_gradient = kernels::converting_halves(
    [](auto g, auto h) { return select(h == like(h, 0), like(h, 0), chained(g, h)); });

template <class F>
Tensor product(F f, const Tensor& x, const Tensor& y) {
  Tensor out = result(broadcast_shapes("multiply", x.shape(), y.shape()), x.dtype(), "multiply");
  compute<Elements::Floating>(out, x.dtype(), f, x, y);
  if (recording(x, y))
    record("multiply", out, {x, y}, [f, x, y](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return backend::sum_to(product(f, g, y), x.shape()); });
      grads.to(1, [&] { return backend::sum_to(product(by_gradient, g, x), y.shape()); });
    });
  return out;
}

}  // namespace

Tensor chained(const Tensor& g, const Tensor& slope) { return product(by_slope, g, slope); }
Tensor chained_gradients(const Tensor& g, const Tensor& h) { return product(by_gradient, g, h); }

}  // namespace ktape::op_helpers
