#include <ktape/autograd/symbolic.hpp>
#include <ktape/nn/layers/arguments.hpp>
#include <ktape/nn/layers/normalization.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>

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

template <class F>
void fields(LayerNormalizationOptions& a, F&& field) {
  affine_fields(a, field);
}

template <class F>
void fields(GroupNormalizationOptions& a, F&& field) {
  field("groups", a.groups);
  affine_fields(a, field);
}

template <class F>
void fields(RMSNormalizationOptions& a, F&& field) {
  field("axis", a.axis);
  field("epsilon", a.epsilon);
}

template <class F>
void fields(UnitNormalizationOptions& a, F&& field) {
  field("axis", a.axis);
}

namespace {

/// The axis counted from the front.
int axis_of(const std::string& layer, const Shape& input, int axis) {
  const int at = axis < 0 ? axis + input.rank() : axis;
  if (at < 0 || at >= input.rank())
    fail("[", layer, "] axis must be one of the input: received axis=", axis, ", shape=", input);
  return at;
}

/// The same for several, in ascending order.
std::vector<int> axes_of(const std::string& layer, const Shape& input, const Axes& given) {
  std::vector<int> axes;
  for (const int axis : given.list()) axes.push_back(axis_of(layer, input, axis));
  std::sort(axes.begin(), axes.end());
  if (axes.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    fail("[", layer, "] axis must name each axis once: received axis=", Value(given));
  return axes;
}

/// What is normalized, then scaled and moved by weights.
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
                                {args.gamma_initializer, args.gamma_regularizer, args.gamma_constraint});
    if (args.center)
      beta_ = this->add_weight("beta", shape,
                               {args.beta_initializer, args.beta_regularizer, args.beta_constraint});
  }
  /// From now on the input has these extents on the axes.
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

  Tensor gamma() const { return gamma_.defined() ? Tensor(gamma_) : Tensor(); }
  Tensor beta() const { return beta_.defined() ? Tensor(beta_) : Tensor(); }

 private:
  Variable gamma_, beta_;
};

// --- BatchNormalization ------------------------------------------------------------------------------------

class BatchNormalizationImpl final : public AffineImpl<BatchNormalizationOptions> {
 public:
  explicit BatchNormalizationImpl(const BatchNormalizationOptions& options)
      : AffineImpl("BatchNormalization", options) {}

  void build(const Shape& input) override {
    axis_ = axis_of(name(), input, args.axis);
    const Shape channels = keep_extents(input, {axis_});
    add_gamma_and_beta(channels);
    moving_mean_ = add_weight("moving_mean", channels,
                              {.initializer = args.moving_mean_initializer, .trainable = false});
    moving_variance_ = add_weight("moving_variance", channels,
                                  {.initializer = args.moving_variance_initializer, .trainable = false});
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    if (!training(arguments) || !trainable()) return normalized(x, moving_mean_, moving_variance_);
    const bool masked = !arguments.mask.empty() && arguments.mask[0].defined();
    const auto [y, mean, variance] = masked ? with_counted(x, arguments.mask[0]) : with_all(x);
    if (!is_symbolic(y)) {
      K::moving_average_update(moving_mean_, mean.detach(), args.momentum);
      K::moving_average_update(moving_variance_, variance.detach(), args.momentum);
    }
    return y;
  }

 private:
  Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& variance) const {
    const auto placed = [&](const Tensor& t) { return t.defined() ? along_axis(t, x.ndim()) : t; };
    return K::batch_normalization(x, placed(mean), placed(variance), placed(beta()), placed(gamma()),
                                  {axis_, args.epsilon});
  }
  /// One element for each channel, so that it broadcasts to x.
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
    if (x.ndim() != 4)
      return K::normalize_batch_in_training(x, gamma(), beta(), other_axes(x.ndim()), {args.epsilon});
    // For rank 4 the op gives another variance, as TF does: one more axis is summed over.
    std::vector<int> axes{0};
    for (const int axis : other_axes(4)) axes.push_back(axis + 1);
    K::NormalizedBatch batch =
        K::normalize_batch_in_training(K::expand_dims(x, 0), gamma(), beta(), axes, {args.epsilon});
    batch.normalized = K::squeeze(batch.normalized, 0);
    return batch;
  }

  /// With the statistics of the steps that count.
  K::NormalizedBatch with_counted(const Tensor& x, const Tensor& mask) const {
    Tensor counts = K::cast(mask, x.dtype());
    while (counts.ndim() < x.ndim()) counts = K::expand_dims(counts, -1);
    const Axes axes = other_axes(x.ndim());
    const Tensor n = K::sum(counts * K::ones_like(x), axes, true) + K::epsilon();
    const Tensor mean = K::sum(counts * x, axes, true) / n;
    const Tensor variance = K::sum(counts * K::square(x - mean), axes, true) / n;
    const Tensor flat_mean = K::reshape(mean, {-1}), flat_variance = K::reshape(variance, {-1});
    return {normalized(x, flat_mean, flat_variance), flat_mean, flat_variance};
  }

  int axis_ = -1;
  Variable moving_mean_, moving_variance_;
};

// --- LayerNormalization, GroupNormalization ----------------------------------------------------------------

class LayerNormalizationImpl final : public AffineImpl<LayerNormalizationOptions> {
 public:
  explicit LayerNormalizationImpl(const LayerNormalizationOptions& options)
      : AffineImpl("LayerNormalization", options) {}

  void build(const Shape& input) override {
    axes_ = axes_of(name(), input, args.axis);
    add_gamma_and_beta(keep_extents(input, axes_));
  }
  Tensor call(const Tensor& x) override {
    return K::layer_normalization(x, gamma(), beta(), {axes_, args.epsilon});
  }

