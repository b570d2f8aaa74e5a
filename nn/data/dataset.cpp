#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/random/random.hpp>

#include <algorithm>
#include <limits>
#include <random>

namespace ktape::data {
namespace K = backend;
namespace {

Tensor whole(std::int64_t number) {
  const Tensor out = Tensor::empty({}, DType::Int64);
  *out.pointer<std::int64_t>() = number;
  return out;
}

// --- Sources ----------------------------------------------------------------------------------------------

class SliceStream final : public RowStream {
 public:
  SliceStream(std::shared_ptr<const Element> tensors, std::int64_t rows)
      : RowStream(std::move(tensors)), rows_(rows) {}
  bool next_row(std::int64_t& row) override {
    row = at_;
    return at_ < rows_ ? ++at_, true : false;
  }
  void skip(std::int64_t n) override { at_ += std::min(n, rows_ - at_); }

 private:
  std::int64_t rows_, at_ = 0;
};

class Slices final : public DatasetImpl {
 public:
  Slices(Element tensors, std::int64_t rows)
      : tensors_(std::make_shared<const Element>(std::move(tensors))), rows_(rows) {}
  std::unique_ptr<Stream> open(std::uint64_t) const override {
    return std::make_unique<SliceStream>(tensors_, rows_);
  }
  std::int64_t cardinality() const override { return rows_; }

 private:
  std::shared_ptr<const Element> tensors_;
  std::int64_t rows_;
};

/// A dataset whose element `index`, below `count`, is made by f(index, out).
template <class F>
class Counted final : public DatasetImpl {
 public:
  Counted(std::int64_t count, F f) : count_(count), f_(std::move(f)) {}
  std::int64_t cardinality() const override { return count_; }
  std::unique_ptr<Stream> open(std::uint64_t) const override { return std::make_unique<Reading>(*this); }

 private:
  class Reading final : public Stream {
   public:
    explicit Reading(const Counted& set) : left_(set.count_), f_(set.f_) {}
    bool next(Element& out) override {
      if (left_ == 0) return false;
      --left_;
      f_(at_++, out);
      return true;
    }
    void skip(std::int64_t n) override {
      at_ += std::min(n, left_);
      left_ -= std::min(n, left_);
    }

   private:
    std::int64_t at_ = 0, left_;
    F f_;
  };

  std::int64_t count_;
  F f_;
};

class Generated final : public DatasetImpl {
 public:
  explicit Generated(Dataset::Generator generator)
      : generator_(std::move(generator)), key_(K::random_key()) {}
  std::int64_t cardinality() const override { return unknown; }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<Reading>(generator_, derived_key(key_, iteration));
  }

 private:
  class Reading final : public Stream {
   public:
    Reading(Dataset::Generator generator, std::uint64_t key) : generator_(std::move(generator)), key_(key) {}
    bool next(Element& out) override {
      if (ended_) return false;
      ended_ = true;  // also when the generator throws
      const auto call = [&] {
        std::optional<Element> made = generator_();
        ended_ = !made;
        return std::move(made).value_or(Element());
      };
      out = called(call, derived_key(key_, count_++));
      if (!ended_) expect_values("Dataset.from_generator", out);
      return !ended_;
    }

   private:
    Dataset::Generator generator_;
    std::uint64_t key_, count_ = 0;
    bool ended_ = false;
  };

  Dataset::Generator generator_;
  std::uint64_t key_;
};

/// The integers start, start + 1, ... without an end.
class CountingUp final : public DatasetImpl {
 public:
  explicit CountingUp(std::int64_t start) : start_(start) {}
  std::int64_t cardinality() const override { return endless; }
  std::unique_ptr<Stream> open(std::uint64_t) const override { return std::make_unique<Reading>(start_); }

 private:
  class Reading final : public Stream {
   public:
    explicit Reading(std::int64_t start) : at_(start) {}
    bool next(Element& out) override { return out = {whole(at_++)}, true; }
    void skip(std::int64_t n) override { at_ += n; }

   private:
    std::int64_t at_;
  };

  std::int64_t start_;
};

class RandomNumbers final : public DatasetImpl {
 public:
  explicit RandomNumbers(const RandomOptions& options)
      : key_(K::random_key(options.seed)), again_(options.rerandomize_each_iteration) {}
  std::int64_t cardinality() const override { return endless; }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<Reading>(again_ ? derived_key(key_, iteration) : key_);
  }

