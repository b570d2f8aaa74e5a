// Measures what oneDNN's primitives alone need for a training step of networks with convolutions, and of recurrent and
// attention layers, in float32 and bfloat16: each convolution and product forward, and backward to its input and its
// kernel, biases, relu and max pooling between convolutions, in oneDNN's best layouts, without reorders between them.
// Usage: ktape_floor_training
#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

namespace {

using dnnl::algorithm, dnnl::memory, dnnl::prop_kind;
using Tag = memory::format_tag;
using Type = memory::data_type;

const dnnl::engine& engine() {
  static const dnnl::engine made(dnnl::engine::kind::cpu, 0);
  return made;
}

/// Returns the shortest time of many runs of a primitive on arrays of the given layouts, in milliseconds.
double milliseconds(const dnnl::primitive& primitive,
                    const std::vector<std::pair<int, memory::desc>>& layouts) {
  static dnnl::stream stream(engine());
  std::unordered_map<int, memory> arrays;
  for (const auto& [argument, layout] : layouts) {
    memory array(layout, engine());
    std::fill_n(static_cast<char*>(array.get_data_handle()), layout.get_size(), 0);
    arrays.emplace(argument, array);
  }
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto begin = Clock::now();
  for (int run = 0; run < 10 || (run < 300 && Clock::now() - begin < std::chrono::milliseconds(300)); ++run) {
    const auto start = Clock::now();
    primitive.execute(stream, arrays);
    stream.wait();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

/// A convolution of square images, `times` in a network; the first layer's input needs no gradient. With `relu` a bias
/// and relu follow.
struct Convolution {
  std::int64_t batch, extent, channels, filters, size, stride, padding, times = 1;
  bool first = false, relu = false;
};

double relu_backward(const memory::desc& y) {
  const auto relu = algorithm::eltwise_relu_use_dst_for_bwd;
  const dnnl::eltwise_forward::primitive_desc forward({prop_kind::forward_training, relu, y, 0, 0}, engine());
  const dnnl::eltwise_backward::primitive_desc back({relu, y, y, 0, 0}, engine(), forward);
  return milliseconds(dnnl::eltwise_backward(back),
                      {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_DIFF_SRC, y}});
}

/// Max pooling with windows of 2 x 2 that do not overlap.
struct Pooling {
  std::int64_t batch, extent, channels;
};

double milliseconds(const Pooling& p, Type type) {
  const memory::desc x({p.batch, p.channels, p.extent, p.extent}, type, Tag::nhwc),
      y({p.batch, p.channels, p.extent / 2, p.extent / 2}, type, Tag::nhwc);
  const memory::dims two{2, 2}, none{0, 0};
  const dnnl::pooling_forward::primitive_desc forward(
      {prop_kind::forward_training, algorithm::pooling_max, x, y, two, two, none, none}, engine());
  const memory::desc places = forward.workspace_desc();
  const dnnl::pooling_backward::primitive_desc back({algorithm::pooling_max, x, y, two, two, none, none},
                                                    engine(), forward);
  return milliseconds(dnnl::pooling_forward(forward),
                      {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, places}}) +
         milliseconds(dnnl::pooling_backward(back),
                      {{DNNL_ARG_DIFF_SRC, x}, {DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_WORKSPACE, places}});
}

double milliseconds(const Convolution& c, Type type) {
  const std::int64_t extent = (c.extent + 2 * c.padding - c.size) / c.stride + 1;
  const auto any = [&](const memory::dims& dims) { return memory::desc(dims, type, Tag::any); };
  const memory::desc x = any({c.batch, c.channels, c.extent, c.extent}),
                     kernel = any({c.filters, c.channels, c.size, c.size}),
                     y = any({c.batch, c.filters, extent, extent});
  const memory::dims strides{c.stride, c.stride}, padding{c.padding, c.padding};
  const memory::desc bias = c.relu ? memory::desc({c.filters}, Type::f32, Tag::x) : memory::desc();
  dnnl::primitive_attr after;
  if (c.relu) {
    dnnl::post_ops ops;
    ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    after.set_post_ops(ops);
  }
  const dnnl::convolution_forward::primitive_desc forward(
      {prop_kind::forward_training, algorithm::convolution_direct, x, kernel, bias, y, strides, padding,
       padding},
      after, engine());
  double time = milliseconds(dnnl::convolution_forward(forward), {{DNNL_ARG_SRC, forward.src_desc()},
                                                                  {DNNL_ARG_WEIGHTS, forward.weights_desc()},
                                                                  {DNNL_ARG_BIAS, forward.bias_desc()},
                                                                  {DNNL_ARG_DST, forward.dst_desc()}});
  if (c.relu) time += relu_backward(forward.dst_desc());
  const dnnl::convolution_backward_weights::primitive_desc to_kernel(
      {algorithm::convolution_direct, x, kernel, bias, y, strides, padding, padding}, engine(), forward);
  time += milliseconds(dnnl::convolution_backward_weights(to_kernel),
                       {{DNNL_ARG_SRC, to_kernel.src_desc()},
                        {DNNL_ARG_DIFF_DST, to_kernel.diff_dst_desc()},
                        {DNNL_ARG_DIFF_BIAS, to_kernel.diff_bias_desc()},
                        {DNNL_ARG_DIFF_WEIGHTS, to_kernel.diff_weights_desc()}});
  if (!c.first) {
    const dnnl::convolution_backward_data::primitive_desc to_input(
        {algorithm::convolution_direct, x, kernel, y, strides, padding, padding}, engine(), forward);
    time += milliseconds(dnnl::convolution_backward_data(to_input),
                         {{DNNL_ARG_DIFF_DST, to_input.diff_dst_desc()},
                          {DNNL_ARG_WEIGHTS, to_input.weights_desc()},
                          {DNNL_ARG_DIFF_SRC, to_input.diff_src_desc()}});
  }
  return static_cast<double>(c.times) * time;
}

/// `times` products of `count` pairs of matrices, (rows, inner) by (inner, columns).
struct Product {
  std::int64_t rows, inner, columns, times = 1, count = 1;
};

double milliseconds(const Product& p, Type type) {
  const auto array = [&](std::int64_t rows, std::int64_t columns, bool any = false) {
    if (p.count > 1) return memory::desc({p.count, rows, columns}, type, Tag::abc);
    return memory::desc({rows, columns}, type, any ? Tag::any : Tag::ab);
  };
  const dnnl::matmul::primitive_desc product(
      {array(p.rows, p.inner), array(p.inner, p.columns, true), array(p.rows, p.columns)}, engine());
  return static_cast<double>(p.times) *
         milliseconds(dnnl::matmul(product), {{DNNL_ARG_SRC, product.src_desc()},
                                              {DNNL_ARG_WEIGHTS, product.weights_desc()},
                                              {DNNL_ARG_DST, product.dst_desc()}});
}

struct Step {
  std::vector<Convolution> convolutions;
  std::vector<Product> products = {};
  std::vector<Pooling> poolings = {};

