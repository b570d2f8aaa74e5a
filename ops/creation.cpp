#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ktape::backend {

template <class F>
void fields(CreationOptions& options, F&& field) {
  field("dtype", options.dtype);
}
template <class F>
void fields(ArangeOptions& options, F&& field) {
  field("dtype", options.dtype);
}

Variable variable(const ArrayLike& value, const VariableOptions& options) {
  value.expect_defined("variable", "value");
  const Tensor start = value.tensor(options.dtype, floatx(), "variable");
  const std::string name = current_name_scope() + (options.name.empty() ? "Variable" : options.name);
  if (!manual_variable_initialization()) return Variable(start, name, options.constraint);
  expect_value("variable", start);
  return Variable::without_value(start.shape(), start.dtype(), name, options.constraint);
}
Variable variable(const ArrayLike& value, DType dtype) { return variable(value, {.dtype = dtype}); }

Tensor constant(const ArrayLike& value, const ConstantOptions& options) {
  value.expect_defined("constant", "value");
  Tensor out = value.tensor(options.dtype, floatx(), "constant");
  if (!options.shape) return out;
  expect_value("constant", out);
  const Shape& shape = *options.shape;
  check_extents("constant", shape, out.dtype().size());
  if (out.size() == shape.count()) return out.alias(shape);
  if (out.size() != 1)
    fail("[constant] the value must fill the shape ", shape, ": received value=", out.shape());
  return op_helpers::filled("constant", shape, out.element(nullptr, 0), out.dtype());
}
Tensor constant(const ArrayLike& value, DType dtype) { return constant(value, {.dtype = dtype}); }

namespace {
// The overloads that a symbolic result calls again.
using OfTensor = Tensor (*)(const Tensor&, const CreationOptions&);
using OfShape = Tensor (*)(const ShapeLike&, const CreationOptions&);

Tensor filled(const char* op, const ShapeLike& shape, Scalar value, DType dtype) {
  expect_fits(op, value, dtype);
  if (shape.waits()) return defer_described(op, {shape.known(), dtype}, filled, op, shape, value, dtype);
  return op_helpers::filled(op, shape.known(), value, dtype);
}
}  // namespace

Tensor full(const ShapeLike& shape, Scalar value, std::optional<DType> dtype) {
  return filled("full", shape, value, dtype.value_or(floatx()));
}
Tensor zeros(const ShapeLike& shape, const CreationOptions& options) {
  return filled("zeros", shape, 0, options.dtype.value_or(floatx()));
}
Tensor zeros(const ShapeLike& shape, DType dtype) { return zeros(shape, {.dtype = dtype}); }
Tensor ones(const ShapeLike& shape, const CreationOptions& options) {
  return filled("ones", shape, 1, options.dtype.value_or(floatx()));
}
Tensor ones(const ShapeLike& shape, DType dtype) { return ones(shape, {.dtype = dtype}); }
Tensor zeros_like(const Tensor& x, const CreationOptions& options) {
  expect_defined("zeros_like", "x", x);
  const DType dtype = options.dtype.value_or(x.dtype());
  if (is_symbolic(x))
    return defer_described("zeros_like", {x.shape(), dtype}, static_cast<OfTensor>(zeros_like),
                           WithoutGradient{x}, options);
  return filled("zeros_like", x.shape(), 0, dtype);
}
Tensor zeros_like(const Tensor& x, DType dtype) { return zeros_like(x, {.dtype = dtype}); }
Tensor ones_like(const Tensor& x, const CreationOptions& options) {
  expect_defined("ones_like", "x", x);
  const DType dtype = options.dtype.value_or(x.dtype());
  if (is_symbolic(x))
    return defer_described("ones_like", {x.shape(), dtype}, static_cast<OfTensor>(ones_like),
                           WithoutGradient{x}, options);
  return filled("ones_like", x.shape(), 1, dtype);
}
Tensor ones_like(const Tensor& x, DType dtype) { return ones_like(x, {.dtype = dtype}); }

