#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/activation/activation.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/prelu.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(ReLUOptions& a, F&& field) {
  field("max_value", a.max_value);
  field("negative_slope", a.negative_slope);
  field("threshold", a.threshold);
}
template <class F>
void fields(LeakyReLUOptions& a, F&& field) {
  field("negative_slope", a.negative_slope);
}
template <class F>
void fields(PReLUOptions& a, F&& field) {
  field("alpha_initializer", a.alpha_initializer);
  field("alpha_regularizer", a.alpha_regularizer);
  field("alpha_constraint", a.alpha_constraint);
  field("shared_axes", a.shared_axes);
}
template <class F>
void fields(ELUOptions& a, F&& field) {
  field("alpha", a.alpha);
}
template <class F>
void fields(SoftmaxOptions& a, F&& field) {
  field("axis", a.axis);
}

namespace {

class ReLUImpl final : public LayerWith<ReLUOptions>, public Planned {
 public:
  explicit ReLUImpl(const ReLUOptions& options) : LayerWith("ReLU", options) {
    if (args.max_value) expect_at_least("ReLU", "max_value", *args.max_value, 0.0);
    expect_at_least("ReLU", "negative_slope", args.negative_slope, 0.0);
    expect_at_least("ReLU", "threshold", args.threshold, 0.0);
    supports_masking = true;
  }
  Tensor call(const Tensor& x) override {
    return activations::relu(x, {args.negative_slope, args.max_value, args.threshold});
  }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    using Function = kernels::ElementFunction::Kind;
    const bool clips = args.max_value.has_value();
    if (args.threshold != 0 || (clips && args.negative_slope != 0)) return {};
    if (clips) return network.function(inputs[0], {Function::Clip, 0, static_cast<float>(*args.max_value)});
    return network.function(inputs[0], {Function::Relu, static_cast<float>(args.negative_slope)});
  }
};

class LeakyReLUImpl final : public LayerWith<LeakyReLUOptions>, public Planned {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options) : LayerWith("LeakyReLU", options) {
    expect_at_least("LeakyReLU", "negative_slope", args.negative_slope, 0.0);
    supports_masking = true;
  }
  Tensor call(const Tensor& x) override { return activations::leaky_relu(x, {args.negative_slope}); }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    return network.function(inputs[0],
                            {kernels::ElementFunction::Kind::Relu, static_cast<float>(args.negative_slope)});
  }
};

class PReLUImpl final : public LayerWith<PReLUOptions>, public Planned {
 public:
  explicit PReLUImpl(const PReLUOptions& options) : LayerWith("PReLU", options) { supports_masking = true; }

  void build(const Shape& input) override {
    Shape shape = input;
    shape.erase(0);
    for (const int axis : args.shared_axes) {
      if (axis < 1 || axis >= input.rank())
        fail("[", name(), "] shared_axes must name axes after the batch axis: received axis=", axis,
             " for shape=", input);
      shape[axis - 1] = 1;
    }
    alpha_ = add_weight("alpha", shape,
                        {.initializer = args.alpha_initializer,
                         .regularizer = args.alpha_regularizer,
                         .constraint = args.alpha_constraint});
    input_spec = {{.ndim = input.rank()}};
    for (int axis = 1; axis < input.rank(); ++axis)
      if (shape[axis - 1] != 1) input_spec[0].axes.emplace_back(axis, shape[axis - 1]);
  }

  Tensor call(const Tensor& x) override { return op_helpers::prelu(x, alpha_); }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    return alpha_.size() == alpha_.shape()[-1] ? network.prelu(inputs[0], alpha_) : std::nullopt;
  }

 private:
  Variable alpha_;
};

class ELUImpl final : public LayerWith<ELUOptions>, public Planned {
 public:
  explicit ELUImpl(const ELUOptions& options) : LayerWith("ELU", options) { supports_masking = true; }
  Tensor call(const Tensor& x) override { return K::elu(x, args.alpha); }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    return network.function(inputs[0], {kernels::ElementFunction::Kind::Elu, static_cast<float>(args.alpha)});
  }
};

class SoftmaxImpl final : public LayerWith<SoftmaxOptions>, public Planned {
 public:
  explicit SoftmaxImpl(const SoftmaxOptions& options) : LayerWith("Softmax", options) {
    supports_masking = true;
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    const Tensor mask = arguments.mask.empty() ? Tensor() : arguments.mask[0];
    if (!mask.defined()) return normalized(x);
    const Tensor seen = K::as_dtype(mask, "bool");
    return K::where(seen, normalized(K::where(seen, x, -INFINITY)), 0);
  }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    if (args.axis.all() || args.axis.list().size() != 1) return {};
    const int axis = args.axis.list()[0];
    return axis == -1 || axis == network.rank(inputs[0]) - 1 ? network.softmax(inputs[0]) : std::nullopt;
  }

 private:
  Tensor normalized(const Tensor& x) const {
    if (!args.axis.all() && args.axis.list().size() == 1) return K::softmax(x, args.axis.list()[0]);
    return K::exp(x - K::logsumexp(x, args.axis, true));
  }
};

}  // namespace

ReLU::ReLU(const ReLUOptions& options) : Layer(std::make_shared<ReLUImpl>(options)) {}
LeakyReLU::LeakyReLU(const LeakyReLUOptions& options) : Layer(std::make_shared<LeakyReLUImpl>(options)) {}
PReLU::PReLU(const PReLUOptions& options) : Layer(std::make_shared<PReLUImpl>(options)) {}
ELU::ELU(const ELUOptions& options) : Layer(std::make_shared<ELUImpl>(options)) {}
Softmax::Softmax(const SoftmaxOptions& options) : Layer(std::make_shared<SoftmaxImpl>(options)) {}

void add_activation_layers(ClassRegistry& registry) {
  add_layer<ReLUImpl, ReLUOptions>(registry, "ReLU");
  add_layer<LeakyReLUImpl, LeakyReLUOptions>(registry, "LeakyReLU");
  add_layer<PReLUImpl, PReLUOptions>(registry, "PReLU");
  add_layer<ELUImpl, ELUOptions>(registry, "ELU");
  add_layer<SoftmaxImpl, SoftmaxOptions>(registry, "Softmax");
}

}  // namespace ktape::nn
