#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/binary_kernels.hpp>
#include <ktape/ops/kernels/network/internal/step_maker.hpp>

/// The steps of functions of elements.
namespace ktape::kernels {

using dnnl::algorithm, dnnl::memory;
using Tag = memory::format_tag;

void StepMaker::add_normalization(std::size_t i, const NetworkNode& node) {
  Place x = in_layout_of_output(i, input(node));
  x = in_layout(x, with_numbers(x.layout, NumberType::Float32));
  memory::dims channels(node.shape.size(), 1);
  channels[1] = node.shape.back();
  const memory::desc per_channel(channels, float_type,
                                 plain_layout(node.shape).dims().size() == 2 ? Tag::nc
                                 : channels.size() == 3                      ? Tag::ncw
                                 : channels.size() == 4                      ? Tag::nchw
                                                                             : Tag::ncdhw);
  After m{{}, "normalization"};
  m.after.append_binary(algorithm::binary_add, per_channel);
  append(node, m);
  const dnnl::binary::primitive_desc description({algorithm::binary_mul, x.layout, per_channel, x.layout},
                                                 attributes(m.after), processor());
  expect_fast(description);
  const Place y = float_result(i, x.layout, &x);
  push(dnnl::binary(description),
       {{DNNL_ARG_SRC_0, x},
        {DNNL_ARG_SRC_1, weight(PackedWeight::Part::Factors, i, per_channel, per_channel)},
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
         weight(PackedWeight::Part::Offsets, i, per_channel, per_channel)},
        {DNNL_ARG_DST, y}},
       description.scratchpad_desc(), m.what, description.impl_info_str());
  add_each(m.apart, y);
  finish(i, y);
}

void StepMaker::add_functions(std::size_t i, const NetworkNode& node) {
  const Place from = in_layout_of_output(i, input(node));
  add_each(node.functions, from, result_over(i, from));
}

namespace {

struct Named {
  algorithm kind;
  const char* name;
};
Named named(BinaryFunction function) {
  switch (function) {
    case BinaryFunction::Add:
      return {algorithm::binary_add, "sum"};
    case BinaryFunction::Subtract:
      return {algorithm::binary_sub, "difference"};
    case BinaryFunction::Multiply:
      return {algorithm::binary_mul, "multiplication"};
    case BinaryFunction::Maximum:
      return {algorithm::binary_max, "maximum"};
    case BinaryFunction::Minimum:
      return {algorithm::binary_min, "minimum"};
  }
  throw Unsupported();
}

}  // namespace

void StepMaker::add_binary(std::size_t i, const NetworkNode& node, BinaryFunction function) {
  const auto [kind, name] = named(function);
  if (shape_of(node.inputs[0]) == shape_of(node.inputs[1])) {
    const Place a = in_layout_of_output(i, input(node, 0)), b = in_layout(input(node, 1), a.layout);
    After m{{}, name};
    append(node, m);
    const dnnl::binary::primitive_desc description({kind, a.layout, b.layout, a.layout}, attributes(m.after),
                                                   processor());
    expect_fast(description);
    const Place y = node.inputs[0] == node.inputs[1] ? result(i, a.layout) : result_over(i, a);
    push(dnnl::binary(description), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, y}},
         description.scratchpad_desc(), m.what, description.impl_info_str());
    return add_each(m.apart, y);
  }
  if (function == BinaryFunction::Multiply && add_scaling(i, node)) return;
  const auto &a = shape_of(node.inputs[0]), &b = shape_of(node.inputs[1]);
  const Place x = in_layout(input(node, 0), plain_layout(a)),
              other = in_layout(input(node, 1), plain_layout(b));
  const Place y = float_result(i, x.layout, &x);
  push_own(broadcast_kernel(function, a, b), {.inputs = {x, other}, .packed = {}, .scratch = {}, .output = y},
           name);
  add_each(node.functions, y);
  finish(i, y);
}

/// Adds the product of images and a factor for each image and channel, in the images' layout. Returns false
/// for other operands.
bool StepMaker::add_scaling(std::size_t i, const NetworkNode& node) {
  const auto &x = shape_of(node.inputs[0]), &factors = shape_of(node.inputs[1]);
  std::int64_t pixels = 1;
  for (std::size_t axis = 1; axis + 1 < x.size(); ++axis) {
    if (factors[axis] != 1) return false;
    pixels *= x[axis];
  }
  if (factors[0] != x[0] || factors.back() != x.back() || x.size() != 4) return false;
  Place from = in_layout_of_output(i, input(node, 0));
  from = in_layout(from, with_numbers(from.layout, NumberType::Float32));
  const memory::dims dims{factors[0], factors[3], 1, 1};
  const auto blocked = [&](Tag tag) {
    return memory::desc(from.layout.dims(), float_type, tag) == from.layout;
  };
  ScalingExtents extents{x[0], pixels, x[3]};
  Tag tag = Tag::nhwc;
  for (const auto& [block, of_block] : {std::pair{16, Tag::nChw16c}, {8, Tag::nChw8c}})
    if (blocked(of_block)) extents = {x[0] * ((x[3] + block - 1) / block), pixels, block}, tag = of_block;
  if (tag == Tag::nhwc) from = in_layout(from, plain_layout(x));
  const Place by = in_layout(input(node, 1), memory::desc(dims, float_type, tag));
  const Place y = float_result(i, from.layout, &from);
  push_own(scaling_kernel(extents), {.inputs = {from, by}, .packed = {}, .scratch = {}, .output = y},
           "scaling of channels");
  add_each(node.functions, y);
  finish(i, y);
  return true;
}

void StepMaker::add_softmax(std::size_t i, const NetworkNode& node) {
  Place x = in_layout(input(node), plain_layout(node.shape, node.numbers));
  Place y = result_over(i, x);
  x.layout = y.layout = row_layout(node.shape, node.numbers);
  const dnnl::softmax_forward::primitive_desc description({inference, x.layout, 1}, attributes(),
                                                          processor());
  expect_fast(description);
  push(dnnl::softmax_forward(description), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}},
       description.scratchpad_desc(), "softmax", description.impl_info_str());
}

}  // namespace ktape::kernels
#endif
