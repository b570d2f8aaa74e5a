#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/internal/multi_axis_reduction.hpp>
#include <ktape/ops/kernels/reduce/max_gradient.hpp>
#include <ktape/ops/kernels/reduce/moments.hpp>
#include <ktape/ops/kernels/softmax/logsumexp.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <cmath>
#include <limits>

namespace ktape::backend {
namespace {

using op_helpers::ReducedAxes, op_helpers::chained, op_helpers::like, op_helpers::select;

void expect_number(const char* op, const Tensor& x) {
  expect_defined(op, "x", x);
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x must be a number: received dtype=bool");
}

/// Returns a value per group, repeated over the elements of the groups.
Tensor spread(const Tensor& g, const ReducedAxes& groups, const Shape& shape) {
  if (recording()) return broadcast_to(reshape(g, groups.kept), shape);
  if (g.size() != 1 || groups.size == 0) return broadcast_to(g.alias(groups.kept), shape);
  return full(shape, g.element(nullptr, 0), g.dtype());
}

/// Returns half precision as float32, and other tensors unchanged.
Tensor in_float(const Tensor& x) { return as_dtype(x, op_helpers::compute_dtype(x.dtype())); }

void expect_averaged(const char* op, const Tensor& x) {
  expect_defined(op, "x", x);
  if (!x.dtype().is_bool()) op_helpers::expect_floating(op, x);
}
/// Returns x in the dtype in which its mean is computed: floatx for bool, float32 for recorded half precision.
Tensor averaged(const Tensor& x) {
  if (x.dtype().is_bool()) return as_dtype(x, floatx());
  return recording(x) ? in_float(x) : x;
}
DType average_dtype(const Tensor& x) { return x.dtype().is_bool() ? floatx() : x.dtype(); }

Tensor record_sum(const char* op, const Tensor& x, const ReducedAxes& groups, Tensor out, double factor) {
  if (recording(x))
    record(op, out, {x}, [groups, factor, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return spread(factor == 1 ? g : g * factor, groups, shape); });
    });
  return out;
}

