#include <ktape/nn/layers/attention/internal/attention_axes.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

using Tensors = std::vector<Tensor>;

namespace {

/// Returns the extents of x on the axes as tensors, because an extent may be unknown until the graph runs.
Tensors extents(const Tensor& x, const std::vector<int>& axes) {
  const Tensor shape = K::shape(x);
  Tensors out;
  for (const int axis : axes) out.push_back(shape[axis]);
  return out;
}

Tensor product(const Tensors& extents) {
  Tensor out = extents[0];
  for (std::size_t i = 1; i < extents.size(); ++i) out = out * extents[i];
  return out;
}

void append(Tensors& to, const Tensors& more) { to.insert(to.end(), more.begin(), more.end()); }

std::vector<int> axes_from(int first, std::size_t count) {
  std::vector<int> axes;
  for (std::size_t i = 0; i < count; ++i) axes.push_back(first + static_cast<int>(i));
  return axes;
}

}  // namespace

AttentionAxes::AttentionAxes(const std::string& layer, const Axes& axes, int rank)
    : rank_(rank), attended_(), rest_() {
  if (axes.all()) attended_ = axes_from(1, static_cast<std::size_t>(rank - 2));
  for (const int axis : axes.list()) {
    const int at = axis < 0 ? axis + rank : axis;
    if (at < 1 || at > rank - 2 || std::count(attended_.begin(), attended_.end(), at) > 0)
      fail("[", layer, "] attention_axes must be axes of the inputs between batch and features, each once: ",
           "received attention_axes=", Value(axes), " for inputs of rank ", rank);
    attended_.push_back(at);
  }
  if (attended_.empty()) fail("[", layer, "] attention_axes must name an axis: received none");
  for (int axis = 0; axis < rank - 1; ++axis)
    if (std::count(attended_.begin(), attended_.end(), axis) == 0) rest_.push_back(axis);
}

bool AttentionAxes::share_batch(const Shape& a, const Shape& b) const {
  return a.rank() == b.rank() &&
         std::all_of(rest_.begin(), rest_.end(), [&](int axis) { return compatible(a[axis], b[axis]); });
}

Axes AttentionAxes::of_softmax() const {
  std::vector<int> axes;
  for (std::size_t i = attended_.size(); i > 0; --i) axes.push_back(-static_cast<int>(i));
  return axes;
}

Tensor AttentionAxes::folded(const Tensor& projection) const {
  if (plain()) return projection;
  Shape pattern;
  for (const int axis : rest_) pattern.push_back(axis);
  for (const int axis : attended_) pattern.push_back(axis);
  pattern.push_back(rank_ - 1), pattern.push_back(rank_);
  Tensors shape{product(extents(projection, rest_)), product(extents(projection, attended_))};
  append(shape, extents(projection, {rank_ - 1, rank_}));
  return K::reshape(K::permute_dimensions(projection, pattern), K::stack(shape));
}

Tensor AttentionAxes::unfolded(const Tensor& folded, const Tensor& query) const {
  if (plain()) return folded;
  Tensors shape = extents(query, rest_);
  append(shape, extents(query, attended_));
  append(shape, extents(folded, {2, 3}));
  Shape back = query.shape();
  int at = 0;
  for (const int axis : rest_) back[axis] = at++;
  for (const int axis : attended_) back[axis] = at++;
  back[rank_ - 1] = at, back[rank_] = at + 1;
  return K::permute_dimensions(K::reshape(folded, K::stack(shape)), back);
}

Tensor AttentionAxes::unfolded_scores(const Tensor& folded, const Tensor& query, const Tensor& key) const {
  if (plain()) return folded;
  Tensors shape = extents(query, rest_);
  append(shape, extents(folded, {1}));
  append(shape, extents(query, attended_));
  append(shape, extents(key, attended_));
  return K::reshape(folded, K::stack(shape));
}

Tensor AttentionAxes::folded_scores(const Tensor& scores) const {
  if (plain()) return scores;
  const int heads = static_cast<int>(rest_.size());
  const std::size_t count = attended_.size();
  return K::reshape(
      scores, K::stack({product(extents(scores, axes_from(0, rest_.size()))), extents(scores, {heads})[0],
                        product(extents(scores, axes_from(heads + 1, count))),
                        product(extents(scores, axes_from(heads + 1 + static_cast<int>(count), count)))}));
}

Tensor AttentionAxes::mask(const Tensor& given) const {
  if (!given.defined()) return given;
  Tensor mask = K::as_dtype(given, "bool");
  while (mask.ndim() <= static_cast<int>(rest_.size()) + pairs()) mask = K::expand_dims(mask, -pairs() - 1);
  return mask;
}

Tensor AttentionAxes::step_mask(const std::string& layer, const Tensor& mask, bool of_query) const {
  if (!one() || attended_[0] != 1)
    fail("[", layer,
         "] masks of steps need attention over the steps, axis 1, alone: received attention_axes=",
         Value(attended_));
  return this->mask(as_bool(mask, of_query ? 2 : 1));
}

Tensor as_bool(const Tensor& mask, int new_axis) {
  return mask.defined() ? K::expand_dims(K::as_dtype(mask, "bool"), new_axis) : mask;
}

Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return a & b;
}

Tensor reachable(const Tensor& query, int query_axis, const Tensor& key, int key_axis, bool causal,
                 std::optional<std::int64_t> window) {
  const auto steps = [](const Tensor& x, int axis) {
    return K::arange(0, K::shape(x)[axis], 1, {.dtype = "int64"});
  };
  const Tensor distance = K::expand_dims(steps(query, query_axis)) - steps(key, key_axis);
  const Tensor past = causal ? distance >= 0 : Tensor();
  return window ? both(past, K::abs(distance) < *window) : past;
}

}  // namespace ktape::nn
