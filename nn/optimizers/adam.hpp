#pragma once
#include <ktape/nn/optimizers/optimizer.hpp>

/// Adam and related optimizers, which keep moving averages of the gradient and of its square:
///
///   m = beta_1 m + (1 - beta_1) g
///   v = beta_2 v + (1 - beta_2) g^2
///
/// In all formulas g is the gradient and w the variable. OptimizerOptions explains the last ten options of
/// each optimizer. Each update is a single pass over the variable; Lamb, which needs norms, makes several
/// passes.
///
///     model.compile({.optimizer = nn::Adam({.learning_rate = 0.002, .clipnorm = 1}), .loss = "mse"});
namespace ktape::nn {

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;  ///< whether the update divides by the largest v so far
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
/// Adam: w -= learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) * m / (sqrt(v) + epsilon) in step t,
/// counted from 1. All optimizers of this header throw ValueError for a beta outside of [0, 1).
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Adam optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Adam : public Optimizer {
 public:
  Adam(const AdamOptions& options = {});
  explicit Adam(const LearningRate& learning_rate) : Adam(AdamOptions{learning_rate}) {}
};

struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
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
/// Adam with decoupled weight decay: the decay of weights does not enter the gradient.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::AdamW optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class AdamW : public Optimizer {
 public:
  AdamW(const AdamWOptions& options = {});
  explicit AdamW(const LearningRate& learning_rate) : AdamW(AdamWOptions{learning_rate}) {}
};

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
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
/// Adamax: u = max(beta_2 u, |g|), w -= learning_rate / (1 - beta_1^t) * m / (u + epsilon) in step t, counted
/// from 1.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Adamax optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Adamax : public Optimizer {
 public:
  Adamax(const AdamaxOptions& options = {});
  explicit Adamax(const LearningRate& learning_rate) : Adamax(AdamaxOptions{learning_rate}) {}
};

struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
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
/// Adam with Nesterov's momentum (Dozat, 2015).
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Nadam optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Nadam : public Optimizer {
 public:
  Nadam(const NadamOptions& options = {});
  explicit Nadam(const LearningRate& learning_rate) : Nadam(NadamOptions{learning_rate}) {}
};

struct LambOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
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
/// Lamb: the step has Adam's direction, with bias corrections in m and v, and is scaled to the length of the
/// variable (You et al., 2019).
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::Lamb optimizer({.learning_rate = 0.1});
///     for (int step = 0; step < 3; ++step)
///       optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Lamb : public Optimizer {
 public:
  Lamb(const LambOptions& options = {});
  explicit Lamb(const LearningRate& learning_rate) : Lamb(LambOptions{learning_rate}) {}
};

}  // namespace ktape::nn
