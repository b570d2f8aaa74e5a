#include <doctest/doctest.h>
#include <ktape/nn/layers/base/input_spec.hpp>

using ktape::None, ktape::Shape, ktape::nn::InputSpec;

TEST_CASE("a spec without requirements accepts each shape and has no text") {
  CHECK(InputSpec{}.accepts({}));
  CHECK(InputSpec{}.accepts({None, 3}));
  CHECK(InputSpec{}.text() == "");
}

TEST_CASE("the rank must be equal to ndim, or in the given range") {
  CHECK(InputSpec{.ndim = 2}.accepts({4, 5}));
  CHECK_FALSE(InputSpec{.ndim = 2}.accepts({4}));
  const InputSpec range{.min_ndim = 2, .max_ndim = 3};
  CHECK_FALSE(range.accepts({1}));
  CHECK(range.accepts({1, 1}));
  CHECK(range.accepts({1, 1, 1}));
  CHECK_FALSE(range.accepts({1, 1, 1, 1}));
  CHECK(InputSpec{.ndim = 0}.accepts({}));
}

TEST_CASE("known extents must equal the required extents") {
  const InputSpec spec{.axes = {{-1, 4}, {1, 3}}};
  CHECK(spec.accepts({2, 3, 4}));
  CHECK(spec.accepts({2, None, None}));
  CHECK_FALSE(spec.accepts({2, 3, 5}));
  CHECK_FALSE(spec.accepts({2, 0, 4}));
}

TEST_CASE("an axis that the shape lacks is not met") {
  CHECK_FALSE(InputSpec{.axes = {{2, 4}}}.accepts({4, 4}));
  CHECK_FALSE(InputSpec{.axes = {{-3, 4}}}.accepts({4, 4}));
  CHECK_FALSE(InputSpec{.axes = {{-1, 4}}}.accepts({}));
}

TEST_CASE("the text lists the requirements") {
  CHECK(InputSpec{.ndim = 3, .axes = {{-1, 4}}}.text() == "ndim=3, shape[-1]=4");
  CHECK(InputSpec{.min_ndim = 2, .max_ndim = 5, .axes = {{1, 0}, {2, 7}}}.text() ==
        "min_ndim=2, max_ndim=5, shape[1]=0, shape[2]=7");
}
