#include <doctest/doctest.h>

#include <ktape/ktape.hpp>
#include <sstream>
#include <thread>

#include "../../interrupts.hpp"

namespace K = ktape::backend;

TEST_CASE("an interrupt ends the next op of the thread that accepts it, once") {
  const ktape::Tensor x = K::ones({2});
  const AcceptsInterrupts accepts;
  ktape::interrupt();
  std::thread([&] { CHECK_NOTHROW(K::square(x)); }).join();
  CHECK_THROWS_WITH_AS(K::square(x), "[tensor] interrupted", ktape::Interrupted);
  CHECK_NOTHROW(K::square(x));
  CHECK_FALSE(ktape::clear_interrupt());
}

TEST_CASE("a loop without ops asks for interrupts itself") {
  const AcceptsInterrupts accepts;
  CHECK_NOTHROW(ktape::check_interrupt());
  ktape::interrupt();
  std::thread([] { CHECK_NOTHROW(ktape::check_interrupt()); }).join();
  CHECK_THROWS_WITH_AS(ktape::check_interrupt(), "[tensor] interrupted", ktape::Interrupted);
  CHECK_NOTHROW(ktape::check_interrupt());
}

TEST_CASE("a pending interrupt can be cancelled") {
  const AcceptsInterrupts accepts;
  ktape::interrupt();
  CHECK(ktape::clear_interrupt());
  CHECK_NOTHROW(K::ones({2}));
}

TEST_CASE("a variable keeps its value when its update is interrupted") {
  const ktape::Variable w = K::variable({1.f});
  const AcceptsInterrupts accepts;
  ktape::interrupt();
  CHECK_THROWS_AS(K::update(w, w + 1.f), ktape::Interrupted);
  CHECK(w.value().item<float>() == 1.f);
}

TEST_CASE("a loop that ends early passes its interrupt on to the next op of its caller") {
  static int passed_on = 0;
  const AcceptsInterrupts accepts([] { ++passed_on; });
  std::thread([] { ktape::interrupt_caller("[other] interrupted"); }).join();
  CHECK(passed_on == 0);
  CHECK_NOTHROW(K::ones({2}));
  ktape::interrupt_caller("[loop] interrupted in round 3");
  CHECK(passed_on == 1);
  CHECK_THROWS_WITH_AS(K::ones({2}), "[loop] interrupted in round 3", ktape::Interrupted);
  CHECK_NOTHROW(K::ones({2}));
  ktape::interrupt_caller("[loop] interrupted in round 4");
  CHECK(ktape::clear_interrupt());
  CHECK(ktape::take_interrupt_text() == "[loop] interrupted in round 4");
  CHECK(ktape::take_interrupt_text() == "interrupted");
}

TEST_CASE("an interrupt ends a loop that prints tensors") {
  const ktape::Tensor x = K::ones({2});
  const AcceptsInterrupts accepts;
  ktape::interrupt();
  std::ostringstream out;
  CHECK_THROWS_WITH_AS(out << x, "[print] interrupted", ktape::Interrupted);
  CHECK(out.str().empty());
  CHECK_NOTHROW(out << x);
  ktape::interrupt();
  CHECK_THROWS_WITH_AS(K::print_tensor(x), "[print] interrupted", ktape::Interrupted);
}

TEST_CASE("an interrupt ends a loop of ops that make views only") {
  const ktape::Tensor x = K::ones({2, 2});
  const AcceptsInterrupts accepts;
  ktape::interrupt();
  CHECK_THROWS_WITH_AS(K::reshape(x, {4}), "[tensor] interrupted", ktape::Interrupted);
  CHECK(K::reshape(x, {4}).shape() == ktape::Shape{4});
}
