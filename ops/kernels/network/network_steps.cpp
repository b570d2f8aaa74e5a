#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/network_steps.hpp>

#include <algorithm>
#include <cstring>

namespace ktape::kernels {
namespace {

using dnnl::algorithm, dnnl::memory, dnnl::primitive_attr;
using Tag = memory::format_tag;
using Kind = NetworkNode::Kind;
using Place = ArgumentPlace;

constexpr auto f32 = memory::data_type::f32;
constexpr auto inference = dnnl::prop_kind::forward_inference;

/// A node for which oneDNN has no fast primitive.
struct Unsupported {};

memory::dims onednn_dims(const std::vector<std::int64_t>& shape) {
  if (shape.size() == 2) return {shape[0], shape[1]};
  return {shape[0], shape[3], shape[1], shape[2]};
}

memory::desc plain_layout(const std::vector<std::int64_t>& shape) {
  return {onednn_dims(shape), f32, shape.size() == 2 ? Tag::nc : Tag::nhwc};
}
memory::desc any_layout(const std::vector<std::int64_t>& shape) {
  return {onednn_dims(shape), f32, Tag::any};
}

struct Named {
  algorithm kind;
  const char* name;
};
Named algorithm_of(const ElementFunction& f) {
  using Function = ElementFunction::Kind;
  switch (f.kind) {
    case Function::Relu:
      return {algorithm::eltwise_relu, "relu"};
    case Function::Clip:
      return {algorithm::eltwise_clip, "clip"};
    case Function::Elu:
      return {algorithm::eltwise_elu, "elu"};
    case Function::Sigmoid:
      return {algorithm::eltwise_logistic, "sigmoid"};
    case Function::Tanh:
      return {algorithm::eltwise_tanh, "tanh"};
    case Function::Swish:
      return {algorithm::eltwise_swish, "swish"};
    case Function::Gelu:
      return {algorithm::eltwise_gelu_erf, "gelu"};
    case Function::GeluTanh:
      return {algorithm::eltwise_gelu_tanh, "gelu_tanh"};
    case Function::Softplus:
      return {algorithm::eltwise_soft_relu, "softplus"};
  }
  throw Unsupported();
}
float alpha_of(const ElementFunction& f) { return f.kind == ElementFunction::Kind::Swish ? 1 : f.alpha; }

primitive_attr attributes(const dnnl::post_ops& after) {
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(after);
  return attributes;
}

class StepMaker {
 public:
  explicit StepMaker(const Network& network) : made_{.network = network}, values_(network.nodes.size()) {
    find_last_readers();
    for (std::size_t i = 0; i < made_.network.nodes.size(); ++i) add(i);
    made_.arena_bytes = place(made_.blocks);
  }

  NetworkSteps take() { return std::move(made_); }

 private:
  /// The value of a node.
  struct Value {
    Place place;
    int last = -1;    ///< the last node that reads the value
    int output = -1;  ///< the index among the outputs of the network
  };

  void find_last_readers() {
    for (std::size_t i = 0; i < made_.network.nodes.size(); ++i)
      for (const int input : made_.network.nodes[i].inputs)
        values_[static_cast<std::size_t>(input)].last = static_cast<int>(i);
    for (std::size_t i = 0; i < made_.network.outputs.size(); ++i)
      values_[static_cast<std::size_t>(made_.network.outputs[i])].output = static_cast<int>(i);
  }

  void add(std::size_t i) {
    node_ = static_cast<int>(i);
    const NetworkNode& node = made_.network.nodes[i];
    switch (node.kind) {
      case Kind::Input:
        values_[i].place = {Place::In::Input, made_.inputs++, plain_layout(node.shape)};
        break;
      case Kind::Convolution:
        add_convolution(i, node);
        break;
      case Kind::Product:
        add_product(i, node);
        break;
      case Kind::Normalization:
        add_normalization(i, node);
        break;
      case Kind::Function:
        add_functions(i, node);
        break;
      case Kind::Sum:
        add_sum(i, node);
        break;
      case Kind::Concatenation:
        add_concatenation(i, node);
        break;
      case Kind::MaxPooling:
      case Kind::AveragePooling:
        add_pooling(i, node);
        break;
      case Kind::Padding:
        add_padding(i, node);
        break;
      case Kind::Reshape:
        add_reshape(i, node);
        break;
      case Kind::Softmax:
        add_softmax(i, node);
        break;
    }
  }

