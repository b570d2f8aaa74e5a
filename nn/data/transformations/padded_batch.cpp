#include <ktape/nn/data/transformations/transformation.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::data {
namespace K = backend;
namespace {

/// Returns the shape that holds the i-th tensor of all elements.
Shape padded_shape(const std::vector<Element>& elements, std::size_t i, const PaddedBatchOptions& options) {
  constexpr const char* op = "Dataset.padded_batch";
  const int rank = elements[0][i].ndim();
  Shape longest = elements[0][i].shape();
  for (const Element& element : elements) {
    if (element[i].ndim() != rank || element[i].dtype() != elements[0][i].dtype())
      fail("[", op, "] elements must have one rank and dtype, ", elements[0][i].dtype(), " of rank ", rank,
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
      fail("[Dataset.padded_batch] elements must have ", count, " tensors, as the first: received ",
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

Dataset Dataset::padded_batch(std::int64_t batch_size, const PaddedBatchOptions& options) const {
  expect_at_least("padded_batch", "batch_size", batch_size, 1);
  return made<PaddedBatchDataset>(*this, batch_size, options);
}

}  // namespace ktape::data
