#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/sequence/ctc.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/nn/ctc.hpp>
#include <ktape/ops/nn/ctc_batch.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <numeric>

namespace ktape::backend {

void ctc::check_predictions(const char* op, const Tensor& y_pred) {
  if (!y_pred.dtype().is_floating())
    fail<TypeError>("[", op, "] y_pred must be floating: received dtype=", y_pred.dtype());
  if (y_pred.ndim() != 3 || y_pred.shape()[2] == 0)
    fail("[", op,
         "] y_pred must have shape (samples, time, classes) with a class for the blank: received y_pred=",
         y_pred.shape());
}

std::vector<std::int64_t> ctc::lengths(const char* op, const char* name, const Tensor& length,
                                       const Shape& shape, std::int64_t most) {
  if (length.shape() != shape)
    fail("[", op, "] ", name, " must have shape ", shape, ": received ", name, '=', length.shape());
  const Tensor numbers = class_numbers(op, name, length);
  const std::int64_t* p = numbers.pointer<std::int64_t>();
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    if (p[i] < 0 || p[i] > most)
      fail("[", op, "] ", name, " of sample ", i, " must be in [0, ", most, "]: received ", p[i]);
  return {p, p + numbers.size()};
}

namespace {

using ctc::Batch;

void check_labels(const Batch& batch, std::size_t sample) {
  const std::int64_t* labels = batch.labels_of(static_cast<std::int64_t>(sample));
  const std::int64_t count = batch.label_length[sample];
  std::int64_t needed = count;
  for (std::int64_t i = 0; i < count; ++i) {
    if (labels[i] < 0 || labels[i] >= batch.classes - 1)
      fail("[ctc_batch_cost] the labels of sample ", sample, " must be in [0, ", batch.classes - 1,
           "), below the blank: received ", labels[i]);
    needed += i > 0 && labels[i] == labels[i - 1];
  }
  if (needed > batch.input_length[sample])
    fail("[ctc_batch_cost] the labels of sample ", sample, " need ", needed,
         " steps: received input_length=", batch.input_length[sample]);
}

void expect_sequences(const Tensor& y_true, const Tensor& y_pred) {
  ctc::check_predictions("ctc_batch_cost", y_pred);
  const std::int64_t samples = y_pred.shape()[0];
  if (y_true.ndim() != 2 || !compatible(y_true.shape()[0], samples))
    fail("[ctc_batch_cost] y_true must have shape (", samples == None ? "None" : std::to_string(samples),
         ", max_labels): received y_true=", y_true.shape());
}

Batch checked(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
              const Tensor& label_length, double epsilon) {
  const Shape& shape = y_pred.shape();
  Batch batch{
      shape[0], shape[1], shape[2], y_true.shape()[1], class_numbers("ctc_batch_cost", "label", y_true),
      {},       {},       epsilon};
  const Shape column{batch.samples, 1};
  batch.input_length = ctc::lengths("ctc_batch_cost", "input_length", input_length, column, batch.steps);
  batch.label_length = ctc::lengths("ctc_batch_cost", "label_length", label_length, column, batch.width);
  for (std::size_t sample = 0; sample < batch.input_length.size(); ++sample) check_labels(batch, sample);
  return batch;
}

/// Computes the costs in float or double, and their derivative by y unless `slope` is undefined.
void compute(const Batch& batch, const Tensor& y, const Tensor& cost, const Tensor& slope) {
  const std::int64_t plane = batch.steps * batch.classes, work = plane + 40 * batch.steps * (batch.width + 1);
  dispatch_native_floating(y.dtype(), [&]<class T>() {
    kernels::parallel_rows(batch.samples, work, [&](std::int64_t begin, std::int64_t end) {
      kernels::Ctc<T> worker(batch.classes, batch.epsilon);
      for (std::int64_t i = begin; i < end; ++i) {
        const auto sample = static_cast<std::size_t>(i);
        T* own = slope.defined() ? slope.pointer<T>() + i * plane : nullptr;
        cost.pointer<T>()[i] =
            static_cast<T>(worker.cost(y.pointer<T>() + i * plane, batch.labels_of(i),
                                       batch.label_length[sample], batch.input_length[sample], own));
        if (own) std::fill(own + batch.input_length[sample] * batch.classes, own + plane, T(0));
      }
    });
  });
}

}  // namespace

Tensor ctc::cost(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
                 const Tensor& label_length, double epsilon) {
  expect_defined("ctc_batch_cost", "y_true, y_pred, input_length, label_length", y_true, y_pred, input_length,
                 label_length);
  expect_sequences(y_true, y_pred);
  if (is_symbolic(y_true, y_pred, input_length, label_length)) {
    std::int64_t samples = y_pred.shape()[0];
    for (const Tensor* x : {&y_true, &input_length, &label_length})
      if (x->ndim() > 0) samples = merged(samples, x->shape()[0]);
    const Shape shape{samples, 1};
    return defer_described("ctc_batch_cost", {shape, y_pred.dtype()}, ctc::cost, WithoutGradient{y_true},
                           y_pred, WithoutGradient{input_length}, WithoutGradient{label_length}, epsilon);
  }
  const Batch batch = checked(y_true, y_pred, input_length, label_length, epsilon);
  const Tensor y = op_helpers::widened(y_pred), costs = Tensor::empty({batch.samples, 1}, y.dtype());
  const bool recorded = recording(y_pred);
  const Tensor wide_slope = recorded ? Tensor::empty_like(y) : Tensor();
  compute(batch, y, costs, wide_slope);
  const Tensor cost = op_helpers::narrowed(costs, y_pred.dtype()),
               slope = op_helpers::narrowed(wide_slope, y_pred.dtype());
  if (recorded)
    record("ctc_batch_cost", cost, {y_pred}, [batch, y_pred, slope](const Tensor& g, Grads& grads) {
      grads.to(0, [&] {
        return op_helpers::chained(expand_dims(g), recording() ? ctc::composed_slope(batch, y_pred) : slope);
      });
    });
  return cost;
}

Tensor ctc_batch_cost(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
                      const Tensor& label_length) {
  return ctc::cost(y_true, y_pred, input_length, label_length, epsilon());
}

SparseTensor ctc_label_dense_to_sparse(const Tensor& labels, const Tensor& label_lengths) {
  expect_defined("ctc_label_dense_to_sparse", "labels, label_lengths", labels, label_lengths);
  constexpr const char* op = "ctc_label_dense_to_sparse";
  expect_value(op, labels);
  expect_value(op, label_lengths);
  if (labels.ndim() != 2) fail("[", op, "] labels must have rank 2: received labels=", labels.shape());
  const auto lengths =
      ctc::lengths(op, "label_lengths", label_lengths, {labels.shape()[0]}, labels.shape()[1]);
  const std::int64_t count = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const Tensor indices = Tensor::empty({count, 2}, DType::Int64);
  std::int64_t* to = indices.pointer<std::int64_t>();
  for (std::size_t sample = 0; sample < lengths.size(); ++sample)
    for (std::int64_t i = 0; i < lengths[sample]; ++i) *to++ = static_cast<std::int64_t>(sample), *to++ = i;
  return SparseTensor(indices, gather_nd(labels, indices), labels.shape());
}

}  // namespace ktape::backend

namespace ktape::nn {

Operations ctc_operations() {
  static constexpr Operation rows[] = {
      {"ctc_batch_cost", "", "y_true, y_pred, input_length, label_length;", calls<backend::ctc_batch_cost>,
       "", "y_true, y_pred, input_length, label_length, -"},
  };
  return rows;
}

}  // namespace ktape::nn
