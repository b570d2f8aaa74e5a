#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/numpy/statistics.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;
using ktape::ArrayLike;

template <class F>
auto reduction(F f) {
  return [f](const Call& c) -> Results { return {f(c["x"], axes(c), keepdims(c))}; };
}

using Running = Tensor (*)(const Tensor&, std::optional<int>, std::optional<DType>);
auto running(Running f) {
  return [f](const Call& c) -> Results {
    return {f(c["x"], optional_axis(c), get_or(c, "dtype", std::optional<DType>()))};
  };
}

using Index = Tensor (*)(const Tensor&, std::optional<int>, bool);
auto index(Index f) {
  return [f](const Call& c) -> Results { return {f(c["x"], optional_axis(c), keepdims(c))}; };
}

using Extreme = Tensor (*)(const Tensor&, const Axes&, bool, std::optional<ktape::Scalar>);
auto extreme(Extreme f) {
  return [f](const Call& c) -> Results {
    if (!c.has("initial") || c.none("initial")) return {f(c["x"], axes(c), keepdims(c), {})};
    return {f(c["x"], axes(c), keepdims(c), ktape::Scalar(c.get<double>("initial")))};
  };
}

using Quantile = Tensor (*)(const Tensor&, const ArrayLike&, const Axes&, const ops::QuantileOptions&);
auto quantile(Quantile f) {
  return [f](const Call& c) -> Results {
    ops::QuantileOptions options;
    c.set("method", options.method), c.set("keepdims", options.keepdims);
    return {f(c["x"], c.given("q") ? ArrayLike(c["q"]) : ArrayLike(c.get<double>("q")), axes(c), options)};
  };
}

/// The axis of a function whose default is the last axis, and for which None flattens.
std::optional<int> last_axis(const Call& c) { return get_or(c, "axis", std::optional<int>(-1)); }

}  // namespace

void add_numpy_reductions(Table& table) {
  const std::pair<const char*, Tensor (*)(const Tensor&, const Axes&, bool)> reductions[] = {
      {"sum", ops::sum},
      {"amax", ops::amax},
      {"amin", ops::amin},
      {"ptp", ops::ptp},
      {"mean", ops::mean},
      {"var", ops::var},
      {"std", ops::std},
      {"logsumexp", ops::logsumexp},
      {"any", ops::any},
      {"all", ops::all},
      {"nansum", ops::nansum},
      {"nanprod", ops::nanprod},
      {"nanmean", ops::nanmean},
      {"nanvar", ops::nanvar},
      {"nanstd", ops::nanstd},
      {"nanmax", ops::nanmax},
      {"nanmin", ops::nanmin},
      {"median", ops::median},
      {"nanmedian", ops::nanmedian}};
  for (const auto& [name, f] : reductions) table[name] = reduction(f);
  table["count_nonzero"] = [](const Call& c) -> Results { return {ops::count_nonzero(c["x"], axes(c))}; };
  table["prod"] = [](const Call& c) -> Results {
    return {ops::prod(c["x"], axes(c), keepdims(c), get_or(c, "dtype", std::optional<DType>()))};
  };
  table["max"] = extreme(ops::max), table["min"] = extreme(ops::min);
  table["argmax"] = index(ops::argmax), table["argmin"] = index(ops::argmin);
  table["nanargmax"] = index(ops::nanargmax), table["nanargmin"] = index(ops::nanargmin);
  table["cumsum"] = running(ops::cumsum), table["cumprod"] = running(ops::cumprod);
  table["nancumsum"] = running(ops::nancumsum), table["nancumprod"] = running(ops::nancumprod);
  table["quantile"] = quantile(ops::quantile), table["percentile"] = quantile(ops::percentile);
  table["nanquantile"] = quantile(ops::nanquantile), table["nanpercentile"] = quantile(ops::nanpercentile);
  table["average"] = [](const Call& c) -> Results {
    return {ops::average(c["x"], axes(c), c.optional("weights"))};
  };
  table["sort"] = [](const Call& c) -> Results { return {ops::sort(c["x"], last_axis(c))}; };
  table["argsort"] = [](const Call& c) -> Results { return {ops::argsort(c["x"], last_axis(c))}; };
  table["argpartition"] = [](const Call& c) -> Results {
    return {ops::argpartition(c["x"], c.get<int>("kth"), last_axis(c))};
  };
  table["corrcoef"] = unary(ops::corrcoef);
  table["correlate"] = [](const Call& c) -> Results {
    return {ops::correlate(c["x1"], c["x2"], get_or(c, "mode", std::string("valid")))};
  };
  table["diff"] = [](const Call& c) -> Results {
    return {ops::diff(c["a"], get_or(c, "n", 1), get_or(c, "axis", -1))};
  };
  table["trapezoid"] = [](const Call& c) -> Results {
    return {ops::trapezoid(c["y"], c.optional("x"), get_or(c, "dx", 1.0), get_or(c, "axis", -1))};
  };
}

}  // namespace golden_ops
