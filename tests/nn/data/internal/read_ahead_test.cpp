#include <ktape/nn/data/internal/read_ahead.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/creation.hpp>

#include "../datasets.hpp"

namespace K = ktape::backend;
using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("read_ahead gives the elements of a stream in order, with any number of threads") {
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    const auto doubling = std::make_shared<const Dataset::Function>(doubled);
    const auto stream = ktape::data::read_ahead(rows(20).shared()->open(0), threads, 4, doubling, 1);
    Element out;
    for (int i = 0; i < 20; ++i) {
      REQUIRE(stream->next(out));
      CHECK(out[0].item<int>() == 2 * i);
    }
    CHECK_FALSE(stream->next(out));
    CHECK_FALSE(stream->next(out));
  }
}

TEST_CASE("an iterator that is destroyed early ends its threads") {
  const Dataset endless = Dataset::range(5).repeat().map(doubled, {.num_parallel_calls = 3}).prefetch(2);
  for (int i = 0; i < 20; ++i) CHECK((*endless.begin())[0].item<int>() == 0);
  auto it = endless.begin();
  auto moved = std::move(it);
  ++moved;
  CHECK((*moved)[0].item<int>() == 2);
  for (const Element& e : endless)
    if (e[0].item<int>() == 8) break;
}

TEST_CASE("errors reach the reader in their place") {
  for (int threads : {1, 3})
    for (bool ahead : {false, true}) {
      CAPTURE(threads);
      CAPTURE(ahead);
      Dataset broken = Dataset::range(20).map(
          [](const Element& e) {
            if (e[0].item<int>() == 5) throw std::runtime_error("five");
            return e;
          },
          {.num_parallel_calls = threads});
      if (ahead) broken = broken.prefetch(4);
      Values seen;
      CHECK_THROWS_WITH_AS(
          [&] {
            for (const Element& e : broken) seen.push_back(e[0].item<double>());
          }(),
          "five", std::runtime_error);
      CHECK(seen == numbers(5));
    }
  // Of the source, too. After an error an iterator is at its end.
  int count = 0;
  const Dataset source = Dataset::from_generator([&]() -> std::optional<Element> {
                           if (count == 2) throw ValueError("two");
                           return Element{K::constant(count++)};
                         }).map(doubled, {.num_parallel_calls = 2});
  auto it = source.begin();
  ++it;
  CHECK_THROWS_WITH_AS(++it, "two", ValueError);
  CHECK(it == source.end());
}
