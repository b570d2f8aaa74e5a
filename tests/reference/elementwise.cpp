#include <xtensor/xbroadcast.hpp>
#include <xtensor/xoperation.hpp>
#include <xtensor/xvectorize.hpp>

#include "reference.hpp"

namespace reference {

Array map(const std::function<double(double)>& f, const Array& x) { return xt::vectorize(f)(x); }

Array map(const std::function<double(double, double)>& f, const Array& x, const Array& y) {
  return xt::vectorize(f)(x, y);
}

Array where(const Array& condition, const Array& x, const Array& y) {
  return xt::where(xt::not_equal(condition, 0.), x, y);
}

Array broadcast_to(const Array& x, const Extents& shape) { return xt::broadcast(x, shape); }

}  // namespace reference
