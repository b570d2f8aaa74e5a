#pragma once
#include <ktape/nn/optimizers/optimizer.hpp>

/// Optimizers that divide the gradient by the size of past gradients.
///
/// In all formulas g is the gradient and w the variable. OptimizerOptions explains the last ten options of
/// each optimizer. Each update is a single pass over the variable; Adafactor, which needs norms, makes
/// several passes.
///
///     model.compile({.optimizer = nn::RMSprop(0.002), .loss = "mse"});
namespace ktape::nn {

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;  ///< divides by the standard deviation of g, not by its root mean square
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
/// RMSprop: v = rho v + (1 - rho) g^2, w -= learning_rate * g / sqrt(v + epsilon). With momentum, m =
/// momentum * m + learning_rate * g / sqrt(v + epsilon) and w -= m. Throws ValueError unless 0 <= rho <=
/// 1.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::RMSprop optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class RMSprop : public Optimizer {
 public:
  RMSprop(const RMSpropOptions& options = {});
  explicit RMSprop(const LearningRate& learning_rate) : RMSprop(RMSpropOptions{learning_rate}) {}
};

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
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
/// Adagrad: a += g^2, w -= learning_rate * g / sqrt(a + epsilon).
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Adagrad optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Adagrad : public Optimizer {
 public:
  Adagrad(const AdagradOptions& options = {});
  explicit Adagrad(const LearningRate& learning_rate) : Adagrad(AdagradOptions{learning_rate}) {}
};

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
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
/// Adadelta, whose steps have the size of past steps (Zeiler, 2012): d = g * sqrt(D + epsilon) / sqrt(G +
/// epsilon), where G and D are moving averages of g^2 and d^2; w -= learning_rate * d.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Adadelta optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Adadelta : public Optimizer {
 public:
  Adadelta(const AdadeltaOptions& options = {});
  explicit Adadelta(const LearningRate& learning_rate) : Adadelta(AdadeltaOptions{learning_rate}) {}
};

struct AdafactorOptions {
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8;
  double epsilon_1 = 1e-30;
  double epsilon_2 = 1e-3;
  double clip_threshold = 1;
  bool relative_step = true;  ///< for configs only: the rate is always at most 1 / sqrt(step)
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
/// Adafactor, which keeps mean squares of rows and columns instead of all elements (Shazeer and Stern, 2018).
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Adafactor optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Adafactor : public Optimizer {
 public:
  Adafactor(const AdafactorOptions& options = {});
  explicit Adafactor(const LearningRate& learning_rate) : Adafactor(AdafactorOptions{learning_rate}) {}
};

}  // namespace ktape::nn
