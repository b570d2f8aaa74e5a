#include <ktape/autograd/tape.hpp>
#include <ktape/nn/callbacks/report/internal/prediction_report.hpp>
#include <ktape/nn/plot/plot.hpp>
#include <ktape/nn/training/batch_source.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ktape::nn {
namespace {

constexpr std::size_t most_numbers = 2000;  ///< the most predictions of a regression that are kept

std::vector<double> numbers_of(const Tensor& x) {
  const plot::Numbers numbers(x);
  return {numbers.begin(), numbers.end()};
}

/// Returns one sample of a batch.
Tensor row_of(const Tensor& x, std::size_t row) {
  Shape shape;
  for (int axis = 1; axis < x.ndim(); ++axis) shape.push_back(x.shape()[axis]);
  const Tensor out = Tensor::empty(shape, x.dtype());
  const std::size_t bytes = static_cast<std::size_t>(out.size()) * x.dtype().size();
  std::memcpy(out.raw(), static_cast<const char*>(x.raw()) + row * bytes, bytes);
  return out;
}

bool is_class(double number, std::size_t classes) {
  return number >= 0 && number < static_cast<double>(classes) && number == std::floor(number);
}

/// Returns the class of a one-hot row; none for another row.
std::optional<std::int64_t> one_hot_class(const double* row, std::size_t classes) {
  std::optional<std::int64_t> hot;
  for (std::size_t i = 0; i < classes; ++i) {
    if (row[i] == 0) continue;
    if (row[i] != 1 || hot) return {};
    hot = static_cast<std::int64_t>(i);
  }
  return hot;
}

/// Returns the probability of the best score: the score itself, or its softmax for logits.
double confidence_of(const double* scores, std::size_t classes, std::int64_t best, bool from_logits) {
  double sum = 0, exponentials = 0;
  bool negative = false;
  for (std::size_t i = 0; i < classes; ++i) {
    sum += scores[i];
    exponentials += std::exp(scores[i] - scores[best]);
    negative = negative || scores[i] < 0;
  }
  return from_logits || negative || std::abs(sum - 1) > 0.01 ? 1 / exponentials : scores[best];
}

}  // namespace

void PredictionReport::add(const Tensor& input, const Tensor& y_true, const Tensor& y_pred) {
  if (kind_ == Neither || y_pred.ndim() < 1 || y_pred.size() == 0) return;
  const auto rows = static_cast<std::size_t>(y_pred.shape()[0]);
  const bool fits = y_pred.ndim() <= 2 && y_true.ndim() >= 1 && y_true.ndim() <= 2 && input.ndim() >= 1 &&
                    input.shape()[0] == y_pred.shape()[0];
  const auto scores = static_cast<std::size_t>(y_pred.size()) / rows;
  const std::int64_t targets = fits ? y_true.size() : 0;
  if (!fits || (targets != y_pred.size() && targets != y_pred.shape()[0])) {
    kind_ = Neither;
    return;
  }
  const std::vector<double> truths = numbers_of(y_true), predictions = numbers_of(y_pred);
  if (scores == 1) add_numbers(truths, predictions);
  if (kind_ == Unknown || kind_ == Classes) add_classes(input, truths, predictions, scores);
}

void PredictionReport::add_numbers(const std::vector<double>& y_true, const std::vector<double>& y_pred) {
  for (std::size_t i = 0; i < y_true.size() && truths_.size() < most_numbers; ++i) {
    truths_.push_back(y_true[i]);
    predictions_.push_back(y_pred[i]);
  }
}

void PredictionReport::add_classes(const Tensor& input, const std::vector<double>& y_true,
                                   const std::vector<double>& y_pred, std::size_t scores) {
  const std::size_t rows = y_pred.size() / scores;
  const bool hot = scores > 1 && y_true.size() == y_pred.size();
  classes_ = std::max<std::int64_t>(2, static_cast<std::int64_t>(scores));
  for (std::size_t row = 0; row < rows; ++row) {
    const double* score = &y_pred[row * scores];
    std::optional<std::int64_t> truth;
    if (hot) truth = one_hot_class(&y_true[row * scores], scores);
    else if (is_class(y_true[row], static_cast<std::size_t>(classes_)))
      truth = static_cast<std::int64_t>(y_true[row]);
    if (!truth) {
      kind_ = scores == 1 ? Numbers : Neither;
      return;
    }
    PredictedSample guess{.input = {}, .truth = *truth};
    if (scores == 1) {
      const double positive = from_logits_ ? 1 / (1 + std::exp(-*score)) : *score;
      guess.predicted = positive > 0.5;
      guess.confidence = guess.predicted ? positive : 1 - positive;
    } else {
      guess.predicted = std::max_element(score, score + scores) - score;
      guess.confidence = confidence_of(score, scores, guess.predicted, from_logits_);
    }
    if (std::isnan(guess.confidence)) guess.confidence = 0;
    add(input, row, std::move(guess));
  }
  kind_ = Classes;
}

void PredictionReport::add(const Tensor& input, std::size_t row, PredictedSample guess) {
  const bool right = guess.truth == guess.predicted;
  ++samples_;
  right_ += right;
  ++counts_[{guess.truth, guess.predicted}];
  const auto more_confident = [](const PredictedSample& a, const PredictedSample& b) {
    return a.confidence > b.confidence;
  };
  const bool first = guesses_.size() < keep_;
  const bool worst =
      !right && keep_ > 0 && (mistakes_.size() < keep_ || more_confident(guess, mistakes_.back()));
  if (!first && !worst) return;
  guess.input = row_of(input, row);
  if (first) guesses_.push_back(guess);
  if (!worst) return;
  mistakes_.insert(std::upper_bound(mistakes_.begin(), mistakes_.end(), guess, more_confident), guess);
  if (mistakes_.size() > keep_) mistakes_.pop_back();
}

std::vector<PredictionReport> review(const Model& model, std::size_t keep) {
  Trainer& trainer = model.impl().trainer();
  std::vector<PredictionReport> reviews;
  BatchSource* source = trainer.training ? trainer.training->validation() : nullptr;
  if (!source) return reviews;
  const std::optional<std::int64_t> steps = trainer.training->validation_steps();
  const backend::learning_phase_scope inference(0);
  const NoGrad off;
  const std::vector<std::string> names = model.impl().output_names();
  source->restart(false);
  for (std::int64_t step = 0; (!steps || step < *steps) && source->more(); ++step) {
    const Batch batch = source->next();
    const std::vector<Tensor> y_pred = model.impl().predict_step(batch);
    for (std::size_t i = 0; i < y_pred.size(); ++i) {
      if (i == reviews.size()) {
        const Loss loss = trainer.loss_of(i);
        const Value logits = loss.defined() ? loss.get_config().get("from_logits", false) : Value(false);
        reviews.emplace_back(y_pred.size() == 1 ? ""
                             : i < names.size() ? names[i]
                                                : std::to_string(i + 1),
                             logits == Value(true), keep);
      }
      if (const Tensor* y_true = trainer.targets_of(batch, i); y_true && !batch.x.empty())
        reviews[i].add(batch.x[0], *y_true, y_pred[i]);
    }
  }
  return reviews;
}

}  // namespace ktape::nn
