#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/random.hpp>

#include <algorithm>
#include <mutex>
#include <random>

namespace ktape::data {
namespace K = backend;
namespace {

/// A dataset of the elements of another.
class Transformation : public DatasetImpl {
 public:
  explicit Transformation(const Dataset& input) : input_(input.shared()) {}
  std::int64_t cardinality() const override { return input_->cardinality(); }
  std::uint64_t shard() const override { return input_->shard(); }

 protected:
  /// f(count) of a count that is known.
  template <class F>
  std::int64_t counted(F f) const {
    const std::int64_t count = input_->cardinality();
    return count < 0 ? count : f(count);
  }
  DatasetPointer input_;
};

void expect_at_least(const char* op, const char* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    fail("[Dataset.", op, "] ", name, " must be at least ", least, ": received ", name, '=', value);
}

std::int64_t parts_of(std::int64_t count, std::int64_t size, bool whole) {
  return whole ? count / size : count / size + (count % size != 0);
}

// --- map, filter ------------------------------------------------------------------------------------------

class MapStream final : public Stream {
 public:
  MapStream(std::unique_ptr<Stream> input, std::shared_ptr<const Dataset::Function> function,
            std::uint64_t key)
      : input_(std::move(input)), function_(std::move(function)), key_(key) {}
  bool next(Element& out) override {
    if (!input_->next(element_)) return false;
    out = called(*function_, mixed_key(key_, count_++), element_);
    return true;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::shared_ptr<const Dataset::Function> function_;
  std::uint64_t key_, count_ = 0;
  Element element_;
};

class MapDataset final : public Transformation {
 public:
  MapDataset(const Dataset& input, Dataset::Function function, int threads)
      : Transformation(input),
        function_(std::make_shared<const Dataset::Function>(std::move(function))),
        key_(random_key_behind(*input_)),
        threads_(threads) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    const std::uint64_t key = mixed_key(key_, iteration);
    std::unique_ptr<Stream> input = input_->open(iteration);
    if (threads_ == 1) return std::make_unique<MapStream>(std::move(input), function_, key);
    return read_ahead(std::move(input), threads_, 2 * std::int64_t{threads_}, function_, key);
  }

 private:
  std::shared_ptr<const Dataset::Function> function_;
  std::uint64_t key_;
  int threads_;
};

class FilterStream final : public Stream {
 public:
  FilterStream(std::unique_ptr<Stream> input, std::shared_ptr<const Dataset::Predicate> predicate,
               std::uint64_t key)
      : input_(std::move(input)), predicate_(std::move(predicate)), key_(key) {}
  bool next(Element& out) override {
    bool taken = false;
    const Dataset::Function ask = [&](const Element& element) {
      taken = (*predicate_)(element);
      return Element();
    };
    while (!taken && input_->next(out)) called(ask, mixed_key(key_, count_++), out);
    return taken;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::shared_ptr<const Dataset::Predicate> predicate_;
  std::uint64_t key_, count_ = 0;
};

class FilterDataset final : public Transformation {
 public:
  FilterDataset(const Dataset& input, Dataset::Predicate predicate)
      : Transformation(input),
        predicate_(std::make_shared<const Dataset::Predicate>(std::move(predicate))),
        key_(random_key_behind(*input_)) {}
  std::int64_t cardinality() const override {
    return counted([](std::int64_t count) { return count == 0 ? 0 : std::int64_t{unknown}; });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<FilterStream>(input_->open(iteration), predicate_, mixed_key(key_, iteration));
  }

 private:
  std::shared_ptr<const Dataset::Predicate> predicate_;
  std::uint64_t key_;
};

// --- shuffle ----------------------------------------------------------------------------------------------

/// Things that leave in random order, each drawn from those that wait.
template <class Item>
class ShuffleBuffer {
 public:
  ShuffleBuffer(std::int64_t size, std::uint64_t key) : size_(size), random_(key) {}

  /// The next one. `fetch(item)` gets another to wait, or says that there is none.
  template <class Fetch>
  bool next(Item& out, Fetch fetch) {
    for (Item item; !ended_ && std::ssize(waiting_) < size_;)
      if (fetch(item)) waiting_.push_back(std::move(item));
      else ended_ = true;
    if (waiting_.empty()) return false;
    Item& drawn = waiting_[random_() % waiting_.size()];
    out = std::move(drawn);
    drawn = std::move(waiting_.back());
    waiting_.pop_back();
    return true;
  }

