#include <ktape/nn/data/transformations/sequence_stream.hpp>

#include <limits>

namespace ktape::data {
namespace {

class Concatenation final : public DatasetImpl {
 public:
  Concatenation(DatasetPointer first, DatasetPointer second) : parts_{std::move(first), std::move(second)} {}
  std::uint64_t shard() const override { return parts_[0]->shard(); }
  std::int64_t cardinality() const override {
    const std::int64_t a = parts_[0]->cardinality(), b = parts_[1]->cardinality();
    if (a == endless || b == endless) return endless;
    if (a == unknown || b == unknown) return unknown;
    return a > std::numeric_limits<std::int64_t>::max() - b ? std::int64_t{endless} : a + b;
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<SequenceStream>(2, [parts = parts_, iteration](std::int64_t i) {
      return parts[static_cast<std::size_t>(i)]->open(iteration);
    });
  }

 private:
  std::vector<DatasetPointer> parts_;
};

}  // namespace

Dataset Dataset::concatenate(const Dataset& other) const { return made<Concatenation>(impl_, other.impl_); }

}  // namespace ktape::data
