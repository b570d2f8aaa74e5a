#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(DotOptions& a, F&& field) {
  field("axes", a.axes);
  field("normalize", a.normalize);
}
template <class F>
void fields(ConcatenateOptions& a, F&& field) {
  field("axis", a.axis);
}

namespace {

using Tensors = std::vector<Tensor>;
using Combine = Tensor (*)(const Tensor&, const Tensor&);

/// A base class of layers that combine two or more inputs, one after another.
class MergeImpl : public LayerWith<LayerOptions> {
 public:
  MergeImpl(const char* class_name, Combine combine, const LayerOptions& options)
      : LayerWith(class_name, options), combine_(combine) {
    supports_masking = true;
  }

  void build(const std::vector<Shape>& inputs) override {
    if (inputs.size() < 2) fail("[", name(), "] there must be at least 2 inputs: received ", inputs.size());
  }

  Tensors call(const Tensors& given) {
    const Tensors inputs = of_one_rank(given);
    Tensor merged = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) merged = combine_(merged, inputs[i]);
    return {merged};
  }

  Tensors compute_mask(const Tensors& inputs, const Tensors& masks) override {
    if (masks.size() < inputs.size() ||
        std::any_of(masks.begin(), masks.end(), [](const Tensor& mask) { return !mask.defined(); }))
      return {Tensor()};
    Tensor any = masks[0];
    for (std::size_t i = 1; i < masks.size(); ++i) any = any | masks[i];
    return {any};
  }

 private:
  static Tensors of_one_rank(Tensors inputs) {
    int rank = 0;
    for (const Tensor& x : inputs) rank = std::max(rank, x.ndim());
    for (Tensor& x : inputs)
      while (x.ndim() < rank) x = K::expand_dims(x, std::min(x.ndim(), 1));
    return inputs;
  }

  Combine combine_;
};

Tensor plus(const Tensor& a, const Tensor& b) { return a + b; }
Tensor minus(const Tensor& a, const Tensor& b) { return a - b; }
Tensor times(const Tensor& a, const Tensor& b) { return a * b; }
Tensor larger(const Tensor& a, const Tensor& b) { return K::maximum(a, b); }
Tensor smaller(const Tensor& a, const Tensor& b) { return K::minimum(a, b); }

using kernels::BinaryFunction;

/// A merging layer whose function a network knows.
class PlannedMergeImpl : public MergeImpl, public Planned {
 public:
  PlannedMergeImpl(const char* class_name, Combine combine, BinaryFunction function,
                   const LayerOptions& options)
      : MergeImpl(class_name, combine, options), function_(function) {}
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    std::optional<int> y = inputs[0];
    for (std::size_t i = 1; y && i < inputs.size(); ++i) y = network.binary(function_, *y, inputs[i]);
    return y;
  }

 private:
  const BinaryFunction function_;
};

struct AddImpl final : PlannedMergeImpl {
  explicit AddImpl(const LayerOptions& options)
      : PlannedMergeImpl("Add", plus, BinaryFunction::Add, options) {}
};
struct SubtractImpl final : PlannedMergeImpl {
  explicit SubtractImpl(const LayerOptions& options)
      : PlannedMergeImpl("Subtract", minus, BinaryFunction::Subtract, options) {}
  void build(const std::vector<Shape>& inputs) override {
    if (inputs.size() != 2) fail("[", name(), "] there must be 2 inputs: received ", inputs.size());
  }
};
struct MultiplyImpl final : PlannedMergeImpl {
  explicit MultiplyImpl(const LayerOptions& options)
      : PlannedMergeImpl("Multiply", times, BinaryFunction::Multiply, options) {}
};
struct AverageImpl final : PlannedMergeImpl {
  explicit AverageImpl(const LayerOptions& options)
      : PlannedMergeImpl("Average", plus, BinaryFunction::Add, options) {}
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const std::optional<int> sum = PlannedMergeImpl::plan(network, inputs);
    const float share = 1 / static_cast<float>(inputs.size());
    return sum ? network.function(*sum, {kernels::ElementFunction::Kind::Linear, share}) : sum;
  }
  Tensors call(const Tensors& inputs) {
    return {MergeImpl::call(inputs)[0] / static_cast<double>(inputs.size())};
  }
};
struct MaximumImpl final : PlannedMergeImpl {
  explicit MaximumImpl(const LayerOptions& options)
      : PlannedMergeImpl("Maximum", larger, BinaryFunction::Maximum, options) {}
};
struct MinimumImpl final : PlannedMergeImpl {
  explicit MinimumImpl(const LayerOptions& options)
      : PlannedMergeImpl("Minimum", smaller, BinaryFunction::Minimum, options) {}
};

// --- Concatenate -------------------------------------------------------------------------------------------

class ConcatenateImpl final : public LayerWith<ConcatenateOptions>, public Planned {
 public:
  explicit ConcatenateImpl(const ConcatenateOptions& options) : LayerWith("Concatenate", options) {
    supports_masking = true;
  }

