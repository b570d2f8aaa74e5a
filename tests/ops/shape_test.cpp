#include <ktape/ktape.hpp>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

constexpr const char* dtypes[] = {"bool", "uint8", "int8", "int16", "int64", "float16", "float32", "float64"};

}  // namespace

TEST_CASE("reshape renames, with one extent left open") {
  const Tensor x = counted({2, 3});
  CHECK(K::reshape(x, {3, 2}).item<double>(2, 1) == 5);
  CHECK(K::reshape(x, {3, 2}).raw() == x.raw());
  CHECK(K::reshape(x, {-1}).shape() == Shape{6});
  CHECK(K::reshape(x, {1, -1, 2}).shape() == Shape{1, 3, 2});
  CHECK(K::reshape(K::zeros({0, 4}), {0, 2}).shape() == Shape{0, 2});
  CHECK(K::reshape(K::zeros({0, 4}), {-1, 2}).shape() == Shape{0, 2});
  CHECK(K::reshape(K::ones({1}), {}).shape() == Shape{});
  CHECK_THROWS_WITH_AS(K::reshape(x, {4, 2}),
                       "[reshape] the shape must hold the 6 elements of x: received x=(2, 3), shape=(4, 2)",
                       ValueError);
  CHECK_THROWS_AS(K::reshape(x, {-1, 4}), ValueError);
  CHECK_THROWS_AS(K::reshape(x, {-1, -1}), ValueError);
  CHECK_THROWS_AS(K::reshape(x, {-2, -3}), ValueError);
  CHECK_THROWS_AS(K::reshape(K::zeros({0}), {-1, 0}), ValueError);
  CHECK_THROWS_AS(K::reshape(Tensor(), {1}), ValueError);
  check_gradients(
      [](In in) {
        return K::reshape(in[0], {3, -1}) * K::reshape(in[1], {3, 2});
      },
      {x, counted({6})});
}

TEST_CASE("permute_dimensions and transpose reorder axes") {
  for (const char* dtype : dtypes) {
    CAPTURE(dtype);
    const Tensor x = K::cast(counted({2, 3, 2}), dtype);
    const Tensor y = K::permute_dimensions(x, {2, 0, 1});
    CHECK(y.shape() == Shape{2, 2, 3});
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 2; ++k) CHECK(y.item<double>(k, i, j) == x.item<double>(i, j, k));
  }
  CHECK(values(K::transpose(counted({2, 3}))) == Values{0, 3, 1, 4, 2, 5});
  CHECK(K::transpose(K::zeros({2, 3, 4})).shape() == Shape{4, 3, 2});
  CHECK(K::transpose(K::constant(3)).item() == 3.f);
  CHECK(K::permute_dimensions(K::zeros({0, 2}), {1, 0}).shape() == Shape{2, 0});
  CHECK_THROWS_WITH_AS(
      K::permute_dimensions(K::ones({2, 3}), {1, 1}),
      "[permute_dimensions] the pattern must name every axis once: received x=(2, 3), pattern=(1, 1)",
      ValueError);
  CHECK_THROWS_AS(K::permute_dimensions(K::ones({2, 3}), {1}), ValueError);
  CHECK_THROWS_AS(K::permute_dimensions(K::ones({2, 3}), {0, 2}), ValueError);
  check_gradients(
      [](In in) {
        return K::permute_dimensions(in[0], {1, 2, 0}) * in[1];
      },
      {counted({2, 3, 2}), counted({3, 2, 2})});
  check_gradients([](In in) { return K::transpose(in[0] * in[0]); }, {counted({2, 3})});
}

