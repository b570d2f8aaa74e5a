#include <ktape/nn/data/internal/read_ahead.hpp>
#include <ktape/nn/data/transformations/calling.hpp>

namespace ktape::data {
namespace {

class MapStream final : public Stream {
 public:
  MapStream(std::unique_ptr<Stream> input, Caller<Dataset::Function> function)
      : input_(std::move(input)), function_(std::move(function)) {}
  bool next(Element& out) override {
    if (!input_->next(element_)) return false;
    out = function_(element_);
    return true;
  }

 private:
  std::unique_ptr<Stream> input_;
  Caller<Dataset::Function> function_;
  Element element_;
};

class MapDataset final : public CallingDataset<Dataset::Function> {
 public:
  MapDataset(const Dataset& input, Dataset::Function function, int threads)
      : CallingDataset(input, std::move(function)), threads_(threads) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    std::unique_ptr<Stream> input = input_->open(iteration);
    if (threads_ == 1) return std::make_unique<MapStream>(std::move(input), caller(iteration));
    return read_ahead(std::move(input), threads_, 2 * std::int64_t{threads_}, function_, key(iteration));
  }

 private:
  int threads_;
};

}  // namespace

Dataset Dataset::map(Function function, const MapOptions& options) const {
  expect_callable("map", function);
  return made<MapDataset>(*this, std::move(function), threads_of("map", options.num_parallel_calls));
}

}  // namespace ktape::data
