#include <ktape/autograd/environment.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/rnn/recorded_rnn.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;
using Tensors = std::vector<Tensor>;

/// A loop over time steps as a node Scan. The states of the node are the states of the loop, and with a mask also
/// the outputs that masked steps repeat.
class ScanOfSteps {
 public:
  ScanOfSteps(const Translation& t, const K::RecordedRnn& loop)
      : t_(t), loop_(loop), time_(loop.options.time_major ? 0 : 1) {
    for (const Operand& operand : t.symbol.operands()) all_.push_back(operand.value());
    outputs_ = (t.symbol.outputs().size() - loop.states) / 2;
    const std::size_t mask = loop.inputs + loop.states + loop.constants;
    mask_ = all_[mask];
    if (all_[mask + 1].defined()) t.fail("the samples have lengths");
    holds_ = mask_.defined();
  }

  Names results() {
    Names inputs;
    for (std::size_t i = 0; i < loop_.states; ++i) inputs.push_back(t_.name(state(i)));
    for (std::size_t i = 0; holds_ && i < outputs_; ++i) inputs.push_back(zeros(t_.result(i)));
    const std::size_t carried = inputs.size();
    for (std::size_t i = 0; i < loop_.inputs; ++i) inputs.push_back(t_.name(all_[i]));
    if (holds_) inputs.push_back(t_.graph.cast(t_.name(mask_), mask_.dtype(), DType::Bool));
    const auto scanned = static_cast<std::int64_t>(inputs.size() - carried);
    const auto axes = Integers(static_cast<std::size_t>(scanned), time_);
    Attributes attributes{{"num_scan_inputs", scanned},
                          {"scan_input_axes", axes},
                          {"scan_output_axes", Integers(outputs_, time_)}};
    if (loop_.options.go_backwards)
      attributes.emplace_back("scan_input_directions", Integers(static_cast<std::size_t>(scanned), 1));
    attributes.emplace_back("body", t_.translator.in_body([&] { return body(); }));
    const Names made = t_.graph.nodes("Scan", inputs, attributes, carried + outputs_);
    return in_order(made, carried);
  }

 private:
  const Tensor& state(std::size_t i) const { return all_[loop_.inputs + i]; }

  /// Returns zeros of the shape of an output of one step.
  std::string zeros(const OutputInfo& output) const {
    Names extents;
    for (int axis = 0; axis < output.shape.rank(); ++axis) {
      const std::int64_t extent = output.shape[axis];
      if (extent == None && axis > 0) t_.fail("an extent of a step is unknown");
      extents.push_back(extent == None ? t_.graph.extent(t_.name(all_[0]), time_ == 0 ? 1 : 0)
                                       : t_.graph.integers({extent}));
    }
    const std::string shape = t_.node("Concat", extents, {{"axis", std::int64_t{0}}});
    return t_.node("Expand", {t_.graph.number(0, output.dtype), shape});
  }

  Tensor input_of_body(const OutputInfo& info, Names& names, std::vector<DType>& types) const {
    const Tensor x = make_placeholder(info.shape, info.dtype, "a step");
    names.push_back(t_.graph.unique("step"));
    types.push_back(info.dtype);
    t_.translator.set_name(x, names.back());
    return x;
  }

  Tensor held(const Tensor& mask, const Tensor& fresh, const Tensor& before) const {
    Tensor m = mask;
    while (m.ndim() > fresh.ndim()) m = K::squeeze(m, m.ndim() - 1);
    while (m.ndim() < fresh.ndim()) m = K::expand_dims(m);
    return K::where(m, fresh, before);
  }

  std::shared_ptr<const WrittenGraph> body() const {
    Names names;
    std::vector<DType> types;
    const std::size_t states = loop_.states;
    Tensors before, repeated, inputs;
    for (std::size_t i = 0; i < states; ++i)
      before.push_back(input_of_body(t_.result(2 * outputs_ + i), names, types));
    for (std::size_t i = 0; holds_ && i < outputs_; ++i)
      repeated.push_back(input_of_body(t_.result(i), names, types));
    for (std::size_t i = 0; i < loop_.inputs; ++i) {
      OutputInfo info{all_[i].shape(), all_[i].dtype()};
      info.shape.erase(time_);
      inputs.push_back(input_of_body(info, names, types));
    }
    Tensor mask;
    if (holds_) {
      OutputInfo info{mask_.shape(), DType::Bool};
      info.shape.erase(time_);
      mask = input_of_body(info, names, types);
    }
    t_.graph.begin_graph(names, types);
    Tensors arguments = before;
    for (std::size_t i = 0; i < loop_.constants; ++i) arguments.push_back(all_[loop_.inputs + states + i]);
    const InferenceScope changes_nothing;
    auto [fresh, next] = loop_.step(inputs, arguments);
    if (holds_) {
      for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = held(mask, fresh[i], repeated[i]);
      for (std::size_t i = 0; i < states; ++i) next[i] = held(mask, next[i], before[i]);
    }
    const Tensors keep = loop_.options.zero_output_for_mask ? repeated : fresh;
    Tensors results = next;
    if (holds_) results.insert(results.end(), keep.begin(), keep.end());
    results.insert(results.end(), fresh.begin(), fresh.end());
    Names made;
    std::vector<DType> made_types;
    for (const Tensor& x : results) made.push_back(t_.name(x)), made_types.push_back(x.dtype());
    return t_.graph.end_graph(made, made_types);
  }

  /// Returns the results in the order of the symbol: last outputs, outputs of all steps, states.
  Names in_order(const Names& made, std::size_t carried) const {
    Names names;
    for (std::size_t i = 0; i < outputs_; ++i)
      names.push_back(
          t_.node("Gather", {made[carried + i], t_.graph.integer(-1)}, {{"axis", std::int64_t{time_}}}));
    for (std::size_t i = 0; i < outputs_; ++i) names.push_back(made[carried + i]);
    for (std::size_t i = 0; i < loop_.states; ++i) names.push_back(made[i]);
    return names;
  }

  const Translation& t_;
  const K::RecordedRnn& loop_;
  const int time_;
  Tensors all_;
  Tensor mask_;
  std::size_t outputs_ = 0;
  bool holds_ = false;
};

Names rnn(const Translation& t) {
  const K::RecordedRnn* const loop = K::recorded_rnn(t.symbol);
  if (!loop) t.fail("its arguments are not recorded");
  return ScanOfSteps(t, *loop).results();
}

}  // namespace

void add_loop_symbols(RowTable& rows) { rows["rnn"] = rnn; }

}  // namespace ktape::nn::onnx
