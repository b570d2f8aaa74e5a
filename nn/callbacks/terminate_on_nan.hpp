#pragma once
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

/// Ends the training when the loss of a batch is not finite.
class TerminateOnNaN : public Callback {
 public:
  TerminateOnNaN();
};

}  // namespace ktape::nn
