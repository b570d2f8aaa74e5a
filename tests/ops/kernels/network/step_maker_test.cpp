#include <ktape/ops/kernels/engine/engine.hpp>
#include <ktape/ops/kernels/network/passes/passes.hpp>
#include <ktape/ops/kernels/network/program.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <vector>

using namespace ktape::kernels;
using Kind = NetworkNode::Kind;
using Function = ElementFunction::Kind;
using Functions = std::vector<ElementFunction>;

/// Each test here asks the primitives of oneDNN that plans make, so that the functions that follow a node are right with
/// any version of oneDNN and on any processor.
namespace {

// --- Functions in plain code ---------------------------------------------------------------------------------

double value(const ElementFunction& f, double x) {
  switch (f.kind) {
    case Function::Relu:
      return x > 0 ? x : f.alpha == 0 ? 0 : x * f.alpha;
    case Function::Clip:
      return std::min(std::max(x, double(f.alpha)), double(f.beta));
    case Function::Elu:
      return x > 0 ? x : f.alpha * std::expm1(x);
    case Function::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::Tanh:
      return std::tanh(x);
    case Function::Swish:
      return x / (1 + std::exp(-x));
    case Function::Gelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.));
    case Function::GeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    case Function::Exp:
      return std::exp(x);
    case Function::Linear:
      return f.alpha * x + f.beta;
  }
  return NAN;
}

/// A number, and the error that a computation of it may have.
struct Estimate {
  double number, error;
};
Estimate after(const Functions& functions, double x, double rounding) {
  Estimate now{x, 0};
  for (const ElementFunction& f : functions) {
    const double y = value(f, now.number);
    const double slope = std::max(std::abs(value(f, now.number + now.error) - y),
                                  std::abs(value(f, now.number - now.error) - y));
    now = {y, slope + rounding * std::max(std::abs(y), 0.1)};
  }
  return now;
}

std::string text(const Functions& functions) {
  std::string all;
  for (const ElementFunction& f : functions)
    all += "kind " + std::to_string(static_cast<int>(f.kind)) + '(' + std::to_string(f.alpha) + ", " +
           std::to_string(f.beta) + ") ";
  return all;
}

// --- Nodes that functions may follow -------------------------------------------------------------------------

using Extents = std::vector<std::int64_t>;

std::int64_t count(const Extents& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// A network of inputs and one node.
struct Case {
  std::string name;
  std::vector<Extents> inputs;
  Extents result;
  std::vector<std::int64_t> weights;  ///< the size of each
  std::function<void(NetworkNode&)> set;

  Network network(const Functions& functions, NumberType numbers) const {
    Network made;
    for (const Extents& shape : inputs) {
      NetworkNode input;
      input.shape = shape, input.numbers = numbers;
      made.nodes.push_back(input);
    }
    NetworkNode node;
    node.shape = result, node.numbers = numbers;
    for (std::size_t i = 0; i < inputs.size(); ++i) node.inputs.push_back(static_cast<int>(i));
    set(node);
    node.functions = functions;
    made.outputs = {static_cast<int>(made.nodes.size())};
    made.nodes.push_back(std::move(node));
    return made;
  }
};

void multiplies(NetworkNode& node) {
  node.kind = node.shape.size() == 2 ? Kind::Product : Kind::Convolution;
  node.kernel = 0, node.bias = 1;
}
void windows(NetworkNode& node) {
  multiplies(node);
  node.window = {3, 3}, node.before = node.after = {1, 1};
}

void is_binary(NetworkNode& node, BinaryFunction f) { node.kind = Kind::Binary, node.binary = f; }

std::vector<Case> cases() {
  const Extents row{2, 16}, image{1, 3, 3, 16}, one_per_channel{1, 1, 1, 16}, one_per_pixel{1, 3, 3, 1};
  const auto depthwise = [](NetworkNode& node) { windows(node), node.depthwise = true; };
  const auto normalizes = [](NetworkNode& node) {
    node.kind = Kind::Normalization, node.normalizers = {{0, 1, 2, -1, 0}};
  };
  const auto subtracts = [](NetworkNode& node) { is_binary(node, BinaryFunction::Subtract); };
  const auto scales = [](NetworkNode& node) { is_binary(node, BinaryFunction::Multiply); };
  return {{"product", {row}, row, {16 * 16, 16}, multiplies},
          {"product + sum", {row, row}, row, {16 * 16, 16}, multiplies},
          {"product of long rows", {{2, 1040}}, row, {1040 * 16, 16}, multiplies},
          {"convolution of pixels", {image}, image, {16 * 16, 16}, multiplies},
          {"convolution", {image}, image, {9 * 16 * 16, 16}, windows},
          {"convolution + sum", {image, image}, image, {9 * 16 * 16, 16}, windows},
          {"depthwise convolution", {image}, image, {9 * 16, 16}, depthwise},
          {"normalization", {image}, image, {16, 16, 16}, normalizes},
          {"sum", {image, image}, image, {}, [](NetworkNode& node) { node.kind = Kind::Sum; }},
          {"difference", {image, image}, image, {}, subtracts},
          {"functions", {image}, image, {}, [](NetworkNode& node) { node.kind = Kind::Function; }},
          {"difference of pixels", {image, one_per_pixel}, image, {}, subtracts},
          {"scaling of channels", {image, one_per_channel}, image, {}, scales}};
}

/// Returns quarters between -2 and 2, of which only each `step`th differs from 0.
std::vector<float> quarters(std::int64_t size, std::size_t step, int start) {
  std::vector<float> numbers(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < numbers.size(); i += step)
    numbers[i] = float((static_cast<int>(i / step) * 7 + start) % 17 - 8) / 4;
  return numbers;
}

/// The arrays of one case.
class Arrays {
 public:
  Arrays(const Case& of, NumberType numbers) : of_(of), numbers_(numbers) {
    // Few products are added, so that bfloat16 holds the sums.
    const std::size_t step = of.inputs[0].back() > 16 ? 500 : of.weights.size() == 2 ? 9 : 1;
    for (std::size_t i = 0; i < of.inputs.size(); ++i)
      inputs_.push_back(stored(quarters(count(of.inputs[i]), i == 0 ? step : 1, static_cast<int>(5 * i))));
    for (const std::int64_t size : of.weights) {
      weights_.push_back(quarters(size, 1, 0));
      for (float& w : weights_.back()) w = w > 0 ? .5F : -.5F;
    }
  }

  /// Returns the functions and the numbers where a program differs from plain code; empty if it does not.
  std::string first_difference(const Network& network, const Functions& functions,
                               const std::vector<float>& before) {
    const double rounding = numbers_ == NumberType::Float32 ? 2e-5 : 1. / 128;
    const std::vector<float> got = run(network);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Estimate want = after(functions, double{before[i]}, rounding);
      if (!std::isfinite(static_cast<float>(want.number + want.error))) continue;
      if (!(std::abs(double{got[i]} - want.number) <= want.error))
        return text(functions) + "of " + std::to_string(before[i]) + " is " + std::to_string(want.number) +
               ", received " + std::to_string(got[i]);
    }
    return {};
  }
  /// Returns the results of the program of a network; empty if there is none.
  std::vector<float> run(const Network& network) {
    const auto program = Program::make(network);
    if (!program) return {};
    std::vector<const float*> weights;
    for (const auto& weight : weights_) weights.push_back(weight.data());
    std::vector<float> result(static_cast<std::size_t>(count(of_.result)));
    std::vector<void*> arrays;
    for (auto& input : inputs_) arrays.push_back(input.data());
    arrays.push_back(result.data());
    const std::span<void* const> all(arrays);
    program->run(program->pack(weights, nullptr), all.first(inputs_.size()), all.last(1));
    return read(result);
  }

 private:
  std::vector<float> stored(std::vector<float> numbers) const {
    if (numbers_ == NumberType::Float32) return numbers;
    std::vector<float> halves(numbers.size());
    auto* const to = reinterpret_cast<std::uint16_t*>(halves.data());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      to[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(numbers[i]) >> 16U);
    return halves;
  }
  std::vector<float> read(const std::vector<float>& result) const {
    if (numbers_ == NumberType::Float32) return result;
    std::vector<float> numbers(result.size());
    const auto* const from = reinterpret_cast<const std::uint16_t*>(result.data());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::bit_cast<float>(std::uint32_t{from[i]} << 16U);
    return numbers;
  }

  const Case& of_;
  NumberType numbers_;
  std::vector<std::vector<float>> inputs_, weights_;
};

