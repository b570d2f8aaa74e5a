#pragma once
#include <ktape/nn/data/stream.hpp>

#include <functional>
#include <optional>

namespace ktape::data {

/// A stream of `count` streams, or of infinitely many, one after another. Each is opened when the previous
/// stream ends.
class SequenceStream final : public Stream {
 public:
  using Open = std::function<std::unique_ptr<Stream>(std::int64_t)>;
  SequenceStream(std::optional<std::int64_t> count, Open open) : count_(count), open_(std::move(open)) {}

  bool next(Element& out) override {
    return first_stream_with([&] { return stream_->next(out); });
  }
  std::int64_t next_batch(std::int64_t n, Element& out) override {
    std::vector<Element> parts;
    std::int64_t left = n;
    while (left > 0) {
      Element part;
      std::int64_t count = 0;
      if (!first_stream_with([&] { return (count = stream_->next_batch(left, part)) > 0; })) break;
      parts.push_back(std::move(part));
      left -= count;
    }
    if (left < n) out = joined(parts);
    return n - left;
  }

 private:
  /// Calls f on one stream after another until f returns true.
  template <class F>
  bool first_stream_with(F f) {
    for (;;) {
      if (!stream_) {
        if (count_ && opened_ == *count_) return false;
        stream_ = open_(opened_++);
        found_ = false;
      }
      if (f()) return found_ = true;
      stream_.reset();
      // Repeating an empty dataset would loop forever.
      if (!count_ && !found_) count_ = opened_;
    }
  }

  std::optional<std::int64_t> count_;
  Open open_;
  std::unique_ptr<Stream> stream_;
  std::int64_t opened_ = 0;
  bool found_ = false;
};

}  // namespace ktape::data