Tensor eye(const ShapeLike& size, const CreationOptions& options) {
  Shape shape = size.known();
  if (shape.rank() == 1) shape.push_back(shape[0]);
  if (shape.rank() != 2) fail("[eye] the size must be rows and columns: received size=", numbers(shape));
  const DType dtype = options.dtype.value_or(floatx());
  if (size.waits()) return defer_described("eye", {shape, dtype}, static_cast<OfShape>(eye), size, options);
  Tensor out = filled("eye", shape, 0, dtype);
  dispatch(dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < std::min(shape[0], shape[1]); ++i)
      out.pointer<T>()[i * (shape[1] + 1)] = Scalar(1).to<T>();
  });
  return out;
}
Tensor eye(const ShapeLike& size, DType dtype) { return eye(size, {.dtype = dtype}); }

namespace {

[[noreturn]] void fail_arange(const char* rule, Scalar start, Scalar stop, Scalar step) {
  fail("[arange] ", rule, ": received start=", start, ", stop=", stop, ", step=", step);
}

Tensor arange_whole(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const __int128 distance = static_cast<__int128>(stop) - start;
  const __int128 count = (distance + step + (step > 0 ? -1 : 1)) / step;
  if (count > std::numeric_limits<std::int64_t>::max())
    fail_arange("the numbers must fit in memory", start, stop, step);
  Tensor out = Tensor::empty({static_cast<std::int64_t>(count)}, DType::Int64, "arange");
  auto* const to = out.pointer<std::int64_t>();
  for (std::int64_t i = 0, n = out.size(); i < n; ++i) to[i] = start + i * step;
  return out;
}

Tensor arange_real(double start, double stop, double step) {
  const double count = std::ceil((stop - start) / step);
  if (!(count < 0x1p47)) fail_arange("the numbers must fit in memory", start, stop, step);
  Tensor out = Tensor::empty({static_cast<std::int64_t>(count)}, DType::Float64, "arange");
  auto* const to = out.pointer<double>();
  for (std::int64_t i = 0, n = out.size(); i < n; ++i) to[i] = start + step * static_cast<double>(i);
  return out;
}

/// Returns the first two numbers and the last number of a range. When the dtype holds these, it holds all
/// numbers.
std::vector<Scalar> extreme_numbers(const Tensor& numbers) {
  const std::int64_t n = numbers.size();
  if (n == 0) return {};
  std::vector<Scalar> out;
  for (const std::int64_t i : {std::int64_t{0}, std::min<std::int64_t>(1, n - 1), n - 1})
    out.push_back(numbers.element(&i, 1));
  return out;
}

}  // namespace

bool RangeBound::real() const {
  return tensor_.defined() ? tensor_.dtype().is_floating() : number_.kind() == Scalar::Real;
}

Scalar RangeBound::number() const {
  if (tensor_.defined() && tensor_.size() != 1)
    fail("[arange] an argument must be one number: received shape=", tensor_.shape());
  return tensor_.defined() ? tensor_.element(nullptr, 0) : number_;
}

namespace {

/// Returns the dtype of the result. As in Keras, int32 counts as not given.
DType arange_dtype(bool real, const ArangeOptions& options) {
  if (options.dtype && options.dtype != DType(DType::Int32)) return *options.dtype;
  return real ? floatx() : DType(DType::Int32);
}

/// Defers `arange` with symbolic bounds.
Tensor arange_later(bool real, const std::vector<RangeBound>& bounds, const ArangeOptions& options) {
  std::vector<Tensor> tensors;
  std::vector<DescribedArgument> description;
  for (const RangeBound& bound : bounds) {
    if (!bound.tensor().defined()) {
      description.push_back(describe(bound.number()));
      continue;
    }
    if (bound.tensor().size() != 1)
      fail("[arange] an argument must be one number: received shape=", bound.tensor().shape());
    tensors.push_back(bound.tensor());
    description.push_back({.operands = 1});
  }
  description.push_back(describe(options));
  const auto run = [bounds, options](const std::vector<Tensor>& values) {
    std::vector<RangeBound> now = bounds;
    auto value = values.begin();
    for (RangeBound& bound : now)
      if (bound.tensor().defined()) bound = *value++;
    return now.size() == 1 ? arange(now[0], options) : arange(now[0], now[1], now[2], options);
  };
  return defer_as(std::move(description), "arange",
                  std::vector{OutputInfo{{None}, arange_dtype(real, options)}}, run, tensors)[0];
}

}  // namespace

