#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/element_functions.hpp>
#include <ktape/ops/kernels/network/in_place_product.hpp>
#include <ktape/ops/kernels/network/internal/step_maker.hpp>
#include <ktape/ops/kernels/parallel/one_thread.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

/// The steps of convolutions and products.
namespace ktape::kernels {

using dnnl::memory;
using Tag = memory::format_tag;
using Kind = NetworkNode::Kind;

namespace {
/// Returns whether two places have no memory in common.
bool is_apart(const ArgumentPlace& a, const ArgumentPlace& b) { return a.in != b.in || a.index != b.index; }

/// Returns whether the vectors of oneDNN are as wide as those of this build: otherwise the wider are faster.
bool has_equal_vectors() {
  constexpr auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  const bool wide = (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  return wide == (vector_bytes == 64);
}

bool has_bias(const NetworkNode& node) { return node.bias >= 0 || !node.normalizers.empty(); }

// oneDNN shares long rows among threads, so that the sums depend on the number of threads.

/// Returns whether the inner product for AVX-512 may share rows. The product of matrices (matmul) never does.
bool shares_rows(const NetworkNode& node, std::int64_t inner) {
  constexpr std::int64_t longest_whole = 1024;
  return node.numbers == NumberType::Float32 && inner > longest_whole;
}

/// Returns whether sgemm, which computes inner products without AVX-512, may share rows: if the result has fewer blocks
/// than there are threads.
bool sgemm_shares_rows(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  constexpr std::int64_t block = 64, longest_whole = 512;
  const auto blocks = [](std::int64_t n) { return (n + block - 1) / block; };
  return inner > longest_whole && blocks(rows) * blocks(columns) < omp_get_max_threads();
}
}  // namespace

/// Returns the place of the result of a node with an addend, which holds the addend when the step begins. x is
/// the other input, which the step reads meanwhile.
StepMaker::Place StepMaker::sum_result(std::size_t i, const NetworkNode& node, const memory::desc& layout,
                                       const Place& x) {
  const Place& addend = input(node, 1);
  const Place to =
      is_apart(x, addend) && addend.layout == layout ? result_over(i, addend) : result(i, layout);
  if (to.in != addend.in || to.index != addend.index) reorder(addend, to);
  return to;
}

StepMaker::After StepMaker::multiplication(const char* name, const NetworkNode& node) const {
  After m{{}, name};
  if (!node.normalizers.empty()) m.what += " + normalization";
  if (node.inputs.size() == 2) m.after.append_sum(1), m.what += " + sum";
  append(node, m);
  return m;
}

template <class Primitive, class Description>
void StepMaker::push_multiplication(std::size_t i, const NetworkNode& node, const Description& description,
                                    const memory::desc& plain_kernel, const Place& x, const Place& y,
                                    const std::string& what) {
  std::vector<std::pair<int, Place>> arguments{
      {DNNL_ARG_SRC, x},
      {DNNL_ARG_WEIGHTS, weight(PackedWeight::Part::Kernel, i, plain_kernel, description.weights_desc())},
      {DNNL_ARG_DST, y}};
  if (has_bias(node)) {
    const memory::desc bias = description.bias_desc();
    arguments.emplace_back(DNNL_ARG_BIAS, weight(PackedWeight::Part::Offsets, i, bias, bias));
  }
  push(Primitive(description), std::move(arguments), description.scratchpad_desc(), what,
       description.impl_info_str());
}

/// Adds a step that reads the kernel in place. Returns false where a primitive of oneDNN may be faster.
bool StepMaker::add_in_place(std::size_t i, const NetworkNode& node) {
  const auto& x = shape_of(node.inputs[0]);
  if (!suits_in_place_product(node, x) || !has_equal_vectors()) return false;
  const memory::desc plain = plain_layout(node.shape), channels = vector_layout(node.shape.back());
  const memory::desc kernel = vector_layout(node.window[0] * node.window[1] * x.back() * node.shape.back());
  const Place from = in_layout(input(node), plain_layout(x));
  KernelArguments arguments{.inputs = {from, weight(PackedWeight::Part::InPlace, i, kernel, kernel),
                                       weight(PackedWeight::Part::Factors, i, channels, channels),
                                       weight(PackedWeight::Part::Offsets, i, channels, channels)},
                            .packed = {},
                            .scratch = {},
                            .output = {}};
  if (node.inputs.size() == 2) {
    const Place addend = in_layout(input(node, 1), plain);
    arguments.inputs.push_back(addend);
    arguments.output = is_apart(from, addend) ? result_over(i, addend) : result(i, plain);
  } else {
    arguments.output = result(i, plain);
  }
  push_own(in_place_product(node, x), std::move(arguments),
           multiplication(node.kind == Kind::Product ? "product" : "convolution", node).what);
  made_.steps.back().implementation = "ktape:in_place";
  if (!has_vector_code(node.functions)) add_each(node.functions, made_.steps.back().own_arguments.output);
  return true;
}

void StepMaker::add_convolution(std::size_t i, const NetworkNode& node) {
  if (add_in_place(i, node)) return;
  const auto& x = shape_of(node.inputs[0]);
  const std::int64_t channels = x.back(), filters = node.shape.back();
  memory::dims window{filters, channels, node.window[0], node.window[1]};
  if (node.depthwise) window = {channels, filters / channels, 1, node.window[0], node.window[1]};
  const auto pair = [](const std::array<std::int64_t, 2>& a) { return memory::dims{a[0], a[1]}; };
  const memory::dims strides = pair(node.strides), dilation{node.dilation[0] - 1, node.dilation[1] - 1},
                     before = pair(node.before), after = pair(node.after);
  const memory::desc source = any_layout(x, node.numbers),
                     kernel(window, onednn_type(node.numbers), Tag::any),
                     bias = has_bias(node) ? vector_layout(filters) : memory::desc(), to = free_layout(i);
  const After m = multiplication(node.depthwise ? "depthwise convolution" : "convolution", node);
  const dnnl::convolution_forward::desc operation(inference, dnnl::algorithm::convolution_direct, source,
                                                  kernel, bias, to, strides, dilation, before, after);
  const dnnl::convolution_forward::primitive_desc description(operation, attributes(m.after), processor());
  expect_fast(description);
  if (node.depthwise && !std::strstr(description.impl_info_str(), "dw")) throw Unsupported();
  const memory::desc plain(window, float_type, node.depthwise ? Tag::hwigo : Tag::hwio);
  const Place from = in_layout(input(node), description.src_desc());
  const Place y = node.inputs.size() == 2 ? sum_result(i, node, description.dst_desc(), from)
                                          : result(i, description.dst_desc());
  push_multiplication<dnnl::convolution_forward>(i, node, description, plain, from, y, m.what);
  add_each(m.apart, y);
}

template <class Primitive, class Description>
void StepMaker::push_product(std::size_t i, const NetworkNode& node, const Description& description,
                             const memory::desc& plain_kernel, const After& after, bool one_thread) {
  const auto& x = shape_of(node.inputs[0]);
  Place from = in_layout(input(node), plain_layout(x, node.numbers));
  const memory::desc plain = plain_layout(node.shape, node.numbers);
  Place y = node.inputs.size() == 2 ? sum_result(i, node, plain, from) : result(i, plain);
  from.layout = row_layout(x, node.numbers), y.layout = row_layout(node.shape, node.numbers);
  push_multiplication<Primitive>(i, node, description, plain_kernel, from, y, after.what);
  made_.steps.back().one_thread = one_thread;
  add_each(after.apart, y);
}

void StepMaker::add_product(std::size_t i, const NetworkNode& node) {
  if (add_in_place(i, node)) return;
  const auto& x = shape_of(node.inputs[0]);
  const std::int64_t inner = x.back(), columns = node.shape.back();
  const memory::desc from = row_layout(x, node.numbers), to = row_layout(node.shape, node.numbers);
  const After m = multiplication("product", node);
  const dnnl::inner_product_forward::desc operation(
      inference, from, {{columns, inner}, onednn_type(node.numbers), Tag::any},
      has_bias(node) ? vector_layout(columns) : memory::desc(), to);
  using Inner = dnnl::inner_product_forward;
  const Inner::primitive_desc description(operation, attributes(m.after), processor());
  expect_fast(description);
  const bool brgemm = std::strstr(description.impl_info_str(), "brgemm");
  const memory::desc plain({columns, inner}, float_type, Tag::io);
  if (brgemm && shares_rows(node, inner)) {
    const dnnl::matmul::desc whole_rows(
        from, {{inner, columns}, onednn_type(node.numbers), Tag::any},
        has_bias(node) ? memory::desc({1, columns}, float_type, Tag::ab) : memory::desc(), to);
    const dnnl::matmul::primitive_desc matrices(whole_rows, attributes(m.after), processor());
    expect_fast(matrices);
    push_product<dnnl::matmul>(i, node, matrices, {{inner, columns}, float_type, Tag::ab}, m);
  } else if (!brgemm && sgemm_shares_rows(to.dims()[0], inner, columns)) {
    const OneThread alone(true);
    push_product<Inner>(i, node, Inner::primitive_desc(operation, attributes(m.after), processor()), plain, m,
                        true);
  } else {
    push_product<Inner>(i, node, description, plain, m);
  }
}

}  // namespace ktape::kernels
#endif
