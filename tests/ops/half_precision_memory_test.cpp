#include <ktape/ktape.hpp>

#include "check.hpp"

#include <functional>
#include <string>
#include <vector>

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor;

namespace {

using Op = std::function<Tensor(const std::vector<Tensor>&)>;

/// Returns the bytes that a call keeps: the result, and the values for the gradient.
std::int64_t kept_bytes(const std::vector<Shape>& shapes, const char* dtype, const Op& op) {
  std::vector<ktape::Variable> weights;
  std::vector<Tensor> x;
  for (const Shape& shape : shapes) weights.emplace_back(K::cast(normal(shape, 1, "float32") * 0.1F, dtype));
  for (const ktape::Variable& weight : weights) x.emplace_back(weight);
  op(x);
  const std::int64_t before = ktape::memory_stats().live_bytes;
  const Tensor y = op(x);
  return ktape::memory_stats().live_bytes - before;
}

}  // namespace

TEST_CASE("what is kept for gradients of half precision has half the bytes") {
  const Shape x{16, 32, 64}, heads{16, 32, 2, 32};
  struct Row {
    std::string name;
    std::vector<Shape> shapes;
    Op op;
  };
  const Row rows[] = {
      {"attention",
       {heads, heads, heads},
       [](const auto& a) { return K::scaled_dot_product_attention(a[0], a[1], a[2], {.heads_last = true}); }},
      {"lstm",
       {x, {64, 256}, {64, 256}, {256}},
       [](const auto& a) { return K::lstm(a[0], a[1], a[2], a[3]).outputs; }},
      {"gru",
       {x, {64, 192}, {64, 192}, {2, 192}},
       [](const auto& a) { return K::gru(a[0], a[1], a[2], a[3]).outputs; }},
      {"gelu", {x}, [](const auto& a) { return K::gelu(a[0]); }},
      {"softmax", {x}, [](const auto& a) { return K::softmax(a[0]); }},
      {"layer_normalization",
       {x, {64}, {64}},
       [](const auto& a) { return K::layer_normalization(a[0], a[1], a[2]); }},
      {"dot", {x, {64, 64}}, [](const auto& a) { return K::dot(a[0], a[1]); }},
      {"hypot", {x, x}, [](const auto& a) { return ops::hypot(a[0], a[1]); }},
      {"erfinv", {x}, [](const auto& a) { return ops::erfinv(a[0]); }},
  };
  for (const Row& row : rows)
    for (const char* dtype : {"bfloat16", "float16"}) {
      CAPTURE(row.name);
      CAPTURE(dtype);
      const std::int64_t half = kept_bytes(row.shapes, dtype, row.op),
                         whole = kept_bytes(row.shapes, "float32", row.op);
      CHECK(double(half) < 0.6 * double(whole));
    }
}