Tensor arange(const RangeBound& stop, const ArangeOptions& options) {
  if (is_symbolic(stop.tensor())) return arange_later(stop.real(), {stop}, options);
  const Scalar end = stop.number();
  if (end.real() < 0) return arange(stop.real() ? Scalar(0.0) : Scalar(0), 0, 1, options);
  return arange(0, end, 1, options);
}

Tensor arange(const RangeBound& first, const RangeBound& end, const RangeBound& by,
              const ArangeOptions& options) {
  const bool real = first.real() || end.real() || by.real();
  if (is_symbolic(first.tensor(), end.tensor(), by.tensor()))
    return arange_later(real, {first, end, by}, options);
  const Scalar start = first.number(), stop = end.number(), step = by.number();
  for (Scalar s : {start, stop, step})
    if (!std::isfinite(s.real())) fail_arange("the arguments must be finite", start, stop, step);
  if (step.real() == 0) fail_arange("step must not be 0", start, stop, step);
  if (step.real() > 0 ? start.real() > stop.real() : start.real() < stop.real())
    fail_arange("step must lead from start to stop", start, stop, step);
  Tensor out = real ? arange_real(start.real(), stop.real(), step.real())
                    : arange_whole(start.integer(), stop.integer(), step.integer());
  const bool given = options.dtype && options.dtype != DType(DType::Int32);
  const DType dtype = given ? *options.dtype : real ? floatx() : DType(DType::Int32);
  for (const Scalar number : extreme_numbers(out)) {
    if (given || real) expect_fits("arange", number, dtype);
    else if (!fits(number, dtype))
      fail_arange("integers without a dtype must fit in int32", start, stop, step);
  }
  return converted(out, dtype);
}
Tensor arange(const RangeBound& start, const RangeBound& stop, const RangeBound& step, DType dtype) {
  return arange(start, stop, step, {.dtype = dtype});
}

Tensor identity(const Tensor& x, const IdentityOptions& options) {
  expect_defined("identity", "x", x);
  if (is_symbolic(x)) return defer("identity", {x.shape(), x.dtype()}, identity, x, options);
  Tensor out = x.detach();
  if (recording(x))
    record("identity", out, {x}, [](const Tensor& g, Grads& grads) { grads.to(0, [&] { return g; }); });
  return out;
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

/// Returns a shape: numbers, or a tensor of rank 1.
backend::ShapeLike shape_of(const OperationCall& call, const char* name) {
  if (call.value(name).is_null()) return call.tensor(name);
  return call.shape(name);
}

backend::RangeBound range_bound(const OperationCall& call, const char* name) {
  if (call.is_number(name)) return call.scalar(name);
  return call.tensor(name);
}

Tensor arange(const OperationCall& call) {
  const backend::ArangeOptions options{.dtype = call.dtype()};
  const backend::RangeBound step = call.has("step") ? range_bound(call, "step") : 1;
  if (!call.has("stop")) return backend::arange(0, range_bound(call, "start"), step, options);
  return backend::arange(range_bound(call, "start"), range_bound(call, "stop"), step, options);
}

}  // namespace

Operations creation_operations() {
  static constexpr Operation rows[] = {
      {"identity", "", "x;", [](const OperationCall& call) { return backend::identity(call.tensor("x")); }},
      {"full", "", "shape; value, dtype",
       [](const OperationCall& call) {
         return backend::full(shape_of(call, "shape"), call.scalar("value"), call.dtype());
       },
       "full zeros ones"},
      {"eye", "", "size; dtype=null",
       [](const OperationCall& call) {
         return backend::eye(shape_of(call, "size"), {.dtype = call.dtype()});
       }},
      {"Arange", "numpy", "start, stop=null, step=null; dtype=null", arange, "", "start | start, stop, step"},
  };
  return rows;
}

}  // namespace ktape::nn
