#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/nn/losses/loss_of.hpp>
#include <ktape/nn/losses/probabilistic.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/nn/losses.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

namespace ktape::nn {
namespace K = backend;

namespace losses {
namespace {

using K::log;
using kernels::functions::log;
using op_helpers::like, op_helpers::select;

Tensor clipped(const Tensor& p) { return K::clip(p, K::epsilon(), 1 - K::epsilon()); }

Tensor smoothed(const Tensor& y_true, double smoothing, double classes) {
  return smoothing == 0 ? y_true : y_true * (1 - smoothing) + smoothing / classes;
}

/// The loss of a probability that is clipped to [low, high], and its derivative.
struct BinaryCost {
  double low, high;

  template <class B>
  B operator()(const B& t, const B& p) const {
    const B c = select(p < low, like(p, low), select(p > high, like(p, high), p));
    return -(t * log(c) + (1 - t) * log(1 - c));
  }
  template <class B>
  B operator()(const B& g, const B& t, const B& p) const {
    const B slope = g * ((1 - t) / (1 - p) - t / p);
    return select(p < low, like(p, 0), select(p > high, like(p, 0), slope));
  }
};

/// Returns the binary crossentropy of each element, for probabilities of the targets' shape.
Tensor binary_cost(const Tensor& t, const Tensor& p) {
  const BinaryCost cost{K::epsilon(), 1 - K::epsilon()};
  Tensor out = op_helpers::apply(cost, t, p);
  if (recording(t, p))
    record("binary_crossentropy", out, {t, p}, [t, p, cost](const Tensor& g, Grads& grads) {
      grads.to(1, [&] { return op_helpers::along(cost, g, t, p); });
      grads.to(0, [&] {
        const Tensor c = clipped(p);
        return op_helpers::chained(g, K::log(1 - c) - K::log(c));
      });
    });
  return out;
}

Tensor binary_values(const Tensor& y_true, const Tensor& y_pred, bool from_logits) {
  op_helpers::expect_floating("binary_crossentropy", y_pred);
  const auto [t, p] = like_predictions("binary_crossentropy", y_true, y_pred);
  if (is_symbolic(t, p))
    return defer("binary_crossentropy", op_helpers::broadcast_info("binary_crossentropy", t, p),
                 binary_values, t, p, from_logits);
  if (from_logits || computed_from(p, "sigmoid"))
    return K::binary_crossentropy(t, p, {.from_logits = from_logits});
  return binary_cost(t, p);
}

/// Returns the shape of y_pred without the axis of the classes. Throws unless y_true has a class for each
/// sample.
Shape samples_of(const char* op, const Tensor& y_true, const Tensor& y_pred, int axis) {
  expect_defined(op, "y_true, y_pred", y_true, y_pred);
  Shape samples = y_pred.shape();
  samples.erase(canonical_axis(op, axis, samples.rank()));
  const bool alike = y_true.ndim() == samples.rank();
  if (alike ? !compatible(y_true.shape(), samples) : !compatible(y_true.size(), samples.count()))
    fail("[", op, "] y_true must have a class for each of the samples ", samples,
         ": received y_true=", y_true.shape(), ", y_pred=", y_pred.shape());
  for (int i = 0; alike && i < samples.rank(); ++i) samples[i] = merged(samples[i], y_true.shape()[i]);
  return samples;
}

/// Returns class numbers as one-hot vectors along the axis of y_pred.
Tensor one_hot_like(const char* op, const Tensor& y_true, const Tensor& y_pred, int axis) {
  const int at = canonical_axis(op, axis, y_pred.ndim());
  const Shape samples = samples_of(op, y_true, y_pred, axis);
  const Tensor classes = K::reshape(K::class_numbers(op, "target", y_true, y_pred.shape()[at]), samples);
  Tensor hot = K::as_dtype(K::one_hot(classes, y_pred.shape()[at]), y_pred.dtype());
  if (at == y_pred.ndim() - 1) return hot;
  Shape pattern;
  for (int i = 0; i < samples.rank(); ++i) pattern.push_back(i);
  pattern.insert(at, samples.rank());
  return K::permute_dimensions(hot, pattern);
}

Tensor sparse_values(const Tensor& y_true, const Tensor& y_pred, bool from_logits, int axis) {
  constexpr const char* op = "sparse_categorical_crossentropy";
  const Shape samples = samples_of(op, y_true, y_pred, axis);
  if (is_symbolic(y_true, y_pred))
    return defer(op, {samples, y_pred.dtype()}, sparse_values, WithoutGradient{y_true}, y_pred, from_logits,
                 axis);
  if (from_logits || computed_from(y_pred, "softmax"))
    return K::sparse_categorical_crossentropy(y_true, y_pred, {.from_logits = from_logits, .axis = axis});
  return K::categorical_crossentropy(one_hot_like(op, y_true, y_pred, axis), y_pred, {.axis = axis});
}

LossValues sparse_with_mask(const Tensor& y_true, const Tensor& y_pred,
                            const SparseCategoricalCrossentropyFunctionOptions& o) {
  if (!o.ignore_class) return sparse_values(y_true, y_pred, o.from_logits, o.axis);
  const Tensor classes = K::class_numbers("sparse_categorical_crossentropy", "target", y_true);
  const Tensor counts = classes != *o.ignore_class;
  const Tensor values = sparse_values(classes * K::as_dtype(counts, "int64"), y_pred, o.from_logits, o.axis);
  const Tensor mask = K::reshape(counts, values.shape());
  return {K::where(mask, values, K::zeros_like(values)), mask};
}

}  // namespace

Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyFunctionOptions& o) {
  const Tensor t = smoothed(K::as_dtype(y_true, y_pred.dtype()), o.label_smoothing, 2);
  return K::mean(binary_values(t, y_pred, o.from_logits), o.axis);
}

Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 const BinaryFocalCrossentropyFunctionOptions& o) {
  const auto [given, output] = like_predictions("binary_focal_crossentropy", y_true, y_pred);
  const Tensor t = smoothed(given, o.label_smoothing, 2);
  const Tensor p = o.from_logits ? K::sigmoid(output) : output;
  const Tensor of_class = t * p + (1 - t) * (1 - p);
  const Tensor focal = K::pow(1 - of_class, o.gamma) * binary_values(t, p, false);
  if (!o.apply_class_balancing) return K::mean(focal, o.axis);
  return K::mean((t * o.alpha + (1 - t) * (1 - o.alpha)) * focal, o.axis);
}

Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyFunctionOptions& o) {
  Tensor t = y_true;
  if (o.label_smoothing != 0) {
    const int axis = canonical_axis("categorical_crossentropy", o.axis, y_pred.ndim());
    t = smoothed(K::as_dtype(t, y_pred.dtype()), o.label_smoothing,
                 static_cast<double>(y_pred.shape()[axis]));
  }
  return K::categorical_crossentropy(t, y_pred, {.from_logits = o.from_logits, .axis = o.axis});
}

Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CategoricalFocalCrossentropyFunctionOptions& o) {
  const int axis = canonical_axis("categorical_focal_crossentropy", o.axis, y_pred.ndim());
  if (y_true.shape() != y_pred.shape())
    fail("[categorical_focal_crossentropy] y_true and y_pred must have one shape: received y_true=",
         y_true.shape(), ", y_pred=", y_pred.shape());
  const Tensor t = smoothed(K::as_dtype(y_true, y_pred.dtype()), o.label_smoothing,
                            static_cast<double>(y_pred.shape()[axis]));
  const Tensor output = o.from_logits ? K::softmax(y_pred, axis) : y_pred;
  const Tensor p = clipped(output / K::sum(output, axis, true));
  const Tensor focal = K::pow(1 - p, o.gamma) * (t * K::log(p));
  if (o.alpha.size() == 1) return -o.alpha[0] * K::sum(focal, axis);
  return -K::sum(K::constant(o.alpha, {.dtype = y_pred.dtype()}) * focal, axis);
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyFunctionOptions& o) {
  return sparse_with_mask(y_true, y_pred, o).values;
}

