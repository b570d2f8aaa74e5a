#pragma once
#include <ktape/nn/models/fit.hpp>

namespace ktape::nn {

/// Arrays, cut into batches of samples.
class Feed {
 public:
  /// Throws ValueError, naming the operation, for arrays that differ in the number of samples.
  Feed(const char* op, const TensorList& x, const TensorList& y, const TensorList& sample_weight,
       std::int64_t batch_size);

  std::int64_t samples() const { return samples_; }
  std::int64_t batches() const { return (samples_ + batch_size_ - 1) / batch_size_; }
  /// The samples from the first up to the last.
  Feed part(std::int64_t first, std::int64_t last) const;
  /// Multiplies the weight of each sample by that of its class, which the first targets name.
  void weigh_classes(const std::map<std::int64_t, double>& class_weight);

  /// Begins again with the first batch, the samples in a new random order or in their own.
  void restart(bool shuffle);
  /// Whether there is another batch.
  bool more() const { return next_ < samples_; }
  Batch next();

 private:
  Tensor rows(const Tensor& x, std::int64_t first, std::int64_t last) const;

  const char* op_;
  Batch all_;
  std::int64_t samples_ = 0, batch_size_, next_ = 0;
  std::vector<std::int64_t> order_;  ///< empty: their own
};

}  // namespace ktape::nn
