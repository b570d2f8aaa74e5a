#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>
#include <numbers>

/// Operations without an operator of their own: formulas of other operations, whose rows make the nodes.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns a row for a formula of the tensors of a call.
template <class F>
Row composed(F f) {
  return [f](const Translation& t) {
    const auto tensor = [&](const char* name) { return K::cast(t.call->tensor(name), t.dtype()); };
    return Names{t.name(K::cast(f(t, tensor), t.dtype()))};
  };
}

Tensor arctan2(const Tensor& y, const Tensor& x) {
  constexpr double pi = std::numbers::pi;
  const Tensor right = x > 0, left = x < 0, upper = y >= 0;
  const Tensor angle = ops::arctan(y / K::where(right | left, x, K::ones_like(x)));
  const Tensor turned = angle + K::where(upper, K::ones_like(x) * pi, K::ones_like(x) * -pi);
  return K::where(right, angle, K::where(left, turned, K::sign(y) * (pi / 2)));
}

/// Returns log(softmax), or the logarithm of probabilities that are scaled to the sum 1.
Tensor log_probabilities(const Translation& t, const Tensor& output) {
  const int axis = t.call->axis();
  if (t.call->flag("from_logits")) return K::log_softmax(output, axis);
  const double epsilon = K::epsilon();
  return K::log(K::clip(output / K::sum(output, axis, true), epsilon, 1 - epsilon));
}

Tensor binary_crossentropy(const Translation& t, const Tensor& target, const Tensor& output) {
  if (t.call->flag("from_logits"))
    return K::maximum(output, 0) - output * target + K::softplus(-K::abs(output));
  const double epsilon = K::epsilon();
  const Tensor p = K::clip(output, epsilon, 1 - epsilon);
  return -(target * K::log(p + epsilon) + (1 - target) * K::log(1 - p + epsilon));
}

/// Combines the rows of each segment.
Row segments(const char* reduction, double initial) {
  return [=](const Translation& t) {
    if (t.graph.opset() < 18) t.fail("the operator ScatterND combines rows from the opset 18 on");
    const Tensor data = t.call->tensor("data"), ids = t.call->tensor("segment_ids");
    const std::string places = t.graph.cast(t("segment_ids"), ids.dtype(), DType::Int64);
    const std::string count =
        t.call->has("num_segments")
            ? t.graph.integers({t.call->integer("num_segments")})
            : t.node("Add", {t.graph.reshaped(t.graph.reduced("ReduceMax", places, {}, false), {1}),
                             t.graph.integer(1)});
    const std::string row = t.node("Shape", {t("data")}, {{"start", std::int64_t{1}}});
    const std::string shape = t.node("Concat", {count, row}, {{"axis", std::int64_t{0}}});
    const std::string none = t.node("Expand", {t.graph.number(initial, t.dtype()), shape});
    return Names{t.node("ScatterND", {none, t.graph.unsqueezed(places, {1}), t("data")},
                        {{"reduction", std::string(reduction)}})};
  };
}

}  // namespace

void add_composed_rows(RowTable& rows) {
  rows["Arctan2"] = composed([](const auto&, auto x) { return arctan2(x("x1"), x("x2")); });
  rows["Cbrt"] =
      composed([](const auto&, auto x) { return K::sign(x("x")) * K::pow(K::abs(x("x")), 1. / 3); });
  rows["Ldexp"] = composed([](const auto&, auto x) { return x("x1") * K::exp(x("x2") * std::numbers::ln2); });
  rows["SparseSigmoid"] = composed([](const auto&, auto x) { return K::clip((x("x") + 1) * 0.5, 0, 1); });
  rows["BinaryCrossentropy"] =
      composed([](const Translation& t, auto x) { return binary_crossentropy(t, x("target"), x("output")); });
  rows["CategoricalCrossentropy"] = composed([](const Translation& t, auto x) {
    return -K::sum(x("target") * log_probabilities(t, x("output")), t.call->axis());
  });
  rows["SparseCategoricalCrossentropy"] = composed([](const Translation& t, auto x) {
    const Tensor output = x("output");
    const int axis = t.call->axis() < 0 ? t.call->axis() + output.ndim() : t.call->axis();
    if (axis + 1 != output.ndim()) t.fail("the classes are not the last axis");
    const std::int64_t classes = output.shape()[-1];
    if (classes == None) t.fail("the number of classes is unknown");
    const Tensor wanted =
        K::cast(ops::one_hot(K::cast(t.call->tensor("target"), DType::Int64), classes), t.dtype());
    return -K::sum(wanted * log_probabilities(t, output), -1);
  });
  constexpr double infinity = std::numeric_limits<double>::infinity();
  rows["SegmentSum"] = segments("add", 0), rows["SegmentProd"] = segments("mul", 1);
  rows["SegmentMax"] = segments("max", -infinity), rows["SegmentMin"] = segments("min", infinity);
}

}  // namespace ktape::nn::onnx
