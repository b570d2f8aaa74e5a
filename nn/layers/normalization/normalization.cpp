#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/normalization/batch_normalization.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

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

/// Returns the given axes as numbers of at least 0, in ascending order. Throws ValueError for an axis that
/// the input does not have, for a repeated axis, and for no axes.
std::vector<int> axes_of(const std::string& layer, const Shape& input, const Axes& given) {
  std::vector<int> axes;
  for (const int axis : given.list()) axes.push_back(axis_of(layer, input, axis));
  std::sort(axes.begin(), axes.end());
  if (axes.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    fail("[", layer, "] axis must name each axis once: received axis=", Value(given));
  return axes;
}

/// Returns f(x, parameters...), computed in float32 for x of 16 bits. The backward pass then keeps the
/// arguments, not float32 copies, and computes f again.
template <class F, class... Parameters>
Tensor in_float32(const F& f, const Tensor& x, const Parameters&... parameters) {
  if (x.dtype().size() != 2) return f(x, parameters...);
  const auto wide = [f](const Tensor& x, const auto&... all) {
    return K::as_dtype(f(K::as_dtype(x, DType::Float32), K::as_dtype(all, DType::Float32)...), x.dtype());
  };
  if (is_symbolic(x)) return wide(x, parameters...);
  return custom_gradient([wide](const auto&... all) {
    return std::pair{wide(all...), [wide, all...](const Tensor& dy) {
                       return gradients(wide(all...), TensorList{all...}, TensorList{dy});
                     }};
  })(x, parameters...);
}

// --- LayerNormalization, GroupNormalization ----------------------------------------------------------------

class LayerNormalizationImpl final : public AffineImpl<LayerNormalizationOptions>, public Planned {
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
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const int count = static_cast<int>(axes_.size()), rank = network.rank(inputs[0]);
    if (axes_.front() != rank - count || axes_.back() != rank - 1) return {};
    return network.layer_normalization(inputs[0], gamma_variable(), beta_variable(), args.epsilon, count);
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
    if (axis_ == 0) fail("[", name(), "] axis must not be the batch axis: received axis=", args.axis);
    const Shape channels = keep_extents(input, {axis_});
    groups_ = args.groups == -1 ? channels[0] : args.groups;
    if (channels[0] != None && channels[0] % groups_ != 0)
      fail("[", name(), "] the channels must divide into the groups: received shape=", input,
           ", groups=", args.groups);
    add_gamma_and_beta(channels);
  }

  Tensor call(const Tensor& x) override {
    if (is_symbolic(x)) return K::identity(x);  // a symbol needs the output shape only
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
    const auto scaled = [axes = axes_, epsilon = args.epsilon](const Tensor& x, const Tensor& scale) {
      return x / K::sqrt(K::mean(K::square(x), axes, true) + epsilon) * scale;
    };
    return in_float32(scaled, x, K::reshape(scale_, placed_));
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
    const auto scaled = [axes = axes_](const Tensor& x) {
      return x / K::sqrt(K::maximum(K::sum(K::square(x), axes, true), 1e-24));
    };
    return in_float32(scaled, x);
  }

 private:
  std::vector<int> axes_;
};

}  // namespace

BatchNormalization::BatchNormalization(const BatchNormalizationOptions& options)
    : ScalingLayer(std::make_shared<BatchNormalizationImpl>(options)) {}
LayerNormalization::LayerNormalization(const LayerNormalizationOptions& options)
    : ScalingLayer(std::make_shared<LayerNormalizationImpl>(options)) {}
GroupNormalization::GroupNormalization(const GroupNormalizationOptions& options)
    : ScalingLayer(std::make_shared<GroupNormalizationImpl>(options)) {}
RMSNormalization::RMSNormalization(const RMSNormalizationOptions& options)
    : Layer(std::make_shared<RMSNormalizationImpl>(options)) {}
UnitNormalization::UnitNormalization(const UnitNormalizationOptions& options)
    : Layer(std::make_shared<UnitNormalizationImpl>(options)) {}

void add_normalization_layers(ClassRegistry& registry) {
  add_layer<BatchNormalizationImpl, BatchNormalizationOptions>(registry, "BatchNormalization");
  add_layer<LayerNormalizationImpl, LayerNormalizationOptions>(registry, "LayerNormalization");
  add_layer<GroupNormalizationImpl, GroupNormalizationOptions>(registry, "GroupNormalization");
  add_layer<RMSNormalizationImpl, RMSNormalizationOptions>(registry, "RMSNormalization");
  add_layer<UnitNormalizationImpl, UnitNormalizationOptions>(registry, "UnitNormalization");
}

}  // namespace ktape::nn