  /// Adds y = x k, dk = x^T dy and, unless the layer is the first, dx = dy k^T.
  Step& add_dense(std::int64_t rows, std::int64_t inner, std::int64_t columns, std::int64_t times = 1,
                  bool first = false) {
    products.insert(products.end(), {{rows, inner, columns, times}, {inner, rows, columns, times}});
    if (!first) products.push_back({rows, columns, inner, times});
    return *this;
  }

  /// Adds a recurrent layer with `columns` gates in all: the products of the inputs at once, those of the states step
  /// by step, and the gradient of the recurrent kernel at once.
  Step& add_recurrent(std::int64_t samples, std::int64_t steps, std::int64_t units, std::int64_t columns) {
    add_dense(samples * steps, units, columns, 1, true);
    products.insert(products.end(), {{samples, units, columns, steps},
                                     {samples, columns, units, steps},
                                     {units, samples * steps, columns}});
    return *this;
  }

  /// Adds attention: the scores and their product with the values, and backward two products for each of these and the
  /// scores once more.
  Step& add_attention(std::int64_t heads, std::int64_t tokens, std::int64_t features, std::int64_t times) {
    products.insert(products.end(), {{tokens, features, tokens, 3 * times, heads},
                                     {tokens, tokens, features, 4 * times, heads}});
    return *this;
  }

  double milliseconds(Type type) const {
    double time = 0;
    for (const Convolution& c : convolutions) time += ::milliseconds(c, type);
    for (const Product& p : products) time += ::milliseconds(p, type);
    for (const Pooling& p : poolings) time += ::milliseconds(p, type);
    return time;
  }
};

Step cnn() {
  Step step{
      .convolutions = {{128, 28, 1, 32, 3, 1, 0, 1, true, true}, {128, 26, 32, 64, 3, 1, 0, 1, false, true}},
      .poolings = {{128, 24, 64}}};
  return step.add_dense(128, 9216, 128).add_dense(128, 128, 10);
}

Step resnet20() {
  Step step{.convolutions = {{32, 32, 3, 16, 3, 1, 1, 1, true},
                             {32, 32, 16, 16, 3, 1, 1, 6},
                             {32, 32, 16, 32, 3, 2, 1},
                             {32, 32, 16, 32, 1, 2, 0},
                             {32, 16, 32, 32, 3, 1, 1, 5},
                             {32, 16, 32, 64, 3, 2, 1},
                             {32, 16, 32, 64, 1, 2, 0},
                             {32, 8, 64, 64, 3, 1, 1, 5}}};
  return step.add_dense(32, 64, 10);
}

void report(const char* name, const Step& step) {
  std::printf("%-20s float32 %9.3f ms  bfloat16 ", name, step.milliseconds(Type::f32));
  try {
    std::printf("%9.3f ms\n", step.milliseconds(Type::bf16));
  } catch (const dnnl::error&) {
    std::printf("is not supported by this processor\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main() {
  report("cnn_train", cnn());
  report("resnet20_train", resnet20());
  report("lstm_train", Step().add_recurrent(32, 80, 128, 512).add_dense(32, 128, 1));
  report("gru_train", Step().add_recurrent(32, 80, 128, 384).add_dense(32, 128, 1));
  report("transformer_train", Step()
                                  .add_dense(2048, 128, 384, 2)
                                  .add_dense(2048, 128, 128, 2)
                                  .add_dense(2048, 128, 512, 2)
                                  .add_dense(2048, 512, 128, 2)
                                  .add_attention(64, 128, 32, 2));
}
