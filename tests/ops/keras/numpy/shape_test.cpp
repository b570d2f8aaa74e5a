#include <doctest/doctest.h>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/settings/config.hpp>

#include <cmath>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("ops: creation of tensors") {
  CHECK(values(ops::eye(2, 3, 1)) == Values{0, 1, 0, 0, 0, 1});
  CHECK(values(ops::tri(3, 2, -1)) == Values{0, 0, 1, 0, 1, 1});
  CHECK(values(ops::linspace(0, 1, 5)) == Values{0, 0.25, 0.5, 0.75, 1});
  CHECK(values(ops::linspace(2, 5, 1)) == Values{2});
  CHECK(ops::linspace(0, 1, 0).shape() == Shape{0});
  CHECK(ops::linspace_with_step(0, 1, 5, {.endpoint = false}).second.item<double>() == doctest::Approx(0.2));
  CHECK(values(ops::full({2}, ktape::ArrayLike({1.5, 2.5}))) == Values{1.5, 2.5});
  CHECK(values(ops::full_like(ints({1, 2}), 2.75)) == Values{2, 2});
  CHECK(ops::full_like(ints({0}, "int64"), (std::int64_t{1} << 53) + 1).item<std::int64_t>() ==
        (std::int64_t{1} << 53) + 1);
  CHECK(ops::empty({2, 3}).shape() == Shape{2, 3});
  CHECK(ops::empty_like(ints({1, 2})).dtype() == "int32");
  CHECK(values(ops::geomspace(-1, -1000, 4))[2] == doctest::Approx(-100));
  CHECK(values(ops::bartlett(1)) == Values{1});
  CHECK(ops::hanning(0).shape() == Shape{0});
  CHECK(ops::meshgrid({ints({1, 2}), ints({3, 4, 5})})[0].shape() == Shape{3, 2});
}

TEST_CASE("ops: full and full_like repeat an array, in floatx() and in the dtype of x") {
  const Tensor row = ints({1, -2}), x = K::zeros({3, 2}, {.dtype = "int8"});
  CHECK(ops::full({3, 2}, row).dtype() == K::floatx());
  CHECK(ops::full({3, 2}, row, "int32").dtype() == "int32");
  CHECK(values(ops::full({3, 2}, row)) == Values{1, -2, 1, -2, 1, -2});
  CHECK(std::signbit(ops::full({1}, doubles(-0.)).item<double>()));
  CHECK(ops::full_like(x, doubles({{1.5}, {2.5}, {-3.5}})).dtype() == "int8");
  CHECK(values(ops::full_like(x, doubles({{1.5}, {2.5}, {-3.5}}))) == Values{1, 1, 2, 2, -3, -3});
  CHECK(ops::full_like(x, row, "float64").dtype() == "float64");
  CHECK(values(ops::full_like(K::zeros({2}, {.dtype = "bool"}), 2)) == Values{1, 1});
  CHECK_THROWS_WITH_AS(ops::full({2}, ints({{1, 2}, {3, 4}})),
                       "[full] fill_value must broadcast to the shape (2,): received fill_value=(2, 2)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::full_like(x, ints({1, 2, 3})),
                       "[full_like] fill_value must broadcast to the shape (3, 2): received fill_value=(3,)",
                       ValueError);
  const Tensor open = K::placeholder({.shape = Shape{ktape::None, 2}});
  const Tensor promised = ops::full_like(open, row);
  CHECK(promised.shape() == Shape{ktape::None, 2});
  CHECK(values(K::function({open}, {promised})({K::zeros({2, 2})})[0]) == Values{1, -2, 1, -2});
}

TEST_CASE("ops: vander with ascending powers, and shifts along one axis") {
  const Tensor v = ints({2, 3});
  CHECK(values(ops::vander(v, 4, true)) == Values{1, 2, 4, 8, 1, 3, 9, 27});
  CHECK(values(ops::vander(v, 3)) == Values{4, 2, 1, 9, 3, 1});
  CHECK(ops::vander(v, 0, true).shape() == Shape{2, 0});
  const Tensor x = counted({2, 3});
  CHECK(values(ops::roll(x, {1, 1}, 1)) == values(ops::roll(x, 2, 1)));
  CHECK(values(ops::roll(x, {1, -3, 4}, {0})) == values(ops::roll(x, 2, 0)));
  CHECK(values(ops::roll(x, {1, 2})) == values(ops::roll(x, 3)));
  CHECK(values(ops::roll(x, {2, 1}, {0, 1})) == values(ops::roll(x, 1, 1)));
  CHECK(values(ops::roll(x, {1, 1}, {-1, -1})) == values(ops::roll(x, 2, 1)));
}

