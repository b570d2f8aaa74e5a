#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/internal/step_maker.hpp>

#include <algorithm>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

StepMaker::StepMaker(const Network& network)
    : made_{.network = network, .steps = {}, .blocks = {}, .weights = {}}, values_(network.nodes.size()) {
  find_last_readers();
  for (std::size_t i = 0; i < made_.network.nodes.size(); ++i) add(i);
  made_.arena_bytes = place(made_.blocks);
}

void StepMaker::find_last_readers() {
  for (std::size_t i = 0; i < made_.network.nodes.size(); ++i)
    for (const int input : made_.network.nodes[i].inputs)
      values_[static_cast<std::size_t>(input)].last = static_cast<int>(i);
  for (std::size_t i = 0; i < made_.network.outputs.size(); ++i)
    values_[static_cast<std::size_t>(made_.network.outputs[i])].output = static_cast<int>(i);
}

void StepMaker::add(std::size_t i) {
  node_ = static_cast<int>(i);
  const NetworkNode& node = made_.network.nodes[i];
  switch (node.kind) {
    case Kind::Input:
      values_[i].place = {Place::In::Input, made_.inputs++, plain_layout(node.shape, node.numbers)};
      return;
    case Kind::Convolution:
      return add_convolution(i, node);
    case Kind::Product:
      return add_product(i, node);
    case Kind::Normalization:
      return add_normalization(i, node);
    case Kind::Function:
      return add_functions(i, node);
    case Kind::Sum:
      return add_binary(i, node, BinaryFunction::Add);
    case Kind::Binary:
      return add_binary(i, node, node.binary);
    case Kind::Concatenation:
      return add_concatenation(i, node);
    case Kind::MaxPooling:
    case Kind::AveragePooling:
      return add_pooling(i, node);
    case Kind::Padding:
      return add_padding(i, node);
    case Kind::Reshape:
      return add_reshape(i, node);
    case Kind::Cast:
      return add_cast(i, node);
    case Kind::Softmax:
      return add_softmax(i, node);
    case Kind::Own:
      return add_own(i, node);
  }
}

// --- Places ------------------------------------------------------------------------------------------------

StepMaker::Place StepMaker::new_block(const dnnl::memory::desc& layout, int last) {
  made_.blocks.push_back({layout.get_size(), node_, std::max(last, node_)});
  return {Place::In::Arena, made_.blocks.size() - 1, layout};
}

StepMaker::Place StepMaker::result(std::size_t i, const dnnl::memory::desc& layout) {
  Value& value = values_[i];
  value.place = value.output >= 0 ? Place{Place::In::Output, static_cast<std::size_t>(value.output), layout}
                                  : new_block(layout, value.last);
  return value.place;
}

StepMaker::Place StepMaker::result_over(std::size_t i, const Place& x) {
  if (values_[i].output >= 0 || !is_free(x)) return result(i, x.layout);
  values_[i].place = x;
  ArenaBlock& block = made_.blocks[x.index];
  block.last = std::max({block.last, values_[i].last, node_});
  return x;
}

dnnl::memory::desc StepMaker::free_layout(std::size_t i) const {
  const NetworkNode& node = made_.network.nodes[i];
  return values_[i].output >= 0 ? plain_layout(node.shape, node.numbers)
                                : any_layout(node.shape, node.numbers);
}

StepMaker::Place StepMaker::weight(PackedWeight::Part part, std::size_t node, const dnnl::memory::desc& plain,
                                   const dnnl::memory::desc& packed) {
  made_.weights.push_back({part, node, plain, packed});
  return {Place::In::Weights, made_.weights.size() - 1, packed};
}

StepMaker::Place StepMaker::in_layout(const Place& value, const dnnl::memory::desc& layout) {
  if (value.layout == layout) return value;
  const Place copy = new_block(layout, node_);
  reorder(value, copy);
  return copy;
}

StepMaker::Place StepMaker::in_layout_of_output(std::size_t i, const Place& x) {
  const NetworkNode& node = made_.network.nodes[i];
  return values_[i].output >= 0 ? in_layout(x, plain_layout(node.shape, node.numbers)) : x;
}

StepMaker::Place StepMaker::float_result(std::size_t i, const dnnl::memory::desc& layout, const Place* over) {
  if (made_.network.nodes[i].numbers == NumberType::Float32)
    return over ? result_over(i, *over) : result(i, layout);
  return over && is_free(*over) ? *over : new_block(layout, node_);
}

void StepMaker::finish(std::size_t i, const Place& computed) {
  const NumberType numbers = made_.network.nodes[i].numbers;
  if (numbers != NumberType::Float32) reorder(computed, result(i, with_numbers(computed.layout, numbers)));
}

void StepMaker::reorder(const Place& from, const Place& to, const char* what) {
  const dnnl::reorder::primitive_desc description(processor(), from.layout, processor(), to.layout,
                                                  attributes());
  push(dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, description.scratchpad_desc(),
       what, description.impl_info_str());
}

// --- Steps -------------------------------------------------------------------------------------------------

void StepMaker::push(dnnl::primitive primitive, std::vector<std::pair<int, Place>> arguments,
                     const dnnl::memory::desc& scratchpad, std::string what, const char* implementation) {
  if (scratchpad.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, new_block(scratchpad, node_));
  made_.steps.push_back({.primitive = std::move(primitive),
                         .arguments = std::move(arguments),
                         .what = std::move(what),
                         .implementation = implementation,
                         .node = static_cast<std::size_t>(node_)});
}

void StepMaker::push_own(std::shared_ptr<const NodeKernel> kernel, KernelArguments arguments,
                         std::string what) {
  if (const std::size_t bytes = kernel->scratch_bytes())
    arguments.scratch = new_block(byte_layout(bytes), node_);
  NetworkStep step{
      .what = std::move(what), .implementation = "ktape", .node = static_cast<std::size_t>(node_)};
  step.own = std::move(kernel), step.own_arguments = std::move(arguments);
  made_.steps.push_back(std::move(step));
}

/// Several versions of oneDNN compute the second function of a kind with the numbers of the first: a primitive has one
/// of each kind.
void StepMaker::append(const NetworkNode& node, After& to) {
  auto f = node.functions.begin();
  const auto is_new = [&] {
    return std::none_of(node.functions.begin(), f,
                        [&](const auto& before) { return before.kind == f->kind; });
  };
  for (; f != node.functions.end() && is_new(); ++f) {
    const OnednnFunction function = onednn_function(*f);
    to.after.append_eltwise(1, function.kind, function.alpha, function.beta);
    to.what = to.what + " + " + function.name;
  }
  to.apart.assign(f, node.functions.end());
}

void StepMaker::add_each(const std::vector<ElementFunction>& functions, Place from, const Place& to) {
  for (const ElementFunction& f : functions) {
    const OnednnFunction function = onednn_function(f);
    const dnnl::eltwise_forward::primitive_desc description(
        {inference, function.kind, from.layout, function.alpha, function.beta}, attributes(), processor());
    expect_fast(description);
    push(dnnl::eltwise_forward(description), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}},
         description.scratchpad_desc(), function.name, description.impl_info_str());
    from = to;
  }
}

// --- The entry ---------------------------------------------------------------------------------------------

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
