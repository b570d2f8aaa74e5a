#include <ktape/nn/layers/base/input_spec.hpp>

#include <algorithm>
#include <sstream>

namespace ktape::nn {

bool InputSpec::accepts(const Shape& shape) const {
  const int rank = shape.rank();
  if (rank != ndim.value_or(rank) || rank < min_ndim.value_or(rank) || rank > max_ndim.value_or(rank))
    return false;
  return std::all_of(axes.begin(), axes.end(), [&](const auto& wanted) {
    const int at = wanted.first < 0 ? wanted.first + rank : wanted.first;
    return at >= 0 && at < rank && (shape[at] == wanted.second || shape[at] == None);
  });
}

std::string InputSpec::text() const {
  std::ostringstream out;
  const auto write = [&](const auto&... parts) {
    out << (out.tellp() > 0 ? ", " : "");
    (out << ... << parts);
  };
  if (ndim) write("ndim=", *ndim);
  if (min_ndim) write("min_ndim=", *min_ndim);
  if (max_ndim) write("max_ndim=", *max_ndim);
  for (const auto& [axis, extent] : axes) write("shape[", axis, "]=", extent);
  return out.str();
}

}  // namespace ktape::nn