 private:
  class Reading final : public Stream {
   public:
    explicit Reading(std::uint64_t key) : random_(key) {}
    bool next(Element& out) override {
      out = {whole(static_cast<std::int64_t>(random_() >> 32))};
      return true;
    }

   private:
    std::mt19937_64 random_;
  };

  std::uint64_t key_;
  bool again_;
};

}  // namespace

// --- Dataset ----------------------------------------------------------------------------------------------

Dataset Dataset::from_tensor_slices(const Element& x, const Element& y, const Element& sample_weight) {
  return from_tensor_slices(Element::of_parts({x, y, sample_weight}));
}

Dataset Dataset::from_tensor_slices(const Element& tensors) {
  Element rows = tensors;
  const std::int64_t count = expect_rows("Dataset.from_tensor_slices", rows);
  for (Tensor& x : rows) x = x.detach();
  return made<Slices>(std::move(rows), count);
}

Dataset Dataset::from_tensors(const Element& tensors) {
  Element element = tensors;
  expect_values("Dataset.from_tensors", element);
  for (Tensor& x : element) x = x.detach();
  const auto copy = [element](std::int64_t, Element& out) { out = element; };
  return made<Counted<decltype(copy)>>(1, copy);
}

Dataset Dataset::from_generator(Generator generator) {
  if (!generator) fail("[Dataset.from_generator] the generator must be a callable: received none");
  return made<Generated>(std::move(generator));
}

Dataset Dataset::range(std::int64_t stop) { return range(0, stop); }

Dataset Dataset::range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) fail("[Dataset.range] step must not be 0: received step=0");
  // Unsigned numbers hold every distance of two int64 numbers.
  const auto distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const auto width = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const bool any = step > 0 ? start < stop : start > stop;
  const std::uint64_t count = any ? (distance - 1) / width + 1 : 0;
  if (count >= std::uint64_t{1} << 63)
    fail("[Dataset.range] there must be fewer than 2^63 numbers: received start=", start, ", stop=", stop);
  const auto number = [start, step](std::int64_t i, Element& out) { out = {whole(start + i * step)}; };
  return made<Counted<decltype(number)>>(static_cast<std::int64_t>(count), number);
}

Dataset Dataset::random(const RandomOptions& options) { return made<RandomNumbers>(options); }

Dataset Dataset::enumerate(std::int64_t start) const { return zip({made<CountingUp>(start), *this}); }

std::optional<std::int64_t> Dataset::cardinality() const {
  const std::int64_t count = impl_->cardinality();
  return count < 0 ? std::nullopt : std::optional(count);
}

bool Dataset::infinite() const { return impl_->cardinality() == DatasetImpl::endless; }

Dataset::Iterator Dataset::begin(std::int64_t iteration) const {
  const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(iteration, 0));
  return Iterator(impl_->open(impl_->next_iteration(least)));
}

Dataset::Iterator::Iterator(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) { ++*this; }
Dataset::Iterator::Iterator(Iterator&&) noexcept = default;
Dataset::Iterator& Dataset::Iterator::operator=(Iterator&&) noexcept = default;
Dataset::Iterator::~Iterator() = default;

Dataset::Iterator& Dataset::Iterator::operator++() {
  if (!stream_) return *this;
  std::unique_ptr<Stream> stream = std::move(stream_);  // an error also ends the iteration
  if (stream->next(element_)) stream_ = std::move(stream);
  else element_.clear();
  return *this;
}

std::vector<Element> detail::parts_for(const char* op, const Element& element, std::size_t count) {
  std::vector<Element> parts;
  const bool has_parts = !element.parts().empty();
  if (has_parts)
    for (std::size_t i = 0; i < element.parts().size(); ++i) parts.push_back(element.part(i));
  else if (element.named()) parts = {element};
  else
    for (const Tensor& tensor : element) parts.push_back(std::vector<Tensor>{tensor});
  if (parts.size() != count)
    fail("[", op, "] the function takes ", count, " arguments, one for each part of an element: received ",
         parts.size(), " parts");
  return parts;
}

const Tensor& detail::only_tensor(const char* op, const Element& part) {
  if (part.size() != 1)
    fail("[", op, "] a part that becomes a Tensor must have one tensor; an Element takes any: received ",
         part.size());
  return part[0];
}

}  // namespace ktape::data