/// Returns the mean. Integers are added up as int64, and the quotient is truncated.
Tensor average(const Tensor& x, const ReducedAxes& groups) {
  if (x.dtype().is_half()) return converted(average(op_helpers::widened(x), groups), x.dtype());
  const bool integer = x.dtype().is_integer();
  if (integer && groups.size == 0) return full(groups.shape, 0, x.dtype());
  op_helpers::JoinedAxes axes(x.shape(), groups.bits);
  if (axes.passes() == 1) {
    Tensor out = Tensor::empty(groups.shape, x.dtype());
    const auto pass = axes.next();
    const auto run = [&]<class T>() {
      kernels::reduce_mean(x.pointer<T>(), out.pointer<T>(), pass, pass.axis);
    };
    if (integer) dispatch_integer(x.dtype(), run);
    else dispatch_native_floating(x.dtype(), run);
    return out;
  }
  const Tensor total = op_helpers::reduced<op_helpers::WideSumOf>(x, groups);
  const auto divide = [n = groups.size](auto a) { return a / like(a, static_cast<double>(n)); };
  const auto truncate = [n = groups.size](auto a) { return a / n; };
  return converted(integer ? op_helpers::apply_integer(truncate, total) : op_helpers::apply(divide, total),
                   x.dtype());
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_number("sum", x);
  const ReducedAxes groups("sum", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("sum", {groups.shape, x.dtype()}, sum, x, axis, keepdims);
  return record_sum("sum", x, groups, op_helpers::reduced<op_helpers::SumOf>(x, groups), 1);
}

Tensor mean(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_defined("mean", "x", x);
  if (x.dtype().is_bool()) return mean(as_dtype(x, floatx()), axis, keepdims);
  const ReducedAxes groups("mean", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("mean", {groups.shape, x.dtype()}, mean, x, axis, keepdims);
  if (x.dtype().is_integer()) return average(x, groups);
  return record_sum("mean", x, groups, average(x, groups), 1 / static_cast<double>(groups.size));
}

namespace {

/// Returns the elements less the mean of their group.
Tensor centred(const Tensor& x, unsigned bits) {
  std::vector<int> axes;
  for (int i = 0; i < x.ndim(); ++i)
    if (bits >> i & 1) axes.push_back(i);
  return x - mean(x, axes, true);
}

/// Computes the sum of squares; for half precision, in float32.
Tensor sum_of_squares(const Tensor& x, const ReducedAxes& groups) {
  return op_helpers::reduced<op_helpers::SumOfSquaresOf, op_helpers::WideSumOf>(x, groups);
}

/// Returns the square root, with a gradient of 0 at 0.
Tensor root(const char* op, const Tensor& x) {
  return op_helpers::unary_by_output(
      op, x, [](auto a) { return sqrt(a); },
      [](auto g, auto y) { return select(y == 0, like(g, 0), g * 0.5 / select(y == 0, like(y, 1), y)); });
}

template <class T, class Out>
void variance_into(const T* x, Out* out, op_helpers::JoinedAxes axes) {
  const kernels::AxisShape first = axes.next();
  if (axes.passes() == 0) return kernels::reduce_variance(x, out, first);
  std::vector<kernels::Moments> moments(static_cast<std::size_t>(first.results()));
  kernels::reduce_moments(x, moments.data(), first);
  while (axes.passes() > 0) moments = kernels::merged(moments, axes.next());
  for (const kernels::Moments& found : moments) *out++ = kernels::variance_of<Out>(found);
}

/// Computes the variance; for half precision, in float32.
Tensor variance(const Tensor& x, const ReducedAxes& groups) {
  const double n = static_cast<double>(groups.size);
  Tensor out = Tensor::empty(groups.shape, x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32);
  const op_helpers::JoinedAxes axes(x.shape(), groups.bits);
  const Tensor values = op_helpers::widened(x);
  dispatch_native_floating(values.dtype(), [&]<class T>() {
    if (axes.passes() > 0) variance_into(values.pointer<T>(), out.pointer<T>(), axes);
    else kernels::reduce_variance(values.pointer<T>(), out.pointer<T>(), {1, 1, x.size()});
  });
  if (recording(x))
    record("var", out, {x}, [x, groups, n](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return chained(spread(g * (2 / n), groups, x.shape()), centred(x, groups.bits)); });
    });
  return out;
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_averaged("var", x);
  const ReducedAxes groups("var", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("var", {groups.shape, average_dtype(x)}, var, x, axis, keepdims);
  return as_dtype(variance(averaged(x), groups), average_dtype(x));
}

Tensor std(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_averaged("std", x);
  const ReducedAxes groups("std", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("std", {groups.shape, average_dtype(x)}, std, x, axis, keepdims);
  return as_dtype(root("std", variance(averaged(x), groups)), average_dtype(x));
}

Tensor norm(const Tensor& x, const Axes& axis, bool keepdims) {
  op_helpers::expect_floating("norm", x);
  const ReducedAxes groups("norm", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("norm", {groups.shape, x.dtype()}, norm, x, axis, keepdims);
  const Tensor values = averaged(x);
  Tensor squares = sum_of_squares(values, groups);
  if (recording(values))
    record("norm", squares, {values}, [values, groups](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return chained(spread(g * 2.0, groups, values.shape()), values); });
    });
  return as_dtype(root("norm", squares), x.dtype());
}

namespace {

/// Returns the gradient of max or min over one axis: g, shared evenly by the elements that are equal to the
/// result y.
Tensor shared_by_ties(const Tensor& x, const Tensor& y, const Tensor& g, kernels::AxisShape line) {
  if (x.dtype().is_half())
    return converted(
        shared_by_ties(op_helpers::widened(x), op_helpers::widened(y), op_helpers::widened(g), line),
        x.dtype());
  Tensor dx = Tensor::empty(x.shape(), x.dtype());
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    kernels::share_by_ties(x.pointer<T>(), y.pointer<T>(), g.pointer<T>(), dx.pointer<T>(), line);
  });
  return dx;
}

template <class Kernel>
Tensor extreme(const char* op, const Tensor& x, const Axes& axis, bool keepdims) {
  expect_number(op, x);
  const ReducedAxes groups(op, x, axis, keepdims);
  if (is_symbolic(x))
    return defer_described(op, {groups.shape, x.dtype()}, extreme<Kernel>, op, x, axis, keepdims);
  Tensor out = op_helpers::reduced<Kernel>(x, groups);
  if (recording(x))
    record(op, out, {x}, [x, groups](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] {
        op_helpers::JoinedAxes axes(x.shape(), groups.bits);
        if (!recording() && axes.passes() == 1) return shared_by_ties(x, y, g, axes.next());
        const Tensor chosen = converted(equal(x, y.alias(groups.kept)), x.dtype());
        const Tensor count = op_helpers::reduced<op_helpers::SumOf>(chosen, groups);
        return chained(spread(g, groups, x.shape()), chosen / count.alias(groups.kept));
      });
    });
  return out;
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axis, bool keepdims) {
  return extreme<op_helpers::MaxOf>("max", x, axis, keepdims);
}

