#include <ktape/autograd/tape.hpp>
#include <ktape/nn/data/dataset.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "datasets.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;
using ktape::data::Dataset, ktape::data::Element;

TEST_CASE("sources: rows, whole tensors, numbers and callables") {
  const Tensor x = counted({3, 2}), y = ints({5, 6, 7});
  std::vector<int> classes;
  for (const Element& e : Dataset::from_tensor_slices({x, y})) {
    CHECK(e.size() == 2);
    CHECK(e[0].shape() == Shape{2});
    CHECK(e[1].shape() == Shape());
    classes.push_back(e[1].item<int>());
  }
  CHECK(classes == std::vector{5, 6, 7});
  CHECK(Dataset::from_tensor_slices({x, y}).cardinality() == 3);
  CHECK(read(Dataset::from_tensor_slices(x)) == numbers(6));

  CHECK(Dataset::from_tensors({x, y}).cardinality() == 1);
  CHECK((*Dataset::from_tensors({x, y}).begin())[0].shape() == Shape{3, 2});

  CHECK(read(Dataset::range(4)) == numbers(4));
  CHECK(read(Dataset::range(5, 0, -2)) == Values{5, 3, 1});
  CHECK(read(Dataset::range(3, 3)).empty());
  CHECK((*Dataset::range(1).begin())[0].dtype() == "int64");
  CHECK(Dataset::range(1, 10, 4).cardinality() == 3);

  const Dataset generated = Dataset::from_generator([i = 0]() mutable -> std::optional<Element> {
    if (i == 3) return std::nullopt;
    return Element{K::constant(i++)};
  });
  CHECK_FALSE(generated.cardinality());
  CHECK(read(generated) == numbers(3));
  CHECK(read(generated) == numbers(3));  // each iteration calls a copy of the callable
}

TEST_CASE("a dataset without elements ends, however often it is repeated") {
  const Dataset empty = Dataset::range(0);
  for (const std::int64_t count : {std::int64_t{3}, INT64_MAX, std::int64_t{-1}}) {
    CHECK(read(empty.repeat(count)).empty());
    CHECK(empty.repeat(count).cardinality() == 0);
    CHECK(read(empty.map([](const Element& e) { return e; }).batch(2).repeat(count)).empty());
    CHECK(read(Dataset::range(2).take(0).repeat(count).repeat(count)).empty());
    CHECK(read(Dataset::range(9).filter([](const Element&) { return false; }).repeat(count)).empty());
  }
  CHECK(read(Dataset::range(2).repeat(INT64_MAX).take(3)) == Values{0, 1, 0});
  const Dataset many = Dataset::range(3).repeat(INT64_MAX / 3);
  CHECK(many.concatenate(many).infinite());
}

