#include <ktape/nn/data/transformations/transformation.hpp>

#include <algorithm>

namespace ktape::data {
namespace {

class SkipDataset final : public Transformation {
 public:
  SkipDataset(const Dataset& input, std::int64_t count) : Transformation(input), count_(count) {}
  std::int64_t cardinality() const override {
    return counted([&](std::int64_t count) { return std::max<std::int64_t>(count - count_, 0); });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    std::unique_ptr<Stream> input = input_->open(iteration);
    input->skip(count_);
    return input;
  }

 private:
  std::int64_t count_;
};

}  // namespace

Dataset Dataset::skip(std::int64_t count) const {
  expect_at_least("skip", "count", count, -1);
  return count == -1 ? take(0) : made<SkipDataset>(*this, count);
}

}  // namespace ktape::data