  Place new_block(const memory::desc& layout, int last) {
    made_.blocks.push_back({layout.get_size(), node_, std::max(last, node_)});
    return {Place::In::Arena, made_.blocks.size() - 1, layout};
  }
  Place result(std::size_t i, const memory::desc& layout) {
    Value& value = values_[i];
    value.place = value.output >= 0 ? Place{Place::In::Output, static_cast<std::size_t>(value.output), layout}
                                    : new_block(layout, value.last);
    return value.place;
  }
  const Place& input(const NetworkNode& node, std::size_t i = 0) const {
    return values_[static_cast<std::size_t>(node.inputs[i])].place;
  }
  /// Returns the layout of a result that a primitive may choose; plain for an output.
  memory::desc free_layout(std::size_t i) const {
    const auto& shape = made_.network.nodes[i].shape;
    return values_[i].output >= 0 ? plain_layout(shape) : any_layout(shape);
  }
  Place weight(PackedWeight::Part part, std::size_t node, const memory::desc& plain,
               const memory::desc& packed) {
    made_.weights.push_back({part, node, plain, packed});
    return {Place::In::Weights, made_.weights.size() - 1, packed};
  }

  void reorder(const Place& from, const Place& to) {
    const dnnl::reorder::primitive_desc description(processor(), from.layout, processor(), to.layout,
                                                    attributes({}));
    push(dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
         description.scratchpad_desc(), "reorder", description.impl_info_str());
  }
  /// Returns a value in a layout: the value itself, or a copy.
  Place in_layout(const Place& value, const memory::desc& layout) {
    if (value.layout == layout) return value;
    const Place copy = new_block(layout, node_);
    reorder(value, copy);
    return copy;
  }

  void push(dnnl::primitive primitive, std::vector<std::pair<int, Place>> arguments,
            const memory::desc& scratchpad, std::string what, const char* implementation) {
    if (scratchpad.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, new_block(scratchpad, node_));
    made_.steps.push_back({std::move(primitive), std::move(arguments), std::move(what), implementation});
  }
  template <class Description>
  static void expect_fast(const Description& description) {
    if (std::strstr(description.impl_info_str(), "ref")) throw Unsupported();
  }

  /// Adds the functions of a node to a primitive's post-ops and to the text of the step.
  static void append(const NetworkNode& node, dnnl::post_ops& after, std::string& what) {
    for (const ElementFunction& f : node.functions) {
      const auto [kind, name] = algorithm_of(f);
      after.append_eltwise(1, kind, alpha_of(f), f.beta);
      what = what + " + " + name;
    }
  }
  static bool has_bias(const NetworkNode& node) { return node.bias >= 0 || !node.normalizers.empty(); }
  static memory::desc vector_layout(std::int64_t size) { return {{size}, f32, Tag::x}; }

  /// Returns the place of the result of a node with an addend, which holds the addend when the step begins.
  Place sum_result(std::size_t i, const NetworkNode& node, const memory::desc& layout) {
    const Value& addend = values_[static_cast<std::size_t>(node.inputs[1])];
    const bool free = addend.place.in == Place::In::Arena && addend.last == node_ && addend.output < 0 &&
                      addend.place.layout == layout && values_[i].output < 0 &&
                      node.inputs[0] != node.inputs[1];
    if (!free) {
      const Place to = result(i, layout);
      reorder(addend.place, to);
      return to;
    }
    values_[i].place = addend.place;
    ArenaBlock& block = made_.blocks[addend.place.index];
    block.last = std::max({block.last, values_[i].last, node_});
    return values_[i].place;
  }

  struct Multiplication {
    dnnl::post_ops after;
    std::string what;
  };
  static Multiplication multiplication(const char* name, const NetworkNode& node) {
    Multiplication m{{}, name};
    if (!node.normalizers.empty()) m.what += " + normalization";
    if (node.inputs.size() == 2) m.after.append_sum(1), m.what += " + sum";
    append(node, m.after, m.what);
    return m;
  }

