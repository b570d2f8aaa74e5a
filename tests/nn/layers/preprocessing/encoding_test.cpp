#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor, ktape::Variable;

TEST_CASE("category encoding marks, or counts, the categories of a row, or those of each entry") {
  const Tensor x = ints({{0, 1}, {0, 0}, {1, 2}, {3, 1}});
  CHECK(values(nn::CategoryEncoding(4)(x)) == Values{1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1});
  CHECK(values(nn::CategoryEncoding(4, {.output_mode = "count"})(x)) ==
        Values{1, 1, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1});
  const nn::CategoryEncoding one_hot(4, {.output_mode = "one_hot", .dtype = "float64"});
  CHECK(one_hot(x).shape() == Shape{4, 2, 4});
  CHECK(values(one_hot(ints({3, 2}))) == Values{0, 0, 0, 1, 0, 0, 1, 0});
  CHECK(one_hot(ints({{3}, {2}})).shape() == Shape{2, 4});
  CHECK(one_hot(ints({3})).shape() == Shape{1, 4});
  CHECK(one_hot(x).dtype() == "float64");
  CHECK(values(nn::CategoryEncoding(3)(ints({2, 2}))) == Values{0, 0, 1});
  CHECK(nn::CategoryEncoding(3)(ints({{{0, 1}, {1, 2}}})).shape() == Shape{1, 2, 3});
}

TEST_CASE("category encoding weighs counts, with gradients to the weights, in models too") {
  const Tensor x = ints({{0, 1}, {0, 0}});
  const Variable weights = K::variable({{0.1, 0.2}, {0.5, 0.25}});
  const nn::CategoryEncoding layer(3, {.output_mode = "count"});
  const Tensor y = layer(x, {.count_weights = weights});
  CHECK(close(values(y)[0], 0.1, {.rtol = 1e-5}));
  CHECK(values(y)[3] == 0.75);
  const Tensor slopes =
      ktape::gradients(K::sum(y * K::constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}})), {weights})[0];
  CHECK(values(slopes) == Values{1, 2, 4, 4});

  const Tensor numbers = nn::Input({2}, {.dtype = "int32"}), counted = nn::Input({2});
  const nn::Model model({numbers, counted}, {layer(numbers, {.count_weights = counted})});
  CHECK(values(model.apply({x, weights})[0]) == values(y));
}

TEST_CASE("category encoding refuses bad arguments") {
  using Error = ktape::ValueError;
  const nn::CategoryEncoding layer(3, {.name = "c"});
  CHECK_THROWS_WITH_AS(layer(ints({{0, 3}})),
                       doctest::Contains("[c] the numbers must be in [0, num_tokens): received 3"), Error);
  CHECK_THROWS_WITH_AS(layer(ints({{0, -1}})), doctest::Contains("received -1"), Error);
  CHECK_THROWS_WITH_AS(layer(ints({{0, 1}}), {.count_weights = K::ones({1, 2})}),
                       doctest::Contains("[c] count_weights are for output_mode=\"count\""), Error);
  CHECK_THROWS_WITH_AS(
      nn::CategoryEncoding(3, {.output_mode = "count"})(ints({{0, 1}}), {.count_weights = K::ones({2})}),
      doctest::Contains("count_weights must have the shape of the input"), Error);
  CHECK_THROWS_WITH_AS(nn::CategoryEncoding(0), doctest::Contains("num_tokens must be at least 1"), Error);
  CHECK_THROWS_WITH_AS(nn::CategoryEncoding(3, {.output_mode = "counts"}),
                       doctest::Contains("did you mean 'count'"), Error);
  CHECK_THROWS_WITH_AS(nn::CategoryEncoding(3, {.sparse = true}), doctest::Contains("outputs are dense"),
                       Error);
}

TEST_CASE("vectors of absurd length are refused by their size, before memory is taken") {
  const std::int64_t before = ktape::memory_stats().peak_bytes;
  const std::int64_t huge = std::int64_t{1} << 30;
  const auto refuses = [](auto&& f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), ktape::ValueError);
  };
  refuses([&] { nn::CategoryEncoding layer(huge); },
          "[CategoryEncoding] num_tokens must be at most 67108864, because the vectors are dense: received "
          "num_tokens=1073741824");
  refuses([&] { nn::Discretization({.num_bins = huge}); },
          "[Discretization] num_bins must be at most 67108864");
  const auto lookup = [&] {
    nn::IntegerLookup({.max_tokens = huge, .output_mode = "multi_hot", .pad_to_max_tokens = true});
  };
  refuses(lookup, "[IntegerLookup] max_tokens must be at most 67108864");
  const auto unknown = [&] { nn::IntegerLookup({.num_oov_indices = huge, .output_mode = "count"}); };
  refuses(unknown, "[IntegerLookup] num_oov_indices must be in [0, 67108864]");
  const auto texts = [&] {
    nn::TextVectorization({.max_tokens = huge, .output_mode = "tf_idf", .pad_to_max_tokens = true});
  };
  refuses(texts, "[TextVectorization] max_tokens must be at most 67108864");
  refuses(
      [&] {
        ktape::data::to_categorical(ints({0, 1000000000}));
      },
      "[to_categorical] num_classes must be at most 67108864");
  const std::int64_t absurd = std::int64_t{1} << 40;
  refuses([&] { nn::Embedding(absurd, 8, {.name = "words"})(ints({1})); },
          "[words/embeddings] the tensor must fit in memory: received shape=(1099511627776, 8)");
  refuses(
      [&] {
        nn::Dense(absurd, {.name = "wide"})(K::ones({1, 2}));
      },
      "[wide/kernel] the tensor must fit in memory");
  refuses([&] { K::zeros({absurd, 8}); }, "[zeros] the tensor must fit in memory");
  refuses([&] { K::one_hot(ints({1}), absurd * 8); }, "[one_hot] the tensor must fit in memory");
  refuses([&] { ktape::ops::one_hot(ints({1}), absurd * 8); }, "[one_hot] the tensor must fit in memory");
  refuses([&] { ktape::ops::multi_hot(ints({1}), absurd * 8); }, "[multi_hot] the tensor must fit in memory");
  const std::int64_t machine = ktape::memory_of_machine();
  refuses([&] { K::zeros({machine / 4 + 1024}); }, "[zeros] the tensor must fit in memory");
  refuses([&] { K::random_uniform({machine, 2}); }, "[random_uniform] the tensor must fit in memory");
  CHECK(ktape::memory_stats().peak_bytes - before < (std::int64_t{1} << 28));
}