/// Returns the chains of two and three functions; the second and third of a kind have other numbers.
std::vector<Functions> chains() {
  const std::vector<Functions> kinds{
      {{Function::Relu, .25F}, {Function::Relu}, {Function::Relu, .5F}},
      {{Function::Clip, -1, 1}, {Function::Clip, 0, .5F}, {Function::Clip, .25F, 6}},
      {{Function::Elu, 1}, {Function::Elu, .5F}, {Function::Elu, 2}},
      {{Function::Linear, 2, -1}, {Function::Linear, .5F, 3}, {Function::Linear, -1, 1}},
      {{Function::Sigmoid}},
      {{Function::Tanh}},
      {{Function::Swish}},
      {{Function::Gelu}},
      {{Function::GeluTanh}},
      {{Function::Exp}}};
  std::vector<Functions> all;
  const auto add = [&](std::initializer_list<std::size_t> of) {
    Functions chain;
    std::vector<std::size_t> turns(kinds.size());
    for (const std::size_t kind : of) chain.push_back(kinds[kind][turns[kind]++ % kinds[kind].size()]);
    all.push_back(std::move(chain));
  };
  for (std::size_t a = 0; a < kinds.size(); ++a)
    for (std::size_t b = 0; b < kinds.size(); ++b) {
      add({a, b});
      for (std::size_t c = 0; c < kinds.size(); ++c) add({a, b, c});
    }
  return all;
}

}  // namespace

TEST_CASE("oneDNN computes all pairs and triples of functions behind each primitive of plans") {
  const std::vector<Functions> all = chains();
  std::vector<NumberType> types{NumberType::Float32};
  if (multiplies_bfloat16()) types.push_back(NumberType::BFloat16);
  for (const NumberType numbers : types)
    for (const Case& of : cases()) {
      CAPTURE(of.name);
      CAPTURE(static_cast<int>(numbers));
      Arrays arrays(of, numbers);
      const std::vector<float> before = arrays.run(of.network({{Function::Linear, 1, 0}}, numbers));
      std::string wrong;
#pragma omp parallel for schedule(dynamic)
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string found = arrays.first_difference(of.network(all[i], numbers), all[i], before);
#pragma omp critical
        if (!found.empty()) wrong = found;
      }
      CHECK(wrong == "");
    }
}
