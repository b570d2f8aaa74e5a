#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <thread>

#include "../close.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {
Variable variable(const ArrayLike& value) { return Variable(value.tensor("float32", "float32")); }
}  // namespace

TEST_CASE("the tape lists the recorded ops and their inputs, oldest first") {
  const Variable x = variable({1, 2, 3});
  const Tensor y = K::tanh(x);
  const Tensor z = y * x;
  const auto entries = tape().entries();
  REQUIRE(entries.size() == 2);
  CHECK(tape().size() == 2);
  CHECK(entries[0].op == "tanh");
  CHECK(entries[0].outputs == std::vector<Shape>{{3}});
  CHECK(entries[1].op == "multiply");
  CHECK(entries[1].sequence > entries[0].sequence);
  REQUIRE(entries[1].inputs.size() == 2);
  CHECK(entries[1].inputs[0] == entries[0].sequence);
}

TEST_CASE("an op is on the tape as long as something can need it") {
  const Variable x = variable({1, 2, 3});
  Tensor z = K::exp(K::tanh(x));
  CHECK(tape().size() == 2);
  z = z.detach();
  CHECK(tape().size() == 0);
  for (int i = 0; i < 1000; ++i) K::tanh(x * 2);
  CHECK(tape().size() == 0);
}

TEST_CASE("only ops that depend on a variable are recorded") {
  const Tensor c = ArrayLike({1, 2}).tensor("float32", "float32");
  const Tensor y = K::tanh(c) * c + 1;
  CHECK(tape().size() == 0);
  CHECK(y.node() == nullptr);
}

TEST_CASE("the bytes of the tape count nodes and the values that they computed") {
  CHECK(tape().bytes() == 0);
  const Variable x(Tensor::empty({1000}, "float32"));
  const Tensor y = x * 2;
  CHECK(tape().bytes() >= 4000);
  CHECK(tape().bytes() < 5000);
}

TEST_CASE("the tape is drawn in Graphviz' language") {
  const Variable x = variable({{1, 2}});
  const Tensor y = K::tanh(x);
  const Tensor z = y * y;
  const auto entries = tape().entries();
  const std::string tanh = "n" + std::to_string(entries[0].sequence),
                    product = "n" + std::to_string(entries[1].sequence);
  const std::string dot = tape().graphviz();
  CHECK(dot.substr(0, 14) == "digraph tape {");
  CHECK(dot.find(tanh + " [label=\"tanh\\n(1, 2)\"];") != std::string::npos);
  CHECK(dot.find(tanh + " -> " + product + ";") != std::string::npos);
  CHECK(dot.back() == '\n');
}

TEST_CASE("no op is recorded inside of NoGrad, and scopes nest") {
  const Variable x = variable({1, 2});
  {
    NoGrad off;
    { NoGrad inner; }
    CHECK(!recording());
    const Tensor y = K::exp(x);
    CHECK(tape().size() == 0);
    CHECK(y.node() == nullptr);
  }
  CHECK(recording());
}

TEST_CASE("recording can be turned on again inside NoGrad") {
  const Variable x = variable({3});
  NoGrad off;
  {
    EnableGrad on;
    CHECK(recording());
    CHECK(gradients(x * x, {x})[0].item() == 6);
    {
      NoGrad again;
      CHECK(!recording());
    }
    CHECK(recording());
  }
  CHECK(!recording());
}

TEST_CASE("the summary counts ops and bytes, most bytes first") {
  CHECK(tape().summary() ==
        "op                           count           bytes\n"
        "total                            0               0\n");
  const Variable x(Tensor::empty({1000}, "float32"));
  const Tensor y = K::tanh(x) * 2, z = K::exp(y);
  const std::string summary = tape().summary();
  CHECK(summary.find("tanh                             1") != std::string::npos);
  CHECK(summary.find("total                            3") != std::string::npos);
  CHECK(summary.find(" " + std::to_string(tape().bytes()) + "\n") != std::string::npos);
  const Variable large(Tensor::empty({5000}, "float32"));
  const Tensor sum = large + large;
  CHECK(tape().summary().find("add") < tape().summary().find("exp"));
}

TEST_CASE(
    "state that a loop carries in a tensor keeps its history; the tape shows it, and there are ways out") {
  Variable w = variable({1, 2, 3});
  const auto slope = [&] { return gradients(K::square(w), {w})[0]; };
  SUBCASE("a tensor keeps the graph of every step") {
    Tensor velocity = slope();
    const std::size_t one = tape().size();
    for (int step = 0; step < 10; ++step) velocity = 0.9f * velocity + slope();
    CHECK(tape().size() >= 11 * one);
    CHECK(tape().summary().find("gradients                       11") != std::string::npos);
  }
  SUBCASE("a variable holds values only") {
    Variable velocity = variable({0, 0, 0});
    for (int step = 0; step < 10; ++step) velocity.assign(0.9f * velocity + slope());
    CHECK(tape().size() == 0);
  }
  SUBCASE("nothing is recorded inside NoGrad") {
    Tensor velocity = slope().detach();
    for (int step = 0; step < 10; ++step) {
      const Tensor g = slope();
      NoGrad off;
      velocity = 0.9f * velocity + g;
    }
    CHECK(tape().size() == 0);
  }
  SUBCASE("detach cuts the history off") {
    Tensor velocity = slope().detach();
    for (int step = 0; step < 10; ++step) velocity = (0.9f * velocity + slope()).detach();
    CHECK(tape().size() == 0);
  }
}

TEST_CASE("every thread has its own tape") {
  const Variable x = variable({1, 2});
  const Tensor here = K::exp(x);
  std::size_t there = 99;
  Tensor from_there;
  std::thread([&] {
    NoGrad off;  // of that thread only
    there = tape().size();
  }).join();
  CHECK(there == 0);
  CHECK(recording());
  std::thread([&] { from_there = K::tanh(here); }).join();
  CHECK(tape().size() == 1);
  CHECK(close(gradients(from_there, {x})[0].item(0), std::exp(1.0) / std::pow(std::cosh(std::exp(1.0)), 2),
              {.rtol = 1e-5}));
}

TEST_CASE("a chain of a million ops runs forward, backward and ends without overflowing the stack") {
  const int length = 1000000;
  const Variable x = variable(1);
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = y + x;
  CHECK(tape().size() == length);
  const Tensor g = gradients(y, {x})[0];
  CHECK(g.item<int>() == length + 1);
  y = Tensor();
  CHECK(tape().size() > 0);  // the gradient can still be differentiated
}

TEST_CASE("the chain may also be wide") {
  const Variable x = variable(1);
  std::vector<Tensor> terms;
  for (int i = 0; i < 100000; ++i) terms.push_back(x * 2);
  CHECK(gradients(terms, {x})[0].item<int>() == 200000);
  terms.clear();
  CHECK(tape().size() == 0);
}
