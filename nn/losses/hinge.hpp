#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses that ask for a margin; losses/functions.hpp has their formulas.
namespace ktape::nn {

class Hinge : public Loss {
 public:
  Hinge(const LossOptions& options = {});
};
class SquaredHinge : public Loss {
 public:
  SquaredHinge(const LossOptions& options = {});
};
class CategoricalHinge : public Loss {
 public:
  CategoricalHinge(const LossOptions& options = {});
};

}  // namespace ktape::nn
