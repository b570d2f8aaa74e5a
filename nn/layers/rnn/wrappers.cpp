#include <ktape/nn/layers/rnn/recurrent.hpp>
#include <ktape/nn/layers/rnn/recurrent_arguments.hpp>
#include <ktape/nn/layers/rnn/wrappers.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

using Tensors = std::vector<Tensor>;

namespace {

// --- Bidirectional -----------------------------------------------------------------------------------------

struct BidirectionalArguments : LayerOptions {
  LayerArgument layer;
  OptionalString merge_mode = "concat";
  LayerArgument backward_layer;
};
template <class F>
void fields(BidirectionalArguments& a, F&& field) {
  field("layer", a.layer);
  field("merge_mode", a.merge_mode);
  field("backward_layer", a.backward_layer);
}

bool flag(const Layer& layer, const char* name) { return layer.get_config().get(name, false).boolean(); }

/// Makes a recurrent layer with the config of the given layer, a prefix before the name, and a direction.
RecurrentLayer like(const Layer& layer, const std::string& prefix, bool backwards) {
  Config config = layer.get_config();
  config.set("name", prefix + layer.name());
  config.set("go_backwards", backwards);
  if (flag(layer, "return_sequences")) config.set("zero_output_for_mask", true);
  return RecurrentLayer(Layer::from_value(Config{{"class_name", layer.class_name()}, {"config", config}}));
}

class BidirectionalImpl final : public LayerImpl, public Planned {
 public:
  explicit BidirectionalImpl(const BidirectionalArguments& arguments)
      : LayerImpl("Bidirectional", arguments), args_(checked(arguments)) {
    const bool backwards = flag(args_.layer, "go_backwards");
    const Layer& other = args_.backward_layer.defined() ? args_.backward_layer : args_.layer;
    forward_ = add_layer<Layer>(like(args_.layer, "forward_", backwards));
    backward_ = add_layer<Layer>(like(other, "backward_", !backwards));
    supports_masking = true;
    input_spec = {{.min_ndim = 3}, {}};
  }

  Config get_config() const override { return config_of(args_); }

  void build(const std::vector<Shape>& inputs) override {
    forward_.build(inputs[0]);
    backward_.build(inputs[0]);
  }

  Tensors call(const Tensors& inputs, const CallArguments& arguments) {
    Tensors states = arguments.initial_state.vector();
    if (states.empty()) states.assign(inputs.begin() + 1, inputs.end());
    if (states.size() % 2 != 0)
      fail("[", name(), "] initial_state must be states of the forward and of the backward layer: received ",
           states.size());
    const auto half = states.begin() + static_cast<std::ptrdiff_t>(states.size() / 2);
    CallArguments own = arguments;
    own.initial_state = Tensors(states.begin(), half);
    Tensors ahead = forward_.apply(inputs[0], own);
    own.initial_state = Tensors(half, states.end());
    Tensors back = backward_.apply(inputs[0], own);
    if (returns_sequences()) back[0] = K::reverse(back[0], 1);
    Tensors outputs = merged(ahead[0], back[0]);
    outputs.insert(outputs.end(), ahead.begin() + 1, ahead.end());
    outputs.insert(outputs.end(), back.begin() + 1, back.end());
    return outputs;
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const auto* const forward = dynamic_cast<const Planned*>(&forward_.impl());
    const auto* const backward = dynamic_cast<const Planned*>(&backward_.impl());
    if (inputs.size() != 1 || !args_.merge_mode || !forward || !backward) return {};
    const auto ahead = forward->plan(network, inputs);
    auto back = backward->plan(network, inputs);
    if (back && returns_sequences()) back = network.reversal(*back);
    if (!ahead || !back) return {};
    if (*args_.merge_mode == "concat") return network.concatenation({*ahead, *back});
    using Function = kernels::BinaryFunction;
    const auto merged =
        network.binary(*args_.merge_mode == "mul" ? Function::Multiply : Function::Add, *ahead, *back);
    const bool average = merged && *args_.merge_mode == "ave";
    return average ? network.function(*merged, {kernels::ElementFunction::Kind::Linear, 0.5F}) : merged;
  }

  Tensors compute_mask(const Tensors&, const Tensors& masks) override {
    const Tensor mask = returns_sequences() && !masks.empty() ? masks[0] : Tensor();
    return Tensors(args_.merge_mode ? 1 : 2, mask);
  }