 private:
  std::int64_t size_;
  std::mt19937_64 random_;
  std::vector<Item> waiting_;
  bool ended_ = false;
};

class ShuffleStream final : public Stream {
 public:
  ShuffleStream(std::unique_ptr<Stream> input, std::int64_t size, std::uint64_t key)
      : input_(std::move(input)), buffer_(size, key) {}
  bool next(Element& out) override {
    return buffer_.next(out, [&](Element& element) { return input_->next(element); });
  }

 private:
  std::unique_ptr<Stream> input_;
  ShuffleBuffer<Element> buffer_;
};

/// The same of rows: their numbers are shuffled.
class RowShuffleStream final : public RowStream {
 public:
  RowShuffleStream(std::unique_ptr<RowStream> input, std::int64_t size, std::uint64_t key)
      : RowStream(input->tensors()), input_(std::move(input)), buffer_(size, key) {}
  bool next_row(std::int64_t& row) override {
    return buffer_.next(row, [&](std::int64_t& waiting) { return input_->next_row(waiting); });
  }

 private:
  std::unique_ptr<RowStream> input_;
  ShuffleBuffer<std::int64_t> buffer_;
};

class ShuffleDataset final : public Transformation {
 public:
  ShuffleDataset(const Dataset& input, std::int64_t size, const ShuffleOptions& options)
      : Transformation(input),
        size_(size),
        key_(random_key_behind(*input_, options.seed)),
        again_(options.reshuffle_each_iteration) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    const std::uint64_t key = again_ ? mixed_key(key_, iteration) : key_;
    std::unique_ptr<Stream> input = input_->open(iteration);
    if (auto* rows = dynamic_cast<RowStream*>(input.get())) {
      input.release();
      return std::make_unique<RowShuffleStream>(std::unique_ptr<RowStream>(rows), size_, key);
    }
    return std::make_unique<ShuffleStream>(std::move(input), size_, key);
  }

 private:
  std::int64_t size_;
  std::uint64_t key_;
  bool again_;
};

// --- shard, take, skip, cache -----------------------------------------------------------------------------

class ShardStream final : public Stream {
 public:
  ShardStream(std::unique_ptr<Stream> input, std::int64_t shards, std::int64_t index)
      : input_(std::move(input)), shards_(shards), passes_(index) {}
  bool next(Element& out) override {
    input_->skip(std::exchange(passes_, shards_ - 1));
    return input_->next(out);
  }

 private:
  std::unique_ptr<Stream> input_;
  std::int64_t shards_, passes_;  ///< elements to pass over before the next
};

/// The same of rows.
class RowShardStream final : public RowStream {
 public:
  RowShardStream(std::unique_ptr<RowStream> input, std::int64_t shards, std::int64_t index)
      : RowStream(input->tensors()), input_(std::move(input)), shards_(shards), passes_(index) {}
  bool next_row(std::int64_t& row) override {
    input_->skip(std::exchange(passes_, shards_ - 1));
    return input_->next_row(row);
  }

 private:
  std::unique_ptr<RowStream> input_;
  std::int64_t shards_, passes_;
};

class ShardDataset final : public Transformation {
 public:
  ShardDataset(const Dataset& input, std::int64_t shards, std::int64_t index)
      : Transformation(input), shards_(shards), index_(index) {}
  std::int64_t cardinality() const override {
    return counted([&](std::int64_t count) { return count / shards_ + (index_ < count % shards_); });
  }
  std::uint64_t shard() const override {
    return input_->shard() * static_cast<std::uint64_t>(shards_) + static_cast<std::uint64_t>(index_);
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    std::unique_ptr<Stream> input = input_->open(iteration);
    if (auto* rows = dynamic_cast<RowStream*>(input.get())) {
      input.release();
      return std::make_unique<RowShardStream>(std::unique_ptr<RowStream>(rows), shards_, index_);
    }
    return std::make_unique<ShardStream>(std::move(input), shards_, index_);
  }

 private:
  std::int64_t shards_, index_;
};

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

/// What has been read once, for all who read it.
struct CachedElements {
  std::mutex mutex;
  std::shared_ptr<const std::vector<Element>> elements;
};

class CachedStream final : public Stream {
 public:
  explicit CachedStream(std::shared_ptr<const std::vector<Element>> elements)
      : elements_(std::move(elements)) {}
  bool next(Element& out) override {
    if (at_ == elements_->size()) return false;
    out = (*elements_)[at_++];
    return true;
  }

