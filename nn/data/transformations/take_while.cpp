#include <ktape/nn/data/transformations/calling.hpp>

namespace ktape::data {
namespace {

class TakeWhileStream final : public Stream {
 public:
  TakeWhileStream(std::unique_ptr<Stream> input, Caller<Dataset::Predicate> predicate)
      : input_(std::move(input)), predicate_(std::move(predicate)) {}
  bool next(Element& out) override {
    ended_ = ended_ || !input_->next(out) || !predicate_(out);
    return !ended_;
  }

 private:
  std::unique_ptr<Stream> input_;
  Caller<Dataset::Predicate> predicate_;
  bool ended_ = false;
};

class TakeWhileDataset final : public CallingDataset<Dataset::Predicate> {
 public:
  using CallingDataset::CallingDataset;
  std::int64_t cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown; }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<TakeWhileStream>(input_->open(iteration), caller(iteration));
  }
};

}  // namespace

Dataset Dataset::take_while(Predicate predicate) const {
  expect_callable("take_while", predicate);
  return made<TakeWhileDataset>(*this, std::move(predicate));
}

}  // namespace ktape::data
