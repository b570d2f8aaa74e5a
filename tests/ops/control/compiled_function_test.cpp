#include <doctest/doctest.h>
#include <ktape/ktape.hpp>
#include <ktape/ops/fusion/element_queue.hpp>

#include "../../in_threads.hpp"
#include "../check.hpp"

#include <cstdlib>
#include <cstring>
#include <random>

using doctest::Contains;
namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

/// Lets ops on small tensors wait, too.
struct AnySize {
  std::int64_t before = ktape::fusion::set_smallest_result(1);
  ~AnySize() { ktape::fusion::set_smallest_result(before); }
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.size()) * a.dtype().size()) == 0;
}

void check_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(same_bits(a[i], b[i]));
  }
}

/// A random graph of ops on two placeholders (None, columns) and variables.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed), columns_(1 + below(70)) {
    const auto variable = [&](const Shape& shape) {
      variables.push_back(K::variable(normal(shape, static_cast<int>(seed) + 7, "float32")));
    };
    variable({columns_}), variable({}), variable({columns_, columns_});
    inputs = {K::placeholder({None, columns_}), K::placeholder({None, columns_})};
    for (const Tensor& input : inputs) nodes_.push_back(input);
    const int ops = 3 + static_cast<int>(below(25));
    for (int i = 0; i < ops; ++i) nodes_.push_back(next());
    outputs = {nodes_.back(), any(), K::sum(any() * any(), 1)};
    if (below(2)) {
      // The gradients of a smooth function of what the graph computes.
      const Tensor loss = K::sum(K::square(K::tanh(nodes_.back()))) + K::sum(K::tanh(any()));
      for (const Tensor& gradient : K::gradients(loss, {inputs[0], variables[0], variables[2]}))
        if (gradient.defined()) outputs.push_back(gradient);
    }
  }

  std::vector<Tensor> values_for(std::int64_t rows, int seed) const {
    return {normal({rows, columns_}, seed, "float32"), normal({rows, columns_}, seed + 1, "float32")};
  }

  std::vector<Tensor> inputs, outputs;
  std::vector<Variable> variables;

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(n));
  }
  const Tensor& any() {
    return nodes_[static_cast<std::size_t>(below(static_cast<std::int64_t>(nodes_.size())))];
  }
  /// Returns a node, a variable that broadcasts to it, or an op on variables alone.
  Tensor operand() {
    switch (below(8)) {
      case 0:
        return K::symbolic([&] { return variables[0] * 2.f; })();
      case 1:
        return K::symbolic([&] { return K::tanh(variables[1]) + variables[0]; })();
      case 2:
        return K::mean(any(), 1, true);
      case 3:
        return K::max(any(), 0, true);
      default:
        return any();
    }
  }

  Tensor next() {
    const Tensor x = any();
    switch (below(24)) {
      case 0:
        return K::tanh(x);
      case 1:
        return K::sigmoid(x) * variables[1];
      case 2:
        return K::exp(K::clip(x, -3, 3));
      case 3:
        return K::relu(x) - 0.25f;
      case 4:
        return K::square(x) / (1.f + K::abs(operand()));
      case 5:
        return x + operand();
      case 6:
        return x - operand();
      case 7:
        return x * operand();
      case 8:
        return K::maximum(x, operand());
      case 9:
        return K::where(K::greater(x, operand()), x, 0.5f * x);
      case 10:
        return K::cast(K::cast(K::tanh(x), "float64") * 3., "float32");
      case 11:
        return K::cast(K::cast(K::tanh(x), "float16") + 1., "float32");
      case 12:
        return K::cast(K::cast(x, "int32") * 2, "float32") + x;
      case 13:
        return K::softmax(x);
      case 14:
        return K::dot(K::tanh(x), variables[2]);
      case 15:
        return K::reshape(K::reshape(x, {-1}) * 1.5f, {-1, columns_});
      case 16:
        return K::in_train_phase(K::dropout(x, 0.3, {.seed = 5}), x);
      case 17:
        return K::log1p(K::abs(x)) + K::sqrt(K::abs(operand()) + 1.f);
      case 18:
        return K::minimum(K::sin(x), K::cos(operand() + x));
      case 19:
        return K::gelu(x) + K::elu(x);
      case 20:
        return K::bias_add(x, variables[0]);
      case 21:
        return -K::identity(x);
      case 22:
        return K::concatenate({K::tanh(x), x},
                              1)[{ktape::All, ktape::Slice(columns_ / 2, columns_ / 2 + columns_)}];
      default:
        return K::pow(K::abs(x) + 0.5f, operand() * 0.1f);
    }
  }

  std::mt19937 random_;
  std::int64_t columns_;
  std::vector<Tensor> nodes_;
};

}  // namespace

