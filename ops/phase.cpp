#include <ktape/autograd/symbolic.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/phase.hpp>

namespace ktape::backend {

Tensor in_train_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  if (is_symbolic(x.value(), alt.value())) return defer("in_train_phase", in_train_phase, x, alt, training);
  const bool train = training ? *training : learning_phase() == 1;
  const Tensor taken = train ? x() : alt();
  const bool waits = is_symbolic(taken) && !training && !running_graph();  // a callable made it
  return waits ? defer("in_train_phase", in_train_phase, x, alt, training) : taken;
}

Tensor in_test_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  return in_train_phase(alt, x, training);
}

}  // namespace ktape::backend