Tensor categorical_generalized_cross_entropy(const Tensor& y_true, const Tensor& y_pred, double q) {
  constexpr const char* op = "categorical_generalized_cross_entropy";
  const Shape samples = samples_of(op, y_true, y_pred, -1);
  if (is_symbolic(y_true, y_pred))
    return defer(op, {samples, y_pred.dtype()}, categorical_generalized_cross_entropy,
                 WithoutGradient{y_true}, y_pred, q);
  const Tensor p = K::sum(y_pred * one_hot_like(op, y_true, y_pred, -1), -1);
  return (1 - K::pow(p, q)) / q;
}

Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred) {
  const auto [given, output] = like_predictions("kl_divergence", y_true, y_pred);
  const Tensor t = K::clip(given, K::epsilon(), 1), p = K::clip(output, K::epsilon(), 1);
  return K::sum(t * K::log(t / p), -1);
}

Tensor poisson(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions("poisson", y_true, y_pred);
  return K::mean(p - t * K::log(p + K::epsilon()), -1);
}

}  // namespace losses

template <class F>
void fields(BinaryCrossentropyOptions& o, F&& field) {
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing);
  field("axis", o.axis);
  field("reduction", o.reduction);
  field("name", o.name);
}
template <class F>
void fields(BinaryFocalCrossentropyOptions& o, F&& field) {
  field("apply_class_balancing", o.apply_class_balancing);
  field("alpha", o.alpha);
  field("gamma", o.gamma);
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing);
  field("axis", o.axis);
  field("reduction", o.reduction);
  field("name", o.name);
}
template <class F>
void fields(CategoricalCrossentropyOptions& o, F&& field) {
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing);
  field("axis", o.axis);
  field("reduction", o.reduction);
  field("name", o.name);
}
template <class F>
void fields(CategoricalFocalCrossentropyOptions& o, F&& field) {
  field("alpha", o.alpha);
  field("gamma", o.gamma);
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing);
  field("axis", o.axis);
  field("reduction", o.reduction);
  field("name", o.name);
}
template <class F>
void fields(SparseCategoricalCrossentropyOptions& o, F&& field) {
  field("from_logits", o.from_logits);
  field("ignore_class", o.ignore_class);
  field("axis", o.axis);
  field("reduction", o.reduction);
  field("name", o.name);
}
template <class F>
void fields(CategoricalGeneralizedCrossEntropyOptions& o, F&& field) {
  field("q", o.q);
  field("reduction", o.reduction);
  field("name", o.name);
}

