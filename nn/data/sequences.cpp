#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/data/sequences.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ktape::data {
namespace K = backend;

Tensor to_categorical(const Tensor& x, std::optional<std::int64_t> num_classes) {
  constexpr const char* op = "to_categorical";
  expect_defined(op, "x", x);
  expect_value(op, x);
  if (num_classes && *num_classes < 0)
    fail("[", op, "] num_classes must be at least 0: received num_classes=", *num_classes);
  const Tensor classes = K::class_numbers(op, "class", x);
  const std::int64_t* const begin = classes.pointer<std::int64_t>();
  const std::int64_t* const end = begin + classes.size();
  const std::int64_t count = num_classes.value_or(begin == end ? 0 : *std::max_element(begin, end) + 1);
  for (const std::int64_t* i = begin; i != end; ++i)
    if (*i < 0 || *i >= count)
      fail("[", op, "] classes must be in [0, ", std::max<std::int64_t>(count, 0), "): received ", *i);
  K::expect_columns(op, "num_classes", count);
  Shape shape = x.shape();
  if (shape.rank() > 1 && shape.back() == 1) shape.erase(shape.rank() - 1);
  shape.push_back(count);
  const Tensor out = K::zeros(shape);
  const std::size_t size = out.dtype().size();
  const Tensor one = K::ones(Shape());
  for (std::int64_t i = 0; i < classes.size(); ++i)
    std::memcpy(static_cast<char*>(out.raw()) + static_cast<std::size_t>(i * count + begin[i]) * size,
                one.raw(), size);
  return out;
}

Tensor normalize(const Tensor& x, int axis, double order) {
  constexpr const char* op = "normalize";
  expect_defined(op, "x", x);
  if (!(order > 0)) fail("[", op, "] order must be above 0: received order=", order);
  canonical_axis(op, axis, x.ndim());
  const Tensor real = x.dtype().is_floating() ? x : K::cast(x, K::floatx());
  const Tensor size = K::abs(real);
  Tensor norm;
  if (std::isinf(order)) norm = K::max(size, axis, true);
  else if (order == 1) norm = K::sum(size, axis, true);
  else if (order == 2) norm = K::norm(real, axis, true);
  else norm = K::pow(K::sum(K::pow(size, order), axis, true), 1 / order);
  return real / (norm + K::cast(K::equal(norm, 0), norm.dtype()));
}

Tensor detail::pad_sequences(const std::vector<Sequence>& sequences, DType dtype,
                             const PadSequencesOptions& options) {
  constexpr const char* op = "pad_sequences";
  const auto before = [op](const char* name, const std::string& where) {
    if (where != "pre" && where != "post")
      fail("[", op, "] ", name, " must be 'pre' or 'post': received ", name, "='", where, "'");
    return where == "pre";
  };
  const bool pad_before = before("padding", options.padding),
             cut_before = before("truncating", options.truncating);
  std::int64_t length = 0;
  for (const Sequence& sequence : sequences) length = std::max(length, sequence.count);
  length = options.maxlen.value_or(length);
  if (length < 0) fail("[", op, "] maxlen must be at least 0: received maxlen=", length);
  expect_fits(op, options.value, options.dtype);
  const Tensor out = K::full({std::ssize(sequences), length}, options.value, options.dtype);
  auto* row = static_cast<char*>(out.raw());
  for (const Sequence& sequence : sequences) {
    const std::int64_t count = std::min(length, sequence.count);
    const std::int64_t from = cut_before ? sequence.count - count : 0, to = pad_before ? length - count : 0;
    convert(row + static_cast<std::size_t>(to) * options.dtype.size(), options.dtype,
            static_cast<const char*>(sequence.numbers) + static_cast<std::size_t>(from) * dtype.size(), dtype,
            count);
    row += static_cast<std::size_t>(length) * options.dtype.size();
  }
  return out;
}

// --- Windows of a series ----------------------------------------------------------------------------------

