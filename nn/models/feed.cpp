#include <ktape/autograd/parallel.hpp>
#include <ktape/autograd/symbolic.hpp>
#include <ktape/nn/models/feed.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <cstring>
#include <numeric>
#include <random>

namespace ktape::nn {
namespace K = backend;

Feed::Feed(const char* op, const TensorList& x, const TensorList& y, const TensorList& sample_weight,
           std::int64_t batch_size)
    : op_(op), all_{x.vector(), y.vector(), sample_weight.vector()}, batch_size_(batch_size) {
  if (batch_size < 1) fail("[", op, "] batch_size must be at least 1: received batch_size=", batch_size);
  if (x.empty()) fail("[", op, "] there must be inputs: received none");
  const auto check = [&](const char* name, const std::vector<Tensor>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Tensor& array = list[i];
      if (!array.defined() || array.ndim() == 0)
        fail("[", op, "] ", name, " must have an axis of samples: received ",
             array.defined() ? "a scalar" : "None");
      expect_value(op, array);
      if (name[0] == 'x' && i == 0) samples_ = array.shape()[0];
      if (array.shape()[0] != samples_)
        fail("[", op, "] all arrays must have as many samples as the first input, ", samples_, ": received ",
             name, " of shape ", array.shape());
    }
  };
  check("x", all_.x);
  check("y", all_.y);
  check("sample_weight", all_.sample_weight);
}

Feed Feed::part(std::int64_t first, std::int64_t last) const {
  const auto cut = [&](const std::vector<Tensor>& list) {
    std::vector<Tensor> parts;
    for (const Tensor& x : list) parts.push_back(rows(x, first, last));
    return parts;
  };
  return Feed(op_, cut(all_.x), cut(all_.y), cut(all_.sample_weight), batch_size_);
}

void Feed::weigh_classes(const std::map<std::int64_t, double>& class_weight) {
  if (class_weight.empty()) return;
  if (all_.y.size() != 1)
    fail("[", op_, "] class_weight must go with targets of one output: received ", all_.y.size());
  const Tensor& y = all_.y[0];
  const bool one_hot = y.ndim() > 1 && y.shape()[-1] > 1;
  const Tensor classes = K::cast(one_hot ? K::argmax(y) : K::reshape(y, {samples_, -1}), "int64");
  if (classes.size() != samples_)
    fail("[", op_, "] class_weight must go with one class for each sample: received y of shape ", y.shape());
  Tensor weights = Tensor::empty({samples_}, DType::Float32);
  for (std::int64_t i = 0; i < samples_; ++i) {
    const auto weight = class_weight.find(classes.pointer<std::int64_t>()[i]);
    weights.pointer<float>()[i] = weight == class_weight.end() ? 1.f : static_cast<float>(weight->second);
  }
  if (all_.sample_weight.empty()) all_.sample_weight = {weights};
  else
    for (Tensor& given : all_.sample_weight) given = K::cast(given, DType::Float32) * weights;
}

void Feed::restart(bool shuffle) {
  next_ = 0;
  order_.clear();
  if (!shuffle) return;
  order_.resize(static_cast<std::size_t>(samples_));
  std::iota(order_.begin(), order_.end(), 0);
  std::mt19937_64 generator(K::random_key());
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[generator() % i]);
}

Tensor Feed::rows(const Tensor& x, std::int64_t first, std::int64_t last) const {
  if (order_.empty() && first == 0 && last == samples_) return x;
  Shape shape = x.shape();
  shape[0] = last - first;
  Tensor out = Tensor::empty(shape, x.dtype());
  const std::size_t bytes = static_cast<std::size_t>(shape.count(1)) * x.dtype().size();
  const char* const from = static_cast<const char*>(x.raw());
  char* const to = static_cast<char*>(out.raw());
  if (order_.empty()) {
    std::memcpy(to, from + static_cast<std::size_t>(first) * bytes,
                static_cast<std::size_t>(last - first) * bytes);
    return out;
  }
  for (std::int64_t i = first; i < last; ++i)
    std::memcpy(to + static_cast<std::size_t>(i - first) * bytes,
                from + static_cast<std::size_t>(order_[static_cast<std::size_t>(i)]) * bytes, bytes);
  return out;
}

Batch Feed::next() {
  const std::int64_t first = next_, last = std::min(first + batch_size_, samples_);
  const auto cut = [&](const std::vector<Tensor>& list) {
    std::vector<Tensor> parts;
    parts.reserve(list.size());
    for (const Tensor& x : list) parts.push_back(rows(x, first, last));
    return parts;
  };
  next_ = last;
  return {cut(all_.x), cut(all_.y), cut(all_.sample_weight)};
}

}  // namespace ktape::nn
