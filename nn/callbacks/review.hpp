#pragma once
#include <ktape/nn/models/model.hpp>

#include <map>

/// What a model predicts for the data that it is validated on. Internal: sources only.
namespace ktape::nn {

/// A sample and the class that it was taken for.
struct Guess {
  Tensor input;  ///< the first one's
  std::int64_t truth = 0, predicted = 0;
  double confidence = 0;  ///< the probability of the predicted class
};

/// The predictions of one output, batch by batch.
class Review {
 public:
  /// `keep`: how many guesses of each kind are kept.
  Review(std::string output, bool from_logits, std::size_t keep)
      : output_(std::move(output)), from_logits_(from_logits), keep_(keep) {}
  void add(const Tensor& input, const Tensor& y_true, const Tensor& y_pred);

  const std::string& output() const { return output_; }

  /// Whether all targets were classes: integers for rows of scores, one-hot rows, or 0 and 1 for one score.
  bool classifies() const { return kind_ == Classes && samples_ > 0; }
  std::int64_t samples() const { return samples_; }
  std::int64_t right() const { return right_; }
  std::int64_t classes() const { return classes_; }
  /// How often a class, the first, was predicted as the second; never where there is no entry.
  const std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>& counts() const { return counts_; }
  /// The first ones.
  const std::vector<Guess>& guesses() const { return guesses_; }
  /// The wrong ones, the most confident first.
  const std::vector<Guess>& mistakes() const { return mistakes_; }

  /// Whether targets and predictions were numbers, and no classes.
  bool regresses() const { return kind_ == Numbers && !truths_.empty(); }
  const std::vector<double>& truths() const { return truths_; }
  const std::vector<double>& predictions() const { return predictions_; }

 private:
  enum Kind { Unknown, Classes, Numbers, Neither };
  void add_classes(const Tensor& input, const std::vector<double>& y_true, const std::vector<double>& y_pred,
                   std::size_t count);
  void add_numbers(const std::vector<double>& y_true, const std::vector<double>& y_pred);
  void add(const Tensor& input, std::size_t row, Guess guess);

  std::string output_;
  bool from_logits_;
  std::size_t keep_;
  Kind kind_ = Unknown;
  std::int64_t samples_ = 0, right_ = 0, classes_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts_;
  std::vector<Guess> guesses_, mistakes_;
  std::vector<double> truths_, predictions_;
};

/// Predicts the validation data of a fit that is going on, and reviews each output that has targets; none
/// where there are no such data.
std::vector<Review> review(const Model& model, std::size_t keep);

}  // namespace ktape::nn
