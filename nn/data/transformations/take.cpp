#include <ktape/nn/data/transformations/transformation.hpp>

#include <algorithm>

namespace ktape::data {
namespace {

class TakeStream final : public Stream {
 public:
  TakeStream(std::unique_ptr<Stream> input, std::int64_t count) : input_(std::move(input)), left_(count) {}
  bool next(Element& out) override {
    if (left_ == 0 || !input_->next(out)) return left_ = 0, false;
    --left_;
    return true;
  }
  std::int64_t next_batch(std::int64_t n, Element& out) override {
    const std::int64_t count = left_ == 0 ? 0 : input_->next_batch(std::min(n, left_), out);
    left_ -= count;
    return count;
  }
  void skip(std::int64_t n) override {
    input_->skip(std::min(n, left_));
    left_ -= std::min(n, left_);
  }

 private:
  std::unique_ptr<Stream> input_;
  std::int64_t left_;
};

class TakeDataset final : public Transformation {
 public:
  TakeDataset(const Dataset& input, std::int64_t count) : Transformation(input), count_(count) {}
  std::int64_t cardinality() const override {
    const std::int64_t count = input_->cardinality();
    if (count_ == 0 || count == endless) return count_;
    return count < 0 ? count : std::min(count, count_);
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<TakeStream>(input_->open(iteration), count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

Dataset Dataset::take(std::int64_t count) const {
  expect_at_least("take", "count", count, -1);
  return count == -1 ? *this : made<TakeDataset>(*this, count);
}

}  // namespace ktape::data