namespace {

struct Windows {
  std::int64_t first, count, stride;  ///< the windows begin at first + i * stride, i < count
  Tensor steps;                       ///< the steps of a window, counted from its begin
  std::int64_t target;                ///< the step of the target, counted from the window's begin
};

Dataset dataset_of(const Tensor& data, const Tensor& targets, const Windows& windows, bool shuffle,
                   std::optional<std::int64_t> seed, std::optional<std::int64_t> batch_size) {
  const std::int64_t end = windows.first + windows.count * windows.stride;
  Dataset dataset =
      Dataset::from_tensor_slices(K::arange(windows.first, end, windows.stride, {.dtype = DType::Int64}));
  if (shuffle) dataset = dataset.shuffle(windows.count, {.seed = seed});
  if (batch_size) dataset = dataset.batch(*batch_size);
  return dataset.map([=](const Element& starts) {
    Element out{K::gather(data, K::expand_dims(starts[0]) + windows.steps)};
    if (targets.defined()) out.push_back(K::gather(targets, starts[0] + windows.target));
    return out;
  });
}

void expect_series(const char* op, const Tensor& data, const Tensor& targets) {
  expect_defined(op, "data", data);
  for (const Tensor* x : {&data, &targets}) {
    if (!x->defined()) continue;
    expect_value(op, *x);
    if (x->ndim() == 0) fail("[", op, "] data and targets must have an axis of steps: received a scalar");
  }
}

/// Throws ValueError unless least <= value <= most.
void expect_within(const char* op, const char* name, std::int64_t value, std::int64_t least,
                   std::int64_t most) {
  if (value < least || value > most)
    fail("[", op, "] ", name, " must be from ", least, " to ", most, ": received ", name, '=', value);
}

Tensor steps_of(std::int64_t count, std::int64_t rate) {
  return K::arange(0, count * rate, rate, {.dtype = DType::Int64});
}

}  // namespace

Dataset timeseries_from_array(const Tensor& data, const Tensor& targets, const TimeseriesOptions& options) {
  constexpr const char* op = "timeseries_from_array";
  expect_series(op, data, targets);
  const std::int64_t length = data.shape()[0], most = std::max<std::int64_t>(length - 1, 1);
  expect_within(op, "sequence_length", options.sequence_length, 1, std::max<std::int64_t>(length, 1));
  expect_within(op, "sampling_rate", options.sampling_rate, 1, most);
  expect_within(op, "sequence_stride", options.sequence_stride, 1, most);
  const std::int64_t start = options.start_index.value_or(0), end = options.end_index.value_or(length);
  expect_within(op, "start_index", start, 0, std::max<std::int64_t>(length - 1, 0));
  expect_within(op, "end_index", end, start + 1, length);
  if (options.batch_size) expect_within(op, "batch_size", *options.batch_size, 1, INT64_MAX);
  std::int64_t places = end - start - (options.sequence_length - 1) * options.sampling_rate;
  if (targets.defined()) places = std::min(places, targets.shape()[0] - start);
  if (places < 1)
    fail("[", op, "] a window must fit between start_index and end_index: received sequence_length=",
         options.sequence_length, " with sampling_rate=", options.sampling_rate, " for ", end - start,
         " steps");
  const Windows windows{start, (places - 1) / options.sequence_stride + 1, options.sequence_stride,
                        steps_of(options.sequence_length, options.sampling_rate), 0};
  return dataset_of(data, targets, windows, options.shuffle, options.seed, options.batch_size);
}

Dataset timeseries_from_array(const Tensor& data, const TimeseriesOptions& options) {
  return timeseries_from_array(data, Tensor(), options);
}

Dataset timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                      const TimeseriesOptions& options) {
  return timeseries_from_array(data, targets, options);
}

Dataset timeseries_dataset_from_array(const Tensor& data, const TimeseriesOptions& options) {
  return timeseries_from_array(data, options);
}

Dataset TimeseriesGenerator(const Tensor& data, const Tensor& targets, std::int64_t length,
                            const TimeseriesGeneratorOptions& options) {
  constexpr const char* op = "TimeseriesGenerator";
  expect_series(op, data, targets);
  expect_defined(op, "targets", targets);
  const std::int64_t steps = data.shape()[0];
  if (targets.shape()[0] != steps)
    fail("[", op, "] data and targets must have the same number of steps: received ", steps, " and ",
         targets.shape()[0]);
  expect_within(op, "length", length, 1, std::max<std::int64_t>(steps, 1));
  expect_within(op, "sampling_rate", options.sampling_rate, 1, length);
  expect_within(op, "stride", options.stride, 1, std::max<std::int64_t>(steps, 1));
  expect_within(op, "start_index", options.start_index, 0, std::max<std::int64_t>(steps - 1, 0));
  expect_within(op, "batch_size", options.batch_size, 1, INT64_MAX);
  const std::int64_t last = options.end_index.value_or(steps - 1);
  expect_within(op, "end_index", last, 0, std::max<std::int64_t>(steps - 1, 0));
  if (options.start_index + length > last)
    fail("[", op, "] a window must fit between start_index and end_index: received length=", length,
         ", start_index=", options.start_index, ", end_index=", last);
  Tensor offsets = steps_of((length - 1) / options.sampling_rate + 1, options.sampling_rate);
  if (options.reverse) offsets = K::reverse(offsets, 0);
  const std::int64_t places = last - options.start_index - length + 1;
  const Windows windows{options.start_index, (places - 1) / options.stride + 1, options.stride, offsets,
                        length};
  return dataset_of(data, targets, windows, options.shuffle, options.seed, options.batch_size);
}

}  // namespace ktape::data
