#include <ktape/ktape.hpp>

#include <cmath>
#include <limits>
#include <map>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

using Labels = std::vector<std::int64_t>;

Tensor probabilities(const Shape& shape, int seed = 1) { return K::softmax(normal(shape, seed)).detach(); }

/// Returns the probability of every label sequence, by listing all paths through one sample's (time,
/// classes).
std::map<Labels, double> enumerate(const Tensor& y, std::int64_t steps) {
  const std::int64_t classes = y.shape()[1];
  std::map<Labels, double> out;
  std::vector<std::int64_t> path(static_cast<std::size_t>(steps), 0);
  for (;;) {
    Labels labels;
    double p = 1;
    std::int64_t last = classes - 1;
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t k = path[static_cast<std::size_t>(t)];
      p *= (y.item<double>(t, k) + 1e-7) / (1 + static_cast<double>(classes) * 1e-7);
      if (k != last && k != classes - 1) labels.push_back(k);
      last = k;
    }
    out[labels] += p;
    std::size_t t = 0;
    while (t < path.size() && ++path[t] == classes) path[t++] = 0;
    if (t == path.size()) return out;
  }
}

}  // namespace

TEST_CASE("the cost is that of all paths which spell the labels") {
  const Tensor y = probabilities({3, 5, 4}), labels = ints({{0, 1, 2}, {1, 1, -1}, {7, 7, 7}});
  const Tensor cost = K::ctc_batch_cost(labels, y, ints({{5}, {4}, {3}}), ints({{3}, {2}, {0}}));
  CHECK(cost.shape() == Shape{3, 1});
  CHECK(close(cost.item<double>(0, 0), -std::log(enumerate(y[0], 5)[{0, 1, 2}])));
  CHECK(close(cost.item<double>(1, 0), -std::log(enumerate(y[1], 4)[{1, 1}])));
  CHECK(close(cost.item<double>(2, 0), -std::log(enumerate(y[2], 3)[{}])));
}

TEST_CASE("ctc_batch_cost takes labels and lengths of any number dtype") {
  const Tensor y = K::cast(probabilities({1, 3, 3}), "float32");
  const Tensor cost = K::ctc_batch_cost(ints({{0, 1}}), y, ints({{3}}), ints({{2}}));
  CHECK(cost.dtype() == "float32");
  const Tensor same = K::ctc_batch_cost(K::constant({{0.f, 1.f}}), y, K::constant({{3.f}}), doubles({{2}}));
  CHECK(values(same) == values(cost));
  const Tensor half = K::ctc_batch_cost(ints({{0, 1}}), K::cast(y, "float16"), ints({{3}}), ints({{2}}));
  CHECK(half.dtype() == "float16");
  CHECK(close(half.item<double>(), cost.item<double>(), {.rtol = 1e-3}));
}

TEST_CASE("an empty sequence with no labels costs nothing") {
  const Variable y = K::variable(probabilities({2, 2, 3}));
  const Tensor cost = K::ctc_batch_cost(ints({{0}, {0}}), y, ints({{0}, {1}}), ints({{0}, {1}}));
  CHECK(cost.item<double>(0, 0) == 0);
  const Values slope = values(K::gradients(cost, {y})[0]);
  CHECK(Values(slope.begin(), slope.begin() + 6) == Values(6, 0));
  CHECK(K::ctc_batch_cost(K::zeros({0, 2}), K::zeros({0, 4, 3}), K::zeros({0, 1}), K::zeros({0, 1})).size() ==
        0);
}

TEST_CASE("probabilities of long sequences do not underflow") {
  // Class 0 is certain, but the labels do not hold it: each of at most 2^1000 paths takes 1000 steps at
  // epsilon.
  const Tensor y = K::concatenate({K::ones({1, 1000, 1}), K::zeros({1, 1000, 2})});
  const Variable predictions = K::variable(K::cast(y, "float64"));
  const Tensor cost = K::ctc_batch_cost(K::ones({1, 400}), predictions, ints({{1000}}), ints({{400}}));
  CHECK(cost.item<double>() < 1000 * std::log(1e7));
  CHECK(cost.item<double>() > 1000 * std::log(1e7 / 2));
  const Tensor slope = K::gradients(cost, {predictions})[0];
  CHECK(K::all(K::is_finite(slope)).item<bool>());
}

