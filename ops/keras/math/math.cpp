#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/math/math.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::ops {

using op_helpers::SegmentOp;

namespace {

Tensor reduced(const char* op, SegmentOp kind, const Tensor& given, const Tensor& ids,
               std::optional<std::int64_t> num_segments) {
  expect_defined(op, "data, segment_ids", given, ids);
  const Tensor data = op_helpers::counted(op, given, "data");
  if (!ids.dtype().is_integer())
    fail<TypeError>("[", op, "] segment_ids must be integers: received dtype=", ids.dtype());
  if (data.ndim() == 0 || ids.ndim() != 1 || !compatible(ids.shape()[0], data.shape()[0]))
    fail("[", op,
         "] segment_ids must be a vector with an id for each slice of data: received data=", data.shape(),
         ", segment_ids=", ids.shape());
  if (num_segments && *num_segments < 0)
    fail("[", op, "] num_segments must be at least 0: received num_segments=", *num_segments);
  if (is_symbolic(data, ids)) {
    Shape shape = data.shape();
    shape[0] = num_segments.value_or(None);
    const auto later = [op, kind](const Tensor& data, const Tensor& ids, std::optional<std::int64_t> number) {
      return reduced(op, kind, data, ids, number);
    };
    return defer_described(op, {shape, data.dtype()}, later, data, ids, num_segments);
  }
  std::int64_t segments = num_segments.value_or(0);
  if (!num_segments)
    for (const std::int64_t id : op_helpers::int64_vector(ids)) segments = std::max(segments, id + 1);
  return op_helpers::reduce_segments(op, kind, data, ids, segments);
}

}  // namespace

Tensor segment_sum(const Tensor& data, const Tensor& ids, std::optional<std::int64_t> num_segments, bool) {
  return reduced("segment_sum", SegmentOp::Sum, data, ids, num_segments);
}
Tensor segment_prod(const Tensor& data, const Tensor& ids, std::optional<std::int64_t> num_segments, bool) {
  return reduced("segment_prod", SegmentOp::Prod, data, ids, num_segments);
}
Tensor segment_max(const Tensor& data, const Tensor& ids, std::optional<std::int64_t> num_segments, bool) {
  return reduced("segment_max", SegmentOp::Max, data, ids, num_segments);
}
Tensor segment_min(const Tensor& data, const Tensor& ids, std::optional<std::int64_t> num_segments, bool) {
  return reduced("segment_min", SegmentOp::Min, data, ids, num_segments);
}

Tensor extract_sequences(const Tensor& x, std::int64_t sequence_length, std::int64_t sequence_stride) {
  expect_defined("extract_sequences", "x", x);
  if (sequence_length < 1 || sequence_stride < 1)
    fail("[extract_sequences] length and stride must be at least 1: received sequence_length=",
         sequence_length, ", sequence_stride=", sequence_stride);
  const std::int64_t n = x.ndim() == 0 ? 0 : x.shape()[-1];
  if (n != None && n < sequence_length)
    fail("[extract_sequences] the last axis must have ", sequence_length,
         " elements: received x=", x.shape());
  Shape shape = x.shape();
  const std::int64_t frames = n == None ? std::int64_t{None} : (n - sequence_length) / sequence_stride + 1;
  shape[-1] = frames;
  expect_rank("extract_sequences", x.ndim() + 1);
  shape.push_back(sequence_length);
  if (is_symbolic(x))
    return defer_described("extract_sequences", {shape, x.dtype()}, extract_sequences, x, sequence_length,
                           sequence_stride);
  std::vector<std::int64_t> places;
  for (std::int64_t f = 0; f < frames; ++f)
    for (std::int64_t i = 0; i < sequence_length; ++i) places.push_back(f * sequence_stride + i);
  return op_helpers::pick_rows("extract_sequences", x, op_helpers::int64_tensor(places), {x.size() / n, n, 1},
                               shape);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations math_operations() {
  static constexpr const char* segments = "data, segment_ids; num_segments=null, sorted=false";
  static constexpr const char* recorded = "data, segment_ids, num_segments";
  static constexpr Operation rows[] = {
      {"SegmentSum", "math", segments, calls<ops::segment_sum>, "", recorded},
      {"SegmentProd", "math", segments, calls<ops::segment_prod>, "", recorded},
      {"SegmentMax", "math", segments, calls<ops::segment_max>, "", recorded},
      {"SegmentMin", "math", segments, calls<ops::segment_min>, "", recorded},
      {"ExtractSequences", "math", "x; sequence_length, sequence_stride", calls<ops::extract_sequences>},
  };
  return rows;
}

}  // namespace ktape::nn
