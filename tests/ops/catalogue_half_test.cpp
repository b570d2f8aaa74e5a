// Every differentiable name of the backend API and of keras.ops in bfloat16 and float16, beside float32.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../close.hpp"
#include "catalogue.hpp"

#include <algorithm>
#include <map>

namespace K = ktape::backend;
using ktape::DType, ktape::Tensor;

namespace {

using List = std::vector<Tensor>;

Tensor numbers(const ktape::Shape& shape, int seed) { return normal(shape, seed, "float32"); }

List converted(const List& in, DType dtype) {
  List out;
  for (const Tensor& x : in) out.push_back(x.dtype().is_floating() ? K::cast(x, dtype) : x);
  return out;
}

/// Returns the value in float32, then the gradients of a weighted sum with respect to the inputs; none if the row's own
/// constants have another dtype.
List value_and_gradients(const CatalogueRow& row, const List& in) {
  ktape::GradientTape tape;
  for (const Tensor& x : in) tape.watch(x);
  Tensor y;
  try {
    y = row.f(in);
  } catch (const ktape::TypeError&) {
    return {};
  }
  List out{y};
  const Tensor sum = K::sum(K::cast(y, "float32") * numbers(y.shape(), 5));
  for (const Tensor& gradient : tape.gradient(sum, in)) out.push_back(gradient);
  return out;
}

double largest(const Tensor& x) {
  double out = 0;
  for (const double number : values(x))
    if (std::isfinite(number)) out = std::max(out, std::abs(number));
  return out;
}

/// Returns by how much the errors of some ops are larger: those that are composed of several ops also forwards, or whose
/// results cancel.
double further_rounding(const std::string& name) {
  static const std::map<std::string, double> factors{
      {"separable_conv2d", 2}, {"ops::qr", 2}, {"ops::corrcoef", 2}, {"ops::softmax", 2}};
  const auto found = factors.find(name);
  return found == factors.end() ? 1 : found->second;
}

}  // namespace

TEST_CASE("scores of hidden places fit float16") {
  const Tensor query = numbers({1, 3, 2, 4}, 1), bias = numbers({1, 2, 3, 3}, 2);
  const Tensor mask = K::constant({{true, false, true}, {false, false, true}, {true, true, true}});
  for (const DType half : {DType::BFloat16, DType::Float16}) {
    CAPTURE(half);
    const auto attention = [&](const Tensor& q, const Tensor& b) {
      return K::cast(ktape::ops::dot_product_attention(q, q, q, {.bias = b, .mask = mask}), "float32");
    };
    const Tensor q = K::cast(query, half);
    CHECK(close(attention(q, K::cast(bias, half)), attention(query, bias), {.rtol = 0.02, .atol = 0.02}));
    CHECK(close(attention(q, {}), attention(query, {}), {.rtol = 0.02, .atol = 0.02}));
    // The gradient of a gradient is made of the ops of which attention is composed.
    const auto curvature = [&](const Tensor& at) {
      ktape::GradientTape tape;
      tape.watch(at);
      const Tensor slope = tape.gradient(K::sum(K::square(attention(at, {}))), at);
      return K::cast(tape.gradient(K::sum(K::square(slope)), at), "float32");
    };
    CHECK(close(curvature(q), curvature(query), {.rtol = 0.1, .atol = 0.2}));
  }
}

TEST_CASE("each op computes in 16 bits what float32 computes, rounded") {
  for (const DType half : {DType::BFloat16, DType::Float16})
    for (const CatalogueRow& row : Catalogue::differentiable()) {
      const double unit = half == DType::BFloat16 ? 0x1p-8 : 0x1p-11;
      CAPTURE(row.name);
      CAPTURE(half);
      const List rounded = converted(row.inputs, half),
                 wide = value_and_gradients(row, converted(rounded, DType::Float32));
      if (wide.empty()) continue;
      const List got = value_and_gradients(row, rounded);
      CHECK(got.size() == wide.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(got[i].defined() == wide[i].defined());
        if (!got[i].defined()) continue;
        // Values are rounded once or twice. Gradients of a tape are composed of ops, each of which rounds.
        const double units = (i == 0 ? 2 : 8) * further_rounding(row.name);
        const double scale = std::max(largest(wide[0]), largest(wide[i]));
        CHECK(close(K::cast(got[i], "float32"), wide[i],
                    {.rtol = units * unit, .atol = units / 2 * unit * scale}));
      }
    }
}
