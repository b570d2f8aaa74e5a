#include <ktape/ops/kernels/engine/engine.hpp>

#ifdef KTAPE_WITH_ONEDNN
#include <ktape/autograd/base/half.hpp>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/convolution/convolution.hpp>
#include <ktape/ops/kernels/engine/lru_cache.hpp>
#include <ktape/ops/kernels/parallel/one_thread.hpp>
#include <ktape/ops/kernels/parallel/thread_sums.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <omp.h>
#include <dnnl.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#endif

namespace ktape::kernels {

#ifdef KTAPE_WITH_ONEDNN
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

enum class Pass : std::int64_t { Forward, BackwardData, BackwardKernel };

const dnnl::engine& processor() {
  static const dnnl::engine& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Returns attributes with which the caller passes scratch memory, so that several threads may run one
/// primitive at once.
dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::stream& stream() {
  thread_local dnnl::stream stream(processor());
  return stream;
}

memory::data_type type_of(std::int32_t dtype) {
  return dtype == KTAPE_BFLOAT16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// A matrix product that is ready to run.
struct Product {
  memory::desc a, b, c, scratchpad;
  dnnl::matmul primitive;  ///< null if oneDNN has no fast implementation

  explicit Product(const ktape_matmul& m)
      : a({m.rows, m.inner}, type_of(m.dtype), steps(m.a_stride, m.a_transposed)),
        b({m.inner, m.columns}, type_of(m.dtype), steps(m.b_stride, m.b_transposed)),
        c({m.rows, m.columns}, type_of(m.dtype), memory::dims{m.columns, 1}) {
    const dnnl::matmul::primitive_desc description({a, b, c}, attributes(), processor());
    if (std::strstr(description.impl_info_str(), "ref")) return;
    scratchpad = description.scratchpad_desc();
    primitive = dnnl::matmul(description);
  }

 private:
  static memory::dims steps(std::int64_t stride, std::int32_t transposed) {
    return transposed ? memory::dims{1, stride} : memory::dims{stride, 1};
  }
};

/// Returns whether a primitive gets all the threads that it was made for: with fewer threads its results are
/// wrong.
bool has_all_threads() { return !omp_in_parallel() || omp_get_max_threads() == 1; }

/// The largest number of multiplications that one thread computes alone.
constexpr std::int64_t product_grain = std::int64_t{1} << 19;

/// Products up to which one thread does the work while the processors are contended.
constexpr std::int64_t most_patient_products = product_grain * team_patience;

/// Returns whether one thread should compute `products` multiplications: they are few, or other threads would
/// have to wait for a processor. `Team::Fixed` is for kernels whose sums depend on the number of threads.
bool fits_one_thread(std::int64_t products, Team team = Team::Adaptive) {
  return !omp_in_parallel() && team_size(products, product_grain, team) == 1;
}

/// Returns whether the primitive is faster than dnnl_sgemm: with a transposed b, sgemm has half the speed of
/// the primitive for (128, 512) by (512, 512), a third for 32 rows.
bool prefers_primitive(const ktape_matmul& m) {
  return m.b_transposed && !m.a_transposed && !m.accumulate && m.rows * m.columns * m.inner >= 1 << 18 &&
         has_all_threads();
}

/// Returns whether oneDNN has a fast primitive, which has then run.
bool run_primitive(const ktape_matmul& m) {
  static auto& cache = *new LruCache<std::array<std::int64_t, 9>, Product>(512);
  const auto product = cache.get({omp_get_max_threads(), m.dtype, m.rows, m.columns, m.inner, m.a_stride,
                                  m.b_stride, m.a_transposed, m.b_transposed},
                                 [&] { return Product(m); });
  if (!product->primitive) return false;
  const auto bytes = static_cast<std::int64_t>(product->scratchpad.get_size());
  Workspace<char> space(bytes);
  const auto at = [](const memory::desc& desc, const void* data) {
    return memory(desc, processor(), const_cast<void*>(data));
  };
  product->primitive.execute(stream(), {{DNNL_ARG_SRC, at(product->a, m.a)},
                                        {DNNL_ARG_WEIGHTS, at(product->b, m.b)},
                                        {DNNL_ARG_DST, at(product->c, m.c)},
                                        {DNNL_ARG_SCRATCHPAD, at(product->scratchpad, space.take(bytes))}});
  stream().wait();
  return true;
}

/// Computes a product of bfloat16, with sums in float32.
std::int32_t bfloat16_matmul(const ktape_matmul& m) {
  if (!multiplies_bfloat16() || m.accumulate || !has_all_threads()) return 0;
  const OneThread alone(fits_one_thread(m.rows * m.columns * m.inner));
  try {
    return run_primitive(m);
  } catch (const dnnl::error&) {
    return 0;
  }
}

std::int32_t matmul(const void* arguments) {
  const auto& m = *static_cast<const ktape_matmul*>(arguments);
  if (m.dtype == KTAPE_BFLOAT16) return bfloat16_matmul(m);
  if (m.dtype != KTAPE_FLOAT32) return 0;
  const OneThread alone(fits_one_thread(m.rows * m.columns * m.inner));
  if (prefers_primitive(m) && run_primitive(m)) return 1;
  const auto letter = [](int transposed) { return transposed ? 'T' : 'N'; };
  return dnnl_sgemm(letter(m.a_transposed), letter(m.b_transposed), m.rows, m.columns, m.inner, 1,
                    static_cast<const float*>(m.a), m.a_stride, static_cast<const float*>(m.b), m.b_stride,
                    static_cast<float>(m.accumulate), static_cast<float*>(m.c), m.columns) == dnnl_success;
}

/// A convolution that is ready to run: its primitive, and the reorder of the kernel between ktape's layout
/// and the primitive's layout.
struct Prepared {
  dnnl::primitive primitive, reorder;  // the primitive is null if oneDNN has no fast implementation
  memory::desc x, kernel, packed, y, scratchpad;
};

/// The geometry in oneDNN's terms: two or three spatial dimensions. The gradient of a kernel of bfloat16 is summed
/// up in float32.
struct Geometry {
  memory::desc x, kernel, packed, y;
  memory::desc multiplied;  ///< the kernel in the forward pass, in a layout that the primitive chooses
  memory::dims strides, dilation, front, back;
  bool grouped, depthwise;

  Geometry(Pass pass, const ktape_convolution& c)
      : grouped(c.groups > 1), depthwise(grouped && c.groups == c.input_channels) {
    const bool flat = c.input[0] == 1 && c.window[0] == 1 && c.output[0] == 1;
    memory::dims input{c.batch, c.input_channels}, output{c.batch, c.output_channels};
    memory::dims window{c.output_channels / c.groups, c.input_channels / c.groups};
    if (grouped) window.insert(window.begin(), c.groups);
    for (int d = flat ? 1 : 0; d < 3; ++d) {
      input.push_back(c.input[d]), output.push_back(c.output[d]), window.push_back(c.window[d]);
      strides.push_back(c.strides[d]), dilation.push_back(c.dilation[d] - 1), front.push_back(c.padding[d]);
      const std::int64_t reach = (c.output[d] - 1) * c.strides[d] + (c.window[d] - 1) * c.dilation[d] + 1;
      back.push_back(std::max<std::int64_t>(0, reach - c.input[d] - c.padding[d]));
    }
    const auto of_images = type_of(c.dtype),
               of_kernel = pass == Pass::BackwardKernel ? memory::data_type::f32 : of_images;
    const Tag images = flat ? Tag::nhwc : Tag::ndhwc;
    const Tag weights = grouped ? (flat ? Tag::hwigo : Tag::dhwigo) : (flat ? Tag::hwio : Tag::dhwio);
    x = {input, of_images, images}, y = {output, of_images, images};
    kernel = {window, of_kernel, weights}, packed = {window, of_kernel, Tag::any};
    multiplied = {window, of_images, Tag::any};
  }
};

/// Returns whether ktape's kernel is faster than an implementation of oneDNN: the reference implementation,
/// or a general implementation of a depthwise convolution.
bool is_slow(const char* implementation, bool depthwise) {
  return std::strstr(implementation, "ref") || (depthwise && !std::strstr(implementation, "dw"));
}

/// Returns whether a packed kernel without groups has ktape's memory layout: one block holds all filters.
bool same_order(const memory::desc& ours, const memory::desc& packed) {
  const auto &a = ours.data.format_desc.blocking, &b = packed.data.format_desc.blocking;
  bool same = b.inner_nblks == 1 && b.inner_idxs[0] == 0 && b.inner_blks[0] == ours.data.dims[0];
  for (int d = 1; d < ours.data.ndims; ++d)
    same = same && (a.strides[d] == b.strides[d] || ours.data.dims[d] == 1);
  return same;
}

/// Makes the primitive for a description; `packed` is the kernel's layout in the primitive.
template <class Primitive, class Description>
Prepared prepared(const Geometry& g, const Description& description,
                  memory::desc (Description::*packed)() const, bool from_packed) {
  Prepared out;
  if (is_slow(description.impl_info_str(), g.depthwise)) return out;
  out.x = g.x, out.kernel = g.kernel, out.packed = (description.*packed)(), out.y = g.y;
  out.scratchpad = description.scratchpad_desc();
  if (!g.grouped && same_order(out.kernel, out.packed)) out.kernel = out.packed;
  if (out.packed != out.kernel) {
    const auto& [from, to] =
        from_packed ? std::tie(out.packed, out.kernel) : std::tie(out.kernel, out.packed);
    out.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(processor(), from, processor(), to));
  }
  out.primitive = Primitive(description);
  return out;
}

Prepared prepare(Pass pass, const ktape_convolution& c) {
  const Geometry g(pass, c);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      {pass == Pass::Forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training,
       algorithm, g.x, g.multiplied, g.y, g.strides, g.dilation, g.front, g.back},
      attributes(), processor());
  if (pass == Pass::Forward)
    return prepared<dnnl::convolution_forward>(
        g, forward, &dnnl::convolution_forward::primitive_desc::weights_desc, false);
  if (pass == Pass::BackwardData)
    return prepared<dnnl::convolution_backward_data>(
        g,
        dnnl::convolution_backward_data::primitive_desc(
            {algorithm, g.x, g.packed, g.y, g.strides, g.dilation, g.front, g.back}, attributes(),
            processor(), forward),
        &dnnl::convolution_backward_data::primitive_desc::weights_desc, false);
  return prepared<dnnl::convolution_backward_weights>(
      g,
      dnnl::convolution_backward_weights::primitive_desc(
          {algorithm, g.x, g.packed, g.y, g.strides, g.dilation, g.front, g.back}, attributes(), processor(),
          forward),
      &dnnl::convolution_backward_weights::primitive_desc::diff_weights_desc, true);
}

using Key = std::array<std::int64_t, 25>;

Key key_of(Pass pass, const ktape_convolution& c) {
  // oneDNN fixes the number of threads when a primitive is made.
  Key key{static_cast<std::int64_t>(pass),
          omp_get_max_threads(),
          c.dtype,
          c.batch,
          c.groups,
          c.input_channels,
          c.output_channels};
  auto at = key.begin() + 7;
  for (const auto* extents : {&c.input, &c.window, &c.output, &c.strides, &c.dilation, &c.padding})
    at = std::copy(std::begin(*extents), std::end(*extents), at);
  return key;
}

std::shared_ptr<const Prepared> lookup(Pass pass, const ktape_convolution& c) {
  static auto& cache = *new LruCache<Key, Prepared>(512);
  return cache.get(key_of(pass, c), [&] {
    try {
      return prepare(pass, c);
    } catch (const dnnl::error&) {
      return Prepared();
    }
  });
}

/// A kernel in the layout of a primitive.
struct Packed {
  memory::desc layout;
  WorkVector<char> elements;
};

/// Copies the kernel into the layout of the primitive.
void pack(const Prepared& p, const ktape_convolution& c, void* packed) {
  p.reorder.execute(stream(), {{DNNL_ARG_FROM, memory(p.kernel, processor(), c.kernel)},
                               {DNNL_ARG_TO, memory(p.packed, processor(), packed)}});
}

void destroy_packed(void* memo) { delete static_cast<Packed*>(memo); }

/// Returns the packed kernel in the memo, made at the first call; null if the memo belongs to another engine
/// or another layout. Packing a kernel takes as long as a convolution of a few images.
char* packed_kernel(const Prepared& p, const ktape_convolution& c) {
  static auto& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (!*c.memo) {
    auto packed = std::make_unique<Packed>(Packed{p.packed, WorkVector<char>(p.packed.get_size())});
    pack(p, c, packed->elements.data());
    stream().wait();
    *c.destroy_memo = destroy_packed;
    *c.memo = packed.release();
  }
  if (*c.destroy_memo != destroy_packed) return nullptr;
  auto& packed = *static_cast<Packed*>(*c.memo);
  return packed.layout == p.packed ? packed.elements.data() : nullptr;
}

void run(Pass pass, const Prepared& p, const ktape_convolution& c) {
  const auto size = [](std::size_t bytes) { return static_cast<std::int64_t>((bytes + 63) / 64 * 64); };
  const bool packs(p.reorder), back = pass == Pass::BackwardKernel;
  void* elements = !packs ? c.kernel : c.memo ? packed_kernel(p, c) : nullptr;
  const std::int64_t pad_bytes = size(p.scratchpad.get_size()),
                     packed_bytes = elements ? 0 : size(p.packed.get_size());
  Workspace<char> space(pad_bytes + packed_bytes);
  char* const bytes = space.take(pad_bytes + packed_bytes);
  if (!elements) {
    elements = bytes + pad_bytes;
    if (!back) pack(p, c, elements);
  }
  memory x(p.x, processor(), c.x), y(p.y, processor(), c.y), packed(p.packed, processor(), elements),
      pad(p.scratchpad, processor(), bytes);
  p.primitive.execute(stream(), {{pass == Pass::BackwardData ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x},
                                 {back ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, packed},
                                 {pass == Pass::Forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y},
                                 {DNNL_ARG_SCRATCHPAD, pad}});
  if (packs && back)
    p.reorder.execute(stream(),
                      {{DNNL_ARG_FROM, packed}, {DNNL_ARG_TO, memory(p.kernel, processor(), c.kernel)}});
  stream().wait();
}

/// Returns whether the native kernel is always faster: where the direct convolution applies, and for results
/// of at most four channels, because oneDNN computes at least 16 channels of a result.
bool leaves_to_native(Pass pass, const ktape_convolution& c) {
  if (pass == Pass::BackwardKernel ? is_strided_pointwise(c)
                                   : pass == Pass::Forward && suits_direct_convolution(c))
    return true;
  const auto [results, others] = pass == Pass::BackwardData ? std::pair(c.input_channels, c.output_channels)
                                                            : std::pair(c.output_channels, c.input_channels);
  return results <= 4 && others >= 32;
}

std::int64_t products_of(const ktape_convolution& c) {
  std::int64_t products = c.batch * c.output_channels * (c.input_channels / c.groups);
  for (int d = 0; d < 3; ++d) products *= c.output[d] * c.window[d];
  return products;
}

/// Runs a pass on the threads that this thread has; false where oneDNN has no fast primitive.
bool run_primitive(Pass pass, const ktape_convolution& c) {
  const auto prepared = lookup(pass, c);
  if (prepared->primitive) run(pass, *prepared, c);
  return static_cast<bool>(prepared->primitive);
}

/// Computes the gradient of the kernel as the sum over parts of the images, each on one thread: unlike the
/// sums of oneDNN's threads, the result does not change while the processors are contended. Returns false if
/// oneDNN has no fast primitive for all parts.
bool sum_over_images(const ktape_convolution& c, std::int64_t products) {
  std::int64_t image = c.input_channels, result = c.output_channels;
  for (int d = 0; d < 3; ++d) image *= c.input[d], result *= c.output[d];
  const std::int64_t size = products / c.batch / (result / c.output_channels);
  std::atomic<bool> all{true};
  const auto sum_of_part = [&](std::int64_t begin, std::int64_t end, float* sums) {
    const OneThread alone(true);
    ktape_convolution part = c;
    part.batch = end - begin;
    const std::int64_t bytes = c.dtype == KTAPE_BFLOAT16 ? 2 : 4;
    part.x = static_cast<char*>(c.x) + begin * image * bytes;
    part.y = static_cast<char*>(c.y) + begin * result * bytes;
    part.kernel = sums;
    if (!run_primitive(Pass::BackwardKernel, part)) all = false;
  };
  constexpr std::int64_t products_per_element = product_grain / row_work_grain;
  thread_sums(c.batch, products / c.batch / products_per_element, size, static_cast<float*>(c.kernel),
              sum_of_part);
  return all;
}

/// Runs a pass; false where oneDNN has no fast primitive. The gradient of a kernel is float32.
bool run_divided(Pass pass, const ktape_convolution& c) {
  const std::int64_t products = products_of(c);
  if (pass == Pass::BackwardKernel && omp_get_max_threads() > 1 && c.batch > 1 && products > product_grain &&
      products <= most_patient_products)
    return sum_over_images(c, products);
  const OneThread alone(
      fits_one_thread(products, pass == Pass::BackwardKernel ? Team::Fixed : Team::Adaptive));
  return run_primitive(pass, c);
}

/// Computes the gradient of a kernel of bfloat16 as float32, and rounds it.
bool round_kernel_gradient(ktape_convolution c) {
  std::int64_t size = c.input_channels / c.groups * c.output_channels;
  for (const std::int64_t extent : c.window) size *= extent;
  Workspace<float> space(size);
  void* const rounded = std::exchange(c.kernel, space.take(size));
  if (!run_divided(Pass::BackwardKernel, c)) return false;
  parallel_for(size, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    narrow(end - begin, static_cast<const float*>(c.kernel) + begin, static_cast<bfloat16*>(rounded) + begin);
  });
  return true;
}

template <Pass pass>
std::int32_t convolution(const void* arguments) {
  const auto& c = *static_cast<const ktape_convolution*>(arguments);
  if (!has_all_threads()) return 0;
  if (c.dtype == KTAPE_BFLOAT16)
    return multiplies_bfloat16() &&
           (pass == Pass::BackwardKernel ? round_kernel_gradient(c) : run_divided(pass, c));
  return c.dtype == KTAPE_FLOAT32 && !leaves_to_native(pass, c) && run_divided(pass, c);
}

}  // namespace

bool multiplies_bfloat16() {
  constexpr auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  static const bool can = [] {
    const char* const wanted = std::getenv("KTAPE_BFLOAT16");
    return (!wanted || std::string_view(wanted) != "0") &&
           (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  }();
  return can;
}

const Kernels& onednn_kernels() {
  static const Kernels kernels{matmul, convolution<Pass::Forward>, convolution<Pass::BackwardData>,
                               convolution<Pass::BackwardKernel>};
  return kernels;
}
#else
bool multiplies_bfloat16() { return false; }

const Kernels& onednn_kernels() {
  static const Kernels none{};
  return none;
}
#endif

}  // namespace ktape::kernels