TEST_CASE("concatenate and stack join tensors") {
  for (const char* dtype : dtypes) {
    CAPTURE(dtype);
    const Tensor a = K::cast(K::constant({{1, 0}, {0, 1}}), dtype),
                 b = K::cast(K::constant({{1}, {1}}), dtype);
    CHECK(values(K::concatenate({a, b})) == Values{1, 0, 1, 0, 1, 1});
    CHECK(values(K::concatenate({a, a}, 0)) == Values{1, 0, 0, 1, 1, 0, 0, 1});
    CHECK(values(K::stack({b, b}, 1)) == Values{1, 1, 1, 1});
  }
  const Tensor x = counted({2, 3});
  CHECK(K::stack({x, x}).shape() == Shape{2, 2, 3});
  CHECK(values(K::stack({x, x + 6}, -1)) == Values{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11});
  CHECK(K::concatenate({K::zeros({0, 3}, {.dtype = "float64"}), x}, 0).shape() == Shape{2, 3});
  CHECK(K::stack({K::constant(1), K::constant(2)}).shape() == Shape{2});
  check_gradients(
      [](In in) {
        return K::concatenate({in[0], in[1] * in[1], in[0]}, 1);
      },
      {x, counted({2, 2})});
  check_gradients([](In in) { return K::stack({in[0], in[1] * in[0]}, 1); }, {x, x - 3});
}

TEST_CASE("concatenate, stack and repeat_elements put every one of many short rows in its place") {
  const int rows = 40007;  // more than one block
  const Tensor x = K::reshape(K::arange(2 * rows), {rows, 2}), y = K::reshape(K::arange(3 * rows), {rows, 3});
  const Tensor joined = K::concatenate({x, y}, 1), stacked = K::stack({K::flatten(x), K::flatten(x) * 2}, -1);
  CHECK(joined.shape() == Shape{rows, 5});
  CHECK(values(joined[rows - 1]) == Values{80012, 80013, 120018, 120019, 120020});
  CHECK(values(K::all(K::equal(K::slice(joined, {0, 2}, {rows, 3}), y))) == Values{1});
  CHECK(values(K::all(K::equal(stacked, K::reshape(K::flatten(x), {-1, 1}) *
                                            K::constant({1, 2}, {.dtype = "int32"})))) == Values{1});
  for (const int times : {2, 3, 4, 5}) {
    const Tensor repeated = K::reshape(K::repeat_elements(x, times, 1), {-1, times});
    CHECK(values(K::all(K::equal(repeated, K::reshape(x, {-1, 1})))) == Values{1});
  }
}

TEST_CASE("concatenate and stack name what does not fit") {
  const Tensor x = K::ones({2, 3});
  CHECK_THROWS_WITH_AS(K::concatenate({x, K::ones({3, 3})}, 1),
                       "[concatenate] the shapes must agree in all axes but 1: received (2, 3) and (3, 3)",
                       ValueError);
  CHECK_THROWS_AS(K::concatenate({x, K::ones({2})}), ValueError);
  CHECK_THROWS_AS(K::concatenate(std::vector<Tensor>{}), ValueError);
  CHECK_THROWS_AS(K::concatenate({x}, 2), ValueError);
  CHECK_THROWS_AS(K::concatenate({K::constant(1)}), ValueError);
  CHECK_THROWS_WITH_AS(K::concatenate({x, K::ones({2, 3}, {.dtype = "float64"})}),
                       "[concatenate] the tensors must have one dtype: received float32 and float64",
                       TypeError);
  CHECK_THROWS_WITH_AS(K::stack({x, K::ones({2, 2})}),
                       "[stack] the tensors must have one shape: received (2, 3) and (2, 2)", ValueError);
  CHECK_THROWS_AS(K::stack({x}, 3), ValueError);
}

