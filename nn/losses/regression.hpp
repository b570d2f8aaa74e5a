#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses of real numbers; losses/functions.hpp has the formulas.
namespace ktape::nn {

class MeanSquaredError : public Loss {
 public:
  MeanSquaredError(const LossOptions& options = {});
};
class MeanAbsoluteError : public Loss {
 public:
  MeanAbsoluteError(const LossOptions& options = {});
};
class MeanAbsolutePercentageError : public Loss {
 public:
  MeanAbsolutePercentageError(const LossOptions& options = {});
};
class MeanSquaredLogarithmicError : public Loss {
 public:
  MeanSquaredLogarithmicError(const LossOptions& options = {});
};
class LogCosh : public Loss {
 public:
  LogCosh(const LossOptions& options = {});
};

struct HuberOptions {
  double delta = 1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class Huber : public Loss {
 public:
  Huber(const HuberOptions& options = {});
};

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class CosineSimilarity : public Loss {
 public:
  CosineSimilarity(const CosineSimilarityOptions& options = {});
};

}  // namespace ktape::nn