TEST_CASE("ops: shapes, and errors that name the rule") {
  CHECK_THROWS_WITH_AS(ops::split(doubles({1., 2., 3.}), 2),
                       "[split] the number of parts must divide the extent 3: received indices_or_sections=2",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::vsplit(doubles({1., 2.}), 2),
                       "[vsplit] x must have rank 2 or more: received x=(2,)", ValueError);
  CHECK_THROWS_WITH_AS(ops::diag(K::zeros({2, 2, 2})),
                       "[diag] x must be a vector or a matrix: received x=(2, 2, 2)", ValueError);
  CHECK_THROWS_WITH_AS(ops::roll(K::zeros({2, 2}), {1, 2, 3}, {0, 1}),
                       "[roll] there must be one shift for each axis: received 3 for 2", ValueError);
  CHECK_THROWS_WITH_AS(ops::rearrange(K::zeros({2, 3}), "a b -> a"),
                       "[rearrange] both sides must name the same axes: received pattern=\"a b -> a\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::rearrange(K::zeros({2, 3}), "(a b) c -> a b c"),
                       "[rearrange] of the axes in parentheses all lengths but one must be given: received "
                       "pattern=\"(a b) c -> a b c\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      ops::view(ints({1, 2, 3}, "int8"), "int16"),
      "[view] the bytes of the last axis must be whole elements of int16: received x=(3,), int8", ValueError);
  CHECK_THROWS_WITH_AS(ops::meshgrid({ints({1})}, "yx"),
                       "[meshgrid] indexing must be \"xy\" or \"ij\": received indexing=\"yx\"", ValueError);
  CHECK_THROWS_WITH_AS(ops::pad(ints({1, 2}), 1, "reflect", 1),
                       "[pad] constant_values belong to the mode \"constant\": received mode=\"reflect\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::linspace(0, 1, -1), "[linspace] num must be at least 0: received num=-1",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::kaiser(-1, 2), "[kaiser] x must be at least 0: received x=-1", ValueError);
  CHECK_THROWS_WITH_AS(ops::repeat(ints({1, 2}), -1),
                       "[repeat] repeats must be at least 0: received repeats=-1", ValueError);
}

namespace {

template <class F>
auto list(F f) {
  return [f](In in) { return f({in[0], in[1]}); };
}

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor x = normal({2, 3, 4}), y = normal({2, 3, 4}, 2), m = normal({3, 4}), v = normal({4}), w = normal({4}, 2);
  return {
      {"ops::reshape", [](In in) { return ops::reshape(in[0], {4, -1}); }, {x}},
      {"ops::ravel", of(ops::ravel), {x}},
      {"ops::broadcast_to", [](In in) { return ops::broadcast_to(in[0], {2, 3, 4}); }, {m}},
      {"ops::expand_dims", [](In in) { return ops::expand_dims(in[0], {0, -1}); }, {m}},
      {"ops::squeeze", [](In in) { return ops::squeeze(in[0], 0); }, {normal({1, 3})}},
      {"ops::transpose", [](In in) { return ops::transpose(in[0], {2, 0, 1}); }, {x}},
      {"ops::moveaxis", [](In in) { return ops::moveaxis(in[0], {0, 1}, {-1, -2}); }, {x}},
      {"ops::swapaxes", [](In in) { return ops::swapaxes(in[0], 0, -1); }, {x}},
      {"ops::flip", [](In in) { return ops::flip(in[0]); }, {x}},
      {"ops::fliplr", of(ops::fliplr), {m}},
      {"ops::flipud", of(ops::flipud), {m}},
      {"ops::roll", [](In in) { return ops::roll(in[0], {1, -2}, {0, 1}); }, {m}},
      {"ops::roll", [](In in) { return ops::roll(in[0], 5); }, {m}},
      {"ops::roll", [](In in) { return ops::roll(in[0], {1, 2, -5}, 1); }, {m}},
      {"ops::rot90", [](In in) { return ops::rot90(in[0], 3, {1, 2}); }, {x}},
      {"ops::concatenate", list([](const ktape::TensorList& l) { return ops::concatenate(l, 1); }), {x, y}},
      {"ops::stack", list([](const ktape::TensorList& l) { return ops::stack(l, -1); }), {x, y}},
      {"ops::append", of2([](const Tensor& a, const Tensor& b) { return ops::append(a, b); }), {x, v}},
      {"ops::hstack", list(ops::hstack), {x, y}},
      {"ops::vstack", list(ops::vstack), {v, w}},
      {"ops::dstack", list(ops::dstack), {m, normal({3, 4}, 2)}},
      {"ops::column_stack", list(ops::column_stack), {v, w}},
      {"ops::split", [](In in) { return ops::split(K::reshape(in[0], {-1, 24}), {1, 3}, 1)[1]; }, {x}},
      {"ops::array_split", [](In in) { return ops::array_split(K::reshape(in[0], {-1, 8}), 3, 1)[0]; }, {x}},
      {"ops::hsplit", [](In in) { return ops::hsplit(K::reshape(in[0], {-1, 2}), 2)[1]; }, {x}},
      {"ops::vsplit", [](In in) { return ops::vsplit(K::reshape(in[0], {2, -1}), 2)[1]; }, {x}},
      {"ops::dsplit", [](In in) { return ops::dsplit(K::reshape(in[0], {-1, 2, 2}), 2)[0]; }, {x}},
      {"ops::unstack", [](In in) { return ops::unstack(K::reshape(in[0], {-1, 2}), 1)[1]; }, {x}},
      {"ops::repeat", [](In in) { return ops::repeat(in[0], 2); }, {m}},
      {"ops::tile", [](In in) { return ops::tile(in[0], {2, 1, 3}); }, {m}},
      {"ops::pad", [](In in) { return ops::pad(in[0], 1, "symmetric"); }, {m}},
      {"ops::diag", [](In in) { return ops::diag(in[0], 1); }, {v}},
      {"ops::diag", [](In in) { return ops::diag(in[0], -1); }, {m}},
      {"ops::diagflat", [](In in) { return ops::diagflat(in[0], -1); }, {normal({2, 2})}},
      {"ops::diagonal", [](In in) { return ops::diagonal(in[0], 1, 1, 2); }, {x}},
      {"ops::trace", [](In in) { return ops::trace(in[0]); }, {m}},
      {"ops::tril", [](In in) { return ops::tril(in[0], 1); }, {x}},
      {"ops::triu", [](In in) { return ops::triu(in[0]); }, {x}},
      {"ops::rearrange", [](In in) { return ops::rearrange(in[0], "a b c -> c (b a)"); }, {x}},
      {"ops::copy", of(ops::copy), {x}},
      {"ops::array", [](In in) { return ops::array(in[0]); }, {x}},
      {"ops::convert_to_tensor", [](In in) { return ops::convert_to_tensor(in[0]); }, {x}},
      {"ops::full", [](In in) { return ops::full({2, 3, 4}, in[0], "float64"); }, {v}},
      {"ops::full_like", [](In in) { return ops::full_like(in[0], in[1]); }, {m, v}},
      {"ops::linspace", of2([](const Tensor& a, const Tensor& b) { return ops::linspace(a, b, 5, {.axis = -1}); }), {m, v}},
      {"ops::linspace_with_step", of2([](const Tensor& a, const Tensor& b) { return ops::linspace_with_step(a, b, 3).second; }), {m, v}},
      {"ops::logspace", of2([](const Tensor& a, const Tensor& b) { return ops::logspace(a, b, 3, {.base = 2}); }), {v, w}},
      {"ops::geomspace", of2([](const Tensor& a, const Tensor& b) { return ops::geomspace(a, b, 3); }), {K::exp(v), K::exp(w)}},
      {"ops::meshgrid", [](In in) { return ops::meshgrid({in[0], in[1]})[1]; }, {v, normal({3})}},
      {"ops::vander", [](In in) { return ops::vander(in[0], 4); }, {v}},
      {"ops::vander", [](In in) { return ops::vander(in[0], 4, true); }, {v}},
      {"ops::zeros", no_gradient}, {"ops::ones", no_gradient}, {"ops::empty", no_gradient}, {"ops::zeros_like", no_gradient},
      {"ops::ones_like", no_gradient}, {"ops::empty_like", no_gradient},
      {"ops::eye", no_gradient}, {"ops::tri", no_gradient}, {"ops::identity", no_gradient}, {"ops::arange", no_gradient},
      {"ops::bartlett", no_gradient}, {"ops::hanning", no_gradient}, {"ops::hamming", no_gradient},
      {"ops::blackman", no_gradient}, {"ops::kaiser", no_gradient}, {"ops::view", no_gradient}, {"ops::shape", no_gradient},
      {"ops::ndim", no_gradient}, {"ops::size", no_gradient},
  };
});
// clang-format on

}  // namespace
