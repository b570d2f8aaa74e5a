#include <ktape/nn/data/transformation.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

/// Datasets of some of the elements: take, skip, shard, unique.
namespace ktape::data {
namespace {

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

/// What makes elements differ: dtypes, shapes and numbers.
std::string identity_of(const Element& element) {
  std::string identity;
  for (const Tensor& x : element) {
    identity += x.dtype().name();
    for (const std::int64_t extent : x.shape()) identity += '/' + std::to_string(extent);
    identity += ':';
    identity.append(static_cast<const char*>(x.raw()), static_cast<std::size_t>(x.size()) * x.dtype().size());
  }
  return identity;
}

class UniqueStream final : public Stream {
 public:
  explicit UniqueStream(std::unique_ptr<Stream> input) : input_(std::move(input)) {}
  bool next(Element& out) override {
    while (input_->next(out)) {
      expect_values("Dataset.unique", out);
      if (seen_.insert(identity_of(out)).second) return true;
    }
    return false;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::unordered_set<std::string> seen_;
};

class UniqueDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::int64_t cardinality() const override { return unknown_of_some(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<UniqueStream>(input_->open(iteration));
  }
};

}  // namespace

Dataset Dataset::unique() const { return made<UniqueDataset>(*this); }

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

}  // namespace ktape::data
