#include <ktape/nn/data/transformations/calling.hpp>

#include <tuple>

namespace ktape::data {
namespace {

class ScanStream final : public Stream {
 public:
  ScanStream(std::unique_ptr<Stream> input, Element state, Caller<Dataset::Scanner> function)
      : input_(std::move(input)), state_(std::move(state)), function_(std::move(function)) {}
  bool next(Element& out) override {
    if (!input_->next(element_)) return false;
    std::tie(state_, out) = function_(state_, element_);
    return true;
  }

 private:
  std::unique_ptr<Stream> input_;
  Element state_, element_;
  Caller<Dataset::Scanner> function_;
};

class ScanDataset final : public CallingDataset<Dataset::Scanner> {
 public:
  ScanDataset(const Dataset& input, Element state, Dataset::Scanner function)
      : CallingDataset(input, std::move(function)), state_(std::move(state)) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<ScanStream>(input_->open(iteration), state_, caller(iteration));
  }

 private:
  Element state_;
};

}  // namespace

Dataset Dataset::scan(const TensorList& initial_state, Scanner function) const {
  expect_callable("scan", function);
  expect_values("Dataset.scan", initial_state.vector());
  return made<ScanDataset>(*this, initial_state.vector(), std::move(function));
}

}  // namespace ktape::data
