#pragma once
#include <ktape/nn/models/arrangement.hpp>

namespace ktape::nn {

class Archive;

/// Returns the number of samples of a batch.
double samples_of(const Batch& batch);

/// The source of the batches of a fit, an evaluation or a prediction.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Returns the number of batches; none if the number is unknown.
  virtual std::optional<std::int64_t> batches() const = 0;
  /// Divides the data between `size` processes that train one model: from the next restart on, each batch is
  /// the rank-th part of a larger batch. The program divides datasets itself (Dataset::shard).
  virtual void divide(int rank, int size) = 0;
  /// Begins again with the first batch. With `shuffle`, the samples get a new random order.
  virtual void restart(bool shuffle) = 0;
  /// Returns whether there is another batch.
  virtual bool more() = 0;
  virtual Batch next() = 0;
  /// Names the position in the data, so that another source of equal data can give the remaining batches.
  /// Setting a position that the data do not have throws ValueError.
  virtual void state(Archive& state) = 0;
};

/// Arrays, cut into batches of samples.
class ArrayAdapter final : public BatchSource {
 public:
  /// Throws ValueError, naming the operation, for arrays that differ in the number of samples.
  ArrayAdapter(const char* op, Batch all, std::int64_t batch_size);

  std::int64_t samples() const { return samples_; }
  std::optional<std::int64_t> batches() const override { return (samples_ + step() - 1) / step(); }
  /// Returns the samples first, ..., last - 1.
  ArrayAdapter part(std::int64_t first, std::int64_t last) const;
  /// Returns whether samples, targets and weights have equal shapes and dtypes in both.
  bool is_like(const ArrayAdapter& other) const;
  /// Multiplies the weight of each sample by the weight of its class.
  void weigh_classes(const Arrangement& arrangement, const ClassWeight& class_weight) {
    arrangement.weigh_classes(all_, class_weight);
  }

  void divide(int rank, int size) override { rank_ = rank, size_ = size; }
  void restart(bool shuffle) override;
  bool more() override { return next_ + rank_ < samples_; }
  Batch next() override;
  void state(Archive& state) override;
  /// Returns all samples as one batch.
  Batch whole() && { return std::move(all_); }

 private:
  /// Returns every size_-th sample of first, ..., last - 1.
  Tensor rows(const Tensor& x, std::int64_t first, std::int64_t last) const;
  NamedTensors rows(const NamedTensors& list, std::int64_t first, std::int64_t last) const;
  Batch batch(std::int64_t first, std::int64_t last) const;
  /// Returns the number of samples of all processes in one batch.
  std::int64_t step() const { return batch_size_ * size_; }
  void shuffle();

  const char* op_;
  Batch all_;
  std::int64_t samples_ = 0, batch_size_, next_ = 0;
  std::int64_t rank_ = 0, size_ = 1;
  std::optional<std::uint64_t> key_;  ///< the key of the random order; none for the order of the data
  std::vector<std::int64_t> order_;   ///< the random order of the samples, which the key determines
};

/// The elements of a dataset, which are batches: the inputs, the targets of each output, weights. The dataset
/// determines the order.
class DatasetAdapter final : public BatchSource {
 public:
  /// Makes a source of a dataset that has been read at least `iteration` times.
  DatasetAdapter(const char* op, const Model& model, const data::Dataset& dataset,
                 ClassWeight class_weight = {}, std::int64_t iteration = 0);

  std::optional<std::int64_t> batches() const override { return dataset_.cardinality(); }
  /// Throws ValueError for a dataset that is known to be empty, unless the dataset is a part of the data of
  /// several processes, and, naming the option, for a dataset without an end and without a number of steps.
  void expect_end(const char* option, std::optional<std::int64_t> steps) const;
  /// Leaves targets and weights out of all later batches.
  void take_inputs_only() { inputs_only_ = true; }
  void divide(int, int size) override { size_ = size; }
  void restart(bool) override { at_.reset(); }
  bool more() override;
  Batch next() override;
  void state(Archive& state) override;

 private:
  [[noreturn]] void fail_empty() const;
  void open();

  const char* op_;
  Arrangement arrangement_;
  data::Dataset dataset_;
  ClassWeight class_weight_;
  std::int64_t iteration_;                     ///< the least number of the next iteration
  bool exact_ = false;                         ///< whether iteration_ is exact, not a least number
  std::optional<data::Dataset::Iterator> at_;  ///< none before the first iteration
  std::int64_t given_ = 0;                     ///< the number of elements that this iteration has returned
  std::int64_t size_ = 1;                      ///< the number of processes that divide the data
  bool inputs_only_ = false;
  bool taken_ = false;  ///< whether the current element has been returned
};

}  // namespace ktape::nn
