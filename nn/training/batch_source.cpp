#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/nn/training/batch_source.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace ktape::nn {
namespace K = backend;

namespace {

/// Returns the number of samples. Throws ValueError, naming the operation, for arrays that differ in the
/// number of samples.
std::int64_t expect_samples(const char* op, const Batch& batch) {
  if (batch.x.empty()) fail("[", op, "] there must be inputs: received none");
  std::int64_t samples = 0;
  const auto check = [&](const char* name, const std::vector<Tensor>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Tensor& array = list[i];
      if (!array.defined() && name[0] != 'x') continue;
      if (!array.defined() || array.ndim() == 0)
        fail("[", op, "] ", name, " must have an axis of samples: received ",
             array.defined() ? "a scalar" : "None");
      expect_value(op, array);
      if (name[0] == 'x' && i == 0) samples = array.shape()[0];
      if (array.shape()[0] != samples)
        fail("[", op, "] all arrays must have the number of samples of the first input, ", samples,
             ": received ", name, " of shape ", array.shape());
    }
  };
  check("x", batch.x);
  check("y", batch.y);
  check("sample_weight", batch.sample_weight);
  return samples;
}

}  // namespace

double samples_of(const Batch& batch) {
  return batch.x.empty() || batch.x[0].ndim() == 0 ? 1 : static_cast<double>(batch.x[0].shape()[0]);
}

ArrayAdapter::ArrayAdapter(const char* op, Batch all, std::int64_t batch_size)
    : op_(op), all_(std::move(all)), batch_size_(batch_size) {
  if (batch_size < 1) fail("[", op, "] batch_size must be at least 1: received batch_size=", batch_size);
  samples_ = expect_samples(op, all_);
}

NamedTensors ArrayAdapter::rows(const NamedTensors& list, std::int64_t first, std::int64_t last) const {
  NamedTensors parts;
  parts.reserve(list.size());
  for (const Tensor& x : list) parts.push_back(x.defined() ? rows(x, first, last) : x);
  parts.take_names(list);
  return parts;
}

Batch ArrayAdapter::batch(std::int64_t first, std::int64_t last) const {
  return {rows(all_.x, first, last), rows(all_.y, first, last), rows(all_.sample_weight, first, last)};
}

ArrayAdapter ArrayAdapter::part(std::int64_t first, std::int64_t last) const {
  return ArrayAdapter(op_, batch(first, last), batch_size_);
}

bool ArrayAdapter::is_like(const ArrayAdapter& other) const {
  const auto alike = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
      if (!x.defined() || !y.defined()) return x.defined() == y.defined();
      Shape shape = x.shape();
      shape[0] = y.shape()[0];
      return shape == y.shape() && x.dtype() == y.dtype();
    });
  };
  return alike(all_.x, other.all_.x) && alike(all_.y, other.all_.y) &&
         alike(all_.sample_weight, other.all_.sample_weight);
}

void ArrayAdapter::restart(bool shuffle) {
  next_ = 0;
  key_ = shuffle ? std::optional(K::random_key()) : std::nullopt;
  this->shuffle();
}

void ArrayAdapter::shuffle() {
  order_.clear();
  if (!key_) return;
  order_.resize(static_cast<std::size_t>(samples_));
  std::iota(order_.begin(), order_.end(), 0);
  std::mt19937_64 generator(*key_);
  std::shuffle(order_.begin(), order_.end(), generator);
}

void ArrayAdapter::state(Archive& state) {
  bool shuffled = key_.has_value();
  std::uint64_t key = key_.value_or(0);
  std::int64_t next = next_;
  state("shuffled", shuffled);
  state("key", key);
  state("next", next);
  if (!state.sets()) return;
  if (next < 0 || next > samples_)
    fail("[", op_, "] the next sample must be one of the ", samples_, ": received ", next);
  next_ = next;
  key_ = shuffled ? std::optional(key) : std::nullopt;
  shuffle();
}

