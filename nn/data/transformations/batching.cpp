#include <ktape/nn/data/transformation.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <deque>
#include <limits>

namespace ktape::data {
namespace K = backend;
namespace {

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
    return counted(
        [&](std::int64_t count) { return whole_ ? count / size_ : count / size_ + (count % size_ != 0); });
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
  std::int64_t cardinality() const override { return unknown_of_some(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<UnbatchStream>(input_->open(iteration));
  }
};

// --- window -----------------------------------------------------------------------------------------------

struct WindowSize {
  std::int64_t size, shift, stride;
  bool whole;
  /// From a window's first element past its last.
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
  std::deque<Element> ahead_;  ///< from the next window's first on
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

// --- padded_batch -----------------------------------------------------------------------------------------

/// The shape that holds the i-th tensor of all elements.
Shape padded_shape(const std::vector<Element>& elements, std::size_t i, const PaddedBatchOptions& options) {
  constexpr const char* op = "Dataset.padded_batch";
  const int rank = elements[0][i].ndim();
  Shape longest = elements[0][i].shape();
  for (const Element& element : elements) {
    if (element[i].ndim() != rank || element[i].dtype() != elements[0][i].dtype())
      fail("[", op, "] elements must be alike in rank and dtype, ", elements[0][i].dtype(), " of rank ", rank,
           ": received ", element[i].dtype(), " of shape ", element[i].shape());
    for (int d = 0; d < rank; ++d) longest[d] = std::max(longest[d], element[i].shape()[d]);
  }
  if (options.padded_shapes.empty()) return longest;
  if (i >= options.padded_shapes.size() || options.padded_shapes[i].rank() != rank)
    fail("[", op, "] padded_shapes must have one shape for each tensor, with its rank: received ",
         options.padded_shapes.size(), " shapes for tensor ", i, " of rank ", rank);
  Shape shape = options.padded_shapes[i];
  for (int d = 0; d < rank; ++d) {
    if (shape[d] == None) shape[d] = longest[d];
    if (shape[d] < longest[d])
      fail("[", op, "] padded_shapes must hold every element: received ", shape, " for an element of extent ",
           longest[d], " on axis ", d);
  }
  return shape;
}

Element padded(const std::vector<Element>& elements, const PaddedBatchOptions& options) {
  const std::size_t count = elements[0].size();
  for (const Element& element : elements) {
    if (element.size() != count)
      fail("[Dataset.padded_batch] elements must have as many tensors, ", count, ": received ",
           element.size());
    expect_same_names("Dataset.padded_batch", elements[0], element);
    expect_values("Dataset.padded_batch", element);
  }
  const std::vector<Scalar>& values = options.padding_values;
  if (values.size() > 1 && values.size() != count)
    fail("[Dataset.padded_batch] padding_values must have one value, or one for each of the ", count,
         " tensors: received ", values.size());
  Element out;
  for (std::size_t i = 0; i < count; ++i) {
    const Scalar value = values.empty() ? Scalar(0) : values[values.size() == 1 ? 0 : i];
    const Shape shape = padded_shape(elements, i, options);
    std::vector<Tensor> rows;
    for (const Element& element : elements) {
      std::vector<K::PaddingPair> pairs;
      for (int d = 0; d < shape.rank(); ++d) pairs.push_back({0, shape[d] - element[i].shape()[d]});
      const bool fits = element[i].shape() == shape;
      rows.push_back(fits ? element[i] : K::pad(element[i], pairs, {.constant_values = value}));
    }
    out.push_back(K::stack(rows));
  }
  out.take_names(elements[0]);
  return out;
}

class PaddedBatchStream final : public Stream {
 public:
  PaddedBatchStream(std::unique_ptr<Stream> input, std::int64_t size, const PaddedBatchOptions& options)
      : input_(std::move(input)), size_(size), options_(options) {}
  bool next(Element& out) override {
    std::vector<Element> elements;
    for (Element element; std::ssize(elements) < size_ && !ended_;)
      if (input_->next(element)) elements.push_back(element);
      else ended_ = true;
    if (elements.empty() || (options_.drop_remainder && ended_)) return false;
    out = padded(elements, options_);
    return true;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::int64_t size_;
  PaddedBatchOptions options_;
  bool ended_ = false;
};

class PaddedBatchDataset final : public Transformation {
 public:
  PaddedBatchDataset(const Dataset& input, std::int64_t size, const PaddedBatchOptions& options)
      : Transformation(input), size_(size), options_(options) {}
  std::int64_t cardinality() const override {
    return counted(
        [&](std::int64_t count) { return count / size_ + (count % size_ != 0 && !options_.drop_remainder); });
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<PaddedBatchStream>(input_->open(iteration), size_, options_);
  }

 private:
  std::int64_t size_;
  PaddedBatchOptions options_;
};

}  // namespace

Dataset Dataset::batch(std::int64_t batch_size, const BatchOptions& options) const {
  expect_at_least("batch", "batch_size", batch_size, 1);
  return made<BatchDataset>(*this, batch_size, options.drop_remainder);
}

Dataset Dataset::unbatch() const { return made<UnbatchDataset>(*this); }

Dataset Dataset::padded_batch(std::int64_t batch_size, const PaddedBatchOptions& options) const {
  expect_at_least("padded_batch", "batch_size", batch_size, 1);
  return made<PaddedBatchDataset>(*this, batch_size, options);
}

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
