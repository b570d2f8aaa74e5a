#include <ktape/autograd/symbolic.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/phase.hpp>

namespace ktape::backend {

Tensor in_train_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  x.expect_defined("in_train_phase", "x"), alt.expect_defined("in_train_phase", "alt");
  if (x.number() || alt.number())
    return in_train_phase(x.beside("in_train_phase", alt), alt.beside("in_train_phase", x), training);
  const auto run = [&](bool train) {
    return returned("in_train_phase", train ? "x" : "alt", train ? x() : alt());
  };
  if (training) return run(*training);
  const auto later = [&] {
    const Trace taken = x.trace("in_train_phase"), otherwise = alt.trace("in_train_phase");
    return defer_capturing("in_train_phase",
                           {either("in_train_phase", taken.results[0], otherwise.results[0])},
                           joined(taken.captured, otherwise.captured), in_train_phase, x, alt, training)[0];
  };
  if (is_symbolic(x.value(), alt.value()) || symbolic_mode()) return later();
  const Tensor taken = run(learning_phase() == 1);
  return is_symbolic(taken) && !running_graph() ? later() : taken;  // a callable made it
}

Tensor in_test_phase(const Branch& x, const Branch& alt, std::optional<bool> training) {
  x.expect_defined("in_test_phase", "x"), alt.expect_defined("in_test_phase", "alt");
  return in_train_phase(alt, x, training);
}

}  // namespace ktape::backend
