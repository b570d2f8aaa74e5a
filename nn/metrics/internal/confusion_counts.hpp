#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <vector>

/// Counts of true and false positives and negatives. Internal: sources only.
namespace ktape::nn {

class Archive;

/// The largest number of thresholds of a metric, because a config from a file must not make a metric allocate
/// much memory.
inline constexpr int most_thresholds = 1 << 20;

/// The sums of the weights of true and false positives and negatives, at each threshold and for each label.
class ConfusionCounts {
 public:
  explicit ConfusionCounts(std::vector<double> thresholds) : thresholds_(std::move(thresholds)) {}

  struct Selection {
    std::optional<int> top_k = {}, class_id = {};
    bool by_label = false;  ///< whether each column of (samples, labels) is counted separately
  };
  void add(const char* metric, const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
           const Selection& selection);
  void reset();
  void state(Archive& state);

  /// The counts of one label at all thresholds.
  struct Counts {
    std::vector<double> tp, fp, tn, fn;
  };
  std::size_t labels() const { return above_.size(); }
  Counts of(std::size_t label) const;
  const std::vector<double>& thresholds() const { return thresholds_; }

 private:
  /// Histograms of one label: the sums of the weights of positives and of negatives, by the number of
  /// thresholds below the prediction.
  struct Histogram {
    std::vector<double> positive, negative;
  };
  std::vector<double> thresholds_;
  std::vector<Histogram> above_;
};

}  // namespace ktape::nn