 private:
  std::vector<int> axes_;
};

class GroupNormalizationImpl final : public AffineImpl<GroupNormalizationOptions> {
 public:
  explicit GroupNormalizationImpl(const GroupNormalizationOptions& options)
      : AffineImpl("GroupNormalization", options) {
    if (args.groups != -1) expect_at_least<std::int64_t>("GroupNormalization", "groups", args.groups, 1);
    input_spec = {{.min_ndim = 2}};
  }

  void build(const Shape& input) override {
    axis_ = axis_of(name(), input, args.axis);
    if (axis_ == 0) fail("[", name(), "] axis must not be that of the batch: received axis=", args.axis);
    const Shape channels = keep_extents(input, {axis_});
    groups_ = args.groups == -1 ? channels[0] : args.groups;
    if (channels[0] != None && channels[0] % groups_ != 0)
      fail("[", name(), "] the channels must divide into the groups: received shape=", input,
           ", groups=", args.groups);
    add_gamma_and_beta(channels);
  }

  Tensor call(const Tensor& x) override {
    if (is_symbolic(x)) return K::identity(x);  // only the shape of the output is looked for
    Shape grouped = x.shape(), channels(std::vector<std::int64_t>(x.shape().size(), 1));
    grouped[axis_] = groups_;
    grouped.insert(axis_ + 1, x.shape()[axis_] / groups_);
    channels[axis_] = x.shape()[axis_];
    std::vector<int> axes;
    for (int axis = 1; axis < grouped.rank(); ++axis)
      if (axis != axis_) axes.push_back(axis);
    Tensor y = K::layer_normalization(K::reshape(x, grouped), Tensor(), Tensor(), {axes, args.epsilon});
    y = K::reshape(y, x.shape());
    if (args.scale) y = y * K::reshape(gamma(), channels);
    if (args.center) y = y + K::reshape(beta(), channels);
    return y;
  }

 private:
  int axis_ = -1;
  std::int64_t groups_ = 0;
};

// --- RMSNormalization, UnitNormalization -------------------------------------------------------------------

class RMSNormalizationImpl final : public LayerWith<RMSNormalizationOptions> {
 public:
  explicit RMSNormalizationImpl(const RMSNormalizationOptions& options)
      : LayerWith("RMSNormalization", options) {
    expect_at_least("RMSNormalization", "epsilon", args.epsilon, 0.);
    supports_masking = true;
    input_spec = {{.min_ndim = 1}};
  }

  void build(const Shape& input) override {
    axes_ = axes_of(name(), input, args.axis);
    Shape extents;
    placed_ = Shape(std::vector<std::int64_t>(input.size(), 1));
    InputSpec spec{.ndim = input.rank()};
    for (const int axis : axes_) {
      extents.push_back(input[axis]);
      placed_[axis] = input[axis];
      spec.axes.emplace_back(axis, input[axis]);
    }
    scale_ = add_weight("scale", extents, {.initializer = "ones"});
    input_spec = {spec};
  }
  Tensor call(const Tensor& x) override {
    const Tensor size = K::sqrt(K::mean(K::square(x), axes_, true) + args.epsilon);
    return x / size * K::reshape(scale_, placed_);
  }

 private:
  std::vector<int> axes_;
  Shape placed_;
  Variable scale_;
};

class UnitNormalizationImpl final : public LayerWith<UnitNormalizationOptions> {
 public:
  explicit UnitNormalizationImpl(const UnitNormalizationOptions& options)
      : LayerWith("UnitNormalization", options) {
    supports_masking = true;
    input_spec = {{.min_ndim = 1}};
  }

  void build(const Shape& input) override { axes_ = axes_of(name(), input, args.axis); }
  Tensor call(const Tensor& x) override {
    const double least = x.dtype() == DType::Float16 ? 1e-7 : 1e-24;  // what is not 0 there
    return x / K::sqrt(K::maximum(K::sum(K::square(x), axes_, true), least));
  }

 private:
  std::vector<int> axes_;
};

}  // namespace

BatchNormalization::BatchNormalization(const BatchNormalizationOptions& options)
    : Layer(std::make_shared<BatchNormalizationImpl>(options)) {}
LayerNormalization::LayerNormalization(const LayerNormalizationOptions& options)
    : Layer(std::make_shared<LayerNormalizationImpl>(options)) {}
GroupNormalization::GroupNormalization(const GroupNormalizationOptions& options)
    : Layer(std::make_shared<GroupNormalizationImpl>(options)) {}
RMSNormalization::RMSNormalization(const RMSNormalizationOptions& options)
    : Layer(std::make_shared<RMSNormalizationImpl>(options)) {}
UnitNormalization::UnitNormalization(const UnitNormalizationOptions& options)
    : Layer(std::make_shared<UnitNormalizationImpl>(options)) {}

void add_normalization_layers(Catalogue& catalogue) {
  add_layer<BatchNormalizationImpl, BatchNormalizationOptions>(catalogue, "BatchNormalization");
  add_layer<LayerNormalizationImpl, LayerNormalizationOptions>(catalogue, "LayerNormalization");
  add_layer<GroupNormalizationImpl, GroupNormalizationOptions>(catalogue, "GroupNormalization");
  add_layer<RMSNormalizationImpl, RMSNormalizationOptions>(catalogue, "RMSNormalization");
  add_layer<UnitNormalizationImpl, UnitNormalizationOptions>(catalogue, "UnitNormalization");
}

}  // namespace ktape::nn