TEST_CASE("sources that do not fit are errors") {
  CHECK_THROWS_WITH_AS(Dataset::from_tensor_slices({counted({3}), counted({2})}), Contains("as many rows"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Dataset::from_tensor_slices(doubles(1.)), Contains("received a scalar"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::from_tensor_slices(ktape::TensorList()), Contains("received none"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Dataset::range(0, 1, 0), Contains("step must not be 0"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::range(INT64_MIN, INT64_MAX), Contains("2^63"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::zip({}), Contains("received none"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::from_generator(nullptr), Contains("a callable"), ValueError);
}

TEST_CASE("map, filter, take, skip, repeat, concatenate and zip") {
  const Dataset five = Dataset::range(5);
  CHECK(read(five.map([](const Element& e) { return Element{K::square(e[0])}; })) == Values{0, 1, 4, 9, 16});
  CHECK(read(five.filter([](const Element& e) { return e[0].item<int>() % 2 == 1; })) == Values{1, 3});
  CHECK(read(five.take(2)) == Values{0, 1});
  CHECK(read(five.take(-1)) == numbers(5));
  CHECK(read(five.skip(3)) == Values{3, 4});
  CHECK(read(five.skip(9)).empty());
  CHECK(read(five.skip(-1)).empty());
  CHECK(read(five.take(2).repeat(2)) == Values{0, 1, 0, 1});
  CHECK(read(five.repeat().skip(4).take(3)) == Values{4, 0, 1});
  CHECK(read(five.repeat(0)).empty());
  CHECK(read(five.take(0).repeat()).empty());
  CHECK(read(five.take(1).concatenate(five.skip(4))) == Values{0, 4});
  const Dataset pairs = Dataset::zip({five, Dataset::from_tensor_slices({counted({3, 2}), counted({3})})});
  CHECK(pairs.cardinality() == 3);
  for (const Element& e : pairs) CHECK(e.size() == 3);
  for (const Element& e : pairs.batch(2)) CHECK(e[1].shape() == Shape{e[0].shape()[0], 2});
  CHECK(sizes(pairs.batch(2)) == std::vector<std::int64_t>{2, 1});
}

TEST_CASE("the cardinality is known before elements are read, where it follows from the arguments") {
  const Dataset ten = Dataset::range(10);
  CHECK(ten.cardinality() == 10);
  CHECK(ten.batch(3).cardinality() == 4);
  CHECK(ten.batch(3, {.drop_remainder = true}).cardinality() == 3);
  CHECK(ten.shuffle(5).map(doubled).prefetch(2).cache().cardinality() == 10);
  CHECK(ten.take(20).cardinality() == 10);
  CHECK(ten.skip(20).cardinality() == 0);
  CHECK(ten.repeat(3).cardinality() == 30);
  CHECK(ten.concatenate(ten).cardinality() == 20);
  CHECK(ten.window(4).cardinality() == 3);
  CHECK(ten.window(4, {.shift = 1, .stride = 2, .drop_remainder = true}).cardinality() == 4);
  CHECK_FALSE(ten.repeat().cardinality());
  CHECK(ten.repeat().infinite());
  CHECK(ten.repeat().take(7).cardinality() == 7);
  CHECK(Dataset::zip({ten.repeat(), ten.take(4)}).cardinality() == 4);
  CHECK_FALSE(plain(ten).cardinality());
  CHECK_FALSE(plain(ten).infinite());
  CHECK_FALSE(plain(ten).concatenate(ten).cardinality());
  CHECK_FALSE(ten.batch(2).unbatch().cardinality());
}

TEST_CASE("batches are cut from rows and put together from elements alike") {
  const Dataset slices = Dataset::from_tensor_slices({counted({7, 2}), counted({7})});
  for (const Dataset& dataset : {slices, plain(slices)}) {
    CHECK(sizes(dataset.batch(3)) == std::vector<std::int64_t>{3, 3, 1});
    CHECK(sizes(dataset.batch(3, {.drop_remainder = true})) == std::vector<std::int64_t>{3, 3});
    CHECK(sizes(dataset.batch(7)) == std::vector<std::int64_t>{7});
    CHECK(sizes(dataset.batch(std::int64_t{1} << 60)) == std::vector<std::int64_t>{7});
    CHECK(sizes(dataset.skip(5).batch(3)) == std::vector<std::int64_t>{2});
    CHECK(sizes(dataset.take(4).batch(3)) == std::vector<std::int64_t>{3, 1});
    CHECK(sizes(dataset.repeat(2).batch(4)) == std::vector<std::int64_t>{4, 4, 4, 2});
    CHECK(read(dataset.batch(3)) == numbers(14));
    CHECK(read(dataset.repeat(2).take(7).batch(4)) == numbers(14));
    CHECK(read(dataset.batch(3).unbatch()) == numbers(14));
  }
}

TEST_CASE("elements of other shapes do not become a batch, but a padded one") {
  const Dataset ragged =
      Dataset::range(1, 4).map([](const Element& e) { return Element{K::ones({e[0].item<int>()})}; });
  CHECK_THROWS_WITH_AS(read(ragged.batch(2)), Contains("elements must be alike, float32 of shape (1,)"),
                       ValueError);
  const Tensor padded = (*ragged.padded_batch(3).begin())[0];
  CHECK(padded.shape() == Shape{3, 3});
  CHECK(values(padded) == Values{1, 0, 0, 1, 1, 0, 1, 1, 1});
  const Tensor wide = (*ragged.padded_batch(2, {.padded_shapes = {{4}}, .padding_values = {-1}}).begin())[0];
  CHECK(values(wide) == Values{1, -1, -1, -1, 1, 1, -1, -1});
  CHECK(sizes(ragged.padded_batch(2)) == std::vector<std::int64_t>{2, 1});
  CHECK(sizes(ragged.padded_batch(2, {.drop_remainder = true})) == std::vector<std::int64_t>{2});
  CHECK_THROWS_WITH_AS(read(ragged.padded_batch(3, {.padded_shapes = {{2}}})),
                       Contains("must hold every element"), ValueError);
}

TEST_CASE("windows overlap by their shift") {
  const Dataset seven = Dataset::range(7);
  std::vector<Values> windows;
  for (const Element& e : seven.window(3, {.shift = 2})) windows.push_back(values(e[0]));
  CHECK(windows == std::vector<Values>{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6}});
  CHECK(read(seven.window(3, {.drop_remainder = true})) == numbers(6));
  CHECK(read(seven.window(2, {.shift = 1, .stride = 3, .drop_remainder = true})) ==
        Values{0, 3, 1, 4, 2, 5, 3, 6});
  CHECK(read(seven.window(2, {.shift = 5})) == Values{0, 1, 5, 6});
}

TEST_CASE("the random order follows from the seed and the iteration") {
  const Dataset shuffled = rows(100).shuffle(100, {.seed = 3});
  const Values first = read(shuffled), second = read(shuffled);
  CHECK(first != numbers(100));
  CHECK(sorted(first) == numbers(100));
  CHECK(first != second);
  CHECK(sorted(second) == numbers(100));

  const Dataset again = rows(100).shuffle(100, {.seed = 3});
  CHECK(read(again) == first);
  CHECK(read(again) == second);
  CHECK(read(rows(100).shuffle(100, {.seed = 4})) != first);

  const Dataset same = rows(100).shuffle(100, {.seed = 3, .reshuffle_each_iteration = false});
  CHECK(read(same) == read(same));

  // A resumed training begins with a later iteration.
  const Dataset resumed = rows(100).shuffle(100, {.seed = 3});
  CHECK(values((*resumed.begin(1))[0])[0] == second[0]);

  // The rounds of a repetition differ, too.
  const Values rounds = read(rows(100).shuffle(100, {.seed = 3}).repeat(2));
  CHECK(Values(rounds.begin(), rounds.begin() + 100) == first);
  CHECK(Values(rounds.begin() + 100, rounds.end()) != first);
}

TEST_CASE("shards are the elements in turn, and know how many they are") {
  for (const bool as_rows : {true, false}) {
    const Dataset ten = as_rows ? rows(10) : plain(rows(10));
    CHECK(read(ten.shard(3, 0)) == Values{0, 3, 6, 9});
    CHECK(read(ten.shard(3, 1)) == Values{1, 4, 7});
    CHECK(read(ten.shard(3, 2)) == Values{2, 5, 8});
    CHECK(read(ten.shard(1, 0)) == numbers(10));
    CHECK(read(ten.shard(20, 15)).empty());
    CHECK(read(ten.shard(2, 1).batch(2)) == Values{1, 3, 5, 7, 9});
  }
  CHECK(rows(10).shard(3, 0).cardinality() == 4);
  CHECK(rows(10).shard(3, 1).cardinality() == 3);
  CHECK(rows(2).shard(3, 2).cardinality() == 0);
  CHECK(Dataset::range(4).repeat().shard(2, 1).infinite());
}

TEST_CASE("shards of a shuffle share no element, and a shuffle after shard differs between shards") {
  const Dataset shuffled = rows(20).shuffle(20, {.seed = 1});
  Values all = read(shuffled.shard(2, 0));
  for (const double value : read(shuffled.shard(2, 1))) all.push_back(value);
  CHECK(sorted(all) == numbers(20));

  const auto order = [](std::int64_t index) {  // within the shard
    Values places = read(rows(40).shard(2, index).shuffle(20, {.seed = 1}));
    for (double& place : places) place = std::floor(place / 2);
    return places;
  };
  CHECK(order(0) == order(0));
  CHECK(order(0) != order(1));
  CHECK(order(0) == read(rows(20).shuffle(20, {.seed = 1})));  // the first shard has what it had without any
}

TEST_CASE("without a seed the order is that of the global generator") {
  K::set_random_seed(5);
  const Values first = read(rows(50).shuffle(50));
  CHECK(read(rows(50).shuffle(50)) != first);
  K::set_random_seed(5);
  CHECK(read(rows(50).shuffle(50)) == first);
}

TEST_CASE("rows are shuffled as other elements are, also in batches") {
  for (int buffer : {1, 7, 40}) {
    CAPTURE(buffer);
    const Values of_rows = read(rows(40).shuffle(buffer, {.seed = 1}));
    CHECK(read(plain(rows(40)).shuffle(buffer, {.seed = 1})) == of_rows);
    CHECK(read(rows(40).shuffle(buffer, {.seed = 1}).batch(6)) == of_rows);
    CHECK(sorted(of_rows) == numbers(40));
  }
  CHECK(read(rows(40).shuffle(1)) == numbers(40));
  // A small buffer lets nothing come much too early.
  const Values near = read(rows(40).shuffle(3, {.seed = 1}));
  for (int i = 0; i < 40; ++i) CHECK(near[static_cast<std::size_t>(i)] <= i + 2);
}

TEST_CASE("every order of a shuffle is as likely") {
  std::vector<int> counts(24);
  const Dataset four = rows(4).shuffle(4, {.seed = 1});
  for (int i = 0; i < 2400; ++i) {
    const Values order = read(four);
    int number = 0;
    for (std::size_t j = 0; j < 4; ++j)
      number = number * static_cast<int>(4 - j) +
               static_cast<int>(std::count_if(order.begin() + static_cast<int>(j), order.end(),
                                              [&](double later) { return later < order[j]; }));
    ++counts[static_cast<std::size_t>(number)];
  }
  for (int count : counts) CHECK(std::abs(count - 100) < 50);
}

TEST_CASE("a cache runs earlier transformations once") {
  int calls = 0;
  const Dataset cached = Dataset::range(3).map([&calls](const Element& e) { return ++calls, e; }).cache();
  CHECK(read(cached.take(2)).size() == 2);  // not whole: nothing is kept
  calls = 0;
  CHECK(read(cached) == numbers(3));
  CHECK(read(cached) == numbers(3));
  CHECK(calls == 3);
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

TEST_CASE("an iterator that is left ends its threads") {
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

TEST_CASE("numbers out of range and empty functions are errors") {
  const Dataset one = Dataset::range(1);
  CHECK_THROWS_WITH_AS(one.batch(0), "[Dataset.batch] batch_size must be at least 1: received batch_size=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(one.shuffle(0), Contains("buffer_size must be at least 1"), ValueError);
  CHECK_THROWS_WITH_AS(one.prefetch(0), Contains("buffer_size must be at least 1"), ValueError);
  CHECK_THROWS_WITH_AS(one.take(-2), Contains("count must be at least -1"), ValueError);
  CHECK_THROWS_WITH_AS(one.skip(-2), Contains("count must be at least -1"), ValueError);
  CHECK_THROWS_WITH_AS(one.shard(0, 0),
                       "[Dataset.shard] num_shards must be at least 1: received num_shards=0", ValueError);
  CHECK_THROWS_WITH_AS(one.shard(2, 2),
                       "[Dataset.shard] index must be in [0, num_shards): received num_shards=2, index=2",
                       ValueError);
  CHECK_THROWS_WITH_AS(one.repeat(-2), Contains("received count=-2"), ValueError);
  CHECK_THROWS_WITH_AS(one.map(nullptr), Contains("a callable"), ValueError);
  CHECK_THROWS_WITH_AS(one.filter(nullptr), Contains("a callable"), ValueError);
  CHECK_THROWS_WITH_AS(one.map(doubled, {.num_parallel_calls = 0}), Contains("num_parallel_calls"),
                       ValueError);
  CHECK_THROWS_WITH_AS(one.window(0), Contains("at least 1"), ValueError);
  CHECK_THROWS_WITH_AS(one.window(INT64_MAX, {.stride = 2}), Contains("64-bit"), ValueError);
  CHECK_THROWS_WITH_AS(one.padded_batch(0), Contains("batch_size must be at least 1"), ValueError);
  CHECK_THROWS_WITH_AS(read(one.unbatch()), Contains("received a scalar"), ValueError);
}