TEST_CASE("the gradient with respect to logits is softmax minus occupation") {
  const Variable logits = K::variable(normal({1, 4, 3}));
  const Tensor cost = K::ctc_batch_cost(ints({{1}}), K::softmax(logits), ints({{4}}), ints({{1}}));
  const Tensor slope = K::gradients(cost, {logits})[0];
  for (double row : values(K::sum(slope, -1))) CHECK(std::fabs(row) < 1e-6);
}

TEST_CASE("ctc_batch_cost is differentiable to the second order") {
  const auto cost = [](const Tensor& labels, const Tensor& steps, const Tensor& counts) {
    return [=](In in) { return K::ctc_batch_cost(labels, in[0], steps, counts); };
  };
  check_gradients(cost(ints({{0, 1}, {1, 1}}), ints({{4}, {3}}), ints({{2}, {2}})),
                  {probabilities({2, 4, 3})});
  check_gradients(cost(ints({{0, 5}, {-1, 9}, {1, 0}}), ints({{3}, {2}, {0}}), ints({{1}, {0}, {0}})),
                  {probabilities({3, 3, 3})});
  // Unnormalized, and without any label class.
  check_gradients(cost(K::zeros({1, 0}), ints({{2}}), ints({{0}})), {doubles({{{2, 3}, {0.5, 1}}})});
  check_gradients(cost(K::zeros({1, 0}), ints({{2}}), ints({{0}})), {doubles({{{2}, {3}}})});
}

TEST_CASE("a text recognizer trains on labels that -1 pads, without the first two steps") {
  // def ctc_lambda(args):
  //   y_pred, labels, input_length, label_length = args
  //   return K.ctc_batch_cost(labels, y_pred[:, 2:, :], input_length, label_length)
  const auto ctc_lambda = [](const Tensor& y_pred, const Tensor& labels, const Tensor& input_length,
                             const Tensor& label_length) {
    return K::ctc_batch_cost(labels, y_pred[{All, Slice(2, None)}], input_length, label_length);
  };
  const Tensor labels = ints({{0, 1, 1, 2}, {2, 0, -1, -1}}), input_length = ints({{8}, {8}});
  const Tensor label_length = K::expand_dims(K::sum(K::cast(labels != -1, "int32"), 1));
  Variable logits = K::variable(normal({2, 10, 4}));
  for (int i = 0; i < 200; ++i) {
    const Tensor loss = K::mean(ctc_lambda(K::softmax(logits), labels, input_length, label_length));
    logits.assign(logits - 2. * K::gradients(loss, {logits})[0]);
  }
  const Tensor y_pred = K::softmax(logits)[{All, Slice(2, None)}];
  const auto decoded = K::ctc_decode(y_pred, K::flatten(input_length)).decoded;
  CHECK(values(decoded[0]) == Values{0, 1, 1, 2, -1, -1, -1, -1, 2, 0, -1, -1, -1, -1, -1, -1});
}

TEST_CASE("threads over the batch change nothing") {
  const Variable y = K::variable(probabilities({40, 60, 30}));
  const Tensor labels = K::cast(K::random_uniform({40, 12}, {.maxval = 29, .seed = 3}), "int32");
  const Tensor steps = K::cast(K::random_uniform({40, 1}, {.minval = 24, .maxval = 60, .seed = 4}), "int32");
  const Tensor counts = K::cast(K::random_uniform({40, 1}, {.maxval = 12, .seed = 5}), "int32");
  const Tensor costs = K::ctc_batch_cost(labels, y, steps, counts), slope = K::gradients(costs, {y})[0];
  for (int i : {0, 19, 20, 39}) {
    const Slice only(i, i + 1);
    const Variable own = K::variable(y[{only}]);
    const Tensor cost = K::ctc_batch_cost(labels[{only}], own, steps[{only}], counts[{only}]);
    CHECK(values(cost) == values(costs[i]));
    CHECK(values(K::gradients(cost, {own})[0]) == values(slope[{only}]));
  }
}