TEST_CASE("random graphs: compiled and eager functions give the same bits") {
  const AnySize any;
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const RandomGraph graph(seed);
    const auto phase = static_cast<int>(seed % 2);
    const std::vector<K::FunctionInput> inputs = {graph.inputs[0], graph.inputs[1], K::learning_phase()};
    const auto eager = K::function(inputs, graph.outputs);
    const auto compiled = K::function(inputs, graph.outputs, {.compile = true});
    const auto compare = [&](std::int64_t rows, int data, int phase) {
      const std::vector<Tensor> x = graph.values_for(rows, data);
      K::set_random_seed(1);
      const std::vector<Tensor> wanted = eager({x[0], x[1], phase});
      K::set_random_seed(1);
      check_same(compiled({x[0], x[1], phase}), wanted);
    };
    compare(3, 1, phase), compare(3, 2, phase), compare(1 + seed % 40, 3, 1 - phase);
    for (Variable w : graph.variables) K::update(w, K::tanh(w) * 0.5f);
    compare(3, 1, phase);
    Variable scale = graph.variables[1];
    K::update_add(scale, 0.25f);
    compare(2, 4, phase);
  }
}

namespace {
std::size_t steps(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  return ktape::Graph("f", inputs, outputs, {}, true).plan().steps().size();
}
}  // namespace

TEST_CASE("equal ops and identities take no step; ops that differ or are not pure do") {
  const Tensor x = K::placeholder({None, 3}), y = K::placeholder({None, 3});
#if __has_builtin( \
    __builtin_clear_padding)  // other compilers leave bytes in functions that hide their equality
  CHECK(steps({x}, {K::tanh(x) * K::tanh(x)}) == 2);
  CHECK(steps({x}, {K::tanh(K::exp(x)), K::tanh(K::exp(x)), K::exp(x)}) == 2);
#endif
  CHECK(steps({x}, {K::identity(K::tanh(K::identity(x)))}) == 1);
  CHECK(steps({x, y}, {x + y, y + x}) == 2);
  CHECK(steps({x}, {x * 2.f, x * 2.f}) == 1);
  CHECK(steps({x}, {x * 2.f, x * 3.f}) == 2);
  CHECK(steps({x}, {x * 0.f, x * -0.f}) == 2);
  CHECK(steps({x}, {K::sum(x, 0), K::sum(x, 1), K::sum(x, 0)}) == 2);
  CHECK(steps({x}, {K::cast(x, "int32"), K::cast(x, "int64"), K::cast(x, "int32")}) == 2);
  const Variable w = K::variable({{1.f, 2.f, 3.f}}), v = K::variable({{1.f, 2.f, 3.f}});
  CHECK(steps({x}, {x + w, x + w, x + v}) == 2);
  const Tensor noise = K::random_normal({2}) + 0.f;
  CHECK(steps({x}, {x + K::sum(noise), x + K::sum(noise)}) == 2);  // two tensors that were computed apart
  CHECK(steps({x}, {K::dropout(x, 0.5), K::dropout(x, 0.5)}) == 2);
  auto draw = K::symbolic([] { return K::random_normal({2}); });
  CHECK(steps({}, {draw(), draw()}) == 2);
  // A graph with gradients stays as it is: the gradient tells equal tensors apart.
  const Tensor a = K::exp(x), b = K::exp(x);
  CHECK(steps({x}, {K::gradients(K::sum(a * b), {a})[0]}) == 5);
}

