#include <ktape/nn/data/dataset.hpp>
#include <ktape/ops/creation.hpp>

#include <set>

#include "datasets.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;
using ktape::data::Dataset, ktape::data::Element;

TEST_CASE("datasets are made from rows, whole tensors, numbers and callables") {
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

TEST_CASE("sources that do not fit are errors") {
  CHECK_THROWS_WITH_AS(Dataset::from_tensor_slices({counted({3}), counted({2})}),
                       Contains("the number of rows"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::from_tensor_slices(doubles(1.)), Contains("received a scalar"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::from_tensor_slices(ktape::TensorList()), Contains("received none"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Dataset::range(0, 1, 0), Contains("step must not be 0"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::range(INT64_MIN, INT64_MAX), Contains("2^63"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::zip({}), Contains("received none"), ValueError);
  CHECK_THROWS_WITH_AS(Dataset::from_generator(nullptr), Contains("a callable"), ValueError);
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

TEST_CASE("enumerate puts a number before each element") {
  std::vector<int> indices;
  for (const Element& e : rows(3).enumerate(5)) {
    CHECK(e.size() == 2);
    CHECK(e[0].dtype() == "int64");
    indices.push_back(e[0].item<int>());
  }
  CHECK(indices == std::vector{5, 6, 7});
  CHECK(rows(3).enumerate().cardinality() == 3);
  CHECK(rows(3).repeat().enumerate(-4).infinite());
  CHECK(read(rows(5).batch(2).enumerate().batch(2)) == Values{0, 1, 2});
}

TEST_CASE(
    "random numbers have no end, and are equal in each iteration unless rerandomize_each_iteration is set") {
  const Dataset numbers = Dataset::random({.seed = 4});
  CHECK(numbers.infinite());
  const Values first = read(numbers.take(50));
  CHECK(read(numbers.take(50)) == first);
  CHECK(std::set(first.begin(), first.end()).size() == 50);
  for (const double number : first) {
    CHECK(number >= 0);
    CHECK(number < 4294967296.);
  }
  CHECK(read(Dataset::random({.seed = 5}).take(50)) != first);
  const Dataset other = Dataset::random({.seed = 4, .rerandomize_each_iteration = true}).take(9);
  CHECK(read(other) != read(other));
}
