#include <ktape/nn/data/transformations/transformation.hpp>

#include <random>

namespace ktape::data {
namespace {

/// A shuffle buffer: `next` returns a random waiting item and refills its place.
template <class Item>
class ShuffleBuffer {
 public:
  ShuffleBuffer(std::int64_t size, std::uint64_t key) : size_(size), random_(key) {}

  /// Sets `out` to the next item; returns false at the end. `fetch(item)` reads another item for the buffer;
  /// false if there is none.
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

/// Shuffles the numbers of rows, so that rows are copied once.
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
        key_(transformation_key(*input_, options.seed)),
        again_(options.reshuffle_each_iteration) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    const std::uint64_t key = again_ ? derived_key(key_, iteration) : key_;
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

}  // namespace

Dataset Dataset::shuffle(std::int64_t buffer_size, const ShuffleOptions& options) const {
  expect_at_least("shuffle", "buffer_size", buffer_size, 1);
  return made<ShuffleDataset>(*this, buffer_size, options);
}

}  // namespace ktape::data
