#include <ktape/nn/layers/preprocessing/internal/categories.hpp>

#include "../../../../ops/check.hpp"

using doctest::Contains;
using ktape::DType, ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;
using namespace ktape::nn;

namespace {

const auto all_modes = {OutputMode::Int, OutputMode::OneHot, OutputMode::MultiHot, OutputMode::Count,
                        OutputMode::TfIdf};

Tensor categories(const ktape::ArrayLike& numbers) { return ints(numbers, "int64"); }

}  // namespace

TEST_CASE("modes have the names of Keras 3, and two older names") {
  for (const OutputMode mode : all_modes) CHECK(output_mode("Layer", name_of(mode), all_modes) == mode);
  CHECK(output_mode("Layer", "binary", all_modes) == OutputMode::MultiHot);
  CHECK(output_mode("Layer", "tf-idf", all_modes) == OutputMode::TfIdf);
}

TEST_CASE("an unknown mode is an error with the nearest names") {
  CHECK_THROWS_WITH_AS(
      output_mode("Layer", "onehot", {OutputMode::Int, OutputMode::OneHot}),
      "[Layer] output_mode must be 'int' or 'one_hot': received output_mode=\"onehot\"; did you "
      "mean 'one_hot'?",
      ValueError);
  CHECK_THROWS_WITH_AS(output_mode("Layer", "binary", {OutputMode::Int, OutputMode::OneHot}),
                       "[Layer] output_mode must be 'int' or 'one_hot': received output_mode=\"binary\"",
                       ValueError);
}

TEST_CASE("shapes of results, with unknown extents") {
  CHECK(encoded_shape({2, 3}, OutputMode::Int, 5) == Shape{2, 3});
  CHECK(encoded_shape({2, 3}, OutputMode::OneHot, 5) == Shape{2, 3, 5});
  CHECK(encoded_shape({2, 1}, OutputMode::OneHot, 5) == Shape{2, 5});
  CHECK(encoded_shape({1}, OutputMode::OneHot, 5) == Shape{1, 5});
  CHECK(encoded_shape({None, None}, OutputMode::OneHot, 5) == Shape{None, None, 5});
  CHECK(encoded_shape({None, 3}, OutputMode::MultiHot, 5) == Shape{None, 5});
  CHECK(encoded_shape({}, OutputMode::Count, 5) == Shape{5});
  CHECK(encoded_shape({}, OutputMode::OneHot, 5) == Shape{5});
}

TEST_CASE("the mode int only changes the dtype") {
  const Tensor same = encoded(categories({3, -1, 9}), OutputMode::Int, 4, "int32");
  CHECK(same.dtype() == "int32");
  CHECK(values(same) == Values{3, -1, 9});
}

TEST_CASE("one-hot, multi-hot and counts leave out categories outside of the range") {
  const Tensor x = categories({{0, 2, 2}, {-1, 3, 1}});
  CHECK(values(encoded(x, OutputMode::OneHot, 3, "float32")) ==
        Values{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  CHECK(values(encoded(x, OutputMode::MultiHot, 3, "float32")) == Values{1, 0, 1, 0, 1, 0});
  CHECK(values(encoded(x, OutputMode::Count, 3, "float64")) == Values{1, 0, 2, 0, 1, 0});
  CHECK(encoded(x, OutputMode::Count, 3, "float64").dtype() == "float64");
}

TEST_CASE("a scalar is a row of one entry, and an empty row gives zeros") {
  CHECK(values(encoded(categories(1), OutputMode::MultiHot, 3, "float32")) == Values{0, 1, 0});
  CHECK(values(encoded(categories(1), OutputMode::OneHot, 3, "float32")) == Values{0, 1, 0});
  const Tensor none = Tensor::empty({2, 0}, DType::Int64);
  CHECK(values(encoded(none, OutputMode::Count, 3, "float32")) == Values{0, 0, 0, 0, 0, 0});
  CHECK(encoded(Tensor::empty({0, 2}, DType::Int64), OutputMode::Count, 3, "float32").shape() == Shape{0, 3});
}

TEST_CASE("weights are summed by category, and get gradients where their category counts") {
  const Tensor x = categories({{0, 2, 2}, {-1, 1, 1}}), weights = doubles({{1, 2, 3}, {4, 5, 6}});
  const auto counted = [&](const Tensor& w) { return encoded(x, OutputMode::Count, 3, "float64", w); };
  CHECK(values(counted(weights)) == Values{1, 0, 5, 0, 11, 0});
  CHECK(values(slope(counted, weights)) == Values{1, 1, 1, 0, 1, 1});
  check_gradients([&](In w) { return counted(w[0]); }, {weights});
}
