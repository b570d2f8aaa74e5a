#include <ktape/ktape.hpp>
#include <ktape/ops/kernels/network/in_place_product.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "../../../close.hpp"
#include "../../check.hpp"

using namespace ktape::kernels;
namespace K = ktape::backend;
using ktape::Shape, ktape::Tensor;

namespace {

constexpr Tolerance rounding{.rtol = 1e-5, .atol = 1e-4};

Tensor random(const Shape& shape, int seed) { return normal(shape, seed, "float32"); }

std::vector<std::int64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

/// The operands of a node with a factor and an offset for each channel.
struct Operands {
  Tensor x, kernel, factors, offsets;
  Operands(const Shape& x, const Shape& kernel)
      : x(random(x, 1)),
        kernel(random(kernel, 2)),
        factors(random({kernel[-1]}, 3)),
        offsets(random({kernel[-1]}, 4)) {}
};

/// Runs a node, with its kernel in place of the operands' if given.
Tensor run(const NetworkNode& node, const Operands& operands, const Tensor& addend = {},
           float* kernel = nullptr) {
  Tensor y = Tensor::empty(Shape(node.shape), "float32");
  const auto floats = [](const Tensor& t) { return static_cast<float*>(t.raw()); };
  NodeKernel::Arrays arrays;
  for (const Tensor& t : {operands.x, operands.kernel, operands.factors, operands.offsets})
    arrays.inputs.push_back(floats(t));
  if (kernel) arrays.inputs[1] = kernel;
  if (addend.defined()) arrays.inputs.push_back(floats(addend));
  arrays.output = floats(y);
  in_place_product(node, extents(operands.x.shape()))->run(arrays);
  return y;
}

NetworkNode product_node(std::int64_t rows, std::int64_t columns) {
  NetworkNode node;
  node.kind = NetworkNode::Kind::Product, node.inputs = {0}, node.shape = {rows, columns};
  return node;
}

}  // namespace

TEST_CASE("in_place_product multiplies any number of rows and columns") {
  for (const std::int64_t rows : {1, 2, 6, 7, 8, 13, 49, 200})
    for (const auto& [inner, columns] :
         {std::pair{1, 1}, {7, 15}, {8, 16}, {30, 33}, {300, 64}, {513, 200}}) {
      const Operands given({rows, inner}, {inner, columns});
      const Tensor want = K::dot(given.x, given.kernel) * given.factors + given.offsets;
      CHECK(close(run(product_node(rows, columns), given), want, rounding));
    }
}

TEST_CASE("in_place_product convolves images with strides, dilation and zeros around them") {
  struct Window {
    std::array<std::int64_t, 2> size, strides{1, 1}, dilation{1, 1};
    std::string padding = "valid";
  };
  for (const Window& window : {Window{{1, 1}},
                               {{1, 1}, {2, 2}},
                               {{3, 3}, {1, 1}, {1, 1}, "same"},
                               {{3, 2}, {2, 1}, {1, 1}, "same"},
                               {{2, 3}, {1, 1}, {2, 3}, "same"},
                               {{3, 3}, {2, 2}}}) {
    const Operands given({2, 8, 9, 5}, {window.size[0], window.size[1], 5, 70});
    K::Conv2dOptions options{.strides = {window.strides[0], window.strides[1]}, .padding = window.padding};
    options.dilation_rate = {window.dilation[0], window.dilation[1]};
    const Tensor y = K::conv2d(given.x, given.kernel, options);
    NetworkNode node;
    node.kind = NetworkNode::Kind::Convolution, node.inputs = {0}, node.shape = extents(y.shape());
    node.window = window.size, node.strides = window.strides, node.dilation = window.dilation;
    for (std::size_t d = 0; d < 2 && window.padding == "same"; ++d) {
      const std::int64_t reach = (window.size[d] - 1) * window.dilation[d] + 1;
      const std::int64_t read = (node.shape[d + 1] - 1) * window.strides[d] + reach;
      node.before[d] = std::max<std::int64_t>(0, read - given.x.shape()[static_cast<int>(d) + 1]) / 2;
    }
    CHECK(close(run(node, given), y * given.factors + given.offsets, rounding));
  }
}

