#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/log.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/kernels/softmax/crossentropy.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/nn/losses.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

namespace ktape::backend {

template <class F>
void fields(LossOptions& options, F&& field) {
  field("from_logits", options.from_logits);
  field("axis", options.axis);
}
template <class F>
void fields(BinaryLossOptions& options, F&& field) {
  field("from_logits", options.from_logits);
}
namespace {

using op_helpers::narrowed, op_helpers::widened;

using op_helpers::chained, op_helpers::like, op_helpers::select;

/// Returns the logits if `output` is the result of this activation; otherwise an undefined tensor.
Tensor recorded_logits(const char* op, const Tensor& output, const char* activation, int axis,
                       bool from_logits) {
  const ComputedFrom* from = computed_from(output, activation);
  if (!from || (axis >= 0 && from->axis != axis)) return Tensor();
  if (from_logits && log::enabled(log::Level::Warn))
    log::write(log::Level::Warn, std::string("[") + op + "] from_logits=true, but the output was made by " +
                                     activation + ": its logits are used");
  return from->input;
}

/// Returns the tensor with the axis moved to the end.
Tensor axis_last(const Tensor& x, int axis) {
  if (axis == x.ndim() - 1) return x;
  Shape pattern;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != axis) pattern.push_back(i);
  pattern.push_back(axis);
  return permute_dimensions(x, pattern);
}

/// Returns the shape with its unknown extent computed from the number of elements. A shape with several
/// unknown extents is returned unchanged.
Shape with_count(Shape shape, std::int64_t count) {
  if (count == None || std::count(shape.begin(), shape.end(), std::int64_t{None}) != 1) return shape;
  const std::int64_t known = with_unknown(shape, 1).count();
  return known > 0 && count % known == 0 ? with_unknown(shape, count / known) : shape;
}

Shape without_last(const Shape& shape) { return Shape(shape.begin(), shape.rank() - 1); }

/// Returns a pointer to the sums of the rows, which the forward pass keeps for the backward pass.
template <class T>
auto* sums_of(const Tensor& sums) {
  return reinterpret_cast<kernels::RowSum<T>*>(sums.raw());
}
Tensor new_sums(const Tensor& x, std::int64_t rows) {
  return Tensor::empty({rows, 2}, x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32);
}

/// Returns -sum(target * log(softmax(x))) along the last axis.
Tensor from_logits(const Tensor& target, const Tensor& x) {
  const Shape shape = without_last(x.shape());
  const std::int64_t rows = shape.count(), n = x.shape().back();
  const Tensor logits = widened(x), wanted = widened(target), sums = new_sums(x, rows);
  const Tensor losses =
      n == 0 ? zeros(shape, {.dtype = logits.dtype()}) : Tensor::empty(shape, logits.dtype());
  if (n > 0)
    dispatch_native_floating(logits.dtype(), [&]<class T>() {
      kernels::crossentropy(logits.pointer<T>(), wanted.pointer<T>(), losses.pointer<T>(), sums_of<T>(sums),
                            rows, n);
    });
  Tensor out = narrowed(losses, x.dtype());
  if (!recording(target, x)) return out;
  record("categorical_crossentropy", out, {target, x},
         [target, x, sums, rows, n](const Tensor& g, Grads& grads) {
           grads.to(0, [&] { return chained(expand_dims(-g, -1), log_softmax(x)); });
           grads.to(1, [&]() -> Tensor {
             if (recording()) return chained(expand_dims(g, -1), softmax(x) * sum(target, -1, true) - target);
             const Tensor logits = widened(x), wanted = widened(target), slopes = widened(g),
                          dx = Tensor::empty(x.shape(), logits.dtype());
             if (n > 0)
               dispatch_native_floating(logits.dtype(), [&]<class T>() {
                 kernels::crossentropy_backward(logits.pointer<T>(), wanted.pointer<T>(), slopes.pointer<T>(),
                                                sums_of<T>(sums), dx.pointer<T>(), rows, n);
               });
             return narrowed(dx, x.dtype());
           });
         });
  return out;
}

/// Returns the classes as int64. Throws ValueError for a number that is no class, TypeError for bools.
Tensor classes_of(const Tensor& target, std::int64_t count) {
  constexpr const char* op = "sparse_categorical_crossentropy";
  if (target.dtype().is_bool())
    fail<TypeError>("[", op, "] the target must hold class numbers: received target=bool");
  return class_numbers(op, "target", target, count);
}

/// Returns -log(softmax(x))[target] along the last axis, in the given shape.
Tensor sparse_from_logits(const Tensor& classes, const Tensor& x, const Shape& shape) {
  const std::int64_t n = x.shape().back(), rows = classes.size();
  const Tensor logits = widened(x), losses = Tensor::empty(shape, logits.dtype()), sums = new_sums(x, rows);
  const auto* at = classes.pointer<std::int64_t>();
  dispatch_native_floating(logits.dtype(), [&]<class T>() {
    kernels::sparse_crossentropy(logits.pointer<T>(), at, losses.pointer<T>(), sums_of<T>(sums), rows, n);
  });
  Tensor out = narrowed(losses, x.dtype());
  if (!recording(x)) return out;
  record("sparse_categorical_crossentropy", out, {x},
         [classes, x, sums, rows, n](const Tensor& g, Grads& grads) {
           grads.to(0, [&]() -> Tensor {
             if (recording()) {
               const Tensor taken = as_dtype(reshape(one_hot(classes, n), x.shape()), x.dtype());
               Shape kept = x.shape();
               kept[kept.rank() - 1] = 1;
               return chained(reshape(g, kept), softmax(x) - taken);
             }
             const Tensor logits = widened(x), slopes = widened(g),
                          dx = Tensor::empty(x.shape(), logits.dtype());
             dispatch_native_floating(logits.dtype(), [&]<class T>() {
               kernels::sparse_crossentropy_backward(logits.pointer<T>(), classes.pointer<std::int64_t>(),
                                                     slopes.pointer<T>(), sums_of<T>(sums), dx.pointer<T>(),
                                                     rows, n);
             });
             return narrowed(dx, x.dtype());
           });
         });
  return out;
}

Shape merged(const Shape& a, const Shape& b) {
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i) out[i] = ktape::merged(a[i], b[i]);
  return out;
}

