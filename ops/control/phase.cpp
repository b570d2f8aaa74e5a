#include <ktape/autograd/defer.hpp>
#include <ktape/ops/control/fixed_phase.hpp>
#include <ktape/ops/control/phase.hpp>
#include <ktape/ops/settings/config.hpp>

namespace ktape::backend {

namespace {
/// Returns x when training is `wanted`, and alt otherwise.
Tensor by_phase(const char* op, bool wanted, const Branch& x, const Branch& alt,
                std::optional<bool> training) {
  x.expect_defined(op, "x"), alt.expect_defined(op, "alt");
  if (x.number() || alt.number()) return by_phase(op, wanted, x.beside(op, alt), alt.beside(op, x), training);
  const auto run = [&](bool train) {
    return train == wanted ? returned(op, "x", x()) : returned(op, "alt", alt());
  };
  if (training) return run(*training);
  const auto later = [&] {
    const Trace taken = x.trace(op), otherwise = alt.trace(op);
    return defer_capturing(op, {either(op, taken.results[0], otherwise.results[0])},
                           joined(taken.captured, otherwise.captured), by_phase, op, wanted, x, alt,
                           training)[0];
  };
  if (phase_is_fixed()) return run(learning_phase() == 1);
  if (is_symbolic(x.value(), alt.value()) || symbolic_mode()) return later();
  const Tensor taken = run(learning_phase() == 1);
  return is_symbolic(taken) && !running_graph() ? later() : taken;  // a callable may return a symbolic tensor
}
}  // namespace

Tensor in_train_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  return by_phase("in_train_phase", true, x, alt, training);
}
Tensor in_test_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  return by_phase("in_test_phase", false, x, alt, training);
}

}  // namespace ktape::backend