TEST_CASE("repeat, repeat_elements and tile copy samples, elements and whole tensors") {
  const Tensor x = counted({2, 2});
  CHECK(values(K::repeat(x, 2)) == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(K::repeat(x, 3).shape() == Shape{2, 3, 2});
  CHECK(values(K::repeat_elements(x, 2, 0)) == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(values(K::repeat_elements(x, 2, -1)) == Values{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(K::repeat_elements(x, 0, 0).shape() == Shape{0, 2});
  CHECK(values(K::tile(x, {1, 2})) == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(values(K::tile(x, {2, 1})) == Values{0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(values(K::tile(counted({2}), 2)) == Values{0, 1, 0, 1});
  CHECK(K::tile(x, {0, 3}).shape() == Shape{0, 6});
  CHECK(K::tile(K::ones({1, 1, 1, 1, 1, 1, 1, 1}), {2, 2, 2, 2, 2, 2, 2, 2}).size() == 256);
  for (const char* dtype : dtypes) {
    CAPTURE(dtype);
    CHECK(values(K::tile(K::cast(K::constant({0, 1}), dtype), 3)) == Values{0, 1, 0, 1, 0, 1});
  }
  check_gradients([](In in) { return K::repeat(in[0] * in[0], 3); }, {x});
  check_gradients([](In in) { return K::repeat_elements(in[0] * in[0], 3, 0); }, {counted({2, 3, 2})});
  check_gradients([](In in) { return K::tile(in[0] * in[0], {2, 1, 3}); }, {counted({2, 3, 2})});
}

TEST_CASE("repeat, repeat_elements and tile refuse what they cannot repeat") {
  CHECK_THROWS_WITH_AS(K::repeat(K::ones({2, 2, 1}), 2), "[repeat] x must have rank 2: received x=(2, 2, 1)",
                       ValueError);
  CHECK_THROWS_AS(K::repeat(K::ones({2, 2}), -1), ValueError);
  CHECK_THROWS_AS(K::repeat_elements(K::ones({2}), -1, 0), ValueError);
  CHECK_THROWS_AS(K::repeat_elements(K::ones({2}), 1, 1), ValueError);
  CHECK_THROWS_WITH_AS(K::tile(K::ones({2, 3}), 2),
                       "[tile] n must have one entry per axis: received x=(2, 3), n=(2,)", ValueError);
  CHECK_THROWS_AS(K::tile(K::ones({2}), {-1}), ValueError);
  CHECK_THROWS_AS(K::tile(K::ones({2, 2}), {std::int64_t{1} << 62, 4}), ValueError);
  CHECK_THROWS_WITH_AS(K::repeat_elements(K::zeros({0}), std::int64_t{1} << 62, 0),
                       doctest::Contains("[repeat_elements] the tensor must fit in memory"), ValueError);
}

TEST_CASE("flatten, batch_flatten, expand_dims and squeeze share memory") {
  const Tensor x = counted({2, 1, 3});
  CHECK(K::flatten(x).shape() == Shape{6});
  CHECK(K::flatten(K::constant(1)).shape() == Shape{1});
  CHECK(K::batch_flatten(x).shape() == Shape{2, 3});
  CHECK(K::batch_flatten(K::zeros({0, 2, 3})).shape() == Shape{0, 6});
  CHECK(K::batch_flatten(K::zeros({4})).shape() == Shape{4, 1});
  CHECK(K::expand_dims(x).shape() == Shape{2, 1, 3, 1});
  CHECK(K::expand_dims(x, 0).shape() == Shape{1, 2, 1, 3});
  CHECK(K::expand_dims(x, -4).shape() == Shape{1, 2, 1, 3});
  CHECK(K::squeeze(x, 1).shape() == Shape{2, 3});
  CHECK(K::squeeze(x, -2).shape() == Shape{2, 3});
  for (const Tensor& y : {K::flatten(x), K::batch_flatten(x), K::expand_dims(x), K::squeeze(x, 1)})
    CHECK(y.raw() == x.raw());
  CHECK_THROWS_AS(K::batch_flatten(K::constant(1)), ValueError);
  CHECK_THROWS_AS(K::expand_dims(x, 4), ValueError);
  CHECK_THROWS_WITH_AS(K::squeeze(x, 0),
                       "[squeeze] the axis must have extent 1: received x=(2, 1, 3), axis=0", ValueError);
  CHECK_THROWS_AS(K::squeeze(x, 3), ValueError);
  CHECK_THROWS_AS(K::expand_dims(K::ones({1, 1, 1, 1, 1, 1, 1, 1})), ValueError);
  check_gradients([](In in) { return K::flatten(K::squeeze(K::expand_dims(in[0] * in[0], 1), 2)); }, {x});
}

TEST_CASE("reverse runs axes backwards") {
  const Tensor x = counted({2, 3});
  CHECK(values(K::reverse(x, 1)) == Values{2, 1, 0, 5, 4, 3});
  CHECK(values(K::reverse(x, {0, -1})) == Values{5, 4, 3, 2, 1, 0});
  CHECK(values(K::reverse(x, std::vector<int>{})) == values(x));
  CHECK(K::reverse(K::zeros({0, 2}), 0).shape() == Shape{0, 2});
  CHECK_THROWS_AS(K::reverse(x, {1, -1}), ValueError);
  CHECK_THROWS_AS(K::reverse(x, 2), ValueError);
  check_gradients([](In in) { return K::reverse(in[0] * in[0], {0, 2}); }, {counted({2, 2, 3})});
}

TEST_CASE("slice takes a block") {
  const Tensor x = counted({3, 4});
  CHECK(values(K::slice(x, {1, 0}, {2, -1})) == Values{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(values(K::slice(x, {0, 1}, {2, 2})) == Values{1, 2, 5, 6});
  CHECK(K::slice(x, {3, 0}, {-1, 4}).shape() == Shape{0, 4});
  CHECK(K::slice(x, {0, 0}, {-1, -1}).raw() == x.raw());
  CHECK_THROWS_WITH_AS(
      K::slice(x, {0, 2}, {1, 3}),
      "[slice] the block must lie inside x: received x=(3, 4), start=(0, 2), size=(1, 3) (axis 1)",
      ValueError);
  CHECK_THROWS_AS(K::slice(x, {-1, 0}, {1, 1}), ValueError);
  CHECK_THROWS_AS(K::slice(x, {4, 0}, {-1, 1}), ValueError);
  CHECK_THROWS_AS(K::slice(x, {0, 0}, {1, -2}), ValueError);
  CHECK_THROWS_AS(K::slice(x, {0}, {1}), ValueError);
  CHECK_THROWS_AS(K::slice(x, {1, 0}, {std::numeric_limits<std::int64_t>::max(), 1}), ValueError);
  check_gradients([](In in) { return K::slice(in[0] * in[0], {1, 1}, {2, -1}); }, {x});
}

TEST_CASE("split and unstack undo concatenate and stack") {
  const Tensor x = counted({2, 6});
  const auto thirds = K::split(x, 3, 1);
  CHECK(thirds.size() == 3);
  CHECK(values(thirds[1]) == Values{2, 3, 8, 9});
  const auto parts = K::split(x, {1, 0, 5}, -1);
  CHECK(parts[1].shape() == Shape{2, 0});
  CHECK(values(K::concatenate(parts)) == values(x));
  const auto rows = K::unstack(x);
  CHECK(values(rows[1]) == Values{6, 7, 8, 9, 10, 11});
  CHECK(values(K::stack(K::unstack(x, 1), 1)) == values(x));
  CHECK(K::unstack(K::zeros({0, 2})).empty());
  CHECK(K::split(x, std::vector<std::int64_t>{1, 1, 1, 1, 1, 1}, 1).size() == 6);
  CHECK_THROWS_WITH_AS(K::split(x, 4, 1),
                       "[split] the axis of extent 6 must divide into the parts: received number=4",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::split(x, {2, 3}, 1),
                       "[split] the sizes must add up to the extent 6: received a sum of 5", ValueError);
  CHECK_THROWS_AS(K::split(x, {7, -1}, 1), ValueError);
  CHECK_THROWS_AS(K::split(x, 0, 1), ValueError);
  check_gradients([](In in) { return K::split(in[0] * in[0], {1, 2}, 1); }, {counted({2, 3})});
  check_gradients([](In in) { return K::unstack(in[0] * in[0])[1]; }, {counted({3, 2})});
}

TEST_CASE("pad adds a constant or a mirror image") {
  const Tensor x = counted({2, 3}) + 1;
  CHECK(values(K::pad(x, {{1, 0}, {0, 1}})) == Values{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0});
  CHECK(values(K::pad(x, {{0, 0}, {1, 0}}, {.constant_values = 9})) == Values{9, 1, 2, 3, 9, 4, 5, 6});
  CHECK(values(K::pad(x, {{0, 0}, {2, 2}}, {.mode = "reflect"})) ==
        Values{3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4});
  CHECK(values(K::pad(x, {{1, 0}, {0, 2}}, {.mode = "symmetric"})) ==
        Values{1, 2, 3, 3, 2, 1, 2, 3, 3, 2, 4, 5, 6, 6, 5});
  CHECK(K::pad(K::constant(1), {}).shape() == Shape{});
  CHECK_THROWS_WITH_AS(K::pad(x, {{1, 1}}),
                       "[pad] there must be one pair per axis: received x=(2, 3), 1 pairs", ValueError);
  CHECK_THROWS_AS(K::pad(x, {{-1, 0}, {0, 0}}), ValueError);
  CHECK_THROWS_AS(K::pad(x, {{2, 0}, {0, 0}}, {.mode = "reflect"}), ValueError);
  CHECK_THROWS_AS(K::pad(x, {{3, 0}, {0, 0}}, {.mode = "symmetric"}), ValueError);
  CHECK_THROWS_AS(K::pad(x, {{0, 0}, {0, 0}}, {.mode = "edge"}), ValueError);
  check_gradients([](In in) { return K::pad(in[0] * in[0], {{1, 0}, {2, 1}}); }, {x});
  check_gradients([](In in) { return K::pad(in[0] * in[0], {{1, 0}, {2, 1}}, {.mode = "reflect"}); }, {x});
  check_gradients([](In in) { return K::pad(in[0] * in[0], {{1, 2}, {0, 3}}, {.mode = "symmetric"}); }, {x});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"transpose", of(K::transpose), {normal({2, 3})}},
      {"reshape", [](In in) { return K::reshape(in[0], {3, -1}); }, {normal({2, 3})}},
      {"permute_dimensions", [](In in) { return K::permute_dimensions(in[0], {2, 0, 1}); }, {normal({2, 3, 2})}},
      {"concatenate", [](In in) { return K::concatenate({in[0], in[1]}, 1); }, {normal({2, 3}), normal({2, 1}, 2)}},
      {"stack", [](In in) { return K::stack({in[0], in[1]}, 1); }, {normal({2, 3}), normal({2, 3}, 2)}},
      {"repeat", [](In in) { return K::repeat(in[0], 2); }, {normal({2, 3})}},
      {"repeat_elements", [](In in) { return K::repeat_elements(in[0], 2, 1); }, {normal({2, 3})}},
      {"tile", [](In in) { return K::tile(in[0], {2, 3}); }, {normal({2, 2})}},
      {"flatten", of(K::flatten), {normal({2, 3})}},
      {"batch_flatten", of(K::batch_flatten), {normal({2, 3, 2})}},
      {"expand_dims", [](In in) { return K::expand_dims(in[0], 1); }, {normal({2, 3})}},
      {"squeeze", [](In in) { return K::squeeze(in[0], 1); }, {normal({2, 1, 3})}},
      {"reverse", [](In in) { return K::reverse(in[0], {0, 1}); }, {normal({2, 3})}},
      {"split", [](In in) { return K::split(in[0], 2, 1)[1]; }, {normal({2, 4})}},
      {"unstack", [](In in) { return K::unstack(in[0], 0)[1]; }, {normal({2, 4})}},
      {"pad", [](In in) { return K::pad(in[0], {{1, 0}, {0, 2}}); }, {normal({2, 2})}},
      {"slice", [](In in) { return K::slice(in[0], {0, 1}, {-1, 2}); }, {normal({2, 4})}},
  };
});
// clang-format on

}  // namespace