  template <class Primitive, class Description>
  void add_multiplication(std::size_t i, const NetworkNode& node, const Description& description,
                          const memory::desc& plain_kernel, const std::string& what) {
    const Place x = in_layout(input(node), description.src_desc());
    const Place y = node.inputs.size() == 2 ? sum_result(i, node, description.dst_desc())
                                            : result(i, description.dst_desc());
    std::vector<std::pair<int, Place>> arguments{
        {DNNL_ARG_SRC, x},
        {DNNL_ARG_WEIGHTS, weight(PackedWeight::Part::Kernel, i, plain_kernel, description.weights_desc())},
        {DNNL_ARG_DST, y}};
    const memory::desc bias = vector_layout(node.shape.back());
    if (has_bias(node))
      arguments.emplace_back(DNNL_ARG_BIAS, weight(PackedWeight::Part::Offsets, i, bias, bias));
    push(Primitive(description), std::move(arguments), description.scratchpad_desc(), what,
         description.impl_info_str());
  }

  void add_convolution(std::size_t i, const NetworkNode& node) {
    const auto& x = made_.network.nodes[static_cast<std::size_t>(node.inputs[0])].shape;
    const std::int64_t channels = x.back(), filters = node.shape.back();
    memory::dims window{filters, channels, node.window[0], node.window[1]};
    if (node.depthwise) window = {channels, filters / channels, 1, node.window[0], node.window[1]};
    const auto pair = [](const std::array<std::int64_t, 2>& a) { return memory::dims{a[0], a[1]}; };
    const memory::dims strides = pair(node.strides), dilation{node.dilation[0] - 1, node.dilation[1] - 1},
                       before = pair(node.before), after = pair(node.after);
    const memory::desc source = any_layout(x), kernel(window, f32, Tag::any),
                       bias = has_bias(node) ? vector_layout(filters) : memory::desc(), to = free_layout(i);
    const auto m = multiplication(node.depthwise ? "depthwise convolution" : "convolution", node);
    const dnnl::convolution_forward::desc operation(inference, algorithm::convolution_direct, source, kernel,
                                                    bias, to, strides, dilation, before, after);
    const dnnl::convolution_forward::primitive_desc description(operation, attributes(m.after), processor());
    expect_fast(description);
    if (node.depthwise && !std::strstr(description.impl_info_str(), "dw")) throw Unsupported();
    const memory::desc plain(window, f32, node.depthwise ? Tag::hwigo : Tag::hwio);
    add_multiplication<dnnl::convolution_forward>(i, node, description, plain, m.what);
  }

  void add_product(std::size_t i, const NetworkNode& node) {
    const std::int64_t units = made_.network.nodes[static_cast<std::size_t>(node.inputs[0])].shape.back();
    const memory::dims window{node.shape.back(), units};
    const memory::desc bias = has_bias(node) ? vector_layout(node.shape.back()) : memory::desc();
    const auto m = multiplication("product", node);
    const dnnl::inner_product_forward::desc operation(inference, plain_layout({node.shape[0], units}),
                                                      {window, f32, Tag::any}, bias,
                                                      plain_layout(node.shape));
    const dnnl::inner_product_forward::primitive_desc description(operation, attributes(m.after),
                                                                  processor());
    expect_fast(description);
    add_multiplication<dnnl::inner_product_forward>(i, node, description, {window, f32, Tag::io}, m.what);
  }

  void add_normalization(std::size_t i, const NetworkNode& node) {
    const Place x = in_layout_of_output(i, input(node));
    memory::dims channels(node.shape.size(), 1);
    channels[1] = node.shape.back();
    const memory::desc per_channel(channels, f32, node.shape.size() == 2 ? Tag::nc : Tag::nchw);
    dnnl::post_ops after;
    std::string what = "normalization";
    after.append_binary(algorithm::binary_add, per_channel);
    append(node, after, what);
    const dnnl::binary::primitive_desc description({algorithm::binary_mul, x.layout, per_channel, x.layout},
                                                   attributes(after), processor());
    expect_fast(description);
    const Place y = result(i, x.layout);
    push(dnnl::binary(description),
         {{DNNL_ARG_SRC_0, x},
          {DNNL_ARG_SRC_1, weight(PackedWeight::Part::Factors, i, per_channel, per_channel)},
          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
           weight(PackedWeight::Part::Offsets, i, per_channel, per_channel)},
          {DNNL_ARG_DST, y}},
         description.scratchpad_desc(), what, description.impl_info_str());
  }

  /// Returns x in the layout for a result of equal shape: plain if node i is an output, otherwise as x is.
  Place in_layout_of_output(std::size_t i, const Place& x) {
    return values_[i].output >= 0 ? in_layout(x, plain_layout(made_.network.nodes[i].shape)) : x;
  }

