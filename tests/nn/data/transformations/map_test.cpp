#include <ktape/autograd/tape.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/settings/config.hpp>

#include <chrono>
#include <thread>

#include "../datasets.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("map gives what its function makes of each element") {
  const Dataset squares = Dataset::range(5).map([](const Element& e) { return Element{K::square(e[0])}; });
  CHECK(read(squares) == Values{0, 1, 4, 9, 16});
  CHECK(squares.cardinality() == 5);
  const Dataset pairs = rows(3).map([](const Element& e) { return Element{e[0], e[0] + 1.0}; });
  for (const Element& e : pairs) CHECK(e.size() == 2);
  CHECK_THROWS_WITH_AS(rows(1).map(nullptr), "[Dataset.map] the function must be a callable: received none",
                       ValueError);
  CHECK_THROWS_WITH_AS(rows(1).map(doubled, {.num_parallel_calls = 0}), Contains("num_parallel_calls"),
                       ValueError);
}

TEST_CASE("functions run unrecorded, in inference, with their own random numbers") {
  const Tensor x = K::variable(counted({4}));
  const K::learning_phase_scope training(1);
  const Dataset dataset = Dataset::from_tensor_slices(x).map([](const Element& e) {
    CHECK(K::learning_phase() == 0);
    return Element{K::square(e[0])};
  });
  for (const Element& e : dataset) CHECK(e[0].node() == nullptr);

  K::set_random_seed(1);
  const Dataset noisy = rows(20).map(
      [](const Element& e) { return Element{e[0] + K::random_normal(Shape(), {.dtype = "float64"})}; });
  const Tensor expected = K::random_normal({3});
  K::set_random_seed(1);
  const Dataset twin = rows(20).map(
      [](const Element& e) { return Element{e[0] + K::random_normal(Shape(), {.dtype = "float64"})}; });
  const Values first = read(noisy);
  CHECK(values(K::random_normal({3})) == values(expected));  // reading draws nothing
  CHECK(read(noisy) != first);
  CHECK(read(twin) == first);
}

TEST_CASE("any number of threads gives equal elements in order") {
  const auto jitter = [](const Element& e) {
    std::this_thread::sleep_for(std::chrono::microseconds(e[0].item<int>() % 3 * 100));
    return Element{e[0] * 2.0 + K::random_uniform({2}, {.dtype = "float64"})};
  };
  K::set_random_seed(1);
  const Values want = read(rows(50).shuffle(50, {.seed = 2}).map(jitter).batch(4));
  for (int threads : {2, 3, 8}) {
    CAPTURE(threads);
    K::set_random_seed(1);
    const Dataset dataset =
        rows(50).shuffle(50, {.seed = 2}).map(jitter, {.num_parallel_calls = threads}).batch(4);
    CHECK(read(dataset.prefetch(3)) == want);
  }
}
