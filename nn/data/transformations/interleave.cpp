#include <ktape/nn/data/internal/read_ahead.hpp>
#include <ktape/nn/data/transformations/calling.hpp>

namespace ktape::data {
namespace {

struct Cycle {
  std::int64_t length, block;
  int threads;  ///< the first `threads` datasets of a cycle are read ahead by a thread each
};

class InterleaveStream final : public Stream {
 public:
  InterleaveStream(std::unique_ptr<Stream> input, const Cycle& cycle, Caller<Dataset::ToDataset> function,
                   std::uint64_t iteration)
      : input_(std::move(input)), cycle_(cycle), function_(std::move(function)), iteration_(iteration) {}

  bool next(Element& out) override {
    while (!ended_ || open_ > 0) {
      if (at_ == std::ssize(streams_)) streams_.emplace_back();
      std::unique_ptr<Stream>& stream = streams_[static_cast<std::size_t>(at_)];
      if (!stream && !ended_) stream = opened();
      if (stream && stream->next(out)) {
        if (++given_ == cycle_.block) next_slot();
        return true;
      }
      if (stream) --open_;
      stream.reset();
      next_slot();
    }
    return false;
  }

 private:
  /// Opens the dataset of the next element; null at the end.
  std::unique_ptr<Stream> opened() {
    Element element;
    if (!input_->next(element)) return ended_ = true, nullptr;
    std::unique_ptr<Stream> stream = function_(element).shared()->open(iteration_);
    ++open_;
    return cycle_.threads > 1 && at_ < cycle_.threads
               ? read_ahead(std::move(stream), 1, autotune_ahead, nullptr, 0)
               : std::move(stream);
  }

  void next_slot() {
    given_ = 0;
    ++at_;
    // After the end of whether the input has ended, no dataset is opened for further slots of the cycle.
    if (at_ == cycle_.length || (ended_ && at_ == std::ssize(streams_))) at_ = 0;
  }

  std::unique_ptr<Stream> input_;
  Cycle cycle_;
  Caller<Dataset::ToDataset> function_;
  std::uint64_t iteration_;
  std::vector<std::unique_ptr<Stream>> streams_;  ///< the open stream of each slot; null for an empty slot
  std::int64_t at_ = 0, given_ = 0, open_ = 0;
  bool ended_ = false;  ///< the input
};

class InterleaveDataset final : public CallingDataset<Dataset::ToDataset> {
 public:
  InterleaveDataset(const Dataset& input, Dataset::ToDataset function, const Cycle& cycle)
      : CallingDataset(input, std::move(function)), cycle_(cycle) {}
  std::int64_t cardinality() const override { return empty_or_unknown(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<InterleaveStream>(input_->open(iteration), cycle_, caller(iteration), iteration);
  }

 private:
  Cycle cycle_;
};

}  // namespace

Dataset Dataset::flat_map(ToDataset function) const {
  expect_callable("flat_map", function);
  return made<InterleaveDataset>(*this, std::move(function), Cycle{1, 1, 1});
}

Dataset Dataset::interleave(ToDataset function, const InterleaveOptions& options) const {
  expect_callable("interleave", function);
  expect_at_least("interleave", "cycle_length", options.cycle_length, 1);
  expect_at_least("interleave", "block_length", options.block_length, 1);
  const int threads = threads_of("interleave", options.num_parallel_calls);
  return made<InterleaveDataset>(*this, std::move(function),
                                 Cycle{options.cycle_length, options.block_length, threads});
}

}  // namespace ktape::data