BinaryCrossentropy::BinaryCrossentropy(const BinaryCrossentropyOptions& options)
    : Loss(loss_of("BinaryCrossentropy", options,
                   [](const Tensor& t, const Tensor& p, const BinaryCrossentropyOptions& o) {
                     return losses::binary_crossentropy(t, p, {o.from_logits, o.label_smoothing, o.axis});
                   })) {}

BinaryFocalCrossentropy::BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options)
    : Loss(loss_of("BinaryFocalCrossentropy", options,
                   [](const Tensor& t, const Tensor& p, const BinaryFocalCrossentropyOptions& o) {
                     return losses::binary_focal_crossentropy(t, p,
                                                              {o.apply_class_balancing, o.alpha, o.gamma,
                                                               o.from_logits, o.label_smoothing, o.axis});
                   })) {}

CategoricalCrossentropy::CategoricalCrossentropy(const CategoricalCrossentropyOptions& options)
    : Loss(
          loss_of("CategoricalCrossentropy", options,
                  [](const Tensor& t, const Tensor& p, const CategoricalCrossentropyOptions& o) {
                    return losses::categorical_crossentropy(t, p, {o.from_logits, o.label_smoothing, o.axis});
                  })) {}

CategoricalFocalCrossentropy::CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options)
    : Loss(loss_of("CategoricalFocalCrossentropy", options,
                   [](const Tensor& t, const Tensor& p, const CategoricalFocalCrossentropyOptions& o) {
                     return losses::categorical_focal_crossentropy(
                         t, p, {o.alpha, o.gamma, o.from_logits, o.label_smoothing, o.axis});
                   })) {}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    const SparseCategoricalCrossentropyOptions& options)
    : Loss(loss_of("SparseCategoricalCrossentropy", options,
                   [](const Tensor& t, const Tensor& p, const SparseCategoricalCrossentropyOptions& o) {
                     return losses::sparse_with_mask(t, p, {o.from_logits, o.ignore_class, o.axis});
                   })) {}

