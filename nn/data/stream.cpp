#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/shape.hpp>

#include <cstring>

namespace ktape::data {
namespace K = backend;
namespace {

std::size_t row_bytes(const Tensor& x) {
  return static_cast<std::size_t>(x.shape().count(1)) * x.dtype().size();
}

Tensor empty_rows(const Tensor& x, std::int64_t rows) {
  Shape shape = x.shape();
  shape[0] = rows;
  return Tensor::empty(shape, x.dtype());
}

void copy_rows(const Tensor& from, std::int64_t first, const Tensor& to, std::int64_t at,
               std::int64_t count) {
  const std::size_t bytes = row_bytes(from);
  if (bytes > 0 && count > 0)
    std::memcpy(static_cast<char*>(to.raw()) + static_cast<std::size_t>(at) * bytes,
                static_cast<const char*>(from.raw()) + static_cast<std::size_t>(first) * bytes,
                static_cast<std::size_t>(count) * bytes);
}

/// A batch to which elements are added one after another, along a new first axis.
class Stack {
 public:
  explicit Stack(std::int64_t most) : most_(most) {}

  void add(const Element& element) {
    if (count_ == 0) begin(element);
    if (element.size() != tensors_.size())
      fail("[Dataset.batch] elements must have ", tensors_.size(), " tensors, as the first: received ",
           element.size());
    expect_same_names("Dataset.batch", tensors_, element);
    for (std::size_t i = 0; i < element.size(); ++i) {
      const Tensor& x = element[i];
      if (x.shape() != shapes_[i] || x.dtype() != tensors_[i].dtype())
        fail("[Dataset.batch] elements must have one dtype and shape, ", tensors_[i].dtype(), " of shape ",
             shapes_[i], ": received ", x.dtype(), " of shape ", x.shape(), "; see padded_batch");
      const std::size_t bytes = static_cast<std::size_t>(x.size()) * x.dtype().size();
      if (bytes > 0)
        std::memcpy(static_cast<char*>(tensors_[i].raw()) + static_cast<std::size_t>(count_) * bytes, x.raw(),
                    bytes);
    }
    ++count_;
  }

  /// Moves the elements that were added, at least one, to `out` and returns their number.
  std::int64_t finish(Element& out) {
    out = count_ < most_ ? sliced_rows(tensors_, 0, count_) : std::move(tensors_);
    return count_;
  }
  std::int64_t count() const { return count_; }

 private:
  void begin(const Element& element) {
    expect_values("Dataset.batch", element);
    for (const Tensor& x : element) {
      Shape shape = x.shape();
      shapes_.push_back(shape);
      shape.insert(0, most_);
      tensors_.push_back(Tensor::empty(shape, x.dtype()));
    }
    tensors_.take_names(element);
  }

