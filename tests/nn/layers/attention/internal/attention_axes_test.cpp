#include <ktape/nn/layers/attention/internal/attention_axes.hpp>

#include "../masks.hpp"

namespace K = ktape::backend;
using ktape::Axes, ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;
using ktape::nn::AttentionAxes;

TEST_CASE("without axes, attention runs over all axes between batch and features") {
  const AttentionAxes steps("m", {}, 3), both("m", {}, 4);
  CHECK(steps.list() == std::vector<int>{1});
  CHECK(steps.one());
  CHECK(steps.plain());
  CHECK(steps.pairs() == 2);
  CHECK(both.list() == std::vector<int>{1, 2});
  CHECK_FALSE(both.one());
  CHECK_FALSE(both.plain());
  CHECK(both.pairs() == 4);
  CHECK(both.of_softmax().list() == std::vector<int>{-2, -1});
}

TEST_CASE("axes may be negative, in any order") {
  CHECK(AttentionAxes("m", -2, 4).list() == std::vector<int>{2});
  CHECK(AttentionAxes("m", {2, 1}, 5).list() == std::vector<int>{2, 1});
}

TEST_CASE("the batch axis, the features axis, a repeated axis and an empty list are errors") {
  const auto check = [](const Axes& axes, int rank, const char* text) {
    CHECK_THROWS_WITH_AS(AttentionAxes("m", axes, rank), text, ValueError);
  };
  check(0, 4,
        "[m] attention_axes must be axes of the inputs between batch and features, each once: received "
        "attention_axes=0 for inputs of rank 4");
  check(-1, 4,
        "[m] attention_axes must be axes of the inputs between batch and features, each once: received "
        "attention_axes=-1 for inputs of rank 4");
  check({1, -3}, 4,
        "[m] attention_axes must be axes of the inputs between batch and features, each once: received "
        "attention_axes=[1,-3] for inputs of rank 4");
  check({}, 2, "[m] attention_axes must name an axis: received none");
}

TEST_CASE("inputs share a batch if their other axes have compatible extents") {
  const AttentionAxes axes("m", 2, 4);
  CHECK(axes.share_batch({2, 3, 4, 5}, {2, 3, 7, 6}));
  CHECK(axes.share_batch({None, 3, 4, 5}, {2, None, 7, 6}));
  CHECK_FALSE(axes.share_batch({2, 3, 4, 5}, {2, 4, 4, 5}));
  CHECK_FALSE(axes.share_batch({2, 3, 4, 5}, {2, 3, 4}));
}

TEST_CASE("a projection is folded to batch, steps, heads and dim, and unfolded again") {
  const Tensor p = counted({2, 3, 4, 5, 6});
  const AttentionAxes last("m", 2, 4), first("m", 1, 4), both("m", {}, 4), turned("m", {2, 1}, 4);
  CHECK(values(last.folded(p)) == values(p));
  CHECK(last.folded(p).shape() == Shape{6, 4, 5, 6});
  CHECK(values(first.folded(p)) == values(K::permute_dimensions(p, {0, 2, 1, 3, 4})));
  CHECK(first.folded(p).shape() == Shape{8, 3, 5, 6});
  CHECK(both.folded(p).shape() == Shape{2, 12, 5, 6});
  CHECK(values(turned.folded(p)) == values(first.folded(p)));
  CHECK(turned.folded(p).shape() == Shape{2, 12, 5, 6});
  for (const AttentionAxes& axes : {last, first, both, turned}) {
    CHECK(values(axes.unfolded(axes.folded(p), p)) == values(p));
    CHECK(axes.unfolded(axes.folded(p), p).shape() == p.shape());
  }
  const Tensor plain = counted({2, 3, 5, 6});
  CHECK(AttentionAxes("m", 1, 3).folded(plain).get() == plain.get());
}

TEST_CASE("scores have the axes of batch, heads, queries and keys") {
  const Tensor query = K::zeros({2, 3, 4, 7}), key = K::zeros({2, 3, 5, 7});
  const AttentionAxes axes("m", 2, 4);
  const Tensor folded = counted({6, 8, 4, 5}), scores = axes.unfolded_scores(folded, query, key);
  CHECK(scores.shape() == Shape{2, 3, 8, 4, 5});
  CHECK(axes.folded_scores(scores).shape() == folded.shape());
  CHECK(values(axes.folded_scores(scores)) == values(folded));
}

TEST_CASE("a mask gets the missing heads and batch axes") {
  const AttentionAxes axes("m", 2, 4);
  CHECK(axes.mask(K::ones({4, 5})).shape() == Shape{1, 1, 1, 4, 5});
  CHECK(axes.mask(K::ones({2, 3, 4, 5})).shape() == Shape{2, 3, 1, 4, 5});
  CHECK(axes.mask(K::ones({2, 3, 8, 4, 5})).shape() == Shape{2, 3, 8, 4, 5});
  CHECK(axes.mask(K::ones({4, 5})).dtype() == "bool");
  CHECK_FALSE(axes.mask(Tensor()).defined());
}

TEST_CASE("masks of steps are for attention over the steps alone") {
  const AttentionAxes axes("m", 1, 3);
  const Tensor mask = bools({1, 0, 1, 1, 1, 0}, {2, 3});
  CHECK(axes.step_mask("m", mask, true).shape() == Shape{2, 1, 3, 1});
  CHECK(axes.step_mask("m", mask, false).shape() == Shape{2, 1, 1, 3});
  CHECK(values(axes.step_mask("m", mask, false)) == values(mask));
  CHECK_THROWS_WITH_AS(
      AttentionAxes("m", {}, 4).step_mask("m", mask, true),
      "[m] masks of steps need attention over the steps, axis 1, alone: received attention_axes=[1,2]",
      ValueError);
}

TEST_CASE("an undefined mask hides nothing") {
  const Tensor a = bools({1, 0, 1}, {3}), b = bools({1, 1, 0}, {3});
  CHECK(values(ktape::nn::both(a, b)) == Values{1, 0, 0});
  CHECK(ktape::nn::both(a, Tensor()).get() == a.get());
  CHECK(ktape::nn::both(Tensor(), b).get() == b.get());
  CHECK_FALSE(ktape::nn::both(Tensor(), Tensor()).defined());
  CHECK_FALSE(ktape::nn::as_bool(Tensor(), 1).defined());
  CHECK(values(ktape::nn::as_bool(K::constant({0.f, 2.f}), 0)) == Values{0, 1});
}

TEST_CASE("a query reaches earlier keys, and keys nearer than the window") {
  const Tensor query = K::zeros({1, 3, 2}), key = K::zeros({1, 4, 2});
  const auto seen = [&](bool causal, std::optional<std::int64_t> window) {
    return values(ktape::nn::reachable(query, 1, key, 1, causal, window));
  };
  CHECK(seen(true, {}) == Values{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0});
  CHECK(seen(false, 2) == Values{1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1});
  CHECK(seen(true, 2) == Values{1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0});
  CHECK_FALSE(ktape::nn::reachable(query, 1, key, 1, false, {}).defined());
}
