#include <algorithm>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

#include "reference.hpp"

namespace reference {
namespace {

/// The block of x from `start` with the extents of `size`.
auto block(auto& x, const Extents& start, const Extents& size) {
  xt::xstrided_slice_vector ranges;
  for (std::size_t d = 0; d < size.size(); ++d) ranges.push_back(xt::range(start[d], start[d] + size[d]));
  return xt::strided_view(x, ranges);
}

Extents extents(const Array& x) { return {x.shape().begin(), x.shape().end()}; }

}  // namespace

Array permute(const Array& x, const Axes& pattern) { return xt::transpose(x, pattern); }

Array reverse(const Array& x, const Axes& axes) {
  Array out = x;
  for (const std::size_t axis : axes) out = Array(xt::flip(out, axis));
  return out;
}

Array slice(const Array& x, const Extents& start, const Extents& size) { return block(x, start, size); }

Array concatenate(const std::vector<Array>& parts, std::size_t axis) {
  Extents shape = extents(parts[0]), start(shape.size());
  shape[axis] = 0;
  for (const Array& part : parts) shape[axis] += part.shape(axis);
  Array out(shape);
  for (const Array& part : parts) {
    auto place = block(out, start, extents(part));
    std::copy(part.begin(), part.end(), place.begin());
    start[axis] += part.shape(axis);
  }
  return out;
}

Array tile(const Array& x, const Extents& n) {
  Array out = x;
  for (std::size_t axis = 0; axis < n.size(); ++axis)
    out = concatenate(std::vector<Array>(n[axis], out), axis);
  return out;
}

Array pad(const Array& x, const std::vector<std::pair<std::size_t, std::size_t>>& paddings, double value) {
  Extents shape, start;
  for (std::size_t d = 0; d < paddings.size(); ++d) {
    shape.push_back(paddings[d].first + x.shape(d) + paddings[d].second);
    start.push_back(paddings[d].first);
  }
  Array out = xt::ones<double>(shape) * value;
  auto place = block(out, start, extents(x));
  std::copy(x.begin(), x.end(), place.begin());
  return out;
}

Array gather(const Array& x, const Array& indices) {
  Extents shape = extents(indices);
  shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
  Array out(shape);
  const std::size_t row = x.size() / x.shape(0);
  for (std::size_t i = 0; i < indices.size(); ++i)
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(indices.flat(i)) * static_cast<std::ptrdiff_t>(row),
                row, out.begin() + static_cast<std::ptrdiff_t>(i * row));
  return out;
}

Array one_hot(const Array& indices, std::size_t classes) {
  Extents column = extents(indices);
  column.push_back(1);
  return xt::cast<double>(xt::equal(xt::reshape_view(indices, column), xt::arange<double>(classes)));
}

}  // namespace reference