 private:
  std::shared_ptr<const std::vector<Element>> elements_;
  std::size_t at_ = 0;
};

class CachingStream final : public Stream {
 public:
  CachingStream(std::unique_ptr<Stream> input, std::shared_ptr<CachedElements> cache)
      : input_(std::move(input)), cache_(std::move(cache)) {}
  bool next(Element& out) override {
    if (!cache_) return false;
    if (input_->next(out)) return elements_.push_back(out), true;
    const std::lock_guard lock(cache_->mutex);
    if (!cache_->elements)
      cache_->elements = std::make_shared<const std::vector<Element>>(std::move(elements_));
    cache_.reset();
    return false;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::shared_ptr<CachedElements> cache_;  ///< none at the end
  std::vector<Element> elements_;
};

class CacheDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    {
      const std::lock_guard lock(cache_->mutex);
      if (cache_->elements) return std::make_unique<CachedStream>(cache_->elements);
    }
    return std::make_unique<CachingStream>(input_->open(iteration), cache_);
  }

 private:
  std::shared_ptr<CachedElements> cache_ = std::make_shared<CachedElements>();
};

// --- batch, unbatch ---------------------------------------------------------------------------------------

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
    return counted([&](std::int64_t count) { return parts_of(count, size_, whole_); });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<BatchStream>(input_->open(iteration), size_, whole_);
  }

 private:
  std::int64_t size_;
  bool whole_;
};

class UnbatchStream final : public Stream {
 public:
  explicit UnbatchStream(std::unique_ptr<Stream> input) : input_(std::move(input)) {}
  bool next(Element& out) override {
    if (!more()) return false;
    out = sliced_rows(batch_, at_, at_ + 1);
    for (Tensor& x : out) x = x.alias(Shape(x.shape().begin() + 1, x.ndim() - 1));
    ++at_;
    return true;
  }

 private:
  bool more() {
    while (at_ == rows_) {
      if (!input_->next(batch_)) return false;
      rows_ = expect_rows("Dataset.unbatch", batch_);
      at_ = 0;
    }
    return true;
  }

  std::unique_ptr<Stream> input_;
  Element batch_;
  std::int64_t at_ = 0, rows_ = 0;
};

class UnbatchDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::int64_t cardinality() const override {
    return counted([](std::int64_t count) { return count == 0 ? 0 : std::int64_t{unknown}; });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<UnbatchStream>(input_->open(iteration));
  }
};

class PrefetchDataset final : public Transformation {
 public:
  PrefetchDataset(const Dataset& input, std::int64_t size) : Transformation(input), size_(size) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return read_ahead(input_->open(iteration), 1, size_, nullptr, 0);
  }

 private:
  std::int64_t size_;
};

}  // namespace

Dataset Dataset::map(Function function, const MapOptions& options) const {
  if (!function) fail("[Dataset.map] the function must be a callable: received none");
  expect_at_least("map", "num_parallel_calls", options.num_parallel_calls, 1);
  return made<MapDataset>(*this, std::move(function), options.num_parallel_calls);
}

Dataset Dataset::filter(Predicate predicate) const {
  if (!predicate) fail("[Dataset.filter] the predicate must be a callable: received none");
  return made<FilterDataset>(*this, std::move(predicate));
}

Dataset Dataset::shuffle(std::int64_t buffer_size, const ShuffleOptions& options) const {
  expect_at_least("shuffle", "buffer_size", buffer_size, 1);
  return made<ShuffleDataset>(*this, buffer_size, options);
}

Dataset Dataset::batch(std::int64_t batch_size, const BatchOptions& options) const {
  expect_at_least("batch", "batch_size", batch_size, 1);
  return made<BatchDataset>(*this, batch_size, options.drop_remainder);
}

Dataset Dataset::unbatch() const { return made<UnbatchDataset>(*this); }

Dataset Dataset::shard(std::int64_t num_shards, std::int64_t index) const {
  expect_at_least("shard", "num_shards", num_shards, 1);
  if (index < 0 || index >= num_shards)
    fail("[Dataset.shard] index must be in [0, num_shards): received num_shards=", num_shards,
         ", index=", index);
  return num_shards == 1 ? *this : made<ShardDataset>(*this, num_shards, index);
}

Dataset Dataset::take(std::int64_t count) const {
  expect_at_least("take", "count", count, -1);
  return count == -1 ? *this : made<TakeDataset>(*this, count);
}

Dataset Dataset::skip(std::int64_t count) const {
  expect_at_least("skip", "count", count, -1);
  return count == -1 ? take(0) : made<SkipDataset>(*this, count);
}

Dataset Dataset::cache() const { return made<CacheDataset>(*this); }

Dataset Dataset::prefetch(std::int64_t buffer_size) const {
  expect_at_least("prefetch", "buffer_size", buffer_size, 1);
  return made<PrefetchDataset>(*this, buffer_size);
}

}  // namespace ktape::data
