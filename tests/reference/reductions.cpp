#include <algorithm>
#include <xtensor/xaccumulator.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

#include "reference.hpp"

namespace reference {
namespace {

/// Drops the reduced axes from a result that kept them, unless keepdims is set.
Array dropped(const Array& kept, const Axes& axes, bool keepdims) {
  if (keepdims) return kept;
  Extents shape;
  for (std::size_t d = 0; d < kept.dimension(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) shape.push_back(kept.shape(d));
  return xt::reshape_view(kept, shape);
}

}  // namespace

// Calls are qualified because xtensor has functions of the same names.

Array sum(const Array& x, const Axes& axes, bool keepdims) {
  return dropped(xt::sum(x, axes, xt::keep_dims), axes, keepdims);
}

Array prod(const Array& x, const Axes& axes, bool keepdims) {
  return dropped(xt::prod(x, axes, xt::keep_dims), axes, keepdims);
}

Array max(const Array& x, const Axes& axes, bool keepdims) {
  return dropped(xt::amax(x, axes, xt::keep_dims), axes, keepdims);
}

Array min(const Array& x, const Axes& axes, bool keepdims) { return -reference::max(-x, axes, keepdims); }

Array mean(const Array& x, const Axes& axes, bool keepdims) {
  const Array sums = reference::sum(x, axes, keepdims);
  return sums * (static_cast<double>(sums.size()) / static_cast<double>(x.size()));
}

Array var(const Array& x, const Axes& axes, bool keepdims) {
  return reference::mean(xt::square(x - reference::mean(x, axes, true)), axes, keepdims);
}

Array logsumexp(const Array& x, const Axes& axes, bool keepdims) {
  const Array largest = reference::max(x, axes, true);
  return dropped(xt::log(reference::sum(xt::exp(x - largest), axes, true)) + largest, axes, keepdims);
}

Array argmax(const Array& x, std::size_t axis) {
  const Array largest = reference::max(x, Axes{axis}, false);
  Array out = xt::zeros_like(largest);
  xt::xstrided_slice_vector at(x.dimension(), xt::all());
  for (std::size_t k = x.shape(axis); k-- > 0;) {  // the first of equal ones wins
    at[axis] = k;
    out = xt::where(xt::equal(xt::strided_view(x, at), largest), static_cast<double>(k), out);
  }
  return out;
}
Array argmin(const Array& x, std::size_t axis) { return reference::argmax(Array(-x), axis); }

Array cumsum(const Array& x, std::size_t axis) { return xt::cumsum(x, axis); }
Array cumprod(const Array& x, std::size_t axis) { return xt::cumprod(x, axis); }

Array softmax(const Array& x, std::size_t axis) {
  const Array weights = xt::exp(x - reference::max(x, Axes{axis}, true));
  return weights / reference::sum(weights, Axes{axis}, true);
}

Array log_softmax(const Array& x, std::size_t axis) { return x - reference::logsumexp(x, Axes{axis}, true); }

Array crossentropy(const Array& x, const Array& target) {
  const std::size_t last = x.dimension() - 1;
  return -reference::sum(target * reference::log_softmax(x, last), Axes{last}, false);
}

Array crossentropy_gradient(const Array& x, const Array& target, const Array& g) {
  const std::size_t last = x.dimension() - 1;
  const Array totals = reference::sum(target, Axes{last}, true);
  return xt::expand_dims(g, last) * (reference::softmax(x, last) * totals - target);
}

Array share_by_ties(const Array& x, const Array& y, const Array& g, std::size_t axis) {
  const Array ties = xt::cast<double>(xt::equal(x, y));
  const Array shares = ties / reference::sum(ties, Axes{axis}, true) * g;
  return xt::where(xt::equal(g, 0.), 0., shares);
}

Array layer_normalization(const Array& x, const Array& gamma, const Array& beta, double epsilon) {
  const Axes last{x.dimension() - 1};
  return (x - reference::mean(x, last, true)) / xt::sqrt(reference::var(x, last, true) + epsilon) * gamma +
         beta;
}

}  // namespace reference
