#pragma once
#include <ktape/nn/data/stream.hpp>

/// The base class of the transformations. Internal: sources only.
namespace ktape::data {

/// A dataset of the elements of another.
class Transformation : public DatasetImpl {
 public:
  explicit Transformation(const Dataset& input) : input_(input.shared()) {}
  std::int64_t cardinality() const override { return input_->cardinality(); }
  std::uint64_t shard() const override { return input_->shard(); }

 protected:
  /// f(count) of a count that is known.
  template <class F>
  std::int64_t counted(F f) const {
    const std::int64_t count = input_->cardinality();
    return count < 0 ? count : f(count);
  }
  /// The cardinality where only reading tells how many elements there are of some.
  std::int64_t unknown_of_some() const {
    return counted([](std::int64_t count) { return count == 0 ? 0 : std::int64_t{unknown}; });
  }
  DatasetPointer input_;
};

/// Throws ValueError, naming the transformation, for a value below the least.
inline void expect_at_least(const char* op, const char* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    fail("[Dataset.", op, "] ", name, " must be at least ", least, ": received ", name, '=', value);
}

/// The number of elements that AUTOTUNE makes ahead: one in work, one that waits, and some to even out
/// elements that take longer.
constexpr std::int64_t enough_ahead = 4;

/// Returns how many threads an option stands for. Throws ValueError, naming the transformation, for one out
/// of range.
int threads_of(const char* op, int num_parallel_calls);

}  // namespace ktape::data