Tensor ArrayAdapter::rows(const Tensor& x, std::int64_t first, std::int64_t last) const {
  if (order_.empty() && size_ == 1 && first == 0 && last == samples_) return x;
  Shape shape = x.shape();
  shape[0] = (last - first + size_ - 1) / size_;
  Tensor out = Tensor::empty(shape, x.dtype());
  const std::size_t bytes = static_cast<std::size_t>(shape.count(1)) * x.dtype().size();
  const char* const from = static_cast<const char*>(x.raw());
  char* to = static_cast<char*>(out.raw());
  if (order_.empty() && size_ == 1) {
    std::memcpy(to, from + static_cast<std::size_t>(first) * bytes,
                static_cast<std::size_t>(last - first) * bytes);
    return out;
  }
  for (std::int64_t i = first; i < last; i += size_, to += bytes) {
    const std::int64_t row = order_.empty() ? i : order_[static_cast<std::size_t>(i)];
    std::memcpy(to, from + static_cast<std::size_t>(row) * bytes, bytes);
  }
  return out;
}

Batch ArrayAdapter::next() {
  const std::int64_t first = next_ + rank_, last = std::min(next_ + step(), samples_);
  next_ = last;
  return batch(first, last);
}

// --- Datasets ---------------------------------------------------------------------------------------------

DatasetAdapter::DatasetAdapter(const char* op, const Model& model, const data::Dataset& dataset,
                               ClassWeight class_weight, std::int64_t iteration)
    : op_(op),
      arrangement_(op, model),
      dataset_(dataset),
      class_weight_(std::move(class_weight)),
      iteration_(iteration) {}

void DatasetAdapter::fail_empty() const { fail("[", op_, "] the dataset must have elements: received none"); }

void DatasetAdapter::expect_end(const char* option, std::optional<std::int64_t> steps) const {
  if (size_ == 1 && dataset_.cardinality() == 0) fail_empty();
  if (dataset_.infinite() && !steps)
    fail("[", op_, "] ", option, " must be given for a dataset without an end: received ", option, "=None");
}

void DatasetAdapter::open() {
  const data::DatasetImpl& dataset = *dataset_.shared();
  const auto least = static_cast<std::uint64_t>(iteration_);
  const std::uint64_t reading = exact_ ? least : dataset.next_iteration(least);
  iteration_ = static_cast<std::int64_t>(reading) + 1;
  at_.emplace(dataset.open(reading));
  taken_ = false;
  given_ = 0;
}

bool DatasetAdapter::more() {
  if (!at_) {
    open();
    if (size_ == 1 && *at_ == dataset_.end()) fail_empty();
  } else if (taken_) {
    ++*at_;
    taken_ = false;
  }
  return *at_ != dataset_.end();
}

Batch DatasetAdapter::next() {
  if (!more()) fail("[", op_, "] the dataset must have another element: received none");
  taken_ = true;
  ++given_;
  const data::Element& element = **at_;
  Batch batch;
  try {
    batch = arrangement_.of_element(element, inputs_only_);
    if (!inputs_only_) expect_samples(op_, batch);
  } catch (const ValueError&) {
    batch = Arrangement::as_it_is(element);
    batch.misfit = std::current_exception();
  }
  batch.element = element;
  if (!class_weight_.empty()) batch.expect_fits(), arrangement_.weigh_classes(batch, class_weight_);
  return batch;
}

void DatasetAdapter::state(Archive& state) {
  const bool reads = at_ && *at_ != dataset_.end() && dataset_.cardinality() != given_;
  // The position counts the elements of all processes, because another number of processes may resume the
  // training.
  std::int64_t iteration = reads ? iteration_ - 1 : iteration_, given = reads ? given_ * size_ : 0;
  state("iteration", iteration);
  state("given", given);
  if (!state.sets()) return;
  at_.reset();
  exact_ = true;
  iteration_ = iteration;
  for (std::int64_t i = 0; i < given / size_; ++i) {
    if (!more())
      fail("[", op_, "] the dataset must keep its number of elements: received ", i, " of ", given);
    taken_ = true;
    ++given_;
  }
}

}  // namespace ktape::nn
