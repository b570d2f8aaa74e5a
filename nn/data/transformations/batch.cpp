#include <ktape/nn/data/transformations/transformation.hpp>

namespace ktape::data {
namespace {

class BatchStream final : public Stream {
 public:
  BatchStream(std::unique_ptr<Stream> input, std::int64_t size, bool whole)
      : input_(std::move(input)), size_(size), whole_(whole) {}
  bool next(Element& out) override {
    const std::int64_t count = ended_ ? 0 : input_->next_batch(size_, out);
    ended_ = count < size_;
    return whole_ ? count == size_ : count > 0;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::int64_t size_;
  bool whole_, ended_ = false;
};

class BatchDataset final : public Transformation {
 public:
  BatchDataset(const Dataset& input, std::int64_t size, bool whole)
      : Transformation(input), size_(size), whole_(whole) {}
  std::int64_t cardinality() const override {
    return counted(
        [&](std::int64_t count) { return whole_ ? count / size_ : count / size_ + (count % size_ != 0); });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<BatchStream>(input_->open(iteration), size_, whole_);
  }

 private:
  std::int64_t size_;
  bool whole_;
};

}  // namespace

Dataset Dataset::batch(std::int64_t batch_size, const BatchOptions& options) const {
  expect_at_least("batch", "batch_size", batch_size, 1);
  return made<BatchDataset>(*this, batch_size, options.drop_remainder);
}

}  // namespace ktape::data
