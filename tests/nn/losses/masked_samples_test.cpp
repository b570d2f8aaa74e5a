// A masked sample or step has no influence on losses and metrics, whatever it is, and no gradient.
#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor, ktape::Variable;

namespace masked_samples {

const std::vector<double> unlike_numbers{NAN, INFINITY, -INFINITY, 3.4028234663852886e38,
                                         -3.4028234663852886e38};

/// Predictions between 0 and 1, and targets, of 2 samples with 3 steps of 4 classes.
Tensor probabilities() { return K::softmax(normal({2, 3, 4}, 4, "float32")); }
Tensor classes() { return K::constant({{0, 3, 1}, {2, 1, 0}}, {.dtype = "int32"}); }
Tensor targets() { return K::one_hot(classes(), 4); }
Tensor mask() { return K::constant({{true, true, false}, {true, false, false}}, {.dtype = "bool"}); }
/// Returns x with a number in place of what is masked.
Tensor masked(const Tensor& x, double number) {
  return K::where(x.ndim() > 2 ? K::expand_dims(mask()) : mask(), x, number);
}

struct LossRow {
  nn::Loss loss;
  bool sparse = false;
};

std::vector<LossRow> losses() {
  std::vector<LossRow> rows;
  for (const char* name :
       {"mse", "mae", "mape", "msle", "log_cosh", "huber", "hinge", "squared_hinge", "categorical_hinge",
        "kl_divergence", "poisson", "cosine_similarity", "binary_crossentropy", "categorical_crossentropy"})
    rows.push_back({nn::Loss(name)});
  rows.push_back({nn::BinaryCrossentropy({.from_logits = true})});
  rows.push_back({nn::BinaryFocalCrossentropy()});
  rows.push_back({nn::CategoricalCrossentropy({.from_logits = true})});
  rows.push_back({nn::CategoricalFocalCrossentropy()});
  rows.push_back({nn::SparseCategoricalCrossentropy(), true});
  rows.push_back({nn::SparseCategoricalCrossentropy({.from_logits = true}), true});
  rows.push_back({nn::SparseCategoricalCrossentropy({.ignore_class = 3}), true});
  rows.push_back({nn::Loss([](const Tensor& t, const Tensor& p) { return K::mean(K::log(p / t), -1); })});
  return rows;
}

}  // namespace masked_samples

using namespace masked_samples;

TEST_CASE("masked steps do not matter to losses, nor have they a gradient") {
  for (const std::string reduction : {"sum_over_batch_size", "sum", "none", "mean_with_sample_weight"})
    for (const LossRow& row : losses()) {
      nn::Loss loss = row.loss;
      CAPTURE(loss.name());
      CAPTURE(reduction);
      const Tensor y_true = row.sparse ? classes() : targets(),
                   weights = K::constant({{1., 2., 3.}, {.5, 1., 1.}});
      const auto run = [&](const Tensor& t, const Tensor& given, const Tensor& w) {
        const Variable p = K::variable(given);
        const Tensor values =
            nn::reduce_values(loss.name(), loss.impl().call(t, p).values, w, mask(), reduction);
        const Tensor value = loss(t, p, {.sample_weight = w, .mask = mask()});
        return std::vector{values, value, ktape::gradients(value, {p})[0]};
      };
      const bool own = loss.class_name() == "function";  // divides by targets, which are 0
      const Tensor safe = own ? y_true + 1 : y_true;
      const std::vector<Tensor> want = run(safe, probabilities(), weights);
      for (const double number : unlike_numbers) {
        CAPTURE(number);
        const std::vector<Tensor> got = run(safe, masked(probabilities(), number), masked(weights, number));
        CHECK(close(got, want, {.rtol = 1e-5, .atol = 1e-6}));
        CHECK(close(K::sum(K::abs(masked(got[2], 0) - got[2])).item(), 0));
        const Tensor odd = row.sparse ? masked(safe, -1) : masked(safe, number);
        CHECK(close(loss(odd, probabilities(), {.sample_weight = weights, .mask = mask()}), want[1],
                    {.rtol = 1e-5}));
      }
    }
}