TEST_CASE("ctc_batch_cost names the sample that does not fit") {
  const Tensor y = probabilities({2, 3, 3}), labels = ints({{0, 1}, {1, 1}}), steps = ints({{3}, {3}}),
               counts = ints({{2}, {2}});
  CHECK_THROWS_WITH_AS(
      K::ctc_batch_cost(ints({{0, 1}, {0, 2}}), y, steps, counts),
      "[ctc_batch_cost] the labels of sample 1 must be in [0, 2), below the blank: received 2", ValueError);
  CHECK_THROWS_AS(K::ctc_batch_cost(ints({{0, -1}, {0, 1}}), y, steps, counts), ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(labels, y, ints({{3}, {2}}), counts),
                       "[ctc_batch_cost] the labels of sample 1 need 3 steps: received input_length=2",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(labels, y, ints({{3}, {4}}), counts),
                       "[ctc_batch_cost] input_length of sample 1 must be in [0, 3]: received 4", ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(labels, y, steps, ints({{-1}, {2}})),
                       "[ctc_batch_cost] label_length of sample 0 must be in [0, 2]: received -1",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(labels, y, ints({3, 3}), counts),
                       "[ctc_batch_cost] input_length must have shape (2, 1): received input_length=(2,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(ints({{0, 1}}), y, steps, counts),
                       "[ctc_batch_cost] y_true must have shape (2, max_labels): received y_true=(1, 2)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::ctc_batch_cost(labels, K::zeros({2, 3, 0}), steps, counts),
      "[ctc_batch_cost] y_pred must have shape (samples, time, classes) with a class for the blank: "
      "received y_pred=(2, 3, 0)",
      ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(labels, ints({{{1}}}), steps, counts),
                       "[ctc_batch_cost] y_pred must be floating: received dtype=int32", TypeError);
}

TEST_CASE("the greedy decoder merges repetitions, then drops blanks") {
  // Classes a, b and the blank: a a - a b b | b - - - - -
  const Tensor y = K::one_hot(ints({{0, 0, 2, 0, 1, 1}, {1, 2, 2, 0, 0, 0}}), 3);
  const auto [decoded, log_prob] = K::ctc_decode(y, ints({6, 3}));
  CHECK(decoded.size() == 1);
  CHECK(decoded[0].dtype() == "int64");
  CHECK(values(decoded[0]) == Values{0, 0, 1, -1, -1, -1, 1, -1, -1, -1, -1, -1});
  CHECK(log_prob.shape() == Shape{2, 1});
  CHECK(std::fabs(log_prob.item<double>(0, 0)) < 1e-5);
  const auto half = K::ctc_decode(doubles({{{0.5, 0.25, 0.25}, {0.125, 0.75, 0.125}}}), ints({2}));
  CHECK(close(half.log_prob.item<double>(), -std::log(0.5) - std::log(0.75), {.rtol = 1e-6}));
}

TEST_CASE("a wide beam finds the most probable label sequences") {
  for (int seed = 1; seed < 6; ++seed) {
    const Tensor y = probabilities({1, 5, 3}, seed);
    std::vector<std::pair<double, Labels>> ranked;
    for (const auto& [labels, p] : enumerate(y[0], 5)) ranked.emplace_back(p, labels);
    std::sort(ranked.rbegin(), ranked.rend());
    const auto [decoded, log_prob] =
        K::ctc_decode(y, ints({5}), {.greedy = false, .beam_width = 500, .top_paths = 3});
    CHECK(decoded.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(close(log_prob.item<double>(0, i), std::log(ranked[i].first)));
      Values labels(ranked[i].second.begin(), ranked[i].second.end());
      labels.erase(std::unique(labels.begin(), labels.end()), labels.end());  // as TF merges neighbours
      labels.resize(5, -1);
      CHECK(values(decoded[i]) == labels);
    }
  }
}

TEST_CASE("a narrow beam keeps the most probable paths, in batches too") {
  const Tensor y = probabilities({6, 20, 8});
  const K::CtcDecodeOptions narrow{.greedy = false, .beam_width = 3, .top_paths = 2};
  const auto all = K::ctc_decode(y, ints({20, 19, 18, 17, 16, 1}), narrow);
  CHECK(all.log_prob.shape() == Shape{6, 2});
  CHECK(K::all(K::greater_equal(all.log_prob[{All, 0}], all.log_prob[{All, 1}])).item<bool>());
  const auto one = K::ctc_decode(y[{Slice(2, 3)}], ints({18}), narrow);
  CHECK(values(one.decoded[1]) == values(all.decoded[1][2]));
  CHECK(values(one.log_prob) == values(all.log_prob[2]));
  const auto wider = K::ctc_decode(y, ints({20, 19, 18, 17, 16, 1}), {.greedy = false});
  CHECK(K::all(K::greater_equal(wider.log_prob[{All, 0}] + 1e-12, all.log_prob[{All, 0}])).item<bool>());
}

