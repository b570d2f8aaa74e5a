#include <ktape/ops/reductions.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

/// Returns the caller of a function of (x), (x, axis) and (x, axis, keepdims).
template <class F>
auto reduction(F f) {
  return [f](const Call& c) -> Results {
    if (c.has("keepdims"))
      return {f(c["x"], c.has("axis") ? c.get<Axes>("axis") : Axes(), c.get<bool>("keepdims"))};
    if (c.has("axis")) return {f(c["x"], c.get<Axes>("axis"))};
    return {f(c["x"])};
  };
}

/// Returns the caller of a function of (x) and (x, axis) along one axis.
template <class F>
auto along(F f) {
  return [f](const Call& c) -> Results {
    if (c.has("axis")) return {f(c["x"], c.get<int>("axis"))};
    return {f(c["x"])};
  };
}

}  // namespace

void add_reductions(Table& table) {
  auto& ops = table.ops;
  ops["sum"] = reduction([](const Tensor& x, auto... rest) { return K::sum(x, rest...); });
  ops["mean"] = reduction([](const Tensor& x, auto... rest) { return K::mean(x, rest...); });
  ops["prod"] = reduction([](const Tensor& x, auto... rest) { return K::prod(x, rest...); });
  ops["max"] = reduction([](const Tensor& x, auto... rest) { return K::max(x, rest...); });
  ops["min"] = reduction([](const Tensor& x, auto... rest) { return K::min(x, rest...); });
  ops["var"] = reduction([](const Tensor& x, auto... rest) { return K::var(x, rest...); });
  ops["std"] = reduction([](const Tensor& x, auto... rest) { return K::std(x, rest...); });
  ops["any"] = reduction([](const Tensor& x, auto... rest) { return K::any(x, rest...); });
  ops["all"] = reduction([](const Tensor& x, auto... rest) { return K::all(x, rest...); });
  ops["norm"] = reduction([](const Tensor& x, auto... rest) { return K::norm(x, rest...); });
  ops["logsumexp"] = reduction([](const Tensor& x, auto... rest) { return K::logsumexp(x, rest...); });
  ops["argmax"] = along([](const Tensor& x, auto... axis) { return K::argmax(x, axis...); });
  ops["argmin"] = along([](const Tensor& x, auto... axis) { return K::argmin(x, axis...); });
  ops["cumsum"] = along([](const Tensor& x, auto... axis) { return K::cumsum(x, axis...); });
  ops["cumprod"] = along([](const Tensor& x, auto... axis) { return K::cumprod(x, axis...); });
}

}  // namespace golden
