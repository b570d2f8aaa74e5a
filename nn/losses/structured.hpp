#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses of whole images, sequences and batches; losses/functions.hpp has the formulas.
namespace ktape::nn {

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
/// A class whose mean leaves out samples with a loss of 0.
class Circle : public Loss {
 public:
  Circle(const CircleOptions& options = {});
};

class CTC : public Loss {
 public:
  CTC(const LossOptions& options = {});
};

}  // namespace ktape::nn
