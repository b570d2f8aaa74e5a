#pragma once
#include <ktape/nn/models/model.hpp>

#include <map>

/// A model's predictions for its validation data. Internal: sources only.
namespace ktape::nn {

/// A sample with its predicted class.
struct PredictedSample {
  Tensor input;  ///< the sample in the model's first input
  std::int64_t truth = 0, predicted = 0;
  double confidence = 0;  ///< the probability of the predicted class
};

/// The predictions of one output, batch by batch.
class PredictionReport {
 public:
  /// Makes an empty report. `keep` limits the numbers of guesses and of mistakes.
  PredictionReport(std::string output, bool from_logits, std::size_t keep)
      : output_(std::move(output)), from_logits_(from_logits), keep_(keep) {}
  void add(const Tensor& input, const Tensor& y_true, const Tensor& y_pred);

  const std::string& output() const { return output_; }

  /// Returns whether all targets were classes: integers for rows of scores, one-hot rows, or 0 and 1 for one
  /// score.
  bool classifies() const { return kind_ == Classes && samples_ > 0; }
  std::int64_t samples() const { return samples_; }
  std::int64_t right() const { return right_; }
  std::int64_t classes() const { return classes_; }
  /// Returns the number of samples for each pair (true class, predicted class); pairs without samples are
  /// absent.
  const std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>& counts() const { return counts_; }
  /// Returns the guesses for the first samples.
  const std::vector<PredictedSample>& guesses() const { return guesses_; }
  /// Returns the wrong guesses, the most confident first.
  const std::vector<PredictedSample>& mistakes() const { return mistakes_; }

  /// Returns whether targets and predictions were numbers instead of classes.
  bool regresses() const { return kind_ == Numbers && !truths_.empty(); }
  const std::vector<double>& truths() const { return truths_; }
  const std::vector<double>& predictions() const { return predictions_; }

 private:
  enum Kind { Unknown, Classes, Numbers, Neither };
  void add_classes(const Tensor& input, const std::vector<double>& y_true, const std::vector<double>& y_pred,
                   std::size_t count);
  void add_numbers(const std::vector<double>& y_true, const std::vector<double>& y_pred);
  void add(const Tensor& input, std::size_t row, PredictedSample guess);

  std::string output_;
  bool from_logits_;
  std::size_t keep_;
  Kind kind_ = Unknown;
  std::int64_t samples_ = 0, right_ = 0, classes_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts_;
  std::vector<PredictedSample> guesses_, mistakes_;
  std::vector<double> truths_, predictions_;
};

/// Predicts the validation data of the current fit, and returns a report for each output with targets; no
/// report for a fit without validation data.
std::vector<PredictionReport> review(const Model& model, std::size_t keep);

}  // namespace ktape::nn
