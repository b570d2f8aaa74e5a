#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/log.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/fusion/fused_op.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>

#include <limits>

namespace ktape::backend {

template <class F>
void fields(PrintOptions& options, F&& field) {
  field("summarize", options.summarize);
}

bool is_tensor(const Tensor& x) { return x.defined(); }

bool is_variable(const Tensor& x) { return x.defined() && dynamic_cast<const VariableLeaf*>(x.node()); }

Tensor shape(const Tensor& x) {
  expect_defined("shape", "x", x);
  const bool known = with_unknown(x.shape(), 0) == x.shape();
  if (is_symbolic(x) && !known) return defer("shape", {{x.ndim()}, DType::Int32}, shape, x);
  for (const std::int64_t extent : x.shape())
    if (extent > std::numeric_limits<std::int32_t>::max())
      fail("[shape] the extents must fit in int32: received shape=", x.shape());
  Tensor out = Tensor::empty({x.ndim()}, DType::Int32);
  convert(out.raw(), DType::Int32, x.shape().begin(), DType::Int64, x.ndim());
  return out;
}

Shape int_shape(const Tensor& x) {
  expect_defined("int_shape", "x", x);
  return x.shape();
}
int ndim(const Tensor& x) {
  expect_defined("ndim", "x", x);
  return x.ndim();
}
std::int64_t count_params(const Tensor& x) {
  expect_defined("count_params", "x", x);
  if (x.size() < 0) fail("[count_params] the extents of x must be known: received shape=", x.shape());
  return x.size();
}
DType dtype(const Tensor& x) {
  expect_defined("dtype", "x", x);
  return x.dtype();
}

Tensor size(const Tensor& x, const SizeOptions& options) {
  expect_defined("size", "x", x);
  if (is_symbolic(x)) return defer("size", {{}, DType::Int32}, size, x, options);
  if (x.shape().count() > std::numeric_limits<std::int32_t>::max())
    fail("[size] the number of elements must fit in int32: received shape=", x.shape());
  Tensor out = Tensor::empty({}, DType::Int32);
  *out.pointer<std::int32_t>() = static_cast<std::int32_t>(x.size());
  return out;
}

namespace {

struct Conversion {
  DType to, from;
};

void convert_loop(const void* f, std::int64_t, std::int64_t n, void* out, const void* const* x,
                  const kernels::ElementLoop::Step*) {
  const auto& [to, from] = *static_cast<const Conversion*>(f);
  convert(out, to, x[0], from, n);
}

/// Converts by an op that waits for other element-wise ops.
Tensor converted_later(const Tensor& x, DType dtype) {
  Tensor out = op_helpers::result(x.shape(), dtype, "cast");
  const Conversion how{dtype, x.dtype()};
  const kernels::ElementLoop loop{convert_loop,
                                  &how,
                                  1,
                                  static_cast<std::uint8_t>(x.dtype().size()),
                                  static_cast<std::uint8_t>(dtype.size()),
                                  1,
                                  kernels::Half::None,
                                  false};
  fusion::add_op(loop, sizeof how, out, {&x});
  return out;
}

}  // namespace

Tensor cast(const Tensor& x, DType dtype) {
  expect_defined("cast", "x", x);
  if (x.dtype() == dtype) return identity(x);
  if (is_symbolic(x)) return defer_described("cast", {x.shape(), dtype}, cast, x, dtype);
  Tensor out = op_helpers::result_waits(x.size()) ? converted_later(x, dtype) : converted(x, dtype);
  if (dtype.is_floating() && recording(x))
    record("cast", out, {x},
           [from = x.dtype()](const Tensor& g, Grads& grads) { grads.to(0, [&] { return cast(g, from); }); });
  return out;
}

Tensor cast_to_floatx(const ArrayLike& x) {
  x.expect_defined("cast_to_floatx", "x");
  return x.given().defined() ? cast(x.given(), floatx()) : x.tensor(floatx(), floatx(), "cast_to_floatx");
}

Tensor print_tensor(const Tensor& x, const std::string& message, const PrintOptions& options) {
  expect_defined("print_tensor", "x", x);
  if (is_symbolic(x))
    return defer_described(impure("print_tensor"), {x.shape(), x.dtype()}, print_tensor, x, message, options);
  if (inferring_shapes()) return identity(x);
  const bool all = options.summarize < 0;
  log::print(message + (message.empty() ? "" : " ") +
             to_string(x, all ? 3 : options.summarize,
                       all ? std::numeric_limits<std::int64_t>::max() : std::int64_t{2} * options.summarize));
  return identity(x);
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {
constexpr Tensor (*printed)(const Tensor&, const std::string&,
                            const backend::PrintOptions&) = backend::print_tensor;
}

Operations inspection_operations() {
  static constexpr Operation rows[] = {
      {"Cast", "core", "x; dtype",
       [](const OperationCall& call) { return backend::cast(call.tensor("x"), DType(call.text("dtype"))); }},
      {"shape", "", "x;", [](const OperationCall& call) { return backend::shape(call.tensor("x")); }},
      {"print_tensor", "", "x; message, summarize", calls<printed>},
  };
  return rows;
}

}  // namespace ktape::nn
