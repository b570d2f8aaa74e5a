#pragma once
#include <ktape/ops/sparse.hpp>

#include <vector>

/// Connectionist temporal classification: labels for sequences without an alignment. Predictions are
/// floating, (samples, time, classes), in the form that a softmax returns; the last class is the blank.
namespace ktape::backend {

/// Returns -log of the probability that a path through the predictions spells the labels, (samples, 1).
/// Between two labels a path may have any number of blanks and repetitions of the earlier label; between
/// equal labels at least one blank. y_pred + epsilon() is normalized to sum 1 at each step.
///
/// y_true is (samples, max_labels) of any number dtype; input_length and label_length are (samples, 1) and
/// give the number of valid steps and labels of each sample. An empty label sequence is legal. Differentiable
/// with respect to y_pred to any order.
///
/// Throws ValueError for shapes that do not fit each other and, naming the sample, for a length outside of
/// its tensor, a label outside of [0, classes - 1), and fewer steps than the labels need; TypeError for a
/// y_pred that is not floating. `K.ctc_batch_cost`.
///
///     Tensor labels = K::constant({{0, 1}}, {.dtype = "int32"}),
///            probabilities = K::softmax(K::zeros({1, 4, 3}));
///     std::cout << K::ctc_batch_cost(labels, probabilities,
///                                    K::constant({{4}}, {.dtype = "int32"}),
///                                    K::constant({{2}}, {.dtype = "int32"}));
Tensor ctc_batch_cost(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
                      const Tensor& label_length);

struct CtcDecodeOptions {
  bool greedy = true;    ///< take the most probable class of each step instead of a beam search
  int beam_width = 100;  ///< the number of label sequences that the beam search keeps from step to step
  int top_paths = 1;     ///< the number of label sequences that the beam search returns
};

struct CtcDecoded {
  std::vector<Tensor> decoded;  ///< each (samples, time) of int64, with -1 after the last label
  Tensor log_prob;
};

/// Returns the label sequences that the predictions spell. input_length is (samples,). Not differentiable.
///
/// - Greedy: repetitions are merged, then blanks are removed; log_prob is (samples, 1) and holds *minus* the
///   sum of log(y_pred + epsilon()) along the path.
/// - Beam search: returns the most probable sequences of the beam, best first, and their log probabilities,
///   (samples, top_paths); equal neighbours in a sequence are merged, as in TF.
///
/// Throws ValueError for shapes that do not fit, for more paths than the beam width and, naming the sample,
/// for a length outside of y_pred and for fewer sequences than requested paths; TypeError for a y_pred that
/// is not floating. `K.ctc_decode`.
///
///     Tensor p = K::softmax(
///         K::constant({{{5., 0., 0.}, {5., 0., 0.}, {0., 0., 5.}, {0., 5., 0.}}}));
///     std::cout << K::ctc_decode(p, K::constant({4}, {.dtype = "int32"}),
///                                {.greedy = true})
///                      .decoded[0];
CtcDecoded ctc_decode(const Tensor& y_pred, const Tensor& input_length, const CtcDecodeOptions& options = {});

/// Returns the first label_lengths[i] labels of each row i of `labels`, (samples, max_labels), as a sparse
/// tensor of the shape of `labels`. label_lengths is (samples,). Throws ValueError for shapes that do not fit
/// and, naming the sample, for a length outside of [0, max_labels]. `K.ctc_label_dense_to_sparse`.
///
///     std::cout << K::to_dense(K::ctc_label_dense_to_sparse(
///         K::constant({{1, 2}, {3, 0}}, {.dtype = "int32"}),
///         K::constant({2, 1}, {.dtype = "int32"})));
SparseTensor ctc_label_dense_to_sparse(const Tensor& labels, const Tensor& label_lengths);

}  // namespace ktape::backend
