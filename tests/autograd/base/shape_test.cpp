#include <doctest/doctest.h>
#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/shape.hpp>

#include <limits>

using namespace ktape;

TEST_CASE("a shape prints as a Python tuple, unknown dimensions as None") {
  CHECK(to_string(Shape{}) == "()");
  CHECK(to_string(Shape{3}) == "(3,)");
  CHECK(to_string(Shape{2, 3}) == "(2, 3)");
  CHECK(to_string(Shape{None, 2}) == "(None, 2)");
}

TEST_CASE("extents are counted, read from the end, inserted and erased") {
  Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.count() == 24);
  CHECK(shape.count(1) == 12);
  CHECK(shape.count(0, 2) == 6);
  CHECK(Shape{}.count() == 1);
  CHECK(Shape{5, 0}.count() == 0);
  CHECK(shape.back() == 4);
  shape.erase(1);
  CHECK(shape == Shape{2, 4});
  shape.insert(0, 7);
  shape.push_back(9);
  CHECK(shape == Shape{7, 2, 4, 9});
  CHECK(shape != Shape{7, 2, 4});
  CHECK(Shape(std::vector<std::int64_t>{7, 2}) == Shape{7, 2});
  CHECK(Shape(std::vector<int>{7, 2}) == Shape{7, 2});
}

TEST_CASE("more than 8 dimensions are refused") {
  Shape shape{1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_THROWS_WITH_AS(shape.push_back(1), "[shape] a tensor has at most 8 dimensions: received rank=9",
                       ValueError);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), ValueError);
  CHECK(shape.rank() == 8);
}

TEST_CASE("an axis counts from either end") {
  CHECK(canonical_axis("sum", 0, 3) == 0);
  CHECK(canonical_axis("sum", -1, 3) == 2);
  CHECK_THROWS_WITH_AS(canonical_axis("sum", 3, 3),
                       "[sum] axis must be in [-3, 3) for a tensor of rank 3: received axis=3", ValueError);
  CHECK_THROWS_WITH_AS(canonical_axis("sum", 0, 0),
                       "[sum] axis must be in [0, 0) for a tensor of rank 0: received axis=0", ValueError);
}

TEST_CASE("axes are one axis, several axes, all axes or no axis") {
  CHECK(canonical_axes("mean", 1, 3) == 0b010u);
  CHECK(canonical_axes("mean", {0, -1}, 3) == 0b101u);
  CHECK(canonical_axes("mean", None, 3) == 0b111u);
  CHECK(canonical_axes("mean", {}, 3) == 0b111u);
  CHECK(canonical_axes("mean", std::vector<int>{}, 3) == 0u);
  CHECK_THROWS_WITH_AS(canonical_axes("mean", {1, -2}, 3),
                       "[mean] an axis may be named once: received axis=-2 twice", ValueError);
  CHECK_THROWS_WITH_AS(canonical_axes("mean", {0, -4}, 3),
                       "[mean] axis must be in [-3, 3) for a tensor of rank 3: received axis=-4", ValueError);
}

TEST_CASE("extents must be at least 0 and fit in memory") {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  CHECK_NOTHROW(check_extents("zeros", {0, 1 << 30, 0}, 8));
  CHECK_THROWS_AS(check_extents("zeros", {0, huge, huge}, 8), ValueError);
  CHECK_THROWS_WITH_AS(check_extents("zeros", {2, -1}, 4),
                       "[zeros] extents must be at least 0: received shape=(2, -1)", ValueError);
  CHECK_THROWS_WITH_AS(check_extents("zeros", {1 << 30, 1 << 30, 8}, 4),
                       "[zeros] the tensor must fit in memory: received shape=(1073741824, 1073741824, 8)",
                       ValueError);
  CHECK_THROWS_AS(check_extents("zeros", {huge}, 1), ValueError);
}

TEST_CASE("positions of a shape count from the end when negative, and are checked") {
  Shape shape{2, 3, 5};
  CHECK(shape[-1] == 5);
  CHECK(shape[-3] == 2);
  CHECK(shape.back() == 5);
  shape[-2] = 7;
  CHECK(shape == Shape{2, 7, 5});
  for (const int outside : {3, -4, 100, std::numeric_limits<int>::min()})
    CHECK_THROWS_WITH_AS(
        shape[outside],
        ("[shape] the position must be one of the 3 of (2, 7, 5): received " + std::to_string(outside))
            .c_str(),
        ValueError);
  CHECK_THROWS_AS(Shape()[0], ValueError);
  CHECK_THROWS_AS(Shape().back(), ValueError);
  CHECK_THROWS_AS(shape.erase(3), ValueError);
  CHECK_THROWS_AS(shape.insert(4, 1), ValueError);
  CHECK_THROWS_AS(shape.count(0, 4), ValueError);
  CHECK(shape == Shape{2, 7, 5});
}

TEST_CASE("a shape compares with shapes, vectors and None") {
  const Shape shape{None, 3};
  CHECK(shape == Shape{None, 3});
  CHECK(shape != Shape{2, 3});
  CHECK(shape == std::vector<std::int64_t>{-1, 3});
  CHECK(shape[0] == None);
  CHECK(to_string(shape) == "(None, 3)");
}
