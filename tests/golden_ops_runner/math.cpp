#include <ktape/ops/keras/math/math.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;

using Segments = Tensor (*)(const Tensor&, const Tensor&, std::optional<std::int64_t>, bool);
auto segments(Segments f) {
  return [f](const Call& c) -> Results {
    return {f(c["data"], c["segment_ids"], get_or(c, "num_segments", std::optional<std::int64_t>()),
              get_or(c, "sorted", false))};
  };
}

}  // namespace

void add_math(Table& table) {
  table["segment_sum"] = segments(ops::segment_sum), table["segment_prod"] = segments(ops::segment_prod);
  table["segment_max"] = segments(ops::segment_max), table["segment_min"] = segments(ops::segment_min);
  table["extract_sequences"] = [](const Call& c) -> Results {
    return {ops::extract_sequences(c["x"], c.get<int>("sequence_length"), c.get<int>("sequence_stride"))};
  };
}

}  // namespace golden_ops