/// Returns the shape of target and output. Throws ValueError when the shapes differ.
Shape common_shape(const char* op, const char* name, const Tensor& target, const Tensor& output) {
  if (!compatible(target.shape(), output.shape()))
    fail("[", op, "] target and ", name, " must have one shape: received target=", target.shape(),
         ", output=", output.shape());
  return merged(target.shape(), output.shape());
}

Tensor clipped(const Tensor& p) { return clip(p, epsilon(), 1 - epsilon()); }

}  // namespace

Tensor categorical_crossentropy(const Tensor& target, const Tensor& output, const LossOptions& options) {
  expect_defined("categorical_crossentropy", "target, output", target, output);
  constexpr const char* op = "categorical_crossentropy";
  op_helpers::expect_floating(op, output);
  Shape shape = common_shape(op, "output", target, output);
  const int axis = canonical_axis(op, options.axis, output.ndim());
  shape.erase(axis);
  if (is_symbolic(target, output))
    return defer_described(op, {shape, output.dtype()}, categorical_crossentropy, target, output, options);
  const Tensor wanted = as_dtype(target, output.dtype());
  const Tensor logits = recorded_logits(op, output, "softmax", axis, options.from_logits);
  if (logits.defined() || options.from_logits)
    return from_logits(axis_last(wanted, axis), axis_last(logits.defined() ? logits : output, axis));
  return -sum(wanted * log(clipped(output / sum(output, axis, true))), axis);
}

Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output,
                                       const LossOptions& options) {
  expect_defined("sparse_categorical_crossentropy", "target, output", target, output);
  constexpr const char* op = "sparse_categorical_crossentropy";
  op_helpers::expect_floating(op, output);
  const int axis = canonical_axis(op, options.axis, output.ndim());
  Shape shape = output.shape();
  const std::int64_t count = shape[axis];
  shape.erase(axis);
  const bool alike = target.ndim() == shape.rank();
  const bool fits = alike ? compatible(target.shape(), shape) : compatible(target.size(), shape.count());
  if (!fits)
    fail("[", op, "] the target must have the shape ", shape,
         " of the samples: received target=", target.shape(), ", output=", output.shape());
  shape = alike ? merged(shape, target.shape()) : with_count(shape, target.shape().count());
  if (shape.empty() && target.ndim() > 0) shape = {1};
  if (is_symbolic(target, output))
    return defer_described(op, {shape, output.dtype()}, sparse_categorical_crossentropy,
                           WithoutGradient{target}, output, options);
  const Tensor classes = classes_of(target, count);
  Tensor logits = recorded_logits(op, output, "softmax", axis, options.from_logits);
  if (!logits.defined()) logits = options.from_logits ? output : log(clipped(output));
  return sparse_from_logits(classes, axis_last(logits, axis), shape);
}

