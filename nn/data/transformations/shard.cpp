#include <ktape/nn/data/transformations/transformation.hpp>

#include <utility>

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
  std::int64_t shards_, passes_;  ///< the number of elements to skip before the next element
};

/// A shard of a stream of rows.
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

}  // namespace

Dataset Dataset::shard(std::int64_t num_shards, std::int64_t index) const {
  expect_at_least("shard", "num_shards", num_shards, 1);
  if (index < 0 || index >= num_shards)
    fail("[Dataset.shard] index must be in [0, num_shards): received num_shards=", num_shards,
         ", index=", index);
  return num_shards == 1 ? *this : made<ShardDataset>(*this, num_shards, index);
}

}  // namespace ktape::data
