#include "../../products.hpp"
#include "../catalogue.hpp"
#include "../check.hpp"

#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/settings/threads.hpp>

#include <thread>

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

TEST_CASE(
    "set_num_threads: the ops of the calling thread have this number of threads, other threads their own") {
  const int before = K::num_threads();
  const Tensor x = K::random_normal({300, 400}), y = K::random_normal({400, 500});
  const auto run = [&] { return values(K::tanh(K::dot(x, y))); };
  K::set_num_threads(3);
  CHECK(K::num_threads() == 3);
  const Values by_three = run();
  int elsewhere = 0;
  std::thread([&] { elsewhere = K::num_threads(); }).join();
  CHECK(elsewhere == before);
  K::set_num_threads(1);
  if (products_keep_bits()) CHECK(run() == by_three);
  K::set_num_threads(before);
}

TEST_CASE("set_num_threads: numbers out of range are errors and change nothing") {
  const int before = K::num_threads();
  for (const int threads : {0, -1, 1025}) {
    const std::string rule =
        "[set_num_threads] threads must be from 1 to 1024: received threads=" + std::to_string(threads);
    CHECK_THROWS_WITH_AS(K::set_num_threads(threads), Contains(rule.c_str()), ValueError);
  }
  CHECK(K::num_threads() == before);
}

namespace {

const Catalogue catalogue([]() -> Catalogue::Rows {
  return {{"num_threads", no_gradient}, {"set_num_threads", no_gradient}};
});

}  // namespace