  Tensors call(const Tensors& inputs) { return {K::concatenate(inputs, args.axis)}; }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const int rank = static_cast<int>(network.shape(inputs[0]).size());
    return args.axis == -1 || args.axis == rank - 1 ? network.concatenation(inputs) : std::nullopt;
  }

  Tensors compute_mask(const Tensors& inputs, const Tensors& masks) override {
    if (std::none_of(masks.begin(), masks.end(), [](const Tensor& mask) { return mask.defined(); }))
      return {Tensor()};
    Tensors whole;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor all = K::as_dtype(K::ones_like(inputs[i]), "bool");
      if (!masks[i].defined()) {
        whole.push_back(all);
        continue;
      }
      Tensor mask = K::as_dtype(masks[i], "bool");
      while (mask.ndim() < inputs[i].ndim()) mask = K::expand_dims(mask);
      whole.push_back(all & mask);
    }
    const Tensor joined = K::concatenate(whole, args.axis);
    return {K::any(joined, -1)};
  }
};

// --- Dot --------------------------------------------------------------------------------------------------

class DotImpl final : public LayerWith<DotOptions> {
 public:
  explicit DotImpl(const DotOptions& options) : LayerWith("Dot", options) {
    const std::size_t count = args.axes.list().size();
    if (args.axes.all() || count < 1 || count > 2)
      fail("[Dot] axes must name one axis, or one for each input: received axes=", Value(args.axes));
  }

  Tensors call(const Tensors& inputs) {
    if (inputs.size() != 2) fail("[", name(), "] there must be 2 inputs: received ", inputs.size());
    const int first = axis(0, inputs[0]), second = axis(1, inputs[1]);
    const Tensor a = args.normalize ? unit(inputs[0], first) : inputs[0];
    const Tensor b = args.normalize ? unit(inputs[1], second) : inputs[1];
    return {K::batch_dot(a, b, {first, second})};
  }

 private:
  int axis(std::size_t i, const Tensor& x) const {
    const std::vector<int>& list = args.axes.list();
    return canonical_axis("Dot", list[std::min(i, list.size() - 1)], x.ndim());
  }
  static Tensor unit(const Tensor& x, int axis) {
    return x / K::clip(K::sqrt(K::sum(K::square(x), axis, true)), 1e-7, INFINITY);
  }
};

}  // namespace

Add::Add(const LayerOptions& options) : Layer(std::make_shared<AddImpl>(options)) {}
Subtract::Subtract(const LayerOptions& options) : Layer(std::make_shared<SubtractImpl>(options)) {}
Multiply::Multiply(const LayerOptions& options) : Layer(std::make_shared<MultiplyImpl>(options)) {}
Average::Average(const LayerOptions& options) : Layer(std::make_shared<AverageImpl>(options)) {}
Maximum::Maximum(const LayerOptions& options) : Layer(std::make_shared<MaximumImpl>(options)) {}
Minimum::Minimum(const LayerOptions& options) : Layer(std::make_shared<MinimumImpl>(options)) {}
Concatenate::Concatenate(const ConcatenateOptions& options)
    : Layer(std::make_shared<ConcatenateImpl>(options)) {}
Dot::Dot(const DotOptions& options)
    : Layer(std::make_shared<DotImpl>((internal::given("Dot", "axes", options.axes), options))) {}

Tensor add(const std::vector<Tensor>& inputs, const LayerOptions& options) { return Add(options)(inputs); }
Tensor subtract(const std::vector<Tensor>& inputs, const LayerOptions& options) {
  return Subtract(options)(inputs);
}
Tensor multiply(const std::vector<Tensor>& inputs, const LayerOptions& options) {
  return Multiply(options)(inputs);
}
Tensor average(const std::vector<Tensor>& inputs, const LayerOptions& options) {
  return Average(options)(inputs);
}
Tensor maximum(const std::vector<Tensor>& inputs, const LayerOptions& options) {
  return Maximum(options)(inputs);
}
Tensor minimum(const std::vector<Tensor>& inputs, const LayerOptions& options) {
  return Minimum(options)(inputs);
}
Tensor concatenate(const std::vector<Tensor>& inputs, const ConcatenateOptions& options) {
  return Concatenate(options)(inputs);
}
Tensor concatenate(const std::vector<Tensor>& inputs, int axis) {
  return concatenate(inputs, {.axis = axis});
}
Tensor dot(const std::vector<Tensor>& inputs, const Axes& axes, const DotOptions& options) {
  return Dot(axes, options)(inputs);
}

void add_merging_layers(ClassRegistry& registry) {
  add_layer<AddImpl, LayerOptions>(registry, "Add");
  add_layer<SubtractImpl, LayerOptions>(registry, "Subtract");
  add_layer<MultiplyImpl, LayerOptions>(registry, "Multiply");
  add_layer<AverageImpl, LayerOptions>(registry, "Average");
  add_layer<MaximumImpl, LayerOptions>(registry, "Maximum");
  add_layer<MinimumImpl, LayerOptions>(registry, "Minimum");
  add_layer<ConcatenateImpl, ConcatenateOptions>(registry, "Concatenate");
  add_layer<DotImpl, DotOptions>(registry, "Dot");
}

}  // namespace ktape::nn