TEST_CASE("predictions that are no probabilities decode to NaN") {
  Tensor y = probabilities({1, 8, 5});
  y.pointer<double>()[11] = std::numeric_limits<double>::infinity();
  const auto result = K::ctc_decode(y, ints({8}), {.greedy = false});
  CHECK(std::isnan(result.log_prob.item<double>()));
  y.pointer<double>()[11] = -1;
  CHECK(std::isnan(K::ctc_batch_cost(ints({{0}}), y, ints({{8}}), ints({{1}})).item<double>()));
}

TEST_CASE("ctc_decode names what does not fit") {
  const Tensor y = probabilities({2, 1, 2});
  const auto beam = [&](int width, int paths) {
    K::ctc_decode(y, ints({1, 1}), {.greedy = false, .beam_width = width, .top_paths = paths});
  };
  CHECK_THROWS_WITH_AS(
      beam(1, 2), "[ctc_decode] 1 <= top_paths <= beam_width must hold: received top_paths=2, beam_width=1",
      ValueError);
  CHECK_THROWS_AS(beam(1, 0), ValueError);
  CHECK_THROWS_WITH_AS(
      K::ctc_decode(K::placeholder({2, 1, 2}), ints({1, 1}), {.greedy = false, .top_paths = -1}),
      "[ctc_decode] 1 <= top_paths <= beam_width must hold: received top_paths=-1, beam_width=100",
      ValueError);
  CHECK_THROWS_WITH_AS(beam(5, 3),
                       "[ctc_decode] the beam of sample 0 holds 2 label sequences: received top_paths=3",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_decode(y, ints({1, 2})),
                       "[ctc_decode] input_length of sample 1 must be in [0, 1]: received 2", ValueError);
  CHECK_THROWS_AS(K::ctc_decode(y, ints({{1}, {1}})), ValueError);
  CHECK_THROWS_AS(K::ctc_decode(ints({{{1}}}), ints({1})), TypeError);
}

TEST_CASE("ctc_label_dense_to_sparse keeps the labels that count") {
  const SparseTensor s = K::ctc_label_dense_to_sparse(ints({{4, 0, 9}, {7, 8, 9}}), ints({2, 1}));
  CHECK(values(s.indices()) == Values{0, 0, 0, 1, 1, 0});
  CHECK(values(s.values()) == Values{4, 0, 7});
  CHECK(s.dtype() == "int32");
  CHECK(s.shape() == Shape{2, 3});
  CHECK(K::ctc_label_dense_to_sparse(ints({{1}}), ints({0})).values().size() == 0);
  CHECK_THROWS_WITH_AS(K::ctc_label_dense_to_sparse(ints({{1}, {2}}), ints({1, 2})),
                       "[ctc_label_dense_to_sparse] label_lengths of sample 1 must be in [0, 1]: received 2",
                       ValueError);
  CHECK_THROWS_AS(K::ctc_label_dense_to_sparse(ints({1}), ints({1})), ValueError);
}

TEST_CASE("a deferred cost has the batch extent that any argument knows") {
  const Tensor p = K::placeholder({ktape::None, 7, 5}), rows = K::placeholder({ktape::None, 1});
  const auto shape = [&](const Tensor& labels, const Tensor& lengths) {
    return K::int_shape(K::ctc_batch_cost(labels, p, lengths, rows));
  };
  CHECK(shape(ints({{1}, {2}}), rows) == Shape{2, 1});
  CHECK(shape(K::placeholder({ktape::None, 1}), ints({{7}, {7}})) == Shape{2, 1});
  CHECK(shape(K::placeholder({ktape::None, 1}), rows) == Shape{ktape::None, 1});
}

TEST_CASE("a deferred decoding has the known shape and no gradient") {
  const Tensor p = K::placeholder({ktape::None, 7, 5}), lengths = ints({7, 7});
  const auto [decoded, log_prob] = K::ctc_decode(p, lengths);
  CHECK(K::int_shape(decoded[0]) == Shape{2, 7});
  CHECK(!ktape::gradients(log_prob, {p})[0].defined());
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"ctc_batch_cost",
       [](In in) {
         return K::ctc_batch_cost(K::constant({{0, 0}, {1, 9}}), in[0], K::constant({{4}, {3}}), K::constant({{2}, {1}}));
       },
       {random_probabilities({2, 4, 3})}},
      // Results that jump.
      {"ctc_decode", no_gradient}, {"ctc_label_dense_to_sparse", no_gradient},
  };
});
// clang-format on

}  // namespace
