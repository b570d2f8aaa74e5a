#pragma once
#include <ktape/autograd/tensor.hpp>

#include <vector>

/// Helpers of the functions of ops/nn/ctc.hpp. Internal: sources only.
namespace ktape::backend::ctc {

/// Checked labels for predictions of (samples, steps, classes).
struct Batch {
  std::int64_t samples, steps, classes, width;
  Tensor labels;  ///< (samples, width) of int64
  std::vector<std::int64_t> input_length, label_length;
  double epsilon;  ///< added to the predictions

  const std::int64_t* labels_of(std::int64_t sample) const {
    return labels.pointer<std::int64_t>() + sample * width;
  }
};

/// Throws unless the predictions are floating, of rank 3, with at least the blank as a class.
void check_predictions(const char* op, const Tensor& y_pred);

/// Returns the lengths of the samples. Throws ValueError when the tensor has another shape and, naming the
/// sample, for a length outside of [0, most].
std::vector<std::int64_t> lengths(const char* op, const char* name, const Tensor& length, const Shape& shape,
                                  std::int64_t most);

/// Computes `ctc_batch_cost` with another epsilon.
Tensor cost(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
            const Tensor& label_length, double epsilon);

/// Returns the derivative of the costs with respect to y_pred, composed of differentiable ops.
Tensor composed_slope(const Batch& batch, const Tensor& y_pred);

}  // namespace ktape::backend::ctc
