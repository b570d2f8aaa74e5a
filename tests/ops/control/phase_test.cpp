#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/control/fixed_phase.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/control/phase.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include "../catalogue.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("the learning phase chooses, unless training is given") {
  const Tensor a = K::constant(1), b = K::constant(2);
  CHECK(K::in_train_phase(a, b).item() == 2.f);
  CHECK(K::in_test_phase(a, b).item() == 1.f);
  CHECK(K::in_train_phase(a, b, true).item() == 1.f);
  CHECK(K::in_train_phase(a, b, 1).item() == 1.f);
  CHECK(K::in_test_phase(a, b, true).item() == 2.f);
  const K::learning_phase_scope training(1);
  CHECK(K::in_train_phase(a, b).item() == 1.f);
  CHECK(K::in_test_phase(a, b).item() == 2.f);
  CHECK(K::in_train_phase(a, b, false).item() == 2.f);
}

TEST_CASE("in a fixed phase, symbolic tensors get their branch at once") {
  const Tensor x = K::placeholder({2});
  const auto op_of = [](const Tensor& y) { return std::string(y.get()->symbol->op()); };
  CHECK(op_of(K::in_train_phase(x + x, x * x)) == "in_train_phase");
  for (const int phase : {0, 1}) {
    CAPTURE(phase);
    const K::FixedPhaseScope fixed(phase);
    const auto never = []() -> Tensor { throw std::runtime_error("the other branch"); };
    const K::Branch sum = [&] { return x + x; }, other = never;
    CHECK(op_of(phase == 1 ? K::in_train_phase(sum, other) : K::in_train_phase(other, sum)) == "add");
    CHECK(op_of(K::in_test_phase(x + x, x * x)) == (phase == 0 ? "add" : "multiply"));
    CHECK(op_of(K::in_test_phase(x + x, x * x, phase == 0)) == (phase == 0 ? "multiply" : "add"));
  }
  CHECK(op_of(K::in_train_phase(x + x, x * x)) == "in_train_phase");
}

TEST_CASE("a learning phase scope belongs to its thread: interleaved scopes restore the phase") {
  std::promise<void> opened, closed;
  int elsewhere = -1;
  std::thread other([&, closing = closed.get_future()]() mutable {
    elsewhere = K::learning_phase();
    const K::learning_phase_scope training(1);
    opened.set_value();
    closing.wait();
  });
  {
    const K::learning_phase_scope training(1);
    opened.get_future().wait();
  }
  CHECK(K::learning_phase() == 0);
  closed.set_value();
  other.join();
  CHECK(K::learning_phase() == 0);
  CHECK(elsewhere == 0);
}

TEST_CASE("the phase that is set inside a scope ends with it") {
  {
    const K::learning_phase_scope training(1);
    K::set_learning_phase(0);
    CHECK(K::learning_phase() == 0);
  }
  K::set_learning_phase(1);
  {
    const K::learning_phase_scope testing(0);
    K::clear_session();
    CHECK(K::learning_phase() == 0);
  }
  CHECK(K::learning_phase() == 0);
}

TEST_CASE("a side is a tensor, a variable or a callable, and only the chosen side runs") {
  const Variable w = K::variable(3.f);
  int runs = 0;
  const auto other = [&] { return ++runs, w * 2.f; };
  CHECK(K::in_train_phase(w, other, true).item() == 3.f);
  CHECK(runs == 0);
  const Tensor y = K::in_train_phase(w, other, false);
  CHECK(runs == 1);
  CHECK(gradients(y, {w})[0].item() == 2.f);
  CHECK(K::in_test_phase([&] { return w; }, other, false).item() == 3.f);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"in_train_phase", [](In in) { return K::in_train_phase(K::square(in[0]), in[0], true); }, {normal({2})}},
      {"in_test_phase", [](In in) { return K::in_test_phase(K::square(in[0]), in[0], false); }, {normal({2})}},
  };
});
// clang-format on

}  // namespace
