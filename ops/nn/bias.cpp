#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::backend {

template <class F>
void fields(BiasOptions& options, F&& field) {
  field("data_format", options.data_format);
}
namespace {

/// Returns the shape in which the bias broadcasts to an x with the channels first.
Shape channels_first_shape(const Shape& x, const Shape& bias) {
  Shape shape{1, bias.back()};
  if (bias.rank() == 1) {
    for (int i = 2; i < x.rank(); ++i) shape.push_back(1);
  } else {
    for (int i = 0; i + 1 < bias.rank(); ++i) shape.push_back(bias[i]);
  }
  return shape;
}

}  // namespace

Tensor bias_add(const Tensor& x, const Tensor& bias, const BiasOptions& options) {
  const CalledOp called("bias_add");
  expect_defined("bias_add", "x, bias", x, bias);
  op_helpers::expect_same_dtype("bias_add", x, bias);
  const bool channels_at_1 = channels_first("bias_add", options.data_format);
  const Shape &xs = x.shape(), &bs = bias.shape();
  if (xs.rank() < 2) fail("[bias_add] x must have at least rank 2: received x=", xs);
  if (bs.rank() != 1 && bs.rank() != xs.rank() - 1)
    fail("[bias_add] the bias must have rank 1 or ", xs.rank() - 1, ": received bias=", bs);
  const bool first = channels_at_1 && xs.rank() > 2;
  const Shape fitted = first ? channels_first_shape(xs, bs) : bs;
  const bool fits =
      bs.rank() == 1 ? compatible(bs[0], xs[first ? 1 : xs.rank() - 1]) : broadcasts_to(fitted, xs);
  if (!fits)
    fail("[bias_add] the bias must fit x: received x=", xs, ", bias=", bs,
         channels_at_1 ? ", data_format=\"channels_first\"" : ", data_format=\"channels_last\"");
  if (is_symbolic(x, bias)) {
    const BiasOptions fixed{options.data_format.value_or(image_data_format())};
    return defer_described("bias_add", {broadcast_shapes("bias_add", xs, fitted), x.dtype()}, bias_add, x,
                           bias, fixed);
  }
  return x + (first ? reshape(bias, fitted) : bias);
}

}  // namespace ktape::backend

namespace ktape::nn {

Operations bias_operations() {
  static constexpr Operation rows[] = {
      {"bias_add", "", "x, bias; data_format=null", calls<backend::bias_add>},
  };
  return rows;
}

}  // namespace ktape::nn