TEST_CASE("a masked sample does not matter to a loss of pairs") {
  const Tensor y_true = K::constant({0, 1, 0, 1}, {.dtype = "int32"}),
               p = K::l2_normalize(normal({4, 3}, 2, "float32"), -1),
               seen = K::constant({1, 1, 1, 0}, {.dtype = "bool"});
  const auto run = [&](const Tensor& given) {
    const Variable x = K::variable(given);
    const Tensor value = nn::Circle()(y_true, x, {.mask = seen});
    return std::vector{value, ktape::gradients(value, {x})[0]};
  };
  const std::vector<Tensor> got = run(K::where(K::expand_dims(seen), p, NAN));
  CHECK(close(K::sum(got[1][3]).item(), 0));
  CHECK(std::isfinite(got[0].item()));
  CHECK(std::isfinite(K::sum(got[1]).item()));
}

TEST_CASE("a weight of 0 multiplies, and does not mask") {
  const Tensor p = K::constant({{1.}, {NAN}}), y = K::constant({{0.}, {0.}});
  CHECK(std::isnan(nn::Loss("mse")(y, p, {.sample_weight = K::constant({1., 0.})}).item()));
  CHECK(nn::Loss("mse")(y, p, {.mask = K::constant({true, false})}).item() == 1);
}

TEST_CASE("masked steps do not matter to metrics") {
  struct MetricRow {
    nn::Metric metric;
    Tensor y_true, y_pred;
  };
  const Tensor binary = K::cast(targets()[{ktape::All, ktape::All, 0}], "float32"), p = probabilities(),
               first = p[{ktape::All, ktape::All, 0}], hot = targets();
  std::vector<MetricRow> rows;
  for (const char* name : {"mse",
                           "mae",
                           "mape",
                           "msle",
                           "logcosh",
                           "RootMeanSquaredError",
                           "hinge",
                           "SquaredHinge",
                           "CategoricalHinge",
                           "KLDivergence",
                           "Poisson",
                           "CosineSimilarity",
                           "BinaryCrossentropy",
                           "CategoricalCrossentropy",
                           "CategoricalAccuracy",
                           "TopKCategoricalAccuracy",
                           "Precision",
                           "Recall",
                           "AUC",
                           "TruePositives",
                           "FalseNegatives",
                           "TrueNegatives",
                           "FalsePositives",
                           "BinaryAccuracy",
                           "PearsonCorrelation",
                           "ConcordanceCorrelation"})
    rows.push_back({nn::Metric(name), hot, p});
  rows.push_back({nn::Metric("SparseCategoricalCrossentropy"), classes(), p});
  rows.push_back({nn::Metric("SparseCategoricalAccuracy"), classes(), p});
  rows.push_back({nn::Metric("SparseTopKCategoricalAccuracy"), classes(), p});
  rows.push_back({nn::Metric("accuracy"), classes(), p});
  rows.push_back({nn::MeanIoU({.num_classes = 4}), classes(), K::cast(classes(), "float32")});
  rows.push_back({nn::BinaryIoU(), binary, first});
  for (const MetricRow& row : rows) {
    CAPTURE(row.metric.name());
    const double want = row.metric(row.y_true, row.y_pred, {.mask = mask()}).item();
    for (const double number : unlike_numbers) {
      CAPTURE(number);
      row.metric.reset_state();
      const Tensor odd =
          row.y_true.dtype().is_floating() ? masked(row.y_true, number) : masked(row.y_true, -1);
      CHECK(
          close(row.metric(odd, masked(row.y_pred, number), {.mask = mask()}).item(), want, {.rtol = 1e-5}));
      nn::Mean mean;
      nn::Sum sum;
      mean.update_state(masked(first, number), {.mask = mask()});
      sum.update_state(masked(first, number),
                       {.sample_weight = masked(K::ones({2, 3}), number), .mask = mask()});
      CHECK(close(sum.result().item(), K::sum(masked(first, 0)).item(), {.rtol = 1e-5}));
      CHECK(close(mean.result().item(), K::sum(masked(first, 0)).item() / 3, {.rtol = 1e-5}));
    }
  }
}