CategoricalGeneralizedCrossEntropy::CategoricalGeneralizedCrossEntropy(
    const CategoricalGeneralizedCrossEntropyOptions& options)
    : Loss(loss_of("CategoricalGeneralizedCrossEntropy", options,
                   [](const Tensor& t, const Tensor& p, const CategoricalGeneralizedCrossEntropyOptions& o) {
                     return losses::categorical_generalized_cross_entropy(t, p, o.q);
                   })) {
  if (!(options.q > 0 && options.q < 1))
    fail("[CategoricalGeneralizedCrossEntropy] q must be in (0, 1): received q=", options.q);
}

namespace {

/// Computes the crossentropy that fits targets and predictions, for "crossentropy" and "ce".
Tensor crossentropy_by_shape(const Tensor& y_true, const Tensor& y_pred) {
  switch (classes_by_shape(y_true.shape(), y_pred.shape())) {
    case Classes::Binary:
      return losses::binary_crossentropy(y_true, y_pred);
    case Classes::Sparse:
      return losses::sparse_categorical_crossentropy(y_true, y_pred);
    default:
      return losses::categorical_crossentropy(y_true, y_pred);
  }
}

struct Crossentropy : Loss {
  explicit Crossentropy(const LossOptions& options)
      : Loss(loss_of("Crossentropy", options, crossentropy_by_shape)) {}
};

}  // namespace

KLDivergence::KLDivergence(const LossOptions& options)
    : Loss(loss_of("KLDivergence", options, losses::kl_divergence)) {}
Poisson::Poisson(const LossOptions& options) : Loss(loss_of("Poisson", options, losses::poisson)) {}

void add_probabilistic_losses(ClassRegistry& registry) {
  registry.add<Crossentropy, LossOptions>("Crossentropy", {"ce"});
  registry.add<BinaryCrossentropy, BinaryCrossentropyOptions>("BinaryCrossentropy", {"bce"});
  registry.add<BinaryFocalCrossentropy, BinaryFocalCrossentropyOptions>("BinaryFocalCrossentropy", {"bfce"});
  registry.add<CategoricalCrossentropy, CategoricalCrossentropyOptions>("CategoricalCrossentropy");
  registry.add<CategoricalFocalCrossentropy, CategoricalFocalCrossentropyOptions>(
      "CategoricalFocalCrossentropy");
  registry.add<SparseCategoricalCrossentropy, SparseCategoricalCrossentropyOptions>(
      "SparseCategoricalCrossentropy");
  registry.add<CategoricalGeneralizedCrossEntropy, CategoricalGeneralizedCrossEntropyOptions>(
      "CategoricalGeneralizedCrossEntropy");
  registry.add<KLDivergence, LossOptions>("KLDivergence", {"kld", "kullback_leibler_divergence"});
  registry.add<Poisson, LossOptions>("Poisson");
}

}  // namespace ktape::nn
