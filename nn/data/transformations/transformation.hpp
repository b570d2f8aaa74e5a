#pragma once
#include <ktape/nn/data/stream.hpp>

/// The base class of the transformations. Internal: sources only.
namespace ktape::data {

/// A dataset that is made from the elements of another dataset.
class Transformation : public DatasetImpl {
 public:
  explicit Transformation(const Dataset& input) : input_(input.shared()) {}
  std::int64_t cardinality() const override { return input_->cardinality(); }
  std::uint64_t shard() const override { return input_->shard(); }

 protected:
  /// Returns f(count) if the number of the input's elements is known, otherwise the cardinality of the input.
  template <class F>
  std::int64_t counted(F f) const {
    const std::int64_t count = input_->cardinality();
    return count < 0 ? count : f(count);
  }
  /// Returns the cardinality of a transformation whose number of elements depends on the elements: 0 or
  /// infinite if this is the cardinality of the input, otherwise unknown.
  std::int64_t empty_or_unknown() const {
    return counted([](std::int64_t count) { return count == 0 ? 0 : std::int64_t{unknown}; });
  }
  DatasetPointer input_;
};

/// Throws ValueError, naming the transformation, for a value below the least.
inline void expect_at_least(const char* op, const char* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    fail("[Dataset.", op, "] ", name, " must be at least ", least, ": received ", name, '=', value);
}

/// The number of elements that AUTOTUNE reads ahead: one that is being read, one that waits, and two more for
/// elements that take longer.
constexpr std::int64_t autotune_ahead = 4;

/// Returns the number of threads for a value of the option. Throws ValueError, naming the transformation, for
/// a value out of range.
int threads_of(const char* op, int num_parallel_calls);

}  // namespace ktape::data
