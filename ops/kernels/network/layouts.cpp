#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/internal/step_maker.hpp>

namespace ktape::kernels {

using dnnl::algorithm, dnnl::memory;
using Tag = memory::format_tag;

namespace {

memory::dims onednn_dims(const std::vector<std::int64_t>& shape) {
  memory::dims dims{shape.front(), shape.back()};
  dims.insert(dims.end(), shape.begin() + 1, shape.end() - 1);
  return dims;
}

Tag channels_last(std::size_t rank) {
  return rank == 2 ? Tag::nc : rank == 3 ? Tag::nwc : rank == 4 ? Tag::nhwc : Tag::ndhwc;
}

}  // namespace

memory::data_type onednn_type(NumberType numbers) {
  return numbers == NumberType::BFloat16 ? memory::data_type::bf16 : float_type;
}

memory::desc plain_layout(const std::vector<std::int64_t>& shape, NumberType numbers) {
  if (shape.size() < 2 || shape.size() > 5) throw Unsupported();
  return {onednn_dims(shape), onednn_type(numbers), channels_last(shape.size())};
}

memory::desc any_layout(const std::vector<std::int64_t>& shape, NumberType numbers) {
  return {onednn_dims(shape), onednn_type(numbers), Tag::any};
}

memory::desc with_numbers(memory::desc layout, NumberType numbers) {
  layout.data.data_type = memory::convert_to_c(onednn_type(numbers));
  return layout;
}

memory::desc row_layout(const std::vector<std::int64_t>& shape, NumberType numbers) {
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
  return {{rows, shape.back()}, onednn_type(numbers), Tag::nc};
}

memory::desc vector_layout(std::int64_t size) { return {{size}, float_type, Tag::x}; }
memory::desc byte_layout(std::size_t bytes) {
  return {{static_cast<std::int64_t>(bytes)}, memory::data_type::u8, Tag::x};
}

OnednnFunction onednn_function(const ElementFunction& f) {
  using Function = ElementFunction::Kind;
  switch (f.kind) {
    case Function::Relu:
      return {algorithm::eltwise_relu, "relu", f.alpha, 0};
    case Function::Clip:
      return {algorithm::eltwise_clip, "clip", f.alpha, f.beta};
    case Function::Elu:
      return {algorithm::eltwise_elu, "elu", f.alpha, 0};
    case Function::Sigmoid:
      return {algorithm::eltwise_logistic, "sigmoid", 0, 0};
    case Function::Tanh:
      return {algorithm::eltwise_tanh, "tanh", 0, 0};
    case Function::Swish:
      return {algorithm::eltwise_swish, "swish", 1, 0};
    case Function::Gelu:
      return {algorithm::eltwise_gelu_erf, "gelu", 0, 0};
    case Function::GeluTanh:
      return {algorithm::eltwise_gelu_tanh, "gelu_tanh", 0, 0};
    case Function::Exp:
      return {algorithm::eltwise_exp, "exp", 0, 0};
    case Function::Linear:
      return {algorithm::eltwise_linear, "linear", f.alpha, f.beta};
  }
  throw Unsupported();
}

dnnl::primitive_attr attributes(const dnnl::post_ops& after) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(after);
  return attributes;
}

}  // namespace ktape::kernels
#endif