TEST_CASE("ops on variables alone run again when a variable has changed, and not before") {
  const Tensor x = K::placeholder({None});
  Variable w = K::variable({2.f, 3.f}), v = K::variable({10.f, 20.f});
  const auto scaled = K::symbolic([&] { return K::square(w) + v; })();
  const auto f = K::function({x}, {x * scaled, scaled}, {.compile = true});
  const Tensor ones = K::ones({2});
  const std::vector<Tensor> first = f({ones}), second = f({ones});
  CHECK(values(first[0]) == Values{14, 29});
  CHECK(first[1].raw() == second[1].raw());
  K::update(w, {0.f, 1.f});
  CHECK(values(f({ones})[0]) == Values{10, 21});
  K::update_add(v, {1.f, 1.f});
  CHECK(values(f({ones})[0]) == Values{11, 22});
  w = {};
  CHECK(values(f({ones})[1]) == Values{11, 22});
  CHECK(values(first[1]) == Values{14, 29});
}

TEST_CASE("a compiled function with updates reads its variables in each run") {
  const AnySize any;
  const Tensor x = K::placeholder({None});
  Variable w = K::variable({1.f, 2.f});
  const Tensor y = x * w;
  const std::vector<Tensor> updates = {K::symbolic([&] { return K::update(w, w * 2.f + 1.f); })()};
  const auto f = K::function({x}, {y}, updates, {.compile = true});
  CHECK(values(f({K::ones({2})})[0]) == Values{1, 2});
  CHECK(values(f({K::ones({2})})[0]) == Values{3, 5});
  CHECK(values(w) == Values{7, 11});
}

TEST_CASE("a compiled call that throws changes nothing, and the next call works") {
  const AnySize any;
  const Tensor x = K::placeholder({None, None}), y = K::placeholder({None, None});
  Variable w = K::variable({1.f, 2.f});
  const Tensor product = K::dot(K::tanh(x) * 2.f, K::exp(y));
  const std::vector<Tensor> updates = {K::update_add(w, K::sum(product) + K::zeros({2}))};
  const auto f = K::function({x, y}, {product}, updates, {.compile = true});
  const auto eager = K::function({x, y}, {product});
  CHECK_THROWS_WITH_AS(f({K::ones({2, 3}), K::ones({4, 2})}), Contains("[dot]"), ValueError);
  CHECK(values(w) == Values{1, 2});
  const Tensor a = normal({2, 3}, 1, "float32"), b = normal({3, 2}, 2, "float32");
  CHECK(same_bits(f({a, b})[0], eager({a, b})[0]));
  CHECK_THROWS_WITH_AS(f({K::ones({2}), K::ones({4, 2})}), Contains("input 0 must have the shape"),
                       ValueError);
}

TEST_CASE("several threads call one compiled function") {
  const AnySize any;
  const RandomGraph graph(11);
  const std::vector<K::FunctionInput> inputs = {graph.inputs[0], graph.inputs[1], K::learning_phase()};
  const auto eager = K::function(inputs, graph.outputs);
  const auto compiled = K::function(inputs, graph.outputs, {.compile = true});
  in_threads(4, [&](int thread) {
    for (int round = 0; round < 30; ++round) {
      const std::vector<Tensor> x = graph.values_for(1 + (round + thread) % 9, thread);
      check_same(compiled({x[0], x[1], 0}), eager({x[0], x[1], 0}));
    }
  });
}

TEST_CASE("KTAPE_COMPILE=0 makes functions that are not compiled") {
  const AnySize any;
  const Tensor x = K::placeholder({None});
  setenv("KTAPE_COMPILE", "0", 1);
  const auto f = K::function({x}, {K::tanh(x) * 2.f}, {.compile = true});
  unsetenv("KTAPE_COMPILE");
  CHECK(values(f({K::zeros({3})})[0]) == Values{0, 0, 0});
}

TEST_CASE("a chain of twelve ops on a large tensor") {
  const Tensor x = K::placeholder({None}), value = normal({300000}, 3, "float32");
  Tensor y = x;
  for (int i = 0; i < 4; ++i) y = K::relu(y * 1.25f - 0.125f) + y;
  const auto eager = K::function({x}, {y}), compiled = K::function({x}, {y}, {.compile = true});
  CHECK(same_bits(eager({value})[0], compiled({value})[0]));
}
