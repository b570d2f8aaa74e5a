#include <ktape/nn/data/transformations/sequence_stream.hpp>

#include <limits>

namespace ktape::data {
namespace {

class Repetition final : public DatasetImpl {
 public:
  Repetition(DatasetPointer input, std::optional<std::int64_t> count)
      : input_(std::move(input)), count_(count) {}
  std::uint64_t shard() const override { return input_->shard(); }
  std::int64_t cardinality() const override {
    const std::int64_t once = input_->cardinality();
    if (count_ == 0 || once == 0) return 0;
    if (once < 0 || !count_) return once < 0 ? once : std::int64_t{endless};
    return *count_ > std::numeric_limits<std::int64_t>::max() / once ? std::int64_t{endless} : once * *count_;
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    constexpr std::int64_t infinite = std::int64_t{1} << 40;  // no program runs this long
    std::optional<std::int64_t> count = count_ >= infinite ? std::nullopt : count_;
    if (input_->cardinality() == 0) count = 0;
    return std::make_unique<SequenceStream>(count, [input = input_, iteration](std::int64_t i) {
      return input->open(i == 0 ? iteration : derived_key(iteration, static_cast<std::uint64_t>(i)));
    });
  }

 private:
  DatasetPointer input_;
  std::optional<std::int64_t> count_;
};

}  // namespace

Dataset Dataset::repeat(std::optional<std::int64_t> count) const {
  if (count && *count < -1) fail("[Dataset.repeat] count must be at least 0, or -1: received count=", *count);
  return made<Repetition>(impl_, count == -1 ? std::nullopt : count);
}

}  // namespace ktape::data
