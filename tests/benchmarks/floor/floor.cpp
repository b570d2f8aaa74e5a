// Measures what oneDNN's primitives alone need for the convolutions and products of ResNet50 and MobileNetV2, each in
// its best layouts, with bias, activation and residual sum fused, without reorders between them: the shortest time
// that a prediction can reach with this library. Usage: ktape_floor [BATCH ...]
#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using dnnl::algorithm, dnnl::memory;
using Tag = memory::format_tag;

/// A convolution of square images, or a product (size 0).
struct Layer {
  std::int64_t extent, channels, filters, size, stride;
  bool depthwise = false, relu = true, sum = false;
};

void add_bottleneck(std::vector<Layer>& all, std::int64_t extent, std::int64_t channels, std::int64_t width,
                    std::int64_t stride, bool projected) {
  if (projected) all.push_back({extent, channels, 4 * width, 1, stride, false, false});
  all.push_back({extent, channels, width, 1, stride});
  all.push_back({extent / stride, width, width, 3, 1});
  all.push_back({extent / stride, width, 4 * width, 1, 1, false, true, true});
}

std::vector<Layer> resnet50() {
  std::vector<Layer> all{{224, 3, 64, 7, 2}};
  std::int64_t extent = 56, channels = 64;
  const std::int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      const std::int64_t width = 64 << stage, stride = stage > 0 && block == 0 ? 2 : 1;
      add_bottleneck(all, extent, channels, width, stride, block == 0);
      extent /= stride, channels = 4 * width;
    }
  all.push_back({1, 2048, 1000, 0, 1, false, false});
  return all;
}

std::vector<Layer> mobilenet_v2() {
  std::vector<Layer> all{{224, 3, 32, 3, 2}};
  std::int64_t extent = 112, channels = 32;
  const std::int64_t stages[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                    {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (const auto& [expansion, filters, blocks, first] : stages)
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 ? first : 1, wide = expansion * channels;
      if (expansion > 1) all.push_back({extent, channels, wide, 1, 1});
      all.push_back({extent, wide, wide, 3, stride, true});
      extent /= stride;
      all.push_back({extent, wide, filters, 1, 1, false, false, block > 0});
      channels = filters;
    }
  all.push_back({extent, channels, 1280, 1, 1});
  all.push_back({1, 1280, 1000, 0, 1, false, false});
  return all;
}

class Floor {
 public:
  Floor(const std::vector<Layer>& layers, std::int64_t batch, memory::data_type dtype) : dtype_(dtype) {
    for (const Layer& layer : layers)
      layer.size > 0 ? add_convolution(layer, batch) : add_product(layer, batch);
  }

  /// Returns the median time of a pass in milliseconds.
  double milliseconds() {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    const auto begin = Clock::now();
    while (times.size() < 8 || (times.size() < 200 && Clock::now() - begin < std::chrono::seconds(3))) {
      const auto start = Clock::now();
      for (const Step& step : steps_) step.primitive.execute(stream_, step.arguments);
      stream_.wait();
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    times.erase(times.begin(), times.begin() + 3);  // to warm up
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

 private:
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };

  dnnl::primitive_attr after(const Layer& layer) const {
    dnnl::post_ops ops;
    if (layer.sum) ops.append_sum(1);
    if (layer.relu) ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(ops);
    return attributes;
  }

  memory array(const memory::desc& layout) const {
    memory made(layout, engine_);
    std::fill_n(static_cast<char*>(made.get_data_handle()), layout.get_size(), 0);
    return made;
  }

  template <class Primitive, class Description>
  void add(const Description& description) {
    steps_.push_back({Primitive(description),
                      {{DNNL_ARG_SRC, array(description.src_desc())},
                       {DNNL_ARG_WEIGHTS, array(description.weights_desc())},
                       {DNNL_ARG_BIAS, array(description.bias_desc())},
                       {DNNL_ARG_DST, array(description.dst_desc())}}});
  }

  void add_convolution(const Layer& layer, std::int64_t batch) {
    const auto any = [&](const memory::dims& dims) { return memory::desc(dims, dtype_, Tag::any); };
    const std::int64_t extent = layer.extent / layer.stride, size = layer.size;
    const std::int64_t zeros = std::max<std::int64_t>((extent - 1) * layer.stride + size - layer.extent, 0);
    memory::dims kernel{layer.filters, layer.channels, size, size};
    if (layer.depthwise) kernel = {layer.channels, 1, 1, size, size};
    const memory::desc bias({layer.filters}, memory::data_type::f32, Tag::x);
    add<dnnl::convolution_forward>(
        dnnl::convolution_forward::primitive_desc({dnnl::prop_kind::forward_inference,
                                                   algorithm::convolution_direct,
                                                   any({batch, layer.channels, layer.extent, layer.extent}),
                                                   any(kernel),
                                                   bias,
                                                   any({batch, layer.filters, extent, extent}),
                                                   {layer.stride, layer.stride},
                                                   {zeros / 2, zeros / 2},
                                                   {zeros - zeros / 2, zeros - zeros / 2}},
                                                  after(layer), engine_));
  }

  void add_product(const Layer& layer, std::int64_t batch) {
    const auto any = [&](const memory::dims& dims) { return memory::desc(dims, dtype_, Tag::any); };
    const memory::desc bias({layer.filters}, memory::data_type::f32, Tag::x);
    add<dnnl::inner_product_forward>(dnnl::inner_product_forward::primitive_desc(
        {dnnl::prop_kind::forward_inference, any({batch, layer.channels}),
         any({layer.filters, layer.channels}), bias, any({batch, layer.filters})},
        after(layer), engine_));
  }

  memory::data_type dtype_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<Step> steps_;
};

void report(const char* name, const std::vector<Layer>& layers, std::int64_t batch) {
  for (const auto& [dtype, text] :
       {std::pair{memory::data_type::f32, "float32"}, {memory::data_type::bf16, "bfloat16"}})
    try {
      std::printf("%-14s %4d images %-9s %9.3f ms\n", name, static_cast<int>(batch), text,
                  Floor(layers, batch, dtype).milliseconds());
      std::fflush(stdout);
    } catch (const dnnl::error&) {
      std::printf("%-14s %4d images %-9s not supported by this processor\n", name, static_cast<int>(batch),
                  text);
    }
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::int64_t> batches;
  for (int i = 1; i < count; ++i) batches.push_back(std::max(1L, std::atol(arguments[i])));
  if (batches.empty()) batches = {1, 8};
  for (const std::int64_t batch : batches) {
    report("ResNet50", resnet50(), batch);
    report("MobileNetV2", mobilenet_v2(), batch);
  }
}
