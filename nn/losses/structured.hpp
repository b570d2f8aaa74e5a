#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses of whole images, sequences and batches; losses/functions.hpp has the formulas.
///
///     model.compile({.loss = nn::Dice({.axis = {1, 2, 3}})});
namespace ktape::nn {

struct DiceOptions {
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
  Axes axis = {};
};

/// 1 - 2 sum(t p) / (sum(t) + sum(p)): the overlap of true and predicted segments, over `axis` or all
/// axes.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::Dice()(y, p) << " " << nn::losses::dice(y, p) << "\n"
///               << nn::Dice({.axis = 1})(y, p) << " "
///               << nn::losses::dice(y, p, {.axis = 1});
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

/// 1 minus the overlap of true and predicted segments, where `alpha` weighs false positives and `beta`
/// false negatives.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.9}});
///     std::cout << nn::Tversky()(y, p) << " " << nn::losses::tversky(y, p) << "\n"
///               << nn::Tversky({.alpha = 0.3, .beta = 0.7})(y, p) << " "
///               << nn::losses::tversky(y, p, {.alpha = 0.3, .beta = 0.7});
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

/// The circle loss of embeddings (batch, features) with class numbers as targets: embeddings of a class
/// shall be alike. Samples with a loss of 0 do not count in the mean.
///
///     Tensor y = K::constant({0, 0, 1}, {.dtype = "int32"}),
///            p = K::l2_normalize(K::constant({{1., 0.}, {1., 1.}, {1., 2.}}), 1);
///     std::cout << nn::Circle()(y, p) << " " << nn::losses::circle(y, p) << "\n"
///               << nn::Circle({.gamma = 20})(y, p);
class Circle : public Loss {
 public:
  Circle(const CircleOptions& options = {});
};

/// The loss of sequences of labels without known positions (connectionist temporal classification):
/// targets (batch, labels), logits (batch, time, classes).
///
///     Tensor labels = K::constant({{1, 2}}, {.dtype = "int32"});
///     std::cout << nn::CTC()(labels, K::zeros({1, 4, 3})) << " "
///               << nn::losses::ctc(labels, K::zeros({1, 4, 3}));
class CTC : public Loss {
 public:
  CTC(const LossOptions& options = {});
};

}  // namespace ktape::nn