 private:
  static const BidirectionalArguments& checked(const BidirectionalArguments& arguments) {
    const std::string mode = arguments.merge_mode.value_or("sum");
    if (mode != "concat" && mode != "sum" && mode != "mul" && mode != "ave")
      fail("[Bidirectional] merge_mode must be concat, sum, mul, ave or None: received merge_mode=", mode);
    const RecurrentLayer forward(arguments.layer);
    if (!arguments.backward_layer.defined()) return arguments;
    const RecurrentLayer backward(arguments.backward_layer);
    if (flag(forward, "go_backwards") == flag(backward, "go_backwards"))
      fail("[Bidirectional] backward_layer must have the opposite direction of layer: received go_backwards=",
           flag(forward, "go_backwards"), " for both");
    for (const char* name : {"return_sequences", "return_state", "stateful"})
      if (flag(forward, name) != flag(backward, name))
        fail("[Bidirectional] layer and backward_layer must agree in ", name, ": received ",
             flag(forward, name), " and ", flag(backward, name));
    return arguments;
  }

  bool returns_sequences() const { return flag(args_.layer, "return_sequences"); }

  Tensors merged(const Tensor& forward, const Tensor& backward) const {
    if (!args_.merge_mode) return {forward, backward};
    const DType dtype = op_helpers::common_dtype(forward.dtype(), backward.dtype());
    const Tensor ahead = K::as_dtype(forward, dtype), back = K::as_dtype(backward, dtype);
    if (*args_.merge_mode == "concat") return {K::concatenate({ahead, back})};
    if (*args_.merge_mode == "mul") return {ahead * back};
    return {*args_.merge_mode == "sum" ? ahead + back : (ahead + back) / 2};
  }

  const BidirectionalArguments args_;
  Layer forward_, backward_;
};

// --- TimeDistributed ---------------------------------------------------------------------------------------

struct TimeDistributedArguments : LayerOptions {
  LayerArgument layer;
};
template <class F>
void fields(TimeDistributedArguments& a, F&& field) {
  field("layer", a.layer);
}

/// Returns the extents of x from axis `first` on, as tensors.
Tensors extents_of(const Tensor& x, int first) {
  Tensors extents;
  for (int axis = first; axis < x.ndim(); ++axis) extents.push_back(K::shape(x)[axis]);
  return extents;
}

class TimeDistributedImpl final : public LayerImpl {
 public:
  explicit TimeDistributedImpl(const TimeDistributedArguments& arguments)
      : LayerImpl("TimeDistributed", arguments), args_(arguments) {
    if (!args_.layer.defined()) fail("[TimeDistributed] layer must be a layer: received None");
    add_layer<Layer>(args_.layer);
    supports_masking = true;
    input_spec = {{.min_ndim = 3}};
  }

  Config get_config() const override { return config_of(args_); }

  void build(const Shape& input) override {
    Shape step = input;
    step.erase(1);
    args_.layer.build(step);
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    CallArguments own;
    if (!arguments.mask.empty() && arguments.mask[0].defined())
      own.mask = steps_of(mask_for(x, arguments.mask[0]));
    const Tensor y = args_.layer(steps_of(x), own);
    Tensors all = extents_of(y, 1);
    all.insert(all.begin(), {K::shape(x)[0], K::shape(x)[1]});
    return K::reshape(y, K::stack(all));
  }

 private:
  const Tensor& mask_for(const Tensor& x, const Tensor& mask) const {
    const Shape &wanted = x.shape(), &given = mask.shape();
    if (given.rank() < 2 || !compatible(given[0], wanted[0]) || !compatible(given[1], wanted[1]))
      fail("[", name(), "] mask must be (batch, steps, ...), as the input: received mask=", given,
           " for shape=", wanted);
    return mask;
  }

  /// Returns x with the steps merged into the batch axis: (batch * steps, ...).
  static Tensor steps_of(const Tensor& x) {
    Tensors extents = extents_of(x, 1);
    extents[0] = K::shape(x)[0] * extents[0];
    return K::reshape(x, K::stack(extents));
  }

  const TimeDistributedArguments args_;
};

}  // namespace

Bidirectional::Bidirectional(const BidirectionalOptions& options)
    : Layer(std::make_shared<BidirectionalImpl>(BidirectionalArguments{
          layer_options_of(options), internal::given("Bidirectional", "layer", options.layer),
          options.merge_mode, options.backward_layer})) {}

TimeDistributed::TimeDistributed(const TimeDistributedOptions& options)
    : Layer(std::make_shared<TimeDistributedImpl>(TimeDistributedArguments{
          layer_options_of(options), internal::given("TimeDistributed", "layer", options.layer)})) {}

void add_wrappers(ClassRegistry& registry) {
  add_outer_layer<BidirectionalImpl, BidirectionalArguments>(registry, "Bidirectional");
  add_outer_layer<TimeDistributedImpl, TimeDistributedArguments>(registry, "TimeDistributed");
}

}  // namespace ktape::nn
