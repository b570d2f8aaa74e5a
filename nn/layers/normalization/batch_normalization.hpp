#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/unmasked.hpp>
#include <ktape/ops/updates.hpp>

/// The base class of normalizing layers, and the implementation of BatchNormalization. Internal: sources
/// only.
namespace ktape::nn {
namespace K = backend;

template <class Options, class F>
void affine_fields(Options& a, F&& field) {
  field("axis", a.axis);
  field("epsilon", a.epsilon);
  field("center", a.center);
  field("scale", a.scale);
  field("beta_initializer", a.beta_initializer);
  field("gamma_initializer", a.gamma_initializer);
  field("beta_regularizer", a.beta_regularizer);
  field("gamma_regularizer", a.gamma_regularizer);
  field("beta_constraint", a.beta_constraint);
  field("gamma_constraint", a.gamma_constraint);
}

template <class F>
void fields(BatchNormalizationOptions& a, F&& field) {
  affine_fields(a, field);
  field("momentum", a.momentum);
  field("moving_mean_initializer", a.moving_mean_initializer);
  field("moving_variance_initializer", a.moving_variance_initializer);
}

/// Returns the axis as a number of at least 0. Throws ValueError, naming the layer, for an axis that the
/// input does not have.
inline int axis_of(const std::string& layer, const Shape& input, int axis) {
  const int at = axis < 0 ? axis + input.rank() : axis;
  if (at < 0 || at >= input.rank())
    fail("[", layer, "] axis must be one of the input: received axis=", axis, ", shape=", input);
  return at;
}

/// A base class of layers that normalize the input, multiply by the weight gamma and add the weight beta.
template <class Options>
class AffineImpl : public LayerWith<Options> {
 public:
  AffineImpl(const char* class_name, const Options& options) : LayerWith<Options>(class_name, options) {
    expect_at_least(class_name, "epsilon", args.epsilon, 0.);
    this->supports_masking = true;
    this->input_spec = {{.min_ndim = 1}};
  }

 protected:
  using LayerWith<Options>::args;

  void add_gamma_and_beta(const Shape& shape) {
    if (args.scale)
      gamma_ = this->add_weight("gamma", shape,
                                {.initializer = args.gamma_initializer,
                                 .regularizer = args.gamma_regularizer,
                                 .constraint = args.gamma_constraint});
    if (args.center)
      beta_ = this->add_weight("beta", shape,
                               {.initializer = args.beta_initializer,
                                .regularizer = args.beta_regularizer,
                                .constraint = args.beta_constraint});
  }
  /// Requires the extents of this input on the axes for all later inputs, and returns these extents.
  Shape keep_extents(const Shape& input, const std::vector<int>& axes) {
    Shape extents;
    InputSpec spec{.ndim = input.rank()};
    for (const int axis : axes) {
      extents.push_back(input[axis]);
      spec.axes.emplace_back(axis, input[axis]);
    }
    this->input_spec = {spec};
    return extents;
  }

  const Variable& gamma_variable() const { return gamma_; }
  const Variable& beta_variable() const { return beta_; }
  Tensor gamma() const { return gamma_.defined() ? Tensor(gamma_) : Tensor(); }
  Tensor beta() const { return beta_.defined() ? Tensor(beta_) : Tensor(); }

 private:
  Variable gamma_, beta_;
};

/// The implementation of BatchNormalization. A class with statistics over more than one batch overrides
/// `counts_of` and `total`.
class BatchNormalizationImpl : public AffineImpl<BatchNormalizationOptions>, public Planned {
 public:
  explicit BatchNormalizationImpl(const BatchNormalizationOptions& options,
                                  const char* class_name = "BatchNormalization")
      : AffineImpl(class_name, options) {}

