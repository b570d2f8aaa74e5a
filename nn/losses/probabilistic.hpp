#pragma once
#include <ktape/nn/losses/loss.hpp>

#include <vector>

/// Losses of probabilities, or of logits with `from_logits`; losses/functions.hpp has the formulas.
namespace ktape::nn {

struct BinaryCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class BinaryCrossentropy : public Loss {
 public:
  BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});
};

struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class BinaryFocalCrossentropy : public Loss {
 public:
  BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options = {});
};

struct CategoricalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class CategoricalCrossentropy : public Loss {
 public:
  CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});
};

struct CategoricalFocalCrossentropyOptions {
  std::vector<double> alpha = {0.25};
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class CategoricalFocalCrossentropy : public Loss {
 public:
  CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {});
};

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
/// A class whose loss leaves out samples of `ignore_class`, also from the mean.
class SparseCategoricalCrossentropy : public Loss {
 public:
  SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
};

struct CategoricalGeneralizedCrossEntropyOptions {
  double q = 0.5;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
/// Throws ValueError unless 0 < q < 1.
class CategoricalGeneralizedCrossEntropy : public Loss {
 public:
  CategoricalGeneralizedCrossEntropy(const CategoricalGeneralizedCrossEntropyOptions& options = {});
};

class KLDivergence : public Loss {
 public:
  KLDivergence(const LossOptions& options = {});
};
class Poisson : public Loss {
 public:
  Poisson(const LossOptions& options = {});
};

}  // namespace ktape::nn
