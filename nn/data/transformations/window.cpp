#include <ktape/nn/data/transformations/transformation.hpp>

#include <algorithm>
#include <deque>
#include <limits>

namespace ktape::data {
namespace {

struct WindowSize {
  std::int64_t size, shift, stride;
  bool whole;
  /// Returns the distance from a window's first element to the end of its last.
  std::int64_t span() const { return (size - 1) * stride + 1; }
};

class WindowStream final : public Stream {
 public:
  WindowStream(std::unique_ptr<Stream> input, const WindowSize& window)
      : input_(std::move(input)), window_(window) {}

  bool next(Element& out) override {
    for (Element element; !ended_ && std::ssize(ahead_) < window_.span();)
      if (input_->next(element)) ahead_.push_back(element);
      else ended_ = true;
    const std::int64_t there = std::ssize(ahead_);
    if (there == 0 || (window_.whole && there < window_.span())) return false;
    std::vector<Element> elements;
    for (std::int64_t i = 0; i < std::min(there, window_.span()); i += window_.stride)
      elements.push_back(ahead_[static_cast<std::size_t>(i)]);
    out = stacked(elements);
    const std::int64_t passed = std::min(window_.shift, there);
    ahead_.erase(ahead_.begin(), ahead_.begin() + passed);
    input_->skip(window_.shift - passed);
    return true;
  }

 private:
  std::unique_ptr<Stream> input_;
  WindowSize window_;
  std::deque<Element> ahead_;  ///< the elements from the first element of the next window on
  bool ended_ = false;
};

class WindowDataset final : public Transformation {
 public:
  WindowDataset(const Dataset& input, const WindowSize& window) : Transformation(input), window_(window) {}
  std::int64_t cardinality() const override {
    return counted([&](std::int64_t count) {
      if (!window_.whole) return count / window_.shift + (count % window_.shift != 0);
      return count < window_.span() ? 0 : (count - window_.span()) / window_.shift + 1;
    });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<WindowStream>(input_->open(iteration), window_);
  }

 private:
  WindowSize window_;
};

}  // namespace

Dataset Dataset::window(std::int64_t size, const WindowOptions& options) const {
  const WindowSize window{size, options.shift.value_or(size), options.stride, options.drop_remainder};
  if (window.size < 1 || window.shift < 1 || window.stride < 1 ||
      window.size > std::numeric_limits<std::int64_t>::max() / window.stride)
    fail(
        "[Dataset.window] size, shift and stride must be at least 1, and their products 64-bit numbers: "
        "received size=",
        size, ", shift=", window.shift, ", stride=", window.stride);
  return made<WindowDataset>(*this, window);
}

}  // namespace ktape::data
