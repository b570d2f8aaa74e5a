#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses of whole images, sequences and batches.
namespace ktape::nn {

namespace losses {

/// 1 - 2 sum(t p) / (sum(t) + sum(p) + epsilon), the sums over the axes, by default over all.
Tensor dice(const Tensor& y_true, const Tensor& y_pred, const Axes& axis = {});

struct TverskyFunctionOptions {
  double alpha = 0.5;  ///< what a false positive costs
  double beta = 0.5;   ///< what a false negative costs
  Axes axis = {};
};
/// 1 - sum(t p) / (sum(t p) + alpha sum((1 - t) p) + beta sum(t (1 - p)) + epsilon), likewise.
Tensor tversky(const Tensor& y_true, const Tensor& y_pred, const TverskyFunctionOptions& options = {});

struct CircleFunctionOptions {
  double gamma = 80;
  double margin = 0.4;
  bool remove_diagonal = true;  ///< whether an embedding is no pair with itself
};
/// Of class numbers (samples,) and embeddings of length 1 (samples, size): embeddings of one class should be
/// near each other, those of two far apart. A value for each sample.
Tensor circle(const Tensor& y_true, const Tensor& y_pred, const CircleFunctionOptions& options = {});

/// Of label sequences (samples, length), where 0 stands for no label, and logits (samples, steps, classes),
/// where class 0 is the blank: -log of the probability of all ways to spell the labels. All steps count.
/// Throws ValueError for other ranks, and where the steps are too few or a label is no class.
Tensor ctc(const Tensor& y_true, const Tensor& y_pred);

}  // namespace losses

struct DiceOptions {
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
  Axes axis = {};
};
class Dice : public Loss {
 public:
  Dice(const DiceOptions& options = {});
};

struct TverskyOptions {
  double alpha = 0.5;
  double beta = 0.5;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
  Axes axis = {};
};
class Tversky : public Loss {
 public:
  Tversky(const TverskyOptions& options = {});
};

struct CircleOptions {
  double gamma = 80;
  double margin = 0.4;
  bool remove_diagonal = true;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
/// Samples whose loss is 0 count in no mean.
class Circle : public Loss {
 public:
  Circle(const CircleOptions& options = {});
};

class CTC : public Loss {
 public:
  CTC(const LossOptions& options = {});
};

}  // namespace ktape::nn
