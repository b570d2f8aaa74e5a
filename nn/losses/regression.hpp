#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses of real numbers; losses/functions.hpp has the formulas.
///
///     model.compile({.loss = nn::Huber({.delta = 2})});
namespace ktape::nn {

/// The mean of (y_true - y_pred)^2.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::MeanSquaredError()(y, p) << " "
///               << nn::losses::mean_squared_error(y, p);
class MeanSquaredError : public Loss {
 public:
  MeanSquaredError(const LossOptions& options = {});
};

/// The mean of |y_true - y_pred|.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::MeanAbsoluteError()(y, p) << " "
///               << nn::losses::mean_absolute_error(y, p);
class MeanAbsoluteError : public Loss {
 public:
  MeanAbsoluteError(const LossOptions& options = {});
};

/// 100 times the mean of |y_true - y_pred| / |y_true|.
///
///     Tensor y = K::constant({{1., 2.}, {4., 5.}}),
///            p = K::constant({{1.1, 2.}, {3., 6.}});
///     std::cout << nn::MeanAbsolutePercentageError()(y, p) << " "
///               << nn::losses::mean_absolute_percentage_error(y, p);
class MeanAbsolutePercentageError : public Loss {
 public:
  MeanAbsolutePercentageError(const LossOptions& options = {});
};

/// The mean of (log(1 + y_true) - log(1 + y_pred))^2.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::MeanSquaredLogarithmicError()(y, p) << " "
///               << nn::losses::mean_squared_logarithmic_error(y, p);
class MeanSquaredLogarithmicError : public Loss {
 public:
  MeanSquaredLogarithmicError(const LossOptions& options = {});
};

/// The mean of log(cosh(y_pred - y_true)): squares of small errors, sizes of large errors.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::LogCosh()(y, p) << " " << nn::losses::log_cosh(y, p);
class LogCosh : public Loss {
 public:
  LogCosh(const LossOptions& options = {});
};

struct HuberOptions {
  double delta = 1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};

/// The mean of e^2 / 2 for errors up to delta, delta * |e| - delta^2 / 2 for larger errors.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::Huber()(y, p) << " " << nn::losses::huber(y, p) << "\n"
///               << nn::Huber({.delta = 0.1})(y, p) << " "
///               << nn::losses::huber(y, p, {.delta = 0.1});
class Huber : public Loss {
 public:
  Huber(const HuberOptions& options = {});
};

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};

/// Minus the cosine of the angle between y_true and y_pred: -1 for vectors of equal direction.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::CosineSimilarity()(y, p) << " "
///               << nn::losses::cosine_similarity(y, p) << "\n"
///               << nn::CosineSimilarity({.axis = 0})(y, p) << " "
///               << nn::losses::cosine_similarity(y, p, {.axis = 0});
class CosineSimilarity : public Loss {
 public:
  CosineSimilarity(const CosineSimilarityOptions& options = {});
};

}  // namespace ktape::nn