  void build(const Shape& input) override {
    axis_ = axis_of(name(), input, args.axis);
    const Shape channels = keep_extents(input, {axis_});
    add_gamma_and_beta(channels);
    for (Variable parameter : {gamma_variable(), beta_variable()})
      if (parameter.defined()) parameter.set_autocast(false);
    moving_mean_ =
        add_weight("moving_mean", channels,
                   {.initializer = args.moving_mean_initializer, .trainable = false, .autocast = false});
    moving_variance_ =
        add_weight("moving_variance", channels,
                   {.initializer = args.moving_variance_initializer, .trainable = false, .autocast = false});
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    if (!training(arguments) || !trainable()) return normalized(x, moving_mean_, moving_variance_);
    const Tensor counts = counts_of(x, arguments.mask.empty() ? Tensor() : arguments.mask[0]);
    const auto [y, mean, variance] = counts.defined() ? normalize_unmasked(x, counts) : with_all(x);
    if (!is_symbolic(y)) {
      K::moving_average_update(moving_mean_, mean.detach(), args.momentum);
      K::moving_average_update(moving_variance_, variance.detach(), args.momentum);
    }
    return y;
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    if (axis_ != static_cast<int>(network.shape(inputs[0]).size()) - 1) return {};
    return network.normalization(inputs[0], gamma_variable(), beta_variable(), moving_mean_, moving_variance_,
                                 args.epsilon);
  }

 protected:
  /// Returns the weight of each element in the statistics, broadcastable to x; undefined when all elements
  /// have one common weight.
  virtual Tensor counts_of(const Tensor& x, const Tensor& mask) const {
    if (!mask.defined()) return Tensor();
    Tensor counts = K::as_dtype(mask, x.dtype());
    while (counts.ndim() < x.ndim()) counts = K::expand_dims(counts, -1);
    return counts;
  }
  /// Returns the sum over all data of the statistics from the sum over this batch: for a single batch, `sum`.
  virtual Tensor total(const Tensor& sum) const { return sum; }

 private:
  Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& variance) const {
    const auto placed = [&](const Tensor& t) { return t.defined() ? along_axis(t, x.ndim()) : t; };
    return K::batch_normalization(x, placed(mean), placed(variance), placed(beta()), placed(gamma()),
                                  {axis_, args.epsilon});
  }
  /// Returns t, which has one element for each channel, in a shape that broadcasts to x.
  Tensor along_axis(const Tensor& t, int rank) const {
    if (axis_ == rank - 1) return t;
    Shape shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), 1));
    shape[axis_] = -1;
    return K::reshape(t, shape);
  }
  std::vector<int> other_axes(int rank) const {
    std::vector<int> axes;
    for (int axis = 0; axis < rank; ++axis)
      if (axis != axis_) axes.push_back(axis);
    return axes;
  }

  K::NormalizedBatch with_all(const Tensor& x) const {
    // Under a mixed policy, a float32 gamma makes the statistics float32.
    const bool keeps_precision = gamma().defined() || beta().defined() || x.dtype() == variable_dtype();
    const Tensor gamma =
        keeps_precision ? this->gamma() : K::ones(moving_mean_.shape(), {.dtype = variable_dtype()});
    if (x.ndim() != 4)
      return K::normalize_batch_in_training(x, gamma, beta(), other_axes(x.ndim()), {args.epsilon});
    // For rank 4 and three reduced axes the op multiplies the returned variance by N / (N - 1), as TF does.
    // One more axis of extent 1 prevents this factor.
    std::vector<int> axes{0};
    for (const int axis : other_axes(4)) axes.push_back(axis + 1);
    K::NormalizedBatch batch =
        K::normalize_batch_in_training(K::expand_dims(x, 0), gamma, beta(), axes, {args.epsilon});
    batch.normalized = K::squeeze(batch.normalized, 0);
    return batch;
  }

  /// Normalizes x with statistics in which `counts` weighs each element; elements of weight 0 may be infinite or
  /// NaN.
  K::NormalizedBatch normalize_unmasked(const Tensor& given, const Tensor& given_counts) const {
    const DType dtype = moving_mean_.dtype();
    const Tensor x = K::as_dtype(given, dtype), counts = K::as_dtype(given_counts, dtype);
    const Axes axes = other_axes(x.ndim());
    const auto counted = [&](const Tensor& t) { return op_helpers::unmasked(t, counts); };
    const Tensor n = total(K::sum(counts * K::ones_like(x), axes, true)) + K::epsilon();
    const Tensor mean = total(K::sum(counts * counted(x), axes, true)) / n;
    const Tensor variance = total(K::sum(counts * K::square(counted(x - mean)), axes, true)) / n;
    const Tensor flat_mean = K::reshape(mean, {-1}), flat_variance = K::reshape(variance, {-1});
    const Tensor y = normalized(x, flat_mean, flat_variance);
    return {K::as_dtype(y, given.dtype()), flat_mean, flat_variance};
  }

  int axis_ = -1;
  Variable moving_mean_, moving_variance_;
};

}  // namespace ktape::nn
