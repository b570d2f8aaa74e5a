#include <ktape/nn/data/transformation.hpp>
#include <ktape/ops/random/random.hpp>

#include <omp.h>

#include <algorithm>

/// Datasets that call functions of the user.
namespace ktape::data {

int threads_of(const char* op, int num_parallel_calls) {
  if (num_parallel_calls == AUTOTUNE) return std::max(1, omp_get_num_procs());
  expect_at_least(op, "num_parallel_calls", num_parallel_calls, 1);
  return num_parallel_calls;
}

namespace {

/// A function, with random numbers that follow from how often it has been called.
template <class F>
class Caller {
 public:
  Caller(std::shared_ptr<const F> function, std::uint64_t key) : function_(std::move(function)), key_(key) {}
  auto operator()(const auto&... arguments) {
    return called(*function_, mixed_key(key_, count_++), arguments...);
  }

 private:
  std::shared_ptr<const F> function_;
  std::uint64_t key_, count_ = 0;
};

template <class F>
class CallingDataset : public Transformation {
 public:
  CallingDataset(const Dataset& input, F function)
      : Transformation(input),
        function_(std::make_shared<const F>(std::move(function))),
        key_(random_key_behind(*input_)) {}

 protected:
  std::uint64_t key(std::uint64_t iteration) const { return mixed_key(key_, iteration); }
  Caller<F> caller(std::uint64_t iteration) const { return {function_, key(iteration)}; }

  std::shared_ptr<const F> function_;

 private:
  std::uint64_t key_;
};

// --- map, scan --------------------------------------------------------------------------------------------

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

// --- filter, take_while -----------------------------------------------------------------------------------

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
  std::int64_t cardinality() const override { return unknown_of_some(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<FilterStream>(input_->open(iteration), caller(iteration));
  }
};

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

// --- interleave, flat_map ---------------------------------------------------------------------------------

struct Cycle {
  std::int64_t length, block;
  int threads;  ///< of so many datasets of the cycle, each is read ahead by one
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
        if (++given_ == cycle_.block) go_on();
        return true;
      }
      if (stream) --open_;
      stream.reset();
      go_on();
    }
    return false;
  }

 private:
  /// The dataset of the next element; none at the end.
  std::unique_ptr<Stream> opened() {
    Element element;
    if (!input_->next(element)) return ended_ = true, nullptr;
    std::unique_ptr<Stream> stream = function_(element).shared()->open(iteration_);
    ++open_;
    return cycle_.threads > 1 && at_ < cycle_.threads
               ? read_ahead(std::move(stream), 1, enough_ahead, nullptr, 0)
               : std::move(stream);
  }

  void go_on() {
    given_ = 0;
    ++at_;
    // Places that have never held a dataset will hold none behind the input's end.
    if (at_ == cycle_.length || (ended_ && at_ == std::ssize(streams_))) at_ = 0;
  }

  std::unique_ptr<Stream> input_;
  Cycle cycle_;
  Caller<Dataset::ToDataset> function_;
  std::uint64_t iteration_;
  std::vector<std::unique_ptr<Stream>> streams_;  ///< by place in the cycle
  std::int64_t at_ = 0, given_ = 0, open_ = 0;
  bool ended_ = false;  ///< the input
};

class InterleaveDataset final : public CallingDataset<Dataset::ToDataset> {
 public:
  InterleaveDataset(const Dataset& input, Dataset::ToDataset function, const Cycle& cycle)
      : CallingDataset(input, std::move(function)), cycle_(cycle) {}
  std::int64_t cardinality() const override { return unknown_of_some(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<InterleaveStream>(input_->open(iteration), cycle_, caller(iteration), iteration);
  }

 private:
  Cycle cycle_;
};

template <class F>
void expect_callable(const char* op, const F& function) {
  if (!function) fail("[Dataset.", op, "] the function must be a callable: received none");
}

}  // namespace

Dataset Dataset::map(Function function, const MapOptions& options) const {
  expect_callable("map", function);
  return made<MapDataset>(*this, std::move(function), threads_of("map", options.num_parallel_calls));
}

Dataset Dataset::filter(Predicate predicate) const {
  expect_callable("filter", predicate);
  return made<FilterDataset>(*this, std::move(predicate));
}

Dataset Dataset::take_while(Predicate predicate) const {
  expect_callable("take_while", predicate);
  return made<TakeWhileDataset>(*this, std::move(predicate));
}

Dataset Dataset::scan(const TensorList& initial_state, Scanner function) const {
  expect_callable("scan", function);
  expect_values("Dataset.scan", initial_state.vector());
  return made<ScanDataset>(*this, initial_state.vector(), std::move(function));
}

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

Element Dataset::reduce(const TensorList& initial_state, Reducer function) const {
  expect_callable("reduce", function);
  Element state = initial_state.vector();
  expect_values("Dataset.reduce", state);
  Caller<Reducer> next(std::make_shared<const Reducer>(std::move(function)), random_key_behind(*impl_));
  for (const Element& element : *this) state = next(state, element);
  return state;
}

}  // namespace ktape::data
