#pragma once
#include <ktape/ops/sparse.hpp>

#include <vector>

/// Connectionist temporal classification: labels for sequences without an alignment. Predictions are
/// (samples, time, classes), floating, as a softmax gives them; the last class is the blank.
namespace ktape::backend {

/// -log of the probability that a path through the predictions spells the labels, (samples, 1): between the
/// labels stand any number of blanks and repetitions of the label before, and at least one blank between
/// equal labels. Each step's y_pred + epsilon() is normalized to sum 1.
///
/// y_true is (samples, max_labels) of any number dtype; input_length and label_length are (samples, 1) and
/// say how many steps and labels of a sample count. An empty label sequence is legal. Differentiable with
/// respect to y_pred to any order.
///
/// Throws ValueError for shapes that do not fit each other and, naming the sample, for a length outside of
/// its tensor, a label outside of [0, classes - 1), and fewer steps than the labels need; TypeError for a
/// y_pred that is not floating. `K.ctc_batch_cost`.
Tensor ctc_batch_cost(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
                      const Tensor& label_length);

struct CtcDecodeOptions {
  bool greedy = true;    ///< the most probable class of each step, in place of a beam search
  int beam_width = 100;  ///< how many label sequences the search keeps from step to step
  int top_paths = 1;     ///< how many it returns
};

struct CtcDecoded {
  std::vector<Tensor> decoded;  ///< each (samples, time) of int64, -1 behind the labels
  Tensor log_prob;
};

/// The labels that the predictions spell. input_length is (samples,). Not differentiable.
///
/// Greedy: repetitions become one, then blanks go; log_prob is (samples, 1) and holds *minus* the sum of
/// log(y_pred + epsilon()) along the path. Beam search: the most probable sequences that the beam kept, best
/// first, and their log probabilities, (samples, top_paths); equal neighbours in a sequence are merged, as TF
/// does.
///
/// Throws ValueError for shapes that do not fit, more paths than the beam is wide and, naming the sample, for
/// a length outside of y_pred and fewer sequences than paths asked for; TypeError for a y_pred that is not
/// floating. `K.ctc_decode`.
CtcDecoded ctc_decode(const Tensor& y_pred, const Tensor& input_length, const CtcDecodeOptions& options = {});

/// The first label_lengths[i] labels of each row i of labels (samples, max_labels), as a sparse tensor of
/// that shape. label_lengths is (samples,). Throws ValueError for shapes that do not fit and, naming the
/// sample, for a length outside of [0, max_labels]. `K.ctc_label_dense_to_sparse`.
SparseTensor ctc_label_dense_to_sparse(const Tensor& labels, const Tensor& label_lengths);

}  // namespace ktape::backend
