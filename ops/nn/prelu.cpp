#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/nn/prelu.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/typed_call.hpp>

namespace ktape::op_helpers {

namespace {

constexpr auto value = [](auto x, auto slope) { return select(x > like(x, 0), x, x * slope); };
constexpr auto to_x = [](const auto& g, const auto& x, const auto& slope) {
  return select(x > like(x, 0), g, select(x < like(x, 0), g * slope, like(g, 0)));
};
constexpr auto to_slope = [](const auto& g, const auto& x) {
  return select(x < like(x, 0), g * x, like(g, 0));
};

}  // namespace

Tensor prelu(const Tensor& x, const Tensor& slope) {
  expect_floating("prelu", x);
  expect_same_dtype("prelu", x, slope);
  if (is_symbolic(x, slope)) return defer("prelu", broadcast_info("prelu", x, slope), prelu, x, slope);
  Tensor out = result(broadcast_shapes("prelu", x.shape(), slope.shape()), x.dtype(), "prelu");
  compute<Elements::Floating>(out, x.dtype(), value, x, slope);
  if (recording(x, slope))
    record("prelu", out, {x, slope}, [x, slope](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return backend::sum_to(along(to_x, g, x, slope), x.shape()); });
      grads.to(1, [&] { return backend::sum_to(along(to_slope, g, x), slope.shape()); });
    });
  return out;
}

}  // namespace ktape::op_helpers

namespace ktape::nn {

Operations prelu_operations() {
  static constexpr Operation rows[] = {
      {"prelu", "", "x, slope;", calls<op_helpers::prelu>},
  };
  return rows;
}

}  // namespace ktape::nn