TEST_CASE("in_place_product adds a tensor and applies functions") {
  using Kind = ElementFunction::Kind;
  const Operands given({5, 40}, {40, 90});
  const Tensor addend = random({5, 90}, 5);
  const Tensor sum = K::dot(given.x, given.kernel) * given.factors + given.offsets + addend;
  NetworkNode node = product_node(5, 90);
  node.inputs = {0, 1};
  CHECK(close(run(node, given, addend), sum, rounding));
  node.functions = {{Kind::Relu, 0.2F}, {Kind::Clip, -1, 3}, {Kind::Linear, 2, 1}};
  CHECK(close(run(node, given, addend), K::clip(K::relu(sum, {.alpha = 0.2}), -1, 3) * 2.F + 1.F, rounding));
  node.functions = {{Kind::Tanh}, {Kind::Sigmoid}};
  CHECK(close(run(node, given, addend), K::sigmoid(K::tanh(sum)), rounding));
}

TEST_CASE("in_place_product reads nothing behind the kernel") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const room = static_cast<char*>(
      mmap(nullptr, 17 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* const end = room + 16 * page;
  REQUIRE(mprotect(end, page, PROT_NONE) == 0);
  for (const std::int64_t rows : {1, 5, 50})
    for (const std::int64_t columns : {1, 8, 24, 40, 65, 120}) {
      const Operands given({rows, 100}, {100, columns});
      const auto bytes = static_cast<std::size_t>(given.kernel.size()) * sizeof(float);
      std::memcpy(end - bytes, given.kernel.raw(), bytes);
      const Tensor want = run(product_node(rows, columns), given);
      CHECK(close(run(product_node(rows, columns), given, {}, reinterpret_cast<float*>(end - bytes)), want,
                  exactly));
    }
  munmap(room, 17 * page);
}

TEST_CASE("relu of a sum that overflows is 0 or infinite") {
  Operands given({2, 2}, {2, 3});
  given.x = K::constant({{1e30F, 0.F}, {0.F, 1.F}}),
  given.kernel = K::constant({{-1e30F, 1e30F, 1.F}, {1.F, -1.F, 2.F}});
  given.factors = K::ones({3}), given.offsets = K::zeros({3});
  NetworkNode node = product_node(2, 3);
  node.functions = {{ElementFunction::Kind::Relu}};
  const Tensor sums = K::dot(given.x, given.kernel);
  CHECK(close(run(node, given), K::relu(sums), exactly));
  node.functions = {{ElementFunction::Kind::Relu, 0.2F}};
  CHECK(close(run(node, given), K::relu(sums, {.alpha = 0.2}), rounding));
}

TEST_CASE("in_place_product gives the same bits for any number of threads") {
  for (const std::int64_t rows : {1, 49}) {
    const Operands given({rows, 700}, {700, 1000});
    const int threads = K::num_threads();
    K::set_num_threads(1);
    const Tensor alone = run(product_node(rows, 1000), given);
    for (const int more : {2, 3}) {
      K::set_num_threads(more);
      CHECK(close(run(product_node(rows, 1000), given), alone, exactly));
    }
    K::set_num_threads(threads);
  }
}

TEST_CASE("kernels are read in place where they have more weights than results") {
  NetworkNode row = product_node(1, 1024);
  if (!suits_in_place_product(row, {1, 1024})) return;  // a build without fused instructions
  CHECK_FALSE(suits_in_place_product(row, {1, 64}));
  CHECK_FALSE(suits_in_place_product(product_node(64, 1024), {64, 1024}));
  CHECK(suits_in_place_product(product_node(64, 2048), {64, 1024}));
  CHECK_FALSE(suits_in_place_product(product_node(257, 2048), {257, 1024}));
  row.numbers = NumberType::BFloat16;
  CHECK_FALSE(suits_in_place_product(row, {1, 1024}));
}
