#include <ktape/ops/creation.hpp>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "../datasets.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("prefetching reads ahead on another thread, no further than asked") {
  std::atomic<int> produced{0};
  std::set<std::thread::id> threads;
  const Dataset dataset = Dataset::from_generator([&]() -> std::optional<Element> {
                            threads.insert(std::this_thread::get_id());
                            return Element{K::constant(++produced)};
                          }).prefetch(4);
  {
    auto it = dataset.begin();
    while (produced < 5) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(produced == 5);  // one is read, four wait
    ++it;
    while (produced < 6) std::this_thread::yield();
    CHECK((*it)[0].item<int>() == 2);
  }
  CHECK(threads.size() == 1);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
  CHECK(read(Dataset::range(100).prefetch(1)) == numbers(100));
  CHECK(read(Dataset::range(0).prefetch(3)).empty());
}

TEST_CASE("prefetch keeps the number and the order of the elements") {
  CHECK(rows(9).prefetch(4).cardinality() == 9);
  CHECK(rows(9).repeat().prefetch(4).infinite());
  CHECK(read(rows(9).batch(2).prefetch(4)) == numbers(9));
  CHECK_THROWS_WITH_AS(rows(1).prefetch(0), Contains("[Dataset.prefetch] buffer_size must be at least 1"),
                       ValueError);
}
