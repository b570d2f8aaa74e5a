#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Hinge losses, which require a margin; losses/functions.hpp has the formulas.
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