  void add_functions(std::size_t i, const NetworkNode& node) {
    Place from = in_layout_of_output(i, input(node));
    const Place to = result(i, from.layout);
    for (const ElementFunction& f : node.functions) {
      const auto [kind, name] = algorithm_of(f);
      const dnnl::eltwise_forward::primitive_desc description(
          {inference, kind, from.layout, alpha_of(f), f.beta}, attributes({}), processor());
      expect_fast(description);
      push(dnnl::eltwise_forward(description), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}},
           description.scratchpad_desc(), name, description.impl_info_str());
      from = to;
    }
  }

  void add_sum(std::size_t i, const NetworkNode& node) {
    const Place a = in_layout_of_output(i, input(node, 0)), b = in_layout(input(node, 1), a.layout);
    const dnnl::binary::primitive_desc description({algorithm::binary_add, a.layout, b.layout, a.layout},
                                                   attributes({}), processor());
    expect_fast(description);
    const Place y = result(i, a.layout);
    push(dnnl::binary(description), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, y}},
         description.scratchpad_desc(), "sum", description.impl_info_str());
  }

  void add_concatenation(std::size_t i, const NetworkNode& node) {
    std::vector<memory::desc> layouts;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) layouts.push_back(input(node, k).layout);
    const bool plain = values_[i].output >= 0;
    const dnnl::concat::primitive_desc description =
        plain
            ? dnnl::concat::primitive_desc(plain_layout(node.shape), 1, layouts, processor(), attributes({}))
            : dnnl::concat::primitive_desc(1, layouts, processor(), attributes({}));
    std::vector<std::pair<int, Place>> arguments;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(k), input(node, k));
    arguments.emplace_back(DNNL_ARG_DST, result(i, description.dst_desc()));
    push(dnnl::concat(description), std::move(arguments), description.scratchpad_desc(), "concatenation",
         description.impl_info_str());
  }

  void add_pooling(std::size_t i, const NetworkNode& node) {
    const Place& x = input(node);
    const auto pair = [](const std::array<std::int64_t, 2>& a) { return memory::dims{a[0], a[1]}; };
    const bool maximum = node.kind == Kind::MaxPooling;
    const dnnl::pooling_forward::primitive_desc description(
        {inference, maximum ? algorithm::pooling_max : algorithm::pooling_avg_exclude_padding, x.layout,
         free_layout(i), pair(node.strides), pair(node.window), pair(node.before), pair(node.after)},
        attributes({}), processor());
    expect_fast(description);
    const Place from = in_layout(x, description.src_desc());
    const Place y = result(i, description.dst_desc());
    push(dnnl::pooling_forward(description), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, y}},
         description.scratchpad_desc(), maximum ? "max pooling" : "average pooling",
         description.impl_info_str());
  }

  void add_padding(std::size_t i, const NetworkNode& node) {
    const Place& x = input(node);
    const Place y = result(i, plain_layout(node.shape));
    Place inner = y;
    inner.layout = y.layout.submemory_desc(x.layout.dims(), {0, 0, node.before[0], node.before[1]});
    reorder(x, inner);
    // The memory begins with the whole image, not with the part that the reorder writes.
    made_.steps.back().what = "padding", made_.steps.back().clear_bytes = y.layout.get_size();
  }

  void add_reshape(std::size_t i, const NetworkNode& node) {
    const auto& shape = made_.network.nodes[static_cast<std::size_t>(node.inputs[0])].shape;
    Place to = result(i, plain_layout(node.shape));
    to.layout = plain_layout(shape);
    reorder(input(node), to);
    made_.steps.back().what = "reshape";
  }

  void add_softmax(std::size_t i, const NetworkNode& node) {
    const Place x = in_layout(input(node), plain_layout(node.shape));
    const dnnl::softmax_forward::primitive_desc description({inference, x.layout, 1}, attributes({}),
                                                            processor());
    expect_fast(description);
    push(dnnl::softmax_forward(description), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, result(i, x.layout)}},
         description.scratchpad_desc(), "softmax", description.impl_info_str());
  }

  NetworkSteps made_;
  std::vector<Value> values_;
  int node_ = 0;  ///< the node for which steps are made
};

}  // namespace

const dnnl::engine& processor() {
  static const dnnl::engine& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::optional<NetworkSteps> make_steps(const Network& network) {
  try {
    return StepMaker(network).take();
  } catch (const dnnl::error&) {
    return {};
  } catch (const Unsupported&) {
    return {};
  }
}

}  // namespace ktape::kernels
#endif