namespace {

constexpr auto logistic_cost = [](auto t, auto x) {
  const auto positive = select(x < 0, like(x, 0), x);
  return positive - x * t + log1p(exp(-abs(x)));
};

/// The gradient with respect to the logits, for vectors and for tensors.
constexpr auto logistic_slope = [](auto g, auto t, auto x) {
  if constexpr (std::is_same_v<decltype(x), Tensor>) return g * (sigmoid(x) - t);
  else return g * (1 / (1 + exp(-x)) - t);
};

Tensor binary_from_logits(const Tensor& t, const Tensor& x) {
  Tensor out = op_helpers::apply(logistic_cost, t, x);
  if (recording(t, x))
    record("binary_crossentropy", out, {t, x}, [t, x](const Tensor& g, Grads& grads) {
      grads.to(1, [&] { return op_helpers::along(logistic_slope, g, t, x); });
      grads.to(0, [&] { return chained(-g, x); });
    });
  return out;
}

/// The loss of probabilities that are clipped to [low, high]: epsilon and 1 - epsilon.
struct BinaryCost {
  double low, high;

  template <class B>
  B operator()(const B& t, const B& p) const {
    const B c = select(p < low, like(p, low), select(p > high, like(p, high), p));
    return -(t * log(c + low) + (1 - t) * log(1 - c + low));
  }
  template <class B>
  B operator()(const B& g, const B& t, const B& p) const {
    const B slope = g * ((1 - t) / (1 - p + low) - t / (p + low));
    return select(p < low, like(p, 0), select(p > high, like(p, 0), slope));
  }
};

Tensor binary_from_probabilities(const Tensor& t, const Tensor& p) {
  const BinaryCost cost{epsilon(), 1 - epsilon()};
  Tensor out = op_helpers::apply(cost, t, p);
  if (recording(t, p))
    record("binary_crossentropy", out, {t, p}, [t, p, cost](const Tensor& g, Grads& grads) {
      grads.to(1, [&] { return op_helpers::along(cost, g, t, p); });
      grads.to(0, [&] {
        const Tensor c = clip(p, cost.low, cost.high);
        return chained(g, log(1 - c + cost.low) - log(c + cost.low));
      });
    });
  return out;
}

}  // namespace

Tensor binary_crossentropy(const Tensor& target, const Tensor& output, const BinaryLossOptions& options) {
  expect_defined("binary_crossentropy", "target, output", target, output);
  constexpr const char* op = "binary_crossentropy";
  op_helpers::expect_floating(op, output);
  const Shape shape = broadcast_shapes(op, target.shape(), output.shape(), "target", "output");
  const Tensor logits = recorded_logits(op, output, "sigmoid", -1, options.from_logits);
  const bool uses_logits = logits.defined() || options.from_logits;
  if (uses_logits) common_shape(op, "logits", target, output);
  if (is_symbolic(target, output))
    return defer_described(op, {shape, output.dtype()}, binary_crossentropy, target, output, options);
  const Tensor wanted = broadcast_to(as_dtype(target, output.dtype()), shape);
  if (uses_logits) return binary_from_logits(wanted, logits.defined() ? logits : output);
  return binary_from_probabilities(wanted, broadcast_to(output, shape));
}

}  // namespace ktape::backend

namespace ktape::nn {

Operations backend_loss_operations() {
  static constexpr const char* loss = "target, output; from_logits=false, axis=-1";
  static constexpr Operation rows[] = {
      {"BinaryCrossentropy", "nn", "target, output; from_logits=false", calls<backend::binary_crossentropy>},
      {"CategoricalCrossentropy", "nn", loss, calls<backend::categorical_crossentropy>},
      {"SparseCategoricalCrossentropy", "nn", loss, calls<backend::sparse_categorical_crossentropy>},
  };
  return rows;
}

}  // namespace ktape::nn
