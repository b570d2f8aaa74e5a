#include <ktape/nn/data/transformations/calling.hpp>

namespace ktape::data {
namespace {

class FilterStream final : public Stream {
 public:
  FilterStream(std::unique_ptr<Stream> input, Caller<Dataset::Predicate> predicate)
      : input_(std::move(input)), predicate_(std::move(predicate)) {}
  bool next(Element& out) override {
    while (input_->next(out))
      if (predicate_(out)) return true;
    return false;
  }

 private:
  std::unique_ptr<Stream> input_;
  Caller<Dataset::Predicate> predicate_;
};

class FilterDataset final : public CallingDataset<Dataset::Predicate> {
 public:
  using CallingDataset::CallingDataset;
  std::int64_t cardinality() const override { return empty_or_unknown(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<FilterStream>(input_->open(iteration), caller(iteration));
  }
};

}  // namespace

Dataset Dataset::filter(Predicate predicate) const {
  expect_callable("filter", predicate);
  return made<FilterDataset>(*this, std::move(predicate));
}

}  // namespace ktape::data
