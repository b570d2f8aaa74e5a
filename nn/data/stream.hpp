#pragma once
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/data/dataset.hpp>
#include <ktape/ops/random/random_scope.hpp>
#include <ktape/ops/settings/config.hpp>

#include <atomic>
#include <memory>

/// DatasetImpl, the class that a Dataset refers to, and its streams. Internal: sources only.
namespace ktape::data {

/// An iteration over a dataset. One thread at a time uses a stream; a stream may pass between threads.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Sets `out` to the next element. Returns false at the end, and at all later calls.
  virtual bool next(Element& out) = 0;
  /// Sets `out` to a batch of up to n elements, along a new first axis, and returns their number.
  virtual std::int64_t next_batch(std::int64_t n, Element& out);
  /// Skips up to n elements.
  virtual void skip(std::int64_t n);
};

/// A stream whose elements are rows of one set of tensors. A batch is gathered with one copy for each tensor.
class RowStream : public Stream {
 public:
  explicit RowStream(std::shared_ptr<const Element> tensors) : tensors_(std::move(tensors)) {}
  /// Sets `row` to the index of the next row. Returns false at the end.
  virtual bool next_row(std::int64_t& row) = 0;
  const std::shared_ptr<const Element>& tensors() const { return tensors_; }

  bool next(Element& out) final;
  std::int64_t next_batch(std::int64_t n, Element& out) final;
  void skip(std::int64_t n) override;

 private:
  std::shared_ptr<const Element> tensors_;
  std::vector<std::int64_t> chosen_;
};

/// The base class of datasets, which opens streams.
class DatasetImpl {
 public:
  static constexpr std::int64_t endless = -1, unknown = -2;  ///< cardinalities

  virtual ~DatasetImpl() = default;
  /// Opens a stream for the n-th iteration; n determines the random numbers.
  virtual std::unique_ptr<Stream> open(std::uint64_t iteration) const = 0;
  virtual std::int64_t cardinality() const = 0;

  /// Returns the number of the shard that the dataset reads, from which random transformations derive their
  /// keys, so that shards differ; 0 for the first shard and for a dataset without shards.
  virtual std::uint64_t shard() const { return 0; }

  /// Returns the number of the next iteration, at least `least`.
  std::uint64_t next_iteration(std::uint64_t least) const;

 private:
  mutable std::atomic<std::uint64_t> iterations_{0};
};

using DatasetPointer = std::shared_ptr<const DatasetImpl>;

/// Returns a dataset of this class.
template <class Impl, class... Arguments>
Dataset made(Arguments&&... arguments) {
  return Dataset(std::make_shared<const Impl>(std::forward<Arguments>(arguments)...));
}

/// Returns the n-th key that is derived from a key: for the n-th iteration of a dataset, or its n-th call.
std::uint64_t derived_key(std::uint64_t key, std::uint64_t n);
/// Returns a key for a random transformation of a dataset: from the seed, or else from the global generator.
std::uint64_t transformation_key(const DatasetImpl& input, std::optional<std::int64_t> seed = {});

/// Throws ValueError, naming the operation, for tensors without values.
void expect_values(const char* op, const Element& tensors);
/// Throws ValueError, naming the operation, unless both elements have equal names in one order.
void expect_same_names(const char* op, const Element& element, const Element& other);
/// Returns the number of rows of the tensors. Throws ValueError for tensors without values and for different
/// numbers of rows.
std::int64_t expect_rows(const char* op, const Element& tensors);
/// Returns the given rows of each tensor.
Element gathered_rows(const Element& tensors, const std::vector<std::int64_t>& rows);
/// Returns rows first, ..., last - 1 of each tensor.
Element sliced_rows(const Element& tensors, std::int64_t first, std::int64_t last);
/// Stacks elements of equal shapes along a new first axis. The list must not be empty.
Element stacked(const std::vector<Element>& elements);
/// Joins the i-th tensors of all elements along the first axis, for each i.
Element joined(const std::vector<Element>& parts);

/// Calls a function of the user: unrecorded, in inference, with random numbers that follow from a key.
auto called(const auto& function, std::uint64_t key, const auto&... arguments) {
  const NoGrad unrecorded;
  const backend::learning_phase_scope inference(0);
  const backend::RandomScope random(key);
  return function(arguments...);
}

}  // namespace ktape::data