  std::int64_t most_, count_ = 0;
  std::vector<Shape> shapes_;
  Element tensors_;
};

}  // namespace

std::int64_t Stream::next_batch(std::int64_t n, Element& out) {
  // The size of a batch may be far above the number of elements, so its memory grows with the elements.
  constexpr std::int64_t at_once = 4096;
  std::vector<Element> parts;
  std::int64_t count = 0;
  for (Element element; count < n;) {
    Stack stack(std::min(n - count, at_once));
    while (stack.count() < std::min(n - count, at_once) && next(element)) stack.add(element);
    if (stack.count() == 0) break;
    const std::int64_t added = stack.finish(parts.emplace_back());
    count += added;
    if (added < at_once) break;
  }
  if (count > 0) out = joined(parts);
  return count;
}

void Stream::skip(std::int64_t n) {
  for (Element passed; n > 0 && next(passed); --n) {
  }
}

bool RowStream::next(Element& out) {
  std::int64_t row = 0;
  if (!next_row(row)) return false;
  out.resize(tensors_->size());
  out.take_names(*tensors_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Tensor& x = (*tensors_)[i];
    out[i] = Tensor::empty(Shape(x.shape().begin() + 1, x.ndim() - 1), x.dtype());
    if (const std::size_t bytes = row_bytes(x))
      std::memcpy(out[i].raw(), static_cast<const char*>(x.raw()) + static_cast<std::size_t>(row) * bytes,
                  bytes);
  }
  return true;
}

std::int64_t RowStream::next_batch(std::int64_t n, Element& out) {
  chosen_.clear();
  for (std::int64_t row = 0; std::ssize(chosen_) < n && next_row(row);) chosen_.push_back(row);
  if (!chosen_.empty()) out = gathered_rows(*tensors_, chosen_);
  return std::ssize(chosen_);
}

void RowStream::skip(std::int64_t n) {
  for (std::int64_t row = 0; n > 0 && next_row(row); --n) {
  }
}

std::uint64_t DatasetImpl::next_iteration(std::uint64_t least) const {
  std::uint64_t now = iterations_.load(std::memory_order_relaxed);
  while (!iterations_.compare_exchange_weak(now, std::max(now, least) + 1)) {
  }
  return std::max(now, least);
}

std::uint64_t derived_key(std::uint64_t key, std::uint64_t n) {
  return K::random_key(static_cast<std::int64_t>(key ^ n * 0x9e3779b97f4a7c15));
}

std::uint64_t transformation_key(const DatasetImpl& input, std::optional<std::int64_t> seed) {
  const std::uint64_t key = K::random_key(seed);
  return input.shard() == 0 ? key : derived_key(key, input.shard());
}

void expect_values(const char* op, const Element& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) fail("[", op, "] tensor ", i, " must be a tensor: received None");
    expect_value(op, tensors[i]);
  }
}

void expect_same_names(const char* op, const Element& element, const Element& other) {
  if (element.has_names_of(other)) return;
  fail("[", op, "] elements must have the same names in the same order, ", in_quotes(element.names()),
       ": received ", in_quotes(other.names()));
}

std::int64_t expect_rows(const char* op, const Element& tensors) {
  if (tensors.empty()) fail("[", op, "] there must be tensors: received none");
  expect_values(op, tensors);
  for (const Tensor& x : tensors) {
    if (x.ndim() == 0) fail("[", op, "] tensors must have an axis of rows: received a scalar");
    if (x.shape()[0] != tensors[0].shape()[0])
      fail("[", op, "] all tensors must have the number of rows of the first, ", tensors[0].shape()[0],
           ": received the shape ", x.shape());
  }
  return tensors[0].shape()[0];
}

Element gathered_rows(const Element& tensors, const std::vector<std::int64_t>& rows) {
  Element out;
  out.reserve(tensors.size());
  const std::int64_t count = std::ssize(rows);
  for (const Tensor& x : tensors) {
    const Tensor& to = out.emplace_back(empty_rows(x, count));
    for (std::int64_t at = 0, end; at < count; at = end) {  // neighbouring rows are copied at once
      for (end = at + 1; end < count && rows[end] == rows[end - 1] + 1;) ++end;
      copy_rows(x, rows[at], to, at, end - at);
    }
  }
  out.take_names(tensors);
  return out;
}

Element sliced_rows(const Element& tensors, std::int64_t first, std::int64_t last) {
  Element out;
  out.reserve(tensors.size());
  for (const Tensor& x : tensors)
    copy_rows(x, first, out.emplace_back(empty_rows(x, last - first)), 0, last - first);
  out.take_names(tensors);
  return out;
}

Element stacked(const std::vector<Element>& elements) {
  Stack stack(std::ssize(elements));
  for (const Element& element : elements) stack.add(element);
  Element out;
  stack.finish(out);
  return out;
}

Element joined(const std::vector<Element>& parts) {
  if (parts.size() == 1) return parts[0];
  Element out;
  for (std::size_t i = 0; i < parts[0].size(); ++i) {
    std::vector<Tensor> tensors;
    for (const Element& part : parts) {
      if (part.size() != parts[0].size())
        fail("[Dataset.batch] elements must have ", parts[0].size(), " tensors, as the first: received ",
             part.size());
      expect_same_names("Dataset.batch", parts[0], part);
      tensors.push_back(part[i]);
    }
    out.push_back(K::concatenate(tensors, 0));
  }
  out.take_names(parts[0]);
  return out;
}

}  // namespace ktape::data
