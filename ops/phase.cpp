#include <ktape/ops/config.hpp>
#include <ktape/ops/phase.hpp>

namespace ktape::backend {

Tensor in_train_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  const bool train = training ? *training : learning_phase() == 1;
  return train ? x() : alt();
}

Tensor in_test_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  return in_train_phase(alt, x, training);
}

}  // namespace ktape::backend
