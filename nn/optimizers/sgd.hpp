#pragma once
#include <ktape/nn/optimizers/optimizer.hpp>

/// The optimizers SGD, Lion and Ftrl.
///
/// In all formulas g is the gradient and w the variable. OptimizerOptions explains the last ten options of
/// each optimizer. Each update is a single pass over the variable.
///
///     model.compile({.optimizer = nn::SGD({.learning_rate = 0.1, .momentum = 0.9}), .loss = "mse"});
namespace ktape::nn {

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;  ///< whether the momentum is applied once more in each update
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int> gradient_accumulation_steps = {};
  std::string name = {};
};
/// SGD: w -= learning_rate * g. With momentum, m = momentum * m - learning_rate * g and w += m; with
/// nesterov, w += momentum * m - learning_rate * g. Throws ValueError for a momentum outside of [0, 1].
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::SGD optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class SGD : public Optimizer {
 public:
  SGD(const SGDOptions& options = {});
  explicit SGD(const LearningRate& learning_rate) : SGD(SGDOptions{learning_rate}) {}
};

struct LionOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int> gradient_accumulation_steps = {};
  std::string name = {};
};
/// Lion: w -= learning_rate * sign(beta_1 m + (1 - beta_1) g), then m = beta_2 m + (1 - beta_2) g. Throws
/// ValueError unless 0 < beta_1 <= 1.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Lion optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Lion : public Optimizer {
 public:
  Lion(const LionOptions& options = {});
  explicit Lion(const LearningRate& learning_rate) : Lion(LionOptions{learning_rate}) {}
};

struct FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;
  double beta = 0;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int> gradient_accumulation_steps = {};
  std::string name = {};
};
/// Ftrl, "follow the regularized leader" (McMahan et al., 2013), for shallow models with many features.
/// Throws ValueError for a negative strength or accumulator, and for a power above 0.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Ftrl optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Ftrl : public Optimizer {
 public:
  Ftrl(const FtrlOptions& options = {});
  explicit Ftrl(const LearningRate& learning_rate) : Ftrl(FtrlOptions{learning_rate}) {}
};

}  // namespace ktape::nn