Tensor min(const Tensor& x, const Axes& axis, bool keepdims) {
  return extreme<op_helpers::MinOf>("min", x, axis, keepdims);
}

namespace {

/// Returns the product over the middle axis of [outer, axis, inner], recorded.
Tensor middle_product(const Tensor& x);

/// Returns, for each element along the middle axis, the product of all other elements, without division:
/// exact for zeros and differentiable to any order. A tree of products of pairs is computed upwards; on the
/// way down, each node's outside product is multiplied by the neighbour.
Tensor others(const Tensor& x) {
  const std::int64_t outer = x.shape()[0], n = x.shape()[1], inner = x.shape()[2];
  if (n <= 1) return like(x, 1);
  if (n == 2) return reverse(x, 1);
  const bool odd = n % 2 == 1;
  const Tensor even = odd ? concatenate({x, full({outer, 1, inner}, 1, x.dtype())}, 1) : x;
  const std::int64_t half = (n + 1) / 2;
  const Tensor pairs = reshape(even, {outer * half, 2, inner});
  const Tensor first = slice(pairs, {0, 0, 0}, {outer * half, 1, inner}),
               second = slice(pairs, {0, 1, 0}, {outer * half, 1, inner});
  const Tensor outside = others(reshape(op_helpers::chained_gradients(first, second), {outer, half, inner}));
  const Tensor all =
      reshape(op_helpers::chained_gradients(reshape(outside, {outer * half, 1, inner}), reverse(pairs, 1)),
              {outer, 2 * half, inner});
  return odd ? slice(all, {0, 0, 0}, {outer, n, inner}) : all;
}

Tensor middle_product(const Tensor& x) {
  const ReducedAxes groups(x.shape(), 2, false);
  Tensor out = op_helpers::reduced<op_helpers::ProdOf>(x, groups);
  if (recording(x))
    record("prod", out, {x}, [x, groups](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return op_helpers::chained_gradients(spread(g, groups, x.shape()), others(x)); });
    });
  return out;
}

}  // namespace

Tensor prod(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_number("prod", x);
  const ReducedAxes groups("prod", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("prod", {groups.shape, x.dtype()}, prod, x, axis, keepdims);
  op_helpers::JoinedAxes axes(x.shape(), groups.bits);
  const int passes = axes.passes();
  if (!recording(x)) {
    const Tensor out = op_helpers::reduced<op_helpers::ProdOf>(x, groups);
    if (passes <= 1 || !x.dtype().is_floating() || !any(is_nan(out)).item<bool>()) return out;
  }
  if (passes == 0) return reshape(x, groups.shape);
  if (passes == 1) {
    const auto [outer, extent, inner] = axes.next();
    return reshape(middle_product(reshape(x, {outer, extent, inner})), groups.shape);
  }
  // All factors of a group at once: between two passes, a product could overflow beside a factor 0.
  Shape order, reduced;
  for (int i = 0; i < x.ndim(); ++i) (groups.bits >> i & 1 ? reduced : order).push_back(i);
  for (const std::int64_t i : reduced) order.push_back(i);
  const Tensor rows = reshape(permute_dimensions(x, order), {groups.shape.count(), groups.size, 1});
  return reshape(middle_product(rows), groups.shape);
}

Tensor logsumexp(const Tensor& x, const Axes& axis, bool keepdims) {
  op_helpers::expect_floating("logsumexp", x);
  const ReducedAxes groups("logsumexp", x, axis, keepdims);
  if (is_symbolic(x))
    return defer_described("logsumexp", {groups.shape, x.dtype()}, logsumexp, x, axis, keepdims);
  const bool once = op_helpers::JoinedAxes(x.shape(), groups.bits).passes() <= 1;
  const Tensor values = once && !recording(x) ? x : in_float(x);
  Tensor out = op_helpers::reduced<kernels::LogSumExpOf>(values, groups);
  if (recording(values))
    record("logsumexp", out, {values}, [values, groups](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] {
        // exp(-inf - -inf) would be NaN: where every element is -inf, the shares are taken from 0.
        const Tensor base = where(y == -std::numeric_limits<double>::infinity(), like(y, 0), y);
        return chained(spread(g, groups, values.shape()), exp(values - spread(base, groups, values.shape())));
      });
    });
  return as_dtype(out, x.dtype());
}

