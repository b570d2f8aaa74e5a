#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/internal/step_maker.hpp>

#include <algorithm>

/// The steps that change shapes, and kernels of ktape's own.
namespace ktape::kernels {

using dnnl::memory;

void StepMaker::add_concatenation(std::size_t i, const NetworkNode& node) {
  std::vector<memory::desc> layouts;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) layouts.push_back(input(node, k).layout);
  const bool plain = values_[i].output >= 0;
  const dnnl::concat::primitive_desc description =
      plain ? dnnl::concat::primitive_desc(plain_layout(node.shape, node.numbers), 1, layouts, processor(),
                                           attributes())
            : dnnl::concat::primitive_desc(1, layouts, processor(), attributes());
  std::vector<std::pair<int, Place>> arguments;
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(k), input(node, k));
  arguments.emplace_back(DNNL_ARG_DST, result(i, description.dst_desc()));
  push(dnnl::concat(description), std::move(arguments), description.scratchpad_desc(), "concatenation",
       description.impl_info_str());
}

void StepMaker::add_pooling(std::size_t i, const NetworkNode& node) {
  const Place& x = input(node);
  const auto pair = [](const std::array<std::int64_t, 2>& a) { return memory::dims{a[0], a[1]}; };
  const bool maximum = node.kind == NetworkNode::Kind::MaxPooling;
  const dnnl::pooling_forward::primitive_desc description(
      {inference, maximum ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding,
       x.layout, free_layout(i), pair(node.strides), pair(node.window), pair(node.before), pair(node.after)},
      attributes(), processor());
  expect_fast(description);
  const Place from = in_layout(x, description.src_desc());
  const Place y = result(i, description.dst_desc());
  push(dnnl::pooling_forward(description), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, y}},
       description.scratchpad_desc(), maximum ? "max pooling" : "average pooling",
       description.impl_info_str());
}

void StepMaker::add_padding(std::size_t i, const NetworkNode& node) {
  const Place& x = input(node);
  const Place y = result(i, plain_layout(node.shape, node.numbers));
  Place inner = y;
  inner.layout = y.layout.submemory_desc(x.layout.dims(), {0, 0, node.before[0], node.before[1]});
  reorder(x, inner, "padding");
  // The memory begins with the whole image, not with the part that the reorder writes.
  made_.steps.back().clear_bytes = y.layout.get_size();
}

/// Adds a copy for an output. Another value keeps its memory and gets another layout.
void StepMaker::add_reshape(std::size_t i, const NetworkNode& node) {
  const memory::desc before = plain_layout(shape_of(node.inputs[0]), node.numbers),
                     after = plain_layout(node.shape, node.numbers);
  if (values_[i].output >= 0) {
    Place to = result(i, after);
    to.layout = before;
    return reorder(input(node), to, "reshape");
  }
  Place same = in_layout(input(node), before);
  if (same.in == Place::In::Arena) {
    ArenaBlock& block = made_.blocks[same.index];
    block.last = std::max(block.last, values_[i].last);
  }
  same.layout = after;
  values_[i].place = same;
}

void StepMaker::add_cast(std::size_t i, const NetworkNode& node) {
  const Place& x = input(node);
  const memory::desc layout =
      values_[i].output >= 0 ? plain_layout(node.shape, node.numbers) : with_numbers(x.layout, node.numbers);
  reorder(x, result(i, layout), "cast");
}

void StepMaker::add_own(std::size_t i, const NetworkNode& node) {
  KernelArguments arguments;
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    arguments.inputs.push_back(in_layout(input(node, k), plain_layout(shape_of(node.inputs[k]))));
  if (const std::size_t size = node.own->packed_size()) {
    const memory::desc packed = vector_layout(static_cast<std::int64_t>(size));
    arguments.packed = weight(PackedWeight::Part::Own, i, packed, packed);
  }
  const Place y = arguments.output = float_result(i, plain_layout(node.shape));
  push_own(node.own, std::move(arguments), node.own->name());
  finish(i, y);
}

}  // namespace ktape::kernels
#endif