Tensor any(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_defined("any", "x", x);
  const ReducedAxes groups("any", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("any", {groups.shape, DType::Bool}, any, x, axis, keepdims);
  return op_helpers::reduced<op_helpers::AnyOf>(x, groups);
}

Tensor all(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_defined("all", "x", x);
  const ReducedAxes groups("all", x, axis, keepdims);
  if (is_symbolic(x)) return defer_described("all", {groups.shape, DType::Bool}, all, x, axis, keepdims);
  return op_helpers::reduced<op_helpers::AllOf>(x, groups);
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

Tensor product(const OperationCall& call) {
  const Tensor result = backend::prod(call.tensor("x"), call.axes("axis"), call.flag("keepdims"));
  return call.has("dtype") ? backend::cast(result, *call.dtype()) : result;
}

template <Tensor (*f)(const Tensor&, const Axes&, bool),
          Tensor (*with_initial)(const TensorOrNumber&, const TensorOrNumber&)>
Tensor extreme(const OperationCall& call) {
  const Tensor result = f(call.tensor("x"), call.axes("axis"), call.flag("keepdims"));
  return call.has("initial") ? with_initial(result, call.operand("initial")) : result;
}

template <Tensor (*f)(const Tensor&, int)>
Tensor position(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  const bool keeps = call.flag("keepdims");
  if (call.has("axis")) {
    const Tensor at = f(x, call.axis());
    return keeps ? backend::expand_dims(at, call.axis()) : at;
  }
  const Tensor at = f(backend::flatten(x), -1);
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(x.ndim()), 1);
  return keeps ? backend::reshape(at, Shape(ones)) : at;
}

}  // namespace

Operations reduction_operations() {
  static constexpr const char* reduced = "x; axis=null, keepdims=false";
  static constexpr const char* compared = "x; axis=null, keepdims=false, initial=null";
  static constexpr Operation rows[] = {
      {"Sum", "numpy", reduced, calls<backend::sum>},
      {"Mean", "numpy", reduced, calls<backend::mean>},
      {"Var", "numpy", reduced, calls<backend::var>},
      {"Std", "numpy", reduced, calls<backend::std>},
      {"Any", "numpy", reduced, calls<backend::any>},
      {"All", "numpy", reduced, calls<backend::all>},
      {"Logsumexp", "math", reduced, calls<backend::logsumexp>},
      {"Amax", "numpy", reduced, calls<backend::max>, "-"},
      {"Amin", "numpy", reduced, calls<backend::min>, "-"},
      {"Max", "numpy", compared, extreme<backend::max, backend::maximum>, "", "x, axis, keepdims"},
      {"Min", "numpy", compared, extreme<backend::min, backend::minimum>, "", "x, axis, keepdims"},
      {"Prod", "numpy", "x; axis=null, keepdims=false, dtype=null", product, "", "x, axis, keepdims"},
      {"Argmax", "numpy", reduced, position<backend::argmax>, "", "x, axis"},
      {"Argmin", "numpy", reduced, position<backend::argmin>, "", "x, axis"},
  };
  return rows;
}

}  // namespace ktape::nn
